//! Hellos and their options (RFC 7761, 4.9.2).

use super::address::{put_unicast, unicast};
use super::{HEADER_LEN, LAYER};
use crate::error::{Error, Reason, need};
use crate::hex::Hex;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// Numbers of options.
const HOLDTIME: u16 = 1;
const LAN_PRUNE_DELAY: u16 = 2;
const DR_PRIORITY: u16 = 19;
const GENERATION_ID: u16 = 20;
const ADDRESS_LIST: u16 = 24;

/// Type and length of an option, in bytes.
const OPTION_LEN: usize = 4;

/// What a Hello says, in an option of its own each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelloOption {
    /// The sender is gone unless it is heard again within so many seconds.
    Holdtime(u16),
    /// How long a prune has to wait on a shared link (RFC 7761, 4.3.3).
    LanPruneDelay {
        /// Can the sender do without suppression of joins: the T bit?
        tracking: bool,
        /// Milliseconds that a message takes on the link; 15 bits.
        propagation_ms: u16,
        /// Milliseconds in which others answer a prune.
        override_ms: u16,
    },
    /// The greatest is the designated router.
    DrPriority(u32),
    /// A number that is another one when the sender has restarted.
    GenerationId(u32),
    /// Further addresses of the sender on the link.
    AddressList(Vec<IpAddr>),
    /// An option that is not known here: it is ignored.
    Unknown {
        /// Its number.
        kind: u16,
        /// Its bytes, in hexadecimal.
        value: Hex,
    },
}

/// A Hello: options, in their order.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |          OptionType           |         OptionLength          |
/// |                          OptionValue                          |
/// |                              ...                              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The options; one that is not known is kept, so that people see it.
    pub options: Vec<HelloOption>,
}

impl Hello {
    pub(super) fn parse(bytes: &[u8]) -> Result<Hello, Error> {
        let mut options = Vec::new();
        let mut at = HEADER_LEN;
        while at < bytes.len() {
            need(LAYER, at + OPTION_LEN, bytes.len())?;
            let kind = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            let len = usize::from(u16::from_be_bytes([bytes[at + 2], bytes[at + 3]]));
            let end = at + OPTION_LEN + len;
            need(LAYER, end, bytes.len())?;
            options.push(HelloOption::parse(kind, &bytes[..end], at + OPTION_LEN)?);
            at = end;
        }
        Ok(Hello { options })
    }

    pub(super) fn emit(&self, out: &mut Vec<u8>) {
        self.options.iter().for_each(|option| option.emit(out));
    }

    /// The value that the last option of a kind has.
    fn last<T>(&self, of: impl Fn(&HelloOption) -> Option<T>) -> Option<T> {
        self.options.iter().rev().find_map(of)
    }

    /// Seconds until the sender is gone, if it says so.
    pub fn holdtime_s(&self) -> Option<u16> {
        self.last(|option| if let HelloOption::Holdtime(s) = option { Some(*s) } else { None })
    }

    /// The sender's priority in the election of the designated router, if it has one.
    pub fn dr_priority(&self) -> Option<u32> {
        self.last(|option| if let HelloOption::DrPriority(value) = option { Some(*value) } else { None })
    }

    /// The number of the sender's life, if it has one.
    pub fn generation_id(&self) -> Option<u32> {
        self.last(|option| if let HelloOption::GenerationId(id) = option { Some(*id) } else { None })
    }

    /// Whether the sender tracks joins, and its delays in milliseconds: of propagation and for overriding.
    pub fn lan_prune_delay(&self) -> Option<(bool, u16, u16)> {
        self.last(|option| match *option {
            HelloOption::LanPruneDelay { tracking, propagation_ms, override_ms } => {
                Some((tracking, propagation_ms, override_ms))
            }
            _ => None,
        })
    }

    /// Further addresses of the sender on the link.
    pub fn addresses(&self) -> &[IpAddr] {
        let mut lists = self.options.iter().rev().filter_map(|option| match option {
            HelloOption::AddressList(all) => Some(&all[..]),
            _ => None,
        });
        lists.next().unwrap_or_default()
    }
}

impl HelloOption {
    /// The option of a number whose value are the bytes from `at` to the end.
    fn parse(kind: u16, bytes: &[u8], at: usize) -> Result<HelloOption, Error> {
        let value = &bytes[at..];
        let long = |expected: usize| match value.len() == expected {
            true => Ok(()),
            false => {
                let (found, expected) = (value.len() as u64, expected as u64);
                let reason = Reason::Unexpected { field: "OptionLength", found, expected };
                Err(Error::new(LAYER, at - 2, reason))
            }
        };
        let short = |at: usize| u16::from_be_bytes([value[at], value[at + 1]]);
        let word = || u32::from_be_bytes([value[0], value[1], value[2], value[3]]);
        Ok(match kind {
            HOLDTIME => {
                long(2)?;
                HelloOption::Holdtime(short(0))
            }
            LAN_PRUNE_DELAY => {
                long(4)?;
                HelloOption::LanPruneDelay {
                    tracking: short(0) >> 15 == 1,
                    propagation_ms: short(0) & 0x7fff,
                    override_ms: short(2),
                }
            }
            DR_PRIORITY => {
                long(4)?;
                HelloOption::DrPriority(word())
            }
            GENERATION_ID => {
                long(4)?;
                HelloOption::GenerationId(word())
            }
            ADDRESS_LIST => HelloOption::AddressList(address_list(bytes, at)?),
            kind => HelloOption::Unknown { kind, value: value.into() },
        })
    }

    fn emit(&self, out: &mut Vec<u8>) {
        let mut value = Vec::new();
        let kind = match self {
            HelloOption::Holdtime(s) => {
                value.extend(s.to_be_bytes());
                HOLDTIME
            }
            HelloOption::LanPruneDelay { tracking, propagation_ms, override_ms } => {
                value.extend((propagation_ms & 0x7fff | u16::from(*tracking) << 15).to_be_bytes());
                value.extend(override_ms.to_be_bytes());
                LAN_PRUNE_DELAY
            }
            HelloOption::DrPriority(priority) => {
                value.extend(priority.to_be_bytes());
                DR_PRIORITY
            }
            HelloOption::GenerationId(id) => {
                value.extend(id.to_be_bytes());
                GENERATION_ID
            }
            HelloOption::AddressList(all) => {
                all.iter().for_each(|address| put_unicast(*address, &mut value));
                ADDRESS_LIST
            }
            HelloOption::Unknown { kind, value: bytes } => {
                value.extend(&bytes.0);
                *kind
            }
        };
        out.extend(kind.to_be_bytes());
        out.extend((value.len() as u16).to_be_bytes());
        out.extend(value);
    }
}

/// Addresses of one family (RFC 7761, 4.3.4).
fn address_list(bytes: &[u8], mut at: usize) -> Result<Vec<IpAddr>, Error> {
    let mut all: Vec<IpAddr> = Vec::new();
    while at < bytes.len() {
        let start = at;
        let address = unicast(bytes, &mut at)?;
        if all.first().is_some_and(|first| first.is_ipv4() != address.is_ipv4()) {
            return Err(Error::invalid(LAYER, start, "addresses of two families are in one list"));
        }
        all.push(address);
    }
    Ok(all)
}
