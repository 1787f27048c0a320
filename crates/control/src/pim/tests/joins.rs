//! Joins and Prunes: of this router, for it, and seen on a link.

use super::*;
use DownstreamState::{Join, NoInfo, PrunePending};

/// A router that is joined for a neighbour beyond `DOWN`.
fn joined() -> Node {
    let mut node = Node::met(&[]);
    assert_eq!(node.hears(DOWN, 7, &join(DOWN, 5)), [(UP, join(UP, 1))]);
    assert_eq!(node.forwards(), Some((UP, vec![DOWN])));
    node
}

fn state(node: &Node) -> DownstreamState {
    node.leg(DOWN).0
}

#[test]
fn hosts_are_joined_for_by_the_designated_router() {
    let mut node = Node::met(&[]);
    // On DOWN 10.0.1.8 is designated: hosts there are its business.
    assert_eq!(node.wants(DOWN, true), []);
    assert_eq!(node.forwards(), None);
    assert_eq!(node.wants(HOSTS, true), [(UP, join(UP, 1))]);
    assert_eq!(node.forwards(), Some((UP, vec![HOSTS])));
    // The designated router goes: its hosts are this router's.
    node.hears(DOWN, 8, &hello_with(&[HelloOption::Holdtime(0)]));
    node.hears(DOWN, 7, &hello_with(&[HelloOption::Holdtime(0)]));
    assert_eq!(node.forwards(), Some((UP, vec![DOWN, HOSTS])));
    // Hosts that want all senders of a group in the range want nothing that can be brought (RFC 7761, 4.8.1).
    let key = GroupKey { group: [232, 7, 7, 7].into(), source: None };
    node.services.multicast.want(key, PortId(HOSTS), ProtocolId::new("igmp"), true);
    assert_eq!(node.changes(Change::Group(key)), []);
    assert_eq!(node.pim.trees.len(), 1);
    node.wants(DOWN, false);
    assert_eq!(node.wants(HOSTS, false), [(UP, prune(UP, 1))]);
    assert!(node.pim.trees.is_empty() && node.pim.due.is_empty() && node.forwards().is_none());
}

#[test]
fn joins_are_repeated_each_minute() {
    let mut node = joined();
    assert_eq!(node.tree().state, UpstreamState::Joined);
    assert_eq!(node.waits(59_999), []);
    assert_eq!(node.waits(1), [(UP, join(UP, 1))]);
    assert_eq!(node.waits(60_000), [(UP, join(UP, 1))]);
    // RFC 7761, 4.11: a Join that does not come again holds 210 s.
    assert_eq!(node.waits(89_999), [(UP, join(UP, 1))]);
    assert_eq!(node.waits(1), [(UP, prune(UP, 1))]);
    assert!(node.pim.trees.is_empty() && node.forwards().is_none());
}

#[test]
fn a_join_lengthens_what_was_joined_and_never_shortens_it() {
    let mut node = joined();
    node.waits(100_000);
    let Repr::JoinPrune(message) = join(DOWN, 5) else { panic!("a Join") };
    node.hears(DOWN, 7, &Repr::JoinPrune(JoinPrune { holdtime_s: 1, ..message.clone() }));
    node.waits(109_999);
    assert_eq!(state(&node), Join);
    node.hears(DOWN, 7, &Repr::JoinPrune(JoinPrune { holdtime_s: 0xffff, ..message }));
    node.waits(10_000_000);
    assert_eq!(state(&node), Join, "until it is cancelled");
}

#[test]
fn a_prune_waits_for_others_to_override_it() {
    let mut node = joined();
    node.hears(DOWN, 8, &prune(DOWN, 5));
    assert_eq!((state(&node), node.forwards()), (PrunePending, Some((UP, vec![DOWN]))));
    node.waits(2_999);
    node.hears(DOWN, 7, &join(DOWN, 5));
    assert_eq!(node.waits(10_000), []);
    assert_eq!(state(&node), Join);
    // Nobody does: J/P_Override_Interval is 3 s. The link is told once more (PruneEcho), the way up is pruned.
    node.hears(DOWN, 8, &prune(DOWN, 5));
    assert_eq!(node.waits(2_999), []);
    assert_eq!(node.waits(1), [(UP, prune(UP, 1)), (DOWN, prune(DOWN, 5))]);
    assert_eq!((state(&node), node.forwards()), (NoInfo, None));
    // With a single neighbour there is nobody to wait for, and nobody to be told.
    let mut node = Node::met(&[]);
    node.hears(DOWN, 8, &hello_with(&[HelloOption::Holdtime(0)]));
    node.hears(DOWN, 7, &join(DOWN, 5));
    assert_eq!(node.hears(DOWN, 7, &prune(DOWN, 5)), [(UP, prune(UP, 1))]);
}

#[test]
fn what_is_for_another_router_changes_nothing_downstream() {
    let mut node = Node::met(&[]);
    assert_eq!(node.hears(DOWN, 7, &join(DOWN, 8)), []);
    assert!(node.pim.trees.is_empty());
    // Zeros are for nobody on a shared link; where two routers are alone they are for the other.
    node.hears(DOWN, 7, &join_prune(Ipv4Addr::UNSPECIFIED, &[SOURCE], &[]));
    assert!(node.pim.trees.is_empty());
    node.pim.links.get_mut(&PortId(DOWN)).expect("a link").is_point_to_point = true;
    node.hears(DOWN, 7, &join_prune(Ipv4Addr::UNSPECIFIED, &[SOURCE], &[]));
    assert_eq!(state(&node), Join);
    // A Prune of what nobody has joined leaves nothing behind.
    let mut node = Node::met(&[]);
    node.hears(DOWN, 7, &prune(DOWN, 5));
    assert!(node.pim.trees.is_empty());
}

#[test]
fn a_join_that_is_seen_suppresses_the_own_one() {
    let mut node = joined();
    node.hears(UP, 2, &hello(2));
    node.passes(5_000);
    node.hears(UP, 2, &join(UP, 1));
    // t_suppressed is between 66 and 84 s, and the holdtime is longer.
    assert_eq!(node.waits(65_999), []);
    assert_eq!(node.waits(18_001), [(UP, join(UP, 1))]);
    // A Join for another router does not.
    let timer = node.tree().join_timer;
    node.hears(UP, 2, &join(UP, 9));
    assert_eq!(node.tree().join_timer, timer);
    // All can do without: nothing is suppressed.
    let mut node = Node::new(&[("join_suppression", Value::Bool(false))]);
    let tracking = HelloOption::LanPruneDelay { tracking: true, propagation_ms: 500, override_ms: 2500 };
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(105), tracking]));
    node.wants(HOSTS, true);
    let timer = node.tree().join_timer;
    node.hears(UP, 1, &join(UP, 1));
    assert_eq!(node.tree().join_timer, timer);
}

#[test]
fn a_prune_that_is_seen_is_overridden_soon() {
    let mut node = joined();
    node.hears(UP, 2, &hello(2));
    node.passes(5_000);
    assert_eq!(node.hears(UP, 2, &prune(UP, 1)), []);
    assert_eq!(node.waits(2_500), [(UP, join(UP, 1))], "within the override interval");
    // So are Prunes of the source, and of all, on a tree from a rendezvous point (RFC 7761, 4.5.5).
    let of_source = SourceEntry { rpt: true, ..SourceEntry::of(SOURCE.into()) };
    let of_all = SourceEntry { wildcard: true, rpt: true, ..SourceEntry::of(address(UP, 77).into()) };
    for entry in [of_source, of_all] {
        let set = GroupSet { group: GROUP.into(), joined: Vec::new(), pruned: vec![entry] };
        let upstream = v4(address(UP, 1));
        node.hears(UP, 2, &Repr::JoinPrune(JoinPrune { upstream, holdtime_s: 210, groups: vec![set] }));
        assert_eq!(node.waits(2_500), [(UP, join(UP, 1))]);
    }
    assert_eq!(node.discards(), [("not-specific", 2)]);
}

#[test]
fn who_leads_to_the_sender_is_joined_when_it_changes() {
    let mut node = joined();
    node.hears(UP, 2, &hello(2));
    node.passes(5_000);
    let changed = Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24)));
    route(&mut node.services, UP, 2);
    assert_eq!(node.changes(changed), [(UP, prune(UP, 1)), (UP, join(UP, 2))]);
    // To another link: packets are taken from there, and that link is no way out any more.
    route(&mut node.services, HOSTS, 9);
    assert_eq!(node.changes(changed), [(UP, prune(UP, 2))]);
    assert_eq!((node.forwards(), node.tree().upstream), (Some((HOSTS, vec![DOWN])), None));
    let said = node.pim.complaints(node.now);
    let words = "10.0.2.9, the next hop to 10.99.0.2, does not speak PIM";
    assert!(said.len() == 1 && said[0].contains(words), "{said:?}");
    // The router there says that it speaks PIM: it is joined at once, behind a Hello.
    let sent = node.hears(HOSTS, 9, &hello(9));
    assert_eq!(sent.last(), Some(&(HOSTS, join(HOSTS, 9))));
    assert_eq!(node.pim.complaints(node.now), [] as [String; 0]);
    // No way at all: packets are taken from nowhere.
    node.services.rib.remove(Prefix::new(SOURCE, 24), crate::services::Source::Static);
    assert_eq!(node.changes(changed), [(HOSTS, prune(HOSTS, 9))]);
    assert_eq!(node.forwards(), None);
    assert!(node.pim.complaints(node.now)[0].starts_with("no route leads to 10.99.0.2"));
}

/// RFC 3906, 2: trees follow links, and not what routes over tunnels say.
#[test]
fn a_tunnel_towards_the_sender_is_no_way() {
    let mut node = joined();
    let before = node.tree().rpf;
    let tunnel = NextHop::Group(base::plane::GroupId(1));
    let better = Route::direct(crate::services::Source::Protocol(ProtocolId::new("rsvp")), 7, tunnel);
    node.services.rib.set(Prefix::new(SOURCE, 24), better);
    let changed = Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24)));
    assert_eq!(node.changes(changed), []);
    assert_eq!((node.tree().rpf, node.pim.complaints(node.now)), (before, Vec::new()));
}

/// The route of the sender is to a gateway, and that to the gateway moves.
#[test]
fn a_gateway_that_moves_takes_the_tree_along() {
    let mut node = Node::met(&[]);
    node.hears(UP, 2, &hello(2));
    node.passes(5_000);
    let gateway = Ipv4Addr::new(10, 250, 0, 9);
    let by = |node: &mut Node, router: u8| {
        let next_hop = NextHop::Via { port: PortId(UP), gateway: address(UP, router).into() };
        node.services.rib.set(Prefix::host(gateway), Route::fixed(next_hop));
    };
    by(&mut node, 1);
    let hops = vec![crate::services::RouteHop::Through(gateway)];
    let through = Route { hops: hops.into(), ..Route::fixed(NextHop::Discard) };
    node.services.rib.set(Prefix::new(SOURCE, 24), through);
    assert_eq!(node.wants(HOSTS, true), [(UP, join(UP, 1))]);
    by(&mut node, 2);
    let changed = Change::Route(IpPrefix::V4(Prefix::host(gateway)));
    assert_eq!(node.changes(changed), [(UP, prune(UP, 1)), (UP, join(UP, 2))]);
}

/// Nobody speaks PIM on the link of a sender that is a port of this router itself.
#[test]
fn a_sender_may_be_on_a_link_without_pim() {
    let mut node = Node::met(&[]);
    node.pim.links.remove(&PortId(DOWN));
    let on_link = NextHop::Via { port: PortId(DOWN), gateway: Ipv4Addr::UNSPECIFIED.into() };
    node.services.rib.set(Prefix::new(SOURCE, 24), Route::fixed(on_link));
    assert_eq!(node.wants(HOSTS, true), []);
    assert_eq!(node.forwards(), Some((DOWN, vec![HOSTS])));
    // When it moves nothing is left behind there.
    route(&mut node.services, UP, 1);
    let changed = Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24)));
    assert_eq!(node.changes(changed), [(UP, join(UP, 1))]);
    assert_eq!(node.forwards(), Some((UP, vec![HOSTS])));
}

#[test]
fn a_neighbour_that_restarts_is_joined_again_soon() {
    let mut node = joined();
    node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(0xffff), HelloOption::GenerationId(99)]));
    assert_eq!(node.waits(2_500), [(UP, join(UP, 1))]);
    // One that is gone is not pruned: nobody is there.
    assert_eq!(node.hears(UP, 1, &hello_with(&[HelloOption::Holdtime(0)])), []);
    assert_eq!((node.tree().upstream, node.tree().state), (None, UpstreamState::Joined));
}

#[test]
fn a_sender_on_the_link_needs_no_neighbour() {
    let mut node = Node::met(&[]);
    let on_link = NextHop::Via { port: PortId(UP), gateway: Ipv4Addr::UNSPECIFIED.into() };
    node.services.rib.set(Prefix::new(SOURCE, 24), Route::fixed(on_link));
    assert_eq!(node.wants(HOSTS, true), []);
    assert_eq!(node.forwards(), Some((UP, vec![HOSTS])));
    assert_eq!(node.pim.complaints(node.now), [] as [String; 0]);
    // Of several ways as good that is taken whose router speaks PIM.
    let via = |router: u8| NextHop::Via { port: PortId(UP), gateway: address(UP, router).into() };
    let hops = vec![via(3), via(1)].into_iter().map(crate::services::RouteHop::Direct).collect::<Vec<_>>();
    let both = Route { hops: hops.into(), ..Route::fixed(on_link) };
    node.services.rib.set(Prefix::new(SOURCE, 24), both);
    let changed = Change::Route(IpPrefix::V4(Prefix::new(SOURCE, 24)));
    assert_eq!(node.changes(changed), [(UP, join(UP, 1))]);
}

#[test]
fn the_link_of_the_sender_is_no_way_out() {
    let mut node = joined();
    // A neighbour up there joins this router: RFC 7761, 4.8.2, takes iif out of the list.
    node.hears(UP, 1, &join(UP, 5));
    assert_eq!(node.leg(UP).0, Join);
    assert_eq!(node.forwards(), Some((UP, vec![DOWN])));
}
