//! Link probing as in the published study of multicast LSPs: each end of a link sends probes, and hears those of the
//! other end. A link whose probes stay out is to be avoided until one comes again.
//!
//! - [`section`](ProbingSpec): the settings that users write: period, misses, size
//! - `link`: what is known of a link, as a state machine
//! - `shown`: its table

mod link;
mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use link::{LinkEvent, LinkState};
pub use section::ProbingSpec;

use crate::machine::{Chart, State};
use crate::protocol::{Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Topic};
use crate::services::{Avoidance, Beyond, Services};
use base::describe::SectionDecl;
use base::plane::Ack;
use base::{PortId, ProtocolId, ProtocolType, ProtocolValue, Time};
use link::Link;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use wire::probing::{GROUP, PORT, Repr};

/// The state machines of link probing.
pub const CHARTS: &[Chart] = &[LinkState::CHART];

/// What link probing tells the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Probes of a link stay out.
    ProbesMissed {
        /// The port of the link.
        port: u16,
    },
    /// They come again.
    ProbesBack {
        /// The port of the link.
        port: u16,
    },
}

impl ProtocolType for Event {
    const PROTOCOL: ProtocolId = Probing::ID;
}

/// A router that probes its links.
#[derive(Debug)]
pub struct Probing {
    spec: ProbingSpec,
    links: BTreeMap<PortId, Link>,
    due: Time,
    malformed: u64,
    outputs: VecDeque<Output>,
}

impl Probing {
    /// The name of link probing among protocols.
    pub const ID: ProtocolId = ProtocolId::new("probing");

    /// Link probing among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Probing::ID,
        kind_name: Probing::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<ProbingSpec>(
            "Probes on the links to other routers, as in a published study.",
        )),
    };

    fn new(spec: ProbingSpec, services: &Services) -> Probing {
        let interfaces = &services.interfaces;
        let probed =
            |port: PortId| interfaces.attached(port).is_none_or(|attached| attached.beyond == Beyond::Router);
        let ports = interfaces.ports().map(|(port, _)| port).filter(|port| probed(*port));
        let links = ports.map(|port| (port, Link::NEW)).collect();
        Probing { spec, links, due: Time::ZERO, malformed: 0, outputs: VecDeque::new() }
    }

    fn name_of(_: u8) -> &'static str {
        "Probe"
    }

    fn step(&mut self, now: Time, context: &mut Context<'_>, port: PortId, event: LinkEvent) {
        let Some(link) = self.links.get_mut(&port) else { return };
        if !link.step(now, event) {
            return;
        }
        let is_down = link.state == LinkState::Down;
        context.services.avoided.set(Probing::ID, port, is_down.then_some(Avoidance::Silent));
        let PortId(port) = port;
        let told = if is_down { Event::ProbesMissed { port } } else { Event::ProbesBack { port } };
        self.outputs.push_back(Output::Event(base::Event::Protocol(ProtocolValue::new(told))));
    }
}

impl Protocol for Probing {
    fn id(&self) -> ProtocolId {
        Probing::ID
    }

    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(PORT), Listen::Group(GROUP)]
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces]
    }

    fn is_urgent(&self) -> bool {
        true
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.links.contains_key(&port)
    }

    fn kind_of(&self, _: &[u8]) -> u8 {
        0
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Probing::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.links.len()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        let Ok(repr) = Repr::parse(bytes) else {
            self.malformed += 1;
            return;
        };
        let misses = self.spec.misses;
        if let Some(event) = self.links.get_mut(&ip.port).and_then(|link| link.hear(now, &repr, misses)) {
            self.step(now, context, ip.port, event);
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        let over = |link: &Link| link.expires.is_some_and(|end| end <= now);
        for port in self.links.iter().filter(|(_, l)| over(l)).map(|(p, _)| *p).collect::<Vec<_>>() {
            if let Some(link) = self.links.get_mut(&port) {
                link.miss(self.spec.misses);
            }
            self.step(now, context, port, LinkEvent::Missed);
        }
        if self.due > now {
            return;
        }
        self.due = now + self.spec.period;
        let period_us = u32::try_from(self.spec.period.0 / 1_000_000).unwrap_or(u32::MAX);
        for (port, link) in &mut self.links {
            let interface = context.services.interfaces.of_port(*port).filter(|interface| interface.up);
            let Some((src, _)) = interface.and_then(|interface| interface.ipv4()) else { continue };
            let hears = link.tell_hears();
            let bytes = Repr { hears, sequence: link.sent, period_us }.emit(self.spec.size.into());
            link.sent = link.sent.wrapping_add(1);
            let over = Over::Udp { src: PORT, dst: PORT };
            let (port, next, dst) = (*port, None, GROUP);
            let message = Message { port, next, src, dst, over, ttl: 1, router_alert: false, bytes };
            self.outputs.push_back(Output::Message(message));
        }
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Interface { port: Some(port), up, .. } => {
                if let Some(link) = self.links.get_mut(&port) {
                    link.begin(now, up);
                }
                self.step(now, context, port, LinkEvent::Interface);
            }
            Change::Restart => *self = Probing::new(self.spec.clone(), context.services),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.links.values().filter_map(|link| link.expires).chain([self.due]).min()
    }
}
