//! Options of neighbour discovery (RFC 4861, 4.6): type, length in units of eight bytes, data.

use super::super::icmpv6::HEADER_LEN;
use crate::error::{Error, Reason};
use base::MacAddr;
use core::net::Ipv6Addr;

const LAYER: &str = "icmpv6";
/// The unit of lengths.
const UNIT: usize = 8;

/// Types of options (RFC 4861, 4.6).
pub mod kind {
    /// Link-layer address of the sender.
    pub const SOURCE_LINK_LAYER: u8 = 1;
    /// Link-layer address of the target.
    pub const TARGET_LINK_LAYER: u8 = 2;
    /// A prefix of the link.
    pub const PREFIX_INFORMATION: u8 = 3;
    /// The packet that a redirect is about.
    pub const REDIRECTED_HEADER: u8 = 4;
    /// The MTU of the link.
    pub const MTU: u8 = 5;
}

/// A prefix of the link, as a router advertises it (RFC 4861, 4.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrefixInformation {
    /// Bits of the prefix, 0 to 128.
    pub len: u8,
    /// Are its addresses on the link?
    pub on_link: bool,
    /// May hosts make addresses of it (RFC 4862, 5.5.3)?
    pub autonomous: bool,
    /// Seconds for which it is on the link; all bits set is for ever.
    pub valid_s: u32,
    /// Seconds for which addresses made of it are preferred; all bits set is for ever.
    pub preferred_s: u32,
    /// The prefix; bits beyond its length are zero.
    pub prefix: Ipv6Addr,
}

/// An option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NdOption<'a> {
    /// Ethernet address of the sender of the message.
    SourceLinkLayer(MacAddr),
    /// Ethernet address of the target.
    TargetLinkLayer(MacAddr),
    /// A prefix of the link.
    Prefix(PrefixInformation),
    /// The MTU of the link, in bytes.
    Mtu(u32),
    /// Any other option, or one of those in another length.
    Other {
        /// The type of the option.
        kind: u8,
        /// What follows type and length.
        data: &'a [u8],
    },
}

impl NdOption<'_> {
    /// Bytes of the option.
    pub const fn len(&self) -> usize {
        match self {
            NdOption::SourceLinkLayer(_) | NdOption::TargetLinkLayer(_) | NdOption::Mtu(_) => UNIT,
            NdOption::Prefix(_) => 4 * UNIT,
            NdOption::Other { data, .. } => (data.len() + 2).next_multiple_of(UNIT),
        }
    }

    /// Never: an option has eight bytes at least.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Appends the option to `options`; data of another length than options have is filled up with zeros.
    pub fn append_to(&self, options: &mut Vec<u8>) {
        let units = (self.len() / UNIT) as u8;
        let end = options.len() + self.len();
        match *self {
            NdOption::SourceLinkLayer(mac) => {
                options.extend([kind::SOURCE_LINK_LAYER, units]);
                options.extend(mac.0);
            }
            NdOption::TargetLinkLayer(mac) => {
                options.extend([kind::TARGET_LINK_LAYER, units]);
                options.extend(mac.0);
            }
            NdOption::Prefix(prefix) => {
                let flags = u8::from(prefix.on_link) << 7 | u8::from(prefix.autonomous) << 6;
                options.extend([kind::PREFIX_INFORMATION, units, prefix.len, flags]);
                options.extend(prefix.valid_s.to_be_bytes());
                options.extend(prefix.preferred_s.to_be_bytes());
                options.extend([0; 4]);
                options.extend(prefix.prefix.octets());
            }
            NdOption::Mtu(mtu) => {
                options.extend([kind::MTU, units, 0, 0]);
                options.extend(mtu.to_be_bytes());
            }
            NdOption::Other { kind, data } => {
                options.extend([kind, units]);
                options.extend(data);
                options.resize(end, 0);
            }
        }
    }
}

/// The options of a message, as they are on the wire: each is whole, and none has no length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options<'a> {
    bytes: &'a [u8],
}

impl<'a> Options<'a> {
    /// Reads options that begin `at` bytes behind the start of the message's header.
    pub(super) fn parse(bytes: &'a [u8], at: usize) -> Result<Options<'a>, Error> {
        let mut rest = bytes;
        while let [_, after @ ..] = rest {
            let place = HEADER_LEN + at + bytes.len() - rest.len();
            let units = after.first().copied().unwrap_or(0);
            // RFC 4861, 4.6: "Nodes MUST silently discard an ND packet that contains an option with length zero."
            let Some((_, next)) =
                rest.split_at_checked(usize::from(units) * UNIT).filter(|(own, _)| !own.is_empty())
            else {
                let (found, max) = (u64::from(units), (rest.len() / UNIT) as u64);
                let reason = Reason::OutOfRange { field: "option length", found, min: 1, max };
                return Err(Error::new(LAYER, place + 1, reason));
            };
            rest = next;
        }
        Ok(Options { bytes })
    }

    /// Options that were made by [`NdOption::append_to`].
    pub fn of(bytes: &'a [u8]) -> Result<Options<'a>, Error> {
        Options::parse(bytes, 0)
    }

    /// All their bytes.
    pub const fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The options in order.
    pub fn iter(&self) -> impl Iterator<Item = NdOption<'a>> + use<'a> {
        let mut rest = self.bytes;
        core::iter::from_fn(move || {
            let &[kind, units, ..] = rest else { return None };
            let (own, next) = rest.split_at_checked(usize::from(units) * UNIT)?;
            rest = next;
            Some(read(kind, own.get(2..)?))
        })
    }

    /// The Ethernet address of the sender, if it says it.
    pub fn source(&self) -> Option<MacAddr> {
        self.iter().find_map(|option| match option {
            NdOption::SourceLinkLayer(mac) => Some(mac),
            _ => None,
        })
    }

    /// The Ethernet address of the target, if the message says it.
    pub fn target(&self) -> Option<MacAddr> {
        self.iter().find_map(|option| match option {
            NdOption::TargetLinkLayer(mac) => Some(mac),
            _ => None,
        })
    }
}

fn read(kind: u8, data: &[u8]) -> NdOption<'_> {
    match (kind, data) {
        (kind::SOURCE_LINK_LAYER, &[a, b, c, d, e, f]) => {
            NdOption::SourceLinkLayer(MacAddr([a, b, c, d, e, f]))
        }
        (kind::TARGET_LINK_LAYER, &[a, b, c, d, e, f]) => {
            NdOption::TargetLinkLayer(MacAddr([a, b, c, d, e, f]))
        }
        (kind::MTU, &[0, 0, a, b, c, d]) => NdOption::Mtu(u32::from_be_bytes([a, b, c, d])),
        (kind::PREFIX_INFORMATION, data) => prefix(data).unwrap_or(NdOption::Other { kind, data }),
        _ => NdOption::Other { kind, data },
    }
}

/// The prefix information in 30 bytes whose reserved bits are clear.
fn prefix(data: &[u8]) -> Option<NdOption<'static>> {
    let data: &[u8; 30] = data.try_into().ok()?;
    let word = |at: usize| u32::from_be_bytes([data[at], data[at + 1], data[at + 2], data[at + 3]]);
    if data[0] > 128 || data[1] & 0x3f != 0 || word(10) != 0 {
        return None;
    }
    let octets: [u8; 16] = data[14..].try_into().ok()?;
    Some(NdOption::Prefix(PrefixInformation {
        len: data[0],
        on_link: data[1] & 0x80 != 0,
        autonomous: data[1] & 0x40 != 0,
        valid_s: word(2),
        preferred_s: word(6),
        prefix: octets.into(),
    }))
}
