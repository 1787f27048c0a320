//! Who is at which Ethernet address: ARP (RFC 826) for the ports of a node.
//!
//! A frame for a neighbour whose address is not known waits while the neighbour is asked, three times at most, a second apart
//! (RFC 1122, 2.3.2.1); a bounded number of frames waits for each neighbour (RFC 1122, 2.3.2.2). Known addresses do not
//! age: a neighbour that changes its address says so, and a port that goes down forgets all of its neighbours.

use base::device::DropReason;
use base::{Frame, MacAddr, PortId, Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, VecDeque};
use wire::{arp, ethernet};

/// Frames that wait for one neighbour at most.
const WAITING_MAX: usize = 4096;
/// How often a neighbour is asked.
const TRIES: u8 = 3;
/// Time between two questions.
const INTERVAL: Span = Span::from_secs(1);

/// What waits for a neighbour's address.
pub type Waiting<T> = VecDeque<T>;

#[derive(Debug)]
enum State<T> {
    Known(MacAddr),
    Asked { tries: u8, next: Time, waiting: Waiting<T> },
}

/// The neighbours of a node, and what waits for them.
#[derive(Debug)]
pub struct Neighbors<T> {
    table: BTreeMap<(PortId, Ipv4Addr), State<T>>,
    next: Option<Time>,
}

/// What a due timer asks for.
#[derive(Debug)]
pub enum Due<T> {
    /// Ask for this neighbour once more.
    Ask(PortId, Ipv4Addr),
    /// The neighbour never answered: these can't be sent.
    GiveUp(Waiting<T>, DropReason),
}

impl<T> Default for Neighbors<T> {
    fn default() -> Self {
        Neighbors { table: BTreeMap::new(), next: None }
    }
}

impl<T> Neighbors<T> {
    /// The Ethernet address of a neighbour, if it is known.
    pub fn get(&self, port: PortId, address: Ipv4Addr) -> Option<MacAddr> {
        match self.table.get(&(port, address)) {
            Some(State::Known(mac)) => Some(*mac),
            _ => None,
        }
    }

    /// All known neighbours, by port and address.
    pub fn iter(&self) -> impl Iterator<Item = (PortId, Ipv4Addr, MacAddr)> {
        self.table.iter().filter_map(|(&(port, address), state)| match state {
            State::Known(mac) => Some((port, address, *mac)),
            State::Asked { .. } => None,
        })
    }

    /// Lets `item` wait for the neighbour. Returns whether the neighbour must be asked now, or the item if too many wait.
    pub fn wait(&mut self, now: Time, port: PortId, address: Ipv4Addr, item: T) -> Result<bool, T> {
        let mut ask = false;
        let state = self.table.entry((port, address)).or_insert_with(|| {
            ask = true;
            State::Asked { tries: 1, next: now + INTERVAL, waiting: Waiting::new() }
        });
        match state {
            State::Known(_) => Err(item),
            State::Asked { waiting, .. } if waiting.len() >= WAITING_MAX => Err(item),
            State::Asked { waiting, next, .. } => {
                waiting.push_back(item);
                self.next = Some(self.next.map_or(*next, |t| t.min(*next)));
                Ok(ask)
            }
        }
    }

    /// Learns an Ethernet address; returns whether it is news, and what waited for it.
    pub fn learn(&mut self, port: PortId, address: Ipv4Addr, mac: MacAddr) -> (bool, Waiting<T>) {
        match self.table.insert((port, address), State::Known(mac)) {
            Some(State::Known(old)) => (old != mac, Waiting::new()),
            Some(State::Asked { waiting, .. }) => (true, waiting),
            None => (true, Waiting::new()),
        }
    }

    /// Is the neighbour known or being asked for?
    pub fn contains(&self, port: PortId, address: Ipv4Addr) -> bool {
        self.table.contains_key(&(port, address))
    }

    /// Forgets the neighbours on a port and returns the known ones, and what waited for the others.
    pub fn forget_port(&mut self, port: PortId) -> (Vec<Ipv4Addr>, Waiting<T>) {
        let low = (port, Ipv4Addr::UNSPECIFIED);
        let high = (port, Ipv4Addr::BROADCAST);
        let keys: Vec<_> = self.table.range(low..=high).map(|(key, _)| *key).collect();
        let (mut known, mut lost) = (Vec::new(), Waiting::new());
        for key in keys {
            match self.table.remove(&key) {
                Some(State::Known(_)) => known.push(key.1),
                Some(State::Asked { waiting, .. }) => lost.extend(waiting),
                None => {}
            }
        }
        self.find_next();
        (known, lost)
    }

    /// When [`Neighbors::due`] has something.
    pub fn next(&self) -> Option<Time> {
        self.next
    }

    /// What is due at `now`.
    pub fn due(&mut self, now: Time) -> Vec<Due<T>> {
        if self.next.is_none_or(|t| t > now) {
            return Vec::new();
        }
        let (mut out, mut gone) = (Vec::new(), Vec::new());
        for (&(port, address), state) in &mut self.table {
            if let State::Asked { tries, next, waiting } = state
                && *next <= now
            {
                if *tries < TRIES {
                    *tries += 1;
                    *next = now + INTERVAL;
                    out.push(Due::Ask(port, address));
                } else {
                    out.push(Due::GiveUp(core::mem::take(waiting), DropReason::NoAdjacency));
                    gone.push((port, address));
                }
            }
        }
        for key in gone {
            self.table.remove(&key);
        }
        self.find_next();
        out
    }

    fn find_next(&mut self) {
        let asked = self.table.values().filter_map(|state| match state {
            State::Asked { next, .. } => Some(*next),
            State::Known(_) => None,
        });
        self.next = asked.min();
    }
}

/// The frame of an ARP packet.
pub fn arp_frame(repr: &arp::Repr) -> Frame {
    let dst = if repr.operation == arp::Operation::REQUEST { MacAddr::BROADCAST } else { repr.target_mac };
    let mut bytes = vec![0; ethernet::HEADER_LEN + arp::LEN];
    ethernet::Repr::untagged(dst, repr.sender_mac, ethernet::EtherType::ARP).emit(&mut bytes);
    repr.emit(&mut bytes[ethernet::HEADER_LEN..]);
    Frame::from_bytes(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const P: PortId = PortId(0);

    #[test]
    fn asks_three_times_and_gives_up() {
        let mut n = Neighbors::default();
        assert_eq!(n.wait(Time(0), P, A, 'x'), Ok(true));
        assert_eq!(n.wait(Time(0), P, A, 'y'), Ok(false));
        let mut asked = 0;
        let mut lost = Vec::new();
        while let Some(t) = n.next() {
            for due in n.due(t) {
                match due {
                    Due::Ask(..) => asked += 1,
                    Due::GiveUp(waiting, _) => lost.extend(waiting),
                }
            }
        }
        assert_eq!((asked, lost), (2, vec!['x', 'y']));
    }

    #[test]
    fn learning_releases_what_waited() {
        let mut n = Neighbors::default();
        n.wait(Time(0), P, A, 'x').expect("room");
        let (news, waiting) = n.learn(P, A, MacAddr::BROADCAST);
        assert!(news && waiting == ['x']);
        assert_eq!(n.learn(P, A, MacAddr::BROADCAST), (false, Waiting::new()));
        assert_eq!(n.forget_port(P).0, [A]);
        assert!(!n.contains(P, A));
    }
}
