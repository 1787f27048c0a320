//! What scripts of all protocols say: who the neighbours are and what they do, what changes, and how time passes.

use super::Said;
use super::node::{Node, Peer};
use super::words::Words;
use crate::owner::Owner;
use crate::protocol::{Arrival, Change, Context, IpArrival};
use crate::services::sessions::{Closed, Connect, Options, SessionEvent, SessionId};
use crate::services::{Interface, Pace, Route, Source, WatchedPath, Way};
use base::describe::{Describe, Value};
use base::plane::{NextHop, Prefix};
use base::{PortId, ProtocolId, Span};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Whose routes and wishes a script's are.
const SCRIPT: ProtocolId = ProtocolId::new("script");

fn span(text: &str) -> Result<Span, String> {
    Span::read(&Value::Text(text.into())).map_err(|wrong| wrong.to_string())
}

impl Node {
    /// A neighbour says something.
    pub(super) fn say(&mut self, peer: usize, text: &str) -> Result<(), String> {
        let mut words = Words::of(text)?;
        let said = match words.text("bytes") {
            Some(bytes) => Said { bytes: hex(&bytes)?, ..self.dialect.usual(&mut words) },
            None => self.dialect.write(&self.peers[peer], self.id(), &mut words)?,
        };
        let mut bytes = said.bytes;
        while let Some(patch) = words.text("at") {
            let (at, with) = patch.split_once(':').ok_or("at=PLACE:BYTES")?;
            let (at, with): (usize, _) = (at.parse().map_err(|_| "no place")?, hex(with)?);
            bytes.get_mut(at..at + with.len()).ok_or("a place behind the message")?.copy_from_slice(&with);
        }
        let one = &self.peers[peer];
        let Some(over) = said.over else {
            let session =
                one.sessions.last().copied().ok_or_else(|| format!("{} has no connection", one.name))?;
            words.end()?;
            self.event(session, SessionEvent::Received(&bytes));
            return Ok(());
        };
        let own = self.services.interfaces.of_port(one.port).and_then(Interface::ipv4);
        let dst = said.group.or(own.map(|own| own.0)).unwrap_or(self.id());
        let ip = IpArrival {
            port: PortId(words.or("port", one.port.0)?),
            src: words.or("from", one.address)?,
            dst: words.or("to", dst)?,
            ttl: words.or("ttl", said.ttl)?,
            router_alert: false,
            over,
        };
        words.end()?;
        self.call(|protocol, now, context| protocol.handle_message(now, context, &Arrival::Ip(ip), &bytes));
        Ok(())
    }

    /// Writes a line of what a script has led to.
    pub(super) fn note(&mut self, text: &str) {
        self.print(text);
    }

    pub(super) fn event(&mut self, session: SessionId, event: SessionEvent<'_>) {
        self.call(|protocol, now, context| protocol.handle_session(now, context, session, event));
    }

    pub(super) fn connect(&mut self, peer: usize) -> Result<(), String> {
        let (remote, name) = (self.peers[peer].address, self.peers[peer].name.clone());
        let mut words = self.peers[peer].words.clone();
        let remote: Ipv4Addr = words.or("transport", remote)?;
        let beside = self.services.interfaces.of_port(self.peers[peer].port).and_then(Interface::ipv4);
        let own = self.dialect.own(self.id(), beside.map_or(self.id(), |own| own.0));
        let port = 50_000 + self.services.sessions.rows().count() as u16;
        let (local, remote) =
            (SocketAddr::new(own.into(), self.dialect.port()), SocketAddr::new(remote.into(), port));
        let connect = Connect {
            from: Some(own.into()),
            port: Some(local.port()),
            to: remote,
            options: Options::default(),
        };
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        let session = context.connect(self.now, connect).map_err(|why| format!("{name}: {why:?}"))?;
        if self.protocol.accepts(local, remote).is_none() {
            self.print(&format!("the connection of {name} is refused"));
            return Ok(());
        }
        self.peers[peer].sessions.push(session);
        self.event(session, SessionEvent::Accepted { local, remote });
        Ok(())
    }

    pub(super) fn accept(&mut self, peer: usize) -> Result<(), String> {
        let mut words = self.peers[peer].words.clone();
        let to: Ipv4Addr = words.or("transport", self.peers[peer].address)?;
        let to = SocketAddr::new(to.into(), self.dialect.port());
        let session =
            self.services.sessions.latest_to(to).ok_or_else(|| format!("nobody connects to {to}"))?;
        self.peers[peer].sessions.push(session);
        self.event(session, SessionEvent::Connected);
        Ok(())
    }

    pub(super) fn of_peer(&mut self, peer: usize, mut words: Words) -> Result<(), String> {
        let session = |node: &Node| node.peers[peer].sessions.last().copied().ok_or("there is no connection");
        match words.first()?.as_str() {
            "says" => return self.say(peer, &words.rest()),
            "repeats" => {
                let every = span(&format!("{} {}", words.first()?, words.first()?))?;
                self.peers[peer].repeats.push((every, self.now + every, words.rest()));
            }
            "stops" => self.peers[peer].repeats.clear(),
            "connects" => self.connect(peer)?,
            "accepts" => self.accept(peer)?,
            "closes" => {
                let session = session(self)?;
                self.event(session, SessionEvent::PeerClosed);
            }
            "resets" => {
                let session = session(self)?;
                self.event(session, SessionEvent::Closed(Closed::Reset));
            }
            "becomes" => return super::ospf::become_full(self, peer, words),
            other => return Err(format!("'{other}' is nothing that a neighbour does")),
        }
        words.end()
    }

    pub(super) fn repeat(&mut self, peer: usize, every: Span, text: String) {
        let next = self.now + every;
        self.peers[peer].repeats.push((every, next, text));
    }

    pub(super) fn route(&mut self, mut words: Words, is_there: bool) -> Result<(), String> {
        let prefix: Prefix = words.first()?.parse()?;
        let source = match words.has("static") {
            true => Source::Static,
            false => Source::Protocol(SCRIPT),
        };
        if is_there {
            let (port, gateway) = (PortId(words.or("port", 0)?), words.or("via", Ipv4Addr::UNSPECIFIED)?);
            let hop = match words.has("discard") {
                true => NextHop::Discard,
                false => NextHop::Via { port, gateway: IpAddr::V4(gateway) },
            };
            let route = match source {
                Source::Static => Route::fixed(hop),
                source => Route { metric: words.or("metric", 10)?, ..Route::direct(source, 110, hop) },
            };
            self.services.rib.set(prefix, route);
        } else {
            self.services.rib.remove(prefix, source);
        }
        words.end()?;
        self.call(|_, _, _| {});
        Ok(())
    }

    pub(super) fn watch(&mut self, mut words: Words, is_wanted: bool) -> Result<(), String> {
        let name = words.first()?;
        let peer = self.peers.iter().find(|peer| peer.name == name).ok_or("no such neighbour")?;
        let own = self.services.interfaces.of_port(peer.port).and_then(Interface::ipv4);
        let own = own.ok_or("a port without an address")?.0;
        let path = match words.has("routed") {
            true => WatchedPath { way: Way::Routed, local: self.id().into(), remote: peer.address.into() },
            false => WatchedPath::hop(peer.port, own, peer.address),
        };
        words.end()?;
        match is_wanted {
            true => self.services.liveness.watch(SCRIPT, path, Pace::default()),
            false => self.services.liveness.unwatch(SCRIPT, path),
        }
        self.call(|_, _, _| {});
        let verdict = self.services.liveness.verdict(path);
        self.print(&format!("the path to {name} is {}", base::table::word(&verdict)));
        Ok(())
    }

    pub(super) fn peer(&mut self, mut words: Words) -> Result<(), String> {
        let name = words.first()?;
        let address = words.get("address")?.ok_or("a neighbour without an address")?;
        self.peers.push(Peer {
            name,
            port: PortId(words.or("port", 0)?),
            address,
            id: words.or("id", address)?,
            words,
            sessions: Vec::new(),
            repeats: Vec::new(),
        });
        Ok(())
    }

    /// Does what a line of a script says.
    pub(super) fn run(&mut self, line: &str) -> Result<(), String> {
        self.out += &format!("{line}\n");
        let mut words = Words::of(line)?;
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let first = words.first()?;
        match first.as_str() {
            "peer" => return self.peer(words),
            "wait" => return self.wait(span(&words.rest())?),
            "route" => return self.route(words, true),
            "unroute" => return self.route(words, false),
            "watch" => return self.watch(words, true),
            "unwatch" => return self.watch(words, false),
            "let" => return self.dialect.name(words),
            "hide" => {
                self.hidden = words.plain().into_iter().collect();
                return Ok(());
            }
            "show" => {
                let (table, columns) = (words.first()?, words.plain());
                let rows = self.rows(&table, &columns)?;
                if rows.is_empty() {
                    self.out += &format!("    no {table}\n");
                }
                rows.iter().for_each(|row| self.out += &format!("    {row}\n"));
                return Ok(());
            }
            "port" => {
                let port = PortId(words.first()?.parse().map_err(|_| "no port")?);
                let is_up = words.first()? == "up";
                let of = |one: &(_, &Interface)| one.1.port() == Some(port);
                self.services.interfaces.iter().find(of).ok_or("no such port")?;
                self.services.port_changed(port, is_up);
                self.call(|_, _, _| {});
            }
            "restart" => {
                let change = if words.has("alone") { Change::RestartAlone } else { Change::Restart };
                if change == Change::Restart {
                    self.services.restart();
                }
                self.peers.iter_mut().for_each(|peer| peer.sessions.clear());
                self.call(|protocol, now, context| protocol.handle_change(now, context, &change));
            }
            name => {
                let peer = self.peers.iter().position(|peer| peer.name == name);
                return self.of_peer(peer.ok_or_else(|| format!("nobody is called '{name}'"))?, words);
            }
        }
        words.end()
    }
}

/// Bytes that are written as hexadecimal digits.
pub(super) fn hex(text: &str) -> Result<Vec<u8>, String> {
    text.replace('_', "").parse::<wire::Hex>().map(|hex| hex.0)
}
