//! Each packet over two LSPs, of which the end takes one: what is written, and that nothing is left.

use super::Net;
use super::alternatives::{THREE_WAYS, announce, asking, network};
use super::bus::id;
use crate::protocol::Change;
use crate::rsvp::Event;
use crate::rsvp::command::{Command, PathRequest, SelectorSpec, TunnelId};
use crate::services::te::Disjoint;
use crate::services::{WatchedLsp, WatchedPath};
use base::Span;
use base::plane::Prefix;
use base::random::Streams;
use core::net::Ipv4Addr;
use proptest::prelude::*;
use rand_chacha::rand_core::Rng;

/// Where the tunnel ends that begins at node 0.
const TAIL: usize = 4;
const TUNNEL: u16 = 1;

fn name() -> TunnelId {
    TunnelId { to: id(TAIL), id: TUNNEL }
}

fn set(net: &mut Net) {
    let twice =
        PathRequest { k: 8, standby: Some(Disjoint::Link), one_plus_one: true, ..PathRequest::default() };
    net.tunnel(0, asking(TAIL, 100, twice));
}

/// The end of the tunnel is told what its LSPs are.
fn tell(net: &mut Net, revert_after: Option<Span>) {
    let selector = Some(SelectorSpec { revert_after });
    net.command(TAIL, Command::Selector { from: id(0), tunnel: name(), selector });
}

/// How often a packet comes out at the end.
fn received(net: &Net) -> usize {
    let prefix = Prefix::new(Ipv4Addr::new(172, 16, TUNNEL as u8, 0), 24);
    net.copies(0, prefix).0.get(&TAIL).copied().unwrap_or(0)
}

fn branches(net: &Net) -> usize {
    net.tables[0].lists.values().map(|branches| branches.len()).sum()
}

/// BFD at the end hears the head end by an LSP, or does not.
fn hear(net: &mut Net, lsp_id: u16, is_alive: bool) {
    let lsp = WatchedLsp::Rsvp {
        endpoint: id(TAIL),
        tunnel_id: TUNNEL,
        extended_tunnel_id: id(0),
        sender: id(0),
        lsp_id,
    };
    let path = WatchedPath::end(lsp).expect("of RSVP-TE");
    net.change(TAIL, Change::Liveness { path, is_alive });
}

fn chosen(net: &Net) -> (Option<u16>, Option<u16>) {
    let selector = net.nodes[TAIL].selectors().next().expect("a selector");
    (selector.selected, selector.working)
}

#[test]
fn both_lsps_carry_and_one_is_taken() {
    let mut net = network(THREE_WAYS, |_| &[]);
    tell(&mut net, Some(Span::from_secs(5)));
    set(&mut net);
    net.run(200);
    assert_eq!((received(&net), branches(&net)), (1, 2));
    let (first, working) = chosen(&net);
    assert!(first.is_some() && first == working);
    // The end does not hear the first: it takes the other, and goes back when that was heard for long enough.
    let other = net.nodes[TAIL].lsps().map(|lsp| lsp.lsp_id).find(|lsp| Some(*lsp) != first);
    hear(&mut net, first.expect("an LSP"), false);
    net.run(10);
    assert_eq!((chosen(&net), received(&net)), ((other, first), 1));
    // It hears neither: it stays.
    hear(&mut net, other.expect("an LSP"), false);
    net.run(10);
    assert_eq!(chosen(&net), (other, first));
    hear(&mut net, other.expect("an LSP"), true);
    hear(&mut net, first.expect("an LSP"), true);
    net.run(4_900);
    assert_eq!(chosen(&net), (other, first));
    net.run(200);
    assert_eq!((chosen(&net), received(&net)), ((first, first), 1));
    let selected = net.events.iter().filter(|(_, event)| matches!(event, Event::LspSelected { .. }));
    assert_eq!(selected.count(), 3);
    net.command(0, Command::TunnelRemove(name()));
    net.run(5_000);
    net.assert_clean();
}

/// An LSP by which nothing has been heard yet does not take the place of one that is heard, whatever its rank.
#[test]
fn what_is_not_heard_yet_is_not_gone_back_to() {
    let mut net = network(THREE_WAYS, |_| &[]);
    tell(&mut net, Some(Span::from_secs(5)));
    set(&mut net);
    net.run(200);
    let ids = |net: &Net| net.nodes[TAIL].lsps().map(|lsp| lsp.lsp_id).collect::<Vec<u16>>();
    let first = chosen(&net).0.expect("an LSP");
    let other = ids(&net).into_iter().find(|lsp| *lsp != first).expect("an LSP");
    // BFD comes up by the other one first: that alone is no reason to move.
    hear(&mut net, other, true);
    net.run(10);
    assert_eq!(chosen(&net).0, Some(first));
    hear(&mut net, first, true);
    let port = net.nodes[TAIL].lsps().find(|lsp| lsp.lsp_id == first).and_then(|lsp| lsp.previous_hop);
    let middle = usize::from(port.expect("a previous hop").port.0) + 1;
    net.link(middle, TAIL, false);
    let link = THREE_WAYS.iter().position(|&(a, b, _)| (a, b) == (middle, TAIL)).expect("a link");
    announce(&mut net, THREE_WAYS, link, &[], false);
    net.run(30_000);
    let third = ids(&net).into_iter().find(|lsp| ![first, other].contains(lsp)).expect("another LSP");
    assert_eq!(chosen(&net), (Some(other), Some(third)));
    hear(&mut net, third, true);
    net.run(5_100);
    assert_eq!((chosen(&net).0, received(&net)), (Some(third), 1));
}

/// The head end moves one of the LSPs by itself: three carry for a moment, and never more than one comes out.
#[test]
fn a_better_path_takes_nothing_away() {
    let mut net = network(THREE_WAYS, |_| &[]);
    tell(&mut net, None);
    set(&mut net);
    net.run(200);
    net.command(0, Command::TunnelReoptimise(name()));
    let mut most = 0;
    for _ in 0..100 {
        net.run(50);
        assert_eq!(received(&net), 1);
        most = most.max(branches(&net));
    }
    assert_eq!((most, branches(&net)), (3, 2));
}

#[derive(Clone, Debug)]
enum Step {
    Set,
    Remove,
    Reoptimise,
    Link { link: usize, up: bool },
    Restart { node: usize },
    Hear { which: usize, is_alive: bool },
    Run { ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Set),
        1 => Just(Step::Remove),
        1 => Just(Step::Reoptimise),
        4 => (0usize..6, any::<bool>()).prop_map(|(link, up)| Step::Link { link, up }),
        1 => (0usize..5).prop_map(|node| Step::Restart { node }),
        3 => (0usize..3, any::<bool>()).prop_map(|(which, is_alive)| Step::Hear { which, is_alive }),
        6 => prop_oneof![0u64..20, 0u64..2_000, 0u64..100_000].prop_map(|ms| Step::Run { ms }),
    ]
}

fn apply(net: &mut Net, step: &Step) {
    match *step {
        Step::Set => set(net),
        Step::Remove => net.command(0, Command::TunnelRemove(name())),
        Step::Reoptimise => net.command(0, Command::TunnelReoptimise(name())),
        Step::Link { link, up } => {
            let (a, b, _) = THREE_WAYS[link];
            net.link(a, b, up);
            announce(net, THREE_WAYS, link, &[], up);
        }
        Step::Restart { node } => {
            net.tables[node] = Default::default();
            net.change(node, Change::Restart);
        }
        Step::Hear { which, is_alive } => {
            let lsp = net.nodes[TAIL].lsps().nth(which);
            if let Some(lsp) = lsp {
                hear(net, lsp.lsp_id, is_alive);
            }
        }
        Step::Run { ms } => net.run(ms),
    }
}

fn programme(steps: &[Step], loss: u32, revert_after: Option<Span>) -> Result<(), TestCaseError> {
    let mut net = network(THREE_WAYS, |_| &[]);
    tell(&mut net, revert_after);
    if loss > 0 {
        let mut random = Streams::new(u64::from(loss)).stream("loss");
        net.lose = Some(Box::new(move |_, _| random.next_u32() % 100 < loss));
    }
    for step in steps {
        apply(&mut net, step);
        // What the selector lets through comes once, whatever else has happened.
        prop_assert!(received(&net) <= 1, "{} at once", received(&net));
    }
    net.lose = None;
    for link in 0..THREE_WAYS.len() {
        apply(&mut net, &Step::Link { link, up: true });
    }
    net.run(400_000);
    if net.nodes[0].tunnels().next().is_some() {
        prop_assert_eq!((received(&net), branches(&net)), (1, 2));
    }
    net.command(0, Command::TunnelRemove(name()));
    net.run(400_000);
    net.assert_clean();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2_000, ..testing::cases(300) })]

    /// Failures, repairs, restarts, lost messages, and whatever BFD says.
    #[test]
    fn one_copy_comes_out_and_nothing_is_left(
        steps in proptest::collection::vec(step(), 1..30),
        loss in prop_oneof![Just(0u32), 1u32..40],
        reverts in any::<bool>(),
    ) {
        programme(&steps, loss, reverts.then(|| Span::from_secs(5)))?;
    }
}

/// A head end with `revert_after`, the ways that its LSPs take, first that of the one that counts as active, and the
/// way by which the tail end takes packets.
struct Reverting(Net);

impl Reverting {
    fn new() -> Reverting {
        let mut net = network(THREE_WAYS, |_| &[]);
        let wait = Some(Span::from_secs(1));
        tell(&mut net, wait);
        let asked = PathRequest {
            k: 8,
            standby: Some(Disjoint::Link),
            one_plus_one: true,
            revert_after: wait,
            ..PathRequest::default()
        };
        net.tunnel(0, asking(TAIL, 100, asked));
        net.run(200);
        Reverting(net)
    }

    /// The link behind a router in the middle fails, or is there again. Nothing is lost for long, nothing comes twice.
    fn change(&mut self, middle: usize, is_there: bool) {
        let Reverting(net) = self;
        net.link(middle, TAIL, is_there);
        let link = THREE_WAYS.iter().position(|&(a, b, _)| (a, b) == (middle, TAIL)).expect("a link");
        announce(net, THREE_WAYS, link, &[], is_there);
        for _ in 0..80 {
            net.run(50);
            assert_eq!(received(net), 1);
        }
    }

    fn by(&self, lsp: Option<u16>) -> usize {
        let lsp = self.0.nodes[0].lsps().find(|known| Some(known.lsp_id) == lsp).expect("an LSP");
        usize::from(lsp.next_hop.expect("a next hop").port.0) + 1
    }

    fn ways(&self) -> ([usize; 2], usize) {
        let tunnel = self.0.nodes[0].tunnels().next().expect("a tunnel");
        let other = self.0.nodes[0].lsps().map(|lsp| lsp.lsp_id).find(|lsp| Some(*lsp) != tunnel.active);
        ([self.by(tunnel.active), self.by(other)], self.by(chosen(&self.0).0))
    }
}

/// One failure: the LSP that came in the place of the one that failed is led along the best path, and the tail end
/// takes it again.
#[test]
fn the_lsp_on_the_worse_path_is_led_back() {
    let mut net = Reverting::new();
    assert_eq!(net.ways(), ([1, 2], 1));
    net.change(1, false);
    assert_eq!(net.ways(), ([2, 3], 3));
    net.change(1, true);
    assert_eq!(net.ways(), ([1, 2], 1));
}

/// Two failures: an LSP that is on the best path is left there, without a message.
#[test]
fn an_lsp_that_is_on_the_best_path_stays() {
    let mut net = Reverting::new();
    net.change(1, false);
    net.change(2, false);
    net.change(1, true);
    let ([active, other], _) = net.ways();
    assert_eq!((active, other), (1, 3));
    let last = |net: &Reverting| net.0.nodes[0].lsps().map(|lsp| lsp.lsp_id).max();
    let before = last(&net);
    net.change(2, true);
    assert_eq!((last(&net), net.ways().0), (before, [1, 3]), "the other stays where it is, too");
}
