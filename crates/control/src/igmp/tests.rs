use super::*;
use crate::services::membership::{Ask, Group, Link};
use base::Span;
use base::describe::{Describe, Value};
use std::collections::BTreeSet;

const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 1, 1);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);

fn source(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, 0, n)
}
fn sources(all: &[u8]) -> BTreeSet<Ipv4Addr> {
    all.iter().map(|n| source(*n)).collect()
}
fn at(s: i64) -> Time {
    Time::ZERO + Span::from_secs(s)
}
fn record(kind: RecordKind, all: &[u8]) -> Record {
    Record { kind, group: GROUP, sources: all.iter().map(|n| source(*n)).collect() }
}

/// INCLUDE(1, 2), or EXCLUDE(X: 1, 2; Y: 3, 4).
fn begun(exclude: bool) -> Group<Ipv4Addr> {
    let mut group = Group::default();
    group.record(at(0), Span::from_secs(260), &record(RecordKind::IsInclude, &[1, 2]));
    if exclude {
        group.sources.extend([3, 4].map(|n| (source(n), None)));
        group.expires = Some(at(100));
    }
    group
}

/// The rows of RFC 3376, 6.4.1 and 6.4.2, with B (or A) = 2, 3, 5: mode, running sources, excluded ones, questions.
#[test]
fn records_change_state_as_the_tables_say() {
    use RecordKind::*;
    let row = |exclude: bool, kind| {
        let mut group = begun(exclude);
        let asks = group.record(at(9), Span::from_secs(260), &record(kind, &[2, 3, 5]));
        let these = |running: bool| {
            let all = group.sources.iter().filter(|(_, end)| end.is_some() == running);
            all.map(|(source, _)| source.octets()[3]).collect::<Vec<_>>()
        };
        let asks: Vec<Vec<u8>> = asks
            .into_iter()
            .map(|ask| match ask {
                Ask::Group => vec![],
                Ask::Sources(all) => all.into_iter().map(|source| source.octets()[3]).collect(),
            })
            .collect();
        (group.expires.is_some(), these(true), these(false), asks)
    };
    let none = Vec::<Vec<u8>>::new();
    assert_eq!(row(false, IsInclude), (false, vec![1, 2, 3, 5], vec![], none.clone()));
    assert_eq!(row(false, IsExclude), (true, vec![2], vec![3, 5], none.clone()));
    assert_eq!(row(true, IsInclude), (true, vec![1, 2, 3, 5], vec![4], none.clone()));
    assert_eq!(row(true, IsExclude), (true, vec![2, 5], vec![3], none.clone()));
    assert_eq!(row(false, Allow), (false, vec![1, 2, 3, 5], vec![], none.clone()));
    assert_eq!(row(false, Block), (false, vec![1, 2], vec![], vec![vec![2]]));
    assert_eq!(row(false, ToExclude), (true, vec![2], vec![3, 5], vec![vec![2]]));
    assert_eq!(row(false, ToInclude), (false, vec![1, 2, 3, 5], vec![], vec![vec![1]]));
    assert_eq!(row(true, Allow), (true, vec![1, 2, 3, 5], vec![4], none));
    assert_eq!(row(true, Block), (true, vec![1, 2, 5], vec![3, 4], vec![vec![2, 5]]));
    assert_eq!(row(true, ToExclude), (true, vec![2, 5], vec![3], vec![vec![2, 5]]));
    assert_eq!(row(true, ToInclude), (true, vec![1, 2, 3, 5], vec![4], vec![vec![1], vec![]]));
}

#[test]
fn timers_end_as_the_filter_mode_says() {
    let mut group = begun(true);
    assert!(group.advance(at(100)), "X goes on in INCLUDE mode");
    assert_eq!((group.expires, group.wanted()), (None, Some(sources(&[1, 2]))));
    assert!(!group.advance(at(260)), "nobody has asked for them again");
}

fn defaults() -> IgmpSpec {
    IgmpSpec::read(&Value::Map(Vec::new())).expect("defaults")
}

fn link() -> (Link<Ipv4Addr>, Timing) {
    let timing = defaults().timing();
    let mut link = Link::new(OWN);
    link.begin(at(0), &timing);
    (link, timing)
}

/// A query as another router's is.
fn asks(group: Option<Ipv4Addr>) -> Query<Ipv4Addr> {
    Query { group, sources: Vec::new(), suppress: false, response: Span::from_secs(1) }
}

#[test]
fn the_lowest_address_asks() {
    let (mut link, timing) = link();
    // RFC 3376, 8.6 and 8.7: twice at first, a quarter of the interval apart.
    assert_eq!((link.advance(at(0), &timing).len(), link.next()), (1, Some(at(31) + Span::from_ms(250))));
    link.hear(at(1), &timing, Ipv4Addr::new(10, 0, 0, 9), &asks(None));
    assert_eq!(link.state, QuerierState::Querier, "a higher address does not count");
    link.hear(at(1), &timing, Ipv4Addr::new(10, 0, 0, 2), &asks(None));
    assert_eq!((link.state, link.querier), (QuerierState::NonQuerier, Some(Ipv4Addr::new(10, 0, 0, 2))));
    assert!(link.advance(at(200), &timing).is_empty());
    // RFC 3376, 8.5: 2 x 125 s + 5 s.
    assert_eq!(link.next(), Some(at(256)));
    assert_eq!((link.advance(at(256), &timing).len(), link.state), (1, QuerierState::Querier));
}

#[test]
fn a_group_that_is_left_is_asked_for_twice_and_forgotten() {
    let (mut link, timing) = link();
    link.advance(at(0), &timing);
    link.report(at(1), &timing, &record(RecordKind::IsExclude, &[]), Speaks::Leaves);
    link.report(at(2), &timing, &record(RecordKind::ToInclude, &[]), Speaks::Leaves);
    let asked: Vec<_> = [2, 3, 4].map(|s| link.advance(at(s), &timing)).into_iter().flatten().collect();
    assert!(asked.iter().all(|query| *query == asks(Some(GROUP))));
    assert_eq!((asked.len(), link.groups.len()), (2, 0));
    // RFC 3376, 6.6.1: whoever does not ask lowers its timers by the questions of whoever does.
    link.report(at(5), &timing, &record(RecordKind::IsExclude, &[]), Speaks::Sources);
    link.hear(at(6), &timing, Ipv4Addr::new(10, 0, 0, 2), &asks(None));
    link.hear(at(7), &timing, Ipv4Addr::new(10, 0, 0, 2), &asks(Some(GROUP)));
    assert_eq!(link.groups[&GROUP].expires, Some(at(9)));
}

/// RFC 3376, 6.6.3.1 and 6.6.3.2: else routers that listen would forget what they have just heard.
#[test]
fn whoever_has_answered_is_asked_without_a_change_of_timers() {
    let (mut link, timing) = link();
    link.advance(at(0), &timing);
    let asked = |link: &mut Link<Ipv4Addr>, s| -> Vec<_> {
        link.advance(at(s), &timing).into_iter().map(|query| (query.sources, query.suppress)).collect()
    };
    link.report(at(1), &timing, &record(RecordKind::IsExclude, &[]), Speaks::Leaves);
    link.report(at(2), &timing, &record(RecordKind::ToInclude, &[]), Speaks::Leaves);
    assert_eq!(asked(&mut link, 2), [(vec![], false)]);
    link.report(at(2), &timing, &record(RecordKind::IsExclude, &[]), Speaks::Leaves);
    assert_eq!(asked(&mut link, 3), [(vec![], true)]);
    let (mut link, timing) = self::link();
    link.advance(at(0), &timing);
    link.report(at(1), &timing, &record(RecordKind::IsInclude, &[1, 2, 3]), Speaks::Sources);
    link.report(at(2), &timing, &record(RecordKind::Block, &[1, 2]), Speaks::Sources);
    let asked = |link: &mut Link<Ipv4Addr>, s| -> Vec<_> {
        link.advance(at(s), &timing).into_iter().map(|query| (query.sources, query.suppress)).collect()
    };
    assert_eq!(asked(&mut link, 2), [(vec![source(1), source(2)], false)]);
    link.report(at(2), &timing, &record(RecordKind::IsInclude, &[2]), Speaks::Sources);
    assert_eq!(asked(&mut link, 3), [(vec![source(2)], true), (vec![source(1)], false)]);
    // Whoever does not ask keeps its timers if it is told so.
    link.hear(at(4), &timing, Ipv4Addr::new(10, 0, 0, 2), &asks(None));
    let kept = Query { sources: vec![source(2)], suppress: true, ..asks(Some(GROUP)) };
    link.hear(at(4), &timing, Ipv4Addr::new(10, 0, 0, 2), &kept);
    assert_eq!(link.groups[&GROUP].sources[&source(2)], Some(at(262)));
}

#[test]
fn the_machine() {
    let lines = [
        "Down --Up--> Querier",
        "Querier --LowerHeard--> NonQuerier",
        "Querier --Lost--> Down",
        "NonQuerier --LowerHeard--> NonQuerier",
        "NonQuerier --OtherGone--> Querier",
        "NonQuerier --Lost--> Down",
    ];
    assert_eq!(QuerierState::CHART.lines(), lines);
}

#[test]
fn older_hosts_have_blocks_ignored() {
    let mut group = begun(true);
    group.note(Speaks::Leaves, at(50));
    let before = group.clone();
    assert_eq!(group.record(at(9), Span::from_secs(260), &record(RecordKind::Block, &[2, 5])), []);
    assert_eq!(group, before);
    // The sources of TO_EX are, too: all are wanted.
    group.record(at(9), Span::from_secs(260), &record(RecordKind::ToExclude, &[2, 5]));
    assert!(group.sources.is_empty() && group.expires == Some(at(269)));
    assert!(group.advance(at(60)) && group.older == [None; 2]);
}

#[test]
fn nobody_leaves_for_a_host_of_version_1() {
    let mut group = begun(true);
    group.note(Speaks::Joins, at(50));
    let before = group.clone();
    for kind in [RecordKind::ToInclude, RecordKind::Block] {
        assert_eq!(group.record(at(9), Span::from_secs(260), &record(kind, &[])), []);
        assert_eq!(group, before);
    }
    assert!(group.advance(at(60)) && group.older == [None; 2]);
    assert_ne!(group.record(at(61), Span::from_secs(260), &record(RecordKind::ToInclude, &[])), []);
}

/// A router that restarts hears of its ports before anything is due.
#[test]
fn a_port_that_comes_up_before_the_first_timeout_keeps_nothing_from_beginning() {
    use crate::owner::Owner;
    let mut services = Box::new(Services::none());
    let mut igmp = Igmp::new(defaults(), &services);
    let change = Change::Interface {
        interface: crate::services::InterfaceId::of(PortId(0)),
        port: Some(PortId(0)),
        up: true,
    };
    igmp.handle_change(at(1), &mut Context { services: &mut services, owner: Owner(0) }, &change);
    assert_eq!(igmp.poll_timeout(), Some(Time::ZERO));
}
