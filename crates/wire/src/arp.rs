//! ARP for IPv4 over Ethernet (RFC 826).
//!
//! Accessors of [`Packet`] panic only on a view made by [`Packet::new_unchecked`] over fewer than 28 bytes.

use crate::error::{Error, Reason, need};
use base::MacAddr;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

const LAYER: &str = "arp";

/// Offsets of the fields in bytes (RFC 826, for Ethernet and IPv4).
mod field {
    use core::ops::Range;
    pub const OPERATION: usize = 6;
    pub const SENDER_MAC: Range<usize> = 8..14;
    pub const SENDER_IP: Range<usize> = 14..18;
    pub const TARGET_MAC: Range<usize> = 18..24;
    pub const TARGET_IP: Range<usize> = 24..28;
}

/// Bytes of a packet.
pub const LEN: usize = 28;
/// Hardware type Ethernet, protocol type IPv4, and the lengths of their addresses.
const TYPES: [(usize, &str, u64, usize); 4] = [
    (0, "hardware type", 1, 2),
    (2, "protocol type", 0x0800, 2),
    (4, "hardware length", 6, 1),
    (5, "protocol length", 4, 1),
];

/// What a packet asks or says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Operation(pub u16);

impl Operation {
    /// Who has the target address?
    pub const REQUEST: Operation = Operation(1);
    /// The sender has its address.
    pub const REPLY: Operation = Operation(2);
}

/// A view over a packet.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |       Hardware Type (1)       |    Protocol Type (0x0800)     |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  HW Length (6)|  P Length (4) |           Operation           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |            Sender MAC (6), Sender IP (4), Target MAC (6)      |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                           Target IP                           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// A view without a check: accessors panic if `buffer` is too short.
    pub const fn new_unchecked(buffer: T) -> Packet<T> {
        Packet { buffer }
    }
    /// A view whose accessors don't panic, over a packet for IPv4 over Ethernet.
    pub fn new_checked(buffer: T) -> Result<Packet<T>, Error> {
        let data = buffer.as_ref();
        need(LAYER, LEN, data.len())?;
        for (at, field, expected, len) in TYPES {
            let found = data[at..at + len].iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            if found != expected {
                return Err(Error::new(LAYER, at, Reason::Unexpected { field, found, expected }));
            }
        }
        Ok(Packet { buffer })
    }
    /// Gives the buffer back that the view was made over.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    fn mac(&self, at: core::ops::Range<usize>) -> MacAddr {
        let mut mac = MacAddr::default();
        mac.0.copy_from_slice(&self.buffer.as_ref()[at]);
        mac
    }
    fn ip(&self, at: core::ops::Range<usize>) -> Ipv4Addr {
        let mut ip = [0; 4];
        ip.copy_from_slice(&self.buffer.as_ref()[at]);
        ip.into()
    }

    /// What the packet asks or says.
    pub fn operation(&self) -> Operation {
        let data = self.buffer.as_ref();
        Operation(u16::from_be_bytes([data[field::OPERATION], data[field::OPERATION + 1]]))
    }
    /// Ethernet address of the node that sends the packet: in a reply, the answer.
    pub fn sender_mac(&self) -> MacAddr {
        self.mac(field::SENDER_MAC)
    }
    /// IPv4 address of the node that sends the packet.
    pub fn sender_ip(&self) -> Ipv4Addr {
        self.ip(field::SENDER_IP)
    }
    /// The target's Ethernet address; of no meaning in a request.
    pub fn target_mac(&self) -> MacAddr {
        self.mac(field::TARGET_MAC)
    }
    /// IPv4 address asked about; in a reply, that of the node that asked.
    pub fn target_ip(&self) -> Ipv4Addr {
        self.ip(field::TARGET_IP)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the hardware and protocol types and the lengths of their addresses.
    pub fn set_types(&mut self) {
        self.buffer.as_mut()[..field::OPERATION].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
    }
    /// Sets what the packet asks or says.
    pub fn set_operation(&mut self, operation: Operation) {
        let range = field::OPERATION..field::OPERATION + 2;
        self.buffer.as_mut()[range].copy_from_slice(&operation.0.to_be_bytes());
    }
    /// Sets the sender's addresses.
    pub fn set_sender(&mut self, mac: MacAddr, ip: Ipv4Addr) {
        self.buffer.as_mut()[field::SENDER_MAC].copy_from_slice(&mac.0);
        self.buffer.as_mut()[field::SENDER_IP].copy_from_slice(&ip.octets());
    }
    /// Sets the target's addresses.
    pub fn set_target(&mut self, mac: MacAddr, ip: Ipv4Addr) {
        self.buffer.as_mut()[field::TARGET_MAC].copy_from_slice(&mac.0);
        self.buffer.as_mut()[field::TARGET_IP].copy_from_slice(&ip.octets());
    }
}

/// An ARP packet as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Repr {
    /// What it asks or says.
    pub operation: Operation,
    /// Ethernet address of the node that sends the packet: in a reply, the answer.
    pub sender_mac: MacAddr,
    /// IPv4 address of the node that sends the packet.
    pub sender_ip: Ipv4Addr,
    /// The target's Ethernet address; zero in a request.
    pub target_mac: MacAddr,
    /// IPv4 address asked about; in a reply, that of the node that asked.
    pub target_ip: Ipv4Addr,
}

impl Repr {
    /// Asks who has `target`.
    pub const fn request(sender_mac: MacAddr, sender_ip: Ipv4Addr, target_ip: Ipv4Addr) -> Repr {
        Repr { operation: Operation::REQUEST, sender_mac, sender_ip, target_mac: MacAddr([0; 6]), target_ip }
    }

    /// The answer to this request, that the target is at `mac`.
    #[must_use]
    pub const fn reply(&self, mac: MacAddr) -> Repr {
        Repr {
            operation: Operation::REPLY,
            sender_mac: mac,
            sender_ip: self.target_ip,
            target_mac: self.sender_mac,
            target_ip: self.sender_ip,
        }
    }

    /// Reads all fields of a checked packet.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Result<Repr, Error> {
        Ok(Repr {
            operation: packet.operation(),
            sender_mac: packet.sender_mac(),
            sender_ip: packet.sender_ip(),
            target_mac: packet.target_mac(),
            target_ip: packet.target_ip(),
        })
    }

    /// Bytes of a packet.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the packet to the first 28 bytes of `buffer`. Panics if it is shorter.
    pub fn emit(&self, buffer: &mut [u8]) {
        let mut packet = Packet::new_unchecked(buffer);
        packet.set_types();
        packet.set_operation(self.operation);
        packet.set_sender(self.sender_mac, self.sender_ip);
        packet.set_target(self.target_mac, self.target_ip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    static VECTOR: ([u8; LEN], Repr) = (
        [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 1, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2],
        Repr::request(MacAddr([2, 0, 0, 1, 0, 1]), Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)),
    );

    #[test]
    fn vector_decodes_and_encodes() {
        assert_eq!(Repr::parse(&Packet::new_checked(&VECTOR.0).unwrap()), Ok(VECTOR.1));
        let mut buffer = [0x55; LEN];
        VECTOR.1.emit(&mut buffer);
        assert_eq!(buffer, VECTOR.0);
    }

    #[test]
    fn a_reply_swaps_the_ends() {
        let mac = MacAddr([2, 0, 0, 2, 0, 0]);
        let reply = VECTOR.1.reply(mac);
        assert_eq!((reply.operation, reply.sender_mac), (Operation::REPLY, mac));
        assert_eq!((reply.sender_ip, reply.target_ip), (VECTOR.1.target_ip, VECTOR.1.sender_ip));
    }

    #[test]
    fn other_hardware_is_an_error() {
        let mut bytes = VECTOR.0;
        bytes[1] = 6;
        let error = Packet::new_checked(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "arp: hardware type is 6, not 1 (at byte 0)");
    }

    proptest! {
        #![proptest_config(testing::cases(256))]
        #[test]
        fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..40), likely: bool) {
            if likely && bytes.len() >= 6 {
                bytes[..6].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
            }
            if let Ok(packet) = Packet::new_checked(&bytes) {
                let mut again = [0; LEN];
                Repr::parse(&packet).unwrap().emit(&mut again);
                prop_assert_eq!(&again[..], &bytes[..LEN]);
            }
        }
    }
}
