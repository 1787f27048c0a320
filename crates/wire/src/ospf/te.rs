//! Traffic engineering advertisements: the body of an opaque one of an area whose opaque type is 1 (RFC 3630; RFC 4203,
//! 1.3).

use super::{LAYER, LsaKey, LsaKind, address, short, word};
use crate::error::{Error, Reason, need};
use core::net::Ipv4Addr;

/// The opaque type of traffic engineering (RFC 3630, 2.2).
pub const OPAQUE_TYPE: u8 = 1;

/// The values of a link's type (RFC 3630, 2.5.1).
pub mod link_type {
    /// To one neighbour.
    pub const POINT_TO_POINT: u8 = 1;
    /// To a network with several routers.
    pub const MULTI_ACCESS: u8 = 2;
}

/// Types of TLVs (RFC 3630, 2.4).
mod tlv {
    pub const ROUTER_ADDRESS: u16 = 1;
    pub const LINK: u16 = 2;
}

/// Types of what is in a link TLV (RFC 3630, 2.5; RFC 4203, 1.3).
mod sub {
    pub const LINK_TYPE: u16 = 1;
    pub const LINK_ID: u16 = 2;
    pub const LOCAL: u16 = 3;
    pub const REMOTE: u16 = 4;
    pub const METRIC: u16 = 5;
    pub const MAXIMUM: u16 = 6;
    pub const RESERVABLE: u16 = 7;
    pub const UNRESERVED: u16 = 8;
    pub const GROUPS: u16 = 9;
    pub const SRLG: u16 = 16;
}

/// A link, as the router at its near end describes it. Bandwidths are in bytes per second, in the direction away from
/// that router. What is not said is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct TeLink {
    /// A number of [`link_type`].
    pub kind: u8,
    /// The neighbour's router id, or the address of the designated router.
    pub id: Ipv4Addr,
    /// The router's own addresses on it.
    pub local: Vec<Ipv4Addr>,
    /// The neighbour's addresses on it; none where there are several neighbours.
    pub remote: Vec<Ipv4Addr>,
    /// What the link costs to traffic engineering.
    pub metric: Option<u32>,
    /// What the link carries.
    pub maximum: Option<f32>,
    /// What may be reserved of it, perhaps more than it carries.
    pub reservable: Option<f32>,
    /// What is left for a setup priority of 0 to 7.
    pub unreserved: Option<[f32; 8]>,
    /// Administrative groups, one a bit.
    pub groups: Option<u32>,
    /// Shared risk link groups: links of one may fail together (RFC 4203, 1.3).
    pub srlgs: Vec<u32>,
}

impl Default for TeLink {
    /// A link to a neighbour that is not known, of which nothing else is said.
    fn default() -> TeLink {
        TeLink {
            kind: link_type::POINT_TO_POINT,
            id: Ipv4Addr::UNSPECIFIED,
            local: Vec::new(),
            remote: Vec::new(),
            metric: None,
            maximum: None,
            reservable: None,
            unreserved: None,
            groups: None,
            srlgs: Vec::new(),
        }
    }
}

/// What a traffic engineering advertisement says.
#[derive(Clone, Debug, PartialEq)]
pub enum Te {
    /// An address of its router that can be reached as long as the router can (RFC 3630, 2.4.1).
    RouterAddress(Ipv4Addr),
    /// One link of its router (RFC 3630, 2.4.2).
    Link(TeLink),
}

/// The type and the value of the next TLV, and what is behind it and its padding (RFC 3630, 2.3.2).
fn next(data: &[u8], at: usize) -> Result<(u16, &[u8], usize), Error> {
    let rest = data.get(at..).unwrap_or_default();
    need(LAYER, 4, rest.len()).map_err(|error| error.at(at))?;
    let (kind, length) = (short(rest, 0), usize::from(short(rest, 2)));
    need(LAYER, 4 + length, rest.len()).map_err(|error| error.at(at))?;
    Ok((kind, &rest[4..4 + length], at + 4 + length.next_multiple_of(4)))
}

/// A value of so many bytes.
fn sized(value: &[u8], expected: usize, at: usize) -> Result<&[u8], Error> {
    if value.len() == expected {
        return Ok(value);
    }
    let (found, expected) = (value.len() as u64, expected as u64);
    Err(Error::new(LAYER, at + 2, Reason::Unexpected { field: "TLV length", found, expected }))
}

/// Words of 32 bits, of which there may be any number.
fn words(value: &[u8], at: usize) -> Result<impl Iterator<Item = u32> + '_, Error> {
    sized(value, value.len().next_multiple_of(4), at)?;
    Ok(value.chunks_exact(4).map(|one| word(one, 0)))
}

/// A bandwidth: neither negative nor anything but a number.
fn bandwidth(value: &[u8], at: usize) -> Result<f32, Error> {
    let read = f32::from_bits(word(value, at));
    let is_one = read.is_finite() && read.is_sign_positive();
    is_one.then_some(read).ok_or(Error::invalid(LAYER, at, "a bandwidth is no number from zero on"))
}

impl TeLink {
    /// Reads the value of a link TLV. Sub-TLVs of unknown types are left out (RFC 3630, 2.4.2).
    fn parse(data: &[u8]) -> Result<TeLink, Error> {
        let (mut link, mut seen, mut at) = (TeLink::default(), Vec::new(), 0);
        while at < data.len() {
            let (kind, value, behind) = next(data, at)?;
            let is_known = matches!(kind, 1..=9 | sub::SRLG);
            if is_known && seen.contains(&kind) {
                return Err(Error::invalid(LAYER, at, "a sub-TLV that may occur once occurs twice"));
            }
            if is_known {
                seen.push(kind);
            }
            let number = |value| Ok::<_, Error>(word(sized(value, 4, at)?, 0));
            let amount = |value| bandwidth(sized(value, 4, at)?, 0).map_err(|error| error.at(at + 4));
            match kind {
                sub::LINK_TYPE => link.kind = sized(value, 1, at)?[0],
                sub::LINK_ID => link.id = Ipv4Addr::from_bits(number(value)?),
                sub::LOCAL => link.local = words(value, at)?.map(Ipv4Addr::from_bits).collect(),
                sub::REMOTE => link.remote = words(value, at)?.map(Ipv4Addr::from_bits).collect(),
                sub::METRIC => link.metric = Some(number(value)?),
                sub::MAXIMUM => link.maximum = Some(amount(value)?),
                sub::RESERVABLE => link.reservable = Some(amount(value)?),
                sub::UNRESERVED => {
                    let value = sized(value, 32, at)?;
                    let mut all = [0.0; 8];
                    for (priority, to) in all.iter_mut().enumerate() {
                        *to = bandwidth(value, 4 * priority).map_err(|error| error.at(at + 4))?;
                    }
                    link.unreserved = Some(all);
                }
                sub::GROUPS => link.groups = Some(number(value)?),
                sub::SRLG => link.srlgs = words(value, at)?.collect(),
                _ => {}
            }
            at = behind;
        }
        if !(seen.contains(&sub::LINK_TYPE) && seen.contains(&sub::LINK_ID)) {
            return Err(Error::invalid(LAYER, 0, "a link has no type or no id"));
        }
        Ok(link)
    }

    fn emit(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let addresses = |all: &[Ipv4Addr]| all.iter().flat_map(Ipv4Addr::octets).collect::<Vec<_>>();
        put(&mut out, sub::LINK_TYPE, &[self.kind]);
        put(&mut out, sub::LINK_ID, &self.id.octets());
        for (kind, all) in [(sub::LOCAL, &self.local), (sub::REMOTE, &self.remote)] {
            if !all.is_empty() {
                put(&mut out, kind, &addresses(all));
            }
        }
        let numbers = [
            (sub::METRIC, self.metric),
            (sub::MAXIMUM, self.maximum.map(f32::to_bits)),
            (sub::RESERVABLE, self.reservable.map(f32::to_bits)),
        ];
        for (kind, number) in numbers {
            if let Some(number) = number {
                put(&mut out, kind, &number.to_be_bytes());
            }
        }
        if let Some(all) = self.unreserved {
            put(&mut out, sub::UNRESERVED, &all.map(|one| one.to_bits().to_be_bytes()).concat());
        }
        if let Some(groups) = self.groups {
            put(&mut out, sub::GROUPS, &groups.to_be_bytes());
        }
        if !self.srlgs.is_empty() {
            let all: Vec<u8> = self.srlgs.iter().flat_map(|one| one.to_be_bytes()).collect();
            put(&mut out, sub::SRLG, &all);
        }
        out
    }
}

/// Appends a TLV and its padding.
fn put(out: &mut Vec<u8>, kind: u16, value: &[u8]) {
    out.extend(kind.to_be_bytes());
    out.extend((value.len() as u16).to_be_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

impl Te {
    /// Is an advertisement of this key one of traffic engineering?
    pub fn is_meant(key: &LsaKey) -> bool {
        key.kind == LsaKind::OPAQUE_AREA && key.id.octets()[0] == OPAQUE_TYPE
    }

    /// Reads what follows the header of an advertisement: one TLV (RFC 3630, 2.4). More of them are read all the same,
    /// since there are routers that put their address beside each link; those of unknown types are left out.
    pub fn parse(data: &[u8]) -> Result<Vec<Te>, Error> {
        let (mut all, mut at) = (Vec::new(), 0);
        while at < data.len() {
            let (kind, value, behind) = next(data, at)?;
            match kind {
                tlv::ROUTER_ADDRESS => all.push(Te::RouterAddress(address(sized(value, 4, at)?, 0))),
                tlv::LINK => all.push(Te::Link(TeLink::parse(value).map_err(|error| error.at(at + 4))?)),
                _ => {}
            }
            at = behind;
        }
        Ok(all)
    }

    /// What follows the header of the advertisement.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Te::RouterAddress(address) => put(&mut out, tlv::ROUTER_ADDRESS, &address.octets()),
            Te::Link(link) => put(&mut out, tlv::LINK, &link.emit()),
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> TeLink {
        TeLink {
            kind: link_type::POINT_TO_POINT,
            id: Ipv4Addr::new(10, 0, 0, 2),
            local: vec![Ipv4Addr::new(192, 168, 0, 1)],
            remote: vec![Ipv4Addr::new(192, 168, 0, 2)],
            metric: Some(7),
            maximum: Some(125e6),
            reservable: Some(100e6),
            unreserved: Some([100e6, 100e6, 100e6, 80e6, 80e6, 80e6, 80e6, 0.0]),
            groups: Some(0x8000_0001),
            srlgs: vec![5, 9],
        }
    }

    #[test]
    fn a_link_has_the_bytes_of_the_rfcs() {
        let bytes = Te::Link(link()).write();
        // Type and length, then the link's type with three bytes of padding, and its id.
        assert_eq!(bytes[..8], [0, 2, 0, 112, 0, 1, 0, 1]);
        assert_eq!(bytes[8..20], [1, 0, 0, 0, 0, 2, 0, 4, 10, 0, 0, 2]);
        // 125,000,000 bytes per second are 2^26 times 1.862645149230957.
        let maximum = [0, 6, 0, 4, 0x4c, 0xee, 0x6b, 0x28];
        assert!(bytes.windows(8).any(|part| part == maximum));
        assert!(bytes.ends_with(&[0, 9, 0, 4, 0x80, 0, 0, 1, 0, 16, 0, 8, 0, 0, 0, 5, 0, 0, 0, 9]));
        assert_eq!(Te::parse(&bytes), Ok(vec![Te::Link(link())]));
        let address = Te::RouterAddress(Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(address.write(), [0, 1, 0, 4, 10, 0, 0, 1]);
        assert_eq!(Te::parse(&address.write()), Ok(vec![address.clone()]));
        let both = [address.write(), bytes].concat();
        assert_eq!(Te::parse(&both), Ok(vec![address, Te::Link(link())]));
    }

    #[test]
    fn what_is_unknown_is_left_out_and_what_is_wrong_is_refused() {
        let of = |parts: &[&[u8]]| {
            let mut out = Vec::new();
            put(&mut out, tlv::LINK, &parts.concat());
            Te::parse(&out)
        };
        let (kind, id) = ([0, 1, 0, 1, 2, 0, 0, 0], [0, 2, 0, 4, 10, 0, 0, 1]);
        let least = TeLink { kind: 2, id: Ipv4Addr::new(10, 0, 0, 1), ..TeLink::default() };
        assert_eq!(of(&[&kind, &id]), Ok(vec![Te::Link(least.clone())]));
        assert_eq!(of(&[&[0, 99, 0, 2, 1, 2, 0, 0], &id, &kind]), Ok(vec![Te::Link(least)]));
        let wrong: [&[&[u8]]; 6] = [
            &[&kind],
            &[&kind, &id, &id],
            &[&kind, &[0, 2, 0, 3, 1, 2, 3, 0]],
            &[&kind, &id, &[0, 6, 0, 4, 0x80, 0, 0, 1]],
            &[&kind, &id, &[0, 7, 0, 4, 0x7f, 0xc0, 0, 0]],
            &[&kind, &id, &[0, 8, 0, 9, 1, 2, 3, 4]],
        ];
        for parts in wrong {
            assert!(of(parts).is_err(), "{parts:?}");
        }
        assert_eq!(Te::parse(&[0, 3, 0, 0]), Ok(vec![]));
        assert!(Te::parse(&[0, 1, 0, 4, 10, 0, 0, 1, 0]).is_err());
    }

    #[test]
    fn a_link_that_is_cut_short_never_reads_beyond_its_bytes() {
        let bytes = Te::Link(link()).write();
        for end in 1..bytes.len() {
            assert!(Te::parse(&bytes[..end]).is_err(), "{end}");
        }
    }
}
