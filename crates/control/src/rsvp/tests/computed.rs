//! Computed paths: found, avoided where they failed, looked for again, and what lies between loose hops.

use super::bus::id;
use super::{Net, spec};
use crate::owner::Owner;
use crate::protocol::Change;
use crate::rsvp::Event;
use crate::rsvp::command::{Command, PathRequest, RouteHop, TunnelSpec};
use crate::services::te::{Affinities, TeKey, TeLink, Towards};
use base::plane::Prefix;
use base::{Rate, Span};
use core::net::Ipv4Addr;
use wire::rsvp::{EroHop, Message, MessageType};

/// Two ways from 0 to 3: by 1, which is the shorter one, and by 2.
const DIAMOND: [(usize, usize); 4] = [(0, 1), (1, 3), (0, 2), (2, 3)];
const COSTS: [u32; 4] = [1, 1, 5, 5];

/// One direction of a link of the bus: key, and what is said of it at first.
pub(super) fn said(links: &[(usize, usize)], link: usize, from: usize, cost: u32) -> (TeKey, TeLink) {
    let (near, to) = if links[link].0 == from { (1, links[link].1) } else { (2, links[link].0) };
    let key = TeKey { owner: Owner(0), area: 0, router: id(from), number: link as u32 };
    let said = TeLink {
        towards: Towards::Router(id(to)),
        local: Ipv4Addr::new(10, 0, link as u8, near),
        remote: Some(Ipv4Addr::new(10, 0, link as u8, 3 - near)),
        te_metric: Some(cost),
        igp_metric: None,
        reservable: Rate::from_gbps(1),
        unreserved: [Rate::from_gbps(1); 8],
        groups: 0,
        srlgs: Vec::new(),
    };
    (key, said)
}

/// All nodes know all links of a diamond.
fn diamond() -> Net {
    let mut net = Net::new(4, &DIAMOND);
    for (link, &cost) in COSTS.iter().enumerate() {
        announce(&mut net, link, cost, |_| {});
    }
    net
}

/// All nodes hear of a link, in both directions.
fn announce(net: &mut Net, link: usize, cost: u32, adapt: impl Fn(&mut TeLink)) {
    for from in [DIAMOND[link].0, DIAMOND[link].1] {
        let (key, mut said) = said(&DIAMOND, link, from, cost);
        adapt(&mut said);
        net.nodes.iter_mut().for_each(|node| node.services.engineering.set_link(key, said.clone()));
    }
    tell(net, false);
}

/// All nodes hear that a link is announced no more.
fn withdraw(net: &mut Net, link: usize) {
    for from in [DIAMOND[link].0, DIAMOND[link].1] {
        let (key, _) = said(&DIAMOND, link, from, 1);
        net.nodes.iter_mut().for_each(|node| node.services.engineering.remove_link(&key));
    }
    tell(net, true);
}

fn tell(net: &mut Net, is_lost: bool) {
    (0..net.nodes.len()).for_each(|node| net.change(node, Change::Engineering { is_lost }));
}

fn asking(mbps: u64, path: PathRequest) -> TunnelSpec {
    TunnelSpec { path: Some(Box::new(path)), ..spec(1, 3, &[], mbps) }
}

fn reasons(net: &Net) -> Vec<&str> {
    let told = net.events.iter().filter_map(|(_, event)| match event {
        Event::LspNoPath { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    told.collect()
}

fn downs(net: &Net) -> usize {
    net.events.iter().filter(|(_, event)| matches!(event, Event::LspDown { .. })).count()
}

#[test]
fn a_path_is_computed_and_signalled_as_strict_hops() {
    let mut net = diamond();
    net.tunnel(0, spec(1, 3, &[], 100));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
    let strict =
        |d: [(u8, u8); 2]| d.map(|(link, end)| EroHop::strict(Ipv4Addr::new(10, 0, link, end))).to_vec();
    let first = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) => path.ero.clone(),
        _ => None,
    });
    assert_eq!(first, Some(strict([(0, 2), (1, 2)])));
    // The other way has what the first one lacks.
    announce(&mut net, 1, 1, |link| link.unreserved = [Rate::from_mbps(900); 8]);
    net.tunnel(0, spec(2, 3, &[], 901));
    net.run(100);
    assert_eq!(net.trace(0, 2), Some(vec![0, 2, 3]));
}

#[test]
fn what_is_asked_of_the_path_is_kept_and_signalled() {
    let mut net = diamond();
    announce(&mut net, 0, 1, |link| link.groups = 0b10);
    let affinities = Affinities { exclude_any: 0b10, ..Affinities::default() };
    net.tunnel(0, asking(1, PathRequest { affinities, ..PathRequest::default() }));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
    let signalled = net.log.iter().all(|sent| match &sent.message {
        Message::Path(path) => {
            let attribute = path.session_attribute.as_ref().expect("an attribute");
            attribute.affinities.is_some_and(|all| (all.exclude_any, all.include_any) == (0b10, 0))
        }
        _ => true,
    });
    assert!(signalled);
    net.tunnel(0, asking(1, PathRequest { exclude: vec![id(2)], ..PathRequest::default() }));
    net.run(2_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3]));
}

#[test]
fn a_link_that_refuses_is_avoided_at_once() {
    let mut net = diamond();
    // Nobody announces what this one takes.
    net.tunnel(1, spec(7, 3, &[&[3]], 800));
    net.run(100);
    net.tunnel(0, spec(1, 3, &[], 300));
    net.run(20);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "{:?}", net.events);
    assert_eq!(net.errors(0).len(), 1, "refused once, and no pause");
    // Less than was refused still goes there.
    net.tunnel(0, spec(2, 3, &[], 200));
    net.run(20);
    assert_eq!(net.trace(0, 2), Some(vec![0, 1, 3]));
}

#[test]
fn a_failed_link_is_left_for_another_way() {
    for (a, b) in [(0, 1), (1, 3)] {
        let mut net = diamond();
        net.tunnel(0, spec(1, 3, &[], 100));
        net.run(100);
        // The database of the head end does not know yet.
        net.link(a, b, false);
        net.run(20);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]), "{:?}", net.events);
    }
}

#[test]
fn what_is_heard_of_a_failure_moves_the_traffic_without_a_gap() {
    let mut net = diamond();
    net.tunnel(0, spec(1, 3, &[], 600));
    net.run(100);
    withdraw(&mut net, 1);
    for _ in 0..2_000 {
        net.run(1);
        assert!(net.trace(0, 1).is_some());
    }
    assert_eq!((net.trace(0, 1), downs(&net)), (Some(vec![0, 2, 3]), 0));
    // Nothing moves back by itself.
    announce(&mut net, 1, 1, |_| {});
    net.run(60_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
}

#[test]
fn without_a_path_it_says_why_and_waits_for_one() {
    let mut net = diamond();
    for (link, cost) in [(1, 1), (3, 5)] {
        announce(&mut net, link, cost, |link| link.unreserved[7] = Rate::from_mbps(100));
    }
    let patient = TunnelSpec { retry_limit: None, retry_first: Span::from_secs(50), ..spec(1, 3, &[], 200) };
    net.tunnel(0, TunnelSpec { retry_max: Span::from_secs(100), ..patient });
    net.run(100);
    assert_eq!(reasons(&net), ["no path with 200 Mbit/s at priority 7: 2 links lack bandwidth"]);
    assert_eq!(net.log.len(), 0, "nothing was signalled");
    announce(&mut net, 3, 5, |_| {});
    net.run(200);
    assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
}

/// RFC 3209, 4.7.1: who may take bandwidth away comes first, and need not.
#[test]
fn of_lsps_without_a_path_the_better_priority_comes_first() {
    let mut net = diamond();
    let left = |rate: Rate| move |link: &mut TeLink| link.unreserved = [rate; 8];
    for (link, cost) in [(1, 1), (3, 5)] {
        announce(&mut net, link, cost, left(Rate::from_mbps(100)));
    }
    for (number, priority) in [(1, 7), (2, 2), (3, 2)] {
        let patient =
            TunnelSpec { retry_limit: None, retry_first: Span::from_secs(50), ..spec(number, 3, &[], 600) };
        let (setup_priority, holding_priority) = (priority, priority);
        net.tunnel(
            0,
            TunnelSpec { retry_max: Span::from_secs(100), setup_priority, holding_priority, ..patient },
        );
    }
    net.run(100);
    announce(&mut net, 3, 5, left(Rate::from_gbps(1)));
    net.run(200);
    assert_eq!([1, 2, 3].map(|number| net.trace(0, number)), [None, Some(vec![0, 2, 3]), None]);
    assert_eq!(downs(&net), 0, "nobody was up before and had to go");
}

#[test]
fn better_paths_are_looked_for_by_time_by_change_and_by_command() {
    let every = PathRequest { reoptimise: Some(Span::from_secs(30)), ..PathRequest::default() };
    let follow = PathRequest { follow: true, ..PathRequest::default() };
    for (path, ms) in [(every, 35_000), (follow, 1_100), (PathRequest::default(), 10)] {
        let mut net = diamond();
        withdraw(&mut net, 1);
        let is_by_command = path == PathRequest::default();
        let tunnel = net.tunnel(0, asking(600, path));
        net.run(100);
        assert_eq!(net.trace(0, 1), Some(vec![0, 2, 3]));
        announce(&mut net, 1, 1, |_| {});
        if is_by_command {
            net.command(0, Command::TunnelReoptimise(tunnel));
        }
        for _ in 0..ms / 10 {
            net.run(10);
            assert!(net.trace(0, 1).is_some());
        }
        net.run(100);
        assert_eq!((net.trace(0, 1), downs(&net)), (Some(vec![0, 1, 3]), 0));
        let paths = |net: &Net| {
            net.log.iter().filter(|sent| sent.message.message_type() == MessageType::Path).count()
        };
        net.run(2_000);
        let before = paths(&net);
        // What it holds itself counts as left: it stays where it is, and nothing is signalled.
        announce(&mut net, 0, 1, |link| link.unreserved = [Rate::from_mbps(400); 8]);
        announce(&mut net, 1, 1, |link| link.unreserved = [Rate::from_mbps(400); 8]);
        net.run(2_000);
        let reroutes = net.events.iter().filter(|(_, e)| matches!(e, Event::LspRerouted { .. })).count();
        assert_eq!((net.trace(0, 1), reroutes), (Some(vec![0, 1, 3]), 1));
        assert!(paths(&net) <= before + 4, "refreshes alone");
    }
}

#[test]
fn a_loose_hop_is_reached_by_a_computed_path() {
    // 0 - 1, and from there two ways to 4: the short one has too little.
    let links = [(0, 1), (1, 2), (2, 4), (1, 3), (3, 4)];
    let mut net = Net::new(5, &links);
    for (link, &(a, b)) in links.iter().enumerate() {
        for from in [a, b] {
            let (key, mut said) = said(&links, link, from, if link < 3 { 1 } else { 5 });
            if link == 2 {
                said.unreserved = [Rate::from_mbps(10); 8];
            }
            net.nodes[1].services.engineering.set_link(key, said);
        }
    }
    let hop = |node, loose| RouteHop { prefix: Prefix::host(id(node)), loose };
    let routes = vec![vec![hop(1, false), hop(4, true)]];
    net.tunnel(0, TunnelSpec { routes, ..spec(1, 4, &[], 100) });
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3, 4]), "{:?}", net.events);
    // What goes on from there names every router, and then the loose hop.
    let sent = net.log.iter().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 1 => path.ero.clone(),
        _ => None,
    });
    let strict = [(3, 2), (4, 2)].map(|(link, end)| EroHop::strict(Ipv4Addr::new(10, 0, link, end)));
    assert_eq!(sent, Some([&strict[..], &[EroHop::loose(id(4))]].concat()));
    // Refreshes change nothing.
    net.run(100_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 3, 4]));
    // Without a way that does, the head end is told.
    let routes = vec![vec![hop(1, false), hop(4, true)]];
    net.tunnel(0, TunnelSpec { routes, ..spec(2, 4, &[], 1001) });
    net.run(100);
    assert_eq!(net.trace(0, 2), None);
}
