//! Which packets filters leave over, and which of them a network can't do without.
//!
//! Packets are told apart by kind: those of the protocols that keep a network running, and all others. What a filter
//! takes is cut off from each kind; what is left of it in the end, no filter takes. Of a kind that is cut into too
//! many pieces nothing is said any more: what is said to be left is so, but with contrived filters something may go
//! unsaid.

use super::Match;
use super::check::Condition;
use super::region::{INPUT, IPV4, MARK, NONE, PIECES_MAX, PROTOCOL, Region};
use base::{Dscp, Phb};

/// A kind of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Requests for addresses, and answers.
    Arp,
    /// The messages of RSVP-TE.
    Rsvp,
    /// Other protocols of the control plane: OSPF, BGP and the like.
    Routing,
    /// IP without a code point.
    BestEffort,
    /// Packets with a label, whatever is below it.
    Labelled,
    /// Packets that are of none of the kinds above.
    Other,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::Arp, Kind::Rsvp, Kind::Routing, Kind::BestEffort, Kind::Labelled, Kind::Other];
    const OSPF: u128 = 89;
    const RSVP: u128 = 46;
    const UDP: u128 = 17;

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Arp => "ARP",
            Kind::Rsvp => "RSVP",
            Kind::Routing => "routing",
            Kind::BestEffort => "best-effort IP",
            Kind::Labelled => "labelled packets",
            Kind::Other => "some others",
        }
    }

    fn region(self) -> Option<Region> {
        const UNLABELLED: u16 = 0x100;
        let mut all = Region::of(&Condition::default()).pop()?;
        // What the node sends by itself came by no port; nothing has marked it.
        let ip = |mut region: Region, dscp: Dscp, protocol: u128| {
            region.phb = 1 << Phb::of_dscp(dscp).code();
            region.dscp = 1 << dscp.value();
            region.tc = UNLABELLED;
            region.families = IPV4;
            region.ranges[MARK] = (0, 0);
            region.ranges[PROTOCOL] = (protocol, protocol);
            region
        };
        let own = |mut region: Region| {
            region.ranges[INPUT] = (NONE, NONE);
            region
        };
        match self {
            Kind::Arp => {
                all.phb = 1 << Phb::DEFAULT.code();
                all.dscp = 1 << 64;
                all.tc = UNLABELLED;
                all.ranges[MARK] = (0, 0);
                all = own(all);
            }
            Kind::Rsvp => all = own(ip(all, Dscp::CS6, Kind::RSVP)),
            Kind::Routing => all = ip(all, Dscp::CS6, Kind::OSPF),
            Kind::BestEffort => all = ip(all, Dscp::DEFAULT, Kind::UDP),
            Kind::Labelled => all.tc = 0xff,
            Kind::Other => {}
        }
        Some(all)
    }
}

/// A set of packets.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    kinds: Vec<(Kind, Vec<Region>)>,
}

impl Packets {
    /// Every packet that there can be: where the search begins.
    pub fn all() -> Packets {
        let known = |kind: Kind| Some((kind, vec![kind.region()?]));
        Packets { kinds: Kind::ALL.into_iter().filter_map(known).collect() }
    }

    /// What each filter takes, of which the first that takes a packet decides, and what none does.
    pub fn split<'a>(self, filters: impl IntoIterator<Item = &'a Match>) -> (Vec<Packets>, Packets) {
        let mut left = self;
        let mut taken = Vec::new();
        for filter in filters {
            // What is in error takes nothing; it is told elsewhere.
            let regions = Condition::new(filter).map(|condition| Region::of(&condition)).unwrap_or_default();
            let mut own = Packets::default();
            for (kind, pieces) in &mut left.kinds {
                let mut both = Vec::new();
                for region in &regions {
                    both.extend(pieces.iter().filter_map(|piece| piece.and(region)));
                    let mut rest = Vec::new();
                    pieces.iter().for_each(|piece| piece.without(region, &mut rest));
                    *pieces = rest;
                }
                own.add(*kind, both);
            }
            left.kinds.retain(|(_, pieces)| !pieces.is_empty() && pieces.len() <= PIECES_MAX);
            taken.push(own);
        }
        (taken, left)
    }

    /// Those of another set, too.
    pub fn join(&mut self, other: Packets) {
        for (kind, pieces) in other.kinds {
            self.add(kind, pieces);
        }
    }

    fn add(&mut self, kind: Kind, pieces: Vec<Region>) {
        if pieces.is_empty() {
            return;
        }
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, known)) => known.extend(pieces),
            None => self.kinds.push((kind, pieces)),
        }
        self.kinds.retain(|(_, pieces)| pieces.len() <= PIECES_MAX);
    }

    /// The kinds of which there are some.
    pub fn kinds(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|kind| self.kinds.iter().any(|(known, _)| known == kind)).collect()
    }
}
