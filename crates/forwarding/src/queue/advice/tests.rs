//! Trees that deserve a warning, each with the sentence that it gets.

use super::*;
use base::describe::{Value, lead};

/// The sentences that users read of a tree.
fn said(found: &[Diagnostic]) -> Vec<String> {
    found.iter().map(|one| format!("{}{}", lead(&Value::Null, one), one.words())).collect()
}

fn of(json: &str) -> Vec<String> {
    let spec: TreeSpec = crate::queue::testing::spec(&format!(r#"{{"root": {json}}}"#)).expect("a tree");
    said(&warnings(&spec))
}

#[test]
fn rates_that_do_not_add_up_say_by_how_much() {
    let json = r#"{"discipline": "cbq", "bandwidth": 100000000, "avpkt": 1000, "default": "de",
        "filters": [{"phb": ["EF"], "class": "ef"}, {"phb": ["AF11"], "class": "af1"}],
        "classes": {"all": {"rate": 2800000, "bounded": true}, "ef": {"parent": "all", "rate": 800000},
            "af1": {"parent": "all", "rate": 2000000}, "de": {"parent": "all", "rate": 1000000}}}"#;
    let expected = "class 'all': the rates of ef, af1 and de add up to 3.8 Mbit/s, 1 Mbit/s more than the 2.8 Mbit/s of 'all', which they are in";
    assert_eq!(of(json), [expected]);
    let around = Around { rate: Rate(2_000_000), ..Around::default() };
    let spec: TreeSpec = crate::queue::testing::spec(&format!(
        r#"{{"root": {}}}"#,
        json.replace("\"bandwidth\": 100000000, ", "")
    ))
    .expect("a tree");
    assert_eq!(
        said(&warnings_at(&spec, &around))[0],
        "the rate of all is 2.8 Mbit/s, 800 kbit/s more than the 2 Mbit/s of the port"
    );
}

#[test]
fn thresholds_and_bursts_are_looked_at() {
    let red = |min, max, limit| {
        of(&format!(
            r#"{{"discipline": "red", "limit": {limit}, "min": {min}, "max": {max}, "avpkt": 1000, "burst": 40}}"#
        ))
    };
    assert_eq!(red(30_000, 100_000, 120_000), [""; 0]);
    assert_eq!(
        red(5000, 100_000, 120_000),
        ["max=100000 is 20 times min=5000: two to three times are usual"]
    );
    assert_eq!(red(10_000, 15_000, 39_000).len(), 2);
    let tbf = r#"{"discipline": "tbf", "rate": 9, "burst": 500, "limit": 9000, "peakrate": 10, "mtu": 1600}"#;
    assert_eq!(
        of(tbf),
        ["burst=500 is less than the longest packet (1514 B): longer ones than that are dropped"]
    );
}

#[test]
fn classes_that_nothing_reaches_are_named() {
    let json = r#"{"discipline": "prio", "classes": {"a": {}, "b": {}, "c": {}},
        "filters": [{"dscp": [1, 2], "class": "b"}]}"#;
    assert_eq!(of(json), ["no packet gets to a: no filter leads there"]);
}

#[test]
fn ceilings_are_those_of_the_parent() {
    let json = r#"{"discipline": "htb", "default": "b", "classes": {"a": {"rate": 1000}, "b": {"parent": "a", "rate": 500, "ceil": 1500}}}"#;
    assert_eq!(
        of(json),
        ["class 'b': its ceiling of 1.5 kbit/s is above that of its parent, 1 kbit/s, which it can't exceed"]
    );
}

#[test]
fn rates_are_written_exactly() {
    for (bits, text) in [
        (999, "999 bit/s"),
        (1500, "1.5 kbit/s"),
        (1_000_001, "1.000001 Mbit/s"),
        (40_000_000_000, "40 Gbit/s"),
    ] {
        assert_eq!(super::words::Bits(bits).to_string(), text);
    }
}

fn around(json: &str, around: &Around) -> Vec<String> {
    said(&warnings_at(&crate::queue::testing::spec(json).expect("a tree"), around))
}

#[test]
fn the_longest_packet_counts_as_the_tree_has_it() {
    let tbf = |burst: u32, layer: &str| {
        format!(
            r#"{{"accounting": {{"layer": "{layer}"}}, "root": {{"discipline": "tbf", "rate": 9, "burst": {burst}, "limit": 99999}}}}"#
        )
    };
    let usual = Around::default();
    for (layer, bytes) in [("ip", 1500), ("network", 1500), ("link", 1514), ("frame", 1518), ("wire", 1538)] {
        assert_eq!(around(&tbf(bytes, layer), &usual), [""; 0], "{layer}");
        let said = around(&tbf(bytes - 1, layer), &usual);
        assert!(said.len() == 1 && said[0].contains(&format!("longest packet ({bytes} B): ")), "{said:?}");
    }
    let longest = Longest { bytes: 8982, labels: 1, whose: Some("flow 'big'".into()), ..Longest::default() };
    let big = Around { longest, ..Around::default() };
    assert_eq!(
        around(&tbf(1600, "link"), &big),
        [
            "burst=1600 is less than the longest packet (9000 B, of flow 'big'): longer ones than that are dropped"
        ]
    );
    assert_eq!(around(&tbf(8982, "ip"), &big), [""; 0]);
}

const DRR: &str = r#""discipline": "drr", "classes": {"a": {}, "b": {}}"#;

fn drr(filters: &str) -> Vec<String> {
    of(&format!("{{{DRR}, \"filters\": [{filters}]}}"))
}

#[test]
fn packets_that_no_filter_takes_are_told() {
    let (ef, rest) = (r#"{"phb": ["EF"], "class": "a"}"#, r#"{"class": "b"}"#);
    assert_eq!(drr(&format!("{ef}, {rest}")), [""; 0], "one takes all");
    assert_eq!(
        drr(&format!(r#"{ef}, {{"phb": ["AF11"], "class": "b"}}"#)),
        [
            "no filter takes ARP, RSVP, routing, best-effort IP, labelled packets and some others, and there is no default: they are dropped (no-class), so that neighbours are not found and LSPs do not come up: say in 'default' which class takes them"
        ]
    );
    // Every IP packet without a label: neither ARP nor what has labels.
    let all_ip = r#"{"src":"0.0.0.0/0", "labelled": false, "class": "b"}"#;
    let said = drr(&format!("{ef}, {all_ip}"));
    assert!(
        said.len() == 1
            && said[0].contains("takes ARP, labelled packets and some others,")
            && said[0].contains("so that neighbours are not found:"),
        "{said:?}"
    );
    // Default forwarding has ARP in it, and CS6 has RSVP.
    let said = drr(r#"{"phb": ["default"], "class": "a"}, {"phb": ["CS6"], "class": "b"}"#);
    assert!(
        said.len() == 1 && said[0].contains("no filter takes labelled packets and some others, "),
        "{said:?}"
    );
    // All of them together, in several filters.
    let both = r#"{"labelled": true, "class": "a"}, {"labelled": false, "class": "b"}"#;
    assert_eq!(drr(both), [""; 0]);
    let named = of(&format!(r#"{{{DRR}, "default": "b", "filters": [{ef}]}}"#));
    assert_eq!(named, [""; 0]);
}

#[test]
fn each_discipline_says_what_becomes_of_them() {
    let htb = of(
        r#"{"discipline": "htb", "classes": {"a": {"rate": 9}}, "filters": [{"dscp": [46], "class": "a"}]}"#,
    );
    assert!(htb[0].ends_with("no default: they leave before all classes, at the rate of the port: say in 'default' which class takes them"), "{htb:?}");
    let prio = of(
        r#"{"discipline": "prio", "classes": {"a": {}, "b": {}}, "filters": [{"dscp": [46], "class": "a"}]}"#,
    );
    assert_eq!(prio, [""; 0]);
    let red = r#""limit": 60000, "min": 10000, "max": 30000, "avpkt": 1000, "burst": 20"#;
    let gred = format!(
        r#"{{"discipline": "gred", "limit": 60000, "queues": [{{"name": "x", "phb": ["AF11"], {red}}}]}}"#
    );
    let said = of(&gred);
    assert!(said.len() == 1 && said[0].ends_with("say in 'default' which queue takes them"), "{said:?}");
    // In a class that gets nothing else nothing is left.
    let inside = format!(
        r#"{{"discipline": "prio", "classes": [{{"name": "af", "queue": {gred}}}, {{"name": "b"}}],
        "filters": [{{"phb": ["AF11"], "class": "af"}}]}}"#
    );
    assert_eq!(of(&inside), [""; 0]);
    let beside = inside.replace(r#"["AF11"], "class""#, r#"["AF11", "AF12"], "class""#);
    let said = of(&beside);
    assert!(said.len() == 1 && said[0].starts_with("class 'af': no filter takes "), "{said:?}");
}

#[test]
fn what_a_conditioner_writes_to_is_not_judged() {
    let with = |green: &str| {
        let json = format!(
            r#"{{"conditioner": {{"rules": [{{"name": "all", "green": {green}}}]}},
            "root": {{{DRR}, "filters": [{{"mark": 7, "class": "a"}}, {{"phb": ["EF"], "class": "b"}}]}}}}"#
        );
        around(&json, &Around { marks: Some(BTreeSet::new()), ..Around::default() })
    };
    assert_eq!(with(r#""mark 7""#), [""; 0]);
    let said = with(r#""pass""#);
    assert_eq!(said[0], "filter 1: it can match nothing: no conditioner puts mark 7 on packets");
    assert!(said.len() == 2 && said[1].contains("no filter takes ARP, "), "{said:?}");
}

#[test]
fn what_has_no_effect_is_told() {
    let htb = r#"{"root": {"discipline": "htb", "default": "a", "classes": {"a": {"rate": 1000000, "ceil": 2000000,
        "queue": {"discipline": "tbf", "rate": 60000000, "burst": 9000, "limit": 9000}}}}}"#;
    let port = |mbps| Around { rate: Rate::from_mbps(mbps), ..Around::default() };
    assert_eq!(
        around(htb, &port(10)),
        [
            "class 'a': ceil=2 Mbit/s means nothing: without a parent it never borrows, and has 1 Mbit/s",
            "class 'a': rate=60 Mbit/s is more than the 1 Mbit/s of class 'a', which it is in: it holds nothing back"
        ]
    );
    let tbf = r#"{"root": {"discipline": "tbf", "rate": 1000000, "burst": 9000, "queue":
        {"discipline": "htb", "default": "a", "classes": {"a": {"rate": 60000000}}}}}"#;
    assert_eq!(
        around(tbf, &port(10)),
        ["queue: the rate of a is 60 Mbit/s, 59 Mbit/s more than the 1 Mbit/s of the tbf that it is in"]
    );
    let fast = tbf.replace(": 1000000", ": 20000000").replace("60000000", "2000000");
    assert_eq!(
        around(&fast, &port(10)),
        ["rate=20 Mbit/s is more than the 10 Mbit/s of the port: it holds nothing back"]
    );
    let cbq = r#"{"root": {"discipline": "cbq", "bandwidth": 10000000, "avpkt": 1000, "default": "a",
        "classes": {"a": {"rate": 1000000}}}}"#;
    assert_eq!(around(cbq, &port(10)), [""; 0]);
    assert_eq!(
        around(cbq, &port(100)),
        ["bandwidth=10 Mbit/s is not the 100 Mbit/s of the port: idle times, and so rates, come out wrong"]
    );
    let odd = r#"{"accounting": {"layer": "ip", "overhead": -40}, "root": {"discipline": "pfifo"}}"#;
    assert_eq!(
        around(odd, &port(0)),
        ["accounting: with overhead=-40 packets of up to 41 B of IP count for 1 byte: give a 'minimum'"]
    );
}
