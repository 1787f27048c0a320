//! LSP ping and traceroute (RFC 8029) in a network: sound LSPs of RSVP-TE and LDP, and tables that say something else
//! than the control plane.

use base::Time;
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const S: u64 = 1_000_000_000_000;

/// Four routers in a row with OSPF and LDP, and two LSPs of RSVP-TE from the first to the last.
fn network(more: &Value) -> Testbed {
    network_of([1500; 3], more)
}

/// The same, where packets of these lengths fit on the links.
fn network_of(mtus: [u32; 3], more: &Value) -> Testbed {
    let mut router = json!({"kind": "router", "ospf": {"area": 0}, "ldp": true});
    router.as_object_mut().expect("a mapping").extend(more.as_object().cloned().unwrap_or_default());
    let link = |a: &str, b: &str, place: usize| {
        let (rate, delay, mtu) = ("1 Gbit/s", "1 ms", mtus[place]);
        json!({"endpoints": [a, b], "rate": rate, "delay": delay, "mtu": mtu, "reservable": rate})
    };
    let lsp = |name: &str| json!({"name": name, "from": "a", "to": "d", "bandwidth": "1 Mbit/s"});
    let described = json!({
        "name": "row",
        "nodes": {"a": router, "b": router, "c": router, "d": router},
        "links": [link("a", "b", 0), link("b", "c", 1), link("c", "d", 2)],
        "lsps": [lsp("gold"), lsp("other")],
    });
    let file = NetworkFile::read_part(&serde_json::from_value(described).expect("a value"));
    let mut network = Testbed::new(&file.expect("a description")).expect("a network");
    network.run_until(Time(60 * S)).expect("a run");
    network
}

/// Tests an LSP from the first router: the rows of the test.
fn test(network: &mut Testbed, asked: Value) -> Vec<Value> {
    let asked = serde_json::from_value(asked).expect("a value");
    let number = network.test_lsp(0, &asked).expect("a test");
    let until = Time(network.now().0 + 120 * S);
    while !network.is_lsp_tested(0, number) && network.now() < until {
        let next = Time(network.now().0 + S / 10);
        network.run_until(next).expect("a run");
    }
    let table = network.table_json("lsp_probes", Some(0)).expect("a table");
    let columns = table.as_object().expect("columns");
    let count = columns["number"].as_array().map_or(0, Vec::len);
    let row = |place: usize| -> Value {
        Value::Object(columns.iter().map(|(name, cells)| (name.clone(), cells[place].clone())).collect())
    };
    (0..count).map(row).filter(|row| row["number"] == number).collect()
}

/// Who replied, with which code at which depth.
fn codes(network: &Testbed, rows: &[Value]) -> Vec<(String, u64, u64)> {
    let name = |address: &Value| {
        let of = |node: &usize| json!(network.loopback(*node)) == *address;
        (0..4).find(of).map_or_else(|| address.to_string(), |node| "abcd"[node..=node].to_owned())
    };
    let number = |value: &Value| value.as_u64().unwrap_or(999);
    rows.iter().map(|row| (name(&row["from"]), number(&row["code"]), number(&row["depth"]))).collect()
}

fn hops(expected: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    expected.iter().map(|(name, code, depth)| ((*name).to_owned(), *code, *depth)).collect()
}

/// The labels by which the LSPs of a name come to and leave a router.
fn labels(network: &mut Testbed, node: usize, lsp: &str) -> (u32, Option<u32>) {
    let table = network.table_json("lsps", Some(node)).expect("a table");
    let names = table["name"].as_array().expect("names");
    let place = names.iter().position(|name| name.as_str().is_some_and(|name| name.starts_with(lsp)));
    let place = place.unwrap_or_else(|| panic!("{lsp} among {names:?}"));
    let label = |column: &str| table[column][place].as_u64().map(|label| label as u32);
    (label("in_label").expect("a label"), label("out_label"))
}

#[test]
fn sound_lsps_end_where_they_are_to() {
    let mut network = network(&json!({}));
    let rows = test(&mut network, json!({"to": "gold", "count": 3, "interval": "10 ms"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 3, 1); 3]));
    assert!(rows.iter().all(|row| row["delay_ps"].as_u64().is_some_and(|delay| delay > 6_000_000_000)));
    let rows = test(&mut network, json!({"to": "gold", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 8, 1), ("c", 8, 1), ("d", 3, 1)]));
    let at_b = labels(&mut network, 1, "gold");
    assert_eq!(rows[0]["labels"], json!([at_b.0]));
    assert_eq!(rows[0]["downstream_labels"], json!([at_b.1.expect("a label").to_string()]));
    assert_eq!(rows[2]["downstream"], json!([]), "who is the last says no way on");
    // Of LDP the last but one takes the label off.
    for to in ["d", "c", "b"] {
        let rows = test(&mut network, json!({"to": to}));
        assert_eq!(codes(&network, &rows), hops(&[(to, 3, 1)]));
    }
    let rows = test(&mut network, json!({"to": "d", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 8, 1), ("c", 8, 1), ("d", 3, 1)]));
    assert_eq!(rows[1]["downstream_labels"], json!(["3"]), "implicit null is told");
    let rows = test(&mut network, json!({"to": "d", "protocol": "any"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 3, 1)]));
}

/// a - b - c - d with OSPF in one AS, where a and d alone speak BGP with labels, and d tells a destination of each
/// family that it has itself. What carries packets from a to d is LDP, or an LSP of RSVP-TE.
fn core_of(carried_by: &str) -> Testbed {
    let families = json!(["ipv4-labelled", "ipv6-labelled"]);
    let neighbor = json!({"asn": 65000, "families": families, "advertisement_interval": "1 s"});
    let router = |place: u8| {
        let mut one = json!({
            "kind": "router", "router_id": format!("10.250.0.{place}"), "ospf": {"hello_interval": "1 s"},
        });
        if carried_by == "ldp" {
            one["ldp"] = json!(true);
        }
        let far = match place {
            1 => "10.250.0.4",
            4 => "10.250.0.1",
            _ => return one,
        };
        one["ipv6"] = json!(format!("2001:db8:fe::{place}"));
        one["bgp"] = json!({"asn": 65000, "neighbors": {far: neighbor}});
        one["bgp"]["networks"] = match place {
            4 => json!(["198.51.100.0/24", "2001:db8:b::/48"]),
            // Replies by IPv6 get back.
            _ => json!(["2001:db8:fe::1/128"]),
        };
        one
    };
    let link = |ends: [&str; 2]| {
        let rate = "1 Gbit/s";
        json!({"endpoints": ends, "rate": rate, "delay": "1 ms", "reservable": rate})
    };
    let lsp = |name: &str, from: &str, to: &str, carries: &str| json!({"name": name, "from": from, "to": to, "bandwidth": "1 Mbit/s", "carries": [carries]});
    // IPv6 gets back by an LSP, too.
    let lsps = [lsp("gold", "a", "d", "10.250.0.4/32"), lsp("back", "d", "a", "10.250.0.1/32")];
    let described = json!({
        "name": "core",
        "nodes": {"a": router(1), "b": router(2), "c": router(3), "d": router(4)},
        "links": [link(["a", "b"]), link(["b", "c"]), link(["c", "d"])],
        "lsps": if carried_by == "rsvp" { lsps.to_vec() } else { Vec::new() },
    });
    let file = NetworkFile::read_part(&serde_json::from_value(described).expect("a value"));
    let mut network = Testbed::new(&file.expect("a description")).expect("a network");
    network.run_until(Time(60 * S)).expect("a run");
    network
}

/// RFC 8029, 3.2: the stack of FECs has that of the LSP which carries a prefix of BGP above the prefix.
#[test]
fn prefixes_of_bgp_are_tested_below_what_carries_them() {
    for carried_by in ["ldp", "rsvp"] {
        let mut network = core_of(carried_by);
        for protocol in ["bgp", "any"] {
            let to = "198.51.100.0/24";
            let of = format!("{to} by {protocol} over {carried_by}");
            let rows = test(&mut network, json!({"to": to, "protocol": protocol}));
            let found = codes(&network, &rows);
            assert!(found.len() == 1 && found[0].0 == "d" && found[0].1 == 3, "{of}: {rows:?}");
            let rows = test(&mut network, json!({"to": to, "protocol": protocol, "trace": true}));
            let found: Vec<(String, u64)> =
                codes(&network, &rows).into_iter().map(|(who, code, _)| (who, code)).collect();
            let said = [("b", 8), ("c", 8), ("d", 3)].map(|(who, code)| (who.to_owned(), code));
            assert_eq!(found, said, "{of}: {rows:?}");
        }
        // IPv6 explicit null is the label of the other, which takes IPv6 alone: so requests are of IPv6, and so are
        // replies.
        for asked in [json!({"to": "2001:db8:b::/48"}), json!({"to": "2001:db8:b::/48", "protocol": "any"})] {
            let rows = test(&mut network, asked);
            assert_eq!(
                (&rows[0]["from"], &rows[0]["code"]),
                (&json!("2001:db8:fe::4"), &json!(3)),
                "{rows:?}"
            );
            assert_eq!(rows[0]["labels"].as_array().and_then(|all| all.last()), Some(&json!(2)), "{rows:?}");
        }
        // Core routers have no IPv6, and are passed by.
        let rows = test(&mut network, json!({"to": "2001:db8:b::/48", "trace": true, "wait": "500 ms"}));
        let outcomes: Vec<&str> = rows.iter().filter_map(|row| row["outcome"].as_str()).collect();
        assert_eq!(outcomes, ["silent", "silent", "answered"], "{rows:?}");
        assert_eq!(rows[2]["code"], 3);
        // By IPv6 one may ask of IPv4, too. It is lost where a router that knows none takes the last label off, as is
        // done for LDP here.
        let asked = json!({
            "to": "198.51.100.0/24", "protocol": "bgp", "destination": "::ffff:127.0.0.9", "wait": "500 ms",
        });
        let outcome = if carried_by == "ldp" { "silent" } else { "answered" };
        assert_eq!(test(&mut network, asked)[0]["outcome"], outcome);
        // A destination that the router at the end has not told.
        let rows = test(&mut network, json!({"to": "203.0.113.0/24", "protocol": "bgp"}));
        assert_eq!(rows[0]["outcome"], "no-way");
        let error = network.test_lsp(
            0,
            &serde_json::from_value(json!({"to": "2001:db8:b::/48", "protocol": "ldp"})).expect("a value"),
        );
        assert!(
            error.expect_err("no such LSP").to_string().contains("LDP gives labels for IPv4 prefixes only")
        );
    }
}

/// What the tables of a core router do with the label of the carrier is found although the prefix is of BGP.
#[test]
fn a_core_router_that_lies_is_found_below_a_prefix_of_bgp() {
    let mut network = core_of("ldp");
    let asked = json!({"to": "198.51.100.0/24", "protocol": "bgp"});
    let rows = test(&mut network, asked);
    let outer = rows[0]["labels"][0].as_u64().expect("a label") as u32;
    network.break_label(1, outer, Some(999_999)).expect("an entry");
    let rows = test(&mut network, json!({"to": "198.51.100.0/24", "protocol": "bgp", "trace": true}));
    assert_eq!(rows[1]["meaning"], "no label entry", "{rows:?}");
}

#[test]
fn another_label_in_a_table_is_found_where_it_is() {
    let mut network = network(&json!({}));
    let (gold, other) = (labels(&mut network, 1, "gold"), labels(&mut network, 1, "other"));
    // What belongs to one LSP goes on as the other: at the end it comes with a label that stands for another FEC.
    network.break_label(1, gold.0, other.1).expect("an entry");
    let rows = test(&mut network, json!({"to": "gold"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 10, 1)]), "not the label that it was given");
    let rows = test(&mut network, json!({"to": "gold", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 8, 1), ("c", 10, 1)]), "b sends it with that label");
    assert_eq!(rows[1]["meaning"], "mapping for the FEC is not the given label");
    let rows = test(&mut network, json!({"to": "other"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 3, 1)]));
    // A label that the next router does not know.
    network.break_label(1, gold.0, Some(999_999)).expect("an entry");
    let rows = test(&mut network, json!({"to": "gold", "wait": "500 ms"}));
    assert_eq!(rows[0]["outcome"], "silent", "the packet is dropped");
    let rows = test(&mut network, json!({"to": "gold", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 8, 1), ("c", 11, 1)]));
    // An entry that is missing.
    network.break_label(1, gold.0, None).expect("an entry");
    let rows = test(&mut network, json!({"to": "gold", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 11, 1)]));
}

#[test]
fn a_label_of_ldp_that_leads_to_another_router_is_found() {
    let mut network = network(&json!({}));
    let rows = test(&mut network, json!({"to": "d", "trace": true}));
    let to_d: u32 = rows[0]["downstream_labels"][0].as_str().expect("a label").parse().expect("a number");
    let in_c = test(&mut network, json!({"to": "c"}))[0]["labels"][0].as_u64().expect("a label") as u32;
    // Packets to c go on with the label to d: they come to d, which is not their end.
    network.break_label(1, in_c, Some(to_d)).expect("an entry");
    let rows = test(&mut network, json!({"to": "c"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 10, 1)]));
    let rows = test(&mut network, json!({"to": "c", "trace": true}));
    assert_eq!(codes(&network, &rows), hops(&[("b", 8, 1), ("c", 10, 1)]), "{rows:?}");
    let rows = test(&mut network, json!({"to": "d"}));
    assert_eq!(codes(&network, &rows), hops(&[("d", 3, 1)]));
}

#[test]
fn replies_as_they_are_asked_for() {
    let mut network = network(&json!({}));
    for (reply, outcome) in [("router-alert", "answered"), ("none", "unasked"), ("control-channel", "silent")]
    {
        let rows = test(&mut network, json!({"to": "gold", "reply": reply, "wait": "100 ms"}));
        assert_eq!(rows[0]["outcome"], outcome, "{reply}");
    }
    let rows = test(&mut network, json!({"to": "192.0.2.77", "wait": "100 ms"}));
    assert_eq!(rows[0]["outcome"], "no-way");
    let refused = |asked: Value| {
        let mut network = self::network(&json!({}));
        let asked = serde_json::from_value(asked).expect("a value");
        network.test_lsp(0, &asked).expect_err("a refusal").to_string()
    };
    assert_eq!(
        refused(json!({"to": "silver"})),
        "to: 'silver' is no address and no prefix, and neither a node nor an LSP has that name"
    );
    assert!(refused(json!({"to": "gold", "destination": "10.0.0.1"})).contains("127.0.0.0/8"));
}

/// RFC 8029, 3.5: a pad makes requests as long as what is tested. They are never cut, here or on the way.
#[test]
fn what_is_too_long_for_a_link_is_not_answered() {
    for mtus in [[1500; 3], [9216, 1500, 9216]] {
        let mut network = network_of(mtus, &json!({}));
        for (size, outcome) in [(1400, "answered"), (1496, "answered"), (1500, "silent"), (1600, "silent")] {
            let rows = test(&mut network, json!({"to": "gold", "size": size, "wait": "100 ms"}));
            assert_eq!(rows[0]["outcome"], outcome, "{size} bytes and a label, {mtus:?}");
        }
    }
    // Links of which nothing is said take as much.
    let mut network = network_of([9216; 3], &json!({}));
    let rows = test(&mut network, json!({"to": "gold", "size": 9212, "wait": "100 ms"}));
    assert_eq!(rows[0]["outcome"], "answered");
}

#[test]
fn a_router_that_does_not_answer_is_passed_by() {
    let mut network = network(&json!({"lspping": {"respond": false}}));
    let rows = test(&mut network, json!({"to": "gold", "trace": true, "hops": 5, "wait": "100 ms"}));
    assert!(rows.iter().all(|row| row["outcome"] == "silent") && rows.len() == 5, "{rows:?}");
    // One that answers few.
    let mut network = self::network(&json!({"lspping": {"rate": 2}}));
    let asked = json!({"to": "gold", "count": 10, "interval": "1 ms", "wait": "200 ms"});
    let answered = test(&mut network, asked).iter().filter(|row| row["outcome"] == "answered").count();
    assert_eq!(answered, 2);
}
