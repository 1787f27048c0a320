//! Who is at which Ethernet address: what ARP (RFC 826) and neighbour discovery (RFC 4861) find out for the ports of a
//! node.
//!
//! A frame for a neighbour whose address is not known waits while the neighbour is asked, three times at most, a second
//! apart (RFC 1122, 2.3.2.1). What is known and has not been confirmed for 20 minutes is probed: asked again, but by
//! unicast (RFC 1122, 2.3.2.1 (2)); a neighbour that does not answer three times is forgotten. So no packet costs
//! anything, and a neighbour that is there never goes missing. IPv6 has the same three questions a second apart, and
//! the same three probes (RFC 4861, 10); its shorter time of reachability leads to a probe only for neighbours in use,
//! which is not asked here.
//!
//! Everything is bounded: the frames that wait (RFC 1122, 2.3.2.2), the neighbours asked for, those that answered,
//! and those that were only heard because they asked for us. The last do not take room from the others: neither a
//! flood of ARP nor one of packets to nobody can push out a neighbour that is in use.

use base::device::DropReason;
use base::{Frame, MacAddr, PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::{arp, ethernet};

/// Frames that wait for one neighbour at most.
const WAITING_MAX: usize = 4096;
/// Frames that wait for all neighbours together at most, and their bytes.
const WAITING_TOTAL: usize = 16_384;
const WAITING_BYTES: u64 = 32 << 20;
/// Neighbours of a port that are asked for at the same time, at most.
const ASKED_MAX: usize = 256;
/// Neighbours of a port that answered, at most.
const ANSWERED_MAX: usize = 4096;
/// Neighbours of a port that were only heard, at most.
const HEARD_MAX: usize = 512;
/// How often a neighbour is asked.
const TRIES: u8 = 3;
/// Time between two questions.
const INTERVAL: Span = Span::from_secs(1);
/// How long what is known counts as confirmed.
const CONFIRMED: Span = Span::from_secs(20 * 60);

/// What waits for a neighbour's address.
pub type Waiting<T> = VecDeque<T>;

#[derive(Debug)]
enum State<T> {
    /// Asked for; nothing is known yet.
    Asked { tries: u8, next: Time, waiting: VecDeque<(T, u64)>, bytes: u64 },
    /// Known. Confirmed until `next` if `tries` is zero; else so many probes are out.
    Known { mac: MacAddr, tries: u8, next: Time, heard: bool },
}

impl<T> State<T> {
    fn next(&self) -> Time {
        match self {
            State::Asked { next, .. } | State::Known { next, .. } => *next,
        }
    }
}

/// How many neighbours of a port are in which state.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    asked: usize,
    answered: usize,
    heard: usize,
}

type Key = (PortId, IpAddr);

/// The neighbours of a node, and what waits for them.
#[derive(Debug)]
pub struct Neighbors<T> {
    table: BTreeMap<Key, State<T>>,
    /// When something is due for each.
    due: BTreeSet<(Time, Key)>,
    counts: BTreeMap<PortId, Counts>,
    waiting: usize,
    bytes: u64,
    /// When something else is due on a port.
    wakes: BTreeMap<PortId, Time>,
}

/// What a due timer asks for.
#[derive(Debug)]
pub enum Due<T> {
    /// Ask for this neighbour once more: at this address, or everybody.
    Ask(PortId, IpAddr, Option<MacAddr>),
    /// The neighbour beyond this port never answered: these can't be sent.
    GiveUp(PortId, Waiting<T>, DropReason),
    /// The neighbour does not answer any more: it is forgotten.
    Gone(PortId, IpAddr),
    /// The time has come that was named for this port ([`Neighbors::wake`]).
    Wake(PortId),
}

/// What came of learning an address.
#[derive(Debug, PartialEq, Eq)]
pub enum Learned<T> {
    /// It is news; these waited for it.
    News(Waiting<T>),
    /// It was known, and is confirmed.
    Confirmed,
    /// The neighbour is not kept: it is new, and did not ask for us or there is no room.
    Ignored,
}

impl<T> Default for Neighbors<T> {
    fn default() -> Self {
        Neighbors {
            table: BTreeMap::new(),
            due: BTreeSet::new(),
            counts: BTreeMap::new(),
            waiting: 0,
            bytes: 0,
            wakes: BTreeMap::new(),
        }
    }
}

impl<T> Neighbors<T> {
    /// The Ethernet address of a neighbour, if it is known.
    pub fn get(&self, port: PortId, address: IpAddr) -> Option<MacAddr> {
        match self.table.get(&(port, address)) {
            Some(State::Known { mac, .. }) => Some(*mac),
            _ => None,
        }
    }

    /// All known neighbours, by port and address.
    pub fn iter(&self) -> impl Iterator<Item = (PortId, IpAddr, MacAddr)> {
        self.table.iter().filter_map(|(&(port, address), state)| match state {
            State::Known { mac, .. } => Some((port, address, *mac)),
            State::Asked { .. } => None,
        })
    }

    /// Neighbours known or asked for.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Is no neighbour known or asked for?
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Number of frames that wait for an answer to ARP, for all neighbours together.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// What waits, by neighbour.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        self.table
            .values()
            .flat_map(|state| match state {
                State::Asked { waiting, .. } => Some(waiting),
                State::Known { .. } => None,
            })
            .flatten()
            .map(|(item, _)| item)
    }

    /// Lets `item`, which holds so many bytes, wait for the neighbour. Returns whether the neighbour must be asked
    /// now, or what there is no room for: the item that has waited longest for this neighbour, since the latest is
    /// the one to keep (RFC 1122, 2.3.2.2); the item itself if too many wait for others.
    pub fn wait(&mut self, now: Time, port: PortId, address: IpAddr, item: T, bytes: u32) -> Result<bool, T> {
        let key = (port, address);
        let bytes = u64::from(bytes);
        if self.waiting >= WAITING_TOTAL || self.bytes + bytes > WAITING_BYTES {
            return Err(item);
        }
        let ask = self.expect(now, port, address);
        let Some(State::Asked { waiting, bytes: held, .. }) = self.table.get_mut(&key) else {
            return Err(item);
        };
        waiting.push_back((item, bytes));
        *held += bytes;
        self.waiting += 1;
        self.bytes += bytes;
        let oldest = if waiting.len() > WAITING_MAX { waiting.pop_front() } else { None };
        let Some((oldest, bytes)) = oldest else { return Ok(ask) };
        *held -= bytes;
        self.waiting -= 1;
        self.bytes -= bytes;
        Err(oldest)
    }

    /// Wants to know a neighbour that nothing waits for. Returns whether it must be asked now: it is neither known
    /// nor asked for, and there is room.
    pub fn expect(&mut self, now: Time, port: PortId, address: IpAddr) -> bool {
        let key = (port, address);
        let counts = self.counts.entry(port).or_default();
        let full = counts.asked >= ASKED_MAX || counts.answered + counts.asked >= ANSWERED_MAX;
        if full || self.table.contains_key(&key) {
            return false;
        }
        let state = State::Asked { tries: 1, next: now + INTERVAL, waiting: VecDeque::new(), bytes: 0 };
        self.put(key, state);
        true
    }

    /// Learns an Ethernet address from the neighbour itself. One that is neither known nor asked for is kept only if
    /// `heard` says that it asked for us, and while there is room.
    pub fn learn(
        &mut self,
        now: Time,
        port: PortId,
        address: IpAddr,
        mac: MacAddr,
        heard: bool,
    ) -> Learned<T> {
        let key = (port, address);
        let room = self.counts.get(&port).is_none_or(|counts| counts.heard < HEARD_MAX);
        let welcome = self.table.contains_key(&key) || (heard && room);
        if !welcome {
            return Learned::Ignored;
        }
        let before = self.take(key);
        let heard = match before {
            None => true,
            Some(State::Known { heard, .. }) => heard,
            Some(State::Asked { .. }) => false,
        };
        self.put(key, State::Known { mac, tries: 0, next: now + CONFIRMED, heard });
        match before {
            Some(State::Known { mac: old, .. }) if old == mac => Learned::Confirmed,
            Some(State::Asked { waiting, .. }) => Learned::News(items_of(waiting).collect()),
            _ => Learned::News(Waiting::new()),
        }
    }

    /// Is the neighbour known or being asked for?
    pub fn contains(&self, port: PortId, address: IpAddr) -> bool {
        self.table.contains_key(&(port, address))
    }

    /// Forgets the neighbours on a port and returns the known ones, and what waited for the others.
    pub fn forget_port(&mut self, port: PortId) -> (Vec<IpAddr>, Waiting<T>) {
        let low = (port, IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let high = (port, IpAddr::V6(Ipv6Addr::from_bits(u128::MAX)));
        let keys: Vec<_> = self.table.range(low..=high).map(|(key, _)| *key).collect();
        let (mut known, mut lost) = (Vec::new(), Waiting::new());
        for key in keys {
            match self.take(key) {
                Some(State::Known { .. }) => known.push(key.1),
                Some(State::Asked { waiting, .. }) => lost.extend(items_of(waiting)),
                None => {}
            }
        }
        (known, lost)
    }

    /// Names the time of what else is due on a port, in place of the one that was named before: it comes with the
    /// timers of neighbours, so that nobody has to look at one more.
    pub fn wake(&mut self, port: PortId, at: Option<Time>) {
        if let Some(before) = self.wakes.remove(&port) {
            self.due.remove(&(before, mark(port)));
        }
        if let Some(at) = at {
            self.due.insert((at, mark(port)));
            self.wakes.insert(port, at);
        }
    }

    /// When [`Neighbors::due`] has something.
    pub fn next(&self) -> Option<Time> {
        self.due.first().map(|(time, _)| *time)
    }

    /// What is due at `now`.
    pub fn due(&mut self, now: Time) -> Vec<Due<T>> {
        let mut out = Vec::new();
        while let Some(&(at, key)) = self.due.first()
            && at <= now
        {
            let (port, address) = key;
            match self.take(key) {
                Some(State::Asked { tries, waiting, bytes, .. }) if tries < TRIES => {
                    out.push(Due::Ask(port, address, None));
                    self.waiting += waiting.len();
                    self.bytes += bytes;
                    self.put(key, State::Asked { tries: tries + 1, next: now + INTERVAL, waiting, bytes });
                }
                Some(State::Asked { waiting, .. }) => {
                    out.push(Due::GiveUp(port, items_of(waiting).collect(), DropReason::NoAdjacency));
                }
                Some(State::Known { mac, tries, heard, .. }) if tries < TRIES => {
                    out.push(Due::Ask(port, address, Some(mac)));
                    self.put(key, State::Known { mac, tries: tries + 1, next: now + INTERVAL, heard });
                }
                Some(State::Known { .. }) => out.push(Due::Gone(port, address)),
                None => {
                    self.due.remove(&(at, key));
                    if key == mark(port) && self.wakes.remove(&port).is_some() {
                        out.push(Due::Wake(port));
                    }
                }
            }
        }
        out
    }

    fn count(&mut self, port: PortId, state: &State<T>) -> &mut usize {
        let counts = self.counts.entry(port).or_default();
        match state {
            State::Asked { .. } => &mut counts.asked,
            State::Known { heard: true, .. } => &mut counts.heard,
            State::Known { .. } => &mut counts.answered,
        }
    }

    /// Puts an entry in that is not there; what waits in it has been counted.
    fn put(&mut self, key: Key, state: State<T>) {
        *self.count(key.0, &state) += 1;
        self.due.insert((state.next(), key));
        self.table.insert(key, state);
    }

    /// Takes an entry out, with what waits in it.
    fn take(&mut self, key: Key) -> Option<State<T>> {
        let state = self.table.remove(&key)?;
        self.due.remove(&(state.next(), key));
        *self.count(key.0, &state) -= 1;
        if let State::Asked { waiting, bytes, .. } = &state {
            self.waiting -= waiting.len();
            self.bytes -= bytes;
        }
        Some(state)
    }
}

/// Stands among the timers of neighbours for the port itself: no neighbour has this address.
fn mark(port: PortId) -> Key {
    (port, IpAddr::V6(Ipv6Addr::UNSPECIFIED))
}

fn items_of<T>(waiting: VecDeque<(T, u64)>) -> impl Iterator<Item = T> {
    waiting.into_iter().map(|(item, _)| item)
}

/// The frame of an ARP packet. A question goes to everybody unless it says whom it asks.
pub fn arp_frame(repr: &arp::Repr) -> Frame {
    let everybody = repr.operation == arp::Operation::REQUEST && repr.target_mac == MacAddr::default();
    let dst = if everybody { MacAddr::BROADCAST } else { repr.target_mac };
    let mut bytes = vec![0; ethernet::HEADER_LEN + arp::LEN];
    ethernet::Repr::untagged(dst, repr.sender_mac, ethernet::EtherType::ARP).emit(&mut bytes);
    repr.emit(&mut bytes[ethernet::HEADER_LEN..]);
    Frame::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
    const P: PortId = PortId(0);
    const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

    #[test]
    fn asks_three_times_and_gives_up() {
        let mut n = Neighbors::default();
        assert_eq!(n.wait(Time(0), P, A, 'x', 1), Ok(true));
        assert_eq!(n.wait(Time(0), P, A, 'y', 1), Ok(false));
        let mut asked = 0;
        let mut lost = Vec::new();
        while let Some(t) = n.next() {
            for due in n.due(t) {
                match due {
                    Due::Ask(.., to) => asked += usize::from(to.is_none()),
                    Due::GiveUp(_, waiting, _) => lost.extend(waiting),
                    Due::Gone(..) | Due::Wake(_) => panic!("never known"),
                }
            }
        }
        assert_eq!((asked, lost, n.waiting(), n.len()), (2, vec!['x', 'y'], 0, 0));
    }

    #[test]
    fn learning_releases_what_waited() {
        let mut n = Neighbors::default();
        n.wait(Time(0), P, A, 'x', 1).expect("room");
        assert_eq!(n.learn(Time(1), P, A, MAC, false), Learned::News(['x'].into()));
        assert_eq!(n.learn(Time(2), P, A, MAC, false), Learned::Confirmed);
        let other = MacAddr([2, 0, 0, 0, 0, 2]);
        assert_eq!(n.learn(Time(2), P, A, other, false), Learned::News(Waiting::new()));
        assert_eq!(n.forget_port(P).0, [A]);
        assert!(!n.contains(P, A) && n.next().is_none() && n.waiting() == 0);
        assert_eq!(n.learn(Time(3), P, A, MAC, false), Learned::Ignored);
    }

    #[test]
    fn the_latest_are_kept() {
        let mut n = Neighbors::default();
        assert!(n.expect(Time(0), P, A) && !n.expect(Time(0), P, A));
        for i in 0..WAITING_MAX {
            assert_eq!(n.wait(Time(0), P, A, i, 10), Ok(false));
        }
        assert_eq!(n.wait(Time(0), P, A, WAITING_MAX, 30), Err(0));
        assert_eq!((n.waiting(), n.bytes), (WAITING_MAX, WAITING_MAX as u64 * 10 + 20));
        let Learned::News(kept) = n.learn(Time(1), P, A, MAC, false) else { panic!("it was asked for") };
        assert!(kept.into_iter().eq(1..=WAITING_MAX));
        assert_eq!((n.waiting(), n.bytes), (0, 0));
        // Who is known is not asked for.
        assert!(!n.expect(Time(1), P, A));
    }

    #[test]
    fn what_is_known_is_probed_and_forgotten() {
        let mut n: Neighbors<char> = Neighbors::default();
        n.learn(Time(0), P, A, MAC, true);
        let probe = Time(0) + CONFIRMED;
        assert_eq!(n.next(), Some(probe));
        assert!(matches!(n.due(probe)[..], [Due::Ask(P, A, Some(MAC))]));
        // It answers, and is confirmed for as long again.
        assert_eq!(n.learn(probe + INTERVAL, P, A, MAC, false), Learned::Confirmed);
        let again = probe + INTERVAL + CONFIRMED;
        assert_eq!(n.next(), Some(again));
        // It doesn't: it stays known while it is probed.
        for _ in 0..TRIES {
            let at = n.next().expect("a probe");
            assert!(matches!(n.due(at)[..], [Due::Ask(P, A, Some(MAC))]));
            assert_eq!(n.get(P, A), Some(MAC));
        }
        let at = n.next().expect("the end");
        assert!(matches!(n.due(at)[..], [Due::Gone(P, A)]));
        assert_eq!((n.get(P, A), n.next()), (None, None));
    }

    #[test]
    fn a_port_is_woken_once_at_the_latest_time_named() {
        let mut n: Neighbors<char> = Neighbors::default();
        for at in [5, 9, 3, 7] {
            n.wake(P, Some(Time(at)));
        }
        n.wake(PortId(1), Some(Time(8)));
        assert_eq!((n.next(), n.due(Time(6)).len()), (Some(Time(7)), 0));
        assert!(matches!(n.due(Time(8))[..], [Due::Wake(P), Due::Wake(PortId(1))]));
        assert!(n.next().is_none() && n.is_empty());
        n.wake(P, Some(Time(9)));
        n.wake(P, None);
        assert!(n.next().is_none() && n.due(Time(9)).is_empty());
    }

    #[test]
    fn floods_do_not_grow_the_table() {
        let mut n = Neighbors::default();
        let host = |i: u32| IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + i));
        n.wait(Time(0), P, A, 0, 1).expect("room");
        n.learn(Time(0), P, A, MAC, false);
        for i in 100..20_000 {
            n.learn(Time(1), P, host(i), MAC, true);
        }
        assert_eq!(n.len(), 1 + HEARD_MAX);
        let refused = (100_000..120_000).filter(|i| n.wait(Time(1), P, host(*i), 0, 100).is_err()).count();
        assert_eq!((n.len(), refused), (1 + HEARD_MAX + ASKED_MAX, 20_000 - ASKED_MAX));
        // What waits is bounded, in frames and in bytes, and another port has room of its own.
        let other = PortId(1);
        let long = (0..2_000).filter(|_| n.wait(Time(1), other, A, 0, 60_000).is_ok()).count();
        assert!(long as u64 * 60_000 <= WAITING_BYTES && long > 500, "{long}");
        let short = (0..40_000u32).filter(|i| n.wait(Time(1), other, host(i % 8), 0, 0).is_ok()).count();
        assert_eq!(n.waiting(), WAITING_TOTAL);
        assert!(short < WAITING_TOTAL);
        assert_eq!(n.get(P, A), Some(MAC));
        // All that goes is counted off again.
        while let Some(at) = n.next().filter(|at| *at < Time(0) + CONFIRMED) {
            n.due(at);
        }
        assert_eq!((n.waiting(), n.bytes, n.len()), (0, 0, 1 + HEARD_MAX));
    }
}
