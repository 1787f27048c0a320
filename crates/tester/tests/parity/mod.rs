//! Parity: the same network under the same programme comes to the same LSPs, labels, messages, losses and drops,
//! whichever clock runs it, and whether its parts are one process or joined by external ports. Only times may differ.
//!
//! Refreshes are far apart, so that every message is one that something happening asks for.

mod facts;
mod run;

use run::{Ground, Run};
use serde_json::{Value, json};

const MS: u64 = 1_000_000_000;
/// Nodes of the first half; the others are in the second.
const FIRST: &[&str] = &["in", "r0", "r3", "left"];

/// Two edges, two hosts and a square of routers, whose lower side is the way round:
///
/// ```text
/// left                     right
///    \                    /
/// in - r0 --- r1 --- r2 - out
///       \           /
///        --- r3 ---
/// ```
fn square(rsvp: &Value) -> Value {
    let router = |name: &str| json!({"name": name, "kind": "router", "rsvp": rsvp, "log_signals": 100_000});
    let edge = |name: &str, programme: Value| json!({"name": name, "kind": "edge", "rsvp": rsvp, "log_signals": 100_000, "programme": programme});
    let signal = json!([{"at_ps": 10 * MS, "action": "signal", "lsps": 0, "rate_per_s": 500.0}]);
    let link = |(a, b): (usize, usize)| json!({"a": a, "b": b, "rate_bps": 100_000_000, "delay_ps": MS / 10});
    let links = [(0, 1), (1, 2), (2, 3), (1, 4), (4, 3), (3, 5), (6, 1), (3, 7)].map(link);
    json!({
        "seed": 11,
        "nodes": [
            edge("in", signal), router("r0"), router("r1"), router("r2"), router("r3"), edge("out", json!([])),
            {"name": "left", "kind": "host", "address": "10.1.0.2/24"},
            {"name": "right", "kind": "host", "address": "10.2.0.2/24"},
        ],
        "links": links,
        "lsps": [
            {"name": "group", "from": 0, "to": 5, "count": 4, "routes": [[1, 2, 3, 5]], "retry_limit": 0},
            {"name": "gold", "from": 1, "to": 3, "routes": [[2, 3], [4, 3]], "bandwidth_bps": 10_000_000,
             "retry_first_ps": 50 * MS, "carries": ["10.2.0.0/24"], "auto": false},
            {"name": "back", "from": 3, "to": 1, "routes": [[4, 1]], "carries": ["10.1.0.0/24"], "auto": false},
        ],
    })
}

const GROUP: usize = 0;
const GOLD: usize = 1;
const BACK: usize = 2;
/// Link from r0 to r1: in halves it leads from one to the other.
const BETWEEN: usize = 1;
/// Link from r1 to r2, within the second half.
const WITHIN: usize = 2;

fn up(facts: &facts::Facts) -> usize {
    facts.lsps.values().filter(|row| row[0] == "up").count()
}

/// One programme, told in steps; gives the facts after each.
fn programme(ground: Ground, rsvp: &Value) -> Vec<(&'static str, facts::Facts)> {
    let mut run = Run::new(ground, &square(rsvp), FIRST);
    let mut facts = Vec::new();
    let over_group =
        json!({"name": "over", "from": 0, "to": 5, "over": GROUP, "rate_bps": 4_000_000, "size": 200});
    let between_hosts = json!({"name": "hosts", "from": 6, "to": 7, "rate_bps": 4_000_000, "size": 300});
    let to_host = json!({"name": "probe", "from": 4, "to": 7, "rate_bps": 4_000_000, "size": 100});

    // One after the other, since labels are given in the order in which they are asked for.
    run.until("the group is up", |facts| up(facts) == 4);
    for (group, count) in [(GOLD, 5), (BACK, 6)] {
        run.tell(group, "signal", None);
        run.until("all LSPs are up", |facts| up(facts) == count);
    }
    facts.push(("set up", run.until_quiet()));
    run.send(&over_group, 100);
    run.send(&to_host, 50);
    // The first packets of a host wait for the address of its gateway.
    facts.push(("undisturbed", run.send(&between_hosts, 100)));

    for (step, link, fault) in [
        ("loss within", WITHIN, json!({"fault": "loss", "probability": 0.3, "direction": "forth"})),
        ("loss between", BETWEEN, json!({"fault": "loss", "probability": 0.3, "direction": "forth"})),
        ("duplication", BETWEEN, json!({"fault": "duplication", "probability": 0.5, "direction": "forth"})),
        ("corruption", WITHIN, json!({"fault": "corruption", "bit_error_rate": 1e-4, "direction": "forth"})),
    ] {
        run.fault(link, &fault);
        facts.push((step, run.send(&over_group, 200)));
        run.heal();
    }

    run.set_link(BETWEEN, false);
    run.until("the protected LSP goes round", |facts| {
        up(facts) >= 2 && facts.lsps[&key(GOLD)][0] == "up" && facts.lsps[&key(GOLD)][1] != "1"
    });
    facts.push(("cut", run.until_quiet()));
    facts.push(("round the cut", run.send(&between_hosts, 100)));
    run.set_link(BETWEEN, true);
    // They gave up; what is torn down begins anew.
    run.tell(GROUP, "tear", None);
    run.until_quiet();
    run.tell(GROUP, "signal", None);
    run.until("all LSPs are back", |facts| up(facts) == 6);
    facts.push(("mended", run.until_quiet()));

    let id = |facts: &facts::Facts| facts.lsps[&key(GOLD)][1].clone();
    let round = id(&run.facts());
    run.tell(GOLD, "route", Some(json!([2, 3])));
    // Which label counts a packet depends on when the LSP changes: none is sent before it has.
    run.until("the LSP is the one along the short way", |facts| id(facts) != round);
    run.until_quiet();
    run.send(&between_hosts, 100);
    // The old LSP stays for a while, so that what is on its way arrives.
    run.until("the LSP round the cut is torn down", |facts| {
        let mut between = facts.messages.iter().filter(|(key, _)| key[..3] == ["r0", "r3", "tx"]);
        between.any(|(_, messages)| messages.iter().any(|kind| kind == "PathTear"))
    });
    facts.push(("moved", run.until_quiet()));
    run.tell(GROUP, "tear", None);
    run.until("the group is gone", |facts| up(facts) == 2);
    facts.push(("torn down", run.send(&over_group, 50)));
    run.tell(GROUP, "signal", None);
    run.until("the group is back", |facts| up(facts) == 6);
    facts.push(("signalled again", run.send(&over_group, 100)));
    for group in 0..3 {
        run.tell(group, "tear", None);
    }
    run.until("nothing is up", |facts| up(facts) == 0);
    facts.push(("nothing", run.until_quiet()));
    for state in run.left() {
        for column in ["lsps", "sessions", "tunnels", "labels", "reserved_bps", "ilm", "ftn"] {
            let sum: u64 = state[column].as_array().expect("a column").iter().filter_map(Value::as_u64).sum();
            assert_eq!(sum, 0, "{ground:?}: {column}");
        }
    }
    facts
}

fn key(group: usize) -> Vec<String> {
    vec![group.to_string(), "0".to_string()]
}

fn same_on_both_clocks(rsvp: &Value) {
    let expected = programme(Ground::Virtual, rsvp);
    let lost = |at: usize| expected[at].1.streams.values().map(|counts| counts[0] - counts[1]).sum::<u64>();
    assert!(lost(1) == 0 && lost(2) > 20 && lost(3) > lost(2), "the programme has something to tell");
    for ground in [Ground::Wall, Ground::Halves] {
        let found = programme(ground, rsvp);
        for ((step, expected), (_, found)) in expected.iter().zip(&found) {
            found.assert_same(expected, &format!("{ground:?}, {step}"));
        }
    }
}

#[test]
fn plain_rsvp() {
    same_on_both_clocks(&json!({}));
}

#[test]
fn penultimate_hops_pop() {
    same_on_both_clocks(&json!({"egress_label": "implicit-null", "ttl": "short-pipe"}));
}
