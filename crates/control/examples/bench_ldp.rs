//! A speaker of LDP between two neighbours: one gives labels for 100,000 prefixes, and the speaker has an entry written
//! for each of its own labels, which the other one knows.
//!
//! `--prefixes N`: how many. `--write FILE`: the PDUs of the labels as bytes, for other speakers to be fed with, and
//! nothing is measured. One line of JSON: seconds of the processor from the first PDU to the last entry. TCP is not
//! part of it: PDUs are handed over as they are, and writes are carried out at once.

use base::describe::{Describe, Value};
use base::plane::{Ack, IpPrefix, NextHop, Prefix, TableOp};
use base::{Label, PortId, ProtocolId, Streams, Time};
use control::ldp::section::LdpSpec;
use control::owner::Owner;
use control::protocol::{Arrival, Context, IpArrival, Output, Over};
use control::services::sessions::{SessionEvent, SessionId, SessionOutput};
use control::services::{
    Attached, Beyond, Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, Services, Source,
};
use control::{Protocol, Setup};
use core::net::{IpAddr, Ipv4Addr};
use serde_json::json;
use std::collections::BTreeMap;
use twinplane_control as control;
use wire::ldp::{
    ALL_ROUTERS, Addresses, AnyLabel, Body, Capabilities, DEFAULT_MAX_PDU, Fec, Hello, Initialization, LdpId,
    Message, PORT, VERSION, pdus,
};

/// Greater than those of the neighbours, so that the speaker connects.
const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);

/// Seconds that this process has had of the processor.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0) as f64 / 1e9
}

/// /24 from 1.0.0.0 on.
fn prefix(place: usize) -> Prefix {
    Prefix::new(Ipv4Addr::from_bits((1 << 24) + ((place as u32) << 8)), 24)
}

fn neighbor(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, n, 0, 2)
}

fn id(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, 1 + n)
}

/// A Label Mapping message for each prefix, as many in a PDU as there is room for.
fn mappings(prefixes: usize) -> Vec<Vec<u8>> {
    let all: Vec<Message> = (0..prefixes)
        .map(|place| {
            let label = AnyLabel::Generic(Label::truncate(16 + place as u32));
            let fecs = vec![Fec::Prefix(IpPrefix::V4(prefix(place)))];
            Message::new(
                1 + place as u32,
                Body::Mapping { fecs, label, request: None, hops: None, path: None },
            )
        })
        .collect();
    pdus(LdpId::platform(id(0)), &all, DEFAULT_MAX_PDU).into_iter().collect()
}

/// A speaker with its services, and what it has written.
struct Speaker {
    protocol: Box<dyn Protocol>,
    services: Box<Services>,
    sessions: Vec<SessionId>,
    /// Where packets with a label go.
    ilm: BTreeMap<Label, NextHop>,
    bytes: u64,
}

impl Speaker {
    fn new(prefixes: usize) -> Speaker {
        let value: Value = serde_json::from_value(json!({})).expect("a value");
        let spec = LdpSpec::read(&value).expect("settings");
        let port = |n: u8| Interface {
            kind: InterfaceKind::Port(PortId(u16::from(n))),
            addresses: vec![InterfaceAddress {
                address: IpAddr::V4(Ipv4Addr::new(10, n, 0, 1)),
                prefix_len: 24,
            }],
            link_local: None,
            neighbor: Some(neighbor(n)),
            neighbor_id: Some(id(n)),
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let router = || Attached { beyond: Beyond::Router, ..Attached::default() };
        let interfaces = Interfaces::new("r".into(), OWN, (0..2).map(port).collect());
        let interfaces = interfaces.with_attached([router(), router()]);
        let mut services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let igp = Source::Protocol(ProtocolId::new("igp"));
        let mut route = |prefix, n: u8| {
            let via = NextHop::Via { port: PortId(u16::from(n)), gateway: neighbor(n).into() };
            services.rib.set(prefix, Route::direct(igp, 110, via));
        };
        (0..2).for_each(|n| route(Prefix::host(id(n)), n));
        (0..prefixes).for_each(|place| route(prefix(place), 0));
        let (protocol, services) = (spec.protocol(&services), Box::new(services));
        let (ilm, sessions) = (BTreeMap::new(), Vec::new());
        let mut speaker = Speaker { protocol, services, sessions, ilm, bytes: 0 };
        speaker.with(|protocol, context| protocol.handle_timeout(Time::ZERO, context));
        (0..2).for_each(|n| speaker.greet(n));
        speaker
    }

    /// A neighbour says Hello, and a session with it comes up.
    fn greet(&mut self, n: u8) {
        let hello = Hello {
            hold_s: 15,
            is_targeted: false,
            wants_targeted: false,
            gtsm: true,
            transport: Some(id(n)),
            transport6: None,
            configuration: None,
        };
        let from = LdpId::platform(id(n));
        let bytes = pdus(from, [&Message::new(1, Body::Hello(hello))], DEFAULT_MAX_PDU).concat();
        let (port, src, over) = (PortId(u16::from(n)), neighbor(n), Over::Udp { src: PORT, dst: PORT });
        let arrival =
            Arrival::Ip(IpArrival { port, src, dst: ALL_ROUTERS, ttl: 1, router_alert: false, over });
        self.with(|protocol, context| protocol.handle_message(Time::ZERO, context, &arrival, &bytes));
        let any: &dyn core::any::Any = &*self.protocol;
        let ldp: &control::ldp::Ldp = any.downcast_ref().expect("LDP");
        let session = ldp.sessions().find(|one| one.peer == Some(from)).expect("a connection").id;
        self.sessions.push(session);
        self.event(session, SessionEvent::Connected);
        let initialization = Initialization {
            version: VERSION,
            keepalive_s: 180,
            on_demand: false,
            loop_detection: false,
            path_limit: 0,
            max_pdu: DEFAULT_MAX_PDU,
            receiver: LdpId::platform(OWN),
            atm: None,
            frame_relay: None,
            restart: None,
            capabilities: Capabilities::default(),
        };
        let own = Body::Address(Addresses::V4(vec![id(n), neighbor(n)]));
        for body in [Body::Initialization(initialization), Body::KeepAlive, own] {
            let pdu = pdus(from, [&Message::new(1, body)], DEFAULT_MAX_PDU).concat();
            self.event(session, SessionEvent::Received(&pdu));
        }
    }

    fn with(&mut self, what: impl FnOnce(&mut dyn Protocol, &mut Context<'_>)) {
        what(&mut *self.protocol, &mut Context { services: &mut self.services, owner: Owner::default() });
        while let Some(output) = self.protocol.poll_output() {
            match output {
                Output::Session(_, SessionOutput::Send(pdu)) => self.bytes += pdu.len() as u64,
                Output::Tables(batch) => {
                    for op in &batch.ops {
                        if let TableOp::IlmSet { label, nhlfe } = op {
                            self.ilm.insert(*label, nhlfe.next_hop);
                        }
                    }
                    let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
                    let mut context = Context { services: &mut self.services, owner: Owner::default() };
                    self.protocol.handle_ack(Time::ZERO, &mut context, &ack);
                }
                _ => {}
            }
        }
    }

    fn event(&mut self, session: SessionId, event: SessionEvent<'_>) {
        self.with(|protocol, context| protocol.handle_session(Time::ZERO, context, session, event));
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let prefixes = given("--prefixes").and_then(|text| text.parse().ok()).unwrap_or(100_000usize);
    let all = mappings(prefixes);
    if let Some(file) = given("--write") {
        std::fs::write(&file, all.concat()).expect("a file that can be written");
        return;
    }
    let mut speaker = Speaker::new(prefixes);
    let (before, told) = (processor_seconds(), speaker.bytes);
    for pdu in &all {
        speaker.event(speaker.sessions[0], SessionEvent::Received(pdu));
    }
    let seconds = processor_seconds() - before;
    let led = speaker.ilm.values().filter(|hop| matches!(hop, NextHop::Via { .. })).count();
    assert_eq!(led, prefixes, "each prefix has an entry that leads to the neighbour");
    println!(
        "{}",
        json!({
            "prefixes": prefixes, "seconds": (seconds * 1e4).round() / 1e4, "bytes_told": told,
        })
    );
}
