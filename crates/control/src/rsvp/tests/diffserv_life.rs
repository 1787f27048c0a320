//! LSPs that signalled PHBs, through all that can happen to an LSP: preemption, failures, other routes, other
//! mappings, lost messages, restarts, summaries and signatures.

use super::bus::{Script, Tables, hops, id};
use super::diffserv::{classes, entries, everywhere, l_lsp, phb};
use super::messages::{first_address, packet, path, resv};
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::Event;
use crate::rsvp::command::{Command, RouteHop, TunnelId, TunnelSpec};
use crate::rsvp::transport::{Key, PortKeys, RefreshReduction};
use crate::rsvp::{Config, EgressLabel};
use base::plane::{Encaps, LspClasses, NextHop, Prefix, TcMap, TcSource, TunnelModel};
use base::random::Streams;
use base::{DiffServConfig, ELsp, Label, LspDiffServ, Phb, PhbSet, PortId, Rate};
use core::net::Ipv4Addr;
use rand_chacha::rand_core::Rng;
use wire::rsvp::{DiffServ, KeyId, MapEntry, Message, MessageType, Path, PhbId, Style};

const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];
const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

/// A mapping of its own.
fn own() -> TcMap {
    TcMap::new(["default", "EF", "AF11", "AF12", "AF13", "CS1", "CS2", "CS3"].map(phb))
}
fn mapped(map: TcMap) -> LspDiffServ {
    LspDiffServ::ELsp(ELsp { map: Some(map), signal: false, model: None })
}
fn of_class(name: &str) -> TcSource {
    classes(Encaps::LLsp(phb(name).scheduling_class()))
}
fn reduced(_: usize, config: &mut Config) {
    everywhere(0, config);
    config.refresh_reduction = Some(RefreshReduction { assume_capable: true, ..RefreshReduction::default() });
}
/// Summaries, and a signature on every message.
fn signed(_: usize, config: &mut Config) {
    reduced(0, config);
    let key = Key::new(KeyId([0, 0, 0, 0, 0, 1]), b"a shared secret".to_vec());
    let keyed = |port| PortKeys { port: PortId(port), keys: vec![key.clone()], handshake: true, window: 1 };
    config.integrity = (0..3).map(keyed).collect();
}
fn lossy(percent: u32) -> Script {
    let mut random = Streams::new(3).stream("loss");
    Box::new(move |_, _| random.next_u32() % 100 < percent)
}
fn remove_all(net: &mut Net, tunnels: &[u16]) {
    for &n in tunnels {
        net.command(0, Command::TunnelRemove(TunnelId { to: id(3), id: n }));
    }
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn one_that_is_preempted_keeps_its_class_on_another_way() {
    let mut net = Net::with(4, &DIAMOND, everywhere);
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("AF21")), ..spec(1, 3, &[&[1, 3], &[2, 3]], 600) });
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
    let strong = TunnelSpec { setup_priority: 0, holding_priority: 0, ..spec(2, 3, &[&[1, 3]], 600) };
    net.tunnel(0, TunnelSpec { diffserv: Some(mapped(own())), ..strong });
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "{:?}", net.events);
    assert_eq!(net.trace(0, 2), Some(vec![0, 1, 3]));
    let on = |net: &Net, node: usize| net.tables[node].ilm.values().map(|n| n.tc).collect::<Vec<_>>();
    assert_eq!(on(&net, 1), [classes(Encaps::ELsp(own()))], "only the stronger is left");
    assert_eq!(on(&net, 2), [of_class("AF21")]);
    let mut ends = on(&net, 3);
    ends.sort_by_key(|class| *class == of_class("AF21"));
    assert_eq!(ends, [classes(Encaps::ELsp(own())), of_class("AF21")]);
    remove_all(&mut net, &[1, 2]);
}

#[test]
fn a_preempted_one_without_another_way_leaves_nothing() {
    let mut net = Net::with(4, &ROW, everywhere);
    let weak = TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 600) };
    net.tunnel(0, TunnelSpec { classed: vec![(any(), [Phb::EF].into_iter().collect())], ..weak });
    net.run(100);
    let strong = TunnelSpec { setup_priority: 3, holding_priority: 3, ..spec(2, 3, &[&[1, 2, 3]], 600) };
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("CS1")), ..strong });
    net.run(1_000);
    assert_eq!((net.trace(0, 1), net.trace(0, 2)), (None, Some(vec![0, 1, 2, 3])));
    assert_eq!(net.tables[0].classed.len(), 0, "its packets take what is next");
    assert_eq!(entries(&net), [of_class("CS1"); 4]);
    remove_all(&mut net, &[1, 2]);
}

#[test]
fn fallback_routes_know_the_mapping() {
    for failing in [(0, 1), (1, 3)] {
        let mut net = Net::with(4, &DIAMOND, signed);
        net.tunnel(0, TunnelSpec { diffserv: Some(mapped(own())), ..spec(1, 3, &[&[1, 3], &[2, 3]], 100) });
        net.run(20_000);
        net.link(failing.0, failing.1, false);
        // Each neighbour challenges a new one first, and Paths wait for their retransmission.
        net.run(20_000);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "{failing:?}: {:?}", net.events);
        assert_eq!(entries(&net), [classes(Encaps::ELsp(own())); 3]);
        remove_all(&mut net, &[1]);
    }
}

#[test]
fn local_repair_sends_the_object_the_new_way() {
    let mut net = Net::with(5, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)], everywhere);
    let via = |net: &Net, node: usize, port: usize| NextHop::Via {
        port: PortId(port as u16),
        gateway: net.nodes[node].config().interfaces[port].neighbor.expect("a neighbour").into(),
    };
    for (node, port) in [(0, 0), (1, 1), (2, 1), (3, 1)] {
        let next_hop = via(&net, node, port);
        net.route(node, Prefix::host(id(4)), Some(next_hop));
    }
    let loose = RouteHop { prefix: Prefix::host(id(4)), loose: true };
    let wanted = TunnelSpec { diffserv: Some(l_lsp("AF31")), ..spec(1, 4, &[], 10) };
    net.tunnel(0, TunnelSpec { routes: vec![vec![loose]], ..wanted });
    net.run(100);
    let next_hop = via(&net, 1, 2);
    net.route(1, Prefix::host(id(4)), Some(next_hop));
    net.link(1, 2, false);
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3, 4]), "{:?}", net.events);
    assert_eq!(entries(&net), [of_class("AF31"); 4]);
}

#[test]
fn another_mapping_comes_before_the_old_one_goes() {
    let mut net = Net::with(4, &ROW, reduced);
    let before = TunnelSpec { diffserv: Some(mapped(own())), ..spec(1, 3, &[&[1, 2, 3]], 600) };
    net.tunnel(0, before.clone());
    net.run(100);
    let other = TcMap::new(["EF", "AF11", "AF12", "AF13", "default", "CS1", "CS2", "CS3"].map(phb));
    net.tunnel(0, TunnelSpec { diffserv: Some(mapped(other)), bandwidth: Rate::from_mbps(700), ..before });
    let (mut both, (old, new)) = (0, (classes(Encaps::ELsp(own())), classes(Encaps::ELsp(other))));
    for _ in 0..2_000 {
        net.run(1);
        // At every moment the way of a packet is of one mapping from end to end.
        let at = |node: usize| net.tables[node].ilm.values().map(|n| n.tc).collect::<Vec<_>>();
        let head = net.tables[0].ftn.values().next().expect("never without an entry").tc;
        assert!(head == old || head == new);
        assert!((1..4).all(|node| at(node).contains(&head)), "at {:?}", net.now);
        both += usize::from(at(1).len() == 2);
    }
    assert!(both > 0, "old and new stood beside each other");
    assert_eq!(entries(&net), [new; 4]);
    assert!(!net.events.iter().any(|(_, e)| matches!(e, Event::LspDown { .. })), "{:?}", net.events);
    remove_all(&mut net, &[1]);
}

#[test]
fn a_mapping_that_is_refused_leaves_the_old_lsp_alone() {
    let mut net = Net::with(4, &ROW, |n, config| {
        let some = ["EF", "default"].map(phb).into_iter().collect();
        let supported = (n == 2).then_some(some);
        config.diffserv = Some(DiffServConfig { supported, ..DiffServConfig::default() });
    });
    let before = TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 600) };
    net.tunnel(0, before.clone());
    net.run(100);
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("AF41")), ..before });
    net.run(1_000);
    assert_eq!(net.errors(0).len(), 1);
    assert_eq!((entries(&net), net.trace(0, 1)), (vec![of_class("EF"); 4], Some(vec![0, 1, 2, 3])));
}

#[test]
fn a_restarted_router_gets_the_object_back_from_summaries() {
    for adapt in [reduced, signed] {
        for restarted in 1..4 {
            let mut net = Net::with(4, &ROW, adapt);
            net.lose = Some(lossy(10));
            net.tunnel(0, TunnelSpec { diffserv: Some(mapped(own())), ..spec(1, 3, &[&[1, 2, 3]], 10) });
            net.run(60_000);
            assert_eq!(entries(&net), [classes(Encaps::ELsp(own())); 4]);
            net.tables[restarted] = Tables::default();
            net.change(restarted, Change::Restart);
            net.run(200_000);
            net.lose = None;
            net.run(100_000);
            assert_eq!(entries(&net), [classes(Encaps::ELsp(own())); 4], "{restarted}");
            assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
            remove_all(&mut net, &[1]);
        }
    }
}

/// The prefix of length 0, which every address matches.
fn any() -> Prefix {
    Prefix::new(Ipv4Addr::UNSPECIFIED, 0)
}

#[test]
fn of_two_tunnels_to_one_destination_one_goes_and_comes_back() {
    let mut net = Net::with(4, &DIAMOND, everywhere);
    let set = |names: &[&str]| names.iter().map(|n| phb(n)).collect::<PhbSet>();
    let carrying = |id: u16, way: usize, class: &str, names: &[&str]| TunnelSpec {
        diffserv: Some(l_lsp(class)),
        classed: vec![(any(), set(names))],
        retry_limit: None,
        ..spec(id, 3, &[&[way, 3]], 1)
    };
    net.tunnel(0, carrying(1, 1, "EF", &["EF"]));
    net.tunnel(0, carrying(2, 2, "AF11", &["AF11", "AF12", "AF13"]));
    net.run(100);
    let rows = |net: &Net| net.tables[0].classed.values().map(|e| (e.0, e.1.tc)).collect::<Vec<_>>();
    let ef = (set(&["EF"]), of_class("EF"));
    let af = (set(&["AF11", "AF12", "AF13"]), of_class("AF11"));
    assert_eq!(rows(&net), [ef, af]);
    net.link(1, 3, false);
    net.run(1_000);
    assert_eq!(rows(&net), [af], "packets of EF take what is next");
    net.link(1, 3, true);
    net.run(30_000);
    assert_eq!(rows(&net), [ef, af], "in the order of their declaration again");
    remove_all(&mut net, &[1, 2]);
}

/// Node 1 gets Paths by hand, and the rest of the row answers.
fn by_hand(net: &mut Net, object: Option<DiffServ>) {
    let from = first_address(net, 0);
    let message = Path { diffserv: object, ..path(net, 3, &[1, 2, 3]) };
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    net.run(1_000);
}

#[test]
fn a_change_goes_through_with_summaries_and_losses() {
    for (adapt, losses) in [(everywhere as fn(usize, &mut Config), 0), (reduced, 0), (reduced, 20)] {
        let mut net = Net::with(4, &ROW, adapt);
        net.honest = false;
        net.lose = Some(lossy(losses));
        let ilm =
            |net: &Net| (1..4).flat_map(|n| net.tables[n].ilm.values().map(|e| e.tc)).collect::<Vec<_>>();
        let ef = DiffServ::LLsp(PhbId::of(Phb::EF));
        let e_lsp = DiffServ::ELsp(vec![MapEntry { tc: 3, phb: PhbId::of(Phb::EF) }]);
        let mut map = [Phb::DEFAULT; 8];
        map[3] = Phb::EF;
        let cases = [
            (Some(ef), of_class("EF")),
            (Some(e_lsp), classes(Encaps::ELsp(TcMap::new(map)))),
            (None, classes(Encaps::ELsp(TcMap::PRECONFIGURED))),
            (Some(DiffServ::ELsp(Vec::new())), classes(Encaps::ELsp(TcMap::PRECONFIGURED))),
        ];
        for (object, expected) in cases {
            let seen = net.log.len();
            by_hand(&mut net, object.clone());
            net.run(10_000);
            by_hand(&mut net, object.clone());
            assert_eq!(ilm(&net), [expected; 3], "{object:?}");
            let views: Vec<_> = (1..4).flat_map(|n| net.nodes[n].lsps()).map(|lsp| lsp.diffserv).collect();
            assert_eq!(views, [object.clone(), object.clone(), object.clone()]);
            // RFC 3270, 5.3: no Resv carries the object.
            let carried = |sent: &super::bus::Sent| match &sent.message {
                Message::Path(path) if sent.from > 0 => path.diffserv != object,
                Message::Resv(resv) => !resv.common.unknown.is_empty(),
                _ => false,
            };
            assert!(!net.log[seen..].iter().any(carried));
        }
    }
}

fn explicit_null(_: usize, config: &mut Config) {
    reduced(0, config);
    config.egress_label = EgressLabel::ExplicitNull;
}

#[test]
fn explicit_null_gives_way_when_an_lsp_gets_a_meaning_of_its_own() {
    let mut net = Net::with(4, &ROW, explicit_null);
    net.honest = false;
    let out = |net: &Net| net.nodes[2].lsps().next().and_then(|lsp| lsp.out_label);
    let labels =
        |net: &Net| net.tables[2].ilm.values().map(|e| e.push.as_slice().to_vec()).collect::<Vec<_>>();
    by_hand(&mut net, None);
    assert_eq!((out(&net), net.tables[3].ilm.len()), (Some(Label::EXPLICIT_NULL), 0));
    assert_eq!(labels(&net), [[Label::EXPLICIT_NULL]]);
    by_hand(&mut net, Some(DiffServ::LLsp(PhbId::of(Phb::EF))));
    let own = out(&net).expect("a label");
    assert!(!own.is_reserved());
    assert_eq!(labels(&net), [[own]]);
    assert_eq!(net.tables[3].ilm.values().map(|e| e.tc).collect::<Vec<_>>(), [of_class("EF")]);
    // The way back needs no other label: this one says as much.
    by_hand(&mut net, None);
    assert_eq!((out(&net), net.nodes[3].audit().labels), (Some(own), 1));
    let usual = classes(Encaps::ELsp(TcMap::PRECONFIGURED));
    assert_eq!(net.tables[3].ilm.values().map(|e| e.tc).collect::<Vec<_>>(), [usual]);
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn explicit_null_stays_if_no_label_is_left_and_the_sender_is_told() {
    let mut net = Net::with(4, &ROW, explicit_null);
    net.labels(3, 16, 16);
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 1) });
    net.run(100);
    net.honest = false;
    by_hand(&mut net, None);
    assert_eq!(net.nodes[3].lsps().count(), 2);
    by_hand(&mut net, Some(DiffServ::LLsp(PhbId::of(Phb::EF))));
    assert_eq!(net.sent(3, MessageType::PathErr), 1);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]), "others are not touched");
}

#[test]
fn two_models_for_two_tunnels() {
    let mut net = Net::with(4, &ROW, explicit_null);
    let uniform = |model| Some(LspDiffServ::ELsp(ELsp { map: None, signal: false, model }));
    let tunnel = |n, model| TunnelSpec { diffserv: uniform(model), ..spec(n, 3, &[&[1, 2, 3]], 1) };
    let say = |net: &mut Net, model| {
        for node in 1..4 {
            let tunnel = TunnelId { to: id(3), id: 1 };
            net.command(node, Command::TunnelModel { from: id(0), tunnel, model });
        }
    };
    say(&mut net, Some(TunnelModel::Uniform));
    net.tunnel(0, tunnel(1, Some(TunnelModel::Uniform)));
    net.tunnel(0, tunnel(2, None));
    net.run(1_000);
    let encaps = Encaps::ELsp(TcMap::PRECONFIGURED);
    let of = |model| TcSource::DiffServ(LspClasses { model, encaps });
    let models = |net: &Net| {
        let mut all = entries(net);
        all.sort_by_key(|class| *class != of(TunnelModel::Uniform));
        all
    };
    // The uniform one can't share explicit null with the other: it has an entry at the egress.
    let (u, p) = (of(TunnelModel::Uniform), of(TunnelModel::Pipe));
    assert_eq!(models(&net), [u, u, u, u, p, p, p]);
    assert!(!net.log.iter().any(|sent| matches!(&sent.message, Message::Path(p) if p.diffserv.is_some())));
    // A router that restarts still knows.
    net.tables[3] = Tables::default();
    net.change(3, Change::Restart);
    net.run(200_000);
    assert_eq!(models(&net), [u, u, u, u, p, p, p]);
    // What changes while LSPs stand shows in their entries.
    net.tunnel(0, tunnel(2, Some(TunnelModel::ShortPipe)));
    for node in 1..4 {
        let tunnel = TunnelId { to: id(3), id: 2 };
        let model = Some(TunnelModel::ShortPipe);
        net.command(node, Command::TunnelModel { from: id(0), tunnel, model });
    }
    net.run(5_000);
    let s = of(TunnelModel::ShortPipe);
    assert_eq!(models(&net), [u, u, u, u, s, s, s, s]);
    assert!((1..3).all(|n| net.trace(0, n) == Some(vec![0, 1, 2, 3])));
    remove_all(&mut net, &[1, 2]);
}

#[test]
fn resv_with_the_object_is_taken_and_does_not_carry_it_on() {
    let mut net = Net::with(4, &ROW, everywhere);
    net.honest = false;
    net.lose = Some(Box::new(|node, _| node == 1));
    by_hand(&mut net, Some(DiffServ::LLsp(PhbId::of(Phb::EF))));
    let next = first_address(&net, 2);
    let mut answer = resv(3, next, Style::FixedFilter, &[1], 500);
    let object = wire::rsvp::Unknown {
        class: wire::rsvp::class::DIFFSERV,
        c_type: 2,
        position: 3,
        data: vec![0, 0, 0xb8, 0],
    };
    answer.common.unknown.push(object);
    net.inject(1, PortId(1), next, &packet(Message::Resv(answer)));
    net.run(100);
    assert_eq!(net.tables[1].ilm.len(), 1);
    let onward: Vec<_> = net.log.iter().filter(|sent| sent.from == 1).collect();
    let resvs = onward.iter().filter_map(|sent| match &sent.message {
        Message::Resv(resv) => Some(resv.common.unknown.len()),
        _ => None,
    });
    assert_eq!(resvs.collect::<Vec<_>>(), [0]);
}

#[test]
fn the_longest_mapping_goes_beside_a_recorded_route() {
    let mut net = Net::with(4, &ROW, signed);
    let wanted = TunnelSpec { record_labels: true, diffserv: Some(mapped(own())), ..spec(1, 3, &[], 1) };
    net.tunnel(0, TunnelSpec { routes: vec![hops(&[1, 2, 3])], ..wanted });
    net.run(20_000);
    assert_eq!(entries(&net), [classes(Encaps::ELsp(own())); 4]);
    let recorded = net.nodes[0].lsps().next().map(|lsp| lsp.recorded_downstream.len());
    assert_eq!(recorded, Some(3));
}
