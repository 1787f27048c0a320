//! Elections of the router that forwards onto a link (RFC 7761, 4.6).

use super::*;
use AssertState::{Loser, NoInfo, Winner};

/// An Assert of the tree with this preference and metric.
fn says(preference: u32, metric: u32) -> Repr {
    let (group, source) = (GROUP.into(), SOURCE.into());
    Repr::Assert(Assert { group, source, rpt: false, preference, metric })
}

fn cancel() -> Repr {
    let (group, source) = (GROUP.into(), SOURCE.into());
    let (preference, metric) = (Assert::WORST_PREFERENCE, u32::MAX);
    Repr::Assert(Assert { group, source, rpt: true, preference, metric })
}

fn state(node: &Node, port: u16) -> AssertState {
    node.leg(port).1
}

/// A router that forwards to `DOWN`; its route is a static one: preference 1, metric 0.
fn forwarding() -> Node {
    let mut node = Node::met(&[]);
    node.hears(DOWN, 7, &join(DOWN, 5));
    node
}

fn data(node: &mut Node, port: u16) -> Vec<(u16, Repr)> {
    node.changes(Change::WrongInterface { key: ID.key(), port: PortId(port) })
}

#[test]
fn metrics_are_compared_as_the_rfc_says() {
    let metric = |rpt, preference, metric, last: u8| super::super::metric::Metric {
        rpt,
        preference,
        metric,
        address: address(DOWN, last),
    };
    let order = [
        metric(false, 1, 0, 9),
        metric(false, 1, 0, 8),
        metric(false, 1, 1, 9),
        metric(false, 2, 0, 9),
        metric(true, 0, 0, 9),
        super::super::metric::Metric::INFINITE,
    ];
    for (place, one) in order.iter().enumerate() {
        for (other_place, other) in order.iter().enumerate() {
            assert_eq!(one.is_better(other), place < other_place, "{one:?} {other:?}");
        }
    }
}

#[test]
fn data_from_another_router_begins_an_election() {
    let mut node = forwarding();
    // A1: once, however much data comes.
    assert_eq!(data(&mut node, DOWN), [(DOWN, says(1, 0))]);
    assert_eq!(data(&mut node, DOWN), []);
    assert_eq!(state(&node, DOWN), Winner);
    // The winner says so again 3 s before the time of losers is over.
    assert_eq!(node.waits(176_999).iter().filter(|(_, repr)| matches!(repr, Repr::Assert(_))).count(), 0);
    node.hears(DOWN, 7, &join(DOWN, 5));
    assert!(node.waits(1).contains(&(DOWN, says(1, 0))));
    // Where this router does not forward, data means nothing.
    assert_eq!(data(&mut node, HOSTS), []);
    assert_eq!(data(&mut node, UP), []);
    assert_eq!((state(&node, HOSTS), state(&node, UP)), (NoInfo, NoInfo));
}

#[test]
fn a_winner_defends_itself_and_yields_to_the_better() {
    let mut node = forwarding();
    data(&mut node, DOWN);
    // A3: worse, of the same rank with a lower address.
    assert_eq!(node.hears(DOWN, 7, &says(2, 0)), [(DOWN, says(1, 0))]);
    // A2: of the same rank with a greater address. Nobody needs the packets of this router any more.
    let sent = node.hears(DOWN, 8, &says(1, 0));
    assert_eq!((state(&node, DOWN), node.forwards()), (Loser, None));
    assert_eq!(sent, [(UP, prune(UP, 1))]);
    // Winner's cancel: this router forwards again.
    assert_eq!(node.hears(DOWN, 8, &cancel()), [(UP, join(UP, 1))]);
    assert_eq!((state(&node, DOWN), node.forwards()), (NoInfo, Some((UP, vec![DOWN]))));
}

#[test]
fn a_winner_that_forwards_no_more_says_so() {
    let mut node = forwarding();
    data(&mut node, DOWN);
    // A4: nobody wants the packets any more.
    node.hears(DOWN, 7, &prune(DOWN, 5));
    let sent = node.waits(3_000);
    assert!(sent.contains(&(DOWN, cancel())), "{sent:?}");
    assert!(node.pim.trees.is_empty());
}

#[test]
fn without_an_election_an_assert_is_weighed() {
    // Inferior: A1.
    let mut node = forwarding();
    assert_eq!(node.hears(DOWN, 8, &says(1, 7)), [(DOWN, says(1, 0))]);
    assert_eq!(state(&node, DOWN), Winner);
    // About a tree for all senders, by who forwards on such a tree: A1.
    let mut node = forwarding();
    assert_eq!(node.hears(DOWN, 8, &cancel()), [(DOWN, says(1, 0))]);
    // Acceptable, and it matters: A6.
    let mut node = forwarding();
    node.hears(DOWN, 8, &says(0, 9));
    assert_eq!(state(&node, DOWN), Loser);
    // It does not matter.
    let mut node = forwarding();
    node.hears(HOSTS, 9, &hello(9));
    node.hears(HOSTS, 9, &says(0, 9));
    assert_eq!(state(&node, HOSTS), NoInfo);
    // Nothing is known of the tree.
    let mut node = Node::met(&[]);
    node.hears(DOWN, 8, &says(0, 9));
    assert!(node.pim.trees.is_empty());
}

#[test]
fn a_loser_begins_anew_when_the_winner_is_none_any_more() {
    let lost = || {
        let mut node = forwarding();
        node.hears(DOWN, 8, &says(0, 9));
        assert_eq!((state(&node, DOWN), node.forwards()), (Loser, None));
        node
    };
    // The winner's metric is worse than the own one now; another's is better.
    let mut node = lost();
    node.hears(DOWN, 7, &says(0, 5));
    assert_eq!(node.tree().legs[&PortId(DOWN)].winner.map(|metric| metric.address), Some(address(DOWN, 7)));
    node.hears(DOWN, 8, &says(1, 9));
    assert_eq!(state(&node, DOWN), Loser, "not from the winner");
    node.hears(DOWN, 7, &says(0, 8));
    assert_eq!(state(&node, DOWN), Loser, "worse than before, and still better than the own one");
    node.hears(DOWN, 7, &says(1, 9));
    assert_eq!(state(&node, DOWN), NoInfo);
    // It is not heard any more.
    let mut node = lost();
    node.waits(100_000);
    node.hears(DOWN, 7, &join(DOWN, 9));
    node.waits(79_999);
    assert_eq!(state(&node, DOWN), Loser);
    node.waits(1);
    assert_eq!(state(&node, DOWN), NoInfo);
    // It has restarted, or is gone.
    for gone in [HelloOption::GenerationId(99), HelloOption::Holdtime(0)] {
        let mut node = lost();
        node.hears(DOWN, 8, &hello_with(&[gone]));
        assert_eq!(state(&node, DOWN), NoInfo);
    }
    // A router on the link joins this router.
    let mut node = lost();
    node.hears(DOWN, 7, &join(DOWN, 5));
    assert_eq!((state(&node, DOWN), node.forwards()), (NoInfo, Some((UP, vec![DOWN]))));
    // The own route is better than the winner's now.
    let mut node = lost();
    let next_hop = NextHop::Via { port: PortId(UP), gateway: address(UP, 1).into() };
    node.services.rib.set(Prefix::new(SOURCE, 24), Route { preference: 0, ..Route::fixed(next_hop) });
    node.changes(Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24))));
    assert_eq!(state(&node, DOWN), NoInfo);
    // Nobody wants anything there any more.
    let mut node = lost();
    node.hears(DOWN, 7, &prune(DOWN, 5));
    node.waits(3_000);
    assert!(node.pim.trees.is_empty());
}

#[test]
fn below_the_winner_is_joined() {
    let mut node = Node::met(&[]);
    node.hears(UP, 2, &hello(2));
    node.passes(5_000);
    node.wants(HOSTS, true);
    // The router that routes lead to has lost: the winner is joined soon (RFC 7761, 4.5.5).
    assert_eq!(node.hears(UP, 2, &says(1, 0)), []);
    assert_eq!((state(&node, UP), node.tree().upstream), (Loser, Some((PortId(UP), address(UP, 2)))));
    assert_eq!(node.forwards(), Some((UP, vec![HOSTS])), "packets are taken from the link as before");
    assert_eq!(node.waits(2_500), [(UP, join(UP, 2))]);
    // A route to another router of the same link changes nothing as long as the election holds.
    node.hears(UP, 3, &hello(3));
    node.passes(5_000);
    let changed = Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24)));
    route(&mut node.services, UP, 3);
    assert_eq!(node.changes(changed), []);
    // The way leads by another link: the election there is over.
    route(&mut node.services, DOWN, 7);
    assert_eq!(node.changes(changed), [(UP, prune(UP, 2)), (DOWN, join(DOWN, 7))]);
    assert_eq!(state(&node, UP), NoInfo);
}

#[test]
fn the_winner_forwards_to_hosts_though_another_is_designated() {
    let mut node = forwarding();
    // 10.0.1.8 is designated on DOWN. As the winner this router forwards to hosts there, too.
    node.wants(DOWN, true);
    data(&mut node, DOWN);
    node.hears(DOWN, 7, &prune(DOWN, 5));
    node.waits(3_000);
    assert_eq!((state(&node, DOWN), node.forwards()), (Winner, Some((UP, vec![DOWN]))));
    // And the designated router that has lost does not.
    let mut node = Node::met(&[("dr_priority", Value::Int(9))]);
    node.wants(DOWN, true);
    assert_eq!(node.forwards(), Some((UP, vec![DOWN])));
    node.hears(DOWN, 8, &says(0, 9));
    assert_eq!((state(&node, DOWN), node.forwards()), (Loser, None));
}
