//! The layers of a [`Tree`]. Field names are what users see in Python and JSON.

use super::layers6::{Icmpv6, Ipv6};
use super::openflow::OpenFlow;
use crate::hex::Hex;
use crate::ldp::Ldp;
use crate::link::{Cell, Chdlc, Erf, Null, Ppp, Sll, Sll2, SunAtm};
use crate::llc::{Llc, Snap};
use crate::lsp_ping::LspPing;
use crate::ospf::Ospf;
use crate::pim::Pim;
use crate::pseudowire::{Ach, Pseudowire};
use crate::{arp, ethernet, icmp, ipv4, rsvp};
use base::MacAddr;
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};

/// A frame as its layers, the outermost first. Serialises as a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree {
    /// The layers in the order of their bytes.
    pub layers: Vec<Layer>,
}

/// One layer. Serialises with its name under `layer`, beside its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "layer", rename_all = "lowercase")]
pub enum Layer {
    /// Addresses, VLAN tags and type of the frame.
    Ethernet(Ethernet),
    /// What Linux gives in the place of the link-layer header of any interface (`tcpdump -i any`).
    Sll(Sll),
    /// The same in its second form, with the interface.
    Sll2(Sll2),
    /// The protocol of a PPP frame.
    Ppp(Ppp),
    /// The type of an HDLC frame of a router of Cisco.
    Chdlc(Chdlc),
    /// The address family of a packet on a loopback interface of BSD or macOS.
    Null(Null),
    /// Direction, kind of traffic and channel of a PDU of ATM.
    SunAtm(SunAtm),
    /// A record of the extensible record format.
    Erf(Erf),
    /// The header of a cell of ATM.
    Cell(Cell),
    /// Service access points and control field of a frame that has a length in the place of its type.
    Llc(Llc),
    /// The type of a frame with LLC.
    Snap(Snap),
    /// A request or reply for the Ethernet address of an IPv4 address.
    Arp(Arp),
    /// All label stack entries in one layer, the top first.
    Mpls(Mpls),
    /// The control word of a pseudowire, behind a label stack.
    Pseudowire(Pseudowire),
    /// The header of an associated channel, behind a label stack.
    Ach(Ach),
    /// An IPv4 header with its options.
    Ipv4(Ipv4),
    /// An IPv6 header with its extension headers.
    Ipv6(Ipv6),
    /// Ports, length and checksum.
    Udp(Udp),
    /// Ports, sequence numbers, control bits and options of a TCP segment.
    Tcp(Tcp),
    /// An ICMP message with the packet that an error quotes.
    Icmp(Icmp),
    /// An ICMPv6 message, of neighbour discovery too, with the packet that an error quotes.
    Icmpv6(Icmpv6),
    /// An RSVP message with its objects.
    Rsvp(rsvp::RawMessage),
    /// An OSPF packet with its advertisements.
    Ospf(Ospf),
    /// A PIM message with what it joins and prunes.
    Pim(Pim),
    /// An MPLS echo request or reply.
    LspPing(LspPing),
    /// LDP PDUs of a datagram or a TCP segment.
    Ldp(Ldp),
    /// OpenFlow messages of a TCP segment.
    OpenFlow(OpenFlow),
    /// Stream, sequence number and departure of a test packet.
    Measurement(Measurement),
    /// Bytes that no layer explains, or that the malformed layer before them could not.
    Payload {
        /// The bytes, in hexadecimal.
        bytes: Hex,
    },
    /// Bytes behind the end of the packet, last in the frame.
    Padding {
        /// The bytes, in hexadecimal.
        bytes: Hex,
    },
    /// Here a layer should be, and is not. It has no bytes of its own: they follow as payload.
    Malformed {
        /// The layer that should be here.
        of: String,
        /// The byte at fault, counted from the start of the frame.
        offset: usize,
        /// Why it can't be read.
        reason: String,
    },
}

/// Addresses, VLAN tags and type of a frame, without its frame check sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ethernet {
    /// Address of the station that sent the frame on this link.
    pub src: MacAddr,
    /// Address of the station, or group, that the frame is for.
    pub dst: MacAddr,
    /// VLAN tags, at most two, the outer one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<ethernet::Tag>,
    /// Type of the payload, or up to 1500 its length; left out: that of the next layer.
    pub ethertype: Option<ethernet::EtherType>,
}

/// A request or reply for the Ethernet address of an IPv4 address (RFC 826).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arp {
    /// 1 is a request, 2 a reply.
    pub operation: arp::Operation,
    /// Ethernet address of the node that sends the packet: in a reply, the answer.
    pub sender_mac: MacAddr,
    /// IPv4 address of the node that sends the packet.
    pub sender_ip: Ipv4Addr,
    /// Ethernet address of the node that asked; of no meaning in a request.
    pub target_mac: MacAddr,
    /// IPv4 address asked about; in a reply, that of the node that asked.
    pub target_ip: Ipv4Addr,
}

/// A label stack, the top first. The last entry has the bottom-of-stack bit, no other has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mpls {
    /// The entries, the top first; at least one.
    pub stack: Vec<Entry>,
}

/// An entry of a label stack; the bottom-of-stack bit follows from its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The label, 0 to 1,048,575.
    pub label: u32,
    /// The traffic class, 0 to 7.
    #[serde(default)]
    pub tc: u8,
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    pub ttl: u8,
}

/// An IPv4 header; what is left out is computed when encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipv4 {
    /// Address of the node that made the packet.
    pub src: Ipv4Addr,
    /// Address that the packet is for.
    pub dst: Ipv4Addr,
    /// What the payload is; left out: the next layer.
    pub protocol: Option<ipv4::Protocol>,
    /// Time to live, lowered by each router; a packet for which none is left is dropped.
    pub ttl: u8,
    /// Differentiated-services code point, 0 to 63.
    #[serde(default)]
    pub dscp: u8,
    /// Explicit congestion notification, 0 to 3.
    #[serde(default)]
    pub ecn: u8,
    /// The identification that fragments share.
    #[serde(default)]
    pub ident: u16,
    /// Is the flag set that must be zero?
    #[serde(default, skip_serializing_if = "is_false")]
    pub reserved_flag: bool,
    /// May no router fragment it?
    #[serde(default)]
    pub dont_fragment: bool,
    /// True in all fragments but the last.
    #[serde(default)]
    pub more_fragments: bool,
    /// Where in the original payload this fragment starts, in units of eight bytes.
    #[serde(default)]
    pub fragment_offset: u16,
    /// The options in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<IpOption>,
    /// The header checksum; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

/// An IPv4 option, by its name under `option`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "option", rename_all = "kebab-case")]
pub enum IpOption {
    /// The end of the list, with the zeros that pad it.
    EndOfList,
    /// One byte of filler.
    NoOperation,
    /// Every router has to look at the packet (RFC 2113).
    RouterAlert {
        /// Zero is the only value in use.
        value: u16,
    },
    /// An option of any other type.
    Other {
        /// The type byte: copied flag, class and number.
        kind: u8,
        /// What follows type and length.
        data: Hex,
    },
    /// All bytes of the options, when there is something behind the end of the list.
    Raw {
        /// The bytes, in hexadecimal.
        bytes: Hex,
    },
}

/// A UDP header; what is left out is computed when encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Udp {
    /// Port of the sender, 0 if it has none.
    pub src_port: u16,
    /// Port that the datagram is for.
    pub dst_port: u16,
    /// The length field, where it is not header plus what follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u16>,
    /// The checksum, zero for none; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

/// A TCP header; what is left out is computed when encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tcp {
    /// Port of the sender's end of the connection.
    pub src_port: u16,
    /// Port of the receiver's end.
    pub dst_port: u16,
    /// Sequence number of the first byte of the payload, or of the SYN.
    pub sequence: u32,
    /// The sequence number that the sender expects next; of no meaning without ACK.
    #[serde(default)]
    pub acknowledgment: u32,
    /// The four reserved bits, 0 to 15.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reserved: u8,
    /// The control bits that are set, by name: FIN, SYN, RST, PSH, ACK, URG, ECE, CWR.
    pub flags: Vec<String>,
    /// Bytes that the sender is willing to take, before scaling.
    pub window: u16,
    /// Where urgent data ends; of no meaning without URG.
    #[serde(default, skip_serializing_if = "is_zero_u16")]
    pub urgent: u16,
    /// The options in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<TcpOption>,
    /// The checksum; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

/// A TCP option, by its name under `option`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "option", rename_all = "kebab-case")]
pub enum TcpOption {
    /// The end of the list, with the zeros that pad it.
    EndOfList,
    /// One byte of filler.
    NoOperation,
    /// The longest payload that the sender takes in a segment.
    MaximumSegmentSize {
        /// In bytes.
        size: u16,
    },
    /// By how many bits windows are shifted to the left.
    WindowScale {
        /// 0 to 14.
        shift: u8,
    },
    /// The sender understands selective acknowledgments.
    SackPermitted,
    /// The sender's clock, and what it last saw of the receiver's.
    Timestamps {
        /// Reading of the sender's clock.
        value: u32,
        /// Reading of the receiver's clock that is sent back.
        echo: u32,
    },
    /// An option of any other kind.
    Other {
        /// Its number.
        kind: u8,
        /// What follows kind and length.
        data: Hex,
    },
    /// All bytes of the options, when they are not those that the list would be written as.
    Raw {
        /// The bytes, in hexadecimal.
        bytes: Hex,
    },
}

/// An ICMP message; its checksum is computed when left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Icmp {
    /// The message, its name under `message`, beside its fields.
    #[serde(flatten)]
    pub message: IcmpMessage,
    /// The checksum; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

/// What an ICMP message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum IcmpMessage {
    /// Asks for an echo.
    EchoRequest {
        /// Identifies the process or run that asks, among those of a host.
        ident: u16,
        /// Identifies the request, among those of one asker.
        sequence: u16,
        /// To be sent back.
        data: Hex,
    },
    /// Answers an echo request.
    EchoReply {
        /// As in the request.
        ident: u16,
        /// As in the request.
        sequence: u16,
        /// As in the request.
        data: Hex,
    },
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// Why it could not be delivered (RFC 792).
        code: u8,
        /// The MTU of the next hop (RFC 1191), or zero.
        next_hop_mtu: u16,
        /// The packet that could not be delivered, from its IPv4 header on.
        quote: Quote,
    },
    /// A packet's time to live ran out, or fragments did not arrive in time.
    TimeExceeded {
        /// 0 in transit, 1 in reassembly.
        code: u8,
        /// The packet that was dropped, from its IPv4 header on.
        quote: Quote,
    },
    /// A packet's header can't be understood.
    ParameterProblem {
        /// RFC 792; RFC 1812, 5.2.7.3.
        code: u8,
        /// The byte at fault.
        pointer: u8,
        /// The packet that could not be understood, from its IPv4 header on.
        quote: Quote,
    },
    /// A message of any other type, its contents as they came.
    Other {
        /// The type, none of those above.
        #[serde(rename = "type")]
        icmp_type: icmp::Type,
        /// The code, whose meaning depends on the type.
        code: u8,
        /// The four bytes behind the checksum.
        rest: Hex,
        /// What follows the header.
        data: Hex,
    },
}

/// The packet that an ICMP error is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The packet from its IP header on, as far as it is there, with padding if extensions follow.
    pub original: Hex,
    /// Extension objects (RFC 4884).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// Is the length field zero although extensions follow? So it was before RFC 4884: they are behind 128 bytes.
    #[serde(default, skip_serializing_if = "is_false")]
    pub without_length: bool,
}

/// An extension object of an ICMP error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "object", rename_all = "kebab-case")]
pub enum Extension {
    /// The label stack that the packet came in with (RFC 4950).
    MplsStack {
        /// The entries, the top first.
        stack: Vec<Entry>,
    },
    /// An object of any other class or type.
    Other {
        /// Class-Num of the object.
        class: u8,
        /// The type within the class.
        c_type: u8,
        /// What follows the object's header.
        data: Hex,
    },
}

/// What test packets carry behind their UDP header; filler follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// The stream, 0 to 16,777,215.
    pub stream: u32,
    /// The sequence number in its stream.
    pub sequence: u32,
    /// The departure time in picoseconds, modulo 2^56.
    pub departure_ps: u64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(value: &u8) -> bool {
    *value == 0
}

fn is_zero_u16(value: &u16) -> bool {
    *value == 0
}
