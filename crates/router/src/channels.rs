//! Connections of a switch to its controllers, over TCP of the kernel in the namespace of this process, with
//! TLS or without.
//!
//! Nothing here waits: [`Channels::poll`] does what can be done, and a descriptor of epoll says when there is more.

#[cfg(test)]
mod tests;

use crate::stream::{Arrived, CHUNK, Incoming, SECURING, Stage, Stream};
use base::diagnostic::os_words;
use base::protocol_value::ProtocolValue;
use base::{Command, NodeId, Time};
use network::Network;
use node::Switch;
use node::switch::{
    Bytes, ChannelInput, ChannelOutput, Controller, FIRST_INCOMING, OUTPUT_MAX, TlsFiles, Transport,
};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::mem::discriminant;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use tls::{Credentials, Session};

/// Connections that come in, at most.
const INCOMING_MAX: usize = 64;
/// Bytes that a controller may leave unread; one that leaves more is closed. Beyond [`OUTPUT_MAX`] nothing is read from
/// it: more than that is an answer about a large table, or what happens to ports and entries.
const UNSENT_MAX: usize = 256 << 20;
/// Connections over TLS that come in and are not set up, at most: the oldest makes room.
const SECURED_MAX: usize = 64;
/// Those of them that are attended to in a round. Each takes a signature, about a millisecond, and packets wait.
const HANDSHAKES: usize = 4;
/// Reads of one connection in a round, so that one that floods holds nobody up.
const READS: usize = 4;

/// All connections of a switch.
pub struct Channels {
    node: NodeId,
    epoll: OwnedFd,
    /// Readable when the switch has something to send.
    wake: OwnedFd,
    /// With the place of each among the controllers, and what messages are carried over.
    listeners: Vec<(u32, Transport, TcpListener)>,
    targets: Vec<Controller>,
    /// There if one of the controllers is over TLS.
    credentials: Option<Credentials>,
    streams: BTreeMap<u32, Stream>,
    next: u32,
    /// What is read into.
    buffer: Vec<u8>,
}

/// A descriptor that a system call has made, or why it has not.
pub fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is a fresh one that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Has `epoll` watch a descriptor, or for other events than before.
pub fn watch(epoll: &OwnedFd, fd: RawFd, events: libc::c_int, is_new: bool) -> io::Result<()> {
    let mut event = libc::epoll_event { events: events as u32, u64: 0 };
    let operation = if is_new { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
    // SAFETY: both descriptors are open, and the event lives through the call.
    let result = unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd, &mut event) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Begins to connect without waiting for it.
fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let SocketAddr::V4(to) = to else { return Err(ErrorKind::Unsupported.into()) };
    // SAFETY: plain calls; the address is initialised, and lives through them.
    unsafe {
        let flags = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        let socket = owned(libc::socket(libc::AF_INET, flags, 0))?;
        let mut address: libc::sockaddr_in = core::mem::zeroed();
        address.sin_family = libc::AF_INET as libc::sa_family_t;
        address.sin_port = to.port().to_be();
        address.sin_addr.s_addr = u32::from_ne_bytes(to.ip().octets());
        let len = size_of::<libc::sockaddr_in>() as libc::socklen_t;
        let result = libc::connect(socket.as_raw_fd(), (&raw const address).cast(), len);
        if result < 0 {
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(libc::EINPROGRESS) {
                return Err(error);
            }
        }
        Ok(TcpStream::from(socket))
    }
}

impl Channels {
    /// Those of the switch at a node; nothing if there is none. Listens where it is to.
    pub fn of(network: &mut Network, node: usize) -> Result<Option<Channels>, String> {
        let node = NodeId(node as u32);
        let now = network.world().now();
        let Some(switch) = network.world_mut().device_mut::<Switch>(node) else { return Ok(None) };
        let text = |error: io::Error| error.to_string();
        // SAFETY: plain calls without pointers.
        let (epoll, wake) = unsafe {
            let wake = libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK);
            (owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)).map_err(text)?, owned(wake).map_err(text)?)
        };
        let raw = wake.try_clone().map_err(text)?;
        switch.set_waker(
            now,
            Box::new(move || {
                let one = 1u64;
                // SAFETY: the descriptor is open, and the number lives through the call; a full counter wakes, too.
                unsafe { libc::write(raw.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
            }),
        );
        let targets = switch.config().controllers.clone();
        let is_secured = targets.iter().any(|target| target.transport() == Transport::Tls);
        let files = switch.config().tls.clone().filter(|_| is_secured);
        let credentials = files.map(|files| read_credentials(&files)).transpose()?;
        let mut listeners = Vec::new();
        for (place, target) in targets.iter().enumerate() {
            if let Controller::Listen(transport, at, port) = *target {
                let address = SocketAddr::new(at.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port);
                let listener = TcpListener::bind(address).and_then(|listener| {
                    listener.set_nonblocking(true)?;
                    Ok(listener)
                });
                let words = |error| format!("controllers: it can't listen at {address}: {error}");
                listeners.push((place as u32, transport, listener.map_err(words)?));
            }
        }
        let streams = BTreeMap::new();
        let (next, buffer) = (FIRST_INCOMING, vec![0; CHUNK]);
        let channels = Channels { node, epoll, wake, listeners, targets, credentials, streams, next, buffer };
        channels.watch(channels.wake.as_raw_fd(), libc::EPOLLIN, true).map_err(text)?;
        for (_, _, listener) in &channels.listeners {
            channels.watch(listener.as_raw_fd(), libc::EPOLLIN, true).map_err(text)?;
        }
        Ok(Some(channels))
    }

    fn watch(&self, fd: RawFd, events: libc::c_int, is_new: bool) -> io::Result<()> {
        watch(&self.epoll, fd, events, is_new)
    }

    /// Does all that can be done without waiting. True if there is more already.
    pub fn poll(&mut self, network: &mut Network) -> Result<bool, String> {
        let mut count = [0u8; 8];
        // SAFETY: the descriptor is open, and the buffer lives through the call; an error says that nobody woke it.
        unsafe { libc::read(self.wake.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
        let mut inputs = Vec::new();
        let now = network.world().now();
        self.streams.retain(|_, stream| !matches!(stream.stage, Stage::Closing(end) if end <= now));
        self.accept(now, &mut inputs);
        let more = self.receive(now, &mut inputs);
        let had_inputs = !inputs.is_empty();
        for input in inputs {
            let command = Command::Protocol(ProtocolValue::new(input));
            let now = network.world().now();
            network.world_mut().command(now, self.node, command).map_err(|error| error.to_string())?;
        }
        self.carry_out(network);
        Ok(more || had_inputs)
    }

    fn accept(&mut self, now: Time, inputs: &mut Vec<ChannelInput>) {
        let mut taken = Vec::new();
        for (listener, transport, socket) in &self.listeners {
            while let Ok((socket, from)) = socket.accept() {
                taken.push((socket, *transport, Incoming { listener: *listener, from }));
            }
        }
        for (socket, transport, incoming) in taken {
            let session = match (transport, &self.credentials) {
                (Transport::Tcp, _) => None,
                (Transport::Tls, Some(credentials)) => match Session::accept(credentials) {
                    Ok(session) => Some(session),
                    Err(_) => continue,
                },
                (Transport::Tls, None) => continue,
            };
            let is_full = session.is_none() && self.count(Stage::Open) >= INCOMING_MAX;
            let is_set = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)).is_ok();
            if is_full || !is_set || self.watch(socket.as_raw_fd(), libc::EPOLLIN, true).is_err() {
                continue;
            }
            if session.is_some() {
                self.make_room(inputs);
            }
            let connection = self.next;
            self.next = self.next.checked_add(1).unwrap_or(FIRST_INCOMING);
            let stream = Stream::accepted(socket, session, incoming, now);
            if stream.stage == Stage::Open {
                inputs.push(ChannelInput::Opened { connection });
            }
            self.streams.insert(connection, stream);
        }
    }

    /// Connections that came in and are as far as this.
    fn count(&self, stage: Stage) -> usize {
        let incoming = self.streams.range(FIRST_INCOMING..);
        incoming.filter(|(_, one)| discriminant(&one.stage) == discriminant(&stage)).count()
    }

    /// Lets the oldest go of those that came in and have not set TLS up, if there are as many as may be.
    fn make_room(&mut self, inputs: &mut Vec<ChannelInput>) {
        if self.count(Stage::Securing(Time::ZERO)) < SECURED_MAX {
            return;
        }
        let mut incoming = self.streams.range(FIRST_INCOMING..);
        let oldest = incoming.find(|(_, one)| matches!(one.stage, Stage::Securing(_))).map(|(id, _)| *id);
        if let Some(stream) = oldest.and_then(|oldest| self.streams.remove(&oldest)) {
            let why = format!("more than {SECURED_MAX} others want to set up TLS, too");
            inputs.push(ended(oldest.unwrap_or_default(), &stream, why));
        }
    }

    fn receive(&mut self, now: Time, inputs: &mut Vec<ChannelInput>) -> bool {
        let (mut gone, mut settled) = (Vec::new(), Vec::new());
        let room = INCOMING_MAX.saturating_sub(self.count(Stage::Open));
        let buffer = core::mem::take(&mut self.buffer);
        let mut round = Round { now, buffer, handshakes: HANDSHAKES, room, more: false };
        let open = self.streams.iter_mut().filter(|(_, stream)| !stream.is_full && !stream.is_closing());
        for (&connection, stream) in open {
            let was_new = stream.stage == Stage::Connecting;
            if let Some(why) = round.attend(connection, stream, inputs) {
                gone.push(connection);
                inputs.push(ended(connection, stream, why));
            } else if was_new && stream.stage != Stage::Connecting {
                settled.push(stream.socket.as_raw_fd());
            }
        }
        for fd in settled {
            let _ = self.watch(fd, libc::EPOLLIN, false);
        }
        for connection in gone {
            self.streams.remove(&connection);
        }
        self.buffer = round.buffer;
        round.more
    }

    /// Begins to connect.
    fn begin(&self, transport: Transport, to: SocketAddr) -> Result<Stream, String> {
        let session = match (transport, &self.credentials) {
            (Transport::Tls, Some(credentials)) => Some(Session::connect(credentials, to.ip())?),
            _ => None,
        };
        let socket = connect(to).map_err(|error| os_words(&error))?;
        let watched = self.watch(socket.as_raw_fd(), libc::EPOLLIN | libc::EPOLLOUT, true);
        watched.map_err(|error| os_words(&error))?;
        Ok(Stream::connecting(socket, session))
    }

    /// What the switch wants.
    fn carry_out(&mut self, network: &mut Network) {
        let now = network.world().now();
        let (mut failed, mut inputs) = (Vec::new(), Vec::new());
        let Some(switch) = network.world_mut().device_mut::<Switch>(self.node) else { return };
        let outputs: Vec<ChannelOutput> = core::iter::from_fn(|| switch.poll_channel()).collect();
        for output in outputs {
            match output {
                ChannelOutput::Open { connection } => {
                    // An attempt that still goes on makes room.
                    self.streams.remove(&connection);
                    let target = self.targets.get(connection as usize);
                    let Some(&Controller::Connect(transport, address, port)) = target else { continue };
                    match self.begin(transport, SocketAddr::new(address, port)) {
                        Ok(stream) => {
                            self.streams.insert(connection, stream);
                        }
                        Err(why) => failed.push((connection, why)),
                    }
                }
                ChannelOutput::Send { connection, bytes } => {
                    if let Some(stream) = self.streams.get_mut(&connection) {
                        stream.push(bytes);
                    }
                }
                ChannelOutput::Close { connection } => {
                    let stream = self.streams.get_mut(&connection);
                    if stream.is_some_and(|stream| !stream.close(now)) {
                        self.streams.remove(&connection);
                    }
                }
            }
        }
        let mut changed = Vec::new();
        let connected = self.streams.iter_mut().filter(|(_, stream)| stream.stage != Stage::Connecting);
        for (&connection, stream) in connected {
            let had_unsent = !stream.unsent.is_empty();
            let was_full = stream.is_full;
            stream.is_full |= stream.unsent.len() > OUTPUT_MAX;
            let became_full = stream.is_full && !was_full;
            let sent = stream.send();
            if sent.is_none() || stream.unsent.len() > UNSENT_MAX {
                let is_slow = sent.is_some();
                let why =
                    if is_slow { "it reads too slowly".into() } else { stream.last_words(&mut self.buffer) };
                failed.push((connection, why));
                continue;
            }
            let is_taking = sent.is_some_and(|sent| sent > 0);
            if stream.is_full && (became_full || is_taking) {
                stream.is_full = stream.unsent.len() > OUTPUT_MAX / 2;
                let is_full = stream.is_full;
                inputs.push(ChannelInput::Backlog { connection, is_full, is_taking });
            }
            if had_unsent {
                let writes = if stream.unsent.is_empty() { 0 } else { libc::EPOLLOUT };
                let reads = if stream.is_full || stream.is_closing() { 0 } else { libc::EPOLLIN };
                changed.push((stream.socket.as_raw_fd(), reads | writes));
            }
        }
        for (fd, events) in changed {
            let _ = self.watch(fd, events, false);
        }
        self.streams.retain(|_, stream| !stream.is_closing() || !stream.unsent.is_empty());
        for (connection, why) in failed {
            inputs.push(match self.streams.remove(&connection) {
                Some(stream) => ended(connection, &stream, why),
                None => ChannelInput::Failed { connection, why },
            });
        }
        for input in inputs {
            let _ = network.world_mut().command(now, self.node, Command::Protocol(ProtocolValue::new(input)));
        }
    }
}

impl AsRawFd for Channels {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

/// What may still be done in a round.
struct Round {
    now: Time,
    buffer: Vec<u8>,
    /// Connections that are setting TLS up.
    handshakes: usize,
    /// Connections that come in.
    room: usize,
    /// There is more to be done at once.
    more: bool,
}

impl Round {
    /// Has a connection go on. Why it is over, if it is.
    fn attend(
        &mut self,
        connection: u32,
        stream: &mut Stream,
        inputs: &mut Vec<ChannelInput>,
    ) -> Option<String> {
        if stream.stage == Stage::Connecting {
            if let Err(why) = stream.connected(self.now) {
                return Some(why);
            }
            match stream.stage {
                Stage::Connecting => return None,
                Stage::Open => inputs.push(ChannelInput::Opened { connection }),
                Stage::Securing(_) | Stage::Closing(_) => {}
            }
        }
        for read in 0..READS {
            let is_securing = match stream.stage {
                Stage::Securing(until) if until <= self.now => {
                    return Some(format!("TLS was not set up within {} s", SECURING.as_secs_f64()));
                }
                Stage::Securing(_) => true,
                _ => false,
            };
            if is_securing && self.handshakes == 0 {
                self.more = true;
                return None;
            }
            let mut bytes = Vec::new();
            let arrived = stream.read(&mut self.buffer, &mut bytes);
            self.handshakes -= usize::from(is_securing && arrived != Arrived::Nothing);
            if is_securing && stream.stage == Stage::Open {
                if stream.incoming.is_some() && self.room == 0 {
                    stream.stage = Stage::Securing(self.now);
                    return Some(format!("{INCOMING_MAX} controllers are connected already"));
                }
                self.room -= usize::from(stream.incoming.is_some());
                inputs.push(ChannelInput::Opened { connection });
            }
            if !bytes.is_empty() {
                inputs.push(ChannelInput::Received { connection, bytes: Bytes(bytes) });
            }
            match arrived {
                Arrived::Some => self.more |= read + 1 == READS,
                Arrived::Nothing => return None,
                Arrived::Over(why) => return Some(why),
            }
        }
        None
    }
}

/// What the switch is told of a connection that has ended: of one that it has not heard of, who was turned away.
fn ended(connection: u32, stream: &Stream, why: String) -> ChannelInput {
    match (stream.incoming, stream.stage) {
        (Some(Incoming { listener, from }), Stage::Securing(_)) => {
            ChannelInput::Refused { listener, from, why }
        }
        _ => ChannelInput::Failed { connection, why },
    }
}

fn read_credentials(files: &TlsFiles) -> Result<Credentials, String> {
    let [key, certificate, authority] =
        [&files.private_key, &files.certificate, &files.ca_cert].map(Path::new);
    Credentials::read(key, certificate, authority)
        .map_err(|fault| format!("tls: {}: {}", fault.setting, fault.words))
}
