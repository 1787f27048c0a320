//! A router beside bgpd of FRR, beside BIRD and beside GoBGP: the daemons in a namespace of their own, the router's
//! port at the other end of a veth.

mod bird;
mod exabgp;
mod gobgp;
mod labelled;

use crate::frr::Frr;
use base::describe::{Describe, Value};
use base::plane::{NextHop, Prefix};
use base::{MacAddr, NodeId, PortId, Rate, Span, Time};
use control::Setup;
use control::bgp::Bgp;
use control::bgp::section::BgpSpec;
use core::net::Ipv4Addr;
use engine::external::{Clock, ExternalSpec, open};
use engine::real_time::{Control, Runner};
use engine::{LinkSpec, World};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::router::{Address6, PortSetup, RouterConfig};
use twinplane_node::{Peer, Router};

const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const ID: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Of this router, and behind FRR.
const TOLD: &str = "203.0.113.0/24";
const TOLD6: &str = "2001:db8:a::/48";
const BEHIND: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 0);

/// A pair of namespaces, of which the second one has an address for a daemon; nothing without the daemon's program.
fn begin(program: &str) -> Option<Pair> {
    if !testing::available(program) {
        return None;
    }
    let pair = Pair::new(1500)?;
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    Some(pair)
}

/// FRR's zebra and bgpd of an AS, with these lines more.
fn frr(pair: &Pair, name: &str, asn: u32, lines: &str) -> Frr {
    let bgpd = format!(
        "router bgp {asn}\n bgp router-id 192.0.2.200\n no bgp ebgp-requires-policy\n neighbor {OWN} remote-as 65001\n \
         neighbor {OWN} timers connect 2\n{lines} address-family ipv4 unicast\n  network {BEHIND}/24\n \
         exit-address-family\n"
    );
    Frr::start(pair, &format!("bgp-{name}"), &[("zebra", "hostname frr\n"), ("bgpd", &bgpd)])
}

/// A router whose only port is beside FRR, by the clock.
struct Beside {
    world: World,
    runner: Runner,
    until: Time,
}

fn router(world: &World) -> &Router {
    world.device(NodeId(0)).expect("a router")
}

fn bgp(world: &World) -> &Bgp {
    router(world).control().protocol().expect("BGP")
}

/// A neighbour of another AS.
fn neighbor(asn: u32) -> serde_json::Value {
    json!({"asn": asn, "import": "all", "export": "all", "advertisement_interval": "1 s"})
}

impl Beside {
    fn new(pair: &Pair, asn: u32, more: &serde_json::Value) -> Beside {
        Beside::with(pair, asn, more, None)
    }

    /// The same with an IPv6 address of its port.
    fn with(pair: &Pair, asn: u32, more: &serde_json::Value, ipv6: Option<Address6>) -> Beside {
        let mut neighbor = neighbor(asn);
        for (key, value) in more.as_object().into_iter().flatten() {
            neighbor[key] = value.clone();
        }
        Beside::among(pair, &json!({THEIRS.to_string(): neighbor}), ipv6)
    }

    /// A router with several neighbours on its link.
    fn among(pair: &Pair, neighbors: &serde_json::Value, ipv6: Option<Address6>) -> Beside {
        let said = json!({
            "asn": 65001, "networks": [TOLD, TOLD6], "neighbors": neighbors,
            "hold_time": "9 s", "connect_retry": "2 s",
        });
        let said: Value = serde_json::from_value(said).expect("a value");
        let setup: Arc<dyn Setup> = Arc::new(BgpSpec::read(&said).expect("settings"));
        let mut world = World::new(1);
        let port = PortSetup::new(MacAddr([2, 0, 0, 0, 0, 1]), OWN, 24);
        let ports = vec![PortSetup { ipv6, ..port }];
        let config = RouterConfig::ideal("r".into(), ID, ports, vec![setup], world.streams());
        let node = world.add_device(Box::new(Router::new(config)));
        let beyond = world.add_device(Box::new(Peer::new()));
        let link = LinkSpec::new(node, beyond, Rate::from_gbps(1), Span::ZERO).with_buffer(1 << 22);
        world.add_link(link).expect("a link");
        let spec = ExternalSpec { netns: Some(pair.netns(0)), offload: true, ..ExternalSpec::new("e0") };
        let mut runner = Runner::new(Clock::new());
        runner.attach(&mut world, node, PortId(0), open(&spec).expect("an interface")).expect("a port");
        Beside { world, runner, until: Time::ZERO }
    }

    /// Runs until something is so.
    fn wait(&mut self, what: &str, mut is_so: impl FnMut(&World) -> bool) {
        self.wait_while_it_goes_on(what, |world| (0, is_so(world)));
    }

    /// The same as long as a number changes.
    fn wait_while_it_goes_on(&mut self, what: &str, mut is_so: impl FnMut(&World) -> (u64, bool)) {
        let mut limit = Instant::now() + Duration::from_secs(120);
        let mut last = None;
        loop {
            let (number, is_so) = is_so(&self.world);
            if is_so {
                return;
            }
            if last.replace(number) != Some(number) {
                limit = Instant::now() + Duration::from_secs(120);
            }
            assert!(Instant::now() < limit, "not {what}: {:?}", bgp(&self.world).peers());
            self.until += Span::from_ms(300);
            self.runner.run_until(&mut self.world, self.until, &mut |_, _| Control::Continue).expect("a run");
        }
    }
}

/// A session, routes both ways, and a refresh; then FRR is killed and comes back.
fn meet(name: &str, asn: u32, lines: &str, path: &str) {
    if !testing::available("vtysh") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["link", "add", "d0", "type", "veth", "peer", "name", "d1"]);
    pair.ip(1, &["link", "set", "d1", "up"]);
    pair.ip(1, &["address", "add", "10.7.0.1/24", "dev", "d0"]);
    pair.ip(1, &["link", "set", "d0", "up"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    let mut beside = Beside::new(&pair, asn, &json!({}));
    let via = [NextHop::Via { port: PortId(0), gateway: THEIRS.into() }];
    let routed =
        |world: &World| router(world).control().services().rib.next_hops(Prefix::new(BEHIND, 24)) == via;
    for life in 1..=2 {
        let frr = frr(&pair, &format!("{name}{life}"), asn, lines);
        beside.wait("established", |world| bgp(world).peers()[0].is_established());
        beside.wait("routed", routed);
        beside.wait("told", |_| {
            let said = frr.ask(&format!("show ip bgp {TOLD}"));
            said.contains(path) && said.contains(&OWN.to_string()) && said.contains("best")
        });
        let before = bgp(&beside.world).peers()[0].updates_received;
        frr.ask(&format!("clear ip bgp {OWN} soft in"));
        frr.ask(&format!("clear ip bgp {OWN} soft out"));
        beside.wait("told again", |world| bgp(world).peers()[0].updates_received > before);
        let peer = &bgp(&beside.world).peers()[0];
        assert!(peer.is_established() && peer.malformed == 0, "{peer:?}");
        drop(frr);
        beside.wait("lost", |world| !bgp(world).peers()[0].is_established() && !routed(world));
    }
}

#[test]
fn frr_of_another_as_exchanges_routes() {
    meet("external", 65002, "", "65001");
}

#[test]
fn frr_of_an_as_with_a_long_number_exchanges_routes() {
    meet("long", 4_200_000_000, "", "65001");
}

#[test]
fn frr_of_the_same_as_exchanges_routes() {
    meet("internal", 65001, "", "localpref 100");
}
