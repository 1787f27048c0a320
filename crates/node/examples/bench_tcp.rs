//! TCP of two routers in virtual time: connections begun each second, bytes carried each second, and what a segment
//! costs with 10 to 10,000 connections beside each other.
//!
//! A protocol of one router opens the connections to the other over a link of 1 Gbit/s and 1 ms, and sends the same
//! number of bytes in all, whatever the number of connections. `--megabytes N`: how many. One line of JSON; times are
//! those of the processor, which other work on the machine does not change.

#[allow(dead_code, reason = "the protocol of the tests, of which this uses a part")]
#[path = "../tests/sessions/talk.rs"]
mod talk;

use base::Time;
use control::services::sessions::Connect;
use serde_json::{Map, Value, json};
use talk::{MS, PORT, Role, S, SMALL, address, chain, connect, rows, talk};

/// How many connections there are beside each other.
const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];

/// Seconds that this process has had of the processor.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse::<u64>().ok()).unwrap_or(0) as f64 / 1e9
}

/// What a run took.
struct Cost {
    seconds: f64,
    segments: u64,
}

/// Opens `count` connections, ten each millisecond, and sends `bytes` over each.
fn run(count: usize, bytes: usize) -> Cost {
    let connect = Connect { options: SMALL, ..connect(address(1, 0)) };
    let connects = (0..count).map(|n| (Time(n as u64 * MS / 10), connect)).collect();
    let client = Role { connects, sends: bytes, message: 500, closes: false, ..Role::default() };
    let server =
        Role { listens: Some(PORT), accepts: Some(SMALL), message: 500, closes: false, ..Role::default() };
    let mut world = chain(1, vec![Some(client), Some(server)]);
    let before = processor_seconds();
    let done = |world: &engine::World| {
        let heard = &talk(world, 1).sessions;
        heard.len() == count && heard.values().all(|heard| heard.received == bytes && heard.right)
    };
    let mut until = Time(0);
    while !done(&world) {
        until = Time(until.0 + S / 2);
        world.run_until(until).expect("a run");
        assert!(until < Time(600 * S), "{count} connections: not all bytes have come");
    }
    let seconds = processor_seconds() - before;
    let sent = |node| rows(&world, node).iter().map(|row| row.counters.segments_sent).sum::<u64>();
    Cost { seconds, segments: sent(0) + sent(1) }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let place = arguments.iter().position(|argument| argument == "--megabytes");
    let megabytes = place.and_then(|place| arguments.get(place + 1)?.parse().ok()).unwrap_or(20usize);
    let most = COUNTS[COUNTS.len() - 1];
    let begun = run(most, 0);
    let mut figures = Map::new();
    figures.insert("connections_per_s".into(), json!((most as f64 / begun.seconds).round()));
    for count in COUNTS {
        let bytes = megabytes * 1_000_000 / count / 500 * 500;
        let cost = run(count, bytes);
        let ns = cost.seconds * 1e9 / cost.segments as f64;
        figures.insert(format!("segments_{count}"), json!(cost.segments));
        figures.insert(format!("ns_per_segment_{count}"), json!(ns.round()));
        let rate = (bytes * count) as f64 / cost.seconds / 1e6;
        figures.insert(format!("mbytes_per_s_{count}"), json!((rate * 10.0).round() / 10.0));
    }
    println!("{}", Value::Object(figures));
}
