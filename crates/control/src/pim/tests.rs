//! A router by itself, with what it says to others and what they say to it.

mod elections;
mod joins;
mod links;

use super::*;
use crate::owner::Owner;
use crate::services::{Attached, InterfaceAddress, InterfaceKind, Route};
use base::describe::{Describe, Value};
use base::plane::{NextHop, Prefix};
use base::{Span, Streams};
use pim::{Assert, GroupSet, Hello, HelloOption, JoinPrune, SourceEntry};

const GROUP: Ipv4Addr = Ipv4Addr::new(232, 1, 1, 1);
const SOURCE: Ipv4Addr = Ipv4Addr::new(10, 99, 0, 2);
const ID: TreeId = TreeId { group: GROUP, source: SOURCE };
/// The way to the sender, a shared link, and a link to hosts.
const UP: u16 = 0;
const DOWN: u16 = 1;
const HOSTS: u16 = 2;

/// A router's address on the link of a port; the router that is tested is 5.
fn address(port: u16, router: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, port as u8, router)
}

fn v4(address: Ipv4Addr) -> IpAddr {
    address.into()
}

/// A router with three links, all of them shared, that begins at once.
struct Node {
    pim: Pim,
    services: Box<Services>,
    now: Time,
    events: Vec<String>,
}

impl Node {
    fn new(said: &[(&str, Value)]) -> Node {
        let interface = |port: u16| Interface {
            kind: InterfaceKind::Port(PortId(port)),
            addresses: vec![InterfaceAddress { address: address(port, 5).into(), prefix_len: 24 }],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let attached = |_| Attached { beyond: Beyond::Segment, ..Attached::default() };
        let interfaces = Interfaces::new("r".into(), [10, 255, 0, 5].into(), (0..3).map(interface).collect())
            .with_attached((0..3).map(attached));
        let labels = (base::Label::FIRST_UNRESERVED, base::Label::MAX);
        let mut services = Box::new(Services::new(interfaces, labels, Streams::new(1)));
        route(&mut services, UP, 1);
        let said = said.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
        let spec = PimSpec::read(&Value::Map(said)).expect("settings");
        let random = services.streams.stream("r/pim");
        let pim = Pim::new(spec, &services, random);
        let mut node = Node { pim, services, now: Time::ZERO, events: Vec::new() };
        assert_eq!(node.passes(0), []);
        node
    }

    /// A router that has said its Hello, with neighbours up and down that have, too.
    fn met(said: &[(&str, Value)]) -> Node {
        let mut node = Node::new(said);
        node.hears(UP, 1, &hello(1));
        node.hears(DOWN, 7, &hello(7));
        node.hears(DOWN, 8, &hello(8));
        node.passes(5_000);
        node
    }

    fn call(&mut self, what: impl FnOnce(&mut Pim, Time, &mut Context<'_>)) -> Vec<(u16, Repr)> {
        what(&mut self.pim, self.now, &mut Context { services: &mut self.services, owner: Owner(0) });
        let mut sent = Vec::new();
        while let Some(output) = self.pim.poll_output() {
            match output {
                Output::Message(message) => {
                    let PortId(port) = message.port;
                    let to = (message.src, message.dst, message.over, message.ttl);
                    assert_eq!(to, (address(port, 5), pim::ALL_ROUTERS, Over::Ip(103), 1));
                    sent.push((port, Repr::parse(&message.bytes).expect("own bytes")));
                }
                Output::Event(base::Event::Protocol(value)) => {
                    self.events.push(format!("{:?}", value.get::<Event>().expect("an event of PIM")));
                }
                other => panic!("{other:?}"),
            }
        }
        sent
    }

    fn changes(&mut self, change: Change) -> Vec<(u16, Repr)> {
        self.call(|pim, now, context| pim.handle_change(now, context, &change))
    }

    fn wants(&mut self, port: u16, wanted: bool) -> Vec<(u16, Repr)> {
        self.services.multicast.want(ID.key(), PortId(port), ProtocolId::new("igmp"), wanted);
        self.changes(Change::Group(ID.key()))
    }

    fn hears_bytes(&mut self, port: u16, src: Ipv4Addr, dst: Ipv4Addr, bytes: &[u8]) -> Vec<(u16, Repr)> {
        let over = Over::Ip(pim::PROTOCOL);
        let ip = IpArrival { port: PortId(port), src, dst, ttl: 1, router_alert: false, over };
        self.call(|pim, now, context| pim.handle_message(now, context, &Arrival::Ip(ip), bytes))
    }

    /// A message of a router on the link of a port.
    fn hears(&mut self, port: u16, router: u8, repr: &Repr) -> Vec<(u16, Repr)> {
        self.hears_bytes(port, address(port, router), pim::ALL_ROUTERS, &repr.emit())
    }

    /// Time passes, in milliseconds, and what is due is done at its time.
    fn passes(&mut self, ms: i64) -> Vec<(u16, Repr)> {
        let end = self.now + Span::from_ms(ms);
        let mut sent = Vec::new();
        while let Some(due) = self.pim.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            sent.extend(self.call(|pim, now, context| pim.handle_timeout(now, context)));
        }
        self.now = end;
        sent
    }

    /// The same without Hellos.
    fn waits(&mut self, ms: i64) -> Vec<(u16, Repr)> {
        let mut sent = self.passes(ms);
        sent.retain(|(_, repr)| !matches!(repr, Repr::Hello(_)));
        sent
    }

    fn tree(&self) -> &Tree {
        &self.pim.trees[&ID]
    }

    fn leg(&self, port: u16) -> (DownstreamState, AssertState) {
        let leg = self.pim.trees.get(&ID).and_then(|tree| tree.legs.get(&PortId(port)));
        leg.map_or((DownstreamState::NoInfo, AssertState::NoInfo), |leg| (leg.state, leg.assert))
    }

    /// What tables say: by which port packets come, and by which they leave.
    fn forwards(&self) -> Option<(u16, Vec<u16>)> {
        let mut ways = self.services.multicast.all_ways();
        let (key, incoming, owner, branches) = ways.next()?;
        assert_eq!((key, owner, ways.next()), (ID.key(), Pim::ID, None));
        let port = |hop| match hop {
            NextHop::Via { port, gateway } if gateway == v4(GROUP) => port.0,
            other => panic!("{other:?}"),
        };
        let base::plane::Incoming::Port(from) = incoming else { panic!("{incoming:?}") };
        Some((from.0, branches.iter().map(|nhlfe| port(nhlfe.next_hop)).collect()))
    }

    fn discards(&self) -> Vec<(&'static str, u64)> {
        self.pim.discards.iter().map(|(reason, count)| (reason.word(), count)).collect()
    }
}

/// The sender is behind a router on the link of a port from now on.
fn route(services: &mut Services, port: u16, router: u8) {
    let next_hop = NextHop::Via { port: PortId(port), gateway: address(port, router).into() };
    services.rib.set(Prefix::new(SOURCE, 24), Route::fixed(next_hop));
}

fn hello_with(options: &[HelloOption]) -> Repr {
    Repr::Hello(Hello { options: options.to_vec() })
}

/// The Hello of a router as they all send it.
fn hello(router: u8) -> Repr {
    let delay = HelloOption::LanPruneDelay { tracking: false, propagation_ms: 500, override_ms: 2500 };
    let id = HelloOption::GenerationId(router.into());
    hello_with(&[HelloOption::Holdtime(0xffff), delay, HelloOption::DrPriority(1), id])
}

fn join_prune(upstream: Ipv4Addr, joined: &[Ipv4Addr], pruned: &[Ipv4Addr]) -> Repr {
    let entries = |all: &[Ipv4Addr]| all.iter().map(|source| SourceEntry::of((*source).into())).collect();
    let set = GroupSet { group: GROUP.into(), joined: entries(joined), pruned: entries(pruned) };
    Repr::JoinPrune(JoinPrune { upstream: upstream.into(), holdtime_s: 210, groups: vec![set] })
}

/// A Join to a router on the link of a port.
fn join(port: u16, upstream: u8) -> Repr {
    join_prune(address(port, upstream), &[SOURCE], &[])
}

fn prune(port: u16, upstream: u8) -> Repr {
    join_prune(address(port, upstream), &[], &[SOURCE])
}

#[test]
fn the_machines_are_those_of_the_rfc() {
    let lines = |chart: Chart| chart.lines();
    assert_eq!(
        lines(UpstreamState::CHART),
        [
            "NotJoined --Desired--> Joined",
            "Joined --Undesired--> NotJoined",
            "Joined --TimerEnds--> Joined",
            "Joined --JoinSeen--> Joined",
            "Joined --PruneSeen--> Joined",
            "Joined --RpfChanged--> Joined",
            "Joined --RpfAsserted--> Joined",
            "Joined --RpfRestarted--> Joined",
        ]
    );
    assert_eq!(
        lines(DownstreamState::CHART),
        [
            "NoInfo --Join--> Join",
            "NoInfo --Prune--> NoInfo",
            "Join --Join--> Join",
            "Join --Prune--> PrunePending",
            "Join --Expires--> NoInfo",
            "PrunePending --Join--> Join",
            "PrunePending --Prune--> PrunePending",
            "PrunePending --PrunePendingEnds--> NoInfo",
            "PrunePending --Expires--> NoInfo",
        ]
    );
    assert_eq!(
        lines(AssertState::CHART),
        [
            "NoInfo --DataArrives--> Winner",
            "NoInfo --InferiorHeard--> Winner",
            "NoInfo --RptHeard--> Winner",
            "NoInfo --AcceptableHeard--> Loser",
            "Winner --TimerEnds--> Winner",
            "Winner --InferiorHeard--> Winner",
            "Winner --PreferredHeard--> Loser",
            "Winner --CannotAssert--> NoInfo",
            "Loser --PreferredHeard--> Loser",
            "Loser --AcceptableHeard--> Loser",
            "Loser --WinnerWorse--> NoInfo",
            "Loser --WinnerGone--> NoInfo",
            "Loser --TimerEnds--> NoInfo",
            "Loser --Untracked--> NoInfo",
            "Loser --MetricBetter--> NoInfo",
            "Loser --RpfElsewhere--> NoInfo",
            "Loser --JoinHeard--> NoInfo",
        ]
    );
}

#[test]
fn what_cannot_be_used_is_counted_by_reason() {
    let mut node = Node::met(&[]);
    let whole = join(DOWN, 5).emit();
    let change = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    let from = address(DOWN, 7);
    let all = pim::ALL_ROUTERS;
    assert_eq!(node.hears_bytes(DOWN, from, all, &change(0, 0x13)), []);
    node.hears_bytes(DOWN, from, all, &change(0, 0x2f));
    node.hears_bytes(DOWN, from, all, &change(2, 0));
    node.hears_bytes(DOWN, from, all, &[]);
    // RFC 7761, 4.9: of the destinations of that table.
    node.hears_bytes(DOWN, from, address(DOWN, 5), &whole);
    node.hears_bytes(DOWN, address(DOWN, 5), all, &whole);
    // RFC 7761, 4.5: whoever has not said a Hello is not heard.
    node.hears_bytes(DOWN, address(DOWN, 9), all, &whole);
    node.hears(DOWN, 7, &Repr::Other { kind: 1, body: [0, 0, 0, 0][..].into() });
    let source = SourceEntry::of(SOURCE.into());
    let sets = |group: [u8; 4], entry: SourceEntry| {
        let groups = vec![GroupSet { group: group.into(), joined: vec![entry], pruned: Vec::new() }];
        Repr::JoinPrune(JoinPrune { upstream: v4(address(DOWN, 5)), holdtime_s: 210, groups })
    };
    node.hears(DOWN, 7, &sets([239, 1, 1, 1], source));
    // RFC 7761, 4.8.1: nothing of (*,G) and (S,G,rpt).
    let all_senders = SourceEntry { wildcard: true, rpt: true, ..source };
    node.hears(DOWN, 7, &sets([232, 1, 1, 1], all_senders));
    node.hears(DOWN, 7, &sets([232, 1, 1, 1], SourceEntry { rpt: true, ..source }));
    node.hears(DOWN, 7, &sets([232, 1, 1, 1], SourceEntry::of(GROUP.into())));
    let reasons = [
        ("version", 1),
        ("kind", 1),
        ("checksum", 1),
        ("malformed", 2),
        ("destination", 1),
        ("own-address", 1),
        ("not-neighbor", 1),
        ("not-spoken", 1),
        ("outside-range", 1),
        ("not-specific", 2),
    ];
    assert_eq!(node.discards(), reasons);
    assert!(node.pim.trees.is_empty() && node.forwards().is_none());
}

#[test]
fn settings_are_checked() {
    let read = |key: &str, value: Value| PimSpec::read(&Value::Map(vec![(key.into(), value)]));
    let said =
        |key: &str, value: &str| read(key, Value::Text(value.into())).expect_err("an error").to_string();
    assert!(said("range", "10.0.0.0/8").contains("groups are addresses of 224.0.1.0 to 239.255.255.255"));
    assert!(said("range", "224.0.0.0/24").contains("groups are addresses of 224.0.1.0"));
    assert!(said("join_interval", "300 ms").contains("join_interval"));
    let spec = PimSpec::read(&Value::Map(Vec::new())).expect("defaults");
    assert_eq!((spec.hello_holdtime_s(), spec.join_holdtime_s()), (105, 210));
    assert!(spec.takes(GROUP) && !spec.takes([239, 1, 1, 1].into()));
    let short = PimSpec::read(&Value::Map(vec![
        ("join_interval".into(), Value::Text("1 s".into())),
        ("override_interval".into(), Value::Text("3 s".into())),
    ]));
    let short = short.expect_err("an error").to_string();
    assert!(short.contains("3.5 s, and that has to be longer than the 3.5 s that a Prune waits"), "{short}");
}
