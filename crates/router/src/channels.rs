//! Connections of a switch to its controllers, over TCP of the kernel in the namespace of this process.
//!
//! Nothing here waits: [`Channels::poll`] does what can be done, and a descriptor of epoll says when there is more.

use base::protocol_value::ProtocolValue;
use base::{Command, NodeId, Span, Time};
use network::Network;
use node::Switch;
use node::switch::{ChannelInput, ChannelOutput, Controller, FIRST_INCOMING, OUTPUT_MAX};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;
/// Connections that come in, at most.
const INCOMING_MAX: usize = 64;
/// Bytes that a controller may leave unread; one that leaves more is closed. Beyond [`OUTPUT_MAX`] nothing is read from
/// it: more than that is an answer about a large table, or what happens to ports and entries.
const UNSENT_MAX: usize = 256 << 20;
/// How long a connection that the switch has closed waits for the other end to read the rest.
const CLOSING: Span = Span::from_secs(5);
/// Reads of one connection in a round, so that one that floods holds nobody up.
const READS: usize = 4;

struct Stream {
    socket: TcpStream,
    unsent: Vec<u8>,
    /// TCP is being set up.
    is_new: bool,
    /// More than [`OUTPUT_MAX`] bytes were unsent, and it is not yet half of that: nothing is read from it.
    is_full: bool,
    /// It is closed when all is sent, or at this time.
    over: Option<Time>,
}

/// All connections of a switch.
pub struct Channels {
    node: NodeId,
    epoll: OwnedFd,
    /// Readable when the switch has something to send.
    wake: OwnedFd,
    listeners: Vec<TcpListener>,
    targets: Vec<Controller>,
    streams: BTreeMap<u32, Stream>,
    next: u32,
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
        let mut listeners = Vec::new();
        for target in &targets {
            if let Controller::Listen(at, port) = *target {
                let address = SocketAddr::new(at.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), port);
                let listener = TcpListener::bind(address).and_then(|listener| {
                    listener.set_nonblocking(true)?;
                    Ok(listener)
                });
                let words = |error| format!("controllers: it can't listen at {address}: {error}");
                listeners.push(listener.map_err(words)?);
            }
        }
        let streams = BTreeMap::new();
        let channels = Channels { node, epoll, wake, listeners, targets, streams, next: FIRST_INCOMING };
        channels.watch(channels.wake.as_raw_fd(), libc::EPOLLIN, true).map_err(text)?;
        for listener in &channels.listeners {
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
        self.streams.retain(|_, stream| stream.over.is_none_or(|end| now < end));
        self.accept(&mut inputs);
        let more = self.receive(&mut inputs);
        let had_inputs = !inputs.is_empty();
        for input in inputs {
            let command = Command::Protocol(ProtocolValue::new(input));
            let now = network.world().now();
            network.world_mut().command(now, self.node, command).map_err(|error| error.to_string())?;
        }
        self.carry_out(network);
        Ok(more || had_inputs)
    }

    fn accept(&mut self, inputs: &mut Vec<ChannelInput>) {
        let mut taken = Vec::new();
        for listener in &self.listeners {
            while let Ok((socket, _)) = listener.accept() {
                taken.push(socket);
            }
        }
        for socket in taken {
            let incoming = self.streams.range(FIRST_INCOMING..).filter(|(_, stream)| stream.over.is_none());
            let incoming = incoming.count();
            let is_set = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)).is_ok();
            if incoming >= INCOMING_MAX
                || !is_set
                || self.watch(socket.as_raw_fd(), libc::EPOLLIN, true).is_err()
            {
                continue;
            }
            let connection = self.next;
            self.next = self.next.checked_add(1).unwrap_or(FIRST_INCOMING);
            let stream = Stream::new(socket, false);
            self.streams.insert(connection, stream);
            inputs.push(ChannelInput::Opened { connection });
        }
    }

    fn receive(&mut self, inputs: &mut Vec<ChannelInput>) -> bool {
        let mut more = false;
        let mut gone = Vec::new();
        let mut settled = Vec::new();
        let open = self.streams.iter_mut().filter(|(_, stream)| !stream.is_full && stream.over.is_none());
        for (&connection, stream) in open {
            if stream.is_new {
                match is_connected(&stream.socket) {
                    None => continue,
                    Some(true) => {
                        stream.is_new = false;
                        let _ = stream.socket.set_nodelay(true);
                        settled.push(stream.socket.as_raw_fd());
                        inputs.push(ChannelInput::Opened { connection });
                    }
                    Some(false) => {
                        gone.push(connection);
                        inputs.push(ChannelInput::Closed { connection });
                        continue;
                    }
                }
            }
            let mut buffer = vec![0; CHUNK];
            for read in 0..READS {
                match stream.socket.read(&mut buffer) {
                    Ok(0) => {
                        gone.push(connection);
                        inputs.push(ChannelInput::Closed { connection });
                        break;
                    }
                    Ok(len) => {
                        let bytes = wire_bytes(&buffer[..len]);
                        inputs.push(ChannelInput::Received { connection, bytes });
                        more |= read + 1 == READS;
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => {
                        gone.push(connection);
                        inputs.push(ChannelInput::Closed { connection });
                        break;
                    }
                }
            }
        }
        for fd in settled {
            let _ = self.watch(fd, libc::EPOLLIN, false);
        }
        for connection in gone {
            self.streams.remove(&connection);
        }
        more
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
                    let Some(Controller::Connect(address, port)) = target.copied() else { continue };
                    let socket = connect(SocketAddr::new(address, port));
                    let watched = socket.and_then(|socket| {
                        self.watch(socket.as_raw_fd(), libc::EPOLLIN | libc::EPOLLOUT, true)?;
                        Ok(socket)
                    });
                    match watched {
                        Ok(socket) => {
                            self.streams.insert(connection, Stream::new(socket, true));
                        }
                        Err(_) => failed.push(connection),
                    }
                }
                ChannelOutput::Send { connection, bytes } => {
                    if let Some(stream) = self.streams.get_mut(&connection) {
                        stream.unsent.extend(bytes);
                    }
                }
                ChannelOutput::Close { connection } => {
                    if let Some(stream) = self.streams.get_mut(&connection) {
                        stream.over = Some(now + CLOSING);
                    }
                }
            }
        }
        let mut changed = Vec::new();
        for (&connection, stream) in self.streams.iter_mut().filter(|(_, stream)| !stream.is_new) {
            let had_unsent = !stream.unsent.is_empty();
            let was_full = stream.is_full;
            stream.is_full |= stream.unsent.len() > OUTPUT_MAX;
            let became_full = stream.is_full && !was_full;
            let sent = stream.send();
            if sent.is_none() || stream.unsent.len() > UNSENT_MAX {
                failed.push(connection);
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
                let reads = if stream.is_full || stream.over.is_some() { 0 } else { libc::EPOLLIN };
                changed.push((stream.socket.as_raw_fd(), reads | writes));
            }
        }
        for (fd, events) in changed {
            let _ = self.watch(fd, events, false);
        }
        self.streams.retain(|_, stream| stream.over.is_none() || !stream.unsent.is_empty());
        for connection in failed {
            self.streams.remove(&connection);
            inputs.push(ChannelInput::Closed { connection });
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

impl Stream {
    fn new(socket: TcpStream, is_new: bool) -> Stream {
        Stream { socket, unsent: Vec::new(), is_new, is_full: false, over: None }
    }

    /// Sends what the kernel takes: how many bytes; nothing if the connection is gone.
    fn send(&mut self) -> Option<usize> {
        let mut sent = 0;
        let is_well = loop {
            if sent == self.unsent.len() {
                break true;
            }
            match self.socket.write(&self.unsent[sent..]) {
                Ok(0) => break false,
                Ok(len) => sent += len,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break false,
            }
        };
        self.unsent.drain(..sent);
        is_well.then_some(sent)
    }
}

/// Is TCP set up, or will it not be? Nothing while nobody knows.
fn is_connected(socket: &TcpStream) -> Option<bool> {
    match socket.take_error() {
        Ok(None) => match socket.peer_addr() {
            Ok(_) => Some(true),
            Err(_) => None,
        },
        Ok(Some(_)) | Err(_) => Some(false),
    }
}

fn wire_bytes(bytes: &[u8]) -> node::switch::Bytes {
    bytes.into()
}
