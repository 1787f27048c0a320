//! Another LSP for a tree whose leaves are reached (RFC 4875, 14.1): looked at every millisecond, each leaf gets every
//! packet once.

use super::super::Net;
use super::super::computed::said;
use super::*;
use crate::protocol::Change;

/// Each leaf has one copy at each moment of so many milliseconds.
fn always(net: &mut Net, ms: u64, leaves: &[usize]) {
    for _ in 0..ms {
        net.run(1);
        assert_reached(net, 0, leaves);
    }
}

/// LSP ids of trees that took the place of others, and words on those that did not.
fn moves(net: &Net) -> (Vec<(u16, u16)>, Vec<String>) {
    let (mut moved, mut stayed) = (Vec::new(), Vec::new());
    for (_, event) in &net.events {
        match event {
            Event::TreeRerouted { tunnel: ID, from_lsp, to_lsp } => moved.push((*from_lsp, *to_lsp)),
            Event::TreeStays { tunnel: ID, reason, .. } => stayed.push(reason.clone()),
            _ => {}
        }
    }
    (moved, stayed)
}

fn end(mut net: Net) {
    net.command(0, Command::P2mpRemove(ID));
    net.run(2_000);
    net.assert_clean();
}

/// Up and down, with more than half of each link, so that both would not fit if counted twice; with slow tables, too.
#[test]
fn bandwidth_changes_and_nobody_misses_a_packet() {
    for (signalling, ack_ms) in
        [(Signalling::Together, 0), (Signalling::Separate, 0), (Signalling::Together, 20)]
    {
        let mut net = Net::new(18, &figure());
        net.ack_delay = Span::from_ms(ack_ms);
        let of = |mbps| P2mpSpec { signalling, ..tree(six(), mbps) };
        let leaves = ['F', 'N', 'O', 'P', 'Q', 'R'].map(node);
        set(&mut net, 0, &of(600));
        net.run(500);
        for (at, mbps) in [700, 1_000, 50].into_iter().enumerate() {
            set(&mut net, 0, &of(mbps));
            always(&mut net, 400, &leaves);
            // The old LSP is still there, and the larger of the two counts.
            let before = [600, 700, 1_000][at];
            assert_eq!(net.reserved(1), mbps.max(before));
            always(&mut net, 1_600, &leaves);
            assert_eq!([0, 1, 4, 7].map(|node| net.reserved(node)), [1, 1, 2, 3].map(|links| links * mbps));
        }
        assert_eq!(moves(&net), (vec![(1, 2), (2, 3), (3, 4)], Vec::new()));
        let up = net.events.iter().filter(|(_, event)| matches!(event, Event::LeafUp { .. })).count();
        assert_eq!((up, net.events.len()), (6, 9), "{:?}", net.events);
        assert!(net.tables.iter().skip(1).all(|tables| tables.ilm.len() <= 1));
        assert_eq!(net.tables[0].lists.len(), 1);
        end(net);
    }
}

/// The way of one leaf is another: the whole tree is signalled once more.
#[test]
fn a_leaf_gets_another_way_without_a_gap() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 600));
    net.run(100);
    for way in [&[2, 3, 4][..], &[1, 3, 4]] {
        set(&mut net, 0, &tree(vec![leaf(way), leaf(&[1, 5])], 600));
        always(&mut net, 2_000, &[4, 5]);
    }
    assert_eq!(moves(&net), (vec![(1, 2), (2, 3)], Vec::new()));
    assert_eq!([0, 1, 2, 3].map(|node| net.reserved(node)), [600, 1_200, 0, 600]);
    end(net);
}

/// Leaves are grafted and pruned at once, whatever becomes of the new LSP.
#[test]
fn leaves_come_and_go_while_the_bandwidth_changes() {
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 10));
    net.run(100);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 3])], 20));
    always(&mut net, 0, &[4]);
    net.run(20);
    assert_reached(&net, 0, &[3, 4]);
    always(&mut net, 2_000, &[3, 4]);
    // The user changes his mind before the new LSP is there.
    net.delay = Span::from_ms(5);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 3])], 30));
    always(&mut net, 3, &[3, 4]);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 3])], 20));
    always(&mut net, 2_000, &[3, 4]);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 3])], 30));
    always(&mut net, 3, &[3, 4]);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 3])], 40));
    always(&mut net, 3_000, &[3, 4]);
    assert_eq!(moves(&net).0.len(), 2);
    assert_eq!((net.reserved(1), net.tables[1].ilm.len()), (40, 1));
    // Removed, and begun anew, while two LSPs are there.
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4])], 50));
    net.run(100);
    net.tables[0] = Default::default();
    net.change(0, Change::Restart);
    net.run(400_000);
    assert_reached(&net, 0, &[4]);
    assert_eq!(net.reserved(1), 50);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4])], 60));
    net.run(3);
    end(net);
}

/// What the network has not is not had: the old LSP stays, and the event says why. When there is room, it is tried
/// again.
#[test]
fn a_tree_that_can_not_be_had_leaves_the_old_one_alone() {
    let mut net = Net::new(6, &SQUARE);
    let other = net.tunnel(1, super::super::spec(1, 3, &[&[3]], 500));
    let of = |mbps| tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], mbps);
    set(&mut net, 0, &of(300));
    net.run(100);
    set(&mut net, 0, &of(600));
    always(&mut net, 2_000, &[4, 5]);
    let (moved, stayed) = moves(&net);
    assert_eq!(moved, []);
    assert!(stayed.len() >= 3 && stayed.iter().all(|why| why.contains(&id(4).to_string())), "{stayed:?}");
    assert_eq!([0, 1].map(|node| net.reserved(node)), [300, 500 + 600], "nothing of the new LSP stays");
    net.command(1, Command::TunnelRemove(other));
    always(&mut net, 12_000, &[4, 5]);
    assert_eq!(moves(&net).0.len(), 1);
    assert_eq!([0, 1].map(|node| net.reserved(node)), [600, 1_200]);
    end(net);
}

/// In FF style the two LSPs share nothing (RFC 3209, 2.4.1): both have to fit.
#[test]
fn in_ff_style_both_have_to_fit() {
    let of = |mbps| {
        let style = ReservationStyle::FixedFilter;
        P2mpSpec { style, ..tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], mbps) }
    };
    let mut net = Net::new(6, &SQUARE);
    set(&mut net, 0, &of(400));
    net.run(100);
    set(&mut net, 0, &of(500));
    always(&mut net, 500, &[4, 5]);
    assert_eq!(net.reserved(0), 900);
    always(&mut net, 1_500, &[4, 5]);
    set(&mut net, 0, &of(600));
    always(&mut net, 2_000, &[4, 5]);
    assert_eq!(net.reserved(0), 500);
    let (moved, stayed) = moves(&net);
    assert_eq!((moved.len(), stayed.is_empty()), (1, false));
    // Another style is no other LSP of the same session (RFC 2205, 2.4): break before make.
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 600));
    net.run(200);
    assert_reached(&net, 0, &[4, 5]);
    assert_eq!(net.reserved(0), 600);
    end(net);
}

/// The root's tables take no more writes: the traffic stays on the old LSP.
#[test]
fn tables_that_are_full_keep_the_old_tree() {
    let mut net = Net::new(6, &SQUARE);
    net.ack_delay = Span::from_ms(3);
    set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 10));
    net.run(100);
    set(&mut net, 0, &tree(vec![leaf(&[2, 3, 4]), leaf(&[1, 5])], 20));
    // Its list is there, and the write that moves the traffic is not.
    while net.tables[0].lists.len() < 2 {
        net.run(1);
    }
    net.tables[0].full = true;
    always(&mut net, 50, &[4, 5]);
    assert_eq!(moves(&net).1.len(), 1, "{:?}", net.events);
    net.tables[0].full = false;
    always(&mut net, 3_000, &[4, 5]);
    assert_eq!(net.tables[0].lists.len(), 1);
    assert_eq!(net.reserved(2), 20);
    end(net);
}

/// A router on the new way fails while the LSP is made, and one on the old way: what is whole carries the traffic.
#[test]
fn failures_meet_both_lsps() {
    for fails in [(0, 2), (1, 3)] {
        let mut net = Net::new(6, &SQUARE);
        net.delay = Span::from_ms(2);
        set(&mut net, 0, &tree(vec![leaf(&[1, 3, 4]), leaf(&[1, 5])], 10));
        net.run(100);
        set(&mut net, 0, &tree(vec![leaf(&[2, 3, 4]), leaf(&[1, 5])], 10));
        net.run(5);
        net.link(fails.0, fails.1, false);
        net.run(30_000);
        assert_reached(&net, 0, &[4, 5]);
        net.link(fails.0, fails.1, true);
        net.run(30_000);
        assert_reached(&net, 0, &[4, 5]);
        assert_eq!(net.reserved(2), 10);
        end(net);
    }
}

/// Computed trees move to better ones: when the database changes, and by time, for what each shape counts.
#[test]
fn a_better_tree_is_taken() {
    // Two ways from 0 to 3: by 1, and by 2.
    const LINKS: [(usize, usize); 6] = SQUARE;
    let announce = |net: &mut Net, link: usize, cost: u32| {
        for from in [LINKS[link].0, LINKS[link].1] {
            let (key, said) = said(&LINKS, link, from, cost);
            net.nodes.iter_mut().for_each(|node| node.services.engineering.set_link(key, said.clone()));
        }
        for node in 0..net.nodes.len() {
            net.change(node, Change::Engineering { is_lost: false });
        }
    };
    for shape in [TreeShape::Shortest, TreeShape::Cheapest] {
        for by_time in [false, true] {
            let mut net = Net::new(6, &LINKS);
            (0..6).for_each(|link| announce(&mut net, link, 10));
            announce(&mut net, 2, 11);
            let path = PathRequest {
                follow: !by_time,
                reoptimise: by_time.then(|| Span::from_secs(5)),
                ..PathRequest::default()
            };
            let leaves = [3, 4].map(|node| Leaf { address: id(node), route: Vec::new() }).to_vec();
            set(&mut net, 0, &P2mpSpec { path, shape, ..tree(leaves, 600) });
            net.run(100);
            assert_reached(&net, 0, &[3, 4]);
            assert_eq!((net.reserved(1), net.reserved(2)), (600, 0));
            always(&mut net, 7_000, &[3, 4]);
            assert_eq!(moves(&net).0, [], "it is the best");
            announce(&mut net, 2, 5);
            always(&mut net, 7_500, &[3, 4]);
            assert_eq!((moves(&net).0.len(), net.reserved(1), net.reserved(2)), (1, 0, 600));
            end(net);
        }
    }
}
