//! What OSPF tells the user.

use super::Ospf;
use base::{PortId, ProtocolId, ProtocolType};
use core::net::Ipv4Addr;
use serde::Serialize;

/// What OSPF tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The databases of a neighbour and of this router are the same now.
    OspfAdjacent {
        /// The neighbour's router id.
        router_id: Ipv4Addr,
        /// The port that it is at.
        port: PortId,
    },
    /// A neighbour is adjacent no more.
    OspfAdjacencyLost {
        /// The neighbour's router id.
        router_id: Ipv4Addr,
        /// The port that it was at.
        port: PortId,
        /// The state that it is in now.
        state: &'static str,
    },
    /// The other end of a virtual link is adjacent now.
    OspfVirtualAdjacent {
        /// Its router id.
        router_id: Ipv4Addr,
        /// The area that the link leads through.
        area: Ipv4Addr,
    },
    /// The other end of a virtual link is adjacent no more.
    OspfVirtualAdjacencyLost {
        /// Its router id.
        router_id: Ipv4Addr,
        /// The area that the link leads through.
        area: Ipv4Addr,
        /// The state that it is in now.
        state: &'static str,
    },
    /// Packets by a virtual link are not taken. It is said again when the reason is another.
    OspfVirtualRefused {
        /// Router id of its other end.
        router_id: Ipv4Addr,
        /// The area that the link leads through.
        area: Ipv4Addr,
        /// The address in their IP header.
        source: Ipv4Addr,
        /// What does not agree, or where its bytes are malformed.
        why: String,
    },
    /// Another router seems to have the same router id: an advertisement under it has come for the third time that is
    /// newer than this router's own.
    OspfIdContested {
        /// The router id of both.
        router_id: Ipv4Addr,
    },
    /// Packets by a port are sent with another key from now on.
    OspfKey {
        /// The port.
        port: PortId,
        /// Number of the key.
        key_id: u8,
    },
    /// Packets by a virtual link are sent with another key from now on.
    OspfVirtualKey {
        /// Router id of its other end.
        router_id: Ipv4Addr,
        /// The area that the link leads through.
        area: Ipv4Addr,
        /// Number of the key.
        key_id: u8,
    },
    /// The time of the last key of a port is over. It is used on, since no other takes its place.
    OspfLastKeyExpired {
        /// The port.
        port: PortId,
        /// Number of the key.
        key_id: u8,
    },
    /// The time of the last key of a virtual link is over. It is used on, since no other takes its place.
    OspfVirtualLastKeyExpired {
        /// Router id of its other end.
        router_id: Ipv4Addr,
        /// The area that the link leads through.
        area: Ipv4Addr,
        /// Number of the key.
        key_id: u8,
    },
    /// Packets of a neighbour are not taken. It is said again when the reason is another.
    OspfRefused {
        /// The port by which they come.
        port: PortId,
        /// The address in their IP header.
        source: Ipv4Addr,
        /// What does not agree, or where its bytes are malformed.
        why: String,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Ospf::ID;
}
