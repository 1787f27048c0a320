//! TCP segments that reach the node: to the connection that they belong to, to who listens, or back with a reset.

use super::connection::{Connection, Ends, Fed};
use super::types::{Closed, Heard, Options, Packet, Pending};
use super::{HALF_OPEN_MAX, SESSIONS_MAX, SessionId, Sessions};
use crate::owner::Owner;
use crate::protocol::Over;
use base::{Dscp, Time};
use core::net::{IpAddr, SocketAddr};
use rand::RngExt;
use wire::ipv4::Protocol;
use wire::tcp::{self, Flags};

/// A TCP segment that has reached the node.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The source in the IP header.
    pub src: IpAddr,
    /// IP destination: an address of this node.
    pub dst: IpAddr,
    /// IP time to live on arrival.
    pub ttl: u8,
    /// Longest packet that the interface takes by which it came, in bytes.
    pub mtu: u32,
    /// Header and payload, whose checksum has been verified.
    pub bytes: &'a [u8],
}

/// What an ICMP error says of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// A link on the way takes no packet longer than this, in bytes (RFC 1191).
    TooBig(u16),
    /// The other node does not speak TCP, or refuses the port (RFC 1122, 4.2.3.9: a hard error).
    Unreachable,
}

fn is_signed(segment: &Segment<'_>, options: &Options) -> bool {
    let key = options.key.as_ref().map(super::Key::as_bytes);
    tcp::md5::is_signed(segment.bytes, segment.src, segment.dst, key)
}

impl Sessions {
    /// Takes a segment. `accepts` says how a connection behaves that another node begins, or that it may not.
    pub fn segment(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        accepts: impl FnOnce(Owner, SocketAddr, SocketAddr) -> Option<Options>,
    ) -> Heard {
        let Ok(tcp) = tcp::Packet::new_checked(segment.bytes) else { return Heard::Nobody };
        let ends = Ends {
            local: SocketAddr::new(segment.dst, tcp.dst_port()),
            remote: SocketAddr::new(segment.src, tcp.src_port()),
        };
        let flags = tcp.flags();
        let opens = flags.has(Flags::SYN) && !flags.has(Flags::ACK) && !flags.has(Flags::RST);
        let known = self.by_ends.get(&ends).map(|&index| self.id_at(index));
        let known = match known {
            Some(id) if opens && self.gives_way(id, tcp.sequence(), segment) => {
                self.remove(id);
                None
            }
            known => known,
        };
        let id = match known {
            Some(id) => id,
            None if opens => match self.accept(now, segment, ends, accepts) {
                Ok(id) => id,
                Err(Heard::Nobody) => return self.refuse(segment, &tcp),
                Err(other) => return other,
            },
            None => return self.refuse(segment, &tcp),
        };
        let Some(connection) = self.get_mut(id) else { return Heard::Nobody };
        if segment.ttl < connection.options.ttl_min {
            return Heard::Ttl;
        }
        // RFC 2385, 2.0: it is dropped without a word.
        if !is_signed(segment, &connection.options) {
            return Heard::Unsigned;
        }
        connection.feed(now, segment.bytes);
        self.run(now, id, Some(Fed { flags }));
        Heard::Taken
    }

    fn gives_way(&self, id: SessionId, sequence: u32, segment: &Segment<'_>) -> bool {
        self.get(id).is_some_and(|connection| {
            connection.gives_way_to(sequence) && is_signed(segment, &connection.options)
        })
    }

    /// Makes a connection for a SYN.
    fn accept(
        &mut self,
        now: Time,
        segment: &Segment<'_>,
        ends: Ends,
        accepts: impl FnOnce(Owner, SocketAddr, SocketAddr) -> Option<Options>,
    ) -> Result<SessionId, Heard> {
        let owner = self.listeners.get(&ends.local.port()).copied().ok_or(Heard::Nobody)?;
        let options = accepts(owner, ends.local, ends.remote).ok_or(Heard::Nobody)?;
        if segment.ttl < options.ttl_min {
            return Err(Heard::Ttl);
        }
        if !is_signed(segment, &options) {
            return Err(Heard::Unsigned);
        }
        if self.half_open >= HALF_OPEN_MAX || self.by_ends.len() >= SESSIONS_MAX {
            return Err(Heard::Full);
        }
        let seed = self.sequence_numbers.random();
        let connection = Connection::accepting(owner, ends, options, segment.mtu, seed, now);
        connection.map(|connection| self.insert(connection)).ok_or(Heard::Nobody)
    }

    /// Answers a segment to no connection by a reset (RFC 9293, 3.5.2, group 1), unless it is one.
    fn refuse<T: AsRef<[u8]>>(&mut self, segment: &Segment<'_>, tcp: &tcp::Packet<T>) -> Heard {
        let flags = tcp.flags();
        if flags.has(Flags::RST) {
            return Heard::Nobody;
        }
        let (sequence, acknowledgment, flags) = if flags.has(Flags::ACK) {
            (tcp.acknowledgment(), 0, Flags::RST)
        } else {
            (0, tcp.sequence().wrapping_add(tcp.sequence_len()), Flags::RST.with(Flags::ACK))
        };
        let (src, dst) = (segment.dst, segment.src);
        let repr = tcp::Repr {
            src_port: tcp.dst_port(),
            dst_port: tcp.src_port(),
            sequence,
            acknowledgment,
            reserved: 0,
            flags,
            window: 0,
            urgent: 0,
            options: tcp::Options::NONE,
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        tcp::Packet::new_unchecked(&mut bytes[..]).fill_checksum(src, dst);
        let over = Over::Ip(Protocol::TCP.0);
        // A peer that checks the time to live takes a reset only with the highest (RFC 5082, 3).
        self.packets.push_back(Packet { src, dst, ttl: 255, dscp: Dscp::CS6, over, bytes });
        Heard::Nobody
    }

    /// Takes note of an ICMP error about a segment from `local` to `remote`, whose first eight bytes it quotes: was it
    /// about something that was sent (RFC 5927, 4.1)?
    pub fn trouble(
        &mut self,
        now: Time,
        (local, remote): (IpAddr, IpAddr),
        quote: &[u8],
        what: Trouble,
    ) -> bool {
        let Some(&[a, b, c, d, e, f, g, h]) = quote.first_chunk() else { return false };
        let ends = Ends {
            local: SocketAddr::new(local, u16::from_be_bytes([a, b])),
            remote: SocketAddr::new(remote, u16::from_be_bytes([c, d])),
        };
        let Some(id) = self.by_ends.get(&ends).map(|&index| self.id_at(index)) else { return false };
        let Some(connection) = self.get_mut(id) else { return false };
        if !connection.has_sent(u32::from_be_bytes([e, f, g, h])) {
            return false;
        }
        match what {
            Trouble::TooBig(mtu) => connection.shorten(usize::from(mtu), now),
            // RFC 5927, 5.2: an established connection outlives it.
            Trouble::Unreachable if connection.since.is_some() || connection.accepted => return true,
            Trouble::Unreachable => {
                let owner = connection.owner;
                connection.abandon();
                self.events.push_back((owner, id, Pending::Closed(Closed::Refused)));
            }
        }
        self.touch(id);
        true
    }
}
