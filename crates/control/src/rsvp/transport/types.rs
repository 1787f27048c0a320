//! The words that the LSP layer and the transport share.

use super::counters::Malformed;
use crate::protocol::IpArrival;
use base::PortId;
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;
use wire::rsvp::{Error, Message};

/// A neighbour: an address beyond a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Neighbor {
    /// The port that it is on.
    pub port: PortId,
    /// The address of its interface on that link: what its RSVP_HOP says, and the source of its hop-by-hop messages.
    pub address: Ipv4Addr,
}

// One word: it is looked up with every message.
impl Hash for Neighbor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.address.to_bits()) << 16 | u64::from(self.port.0));
    }
}

/// A block of state of the LSP layer, in one direction. Outgoing and incoming handles are separate ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Handle(pub u32);

/// How a message is to be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A Path or Resv that advertises new or changed state (a trigger message, RFC 2961, 1.1): delivered reliably.
    Trigger(Handle),
    /// A Path or Resv that repeats what the last trigger said.
    Refresh(Handle),
    /// A tear or an error: to be acknowledged, but nothing that is refreshed later.
    Reliable,
    /// Sent once, without MESSAGE_ID. End-to-end addressed messages such as ResvConf can't be acknowledged hop by hop.
    Plain,
}

/// What the IP header of a message to be sent has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    /// Source address of the IP packet.
    pub src: Ipv4Addr,
    /// Destination; for Path, PathTear and ResvConf not the neighbour, but the far end.
    pub dst: Ipv4Addr,
    /// Time to live, which is Send_TTL as well.
    pub ttl: u8,
    /// Does it carry the Router Alert option (RFC 2113)?
    pub router_alert: bool,
}

/// The MESSAGE_ID of a received message, for [`super::Transport::bind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceivedId {
    /// Index of the neighbour in the transport's table.
    pub(super) peer: u32,
    /// The generation of the neighbour's epoch in which it was received.
    pub(super) generation: u32,
    /// Message_Identifier of the sender (RFC 2961, 4.2).
    pub(super) id: u32,
}

impl ReceivedId {
    /// The Message_Identifier: the sender's number of the message (RFC 2961, 4.2).
    pub const fn message_identifier(self) -> u32 {
        self.id
    }
}

/// Where a message came from, and how: read once, and handed to all that look at the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// What the IP header said. Of a message from a Bundle, source and destination are the Bundle's, and the TTL is
    /// what it would have been if the message had travelled alone.
    pub ip: IpArrival,
    /// The node that sent it: the address of RSVP_HOP, or the IP source where there is no RSVP_HOP; on the port that
    /// the message came by.
    pub from: Neighbor,
    /// Send_TTL: it differs from the TTL on arrival if a node in between does not speak RSVP (RFC 2205, 3.8).
    pub send_ttl: u8,
    /// Its MESSAGE_ID, if it has one that can be bound.
    pub id: Option<ReceivedId>,
}

/// What the transport hands to the LSP layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A message that says something new: Path, Resv, an error, a tear, or ResvConf.
    Message(Arrival, Box<Message>),
    /// The neighbour refreshed this incoming state and all beside it ([`super::Transport::beside`]), by a summary or by
    /// repeating the very message that set them.
    Refreshed(Handle),
    /// The neighbour does not hold this outgoing state any more (a NACK, or it restarted): send it in full.
    SendFull(Handle),
    /// Hellos are exchanged: both sides know each other's instance (RFC 3209, 5.3).
    NeighborUp(Neighbor),
    /// The neighbour stopped to answer Hellos, or another instance of it answers.
    NeighborDown {
        /// The neighbour, by port and address.
        neighbor: Neighbor,
        /// True if another instance answers; false if nothing came in time.
        restarted: bool,
    },
    /// A neighbour with which no Hellos are exchanged was not heard for long, nor sent anything else. It may never have
    /// been there.
    Silent(Neighbor),
    /// A message was sent as often as the rapid retry limit allows, and never acknowledged.
    Lost {
        /// To whom it was sent.
        neighbor: Neighbor,
        /// The state that it advertised, if it did.
        handle: Option<Handle>,
    },
    /// A message was discarded.
    Malformed {
        /// Where it came from.
        ip: IpArrival,
        /// The byte of what came in at which the message begins: zero unless it came in a Bundle.
        begins: usize,
        /// The check that it did not pass.
        reason: Malformed,
        /// What the wire layer found, and where: it says which error is to be sent in answer, if one is.
        error: Option<Error>,
    },
}

/// A message to be put into an IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The port that it leaves by.
    pub port: PortId,
    /// The neighbour that the frame goes to, whatever the IP destination.
    pub next: Option<Ipv4Addr>,
    /// What the IP header has to say.
    pub envelope: Envelope,
    /// The RSVP message from its common header on.
    pub bytes: Vec<u8>,
}

/// What can be seen of a neighbour from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeighborView {
    /// The neighbour, by port and address.
    pub neighbor: Neighbor,
    /// Does it take the messages and objects of RFC 2961?
    pub capable: bool,
    /// Are Hellos exchanged? Nothing if none are sent.
    pub hello_up: Option<bool>,
    /// Messages to it that await acknowledgement.
    pub awaiting_ack: usize,
}
