//! What is not taken of neighbours, not told them, and how many routes are: in bytes.

use super::peers::{Beside, END, attributes, families, nlri, of, restarting, two};
use crate::protocol::Protocol;
use crate::services::sessions::{Closed, SessionEvent};
use base::Span;
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use serde_json::json;
use wire::bgp::{
    AddPathMode, Aggregator, AsPath, Attributes, Capability, Family, Message, NextHop, Nlri, Notification,
    Open, Reach, Segment, Terms, Update, notification::Code,
};

fn beside(more: &serde_json::Value) -> Beside {
    let mut neighbors = json!({});
    for n in 0..2 {
        let mut one =
            json!({"asn": of(n).1, "import": "all", "export": "all", "advertisement_interval": "0 s"});
        if let (0, Some(more)) = (n, more.as_object()) {
            for (key, value) in more {
                one[key] = value.clone();
            }
        }
        neighbors[of(n).0.to_string()] = one;
    }
    let rules = json!({"bare": [{"remove_metric": true}], "there": [{"set_next_hop": of(0).0.to_string()}]});
    let mut beside = Beside::new(json!({
        "asn": 65000, "neighbors": neighbors, "policies": rules, "connect_retry": "10 s", "networks": ["192.0.2.0/24"],
    }));
    beside.wait(Span::ZERO);
    beside
}

#[test]
fn prefixes_that_are_no_destinations_are_ignored_and_counted() {
    let mut net = two(&["ipv4", "ipv6"]);
    net.open(0, families(&[Family::Ipv4, Family::Ipv6]));
    // RFC 4271, 6.3: the others of the same message are taken, and the session goes on.
    net.tell(
        0,
        &["224.0.0.0/4", "239.1.2.3/32", "127.0.0.0/8", "203.0.113.0/24", "0.0.0.0/0", "224.0.0.0/3"],
    );
    assert_eq!(net.routes(), ["0.0.0.0/0", "224.0.0.0/3", "203.0.113.0/24"]);
    let global = "2001:db8::2".parse().expect("an address");
    let reach = Reach {
        family: Family::Ipv6,
        next_hop: NextHop::V6 { global, link_local: None },
        nlri: nlri(&[
            "ff00::/8",
            "ff02::1/128",
            "fe80::/10",
            "fe80::/64",
            "::1/128",
            "::/0",
            "2001:db8:7::/48",
        ]),
    };
    let attributes = Attributes { next_hop: None, ..attributes(0) };
    net.update(0, Update { attributes, reach: Some(reach), ..END() });
    let peer = net.bgp.peers().iter().find(|peer| peer.is_established()).expect("a session");
    assert_eq!((peer.received, peer.refused), (5, 8));
}

#[test]
fn a_neighbour_that_tells_too_many_routes_is_told_so_and_has_to_wait() {
    let mut net = beside(&json!({"maximum_prefixes": 2}));
    net.open(0, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24", "198.51.100.0/24"]);
    net.tell(0, &["203.0.113.0/24"]);
    assert_eq!(net.routes().len(), 2, "as many as it may tell, and again");
    net.tell(0, &["100.100.0.0/16"]);
    // RFC 4271, 6.7; RFC 4486, 4.
    let cease = Message::Notification(Notification::new(Code::TooManyPrefixes));
    assert!(net.told.contains(&(net.sessions[&0], cease)) && net.closed.contains(&net.sessions[&0]));
    assert_eq!(net.routes(), [""; 0]);
    let its = |net: &Beside| net.bgp.peers().iter().find(|peer| peer.config.address == of(0).0).cloned();
    let words = its(&net).map(|peer| peer.last_end);
    assert_eq!(
        words.as_deref(),
        Some("this router said: maximum number of prefixes reached, which is 2 of this neighbour")
    );
    // It connects at once, and is refused; after a while it may try again.
    let (remote, other) = (SocketAddr::new(IpAddr::V4(of(0).0), 40_000), of(1).0);
    let begun = net.bgp.peers().iter().find(|peer| peer.config.address == other);
    let anew = begun.and_then(|peer| peer.begun.session).expect("a number of a connection");
    net.event(anew, SessionEvent::Accepted { local: remote, remote });
    assert!(net.closed.contains(&anew) && its(&net).is_some_and(|peer| peer.taken.is_none()));
    net.wait(Span::from_secs(11));
    net.open(0, families(&[Family::Ipv4]));
    assert!(its(&net).is_some_and(|peer| peer.is_established()));
}

#[test]
fn each_neighbour_may_have_a_hold_time_of_its_own() {
    let mut net = beside(&json!({"hold_time": "30 s"}));
    net.open(0, families(&[Family::Ipv4]));
    net.open(1, families(&[Family::Ipv4]));
    // RFC 4271, 10 and 4.2: it is told each, and the smaller of both counts.
    for (n, hold_s) in [(0, 30), (1, 90)] {
        let peer = net.bgp.peers().iter().find(|peer| peer.config.address == of(n).0).expect("a neighbour");
        assert_eq!(peer.foremost().hold, Span::from_secs(hold_s));
        let session = net.sessions[&n];
        let open = net.told.iter().find_map(|(to, message)| match message {
            Message::Open(open) if *to == session => Some(open.hold_s),
            _ => None,
        });
        assert_eq!(open.map(i64::from), Some(hold_s));
        // RFC 4271, E.
        let remote = SocketAddr::new(IpAddr::V4(of(n).0), 179);
        assert_eq!(net.bgp.accepts(remote, remote).map(|options| options.dscp), Some(base::Dscp::CS6));
    }
}

#[test]
fn without_a_hold_time_nothing_is_said_again() {
    let mut net = beside(&json!({"hold_time": "0 s"}));
    net.open(0, families(&[Family::Ipv4]));
    net.told.clear();
    net.wait(Span::from_secs(3600));
    // RFC 4271, 4.4: and nobody is given up.
    assert!(!net.told.iter().any(|(to, message)| *to == net.sessions[&0] && *message == Message::KeepAlive));
    assert_eq!(net.bgp.peers().iter().filter(|peer| peer.is_established()).count(), 1);
}

#[test]
fn nobody_is_told_its_own_address_as_next_hop() {
    let mut net = beside(&json!({"export": "there"}));
    net.open(0, families(&[Family::Ipv4]));
    net.open(1, families(&[Family::Ipv4]));
    // RFC 4271, 5.1.3: the policy would have neighbour 0 told that it is the next hop of 192.0.2.0/24.
    assert_eq!(net.told(0), [END()]);
    assert_eq!(net.told(1)[0].attributes.next_hop, Some(Ipv4Addr::new(10, 1, 0, 1)));
}

#[test]
fn a_policy_takes_the_discriminator_out_before_the_choice() {
    let mut net = beside(&json!({"import": "bare"}));
    let both: Vec<u32> = vec![of(0).1, 64_999];
    for n in 0..2 {
        net.open(n, families(&[Family::Ipv4]));
        // RFC 4271, 5.1.4: what is compared and installed is as the policy has left it.
        let path = [of(n).1, both[1]];
        let as_path = Some(AsPath(vec![Segment::Sequence(path.to_vec())]));
        let med = Some(7 - u32::from(n));
        let attributes = Attributes { med, as_path, ..attributes(n) };
        net.update(n, Update { attributes, nlri: nlri(&["203.0.113.0/24"]), ..END() });
    }
    let prefix = "203.0.113.0/24".parse().expect("a prefix");
    let found = net.services.rib.best(prefix).map(|route| route.metric);
    assert_eq!(found, Some(0), "that of neighbour 0, which has none any more");
}

#[test]
fn of_several_capabilities_to_restart_the_last_counts() {
    let mut net = two(&["ipv4"]);
    // RFC 4724, 3.
    let first = Capability::GracefulRestart { flags: 0, time_s: 1, families: Vec::new() };
    let more = Capability::Unknown { code: 200, value: wire::Hex(vec![1, 2]) };
    net.open(0, [first, more.clone(), more].into_iter().chain(restarting(0x80)).collect());
    let peer = net.bgp.peers().iter().find(|peer| peer.is_established()).expect("RFC 5492, 3: a session");
    let restart = peer.established().and_then(|one| one.restart.clone()).expect("it keeps routes");
    assert_eq!((restart.time, restart.families), (Span::from_secs(120), vec![(Family::Ipv4, true)]));
}

#[test]
fn a_speaker_of_two_octets_is_told_and_tells_long_numbers_beside() {
    const OLD: Terms =
        Terms { four_octet: false, is_internal: false, add_path: [false; 4], labels_max: [0; 4] };
    let mut net = two(&["ipv4"]);
    net.open(1, families(&[Family::Ipv4]));
    // RFC 6793, 4.1: neighbour 0 says nothing of four octets.
    let session = net.bgp.peers().iter().find(|peer| peer.config.address == of(0).0);
    let session = session.and_then(|peer| peer.begun.session).expect("it connects");
    net.sessions.insert(0, session);
    net.event(session, SessionEvent::Connected);
    let capabilities = families(&[Family::Ipv4]);
    let open = Open { short_asn: of(0).1 as u16, hold_s: 90, id: of(0).0, capabilities };
    net.say(0, &Message::Open(open));
    net.say(0, &Message::KeepAlive);
    let (address, long) = (Ipv4Addr::new(192, 0, 2, 9), 70_000);
    let aggregator = |asn| Some(Aggregator { asn, address });
    let path = |all: &[u32]| Some(AsPath(vec![Segment::Sequence(all.to_vec())]));
    let told = |net: &mut Beside, aggregated: u32| {
        let attributes = Attributes {
            as_path: path(&[of(0).1, u32::from(wire::bgp::AS_TRANS)]),
            as4_path: path(&[long]),
            aggregator: aggregator(aggregated),
            as4_aggregator: aggregator(long),
            ..attributes(0)
        };
        let update = Update { attributes, nlri: nlri(&["203.0.113.0/24"]), ..END() };
        let bytes = Message::Update(Box::new(update)).emit(&OLD).expect("bytes");
        net.event(session, SessionEvent::Received(&bytes));
        let told = net.told(1);
        told.into_iter().find(|update| !update.nlri.is_empty()).expect("a route").attributes
    };
    // RFC 6793, 4.2.3: both count where the aggregator has a number that stands for a long one ...
    let passed = told(&mut net, u32::from(wire::bgp::AS_TRANS));
    assert_eq!((passed.as_path, passed.aggregator), (path(&[65_000, of(0).1, long]), aggregator(long)));
    // ... and none of them where it has another.
    let passed = told(&mut net, 64_900);
    let short = path(&[65_000, of(0).1, u32::from(wire::bgp::AS_TRANS)]);
    assert_eq!((passed.as_path, passed.aggregator), (short, aggregator(64_900)));
    assert_eq!(
        (passed.as4_path, passed.as4_aggregator),
        (None, None),
        "RFC 6793, 4.1: never between two of four"
    );
    // 4.2.2: the whole path and the aggregator stand beside what two octets have room for, where they are needed.
    for (asn, is_beside) in [(long, true), (64_900, false)] {
        net.raw.clear();
        let attributes =
            Attributes { as_path: path(&[of(1).1, asn]), aggregator: aggregator(asn), ..attributes(1) };
        net.update(1, Update { attributes, nlri: nlri(&["198.51.100.0/24"]), ..END() });
        let updates = net.raw.iter().filter(|(to, _)| *to == session);
        let told = updates.filter_map(|(_, bytes)| match Message::parse(bytes, &OLD) {
            Ok(Message::Update(update)) if !update.nlri.is_empty() => Some(update.attributes),
            _ => None,
        });
        let told: Vec<_> = told.collect();
        let short = if is_beside { u32::from(wire::bgp::AS_TRANS) } else { asn };
        assert_eq!(
            (&told[0].as_path, told[0].aggregator),
            (&path(&[65_000, of(1).1, short]), aggregator(short))
        );
        let beside = (path(&[65_000, of(1).1, asn]), aggregator(asn));
        let found = (told[0].as4_path.clone(), told[0].as4_aggregator);
        assert_eq!(found, if is_beside { beside } else { (None, None) });
    }
}

#[test]
fn a_neighbour_that_restarts_may_number_its_paths_anew() {
    const NUMBERED: Terms = Terms {
        four_octet: true,
        is_internal: false,
        add_path: [true, false, false, false],
        labels_max: [0; 4],
    };
    let mut net = beside(&json!({"receive_paths": true}));
    let says = || {
        let mut all = restarting(0x80);
        all.push(Capability::AddPath(vec![(1, 1, AddPathMode::Send)]));
        all
    };
    let tells = |net: &mut Beside, id: u32| {
        let path_id = Some(id);
        let nlri = nlri(&["203.0.113.0/24"]).into_iter().map(|one| Nlri { path_id, ..one }).collect();
        let update = Update { attributes: attributes(0), nlri, ..END() };
        let bytes = Message::Update(Box::new(update)).emit(&NUMBERED).expect("bytes");
        net.event(net.sessions[&0], SessionEvent::Received(&bytes));
    };
    net.open(0, says());
    net.open(1, families(&[Family::Ipv4]));
    tells(&mut net, 7);
    net.told(1);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    net.wait(Span::from_secs(20));
    net.open(0, says());
    tells(&mut net, 8);
    let its = |net: &Beside| {
        net.bgp.peers().iter().find(|one| one.config.address == of(0).0).map(|one| one.received)
    };
    // RFC 7911, 5: the one before its restart stands beside it until the end of all routes, and nobody is told.
    assert_eq!((its(&net), net.routes(), net.told(1).len()), (Some(2), vec!["203.0.113.0/24".into()], 0));
    net.update(0, END());
    assert_eq!((its(&net), net.routes(), net.told(1).len()), (Some(1), vec!["203.0.113.0/24".into()], 0));
}
