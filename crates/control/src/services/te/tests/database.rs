//! What is put in, taken out and told, and what is said where there is no path.

use crate::owner::Owner;
use crate::services::te::{Constraints, DISTRUST, Distrust, Engineering, TeKey, TeLink, Towards};
use base::{Rate, Span, Time};
use core::net::Ipv4Addr;

fn id(node: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node)
}

fn key(from: u8, to: u8) -> TeKey {
    TeKey { owner: Owner(0), area: 0, router: id(from), number: to.into() }
}

fn link(from: u8, to: u8, cost: u32) -> TeLink {
    TeLink {
        towards: Towards::Router(id(to)),
        local: Ipv4Addr::new(172, 16, from, to),
        remote: Some(Ipv4Addr::new(172, 16, to, from)),
        te_metric: Some(cost),
        igp_metric: None,
        reservable: Rate::from_gbps(1),
        unreserved: [Rate::from_gbps(1); 8],
        groups: 0,
        srlgs: Vec::new(),
    }
}

/// Links between these routers, in both directions, with their costs.
fn database(links: &[(u8, u8, u32)]) -> Engineering {
    let mut database = Engineering::default();
    for &(a, b, cost) in links {
        database.set_link(key(a, b), link(a, b, cost));
        database.set_link(key(b, a), link(b, a, cost));
    }
    database
}

/// A square of which the way by 2 is the shorter one.
fn square() -> Engineering {
    database(&[(1, 2, 1), (2, 4, 1), (1, 3, 5), (3, 4, 5)])
}

fn ask(mbps: u64) -> Constraints {
    Constraints { bandwidth: Rate::from_mbps(mbps), priority: 7, ..Constraints::default() }
}

/// The routers of the path from 1 to 4, by their last numbers.
fn way(database: &mut Engineering, now: Time, constraints: &Constraints) -> Vec<u8> {
    let path = database.path(now, id(1), id(4), constraints).expect("a path");
    path.hops.iter().map(|hop| hop.router.octets()[3]).collect()
}

fn why(database: &mut Engineering, constraints: &Constraints) -> String {
    database.path(Time::ZERO, id(1), id(4), constraints).expect_err("no path").to_string()
}

#[test]
fn it_says_why_there_is_no_path() {
    let mut all = square();
    assert_eq!(why(&mut all, &ask(1001)), "no path with 1001 Mbit/s at priority 7: 2 links lack bandwidth");
    // What messages have rounded is said as it was written.
    let rounded = Rate::from_bytes_per_s(Rate(1_000_000_000_000).as_bytes_per_s());
    assert_eq!(rounded, Rate(999_999_995_904));
    let most = Constraints { bandwidth: rounded, ..ask(0) };
    assert_eq!(why(&mut all, &most), "no path with 1 Tbit/s at priority 7: 2 links lack bandwidth");
    let short = Constraints { hop_limit: Some(1), ..ask(1) };
    assert_eq!(why(&mut all, &short), "no path of 1 links or fewer: the shortest has 2");
    all.set_link(key(2, 4), TeLink { groups: 1, ..link(2, 4, 1) });
    let mut full = link(3, 4, 1);
    full.unreserved[7] = Rate::from_mbps(100);
    all.set_link(key(3, 4), full);
    let mut picky = ask(200);
    picky.affinities.exclude_any = 1;
    assert_eq!(
        why(&mut all, &picky),
        "no path with 200 Mbit/s at priority 7: 1 link lacks bandwidth, 1 is excluded by affinity"
    );
    assert_eq!(way(&mut all, Time::ZERO, &ask(200)), [2, 4]);
    // A router that is not spoken of, and one to which nothing leads.
    let nobody = all.path(Time::ZERO, id(1), id(9), &ask(0)).expect_err("no path").to_string();
    assert_eq!(nobody, "no path: traffic engineering has not heard of 10.0.0.9");
    all.set_link(key(9, 8), link(9, 8, 1));
    let alone = all.path(Time::ZERO, id(1), id(9), &ask(0)).expect_err("no path").to_string();
    assert_eq!(alone, "no path: no link leads there");
}

#[test]
fn a_link_that_has_refused_is_avoided_until_it_is_announced_anew_or_for_a_while() {
    let mut all = square();
    let refused = Distrust::Refused { priority: 7, rate: Rate::from_mbps(300) };
    all.distrust(Time(10), link(2, 4, 1).local, refused);
    let soon = Time(11);
    assert_eq!(way(&mut all, soon, &ask(300)), [3, 4]);
    assert_eq!(way(&mut all, soon, &ask(299)), [2, 4], "less than was refused");
    assert_eq!(way(&mut all, soon, &Constraints { priority: 6, ..ask(300) }), [2, 4], "more urgent");
    assert_eq!(way(&mut all, Time(10) + DISTRUST, &ask(300)), [2, 4]);
    all.set_link(key(2, 4), link(2, 4, 1));
    assert_eq!(way(&mut all, soon, &ask(300)), [2, 4], "announced anew, though nothing is other than before");
    all.distrust(Time(10), link(1, 2, 1).local, Distrust::Failed);
    assert_eq!(way(&mut all, soon, &ask(0)), [3, 4]);
    assert_eq!(way(&mut all, soon + Span::from_secs(60), &ask(0)), [2, 4]);
}

#[test]
fn what_changes_is_told_once_and_only_if_somebody_wants_to_know() {
    let mut all = square();
    assert_eq!(all.poll_change(), None);
    all.watch();
    all.set_link(key(2, 4), link(2, 4, 1));
    assert!(!all.is_changed(), "the same as before");
    all.set_link(key(2, 4), link(2, 4, 7));
    all.set_address(key(4, 0), Some(Ipv4Addr::new(10, 9, 0, 4)));
    assert_eq!((all.poll_change(), all.poll_change()), (Some(false), None));
    assert_eq!(all.router_of(Ipv4Addr::new(10, 9, 0, 4)), Some(id(4)));
    all.remove_link(&key(2, 4));
    all.set_link(key(2, 4), link(2, 4, 1));
    assert_eq!((all.poll_change(), all.poll_change()), (Some(true), None), "it was gone in between");
    all.set_address(key(4, 0), None);
    assert_eq!(all.router_of(Ipv4Addr::new(10, 9, 0, 4)), None);
    assert_eq!(all.router_of(link(4, 2, 1).local), Some(id(4)), "by an address of a link");
    let both = Ipv4Addr::new(10, 9, 0, 9);
    all.set_address(key(3, 0), Some(both));
    all.set_address(key(4, 0), Some(both));
    all.set_address(key(2, 0), Some(both));
    assert_eq!(all.router_of(both), Some(id(2)), "of several the one with the least router id");
    all.set_address(key(2, 0), None);
    assert_eq!(all.router_of(both), Some(id(3)));
    assert_eq!(all.links_of(Owner(0), 0, id(2)).count(), 2);
    all.restart();
    assert!(all.is_empty() && all.graph().len() == 0 && !all.is_changed());
}

#[test]
fn a_link_of_one_end_alone_leads_nowhere() {
    let mut all = square();
    all.remove_link(&key(4, 2));
    assert_eq!(way(&mut all, Time::ZERO, &ask(0)), [3, 4]);
    // The far address is that which the other end has, if the near end knows none.
    all.set_link(key(4, 2), TeLink { remote: None, ..link(4, 2, 1) });
    all.set_link(key(2, 4), TeLink { remote: None, ..link(2, 4, 1) });
    let path = all.path(Time::ZERO, id(1), id(4), &ask(0)).expect("a path");
    assert_eq!(path.hops[1].far, link(4, 2, 1).local);
}
