//! Groups of IPv6 over point-to-multipoint LSPs in whole networks: hosts say by MLD what they want, and packets of one
//! sender take the tree over routers between that have no IPv6.

use crate::common::named::{network, refusal};
use crate::common::{S, column, conserved};
use crate::ldp::{link, quick};
use base::{LinkId, Time};
use engine::{CaptureId, CaptureSpec, CaptureTarget, CaptureTo, Fault, FaultKind};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use twinplane_tester::Testbed;

const GROUP6: &str = "ff3e::1234";
const SENDER: &str = "2001:db8:1::2";

/// A link to a host, with IPv6 addresses of net `net`: the router's, and the host's.
fn edge(router: &str, host: &str, net: u8) -> Value {
    let mut link = link(router, host, 1);
    link["ipv6"] = json!([format!("2001:db8:{net}::1/64"), format!("2001:db8:{net}::2/64")]);
    link
}

/// A root with a sender; behind it p, which has no IPv6 and is no member's router; leaves l0 and l1 behind that, each
/// with a host that wants the group: h0 of all senders, h1 of one. Host h2 at l1 wants another group.
fn tree(protocol: &str) -> Value {
    let mut router =
        json!({"kind": "router", "mld": true, "ospf": {"hello_interval": "1 s", "dead_interval": "4 s"}});
    if protocol == "ldp" {
        router["ldp"] = quick();
    }
    let host = |net: u8, join: String| json!({"kind": "host", "address": format!("10.{net}.0.2/24"), "join": [join]});
    json!({
        "name": "six",
        "nodes": {
            "h0": host(2, GROUP6.into()), "h1": host(3, format!("{GROUP6} from {SENDER}")),
            "h2": host(4, "ff3e::99".into()), "l0": router, "l1": router, "p": router, "root": router,
            "s": {"kind": "host", "address": "10.1.0.2/24"},
        },
        "links": [
            edge("root", "s", 1), edge("l0", "h0", 2), edge("l1", "h1", 3), edge("l1", "h2", 4), link("root", "p", 1),
            link("p", "l0", 1), link("p", "l1", 1),
        ],
        "p2mp": [{"name": "tree", "root": "root", "leaves": ["l0", "l1"], "group": GROUP6, "protocol": protocol}],
        "flows": [{
            "name": "f", "from": "s", "to": "h0", "receivers": ["h1"], "group": GROUP6, "rate": "800 kbit/s",
            "size": 500, "start": "20 s", "stop": "21 s",
        }],
    })
}

fn capture(network: &mut Testbed, link: u32) -> CaptureId {
    let spec = CaptureSpec::new(CaptureTarget::Link(LinkId(link)), CaptureTo::Memory);
    network.world_mut().capture(spec).expect("a capture")
}

/// Rows of a table as texts of these columns.
fn rows(network: &mut Testbed, table: &str, columns: &[&str]) -> Vec<String> {
    let table = network.table_json(table, None).expect("a table");
    let columns: Vec<Vec<Value>> = columns.iter().map(|name| column(&table, name)).collect();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), String::from);
    let row = |place: usize| columns.iter().map(|all| text(&all[place])).collect::<Vec<_>>().join(" ");
    (0..columns.first().map_or(0, Vec::len)).map(row).collect()
}

/// What each receiver got, and how much of it twice.
fn received(network: &mut Testbed) -> BTreeMap<String, String> {
    let rows = rows(network, "receivers", &["node", "received", "duplicated"]);
    let split = |row: String| row.split_once(' ').map(|(node, rest)| (node.to_string(), rest.to_string()));
    rows.into_iter().filter_map(split).collect()
}

/// What tshark reads of frames that a filter lets through; nothing of it is malformed or a warning.
fn read(capture: &[u8], filter: &str, fields: &[&str]) -> BTreeSet<String> {
    let thread = std::thread::current().id();
    let path = std::env::temp_dir().join(format!("tester-mld-{}-{thread:?}.pcapng", std::process::id()));
    std::fs::write(&path, capture).expect("a file");
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&path).args(["-Y", filter, "-T", "fields"]);
    for field in ["_ws.malformed", "_ws.expert.severity"].iter().chain(fields) {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark");
    let _ = std::fs::remove_file(&path);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let rest = line.strip_prefix("\t\t");
        rest.unwrap_or_else(|| panic!("tshark has something against it: {line}")).to_string()
    };
    said.lines().map(line).collect()
}

#[test]
fn packets_of_ipv6_take_the_tree_to_those_who_listen() {
    for protocol in ["rsvp-te", "ldp"] {
        let mut network = network(&tree(protocol));
        let taps = [1, 4, 2].map(|link| capture(&mut network, link));
        network.run_until(Time(22 * S)).expect("a run");
        let got = received(&mut network);
        let all = rows(&mut network, "flow_accounts", &["sent", "lost", "unknown"]);
        assert_eq!(all, ["200 0 0"], "{protocol}");
        let twice = ["h0", "h1"].map(|host| got[host].as_str());
        assert_eq!(twice, ["200 0"; 2], "{protocol}: each gets each once");
        let groups = rows(&mut network, "mld_groups", &["node", "group", "mode", "sources", "querier"]);
        let expected = [
            format!("l0 {GROUP6} exclude null null"),
            format!("l1 {GROUP6} include {SENDER} null"),
            "l1 ff3e::99 exclude null null".to_string(),
        ];
        assert_eq!(groups, expected, "{protocol}");
        conserved(&mut network).expect("closed accounts");
        let [host, core, own] =
            taps.map(|tap| network.world_mut().finish_capture(tap).expect("a capture").bytes);
        if testing::available("tshark") {
            let fields = ["icmpv6.type", "ipv6.hlim", "ipv6.opt.router_alert", "ipv6.dst"];
            let mld = "icmpv6.type in {130, 131, 132, 143}";
            let spoken = read(&host, mld, &fields);
            assert_eq!(spoken, ["130\t1\t0\tff02::1", "143\t1\t0\tff02::16"].map(String::from).into());
            let fields = ["eth.dst", "ipv6.hlim"];
            let data = format!("ipv6.dst == {GROUP6}");
            assert_eq!(
                read(&own, &data, &fields),
                ["33:33:00:00:12:34\t252".to_string()].into(),
                "{protocol}"
            );
            let labelled = read(&core, &data, &["mpls.bottom"]);
            assert_eq!(labelled, ["1".to_string()].into(), "below one label");
        }
    }
}

/// The host's link goes down: nobody there is asked or served. It comes up, and the host says again what it wants.
#[test]
fn who_comes_back_says_again_what_it_wants() {
    let mut described = tree("rsvp-te");
    described["flows"][0]["stop"] = json!("30 s");
    let mut network = network(&described);
    let fault = FaultKind::LinkDown { link: LinkId(1) };
    network.fault(Fault::new(Time(22 * S), fault).until(Time(24 * S))).expect("a fault");
    network.run_until(Time(23 * S)).expect("a run");
    let groups = rows(&mut network, "mld_groups", &["node", "group"]);
    assert!(!groups.iter().any(|row| row.starts_with("l0")), "{groups:?}");
    network.run_until(Time(31 * S)).expect("a run");
    let got = received(&mut network);
    assert_eq!(got["h1"], "2000 0");
    let (first, _) = got["h0"].split_once(' ').expect("two numbers");
    let first: u64 = first.parse().expect("a number");
    assert!((1_590..=1_600).contains(&first), "200 a second but for two seconds: {first}");
}

#[test]
fn what_cannot_arrive_is_refused_by_name() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut described = tree("rsvp-te");
        change(&mut described);
        refusal(&described)
    };
    let deaf =
        with(&|described| drop(described["nodes"]["l0"].as_object_mut().map(|node| node.remove("mld"))));
    assert!(deaf.contains("router 'l0' does not hear that 'h0' wants ff3e::1234: it needs 'mld'"), "{deaf}");
    let four = with(&|described| drop(described["links"][1].as_object_mut().map(|link| link.remove("ipv6"))));
    assert!(four.contains("'h0' has no IPv6 address"), "{four}");
    let both = with(&|described| described["flows"][0]["family"] = json!("ipv4"));
    assert!(both.contains("ff3e::1234 is a group of the other family"), "{both}");
    let local = with(&|described| described["p2mp"][0]["group"] = json!("ff02::5"));
    assert!(local.contains("ff02::5 is no group that routers forward"), "{local}");
    let mixed = with(&|described| described["nodes"]["h0"]["join"] = json!(["ff3e::1 from 10.0.0.1"]));
    assert!(mixed.contains("a group beyond 224.0.0.255"), "{mixed}");
    let slow = with(&|described| described["nodes"]["l0"]["mld"] = json!({"response_interval": "125 s"}));
    assert!(slow.contains("response_interval=125 s has to be below query_interval=125 s"), "{slow}");
}
