//! Opaque advertisements (RFC 5250) and traffic engineering (RFC 3630).

use super::super::areas::BACKBONE;
use super::super::database::Scope;
use super::net::{Link, Net, id, on};
use crate::services::te::{Constraints, Metric};
use base::{PortId, Rate, Time};
use core::net::Ipv4Addr;
use wire::ospf::te::{Te, TeLink, link_type};
use wire::ospf::{Body, Header, Kind, Lsa, LsaBody, LsaKey, LsaKind, options};

/// What a router has heard of traffic engineering: who says what by which link state id.
fn heard(net: &Net, node: usize) -> Vec<(Ipv4Addr, Ipv4Addr, Te)> {
    let known = net.ospf(node).databases().of(Scope::Area(BACKBONE)).expect("a database");
    let read = |bytes: &[u8]| Te::parse(bytes).expect("what is said").remove(0);
    let all = known.iter().filter_map(|one| match one.body() {
        LsaBody::Other { bytes } => Some((one.key().router, one.key().id, read(&bytes.0))),
        _ => None,
    });
    all.collect()
}

/// Three routers in a row, of which some know of traffic engineering, and the last link costs that more.
fn row(engineered: [bool; 3]) -> Net {
    let mut last = Link::between(1, 2, 20);
    for (_, config) in &mut last.members {
        (config.te.metric, config.te.groups, config.te.srlgs) = (Some(7), 5, vec![3, 4]);
    }
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), last]);
    for (node, _) in engineered.iter().enumerate().filter(|(_, is)| **is) {
        net.engineer(node);
    }
    net.run(60);
    net
}

#[test]
fn links_are_known_to_all_with_what_is_left_of_them() {
    let net = row([true; 3]);
    let all = heard(&net, 0);
    assert_eq!(all, heard(&net, 1));
    assert_eq!(all, heard(&net, 2));
    let addresses = (0..3).map(|node| (id(node), Ipv4Addr::new(1, 0, 0, 0), Te::RouterAddress(id(node))));
    assert!(addresses.into_iter().all(|one| all.contains(&one)));
    assert_eq!(all.len(), 3 + 4);
    let link = TeLink {
        kind: link_type::POINT_TO_POINT,
        id: id(2),
        local: vec![on(1, 0)],
        remote: vec![on(1, 1)],
        metric: Some(7),
        maximum: None,
        reservable: Some(1000.0),
        unreserved: Some([1000.0; 8]),
        groups: Some(5),
        srlgs: vec![3, 4],
    };
    assert!(all.contains(&(id(1), Ipv4Addr::new(1, 0, 0, 2), Te::Link(link))), "{all:?}");
    let first = all.iter().find(|one| one.1 == Ipv4Addr::new(1, 0, 0, 1) && one.0 == id(0));
    assert!(matches!(first, Some((_, _, Te::Link(TeLink { metric: Some(10), .. })))), "{first:?}");
    // RFC 5250, 3.1: the option is one of descriptions alone.
    for (_, _, _, bytes) in &net.packets {
        let header = Header::parse(bytes).expect("a header");
        let body = Body::parse(header.kind, &bytes[24..usize::from(header.length)]).expect("a body");
        let is_opaque = match &body {
            Body::Hello(hello) => hello.options & options::O != 0,
            Body::Description(description) => description.options & options::O != 0,
            _ => continue,
        };
        assert_eq!(is_opaque, header.kind == Kind::Description);
    }
}

#[test]
fn who_knows_nothing_of_opaque_ones_is_sent_none() {
    let net = row([true, false, true]);
    assert!(heard(&net, 1).is_empty());
    // Nothing lies behind it.
    assert!(heard(&net, 0).iter().all(|(router, ..)| *router == id(0)));
    let ospf = net.ospf(0);
    assert!(ospf.interfaces().all(|one| one.neighbors.values().all(|one| ospf.unacknowledged(one) == 0)));
    assert_eq!(net.full(), 4);
}

/// RFC 5250, 3.1 and A.2: those of an area stay in it, and those of the AS come into no stub area; those of a link are
/// acknowledged and go no further.
#[test]
fn opaque_advertisements_stay_where_they_belong() {
    use super::super::areas::{AreaConfig, AreaKind};
    let (mut config, near) = (super::super::Config::default(), Ipv4Addr::new(0, 0, 0, 1));
    config.te = true;
    for kind in [AreaKind::Normal, AreaKind::Stub, AreaKind::Nssa] {
        config.areas.insert(near, AreaConfig { kind, ..AreaConfig::default() });
        assert_eq!(config.takes(near, LsaKind::OPAQUE_AS), kind == AreaKind::Normal);
        assert!(config.takes(near, LsaKind::OPAQUE_AREA) && !config.takes(near, LsaKind::OPAQUE_LINK));
    }
    assert_eq!(Scope::of(LsaKind::OPAQUE_AREA, near), Scope::Area(near));
    assert_eq!(Scope::of(LsaKind::OPAQUE_AS, near), Scope::As);
}

#[test]
fn a_network_of_several_routers_is_named_by_the_designated_one() {
    let mut net = Net::new(3, vec![Link::network(&[(0, 1), (1, 1), (2, 0)])]);
    (0..3).for_each(|node| net.engineer(node));
    net.run(120);
    let all = heard(&net, 0);
    let links = all.iter().filter_map(|(_, _, te)| match te {
        Te::Link(link) => Some(link),
        Te::RouterAddress(_) => None,
    });
    let links: Vec<_> = links.collect();
    assert_eq!(links.len(), 3);
    let is_right = |link: &&TeLink| link.kind == link_type::MULTI_ACCESS && link.remote.is_empty();
    assert!(links.iter().all(is_right) && links.iter().all(|link| link.id == links[0].id), "{links:?}");
}

/// What is left at the weakest priority of the last link, as the first router knows it.
fn left(net: &Net) -> f32 {
    let all = heard(net, 0);
    let one = all.iter().find(|one| (one.0, one.1) == (id(1), Ipv4Addr::new(1, 0, 0, 2)));
    match one {
        Some((_, _, Te::Link(TeLink { unreserved: Some(all), .. }))) => all[7],
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_left_is_said_again_by_threshold_by_refusal_and_by_time() {
    let mut net = row([true; 3]);
    let reserve = |net: &mut Net, used: u64, is_refused| {
        net.reserve(1, PortId(1), [Rate(8000 - used); 8], is_refused);
        net.run(10);
    };
    reserve(&mut net, 1199, false);
    assert_eq!(left(&net), 1000.0, "below 15 percent");
    reserve(&mut net, 1200, false);
    assert_eq!(left(&net), 850.0);
    reserve(&mut net, 1600, false);
    assert_eq!(left(&net), 850.0);
    reserve(&mut net, 1600, true);
    assert_eq!(left(&net), 800.0, "something was refused");
    reserve(&mut net, 1800, false);
    assert_eq!(left(&net), 800.0);
    net.run(180);
    assert_eq!(left(&net), 775.0, "three minutes later");
    // Two changes at once are two instances, with MinLSInterval between them.
    let key = LsaKey { kind: LsaKind::OPAQUE_AREA, id: Ipv4Addr::new(1, 0, 0, 2), router: id(1) };
    let sequence = |net: &Net| net.known(1, &key).expect("an instance").header().sequence;
    let before = sequence(&net);
    for used in [4000, 6000, 7000, 8000] {
        net.reserve(1, PortId(1), [Rate(8000 - used); 8], false);
    }
    net.run(4);
    assert_eq!(sequence(&net), before + 1);
    net.run(10);
    assert_eq!((sequence(&net), left(&net)), (before + 2, 0.0));
    // A link that is gone is taken back.
    net.set_up(1, false);
    net.run(10);
    assert!(heard(&net, 0).iter().all(|one| one.1 != Ipv4Addr::new(1, 0, 0, 2)));
}

#[test]
fn the_database_of_the_node_follows() {
    // Two ways to the last router: a short one for the routing protocol, and one that traffic engineering likes.
    let mut dear = Link::between(0, 2, 3);
    dear.members.iter_mut().for_each(|(_, config)| config.te.metric = Some(50));
    let mut net = Net::new(3, vec![Link::between(0, 1, 10), Link::between(1, 2, 10), dear]);
    (0..3).for_each(|node| net.engineer(node));
    net.run(60);
    let path = |net: &mut Net, metric, bandwidth| {
        let asked = Constraints { metric, bandwidth: Rate(bandwidth), priority: 7, ..Constraints::default() };
        let found = net.engineering(0).path(Time::ZERO, id(0), id(2), &asked).map_err(|why| why.to_string());
        found.map(|path| (path.hops.iter().map(|hop| hop.far).collect::<Vec<_>>(), path.cost))
    };
    assert_eq!(path(&mut net, Metric::Te, 0), Ok((vec![on(0, 1), on(1, 1)], 20)));
    assert_eq!(path(&mut net, Metric::Igp, 0), Ok((vec![on(2, 1)], 3)));
    // What is reserved at the router in between is known here.
    net.reserve(1, PortId(1), [Rate(1000); 8], false);
    net.run(10);
    assert_eq!(path(&mut net, Metric::Te, 1001), Ok((vec![on(2, 1)], 50)));
    // A link that is gone is in no path, whatever is asked for.
    net.set_up(2, false);
    net.run(10);
    assert_eq!(path(&mut net, Metric::Igp, 0), Ok((vec![on(0, 1), on(1, 1)], 20)));
    let none = "no path with 1001 bit/s at priority 7: 1 link lacks bandwidth";
    assert_eq!(path(&mut net, Metric::Te, 1001), Err(none.into()));
}

#[test]
fn an_address_counts_while_the_router_that_says_it_can_be_reached() {
    let mut net = row([true; 3]);
    let other = Ipv4Addr::new(10, 9, 0, 2);
    let say = |net: &mut Net, router: Ipv4Addr, address: Ipv4Addr| {
        let key = LsaKey { kind: LsaKind::OPAQUE_AREA, id: Ipv4Addr::new(1, 0, 0, 9), router };
        let body = LsaBody::Other { bytes: Te::RouterAddress(address).write()[..].into() };
        let (checksum, correct_checksum) = (None, None);
        net.know(0, &Lsa { age: 0, options: options::E, key, sequence: 1, checksum, correct_checksum, body });
        net.run(10);
        net.engineering(0).router_of(address)
    };
    // Nobody is this router, and it says that it has the address of one that is there.
    assert_eq!(say(&mut net, Ipv4Addr::new(0, 0, 0, 1), id(0)), Some(id(0)));
    // The last router would take back what it has not said, but does not hear of it.
    net.cut.insert(1);
    assert_eq!(say(&mut net, id(2), other), Some(id(2)));
    net.run(60);
    assert_eq!(net.engineering(0).router_of(other), None, "what it said is there still");
}
