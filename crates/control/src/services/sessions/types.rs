//! What protocols say to sessions, and hear from them.

use base::{Dscp, Span, Time};
use core::fmt;
use core::net::{IpAddr, SocketAddr};
use wire::tcp::md5::KEY_MAX;

/// Names a session of a node as long as it lasts; names of sessions that are gone are harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

/// A key that both ends of a session sign segments with (RFC 2385).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    len: u8,
    bytes: [u8; KEY_MAX],
}

impl Key {
    /// A key of these bytes: 1 to 80 (RFC 2385, 4.5).
    pub fn new(key: &[u8]) -> Option<Key> {
        if key.is_empty() || key.len() > KEY_MAX {
            return None;
        }
        let mut bytes = [0; KEY_MAX];
        bytes[..key.len()].copy_from_slice(key);
        Some(Key { len: key.len() as u8, bytes })
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl fmt::Debug for Key {
    /// It is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

base::words! {
    /// How a sender keeps from filling the queues of the network.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Congestion {
        /// It does not: only the other end's window holds it back.
        None = "none",
        /// Slow start, congestion avoidance, fast retransmit and fast recovery (RFC 5681).
        Reno = "reno",
        /// A window that grows by a cubic function of the time since the last loss (RFC 9438).
        Cubic = "cubic",
    }
    default Reno;
}

/// How a session's TCP behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// IP time to live of what it sends; 255 where the other end checks it (RFC 5082).
    pub ttl: u8,
    /// The least time to live that it takes: with 255, only a neighbour's segments pass (RFC 5082); 0 takes all.
    pub ttl_min: u8,
    /// Code point of what it sends.
    pub dscp: Dscp,
    /// Bytes that wait at most to be read here; what is free of them is the window.
    pub receive_bytes: u32,
    /// Bytes that TCP keeps at most until they are acknowledged.
    pub send_bytes: u32,
    /// How long the other end may leave data, or a SYN, without any answer; if absent, for ever (RFC 9293, 3.9.1).
    pub timeout: Option<Span>,
    /// After how long without anything heard the other end is asked whether it is there; if absent, never (RFC 9293,
    /// 3.8.4).
    pub keep_alive: Option<Span>,
    /// Does a short segment wait while others are not acknowledged (Nagle's algorithm, RFC 9293, 3.7.4)?
    pub nagle: bool,
    /// What both ends sign every segment with (RFC 2385); without one, no segment that is signed is taken.
    pub key: Option<Key>,
    /// Most bytes of data in a segment, both ways; if absent, what the link takes.
    pub mss: Option<u16>,
    /// How it answers loss.
    pub congestion: Congestion,
    /// How long an acknowledgement waits at most for more data to acknowledge (RFC 9293, 3.8.6.3); if absent it does
    /// not wait.
    pub ack_delay: Option<Span>,
    /// Does it offer to shift windows, and take the offer (RFC 7323, 2)?
    pub window_scaling: bool,
    /// Does it offer selective acknowledgements, and take the offer (RFC 2018)?
    pub sack: bool,
    /// Is it of a program at a host? What it receives is read at once then, before it is acknowledged, and round-trip
    /// times, windows and bytes in flight are taken down.
    pub program: bool,
}

impl Default for Options {
    /// What RFC 9293 recommends, and the code point of network control (RFC 4594, 3.1).
    fn default() -> Options {
        Options {
            ttl: 64,
            ttl_min: 0,
            dscp: Dscp::CS6,
            receive_bytes: 65_535,
            send_bytes: 65_535,
            timeout: Some(Span::from_secs(300)),
            keep_alive: None,
            nagle: true,
            key: None,
            mss: None,
            congestion: Congestion::Reno,
            ack_delay: Some(Span::from_ms(10)),
            window_scaling: true,
            sack: true,
            program: false,
        }
    }
}

/// A connection that a protocol begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connect {
    /// Address of this node; if absent, that of the interface whose link the other end is on, or else the router id.
    pub from: Option<IpAddr>,
    /// Port of this node; if absent, an ephemeral one that is free.
    pub port: Option<u16>,
    /// Address and port of the other end.
    pub to: SocketAddr,
    /// How its TCP behaves.
    pub options: Options,
}

/// Why a connection can't even begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The address to connect to is no single other node, or not of the family of this node's.
    Address,
    /// All ephemeral ports to that address and port are in use, or the one that was named is.
    Ports,
    /// The node has as many sessions as it can.
    Sessions,
}

/// What a session tells the protocol that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEvent<'a> {
    /// The connection that the protocol began is established.
    Connected,
    /// Another node has connected to a port that the protocol listens to.
    Accepted {
        /// Address and port at this node.
        local: SocketAddr,
        /// The other node's end.
        remote: SocketAddr,
    },
    /// A message, as the protocol's `message_len` divides the stream.
    Received(&'a [u8]),
    /// All that waited to be sent has found room in TCP's buffer.
    Writable,
    /// The other end sends nothing more; all that it sent has been received.
    PeerClosed,
    /// The session has ended, and its name means nothing from now on.
    Closed(Closed),
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Both ends had closed it.
    Done,
    /// The other end reset it (RFC 9293, 3.5.2).
    Reset,
    /// Nobody listens at the other end: a SYN was answered by a reset, or by ICMP.
    Refused,
    /// The other end did not answer in time.
    TimedOut,
}

/// What of a session is waiting to be told: what [`SessionEvent`] says, without bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// The connection that was begun is established.
    Connected,
    /// Another node has connected.
    Accepted {
        /// Address and port at this node.
        local: SocketAddr,
        /// The other node's end.
        remote: SocketAddr,
    },
    /// All that waited to be sent has found room in TCP's buffer.
    Writable,
    /// The other end sends nothing more; all that it sent has been read.
    PeerClosed,
    /// The session has ended.
    Closed(Closed),
}

/// What a protocol does with a session of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOutput {
    /// Send bytes, behind those that were given before.
    Send(Vec<u8>),
    /// Send what is waiting, and then nothing more.
    Close,
    /// End it at once, by a reset; nothing more is heard of it.
    Abort,
}

/// What has become of a connection's segments and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCounters {
    /// Segments received, whatever was in them.
    pub segments_received: u64,
    /// Segments sent, those sent again included.
    pub segments_sent: u64,
    /// Segments with data, SYN or FIN that were sent again.
    pub retransmitted: u64,
    /// Bytes of the stream received in order.
    pub bytes_received: u64,
    /// Bytes that the protocol has given to be sent.
    pub bytes_sent: u64,
}

/// A TCP connection, as tables have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The protocol that it belongs to, by its place in the array of protocols.
    pub owner: crate::owner::Owner,
    /// Address and port at this node.
    pub local: SocketAddr,
    /// Address and port at the peer.
    pub remote: SocketAddr,
    /// State of RFC 9293, 3.3.2, as it writes it.
    pub state: State,
    /// When it became established; nothing before.
    pub since: Option<Time>,
    /// Its segments and bytes.
    pub counters: SessionCounters,
}

/// A state of a TCP connection (RFC 9293, 3.3.2).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State(pub(super) smoltcp::socket::tcp::State);

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What became of a received segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// A connection took it.
    Taken,
    /// There is no such connection and nobody listens: it is answered by a reset, unless it is one.
    Nobody,
    /// It is not signed as the session wants it (RFC 2385).
    Unsigned,
    /// Its time to live is below what the session asks for (RFC 5082).
    Ttl,
    /// Too many connections are being opened, or there are too many: it is dropped, and the other end will try again.
    Full,
}

/// A packet of the node's TCP or UDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Address of this node.
    pub src: IpAddr,
    /// Address of the other node.
    pub dst: IpAddr,
    /// IP time to live.
    pub ttl: u8,
    /// Code point that every segment has.
    pub dscp: Dscp,
    /// What carries the bytes above IP.
    pub over: crate::protocol::Over,
    /// A TCP segment with its header, or what follows the UDP header.
    pub bytes: Vec<u8>,
}

/// A UDP datagram that a protocol sends by the tables, whatever port that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Address of this node; if absent, as for [`Connect::from`].
    pub from: Option<IpAddr>,
    /// Port of this node: one that the protocol listens to or has bound.
    pub port: u16,
    /// Address and port of the receiver, a single node.
    pub to: SocketAddr,
    /// IP time to live.
    pub ttl: u8,
    /// Code point that the datagram has.
    pub dscp: Dscp,
    /// What follows the UDP header.
    pub bytes: Vec<u8>,
}
