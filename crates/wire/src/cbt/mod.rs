//! CBT version 2, core-based trees (RFC 2189), with an option of our own for labels.

use crate::checksum;
use crate::error::{Error, Reason, need};
use base::Label;
use core::net::Ipv4Addr;

const LAYER: &str = "cbt";
/// Number of the IP protocol.
pub const PROTOCOL: u8 = 7;
/// All routers of a link that speak it.
pub const ALL_ROUTERS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 15);

const VERSION: u8 = 2;
const HEADER_LEN: usize = 4;
/// The option that hands out a label along the tree. No RFC has one: the label-switched trees of the published study
/// are not described that far, and types from 128 on are not given to anybody.
const LABEL: u8 = 128;

/// A message (RFC 2189, 7). Addresses have four bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repr {
    /// A router wants to be on the tree of a group.
    JoinRequest {
        /// The group that is joined.
        group: Ipv4Addr,
        /// The group's core, towards which the message goes.
        core: Ipv4Addr,
        /// The router that made the first message.
        origin: Ipv4Addr,
        /// The label with which packets of the group are to come down to the sender.
        label: Option<Label>,
    },
    /// The router that was asked is on the tree, and the asker from now on, too.
    JoinAck {
        /// The group that is joined.
        group: Ipv4Addr,
        /// The router that made the first join.
        target: Ipv4Addr,
        /// The label with which packets of the group are to go up to the sender.
        label: Option<Label>,
    },
    /// A child leaves.
    QuitNotification {
        /// The group that it leaves.
        group: Ipv4Addr,
        /// The router that leaves.
        child: Ipv4Addr,
    },
    /// A child asks whether its parent is there.
    EchoRequest {
        /// The router that asks.
        child: Ipv4Addr,
    },
    /// The parent is there.
    EchoReply {
        /// The router that answers.
        parent: Ipv4Addr,
        /// The groups for which the asker's link is its child.
        groups: Vec<Ipv4Addr>,
    },
    /// A parent has lost the tree: what is below is no part of it any more.
    FlushTree {
        /// The groups; all if there is none.
        groups: Vec<Ipv4Addr>,
    },
}

/// Names of the kinds of messages, by their numbers.
const NAMES: [&str; 7] =
    ["Hello", "JoinRequest", "JoinAck", "QuitNotification", "EchoRequest", "EchoReply", "FlushTree"];

/// The name of a kind of message; nothing if there is none of that number.
pub fn name(kind: u8) -> Option<&'static str> {
    NAMES.get(usize::from(kind)).copied()
}

/// The kind of a message by its first byte.
pub const fn kind_of(first: u8) -> u8 {
    first & 0x0f
}

/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  vers | type  |  addr len     |         checksum              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
impl Repr {
    /// The number of its kind.
    pub const fn kind(&self) -> u8 {
        match self {
            Repr::JoinRequest { .. } => 1,
            Repr::JoinAck { .. } => 2,
            Repr::QuitNotification { .. } => 3,
            Repr::EchoRequest { .. } => 4,
            Repr::EchoReply { .. } => 5,
            Repr::FlushTree { .. } => 6,
        }
    }

    /// Reads a message and checks its checksum (RFC 2189, 7.1).
    pub fn parse(bytes: &[u8]) -> Result<Repr, Error> {
        need(LAYER, HEADER_LEN, bytes.len())?;
        let wrong = |offset, field, found: u8, expected: u8| {
            let (found, expected) = (found.into(), expected.into());
            Error::new(LAYER, offset, Reason::Unexpected { field, found, expected })
        };
        if bytes[0] >> 4 != VERSION {
            return Err(wrong(0, "version", bytes[0] >> 4, VERSION));
        }
        if bytes[1] != 4 {
            return Err(wrong(1, "address length", bytes[1], 4));
        }
        if checksum::sum(bytes) != 0xffff {
            let found = u16::from_be_bytes([bytes[2], bytes[3]]);
            let computed = !checksum::combine(&[checksum::sum(&bytes[..2]), checksum::sum(&bytes[4..])]);
            return Err(Error::new(LAYER, 2, Reason::Checksum { found, computed }));
        }
        let at = |place: usize| {
            let start = HEADER_LEN + 4 * place;
            need(LAYER, start + 4, bytes.len())?;
            Ok::<_, Error>(Ipv4Addr::new(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]))
        };
        let group = |place: usize| match at(place)? {
            group if group.is_multicast() => Ok(group),
            _ => Err(Error::invalid(LAYER, HEADER_LEN + 4 * place, "the address is no group")),
        };
        let groups = |from: usize| {
            let all = (bytes.len() - HEADER_LEN) / 4;
            (from..all).map(group).collect::<Result<Vec<_>, Error>>()
        };
        match kind_of(bytes[0]) {
            1 => {
                let label = label_at(bytes, HEADER_LEN + 12)?;
                Ok(Repr::JoinRequest { group: group(0)?, core: at(1)?, origin: at(2)?, label })
            }
            2 => {
                let label = label_at(bytes, HEADER_LEN + 8)?;
                Ok(Repr::JoinAck { group: group(0)?, target: at(1)?, label })
            }
            3 => Ok(Repr::QuitNotification { group: group(0)?, child: at(1)? }),
            4 => Ok(Repr::EchoRequest { child: at(0)? }),
            5 => Ok(Repr::EchoReply { parent: at(0)?, groups: groups(1)? }),
            6 => Ok(Repr::FlushTree { groups: groups(0)? }),
            other => {
                let reason = Reason::OutOfRange { field: "type", found: other.into(), min: 1, max: 6 };
                Err(Error::new(LAYER, 0, reason))
            }
        }
    }

    /// The bytes of the message, with its checksum.
    pub fn emit(&self) -> Vec<u8> {
        let mut out = vec![VERSION << 4 | self.kind(), 4, 0, 0];
        let mut put = |addresses: &[Ipv4Addr]| addresses.iter().for_each(|a| out.extend(a.octets()));
        let label = match self {
            Repr::JoinRequest { group, core, origin, label } => {
                put(&[*group, *core, *origin]);
                *label
            }
            Repr::JoinAck { group, target, label } => {
                put(&[*group, *target]);
                *label
            }
            Repr::QuitNotification { group, child } => {
                put(&[*group, *child]);
                None
            }
            Repr::EchoRequest { child } => {
                put(&[*child]);
                None
            }
            Repr::EchoReply { parent, groups } => {
                put(&[*parent]);
                put(groups);
                None
            }
            Repr::FlushTree { groups } => {
                put(groups);
                None
            }
        };
        if let Some(label) = label {
            out.extend([LABEL, 4]);
            out.extend(label.value().to_be_bytes());
        }
        let sum = !checksum::sum(&out);
        out[2..4].copy_from_slice(&sum.to_be_bytes());
        out
    }
}

/// The label among the options from a place on: options of other types are skipped.
fn label_at(bytes: &[u8], mut at: usize) -> Result<Option<Label>, Error> {
    need(LAYER, at, bytes.len())?;
    while let Some(&[kind, len]) = bytes[at..].first_chunk::<2>() {
        let end = at + 2 + usize::from(len);
        need(LAYER, end, bytes.len())?;
        if let (LABEL, Some(word)) = (kind, bytes[at + 2..end].first_chunk::<4>()) {
            let label = Label::new(u32::from_be_bytes(*word)).filter(|label| !label.is_reserved());
            return Ok(Some(label.ok_or(Error::invalid(LAYER, at + 2, "no label for packets"))?));
        }
        at = end;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 1, 1);
    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn messages_are_read_and_written() {
        let label = Some(Label::truncate(17));
        let join = Repr::JoinRequest { group: GROUP, core: A, origin: B, label };
        let bytes = [
            &[0x21, 4, 0x5a, 0xe0, 239, 1, 1, 1, 10, 0, 0, 1, 10, 0, 0, 2, 128, 4, 0, 0, 0, 17][..],
            &[0x26, 4, 0xe9, 0xf8, 239, 1, 1, 1],
        ];
        let flush = Repr::FlushTree { groups: vec![GROUP] };
        for (bytes, repr) in bytes.into_iter().zip([join, flush]) {
            assert_eq!(repr.emit(), bytes, "{:02x?}", repr.emit());
        }
        for repr in [
            Repr::JoinRequest { group: GROUP, core: A, origin: B, label: None },
            Repr::JoinAck { group: GROUP, target: B, label },
            Repr::QuitNotification { group: GROUP, child: B },
            Repr::EchoRequest { child: B },
            Repr::EchoReply { parent: A, groups: vec![GROUP, GROUP] },
        ] {
            let bytes = repr.emit();
            assert_eq!(Repr::parse(&bytes), Ok(repr.clone()));
            for end in 0..bytes.len() {
                assert!(Repr::parse(&bytes[..end]).is_err(), "{repr:?} cut at {end}");
            }
        }
    }

    #[test]
    fn errors_say_where() {
        let wrong = |place: usize, byte: u8| {
            let mut bytes = Repr::EchoRequest { child: B }.emit();
            bytes[place] = byte;
            bytes[2..4].fill(0);
            let sum = !checksum::sum(&bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
            Repr::parse(&bytes).map_err(|error| error.to_string())
        };
        assert_eq!(wrong(0, 0x14), Err("cbt: version is 1, not 2 (at byte 0)".into()));
        assert_eq!(wrong(0, 0x2f), Err("cbt: type is 15, outside 1 to 6 (at byte 0)".into()));
        assert_eq!(wrong(1, 16), Err("cbt: address length is 16, not 4 (at byte 1)".into()));
    }
}
