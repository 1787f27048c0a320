//! Queue disciplines and conditioners at the ends of links: what tables say of them, and what is refused.

use crate::common::{MS, S, chain, column, conserved, network, routers, said as words, sum};
use base::Time;
use proptest::prelude::*;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Two flows from one end of a chain of three routers to the other; the first router polices, its queue is the
/// bottleneck.
fn described() -> Value {
    let mut links = chain(3, 100_000_000, MS);
    links[0]["rate_bps"] = json!(10_000_000);
    links[0]["a_queue"] = json!({
        "accounting": {"layer": "ip"},
        "root": {
            "discipline": "prio",
            "classes": {
                "fast": {"queue": {"discipline": "bfifo", "limit": 20_000}},
                "slow": {"queue": {"discipline": "pfifo", "limit": 20}}},
            "filters": [{"phb": ["EF"], "class": "fast"}],
        },
    });
    links[1]["a_ingress"] = Value::Null;
    links[0]["b_ingress"] = json!({"accounting": {"layer": "ip"}, "rules": [
        {"name": "ef", "phb": ["EF"], "meter": {"kind": "token-bucket", "rate": 2_000_000, "burst": 10_000}},
        {"name": "rest", "green": "remark AF11"},
    ]});
    let flow = |name: &str, dscp: u8, rate: u64| {
        json!({"name": name, "from": 0, "to": 2, "rate_bps": rate, "size": 1_018, "rate_counts": "ip", "arrivals": "poisson",
               "dscp": dscp, "start_ps": 100 * MS, "stop_ps": S, "log": true})
    };
    json!({
        "seed": 3, "nodes": routers(3, &json!({})), "links": links, "queue_bin_ps": 10 * MS,
        "flows": [flow("ef", 46, 4_000_000), flow("be", 0, 8_000_000)],
    })
}

/// A row of a table as an object.
fn row(table: &Value, n: usize) -> Value {
    let columns = table.as_object().expect("columns").iter();
    columns.map(|(name, values)| (name.clone(), values[n].clone())).collect::<serde_json::Map<_, _>>().into()
}

#[test]
fn tables_tell_what_queues_and_conditioners_did() {
    let mut network = network(described());
    network.run_until(Time(2 * S)).expect("a run");
    conserved(&mut network).expect("conservation");
    let queues = network.table_json("queues", None).expect("a table");
    assert_eq!(column(&queues, "path"), ["root", "root/fast", "root/slow"]);
    let (root, fast, slow) = (row(&queues, 0), row(&queues, 1), row(&queues, 2));
    assert_eq!(
        (&root["node"], &root["link"], &root["discipline"]),
        (&json!("r0"), &json!(0), &json!("prio"))
    );
    let streams = network.table_json("streams", None).expect("a table");
    let sent: Vec<u64> = column(&streams, "sent").iter().filter_map(Value::as_u64).collect();
    assert_eq!(sum(&json!({"sent": column(&streams, "sent")}), "sent"), sent.iter().sum::<u64>());
    let given = |row: &Value| row["given_packets"].as_u64().expect("a number");
    assert!(given(&fast) >= sent.iter().min().copied().expect("flows") - 2, "{fast} {sent:?}");
    assert_eq!(slow["drops"]["buffer-full"], slow["dropped_packets"]);
    assert!(slow["dropped_packets"].as_u64() > Some(100) && fast["dropped_packets"] == 0, "{slow} {fast}");
    assert!(slow["mean_wait_s"].as_f64() > fast["mean_wait_s"].as_f64());
    assert_eq!(slow["backlog_packets_max"], 20);
    let series = network.table_json("queue_series", Some(0)).expect("a table");
    let most = |path: &str| {
        let rows = column(&series, "path").into_iter().zip(column(&series, "max_bytes"));
        rows.filter(|row| row.0 == path).filter_map(|row| row.1.as_u64()).max()
    };
    assert_eq!(most("root/slow"), slow["backlog_bytes_max"].as_u64());
    let conditioners = network.table_json("conditioners", None).expect("a table");
    let words = |name| {
        column(&conditioners, name).iter().map(|v| v.as_str().unwrap_or("-").to_string()).collect::<Vec<_>>()
    };
    assert_eq!(words("rule"), ["ef", "ef", "rest"]);
    assert_eq!(words("colour"), ["green", "red", "green"]);
    assert_eq!((words("where")[0].as_str(), words("action")[2].as_str()), ("ingress", "remark AF11"));
    let packets: Vec<u64> = column(&conditioners, "packets").iter().filter_map(Value::as_u64).collect();
    let bytes: Vec<u64> = column(&conditioners, "bytes").iter().filter_map(Value::as_u64).collect();
    // RFC 3290, A.1: what conforms is the rate over the time, and the bucket, at the most.
    assert!(bytes[0] as f64 <= 0.9 * 250_000.0 + 10_000.0 + 1_000.0 && bytes[0] > 200_000, "{bytes:?}");
    let received: u64 = sum(&streams, "received");
    // What was red was dropped.
    assert_eq!(packets[0] + packets[2], received);
    assert!(
        network.table_json("queues", Some(1)).expect("a table")["path"].as_array().is_some_and(Vec::is_empty)
    );
}

proptest! {
    #![proptest_config(testing::cases(10))]

    /// One more queue elsewhere changes nothing at this one, and a run in slices is the run in one go.
    #[test]
    fn queues_are_apart(seed in 0u64..1 << 48, slice in 1u64..300) {
        let red = |limit: u64| json!({"root": {
            "discipline": "red", "limit": limit, "min": 3_000, "max": 15_000, "avpkt": 1_000, "burst": 5,
            "probability": 0.2,
        }});
        let mut described = described();
        described["seed"] = json!(seed);
        described["links"][0]["a_queue"] = red(60_000);
        let first = |network: &mut Testbed| {
            let queues = network.table_json("queues", Some(0)).expect("a table");
            queues.to_string()
        };
        let mut plain = network(described.clone());
        plain.run_until(Time(S)).expect("a run");
        described["links"][1]["b_queue"] = red(30_000);
        described["links"][1]["a_queue"] = red(50_000);
        let mut more = network(described);
        let mut at = 0;
        while at < 1_000 {
            at = (at + slice).min(1_000);
            more.run_until(Time(at * MS)).expect("a run");
        }
        prop_assert_eq!(first(&mut plain), first(&mut more));
    }
}

#[test]
fn what_can_not_be_is_refused_in_one_sentence() {
    let cases: [(&str, Value, &str); 6] = [
        (
            "a_queue",
            json!({"root": {"discipline": "pfifo", "limit": 0}}),
            "queue at r0: limit: 0: it should be 1 to 4294967295",
        ),
        (
            "b_queue",
            json!({"root": {"discipline": "prio", "classes": {"a": {"queue": {"discipline": "bfifo", "limit": 0}}}}}),
            "queue at r1: class 'a': limit: 0: it is not above zero",
        ),
        (
            "a_ingress",
            json!({"rules": [{"name": "x"}, {"name": "x"}]}),
            "ingress at r0: rule 'x': name: another rule is called 'x'",
        ),
        (
            "a_queue",
            json!({"root": {"discipline": "lifo"}}),
            "queue at r0: discipline: 'lifo' is none of pfifo, ",
        ),
        (
            "a_queue",
            json!({"root": {"discipline": "pfifo", "limits": 3}}),
            "queue at r0: root: unknown field 'limits' (did you mean 'limit'?)",
        ),
        (
            "a_queue",
            json!({"conditioner": {"rules": [{"name": ""}]}, "root": {"discipline": "pfifo"}}),
            "queue at r0: conditioner: rule '': name: '' is not a name",
        ),
    ];
    for (key, value, expected) in cases {
        let mut described = described();
        described["links"][0][key] = value;
        let told = crate::common::refusal(&described);
        assert!(told.contains(expected), "expected '{expected}', was told '{told}'");
    }
    let mut described = described();
    described["nodes"][2] = json!({"name": "host", "kind": "host", "address": "10.0.0.2/24"});
    described["flows"] = json!([]);
    described["links"][1]["b_ingress"] = json!({"rules": [{"name": "all"}]});
    let told = crate::common::refusal(&described);
    assert_eq!(told, "link r1:l1 - host:l1: ingress: 'host' is of kind host: its ports are not ours");
}

#[test]
fn what_is_surprising_is_told_with_its_link_its_node_and_its_place() {
    let mut given = described();
    given["links"][0]["a_queue"] = json!({"root": {
        "discipline": "htb", "default": "rest", "filters": [{"phb": ["EF"], "class": "fast"}],
        "classes": {
            "fast": {"rate": 8_000_000, "burst": 100},
            "rest": {"rate": 4_000_000, "queue": {"discipline": "bfifo", "limit": 9_000}}},
    }});
    let said = words(&network(given).warnings());
    assert_eq!(
        said,
        [
            "link r0 - r1: queue at r0: the rates of fast and rest add up to 12 Mbit/s, 2 Mbit/s more than the 10 Mbit/s of the port",
            "link r0 - r1: queue at r0: class 'fast': burst=100 is less than the longest packet (1514 B): it is sent all the same, and waits for longer afterwards",
        ]
    );
}

#[test]
fn the_longest_packet_is_that_of_the_link_or_of_a_flow() {
    let tbf = |burst: u32| json!({"root": {"discipline": "tbf", "rate": 9_000_000, "burst": burst, "limit": 99_000}});
    let said = |mtu: u32, said: bool, burst: u32| {
        let mut given = described();
        given["links"][0]["a_queue"] = tbf(burst);
        given["links"][0]["mtu"] = json!(mtu);
        given["links"][0]["mtu_said"] = json!(said);
        given["links"][0].as_object_mut().expect("a link").remove("b_ingress");
        let said = words(&network(given).warnings());
        assert!(said.len() < 2, "{said:?}");
        said.into_iter().next().unwrap_or_default()
    };
    assert_eq!(said(9216, false, 1514), "", "nobody asked for so long ones");
    assert!(said(9216, true, 1600).contains("burst=1600 is less than the longest packet (9230 B): "));
    assert_eq!(said(9216, true, 9230), "");
    assert_eq!(said(600, false, 614), "");
    assert!(said(600, false, 613).contains("(614 B)"));
}

#[test]
fn packets_beyond_a_burst_are_told_once() {
    let mut given = described();
    given["links"][0]["a_queue"] =
        json!({"root": {"discipline": "tbf", "rate": 9_000_000, "burst": 100, "limit": 99_000}});
    let mut network = network(given);
    assert_eq!(words(&network.beyond_bursts()), [""; 0]);
    network.run_until(Time(S)).expect("it runs");
    let told = words(&network.beyond_bursts());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("link r0 - r1: queue at r0: "), "{told:?}");
    assert!(
        told[0].contains(" packets were dropped since they are longer than its bucket (beyond-burst)"),
        "{told:?}"
    );
    assert_eq!(words(&network.beyond_bursts()), [""; 0]);
}

#[test]
fn marks_that_nobody_puts_on_packets_are_told() {
    let mut given = described();
    given["links"][0].as_object_mut().expect("a link").remove("b_ingress");
    given["links"][0]["a_queue"] = json!({"root": {"discipline": "drr", "default": "x",
        "filters": [{"mark": 7, "class": "x"}], "classes": {"x": {}}}});
    let told = words(&network(given.clone()).warnings());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].ends_with("filter 1: it can match nothing: no conditioner puts mark 7 on packets"),
        "{told:?}"
    );
    given["links"][0]["a_ingress"] = json!({"rules": [{"name": "all", "green": "mark 7"}]});
    assert_eq!(words(&network(given.clone()).warnings()), [""; 0]);
    given["links"][0]["a_ingress"]["rules"][0]["mark"] = json!(9);
    let told = words(&network(given).warnings());
    assert!(
        told.len() == 1
            && told[0]
                .contains("ingress at r0: rule 1 'all': it can match nothing: no conditioner puts mark 9 "),
        "{told:?}"
    );
}
