//! Path attributes as values (RFC 4271, 5).

use super::AS_TRANS;
use crate::hex::Hex;
use core::net::Ipv4Addr;

/// Type codes of path attributes, and the flags that they have.
pub mod attribute {
    /// ORIGIN (RFC 4271, 5.1.1).
    pub const ORIGIN: u8 = 1;
    /// AS_PATH (RFC 4271, 5.1.2).
    pub const AS_PATH: u8 = 2;
    /// NEXT_HOP (RFC 4271, 5.1.3).
    pub const NEXT_HOP: u8 = 3;
    /// MULTI_EXIT_DISC (RFC 4271, 5.1.4).
    pub const MULTI_EXIT_DISC: u8 = 4;
    /// LOCAL_PREF (RFC 4271, 5.1.5).
    pub const LOCAL_PREF: u8 = 5;
    /// ATOMIC_AGGREGATE (RFC 4271, 5.1.6).
    pub const ATOMIC_AGGREGATE: u8 = 6;
    /// AGGREGATOR (RFC 4271, 5.1.7).
    pub const AGGREGATOR: u8 = 7;
    /// COMMUNITIES (RFC 1997).
    pub const COMMUNITIES: u8 = 8;
    /// ORIGINATOR_ID (RFC 4456, 8).
    pub const ORIGINATOR_ID: u8 = 9;
    /// CLUSTER_LIST (RFC 4456, 8).
    pub const CLUSTER_LIST: u8 = 10;
    /// MP_REACH_NLRI (RFC 4760, 3).
    pub const MP_REACH_NLRI: u8 = 14;
    /// MP_UNREACH_NLRI (RFC 4760, 4).
    pub const MP_UNREACH_NLRI: u8 = 15;
    /// Extended communities (RFC 4360, 2).
    pub const EXTENDED_COMMUNITIES: u8 = 16;
    /// AS4_PATH (RFC 6793, 3).
    pub const AS4_PATH: u8 = 17;
    /// AS4_AGGREGATOR (RFC 6793, 3).
    pub const AS4_AGGREGATOR: u8 = 18;
    /// Large communities (RFC 8092, 3).
    pub const LARGE_COMMUNITIES: u8 = 32;

    /// The flag of what a speaker need not know (RFC 4271, 4.3).
    pub const OPTIONAL: u8 = 0x80;
    /// The flag of what a speaker that does not know it passes on.
    pub const TRANSITIVE: u8 = 0x40;
    /// The flag of what has passed a speaker that did not know it.
    pub const PARTIAL: u8 = 0x20;
    /// The flag of a length of two bytes.
    pub const EXTENDED_LENGTH: u8 = 0x10;

    /// Whether an attribute is optional, and whether it is transitive; nothing if it is not known.
    pub const fn flags(kind: u8) -> Option<u8> {
        Some(match kind {
            ORIGIN | AS_PATH | NEXT_HOP | LOCAL_PREF | ATOMIC_AGGREGATE => TRANSITIVE,
            MULTI_EXIT_DISC | ORIGINATOR_ID | CLUSTER_LIST | MP_REACH_NLRI | MP_UNREACH_NLRI => OPTIONAL,
            AGGREGATOR | COMMUNITIES | EXTENDED_COMMUNITIES | AS4_PATH | AS4_AGGREGATOR
            | LARGE_COMMUNITIES => OPTIONAL | TRANSITIVE,
            _ => return None,
        })
    }
}

/// How a route came into BGP; the lesser is preferred (RFC 4271, 9.1.2.2 b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// From within the AS that it belongs to.
    Igp,
    /// By EGP (RFC 904).
    Egp,
    /// In another way.
    #[default]
    Incomplete,
}

impl Origin {
    /// By its number.
    pub const fn of(number: u8) -> Option<Origin> {
        match number {
            0 => Some(Origin::Igp),
            1 => Some(Origin::Egp),
            2 => Some(Origin::Incomplete),
            _ => None,
        }
    }
}

/// Some numbers of an AS path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// In the order in which they are passed, the nearest first.
    Sequence(Vec<u32>),
    /// In no order.
    Set(Vec<u32>),
}

impl Segment {
    /// Its numbers.
    pub fn numbers(&self) -> &[u32] {
        match self {
            Segment::Sequence(all) | Segment::Set(all) => all,
        }
    }

    /// How many steps it counts for: a set is one (RFC 4271, 9.1.2.2 a).
    fn steps(&self) -> usize {
        match self {
            Segment::Sequence(all) => all.len(),
            Segment::Set(all) => all.len().min(1),
        }
    }
}

/// The ASes that a route has passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AsPath(pub Vec<Segment>);

impl AsPath {
    /// Its length, as routes are compared by it (RFC 4271, 9.1.2.2 a).
    pub fn steps(&self) -> usize {
        self.0.iter().map(Segment::steps).sum()
    }

    /// Is a number in it?
    pub fn contains(&self, asn: u32) -> bool {
        self.0.iter().any(|segment| segment.numbers().contains(&asn))
    }

    /// The AS next to the receiver; nothing if the path is empty or begins with a set.
    pub fn first(&self) -> Option<u32> {
        match self.0.first()? {
            Segment::Sequence(all) => all.first().copied(),
            Segment::Set(_) => None,
        }
    }

    /// The same with a number in front of it, so many times (RFC 4271, 5.1.2 b).
    #[must_use]
    pub fn prepended(mut self, asn: u32, times: usize) -> AsPath {
        for _ in 0..times {
            match self.0.first_mut() {
                // A segment counts its numbers by one byte.
                Some(Segment::Sequence(all)) if all.len() < 255 => all.insert(0, asn),
                _ => self.0.insert(0, Segment::Sequence(vec![asn])),
            }
        }
        self
    }

    /// Has it a number that two octets have no room for?
    pub fn is_long(&self) -> bool {
        self.0.iter().flat_map(Segment::numbers).any(|asn| u16::try_from(*asn).is_err())
    }

    /// The path that an AS_PATH of two octets and an AS4_PATH are together: the leading numbers of the first, as many
    /// as it has more, in front of the second (RFC 6793, 4.2.3).
    #[must_use]
    pub fn merged(&self, long: &AsPath) -> AsPath {
        let Some(mut more) = self.steps().checked_sub(long.steps()) else { return self.clone() };
        let mut all = Vec::new();
        for segment in &self.0 {
            if more == 0 {
                break;
            }
            let steps = segment.steps().min(more);
            more -= steps;
            all.push(match segment {
                Segment::Sequence(numbers) => Segment::Sequence(numbers[..steps].to_vec()),
                Segment::Set(numbers) => Segment::Set(numbers.clone()),
            });
        }
        let mut rest = long.0.iter().cloned();
        if let (Some(Segment::Sequence(last)), Some(Segment::Sequence(next))) =
            (all.last_mut(), long.0.first())
            && last.len() + next.len() <= 255
        {
            last.extend(next);
            rest.next();
        }
        all.extend(rest);
        AsPath(all)
    }

    /// Numbers of two or of four octets.
    pub(super) fn emit(&self, to: &mut Vec<u8>, four_octet: bool) {
        for segment in &self.0 {
            let (kind, numbers) = match segment {
                Segment::Set(all) => (1, all),
                Segment::Sequence(all) => (2, all),
            };
            for part in numbers.chunks(255) {
                to.extend([kind, part.len() as u8]);
                for asn in part {
                    if four_octet {
                        to.extend(asn.to_be_bytes());
                    } else {
                        to.extend(u16::try_from(*asn).unwrap_or(AS_TRANS).to_be_bytes());
                    }
                }
            }
        }
    }

    /// RFC 7606, 7.2: what is malformed. With `confederations`, segments of their two types are left out (RFC 6793, 6).
    pub(super) fn read(
        mut left: &[u8],
        four_octet: bool,
        confederations: bool,
    ) -> Result<AsPath, &'static str> {
        let mut all = Vec::new();
        let width = if four_octet { 4 } else { 2 };
        while !left.is_empty() {
            let (&[kind, count], after) =
                left.split_first_chunk::<2>().ok_or("no room for a segment of a path")?;
            if count == 0 {
                return Err("a segment of a path without a number");
            }
            let len = usize::from(count) * width;
            let (value, after) = after.split_at_checked(len).ok_or("a segment that ends behind its path")?;
            let numbers = value.chunks_exact(width).map(|number| match *number {
                [a, b, c, d] => u32::from_be_bytes([a, b, c, d]),
                [a, b] => u32::from(u16::from_be_bytes([a, b])),
                _ => 0,
            });
            match kind {
                1 => all.push(Segment::Set(numbers.collect())),
                2 => all.push(Segment::Sequence(numbers.collect())),
                3 | 4 if confederations => {}
                _ => return Err("a segment of a path of a type that is not known"),
            }
            left = after;
        }
        Ok(AsPath(all))
    }
}

/// Who made one route out of several (RFC 4271, 5.1.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Aggregator {
    /// Its AS.
    pub asn: u32,
    /// Its address.
    pub address: Ipv4Addr,
}

/// An attribute that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unknown {
    /// Its flags, the one of a long length apart.
    pub flags: u8,
    /// Its type code.
    pub kind: u8,
    /// Its value.
    pub value: Hex,
}

/// What is said of a route besides its destination. Lists are empty where the attribute is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attributes {
    /// How it came into BGP.
    pub origin: Option<Origin>,
    /// The ASes that it has passed.
    pub as_path: Option<AsPath>,
    /// Where packets go, for destinations that are not in MP_REACH_NLRI.
    pub next_hop: Option<Ipv4Addr>,
    /// Which of several ways into an AS that AS prefers: the least.
    pub med: Option<u32>,
    /// How much it is preferred within the AS: the most.
    pub local_pref: Option<u32>,
    /// Has somebody left out ASes of the path?
    pub atomic_aggregate: bool,
    /// Who made it out of several.
    pub aggregator: Option<Aggregator>,
    /// Communities (RFC 1997).
    pub communities: Vec<u32>,
    /// The router of this AS that told it first (RFC 4456, 8).
    pub originator: Option<Ipv4Addr>,
    /// The route reflectors that it has passed, the nearest first (RFC 4456, 8).
    pub cluster_list: Vec<Ipv4Addr>,
    /// Extended communities, each with its type in its first bytes (RFC 4360, 2).
    pub extended_communities: Vec<[u8; 8]>,
    /// Large communities (RFC 8092, 3).
    pub large_communities: Vec<[u32; 3]>,
    /// The path beyond speakers of two octets (RFC 6793, 3).
    pub as4_path: Option<AsPath>,
    /// The aggregator beyond speakers of two octets (RFC 6793, 3).
    pub as4_aggregator: Option<Aggregator>,
    /// Those that nobody knows, in their order.
    pub unknown: Vec<Unknown>,
    /// Known ones that have passed a speaker that did not know them: a bit for each, by its type code.
    pub partial: u64,
}

impl Attributes {
    /// The whole path, whatever the sender had room for (RFC 6793, 4.2.3).
    pub fn path(&self) -> AsPath {
        let short = self.as_path.clone().unwrap_or_default();
        match (&self.as4_path, &self.aggregator) {
            // An aggregator with another number is one of two octets, behind which an AS4_PATH counts for nothing.
            (Some(_), Some(one)) if one.asn != u32::from(AS_TRANS) => short,
            (Some(long), _) => short.merged(long),
            (None, _) => short,
        }
    }

    /// Puts what speakers of two octets have passed on into its place: the whole path, and who has aggregated it.
    pub fn settle(&mut self) {
        if self.as4_path.is_some() || self.as_path.is_none() {
            self.as_path = Some(self.path());
        }
        // RFC 6793, 4.2.3: it counts only behind an aggregator whose number two octets had no room for.
        let is_short = |one: &Aggregator| one.asn == u32::from(AS_TRANS);
        if let Some(long) = self.as4_aggregator.filter(|_| self.aggregator.as_ref().is_some_and(is_short)) {
            self.aggregator = Some(long);
        }
        (self.as4_path, self.as4_aggregator) = (None, None);
        self.partial &= !(1 << attribute::AS4_PATH | 1 << attribute::AS4_AGGREGATOR);
    }
}
