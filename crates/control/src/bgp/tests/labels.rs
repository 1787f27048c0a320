//! Routes with labels (RFC 8277) and over a core of IPv4 (RFC 4798), and several paths (RFC 7911), in bytes.

use super::super::next_hops::NextHops;
use super::peers::{Beside, attributes, families, nlri, of, two};
use crate::protocol::{Change, Protocol};
use crate::services::{Route, RouteWrites, Source};
use base::plane::{GroupId, IpPrefix, LabelStack, NextHop as Hop, Nhlfe, Prefix, TableOp};
use base::{Label, PortId, ProtocolId};
use core::net::{Ipv4Addr, Ipv6Addr};
use wire::bgp::{Attributes, Family, Labels, NextHop, Nlri, Reach, Unreach, Update};

pub(super) const V4: &str = "203.0.113.0/24";
const V6: &str = "2001:db8:7::/48";

fn labelled(prefix: &str, label: u32) -> Vec<Nlri> {
    several(prefix, &[label])
}

pub(super) fn several(prefix: &str, labels: &[u32]) -> Vec<Nlri> {
    let all: Vec<Label> = labels.iter().copied().map(Label::truncate).collect();
    let labels = Labels::new(&all).expect("no more labels than there can be");
    nlri(&[prefix]).into_iter().map(|one| Nlri { labels, ..one }).collect()
}

pub(super) fn tells(n: u8, family: Family, next_hop: NextHop, nlri: Vec<Nlri>) -> Update {
    let attributes = Attributes { next_hop: None, ..attributes(n) };
    Update { attributes, reach: Some(Reach { family, next_hop, nlri }), ..Update::default() }
}

/// What is written of FTN and ILM, without groups: what is pushed, or nothing where an entry is removed.
pub(super) fn written(net: &mut Beside, routes: &mut RouteWrites) -> Vec<(Option<Label>, Option<Vec<u32>>)> {
    let services = &mut net.services;
    services.write_labelled(routes);
    let pushed = |nhlfe: Nhlfe| {
        assert!(matches!(nhlfe.next_hop, Hop::Group(_)));
        nhlfe.push.as_slice().iter().map(|label| label.value()).collect()
    };
    let mut found = Vec::new();
    while let Some(op) = routes.poll() {
        match op {
            TableOp::FtnSet { nhlfe, .. } => found.push((None, Some(pushed(nhlfe)))),
            TableOp::FtnRemove { .. } => found.push((None, None)),
            TableOp::IlmSet { label, nhlfe } => found.push((Some(label), Some(pushed(nhlfe)))),
            TableOp::IlmRemove { label } => found.push((Some(label), None)),
            _ => {}
        }
    }
    found
}

#[test]
fn a_label_is_swapped_for_that_of_the_next_hop() {
    let mut net = two(&["ipv4-labelled"]);
    net.open(0, families(&[Family::Ipv4Labelled]));
    net.open(1, families(&[Family::Ipv4Labelled]));
    net.told(1);
    let mut routes = RouteWrites::default();
    let family = Family::Ipv4Labelled;
    let by = |n: u8| NextHop::V4(of(n).0);
    net.update(0, tells(0, family, by(0), labelled(V4, 100)));
    let told = net.told(1);
    let reach = told[0].reach.clone().expect("labels");
    assert_eq!((reach.family, reach.next_hop), (family, NextHop::V4(Ipv4Addr::new(10, 1, 0, 1))));
    let own = reach.nlri[0].labels.first().expect("a label");
    assert!(own >= Label::FIRST_UNRESERVED && told[0].attributes.next_hop.is_none());
    // RFC 8277, 4: an IP packet gets the label, and one with this router's label gets it for that.
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![100])), (Some(own), Some(vec![100]))]);
    // RFC 8277, 2.5: another label replaces the first, and neighbours need not hear of it.
    net.update(0, tells(0, family, by(0), labelled(V4, 101)));
    assert_eq!(net.told(1), []);
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![101])), (Some(own), Some(vec![101]))]);
    // Implicit null: the label comes off, and an IP packet takes its route.
    net.update(0, tells(0, family, by(0), labelled(V4, 3)));
    assert_eq!(
        (net.told(1), written(&mut net, &mut routes)),
        (vec![], vec![(None, None), (Some(own), Some(vec![]))])
    );
    // RFC 8277, 2.4: what is withdrawn has no label that counts; the own one is free again.
    let gone = Unreach { family, nlri: nlri(&[V4]) };
    net.update(0, Update { unreach: Some(gone.clone()), ..Update::default() });
    assert_eq!(net.told(1), [Update { unreach: Some(gone), ..Update::default() }]);
    assert_eq!(written(&mut net, &mut routes), [(Some(own), None)]);
    assert_eq!(net.bgp.label_of(V4.parse::<Prefix>().map(IpPrefix::V4).expect("a prefix")), None);
}

#[test]
fn without_labels_from_others_null_is_told() {
    let mut net = two(&["ipv4", "ipv6", "ipv4-labelled", "ipv6-labelled"]);
    net.open(0, families(&[Family::Ipv4, Family::Ipv6]));
    net.open(1, families(&[Family::Ipv4Labelled, Family::Ipv6Labelled]));
    net.told(1);
    net.update(0, Update { attributes: attributes(0), nlri: nlri(&[V4]), ..Update::default() });
    let global = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);
    net.update(0, tells(0, Family::Ipv6, NextHop::V6 { global, link_local: None }, nlri(&[V6])));
    let told: Vec<Reach> = net.told(1).into_iter().filter_map(|update| update.reach).collect();
    let own = Ipv4Addr::new(10, 1, 0, 1);
    assert_eq!(
        told[0],
        Reach { family: Family::Ipv4Labelled, next_hop: NextHop::V4(own), nlri: labelled(V4, 3) }
    );
    // RFC 4798, 2: the IPv4 address, as an IPv6 address; 3: a label says what is below.
    let next_hop = NextHop::V6 { global: own.to_ipv6_mapped(), link_local: None };
    assert_eq!(told[1..], [Reach { family: Family::Ipv6Labelled, next_hop, nlri: labelled(V6, 2) }]);
}

#[test]
fn ipv6_goes_by_the_lsp_to_an_ipv4_address() {
    let mut net = two(&["ipv6", "ipv6-labelled"]);
    net.open(0, families(&[Family::Ipv6, Family::Ipv6Labelled]));
    net.open(1, families(&[Family::Ipv6]));
    net.told(1);
    let (mut routes, mapped) = (RouteWrites::default(), of(0).0.to_ipv6_mapped());
    let by = |global| NextHop::V6 { global, link_local: None };
    net.update(0, tells(0, Family::Ipv6Labelled, by(mapped), labelled(V6, 500)));
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![500]))]);
    let told: Vec<Reach> = net.told(1).into_iter().filter_map(|update| update.reach).collect();
    assert_eq!(
        (told.len(), told[0].family, told[0].nlri[0].labels.first()),
        (1, Family::Ipv6, None),
        "RFC 8277, 5"
    );
    // An address that stands for one of IPv4 is for IPv6 with labels.
    net.update(0, tells(0, Family::Ipv6, by(mapped), nlri(&["2001:db8:8::/48"])));
    assert_eq!((net.told(1), written(&mut net, &mut routes)), (vec![], vec![]));
}

/// RFC 8277, 2, leaves open what a next hop is: that of IPv6 with labels may be an IPv6 address, as FRR has it.
#[test]
fn ipv6_with_labels_goes_to_an_ipv6_next_hop() {
    use crate::services::Binder;
    use base::plane::{Prefix6, TcSource, TtlModel};
    let mut net = two(&["ipv6", "ipv6-labelled"]);
    net.open(0, families(&[Family::Ipv6, Family::Ipv6Labelled]));
    net.open(1, families(&[Family::Ipv6Labelled]));
    net.told(1);
    let mut routes = RouteWrites::default();
    let by = |global: &str| NextHop::V6 { global: global.parse().expect("an address"), link_local: None };
    let tell = |net: &mut Beside, next_hop, label| {
        net.update(0, tells(0, Family::Ipv6Labelled, by(next_hop), labelled(V6, label)));
    };
    // The neighbour on the link.
    tell(&mut net, "2001:db8::2", 500);
    let told = net.told(1).into_iter().find_map(|update| update.reach).expect("a route");
    let own = told.nlri[0].labels.first().expect("a label");
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![500])), (Some(own), Some(vec![500]))]);
    // Implicit null: packets take the route.
    tell(&mut net, "2001:db8::2", 3);
    assert_eq!(written(&mut net, &mut routes), [(None, None), (Some(own), Some(vec![]))]);
    let prefix: Prefix6 = V6.parse().expect("a prefix");
    assert_eq!(net.services.rib6.next_hops(prefix).len(), 1);
    // A router further on: without an LSP that ends there nobody knows the label on the way, and packets take the
    // route.
    let far: Prefix6 = "2001:db8:f::9/128".parse().expect("a prefix");
    let neighbor: Ipv6Addr = "2001:db8::2".parse().expect("an address");
    let via = Hop::Via { port: PortId(0), gateway: neighbor.into() };
    net.services.rib6.set(far, Route::direct(Source::Protocol(ProtocolId::new("igp")), 110, via));
    tell(&mut net, "2001:db8:f::9", 502);
    assert_eq!(written(&mut net, &mut routes), [(Some(own), None)]);
    assert_eq!(net.services.rib6.next_hops(prefix), [via]);
    let binder = Binder { preference: 9, owner: ProtocolId::new("lsp"), rank: 0 };
    let push = LabelStack::one(Label::truncate(16));
    let lsp = Nhlfe { push, next_hop: via, ttl: TtlModel::Uniform, tc: TcSource::Copy };
    net.services.bindings.bind(far.into(), binder, lsp);
    net.services.labelled.follow_all();
    let below = Some(vec![502]);
    assert_eq!(written(&mut net, &mut routes), [(None, below.clone()), (Some(own), below)]);
    // Nothing leads there any more.
    net.services.bindings.withdraw(far.into(), binder);
    net.services.rib6.remove(far, Source::Protocol(ProtocolId::new("igp")));
    net.with(|bgp, now, context| bgp.handle_change(now, context, &Change::Route(far.into())));
    net.services.labelled.follow_all();
    let mut gone = written(&mut net, &mut routes);
    gone.dedup();
    assert!(gone.contains(&(None, None)) && gone.contains(&(Some(own), None)), "{gone:?}");
    assert_eq!(
        net.told(1).last().and_then(|update| update.unreach.as_ref()).map(|all| all.nlri.len()),
        Some(1)
    );
}

#[test]
fn packets_take_a_better_route_of_another_source() {
    let mut net = two(&["ipv4-labelled"]);
    net.open(0, families(&[Family::Ipv4Labelled]));
    let mut routes = RouteWrites::default();
    let prefix: Prefix = V4.parse().expect("a prefix");
    let changed = |net: &mut Beside| {
        net.with(|bgp, now, context| bgp.handle_change(now, context, &Change::Route(prefix.into())));
    };
    net.services.rib.set(prefix, Route::connected(Hop::Local));
    let told = tells(0, Family::Ipv4Labelled, NextHop::V4(of(0).0), labelled(V4, 100));
    net.update(0, told);
    assert_eq!(written(&mut net, &mut routes), [], "the network is connected");
    net.services.rib.remove(prefix, Source::Connected);
    changed(&mut net);
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![100]))]);
    net.services.rib.set(prefix, Route::fixed(Hop::Discard));
    changed(&mut net);
    assert_eq!(written(&mut net, &mut routes), [(None, None)]);
}

#[test]
fn an_ipv6_next_hop_costs_what_its_ipv4_address_does() {
    let mut net = two(&["ipv4"]);
    let far = Ipv4Addr::new(10, 250, 0, 9);
    let via = Hop::Via { port: PortId(0), gateway: of(0).0.into() };
    let source = Source::Protocol(ProtocolId::new("igp"));
    let route = |metric| Route { metric, ..Route::direct(source, 110, via) };
    let mut hops = NextHops::default();
    let place = hops.hold(far.to_ipv6_mapped().into());
    net.services.rib.set(Prefix::host(far), route(1));
    assert_eq!(hops.cost(&net.services, place), Some(1));
    net.services.rib.set(Prefix::host(far), route(2));
    assert_eq!(hops.moved(&net.services, Prefix::host(far).into()), [place]);
    assert_eq!(hops.known(place), Some(2));
}

#[test]
fn entries_need_an_lsp_that_ends_where_the_label_is_known() {
    use crate::services::{Beneath, Binder, Hops, RouteHop};
    use base::plane::{TcSource, TtlModel};
    let mut net = two(&["ipv4"]);
    let mut routes = RouteWrites::default();
    let (far, prefix) = (Ipv4Addr::new(10, 250, 0, 9), Prefix::new([203, 0, 113, 0].into(), 24));
    let via = Hop::Via { port: PortId(0), gateway: of(0).0.into() };
    let hops = Hops::One(RouteHop::Direct(via));
    let source = Source::Protocol(ProtocolId::new("igp"));
    net.services.rib.set(Prefix::host(far), Route { source, preference: 110, metric: 1, tag: 0, hops });
    let binder = |name| Binder { preference: 20, owner: ProtocolId::new(name), rank: 0 };
    let way = Beneath { gateway: far.into(), push: LabelStack::one(Label::truncate(77)) };
    net.services.label_prefix(binder("bgp"), prefix.into(), Some(way));
    assert_eq!(written(&mut net, &mut routes), [], "the router in between does not know the label");
    let lsp = Nhlfe {
        push: LabelStack::one(Label::truncate(16)),
        next_hop: via,
        ttl: TtlModel::Uniform,
        tc: TcSource::Copy,
    };
    net.services.bindings.bind(Prefix::host(far).into(), binder("ldp"), lsp);
    net.services.labelled.follow_all();
    assert_eq!(written(&mut net, &mut routes), [(None, Some(vec![77]))]);
    // The same way is as good as one from within the AS from now on: another protocol's LSP goes before it.
    let later = Binder { preference: 200, ..binder("bgp") };
    net.services.label_prefix(later, prefix.into(), Some(way));
    written(&mut net, &mut routes);
    assert_eq!((net.services.bindings.binder(prefix.into()), net.services.bindings.len()), (Some(later), 2));
    let group = Nhlfe { push: LabelStack::EMPTY, next_hop: Hop::Group(GroupId(1 << 31)), ..lsp };
    let other: IpPrefix = Prefix::new([198, 51, 100, 0].into(), 24).into();
    net.services.bindings.bind(other, binder("static"), group);
    assert!(net.services.bindings.legs(other).is_some());
    net.services.bindings.withdraw(Prefix::host(far).into(), binder("ldp"));
    net.services.labelled.follow_all();
    assert_eq!(written(&mut net, &mut routes), [(None, None)]);
    assert_eq!(net.services.bindings.legs(other), None, "the group is forgotten");
}
