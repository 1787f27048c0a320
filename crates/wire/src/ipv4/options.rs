//! IPv4 options (RFC 791, 3.1), the Router Alert option (RFC 2113) among them.

use crate::error::{Error, Reason};
use core::fmt;

const LAYER: &str = "ipv4";

/// Bytes of options that fit in a header.
pub const MAX_LEN: usize = 40;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;
/// Record Route (RFC 791, 3.1).
pub const RECORD_ROUTE: u8 = 7;
/// Router Alert: copied flag, class 0, number 20 (RFC 2113, 2.1).
pub const ROUTER_ALERT: u8 = 148;
/// The flag in an option's type that has it copied to every fragment (RFC 791, 3.1).
const COPIED: u8 = 0x80;

/// The options of a header: well-formed, and padded to a multiple of four bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Options {
    len: u8,
    bytes: [u8; MAX_LEN],
}

/// An IPv4 option; those that no router here acts on are kept as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IpOption<'a> {
    /// Nothing follows but padding.
    EndOfList,
    /// One byte of filler between options.
    NoOperation,
    /// Every router has to look at the packet (RFC 2113); zero is the only value in use.
    RouterAlert(u16),
    /// An option of any other type.
    Other {
        /// The type byte: copied flag, class and number.
        kind: u8,
        /// What follows type and length.
        data: &'a [u8],
    },
}

impl Options {
    /// No options: the header has its least length.
    pub const NONE: Options = Options { len: 0, bytes: [0; MAX_LEN] };
    /// The Router Alert option alone, which RSVP's Path, PathTear and ResvConf carry (RFC 2205, 3.11.3).
    pub const ROUTER_ALERT: Options = {
        let mut bytes = [0; MAX_LEN];
        bytes[0] = ROUTER_ALERT;
        bytes[1] = 4;
        Options { len: 4, bytes }
    };

    /// The options in `bytes`, padded with zeros to a multiple of four.
    pub fn from_bytes(bytes: &[u8]) -> Result<Options, Error> {
        if bytes.is_empty() {
            return Ok(Options::NONE);
        }
        if bytes.len() > MAX_LEN {
            let reason = Reason::OutOfRange {
                field: "options",
                found: bytes.len() as u64,
                min: 0,
                max: MAX_LEN as u64,
            };
            return Err(Error::new(LAYER, 0, reason));
        }
        for option in Iter::new(bytes) {
            option?;
        }
        let mut options = Options { len: bytes.len().next_multiple_of(4) as u8, bytes: [0; MAX_LEN] };
        options.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(options)
    }

    /// Bytes of the options, with padding.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len as usize
    }
    /// Is there no option?
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The bytes, with padding.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len()]
    }
    /// The options in order, up to and with the end of the list.
    pub fn iter(&self) -> impl Iterator<Item = IpOption<'_>> {
        Iter::new(self.as_bytes()).map_while(Result::ok)
    }
    /// Must every router look at the packet (RFC 2113)?
    pub fn router_alert(&self) -> bool {
        self.iter().any(|option| matches!(option, IpOption::RouterAlert(_)))
    }

    /// The options of the second and later fragments: those with the copied flag (RFC 791, 3.1 and 3.2).
    pub fn of_later_fragments(&self) -> Options {
        let mut builder = OptionsBuilder::new();
        for option in self.iter() {
            if option.is_copied() {
                builder.push(option).expect("no longer than the options that it was taken from");
            }
        }
        builder.finish()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl IpOption<'_> {
    /// Does every fragment carry this option?
    pub const fn is_copied(self) -> bool {
        match self {
            IpOption::EndOfList | IpOption::NoOperation => false,
            IpOption::RouterAlert(_) => true,
            IpOption::Other { kind, .. } => kind & COPIED != 0,
        }
    }
}

/// Collects options for a header, one after the other.
#[derive(Clone, Debug)]
pub struct OptionsBuilder {
    options: Options,
}

impl Default for OptionsBuilder {
    fn default() -> OptionsBuilder {
        OptionsBuilder::new()
    }
}

impl OptionsBuilder {
    /// A collection without any option.
    pub const fn new() -> OptionsBuilder {
        OptionsBuilder { options: Options::NONE }
    }

    /// Adds an option; an error if it does not fit, or is one that has a variant of its own.
    pub fn push(&mut self, option: IpOption<'_>) -> Result<(), Error> {
        let invalid = |clause| Err(Error::invalid(LAYER, usize::from(self.options.len), clause));
        match option {
            IpOption::EndOfList => self.extend(&[END_OF_LIST]),
            IpOption::NoOperation => self.extend(&[NO_OPERATION]),
            IpOption::RouterAlert(value) => {
                let [high, low] = value.to_be_bytes();
                self.extend(&[ROUTER_ALERT, 4, high, low])
            }
            IpOption::Other { kind: END_OF_LIST | NO_OPERATION, .. } => {
                invalid("options of type 0 and 1 have no data")
            }
            IpOption::Other { kind, data } => {
                if data.len() > MAX_LEN - 2 {
                    return invalid("options have at most 40 bytes");
                }
                let mut bytes = [0; MAX_LEN];
                bytes[0] = kind;
                bytes[1] = data.len() as u8 + 2;
                bytes[2..2 + data.len()].copy_from_slice(data);
                self.extend(&bytes[..2 + data.len()])
            }
        }
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let start = usize::from(self.options.len);
        let Some(slot) = self.options.bytes.get_mut(start..start + bytes.len()) else {
            return Err(Error::invalid(LAYER, start, "options have at most 40 bytes"));
        };
        slot.copy_from_slice(bytes);
        self.options.len += bytes.len() as u8;
        Ok(())
    }

    /// The options, padded to a multiple of four bytes with the end of the list, which is zero.
    pub const fn finish(mut self) -> Options {
        self.options.len = self.options.len.next_multiple_of(4);
        self.options
    }
}

/// Reads options one by one; ends behind the end of the list or an error.
struct Iter<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iter<'a> {
    const fn new(bytes: &'a [u8]) -> Iter<'a> {
        Iter { bytes, at: 0 }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Result<IpOption<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, rest) = (self.at, self.bytes.get(self.at..)?);
        let &kind = rest.first()?;
        match kind {
            END_OF_LIST => {
                self.at = self.bytes.len();
                Some(Ok(IpOption::EndOfList))
            }
            NO_OPERATION => {
                self.at += 1;
                Some(Ok(IpOption::NoOperation))
            }
            _ => {
                let len = usize::from(rest.get(1).copied().unwrap_or(0));
                let Some(data) = rest.get(2..len) else {
                    self.at = self.bytes.len();
                    let (found, max) = (len as u64, rest.len() as u64);
                    let reason = Reason::OutOfRange { field: "option length", found, min: 2, max };
                    return Some(Err(Error::new(LAYER, start + 1, reason)));
                };
                self.at += len;
                Some(Ok(match (kind, data) {
                    (ROUTER_ALERT, &[high, low]) => IpOption::RouterAlert(u16::from_be_bytes([high, low])),
                    _ => IpOption::Other { kind, data },
                }))
            }
        }
    }
}
