//! The control socket: several clients, none of which can hold the router up.
//!
//! All of it hangs on one epoll descriptor ([`Server::as_raw_fd`]), which the router's loop waits for beside its
//! interfaces. [`Server::poll`] does what can be done without waiting.

use crate::client::{Client, State};
use crate::process::Signals;
use base::table::Table;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The most clients at a time.
const CLIENTS_MAX: usize = 32;
/// The most requests of one client that are answered in one go.
const REQUESTS_PER_POLL: usize = 16;
const LISTENER: u64 = 0;
const SIGNALS: u64 = 1;
const ALSO: u64 = 2;
const FIRST_CLIENT: u64 = 3;

/// Identifies a client as long as the process runs: numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(u64);

/// What is to be done after a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// The process is asked to end by a signal.
    pub ended: bool,
    /// There are more requests already: poll again soon.
    pub more: bool,
}

/// What follows from a request.
pub enum Reply {
    /// What is answered at once: a value, or a sentence that says what is wrong.
    Now(Result<Value, String>),
    /// The same, where it is a table.
    Table(Result<Table, String>),
    /// The answer comes later, by [`Server::reply`].
    Later,
}

struct Listener {
    socket: UnixListener,
    path: PathBuf,
    inode: u64,
}

/// The control socket, and the signals that end the process.
pub struct Server {
    epoll: OwnedFd,
    signals: Signals,
    listener: Option<Listener>,
    clients: BTreeMap<ClientId, Client>,
    next: u64,
}

impl Server {
    /// Listens at `path`, if there is one.
    pub fn new(path: Option<&Path>, signals: Signals) -> Result<Server, String> {
        // SAFETY: a plain call; the descriptor is a fresh one that nobody else owns.
        let epoll = unsafe {
            let fd = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            if fd < 0 {
                return Err(format!("epoll: {}", io::Error::last_os_error()));
            }
            OwnedFd::from_raw_fd(fd)
        };
        let listener = path.map(listen).transpose()?;
        let server = Server { epoll, signals, listener, clients: BTreeMap::new(), next: FIRST_CLIENT };
        let watched = server.watch(server.signals.as_raw_fd(), SIGNALS, true, false, true);
        let fd = server.listener.as_ref().map(|listener| listener.socket.as_raw_fd());
        let watched = watched.and_then(|()| match fd {
            Some(fd) => server.watch(fd, LISTENER, true, false, true),
            None => Ok(()),
        });
        watched.map_err(|error| format!("epoll: {error}"))?;
        Ok(server)
    }

    /// Has its descriptor be readable when another is, too.
    pub fn watch_also(&self, fd: RawFd) -> Result<(), String> {
        self.watch(fd, ALSO, true, false, true).map_err(|error| format!("epoll: {error}"))
    }

    fn watch(&self, fd: RawFd, token: u64, read: bool, write: bool, new: bool) -> io::Result<()> {
        let events = if read { libc::EPOLLIN | libc::EPOLLRDHUP } else { 0 };
        let events = events | if write { libc::EPOLLOUT } else { 0 };
        let mut event = libc::epoll_event { events: events as u32, u64: token };
        let operation = if new { libc::EPOLL_CTL_ADD } else { libc::EPOLL_CTL_MOD };
        // SAFETY: both descriptors are open, and the event lives through the call.
        let result = unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Serves whoever waits, without waiting.
    pub fn poll(&mut self, handle: &mut dyn FnMut(ClientId, &[u8]) -> Reply) -> Polled {
        let mut ready = [libc::epoll_event { events: 0, u64: 0 }; CLIENTS_MAX + 3];
        // SAFETY: the array has room for so many events and lives through the call.
        let count = unsafe {
            libc::epoll_wait(self.epoll.as_raw_fd(), ready.as_mut_ptr(), ready.len() as libc::c_int, 0)
        };
        let mut polled = Polled::default();
        for event in ready.iter().take(usize::try_from(count).unwrap_or(0)) {
            let (token, events) = (event.u64, event.events);
            match token {
                LISTENER => self.accept(),
                SIGNALS => polled.ended = true,
                // Whoever wants to be woken by it looks for itself.
                ALSO => {}
                client => polled.more |= self.attend(ClientId(client), events, handle),
            }
        }
        // Requests that waited for others, and clients that take nothing.
        let rest: Vec<ClientId> = self.clients.keys().copied().collect();
        rest.into_iter().for_each(|client| polled.more |= self.serve(client, handle));
        polled
    }

    fn accept(&mut self) {
        while let Some(listener) = &self.listener {
            let Ok((stream, _)) = listener.socket.accept() else { break };
            // One more than it can serve is turned away.
            if self.clients.len() >= CLIENTS_MAX {
                continue;
            }
            let Ok(client) = Client::new(stream) else { continue };
            let id = ClientId(self.next);
            self.next += 1;
            if self.watch(client.as_raw_fd(), id.0, true, false, true).is_ok() {
                self.clients.insert(id, client);
            }
        }
    }

    fn attend(
        &mut self,
        id: ClientId,
        events: u32,
        handle: &mut dyn FnMut(ClientId, &[u8]) -> Reply,
    ) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return false };
        let gone = client.read() == State::Gone;
        let more = !gone && self.serve(id, handle);
        // Who has closed both ways may have asked for something, but hears no answer.
        if gone || events & (libc::EPOLLERR | libc::EPOLLHUP) as u32 != 0 {
            self.clients.remove(&id);
            return false;
        }
        more
    }

    /// Answers some of a client's requests. Returns whether there may be more.
    fn serve(&mut self, id: ClientId, handle: &mut dyn FnMut(ClientId, &[u8]) -> Reply) -> bool {
        let Some(client) = self.clients.get_mut(&id) else { return false };
        let mut state = client.write();
        let mut left = REQUESTS_PER_POLL;
        while state == State::Open && left > 0 {
            let Some(line) = client.request() else { break };
            match handle(id, &line) {
                Reply::Now(result) => client.reply(result),
                Reply::Table(result) => client.reply(result),
                Reply::Later => client.waiting = true,
            }
            state = client.write();
            left -= 1;
        }
        self.settle(id, state);
        left == 0
    }

    /// Sees to it that a client is waited for as it needs, or removes it.
    fn settle(&mut self, id: ClientId, mut state: State) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        if state == State::Open && client.interest().1 {
            state = client.write();
        }
        let (read, write) = client.interest();
        let fd = client.as_raw_fd();
        if state == State::Gone || self.watch(fd, id.0, read, write, false).is_err() {
            self.clients.remove(&id);
        }
    }

    /// Answers a client that waits, if it is still there. What it asked for meanwhile is for the next poll.
    pub fn reply(&mut self, id: ClientId, result: Result<Value, String>) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.reply(result);
            let state = client.write();
            self.settle(id, state);
        }
    }

    /// Is this client still there?
    pub fn has(&self, id: ClientId) -> bool {
        self.clients.contains_key(&id)
    }

    /// How many clients there are.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }
}

impl AsRawFd for Server {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(listener) = &self.listener
            // Another process may have made a socket of the same name meanwhile.
            && fs::symlink_metadata(&listener.path).is_ok_and(|found| found.ino() == listener.inode)
        {
            let _ = fs::remove_file(&listener.path);
        }
    }
}

/// Listens at a path; a socket that nobody answers at any more is replaced.
fn listen(path: &Path) -> Result<Listener, String> {
    let name = path.display();
    if let Ok(found) = fs::symlink_metadata(path) {
        if !found.file_type().is_socket() {
            return Err(format!("{name}: it exists and is not a socket"));
        }
        match UnixStream::connect(path) {
            Ok(_) => return Err(format!("{name}: another process answers there")),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                let removed = fs::remove_file(path);
                removed.map_err(|error| {
                    format!("{name}: cannot be replaced: {}", base::diagnostic::os_words(&error))
                })?;
            }
            Err(error) => return Err(format!("{name}: {}", base::diagnostic::os_words(&error))),
        }
    }
    let bound = UnixListener::bind(path).and_then(|socket| {
        socket.set_nonblocking(true)?;
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Listener { socket, path: path.to_path_buf(), inode })
    });
    bound.map_err(|error| format!("{name}: cannot listen: {}", base::diagnostic::os_words(&error)))
}
