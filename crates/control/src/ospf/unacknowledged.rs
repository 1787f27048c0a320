//! Which neighbours have not acknowledged which instances (the link state retransmission lists of RFC 2328, 10).
//!
//! A neighbour to which something is flooded has a number, and each instance of the databases has a bit for it: when
//! ten thousand advertisements come at once, no list of them is made for each neighbour. What is sent again is always
//! what the database has. Where there are more neighbours than bits, the others have lists of keys.

use super::Ospf;
use super::database::Instance;
use super::interface::Interface;
use super::neighbor::Neighbor;

/// How many neighbours have a number.
const NUMBERS: u8 = 32;

/// The numbers of neighbours, and how many instances each has not acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Unacknowledged {
    /// A bit for each number that a neighbour has.
    taken: u32,
    counts: [u32; NUMBERS as usize],
    /// Has a neighbour gone without a number?
    is_crowded: bool,
}

/// The numbers of these bits.
fn numbers(mut bits: u32) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let number = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(number)
    })
}

impl Unacknowledged {
    /// A number for a neighbour, if there is one left.
    pub(super) fn take_number(&mut self) -> Option<u8> {
        let free = (!self.taken).trailing_zeros() as u8;
        self.is_crowded |= free == NUMBERS;
        (free < NUMBERS).then(|| {
            self.taken |= 1 << free;
            free
        })
    }

    /// Has a neighbour gone without a number, so that it may have a list of its own?
    pub(super) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Neighbours with these bits have been sent an instance.
    pub(super) fn add(&mut self, instance: &mut Instance, bits: u32) {
        numbers(bits & !instance.waiting).for_each(|number| self.counts[number] += 1);
        instance.waiting |= bits;
    }

    /// An instance is no more: nobody has to acknowledge it.
    pub(super) fn forget(&mut self, instance: &Instance) {
        numbers(instance.waiting).for_each(|number| self.counts[number] -= 1);
    }

    /// A neighbour has acknowledged an instance.
    fn acknowledge(&mut self, instance: &mut Instance, number: u8) {
        let bit = 1 << number;
        self.counts[usize::from(number)] -= u32::from(instance.waiting & bit != 0);
        instance.waiting &= !bit;
    }

    /// How many instances a neighbour has not acknowledged.
    pub(super) fn count(&self, neighbor: &Neighbor) -> usize {
        neighbor
            .number
            .map_or(neighbor.unacknowledged.len(), |number| self.counts[usize::from(number)] as usize)
    }

    /// Has a neighbour been sent an instance of the database which it has not acknowledged?
    pub(super) fn is_waiting(neighbor: &Neighbor, instance: &Instance) -> bool {
        match neighbor.number {
            Some(number) => instance.waiting & 1 << number != 0,
            None => neighbor.unacknowledged.contains(&instance.key()),
        }
    }

    /// A neighbour has acknowledged an instance of the database, or need not do so.
    pub(super) fn done(&mut self, neighbor: &mut Neighbor, instance: &mut Instance) {
        match neighbor.number {
            Some(number) => self.acknowledge(instance, number),
            None => drop(neighbor.unacknowledged.remove(&instance.key())),
        }
    }
}

impl Ospf {
    /// How many instances a neighbour has been sent and has not acknowledged.
    pub fn unacknowledged(&self, neighbor: &Neighbor) -> usize {
        self.unacknowledged.count(neighbor)
    }

    /// A neighbour is not flooded to any more: its number is free again, and nothing waits for it.
    pub(super) fn release_number(&mut self, number: u8) {
        let waiting = core::mem::take(&mut self.unacknowledged.counts[usize::from(number)]);
        if waiting > 0 {
            self.databases.each(|instance| instance.waiting &= !(1 << number));
        }
        self.unacknowledged.taken &= !(1 << number);
    }

    /// What a neighbour has not acknowledged, in the order of keys.
    pub(super) fn to_send_again(&self, interface: &Interface, neighbor: &Neighbor) -> Vec<&Instance> {
        if self.unacknowledged(neighbor) == 0 {
            return Vec::new();
        }
        let scopes = self.config.scopes_of(interface).into_iter();
        let databases = scopes.filter_map(|scope| self.databases.of(scope));
        let all = databases.flat_map(super::database::Database::iter);
        let mut all: Vec<_> = all.filter(|one| Unacknowledged::is_waiting(neighbor, one)).collect();
        all.sort_by_key(|one| one.key());
        all
    }
}
