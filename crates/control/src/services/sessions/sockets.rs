//! Sessions as the programs of a host use them: a socket with buffers that is written to and read from.

use super::connection::{Connection, Ends};
use super::measures::Measured;
use super::types::{Options, Refusal, SessionCounters, SessionOutput};
use super::{SESSIONS_MAX, SessionId, Sessions, is_single};
use crate::owner::Owner;
use base::Time;
use core::net::{IpAddr, SocketAddr};
use rand::RngExt;

/// What is known of a session when something has happened to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Its segments and bytes.
    pub counters: SessionCounters,
    /// Its round-trip times, windows, and bytes in flight.
    pub measured: Measured,
}

impl Sessions {
    /// Begins a connection from an address of this host to another node, by a link that takes packets of at most `mtu`
    /// bytes.
    pub fn open(
        &mut self,
        now: Time,
        (from, to): (IpAddr, SocketAddr),
        mtu: u32,
        options: Options,
    ) -> Result<SessionId, Refusal> {
        let other = to.ip() != from && is_single(to.ip());
        if !other || to.port() == 0 || from.is_ipv4() != to.ip().is_ipv4() {
            return Err(Refusal::Address);
        }
        if self.by_ends.len() >= SESSIONS_MAX {
            return Err(Refusal::Sessions);
        }
        self.has_tcp = true;
        let port = self.ephemeral(from, to)?;
        let ends = Ends { local: SocketAddr::new(from, port), remote: to };
        let seed = self.sequence_numbers.random();
        let owner = Owner::default();
        let connection =
            Connection::connecting(owner, ends, options, mtu, seed, now).ok_or(Refusal::Address)?;
        Ok(self.insert(connection))
    }

    /// Writes bytes into the send buffer of a session, and says how many found room.
    pub fn write(&mut self, id: SessionId, bytes: &[u8]) -> usize {
        let taken = self.get_mut(id).map_or(0, |connection| connection.write(bytes));
        if taken > 0 {
            self.touch(id);
        }
        taken
    }

    /// Sends what is in the send buffer of a session, and then nothing more.
    pub fn close(&mut self, id: SessionId) {
        self.handle_output(Owner::default(), id, SessionOutput::Close);
    }

    /// Ends a session at once, by a reset.
    pub fn abort(&mut self, id: SessionId) {
        self.handle_output(Owner::default(), id, SessionOutput::Abort);
    }

    /// Shows all that the program of a session has received in order since it looked last: how many bytes that is.
    pub fn read(&mut self, id: SessionId, see: impl FnOnce(&[u8])) -> usize {
        let read = self.get_mut(id).map_or(0, |connection| connection.read(see));
        if read > 0 {
            // Now it may be told that nothing more comes.
            self.touch(id);
        }
        read
    }

    /// Address and port of both ends of a session: of this node, and of the other.
    pub fn ends(&self, id: SessionId) -> Option<[SocketAddr; 2]> {
        self.get(id).map(|connection| [connection.ends.local, connection.ends.remote])
    }

    /// The next session of those with [`Options::program`] that something has happened to: a segment came or went, or
    /// a timer expired. It may be gone by now.
    pub fn poll_ran(&mut self) -> Option<(SessionId, Ran)> {
        self.ran.pop_front()
    }
}
