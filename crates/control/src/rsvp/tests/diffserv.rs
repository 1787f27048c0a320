//! DIFFSERV objects on their way, what they put in tables, and what is wrong with them (RFC 3270, 5).

use super::bus::id;
use super::messages::{first_address, packet, path, resv};
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::command::{Command, TunnelSpec};
use crate::rsvp::{Config, EgressLabel};
use base::plane::{Encaps, LspClasses, Prefix, TcMap, TcSource, TunnelModel};
use base::{DiffServConfig, ELsp, LLsp, Label, LspDiffServ, Phb, PhbSet, PortId};
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, diffserv};
use wire::rsvp::{DiffServ, MapEntry, Message, MessageType, Path, PhbId, Session, Style, Unknown, class};

const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

pub(super) fn phb(name: &str) -> Phb {
    name.parse().expect(name)
}
fn supports(names: &[&str]) -> DiffServConfig {
    DiffServConfig { supported: Some(names.iter().map(|n| phb(n)).collect()), ..DiffServConfig::default() }
}
pub(super) fn everywhere(_: usize, config: &mut Config) {
    config.diffserv = Some(DiffServConfig::default());
}
pub(super) fn l_lsp(name: &str) -> LspDiffServ {
    LspDiffServ::LLsp(LLsp { class: phb(name).scheduling_class(), model: None })
}
pub(super) fn classes(encaps: Encaps) -> TcSource {
    TcSource::DiffServ(LspClasses { model: TunnelModel::Pipe, encaps })
}

/// What all entries of a net with one LSP do with classes, from head to tail.
pub(super) fn entries(net: &Net) -> Vec<TcSource> {
    let of = |tables: &super::bus::Tables| {
        let ftn = tables.ftn.values().chain(tables.classed.values().map(|entry| &entry.1));
        ftn.chain(tables.ilm.values()).map(|nhlfe| nhlfe.tc).collect::<Vec<_>>()
    };
    net.tables.iter().flat_map(of).collect()
}

#[test]
fn an_lsp_means_the_same_at_every_hop() {
    let own = TcMap::new(["default", "EF", "AF11", "AF12", "AF13", "CS1", "CS2", "CS3"].map(phb));
    let af1 = phb("AF11").scheduling_class();
    for (wanted, encaps, objects) in [
        (None, Encaps::ELsp(TcMap::PRECONFIGURED), 0),
        (
            Some(LspDiffServ::ELsp(ELsp { map: None, signal: false, model: None })),
            Encaps::ELsp(TcMap::PRECONFIGURED),
            0,
        ),
        (
            Some(LspDiffServ::ELsp(ELsp { map: None, signal: true, model: None })),
            Encaps::ELsp(TcMap::PRECONFIGURED),
            3,
        ),
        (Some(LspDiffServ::ELsp(ELsp { map: Some(own), signal: false, model: None })), Encaps::ELsp(own), 3),
        (Some(l_lsp("AF12")), Encaps::LLsp(af1), 3),
    ] {
        let mut net = Net::with(4, &ROW, everywhere);
        net.tunnel(0, TunnelSpec { diffserv: wanted, ..spec(1, 3, &[&[1, 2, 3]], 10) });
        net.run(100);
        assert_eq!(entries(&net), [classes(encaps); 4], "{wanted:?}");
        let carries =
            |sent: &super::bus::Sent| matches!(&sent.message, Message::Path(path) if path.diffserv.is_some());
        assert_eq!(net.log.iter().filter(|sent| carries(sent)).count(), objects, "{wanted:?}");
        let views: Vec<_> = (0..4).flat_map(|n| net.nodes[n].lsps()).map(|lsp| lsp.diffserv).collect();
        assert!(views.iter().all(|view| view == &views[0] && view.is_some() == (objects > 0)));
        net.command(0, Command::TunnelRemove(crate::rsvp::command::TunnelId { to: id(3), id: 1 }));
        net.run(100);
        net.assert_clean();
    }
}

#[test]
fn refreshes_and_restarts_keep_it() {
    let mut net = Net::with(4, &ROW, everywhere);
    let tunnel =
        TunnelSpec { diffserv: Some(l_lsp("EF")), retry_limit: None, ..spec(1, 3, &[&[1, 2, 3]], 10) };
    net.tunnel(0, tunnel);
    net.run(200_000);
    let ef = classes(Encaps::LLsp(Phb::EF.scheduling_class()));
    assert_eq!(entries(&net), [ef; 4]);
    net.tables[2] = super::bus::Tables::default();
    net.change(2, Change::Restart);
    net.link(1, 2, false);
    net.run(1_000);
    net.link(1, 2, true);
    net.run(60_000);
    assert!(entries(&net).iter().all(|class| *class == ef));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
}

#[test]
fn another_class_is_another_lsp_before_the_old_one_goes() {
    let mut net = Net::with(4, &ROW, everywhere);
    let before = TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 10) };
    net.tunnel(0, before.clone());
    net.run(100);
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("AF21")), ..before });
    net.run(5_000);
    let rerouted =
        |event: &&(usize, crate::rsvp::Event)| matches!(event.1, crate::rsvp::Event::LspRerouted { .. });
    assert_eq!(net.events.iter().filter(rerouted).count(), 1);
    let down = |event: &&(usize, crate::rsvp::Event)| matches!(event.1, crate::rsvp::Event::LspDown { .. });
    assert_eq!(net.events.iter().filter(down).count(), 0);
    assert_eq!(entries(&net), [classes(Encaps::LLsp(phb("AF21").scheduling_class())); 4]);
}

#[test]
fn phbs_choose_among_tunnels_in_the_order_of_their_declaration() {
    let mut net = Net::with(4, &ROW, everywhere);
    let prefix = Prefix::new(Ipv4Addr::new(192, 168, 0, 0), 16);
    let set = |names: &[&str]| names.iter().map(|n| phb(n)).collect::<PhbSet>();
    let carrying = |id: u16, names: &[&str]| TunnelSpec {
        carries: Vec::new(),
        carries6: Vec::new(),
        classed: vec![(prefix, set(names))],
        ..spec(id, 3, &[&[1, 2, 3]], 1)
    };
    net.tunnel(0, carrying(7, &["EF", "default"]));
    net.tunnel(0, carrying(3, &["AF11", "EF"]));
    net.run(100);
    let sets = |net: &Net| net.tables[0].classed.values().map(|entry| entry.0).collect::<Vec<_>>();
    assert_eq!(sets(&net), [set(&["EF", "default"]), set(&["AF11", "EF"])]);
    // What a tunnel carries changes without another LSP.
    let paths = net.sent(0, MessageType::Path);
    net.tunnel(0, carrying(7, &["EF"]));
    net.run(100);
    assert_eq!(
        (sets(&net), net.sent(0, MessageType::Path)),
        (vec![set(&["EF"]), set(&["AF11", "EF"])], paths)
    );
    for id in [3, 7] {
        net.command(0, Command::TunnelRemove(crate::rsvp::command::TunnelId { to: self::id(3), id }));
        net.run(100);
        assert_eq!(sets(&net).len(), usize::from(id == 3));
    }
    net.assert_clean();
}

/// The code and value that node 1, which supports what `config` says, answers a Path with that `change` has changed.
fn answer(config: Option<DiffServConfig>, change: impl FnOnce(&mut Path)) -> Option<(u8, u16)> {
    let mut net = Net::with(4, &ROW, |_, c| c.diffserv = config);
    let mut message = path(&net, 3, &[1, 2, 3]);
    change(&mut message);
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    net.run(1);
    net.log.iter().find_map(|sent| match &sent.message {
        Message::PathErr(error) if sent.from == 1 => Some((error.error_spec.code, error.error_spec.value)),
        _ => None,
    })
}

fn entry(tc: u8, name: &str) -> MapEntry {
    MapEntry { tc, phb: PhbId::of(phb(name)) }
}

#[test]
fn each_fault_is_answered_with_its_code() {
    let some = Some(supports(&["EF", "default", "AF11", "AF12", "AF13"]));
    let error = |value| Some((error_code::DIFFSERV, value));
    let e_lsp = |map: Vec<MapEntry>| answer(some, |path| path.diffserv = Some(DiffServ::ELsp(map)));
    assert_eq!(e_lsp(vec![entry(0, "default"), entry(5, "EF")]), None);
    assert_eq!(e_lsp(vec![entry(5, "EF"), entry(5, "default")]), error(diffserv::INVALID_MAPPING));
    assert_eq!(e_lsp(vec![entry(5, "CS6")]), error(diffserv::UNSUPPORTED_PHB));
    let l_lsp = |bits| answer(some, |path| path.diffserv = Some(DiffServ::LLsp(PhbId(bits))));
    assert_eq!((l_lsp(0x2802), l_lsp(0x4802)), (None, error(diffserv::UNSUPPORTED_PSC)));
    let ef = || Some(DiffServ::LLsp(PhbId::of(Phb::EF)));
    // Toward a session that is no LSP tunnel, or without a request for a label.
    let flow = Session::Ipv4 { destination: id(3), protocol: 17, flags: 0, port: 9 };
    let elsewhere = answer(some, |path| (path.session, path.diffserv) = (flow, ef()));
    assert_eq!(elsewhere, error(diffserv::UNEXPECTED_OBJECT));
    let unlabelled = answer(some, |path| (path.label_request, path.diffserv) = (None, ef()));
    assert_eq!(unlabelled, error(diffserv::UNEXPECTED_OBJECT));
    // An LSR that does not support the object does not know its class, whatever the C-Type.
    assert_eq!(answer(None, |path| path.diffserv = ef()), Some((error_code::UNKNOWN_CLASS, 0x4102)));
    let other = || Unknown { class: class::DIFFSERV, c_type: 3, position: 5, data: vec![0; 4] };
    assert_eq!(
        answer(None, |path| path.common.unknown.push(other())),
        Some((error_code::UNKNOWN_CLASS, 0x4103))
    );
    assert_eq!(
        answer(some, |path| path.common.unknown.push(other())),
        Some((error_code::UNKNOWN_C_TYPE, 0x4103))
    );
    // MAPnb says two, and there is one.
    let odd =
        |c_type, data: &[u8]| Unknown { class: class::DIFFSERV, c_type, position: 5, data: data.to_vec() };
    let short = || odd(1, &[0, 0, 0, 2, 0, 5, 0xb8, 0]);
    assert_eq!(answer(some, |path| path.common.unknown.push(short())), error(diffserv::INVALID_MAPPING));
    assert_eq!(
        answer(None, |path| path.common.unknown.push(short())),
        Some((error_code::UNKNOWN_CLASS, 0x4101))
    );
    let long = || odd(2, &[0; 8]);
    assert_eq!(answer(some, |path| path.common.unknown.push(long())), error(diffserv::UNSUPPORTED_PSC));
    // One that supports it is content without.
    assert_eq!(answer(some, |_| {}), None);
}

#[test]
fn of_two_objects_the_first_counts() {
    let second = Unknown { class: class::DIFFSERV, c_type: 2, position: 6, data: vec![0, 0, 0x48, 0x02] };
    let some = Some(supports(&["EF", "default"]));
    let both = answer(some, |path| {
        path.diffserv = Some(DiffServ::LLsp(PhbId::of(Phb::EF)));
        path.common.unknown.push(second);
    });
    assert_eq!(both, None, "AF2 is not supported, but nobody looks at it");
}

#[test]
fn a_head_end_is_told_which_node_refuses() {
    let mut net = Net::with(4, &ROW, |n, config| {
        config.diffserv =
            (n < 3).then_some(if n == 2 { supports(&["EF"]) } else { supports(&["EF", "CS1"]) });
    });
    let tunnel = |id, wanted| TunnelSpec { diffserv: Some(wanted), ..spec(id, 3, &[&[1, 2, 3]], 1) };
    net.tunnel(0, tunnel(1, l_lsp("CS1")));
    net.tunnel(0, tunnel(2, l_lsp("EF")));
    net.tunnel(0, tunnel(3, l_lsp("CS7")));
    net.run(1_000);
    let mut errors = net.errors(0);
    errors.sort_unstable();
    // Node 2 serves no CS1, node 3 knows no DIFFSERV, the head end itself no CS7.
    assert_eq!(
        errors,
        [
            (id(0), error_code::DIFFSERV, diffserv::UNSUPPORTED_PSC),
            (id(2), error_code::DIFFSERV, diffserv::UNSUPPORTED_PSC),
            (id(3), error_code::UNKNOWN_CLASS, 0x4102),
        ]
    );
}

#[test]
fn an_object_that_changes_is_judged_anew() {
    let mut net = Net::with(4, &ROW, |_, config| config.diffserv = Some(supports(&["EF", "CS1", "default"])));
    net.lose = Some(Box::new(|node, _| node == 1));
    let (from, next) = (first_address(&net, 0), first_address(&net, 2));
    let message = |net: &Net, diffserv| Path { diffserv, ..path(net, 3, &[1, 2, 3]) };
    let send = |net: &mut Net, object| {
        let path = message(net, object);
        net.inject(1, PortId(0), from, &packet(Message::Path(path)));
        net.run(1);
    };
    send(&mut net, Some(DiffServ::LLsp(PhbId::of(Phb::EF))));
    net.inject(1, PortId(1), next, &packet(Message::Resv(resv(3, next, Style::FixedFilter, &[1], 500))));
    net.run(1);
    let installed = |net: &Net| net.tables[1].ilm.values().map(|nhlfe| nhlfe.tc).collect::<Vec<_>>();
    let l_lsp = |name: &str| classes(Encaps::LLsp(phb(name).scheduling_class()));
    assert_eq!(installed(&net), [l_lsp("EF")]);
    let before = net.sent(1, MessageType::Path);
    send(&mut net, Some(DiffServ::LLsp(PhbId::of(phb("CS1")))));
    assert_eq!((installed(&net), net.sent(1, MessageType::Path)), (vec![l_lsp("CS1")], before + 1));
    send(&mut net, Some(DiffServ::LLsp(PhbId::of(phb("CS7")))));
    assert_eq!((installed(&net), net.sent(1, MessageType::PathErr)), (vec![l_lsp("CS1")], 1));
    send(&mut net, None);
    assert_eq!(installed(&net), [classes(Encaps::ELsp(TcMap::PRECONFIGURED))]);
}

#[test]
fn explicit_null_is_for_lsps_whose_meaning_all_share() {
    let mut net = Net::with(4, &ROW, |_, config| {
        config.diffserv = Some(DiffServConfig::default());
        config.egress_label = EgressLabel::ExplicitNull;
    });
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 1) });
    net.tunnel(0, spec(2, 3, &[&[1, 2, 3]], 1));
    net.run(100);
    let labels: Vec<bool> =
        net.nodes[2].lsps().map(|lsp| lsp.out_label == Some(Label::EXPLICIT_NULL)).collect();
    assert_eq!((labels, net.tables[3].ilm.len()), (vec![false, true], 1));
}

#[test]
fn a_context_without_room_has_its_code() {
    let mut net = Net::with(4, &ROW, everywhere);
    net.tables[2].no_context = true;
    net.tunnel(0, TunnelSpec { diffserv: Some(l_lsp("EF")), ..spec(1, 3, &[&[1, 2, 3]], 1) });
    net.run(100);
    assert_eq!(net.errors(0), [(id(2), error_code::DIFFSERV, diffserv::CONTEXT_ALLOCATION)]);
}
