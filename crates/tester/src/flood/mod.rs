//! A flood of frames that no router should get: malformed, truncated, oversized, foreign, and valid ones with a few
//! bytes changed. Seeded: the same seed makes the same frames.
//!
//! - [`Flood`] makes frames for one port of a router
//! - [`corpus`]: valid frames to begin with, of all kinds of RSVP-TE messages among them
//! - [`siege`]: a small network of which one router is flooded while it signals and forwards

pub mod corpus;
mod make;
mod random;
pub mod siege;

use base::MacAddr;
use core::net::Ipv4Addr;
use random::Random;

/// Where the flood goes.
#[derive(Clone, Debug)]
pub struct Target {
    /// Ethernet address of the router's port.
    pub mac: MacAddr,
    /// Address of the router's port.
    pub address: Ipv4Addr,
    /// An address on the same link that the flood claims to come from, if it claims a sensible one.
    pub neighbor: Ipv4Addr,
    /// Addresses beyond the router; some frames go there.
    pub beyond: Vec<Ipv4Addr>,
    /// Shortest and longest frame, in bytes without frame check sequence.
    pub lengths: (usize, usize),
}

/// What is wrong, or odd, about a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Bytes without any sense.
    Noise,
    /// Protocols that the router does not speak.
    Foreign,
    /// VLAN tags, one or two.
    Tagged,
    /// IPv6 packets, which the router does not forward.
    Ipv6,
    /// ARP, right and wrong.
    Arp,
    /// IPv4 with any header.
    Ipv4,
    /// Fragments of IPv4 packets.
    Fragments,
    /// Packets with a label stack of any depth.
    Mpls,
    /// ICMP messages, most of them wrong.
    Icmp,
    /// RSVP with any body.
    Rsvp,
    /// Valid frames with bytes changed.
    Mutated,
    /// Valid frames cut short.
    Truncated,
    /// Frames longer than any link takes.
    Oversized,
}

impl Kind {
    /// Every kind, each as likely as any other.
    pub const ALL: [Kind; 13] = [
        Kind::Noise,
        Kind::Foreign,
        Kind::Tagged,
        Kind::Ipv6,
        Kind::Arp,
        Kind::Ipv4,
        Kind::Fragments,
        Kind::Mpls,
        Kind::Icmp,
        Kind::Rsvp,
        Kind::Mutated,
        Kind::Truncated,
        Kind::Oversized,
    ];
}

/// A source of such frames.
#[derive(Clone, Debug)]
pub struct Flood {
    random: Random,
    target: Target,
    /// Valid frames, and where in each the IP header begins.
    corpus: Vec<Vec<u8>>,
    frame: Vec<u8>,
    counts: [u64; Kind::ALL.len()],
}

impl Flood {
    /// A flood towards `target`, which makes its mutations from the frames of `corpus`.
    pub fn new(seed: u64, target: Target, corpus: Vec<Vec<u8>>) -> Flood {
        let random = Random::new(seed);
        Flood { random, target, corpus, frame: Vec::new(), counts: [0; Kind::ALL.len()] }
    }

    /// A frame of a kind that is drawn, without frame check sequence.
    pub fn next_frame(&mut self) -> (Kind, &[u8]) {
        let at = self.random.below(Kind::ALL.len());
        let kind = Kind::ALL[at];
        self.counts[at] += 1;
        self.frame.clear();
        self.make(kind);
        let (shortest, longest) = self.target.lengths;
        self.frame.truncate(longest);
        if self.frame.len() < shortest {
            self.frame.resize(shortest, 0);
        }
        (kind, &self.frame)
    }

    /// Frames made so far, by kind.
    pub fn counts(&self) -> impl Iterator<Item = (Kind, u64)> + '_ {
        Kind::ALL.into_iter().zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flood(seed: u64) -> Flood {
        let target = Target {
            mac: MacAddr([2, 0, 0, 0, 0, 1]),
            address: Ipv4Addr::new(10, 0, 0, 1),
            neighbor: Ipv4Addr::new(10, 0, 0, 2),
            beyond: vec![Ipv4Addr::new(192, 0, 2, 1)],
            lengths: (0, 9_000),
        };
        Flood::new(seed, target, corpus::frames())
    }

    #[test]
    fn the_same_seed_makes_the_same_frames() {
        let (mut a, mut b, mut c) = (flood(1), flood(1), flood(2));
        let mut differ = 0;
        for _ in 0..2_000 {
            let frame = a.next_frame().1.to_vec();
            assert_eq!(b.next_frame().1, frame);
            differ += usize::from(c.next_frame().1 != frame);
        }
        assert!(differ > 1_900);
        assert!(a.counts().all(|(_, count)| count > 50));
    }
}
