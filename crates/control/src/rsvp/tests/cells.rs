//! LSPs on links of ATM: labels are channels that the previous hop has asked for (RFC 3209, 4.1 and 4.2.2).

use super::bus::id;
use super::detours::{NODE, asking, flags, ladder};
use super::messages::packet;
use super::recorded_labels::labels as labels_of;
use super::{Net, spec};
use crate::rsvp::command::{Command, RouteHop, TunnelId, TunnelSpec};
use crate::rsvp::{EgressLabel, Role};
use crate::services::{CellLabels, Switching};
use base::plane::{ChannelRange, CircuitTo, NextHop, Prefix};
use base::{Label, PortId};
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{LabelRequest, Message, MessageType, RroSubobject, class};

/// Four nodes with cells between them, and one behind: an edge, two ATM-LSRs, an edge, a router.
const ROW: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 4)];

fn labels(switching: Switching, vci: (u16, u16)) -> CellLabels {
    let range = ChannelRange { vpi: (0, 0), vci };
    CellLabels { range, is_path: false, is_unidirectional: false, switching }
}

fn net(last: usize, adapt: impl Fn(usize) -> CellLabels) -> Net {
    let mut net =
        Net::with(last + 1, &ROW[..last], |_, config| config.egress_label = EgressLabel::ImplicitNull);
    for node in 0..=last {
        let cells = |link: usize| (link < 3 && link < last).then(|| adapt(node));
        let links = (node.saturating_sub(1)..=node).filter(|&link| link < last && (node > 0 || link == 0));
        net.cells(node, links.map(cells).collect::<Vec<_>>());
    }
    net
}

fn usual(node: usize) -> CellLabels {
    let switching = if [1, 2].contains(&node) { Switching::Cells } else { Switching::Packets };
    labels(switching, (40, 200))
}

/// Label requests that a node has sent.
fn requests(net: &Net, node: usize) -> Vec<LabelRequest> {
    let of = |message: &Message| match message {
        Message::Path(path) => path.label_request,
        _ => None,
    };
    net.log.iter().filter(|sent| sent.from == node).filter_map(|sent| of(&sent.message)).collect()
}

#[test]
fn labels_are_channels_where_links_are_of_cells() {
    let mut net = net(4, usual);
    let tunnel = net.tunnel(0, spec(1, 4, &[&[1, 2, 3, 4]], 100));
    net.run(100);
    let lsps: Vec<_> = net.nodes.iter().map(|node| node.lsps().next().expect("an LSP")).collect();
    assert_eq!(
        lsps.iter().map(|lsp| lsp.role).collect::<Vec<_>>(),
        [Role::Head, Role::Transit, Role::Transit, Role::Transit, Role::Egress]
    );
    // RFC 3209, 4.2.2: what the node can do with; the M-bit says that it merges, as one does that sees packets.
    let asked =
        |merge| LabelRequest::Atm { l3pid: 0x800, merge, min_vpi: 0, min_vci: 40, max_vpi: 0, max_vci: 200 };
    for (node, request) in [(0, asked(true)), (1, asked(false)), (2, asked(false)), (3, LabelRequest::ipv4())]
    {
        assert_eq!(requests(&net, node)[0], request, "node {node}");
    }
    for pair in lsps[..4].windows(2) {
        let label = pair[1].in_label.expect("a label");
        assert_eq!(pair[0].out_label, Some(label));
        assert!((40..=200).contains(&label.value()), "{label}");
    }
    // Cells pass two nodes, and are packets again at the third.
    let to = |node: usize| {
        let label = lsps[node].in_label.expect("a label");
        assert_eq!(net.tables[node].circuits.len(), 1);
        net.tables[node].circuits[&(PortId(0), label.value())]
    };
    for node in [1, 2] {
        let label = lsps[node].out_label.expect("a label");
        assert_eq!(to(node), CircuitTo::Over { port: PortId(1), label, merges: false });
        assert!(net.tables[node].ilm.is_empty());
    }
    let CircuitTo::Here(label) = to(3) else { panic!("an edge puts packets together") };
    assert_eq!(net.tables[3].ilm.keys().copied().collect::<Vec<_>>(), [label.value()]);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

/// RFC 3209, 4.1.1.1: whoever passes cells says that two LSPs can't leave by one channel, also where those of LDP do.
#[test]
fn one_that_passes_cells_says_that_it_merges_none() {
    for (switching, says) in
        [(Switching::Packets, true), (Switching::Cells, false), (Switching::MergedCells, false)]
    {
        let mut net = net(3, |_| labels(switching, (40, 200)));
        net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
        net.run(100);
        let LabelRequest::Atm { merge, .. } = requests(&net, 1)[0] else { panic!("a request of channels") };
        assert_eq!(merge, says, "{switching:?}");
    }
}

/// A channel is a label though there is nothing below, and whatever an egress gives elsewhere.
/// RFC 3209, 4.4.1.3, and RFC 4090, 6.4.1: a channel serves on its own link alone, so that no bypass may lead to it.
#[test]
fn channels_are_recorded_as_those_of_one_port() {
    let mut net = net(4, usual);
    net.tunnel(0, TunnelSpec { record_labels: true, ..spec(1, 4, &[&[1, 2, 3, 4]], 1) });
    net.run(100);
    let labels = labels_of(&net);
    assert_eq!(labels.len(), 1 + 2 + 3 + 4);
    let channels = net.nodes[1..4].iter().map(|node| node.lsps().next().and_then(|lsp| lsp.in_label));
    let channels: Vec<u32> = channels.map(|label| label.expect("a label").value()).collect();
    assert!(channels.iter().all(|channel| labels.iter().any(|(label, _)| label == channel)), "{labels:?}");
    for (label, flags) in labels {
        let is_channel = channels.contains(&label);
        assert_eq!(flags, if is_channel { 0 } else { RroSubobject::GLOBAL_LABEL }, "{label}");
    }
}

/// A detour that comes by a link of cells is not merged into an LSP that comes by another: its label would be none
/// there.
#[test]
fn a_detour_by_a_link_of_cells_is_not_merged() {
    for by_cells in [false, true] {
        let mut net = ladder();
        if by_cells {
            let cells = Some(labels(Switching::Packets, (40, 200)));
            net.cells(6, [None, cells]);
            net.cells(3, [None, None, cells]);
        }
        net.tunnel(0, asking(1, true, false));
        net.run(2_000);
        let flags = flags(&net, 0, 1).expect("a recorded route");
        assert_eq!(flags & NODE, if by_cells { 0 } else { NODE }, "cells: {by_cells}");
    }
}

#[test]
fn an_egress_gives_a_channel() {
    let mut net = net(3, usual);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    let ways: Vec<_> = net.tables[3].circuits.values().collect();
    assert_eq!(ways, [&CircuitTo::Here(Label::EXPLICIT_NULL)]);
    assert!(net.tables[3].ilm.is_empty());
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

/// RFC 3209, 4.1.1.1: a label is drawn from the range of the request, and without one the ingress is told.
#[test]
fn channels_are_those_that_both_ends_have() {
    let mut both =
        net(3, |node| CellLabels { range: ChannelRange { vpi: (0, 0), vci: (100, 101) }, ..usual(node) });
    for tunnel in 1..=3 {
        both.tunnel(0, spec(tunnel, 3, &[&[1, 2, 3]], 1));
        both.run(100);
    }
    assert_eq!(both.nodes[0].lsps().filter(|lsp| lsp.installed).count(), 2);
    assert!(
        both.errors(0)
            .iter()
            .all(|(_, code, value)| (*code, *value) == (error_code::ROUTING, routing::LABEL_ALLOCATION)),
        "{:?}",
        both.errors(0)
    );
    assert!(!both.errors(0).is_empty());
    // The ends of a link have other ranges, of which they take what both have, or nothing.
    let vci = |node: usize| if node == 1 { (60, 70) } else { (40, 64) };
    let mut some = net(3, |node| labels(usual(node).switching, vci(node)));
    some.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    some.run(100);
    let lsp = some.nodes[1].lsps().next().expect("an LSP");
    assert!(lsp.in_label.is_some_and(|label| (60..=64).contains(&label.value())), "{lsp:?}");
    let mut none = net(3, |node| labels(usual(node).switching, if node == 1 { (60, 70) } else { (40, 50) }));
    none.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    none.run(100);
    let told: Vec<_> = none.errors(0).iter().map(|(_, code, value)| (*code, *value)).collect();
    assert_eq!(told, [(error_code::ROUTING, routing::LABEL_ALLOCATION)]);
}

/// RFC 3209, 4.2.5: a request of the other kind is none here.
#[test]
fn a_request_fits_its_link() {
    // One end takes the link for one of cells, and the other does not.
    for (cells_at, c_type) in [(0, 2), (1, 1)] {
        let mut net = net(3, usual);
        net.cells(1 - cells_at, [None, Some(usual(1 - cells_at))]);
        net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
        net.run(100);
        let told: Vec<_> = net.errors(0).iter().map(|(_, code, value)| (*code, *value)).collect();
        let value = u16::from(class::LABEL_REQUEST) << 8 | c_type;
        assert_eq!(told, [(error_code::UNKNOWN_C_TYPE, value)], "cells at {cells_at}");
    }
}

/// Over a virtual path the channel alone counts, and the path is said as 0.
#[test]
fn a_virtual_path_has_another_number_at_each_end() {
    let of = |node: usize| {
        let range = ChannelRange { vpi: (node as u16 + 5, node as u16 + 5), vci: (40, 200) };
        CellLabels { range, is_path: true, ..usual(node) }
    };
    let mut net = net(3, of);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    assert!(matches!(requests(&net, 0)[0], LabelRequest::Atm { min_vpi: 0, max_vpi: 0, .. }));
    assert_eq!(net.nodes[0].lsps().filter(|lsp| lsp.installed).count(), 1);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
}

/// RFC 3209, 4.1.1.2: a label outside of what was asked for can't be used.
#[test]
fn a_label_outside_of_the_range_is_refused() {
    let mut net = net(3, usual);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    let given = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 1 => Some(resv.clone()),
        _ => None,
    });
    let given = given.expect("a Resv");
    let next = net.nodes[1].config().interfaces[0].address;
    for label in [0, 3, 39, 201] {
        let mut resv = given.clone();
        resv.flow_descriptors[0].filters[0].label = Some(Label::truncate(label));
        net.log.clear();
        net.inject(0, PortId(0), next, &packet(Message::Resv(resv)));
        let told = net.log.iter().find_map(|sent| match &sent.message {
            Message::ResvErr(error) => Some((error.error_spec.code, error.error_spec.value)),
            _ => None,
        });
        assert_eq!(told, Some((error_code::ROUTING, routing::UNACCEPTABLE_LABEL)), "{label}");
    }
}

/// 0 - 1 - {2, 3} - 4 - 5 with cells where `by_cells` says so, and a tunnel from 0 to 5 that follows the routes: node 1
/// goes by way of node 2 until it is told otherwise.
fn fork(by_cells: &[(usize, usize)], switching: Switching) -> (Net, TunnelId) {
    const LINKS: [(usize, usize); 6] = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)];
    let mut net = Net::with(6, &LINKS, |_, config| config.egress_label = EgressLabel::ImplicitNull);
    for node in 0..6 {
        let links = LINKS.iter().filter(|link| link.0 == node || link.1 == node);
        let cells: Vec<_> =
            links.map(|link| by_cells.contains(link).then(|| labels(switching, (40, 200)))).collect();
        net.cells(node, cells);
    }
    for (node, port) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 2)] {
        towards(&mut net, node, port);
    }
    let loose = RouteHop { prefix: Prefix::host(id(5)), loose: true };
    let tunnel = net.tunnel(0, TunnelSpec { routes: vec![vec![loose]], ..spec(1, 5, &[], 10) });
    net.run(100);
    (net, tunnel)
}

/// The route of a node to node 5 leaves by a port from now on.
fn towards(net: &mut Net, node: usize, port: usize) {
    let gateway = net.nodes[node].config().interfaces[port].neighbor.expect("a neighbour").into();
    net.route(node, Prefix::host(id(5)), Some(NextHop::Via { port: PortId(port as u16), gateway }));
}

/// An LSP that comes by a link of cells after another link gets a label that serves there, and keeps what is reserved
/// behind: it need not wait for a Resv of the next hop.
#[test]
fn an_lsp_that_comes_by_cells_from_now_on_gets_a_channel_at_once() {
    for by_cells in [(3, 4), (2, 4)] {
        let (mut net, tunnel) = fork(&[by_cells], Switching::Packets);
        let reserved = net.reserved(4);
        net.log.clear();
        net.lose =
            Some(Box::new(|node, message| node == 2 && message.message_type() == MessageType::PathTear));
        towards(&mut net, 1, 2);
        net.link(1, 2, false);
        net.run(100);
        let told = net.log.iter().filter(|sent| [4, 5].contains(&sent.from));
        let torn = told.filter(|sent| matches!(sent.message, Message::ResvTear(_) | Message::PathErr(_)));
        assert_eq!((torn.count(), net.reserved(4)), (0, reserved), "{by_cells:?}");
        let lsp = net.nodes[4].lsps().next().expect("an LSP");
        let label = lsp.in_label.expect("a label");
        if by_cells == (3, 4) {
            let CircuitTo::Here(beside) = net.tables[4].circuits[&(PortId(1), label.value())] else {
                panic!("packets are put together")
            };
            assert!(net.tables[4].ilm.contains_key(&beside.value()));
        } else {
            assert!(net.tables[4].circuits.is_empty() && net.tables[4].ilm.contains_key(&label.value()));
            assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3, 4, 5]));
        }
        assert!(net.nodes[0].lsps().next().is_some_and(|lsp| lsp.installed));
        net.link(1, 2, true);
        net.command(0, Command::TunnelRemove(tunnel));
        net.run(300_000);
        net.assert_clean();
    }
}

/// While an LSP waits for another way, its channel leads nowhere, and nothing names the former way.
#[test]
fn a_channel_leads_nowhere_while_its_lsp_waits() {
    // Packets are put together at node 1, or cells pass it.
    for (by_cells, switching) in
        [(vec![(0, 1)], Switching::Packets), (vec![(0, 1), (1, 2), (1, 3)], Switching::Cells)]
    {
        let (mut net, tunnel) = fork(&by_cells, switching);
        let way = |net: &Net| net.tables[1].circuits.values().next().copied();
        let before = way(&net);
        assert!(before.is_some());
        net.lose = Some(Box::new(|node, message| node == 3 && message.message_type() == MessageType::Resv));
        towards(&mut net, 1, 2);
        net.link(1, 2, false);
        net.run(100);
        match switching {
            Switching::Packets => {
                assert_eq!(way(&net), before);
                assert!(net.tables[1].ilm.values().all(|entry| entry.next_hop == NextHop::Discard));
            }
            _ => assert_eq!(way(&net), None),
        }
        net.command(0, Command::TunnelRemove(tunnel));
        net.run(300_000);
        net.assert_clean();
    }
}
