//! One speaker, and what it says of point-to-multipoint LSPs to a neighbour by hand.

use super::super::answers::{Bench, OTHER, OWN, THEIRS, generic};
use crate::ldp::multipoint::Limits;
use crate::ldp::multipoint::command::{Command, TreeSpec};
use crate::protocol::{Change, Protocol};
use crate::services::LabelSpace;
use base::plane::{GroupKey, Incoming, NextHop, Prefix, TableOp};
use base::{Label, PortId, ProtocolId, ProtocolValue};
use core::net::Ipv4Addr;
use std::sync::Arc;
use wire::Hex;
use wire::ldp::*;

const ROOT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);
const ALL: Fec = Fec::AllP2mp(1);

fn takes_part(wanted: Body) -> Body {
    match wanted {
        Body::Initialization(wanted) => {
            let capabilities = Capabilities { p2mp: Some(true), ..Capabilities::default() };
            Body::Initialization(Initialization { capabilities, ..wanted })
        }
        other => other,
    }
}

/// A router whose neighbour takes part, and leads to the root; what it has said is heard.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.establish(takes_part(Bench::initialization(9, OWN)));
    addresses(&mut bench);
    bench.route(ROOT, true);
    bench.heard();
    bench.ops.clear();
    bench
}

/// The neighbour says its addresses.
fn addresses(bench: &mut Bench) {
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
}

fn tree(root: Ipv4Addr) -> Fec {
    Fec::P2mp(P2mp::generic(root.into(), 5))
}

fn command(bench: &mut Bench, command: Command) {
    let value = ProtocolValue::new(command);
    bench.call(|ldp, now, context| assert!(ldp.handle_command(now, context, &value)));
}

fn join(bench: &mut Bench) {
    command(bench, Command::Join { name: "tree".into(), root: ROOT, lsp_id: 5 });
}

fn leave(bench: &mut Bench) {
    command(bench, Command::Leave { root: ROOT, lsp_id: 5 });
}

fn mapping(root: Ipv4Addr, label: u32) -> Body {
    Body::Mapping { fecs: vec![tree(root)], label: generic(label), request: None, hops: None, path: None }
}

fn release(fec: Fec, label: u32) -> Body {
    Body::Release { fec, label: Some(generic(label)), notice: None }
}

fn withdraw(fec: Fec, label: u32) -> Body {
    Body::Withdraw { fec, label: Some(generic(label)) }
}

/// The label of the only thing that was said, a mapping for the LSP.
fn told(bench: &mut Bench) -> u32 {
    match &bench.heard()[..] {
        [Body::Mapping { fecs, label: AnyLabel::Generic(label), request: None, hops: None, path: None }]
            if *fecs == [tree(ROOT)] =>
        {
            label.value()
        }
        other => panic!("{other:?}"),
    }
}

fn used(bench: &Bench) -> u32 {
    bench.services.labels.used(crate::ldp::Ldp::ID)
}

/// RFC 6388, 2.1: the capability is in the Initialization message, unless the router does not take part.
#[test]
fn the_capability_is_announced() {
    for is_on in [true, false] {
        let mut bench = Bench::with(|config| config.p2mp = is_on);
        let (local, remote) =
            (core::net::SocketAddr::new(OWN.into(), PORT), core::net::SocketAddr::new(OTHER.into(), 50_000));
        bench.event(crate::services::sessions::SessionEvent::Accepted { local, remote });
        bench.say(Bench::initialization(9, OWN));
        let said = bench.heard();
        let Some(Body::Initialization(said)) = said.first() else { panic!("{said:?}") };
        assert_eq!(said.capabilities.p2mp, is_on.then_some(true));
    }
}

/// RFC 6388, 2.4.1.3 and 2.4.2.1: a leaf gives a label of its own, which pops, and takes it back.
#[test]
fn a_leaf_joins_and_leaves() {
    let mut bench = bench();
    let before = used(&bench);
    join(&mut bench);
    let label = told(&mut bench);
    let [TableOp::IlmSet { label: set, nhlfe }] = bench.ops[..] else { panic!("{:?}", bench.ops) };
    assert!(set.value() == label && nhlfe.next_hop == NextHop::Local && nhlfe.push.as_slice().is_empty());
    join(&mut bench);
    assert_eq!((bench.heard(), used(&bench)), (vec![], before + 1), "it is a leaf already");
    leave(&mut bench);
    assert_eq!(bench.heard(), [withdraw(tree(ROOT), label)]);
    assert_eq!(bench.ops[1..], [TableOp::IlmRemove { label: set }]);
    assert_eq!(used(&bench), before + 1, "its release is awaited");
    bench.say(release(tree(ROOT), label));
    assert_eq!((bench.heard(), used(&bench)), (vec![], before));
    assert_eq!(bench.ldp.multipoint().count(), 0);
}

/// RFC 6388, 2.1: nobody is told who has not announced that it takes part.
#[test]
fn who_has_not_announced_it_is_told_nothing() {
    let mut bench = Bench::established();
    bench.route(ROOT, true);
    bench.heard();
    join(&mut bench);
    assert_eq!((bench.heard(), bench.ldp.multipoint().count()), (vec![], 1));
}

/// A router that does not take part knows no such element (RFC 5036, 3.4.1).
#[test]
fn who_does_not_take_part_knows_no_such_element() {
    let mut bench = Bench::with(|config| config.p2mp = false);
    bench.establish(takes_part(Bench::initialization(9, OWN)));
    bench.heard();
    bench.say(mapping(OWN, 99));
    assert_eq!(bench.status(), Status::UnknownFec);
    bench.say(Body::Request { fec: ALL, hops: None, path: None });
    assert_eq!(bench.status(), Status::UnknownFec);
    assert_eq!(bench.ldp.multipoint().count(), 0);
}

/// RFC 6388, 2.4: labels are of the label space of the router; reserved ones are given back, and so is a label whose
/// place another one takes (RFC 5036, A.1.2).
#[test]
fn labels_that_cannot_be_used_are_released() {
    let mut bench = bench();
    bench.say(mapping(ROOT, 3));
    assert_eq!(bench.heard(), [release(tree(ROOT), 3)]);
    bench.say(mapping(ROOT, 100));
    bench.say(mapping(ROOT, 101));
    assert_eq!(bench.heard(), [release(tree(ROOT), 100)], "the upstream LSR's own label is kept, not used");
    bench.say(withdraw(tree(ROOT), 101));
    assert_eq!(bench.heard(), [release(tree(ROOT), 101)]);
    assert_eq!(bench.ldp.multipoint().count(), 0);
    let six = Fec::P2mp(P2mp::generic(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), 5));
    bench.say(Body::Mapping { fecs: vec![six], label: generic(99), request: None, hops: None, path: None });
    assert_eq!(bench.status(), Status::UnsupportedAddressFamily);
}

/// Of neighbours no more is kept than there is room for: what is more is released and counted, and harms nothing that
/// is there.
#[test]
fn labels_beyond_what_is_kept_are_released() {
    let of = |lsp_id: u32| Fec::P2mp(P2mp::generic(ROOT.into(), lsp_id));
    let mapping = |fec: Fec, label: u32| Body::Mapping {
        fecs: vec![fec],
        label: generic(label),
        request: None,
        hops: None,
        path: None,
    };
    let count = |bench: &Bench| bench.ldp.multipoint().declined.values().sum::<u64>();
    for (trees, labels) in [(2, 10), (10, 2)] {
        let mut bench = bench();
        bench.ldp.multipoint.limits = Limits { trees, labels, opaque: 20 };
        [(1, 101), (2, 102)].into_iter().for_each(|(lsp_id, label)| bench.say(mapping(of(lsp_id), label)));
        assert_eq!((bench.heard(), count(&bench)), (vec![], 0));
        bench.say(mapping(of(3), 103));
        assert_eq!((bench.heard(), count(&bench)), (vec![release(of(3), 103)], 1));
        assert_eq!(bench.ldp.multipoint().count(), 2);
        // Another label for what is known is no new one.
        bench.say(mapping(of(2), 104));
        assert_eq!((bench.heard(), count(&bench)), (vec![release(of(2), 102)], 1));
        bench.say(withdraw(of(1), 101));
        bench.say(mapping(of(3), 105));
        assert_eq!((bench.heard(), count(&bench)), (vec![release(of(1), 101)], 1));
        // What users have said is not limited by what neighbours say.
        join(&mut bench);
        assert_eq!(bench.ldp.multipoint().count(), 3);
        let long = Fec::P2mp(P2mp { root: ROOT.into(), opaque: Hex(vec![1; 21]) });
        bench.say(mapping(long.clone(), 106));
        assert_eq!((bench.heard().last(), count(&bench)), (Some(&release(long, 106)), 2));
    }
}

/// RFC 5036, 3.5.3: no PDU is longer than the neighbour has said. An LSP whose name does not fit is not told of.
#[test]
fn names_that_are_too_long_for_the_upstream_router_go_no_further() {
    let mut bench = Bench::new();
    let short = |wanted: Body| match takes_part(wanted) {
        Body::Initialization(wanted) => Body::Initialization(Initialization { max_pdu: 256, ..wanted }),
        other => other,
    };
    bench.establish(short(Bench::initialization(9, OWN)));
    addresses(&mut bench);
    bench.route(ROOT, true);
    bench.heard();
    let longest = 256 - (6 + 8 + 4 + 10 + 8 + 8);
    for bytes in [longest + 1, longest] {
        let lsp = P2mp { root: ROOT.into(), opaque: Hex(vec![7; bytes]) };
        bench.lengths.clear();
        bench.call(|ldp, now, context| {
            ldp.multipoint.set_leaf(context.services, &lsp, Some("long".into()));
            ldp.handle_timeout(now, context);
        });
        let is_told = bytes == longest;
        assert_eq!(bench.heard().len(), usize::from(is_told), "{bytes} bytes");
        assert_eq!(bench.ldp.multipoint().declined.values().sum::<u64>(), 1);
        // As an answer to a request it is as long as it can be.
        bench.say(Body::Request { fec: ALL, hops: None, path: None });
        assert_eq!(bench.lengths.iter().max().copied(), is_told.then_some(4 + 256));
        bench.heard();
    }
}

/// RFC 6388, 2.4.1.1, and RFC 5036, 2.7: a next hop leads to who has said its address, wherever Hellos come from.
#[test]
fn the_upstream_router_is_known_by_the_addresses_that_it_has_said() {
    let second = Ipv4Addr::new(192, 168, 0, 3);
    let mut bench = bench();
    bench.route_by((PortId(0), second), ROOT, true);
    bench.heard();
    join(&mut bench);
    assert_eq!(bench.heard(), [], "nobody has said that address");
    bench.say(Body::Address(Addresses::V4(vec![second])));
    let label = told(&mut bench);
    bench.say(Body::AddressWithdraw(Addresses::V4(vec![second])));
    assert_eq!(bench.heard(), [withdraw(tree(ROOT), label)]);
    bench.say(release(tree(ROOT), label));
    bench.route(ROOT, true);
    told(&mut bench);
}

/// RFC 6388, 2.4.1.2: copies go to where the neighbour is now.
#[test]
fn copies_follow_the_address_of_a_neighbour() {
    let second = Ipv4Addr::new(192, 168, 0, 3);
    let mut bench = bench();
    let spec = TreeSpec {
        name: "tree".into(),
        lsp_id: 5,
        groups: Vec::new(),
        carries: vec![Prefix::new([20, 0, 0, 0].into(), 8)],
        filters: Vec::new(),
        watch: None,
    };
    command(&mut bench, Command::TreeSet(Arc::new(spec)));
    bench.say(mapping(OWN, 100));
    let to = |bench: &Bench| {
        let branches = bench.ldp.multipoint().trees().flat_map(|(_, tree)| tree.branches.clone());
        branches.map(|branch| branch.next_hop).collect::<Vec<_>>()
    };
    let via = |gateway: Ipv4Addr| NextHop::Via { port: PortId(0), gateway: gateway.into() };
    assert_eq!(to(&bench), [via(THEIRS)]);
    bench.greet_from((PortId(0), second), OTHER, |_| {});
    assert_eq!(to(&bench), [via(second)]);
}

/// RFC 6388, 2.2: a malformed element is answered, and the session goes on where the RFC says so.
#[test]
fn a_wrong_address_length_is_answered() {
    let mut bench = bench();
    let mut pdu = pdus(LdpId::platform(OTHER), [&Message::new(7, mapping(ROOT, 99))], 4096).concat();
    let element = [6, 0, 1, 4];
    let place = pdu.windows(4).position(|four| four == element).expect("an element");
    pdu[place + 3] = 16;
    bench.event(crate::services::sessions::SessionEvent::Received(&pdu));
    assert_eq!(bench.status(), Status::UnknownFec);
    assert!(bench.state().is_some());
    let counted: Vec<_> = bench.ldp.malformed.iter().collect();
    let clause = "a root address whose length is not that of its family";
    assert_eq!(counted, [(&clause, &(Status::UnknownFec, 1))]);
    // One beside another element ends the session.
    let fecs = vec![tree(ROOT), tree(OWN)];
    bench.say(Body::Mapping { fecs, label: generic(99), request: None, hops: None, path: None });
    assert_eq!((bench.status(), bench.state()), (Status::MalformedTlvValue, None));
}

/// RFC 6388, 9, and RFC 5918, 4: all LSPs are asked for, released and taken back at once.
#[test]
fn a_typed_wildcard_means_all_trees() {
    let mut bench = bench();
    join(&mut bench);
    let label = told(&mut bench);
    bench.say(Body::Release { fec: ALL, label: None, notice: None });
    assert_eq!(bench.heard(), []);
    bench.say(Body::Request { fec: ALL, hops: None, path: None });
    let said = bench.heard();
    assert!(
        matches!(&said[..], [Body::Mapping { label: AnyLabel::Generic(of), request: Some(7), .. }] if of.value() == label),
        "{said:?}"
    );
    bench.say(Body::Request { fec: tree(OWN), hops: None, path: None });
    assert_eq!(bench.status(), Status::NoRoute);
    bench.say(Body::Request { fec: Fec::AllP2mp(2), hops: None, path: None });
    assert_eq!(bench.status(), Status::UnsupportedAddressFamily);
    for fec in [ALL, Fec::Wildcard] {
        bench.say(mapping(ROOT, 101));
        assert!(bench.ldp.multipoint().trees().all(|(_, tree)| tree.given.len() == 1));
        bench.say(Body::Withdraw { fec: fec.clone(), label: None });
        assert_eq!(bench.heard(), [Body::Release { fec, label: None, notice: None }]);
        assert!(bench.ldp.multipoint().trees().all(|(_, tree)| tree.given.is_empty()));
    }
}

/// RFC 6388, 2.4.1.5: the root copies what it carries, from the first label on.
#[test]
fn a_root_carries_packets() {
    let mut bench = bench();
    let (group, prefix) = ([239, 1, 1, 1].into(), Prefix::new([20, 0, 0, 0].into(), 8));
    let groups = vec![GroupKey { group, source: None }];
    let spec = TreeSpec {
        name: "tree".into(),
        lsp_id: 5,
        groups,
        carries: vec![prefix],
        filters: Vec::new(),
        watch: None,
    };
    command(&mut bench, Command::TreeSet(Arc::new(spec)));
    assert_eq!(bench.ops, []);
    bench.say(mapping(OWN, 100));
    let [TableOp::ReplicationSet { list, branches }, TableOp::FtnSet { nhlfe, .. }] = &bench.ops[..] else {
        panic!("{:?}", bench.ops)
    };
    let list = *list;
    assert_eq!(nhlfe.next_hop, NextHop::Replicate(list));
    let next_hop = NextHop::Via { port: PortId(0), gateway: THEIRS.into() };
    assert!(branches[0].next_hop == next_hop && branches[0].push.as_slice() == [Label::truncate(100)]);
    // Groups come from ports on which no LDP is spoken.
    let ways: Vec<_> = bench.services.multicast.all_ways().map(|(_, incoming, ..)| incoming).collect();
    assert_eq!(ways, [Incoming::Port(PortId(1))]);
    assert_eq!(bench.heard(), []);
    bench.ops.clear();
    bench.say(withdraw(tree(OWN), 100));
    let fec = base::plane::Fec::Prefix(prefix);
    assert_eq!(bench.ops, [TableOp::FtnRemove { fec }, TableOp::ReplicationRemove { list }]);
    assert_eq!(bench.services.multicast.all_ways().count(), 0);
}

/// Groups that hosts want come off the labels of a leaf, and of no other router.
#[test]
fn groups_at_a_leaf_go_to_hosts() {
    let mut bench = bench();
    let key = GroupKey { group: [239, 1, 1, 1].into(), source: None };
    let host = ProtocolId::new("igmp");
    bench.services.multicast.want(key, PortId(1), host, true);
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::Group(key)));
    let ways = |bench: &Bench| bench.services.multicast.ways(crate::ldp::Ldp::ID);
    assert_eq!(ways(&bench), []);
    join(&mut bench);
    assert_eq!(ways(&bench), [(key, Incoming::Label)]);
    leave(&mut bench);
    assert_eq!(ways(&bench), []);
}

/// A session that is lost releases all, and what users have said is said anew by the next one. So it is over a restart
/// of LDP alone, with graceful restart, too.
#[test]
fn a_lost_session_and_restarts_leave_nothing() {
    let graceful = crate::ldp::section::LdpSpec { graceful_restart: true, ..Default::default() };
    let graceful = crate::ldp::Graceful {
        reconnect: graceful.reconnect_time,
        hold: graceful.forwarding_hold_time,
        liveness: graceful.neighbor_liveness_time,
        recovery_max: graceful.recovery_time_max,
    };
    for graceful in [None, Some(graceful)] {
        let mut bench = Bench::with(|config| config.graceful = graceful);
        bench.establish(takes_part(Bench::initialization(9, OWN)));
        addresses(&mut bench);
        bench.route(ROOT, true);
        bench.heard();
        let of_prefixes = used(&bench);
        join(&mut bench);
        let label = told(&mut bench);
        bench.ops.clear();
        bench.say(Body::notify(Notice::new(Status::Shutdown)));
        let gone = TableOp::IlmRemove { label: Label::truncate(label) };
        assert!(bench.ops.contains(&gone), "{:?}", bench.ops);
        assert_eq!((used(&bench), bench.ldp.multipoint().count()), (of_prefixes, 1));
        bench.greet();
        bench.heard();
        bench.establish(takes_part(Bench::initialization(9, OWN)));
        addresses(&mut bench);
        let again = bench
            .heard()
            .iter()
            .filter(|said| matches!(said, Body::Mapping { fecs, .. } if *fecs == [tree(ROOT)]))
            .count();
        assert_eq!(again, 1);
        bench.ops.clear();
        bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
        bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
        let removed = bench.ops.iter().filter(|op| matches!(op, TableOp::IlmRemove { .. })).count();
        assert!(removed >= 1, "{:?}", bench.ops);
        let held = bench.services.labels.owners().find(|(space, ..)| *space == LabelSpace::Platform);
        assert_eq!(held.map(|(.., used)| used), Some(of_prefixes));
        assert_eq!(bench.ldp.multipoint().count(), 1, "it is a leaf, still");
    }
}
