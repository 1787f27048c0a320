//! Set-up, grafting and pruning.

use super::super::Net;
use super::super::bus::id;
use super::*;
use crate::rsvp::Config;
use base::plane::NextHop;
use wire::rsvp::{Message, MessageType};

const LEAVES: [char; 6] = ['F', 'N', 'O', 'P', 'Q', 'R'];

fn leaves() -> Vec<usize> {
    LEAVES.map(node).to_vec()
}

#[test]
fn the_tree_of_the_figure_comes_and_goes() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = Net::new(18, &figure());
        set(&mut net, 0, &P2mpSpec { signalling, ..tree(six(), 100) });
        net.run(200);
        assert_reached(&net, 0, &leaves());
        let up = net.events.iter().filter(|(_, event)| matches!(event, Event::LeafUp { .. })).count();
        assert_eq!((up, net.events.len()), (6, 6), "{:?}", net.events);
        // However many leaves lie beyond a link, it carries packets once, and reserves once.
        assert_eq!([0, 1, 4, 7].map(|node| net.reserved(node)), [100, 100, 200, 300]);
        // RFC 4875, 5.2.1: sub-LSPs that share a hop share its label.
        assert!(net.tables.iter().skip(1).all(|tables| tables.ilm.len() <= 1));
        let lists: Vec<usize> = [3, 4, 7, 16].map(|node: usize| net.tables[node].lists.len()).to_vec();
        assert_eq!(lists, [1, 1, 1, 1], "D, E and H replicate, and Q is a leaf with a way on");
        let paths = net.sent(0, MessageType::Path);
        assert_eq!(paths, if signalling == Signalling::Together { 1 } else { 6 });
        net.command(0, Command::P2mpRemove(ID));
        net.run(200);
        net.assert_clean();
        // RFC 4875, 7.2.2: a PathTear for each Path.
        assert_eq!(net.sent(0, MessageType::PathTear), paths);
    }
}

/// RFC 4875, 4.5: what E sends to D and to H.
#[test]
fn a_branch_node_passes_on_to_each_neighbour_its_own_leaves() {
    let mut net = Net::new(18, &figure());
    set(&mut net, 0, &tree(six(), 0));
    net.run(200);
    let sent = net.log.iter().filter(|sent| sent.from == node('E'));
    let paths = sent.filter_map(|sent| match &sent.message {
        Message::Path(path) => Some(path.common.sub_lsps().expect("a list")),
        _ => None,
    });
    let lists: Vec<Vec<String>> = paths
        .map(|list| {
            let letter = |address: &std::net::IpAddr| {
                char::from(
                    b'A' + address.to_string().rsplit('.').next().expect("d").parse::<u8>().expect("n") - 1,
                )
            };
            list.iter().map(|leaf| letter(&leaf.leaf).to_string()).collect()
        })
        .collect();
    assert_eq!(lists.len(), 2);
    assert_eq!(lists.concat().len(), 6, "{lists:?}");
    assert!(lists.contains(&vec!["F".to_string(), "N".to_string()]), "{lists:?}");
}

/// RFC 4875, 5.3 and 7.2: leaves are added and removed; the others get every packet once all the while.
#[test]
fn leaves_are_grafted_and_pruned() {
    for signalling in [Signalling::Together, Signalling::Separate] {
        let mut net = Net::new(18, &figure());
        let with = |some: &[char]| {
            let all = six().into_iter().zip(LEAVES).filter(|(_, letter)| some.contains(letter));
            P2mpSpec { signalling, ..tree(all.map(|(leaf, _)| leaf).collect(), 10) }
        };
        for some in
            [&['F', 'R'][..], &['F', 'R', 'Q', 'N'], &['R', 'N'], &['O', 'R', 'N'], &['Q', 'P'], &['Q']]
        {
            set(&mut net, 0, &with(some));
            net.run(200);
            assert_reached(&net, 0, &some.iter().map(|&letter| node(letter)).collect::<Vec<_>>());
        }
        assert!(errors(&net).is_empty());
        net.command(0, Command::P2mpRemove(ID));
        net.run(200);
        net.assert_clean();
    }
}

/// RFC 4875, 5.2.3: what does not fit into one packet is divided, at the root and where routes become longer.
#[test]
fn paths_that_are_too_long_are_divided() {
    let mut net = Net::with(18, &figure(), |_, config| {
        config.interfaces.iter_mut().for_each(|interface| interface.mtu = 450);
    });
    set(&mut net, 0, &tree(six(), 10));
    net.run(200);
    assert_reached(&net, 0, &leaves());
    let paths = net.log.iter().filter(|sent| sent.from == 0);
    let named: Vec<_> = paths
        .filter_map(|sent| match &sent.message {
            Message::Path(path) => {
                let mut bytes = Vec::new();
                sent.message.emit(0, 64, &mut bytes).expect("written");
                assert!(bytes.len() + 24 <= 450, "{}", bytes.len());
                Some(path.sender_template)
            }
            _ => None,
        })
        .collect();
    assert!(named.len() > 1);
    assert!(named.iter().enumerate().all(|(at, one)| !named[..at].contains(one)), "{named:?}");
    assert_eq!(net.reserved(1), 10, "one label and one reservation for all of them");
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 4.5: without routes each router finds the way.
#[test]
fn leaves_without_routes_follow_the_routing_table() {
    let mut net = Net::new(18, &figure());
    net.route_all();
    let free = six()
        .into_iter()
        .enumerate()
        .map(|(at, leaf)| Leaf { route: if at % 2 == 0 { Vec::new() } else { leaf.route }, ..leaf });
    set(&mut net, 0, &tree(free.collect(), 10));
    net.run(200);
    assert_reached(&net, 0, &leaves());
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 6.3: the route to each leaf is recorded.
#[test]
fn routes_are_recorded() {
    let mut net = Net::new(18, &figure());
    set(&mut net, 0, &P2mpSpec { record_route: true, ..tree(six(), 10) });
    net.run(200);
    let last = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 1 => Some(resv),
        _ => None,
    });
    let leaves = last.expect("a Resv").common.sub_lsps().expect("a list");
    let recorded: Vec<usize> =
        leaves.iter().map(|leaf| leaf.recorded_route.as_ref().map_or(0, Vec::len)).collect();
    // F comes first: its route is the RRO. B, E, D, G, J and N are in a row, and so on.
    assert_eq!(recorded, [0, 6, 5, 5, 6, 7]);
    let first = last.and_then(|resv| resv.flow_descriptors[0].filters[0].rro.clone());
    assert_eq!(first.map(|rro| rro.len()), Some(5));
}

/// RFC 4875, 8.2: whoever asked is confirmed, once.
#[test]
fn reservations_are_confirmed() {
    let asks = |n: usize, config: &mut Config| config.confirm = [node('F'), node('R')].contains(&n);
    let mut net = Net::with(18, &figure(), asks);
    net.route_all();
    set(&mut net, 0, &tree(six(), 10));
    net.run(500);
    let confirmed = |letter: char| net.nodes[node(letter)].counters().confirmed;
    assert_eq!(LEAVES.map(confirmed), [1, 0, 0, 0, 0, 1]);
}

/// A leaf whose Resv waits to share a message is not confirmed by the answer to one before it.
#[test]
fn a_leaf_is_confirmed_when_its_own_resv_is() {
    // The root is two links away from 1, where ways part to leaves at one, two and three links.
    let links = [(0, 6), (6, 1), (1, 2), (1, 3), (3, 4), (1, 5), (5, 7), (7, 8)];
    let mut net = Net::with(9, &links, |_, config| config.confirm = true);
    net.delay = Span::from_us(200);
    net.ack_delay = Span(0);
    net.route_all();
    let leaves = [&[6, 1, 2][..], &[6, 1, 3, 4], &[6, 1, 5, 7, 8]];
    set(&mut net, 0, &tree(leaves.into_iter().map(leaf).collect(), 1));
    net.run(500);
    let names = |message: &Message| {
        let listed = message.common().and_then(|common| common.sub_lsps().ok()).unwrap_or_default();
        listed.iter().any(|said| said.leaf == id(8))
    };
    let first = |from: usize, kind: MessageType| {
        let is = |sent: &super::super::bus::Sent| {
            sent.from == from && sent.message.message_type() == kind && names(&sent.message)
        };
        net.log.iter().position(is).expect("a message that names the leaf")
    };
    assert!(first(6, MessageType::Resv) < first(1, MessageType::ResvConf));
    let confirmed = net.log.iter().filter(|sent| sent.message.message_type() == MessageType::ResvConf);
    let leaves = confirmed.map(|sent| sent.message.common().and_then(|common| common.sub_lsps().ok()));
    assert!(leaves.flatten().all(|leaves| !leaves.is_empty()), "one without leaves is about all");
    assert_eq!([2, 4, 8].map(|leaf| net.nodes[leaf].counters().confirmed), [1, 1, 1]);
}

#[test]
fn labels_are_given_before_they_are_used() {
    let mut net = Net::new(3, &[(0, 1), (1, 2)]);
    net.ack_delay = Span::from_ms(50);
    set(&mut net, 0, &tree(vec![leaf(&[1, 2])], 0));
    net.run(40);
    assert_eq!(net.sent(2, MessageType::Resv), 0, "the entry is not in force yet");
    net.run(500);
    assert_reached(&net, 0, &[2]);
    assert!(matches!(net.tables[2].ilm.values().next().expect("an entry").next_hop, NextHop::Local));
    assert_eq!(id(2), net.nodes[2].config().router_id);
}

#[test]
fn a_change_of_bandwidth_is_another_lsp() {
    let mut net = Net::new(18, &figure());
    set(&mut net, 0, &tree(six(), 100));
    net.run(200);
    set(&mut net, 0, &tree(six(), 300));
    net.run(200);
    assert_reached(&net, 0, &leaves());
    assert_eq!(net.reserved(1), 300);
    // What is carried changes without any signalling.
    let sent = net.sent(0, MessageType::Path);
    set(&mut net, 0, &P2mpSpec { carries: Vec::new(), ..tree(six(), 300) });
    assert_eq!((net.sent(0, MessageType::Path), net.tables[0].ftn.len()), (sent, 0));
    net.command(0, Command::P2mpRemove(ID));
    net.run(200);
    net.assert_clean();
}

/// RFC 4875, 6.1 and 6.4: two LSPs of a tunnel have labels of their own; in SE style they share bandwidth, in FF not.
#[test]
fn two_trees_of_a_tunnel_share_bandwidth_and_no_label() {
    for (style, held) in [(ReservationStyle::SharedExplicit, 30), (ReservationStyle::FixedFilter, 40)] {
        let mut net = Net::new(3, &[(0, 1), (1, 2)]);
        let spec = P2mpSpec { style, ..tree(vec![leaf(&[1, 2])], 10) };
        set(&mut net, 0, &spec);
        net.run(50);
        let sent = net.log.iter().find_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 0 => Some(path.clone()),
            _ => None,
        });
        // The second LSP comes from the same root: to the routers after it, as when a path is made before it is broken.
        let mut path = sent.expect("a Path");
        if let wire::rsvp::SenderTemplate::P2mpLspTunnelIpv4 { lsp_id, .. } = &mut path.sender_template {
            *lsp_id += 1;
        }
        path.sender_tspec.0.rate *= 3.0;
        let packet = wire::rsvp::Packet::new(64, Message::Path(path));
        net.inject(1, base::PortId(0), std::net::Ipv4Addr::new(10, 0, 0, 1), &packet);
        net.run(50);
        assert_eq!(net.reserved(1), held);
        assert_eq!((net.tables[1].ilm.len(), net.tables[2].ilm.len()), (2, 2));
    }
}

/// RFC 4875, 7.2.2: what goes at once is signalled once: by a Path for those that stay, or by a PathTear.
#[test]
fn leaves_that_go_together_are_signalled_once() {
    let mut net = Net::new(18, &figure());
    set(&mut net, 0, &tree(six(), 10));
    net.run(200);
    net.log.clear();
    set(&mut net, 0, &tree(six()[..3].to_vec(), 10));
    assert_eq!((net.sent(0, MessageType::Path), net.sent(0, MessageType::PathTear)), (1, 0));
    net.run(200);
    net.log.clear();
    net.command(0, Command::P2mpRemove(ID));
    assert_eq!((net.sent(0, MessageType::Path), net.sent(0, MessageType::PathTear)), (0, 1));
    net.run(200);
    net.assert_clean();
}

/// Two trees of a root may carry one group: its packets go to the leaves of both.
#[test]
fn trees_share_a_group() {
    use crate::services::{Interface, InterfaceKind};
    let mut net = Net::new(4, &[(0, 1), (0, 2), (0, 3)]);
    let port = base::PortId(9);
    net.nodes[0].services.interfaces.add(Interface {
        kind: InterfaceKind::Port(port),
        addresses: Vec::new(),
        link_local: None,
        neighbor: None,
        neighbor_id: None,
        mtu: 1500,
        cost: 1,
        reservable: None,
        up: true,
    });
    let key = base::plane::GroupKey { source: None, group: Ipv4Addr::new(239, 1, 1, 1).into() };
    let spec = |tunnel_id, leaves| P2mpSpec {
        tunnel_id,
        groups: vec![key],
        carries: Vec::new(),
        ..tree(leaves, 10)
    };
    set(&mut net, 0, &spec(1, vec![leaf(&[1])]));
    set(&mut net, 0, &spec(2, vec![leaf(&[2])]));
    net.run(50);
    let copies =
        |net: &Net| net.nodes[0].services.multicast.all_ways().map(|way| way.3.len()).collect::<Vec<_>>();
    assert_eq!(copies(&net), [2]);
    set(&mut net, 0, &spec(1, vec![leaf(&[1]), leaf(&[3])]));
    net.run(50);
    assert_eq!(copies(&net), [3]);
    net.command(0, Command::P2mpRemove(ID));
    assert_eq!(copies(&net), [1]);
    net.command(0, Command::P2mpRemove(P2mpId { tunnel_id: 2, ..ID }));
    assert_eq!(copies(&net), [0; 0]);
}
