//! What Linux gives of packets of any interface, in the place of their link-layer headers.

use crate::error::{Error, need};
use crate::ethernet::EtherType;
use crate::hex::Hex;
use core::fmt::{self, Write};
use serde::{Deserialize, Serialize};

const SLL: &str = "sll";
const SLL2: &str = "sll2";
/// Bytes of the first form.
const SLL_LEN: usize = 16;
/// Bytes of the second form.
const SLL2_LEN: usize = 20;
/// Bytes that both have for an address.
const ADDRESS_LEN: usize = 8;
/// The ARP hardware type of an interface that carries messages of the kernel, not packets.
const NETLINK: u16 = 824;

/// The first form, with the number LINUX_SLL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sll {
    /// 0 to this host, 1 broadcast, 2 multicast, 3 to another host, 4 sent by this host.
    pub packet_type: u16,
    /// The ARP hardware type of the interface, such as 1 for Ethernet.
    pub device_type: u16,
    /// How many bytes the sender's address has.
    pub address_length: u16,
    /// Eight bytes: the sender's link-layer address, or as much of it as there is room for.
    pub address: Hex,
    /// The type of the payload; left out: that of the next layer.
    pub protocol: Option<EtherType>,
}

/// The second form, with the number LINUX_SLL2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sll2 {
    /// The type of the payload; left out: that of the next layer.
    pub protocol: Option<EtherType>,
    /// Two bytes that should be zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u16,
    /// The number of the interface on the machine that captured.
    pub interface: u32,
    /// The ARP hardware type of the interface, such as 1 for Ethernet.
    pub device_type: u16,
    /// 0 to this host, 1 broadcast, 2 multicast, 3 to another host, 4 sent by this host.
    pub packet_type: u8,
    /// How many bytes the sender's address has.
    pub address_length: u8,
    /// Eight bytes: the sender's link-layer address, or as much of it as there is room for.
    pub address: Hex,
}

/// What follows a header of either form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// What the EtherType says.
    Typed(EtherType),
    /// An LLC frame.
    Llc,
    /// Something else.
    Unknown,
}

impl From<EtherType> for Follows {
    fn from(ethertype: EtherType) -> Follows {
        Follows::Typed(ethertype)
    }
}

impl From<Option<EtherType>> for Follows {
    fn from(ethertype: Option<EtherType>) -> Follows {
        ethertype.map_or(Follows::Unknown, Follows::Typed)
    }
}

/// Two numbers in the place of the EtherType stand for something else: 1 for frames of 802.3 without LLC, 4 for LLC.
fn follows(device_type: u16, protocol: EtherType) -> Follows {
    match protocol.0 {
        _ if device_type == NETLINK => Follows::Unknown,
        4 => Follows::Llc,
        number if number < base::frame::ETHERTYPE_MIN => Follows::Unknown,
        _ => Follows::Typed(protocol),
    }
}

impl Sll {
    /// Reads a header. Returns it with its length, and what follows.
    pub(crate) fn read(data: &[u8]) -> Result<(Sll, usize, Follows), Error> {
        need(SLL, SLL_LEN, data.len())?;
        let word = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let (device_type, protocol) = (word(2), EtherType(word(14)));
        let header = Sll {
            packet_type: word(0),
            device_type,
            address_length: word(4),
            address: data[6..14].into(),
            protocol: Some(protocol),
        };
        Ok((header, SLL_LEN, follows(device_type, protocol)))
    }

    /// Its bytes, with the EtherType of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(SLL_LEN);
        for word in [self.packet_type, self.device_type, self.address_length] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend(address(SLL, 6, &self.address)?);
        bytes.extend(protocol(SLL, 14, self.protocol.or(next))?.to_be_bytes());
        Ok(bytes)
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        summarise(out, known, &self.address, self.address_length.into(), self.protocol)
    }
}

impl Sll2 {
    /// Reads a header. Returns it with its length, and what follows.
    pub(crate) fn read(data: &[u8]) -> Result<(Sll2, usize, Follows), Error> {
        need(SLL2, SLL2_LEN, data.len())?;
        let word = |at: usize| u16::from_be_bytes([data[at], data[at + 1]]);
        let (protocol, device_type) = (EtherType(word(0)), word(8));
        let header = Sll2 {
            protocol: Some(protocol),
            reserved: word(2),
            interface: u32::from_be_bytes([data[4], data[5], data[6], data[7]]),
            device_type,
            packet_type: data[10],
            address_length: data[11],
            address: data[12..20].into(),
        };
        Ok((header, SLL2_LEN, follows(device_type, protocol)))
    }

    /// Its bytes, with the EtherType of the next layer where it has none itself.
    pub(crate) fn write(&self, next: Option<EtherType>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::with_capacity(SLL2_LEN);
        bytes.extend(protocol(SLL2, 0, self.protocol.or(next))?.to_be_bytes());
        bytes.extend(self.reserved.to_be_bytes());
        bytes.extend(self.interface.to_be_bytes());
        bytes.extend(self.device_type.to_be_bytes());
        bytes.extend([self.packet_type, self.address_length]);
        bytes.extend(address(SLL2, 12, &self.address)?);
        Ok(bytes)
    }

    /// Its part of a line; `known` if a layer with a name of its own follows.
    pub(crate) fn summarise(&self, out: &mut String, known: bool) -> fmt::Result {
        summarise(out, known, &self.address, self.address_length.into(), self.protocol)
    }
}

fn address(layer: &'static str, at: usize, address: &Hex) -> Result<[u8; ADDRESS_LEN], Error> {
    let bytes = address.0.as_slice().try_into();
    bytes.map_err(|_| Error::invalid(layer, at, "the address has eight bytes, those beyond its length too"))
}

fn protocol(layer: &'static str, at: usize, protocol: Option<EtherType>) -> Result<u16, Error> {
    let unsaid = Error::invalid(layer, at, "the next layer does not say the protocol");
    protocol.map(|protocol| protocol.0).ok_or(unsaid)
}

fn summarise(
    out: &mut String,
    known: bool,
    address: &Hex,
    length: usize,
    protocol: Option<EtherType>,
) -> fmt::Result {
    if known {
        return Ok(());
    }
    out.push_str("cooked");
    for (index, byte) in address.0.iter().take(length).enumerate() {
        write!(out, "{}{byte:02x}", if index == 0 { ' ' } else { ':' })?;
    }
    protocol.map_or(Ok(()), |protocol| write!(out, " protocol {protocol}"))
}

fn is_zero(value: &u16) -> bool {
    *value == 0
}
