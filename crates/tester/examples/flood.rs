//! Floods a router with frames that no router should get, and says what became of them.
//!
//! `cargo run --release -p twinplane-tester --example flood -- [--count 10000000] [--seed 1]`
//!
//! In virtual time: a router in a network that signals and forwards all the while. Prints one JSON line for each tenth of the
//! flood and one at the end; exit code 1 if a frame is not accounted for, traffic is lost, or an LSP goes down.

use serde_json::{Value, json};
use std::process::ExitCode;
use std::time::Instant;
use twinplane_tester::flood::siege::{Report, Siege};

struct Options {
    count: u64,
    seed: u64,
}

fn options() -> Result<Options, String> {
    let mut options = Options { count: 10_000_000, seed: 1 };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let value =
            args.next().and_then(|v| v.parse().ok()).ok_or_else(|| format!("{name} needs a number"))?;
        match name.as_str() {
            "--count" => options.count = value,
            "--seed" => options.seed = value,
            _ => return Err(format!("{name}: the options are --count and --seed")),
        }
    }
    Ok(options)
}

/// Resident memory of this process in MiB.
fn resident_mb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().split(' ').next()?.parse::<u64>().ok()? / 1024)
}

fn line(report: &Report) -> Value {
    let drops: serde_json::Map<String, Value> =
        report.balance.dropped.iter().map(|(reason, count)| (format!("{reason:?}"), json!(count))).collect();
    let (neighbors, waiting, lsps, messages) = report.held;
    json!({
        "sent": report.sent, "received": report.received, "balanced": report.is_balanced(),
        "forwarded": report.balance.forwarded, "delivered": report.balance.delivered, "waiting": report.balance.waiting,
        "dropped": drops, "own_drops": report.own_drops,
        "traffic": {"sent": report.traffic.0, "received": report.traffic.1, "lost": report.traffic_lost()},
        "lsps_up": report.lsps.0, "lsps": report.lsps.1, "moved": report.moved, "down": report.down,
        "held": {"neighbors": neighbors, "frames": waiting, "lsps": lsps, "messages": messages},
        "resident_mb": resident_mb(),
    })
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options).map_err(|error| error.to_string())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("flood: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> Result<bool, twinplane_tester::network::NetworkError> {
    let mut siege = Siege::new(options.seed)?;
    let begin = Instant::now();
    for _ in 0..10 {
        siege.run(options.count / 10)?;
        println!("{}", line(&siege.report()?));
    }
    let seconds = begin.elapsed().as_secs_f64();
    siege.settle()?;
    let report = siege.report()?;
    let mut last = line(&report);
    last["frames_per_s"] = json!((report.sent as f64 / seconds).round());
    last["kinds"] = siege.flood().counts().map(|(kind, n)| (format!("{kind:?}"), json!(n))).collect();
    println!("{last}");
    let lost = report.traffic_lost() > 0 || report.down > 0 || report.lsps.0 < report.lsps.1;
    Ok(report.is_balanced() && report.received == report.sent && !lost)
}
