//! A node of a case: one protocol, its services, and neighbours that are lines of a script.

use super::Dialect;
use super::words::Words;
use crate::PROTOCOLS;
use crate::owner::Owner;
use crate::protocol::{Change, Context, Known, Listen, Protocol, Topic};
use crate::services::sessions::SessionId;
use crate::services::{Attached, Beyond, Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use base::describe::Value;
use base::plane::IpPrefix;
use base::{Label, PortId, Rate, Span, Streams, Time};
use core::net::Ipv4Addr;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Nothing is done so often at one moment.
const CALLS_MAX: usize = 10_000;

/// Who speaks with the node in a script, under the name that its lines begin with.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) name: String,
    pub(super) port: PortId,
    pub(super) address: Ipv4Addr,
    /// Its router id, or the like.
    pub(super) id: Ipv4Addr,
    /// What else the script says of it, for the protocol.
    pub(super) words: Words,
    /// Its connections, the latest last.
    pub(super) sessions: Vec<SessionId>,
    /// What it says again and again: how often, when next, what.
    pub(super) repeats: Vec<(Span, Time, String)>,
}

/// A node, and what has come of its script so far.
pub(super) struct Node {
    pub(super) protocol: Box<dyn Protocol>,
    pub(super) known: &'static Known,
    pub(super) services: Box<Services>,
    pub(super) dialect: Box<dyn Dialect>,
    pub(super) now: Time,
    pub(super) peers: Vec<Peer>,
    /// Messages that are not worth a line.
    pub(super) hidden: BTreeSet<String>,
    pub(super) is_muted: bool,
    pub(super) routes: BTreeMap<String, String>,
    pub(super) out: String,
}

fn text<'a>(value: &'a Json, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Json::as_str)
}

/// A port as a case describes it.
fn port(number: u16, said: &Json) -> Result<(Interface, Attached), String> {
    let address = text(said, "address").ok_or("a port without an address")?;
    let (address, len) = address.split_once('/').ok_or("an address without the length of its network")?;
    let address: Ipv4Addr = address.parse().map_err(|_| "an address that is none")?;
    let len: u8 = len.parse().map_err(|_| "a length that is none")?;
    let is_segment = said.get("segment").and_then(Json::as_bool).unwrap_or(false);
    let number_of = |key: &str, usual: u64| said.get(key).and_then(Json::as_u64).unwrap_or(usual);
    let neighbor = Ipv4Addr::from_bits(address.to_bits() + 1);
    let interface = Interface {
        kind: InterfaceKind::Port(PortId(number)),
        addresses: vec![InterfaceAddress { address: address.into(), prefix_len: len }],
        link_local: None,
        neighbor: (!is_segment).then_some(neighbor),
        neighbor_id: None,
        mtu: number_of("mtu", 1500) as u32,
        cost: number_of("metric", 10),
        reservable: Some(Rate(8_000_000)),
        up: true,
    };
    let attached = Attached {
        node: text(said, "towards").unwrap_or_default().into(),
        beyond: if is_segment { Beyond::Segment } else { Beyond::Router },
        silent: None,
        rate: Rate(100_000_000),
        cells: None,
    };
    Ok((interface, attached))
}

impl Node {
    /// The node that `speaker.json` of a case describes.
    pub(super) fn new(said: &Json, name: &str, dialect: Box<dyn Dialect>) -> Result<Node, String> {
        let known = PROTOCOLS.iter().find(|known| known.id.name() == name).ok_or("no such protocol")?;
        let ports = said.get("ports").and_then(Json::as_array).ok_or("no ports")?;
        let ports: Vec<_> =
            (0..).zip(ports).map(|(number, one)| port(number, one)).collect::<Result<_, _>>()?;
        let (ports, attached): (Vec<_>, Vec<_>) = ports.into_iter().unzip();
        let id =
            text(said, "router_id").unwrap_or("10.0.0.1").parse().map_err(|_| "a router id that is none")?;
        let interfaces = Interfaces::new("r".into(), id, ports).with_attached(attached);
        let mut services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let settings = said.get(name).cloned().unwrap_or(Json::Bool(true));
        let settings: Value = serde_json::from_value(settings).map_err(|why| why.to_string())?;
        let section = known.section.ok_or("a protocol without settings")?;
        let setup = (section.read)(&settings).map_err(|wrong| wrong.to_string())?.1;
        let protocol = setup.protocol(&services);
        for listen in protocol.listens() {
            if let Listen::TcpPort(port) = listen {
                services.sessions.listen(port, Owner(0));
            }
        }
        let mut node = Node {
            protocol,
            known,
            services: Box::new(services),
            dialect,
            now: Time::ZERO,
            peers: Vec::new(),
            hidden: BTreeSet::new(),
            is_muted: false,
            routes: BTreeMap::new(),
            out: String::new(),
        };
        node.tell(|_| {});
        node.call(|protocol, now, context| protocol.handle_timeout(now, context));
        Ok(node)
    }

    /// What the script has done, and what came of it.
    pub(super) fn end(self) -> String {
        self.out
    }

    pub(super) fn id(&self) -> Ipv4Addr {
        self.services.interfaces.router_id
    }

    pub(super) fn mute(&mut self, is_muted: bool) {
        self.is_muted = is_muted;
    }

    pub(super) fn print(&mut self, text: &str) {
        if self.is_muted {
            return;
        }
        let kind = text.split_once(": ").map_or(text, |(_, message)| message).split_whitespace().next();
        if kind.is_some_and(|kind| self.hidden.contains(kind)) {
            return;
        }
        let seconds = self.now.0 as f64 / Span::from_secs(1).0 as f64;
        let mut lines = text.lines();
        self.out += &format!("    {seconds:.3} s  {}\n", lines.next().unwrap_or_default());
        lines.for_each(|line| self.out += &format!("            {line}\n"));
    }

    pub(super) fn with(&mut self, what: impl FnOnce(&mut dyn Protocol, Time, &mut Context<'_>)) {
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        what(&mut *self.protocol, self.now, &mut context);
    }

    /// Calls the protocol, and does what comes of that, until nothing does.
    pub(super) fn call(&mut self, what: impl FnOnce(&mut dyn Protocol, Time, &mut Context<'_>)) {
        self.with(what);
        for _ in 0..CALLS_MAX {
            let mut is_idle = true;
            while let Some(output) = self.protocol.poll_output() {
                is_idle = false;
                self.handle_output(output);
            }
            while let Some(packet) = self.services.sessions.poll_packet() {
                self.handle_packet(&packet);
            }
            let mut changes = Vec::new();
            self.tell(|change| changes.push(change));
            for change in changes {
                is_idle = false;
                self.with(|protocol, now, context| protocol.handle_change(now, context, &change));
            }
            if is_idle {
                self.show_routes();
                return self.answer().expect("an answer");
            }
        }
        panic!("nothing comes of what is done at {:?}", self.now);
    }

    /// What has changed in the services that the protocol wants to be told of.
    pub(super) fn tell(&mut self, mut told: impl FnMut(Change)) {
        let topics = self.protocol.subscribes();
        let mut tell = |topic, change| {
            if topics.contains(&topic) {
                told(change)
            }
        };
        let Services { interfaces, rib, rib6, liveness, .. } = &mut *self.services;
        while let Some(interface) = interfaces.poll_change() {
            let found = interfaces.get(interface);
            let (port, up) = (found.and_then(Interface::port), found.is_some_and(|one| one.up));
            tell(Topic::Interfaces, Change::Interface { interface, port, up });
        }
        while rib.poll_gateway().is_some() {}
        while let Some(prefix) = rib.poll_change().or_else(|| rib.poll_revalued()) {
            tell(Topic::Routes, Change::Route(IpPrefix::V4(prefix)));
        }
        while rib6.poll_gateway().is_some() {}
        while let Some(prefix) = rib6.poll_change().or_else(|| rib6.poll_revalued()) {
            tell(Topic::Routes, Change::Route(IpPrefix::V6(prefix)));
        }
        while let Some(path) = liveness.poll_asked() {
            tell(Topic::Watching, Change::Watching(path));
        }
        while let Some((path, is_alive)) = liveness.poll_change() {
            tell(Topic::Liveness, Change::Liveness { path, is_alive });
        }
    }

    /// Goes on to a time, and does what is due until then.
    pub(super) fn wait(&mut self, time: Span) -> Result<(), String> {
        let (end, mut calls) = (self.now + time, (Time::ZERO, 0));
        loop {
            let said = self.peers.iter().enumerate().flat_map(|(peer, one)| {
                one.repeats.iter().enumerate().map(move |(place, repeat)| (repeat.1, peer, place))
            });
            let said = said.min();
            let due = self.protocol.poll_timeout();
            let next = due.unwrap_or(Time::MAX).min(said.map_or(Time::MAX, |said| said.0));
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            calls = if calls.0 == self.now { (self.now, calls.1 + 1) } else { (self.now, 0) };
            if calls.1 > CALLS_MAX {
                return Err(format!("nothing comes of what is due at {:?}", self.now));
            }
            match said.filter(|said| said.0 <= self.now) {
                Some((_, peer, place)) => {
                    let (every, next, text) = &mut self.peers[peer].repeats[place];
                    *next += *every;
                    let text = text.clone();
                    self.say(peer, &text)?;
                }
                None => self.call(|protocol, now, context| protocol.handle_timeout(now, context)),
            }
        }
        self.now = end;
        Ok(())
    }

    /// A neighbour answers from now on what has to be answered, and begins with what it has heard.
    pub(super) fn heed(&mut self, peer: usize) -> Result<(), String> {
        self.dialect.heed(&self.peers[peer]);
        self.answer()
    }

    pub(super) fn answer(&mut self) -> Result<(), String> {
        for peer in 0..self.peers.len() {
            for text in self.dialect.answers(&self.peers[peer]) {
                self.say(peer, &text)?;
            }
        }
        Ok(())
    }
}
