//! A speaker, and what it says to a neighbour by hand.

use super::*;
use crate::owner::Owner;
use crate::protocol::{IpArrival, Over};
use crate::services::sessions::Connect;
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, Services, Source};
use base::plane::NextHop;
use base::{Label, Streams};
use wire::tdp::{Binding, Element, Hello, pdu};

/// The machine as it is: whoever changes it changes this text, too.
#[test]
fn the_states_of_a_session() {
    let expected = "\
Closed --Connected--> OpenSent
OpenSent --Open--> OpenAnswered
OpenSent --Ended--> Closed
OpenAnswered --KeepAlive--> Operational
OpenAnswered --Ended--> Closed
Operational --KeepAlive--> Operational
Operational --Ended--> Closed";
    assert_eq!(SessionState::CHART.lines().join("\n"), expected);
}

const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const THEIRS: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 2);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);

struct Bench {
    tdp: Tdp,
    services: Box<Services>,
    session: SessionId,
    now: Time,
    said: Vec<Element>,
    hellos: Vec<(Ipv4Addr, u8, Vec<u8>)>,
    is_closed: bool,
}

impl Bench {
    /// A router with a port and a neighbour that has said Hello and has connected, since its address is higher.
    fn new() -> Bench {
        let port = Interface {
            kind: InterfaceKind::Port(PortId(0)),
            addresses: vec![InterfaceAddress { address: [192, 168, 0, 1].into(), prefix_len: 24 }],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN, vec![port]);
        let labels = (Label::FIRST_UNRESERVED, Label::MAX);
        let mut services = Box::new(Services::new(interfaces, labels, Streams::new(1)));
        let prefixes = LdpPrefixes::Loopbacks;
        let config = Config { hello: Span::from_secs(5), prefixes, ports: [PortId(0)].into() };
        let to = SocketAddr::new(IpAddr::V4(OTHER), form::PORT);
        let connect = Connect { from: Some(IpAddr::V4(OWN)), port: None, to, options: Options::default() };
        let mut context = Context { services: &mut services, owner: Owner(0) };
        let session = context.connect(Time::ZERO, connect).expect("a name of a session");
        let (tdp, now, is_closed) = (Tdp::new(OWN, config), Time::ZERO, false);
        let mut bench =
            Bench { tdp, services, session, now, said: Vec::new(), hellos: Vec::new(), is_closed };
        bench.call(|tdp, now, context| tdp.handle_timeout(now, context));
        let hello = Hello { id: (OTHER, 0), number: 9, hold_s: 15, transport: OTHER };
        let over = Over::Udp { src: form::PORT, dst: form::PORT };
        let (port, dst) = (PortId(0), Ipv4Addr::BROADCAST);
        let ip = IpArrival { port, src: THEIRS, dst, ttl: 1, router_alert: false, over };
        let bytes = hello.emit();
        bench.call(|tdp, now, context| tdp.handle_message(now, context, &Arrival::Ip(ip), &bytes));
        let local = SocketAddr::new(OWN.into(), form::PORT);
        let remote = SocketAddr::new(OTHER.into(), 50_000);
        assert!(bench.tdp.accepts(local, remote).is_some() && bench.tdp.accepts(remote, local).is_none());
        bench.event(SessionEvent::Accepted { local, remote });
        bench
    }

    fn call(&mut self, what: impl FnOnce(&mut Tdp, Time, &mut Context<'_>)) {
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        what(&mut self.tdp, self.now, &mut context);
        while let Some(output) = self.tdp.poll_output() {
            match output {
                Output::Session(_, SessionOutput::Send(pdu)) => {
                    let (id, all) = wire::tdp::parse(&pdu).expect("a PDU");
                    assert_eq!(id, (OWN, 0));
                    self.said.extend(all);
                }
                Output::Session(..) => self.is_closed = true,
                Output::Message(message) => self.hellos.push((message.dst, message.ttl, message.bytes)),
                Output::Tables(batch) => {
                    let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
                    let mut context = Context { services: &mut self.services, owner: Owner(0) };
                    self.tdp.handle_ack(self.now, &mut context, &ack);
                }
                _ => {}
            }
        }
    }

    fn event(&mut self, event: SessionEvent<'_>) {
        let session = self.session;
        self.call(|tdp, now, context| tdp.handle_session(now, context, session, event));
    }

    fn say(&mut self, all: &[Element]) {
        let bytes = pdu((OTHER, 0), all);
        self.event(SessionEvent::Received(&bytes));
    }

    fn heard(&mut self) -> Vec<Element> {
        core::mem::take(&mut self.said)
    }

    fn established() -> Bench {
        let mut bench = Bench::new();
        assert_eq!(bench.heard(), [Element::Open { hold_s: 180 }]);
        // As observed: the answer and what follows it come together.
        bench.say(&[Element::Open { hold_s: 90 }]);
        assert_eq!(bench.heard(), [Element::KeepAlive]);
        bench.say(&[Element::KeepAlive, Element::Address(vec![OTHER, THEIRS])]);
        bench
    }

    fn route(&mut self, is_there: bool) {
        let (prefix, source) = (Prefix::host(FAR), Source::Protocol(ProtocolId::new("igp")));
        let next_hop = NextHop::Via { port: PortId(0), gateway: THEIRS.into() };
        match is_there {
            true => self.services.rib.set(prefix, Route::direct(source, 110, next_hop)),
            false => drop(self.services.rib.remove(prefix, source)),
        }
        let change = Change::Route(IpPrefix::V4(prefix));
        self.call(|tdp, now, context| tdp.handle_change(now, context, &change));
    }
}

fn binding(tag: u32, address: Ipv4Addr) -> Binding {
    Binding { label: Label::truncate(tag), prefix: Prefix::host(address) }
}

#[test]
fn a_hello_goes_to_everybody_on_the_link() {
    let bench = Bench::new();
    let expected = [0, 1, 0, 16, 10, 0, 0, 1, 0, 0, 0, 0, 15, 3, 0, 4, 10, 0, 0, 1];
    assert_eq!(bench.hellos, [(Ipv4Addr::BROADCAST, 1, expected.to_vec())]);
}

#[test]
fn a_session_tells_addresses_and_tags() {
    let mut bench = Bench::established();
    let own = vec![OWN, Ipv4Addr::new(192, 168, 0, 1)];
    let here = Binding { label: Label::IMPLICIT_NULL, prefix: Prefix::host(OWN) };
    let bind = Element::Bind { request: 0, bindings: vec![here] };
    assert_eq!(bench.heard(), [Element::Address(own), bind]);
    // The smaller hold time counts, and a third of it is between two words.
    bench.now = Time::ZERO + Span::from_secs(30);
    bench.call(|tdp, now, context| tdp.session_timers(now, context));
    bench.call(|tdp, now, _| tdp.settle(now));
    assert_eq!(bench.heard(), [Element::KeepAlive]);
    bench.now = Time::ZERO + Span::from_secs(90);
    bench.call(|tdp, now, context| tdp.session_timers(now, context));
    assert!(bench.is_closed && bench.tdp.sessions().count() == 0);
}

#[test]
fn tags_follow_routes_and_come_back() {
    let mut bench = Bench::established();
    bench.say(&[Element::Bind { request: 0, bindings: vec![binding(99, FAR)] }]);
    bench.heard();
    bench.route(true);
    let known = bench.tdp.labels().fec(Prefix::host(FAR)).expect("a tag");
    assert_eq!(*known.used, [(PortId(0), THEIRS, Label::truncate(99))]);
    bench.call(|tdp, now, _| tdp.settle(now));
    assert_eq!(bench.heard(), [Element::Bind { request: 0, bindings: vec![binding(16, FAR)] }]);
    // What the neighbour takes back is released.
    bench.say(&[Element::Withdraw { bindings: vec![binding(99, FAR)] }]);
    assert_eq!(bench.heard(), [Element::Release { bindings: vec![binding(99, FAR)] }]);
    bench.route(false);
    assert_eq!(bench.heard(), [Element::Withdraw { bindings: vec![binding(16, FAR)] }]);
    assert_eq!(bench.services.labels.used(Tdp::ID), 1);
    bench.say(&[Element::Release { bindings: vec![binding(16, FAR)] }]);
    bench.call(|tdp, now, _| tdp.settle(now));
    assert_eq!(bench.services.labels.used(Tdp::ID), 0);
}

#[test]
fn what_is_not_known_is_left_out_and_what_makes_no_sense_ends_the_session() {
    let mut bench = Bench::established();
    bench.heard();
    for kind in [0x0300, 0x0600, 0x0999] {
        bench.say(&[Element::Unknown { kind, value: vec![1, 2] }]);
    }
    assert_eq!((bench.heard(), bench.tdp.ignored, bench.is_closed), (vec![], 3, false));
    for wrong in [&[0, 2, 0, 8, 10, 0, 0, 2, 0, 0, 0, 0][..], &[0, 1, 0, 9, 10, 0, 0, 2, 0, 0, 0, 0, 5]] {
        let mut bench = Bench::established();
        bench.event(SessionEvent::Received(wrong));
        assert!(bench.is_closed && bench.tdp.sessions().count() == 0);
    }
    // Tags before the session is established, and an Open in the middle of it.
    let mut bench = Bench::new();
    bench.say(&[Element::Bind { request: 0, bindings: Vec::new() }]);
    assert!(bench.is_closed);
    let mut bench = Bench::established();
    bench.say(&[Element::Open { hold_s: 180 }]);
    assert!(bench.is_closed);
}
