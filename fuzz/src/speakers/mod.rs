//! Two routers that speak OSPF, RSVP-TE, LDP or TDP, BGP, BFD and LSP ping with each other, and somebody between them
//! who changes what they say.
//!
//! ```text
//! r0 ---- (changed here) ---- r1        a tunnel from each to the other
//! ```
//!
//! What is changed has right lengths and checksums again, so that it comes to the protocols. When the changes are over,
//! the two find to each other again.

mod between;
mod edit;
mod settings;

use base::{NodeId, Rate, Span, Time};
use between::Between;
use control::bfd::session::{Role, Session};
use control::bfd::{self, Bfd};
use control::bgp::Bgp;
use control::ldp::Ldp;
use control::ospf::Ospf;
use control::ospf::database::Instance;
use control::ospf::neighbor::NeighborState;
use control::rsvp::Rsvp;
use control::tdp::{Tdp, session::SessionState};
use edit::Edit;
use engine::{LinkSpec, World};
use node::Router;
use settings::Labels;
use std::sync::atomic::{AtomicU64, Ordering};

/// Seconds to say all that is said when two routers meet, and some of what they say later.
const MEETING: u64 = 60;
/// Seconds after the changes before anybody looks: longer than any neighbour waits.
const QUIET: u64 = 20;
/// From then on somebody looks so often.
const LOOK: u64 = 10;
/// Seconds in which they find to each other again. LDP waits for up to two minutes before it tries again (RFC 5036,
/// 2.5.3), and is told a wrong hold time of up to 18 hours by a changed Hello, which the next one corrects.
const HEALING: u64 = 200;
/// Path state that is refreshed every 2 s lives no longer than this (RFC 2205, 3.7: 10.5 s).
const REFRESHED: Span = Span::from_secs(11);

/// Inputs so far, and the messages that they changed.
static RUNS: AtomicU64 = AtomicU64::new(0);
static CHANGED: AtomicU64 = AtomicU64::new(0);
/// What has been done is said each time that so many inputs are over.
const SAID: u64 = 1000;

/// The input is which protocol gives labels to routes, and edits of five bytes each.
pub fn speakers(input: &[u8]) {
    let [labels, edits @ ..] = input else { return };
    let mut pair = Pair::new(if labels & 1 == 0 { Labels::Ldp } else { Labels::Tdp });
    pair.between().edits = edits.chunks_exact(Edit::LEN).map(Edit::read).collect();
    pair.run(MEETING);
    pair.between().edits.clear();
    pair.run(QUIET);
    if pair.is_misled() {
        pair.between().is_cut = true;
        pair.run(QUIET);
        pair.between().is_cut = false;
        pair.run(QUIET);
    }
    pair.heals();
    let changed = pair.between().changed;
    let changed = CHANGED.fetch_add(changed, Ordering::Relaxed) + changed;
    let runs = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    if runs.is_multiple_of(SAID) {
        eprintln!("speakers: {runs} inputs, {changed} messages changed");
    }
}

/// Two routers and who is between them.
struct Pair {
    world: World,
    labels: Labels,
    routers: [NodeId; 2],
    between: NodeId,
}

impl Pair {
    fn new(labels: Labels) -> Pair {
        let mut world = World::new(1);
        let between = world.add_device(Box::new(Between::default()));
        let routers = [0, 1].map(|number| {
            let router = Router::new(settings::router(number, labels, world.streams()));
            let router = world.add_device(Box::new(router));
            let link = LinkSpec::new(router, between, Rate::from_gbps(1), Span::from_us(10));
            world.add_link(link.with_buffer(1 << 22)).expect("a link");
            world.command(Time(0), router, settings::tunnel(number)).expect("a router");
            router
        });
        Pair { world, labels, routers, between }
    }

    fn run(&mut self, seconds: u64) {
        let end = Time(self.world.now().0 + seconds * 1_000_000_000_000);
        self.world.run_until(end).unwrap_or_else(|error| panic!("{error}"));
    }

    fn between(&mut self) -> &mut Between {
        self.world.device_mut(self.between).expect("a device")
    }

    /// Does a router have an advertisement of OSPF otherwise than the one that made it? A change with a right checksum
    /// is believed until the advertisement is made again, after half an hour, or until the two compare what they have.
    fn is_misled(&self) -> bool {
        let [one, other] = self.routers.map(|node| {
            let router: &Router = self.world.device(node).expect("a router");
            router.control().protocol::<Ospf>().expect("OSPF").databases()
        });
        let said = |known: &Instance| (known.header().sequence, known.content().bytes().to_vec());
        one.iter().any(|(scope, known)| {
            other.get(scope, &known.key()).is_some_and(|there| said(there) != said(known))
        })
    }

    /// The two find to each other by all protocols.
    fn heals(&mut self) {
        let end = Time(self.world.now().0 + HEALING * 1_000_000_000_000);
        while self.world.now() < end && self.lack().is_some() {
            self.run(LOOK);
        }
        assert_eq!(self.lack(), None);
        assert!(self.world.audit().is_empty(), "frames vanished");
    }

    /// What a router lacks of what it had if nobody changed anything.
    fn lack(&self) -> Option<String> {
        self.routers.iter().find_map(|&node| {
            let router: &Router = self.world.device(node).expect("a router");
            let control = router.control();
            let ospf: &Ospf = control.protocol().expect("OSPF");
            let mut neighbors = ospf.interfaces().flat_map(|interface| interface.neighbors.values());
            if !neighbors.any(|neighbor| neighbor.state == NeighborState::Full) {
                let all: Vec<_> = ospf.interfaces().map(|interface| &interface.neighbors).collect();
                return Some(format!("{node:?}: no neighbour of OSPF: {all:?}"));
            }
            let is_labelled = match self.labels {
                Labels::Ldp => {
                    let ldp: &Ldp = control.protocol().expect("LDP");
                    ldp.sessions().any(|session| session.is_operational())
                }
                Labels::Tdp => {
                    let tdp: &Tdp = control.protocol().expect("TDP");
                    tdp.sessions().any(|session| session.state == SessionState::Operational)
                }
            };
            if !is_labelled {
                return Some(format!("{node:?}: no session of {:?}", self.labels));
            }
            let bgp: &Bgp = control.protocol().expect("BGP");
            if !bgp.peers()[0].is_established() {
                return Some(format!("{node:?}: no session of BGP: {:?}", bgp.peers()));
            }
            let bfd: &Bfd = control.protocol().expect("BFD");
            // Of what nobody here has watched any more the other end is told only as often as it wants to hear: up to
            // 71 minutes from one packet to the next.
            let is_wanted = |one: &&Session| !one.clients.is_empty() || matches!(one.role, Role::Tail { .. });
            let is_down = |one: &&Session| one.state != bfd::states::SessionState::Up;
            let down: Vec<_> = bfd.sessions().filter(is_wanted).filter(is_down).collect();
            if !down.is_empty() {
                return Some(format!("{node:?}: sessions of BFD that are not up: {down:?}"));
            }
            let rsvp: &Rsvp = control.protocol().expect("RSVP-TE");
            let tunnels: Vec<_> = rsvp.tunnels().collect();
            // Its own, the other's, and nothing that somebody made up; but state stays as long as a changed TIME_VALUES
            // said that it would.
            let soon = self.world.now() + REFRESHED;
            let lsps =
                rsvp.lsps().filter(|lsp| lsp.path_expires.is_none_or(|expires| expires <= soon)).count();
            let is_right = tunnels.iter().all(|tunnel| tunnel.active.is_some()) && lsps == 2;
            (!is_right).then(|| format!("{node:?}: {lsps} LSPs; {tunnels:?}"))
        })
    }
}
