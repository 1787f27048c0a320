//! Floods a router with frames that no router should get, and says what became of them.
//!
//! In virtual time, a router in a network that signals and forwards all the while. Prints one JSON line for each tenth
//! of the flood and one at the end; exit code 1 if a frame is not accounted for, traffic is lost, or an LSP goes down:
//!
//! `cargo run --release -p twinplane-tester --example flood -- [--count 10000000] [--seed 1]`
//!
//! By an interface, at whatever router is beyond it. Prints one JSON line with what was sent; what became of it is for
//! the router to say:
//!
//! `... --example flood -- --interface e0 [--netns PATH] --mac ROUTER --address ROUTER --neighbor US [--beyond
//! ADDRESS]... [--rate N]`

use base::{Frame, MacAddr};
use core::net::Ipv4Addr;
use engine::external::{ExternalSpec, open};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use twinplane_tester::flood::siege::{Report, Siege};
use twinplane_tester::flood::{Flood, Target, corpus};

/// Frames handed to the interface at once.
const BATCH: usize = 64;
/// The shortest frame that a kernel takes: an Ethernet header.
const SHORTEST: usize = 14;
/// The longest that is made for an interface: more than most take.
const LONGEST: usize = 9_014;

struct Options {
    count: u64,
    seed: u64,
    interface: Option<String>,
    netns: Option<PathBuf>,
    mac: Option<MacAddr>,
    address: Option<Ipv4Addr>,
    neighbor: Option<Ipv4Addr>,
    beyond: Vec<Ipv4Addr>,
    /// Frames each second; as many as the interface takes if absent.
    rate: Option<u64>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        count: 10_000_000,
        seed: 1,
        interface: None,
        netns: None,
        mac: None,
        address: None,
        neighbor: None,
        beyond: Vec::new(),
        rate: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(name) = args.next() {
        let text = args.next().ok_or_else(|| format!("{name} needs a value"))?;
        let wrong = || format!("{name} {text}: not what it needs");
        let number = || text.parse::<u64>().map_err(|_| wrong());
        let address = || text.parse::<Ipv4Addr>().map_err(|_| wrong());
        match name.as_str() {
            "--count" => options.count = number()?,
            "--seed" => options.seed = number()?,
            "--rate" => options.rate = Some(number()?.max(1)),
            "--interface" => options.interface = Some(text),
            "--netns" => options.netns = Some(text.into()),
            "--mac" => options.mac = Some(text.parse().map_err(|_| wrong())?),
            "--address" => options.address = Some(address()?),
            "--neighbor" => options.neighbor = Some(address()?),
            "--beyond" => options.beyond.push(address()?),
            _ => return Err(format!("{name}: there is no such option")),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    let done = options().and_then(|options| match &options.interface {
        Some(interface) => by_interface(&options, interface).map(|()| true),
        None => in_virtual_time(&options).map_err(|error| error.to_string()),
    });
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("flood: {message}");
            ExitCode::from(2)
        }
    }
}

fn kinds(flood: &Flood) -> Value {
    flood.counts().map(|(kind, n)| (format!("{kind:?}"), json!(n))).collect()
}

fn by_interface(options: &Options, interface: &str) -> Result<(), String> {
    let missing = |name: &str| format!("--interface needs {name} too");
    let target = Target {
        mac: options.mac.ok_or_else(|| missing("--mac"))?,
        address: options.address.ok_or_else(|| missing("--address"))?,
        neighbor: options.neighbor.ok_or_else(|| missing("--neighbor"))?,
        beyond: options.beyond.clone(),
        lengths: (SHORTEST, LONGEST),
    };
    let spec = ExternalSpec { netns: options.netns.clone(), ..ExternalSpec::new(interface) };
    let mut port = open(&spec).map_err(|error| error.to_string())?;
    let mut flood = Flood::new(options.seed, target, corpus::frames());
    let mut batch = VecDeque::new();
    let (begin, mut made) = (Instant::now(), 0);
    while made < options.count || !batch.is_empty() {
        while batch.len() < BATCH && made < options.count {
            batch.push_back(Frame::from_bytes(flood.next_frame().1));
            made += 1;
        }
        if port.send(&mut batch).map_err(|error| error.to_string())? == 0 {
            std::thread::sleep(Duration::from_micros(50));
        }
        if let Some(rate) = options.rate {
            let due = Duration::from_secs_f64(made as f64 / rate as f64);
            std::thread::sleep(due.saturating_sub(begin.elapsed()));
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    let counters = port.counters();
    let line = json!({
        "made": made, "sent": counters.tx_frames, "too_long": counters.tx_too_long, "refused": counters.tx_errors,
        "dropped": counters.tx_dropped, "seconds": seconds, "frames_per_s": (made as f64 / seconds).round(), "kinds": kinds(&flood),
    });
    println!("{line}");
    Ok(())
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

fn in_virtual_time(options: &Options) -> Result<bool, network::NetworkError> {
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
    last["kinds"] = kinds(siege.flood());
    println!("{last}");
    let lost = report.traffic_lost() > 0 || report.down > 0 || report.lsps.0 < report.lsps.1;
    Ok(report.is_balanced() && report.received == report.sent && !lost)
}
