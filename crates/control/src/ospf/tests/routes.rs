//! Routes to other areas and outside, by what border and boundary routers announce (RFC 2328, 16.2 and 16.4).

use super::net::{Link, Net, id, via};
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use wire::Hex;
use wire::ospf::{
    External, LS_INFINITY, Lsa, LsaBody, LsaKey, LsaKind, MAX_SEQUENCE, Summary, options, router_flags,
};

const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 0);

fn lsa(kind: LsaKind, id: Ipv4Addr, router: Ipv4Addr, body: LsaBody) -> Lsa {
    let key = LsaKey { kind, id, router };
    let (sequence, checksum, correct_checksum) = (MAX_SEQUENCE, None, None);
    Lsa { age: 1, options: options::E, key, sequence, checksum, correct_checksum, body }
}

fn summary(kind: LsaKind, what: Ipv4Addr, by: usize, metric: u32) -> Lsa {
    let mask = if kind == LsaKind::SUMMARY_NETWORK { MASK } else { Ipv4Addr::UNSPECIFIED };
    lsa(kind, what, id(by), LsaBody::Summary(Summary { mask, metric, tos: Hex::default() }))
}

fn external(by: Ipv4Addr, type2: bool, metric: u32, forwarding: Ipv4Addr) -> Lsa {
    let external = External { mask: MASK, type2, metric, forwarding, tag: 0, tos: Hex::default() };
    lsa(LsaKind::EXTERNAL, OUTSIDE, by, LsaBody::External(external))
}

/// Three routers around a network: 0 and 1 at a cost of 10, 0 and 2 at a cost of 30 by a link of their own. Routers 1
/// and 2 say that they are at borders of areas, and at the boundary.
fn net() -> Net {
    let mut net = Net::new(3, vec![Link::network(&[(0, 1), (1, 1)]), Link::between(0, 2, 30)]);
    net.run(90);
    for node in [1, 2] {
        let key = LsaKey { kind: LsaKind::ROUTER, id: id(node), router: id(node) };
        let known = net.known(0, &key).expect("an instance").clone();
        let LsaBody::Router(mut router) = known.body().clone() else { panic!("{known:?}") };
        router.flags = router_flags::B | router_flags::E;
        net.know(0, &lsa(LsaKind::ROUTER, id(node), id(node), LsaBody::Router(router)));
    }
    net
}

fn outside(net: &Net) -> Option<(u32, Vec<NextHop>)> {
    net.route(0, Prefix::new(OUTSIDE, 24))
}

#[test]
fn networks_of_other_areas_are_reached_by_the_nearer_border() {
    let mut net = net();
    let far = Ipv4Addr::new(198, 51, 100, 0);
    let route = |net: &Net| net.route(0, Prefix::new(far, 24));
    net.know(0, &summary(LsaKind::SUMMARY_NETWORK, far, 1, LS_INFINITY));
    assert_eq!(route(&net), None, "LSInfinity says that there is no way");
    net.know(0, &summary(LsaKind::SUMMARY_NETWORK, far, 2, 5));
    assert_eq!(route(&net), Some((35, vec![via(1, 1, 1)])));
    net.know(0, &summary(LsaKind::SUMMARY_NETWORK, far, 1, 25));
    assert_eq!(route(&net), Some((35, vec![via(0, 0, 1), via(1, 1, 1)])));
    // A path inside the area comes first, whatever it costs.
    let host = Summary { mask: Ipv4Addr::BROADCAST, metric: 1, tos: Hex::default() };
    net.know(0, &lsa(LsaKind::SUMMARY_NETWORK, id(2), id(1), LsaBody::Summary(host)));
    assert_eq!(net.route(0, Prefix::host(id(2))), Some((30, vec![via(1, 1, 1)])));
}

#[test]
fn networks_outside_are_reached_by_their_metric() {
    let mut net = net();
    let none = Ipv4Addr::UNSPECIFIED;
    net.know(0, &external(id(1), true, 20, none));
    assert_eq!(outside(&net), Some((20, vec![via(0, 0, 1)])), "type 2: the metric alone");
    net.know(0, &external(id(2), true, 19, none));
    assert_eq!(outside(&net), Some((19, vec![via(1, 1, 1)])));
    net.know(0, &external(id(2), true, 20, none));
    assert_eq!(outside(&net), Some((20, vec![via(0, 0, 1)])), "as good: the nearer boundary");
    net.know(0, &external(id(2), false, 4_000, none));
    assert_eq!(
        outside(&net),
        Some((4_030, vec![via(1, 1, 1)])),
        "type 1 comes before type 2, with the way added"
    );
}

#[test]
fn a_forwarding_address_is_where_packets_go() {
    let mut net = net();
    // Somebody on the network that speaks no OSPF.
    let beyond = Ipv4Addr::new(192, 168, 0, 77);
    net.know(0, &external(id(1), false, 5, beyond));
    let gateway = NextHop::Via { port: base::PortId(0), gateway: beyond.into() };
    assert_eq!(outside(&net), Some((15, vec![gateway])));
    net.know(0, &external(id(1), false, 5, Ipv4Addr::new(100, 64, 0, 1)));
    assert_eq!(outside(&net), None, "no way leads there");
}

#[test]
fn a_boundary_router_of_another_area_is_reached_by_its_summary() {
    let mut net = net();
    let far = Ipv4Addr::new(10, 0, 0, 99);
    net.know(0, &external(far, false, 1, Ipv4Addr::UNSPECIFIED));
    assert_eq!(outside(&net), None);
    net.know(0, &summary(LsaKind::SUMMARY_ROUTER, far, 2, 7));
    assert_eq!(outside(&net), Some((38, vec![via(1, 1, 1)])));
}
