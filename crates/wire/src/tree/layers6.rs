//! The layers of IPv6 in a [`super::Tree`]. Field names are what users see in Python and JSON.

use super::layers::Quote;
use crate::hex::Hex;
use crate::{icmpv6, ipv6, mld};
use base::MacAddr;
use core::net::Ipv6Addr;
use serde::{Deserialize, Serialize};

/// An IPv6 header with its extension headers (RFC 8200).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ipv6 {
    /// Address of the node that made the packet.
    pub src: Ipv6Addr,
    /// Address that the packet is for.
    pub dst: Ipv6Addr,
    /// What the payload is, behind all extension headers; left out: the next layer.
    pub protocol: Option<ipv6::Protocol>,
    /// How many more nodes may forward the packet.
    pub hop_limit: u8,
    /// Differentiated-services code point, 0 to 63.
    #[serde(default)]
    pub dscp: u8,
    /// Explicit congestion notification, 0 to 3.
    #[serde(default)]
    pub ecn: u8,
    /// The flow label, 0 to 1,048,575; zero for none.
    #[serde(default)]
    pub flow_label: u32,
    /// The extension headers in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<ExtensionHeader>,
}

/// An extension header of IPv6, by its name under `header`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "header", rename_all = "kebab-case")]
pub enum ExtensionHeader {
    /// Options that every node on the way may look at (RFC 8200, 4.3).
    HopByHop {
        /// The options in order, with those that pad.
        options: Vec<Ipv6Option>,
    },
    /// Options for the destination (RFC 8200, 4.6).
    DestinationOptions {
        /// The options in order, with those that pad.
        options: Vec<Ipv6Option>,
    },
    /// A fragment of a larger packet (RFC 8200, 4.5).
    Fragment {
        /// The identification that fragments of one packet share.
        ident: u32,
        /// Where in the fragmentable part this fragment starts, in units of eight bytes.
        offset: u16,
        /// True in all fragments but the last.
        more: bool,
    },
    /// Any other header, or one whose contents have no names.
    Other {
        /// Its number.
        kind: u8,
        /// What follows the number of the next header, length included.
        data: Hex,
    },
}

/// An option of a hop-by-hop or destination options header, by its name under `option`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "option", rename_all = "kebab-case")]
pub enum Ipv6Option {
    /// One byte of filler.
    Pad1,
    /// Several bytes of filler.
    PadN {
        /// Zeros behind type and length.
        len: u8,
    },
    /// Every router has to look at the packet (RFC 2711).
    RouterAlert {
        /// What for: 0 for multicast listener discovery, 1 for RSVP.
        value: u16,
    },
    /// An option of any other type.
    Other {
        /// The type byte, with the two bits that say what is to be done by who does not know it.
        kind: u8,
        /// What follows type and length.
        data: Hex,
    },
}

/// An ICMPv6 message (RFC 4443); its checksum is computed when left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Icmpv6 {
    /// The message, its name under `message`, beside its fields.
    #[serde(flatten)]
    pub message: Icmpv6Message,
    /// The checksum; left out: the right one.
    pub checksum: Option<u16>,
    /// What the checksum should be, if it is not that. Not read when encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correct_checksum: Option<u16>,
}

/// What an ICMPv6 message says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "message", rename_all = "kebab-case")]
pub enum Icmpv6Message {
    /// A packet could not be delivered.
    DestinationUnreachable {
        /// Why it could not be delivered (RFC 4443, 3.1).
        code: u8,
        /// The packet that could not be delivered, from its IPv6 header on.
        quote: Quote,
    },
    /// A packet is longer than the next link takes.
    PacketTooBig {
        /// The MTU of the next link, in bytes.
        mtu: u32,
        /// The packet that was too long, from its IPv6 header on.
        quote: Quote,
    },
    /// A packet's hop limit ran out, or fragments did not arrive in time.
    TimeExceeded {
        /// 0 in transit, 1 in reassembly.
        code: u8,
        /// The packet that was dropped, from its IPv6 header on.
        quote: Quote,
    },
    /// A header or option can't be understood.
    ParameterProblem {
        /// 0 a field, 1 a next header, 2 an option (RFC 4443, 3.4).
        code: u8,
        /// The byte at fault, counted from the start of the IPv6 header.
        pointer: u32,
        /// The packet that could not be understood, from its IPv6 header on.
        quote: Quote,
    },
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
    /// A message of neighbour discovery, its name under `discovery`.
    NeighborDiscovery {
        /// What it says, beside its options.
        #[serde(flatten)]
        said: Discovery,
        /// The options in order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        options: Vec<NeighborOption>,
    },
    /// A message about listeners of groups, its name under `listener` (RFC 3810).
    MulticastListener {
        /// What it says.
        #[serde(flatten)]
        said: mld::Repr,
    },
    /// A message of any other type, its contents as they came.
    Other {
        /// The type, none of those above.
        #[serde(rename = "type")]
        icmp_type: icmpv6::Type,
        /// The code, whose meaning depends on the type.
        code: u8,
        /// The four bytes behind the checksum.
        rest: Hex,
        /// What follows the header.
        data: Hex,
    },
}

/// What a message of neighbour discovery says (RFC 4861, 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "discovery", rename_all = "kebab-case")]
pub enum Discovery {
    /// Asks the routers of the link to advertise themselves now.
    RouterSolicitation,
    /// A router says that it is there, and what holds on the link.
    RouterAdvertisement {
        /// Hop limit for hosts to send with; zero says nothing of it.
        hop_limit: u8,
        /// Are addresses to be had by DHCPv6?
        managed: bool,
        /// Is other configuration to be had by DHCPv6?
        other: bool,
        /// Seconds for which the router is a default router; zero: it is none.
        lifetime_s: u16,
        /// Milliseconds for which a neighbour is reachable after it was confirmed; zero says nothing of it.
        reachable_ms: u32,
        /// Milliseconds between solicitations; zero says nothing of it.
        retransmit_ms: u32,
    },
    /// Asks who has an address.
    NeighborSolicitation {
        /// The address asked for.
        target: Ipv6Addr,
    },
    /// Says who has an address.
    NeighborAdvertisement {
        /// Is the sender a router?
        router: bool,
        /// Does it answer a solicitation?
        solicited: bool,
        /// Does its Ethernet address replace one that is known?
        replaces: bool,
        /// The address that the sender has.
        target: Ipv6Addr,
    },
    /// A router names a better first hop.
    Redirect {
        /// The better first hop.
        target: Ipv6Addr,
        /// What is better reached by it.
        destination: Ipv6Addr,
    },
}

/// An option of neighbour discovery, by its name under `option`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "option", rename_all = "kebab-case")]
pub enum NeighborOption {
    /// Ethernet address of the sender.
    SourceLinkLayer {
        /// The address.
        mac: MacAddr,
    },
    /// Ethernet address of the target.
    TargetLinkLayer {
        /// The address.
        mac: MacAddr,
    },
    /// A prefix of the link.
    Prefix(LinkPrefix),
    /// The MTU of the link.
    Mtu {
        /// In bytes.
        mtu: u32,
    },
    /// Any other option.
    Other {
        /// The type of the option.
        kind: u8,
        /// What follows type and length.
        data: Hex,
    },
}

/// A prefix of the link, as a router advertises it (RFC 4861, 4.6.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkPrefix {
    /// The prefix.
    pub prefix: Ipv6Addr,
    /// Bits of the prefix, 0 to 128.
    pub len: u8,
    /// Are its addresses on the link?
    pub on_link: bool,
    /// May hosts make addresses of it?
    pub autonomous: bool,
    /// Seconds for which it is on the link; all bits set is for ever.
    pub valid_s: u32,
    /// Seconds for which addresses made of it are preferred; all bits set is for ever.
    pub preferred_s: u32,
}
