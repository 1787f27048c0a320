//! Loopback interfaces of BSD and macOS: an address family in front of each packet.

use crate::error::{Error, need};
use crate::ethernet::EtherType;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const LAYER: &str = "null";
const LEN: usize = 4;
/// The number of IPv4 everywhere.
const IPV4: u32 = 2;
/// The numbers of IPv6 on NetBSD and OpenBSD, FreeBSD, and macOS.
const IPV6: [u32; 3] = [24, 28, 30];

/// The header of loopback captures: the family of addresses as the capturing system numbers it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Null {
    /// The number that the system that captured has for the family: 2 for IPv4, 24, 28 or 30 for IPv6; left out: that
    /// of the next layer.
    pub family: Option<u32>,
    /// Is the number in network byte order?
    #[serde(default)]
    pub big_endian: bool,
}

impl Null {
    /// Reads a header, in network byte order if that is known. Returns it with its length, and the EtherType of what
    /// follows, if the family has one.
    pub(crate) fn read(data: &[u8], network_order: bool) -> Result<(Null, usize, Option<EtherType>), Error> {
        need(LAYER, LEN, data.len())?;
        let bytes = [data[0], data[1], data[2], data[3]];
        // Families have small numbers: that tells the byte order of who captured.
        let big_endian = network_order || bytes[..2] == [0, 0];
        let family = if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) };
        let ethertype = match family {
            IPV4 => Some(EtherType::IPV4),
            family if IPV6.contains(&family) => Some(EtherType::IPV6),
            _ => None,
        };
        Ok((Null { family: Some(family), big_endian }, LEN, ethertype))
    }

    /// Its bytes, with the family of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let family = match (self.family, next) {
            (Some(family), _) => family,
            (None, Some(EtherType::IPV4)) => IPV4,
            (None, Some(EtherType::IPV6)) => IPV6[0],
            (None, _) => return Err(Error::invalid(LAYER, 0, "the next layer does not say the family")),
        };
        let bytes = if self.big_endian { family.to_be_bytes() } else { family.to_le_bytes() };
        Ok(bytes.to_vec())
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        match self.family {
            Some(family) if !known => write!(out, "loopback family {family}"),
            _ => Ok(()),
        }
    }
}
