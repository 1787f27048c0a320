//! BFD in whole networks: silent failures are found in the time that both ends agree on, by all protocols that ask.

use crate::common::named::{network, read, refusal};
use crate::common::{MS, S, column, conserved, sum};
use base::{LinkId, NodeId, Time};
use control::bfd;
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Direction, Fault, FaultKind};
use serde_json::{Value, json};
use std::process::Command;
use twinplane_tester::Testbed;

/// Two routers of the network, whose nodes are in the order of their names.
const A: u32 = 0;
const B: u32 = 1;
/// When everything is lost on a link whose ports stay up.
const FAILS: u64 = 25 * S + 300 * MS;

fn link(a: &str, b: &str, metric: u32) -> Value {
    json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "10 us", "metric": metric})
}

/// Two hosts, and between their routers a short way by `b` and a long one by `c`. A packet each millisecond.
fn two_ways(router: &Value) -> Value {
    let host = |n: u32| json!({"kind": "host", "address": format!("10.{n}.0.2/24")});
    json!({
        "name": "ways",
        "nodes": {"h1": host(1), "a": router, "b": router, "c": router, "d": router, "h2": host(2)},
        "links": [link("h1", "a", 1), link("a", "b", 1), link("b", "d", 1), link("a", "c", 5), link("c", "d", 5),
            link("d", "h2", 1)],
        "flows": [{"name": "f", "from": "h1", "to": "h2", "rate": "4 Mbit/s", "size": 500, "start": "10 s"}],
    })
}

fn with_ospf(bfd: &Value) -> Value {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "bfd": true});
    json!({"kind": "router", "ospf": ospf, "bfd": bfd})
}

fn fail(network: &mut Testbed, link: u32, at: u64) {
    let kind = FaultKind::Loss { link: LinkId(link), direction: Direction::Both, probability: 1.0 };
    network.fault(Fault::new(Time(at), kind)).expect("a fault");
}

fn count(network: &mut Testbed, table: &str, name: &str, word: &str) -> usize {
    let table = network.table_json(table, None).expect("a table");
    column(&table, name).iter().filter(|value| **value == word).count()
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(column(&table, "unknown").iter().all(|unknown| *unknown == 0), "{table}");
    sum(&table, "lost")
}

/// When sessions of a router went down that were up.
fn downs(network: &mut Testbed, node: u32) -> Vec<Time> {
    let is_down = |event: &base::Event| matches!(event.of(), Some(bfd::Event::BfdDown { .. }));
    let own = network.events().iter().filter(|record| record.node == NodeId(node) && is_down(&record.event));
    own.map(|record| record.at).collect()
}

/// Packets are lost from the failure to its detection, which comes three intervals after the last packet at the latest,
/// and until OSPF has computed (RFC 8405: 50 ms), and no longer.
#[test]
fn a_silent_failure_is_found_in_three_intervals() {
    for (interval, ms) in [("50 ms", 50), ("10 ms", 10)] {
        let mut network = network(&two_ways(&with_ospf(&json!({"interval": interval, "multiplier": 3}))));
        fail(&mut network, 1, FAILS);
        network.run_until(Time(FAILS)).expect("a run");
        assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 8, "two at each of four links");
        assert_eq!(lost(&mut network), 0);
        let table = network.table_json("bfd_sessions", Some(A as usize)).expect("a table");
        assert!(column(&table, "detection_ps").iter().all(|time| *time == 3 * ms * MS), "{table}");
        network.run_until(Time(40 * S)).expect("a run");
        let took = [A, B].map(|node| {
            let at = downs(&mut network, node);
            assert_eq!(at.len(), 1);
            at[0].0 - FAILS
        });
        // The last packet came up to an interval before.
        assert!(took.iter().all(|took| (2 * ms * MS..=3 * ms * MS + MS).contains(took)), "{took:?}");
        // The other end says so to all routers, by the way round, if it is the first to find it.
        let expected = took[0].min(took[1]) / MS + 50;
        let gone = lost(&mut network);
        assert!((expected..=expected + 3).contains(&gone), "{gone} beside {expected}");
        conserved(&mut network).expect("closed accounts");
    }
}

/// RFC 5882, 4.2 and 4.1: a router that shuts BFD down, or does not speak it, loses no neighbour.
#[test]
fn a_neighbour_without_bfd_stays_a_neighbour() {
    let mut described = two_ways(&with_ospf(&json!(true)));
    described["nodes"]["b"]["bfd"] = json!({"shutdown": true});
    described["nodes"]["c"]["ospf"]["bfd"] = json!(false);
    described["nodes"]["c"]["bfd"] = json!(null);
    let mut network = network(&described);
    network.run_until(Time(30 * S)).expect("a run");
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 8);
    assert_eq!(count(&mut network, "bfd_sessions", "state", "admin-down"), 2, "those of b");
    assert_eq!(count(&mut network, "bfd_sessions", "state", "down"), 4, "those to b and c");
    assert_eq!(lost(&mut network), 0);
    // Nobody told c's control plane of anything that it speaks: packets to its port reach nobody.
    assert_eq!(count(&mut network, "bfd_sessions", "node", "c"), 0);
}

/// A router that says nothing of `bfd` speaks it as usual where a protocol asks; protocols share sessions, and the one
/// that asks for the most counts (RFC 5882, 4.4 and 4.1).
#[test]
fn protocols_share_a_session() {
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s", "bfd": true});
    let router =
        json!({"kind": "router", "ospf": ospf, "ldp": {"bfd": {"interval": "20 ms"}}, "rsvp": {"bfd": true}});
    let mut network = network(&two_ways(&router));
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 8);
    let table = network.table_json("bfd_sessions", None).expect("a table");
    assert!(column(&table, "interval_ps").iter().all(|time| *time == 20 * MS), "{table}");
    assert!(
        column(&table, "clients").iter().all(|clients| *clients == json!(["ldp", "ospf", "rsvp-te"])),
        "{table}"
    );
}

/// An LSP over a neighbour that is silent is given up as after the loss of Hellos, and made again by another way.
#[test]
fn an_lsp_leaves_a_neighbour_that_does_not_answer() {
    let router = json!({"kind": "router", "rsvp": {"bfd": {"interval": "50 ms"}}});
    let mut described = two_ways(&router);
    described["lsps"] =
        json!([{"name": "east", "from": "a", "to": "d", "route": ["b", "d"], "fallback": ["c", "d"]}]);
    described["flows"] = json!([{"name": "on", "from": "a", "to": "d", "over": "east", "rate": "4 Mbit/s", "size": 500,
        "start": "10 s"}]);
    let mut network = network(&described);
    fail(&mut network, 1, FAILS);
    network.run_until(Time(30 * S)).expect("a run");
    let took = downs(&mut network, A)[0].0 - FAILS;
    let (gone, expected) = (lost(&mut network), took / MS);
    // A Path and a Resv by the other way.
    assert!((expected..=expected + 10).contains(&gone), "{gone} beside {expected}");
}

/// A static route is in force while its next hop answers; the way round costs more, and is a static route, too.
#[test]
fn a_static_route_goes_and_comes_with_its_next_hop() {
    let router = |routes: &Value| json!({"kind": "router", "bfd": {"interval": "50 ms"}, "routes": routes});
    let mut described = two_ways(&json!({"kind": "router"}));
    // Both ends watch each other; behind the link is another way to a shorter prefix.
    let to = |prefix: &str, via: &str, bfd: bool| json!({"prefix": prefix, "via": via, "bfd": bfd});
    described["nodes"]["a"] = router(&json!([to("10.2.0.0/24", "b", true), to("10.2.0.0/16", "c", false)]));
    described["nodes"]["b"] = router(&json!([to("10.1.0.0/24", "a", true)]));
    let mut network = network(&described);
    let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability: 1.0 };
    network.fault(Fault::new(Time(FAILS), kind).until(Time(35 * S))).expect("a fault");
    network.run_until(Time(30 * S)).expect("a run");
    let clients = network.table_json("bfd_sessions", None).expect("a table");
    assert_eq!(column(&clients, "clients"), [json!(["static"]), json!(["static"])]);
    let took = downs(&mut network, A)[0].0 - FAILS;
    let (gone, expected) = (lost(&mut network), took / MS);
    assert!((expected..=expected + 3).contains(&gone), "{gone} beside {expected}");
    let next = |network: &mut Testbed| {
        let rib = network.table_json("rib", Some(A as usize)).expect("a table");
        let rows = column(&rib, "prefix").into_iter().zip(column(&rib, "active"));
        rows.filter(|(prefix, _)| *prefix == "10.2.0.0/24").map(|(_, active)| active).collect::<Vec<_>>()
    };
    assert_eq!(next(&mut network), [json!([])]);
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!((lost(&mut network), next(&mut network)), (gone, vec![json!(["b"])]), "it is in force again");
    let refused = json!([{"prefix": "10.2.0.0/24", "via": ["b", "c"], "bfd": true}]);
    described["nodes"]["a"] = router(&refused);
    let said = refusal(&described);
    assert!(said.contains("only a route with one can depend on it"), "{said}");
}

/// RFC 5882, 10.1.3: both ends of a virtual link, two hops apart, watch each other by RFC 5883. Routers `a` to `e`
/// stand in a row, and the one between `b` and `d` does not speak BFD.
#[test]
fn the_other_end_of_a_virtual_link_is_watched() {
    let plain = json!({"kind": "router", "ospf": {"area": 0}});
    let inner = json!({"kind": "router", "ospf": {"area": 1}});
    let border = |inwards: &str, end: &str| {
        let link = json!({"area": 1, "router": end, "bfd": {"interval": "100 ms"}});
        json!({"kind": "router", "ospf": {"interfaces": {inwards: {"area": 1}}, "virtual_links": [link]}})
    };
    let described = json!({
        "name": "row",
        "nodes": {"a": plain, "b": border("c", "d"), "c": inner, "d": border("c", "b"), "e": plain},
        "links": [link("a", "b", 1), link("b", "c", 1), link("c", "d", 1), link("d", "e", 1)],
    });
    let mut network = network(&described);
    // Two seconds of loss: no Hello interval, and far less than any neighbour's dead interval.
    let kind = FaultKind::Loss { link: LinkId(2), direction: Direction::Both, probability: 1.0 };
    let fails = 100 * S;
    network.fault(Fault::new(Time(fails), kind).until(Time(fails + 2 * S))).expect("a fault");
    network.run_until(Time(fails)).expect("a run");
    assert_eq!(count(&mut network, "ospf_virtual_links", "neighbor", "full"), 2);
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 2, "of the virtual link alone");
    network.run_until(Time(fails + S)).expect("a run");
    for end in [1, 3] {
        let at = downs(&mut network, end);
        assert_eq!(at.len(), 1);
        assert!((200 * MS..=301 * MS).contains(&(at[0].0 - fails)), "{at:?}");
    }
    assert_eq!(count(&mut network, "ospf_virtual_links", "neighbor", "full"), 0);
    assert_eq!(count(&mut network, "ospf_neighbors", "state", "full"), 8, "those across links stay");
    network.run_until(Time(fails + 60 * S)).expect("a run");
    assert_eq!(count(&mut network, "ospf_virtual_links", "neighbor", "full"), 2);
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 2);
}

/// Internal BGP between loopback addresses is several hops away (RFC 5883), external BGP is one.
#[test]
fn bgp_sessions_end_with_their_neighbours() {
    let bgp = |asn: u32, neighbors: &Value| json!({"asn": asn, "neighbors": neighbors, "redistribute": ["connected"]});
    let ospf = json!({"hello_interval": "1 s", "dead_interval": "4 s"});
    let bfd = json!({"interval": "100 ms"});
    let all = |asn: u32| json!({"asn": asn, "bfd": true, "import": "all", "export": "all"});
    let mut described = json!({
        "name": "ases",
        "nodes": {
            "a": {"kind": "router", "router_id": "192.0.2.1", "ospf": ospf, "bfd": bfd,
                "bgp": bgp(65_001, &json!({"192.0.2.3": {"asn": 65_001, "bfd": true}}))},
            "b": {"kind": "router", "router_id": "192.0.2.2", "ospf": ospf},
            "c": {"kind": "router", "router_id": "192.0.2.3", "ospf": {"hello_interval": "1 s", "dead_interval": "4 s",
                "interfaces": {"d": {"passive": true}}}, "bfd": bfd,
                "bgp": bgp(65_001, &json!({"192.0.2.1": {"asn": 65_001, "bfd": true}, "d": all(65_002)}))},
            "d": {"kind": "router", "router_id": "192.0.2.4", "bfd": bfd, "bgp": bgp(65_002, &json!({"c": all(65_001)}))},
        },
        "links": [link("a", "b", 1), link("b", "c", 1), link("c", "d", 1)],
    });
    described["flows"] = json!([]);
    let mut network = network(&described);
    network.run_until(Time(40 * S)).expect("a run");
    assert_eq!(count(&mut network, "bgp_neighbors", "state", "established"), 4);
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 4);
    let table = network.table_json("bfd_sessions", None).expect("a table");
    let several = column(&table, "port").iter().filter(|port| port.is_null()).count();
    assert_eq!(several, 2, "{table}");
    // The link to the other AS is silent; then that in the middle of the way.
    fail(&mut network, 2, 40 * S + MS);
    network.run_until(Time(41 * S)).expect("a run");
    assert_eq!(count(&mut network, "bgp_neighbors", "state", "established"), 2);
    let told = network.table_json("bgp_neighbors", None).expect("a table");
    let why = "BFD: the neighbour does not answer any more";
    assert_eq!(column(&told, "last_end").iter().filter(|end| **end == why).count(), 2, "{told}");
    fail(&mut network, 0, 41 * S + MS);
    network.run_until(Time(42 * S)).expect("a run");
    assert_eq!(count(&mut network, "bgp_neighbors", "state", "established"), 0);
}

/// Sessions of BGP over IPv6 are watched by packets of IPv6: over one hop with a hop limit of 255 (RFC 5881, 5), over
/// several to port 4784 (RFC 5883, 5).
#[test]
fn bgp_sessions_over_ipv6_end_with_their_neighbours() {
    let bfd = json!({"interval": "100 ms"});
    let all = |asn: u32| json!({"asn": asn, "bfd": true, "import": "all", "export": "all"});
    let described = json!({
        "name": "six",
        "nodes": {
            "a": {"kind": "router", "ipv6": "2001:db8:ff::1", "bfd": bfd, "bgp": {"asn": 65_001,
                "networks": ["2001:db8:a::/48"], "neighbors": {"2001:db8:12::2": all(65_002)}}},
            "b": {"kind": "router", "ipv6": "2001:db8:ff::2", "bfd": bfd, "bgp": {"asn": 65_002,
                "redistribute": ["connected"], "neighbors": {"2001:db8:12::1": all(65_001), "c": {"asn": 65_003,
                "import": "all", "export": "all", "families": ["ipv6"]}}}},
            "c": {"kind": "router", "ipv6": "2001:db8:ff::3", "bgp": {"asn": 65_003, "neighbors": {"b":
                {"asn": 65_002, "import": "all", "export": "all", "families": ["ipv6"]}}}},
        },
        "links": [
            {"endpoints": ["a", "b"], "ipv6": ["2001:db8:12::1/64", "2001:db8:12::2/64"]},
            {"endpoints": ["b", "c"], "ipv6": ["2001:db8:23::1/64", "2001:db8:23::2/64"]},
        ],
        "flows": [],
    });
    let mut network = network(&described);
    assert_eq!(network.warnings().len(), 0, "{:?}", network.warnings());
    network.run_until(Time(60 * S)).expect("a run");
    assert_eq!(count(&mut network, "bgp_neighbors", "state", "established"), 4);
    let routes = network.table_json("bgp_routes", None).expect("a table");
    assert!(column(&routes, "prefix").iter().filter(|prefix| **prefix == "2001:db8:a::/48").count() == 3);
    let table = network.table_json("bfd_sessions", None).expect("a table");
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 2, "{table}");
    assert!(column(&table, "port").iter().all(|port| !port.is_null()), "{table}");
    fail(&mut network, 0, 60 * S + MS);
    network.run_until(Time(61 * S)).expect("a run");
    assert_eq!(count(&mut network, "bgp_neighbors", "state", "established"), 2);
    let told = network.table_json("bgp_neighbors", None).expect("a table");
    let why = "BFD: the neighbour does not answer any more";
    assert_eq!(column(&told, "last_end").iter().filter(|end| **end == why).count(), 2, "{told}");
}

/// Every packet that routers with keys exchange is one to tshark, too, of the intervals and states that it says.
#[test]
fn nothing_malformed_is_sent() {
    let auth = |kind: &str| json!({"interval": "100 ms", "authentication": {"kind": kind, "key": "secret"}});
    for kind in ["simple", "meticulous-md5", "sha1", "none"] {
        let bfd = if kind == "none" { json!({"interval": "100 ms"}) } else { auth(kind) };
        let mut network = network(&two_ways(&with_ospf(&bfd)));
        let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(1)), CaptureTo::Memory);
        let tap = network.world_mut().capture(spec).expect("a capture");
        fail(&mut network, 1, 12 * S);
        network.run_until(Time(13 * S)).expect("a run");
        assert_eq!(downs(&mut network, A).len(), 1, "{kind}");
        let bytes = network.world_mut().finish_capture(tap).expect("a capture").bytes;
        if !testing::available("tshark") {
            continue;
        }
        let file = std::env::temp_dir().join(format!("tester-bfd-{}-{kind}.pcapng", std::process::id()));
        std::fs::write(&file, bytes).expect("a file");
        let fields = ["-T", "fields", "-e", "_ws.malformed", "-e", "bfd.sta", "-e", "_ws.expert.message"];
        let mut tshark = Command::new("tshark");
        let output = tshark.arg("-r").arg(&file).args(["-Y", "bfd"]).args(fields).output().expect("tshark");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let _ = std::fs::remove_file(&file);
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert!(rows.len() > 50, "{kind}: {text}");
        assert!(rows.iter().all(|row| row[0].is_empty()), "{kind}: {text}");
        for state in ["0x01", "0x02", "0x03"] {
            assert!(rows.iter().any(|row| row[1] == state), "{kind} {state}: {text}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let wrong = |bfd: Value| read(&two_ways(&with_ospf(&bfd))).expect_err("a refusal");
    let key = |kind: &str, key: &str| wrong(json!({"authentication": {"kind": kind, "key": key}}));
    assert!(
        key("md5", "seventeen letters").contains("17 bytes: a key of kind=md5 has 1 to 16 (RFC 5880, 6.7)")
    );
    assert!(key("none", "secret").contains("kind=none uses no key"));
    let hex = |key: Value| wrong(json!({"authentication": key}));
    let digits = |digits: &str| hex(json!({"kind": "sha1", "key_hex": digits}));
    assert!(digits("abc").contains("pairs of hexadecimal digits would be right"));
    assert!(digits(&"00".repeat(21)).contains("21 bytes: a key of kind=sha1 has 1 to 20"));
    let both = hex(json!({"kind": "sha1", "key_hex": "00", "key": "a"}));
    assert!(both.contains("'key' and 'key_hex' are both there"), "{both}");
    assert!(wrong(json!({"authentication": {"kind": "sha1"}})).contains("kind=sha1: a 'key' is missing"));
    assert!(wrong(json!({"multiplier": 0})).contains("multiplier"));
    assert!(wrong(json!({"interval": "1 us"})).contains("interval"));
}

fn said(described: &Value) -> Vec<String> {
    network(described).warnings().iter().map(network::error::sentence).collect()
}

/// RFC 5880, 6.8.6: packets of another key are not taken, and who has one takes none without.
#[test]
fn keys_that_differ_are_said_before_the_run() {
    let key = |said: Value| json!({"authentication": said});
    let md5 = key(json!({"kind": "md5", "key": "secret"}));
    let with = |node: &str, bfd: Value| {
        let mut described = two_ways(&with_ospf(&md5));
        described["nodes"][node]["bfd"] = bfd;
        described
    };
    // The same key in other words.
    assert_eq!(said(&with("b", key(json!({"kind": "md5", "key_hex": "736563726574"})))), [""; 0]);
    let differ = |bfd: Value, words: &str| {
        let found = said(&with("b", bfd));
        assert!(
            found.len() == 2 && found[0].starts_with("link a - b: bfd: ") && found[0].contains(words),
            "{found:?}"
        );
        assert!(!found.concat().contains("other"), "{found:?}");
    };
    differ(json!(true), "md5 with key 1 at 'a' and none at 'b': their sessions do not come up");
    differ(
        key(json!({"kind": "meticulous-md5", "key": "secret"})),
        "at 'a' and meticulous-md5 with key 1 at 'b'",
    );
    differ(key(json!({"kind": "md5", "key": "secret", "key_id": 2})), "md5 with key 2 at 'b'");
    differ(key(json!({"kind": "md5", "key": "other"})), "'a' and 'b' do not have the same secret of the key");
    // Of two of which one does not watch the other that is said, and nothing of keys.
    let mut apart = with("b", json!(true));
    apart["nodes"]["b"]["ospf"]["bfd"] = json!(false);
    let found = said(&apart);
    let is_alone = |one: &String| one.contains("and 'b' does not have") && !one.contains("authentication");
    assert!(found.len() == 2 && found.iter().all(is_alone), "{found:?}");
    // It is so.
    let mut network = network(&with("b", key(json!({"kind": "md5", "key": "other"}))));
    network.run_until(Time(20 * S)).expect("a run");
    assert_eq!(count(&mut network, "bfd_sessions", "state", "up"), 4, "those by c");
}

/// Ends of LSPs, of a virtual link, neighbours of BGP, and routers of a segment.
#[test]
fn keys_that_differ_are_said_wherever_two_watch_each_other() {
    let own = json!({"authentication": {"kind": "sha1", "key": "x"}});
    let row = |more: &Value, lsps: Value| {
        let router = |name: &str| {
            let mut said = json!({"kind": "router", "ospf": true});
            said.as_object_mut()
                .expect("a mapping")
                .extend(more[name].as_object().cloned().unwrap_or_default());
            said
        };
        json!({
            "name": "row",
            "nodes": {"a": router("a"), "b": router("b"), "c": router("c")},
            "links": [link("a", "b", 1), link("b", "c", 1)],
            "lsps": lsps,
        })
    };
    let lsp = json!([{"name": "east", "from": "a", "to": "c", "bfd": true}]);
    let found = said(&row(&json!({"a": {"bfd": own}}), lsp.clone()));
    assert_eq!(
        found,
        [
            "lsp 'east': bfd: the authentication is sha1 with key 1 at 'a' and none at 'c': their sessions do not come \
          up"
        ]
    );
    assert_eq!(said(&row(&json!({"a": {"bfd": own}, "c": {"bfd": own}}), lsp)), [""; 0], "b has no session");
    let labels = json!({"a": {"bfd": own, "ldp": {"lsp_bfd": true}}, "b": {"ldp": true}, "c": {"ldp": true}});
    let found = said(&row(&labels, json!([])));
    assert!(
        found.len() == 2 && found[1].starts_with("node 'a': bfd") && found[1].contains("none at 'c'"),
        "{found:?}"
    );
    let peer = |far: &str| json!({"asn": 65000, "neighbors": {far: {"asn": 65000, "bfd": true}}});
    let far = json!({
        "a": {"bfd": own, "router_id": "192.0.2.1", "bgp": peer("192.0.2.3")},
        "c": {"router_id": "192.0.2.3", "bgp": peer("192.0.2.1")},
    });
    let found = said(&row(&far, json!([])));
    assert!(found.len() == 1 && found[0].contains("sha1 with key 1 at 'a' and none at 'c'"), "{found:?}");
    let on_lan = |bfd: &Value| json!({"kind": "router", "ospf": {"bfd": true}, "bfd": bfd});
    let lan = json!({
        "name": "lan",
        "nodes": {"a": on_lan(&own), "b": on_lan(&own), "c": on_lan(&json!(true)),
            "lan": {"kind": "bridge", "prefix": "10.3.0.0/24"}},
        "links": [{"endpoints": ["a", "lan"]}, {"endpoints": ["b", "lan"]}, {"endpoints": ["c", "lan"]}],
    });
    let found = said(&lan);
    assert!(found.len() == 2 && found.iter().all(|one| one.contains("none at 'c'")), "{found:?}");
}
