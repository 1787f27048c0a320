//! One speaker, and what it answers to a neighbour by hand.

use super::super::section::LdpSpec;
use super::super::session::SessionState;
use super::super::{Config, Ldp, LdpPrefixes};
use crate::owner::Owner;
use crate::protocol::{Arrival, Change, Context, IpArrival, Output, Over, Protocol};
use crate::services::distribution::{LabelAdvertisement, LabelControl, LabelRetention};
use crate::services::sessions::{Connect, Options, SessionEvent, SessionId, SessionOutput};
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, Services, Source};
use base::plane::{Ack, IpPrefix, NextHop, Prefix, TableOp};
use base::{Label, PortId, ProtocolId, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::collections::BTreeMap;
use wire::ldp::*;

pub(super) const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
pub(super) const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
pub(super) const THEIRS: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 2);

pub(super) struct Bench {
    pub(super) ldp: Ldp,
    pub(super) services: Box<Services>,
    pub(super) session: SessionId,
    pub(super) now: Time,
    /// What was sent by the session since it was last looked at.
    pub(super) said: Vec<Body>,
    /// The numbers of these messages.
    pub(super) numbers: Vec<u32>,
    /// How long the PDUs were that it was sent in, in bytes.
    pub(super) lengths: Vec<usize>,
    /// The Hellos that were sent by links.
    pub(super) greetings: Vec<(PortId, Hello)>,
    pub(super) ops: Vec<TableOp>,
    pub(super) is_closed: bool,
    /// The neighbour's label space.
    pub(super) space: u16,
}

impl Bench {
    /// A router with a port and a neighbour that has said Hello.
    pub(super) fn new() -> Bench {
        Bench::with(|_| {})
    }

    /// The same with other settings.
    pub(super) fn with(change: impl FnOnce(&mut Config)) -> Bench {
        let port = |port: u8| Interface {
            kind: InterfaceKind::Port(PortId(port.into())),
            addresses: vec![InterfaceAddress { address: [192, 168, port, 1].into(), prefix_len: 24 }],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN, vec![port(0), port(1)]);
        let labels = (Label::FIRST_UNRESERVED, Label::MAX);
        let mut services = Box::new(Services::new(interfaces, labels, Streams::new(1)));
        let spec = LdpSpec::default();
        let mut config = Config {
            hello: spec.hello_interval,
            hold_s: 15,
            keepalive_s: 30,
            prefixes: LdpPrefixes::Loopbacks,
            control: LabelControl::Independent,
            advertise: LabelAdvertisement::Unsolicited,
            retention: LabelRetention::Liberal,
            loop_detection: false,
            hops_max: 254,
            p2mp: true,
            beyond: false,
            targets: Vec::new(),
            accept_targeted: false,
            igp_sync: false,
            igp_sync_delay: Span::ZERO,
            key: None,
            gtsm: true,
            graceful: None,
            ports: [PortId(0)].into(),
            cells: BTreeMap::new(),
            bfd: None,
            lsp_watch: None,
        };
        change(&mut config);
        let to = SocketAddr::new(IpAddr::V4(OTHER), PORT);
        let connect = Connect { from: Some(IpAddr::V4(OWN)), port: None, to, options: Options::default() };
        let mut context = Context { services: &mut services, owner: Owner(0) };
        let session = context.connect(Time::ZERO, connect).expect("a name of a session");
        let (said, numbers, lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (greetings, ops) = (Vec::new(), Vec::new());
        let mut bench = Bench {
            ldp: Ldp::new(OWN, config),
            services,
            session,
            now: Time::ZERO,
            said,
            numbers,
            lengths,
            greetings,
            ops,
            is_closed: false,
            space: 0,
        };
        bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
        bench.greet();
        bench
    }

    /// The neighbour says Hello.
    pub(super) fn greet(&mut self) {
        self.greet_by(OTHER, |_| {});
    }

    /// A neighbour says Hello, which may say something else.
    pub(super) fn greet_by(&mut self, router: Ipv4Addr, change: impl FnOnce(&mut Hello)) {
        self.greet_from((PortId(0), THEIRS), router, change);
    }

    /// The same by a port, from an address there.
    pub(super) fn greet_from(
        &mut self,
        (port, src): (PortId, Ipv4Addr),
        router: Ipv4Addr,
        change: impl FnOnce(&mut Hello),
    ) {
        let mut hello = Hello {
            hold_s: 15,
            is_targeted: false,
            wants_targeted: false,
            gtsm: true,
            transport: Some(router),
            transport6: None,
            configuration: None,
        };
        change(&mut hello);
        let id = LdpId { router, space: self.space };
        let bytes = pdus(id, [&Message::new(1, Body::Hello(hello))], 4096).concat();
        let over = Over::Udp { src: PORT, dst: PORT };
        let ip = IpArrival { port, src, dst: ALL_ROUTERS, ttl: 1, router_alert: false, over };
        self.call(|ldp, now, context| ldp.handle_message(now, context, &Arrival::Ip(ip), &bytes));
    }

    pub(super) fn call(&mut self, what: impl FnOnce(&mut Ldp, Time, &mut Context<'_>)) {
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        what(&mut self.ldp, self.now, &mut context);
        while let Some(output) = self.ldp.poll_output() {
            match output {
                Output::Session(_, SessionOutput::Send(pdu)) => {
                    self.lengths.push(pdu.len());
                    let header = Header::parse(&pdu, 4096).expect("a PDU");
                    for raw in messages(&pdu, header) {
                        let message = Message::parse(&raw.expect("a message")).expect("a message");
                        let message = message.expect("a known one");
                        self.numbers.push(message.id);
                        self.said.push(message.body);
                    }
                }
                Output::Session(..) => self.is_closed = true,
                Output::Tables(batch) => {
                    self.ops.extend(batch.ops.iter().cloned());
                    let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
                    let mut context = Context { services: &mut self.services, owner: Owner(0) };
                    self.ldp.handle_ack(self.now, &mut context, &ack);
                }
                Output::Message(message) => {
                    let header = Header::parse(&message.bytes, 4096).expect("a PDU");
                    let first = messages(&message.bytes, header).next().expect("one").expect("a message");
                    if let Some(Message { body: Body::Hello(hello), .. }) =
                        Message::parse(&first).expect("a message")
                    {
                        self.greetings.push((message.port, hello));
                    }
                }
                _ => {}
            }
        }
    }

    pub(super) fn event(&mut self, event: SessionEvent<'_>) {
        let session = self.session;
        self.call(|ldp, now, context| ldp.handle_session(now, context, session, event));
    }

    pub(super) fn say(&mut self, body: Body) {
        let id = LdpId { router: OTHER, space: self.space };
        let pdu = pdus(id, [&Message::new(7, body)], 4096).concat();
        self.event(SessionEvent::Received(&pdu));
    }

    pub(super) fn heard(&mut self) -> Vec<Body> {
        core::mem::take(&mut self.said)
    }

    pub(super) fn initialization(keepalive_s: u16, receiver: Ipv4Addr) -> Body {
        Body::Initialization(Initialization {
            version: VERSION,
            keepalive_s,
            on_demand: false,
            loop_detection: false,
            path_limit: 0,
            max_pdu: DEFAULT_MAX_PDU,
            receiver: LdpId::platform(receiver),
            atm: None,
            frame_relay: None,
            restart: None,
            capabilities: Capabilities::default(),
        })
    }

    /// A session that is established.
    pub(super) fn established() -> Bench {
        let mut bench = Bench::new();
        bench.establish(Bench::initialization(9, OWN));
        bench
    }

    /// The neighbour connects, and says how it wants the session.
    pub(super) fn establish(&mut self, initialization: Body) {
        let bench = self;
        let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
        bench.event(SessionEvent::Accepted { local, remote });
        bench.say(initialization);
        assert!(matches!(bench.heard()[..], [Body::Initialization(_), Body::KeepAlive]));
        bench.say(Body::KeepAlive);
        assert_eq!(bench.state(), Some(SessionState::Operational));
    }

    pub(super) fn state(&self) -> Option<SessionState> {
        self.ldp.sessions().next().map(|session| session.state)
    }

    /// The status of the only thing that was said.
    pub(super) fn status(&mut self) -> Status {
        match self.heard()[..] {
            [Body::Notification { notice, .. }] => Status::of(notice.code).expect("a status"),
            ref other => panic!("{other:?}"),
        }
    }

    pub(super) fn route(&mut self, to: Ipv4Addr, is_there: bool) {
        self.route_by((PortId(0), THEIRS), to, is_there);
    }

    pub(super) fn route_by(&mut self, (port, gateway): (PortId, Ipv4Addr), to: Ipv4Addr, is_there: bool) {
        let (prefix, source) = (Prefix::host(to), Source::Protocol(ProtocolId::new("igp")));
        let next_hop = NextHop::Via { port, gateway: gateway.into() };
        match is_there {
            true => self.services.rib.set(prefix, Route::direct(source, 110, next_hop)),
            false => drop(self.services.rib.remove(prefix, source)),
        }
        let change = crate::protocol::Change::Route(IpPrefix::V4(prefix));
        self.call(|ldp, now, context| ldp.handle_change(now, context, &change));
    }
}

pub(super) fn fec(address: Ipv4Addr) -> Fec {
    Fec::Prefix(IpPrefix::V4(Prefix::host(address)))
}

pub(super) fn generic(label: u32) -> AnyLabel {
    AnyLabel::Generic(Label::truncate(label))
}

pub(super) fn mapping(address: Ipv4Addr, label: u32) -> Body {
    Body::Mapping { fecs: vec![fec(address)], label: generic(label), request: None, hops: None, path: None }
}

#[test]
fn a_session_is_refused_with_the_status_of_the_rfc() {
    for (keepalive, receiver, status) in
        [(0, OWN, Status::RejectedBadKeepAliveTime), (9, THEIRS, Status::RejectedNoHello)]
    {
        let mut bench = Bench::new();
        let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
        bench.event(SessionEvent::Accepted { local, remote });
        bench.say(Bench::initialization(keepalive, receiver));
        assert_eq!((bench.status(), bench.state(), bench.is_closed), (status, None, true));
    }
    // Whatever comes before the session is established ends it (RFC 5036, 2.5.3).
    let mut bench = Bench::new();
    let (local, remote) = (SocketAddr::new(OWN.into(), PORT), SocketAddr::new(OTHER.into(), 50_000));
    bench.event(SessionEvent::Accepted { local, remote });
    bench.say(mapping(OTHER, 99));
    assert_eq!((bench.status(), bench.state()), (Status::Shutdown, None));
}

#[test]
fn a_session_tells_addresses_and_labels_and_ends_without_a_word_from_the_other() {
    let mut bench = Bench::established();
    let said = bench.heard();
    let own = vec![OWN, Ipv4Addr::new(192, 168, 0, 1)];
    assert_eq!(said, [Body::Address(Addresses::V4(own)), mapping(OWN, 3)]);
    // RFC 5036, 3.5.3: the smaller KeepAlive time counts, and a third of it is between two messages.
    bench.now = Time::ZERO + Span::from_secs(3);
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert_eq!(bench.heard(), [Body::KeepAlive]);
    bench.now = Time::ZERO + Span::from_secs(9);
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert_eq!((bench.status(), bench.state()), (Status::KeepAliveTimerExpired, None));
}

#[test]
fn malformed_input_is_answered_and_fatal_errors_end_the_session() {
    let message = |kind: u16, parameters: &[u8]| {
        let mut pdu = vec![0, 1, 0, 0, 10, 0, 0, 2, 0, 0];
        pdu.extend(kind.to_be_bytes());
        pdu.extend((4 + parameters.len() as u16).to_be_bytes());
        pdu.extend([0, 0, 0, 7]);
        pdu.extend(parameters);
        let len = pdu.len() as u16 - 4;
        pdu[2..4].copy_from_slice(&len.to_be_bytes());
        pdu
    };
    let mut other_id = message(kind::KEEP_ALIVE, &[]);
    other_id[7] = 9;
    let mut version = message(kind::KEEP_ALIVE, &[]);
    version[1] = 2;
    let cases = [
        (other_id, Status::BadLdpIdentifier),
        (version, Status::BadProtocolVersion),
        (vec![0, 1, 0, 9, 10, 0, 0, 2, 0, 0, 1, 1, 1], Status::BadPduLength),
        (message(0x0999, &[]), Status::UnknownMessageType),
        (message(kind::KEEP_ALIVE, &[0x87, 0, 0, 9]), Status::BadTlvLength),
        (message(kind::KEEP_ALIVE, &[0x07, 0, 0, 0]), Status::UnknownTlv),
        (message(kind::LABEL_MAPPING, &[1, 0, 0, 4, 2, 0, 1, 0]), Status::MissingMessageParameters),
        (message(kind::LABEL_REQUEST, &[1, 0, 0, 4, 2, 0, 1, 99]), Status::MalformedTlvValue),
        (message(kind::LABEL_REQUEST, &[1, 0, 0, 1, 9]), Status::UnknownFec),
        (message(kind::LABEL_REQUEST, &[1, 0, 0, 4, 2, 0, 2, 0]), Status::UnsupportedAddressFamily),
        (message(kind::LABEL_REQUEST, &[1, 0, 0, 8, 2, 0, 1, 32, 9, 9, 9, 9]), Status::NoRoute),
        (message(kind::HELLO, &[4, 0, 0, 4, 0, 0, 0, 0]), Status::Shutdown),
    ];
    for (pdu, status) in cases {
        let mut bench = Bench::established();
        bench.heard();
        bench.event(SessionEvent::Received(&pdu));
        assert_eq!((bench.status(), bench.state().is_none()), (status, status.is_fatal()), "{pdu:x?}");
    }
    // What may be left out is, and a Shutdown is answered by one.
    let mut bench = Bench::established();
    bench.heard();
    bench.event(SessionEvent::Received(&message(0x8999, &[])));
    assert_eq!(bench.heard(), []);
    bench.say(Body::notify(Notice::new(Status::Shutdown)));
    assert_eq!((bench.status(), bench.state()), (Status::Shutdown, None));
}

#[test]
fn entries_follow_labels_and_routes_and_labels_come_back() {
    let far = Ipv4Addr::new(10, 0, 0, 9);
    let mut bench = Bench::established();
    bench.heard();
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.say(mapping(far, 99));
    assert_eq!((bench.heard(), bench.ops.len()), (vec![], 0), "kept, but there is no route");
    bench.route(far, true);
    assert_eq!(bench.ops.len(), 2, "{:?}", bench.ops);
    let [TableOp::IlmSet { label, nhlfe }, TableOp::FtnSet { .. }] = &bench.ops[..] else {
        panic!("{:?}", bench.ops)
    };
    assert_eq!((label.value(), nhlfe.push.as_slice()), (16, &[Label::truncate(99)][..]));
    // The label is told once its entry is there.
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert_eq!(bench.heard(), [mapping(far, 16)]);
    // Another label of the neighbour in the place of the first, which is released.
    bench.say(mapping(far, 100));
    let release = |label| Body::Release { fec: fec(far), label: Some(generic(label)), notice: None };
    assert_eq!(bench.heard(), [release(99)]);
    // Who is the next hop itself gets no label to come back by (RFC 5036, A.1.1, LRq.3).
    bench.say(Body::Request { fec: fec(far), hops: None, path: None });
    assert_eq!(bench.status(), Status::LoopDetected);
    // Asked for, what is right here is given again with the number of the request (RFC 5036, 3.5.8.1).
    bench.say(Body::Request { fec: fec(OWN), hops: None, path: None });
    assert!(matches!(bench.heard()[..], [Body::Mapping { request: Some(7), .. }]));
    bench.say(Body::Withdraw { fec: fec(far), label: None });
    assert_eq!(bench.heard(), [Body::Release { fec: fec(far), label: None, notice: None }]);
    assert!(bench.ops.contains(&TableOp::FtnRemove { fec: base::plane::Fec::Prefix(Prefix::host(far)) }));
    // Without a route the label is taken back; it is free when the neighbour has released it.
    bench.route(far, false);
    assert_eq!(bench.heard(), [Body::Withdraw { fec: fec(far), label: Some(generic(16)) }]);
    assert_eq!(bench.services.labels.used(Ldp::ID), 1);
    bench.say(release(16));
    assert_eq!(bench.ops.last(), Some(&TableOp::IlmRemove { label: Label::truncate(16) }));
    assert_eq!(bench.services.labels.used(Ldp::ID), 0);
}

/// RFC 5036, A.1.4, LRl.3: a release that answers a withdrawal is none of what was given since, though implicit null is
/// the same label again.
#[test]
fn a_release_under_way_is_not_one_of_what_was_given_since() {
    let mut bench = Bench::established();
    assert!(bench.heard().contains(&mapping(OWN, 3)));
    let here = Prefix::host(OWN);
    let flip = |bench: &mut Bench| {
        for is_there in [false, true] {
            match is_there {
                true => bench.services.rib.set(here, Route::connected(NextHop::Local)),
                false => drop(bench.services.rib.remove(here, Source::Connected)),
            }
            bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::Route(here.into())));
        }
        bench.heard()
    };
    let withdraw = Body::Withdraw { fec: fec(OWN), label: Some(generic(3)) };
    let release = || Body::Release { fec: fec(OWN), label: Some(generic(3)), notice: None };
    for _ in 0..2 {
        assert_eq!(flip(&mut bench), [withdraw.clone(), mapping(OWN, 3)]);
    }
    let is_told = |bench: &Bench| bench.ldp.labels().peers().any(|(_, peer)| peer.sent.contains(&here));
    for _ in 0..2 {
        bench.say(release());
        assert!(is_told(&bench));
    }
    // One more is of what it has now.
    bench.say(release());
    assert!(!is_told(&bench));
}
