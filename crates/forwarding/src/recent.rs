//! Destinations that were routed of late: what a plain packet to them needs, in half a cache line, so that neither the
//! longest prefix nor what is known of it need be looked at again.
//!
//! A slot belongs to one destination. With the first packet it says where what is known of the longest prefix is; with
//! the second, if that goes to one neighbour without a label, also how it leaves. Packets that go by a slot are counted
//! there, and come to the count of the prefix when the slot is given up ([`Recent::forget`]) or somebody looks
//! ([`Recent::counted`]).

use crate::adjacency::Adjacency;
use crate::fib::Fib;
use base::PortId;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// There is one slot until so many destinations were looked for: then packets to several take turns.
const FEW: u32 = 16;
/// How many slots there are from then on.
const SOME: usize = 64;
/// How many look-ups for each slot show that these are too few. Then there are twice as many.
const PATIENCE: u32 = 64;
/// Slots are worth it if they spare one look-up for so many that there are.
const WORTH: u32 = 4;
/// How many slots there are at most.
const MOST: usize = 256;
/// How many look-ups there are without slots, where these are not worth it: so many that to try again costs nothing.
const REST: u32 = 64 * PATIENCE * MOST as u32;

/// How many packets and bytes were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

/// What is remembered of a destination.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(crate) struct Slot {
    address: u32,
    /// Where what is known of its longest prefix is.
    place: u32,
    /// What went this way and is not among what the prefix has counted. A packet has at least one byte, so that the
    /// number of packets fits as long as that of bytes does.
    packets: u32,
    bytes: u32,
    /// Destination and source address of the Ethernet header.
    pub(crate) addresses: [u8; 12],
    /// By which it leaves.
    pub(crate) port: PortId,
    /// Does a packet leave in one way, without a label?
    is_plain: bool,
}

const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    /// No packet that is forwarded is for address 0.0.0.0, and nothing is known at this place: whoever asks for that
    /// address finds nothing, as for any that is not remembered.
    const EMPTY: Slot = Slot {
        address: 0,
        place: u32::MAX,
        packets: 0,
        bytes: 0,
        addresses: [0; 12],
        port: PortId(0),
        is_plain: false,
    };

    /// Counts a packet and the `bytes` of its frame. Nothing, and nothing is counted, if it would be too much for a
    /// slot.
    #[inline(always)]
    pub(crate) fn count(&mut self, bytes: u32) -> Option<()> {
        self.bytes = self.bytes.checked_add(bytes)?;
        self.packets += 1;
        Some(())
    }

    fn counted(&self) -> Counted {
        Counted { packets: self.packets.into(), bytes: self.bytes.into() }
    }

    /// Has the prefix count what went this way, and belongs to nobody.
    #[cold]
    fn give_up(&mut self, fib: &mut Fib) {
        if self.packets > 0 {
            let known = fib.get_mut(self.place);
            debug_assert!(known.is_some(), "packets went by a prefix of which nothing is known");
            if let Some(known) = known {
                known.active_mut().count_all(self.counted());
            }
        }
        *self = Slot::EMPTY;
    }
}

/// Where destinations lead, as long as nothing changes for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// None, or a power of two. There are none while they are not worth it.
    slots: Vec<Slot>,
    /// How many destinations were looked for, and how many packets needed no look, since [`Recent::adapt`].
    looked: u32,
    spared: u32,
    /// It is called again when so many destinations were looked for.
    patience: u32,
    /// Is there anything in them?
    used: bool,
}

impl Recent {
    /// The slot of an address, which may be that of another.
    #[inline(always)]
    fn slot(&mut self, address: u32) -> Option<&mut Slot> {
        let index = index(address, self.slots.len());
        self.slots.get_mut(index)
    }

    /// What a plain packet to this destination needs, if that is known.
    #[inline(always)]
    pub(crate) fn plain(&mut self, to: Ipv4Addr) -> Option<&mut Slot> {
        let address = to.to_bits();
        self.slot(address).filter(|slot| slot.address == address && slot.is_plain)
    }

    /// Where what is known of the longest prefix of `to` is, and whether that was remembered. If not, `find` finds it,
    /// and it is remembered for the next packet.
    #[inline]
    pub(crate) fn place(
        &mut self,
        to: Ipv4Addr,
        fib: &mut Fib,
        find: impl FnOnce(&mut Fib) -> Option<u32>,
    ) -> Option<(u32, bool)> {
        if self.looked >= self.patience {
            self.adapt(fib);
        }
        let address = to.to_bits();
        let index = index(address, self.slots.len());
        let Some(slot) = self.slots.get_mut(index) else {
            self.looked += 1;
            return Some((find(fib)?, false));
        };
        if slot.address == address {
            self.spared = self.spared.saturating_add(1);
            return Some((slot.place, true));
        }
        let place = find(fib)?;
        if slot.packets > 0 {
            self.spared = self.spared.saturating_add(slot.packets);
            slot.give_up(fib);
        }
        (slot.address, slot.place, slot.is_plain) = (address, place, false);
        self.looked += 1;
        self.used = true;
        Some((place, false))
    }

    /// Chooses how many slots there are: more if many destinations were looked for, and none for some time if even the
    /// most spare too few looks.
    #[cold]
    fn adapt(&mut self, fib: &mut Fib) {
        self.forget(fib);
        let count = match self.slots.len() {
            0 if self.patience == 0 => 1,
            1 => SOME,
            0 => MOST,
            MOST if self.spared < self.looked / WORTH => 0,
            some => (2 * some).min(MOST),
        };
        self.patience = match count {
            0 => REST,
            1 => FEW,
            some => PATIENCE * some as u32,
        };
        (self.looked, self.spared) = (0, 0);
        if count != self.slots.len() {
            self.slots = vec![Slot::EMPTY; count];
        }
    }

    /// All packets to `to`, whose place is remembered, leave by this adjacency, without a label.
    pub(crate) fn set_plain(&mut self, to: Ipv4Addr, by: &Adjacency, fib: &mut Fib) {
        let address = to.to_bits();
        if let Some(slot) = self.slot(address).filter(|slot| slot.address == address) {
            // It may have counted as much as it can.
            let place = slot.place;
            slot.give_up(fib);
            *slot = Slot {
                address,
                place,
                addresses: by.addresses,
                port: by.port,
                is_plain: true,
                ..Slot::EMPTY
            };
        }
    }

    /// A table changes.
    #[inline]
    pub(crate) fn forget(&mut self, fib: &mut Fib) {
        if core::mem::take(&mut self.used) {
            for slot in &mut self.slots {
                self.spared = self.spared.saturating_add(slot.packets);
                slot.give_up(fib);
            }
        }
    }

    /// What is known of a prefix changes, and of no other.
    pub(crate) fn forget_within(&mut self, prefix: Prefix, fib: &mut Fib) {
        if !self.used {
            return;
        }
        let first = prefix.address().to_bits();
        let others = u32::MAX.checked_shr(prefix.len().into()).unwrap_or(0);
        if others as usize >= self.slots.len() {
            let within =
                self.slots.iter_mut().filter(|slot| prefix.contains(Ipv4Addr::from_bits(slot.address)));
            return within.for_each(|slot| slot.give_up(fib));
        }
        for address in first..=first + others {
            if let Some(slot) = self.slot(address).filter(|slot| slot.address == address) {
                slot.give_up(fib);
            }
        }
    }

    /// What the entries in force have to count yet, by the place of what is known of their prefix.
    pub(crate) fn counted(&self) -> BTreeMap<u32, Counted> {
        let mut all = BTreeMap::<u32, Counted>::new();
        for slot in self.slots.iter().filter(|slot| slot.packets > 0) {
            let sum = all.entry(slot.place).or_default();
            sum.packets += slot.counted().packets;
            sum.bytes += slot.counted().bytes;
        }
        all
    }
}

/// The slot of an address, of so many (none, or a power of two). Addresses that differ in few bits have different ones.
#[inline(always)]
fn index(address: u32, slots: usize) -> usize {
    // The product's upper bits are those that all bits of the address have a part in.
    let product = u64::from(address.wrapping_mul(0x9e37_79b9));
    ((product * slots as u64) >> u32::BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adjacency::Adjacencies;
    use crate::entry::Kind;
    use base::MacAddr;
    use base::plane::PortConfig;

    const BY: PortId = PortId(3);

    fn at(n: u32) -> Ipv4Addr {
        Ipv4Addr::from_bits(0x0a00_0000 + n)
    }

    /// A FIB with a prefix for each of so many hosts, and a neighbour.
    fn tables(hosts: u32) -> (Fib, Adjacencies, u32) {
        let (mut fib, mut adjacencies) = (Fib::default(), Adjacencies::default());
        let config = PortConfig { mac: MacAddr([2; 6]), mtu: 1500, up: true };
        let neighbour = adjacencies.acquire(BY, at(0).into(), &config);
        (0..hosts).for_each(|n| fib.update(Prefix::host(at(n)), |known| known.route.kind = Kind::Via));
        (fib, adjacencies, neighbour)
    }

    /// A packet of 100 bytes, as the plain route treats it. Was all it needed remembered?
    fn packet(recent: &mut Recent, fib: &mut Fib, by: &Adjacency, to: Ipv4Addr) -> bool {
        if let Some(slot) = recent.plain(to)
            && slot.count(100).is_some()
        {
            assert_eq!(slot.port, BY);
            return true;
        }
        let find = |fib: &mut Fib| {
            let place = fib.find(to)?;
            Some(fib.own(place, to))
        };
        let (place, seen) = recent.place(to, fib, find).expect("a route");
        fib.get_mut(place).expect("its own").route.count(100);
        if seen {
            recent.set_plain(to, by, fib);
        }
        false
    }

    /// Packets and bytes by prefix: what the prefixes have counted, and what they have yet to count.
    fn counted(recent: &Recent, fib: &Fib) -> Vec<(u64, u64)> {
        let open = recent.counted();
        let sum = |place| {
            let open: Counted = open.get(&place).copied().unwrap_or_default();
            let route = fib.get(place).expect("known").route;
            (route.packets + open.packets, route.bytes + open.bytes)
        };
        fib.places().map(|(_, place)| sum(place)).collect()
    }

    #[test]
    fn all_packets_are_counted_once_whatever_is_remembered() {
        let (mut fib, adjacencies, neighbour) = tables(1000);
        let by = adjacencies.get(neighbour).expect("a neighbour");
        let mut recent = Recent::default();
        let mut expected = vec![(0, 0); 1000];
        let mut drawn = 12345u32;
        for round in 0..100_000u32 {
            drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let n = (drawn >> 16) % if round < 20_000 { 30 } else { 1000 };
            packet(&mut recent, &mut fib, by, at(n));
            expected[n as usize].0 += 1;
            expected[n as usize].1 += 100;
            match round % 10_000 {
                777 => recent.forget(&mut fib),
                4_444 => recent.forget_within(Prefix::new(at(n), 32 - (drawn % 12) as u8), &mut fib),
                _ => {}
            }
        }
        assert_eq!(recent.slots.len(), MOST);
        assert_eq!(counted(&recent, &fib), expected);
        recent.forget(&mut fib);
        assert!(recent.counted().is_empty());
        assert_eq!(counted(&recent, &fib), expected);
    }

    #[test]
    fn a_destination_is_remembered_from_its_third_packet_on() {
        let (mut fib, adjacencies, neighbour) = tables(40);
        let by = adjacencies.get(neighbour).expect("a neighbour");
        let mut recent = Recent::default();
        let row: Vec<bool> = (0..4).map(|_| packet(&mut recent, &mut fib, by, at(7))).collect();
        assert_eq!(row, [false, false, true, true]);
        // Packets to many in turn: there are more slots soon.
        let turns = (0..30).map(|_| (0..40).filter(|n| packet(&mut recent, &mut fib, by, at(*n))).count());
        assert!(turns.last().is_some_and(|known| known >= 36), "nearly all have a slot");
        assert_eq!(recent.slots.len(), SOME);
        let known = |recent: &mut Recent| {
            let known = |n: &u32| {
                recent.slot((at(*n)).to_bits()).is_some_and(|slot| slot.address == at(*n).to_bits())
            };
            (0..40).filter(known).collect::<Vec<_>>()
        };
        for prefix in
            [Prefix::host(at(7)), Prefix::new(at(8), 30), Prefix::new(at(16), 28), Prefix::new(at(0), 24)]
        {
            let mut left = known(&mut recent);
            left.retain(|n| !prefix.contains(at(*n)));
            recent.forget_within(prefix, &mut fib);
            assert_eq!(known(&mut recent), left, "{prefix}");
        }
        recent.forget(&mut fib);
        assert_eq!((0..40).filter(|n| packet(&mut recent, &mut fib, by, at(*n))).count(), 0);
    }

    #[test]
    fn there_are_no_slots_while_they_are_not_worth_it() {
        let (mut fib, adjacencies, neighbour) = tables(20_000);
        let by = adjacencies.get(neighbour).expect("a neighbour");
        let (mut recent, mut counts) = (Recent::default(), Vec::new());
        let mut send = |recent: &mut Recent, n| {
            packet(recent, &mut fib, by, at(n));
            if counts.last() != Some(&recent.slots.len()) {
                counts.push(recent.slots.len());
            }
        };
        (0..REST + 100_000).for_each(|n| send(&mut recent, n % 20_000));
        // Few destinations again.
        (0..REST + 100_000).for_each(|n| send(&mut recent, n % 50));
        assert_eq!(counts, [1, SOME, 2 * SOME, MOST, 0, MOST, 0, MOST]);
        let sent: u64 = counted(&recent, &fib).iter().map(|(packets, _)| packets).sum();
        assert_eq!(sent, 2 * u64::from(REST + 100_000));
    }

    #[test]
    fn a_slot_that_is_full_has_the_prefix_count() {
        let (mut fib, adjacencies, neighbour) = tables(1);
        let by = adjacencies.get(neighbour).expect("a neighbour");
        let mut recent = Recent::default();
        assert_eq!((0..3).filter(|_| packet(&mut recent, &mut fib, by, at(0))).count(), 1);
        recent.slots[0].bytes = u32::MAX - 150;
        let row: Vec<bool> = (0..3).map(|_| packet(&mut recent, &mut fib, by, at(0))).collect();
        assert_eq!(row, [true, false, true]);
        assert_eq!(counted(&recent, &fib), [(6, 500 + u64::from(u32::MAX) - 150)]);
    }

    #[test]
    fn nothing_is_known_of_the_address_of_nobody() {
        let mut recent = Recent::default();
        let mut fib = Fib::default();
        assert_eq!(recent.place(at(1), &mut fib, |_| Some(5)), Some((5, false)));
        recent.forget(&mut fib);
        assert!(recent.plain(Ipv4Addr::UNSPECIFIED).is_none());
        let place = recent.place(Ipv4Addr::UNSPECIFIED, &mut fib, |_| None);
        assert_eq!(place, Some((u32::MAX, true)), "a place where nothing is known");
    }
}
