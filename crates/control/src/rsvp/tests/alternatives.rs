//! Several paths of a tunnel: the next one when one is refused or gets no answer, and an LSP that stands by.

use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::Event;
use crate::rsvp::command::{Command, PathRequest, TunnelSpec};
use crate::rsvp::shown_paths::LspPathRow;
use crate::services::te::{Disjoint, TeLink};
use base::Span;
use base::table::{Row, RowsOf, Table, Value};
use wire::rsvp::{Message, MessageType, SenderTemplate, Session};

pub(super) type Links = &'static [(usize, usize, u32)];

/// From 0 to 4 by 1, by 2 and by 3, the first being the best.
pub(super) const THREE_WAYS: Links = &[(0, 1, 1), (1, 4, 1), (0, 2, 2), (2, 4, 2), (0, 3, 3), (3, 4, 3)];

/// The best path from 0 to 3 is 0-1-2-3, and leaves no other without its links; there are two that have none in common.
const TRAP: Links = &[(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 2, 3), (1, 3, 3)];

/// Tells all nodes of a link, or that it is gone.
pub(super) fn announce(net: &mut Net, links: Links, link: usize, srlgs: &[u32], is_there: bool) {
    let ends: Vec<(usize, usize)> = links.iter().map(|&(a, b, _)| (a, b)).collect();
    let (a, b, cost) = links[link];
    for from in [a, b] {
        let (key, said) = super::computed::said(&ends, link, from, cost);
        let said = TeLink { srlgs: srlgs.to_vec(), ..said };
        for node in &mut net.nodes {
            let engineering = &mut node.services.engineering;
            if is_there { engineering.set_link(key, said.clone()) } else { engineering.remove_link(&key) }
        }
    }
    (0..net.nodes.len()).for_each(|node| net.change(node, Change::Engineering { is_lost: !is_there }));
}

/// All nodes know all links, of which each has the shared risks that `srlgs` says.
pub(super) fn network(links: Links, srlgs: impl Fn(usize) -> &'static [u32]) -> Net {
    let ends: Vec<(usize, usize)> = links.iter().map(|&(a, b, _)| (a, b)).collect();
    let count = ends.iter().map(|(a, b)| a.max(b) + 1).max().unwrap_or(0);
    let mut net = Net::new(count, &ends);
    (0..links.len()).for_each(|link| announce(&mut net, links, link, srlgs(link), true));
    net
}

pub(super) fn asking(to: usize, mbps: u64, path: PathRequest) -> TunnelSpec {
    let patient = TunnelSpec { retry_limit: None, retry_first: Span::from_secs(1), ..spec(1, to, &[], mbps) };
    TunnelSpec { path: Some(Box::new(path)), ..patient }
}

fn several(k: u32, standby: Option<Disjoint>) -> PathRequest {
    PathRequest { k, standby, ..PathRequest::default() }
}

/// The states of table `lsp_paths` at node 0.
fn states(net: &Net) -> Vec<String> {
    let mut table = Table::empty(LspPathRow::DECL);
    LspPathRow::rows(&net.nodes[0], "n0", &mut table);
    let text = |value| match value {
        Value::Str(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    table.column("state").expect("a column").iter().map(text).collect()
}

fn told(net: &Net, is_it: impl Fn(&Event) -> bool) -> usize {
    net.events.iter().filter(|(node, event)| *node == 0 && is_it(event)).count()
}

fn is_down(event: &Event) -> bool {
    matches!(event, Event::LspDown { .. })
}

/// Nobody announces what these tunnels take: node 1 and node 2 refuse more than 200 Mbit/s.
fn fill(net: &mut Net) {
    net.tunnel(1, spec(7, 4, &[&[4]], 800));
    net.tunnel(2, spec(8, 4, &[&[4]], 800));
    net.run(100);
}

#[test]
fn the_next_of_k_paths_is_tried_when_one_is_refused() {
    let mut net = network(THREE_WAYS, |_| &[]);
    fill(&mut net);
    net.tunnel(0, asking(4, 300, several(3, None)));
    net.run(50);
    assert_eq!(net.trace(0, 1), Some(vec![0, 3, 4]));
    assert_eq!(net.errors(0).len(), 2, "refused twice, and no pause");
    assert_eq!(states(&net), ["failed", "failed", "active"]);
}

#[test]
fn no_more_than_k_paths_are_tried() {
    let mut net = network(THREE_WAYS, |_| &[]);
    fill(&mut net);
    net.tunnel(0, asking(4, 300, several(2, None)));
    net.run(50);
    assert_eq!((net.trace(0, 1), net.errors(0).len()), (None, 2));
    let is_over =
        |event: &Event| matches!(event, Event::LspNoPath { reason, .. } if reason.contains("best 2"));
    // It pauses as after all routes, and the search after that keeps away from what has refused.
    assert_eq!(told(&net, is_over), 0, "all routes were tried: that is no lack of paths");
    net.run(2_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 3, 4]));
}

#[test]
fn a_path_that_gets_no_answer_is_left_for_the_next() {
    for k in [1, 2] {
        let mut net = network(THREE_WAYS, |_| &[]);
        // Node 1 forwards nothing, and nobody is told.
        net.lose = Some(Box::new(|from, message| from == 1 && message.message_type() == MessageType::Path));
        net.tunnel(0, asking(4, 300, several(k, None)));
        net.run(95_000);
        assert_eq!(net.trace(0, 1), (k == 2).then(|| vec![0, 2, 4]), "k={k}");
    }
}

#[test]
fn paths_that_share_what_has_refused_are_left_out() {
    // Both paths by node 1 begin with the same link.
    const LINKS: Links = &[(0, 1, 1), (1, 3, 1), (1, 2, 1), (2, 3, 1), (0, 2, 9)];
    let mut net = network(LINKS, |_| &[]);
    net.tunnel(0, TunnelSpec { carries: Vec::new(), ..spec(9, 1, &[&[1]], 800) });
    net.run(100);
    net.tunnel(0, asking(3, 300, several(3, None)));
    net.run(50);
    assert_eq!((net.trace(0, 1), net.errors(0).len()), (Some(vec![0, 2, 3]), 1));
}

#[test]
fn a_standby_takes_over_as_soon_as_the_failure_is_known() {
    for (a, b) in [(0, 1), (1, 4)] {
        let mut net = network(THREE_WAYS, |_| &[]);
        let tunnel = net.tunnel(0, asking(4, 300, several(1, Some(Disjoint::Link))));
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 4]));
        assert_eq!((net.reserved(1), net.reserved(2), net.reserved(3)), (300, 300, 0));
        assert_eq!(states(&net), ["active", "standby"]);
        net.link(a, b, false);
        // A PathErr takes a millisecond for the one link, and the tables ten microseconds.
        let away = if (a, b) == (0, 1) { 1 } else { 2 };
        net.run(away);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 4]), "after {away} ms");
        // And there is another one.
        net.run(100);
        assert_eq!((net.reserved(2), net.reserved(3)), (300, 300));
        let is_standby = |event: &Event| matches!(event, Event::LspStandbyUp { .. });
        assert_eq!((told(&net, is_standby), told(&net, is_down)), (2, 1));
        net.command(0, Command::TunnelRemove(tunnel));
        net.run(100);
        net.assert_clean();
    }
}

#[test]
fn a_standby_takes_over_without_a_gap_when_the_database_says_first() {
    let mut net = network(THREE_WAYS, |_| &[]);
    net.tunnel(0, asking(4, 300, several(2, Some(Disjoint::Node))));
    net.run(100);
    announce(&mut net, THREE_WAYS, 1, &[], false);
    for _ in 0..2_000 {
        net.run(1);
        assert!(net.trace(0, 1).is_some());
    }
    assert_eq!((net.trace(0, 1), told(&net, is_down)), (Some(vec![0, 2, 4]), 0));
}

#[test]
fn a_standby_keeps_away_from_risks_if_they_are_asked_about() {
    // The ways by 1 and by 2 have a duct in common.
    let risks = |link: usize| -> &'static [u32] { if link == 0 || link == 3 { &[5] } else { &[] } };
    for (what, by) in [(Disjoint::Link, 2), (Disjoint::Node, 2), (Disjoint::Srlg, 3)] {
        let mut net = network(THREE_WAYS, risks);
        net.tunnel(0, asking(4, 300, several(1, Some(what))));
        net.run(100);
        assert_eq!(net.reserved(by), 300, "{what}");
        assert_eq!(net.reserved(0), 600, "{what}");
    }
}

/// A link has the risks that either of its ends announces.
#[test]
fn a_risk_is_kept_away_from_whichever_end_tells_of_it() {
    let ends: Vec<(usize, usize)> = THREE_WAYS.iter().map(|&(a, b, _)| (a, b)).collect();
    let mut net = network(THREE_WAYS, |link| if link == 0 { &[5] } else { &[] });
    // Of link 3, from 2 to 4, the far end alone says what it has in common with link 0.
    let (key, said) = super::computed::said(&ends, 3, 4, 2);
    let said = TeLink { srlgs: vec![5], ..said };
    net.nodes.iter_mut().for_each(|node| node.services.engineering.set_link(key, said.clone()));
    net.tunnel(0, asking(4, 300, several(1, Some(Disjoint::Srlg))));
    net.run(100);
    assert_eq!(net.reserved(3), 300);
}

#[test]
fn node_disjoint_is_more_than_link_disjoint() {
    // Both ways meet in node 2.
    const LINKS: Links = &[(0, 1, 1), (1, 2, 1), (0, 2, 5), (2, 3, 1), (2, 4, 2), (4, 3, 2), (0, 4, 20)];
    for (what, way) in [(Disjoint::Link, vec![0, 2, 4, 3]), (Disjoint::Node, vec![0, 4, 3])] {
        let mut net = network(LINKS, |_| &[]);
        net.tunnel(0, asking(3, 300, several(1, Some(what))));
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
        net.link(0, 1, false);
        net.run(5);
        assert_eq!(net.trace(0, 1), Some(way), "{what}");
    }
}

#[test]
fn several_paths_find_a_pair_where_the_best_leaves_none() {
    let mut net = network(TRAP, |_| &[]);
    net.tunnel(0, asking(3, 300, several(1, Some(Disjoint::Link))));
    net.run(10_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    let reasons: Vec<&str> = net
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::LspStandbyNoPath { reason, .. } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    let why = "no path with 300 Mbit/s at priority 7: 3 links are not disjoint from the other path";
    assert_eq!(reasons, [why], "told once");
    let mut net = network(TRAP, |_| &[]);
    net.tunnel(0, asking(3, 300, several(3, Some(Disjoint::Link))));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
    assert_eq!(states(&net), ["active", "standby", "next"]);
    // The best path alone is no better one, however often it is looked for.
    let follow = PathRequest { reoptimise: Some(Span::from_secs(2)), ..several(3, Some(Disjoint::Link)) };
    net.tunnel(0, asking(3, 300, follow));
    net.run(100);
    let paths = |net: &Net| net.sent(0, MessageType::Path);
    let moved = |event: &Event| matches!(event, Event::LspRerouted { .. });
    let before = (told(&net, moved), paths(&net));
    net.run(20_000);
    assert_eq!((told(&net, moved), net.trace(0, 1)), (before.0, Some(vec![0, 1, 3])));
    assert!(paths(&net) <= before.1 + 4, "refreshes alone");
}

#[test]
fn a_standby_that_fails_is_replaced_and_the_traffic_stays() {
    let mut net = network(THREE_WAYS, |_| &[]);
    net.tunnel(0, asking(4, 300, several(1, Some(Disjoint::Link))));
    net.run(100);
    net.link(2, 4, false);
    for _ in 0..200 {
        net.run(1);
        assert_eq!(net.trace(0, 1), Some(vec![0, 1, 4]));
    }
    assert_eq!((net.reserved(2), net.reserved(3)), (0, 300));
    // When nothing is left, it waits until a link is announced.
    net.link(3, 4, false);
    net.run(1_000);
    announce(&mut net, THREE_WAYS, 3, &[], false);
    announce(&mut net, THREE_WAYS, 5, &[], false);
    net.run(20_000);
    assert_eq!(net.reserved(0), 300);
    net.link(2, 4, true);
    announce(&mut net, THREE_WAYS, 3, &[], true);
    net.run(500);
    assert_eq!((net.reserved(0), net.reserved(2)), (600, 300));
    assert_eq!(told(&net, is_down), 0);
}

#[test]
fn the_standby_follows_when_the_traffic_moves() {
    let mut net = network(THREE_WAYS, |_| &[]);
    announce(&mut net, THREE_WAYS, 1, &[], false);
    let tunnel = net.tunnel(0, asking(4, 600, several(1, Some(Disjoint::Link))));
    net.run(100);
    assert_eq!((net.trace(0, 1), net.reserved(3)), (Some(vec![0, 2, 4]), 600));
    announce(&mut net, THREE_WAYS, 1, &[], true);
    net.command(0, Command::TunnelReoptimise(tunnel));
    net.run(20_000);
    // By the best path now; the way by 3 is still disjoint from it, so the standby stays.
    assert_eq!((net.trace(0, 1), net.reserved(2), net.reserved(3)), (Some(vec![0, 1, 4]), 0, 600));
    assert_eq!(told(&net, is_down), 0);
    // A standby where the traffic goes to would not be one: it has to move itself.
    announce(&mut net, THREE_WAYS, 0, &[], false);
    net.run(20_000);
    assert_eq!((net.trace(0, 1), net.reserved(2)), (Some(vec![0, 3, 4]), 600));
    // No standby is asked for any more.
    net.tunnel(0, asking(4, 600, several(1, None)));
    net.run(20_000);
    assert_eq!(net.reserved(0), 600);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

#[test]
fn a_restart_leaves_no_standby_behind() {
    let mut net = network(THREE_WAYS, |_| &[]);
    let tunnel = net.tunnel(0, asking(4, 300, several(3, Some(Disjoint::Link))));
    net.run(100);
    net.change(0, Change::Restart);
    net.tables[0] = super::bus::Tables::default();
    for link in 0..THREE_WAYS.len() {
        announce(&mut net, THREE_WAYS, link, &[], true);
    }
    net.run(200_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 4]));
    assert_eq!(net.reserved(0), 600);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

/// The standby is signalled as what it is: another LSP of the same session, in shared-explicit style.
#[test]
fn the_standby_is_an_lsp_of_the_same_tunnel() {
    let mut net = network(THREE_WAYS, |_| &[]);
    net.tunnel(0, asking(4, 300, several(1, Some(Disjoint::Link))));
    net.run(100);
    let mut seen: Vec<(u16, u16)> = net
        .log
        .iter()
        .filter_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 0 => match (&path.session, path.sender_template) {
                (Session::LspTunnelIpv4 { tunnel_id, .. }, SenderTemplate::LspTunnelIpv4 { lsp_id, .. }) => {
                    Some((*tunnel_id, lsp_id))
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    seen.dedup();
    assert_eq!(seen, [(1, 1), (1, 2)]);
}
