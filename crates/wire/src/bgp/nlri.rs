//! Destinations (RFC 4271, 4.3; RFC 4760, 5; RFC 8277, 2) and next hops.

use super::{LAYER, Labels, Terms};
use crate::error::Error;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};

/// An address family with what is said of its destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// IPv4 unicast.
    Ipv4,
    /// IPv6 unicast.
    Ipv6,
    /// IPv4 unicast with labels (RFC 8277).
    Ipv4Labelled,
    /// IPv6 unicast with labels (RFC 8277).
    Ipv6Labelled,
}

impl Family {
    /// All that are known.
    pub const ALL: &'static [Family] =
        &[Family::Ipv4, Family::Ipv6, Family::Ipv4Labelled, Family::Ipv6Labelled];

    /// By its numbers.
    pub fn of(afi: u16, safi: u8) -> Option<Family> {
        Family::ALL.iter().copied().find(|family| family.numbers() == (afi, safi))
    }

    /// Address family identifier, and the subsequent one.
    pub const fn numbers(self) -> (u16, u8) {
        match self {
            Family::Ipv4 => (1, 1),
            Family::Ipv6 => (2, 1),
            Family::Ipv4Labelled => (1, 4),
            Family::Ipv6Labelled => (2, 4),
        }
    }

    /// Its place in [`Family::ALL`].
    pub const fn place(self) -> usize {
        self as usize
    }

    const fn is_ipv4(self) -> bool {
        matches!(self, Family::Ipv4 | Family::Ipv4Labelled)
    }

    const fn is_labelled(self) -> bool {
        matches!(self, Family::Ipv4Labelled | Family::Ipv6Labelled)
    }
}

/// A destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nlri {
    /// Which addresses.
    pub prefix: IpPrefix,
    /// Which of several paths to them (RFC 7911, 3).
    pub path_id: Option<u32>,
    /// The labels that packets to them are to have.
    pub labels: Labels,
}

impl AsRef<Nlri> for Nlri {
    fn as_ref(&self) -> &Nlri {
        self
    }
}

impl Nlri {
    /// A destination without a label and with one path.
    pub const fn new(prefix: IpPrefix) -> Nlri {
        Nlri { prefix, path_id: None, labels: Labels::NONE }
    }

    /// Reads all of a field. Beside the destinations it says whether one has more labels than this end has said that
    /// it takes.
    pub(super) fn read(
        mut left: &[u8],
        family: Family,
        terms: &Terms,
        is_withdrawn: bool,
        at: usize,
    ) -> Result<(Vec<Nlri>, bool), Error> {
        let (total, mut has_too_many) = (left.len(), false);
        let labels_max = usize::from(terms.labels_max[family.place()]);
        // By far the most have three octets of address behind their length.
        let mut all = Vec::with_capacity(left.len() / 4);
        while !left.is_empty() {
            let at = at + total - left.len();
            let ends = Error::invalid(LAYER, at, "a destination that ends too early");
            let mut path_id = None;
            if terms.add_path[family.place()] {
                let (id, rest) = left.split_first_chunk::<4>().ok_or(ends)?;
                path_id = Some(u32::from_be_bytes(*id));
                left = rest;
            }
            let (&bits, rest) = left.split_first().ok_or(ends)?;
            let (value, rest) = rest.split_at_checked(usize::from(bits).div_ceil(8)).ok_or(ends)?;
            left = rest;
            let (mut bits, mut value, mut labels) = (usize::from(bits), value, Labels::NONE);
            if family.is_labelled() {
                let too_short = Error::invalid(LAYER, at, "no room for its labels");
                // RFC 8277, 2.4: what is withdrawn has three bytes in their place, whatever was agreed on.
                let takes_several = labels_max > 0 && !is_withdrawn;
                let (read, count, after) = Labels::read(value, takes_several).ok_or(too_short)?;
                (bits, value) = (bits.checked_sub(Labels::bits(count)).ok_or(too_short)?, after);
                has_too_many |= count > labels_max.max(1);
                labels = if is_withdrawn { Labels::NONE } else { read };
            }
            let most = if family.is_ipv4() { 32 } else { 128 };
            if bits > most {
                return Err(Error::invalid(LAYER, at, "a prefix that is longer than an address"));
            }
            let mut octets = [0; 16];
            octets[..value.len()].copy_from_slice(value);
            let bits = bits as u8;
            let [a, b, c, d, ..] = octets;
            let prefix = if family.is_ipv4() {
                IpPrefix::V4(Prefix::new(Ipv4Addr::new(a, b, c, d), bits))
            } else {
                IpPrefix::V6(Prefix6::new(Ipv6Addr::from(octets), bits))
            };
            all.push(Nlri { prefix, path_id, labels });
        }
        Ok((all, has_too_many))
    }

    /// Writes it behind what is there.
    pub(super) fn emit(&self, to: &mut Vec<u8>, family: Family) {
        if let Some(id) = self.path_id {
            to.extend(id.to_be_bytes());
        }
        let (len, octets): (u8, &[u8]) = match &self.prefix {
            IpPrefix::V4(prefix) => (prefix.len(), &prefix.address().octets()),
            IpPrefix::V6(prefix) => (prefix.len(), &prefix.address().octets()),
        };
        if family.is_labelled() {
            // At most 128 bits of a prefix and four labels: less than the 255 bits that there are (RFC 8277, 2.1).
            to.push(len + 8 * self.labels.buffer_len() as u8);
            self.labels.emit(to);
        } else {
            to.push(len);
        }
        to.extend(&octets[..usize::from(len).div_ceil(8)]);
    }

    /// Bytes that it has in a message.
    pub fn buffer_len(&self, family: Family) -> usize {
        let len = match &self.prefix {
            IpPrefix::V4(prefix) => prefix.len(),
            IpPrefix::V6(prefix) => prefix.len(),
        };
        let labelled = if family.is_labelled() { self.labels.buffer_len() } else { 0 };
        let numbered = if self.path_id.is_some() { 4 } else { 0 };
        1 + numbered + labelled + usize::from(len).div_ceil(8)
    }
}

/// Where packets to destinations of MP_REACH_NLRI go (RFC 4760, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NextHop {
    /// An IPv4 address.
    V4(Ipv4Addr),
    /// An IPv6 address.
    V6 {
        /// One that can be reached from everywhere, or one that stands for an IPv4 address.
        global: Ipv6Addr,
        /// One of the link that both ends share (RFC 2545, 3).
        link_local: Option<Ipv6Addr>,
    },
}

impl NextHop {
    /// Nothing if the length is not one that next hops of the family have.
    pub(super) fn read(bytes: &[u8], family: Family) -> Option<NextHop> {
        if family.is_ipv4() {
            let octets: [u8; 4] = bytes.try_into().ok()?;
            return Some(NextHop::V4(octets.into()));
        }
        let (global, rest) = bytes.split_first_chunk::<16>()?;
        let link_local = match rest {
            [] => None,
            rest => Some(<[u8; 16]>::try_from(rest).ok()?.into()),
        };
        Some(NextHop::V6 { global: (*global).into(), link_local })
    }

    pub(super) fn emit(&self, to: &mut Vec<u8>) {
        match self {
            NextHop::V4(address) => {
                to.push(4);
                to.extend(address.octets());
            }
            NextHop::V6 { global, link_local } => {
                to.push(if link_local.is_some() { 32 } else { 16 });
                to.extend(global.octets());
                to.extend(link_local.iter().flat_map(|address| address.octets()));
            }
        }
    }
}
