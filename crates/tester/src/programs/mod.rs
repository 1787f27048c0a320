//! Programs of hosts that talk over TCP: they write into sockets, read from them, and count.
//!
//! - [`settings`]: what a program does; [`end`]: one end of a connection; [`series`]: what happens there over time
//! - here: all programs at one host
//!
//! A program begins connections, or waits for them at a port of its own. Programs take no time: what is received is
//! read at once, and what finds room in the send buffer is written at once, message by message.

pub mod end;
pub mod series;
pub mod settings;

use base::{PortId, Time};
use core::net::SocketAddr;
use end::End;
use node::Host;
use node::sessions::{Pending, Ran, SessionId};
use settings::Program;
use std::collections::{BTreeMap, BTreeSet};

/// A program that begins connections.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// What it does.
    pub program: Program,
    /// The port that it sends by.
    pub by: PortId,
    /// Address and port of the server.
    pub to: SocketAddr,
    /// How many connections it begins, all at once.
    pub connections: u32,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A client, by its place, begins its connections.
    Start(usize),
    /// An end, by its place, writes nothing more.
    Stop(usize),
}

/// All programs at a host.
#[derive(Debug, Default)]
pub struct Programs {
    clients: Vec<Client>,
    servers: BTreeMap<u16, Program>,
    ends: Vec<End>,
    by_session: BTreeMap<SessionId, usize>,
    due: BTreeSet<(Time, Due)>,
}

impl Programs {
    /// Adds a program that begins connections.
    pub fn add_client(&mut self, now: Time, client: Client) {
        self.due.insert((client.program.start.max(now), Due::Start(self.clients.len())));
        self.clients.push(client);
    }

    /// Adds a program that waits for connections to a port.
    pub fn add_server(&mut self, host: &mut Host, port: u16, program: Program) {
        host.listen_tcp(port, program.options);
        self.servers.insert(port, program);
    }

    /// Does a program wait for connections to this port?
    pub fn listens(&self, port: u16) -> bool {
        self.servers.contains_key(&port)
    }

    /// Ends of connections, in the order in which they were begun.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// When to call [`Programs::run`].
    pub fn next(&self) -> Option<Time> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Lets programs do what is due, and what their sessions let them do.
    pub fn run(&mut self, now: Time, host: &mut Host) {
        while let Some(&(at, due)) = self.due.first().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, due));
            match due {
                Due::Start(client) => self.start(now, host, client),
                Due::Stop(end) => self.stop(now, host, end),
            }
        }
        let mut over = Vec::new();
        loop {
            host.run_tcp(now);
            let Some(sessions) = host.sessions_mut() else { return };
            let mut idle = true;
            while let Some((_, id, pending)) = sessions.poll_event() {
                idle = false;
                self.tell(now, id, pending);
            }
            while let Some((id, ran)) = sessions.poll_ran() {
                idle = false;
                if let Some(end) = self.end(id) {
                    end.note(now, ran);
                    end.work(now, id, sessions);
                }
                if sessions.ends(id).is_none() {
                    over.push(id);
                }
            }
            if idle {
                // Of a session that is gone nothing more is told; one that is closed may still answer (TIME-WAIT).
                over.iter().for_each(|id| {
                    self.by_session.remove(id);
                });
                return;
            }
        }
    }

    fn end(&mut self, id: SessionId) -> Option<&mut End> {
        self.ends.get_mut(*self.by_session.get(&id)?)
    }

    fn start(&mut self, now: Time, host: &mut Host, client: usize) {
        let Client { program, by, to, connections } = self.clients[client];
        for _ in 0..connections {
            let begun = host.connect_tcp(now, by, to, program.options);
            let ends = begun.ok().and_then(|id| host.sessions()?.ends(id));
            let place = self.ends.len();
            self.ends.push(End::client(now, program, begun.ok().zip(ends)));
            if let Ok(id) = begun {
                self.by_session.insert(id, place);
                self.expect_stop(now, program, place);
            }
        }
    }

    fn expect_stop(&mut self, now: Time, program: Program, end: usize) {
        if let Some(stop) = program.stop {
            self.due.insert((stop.max(now), Due::Stop(end)));
        }
    }

    fn stop(&mut self, now: Time, host: &mut Host, place: usize) {
        let end = &mut self.ends[place];
        end.stop();
        if let (Some(id), Some(sessions)) = (end.session, host.sessions_mut()) {
            end.work(now, id, sessions);
        }
    }

    /// Something has happened to a session.
    fn tell(&mut self, now: Time, id: SessionId, pending: Pending) {
        match pending {
            Pending::Accepted { local, remote } => {
                let Some(program) = self.servers.get(&local.port()).copied() else { return };
                let place = self.ends.len();
                self.ends.push(End::server(now, program, (id, [local, remote])));
                self.by_session.insert(id, place);
                self.expect_stop(now, program, place);
            }
            Pending::Connected => {
                if let Some(end) = self.end(id) {
                    end.connected(now);
                }
            }
            Pending::PeerClosed => {
                if let Some(end) = self.end(id) {
                    end.peer_closed(now);
                }
            }
            Pending::Closed(why) => {
                if let Some(end) = self.end(id) {
                    end.closed(now, why);
                }
            }
            Pending::Writable => {}
        }
    }

    /// The host has begun anew: connections are gone without a word, and servers wait for others.
    pub fn restart(&mut self, now: Time, host: &mut Host) {
        for place in core::mem::take(&mut self.by_session).into_values() {
            self.ends[place].lost(now);
        }
        self.due.retain(|(_, due)| matches!(due, Due::Start(_)));
        for (port, program) in &self.servers {
            host.listen_tcp(*port, program.options);
        }
    }
}

/// What a session did, for an end that is asked about later.
pub(crate) type Snapshot = Ran;
