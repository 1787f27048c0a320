//! InATMARP: who is at the other end of a permanent virtual circuit (RFC 2390 in the format of RFC 2225, 8.7)?
//!
//! On a permanent circuit there need be no ATM addresses: all of them have length zero then.

use crate::error::{Error, Reason, need};
use core::net::Ipv4Addr;

const LAYER: &str = "inatmarp";
/// Bytes of the fields that every packet has.
const FIXED_LEN: usize = 12;
/// The ATM Forum's address family (RFC 2225, 8.7.1).
const HARDWARE: u16 = 19;
const IPV4: u16 = 0x0800;
/// The bit that says that an address has the format of E.164 (RFC 2225, 8.7.3).
const E164: u8 = 0x40;
/// The bits of an address's length.
const LENGTH: u8 = 0x3f;
/// The longest ATM address (RFC 2225, 8.7.3).
const ATM_ADDRESS_MAX: usize = 20;

/// What a packet asks or says (RFC 2225, 8.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation(pub u16);

impl Operation {
    /// Who is at the other end?
    pub const REQUEST: Operation = Operation(8);
    /// The sender is.
    pub const REPLY: Operation = Operation(9);
}

/// An ATM number or subaddress; empty if there is none, or if it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct AtmAddress {
    /// Is it a telephone number (E.164)? Of no meaning in an empty one.
    pub e164: bool,
    /// Its bytes, 20 at most.
    pub bytes: Vec<u8>,
}

impl AtmAddress {
    /// Its type and length.
    fn octet(&self) -> u8 {
        self.bytes.len() as u8 | if self.e164 && !self.bytes.is_empty() { E164 } else { 0 }
    }
}

/// A packet as a value.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |      Hardware Type (19)       |    Protocol Type (0x0800)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Source Number | Source Subadd.|           Operation           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | Source Proto. | Target Number | Target Subadd.| Target Proto. |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// | addresses of these lengths: of the source, then of the target |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// What it asks or says.
    pub operation: Operation,
    /// ATM number and subaddress of the sender.
    pub source: [AtmAddress; 2],
    /// IPv4 address of the sender; absent in a packet of one who does not know its own.
    pub source_ip: Option<Ipv4Addr>,
    /// ATM number and subaddress of the receiver.
    pub target: [AtmAddress; 2],
    /// IPv4 address of the receiver; absent in a request, which asks for it.
    pub target_ip: Option<Ipv4Addr>,
}

impl Repr {
    /// Asks who is at the other end of a permanent circuit, which has no ATM addresses.
    pub fn request(source_ip: Ipv4Addr) -> Repr {
        Repr {
            operation: Operation::REQUEST,
            source: <[AtmAddress; 2]>::default(),
            source_ip: Some(source_ip),
            target: <[AtmAddress; 2]>::default(),
            target_ip: None,
        }
    }

    /// The answer to this request: the source addresses of the request become the target's (RFC 2390, 7).
    #[must_use]
    pub fn reply(&self, ip: Ipv4Addr) -> Repr {
        Repr {
            operation: Operation::REPLY,
            source: self.target.clone(),
            source_ip: Some(ip),
            target: self.source.clone(),
            target_ip: self.source_ip,
        }
    }

    /// Reads a packet, and leaves what is behind it alone.
    pub fn parse(data: &[u8]) -> Result<Repr, Error> {
        need(LAYER, FIXED_LEN, data.len())?;
        let word = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        for (at, field, expected) in [(0, "hardware type", HARDWARE), (2, "protocol type", IPV4)] {
            if word(at) != expected {
                let (found, expected) = (word(at).into(), expected.into());
                return Err(Error::new(LAYER, at, Reason::Unexpected { field, found, expected }));
            }
        }
        let mut rest = Rest { data, at: FIXED_LEN };
        Ok(Repr {
            operation: Operation(word(6)),
            source: [rest.atm(4)?, rest.atm(5)?],
            source_ip: rest.ip(8)?,
            target: [rest.atm(9)?, rest.atm(10)?],
            target_ip: rest.ip(11)?,
        })
    }

    /// The packet's bytes. An unknown IPv4 address takes none (RFC 2225, 8.7.5).
    pub fn emit(&self) -> Result<Vec<u8>, Error> {
        for address in self.source.iter().chain(&self.target) {
            if address.bytes.len() > ATM_ADDRESS_MAX {
                let (found, max) = (address.bytes.len() as u64, ATM_ADDRESS_MAX as u64);
                let reason = Reason::OutOfRange { field: "address length", found, min: 0, max };
                return Err(Error::new(LAYER, 4, reason));
            }
        }
        let length = |ip: Option<Ipv4Addr>| if ip.is_some() { 4 } else { 0 };
        let mut bytes = Vec::with_capacity(FIXED_LEN + 8);
        bytes.extend(HARDWARE.to_be_bytes());
        bytes.extend(IPV4.to_be_bytes());
        bytes.extend(self.source.iter().map(AtmAddress::octet));
        bytes.extend(self.operation.0.to_be_bytes());
        bytes.push(length(self.source_ip));
        bytes.extend(self.target.iter().map(AtmAddress::octet));
        bytes.push(length(self.target_ip));
        for (addresses, ip) in [(&self.source, self.source_ip), (&self.target, self.target_ip)] {
            addresses.iter().for_each(|address| bytes.extend(&address.bytes));
            bytes.extend(ip.iter().flat_map(Ipv4Addr::octets));
        }
        Ok(bytes)
    }
}

/// The addresses that are still to be read.
struct Rest<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let end = self.at + len;
        let bytes = self.data.get(self.at..end).ok_or(Error::truncated(LAYER, end, self.data.len()))?;
        self.at = end;
        Ok(bytes)
    }

    /// The address whose type and length stand at this offset.
    fn atm(&mut self, at: usize) -> Result<AtmAddress, Error> {
        let octet = self.data[at];
        let length = usize::from(octet & LENGTH);
        if length > ATM_ADDRESS_MAX {
            let (found, max) = (length as u64, ATM_ADDRESS_MAX as u64);
            let reason = Reason::OutOfRange { field: "address length", found, min: 0, max };
            return Err(Error::new(LAYER, at, reason));
        }
        // The type of an address that is not there is ignored (RFC 2225, 8.7.3).
        Ok(AtmAddress { e164: octet & E164 != 0 && length > 0, bytes: self.take(length)?.to_vec() })
    }

    /// The IPv4 address whose length stands at this offset. Older senders write an unknown one as 0.0.0.0
    /// (RFC 2225, 8.7.5).
    fn ip(&mut self, at: usize) -> Result<Option<Ipv4Addr>, Error> {
        match *self.take(self.data[at].into())? {
            [] | [0, 0, 0, 0] => Ok(None),
            [a, b, c, d] => Ok(Some(Ipv4Addr::new(a, b, c, d))),
            _ => Err(Error::invalid(LAYER, at, "an IPv4 address has 4 bytes, or none")),
        }
    }
}
