//! A router with OSPF and BFD beside ospfd and bfdd of FRR, by the clock on the wall; `bird`: the same beside BIRD.

mod bird;

use crate::frr::Frr;
use crate::ospf::speaker::{config, full, ospf, router};
use base::describe::{Describe, Value};
use base::{PortId, Rate, Span, Time};
use control::bfd::session::Session;
use control::bfd::states::SessionState;
use control::bfd::{Bfd, section::BfdSpec};
use control::ospf::interface::{InterfaceConfig, NetworkType};
use control::services::Pace;
use core::net::Ipv4Addr;
use engine::external::{Clock, ExternalSpec, open};
use engine::real_time::{Control, Runner};
use engine::{LinkSpec, World};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};
use testing::Pair;
use twinplane_node::{Peer, Router};

const OWN: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const THEIRS: &str = "10.9.0.2";

/// Packets may be missing for 20 s: this test is not the only one that runs.
const BFDD: &str =
    "bfd\n profile slow\n  detect-multiplier 50\n  receive-interval 400\n  transmit-interval 400\n";
const OSPFD: &str = "interface e0\n ip ospf hello-interval 1\n ip ospf dead-interval 40\n ip ospf network point-to-point\n \
                     ip ospf bfd\n ip ospf bfd profile slow\n\
                     router ospf\n ospf router-id 192.0.2.200\n network 10.0.0.0/8 area 0\n";

/// A router whose only port is beside FRR, by the clock.
struct Beside {
    world: World,
    runner: Runner,
    until: Time,
}

/// The session with FRR, if there is one.
fn session(world: &World) -> Option<&Session> {
    let bfd: &Bfd = router(world, 0).control().protocol().expect("BFD");
    bfd.sessions().next()
}

fn is_in(world: &World, state: SessionState) -> bool {
    session(world).is_some_and(|session| session.state == state)
}

impl Beside {
    fn new(pair: &Pair) -> Beside {
        let mut world = World::new(1);
        let settings = InterfaceConfig {
            network: NetworkType::PointToPoint,
            hello_s: 1,
            dead_s: 40,
            bfd: Some(Pace::default()),
            ..InterfaceConfig::default()
        };
        let mut config = config(0, &[(OWN, settings)], world.streams());
        let said: Value =
            serde_json::from_value(json!({"interval": "300 ms", "multiplier": 60})).expect("a value");
        config.protocols.push(Arc::new(BfdSpec::read(&said).expect("settings")));
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
            assert!(Instant::now() < limit, "not {what}: {:?}", session(&self.world));
            self.until += Span::from_ms(300);
            self.runner.run_until(&mut self.world, self.until, &mut |_, _| Control::Continue).expect("a run");
        }
    }

    /// Runs until FRR says something of its session.
    fn wait_told(&mut self, frr: &Frr, words: &[&str]) {
        let limit = Instant::now() + Duration::from_secs(60);
        loop {
            let until = self.until + Span::from_ms(300);
            self.wait("a moment", |world| world.now() >= until);
            let told = frr.ask("show bfd peers");
            if words.iter().all(|word| told.contains(word)) {
                return;
            }
            assert!(Instant::now() < limit, "{words:?} not in {told}");
        }
    }
}

#[test]
fn frr_agrees_on_intervals_and_a_session_that_is_shut_down_loses_no_neighbour() {
    if !testing::available("vtysh") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    let mut beside = Beside::new(&pair);
    let daemons = [("zebra", "hostname frr\n"), ("bfdd", BFDD), ("ospfd", OSPFD)];
    let frr = Frr::start(&pair, "bfd", &daemons);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    beside.wait("up", |world| is_in(world, SessionState::Up));
    // What the other end has heard is on its way.
    beside.wait_told(&frr, &["Status: up", "Transmission interval: 300ms", "Detect-multiplier: 60"]);
    let agreed = |world: &World| {
        let session = session(world).expect("a session");
        (session.interval(), session.detection()) == (Span::from_ms(400), Span::from_secs(20))
    };
    beside.wait("agreed", agreed);
    // FRR's session is shut down: ours goes down, and the neighbour stays (RFC 5882, 4.2).
    let since = |world: &World| {
        let neighbors = ospf(world, 0).interfaces().flat_map(|one| one.neighbors.values());
        neighbors.map(|neighbor| neighbor.since).next()
    };
    let before = since(&beside.world);
    let peer = format!("peer {OWN} interface e0");
    frr.configure(&["bfd", &peer, "shutdown"]);
    beside.wait("down", |world| is_in(world, SessionState::Down));
    let said = session(&beside.world).map(|session| session.remote.state);
    assert_eq!(said, Some(wire::bfd::State::AdminDown));
    assert_eq!((full(&beside.world, 0), since(&beside.world)), (1, before));
    frr.configure(&["bfd", &peer, "no shutdown"]);
    beside.wait("up again", |world| is_in(world, SessionState::Up));
    assert_eq!((full(&beside.world, 0), since(&beside.world)), (1, before));
    // bfdd is silent, ospfd goes on: the neighbour is lost before its Hellos are missed, and may soon be met again.
    frr.pause("bfdd");
    beside.wait("lost", |world| is_in(world, SessionState::Down) && since(world) != before);
}
