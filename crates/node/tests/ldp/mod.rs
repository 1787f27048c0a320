//! A router beside ldpd and ospfd of FRR: the daemons in a namespace of their own, the router's port at the other end
//! of a veth.

use crate::frr::Frr;
use crate::ospf::speaker::{config, id, router};
use base::describe::{Describe, Value};
use base::plane::Prefix;
use base::{Label, PortId, Rate, Span, Time};
use control::ldp::Ldp;
use control::ldp::section::LdpSpec;
use control::ldp::session::Session;
use control::ospf::interface::{InterfaceConfig, NetworkType};
use core::net::Ipv4Addr;
use engine::external::{Clock, ExternalSpec, open};
use engine::real_time::{Control, Runner};
use engine::{LinkSpec, World};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::{Peer, Router};

const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const THEIRS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const THEIR_ID: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 200);
/// A network behind FRR.
const BEHIND: Ipv4Addr = Ipv4Addr::new(10, 7, 0, 0);

type Labels = BTreeMap<Prefix, Label>;

/// A router whose only port is beside FRR, by the clock.
struct Beside {
    world: World,
    runner: Runner,
    until: Time,
}

fn ldp(world: &World) -> &Ldp {
    router(world, 0).control().protocol().expect("LDP")
}

/// The session with FRR, if it is established.
fn labels(world: &World) -> Option<&control::services::distribution::Peer> {
    session(world)?.labels(ldp(world))
}

/// Labels that a neighbour has given, and those that it was given.
fn exchanged(with: &control::services::distribution::Peer) -> (Labels, Labels) {
    let [given, sent] = [&with.given, &with.sent]
        .map(|labels| labels.iter().map(|(prefix, label)| (prefix, *label)).collect());
    (given, sent)
}

fn session(world: &World) -> Option<&Session> {
    ldp(world).sessions().find(|session| session.is_operational())
}

impl Beside {
    fn new(pair: &Pair, number: usize, more: &serde_json::Value) -> Beside {
        let mut world = World::new(1);
        let settings = InterfaceConfig {
            network: NetworkType::PointToPoint,
            hello_s: 1,
            dead_s: 4,
            ..InterfaceConfig::default()
        };
        let mut config = config(number, &[(OWN, settings)], world.streams());
        let mut said = json!({"hello_interval": "1 s", "hold_time": "4 s", "keepalive_time": "6 s"});
        for (key, value) in more.as_object().expect("settings") {
            said[key] = value.clone();
        }
        let said: Value = serde_json::from_value(said).expect("a value");
        config.protocols.push(Arc::new(LdpSpec::read(&said).expect("settings")));
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
        let limit = Instant::now() + Duration::from_secs(120);
        while !is_so(&self.world) {
            assert!(Instant::now() < limit, "not {what}: {:?}", ldp(&self.world));
            self.until += Span::from_ms(300);
            self.runner.run_until(&mut self.world, self.until, &mut |_, _| Control::Continue).expect("a run");
        }
    }
}

/// Labels that FRR has given and those that it was given by a router, as it says.
fn bindings(frr: &Frr, of: Ipv4Addr) -> (Labels, Labels) {
    let label = |word: &str| match word {
        "imp-null" => Some(Label::IMPLICIT_NULL),
        word => word.parse().ok().and_then(Label::new),
    };
    let (mut local, mut remote) = (Labels::new(), Labels::new());
    for line in frr.ask("show mpls ldp binding").lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["ipv4", prefix, router, given, taken, ..] = words[..] else { continue };
        let Some((address, len)) = prefix.split_once('/') else { continue };
        let prefix = Prefix::new(address.parse().expect("an address"), len.parse().expect("a length"));
        local.extend(label(given).map(|label| (prefix, label)));
        if router == of.to_string() {
            remote.extend(label(taken).map(|label| (prefix, label)));
        }
    }
    (local, remote)
}

/// A session, and each end has the labels of the other; then FRR is killed and comes back.
fn meet(name: &str, number: usize, more: &serde_json::Value, neighbor: &str) {
    if !testing::available("vtysh") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    pair.ip(1, &["address", "add", &format!("{THEIR_ID}/32"), "dev", "lo"]);
    pair.ip(1, &["link", "add", "d0", "type", "veth", "peer", "name", "d1"]);
    pair.ip(1, &["link", "set", "d1", "up"]);
    pair.ip(1, &["address", "add", "10.7.0.1/24", "dev", "d0"]);
    pair.ip(1, &["link", "set", "d0", "up"]);
    pair.ip(1, &["link", "set", "lo", "up"]);
    let ospfd = format!(
        "interface e0\n ip ospf network point-to-point\n ip ospf hello-interval 1\n ip ospf dead-interval 4\n\
         router ospf\n ospf router-id {THEIR_ID}\n network 10.0.0.0/8 area 0\n network 192.0.2.0/24 area 0\n"
    );
    let ldpd = format!(
        "mpls ldp\n router-id {THEIR_ID}\n {neighbor}\n discovery hello interval 1\n discovery hello holdtime 4\n \
         address-family ipv4\n  discovery transport-address {THEIR_ID}\n  interface e0\n  exit\n exit-address-family\n"
    );
    // With ordered control FRR 8.4 gives no label for what it knows from the only neighbour that it has.
    let is_ordered = neighbor == "ordered-control";
    let mut beside = Beside::new(&pair, number, more);
    let (own, theirs) = (Prefix::host(id(number)), [Prefix::host(THEIR_ID), Prefix::new(BEHIND, 24)]);
    for life in 1..=2 {
        let daemons = [("zebra", "hostname frr\n"), ("ospfd", &ospfd), ("ldpd", &ldpd)];
        let frr = Frr::start(&pair, &format!("{name}{life}"), &daemons);
        beside.wait("established", |world| session(world).is_some());
        // The end with the greater address has begun the connection (RFC 5036, 2.5.2).
        let begun = session(&beside.world).map(|session| session.is_active);
        assert_eq!(begun, Some(id(number) > THEIR_ID));
        beside.wait("the same at both ends", |world| {
            let Some((given, sent)) = labels(world).map(exchanged) else { return false };
            let has = |labels: &Labels, prefix: &Prefix| labels.contains_key(prefix);
            let is_whole = has(&given, &own) != is_ordered
                && theirs.iter().all(|one| has(&given, one) && has(&sent, one));
            let (mut local, remote) = bindings(&frr, id(number));
            if is_ordered {
                local.remove(&own);
            }
            is_whole && (local, remote) == (given, sent)
        });
        let session = labels(&beside.world).expect("a session");
        let (given, sent) = exchanged(session);
        // What is right at a router comes without a label, the rest with one of its own.
        assert_eq!(sent[&own], Label::IMPLICIT_NULL);
        assert!(is_ordered || given[&own] > Label::IMPLICIT_NULL, "{given:?}");
        for prefix in theirs {
            assert_eq!(given[&prefix], Label::IMPLICIT_NULL);
            assert!(sent[&prefix] > Label::IMPLICIT_NULL, "{sent:?}");
        }
        assert!(session.addresses.contains(&THEIRS), "{:?}", session.addresses);
        assert!(frr.ask("show mpls ldp neighbor").contains("OPERATIONAL"));
        drop(frr);
        beside.wait("lost", |world| self::session(world).is_none());
    }
}

#[test]
fn frr_that_connects_exchanges_labels() {
    meet("passive", 0, &json!({}), "");
}

#[test]
fn frr_that_is_connected_to_exchanges_labels() {
    meet("active", 200, &json!({}), "");
}

/// RFC 2385: both ends sign what they send, as the kernel does it for FRR.
#[test]
fn frr_with_a_password_exchanges_labels() {
    for (name, number) in [("signed", 0), ("signing", 200)] {
        let neighbor = format!("neighbor {} password secret", id(number));
        meet(name, number, &json!({"password": "secret"}), &neighbor);
    }
}

/// With ordered control at both ends each router is the last for its own prefixes, and this one gives labels for what
/// FRR has given labels for.
#[test]
fn frr_exchanges_labels_with_ordered_control() {
    meet("ordered", 0, &json!({"control": "ordered"}), "ordered-control");
}
