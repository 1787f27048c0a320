//! One TCP connection: an instance of smoltcp with a socket of its own, and what protocols need around it.

use super::device::Packets;
use super::measures::{Measured, Measures};
use super::offers;
use super::types::{Closed, Congestion, Options, Pending, SessionCounters, SessionRow, State};
use crate::owner::Owner;
use base::{Span, Time, TimerId};
use core::net::SocketAddr;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::socket::tcp::{self, CongestionControl, Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, IpCidr, IpProtocol, IpRepr};
use std::collections::VecDeque;
use wire::tcp::Flags;
use wire::tcp::md5::{self, SIGNATURE_LEN};

/// Picoseconds of a microsecond, the unit of smoltcp's clock.
const PS_PER_US: u64 = 1_000_000;
/// The shortest packet that a path of IPv4 must take (RFC 791, 3.2): no report makes segments shorter (RFC 1191, 3).
const LEAST_MTU: usize = 68;
/// The same of IPv6: a report of less is discarded (RFC 8201, 4).
const LEAST_MTU6: usize = 1_280;
/// Bytes that are read at a time when a message is looked for.
const READ_BYTES: usize = 4_096;

/// The ends of a connection, as this node sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
}

/// What of a received segment matters beside its bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fed {
    pub(super) flags: Flags,
}

/// A TCP connection.
pub(super) struct Connection {
    pub(super) owner: Owner,
    pub(super) ends: Ends,
    pub(super) options: Options,
    /// Did the other end begin it?
    pub(super) accepted: bool,
    /// When it became established.
    pub(super) since: Option<Time>,
    pub(super) counters: SessionCounters,
    /// The timer in the wheel, and when it is due.
    pub(super) timer: Option<(TimerId, Time)>,
    /// Does a message of it wait for the control processor, or is in its hand?
    pub(super) offered: bool,
    /// Is it in the list of those that have something to do?
    pub(super) dirty: bool,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    packets: Packets,
    /// What found no room in the send buffer yet.
    unsent: VecDeque<u8>,
    /// Does the protocol send no more than what is waiting?
    closing: bool,
    /// What was received in order and is not a whole message yet.
    inbox: Vec<u8>,
    /// Is what lies there the beginning of a message, of which more has to come?
    partial: bool,
    peer_closed: bool,
    closed: bool,
    /// Is what it still sends thrown away?
    abandoned: bool,
    /// The sequence number behind the highest that was sent.
    sent_next: Option<u32>,
    /// The sequence number expected next, as it was last acknowledged.
    acknowledged: Option<u32>,
    /// What instruments want to know, if they do.
    measures: Option<Box<Measures>>,
}

impl core::fmt::Debug for Connection {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} {} {}", self.ends.local, self.ends.remote, self.socket().state())
    }
}

/// A point in time on smoltcp's clock: microseconds, rounded down.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.0 / PS_PER_US) as i64)
}

fn duration(span: Span) -> Duration {
    Duration::from_micros(span.0.max(0) as u64 / PS_PER_US)
}

fn interface(ends: &Ends, seed: u64, now: Time, packets: &mut Packets) -> Interface {
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = seed;
    let mut interface = Interface::new(config, packets, instant(now));
    let ip = ends.local.ip();
    interface.update_ip_addrs(|all| {
        // An empty list has room for one.
        let _ = all.push(IpCidr::new(ip.into(), if ip.is_ipv4() { 32 } else { 128 }));
    });
    interface
}

impl Connection {
    fn new(owner: Owner, ends: Ends, options: Options, mtu: u32, seed: u64, now: Time) -> Connection {
        // RFC 2385, 4.3: a signature takes its part of every segment.
        let signature = if options.key.is_some() { SIGNATURE_LEN } else { 0 };
        let headers = wire::tcp::HEADER_LEN as u32 + if ends.local.is_ipv4() { 20 } else { 40 };
        let mtu = options.mss.map_or(mtu, |mss| mtu.min(u32::from(mss) + headers));
        let mut packets = Packets::new((mtu as usize).saturating_sub(signature));
        let interface = interface(&ends, seed, now, &mut packets);
        let buffer = |bytes: u32| SocketBuffer::new(vec![0; bytes.clamp(1, 1 << 30) as usize]);
        let mut socket = Socket::new(buffer(options.receive_bytes), buffer(options.send_bytes));
        socket.set_hop_limit(Some(options.ttl.max(1)));
        socket.set_timeout(options.timeout.map(duration));
        socket.set_keep_alive(options.keep_alive.map(duration));
        socket.set_nagle_enabled(options.nagle);
        socket.set_ack_delay(options.ack_delay.map(duration));
        socket.set_congestion_control(match options.congestion {
            Congestion::None => CongestionControl::None,
            Congestion::Reno => CongestionControl::Reno,
            Congestion::Cubic => CongestionControl::Cubic,
        });
        let mut sockets = SocketSet::new(Vec::with_capacity(1));
        let handle = sockets.add(socket);
        Connection {
            owner,
            ends,
            options,
            accepted: false,
            since: None,
            counters: SessionCounters::default(),
            timer: None,
            offered: false,
            dirty: false,
            interface,
            sockets,
            handle,
            packets,
            unsent: VecDeque::new(),
            closing: false,
            inbox: Vec::new(),
            partial: false,
            peer_closed: false,
            closed: false,
            abandoned: false,
            sent_next: None,
            acknowledged: None,
            measures: options.program.then(Box::default),
        }
    }

    /// What instruments want to know of it.
    pub(super) fn measured(&self) -> Option<Measured> {
        self.measures.as_ref().map(|measures| measures.measured)
    }

    /// Writes bytes into the send buffer as far as there is room, and says how many.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        if self.closing || self.closed || !self.unsent.is_empty() {
            return 0;
        }
        let taken = self.socket_mut().send_slice(bytes).unwrap_or(0);
        self.counters.bytes_sent += taken as u64;
        taken
    }

    /// Hands out what a program has read, and says how many bytes that is.
    pub(super) fn read(&mut self, see: impl FnOnce(&[u8])) -> usize {
        let read = self.inbox.len();
        if read > 0 {
            see(&self.inbox);
            self.inbox.clear();
        }
        read
    }

    /// Takes what was received in order out of the receive buffer, for the program that reads it.
    fn read_in(&mut self) {
        let from = self.inbox.len();
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        let queued = socket.recv_queue();
        if queued > 0 {
            self.inbox.resize(from + queued, 0);
            let read = socket.recv_slice(&mut self.inbox[from..]).unwrap_or(0);
            self.inbox.truncate(from + read);
            self.counters.bytes_received += read as u64;
        }
    }

    /// A connection that this node begins; `seed` gives its initial sequence number.
    pub(super) fn connecting(
        owner: Owner,
        ends: Ends,
        options: Options,
        mtu: u32,
        seed: u64,
        now: Time,
    ) -> Option<Connection> {
        let mut connection = Connection::new(owner, ends, options, mtu, seed, now);
        let Connection { interface, sockets, handle, .. } = &mut connection;
        let socket = sockets.get_mut::<Socket<'_>>(*handle);
        socket.connect(interface.context(), ends.remote, ends.local).ok()?;
        Some(connection)
    }

    /// A connection that waits for the SYN which another node has sent.
    pub(super) fn accepting(
        owner: Owner,
        ends: Ends,
        options: Options,
        mtu: u32,
        seed: u64,
        now: Time,
    ) -> Option<Connection> {
        let mut connection = Connection::new(owner, ends, options, mtu, seed, now);
        connection.accepted = true;
        connection.socket_mut().listen(ends.local).ok()?;
        Some(connection)
    }

    fn socket(&self) -> &Socket<'static> {
        self.sockets.get(self.handle)
    }

    fn socket_mut(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    pub(super) fn state(&self) -> tcp::State {
        self.socket().state()
    }

    /// Has the three-way handshake not been completed yet, at the end that accepts?
    pub(super) fn is_half_open(&self) -> bool {
        self.accepted && self.since.is_none()
    }

    /// Is there nothing left of it?
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.state(), tcp::State::Closed | tcp::State::Listen)
    }

    /// May a SYN with this sequence number begin a new connection in the place of this one (RFC 9293, 3.10.7.4)?
    pub(super) fn gives_way_to(&self, sequence: u32) -> bool {
        let newer = self.acknowledged.is_some_and(|expected| (sequence.wrapping_sub(expected) as i32) > 0);
        self.state() == tcp::State::TimeWait && newer
    }

    /// Is this the sequence number of something that was sent lately (RFC 5927, 4.1)?
    pub(super) fn has_sent(&self, sequence: u32) -> bool {
        let behind = self.sent_next.map(|next| next.wrapping_sub(sequence));
        behind.is_some_and(|behind| behind > 0 && behind <= self.options.send_bytes.saturating_add(1))
    }

    /// Gives bytes to be sent.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.closing || self.closed {
            return;
        }
        self.counters.bytes_sent += bytes.len() as u64;
        let taken = if self.unsent.is_empty() { self.socket_mut().send_slice(bytes).unwrap_or(0) } else { 0 };
        self.unsent.extend(&bytes[taken..]);
    }

    /// Bytes given to be sent that have found no room in TCP's buffer yet.
    pub(super) fn unsent(&self) -> usize {
        self.unsent.len()
    }

    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// Ends the connection by a reset; nothing is told of it any more.
    pub(super) fn abort(&mut self) {
        self.closed = true;
        self.inbox.clear();
        self.unsent.clear();
        self.socket_mut().abort();
    }

    /// Ends the connection without a word; nothing is told of it any more.
    pub(super) fn abandon(&mut self) {
        self.abort();
        self.abandoned = true;
    }

    /// Is nothing told of it any more?
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// Sends packets of at most `mtu` bytes from now on (RFC 1191, 6.4).
    pub(super) fn shorten(&mut self, mtu: usize, now: Time) {
        if self.ends.remote.is_ipv6() && mtu < LEAST_MTU6 {
            return;
        }
        let signature = if self.options.key.is_some() { SIGNATURE_LEN } else { 0 };
        let mtu = mtu.max(LEAST_MTU).saturating_sub(signature);
        if mtu < self.packets.mtu {
            self.packets.mtu = mtu;
            self.interface = interface(&self.ends, 0, now, &mut self.packets);
        }
    }

    /// Does it only say again that all data has come, while the end of the stream is outstanding? Three of these make
    /// smoltcp repeat data that there is not, and forget that it waits for an acknowledgement: it would never send the
    /// FIN again.
    fn repeats(&self, segment: &[u8]) -> bool {
        let Ok(tcp) = wire::tcp::Packet::new_checked(segment) else { return false };
        let is_last =
            matches!(self.state(), tcp::State::FinWait1 | tcp::State::Closing | tcp::State::LastAck);
        is_last
            && self.socket().send_queue() == 0
            && tcp.flags() == wire::tcp::Flags::ACK
            && tcp.payload().is_empty()
            && self.sent_next.map(|next| next.wrapping_sub(1)) == Some(tcp.acknowledgment())
    }

    /// Hands a verified segment to TCP when it runs next.
    pub(super) fn feed(&mut self, now: Time, segment: &[u8]) {
        self.counters.segments_received += 1;
        if let (Some(measures), Ok(tcp)) = (&mut self.measures, wire::tcp::Packet::new_checked(segment)) {
            measures.heard(now, &tcp);
        }
        if self.repeats(segment) {
            return;
        }
        let (remote, local) = (self.ends.remote.ip().into(), self.ends.local.ip().into());
        let ip = IpRepr::new(remote, local, IpProtocol::Tcp, segment.len(), 64);
        let mut packet = vec![0; ip.header_len()];
        ip.emit(&mut packet, &ChecksumCapabilities::ignored());
        let header = packet.len();
        packet.extend_from_slice(segment);
        if !offers::are_all(&self.options) {
            offers::leave_out(&mut packet[header..], &self.options);
        }
        self.packets.receive_next(packet);
    }

    /// Runs TCP with what was fed and what is due, and says what a protocol is to be told. Packets are in
    /// [`Connection::take_segment`] then.
    pub(super) fn run(&mut self, now: Time, fed: Option<Fed>, tell: &mut impl FnMut(Pending)) {
        let before = self.state();
        self.poll(now);
        self.fill(now, tell);
        let state = self.state();
        if self.closed {
            return;
        }
        let synchronised = !matches!(
            state,
            tcp::State::Closed | tcp::State::Listen | tcp::State::SynSent | tcp::State::SynReceived
        );
        if synchronised && self.since.is_none() {
            self.since = Some(now);
            let Ends { local, remote } = self.ends;
            tell(if self.accepted { Pending::Accepted { local, remote } } else { Pending::Connected });
        }
        if self.is_gone() && before != tcp::State::TimeWait {
            self.closed = true;
            // A connection that was never accepted was never told of.
            if self.since.is_some() || !self.accepted {
                tell(Pending::Closed(self.reason(before, fed)));
            }
        } else {
            self.tell_end(tell);
        }
    }

    /// Tells of the other end's FIN once all before it has been handed over, and of the end.
    pub(super) fn tell_end(&mut self, tell: &mut impl FnMut(Pending)) {
        use tcp::State::{CloseWait, Closing, LastAck, TimeWait};
        let state = self.state();
        let finished = matches!(state, CloseWait | Closing | LastAck | TimeWait);
        let read = self.socket().recv_queue() == 0 && self.inbox.is_empty() && !self.offered;
        if finished && read && !self.peer_closed {
            self.peer_closed = true;
            tell(Pending::PeerClosed);
        }
        if state == TimeWait && read && !self.closed {
            self.closed = true;
            tell(Pending::Closed(Closed::Done));
        }
    }

    fn reason(&self, before: tcp::State, fed: Option<Fed>) -> Closed {
        match fed {
            Some(fed) if fed.flags.has(Flags::RST) && self.since.is_none() => Closed::Refused,
            Some(fed) if fed.flags.has(Flags::RST) => Closed::Reset,
            Some(_) => Closed::Done,
            None if before == tcp::State::SynSent && self.closing => Closed::Done,
            None => Closed::TimedOut,
        }
    }

    fn poll(&mut self, now: Time) {
        if self.options.program {
            self.interface.poll_ingress_single(instant(now), &mut self.packets, &mut self.sockets);
            self.read_in();
        }
        self.interface.poll(instant(now), &mut self.packets, &mut self.sockets);
    }

    /// Gives TCP what is waiting to be sent, as far as there is room, and closes when nothing is left.
    fn fill(&mut self, now: Time, tell: &mut impl FnMut(Pending)) {
        let waited = !self.unsent.is_empty();
        let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
        while socket.can_send() && !self.unsent.is_empty() {
            let (first, _) = self.unsent.as_slices();
            let taken = socket.send_slice(first).unwrap_or(0);
            self.unsent.drain(..taken);
        }
        let ended = self.closing && self.unsent.is_empty();
        let open =
            matches!(socket.state(), tcp::State::SynSent | tcp::State::Established | tcp::State::CloseWait);
        let closes = ended && (open || socket.state() == tcp::State::SynReceived);
        if closes {
            socket.close();
        }
        if waited || closes {
            self.poll(now);
        }
        if waited && self.unsent.is_empty() && !self.closing && !self.closed {
            tell(Pending::Writable);
        }
    }

    /// The next message that was received, as `len` divides the stream: it says how long the first message is in these
    /// bytes, if it is all there. What is longer than the receive buffer, or cut by the end, is handed over in parts.
    pub(super) fn next_message(&mut self, len: impl Fn(&[u8]) -> Option<usize>) -> Option<Vec<u8>> {
        self.partial = false;
        loop {
            let whole = (!self.inbox.is_empty()).then(|| len(&self.inbox)).flatten();
            if let Some(len) = whole.filter(|&len| len > 0 && len <= self.inbox.len()) {
                let rest = self.inbox.split_off(len);
                return Some(core::mem::replace(&mut self.inbox, rest));
            }
            let from = self.inbox.len();
            let socket = self.sockets.get_mut::<Socket<'_>>(self.handle);
            self.inbox.resize(from + socket.recv_queue().min(READ_BYTES), 0);
            let read = socket.recv_slice(&mut self.inbox[from..]).unwrap_or(0);
            self.inbox.truncate(from + read);
            self.counters.bytes_received += read as u64;
            if read == 0 {
                let cut = !self.socket().may_recv() || from >= self.options.receive_bytes as usize;
                self.partial = !cut && from > 0;
                return (cut && from > 0).then(|| core::mem::take(&mut self.inbox));
            }
        }
    }

    /// Does it have received bytes of which a message may be made? The beginning of one is none until more has come, or
    /// nothing more can come: else it would be looked at again with every segment of any connection.
    pub(super) fn is_readable(&self) -> bool {
        let socket = self.socket();
        let waits = self.partial && socket.may_recv();
        !self.closed && !self.offered && (socket.recv_queue() > 0 || (!self.inbox.is_empty() && !waits))
    }

    /// The next segment that TCP has sent, without an IP header.
    pub(super) fn take_segment(&mut self, now: Time) -> Option<Vec<u8>> {
        let mut packet = self.packets.take_sent().filter(|_| !self.abandoned)?;
        let header = if self.ends.local.is_ipv4() { 20 } else { 40 };
        packet.drain(..header.min(packet.len()));
        let is_changed = self.advance(&mut packet)
            | (!offers::are_all(&self.options) && offers::leave_out(&mut packet, &self.options));
        if is_changed {
            let (src, dst) = (self.ends.local.ip(), self.ends.remote.ip());
            wire::tcp::Packet::new_unchecked(&mut packet[..]).fill_checksum(src, dst);
        }
        self.note_sent(now, &packet);
        if let Some(key) = &self.options.key {
            let (src, dst) = (self.ends.local.ip(), self.ends.remote.ip());
            md5::sign(&mut packet, src, dst, key.as_bytes());
            wire::tcp::Packet::new_unchecked(&mut packet[..]).fill_checksum(src, dst);
        }
        Some(packet)
    }

    /// RFC 9293, 3.10.7.4: what only acknowledges has SND.NXT, the number of what has never been sent. smoltcp has gone
    /// back from there when it sends again. If both ends have, each takes the other's acknowledgements for old
    /// segments, and nothing ever gets on. True if the segment is another now.
    fn advance(&self, segment: &mut [u8]) -> bool {
        let Some(next) = self.sent_next else { return false };
        let mut tcp = wire::tcp::Packet::new_unchecked(segment);
        let is_ack = tcp.sequence_len() == 0 && !tcp.flags().has(Flags::RST);
        let is_back = is_ack && (next.wrapping_sub(tcp.sequence()) as i32) > 0;
        if is_back {
            tcp.set_sequence(next);
        }
        is_back
    }

    fn note_sent(&mut self, now: Time, segment: &[u8]) {
        let Ok(tcp) = wire::tcp::Packet::new_checked(segment) else { return };
        if let Some(measures) = &mut self.measures {
            measures.sent(now, &tcp);
        }
        self.counters.segments_sent += 1;
        if tcp.flags().has(Flags::ACK) {
            self.acknowledged = Some(tcp.acknowledgment());
        }
        let (first, len) = (tcp.sequence(), tcp.sequence_len());
        let behind = first.wrapping_add(len);
        let next = self.sent_next.unwrap_or(first);
        // RFC 1122, 4.2.3.6: a question whether the other end is there has a byte from before.
        let asks = self.options.keep_alive.is_some() && len == 1 && behind == next;
        let new = (behind.wrapping_sub(next) as i32) > 0;
        let again = len > 0 && (first.wrapping_sub(next) as i32) < 0;
        self.counters.retransmitted += u64::from(again && !asks);
        self.sent_next = Some(if new { behind } else { next });
    }

    /// When it has something to do by itself.
    pub(super) fn due(&mut self, now: Time) -> Option<Time> {
        let at = self.interface.poll_at(instant(now), &self.sockets)?;
        // What is to be done at once has been done: no timer expires at the time at which it is set.
        let soonest = now.0 / PS_PER_US + 1;
        Some(Time((at.total_micros().max(0) as u64).max(soonest) * PS_PER_US))
    }

    pub(super) fn row(&self) -> SessionRow {
        SessionRow {
            owner: self.owner,
            local: self.ends.local,
            remote: self.ends.remote,
            state: State(self.state()),
            since: self.since,
            counters: self.counters,
        }
    }
}
