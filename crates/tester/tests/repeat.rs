//! The same seed gives the same bytes: same digest, byte-identical capture, whatever ran before or beside it. Another
//! seed does not.

use crate::common::{MS, S, conserved, network, routers, run};
use base::Time;
use engine::{CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::{Value, json};
use twinplane_tester::Testbed;

/// Everything in it that draws random numbers: jittered refreshes, Poisson arrivals, faults on links, retries.
fn description(seed: u64) -> Value {
    let rsvp = json!({"refresh_ps": 300 * MS, "setup_timeout_ps": 500 * MS});
    let mut nodes = routers(4, &rsvp);
    let programme = json!([
        {"at_ps": 10 * MS, "action": "signal", "lsps": 1, "rate_per_s": 2_000.0},
        {"at_ps": 900 * MS, "action": "flap", "lsps": 1, "rate_per_s": 500.0},
    ]);
    nodes.push(json!({"name": "west", "kind": "edge", "rsvp": rsvp, "programme": programme}));
    nodes.push(json!({"name": "east", "kind": "edge", "rsvp": rsvp}));
    let link =
        |a: usize, b: usize, rate: u64| json!({"a": a, "b": b, "rate_bps": rate, "delay_ps": 50_000_000});
    let links: Vec<Value> = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (2, 5)]
        .map(|(a, b)| link(a, b, 1_000_000_000 + 7 * a as u64))
        .to_vec();
    json!({
        "seed": seed, "nodes": nodes, "links": links, "phases_ps": [0, S],
        "lsps": [
            {"name": "ring", "from": 0, "to": 2, "routes": [[1, 2], [3, 2]], "retry_first_ps": 50 * MS},
            {"name": "edge", "from": 4, "to": 5, "count": 40, "routes": [[0, 1, 2, 5]], "record_route": true},
        ],
        "flows": [
            {"name": "poisson", "from": 0, "to": 2, "over": 0, "rate_bps": 4_000_000, "size": 300, "arrivals": "poisson"},
            {"name": "constant", "from": 4, "to": 5, "over": 1, "rate_bps": 30_000_000, "size": 777, "start_ps": 100 * MS},
        ],
    })
}

/// A network with its faults, all of it to be captured or not.
fn prepared(seed: u64, capture: bool) -> (Testbed, Option<engine::CaptureId>) {
    let mut network = network(description(seed));
    let fault = |text: Value| serde_json::from_value(text).expect("a fault");
    for text in [
        json!({"at": 300 * MS, "until": 700 * MS, "fault": "loss", "link": 0, "probability": 0.2}),
        json!({"at": 350 * MS, "until": 800 * MS, "fault": "duplication", "link": 1, "probability": 0.2}),
        json!({"at": 400 * MS, "until": 900 * MS, "fault": "reordering", "link": 2, "probability": 0.2, "extra": 3_000_000_000u64}),
        json!({"at": 600 * MS, "until": 1_100 * MS, "fault": "corruption", "link": 4, "bit_error_rate": 1e-5}),
        json!({"at": 1_200 * MS, "until": 1_500 * MS, "fault": "link-down", "link": 1}),
    ] {
        network.fault(fault(text)).expect("a fault");
    }
    let spec = CaptureSpec::new(CaptureTarget::Everything, CaptureTo::Memory);
    let capture = capture.then(|| network.world_mut().capture(spec).expect("a capture"));
    (network, capture)
}

const END: u64 = 2 * S;

fn finish((mut network, capture): (Testbed, Option<engine::CaptureId>)) -> (String, Vec<u8>, String) {
    conserved(&mut network).expect("conservation");
    let tables: Vec<Value> = ["streams", "events", "ports", "messages", "lsp_log", "state"]
        .map(|name| network.table_json(name, None).expect("a table"))
        .to_vec();
    let digest = network.world().digest().to_string();
    let bytes = capture.map(|id| network.world_mut().finish_capture(id).expect("a capture").bytes);
    (digest, bytes.unwrap_or_default(), Value::Array(tables).to_string())
}

fn whole(seed: u64, capture: bool) -> (String, Vec<u8>, String) {
    let mut prepared = prepared(seed, capture);
    run(&mut prepared.0, END);
    finish(prepared)
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let first = whole(7, true);
    assert!(first.1.len() > 100_000, "a capture of {} bytes", first.1.len());
    let second = whole(7, true);
    assert_eq!(first.0, second.0, "digest");
    assert!(first.1 == second.1, "captures differ");
    assert_eq!(first.2, second.2, "tables");
}

#[test]
fn other_worlds_before_and_beside_change_nothing() {
    let alone = whole(7, true);
    whole(1_234, false);
    // Two of one seed and one of another, in turns of all lengths.
    let mut worlds = [prepared(7, true), prepared(99, true), prepared(7, true)];
    let mut at = 0;
    let mut step = 1;
    while at < END {
        at = (at + step).min(END);
        step = step * 3 % 77_777_777_777 + 1;
        for (network, _) in &mut worlds {
            run(network, at);
        }
    }
    let [same, other, again] = worlds.map(finish);
    assert_eq!(alone.0, same.0, "digest");
    assert!(alone.1 == same.1 && alone.1 == again.1, "captures differ");
    assert_eq!(alone.2, same.2, "tables");
    assert_ne!(alone.0, other.0, "two seeds, one digest");
}

#[test]
fn neither_captures_nor_threads_nor_small_steps_change_a_run() {
    let captured = whole(7, true);
    let beside: Vec<_> = (0..2).map(|_| std::thread::spawn(|| whole(7, false))).collect();
    let mut stepped = prepared(7, false);
    while stepped.0.world_mut().step(Time(END), 13).expect("no device fails") == engine::Progress::More {}
    let stepped = finish(stepped);
    for other in beside.into_iter().map(|thread| thread.join().expect("a run")).chain([stepped]) {
        assert_eq!(captured.0, other.0, "digest");
        assert_eq!(captured.2, other.2, "tables");
    }
}

#[test]
fn another_seed_gives_another_run() {
    let digests: Vec<String> = (0..4).map(|seed| whole(seed, false).0).collect();
    for (index, digest) in digests.iter().enumerate() {
        assert!(!digests[..index].contains(digest), "seed {index}");
    }
}
