//! A speaker at a node: which packets it takes, and how sessions begin and end with those who want them.

use super::super::section::BfdSpec;
use super::super::states::SessionState;
use super::super::{Bfd, Event};
use super::pair::path;
use crate::owner::Owner;
use crate::protocol::{
    Arrival, Change, Context, Ip6Arrival, IpArrival, Message, Output, Over, Protocol, Setup,
};
use crate::services::{
    Interface, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces, Pace, Services, Verdict,
    WatchedPath, Way,
};
use base::{Label, PortId, ProtocolId, Span, Streams, Time};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::bfd::{Diag, MULTIHOP_PORT, PORT, Repr, State};

const CLIENT: ProtocolId = ProtocolId::new("client");
const THEIRS: u32 = 77;

/// The neighbour, as [`path`] has it.
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

pub(super) struct Node {
    now: Time,
    pub(super) bfd: Box<dyn Protocol>,
    pub(super) services: Box<Services>,
}

impl Node {
    /// Two ports: a link between two, and a segment.
    pub(super) fn new(spec: &BfdSpec) -> Node {
        let port = |n: u8, neighbor| Interface {
            kind: InterfaceKind::Port(PortId(n.into())),
            addresses: vec![InterfaceAddress { address: IpAddr::V4([10, 0, n, 1].into()), prefix_len: 24 }],
            link_local: None,
            neighbor,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let ports = vec![port(0, Some([10, 0, 0, 2].into())), port(1, None)];
        let interfaces = Interfaces::new("r".into(), [192, 0, 2, 1].into(), ports);
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(4));
        let bfd = spec.protocol(&services);
        Node { now: Time::ZERO, bfd, services: Box::new(services) }
    }

    pub(super) fn time(&self) -> Time {
        self.now
    }

    pub(super) fn bfd(&self) -> &Bfd {
        (&*self.bfd as &dyn core::any::Any).downcast_ref().expect("BFD")
    }

    pub(super) fn call(
        &mut self,
        what: impl FnOnce(&mut dyn Protocol, Time, &mut Context<'_>),
    ) -> Vec<Output> {
        let mut context = Context { services: &mut self.services, owner: Owner(1) };
        what(&mut *self.bfd, self.now, &mut context);
        core::iter::from_fn(|| self.bfd.poll_output()).collect()
    }

    fn watch(&mut self, path: WatchedPath, is_wanted: bool) -> Vec<Output> {
        if is_wanted {
            self.services.liveness.watch(CLIENT, path, Pace::default());
        } else {
            self.services.liveness.unwatch(CLIENT, path);
        }
        assert_eq!(self.services.liveness.poll_asked(), Some(path));
        self.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Watching(path)))
    }

    pub(super) fn run(&mut self, span: Span) -> Vec<Output> {
        let (end, mut all) = (self.now + span, Vec::new());
        while let Some(due) = self.bfd.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            all.extend(self.call(|bfd, now, context| bfd.handle_timeout(now, context)));
        }
        self.now = end;
        all
    }

    fn hear(&mut self, arrival: IpArrival, bytes: &[u8]) -> Vec<Output> {
        self.call(|bfd, now, context| bfd.handle_message(now, context, &Arrival::Ip(arrival), bytes))
    }

    pub(super) fn discards(&self) -> Vec<(&'static str, u64)> {
        self.bfd().discards.iter().map(|(why, count)| (*why, count.packets)).collect()
    }

    pub(super) fn session(&self) -> &super::super::session::Session {
        self.bfd().sessions().next().expect("a session")
    }

    /// The neighbour says something about the session.
    fn say(&mut self, state: State) -> Vec<Output> {
        let packet = Repr { state, your_discriminator: self.session().discriminator, ..down() };
        self.hear(by(0, FAR), &packet.emit())
    }
}

pub(super) fn down() -> Repr {
    Repr {
        diag: Diag::NONE,
        state: State::Down,
        poll: false,
        is_final: false,
        independent: false,
        demand: false,
        multipoint: false,
        detect_mult: 3,
        my_discriminator: THEIRS,
        your_discriminator: 0,
        desired_min_tx_us: 1_000_000,
        required_min_rx_us: 50_000,
        required_min_echo_rx_us: 0,
        auth: None,
    }
}

fn by(port: u16, src: Ipv4Addr) -> IpArrival {
    let over = Over::Udp { src: 50_000, dst: PORT };
    IpArrival {
        port: PortId(port),
        src,
        dst: [10, 0, port as u8, 1].into(),
        ttl: 255,
        router_alert: false,
        over,
    }
}

fn messages(outputs: &[Output]) -> Vec<&Message> {
    outputs
        .iter()
        .filter_map(|output| if let Output::Message(one) = output { Some(one) } else { None })
        .collect()
}

/// RFC 5881, 4 and 5.
#[test]
fn packets_of_a_single_hop_are_for_the_neighbour_alone() {
    let mut node = Node::new(&BfdSpec::default());
    assert_eq!(node.bfd.poll_timeout(), None, "nobody wants anything");
    let said = node.watch(path(), true);
    let message = messages(&said)[0];
    assert_eq!((message.ttl, message.dst, message.next), (255, FAR, Some(FAR)));
    let Over::Udp { src, dst: PORT } = message.over else { panic!("{:?}", message.over) };
    assert!(src >= 49_152);
    let first = Repr::parse(&message.bytes).expect("a packet");
    assert!((first.state, first.your_discriminator) == (State::Down, 0) && first.my_discriminator != 0);
    // One source port for all of them.
    let later = node.run(Span::from_secs(3));
    assert!(messages(&later).len() >= 3 && messages(&later).iter().all(|one| one.over == message.over));
    // Another path has another one.
    let other = WatchedPath::hop(PortId(1), [10, 0, 1, 1], [10, 0, 1, 9]);
    let said = node.watch(other, true);
    assert_ne!(messages(&said)[0].over, message.over);
}

#[test]
fn packets_that_are_not_taken_are_counted_by_reason() {
    let mut node = Node::new(&BfdSpec::default());
    node.watch(path(), true);
    let (number, bytes) = (node.session().discriminator, down().emit());
    node.hear(IpArrival { ttl: 254, ..by(0, FAR) }, &bytes);
    node.hear(by(0, FAR), &bytes[..23]);
    node.hear(by(1, [10, 0, 1, 2].into()), &bytes);
    let up = |your_discriminator| Repr { your_discriminator, ..down() }.emit();
    node.hear(by(0, FAR), &up(number ^ 1));
    node.hear(by(1, FAR), &up(number));
    let over = Over::Udp { src: 50_000, dst: MULTIHOP_PORT };
    node.hear(IpArrival { over, ttl: 9, ..by(0, FAR) }, &up(number));
    let expected = [("malformed", 1), ("no-session", 2), ("other-port", 2), ("ttl", 1)];
    assert_eq!(node.discards(), expected);
    assert_eq!(node.session().counts.received, 0);
    // RFC 5881, 6: between two, whatever the source says.
    node.hear(by(0, [192, 168, 7, 7].into()), &bytes);
    assert_eq!((node.session().state, node.session().path.remote), (SessionState::Init, path().remote));
}

/// RFC 5883, 4.1 and 5.
#[test]
fn sessions_of_several_hops_are_those_between_two_addresses() {
    let mut node = Node::new(&BfdSpec::default());
    let far = WatchedPath { way: Way::Routed, local: [192, 0, 2, 1].into(), remote: [192, 0, 2, 9].into() };
    node.watch(far, true);
    let over = Over::Udp { src: 50_000, dst: MULTIHOP_PORT };
    let arrival = IpArrival { over, dst: [192, 0, 2, 1].into(), ttl: 7, ..by(1, [192, 0, 2, 9].into()) };
    node.hear(IpArrival { src: [192, 0, 2, 8].into(), ..arrival }, &down().emit());
    assert_eq!(node.discards(), [("no-session", 1)]);
    node.hear(arrival, &down().emit());
    assert_eq!(node.session().state, SessionState::Init);
}

/// RFC 5881, 2 and 7; RFC 5883, 5: the same between addresses of IPv6.
#[test]
fn neighbors_of_ipv6_are_watched_as_well() {
    let address = |last: u16| Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, last);
    let mut node = Node::new(&BfdSpec::default());
    let path = WatchedPath::hop(PortId(0), address(1), address(2));
    let said = node.watch(path, true);
    let [Output::Message6(message)] = &said[..] else { panic!("{said:?}") };
    assert_eq!((message.hop_limit, message.dst, message.next), (255, address(2), Some(address(2))));
    let over = Over::Udp { src: 50_000, dst: PORT };
    let (src, dst) = (address(2), address(1));
    let arrival = Ip6Arrival { port: PortId(0), src, dst, hop_limit: 254, router_alert: false, over };
    let hear = |node: &mut Node, arrival| {
        node.call(|bfd, now, context| {
            bfd.handle_message(now, context, &Arrival::Ip6(arrival), &down().emit())
        })
    };
    hear(&mut node, arrival);
    assert_eq!(node.discards(), [("ttl", 1)]);
    hear(&mut node, Ip6Arrival { hop_limit: 255, ..arrival });
    assert_eq!(node.session().state, SessionState::Init);
    // A packet of IPv4 behind the same port is of no session of IPv6.
    node.hear(by(0, FAR), &down().emit());
    assert_eq!(node.discards(), [("no-session", 1), ("ttl", 1)]);
    let global = |last: u16| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
    let far = WatchedPath { way: Way::Routed, local: global(1).into(), remote: global(9).into() };
    node.watch(far, true);
    let (src, dst, over) = (global(9), global(1), Over::Udp { src: 50_000, dst: MULTIHOP_PORT });
    hear(&mut node, Ip6Arrival { src, dst, over, hop_limit: 60, ..arrival });
    let states: Vec<_> = node.bfd().sessions().map(|session| session.state).collect();
    assert_eq!(states, [SessionState::Init; 2]);
    // RFC 5881, 2: beside the session of IPv6 of a link there is one of IPv4.
    node.watch(self::path(), true);
    assert_eq!(node.bfd().sessions().count(), 3);
}

#[test]
fn a_session_lives_as_long_as_somebody_wants_it_and_says_so_when_it_ends() {
    let mut node = Node::new(&BfdSpec::default());
    node.watch(path(), true);
    let said = node.say(State::Init);
    assert!(said.iter().any(|one| matches!(one, Output::Event(event) if event.of::<Event>().is_some())));
    assert_eq!(node.services.liveness.verdict(path()), Verdict::Alive);
    let said = node.watch(path(), false);
    let last = Repr::parse(&messages(&said)[0].bytes).expect("a packet");
    assert_eq!((last.state, last.diag), (State::AdminDown, Diag::ADMIN_DOWN));
    let said = node.run(Span::from_secs(10));
    assert!(messages(&said).len() >= 3, "for longer than the neighbour's detection time");
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
    assert_eq!(
        node.services.liveness.poll_change(),
        Some((path(), true)),
        "and nobody takes it for a failure"
    );
    assert_eq!(node.services.liveness.poll_change(), None);
}

#[test]
fn a_path_that_is_dead_stays_so_for_the_neighbour_when_nobody_wants_it_any_more() {
    let mut node = Node::new(&BfdSpec::default());
    node.watch(path(), true);
    node.say(State::Init);
    let said = node.run(Span::from_secs(3));
    let last = messages(&said).into_iter().map(|one| Repr::parse(&one.bytes).expect("one")).next_back();
    assert_eq!(last.map(|last| (last.state, last.diag)), Some((State::Down, Diag::TIME_EXPIRED)));
    assert_eq!(node.services.liveness.verdict(path()), Verdict::Dead);
    node.watch(path(), false);
    assert_eq!(node.session().state, SessionState::Down);
    // Somebody wants it again: it is the same session.
    let number = node.session().discriminator;
    node.watch(path(), true);
    node.run(Span::from_secs(10));
    assert_eq!(node.session().discriminator, number);
    node.watch(path(), false);
    node.run(Span::from_secs(10));
    assert_eq!(node.bfd().sessions().count(), 0);
}

#[test]
fn a_port_that_is_down_takes_its_sessions_down_without_a_failure() {
    let mut node = Node::new(&BfdSpec::default());
    node.watch(path(), true);
    node.say(State::Init);
    let change = |up| Change::Interface { interface: InterfaceId(0), port: Some(PortId(0)), up };
    node.call(|bfd, now, context| bfd.handle_change(now, context, &change(false)));
    assert_eq!((node.session().state, node.session().diag), (SessionState::AdminDown, Diag::PATH_DOWN));
    assert_eq!(node.services.liveness.verdict(path()), Verdict::Unknown);
    node.call(|bfd, now, context| bfd.handle_change(now, context, &change(true)));
    assert_eq!(node.session().state, SessionState::Down);
}

#[test]
fn who_shuts_bfd_down_says_so_and_comes_back_under_other_numbers() {
    let mut node = Node::new(&BfdSpec { shutdown: true, ..BfdSpec::default() });
    let said = node.watch(path(), true);
    let first = Repr::parse(&messages(&said)[0].bytes).expect("a packet");
    assert_eq!(first.state, State::AdminDown);
    node.say(State::Down);
    assert_eq!(node.session().state, SessionState::AdminDown);
    node.services.restart();
    node.call(|bfd, now, context| bfd.handle_change(now, context, &Change::Restart));
    assert_eq!((node.bfd().sessions().count(), node.bfd.poll_timeout()), (0, None));
    node.watch(path(), true);
    assert_ne!(node.session().discriminator, first.my_discriminator);
}
