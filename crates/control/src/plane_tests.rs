//! A control plane with a made-up protocol: hello over UDP to a neighbour and to a group, and over LLC.

use crate::cost::{Cost, Costs};
use crate::plane::{Config, ControlPlane, Offered, Output};
use crate::protocol::{
    Arrival, Change, Context, Direction, IpArrival, Listen, Message, Output as Wanted, Over, Protocol, Topic,
};
use crate::services::{
    Interface, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces, Route, Services, Source,
};
use crate::unheard::Unheard;
use crate::{Setup, rsvp};
use base::plane::{Ack, Batch, NextHop, Prefix, TableOp, TransactionId};
use base::{Label, PortId, ProtocolId, ProtocolValue, Span, Streams, Time};
use core::net::Ipv4Addr;
use std::collections::VecDeque;
use std::sync::Arc;

const HELLO: ProtocolId = ProtocolId::new("hello");
const UDP: u16 = 4711;
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 200);
const EVERY: Span = Span::from_secs(1);

/// Sends a hello to the group on every port each second, and writes the tables for each neighbour that it hears. When
/// the route to `first()` changes it learns one to `second()`.
#[derive(Debug, Default)]
struct Hello {
    /// Does it not wait for the control processor?
    is_of_forwarding: bool,
    due: Time,
    heard: Vec<Ipv4Addr>,
    written: Vec<u64>,
    changes: Vec<Change>,
    noted: usize,
    outputs: VecDeque<Wanted>,
}

impl Protocol for Hello {
    fn id(&self) -> ProtocolId {
        HELLO
    }
    fn listens(&self) -> Vec<Listen> {
        vec![Listen::UdpPort(UDP), Listen::Group(GROUP), Listen::Llc(0xfe)]
    }
    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Routes, Topic::Interfaces]
    }
    fn is_of_forwarding(&self) -> bool {
        self.is_of_forwarding
    }
    fn speaks_on(&self, port: PortId) -> bool {
        port != PortId(9)
    }
    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.first().copied().unwrap_or(0)
    }
    fn kind_name(&self, kind: u8) -> &'static str {
        if kind == 1 { "hello" } else { "unknown" }
    }
    fn state_count(&self) -> usize {
        self.heard.len()
    }
    fn note(&mut self, _: Time, _: PortId, _: Direction, _: &[u8]) {
        self.noted += 1;
    }
    fn handle_message(&mut self, _: Time, _: &mut Context<'_>, arrival: &Arrival, _: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        self.heard.push(ip.src);
        let ops = vec![TableOp::IlmRemove { label: Label::MAX }];
        let transaction = TransactionId(self.heard.len() as u64);
        self.outputs.push_back(Wanted::Tables(Batch { transaction, ops, barrier: false }));
    }
    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        self.due = now + EVERY;
        for (port, interface) in context.services.interfaces.ports().filter(|(_, interface)| interface.up) {
            self.outputs.push_back(Wanted::Message(Message {
                port,
                next: None,
                src: interface.ipv4().map_or(Ipv4Addr::UNSPECIFIED, |own| own.0),
                dst: GROUP,
                over: Over::Udp { src: UDP, dst: UDP },
                ttl: 1,
                router_alert: false,
                bytes: vec![1],
            }));
        }
    }
    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }
    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, ack: &Ack) {
        self.written.push(ack.transaction.0);
    }
    fn handle_change(&mut self, _: Time, context: &mut Context<'_>, change: &Change) {
        self.changes.push(*change);
        if *change == Change::Route(first().into()) {
            context.services.rib.set(second(), learnt(NextHop::Discard));
            context.services.rib.set(first(), learnt(NextHop::Local));
            context.services.interfaces.set_up(InterfaceId(1), false);
        }
    }
    fn poll_output(&mut self) -> Option<Wanted> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        Some(self.due)
    }
}

#[derive(Debug, Default)]
struct HelloSetup {
    is_of_forwarding: bool,
}

impl Setup for HelloSetup {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        Box::new(Hello { is_of_forwarding: self.is_of_forwarding, ..Hello::default() })
    }
}

fn first() -> Prefix {
    Prefix::new([198, 51, 100, 0].into(), 24)
}
fn second() -> Prefix {
    Prefix::new([203, 0, 113, 0].into(), 24)
}
fn learnt(next_hop: NextHop) -> Route {
    Route::direct(Source::Protocol(HELLO), 100, next_hop)
}

fn address(port: u16) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port as u8, 1)
}

/// A plane with RSVP-TE and the made-up protocol, on two ports.
fn plane(costs: Costs) -> ControlPlane {
    plane_of(costs, HelloSetup::default())
}

fn plane_of(costs: Costs, setup: HelloSetup) -> ControlPlane {
    let interface = |port| Interface {
        kind: InterfaceKind::Port(PortId(port)),
        addresses: vec![InterfaceAddress { address: address(port).into(), prefix_len: 30 }],
        link_local: None,
        neighbor: None,
        neighbor_id: None,
        mtu: 1500,
        cost: 1,
        reservable: None,
        up: true,
    };
    let interfaces = Interfaces::new("n".into(), Ipv4Addr::LOCALHOST, vec![interface(0), interface(1)]);
    let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
    let config = Config { services, costs, queue_messages: Some(2), alert_queue_messages: None };
    let protocols: [Arc<dyn Setup>; 2] = [Arc::new(rsvp::Config::default()), Arc::new(setup)];
    ControlPlane::new(config, &protocols)
}

fn hello(plane: &ControlPlane) -> &Hello {
    plane.protocol().expect("the made-up protocol")
}

/// Offers a hello from a neighbour.
fn offer(plane: &mut ControlPlane, now: Time, port: u16, from: u8) -> Offered {
    let owner = plane.group_listener(Listen::UdpPort(UDP), GROUP).expect("a listener");
    let src = Ipv4Addr::new(10, 0, 0, from);
    let over = Over::Udp { src: UDP, dst: UDP };
    let ip = IpArrival { port: PortId(port), src, dst: GROUP, ttl: 1, router_alert: false, over };
    plane.offer(now, owner, Arrival::Ip(ip), vec![0, 0, 1], (2, 3))
}

fn outputs(plane: &mut ControlPlane, now: Time) -> Vec<Output> {
    while plane.poll_route().is_some() {}
    core::iter::from_fn(|| plane.poll_output(now)).collect()
}

#[test]
fn what_is_listened_to_reaches_its_protocol() {
    let plane = plane(Costs::default());
    let rsvp = plane.listener(Listen::IpProtocol(46)).expect("RSVP-TE");
    let hello = plane.listener(Listen::UdpPort(UDP)).expect("the made-up protocol");
    assert!(rsvp != hello && plane.listens_to_llc());
    assert_eq!(plane.listener(Listen::RouterAlert(46)), Some(rsvp));
    assert_eq!(plane.listener(Listen::Llc(0xfe)), Some(hello));
    for nobody in [Listen::UdpPort(1), Listen::IpProtocol(89), Listen::Llc(0x42), Listen::TcpPort(179)] {
        assert_eq!(plane.listener(nobody), None, "{nobody:?}");
    }
    // A group by itself is nobody's: what is sent to it has to be listened to as well.
    let other = Ipv4Addr::new(224, 0, 0, 5);
    assert_eq!(plane.group_listener(Listen::UdpPort(UDP), GROUP), Some(hello));
    assert_eq!(plane.group_listener(Listen::UdpPort(UDP), other), None);
    assert_eq!(plane.group_listener(Listen::UdpPort(1), GROUP), None);
    assert_eq!(plane.group_listener(Listen::IpProtocol(46), other), Some(rsvp), "sessions may be groups");
}

#[test]
fn a_message_waits_for_what_those_before_it_cost() {
    let cost = Cost { us: 10.0, per_state_ns: 1000.0 };
    let mut plane = plane(Costs([(HELLO, [("hello".to_string(), cost)].into())].into()));
    assert_eq!(offer(&mut plane, Time(0), 0, 2), Offered::Waits);
    assert_eq!(offer(&mut plane, Time(0), 9, 3), Offered::NotSpoken);
    assert_eq!(plane.unheard().get(Unheard::NotSpoken), 1);
    assert!(plane.serve(Time(0)).is_none(), "it takes 10 us");
    assert_eq!(offer(&mut plane, Time(0), 0, 4), Offered::Waits);
    assert_eq!(offer(&mut plane, Time(0), 0, 5), Offered::Waits);
    assert_eq!(offer(&mut plane, Time(0), 0, 6), Offered::QueueFull);
    let at = Time::ZERO + Span::from_us(10);
    assert_eq!(plane.serve(at), Some(vec![0, 0, 1]), "the memory comes back");
    assert!(
        plane.serve(at).is_none() && plane.serve(at + Span::from_us(10)).is_none(),
        "11 us: one state more"
    );
    assert!(plane.serve(at + Span::from_us(11)).is_some());
    assert_eq!(hello(&plane).heard, [Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 4)]);
    let counted: Vec<_> = plane.messages().map(|(bin, kind)| (bin.direction, kind, bin.count)).collect();
    assert_eq!(counted, [(Direction::Received, "hello", 5)]);
    assert_eq!((hello(&plane).noted, plane.state_count()), (5, 2));
}

#[test]
fn what_is_part_of_the_forwarding_plane_does_not_wait() {
    let cost = Cost { us: 10.0, per_state_ns: 0.0 };
    let costs = Costs([(HELLO, [("hello".to_string(), cost)].into())].into());
    let mut plane = plane_of(costs, HelloSetup { is_of_forwarding: true });
    for from in 2..6 {
        assert_eq!(offer(&mut plane, Time(0), 0, from), Offered::Waits, "two would wait for the processor");
    }
    assert!((2..6).all(|_| plane.serve(Time(0)) == Some(vec![0, 0, 1])) && plane.serve(Time(0)).is_none());
    assert_eq!((hello(&plane).heard.len(), plane.processor_load()), (4, (0, 0.0)));
    offer(&mut plane, Time(0), 0, 2);
    plane.restart(Time(0));
    assert!(plane.serve(Time(0)).is_none(), "what waited is lost");
}

#[test]
fn an_acknowledgement_reaches_the_protocol_that_wrote() {
    let mut plane = plane(Costs::default());
    offer(&mut plane, Time(0), 0, 2);
    assert!(plane.serve(Time(0)).is_some());
    let out = outputs(&mut plane, Time(0));
    let [Output::Tables(batch)] = &out[..] else { panic!("{out:?}") };
    let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
    // The same number of another protocol is another transaction.
    plane.handle_ack(Time(0), Ack { transaction: TransactionId(1), failed: Vec::new() });
    plane.handle_ack(Time(0), Ack { transaction: TransactionId(7 << 56 | 1), failed: Vec::new() });
    assert!(hello(&plane).written.is_empty());
    plane.handle_ack(Time(0), ack);
    assert_eq!(hello(&plane).written, [1]);
}

#[test]
fn changes_reach_all_protocols_and_timeouts_those_that_are_due() {
    let mut plane = plane(Costs::default());
    plane.port_changed(Time(0), PortId(0), false);
    let gone = [Prefix::new(address(0), 30), Prefix::host(address(0))];
    let down = Change::Interface { interface: InterfaceId(0), port: Some(PortId(0)), up: false };
    assert_eq!(hello(&plane).changes, [down, Change::Route(gone[0].into()), Change::Route(gone[1].into())]);
    assert_eq!(plane.poll_timeout(), Some(Time(0)));
    plane.handle_timeout(Time(0));
    let out = outputs(&mut plane, Time(0));
    let [Output::Message(_, message)] = &out[..] else { panic!("only one port is up: {out:?}") };
    assert_eq!((message.port, message.dst, message.bytes.as_slice()), (PortId(1), GROUP, &[1][..]));
    plane.handle_timeout(Time(5));
    assert_eq!((outputs(&mut plane, Time(5)), plane.poll_timeout()), (vec![], Some(Time::ZERO + EVERY)));
    offer(&mut plane, Time(5), 1, 2);
    plane.restart(Time(6));
    assert!(plane.serve(Time(6)).is_none(), "what waited is lost");
    assert_eq!(hello(&plane).changes.last(), Some(&Change::Restart));
}

#[test]
#[should_panic(expected = "hello listens to UdpPort(4711), as another does")]
fn two_protocols_cannot_listen_to_the_same() {
    let twice: [Arc<dyn Setup>; 2] = [Arc::new(HelloSetup::default()), Arc::new(HelloSetup::default())];
    let interfaces = Interfaces::new("n".into(), Ipv4Addr::LOCALHOST, Vec::new());
    let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
    let config =
        Config { services, costs: Costs::default(), queue_messages: None, alert_queue_messages: None };
    ControlPlane::new(config, &twice);
}

#[test]
fn the_node_begins_with_its_connected_routes() {
    let mut plane = plane(Costs::default());
    let routes: Vec<_> = core::iter::from_fn(|| plane.poll_route()).collect();
    let connected = |port: u16| NextHop::Via { port: PortId(port), gateway: Ipv4Addr::UNSPECIFIED.into() };
    let set = |prefix, next_hop| TableOp::RouteSet { prefix, next_hop };
    let expected = [
        set(Prefix::host(Ipv4Addr::LOCALHOST), NextHop::Local),
        set(Prefix::new(address(0), 30), connected(0)),
        set(Prefix::host(address(0)), NextHop::Local),
        set(Prefix::new(address(1), 30), connected(1)),
        set(Prefix::host(address(1)), NextHop::Local),
    ];
    assert_eq!(routes, expected);
    assert!(hello(&plane).changes.is_empty(), "there was nobody to be told");
}

#[test]
fn connected_routes_are_gone_while_their_port_is_down() {
    let mut plane = plane(Costs::default());
    while plane.poll_route().is_some() {}
    let written =
        |plane: &mut ControlPlane| core::iter::from_fn(|| plane.poll_route()).collect::<Vec<TableOp>>();
    let (network, own) = (Prefix::new(address(0), 30), Prefix::host(address(0)));
    let gone = [network, own].map(|prefix| TableOp::RouteRemove { prefix });
    plane.port_changed(Time(0), PortId(0), false);
    assert_eq!(written(&mut plane), gone);
    plane.port_changed(Time(1), PortId(0), false);
    assert_eq!(written(&mut plane), [], "it was down already");
    plane.restart(Time(2));
    let again = written(&mut plane);
    assert_eq!(again.len(), 3, "the router id and the other port: {again:?}");
    plane.port_changed(Time(3), PortId(0), true);
    let next_hop = NextHop::Via { port: PortId(0), gateway: Ipv4Addr::UNSPECIFIED.into() };
    let back = [(network, next_hop), (own, NextHop::Local)];
    assert_eq!(written(&mut plane), back.map(|(prefix, next_hop)| TableOp::RouteSet { prefix, next_hop }));
}

#[test]
fn what_a_change_changes_is_told_behind_it() {
    let mut plane = plane(Costs::default());
    while plane.poll_route().is_some() {}
    plane.set_static(Time(0), first(), Some(NextHop::Discard));
    let down = Change::Interface { interface: InterfaceId(1), port: Some(PortId(1)), up: false };
    // The learnt route to the first changes nothing: the static one is better.
    assert_eq!(hello(&plane).changes, [Change::Route(first().into()), down, Change::Route(second().into())]);
    let set = |prefix| TableOp::RouteSet { prefix, next_hop: NextHop::Discard };
    let routes: Vec<_> = core::iter::from_fn(|| plane.poll_route()).collect();
    assert_eq!(routes, [set(first()), set(second())]);
    // Without the static route the learnt one takes over.
    plane.set_static(Time(1), first(), None);
    assert_eq!(plane.poll_route(), Some(TableOp::RouteSet { prefix: first(), next_hop: NextHop::Local }));
}

#[test]
fn a_restart_brings_back_configuration_alone() {
    let mut plane = plane(Costs::default());
    plane.set_static(Time(0), first(), Some(NextHop::Discard));
    while plane.poll_route().is_some() {}
    plane.restart(Time(1));
    let routes: Vec<_> = core::iter::from_fn(|| plane.poll_route()).collect();
    assert_eq!(routes.len(), 6);
    assert!(routes.contains(&TableOp::RouteSet { prefix: first(), next_hop: NextHop::Discard }));
    assert_eq!(plane.services().rib.lookup(second().address()), None, "what was learnt is forgotten");
}
