//! OSPF with several keys in whole networks: one takes over from the other (RFC 2328, D.3).

use crate::common::named::{network, read};
use crate::common::{MS, S, column, sum};
use base::Time;
use control::ospf::Event;
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Key 1, which ends after so many seconds, and key 2 from then on. Each is taken 5 s longer than it is sent.
fn rolls(at: u64) -> Value {
    let text = |seconds: u64| format!("{seconds} s");
    json!({"keys": [
        {"key_id": 1, "kind": "md5", "key": "old", "stop_generate": text(at), "stop_accept": text(at + 5)},
        {"key_id": 2, "kind": "sha256", "key": "new", "start_accept": text(at - 5), "start_generate": text(at)},
    ]})
}

fn quick(authentication: &Value) -> Value {
    json!({"hello_interval": "1 s", "dead_interval": "4 s", "authentication": authentication})
}

/// Routers `a`, `b` and `c` in a row, with OSPF as given, and a packet from `a` to `c` each millisecond from 15 s on.
fn in_a_row(ospf: [Value; 3]) -> Value {
    let [a, b, c] = ospf.map(|ospf| json!({"kind": "router", "ospf": ospf}));
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "1 ms"});
    json!({
        "name": "row",
        "nodes": {"a": a, "b": b, "c": c},
        "links": [link("a", "b"), link("b", "c")],
        "flows": [{"name": "f", "from": "a", "to": "c", "rate": "4 Mbit/s", "size": 500, "start": "15 s"}],
    })
}

fn warnings(network: &Testbed) -> Vec<String> {
    network.warnings().iter().map(network::error::sentence).collect()
}

/// What OSPF has said: when, at which node.
fn told(network: &mut Testbed) -> Vec<(Time, u32, Event)> {
    let own =
        |record: &engine::EventRecord| Some((record.at, record.node.0, record.event.of::<Event>()?.clone()));
    network.events().iter().filter_map(own).collect()
}

fn lost(network: &mut Testbed) -> u64 {
    let table = network.table_json("flow_accounts", None).expect("a table");
    assert!(sum(&table, "received") > 1000, "{table}");
    sum(&table, "lost")
}

/// The keys of the interfaces that say something.
fn key_ids(network: &mut Testbed, table: &str) -> Vec<u64> {
    let table = network.table_json(table, None).expect("a table");
    column(&table, "key_id").iter().filter_map(Value::as_u64).collect()
}

/// Each router goes over in its own time, seconds before or after its neighbours.
#[test]
fn a_key_takes_over_and_no_neighbour_and_no_packet_is_lost() {
    let mut network = network(&in_a_row([20, 23, 19].map(|at| quick(&rolls(at)))));
    assert_eq!(warnings(&network), [""; 0]);
    network.run_until(Time(18 * S)).expect("a run");
    assert_eq!(key_ids(&mut network, "ospf_interfaces"), [1, 1, 1, 1]);
    network.run_until(Time(22 * S)).expect("a run");
    assert_eq!(key_ids(&mut network, "ospf_interfaces"), [2, 1, 1, 2], "each direction has its own");
    network.run_until(Time(60 * S)).expect("a run");
    assert_eq!((key_ids(&mut network, "ospf_interfaces"), lost(&mut network)), (vec![2, 2, 2, 2], 0));
    let told = told(&mut network);
    let went_over: Vec<_> =
        told.iter().filter(|one| matches!(one.2, Event::OspfKey { key_id: 2, .. })).collect();
    let at: Vec<_> = went_over.iter().map(|(at, node, _)| (at.0 / S, *node)).collect();
    assert_eq!(at, [(19, 2), (20, 0), (23, 1), (23, 1)]);
    let is_wrong = |event: &Event| {
        matches!(
            event,
            Event::OspfAdjacencyLost { .. } | Event::OspfRefused { .. } | Event::OspfLastKeyExpired { .. }
        )
    };
    assert!(!told.iter().any(|(_, _, event)| is_wrong(event)), "{told:?}");
}

/// `b` goes over when `a` does not take the old key any more: both are said before the run, and while it lasts.
#[test]
fn who_goes_over_too_late_is_named_and_lost_for_a_while() {
    let same = [rolls(20), rolls(40), rolls(40)];
    let mut network = network(&in_a_row(same.map(|keys| quick(&keys))));
    assert_eq!(
        warnings(&network)[..2],
        [
            "link a - b: ospf: 'a' sends by sha256 with key 2 from 20 s on, which 'b' does not take then: the two do \
             not stay neighbours",
            "link a - b: ospf: 'b' sends by md5 with key 1 from 25 s on, which 'a' does not take then: the two do not \
             stay neighbours",
        ]
    );
    network.run_until(Time(60 * S)).expect("a run");
    let told = told(&mut network);
    let why = |node: u32| {
        let refused = told.iter().filter_map(|(_, by, event)| match event {
            Event::OspfRefused { why, .. } if *by == node => Some(why.clone()),
            _ => None,
        });
        refused.collect::<Vec<_>>()
    };
    assert_eq!(why(1), ["its key is 2, which is taken here from 35 s on"]);
    assert_eq!(why(0), ["its key is 1, which was taken here until 25 s"]);
    // The last Hello of `a` that `b` takes comes at 19 s, or at 20 s if it was sent before the change.
    let at = |is_it: &dyn Fn(&Event) -> bool, node| {
        let found = told.iter().filter(|(_, by, event)| *by == node && is_it(event));
        found.map(|(at, ..)| at.0 / MS).collect::<Vec<_>>()
    };
    let is_lost = |event: &Event| matches!(event, Event::OspfAdjacencyLost { .. });
    let (lost_at, back) = (at(&is_lost, 1), at(&|event| matches!(event, Event::OspfAdjacent { .. }), 1));
    assert!(lost_at.len() == 1 && (23_000..24_100).contains(&lost_at[0]), "{lost_at:?}");
    assert!(back.len() == 3 && (40_000..42_000).contains(&back[2]), "{back:?}");
    assert!(lost(&mut network) > 10_000);
}

/// RFC 2328, D.3: it is said, and routing is not disrupted.
#[test]
fn the_last_key_is_used_on_when_its_time_is_over() {
    let ends = json!({"keys": [
        {"key_id": 7, "kind": "sha512", "key": "x", "stop_generate": "20 s", "stop_accept": "25 s"},
    ]});
    let mut network = network(&in_a_row([(); 3].map(|()| quick(&ends))));
    assert_eq!(warnings(&network), [""; 0]);
    network.run_until(Time(60 * S)).expect("a run");
    assert_eq!((key_ids(&mut network, "ospf_interfaces"), lost(&mut network)), (vec![7, 7, 7, 7], 0));
    let told = told(&mut network);
    let ended = told.iter().filter(|(at, _, event)| {
        *at == Time(20 * S) && matches!(event, Event::OspfLastKeyExpired { key_id: 7, .. })
    });
    assert_eq!(ended.count(), 4);
    let table = network.table_json("ospf_interfaces", None).expect("a table");
    let since: Vec<u64> = column(&table, "key_expired_ps").iter().filter_map(Value::as_u64).collect();
    assert_eq!(since, [20 * S; 4]);
}

#[test]
fn keys_of_a_virtual_link_take_over() {
    let joined = |towards: &str, keys: &Value| {
        json!({
            "hello_interval": "1 s",
            "interfaces": {towards: {"area": 1}},
            "virtual_links": [{"area": 1, "router": towards, "hello_interval": "1 s", "authentication": keys}],
        })
    };
    let outer = json!({"hello_interval": "1 s"});
    let border = |towards: &str, at: u64| json!({"kind": "router", "ospf": joined(towards, &rolls(at))});
    let link = |a: &str, b: &str| json!({"endpoints": [a, b], "rate": "1 Gbit/s", "delay": "1 ms"});
    let described = |late: u64| {
        json!({
            "name": "pieces",
            "nodes": {
                "a": {"kind": "router", "ospf": outer},
                "b": border("c", 50),
                "c": border("b", late),
                "d": {"kind": "router", "ospf": outer},
            },
            "links": [link("a", "b"), link("b", "c"), link("c", "d")],
            "flows": [{"name": "f", "from": "a", "to": "d", "rate": "4 Mbit/s", "size": 500, "start": "40 s"}],
        })
    };
    let said = warnings(&network(&described(60)));
    assert!(
        said[0].contains("'b' sends by sha256 with key 2 from 50 s on, which 'c' does not take then"),
        "{said:?}"
    );
    let mut network = network(&described(52));
    assert_eq!(warnings(&network), [""; 0]);
    network.run_until(Time(90 * S)).expect("a run");
    assert_eq!((key_ids(&mut network, "ospf_virtual_links"), lost(&mut network)), (vec![2, 2], 0));
    let told = told(&mut network);
    let went_over = |event: &Event| matches!(event, Event::OspfVirtualKey { key_id: 2, .. });
    let at: Vec<_> =
        told.iter().filter(|one| went_over(&one.2)).map(|(at, node, _)| (at.0 / S, *node)).collect();
    assert_eq!(at, [(50, 1), (52, 2)]);
    assert!(!told.iter().any(|one| matches!(one.2, Event::OspfVirtualAdjacencyLost { .. })), "{told:?}");
}

#[test]
fn one_key_and_a_list_meet_if_the_list_has_it() {
    let one = json!({"kind": "md5", "key": "old"});
    let alone = json!({"keys": [{"key_id": 1, "kind": "md5", "key": "old"}]});
    let said = |ospf: [&Value; 3]| warnings(&network(&in_a_row(ospf.map(quick))));
    assert_eq!(said([&one, &alone, &one]), [""; 0]);
    let wrong = said([&one, &rolls(20), &rolls(20)]);
    assert!(
        wrong[0].contains("'a' sends by md5 with key 1 from 25 s on, which 'b' does not take then"),
        "{wrong:?}"
    );
    let mut other = rolls(20);
    other["keys"][1]["key"] = json!("another");
    let wrong = said([&rolls(20), &other, &other]);
    assert!(
        wrong[0].contains("sends by sha256 with key 2 from 20 s on, of which 'b' has another secret"),
        "{wrong:?}"
    );
    assert!(!wrong.concat().contains("another\""), "{wrong:?}");
    let wrong = said([&json!(null), &rolls(20), &rolls(20)]);
    assert!(
        wrong[0].contains("is none at 'a' and md5 with key 1, then sha256 with key 2 at 'b'"),
        "{wrong:?}"
    );
}

#[test]
fn wrong_lists_of_keys_are_one_sentence() {
    let key = |key_id: u8, more: Value| {
        let mut said = json!({"key_id": key_id, "kind": "md5", "key": "x"});
        more.as_object().into_iter().flatten().for_each(|(key, value)| said[key] = value.clone());
        said
    };
    for (keys, words) in [
        (json!([key(1, json!({"start_generate": "1 s"}))]), "no key is there to send with at 0 s"),
        (
            json!([key(1, json!({"stop_generate": "9 s"})), key(2, json!({"start_generate": "10 s"}))]),
            "no key is there to send with from 9 s on: the 'start_generate' of the next key has to be 9 s or earlier",
        ),
        (json!([key(1, json!(null)), key(1, json!(null))]), "key 1 stands in the list already"),
        (json!([key(1, json!({"kind": "simple"}))]), "kind=simple has no numbered keys"),
        (
            json!([key(1, json!({"stop_generate": "9 s", "stop_accept": "8 s"}))]),
            "stop_accept=8 s is too early beside stop_generate=9 s",
        ),
        (
            json!([key(1, json!({"start_accept": "3 s", "start_generate": "2 s"}))]),
            "start_generate=2 s is too early beside start_accept=3 s",
        ),
    ] {
        let said = read(&in_a_row([(); 3].map(|()| quick(&json!({"keys": keys}))))).map(|_| ());
        let said = said.expect_err("a refusal");
        assert!(said.contains(words), "{keys}: {said}");
    }
    let both = json!({"kind": "md5", "key": "x", "keys": [key(1, json!(null))]});
    let said = read(&in_a_row([(); 3].map(|()| quick(&both)))).map(|_| ()).expect_err("a refusal");
    assert!(said.contains("'kind' and 'keys' are both there"), "{said}");
}
