use super::section::MldStaticSpec;
use super::*;
use crate::owner::Owner;
use crate::protocol::Ip6Arrival;
use crate::services::membership::QuerierState;
use crate::services::{Attached, Beyond, InterfaceAddress, InterfaceId, InterfaceKind, Interfaces};
use base::Span;
use base::describe::{Describe, Value};
use base::plane::GroupKey;
use core::net::Ipv4Addr;

const GROUP: Ipv6Addr = Ipv6Addr::new(0xff3e, 0, 0, 0, 0, 0, 0, 1);
const PORT: PortId = PortId(0);

fn link_local(n: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, n)
}
fn source(n: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, n)
}
fn at(s: i64) -> Time {
    Time::ZERO + Span::from_secs(s)
}
fn record(kind: RecordKind, sources: Vec<Ipv6Addr>) -> Record<Ipv6Addr> {
    Record { kind, group: GROUP, sources }
}

/// A router whose only port leads to a host.
struct Bench {
    services: Box<Services>,
    mld: Mld,
}

impl Bench {
    fn new(spec: MldSpec) -> Bench {
        let mut bench = Bench::waiting(spec);
        bench.wait(0);
        bench
    }

    /// Before its first timeout.
    fn waiting(spec: MldSpec) -> Bench {
        let interface = Interface {
            kind: InterfaceKind::Port(PORT),
            addresses: vec![InterfaceAddress { address: source(5).into(), prefix_len: 64 }],
            link_local: Some(link_local(5)),
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), Ipv4Addr::new(192, 0, 2, 1), vec![interface]);
        let host = Attached { beyond: Beyond::Host, node: "h".into(), ..Attached::default() };
        let mut services = Services::none();
        services.interfaces = interfaces.with_attached([host]);
        let mld = Mld::new(spec, &services);
        Bench { services: Box::new(services), mld }
    }

    fn wait(&mut self, s: i64) -> Vec<Message6> {
        self.mld.handle_timeout(at(s), &mut Context { services: &mut self.services, owner: Owner(0) });
        core::iter::from_fn(|| self.mld.poll_output())
            .map(|output| match output {
                Output::Message6(message) => *message,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// A message arrives as it should, but for what `but` changes.
    fn hear(&mut self, s: i64, repr: &Repr, but: impl FnOnce(&mut Ip6Arrival)) {
        let (src, dst) = (link_local(7), mld::ALL_V2_ROUTERS);
        let over = Over::Ip(ipv6::Protocol::ICMPV6.0);
        let mut ip = Ip6Arrival { port: PORT, src, dst, hop_limit: 1, router_alert: true, over };
        but(&mut ip);
        let bytes = repr.emit(ip.src, dst);
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        self.mld.handle_message(at(s), &mut context, &Arrival::Ip6(ip), &bytes);
    }

    /// The sources of the group that are wanted by the port; none for all.
    fn wanted(&self) -> Vec<Option<Ipv6Addr>> {
        let all = self.services.multicast.all_wanted();
        all.map(|(key, _, _)| match key.source {
            Some(core::net::IpAddr::V6(source)) => Some(source),
            _ => None,
        })
        .collect()
    }
}

fn defaults() -> MldSpec {
    MldSpec::read(&Value::Map(Vec::new())).expect("defaults")
}

#[test]
fn a_query_is_sent_as_the_rfc_says() {
    let mut bench = Bench::new(defaults());
    let started = bench.wait(32);
    assert_eq!(started.len(), 1, "the second of two, a quarter of the interval later");
    let query = &started[0];
    assert_eq!((query.src, query.dst), (link_local(5), nd::ALL_NODES));
    assert_eq!((query.hop_limit, query.router_alert), (1, Some(0)));
    let repr = Repr::parse(&query.bytes, query.src, query.dst).expect("a message");
    let v2 = QueryV2 { suppress: false, robustness: 2, interval_s: 125, sources: Vec::new() };
    let general = |v2| Repr::Query { max_resp_ms: 10_000, group: Ipv6Addr::UNSPECIFIED, v2 };
    assert_eq!(repr, general(Some(v2)));
    // RFC 3810, 8.3.1: in version 1 a query has 24 bytes.
    let mut older = Bench::new(MldSpec { version: 1, ..defaults() });
    let query = older.wait(32).remove(0);
    assert_eq!(query.bytes.len(), mld::V1_LEN);
    assert_eq!(Repr::parse(&query.bytes, query.src, query.dst), Ok(general(None)));
}

#[test]
fn reports_are_wishes_until_they_are_over() {
    let mut bench = Bench::new(defaults());
    let report = |record| Repr::ReportV2 { records: vec![record] };
    bench.hear(1, &report(record(RecordKind::IsInclude, vec![source(1), source(2)])), |_| {});
    assert_eq!(bench.wanted(), [Some(source(1)), Some(source(2))]);
    bench.hear(2, &report(record(RecordKind::Block, vec![source(2)])), |_| {});
    let asked = bench.wait(2);
    assert_eq!(asked[0].dst, GROUP, "RFC 3810, 5.1.15");
    let repr = Repr::parse(&asked[0].bytes, asked[0].src, GROUP).expect("a message");
    let v2 = QueryV2 { suppress: false, robustness: 2, interval_s: 125, sources: vec![source(2)] };
    assert_eq!(repr, Repr::Query { max_resp_ms: 1_000, group: GROUP, v2: Some(v2) });
    bench.wait(3);
    bench.wait(4);
    assert_eq!(bench.wanted(), [Some(source(1))]);
    // RFC 3810, 9.4: 2 x 125 s + 10 s.
    bench.wait(260);
    assert_eq!(bench.wanted(), [Some(source(1))]);
    bench.wait(261);
    assert!(bench.wanted().is_empty());
    // A group of one link needs no tree.
    let local = Record { group: nd::solicited_node(source(1)), ..record(RecordKind::IsExclude, Vec::new()) };
    bench.hear(262, &report(local), |_| {});
    assert_eq!(bench.mld.state_count(), 0);
}

/// Where a link takes no time, a host's report comes before the router has begun.
#[test]
fn a_report_before_the_first_timeout_does_not_keep_the_router_from_asking() {
    let mut bench = Bench::waiting(defaults());
    let report = Repr::ReportV2 { records: vec![record(RecordKind::ToExclude, Vec::new())] };
    bench.hear(0, &report, |_| {});
    assert_eq!(bench.wanted(), [None]);
    assert!(!bench.wait(0).is_empty(), "a general query");
}

#[test]
fn hosts_of_version_1_are_heard() {
    let mut bench = Bench::new(defaults());
    bench.hear(1, &Repr::ReportV1 { group: GROUP }, |ip| ip.dst = GROUP);
    assert!(bench.wanted().is_empty(), "the checksum covers the group that it went to");
    let bytes = Repr::ReportV1 { group: GROUP }.emit(link_local(7), GROUP);
    let over = Over::Ip(58);
    let ip =
        Ip6Arrival { port: PORT, src: link_local(7), dst: GROUP, hop_limit: 1, router_alert: true, over };
    let mut context = Context { services: &mut bench.services, owner: Owner(0) };
    bench.mld.handle_message(at(1), &mut context, &Arrival::Ip6(ip), &bytes);
    assert_eq!(bench.wanted(), [None]);
    // RFC 3810, 8.3.2: BLOCK is ignored, and so are the sources of TO_EX.
    for kind in [RecordKind::Block, RecordKind::ToExclude] {
        bench.hear(2, &Repr::ReportV2 { records: vec![record(kind, vec![source(1)])] }, |_| {});
        assert!(bench.mld.listeners.links[&PORT].groups[&GROUP].sources.is_empty());
        assert!(bench.wait(2).is_empty());
    }
    bench.hear(3, &Repr::Done { group: GROUP }, |_| {});
    assert_eq!([3, 4, 5].map(|s| bench.wait(s).len()), [1, 1, 0]);
    assert!(bench.wanted().is_empty());
}

#[test]
fn what_may_come_from_beyond_the_link_is_not_believed() {
    let mut bench = Bench::new(defaults());
    let report = Repr::ReportV2 { records: vec![record(RecordKind::IsExclude, Vec::new())] };
    // RFC 3810, 5.1.14, 5.2.13, 7.4 and 7.6.
    bench.hear(1, &report, |ip| ip.hop_limit = 2);
    bench.hear(1, &report, |ip| ip.router_alert = false);
    bench.hear(1, &report, |ip| ip.src = source(7));
    bench.hear(1, &report, |ip| ip.dst = nd::ALL_ROUTERS);
    assert_eq!((bench.wanted().len(), bench.mld.malformed), (0, 4));
    bench.hear(1, &report, |_| {});
    assert_eq!(bench.wanted(), [None]);
}

#[test]
fn the_lowest_link_local_address_asks() {
    let mut bench = Bench::new(defaults());
    let general = Repr::Query { max_resp_ms: 10_000, group: Ipv6Addr::UNSPECIFIED, v2: None };
    let link =
        |bench: &Bench| (bench.mld.listeners.links[&PORT].state, bench.mld.listeners.links[&PORT].querier);
    bench.hear(1, &general, |ip| ip.src = link_local(9));
    assert_eq!(link(&bench), (QuerierState::Querier, None), "a higher address does not count");
    bench.hear(1, &general, |ip| ip.src = link_local(2));
    assert_eq!(link(&bench), (QuerierState::NonQuerier, Some(link_local(2))));
    assert!(bench.wait(200).is_empty());
    // RFC 3810, 9.5: 2 x 125 s + 5 s.
    assert_eq!(bench.mld.poll_timeout(), Some(at(256)));
    assert_eq!((bench.wait(256).len(), link(&bench).0), (1, QuerierState::Querier));
}

#[test]
fn static_groups_are_wanted_as_long_as_the_link_is_up() {
    let one = MldStaticSpec { group: GROUP, source: Some(source(1)) };
    let mut bench = Bench::new(MldSpec { static_groups: vec![("h".into(), vec![one])], ..defaults() });
    assert_eq!(bench.wanted(), [Some(source(1))]);
    let key = GroupKey { group: GROUP.into(), source: Some(source(1).into()) };
    assert_eq!(bench.services.multicast.wanted(key), [PORT]);
    let shown = bench.mld.listeners.shown();
    assert!(shown.len() == 1 && shown[0].is_static && shown[0].mode == "include");
    bench.services.interfaces.set_up(InterfaceId::of(PORT), false);
    let change = Change::Interface { interface: InterfaceId::of(PORT), port: Some(PORT), up: false };
    let mut context = Context { services: &mut bench.services, owner: Owner(0) };
    bench.mld.handle_change(at(1), &mut context, &change);
    assert!(bench.wanted().is_empty());
    assert!(bench.mld.listeners.links.values().all(|link| link.state == QuerierState::Down));
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let read = |key: &str, value: Value| {
        let spec = MldSpec::read(&Value::Map(vec![(key.into(), value)]));
        spec.err().map(|error| error.words().to_string()).unwrap_or_default()
    };
    let statics = |one: Vec<(&str, &str)>| {
        let one = one.into_iter().map(|(key, value)| (key.into(), Value::from(value.to_string()))).collect();
        let one = Value::List(vec![Value::Map(one)]);
        read("static_groups", Value::Map(vec![("h".into(), one)]))
    };
    // RFC 3810, 9.1 and 9.14.2.
    assert!(read("robustness", Value::Int(0)).contains("1 to 7"));
    assert!(read("response_interval", "125 s".to_string().into()).contains("below query_interval=125 s"));
    assert!(read("version", Value::Int(3)).contains("1 to 2"));
    assert!(statics(vec![("group", "ff02::5")]).contains("a group of IPv6 of scope 3 or more is needed"));
    assert!(statics(vec![("group", "2001:db8::1")]).contains("a group of IPv6"));
    let source = vec![("group", "ff3e::1"), ("source", "fe80::1")];
    assert!(statics(source).contains("fe80::1: the address of a host is needed"));
}
