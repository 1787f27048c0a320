//! BFD beside a router whose BGP restarts alone, in whole networks (RFC 5882, 4.3).

use crate::common::named::network;
use crate::common::{S, column, sum};
use base::{LinkId, Span, Time};
use engine::{Direction, Fault, FaultKind};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// BGP of `b` restarts at this time, and is away for ten seconds.
const RESTARTS: u64 = 20 * S;
/// Then all packets between `a` and `b` are lost, while ports stay up.
const FAILS: u64 = 22 * S;

/// Two routers of different ASes, with a network behind each. Neighbours are asked to keep its routes for a
/// minute.
fn two(are_independent: [bool; 2]) -> Testbed {
    let neighbor = |asn: u32| json!({"asn": asn, "import": "all", "export": "all", "bfd": true});
    let router = |independent: bool, asn: u32, to: &str, other: u32| {
        let bfd = json!({"interval": "100 ms", "independent": independent});
        json!({"kind": "router", "bfd": bfd, "bgp": {"asn": asn, "connect_retry": "2 s", "redistribute": ["connected"],
            "restart_time": "60 s", "neighbors": {to: neighbor(other)}}})
    };
    network(&json!({
        "name": "two",
        "nodes": {"a": router(are_independent[0], 65001, "b", 65002),
            "b": router(are_independent[1], 65002, "a", 65001),
            "h": {"kind": "host", "address": "10.3.0.2/24"}, "g": {"kind": "host", "address": "10.4.0.2/24"}},
        "links": [{"endpoints": ["a", "b"], "rate": "1 Gbit/s", "delay": "100 us"},
            {"endpoints": ["b", "h"], "rate": "1 Gbit/s", "delay": "100 us"},
            {"endpoints": ["a", "g"], "rate": "1 Gbit/s", "delay": "100 us"}],
    }))
}

/// How many routes of BGP a router has.
fn routes_of(network: &mut Testbed, node: usize) -> usize {
    let table = network.table_json("rib", Some(node)).expect("a table");
    column(&table, "source").iter().filter(|source| **source == "bgp").count()
}

/// How many routes of BGP the first router has.
fn routes(network: &mut Testbed) -> usize {
    routes_of(network, 0)
}

fn column_of(network: &mut Testbed, name: &str) -> Vec<Value> {
    let table = network.table_json("bfd_sessions", None).expect("a table");
    column(&table, name)
}

/// RFC 5882, 4.3.1: both say that BFD goes on while their control planes restart, so silence is a failure and ends the
/// restart. 4.3.2: without that it may be part of the restart, and routes are kept as long as `b` has asked for.
#[test]
fn a_restart_is_over_when_packets_stop_if_bfd_is_independent() {
    for are_independent in [[true, true], [true, false], [false, true], [false, false]] {
        let is_independent = are_independent == [true; 2];
        let mut network = two(are_independent);
        network.run_until(Time(RESTARTS)).expect("a run");
        let all = routes(&mut network);
        assert!(all > 0);
        network.restart_protocol(1, "bgp", Span::from_secs(10)).expect("a restart");
        let lost = FaultKind::Loss { link: LinkId(0), direction: Direction::Both, probability: 1.0 };
        network.fault(Fault::new(Time(FAILS), lost)).expect("a fault");
        network.run_until(Time(FAILS)).expect("a run");
        assert_eq!((routes(&mut network), column_of(&mut network, "state")), (all, vec![json!("up"); 2]));
        assert_eq!(column_of(&mut network, "is_independent"), vec![json!(is_independent); 2]);
        network.run_until(Time(FAILS + S)).expect("a run");
        assert_eq!(column_of(&mut network, "state"), vec![json!("down"); 2]);
        assert_eq!(routes(&mut network), if is_independent { 0 } else { all });
        // BGP of `b` is down, and finds out when it is back.
        assert!(routes_of(&mut network, 1) > 0);
        network.run_until(Time(RESTARTS + 11 * S)).expect("a run");
        assert_eq!(routes_of(&mut network, 1) > 0, !is_independent);
        network.run_until(Time(RESTARTS + 61 * S)).expect("a run");
        assert_eq!(routes(&mut network), 0, "it did not come back");
    }
}

/// A control processor that takes longer for a packet of BFD than the detection time: sessions last where BFD is part
/// of the forwarding plane.
#[test]
fn independent_bfd_does_not_wait_for_the_control_processor() {
    for is_independent in [true, false] {
        let costs = json!({"control": {"costs": {"bfd": {"Control": {"us": 400_000.0}}}}});
        let bfd = json!({"interval": "100 ms", "independent": is_independent});
        let router = |to: &str| json!({"kind": "router", "bfd": bfd, "profile": costs, "routes": [{"prefix": "10.9.0.0/24", "via": to, "bfd": true}]});
        let mut network = network(&json!({
            "name": "slow",
            "nodes": {"a": router("b"), "b": router("a")},
            "links": [{"endpoints": ["a", "b"], "rate": "1 Gbit/s", "delay": "100 us"}],
        }));
        network.run_until(Time(60 * S)).expect("a run");
        let table = network.table_json("bfd_sessions", None).expect("a table");
        let (ups, downs) = (sum(&table, "ups"), sum(&table, "downs"));
        assert!(
            if is_independent { (ups, downs) == (2, 0) } else { downs > 0 },
            "{ups} times up, {downs} times down"
        );
        let busy = network.table_json("processors", None).expect("a table");
        let busy: f64 = column(&busy, "busy_s").iter().filter_map(|busy| busy.as_f64()).sum();
        assert_eq!(busy == 0.0, is_independent, "{busy} s");
    }
}
