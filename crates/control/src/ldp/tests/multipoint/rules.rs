//! RFC 6388, rule by rule.

use super::net::{Net, id, key, lsp, packets};
use crate::ldp::multipoint::states::LabelState;
use base::Label;
use base::plane::{Fec as Packets, NextHop};

/// Nodes 0 to 5: the root 0, two routers 1 and 2 behind it that are joined, and leaves 3, 4 and 5.
const LINKS: [(usize, usize); 6] = [(0, 1), (0, 2), (1, 2), (1, 3), (1, 4), (2, 5)];

fn net() -> Net {
    let mut net = Net::new(6, &LINKS);
    net.root(0, 7);
    net
}

fn own(net: &Net, node: usize) -> Option<(usize, Label, LabelState)> {
    let (_, tree) = net.nodes[node].trees.trees().find(|(known, _)| **known == lsp(0, 7))?;
    let own = tree.own.as_ref()?;
    Some((usize::from(own.upstream.0.octets()[3]) - 1, own.label, own.state))
}

/// RFC 6388, 2.4.1: labels go from leaves to the root; where there is state already, none goes on.
#[test]
fn a_tree_grows_from_its_leaves() {
    let mut net = net();
    net.join(3, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[3]);
    assert_eq!(net.said["mapping"], 2, "of the leaf, and of the router between");
    net.join(4, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[3, 4]);
    assert_eq!(net.said["mapping"], 3, "the router between tells the root nothing new");
    // A leaf with a way on: a bud.
    net.join(1, &lsp(0, 7), true);
    net.join(5, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[1, 3, 4, 5]);
    assert_eq!(net.said["mapping"], 5);
    net.assert_kept();
    // The root pushes, and nobody pops before a leaf.
    for node in [1, 2, 3, 4, 5] {
        let (_, label, state) = own(&net, node).expect("a label");
        assert!(!label.is_reserved() && state == LabelState::Told);
    }
    assert!(net.nodes[0].ilm.is_empty());
}

/// RFC 6388, 2.4.2: what nobody wants is taken back up to where somebody does.
#[test]
fn a_tree_shrinks_to_nothing() {
    let mut net = net();
    [3, 4, 5].into_iter().for_each(|leaf| net.join(leaf, &lsp(0, 7), true));
    net.settle();
    net.join(4, &lsp(0, 7), false);
    net.settle();
    net.assert_reached(0, 7, &[3, 5]);
    assert_eq!((net.said["withdraw"], own(&net, 4)), (1, None), "the router between has another leaf");
    net.join(3, &lsp(0, 7), false);
    net.settle();
    net.assert_reached(0, 7, &[5]);
    assert_eq!(net.said["withdraw"], 3);
    net.join(5, &lsp(0, 7), false);
    net.settle();
    net.assert_reached(0, 7, &[]);
    assert_eq!(net.nodes[0].ftn.get(&Packets::Prefix(packets(7))), None, "packets go as without the LSP");
    net.assert_empty();
}

/// RFC 6388, 2.4.1.1: without a way to the root nobody is told anything; with one, what was kept is told.
#[test]
fn a_root_that_cannot_be_reached_is_waited_for() {
    let mut net = net();
    [0, 1].into_iter().for_each(|link| net.set(link, false));
    net.settle();
    [3, 5].into_iter().for_each(|leaf| net.join(leaf, &lsp(0, 7), true));
    net.settle();
    net.assert_reached(0, 7, &[]);
    assert!(net.said.is_empty());
    net.set(1, true);
    net.settle();
    net.assert_reached(0, 7, &[3, 5]);
    net.assert_kept();
    net.set(1, false);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
    assert_eq!(own(&net, 3), None);
}

/// RFC 6388, 2.4.3: another upstream LSR gets a new label, and the one before has the old one taken back.
#[test]
fn another_upstream_neighbour_gets_another_label() {
    let mut net = net();
    net.join(3, &lsp(0, 7), true);
    net.settle();
    let (upstream, before, _) = own(&net, 1).expect("a label");
    assert_eq!(upstream, 0);
    // The link of the root to router 1 fails: the session with it is lost, and the way leads by router 2.
    net.set(0, false);
    net.settle();
    let (upstream, after, _) = own(&net, 1).expect("a label");
    assert_eq!(upstream, 2);
    assert_ne!(before, after);
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
    // It is repaired: the old one is told so, and releases it.
    let withdrawn = net.said.get("withdraw").copied().unwrap_or(0);
    net.set(0, true);
    net.settle();
    assert_eq!(own(&net, 1).map(|own| own.0), Some(0));
    assert!(net.said["withdraw"] > withdrawn);
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
}

/// RFC 6388, 2.4.1.4 and 4: the label of the upstream LSR is kept and not used, until another one is.
#[test]
fn packets_never_go_back_to_where_they_come_from() {
    let mut net = net();
    net.join(3, &lsp(0, 7), true);
    net.settle();
    let label = Label::truncate(777);
    let node = &mut net.nodes[1];
    node.trees.mapped(&mut node.services, key(0), &lsp(0, 7), label);
    net.join(1, &lsp(0, 7), true);
    net.settle();
    let pushes = |net: &Net| {
        let branches = net.nodes[1].trees.trees().flat_map(|(_, tree)| tree.branches.clone());
        branches.filter(|branch| branch.push.as_slice() == [label]).count()
    };
    let given =
        |net: &Net| net.nodes[1].trees.trees().any(|(_, tree)| tree.given.get(&key(0)) == Some(&label));
    assert!(given(&net) && pushes(&net) == 0);
    net.assert_reached(0, 7, &[1, 3]);
    // Routes turn: now the way leads by router 2, while the session with the root is there.
    let node = &mut net.nodes[1];
    let prefix = base::plane::Prefix::host(id(0));
    let by_2 = node.services.rib.next_hops(base::plane::Prefix::host(id(2))).to_vec();
    let source = crate::services::Source::Protocol(base::ProtocolId::new("static"));
    let hop = crate::services::RouteHop::Direct(by_2[0]);
    let hops = crate::services::Hops::One(hop);
    node.services.rib.set(prefix, crate::services::Route { source, preference: 1, metric: 0, tag: 0, hops });
    node.trees.route_changed(&mut node.services, prefix);
    assert!(given(&net) && pushes(&net) == 1, "it can be installed now");
}

/// RFC 6388, 2.1: nobody is told of an LSP who has not announced that it takes part.
#[test]
fn who_has_not_announced_it_is_told_nothing() {
    // 0 - 1 - 2, and 1 does not take part.
    let mut net = Net::with(3, &[(0, 1), (1, 2)], 100, &[1]);
    net.root(0, 7);
    net.join(2, &lsp(0, 7), true);
    net.settle();
    assert!(net.said.is_empty());
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
}

/// RFC 6388, 2.4.1.2: of several links to a neighbour one carries a copy, another one if that fails.
#[test]
fn of_parallel_links_one_carries_copies() {
    let mut net = Net::new(3, &[(0, 1), (0, 1), (0, 1), (1, 2)]);
    net.root(0, 7);
    net.join(2, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[2]);
    let said = net.said.clone();
    for link in [0, 1] {
        net.set(link, false);
        net.settle();
        net.assert_reached(0, 7, &[2]);
        net.assert_kept();
    }
    assert_eq!(net.said, said, "the session is there, and nothing has to be said");
    net.set(2, false);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
}

/// LSPs are spread over equal paths, and whatever order routers learn of each other in, the choice is the same.
#[test]
fn equal_paths_share_trees() {
    // From 4 two ways lead to 0.
    let links = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)];
    let mut chosen = std::collections::BTreeSet::new();
    for lsp_id in 1..9 {
        let mut ways = std::collections::BTreeSet::new();
        for seed in 1..6 {
            let mut net = Net::new(5, &links);
            net.seed(seed * 7919);
            net.root(0, lsp_id);
            net.join(4, &lsp(0, lsp_id), true);
            net.restart(3, false);
            net.settle();
            net.assert_reached(0, lsp_id, &[4]);
            let (_, tree) = net.nodes[3].trees.trees().next().expect("an LSP");
            ways.insert(tree.own.as_ref().expect("a label").upstream);
        }
        assert_eq!(ways.len(), 1);
        chosen.extend(ways);
    }
    assert_eq!(chosen, [key(1), key(2)].into());
}

/// A label that the tables do not take is given to nobody, and tried again; so is one that is not there.
#[test]
fn what_there_is_no_room_for_is_tried_again() {
    let mut net = net();
    net.full = Some(1);
    net.join(3, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
    assert_eq!(own(&net, 1), None);
    net.full = None;
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
    // Two labels at each router, for three LSPs.
    let mut net = Net::with(3, &[(0, 1), (1, 2)], 2, &[]);
    for lsp_id in 1..=3 {
        net.root(0, lsp_id);
        net.join(2, &lsp(0, lsp_id), true);
    }
    net.settle();
    net.assert_reached(0, 3, &[]);
    net.join(2, &lsp(0, 1), false);
    net.settle();
    net.retry();
    net.settle();
    net.retry();
    net.settle();
    net.assert_reached(0, 2, &[2]);
    net.assert_reached(0, 3, &[2]);
    net.assert_kept();
}

/// What is in force goes on when the tables do not take one more way, whichever it is; that is tried again later.
#[test]
fn a_way_that_the_tables_refuse_leaves_the_others_alone() {
    let mut net = net();
    // A bud, and two ways on: one too many.
    net.ways_max.insert(1, 2);
    [3, 4].into_iter().for_each(|leaf| net.join(leaf, &lsp(0, 7), true));
    net.settle();
    let before = own(&net, 1);
    net.join(1, &lsp(0, 7), true);
    net.settle();
    let said = net.said.clone();
    for _ in 0..3 {
        net.assert_reached(0, 7, &[3, 4]);
        assert!(own(&net, 1) == before && net.said == said && !said.contains_key("withdraw"));
        net.assert_kept();
        net.retry();
        net.settle();
    }
    net.ways_max.clear();
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[1, 3, 4]);
    net.assert_kept();
    assert_eq!((own(&net, 1), net.nodes[1].trees.poll_timeout()), (before, None));
    // Without lists there is one way; the other one is taken when that goes, at once.
    let mut net = self::net();
    net.ways_max.insert(1, 0);
    net.join(3, &lsp(0, 7), true);
    net.settle();
    net.join(4, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
    net.join(3, &lsp(0, 7), false);
    net.settle();
    net.assert_reached(0, 7, &[4]);
    net.assert_kept();
    assert!(!net.nodes[0].ftn.is_empty());
}

/// Of several new ways as many are taken as there is room for.
#[test]
fn as_many_ways_are_taken_as_there_is_room_for() {
    for most in 0..5 {
        // From 1 on to four leaves.
        let mut net = Net::new(6, &[(0, 1), (1, 2), (1, 3), (1, 4), (1, 5)]);
        net.root(0, 7);
        net.ways_max.insert(1, most);
        (2..6).for_each(|leaf| net.join(leaf, &lsp(0, 7), true));
        // Labels have come before the way to the root has: all ways are written at once.
        net.unroute(1, 0);
        net.settle();
        net.assert_reached(0, 7, &[]);
        net.learn(1);
        net.settle();
        let (out, _) = net.copies(0, 7).expect("no circle");
        let least = [1, 1, 2, 2, 4][most];
        assert!((least..=most.max(1)).contains(&out.len()), "{most}: {out:?}");
        net.assert_kept();
    }
}

/// A way that is to go, and does not, carries packets with a label that stands for something else now: the whole LSP is
/// taken out then, until it is tried again.
#[test]
fn a_way_that_cannot_be_taken_out_takes_the_lsp_with_it() {
    let mut net = net();
    [3, 4].into_iter().for_each(|leaf| net.join(leaf, &lsp(0, 7), true));
    net.settle();
    net.full = Some(1);
    net.join(4, &lsp(0, 7), false);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
    net.full = None;
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
}

/// The root likewise: what its tables refuse, the list or the packets that take it, is tried again.
#[test]
fn what_the_tables_of_a_root_refuse_is_tried_again() {
    let mut net = net();
    net.ways_max.insert(0, 0);
    net.join(3, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.assert_kept();
    assert!(net.nodes[0].ftn.is_empty(), "packets go as without the LSP");
    net.ways_max.insert(0, 1);
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[3]);
    // One way more than there is room for.
    net.join(5, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
    net.ways_max.clear();
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[3, 5]);
    net.assert_kept();
    let mut net = self::net();
    net.without_ftn = Some(0);
    net.join(3, &lsp(0, 7), true);
    net.settle();
    net.assert_reached(0, 7, &[]);
    net.without_ftn = None;
    net.retry();
    net.settle();
    net.assert_reached(0, 7, &[3]);
    net.assert_kept();
    assert_eq!(net.nodes[0].trees.poll_timeout(), None);
}

/// A router with one way out needs no list of copies, and one with several has one that changes in one write.
#[test]
fn lists_of_copies_come_and_go() {
    let mut net = net();
    net.join(3, &lsp(0, 7), true);
    net.settle();
    let (_, label, _) = own(&net, 1).expect("a label");
    let leads = |net: &Net| net.nodes[1].ilm[&label].next_hop;
    assert!(matches!(leads(&net), NextHop::Via { .. }) && net.nodes[1].lists.is_empty());
    net.join(4, &lsp(0, 7), true);
    net.settle();
    assert!(matches!(leads(&net), NextHop::Replicate(_)) && net.nodes[1].lists.len() == 1);
    net.join(3, &lsp(0, 7), false);
    net.settle();
    assert!(matches!(leads(&net), NextHop::Via { .. }) && net.nodes[1].lists.is_empty());
    assert_eq!(own(&net, 1).map(|own| own.1), Some(label), "the label is the same");
}
