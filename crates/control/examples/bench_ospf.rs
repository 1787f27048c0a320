//! A speaker of OSPF that knows an area of 10,000 routers and 50,000 links between two of them, each with a network of
//! its own, beside an address of each router: 60,000 prefixes. Ten of the links are its own.
//!
//! `--routers N`, `--links N`: how many. `--changes N`: how many random links become others, one at a time. `--write
//! FILE`: the advertisements of all others and then those of the changes as bytes, for other speakers to be fed with;
//! nothing is measured, and what is printed are the costs of the own links, and by which of them most routes lead. One
//! line of JSON, each the least and the median of all repetitions: milliseconds for the tree alone; for all that
//! follows when the link of the router itself becomes another by which most routes lead, until the routing table has
//! them; microseconds for the same when another link does (median, 99 % and most); and milliseconds for all from
//! nothing. On a busy machine the least says most.

use base::{Label, PortId, Rate, Span, Streams, Time};
use control::ospf::delay::DelayConfig;
use control::ospf::graph::Graph;
use control::ospf::interface::InterfaceConfig;
use control::ospf::neighbor::NeighborState;
use control::ospf::routes::Path;
use control::ospf::spf::{Hop, Paths};
use control::ospf::{Config, IP_PROTOCOL, Ospf};
use control::owner::Owner;
use control::protocol::{Arrival, Change, Context, IpArrival, Over, Protocol};
use control::services::{Avoidance, Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use core::net::{IpAddr, Ipv4Addr};
use serde_json::json;
use std::time::Instant;
use twinplane_control as control;
use wire::ospf::{
    ALL_SPF_ROUTERS, Auth, Body, Description, Hello, INITIAL_SEQUENCE, Lsa, LsaBody, LsaKey, LsaKind, Router,
    RouterLink, link, options,
};

/// Links of the router itself.
const OWN: usize = 10;
/// Costs are from 1 to this.
const MOST: u64 = 100;
/// Nobody is silent for so long, in seconds.
const LONG_S: u16 = 60_000;
const AREA: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

fn id(node: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0x0a00_0000 + node as u32)
}

/// An address of a link: of its network, of its first end or of its second.
fn on(link: usize, end: usize) -> Ipv4Addr {
    Ipv4Addr::from_bits(0xac10_0000 + 4 * link as u32 + end as u32)
}

/// Numbers that look like chance, and are always the same (xorshift).
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn cost(&mut self) -> u16 {
        1 + self.below(MOST as usize) as u16
    }
}

/// What all routers but the first say, by their numbers.
fn area(routers: usize, links: usize, drawn: &mut Drawn) -> Vec<Router> {
    let mut said = vec![Router::default(); routers];
    for link in 0..links {
        let (a, b) = match link {
            _ if link < OWN => (0, link + 1),
            _ if link + 1 < routers => (link + 1, 1 + drawn.below(link)),
            _ => loop {
                let (a, b) = (1 + drawn.below(routers - 1), 1 + drawn.below(routers - 1));
                if a != b {
                    break (a, b);
                }
            },
        };
        for (end, (from, to)) in [(1, (a, b)), (2, (b, a))] {
            let metric = drawn.cost();
            let one = |id, data, kind| RouterLink { id, data, kind, metric, tos: Vec::new() };
            said[from].links.push(one(id(to), on(link, end), link::POINT_TO_POINT));
            said[from].links.push(one(on(link, 0), Ipv4Addr::new(255, 255, 255, 252), link::STUB));
        }
    }
    for (node, router) in said.iter_mut().enumerate() {
        let own = RouterLink {
            id: id(node),
            data: Ipv4Addr::BROADCAST,
            kind: link::STUB,
            metric: 0,
            tos: Vec::new(),
        };
        router.links.push(own);
    }
    said
}

/// What a router says, as bytes.
fn instance(node: usize, sequence: i32, router: &Router) -> Vec<u8> {
    let key = LsaKey { kind: LsaKind::ROUTER, id: id(node), router: id(node) };
    let (checksum, correct_checksum, body) = (None, None, LsaBody::Router(router.clone()));
    let lsa = Lsa { age: 1, options: options::E, key, sequence, checksum, correct_checksum, body };
    lsa.write().expect("bytes")
}

struct Speaker {
    ospf: Ospf,
    services: Box<Services>,
    now: Time,
}

impl Speaker {
    /// The first router, adjacent to all of its neighbours.
    fn new(costs: &[u16]) -> Speaker {
        let port = |link: usize| Interface {
            kind: InterfaceKind::Port(PortId(link as u16)),
            addresses: vec![InterfaceAddress { address: IpAddr::V4(on(link, 1)), prefix_len: 30 }],
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: Some(Rate(8000)),
            up: true,
        };
        let interfaces = Interfaces::new("r0".into(), id(0), (0..OWN).map(port).collect());
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let interface = |cost| InterfaceConfig {
            cost,
            hello_s: LONG_S,
            dead_s: 4 * u32::from(LONG_S),
            retransmit: Span::from_secs(LONG_S.into()),
            ..InterfaceConfig::default()
        };
        let one = Span::from_ms(1);
        let delay = DelayConfig { initial: one, short: one, long: one, learn: one, hold_down: one };
        let interfaces = (0u16..).map(PortId).zip(costs.iter().map(|cost| interface(*cost))).collect();
        let config = Config { delay, interfaces, ..Config::default() };
        let mut speaker =
            Speaker { ospf: Ospf::new(id(0), config), services: Box::new(services), now: Time::ZERO };
        speaker.pass(Span::from_ms(1));
        for link in 0..OWN {
            speaker.meet(link);
        }
        speaker
    }

    fn with(&mut self, what: impl FnOnce(&mut Ospf, Time, &mut Context<'_>)) {
        what(
            &mut self.ospf,
            self.now,
            &mut Context { services: &mut self.services, owner: Owner::default() },
        );
        while self.ospf.poll_output().is_some() {}
    }

    /// A packet of the neighbour at the other end of a link.
    fn hear(&mut self, link: usize, packet: Result<Vec<u8>, wire::Error>) {
        let mut bytes = packet.expect("a packet");
        Auth::Null.seal(&mut bytes, 0);
        let (port, src, dst, over) =
            (PortId(link as u16), on(link, 2), ALL_SPF_ROUTERS, Over::Ip(IP_PROTOCOL));
        let arrival = Arrival::Ip(IpArrival { port, src, dst, ttl: 1, router_alert: false, over });
        self.with(|ospf, now, context| ospf.handle_message(now, context, &arrival, &bytes));
    }

    /// Becomes adjacent to a neighbour that has nothing to describe.
    fn meet(&mut self, link: usize) {
        let (mask, neighbor) = (Ipv4Addr::new(255, 255, 255, 252), id(link + 1));
        let hello = Hello {
            mask,
            hello_s: LONG_S,
            options: options::E,
            priority: 1,
            dead_s: 4 * u32::from(LONG_S),
            designated: Ipv4Addr::UNSPECIFIED,
            backup: Ipv4Addr::UNSPECIFIED,
            neighbors: vec![id(0)],
        };
        self.hear(link, Body::Hello(hello).packet(neighbor, AREA));
        let first = Description::INIT | Description::MORE | Description::MASTER;
        for (flags, sequence) in [(first, 1), (Description::MASTER, 2)] {
            let description =
                Description { mtu: 1500, options: options::E, flags, sequence, headers: Vec::new() };
            self.hear(link, Body::Description(description).packet(neighbor, AREA));
        }
        let interface = self.ospf.interfaces().nth(link).expect("an interface");
        let is_full = interface.neighbors.values().all(|one| one.state == NeighborState::Full);
        assert!(is_full && interface.neighbors.len() == 1, "the neighbour is adjacent");
    }

    /// An instance that a neighbour floods.
    fn learn(&mut self, node: usize, sequence: i32, router: &Router) {
        let bytes = instance(node, sequence, router);
        self.hear(0, Body::update(id(1), AREA, [(&bytes[..], 1)].into_iter()));
    }

    /// Lets time pass until paths are computed, and says how long that takes, in microseconds.
    fn pass(&mut self, span: Span) -> f64 {
        self.now += span;
        let begin = Instant::now();
        let context = &mut Context { services: &mut self.services, owner: Owner::default() };
        self.ospf.handle_timeout(self.now, context);
        let took = begin.elapsed().as_secs_f64() * 1e6;
        while self.ospf.poll_output().is_some() {}
        took
    }
}

fn text(name: &str) -> Option<String> {
    std::env::args().skip_while(|one| one != name).nth(1)
}

fn number(name: &str, usual: usize) -> usize {
    text(name).map_or(usual, |text| text.parse().expect("a number"))
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

fn main() {
    let (routers, links) = (number("--routers", 10_000), number("--links", 50_000));
    let changes = number("--changes", 1_000).min(routers - 1);
    let mut drawn = Drawn(0x9e37_79b9_7f4a_7c15);
    let mut said = area(routers, links, &mut drawn);

    let graph = Graph::new((0..).map(id).zip(&said), core::iter::empty());
    let leave =
        |address: Ipv4Addr, _| Some(Hop { port: PortId(address.to_bits() as u16 / 4), gateway: address });
    let mut paths = Paths::default();
    let tree = sorted(
        (0..100)
            .map(|_| {
                let begin = Instant::now();
                paths.compute(&graph, id(0), leave, &[]);
                begin.elapsed().as_secs_f64() * 1e3
            })
            .collect(),
    );

    let costs: Vec<u16> = said[0].links.iter().step_by(2).take(OWN).map(|one| one.metric).collect();
    let mut speaker = Speaker::new(&costs);
    // What it says of itself comes after MinLSInterval.
    speaker.pass(Span::from_secs(10));
    speaker.pass(Span::from_secs(1));
    for (node, router) in said.iter().enumerate().skip(1) {
        speaker.learn(node, INITIAL_SEQUENCE, router);
    }
    let cold = speaker.pass(Span::from_secs(1)) / 1e3;
    let prefixes = speaker.ospf.table().len();
    assert_eq!(prefixes, routers + links, "all are reached");

    // Without and with the link by which most routes lead, as if labels were missing there: it is announced after
    // MinLSInterval.
    let by = |port: usize| {
        let leads = |path: &&Path| path.hops.iter().any(|hop| usize::from(hop.port.0) == port);
        speaker.ospf.table().values().filter(leads).count()
    };
    let (routes, port) = (0..OWN).map(|port| (by(port), PortId(port as u16))).max().expect("a port");
    let mut written: Option<(String, Vec<u8>)> = text("--write").map(|file| {
        (file, (1..routers).flat_map(|node| instance(node, INITIAL_SEQUENCE, &said[node])).collect())
    });
    let mut own = Vec::new();
    for _ in 0..if written.is_some() { 0 } else { 20 } {
        speaker.now += Span::from_secs(10);
        let is_avoided = !speaker.services.avoided.is(port);
        speaker.services.avoided.set(
            base::ProtocolId::new("ldp"),
            port,
            is_avoided.then_some(Avoidance::Unready),
        );
        speaker.with(|ospf, now, context| ospf.handle_change(now, context, &Change::Avoided { port }));
        let before = speaker.ospf.computations().0;
        own.push(speaker.pass(Span::from_secs(1)) / 1e3);
        assert_eq!(speaker.ospf.computations().0, before + 1, "paths were computed");
    }
    let own = sorted(own);

    let mut order: Vec<usize> = (1..routers).collect();
    for place in 0..changes {
        let other = place + drawn.below(order.len() - place);
        order.swap(place, other);
    }
    let mut one = Vec::new();
    for &node in &order[..changes] {
        let place = 2 * drawn.below(said[node].links.len() / 2);
        said[node].links[place].metric = drawn.cost();
        if let Some((_, bytes)) = &mut written {
            bytes.extend(instance(node, INITIAL_SEQUENCE + 1, &said[node]));
            continue;
        }
        speaker.now += Span::from_secs(1);
        speaker.learn(node, INITIAL_SEQUENCE + 1, &said[node]);
        one.push(speaker.pass(Span::from_secs(1)));
    }
    if let Some((file, bytes)) = written {
        std::fs::write(file, bytes).expect("a file that can be written");
        println!("{}", json!({"costs": costs, "port": port.0, "routers": routers, "prefixes": prefixes}));
        return;
    }
    let one = sorted(one);
    let at = |part: f64| one[((one.len() - 1) as f64 * part) as usize];
    let figures = json!({
        "routers": routers,
        "links": links,
        "prefixes": prefixes,
        "tree_ms": tree[0],
        "tree_median_ms": tree[tree.len() / 2],
        "routes_by_own_link": routes,
        "own_link_ms": own[0],
        "own_link_median_ms": own[own.len() / 2],
        "one_link_median_us": at(0.5),
        "one_link_median_ms": at(0.5) / 1e3,
        "one_link_p99_us": at(0.99),
        "one_link_most_us": at(1.0),
        "searched_in_part": speaker.ospf.searches_of_a_part(),
        "cold_ms": cold,
    });
    println!("{figures}");
}
