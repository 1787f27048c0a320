//! Rules of RFC 5036, 2.6, 2.8 and A, one by one.

use super::*;

fn line(count: usize, settings: &Settings) -> Net {
    let links: Vec<(usize, usize)> = (1..count).map(|node| (node - 1, node)).collect();
    Net::new(count, &links, settings)
}

fn ordered() -> Settings {
    Settings { control: LabelControl::Ordered, ..settings() }
}

fn on_demand() -> Settings {
    let (advertise, retention) = (LabelAdvertisement::OnDemand, LabelRetention::Conservative);
    Settings { advertise, retention, ..settings() }
}

fn looking() -> Settings {
    Settings { loop_detection: true, ..settings() }
}

/// All messages from a router to another arrive, and all entries of the other are in force.
fn pass(net: &mut Net, from: usize, to: usize) {
    while let Some(message) = net.wire.get_mut(&(from, to)).and_then(VecDeque::pop_front) {
        net.take(from, to, message);
    }
    while !net.nodes[to].batches.is_empty() {
        net.write(to);
    }
}

/// RFC 5036, 2.6.1.2: whoever is not the last waits for the label of the next.
#[test]
fn with_ordered_control_labels_come_from_the_last_router_on() {
    for (settings, is_early) in [(settings(), true), (ordered(), false)] {
        let mut net = line(3, &settings);
        (0..3).for_each(|node| net.learn(node));
        (0..3).for_each(|node| {
            while !net.nodes[node].batches.is_empty() {
                net.write(node)
            }
        });
        pass(&mut net, 1, 0);
        assert_eq!(net.given(0, 1, 2).is_some(), is_early, "router 1 has no label of router 2");
        pass(&mut net, 2, 1);
        pass(&mut net, 1, 0);
        assert!(net.given(0, 1, 2).is_some());
    }
}

/// RFC 5036, A.1.5 (LWd.8 to LWd.12): with ordered control a withdrawal goes on to the routers before.
#[test]
fn with_ordered_control_a_withdrawal_goes_on() {
    for (settings, is_kept) in [(settings(), true), (ordered(), false)] {
        let mut net = line(4, &settings);
        net.settle();
        assert!(net.given(0, 1, 3).is_some());
        // Router 3 is gone, and nobody else has learnt it.
        net.set(2, false);
        net.behind.clear();
        net.settle();
        assert_eq!(net.given(1, 2, 3).is_some(), is_kept);
        assert_eq!(net.given(0, 1, 3).is_some(), is_kept);
    }
}

/// RFC 5036, 2.6.1.2, condition 2: beyond a port on which nobody speaks, a router is the last.
#[test]
fn a_router_is_the_last_before_those_that_speak_nothing() {
    let mut net = line(2, &ordered());
    let (port, gateway) = (PortId(9), Ipv4Addr::new(192, 168, 9, 9).into());
    let far = Prefix::host(Ipv4Addr::new(10, 9, 9, 9));
    let node = &mut net.nodes[1];
    node.services.rib.set(far, Route::fixed(NextHop::Via { port, gateway }));
    node.labels.update(Time::ZERO, &mut node.services, far, Cause::Route);
    let binding = node.labels.fec(far).and_then(|known| known.binding);
    assert!(matches!(binding, Some(Binding::Label { .. })), "with a label, which is taken off there");
}

/// RFC 5036, 2.6.3 and A.1.1: nobody has a label who has not asked for it, and what nobody has is free.
#[test]
fn on_demand_labels_are_for_who_asks() {
    let mut net = line(3, &on_demand());
    net.settle();
    assert_eq!(
        net.given(0, 1, 2),
        net.nodes[1].labels.peer(key(0)).and_then(|peer| { peer.sent.get(&Prefix::host(id(2))).copied() })
    );
    assert_eq!(net.given(2, 1, 2), None, "router 2 does not ask for a way to itself");
    assert_eq!((net.taken(0), net.taken(1), net.taken(2)), (0, 2, 0), "the ends give no label");
    let meant = Meant { prefix: Some(Prefix::host(id(2))), label: None };
    let node = &mut net.nodes[1];
    node.labels.released(net.now, &mut node.services, key(0), meant, false);
    net.drain(1);
    net.settle();
    assert_eq!(net.taken(1), 1, "the label is free again");
}

/// RFC 5036, 2.6.2.1 and 3.5.11.1: labels of who is no next hop are released, and asked for when it is one (3.5.7.1.4).
#[test]
fn with_conservative_retention_only_labels_of_next_hops_are_kept() {
    let settings = Settings { retention: LabelRetention::Conservative, ..settings() };
    let links = [(0, 1), (0, 2), (1, 2)];
    let mut net = Net::new(3, &links, &settings);
    net.settle();
    assert_eq!((net.given(0, 1, 1), net.given(0, 2, 1)), (Some(Label::IMPLICIT_NULL), None));
    assert!(net.said["release"] > 0);
    let before = net.said.get("request").copied();
    net.set(0, false);
    net.settle();
    assert!(net.given(0, 2, 1).is_some(), "router 0 has asked router 2 for it");
    assert!(net.said.get("request").copied() > before);
    assert_eq!(net.used(0, 1).len(), 1);
}

/// RFC 5036, A.1.4, note 1: what a neighbour has released it is told when it asks.
#[test]
fn a_label_that_was_released_is_told_to_who_asks() {
    let mut net = line(2, &settings());
    net.settle();
    let (prefix, node) = (Prefix::host(id(1)), &mut net.nodes[1]);
    let meant = Meant { prefix: Some(prefix), label: None };
    node.labels.released(net.now, &mut node.services, key(0), meant, false);
    node.labels.update(net.now, &mut node.services, prefix, Cause::Neighbor);
    assert_eq!(node.labels.poll_say(), None);
    node.labels.requested(net.now, &mut node.services, key(0), prefix, 5, Attributes::default());
    assert!(matches!(node.labels.poll_say(), Some((_, Say::Map { request: Some(5), .. }))));
}

/// RFC 5036, A.1.1: what is answered to requests, step by step.
#[test]
fn requests_are_refused_with_their_reasons() {
    let mut net = line(3, &ordered());
    net.settle();
    let far = Prefix::host(Ipv4Addr::new(10, 9, 9, 9));
    let now = net.now;
    let ask = |net: &mut Net, prefix, number| {
        let node = &mut net.nodes[1];
        node.labels.requested(now, &mut node.services, key(0), prefix, number, Attributes::default());
        core::iter::from_fn(|| node.labels.poll_say()).map(|(_, say)| say).collect::<Vec<_>>()
    };
    let refused = |request, why| vec![Say::Refuse { request, why }];
    assert_eq!(ask(&mut net, far, 1), refused(1, Refusal::NoRoute), "LRq.5");
    assert_eq!(ask(&mut net, Prefix::host(id(0)), 2), refused(2, Refusal::Loop), "LRq.3: it is the next hop");
    // Without a label of the next router a request waits with ordered control; a duplicate is dropped (LRq.7).
    let meant = Meant { prefix: Some(Prefix::host(id(2))), label: None };
    let node = &mut net.nodes[1];
    node.labels.withdrawn(now, &mut node.services, key(2), meant);
    net.drain(1);
    assert_eq!(ask(&mut net, Prefix::host(id(2)), 3), []);
    assert_eq!(ask(&mut net, Prefix::host(id(2)), 3), []);
    assert_eq!(net.nodes[1].labels.peer(key(0)).map(|peer| peer.requests.len()), Some(1));
    // A.1.3: taken back, it is confirmed once.
    let node = &mut net.nodes[1];
    assert!(node.labels.aborted(now, &mut node.services, key(0), Prefix::host(id(2)), 3));
    assert!(!node.labels.aborted(now, &mut node.services, key(0), Prefix::host(id(2)), 3));
}

/// RFC 5036, A.1.7 (NH.6 to NH.9) and A.1.8: with conservative retention a request to a next hop that was is taken
/// back.
#[test]
fn a_request_is_taken_back_when_the_next_hop_changes() {
    let links = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)];
    let mut net = Net::new(5, &links, &Settings { control: LabelControl::Ordered, ..on_demand() });
    net.set(2, false);
    (0..5).for_each(|node| net.learn(node));
    // Router 0 knows the addresses of router 1 and asks it; router 1 cannot answer yet.
    pass(&mut net, 1, 0);
    let far = Prefix::host(id(4));
    assert!(net.nodes[0].labels.peer(key(1)).is_some_and(|peer| peer.asked.contains_key(&far)));
    net.set(2, true);
    net.set(1, false);
    net.learn(0);
    assert!(net.nodes[0].labels.peer(key(1)).is_some_and(|peer| peer.asked[&far].is_aborted));
    net.settle();
    assert!(net.said["abort"] > 0);
    assert_eq!(net.used(0, 4).iter().map(|used| used.0).collect::<Vec<_>>(), [2]);
    assert!(net.nodes[0].labels.peer(key(1)).is_some_and(|peer| peer.asked.is_empty()));
}

/// RFC 5036, 3.5.8.1, A.1.9, A.1.12 and A.1.13: without labels requests wait until there are some.
#[test]
fn who_has_no_label_left_says_so_and_says_when_there_is_one() {
    let links = [(0, 1), (1, 2), (1, 3)];
    let mut net = Net::with_labels(4, &links, &on_demand(), 2);
    net.settle();
    assert_eq!(net.taken(1), 2);
    let lacks = |net: &Net| {
        net.nodes
            .iter()
            .flat_map(|node| node.labels.peers())
            .any(|(_, peer)| peer.postponed.as_ref().is_some_and(|all| !all.is_empty()))
    };
    assert!(lacks(&net) && !net.said.contains_key("available"));
    // Of three ways that are asked for one has no label. The router at the end of another is gone: its label is free.
    let ends = [(0, 0), (2, 1), (3, 2)];
    let without = |(end, _): &&(usize, usize)| {
        net.nodes[1].labels.fec(Prefix::host(id(*end))).is_none_or(|known| known.binding.is_none())
    };
    let lacking = ends.iter().find(without).expect("one without a label").0;
    let &(_, link) = ends.iter().find(|(end, _)| *end != lacking).expect("another");
    let rest = ends.iter().find(|(end, at)| *end != lacking && *at != link).expect("a third").0;
    net.set(link, false);
    net.settle();
    assert!(net.said["available"] > 0);
    assert_eq!(net.used(rest, lacking).len(), 1);
}

/// A prefix beyond a router that is further away has a label only if that is wanted.
#[test]
fn what_is_beyond_the_network_has_no_label() {
    let far = Prefix::new(Ipv4Addr::new(172, 16, 0, 0), 16);
    for beyond in [false, true] {
        let prefixes = LdpPrefixes::All;
        let mut net = line(2, &Settings { beyond, prefixes, ..settings() });
        net.settle();
        let (preference, metric, tag) = (20, 0, 0);
        let hops = Hops::One(RouteHop::Through(id(1)));
        let source = Source::Protocol(ProtocolId::new("exterior"));
        let node = &mut net.nodes[0];
        node.services.rib.set(far, Route { source, preference, metric, tag, hops });
        node.labels.update(net.now, &mut node.services, far, Cause::Route);
        assert_eq!(node.labels.fec(far).is_some(), beyond);
    }
}

/// RFC 5918, 4, and RFC 5919, 4 and 5.3: all labels are told to who asks for all, and that these are all.
#[test]
fn all_labels_are_told_to_who_asks_for_all() {
    let mut net = line(3, &on_demand());
    net.settle();
    assert_eq!(net.said["complete"], 4, "each end of each session");
    let node = &mut net.nodes[1];
    node.labels.requested_all(net.now, &mut node.services, key(0), 9);
    while let Some(batch) = node.labels.poll_batch() {
        let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
        node.labels.written(net.now, &mut node.services, &ack);
    }
    let said: Vec<Say> = core::iter::from_fn(|| node.labels.poll_say()).map(|(_, say)| say).collect();
    let maps = said.iter().filter(|say| matches!(say, Say::Map { request: Some(9), .. })).count();
    // Routers 1 and 2, and not router 0 itself: its packets would come back.
    assert_eq!((maps, said.last()), (2, Some(&Say::Complete)), "{said:?}");
}

/// RFC 5036, 2.8.2 and 3.4.4.1: the last router says 1 and no path, each other one more and itself.
#[test]
fn labels_say_which_routers_they_have_passed() {
    let mut net = line(4, &Settings { loop_detection: true, ..ordered() });
    net.settle();
    let said = |to: usize, by: usize| net.nodes[to].labels.peer(key(by)).expect("one").attributes.clone();
    let of = |hops, path: Option<&[usize]>| Attributes {
        hops: Some(hops),
        path: path.map(|path| path.iter().map(|node| id(*node)).collect()),
    };
    let far = Prefix::host(id(3));
    assert_eq!(said(2, 3)[&far], of(1, None));
    assert_eq!(said(1, 2)[&far], of(2, Some(&[2])));
    assert_eq!(said(0, 1)[&far], of(3, Some(&[1, 2])));
}

/// There may be a thousand prefixes at each of a thousand routers.
#[test]
fn little_is_kept_of_a_prefix() {
    assert!(size_of::<KnownFec>() <= 136, "{} bytes", size_of::<KnownFec>());
}

/// RFC 5036, 2.8.2 and 3.4.5.1.2: a label that has passed this router is released with the reason, used no more, and
/// asked for again later.
#[test]
fn a_label_that_went_in_a_circle_is_released() {
    let mut net = line(3, &looking());
    net.settle();
    let (far, node) = (Prefix::host(id(2)), &mut net.nodes[1]);
    let label = node.labels.peer(key(2)).and_then(|peer| peer.given.get(&far).copied()).expect("a label");
    let circle = Attributes { hops: Some(3), path: Some(vec![id(0), id(1)]) };
    let mapped = Mapped { prefix: far, label, request: None, attributes: circle };
    node.labels.mapped(net.now, &mut node.services, key(2), mapped);
    let said: Vec<Say> = core::iter::from_fn(|| node.labels.poll_say()).map(|(_, say)| say).collect();
    assert_eq!(said[0], Say::Release { prefix: far, label, is_loop: true });
    // RFC 5036, 2.8.2: what was known of the way before is unknown now, and the path is this router.
    let unknown = Attributes { hops: Some(0), path: Some(vec![id(1)]) };
    assert!(matches!(&said[1], Say::Map { attributes, .. } if *attributes == unknown), "{said:?}");
    assert_eq!(net.used(1, 2), []);
    net.settle();
    assert_eq!(net.used(1, 2).len(), 1, "asked for again");
}

/// RFC 5036, 3.4.4.1 and 3.5.3: hop counts have a limit, path vectors too, hop counts without loop detection as well.
#[test]
fn ways_have_a_limit() {
    for (loop_detection, hops, path, is_loop) in [
        (false, Some(5), None, true),
        (false, Some(4), Some(vec![id(8); 9]), false),
        (true, Some(4), Some(vec![id(8); 3]), false),
        (true, Some(4), Some(vec![id(8); 4]), true),
    ] {
        let mut net = line(2, &Settings { hops_max: 4, loop_detection, ..settings() });
        net.settle();
        let node = &mut net.nodes[0];
        let (prefix, label) = (Prefix::host(id(7)), Label::truncate(77));
        let mapped = Mapped { prefix, label, request: None, attributes: Attributes { hops, path } };
        node.labels.mapped(net.now, &mut node.services, key(1), mapped);
        let released = Some((key(1), Say::Release { prefix, label, is_loop: true }));
        assert_eq!(node.labels.poll_say() == released, is_loop);
    }
}

/// RFC 5036, 2.8.1: requests say how far they have come.
#[test]
fn requests_say_how_far_they_have_come() {
    let settings = Settings { loop_detection: true, control: LabelControl::Ordered, ..on_demand() };
    let mut net = line(3, &settings);
    net.settle();
    let circle = Attributes { hops: Some(2), path: Some(vec![id(1)]) };
    let node = &mut net.nodes[1];
    node.labels.requested(net.now, &mut node.services, key(0), Prefix::host(id(2)), 9, circle);
    let refused = Say::Refuse { request: 9, why: Refusal::Loop };
    assert_eq!(node.labels.poll_say(), Some((key(0), refused)));
    let of = |of: Option<&Attributes>| net.nodes[1].labels.request_attributes(of);
    assert_eq!(of(None), Attributes { hops: Some(1), path: None }, "of its own, at a router that merges");
    let come = Attributes { hops: Some(2), path: Some(vec![id(0)]) };
    assert_eq!(of(Some(&come)), Attributes { hops: Some(3), path: Some(vec![id(1), id(0)]) });
    let unknown = Attributes { hops: Some(0), path: None };
    assert_eq!(of(Some(&unknown)), unknown, "RFC 5036, 3.4.4.1: what is unknown stays so");
}
