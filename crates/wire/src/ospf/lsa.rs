//! Link-state advertisements (RFC 2328, A.4 and 12.1; RFC 3101, 2.2; RFC 5250, 3).

use super::{LAYER, address, short, word};
use crate::error::{Error, Reason, need};
use crate::hex::Hex;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// Bytes of the header of an advertisement.
pub const LSA_HEADER_LEN: usize = 20;
/// The age, in seconds, at which an advertisement counts no more (RFC 2328, B).
pub const MAX_AGE: u16 = 3600;
/// Ages that differ by more, in seconds, are those of two instances (RFC 2328, B).
pub const MAX_AGE_DIFF: u16 = 900;
/// The sequence number of a first instance (RFC 2328, 12.1.6), as a signed number.
pub const INITIAL_SEQUENCE: i32 = i32::MIN + 1;
/// The last sequence number (RFC 2328, 12.1.6).
pub const MAX_SEQUENCE: i32 = i32::MAX;
/// The metric of what can't be reached (RFC 2328, B).
pub const LS_INFINITY: u32 = 0x00ff_ffff;
/// Where the checksum stands in an advertisement.
const CHECKSUM_AT: usize = 16;

/// A type of advertisement, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LsaKind(pub u8);

impl LsaKind {
    /// A router and its links.
    pub const ROUTER: LsaKind = LsaKind(1);
    /// A network of several routers, by its designated router.
    pub const NETWORK: LsaKind = LsaKind(2);
    /// A network of another area.
    pub const SUMMARY_NETWORK: LsaKind = LsaKind(3);
    /// A boundary router of the AS in another area.
    pub const SUMMARY_ROUTER: LsaKind = LsaKind(4);
    /// A network outside the AS.
    pub const EXTERNAL: LsaKind = LsaKind(5);
    /// A network outside the AS, in an area that is not so stubby (RFC 3101).
    pub const NSSA: LsaKind = LsaKind(7);
    /// Opaque, of one link (RFC 5250).
    pub const OPAQUE_LINK: LsaKind = LsaKind(9);
    /// Opaque, of one area (RFC 5250).
    pub const OPAQUE_AREA: LsaKind = LsaKind(10);
    /// Opaque, of the whole AS (RFC 5250).
    pub const OPAQUE_AS: LsaKind = LsaKind(11);

    /// Is it one of those that are read here? Others are neither stored nor flooded (RFC 2328, 13, step 2).
    pub const fn is_known(self) -> bool {
        matches!(self.0, 1..=5 | 7 | 9..=11)
    }

    /// Does it carry what OSPF itself does not read (RFC 5250)?
    pub const fn is_opaque(self) -> bool {
        matches!(self.0, 9..=11)
    }

    /// Its name, as tables and lines have it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            1 => "router",
            2 => "network",
            3 => "summary",
            4 => "summary-router",
            5 => "external",
            7 => "nssa",
            9 => "opaque-link",
            10 => "opaque-area",
            11 => "opaque-as",
            _ => "unknown",
        }
    }
}

/// What all instances of an advertisement have in common (RFC 2328, 12.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LsaKey {
    /// What it describes, and how far it is flooded.
    #[serde(rename = "type")]
    pub kind: LsaKind,
    /// Link State ID: which one of its router's and its type.
    pub id: Ipv4Addr,
    /// The router that made it.
    pub router: Ipv4Addr,
}

/// The header of an advertisement (RFC 2328, A.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LsaHeader {
    /// Seconds since it was made, and the highest bit for one that does not age (RFC 1793).
    pub age: u16,
    /// What the part of the network that it describes can do.
    pub options: u8,
    /// Which one it is.
    #[serde(flatten)]
    pub key: LsaKey,
    /// Counts the instances, from -2,147,483,647 on.
    pub sequence: i32,
    /// Fletcher checksum over all but the age.
    pub checksum: u16,
    /// Bytes of the advertisement with this header.
    pub length: u16,
}

impl LsaHeader {
    /// Reads the header from the first bytes of an advertisement.
    pub fn parse(data: &[u8]) -> Result<LsaHeader, Error> {
        need(LAYER, LSA_HEADER_LEN, data.len())?;
        Ok(LsaHeader {
            age: short(data, 0),
            options: data[2],
            key: LsaKey { kind: LsaKind(data[3]), id: address(data, 4), router: address(data, 8) },
            sequence: word(data, 12) as i32,
            checksum: short(data, CHECKSUM_AT),
            length: short(data, 18),
        })
    }

    /// The header as it stands, its checksum too: nothing is computed.
    pub fn emit(&self) -> [u8; LSA_HEADER_LEN] {
        let mut bytes = [0; LSA_HEADER_LEN];
        bytes[..2].copy_from_slice(&self.age.to_be_bytes());
        bytes[2..4].copy_from_slice(&[self.options, self.key.kind.0]);
        bytes[4..8].copy_from_slice(&self.key.id.octets());
        bytes[8..12].copy_from_slice(&self.key.router.octets());
        bytes[12..16].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[CHECKSUM_AT..18].copy_from_slice(&self.checksum.to_be_bytes());
        bytes[18..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

/// Which of two instances of an advertisement is the more recent one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newer {
    /// The one that was named first.
    First,
    /// The one that was named second.
    Second,
    /// They are the same.
    Neither,
}

/// Compares two instances by sequence number, checksum and age (RFC 2328, 13.1). The ages are those of this moment.
pub fn newer(first: &LsaHeader, second: &LsaHeader) -> Newer {
    let by = |is_first: bool| if is_first { Newer::First } else { Newer::Second };
    let age = |header: &LsaHeader| header.age.min(MAX_AGE);
    if first.sequence != second.sequence {
        return by(first.sequence > second.sequence);
    }
    if first.checksum != second.checksum {
        return by(first.checksum > second.checksum);
    }
    match (age(first), age(second)) {
        (a, b) if (a == MAX_AGE) != (b == MAX_AGE) => by(a == MAX_AGE),
        (a, b) if a.abs_diff(b) > MAX_AGE_DIFF => by(a < b),
        _ => Newer::Neither,
    }
}

/// Puts an age into an advertisement: the checksum does not cover it.
pub fn set_age(lsa: &mut [u8], age: u16) {
    if let Some(field) = lsa.get_mut(..2) {
        field.copy_from_slice(&age.to_be_bytes());
    }
}

/// The sums of Fletcher's checksum over an advertisement without its age (RFC 2328, 12.1.7; RFC 905, annex B).
fn fletcher(lsa: &[u8]) -> (u32, u32) {
    let (mut c0, mut c1) = (0u32, 0u32);
    // So many bytes can't make the sums overflow.
    for piece in lsa.get(2..).unwrap_or(&[]).chunks(4096) {
        for &byte in piece {
            c0 += u32::from(byte);
            c1 += c0;
        }
        (c0, c1) = (c0 % 255, c1 % 255);
    }
    (c0, c1)
}

/// The checksum that an advertisement should have.
fn lsa_checksum(lsa: &[u8]) -> u16 {
    let mut whole = lsa.to_vec();
    if let Some(field) = whole.get_mut(CHECKSUM_AT..CHECKSUM_AT + 2) {
        field.fill(0);
    }
    let (c0, c1) = fletcher(&whole);
    let behind = (whole.len().saturating_sub(CHECKSUM_AT + 1) % 255) as u32;
    let nonzero = |sum: u32| if sum.is_multiple_of(255) { 255 } else { sum % 255 };
    let x = nonzero(behind * c0 + 255 - c1);
    let y = nonzero(510 - c0 - x % 255);
    (x << 8 | y) as u16
}

/// The advertisements of an update, each with all of its bytes; lengths were checked.
#[derive(Clone, Debug)]
pub struct Lsas<'a> {
    rest: &'a [u8],
}

impl<'a> Lsas<'a> {
    /// The advertisements in the body of an update. Nothing is said of their checksums and bodies.
    pub fn parse(body: &'a [u8]) -> Result<Lsas<'a>, Error> {
        need(LAYER, 4, body.len())?;
        let count = word(body, 0);
        let (mut at, mut found) = (4, 0u32);
        while at < body.len() && found < count {
            let header = LsaHeader::parse(&body[at..]).map_err(|error| error.at(at))?;
            let length = usize::from(header.length);
            if length < LSA_HEADER_LEN || length > body.len() - at {
                let (min, max) = (LSA_HEADER_LEN as u64, (body.len() - at) as u64);
                let reason = Reason::OutOfRange { field: "LSA length", found: length as u64, min, max };
                return Err(Error::new(LAYER, at + 18, reason));
            }
            at += length;
            found += 1;
        }
        if found != count || at != body.len() {
            let (found, expected) = (count.into(), u64::from(found));
            return Err(Error::new(LAYER, 0, Reason::Unexpected { field: "# LSAs", found, expected }));
        }
        Ok(Lsas { rest: &body[4..] })
    }
}

impl<'a> Iterator for Lsas<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let length = self.rest.get(18..LSA_HEADER_LEN).map(|field| usize::from(short(field, 0)))?;
        let (lsa, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(lsa)
    }
}

/// Flags of a router's advertisement (RFC 2328, A.4.2; RFC 3101, 2.1).
pub mod router_flags {
    /// It is at the border of areas.
    pub const B: u8 = 1;
    /// It is at the boundary of the AS.
    pub const E: u8 = 2;
    /// It is an end of a virtual link.
    pub const V: u8 = 4;
    /// It translates advertisements of type 7 in any case.
    pub const NT: u8 = 0x10;
}

/// Types of links of a router (RFC 2328, A.4.2).
pub mod link {
    /// To another router, with no network between.
    pub const POINT_TO_POINT: u8 = 1;
    /// To a network with several routers.
    pub const TRANSIT: u8 = 2;
    /// To a network without other routers.
    pub const STUB: u8 = 3;
    /// To a border router through an area.
    pub const VIRTUAL: u8 = 4;
}

/// A router's links in an area (RFC 2328, A.4.2).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Router {
    /// What kind of router it is: bits of [`router_flags`].
    #[serde(default)]
    pub flags: u8,
    /// One or two for each interface: to a neighbour, and to its network (RFC 2328, 12.4.1).
    pub links: Vec<RouterLink>,
}

/// A link of a router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterLink {
    /// The neighbour's router id, the designated router's address, or the network.
    pub id: Ipv4Addr,
    /// The router's own address on it; of a stub network the mask.
    pub data: Ipv4Addr,
    /// A number of [`link`].
    #[serde(rename = "type")]
    pub kind: u8,
    /// What it costs to send by it.
    pub metric: u16,
    /// The same for types of service, as RFC 1583 had them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tos: Vec<TosMetric>,
}

/// The metric of a type of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TosMetric {
    /// The type of service.
    pub tos: u8,
    /// What it costs to send such packets by the link.
    pub metric: u16,
}

/// The routers of a network (RFC 2328, A.4.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Mask of the network.
    pub mask: Ipv4Addr,
    /// Router ids of those that are adjacent to the designated router, itself among them.
    pub routers: Vec<Ipv4Addr>,
}

/// What a border router says of another area (RFC 2328, A.4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Mask of the network; zero for a router.
    pub mask: Ipv4Addr,
    /// What it costs from the border router on: 24 bits.
    pub metric: u32,
    /// Metrics of types of service, as RFC 1583 had them.
    #[serde(default, skip_serializing_if = "Hex::is_empty")]
    pub tos: Hex,
}

/// A network outside the AS (RFC 2328, A.4.5; RFC 3101, 2.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    /// Mask of the network.
    pub mask: Ipv4Addr,
    /// Is the metric of type 2: more than any path inside?
    #[serde(default)]
    pub type2: bool,
    /// What it costs: 24 bits.
    pub metric: u32,
    /// Where packets are to go; zero for the router that made the advertisement.
    #[serde(default = "unspecified")]
    pub forwarding: Ipv4Addr,
    /// For routers at the boundary; OSPF itself does not use it.
    #[serde(default)]
    pub tag: u32,
    /// Metrics of types of service, as RFC 1583 had them.
    #[serde(default, skip_serializing_if = "Hex::is_empty")]
    pub tos: Hex,
}

fn unspecified() -> Ipv4Addr {
    Ipv4Addr::UNSPECIFIED
}

/// What follows the header of an advertisement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "lsa", rename_all = "kebab-case")]
pub enum LsaBody {
    /// A router and its links: type 1.
    Router(Router),
    /// A network and its routers: type 2.
    Network(Network),
    /// A network, or a router, of another area: types 3 and 4.
    Summary(Summary),
    /// A network outside the AS: types 5 and 7.
    External(External),
    /// Anything else: opaque, of an unknown type, or not as its type says.
    Other {
        /// The bytes behind the header.
        bytes: Hex,
    },
}

impl LsaBody {
    /// Reads the body of an advertisement of a type. One that is not as its type says is an error; opaque ones and
    /// those of unknown types are bytes.
    pub fn parse(kind: LsaKind, data: &[u8]) -> Result<LsaBody, Error> {
        let read = match kind {
            LsaKind::ROUTER => Router::parse(data).map(LsaBody::Router),
            LsaKind::NETWORK => Network::parse(data).map(LsaBody::Network),
            LsaKind::SUMMARY_NETWORK | LsaKind::SUMMARY_ROUTER => need(LAYER, 8, data.len()).map(|()| {
                let (mask, metric, tos) = (address(data, 0), word(data, 4), data[8..].into());
                LsaBody::Summary(Summary { mask, metric: metric & LS_INFINITY, tos })
            }),
            LsaKind::EXTERNAL | LsaKind::NSSA => need(LAYER, 16, data.len()).map(|()| {
                LsaBody::External(External {
                    mask: address(data, 0),
                    type2: data[4] & 0x80 != 0,
                    metric: word(data, 4) & LS_INFINITY,
                    forwarding: address(data, 8),
                    tag: word(data, 12),
                    tos: data[16..].into(),
                })
            }),
            _ => Ok(LsaBody::Other { bytes: data.into() }),
        };
        read.map_err(|error| error.at(LSA_HEADER_LEN))
    }

    /// Appends what follows the advertisement's header.
    fn emit(&self, out: &mut Vec<u8>) {
        match self {
            LsaBody::Router(router) => {
                out.extend([router.flags, 0]);
                out.extend((router.links.len() as u16).to_be_bytes());
                for link in &router.links {
                    out.extend(link.id.octets());
                    out.extend(link.data.octets());
                    out.extend([link.kind, link.tos.len() as u8]);
                    out.extend(link.metric.to_be_bytes());
                    for tos in &link.tos {
                        out.extend([tos.tos, 0]);
                        out.extend(tos.metric.to_be_bytes());
                    }
                }
            }
            LsaBody::Network(network) => {
                out.extend(network.mask.octets());
                network.routers.iter().for_each(|id| out.extend(id.octets()));
            }
            LsaBody::Summary(summary) => {
                out.extend(summary.mask.octets());
                out.extend((summary.metric & LS_INFINITY).to_be_bytes());
                out.extend(&summary.tos.0);
            }
            LsaBody::External(external) => {
                let type2 = u32::from(external.type2) << 31;
                out.extend(external.mask.octets());
                out.extend((type2 | (external.metric & LS_INFINITY)).to_be_bytes());
                out.extend(external.forwarding.octets());
                out.extend(external.tag.to_be_bytes());
                out.extend(&external.tos.0);
            }
            LsaBody::Other { bytes } => out.extend(&bytes.0),
        }
    }
}

impl Router {
    fn parse(data: &[u8]) -> Result<Router, Error> {
        need(LAYER, 4, data.len())?;
        let (count, mut at) = (short(data, 2), 4);
        let mut links = Vec::with_capacity(usize::from(count).min(data.len() / 12));
        for _ in 0..count {
            need(LAYER, at + 12, data.len())?;
            let (kind, of_tos) = (data[at + 8], usize::from(data[at + 9]));
            let behind = at + 12 + 4 * of_tos;
            need(LAYER, behind, data.len())?;
            let tos = data[at + 12..behind].chunks_exact(4);
            let tos = tos.map(|tos| TosMetric { tos: tos[0], metric: short(tos, 2) }).collect();
            let (id, own, metric) = (address(data, at), address(data, at + 4), short(data, at + 10));
            links.push(RouterLink { id, data: own, kind, metric, tos });
            at = behind;
        }
        if at != data.len() {
            return Err(Error::invalid(LAYER, at, "bytes follow the last link"));
        }
        Ok(Router { flags: data[0], links })
    }
}

impl Network {
    fn parse(data: &[u8]) -> Result<Network, Error> {
        need(LAYER, 4, data.len())?;
        if !data.len().is_multiple_of(4) {
            return Err(Error::truncated(LAYER, data.len().next_multiple_of(4), data.len()));
        }
        let routers = data[4..].chunks_exact(4).map(|id| address(id, 0)).collect();
        Ok(Network { mask: address(data, 0), routers })
    }
}

/// An advertisement as a value. Its length follows from its body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lsa {
    /// Seconds since it was made.
    pub age: u16,
    /// What the part of the network that it describes can do.
    pub options: u8,
    /// Which one it is.
    #[serde(flatten)]
    pub key: LsaKey,
    /// Counts the instances, from -2,147,483,647 on.
    pub sequence: i32,
    /// Fletcher checksum over all but the age; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
    /// What follows the header, by its type.
    #[serde(flatten)]
    pub body: LsaBody,
}

impl Lsa {
    /// Reads an advertisement of which all bytes are given. A body that can't be written again to the same bytes is
    /// [`LsaBody::Other`].
    pub fn read(data: &[u8]) -> Result<Lsa, Error> {
        let header = LsaHeader::parse(data)?;
        if usize::from(header.length) != data.len() {
            let (found, expected) = (header.length.into(), data.len() as u64);
            let reason = Reason::Unexpected { field: "LSA length", found, expected };
            return Err(Error::new(LAYER, 18, reason));
        }
        let bytes = &data[LSA_HEADER_LEN..];
        let same = |body: &LsaBody| {
            let mut again = Vec::with_capacity(bytes.len());
            body.emit(&mut again);
            again == bytes
        };
        let body = LsaBody::parse(header.key.kind, bytes).ok().filter(same);
        let correct = lsa_checksum(data);
        Ok(Lsa {
            age: header.age,
            options: header.options,
            key: header.key,
            sequence: header.sequence,
            checksum: Some(header.checksum),
            correct_checksum: (correct != header.checksum).then_some(correct),
            body: body.unwrap_or_else(|| LsaBody::Other { bytes: bytes.into() }),
        })
    }

    /// Header and body, with length and checksum computed unless a checksum is given.
    pub fn write(&self) -> Result<Vec<u8>, Error> {
        let &Lsa { age, options, key, sequence, .. } = self;
        let checksum = self.checksum.unwrap_or(0);
        let header = LsaHeader { age, options, key, sequence, checksum, length: 0 };
        let mut bytes = header.emit().to_vec();
        self.body.emit(&mut bytes);
        let length = u16::try_from(bytes.len()).map_err(|_| {
            let (found, max) = (bytes.len() as u64, u16::MAX.into());
            Error::new(LAYER, 18, Reason::OutOfRange { field: "LSA length", found, min: 20, max })
        })?;
        bytes[18..LSA_HEADER_LEN].copy_from_slice(&length.to_be_bytes());
        if self.checksum.is_none() {
            let checksum = lsa_checksum(&bytes);
            bytes[CHECKSUM_AT..18].copy_from_slice(&checksum.to_be_bytes());
        }
        Ok(bytes)
    }

    /// Is the checksum of these bytes right? (RFC 2328, 12.1.7: one of zero never is.)
    pub fn is_intact(data: &[u8]) -> bool {
        let there = data.len() >= LSA_HEADER_LEN && short(data, CHECKSUM_AT) != 0;
        there && fletcher(data) == (0, 0)
    }
}
