//! Sends labelled packets at a constant rate out of an interface by the clock on the wall, for somebody else to measure
//! how evenly they come.
//!
//! An emulated edge at each end of a veth sets up an LSP. Then the far one goes away, and the near one sends 64-byte
//! UDP payloads over the LSP, spinning. Prints one line of JSON: how late the source itself thinks that it was.
//!
//! `bench_live_pacing --interface g0 --far-netns /run/netns/NAME --far-interface s0 --rate 10000 --seconds 3 [--driver
//! xdp]`

use base::{Span, Time};
use network::Placement;
use serde_json::{Value, json};
use std::process::ExitCode;
use std::thread;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// When the packets begin: the LSP is up long before.
const START: Time = Time(2_000_000_000_000);
/// Ethernet with its check sequence, a label, IPv4, UDP and 64 bytes.
const SIZE: u64 = 14 + 4 + 4 + 20 + 8 + 64;

fn value(name: &str, default: &str) -> String {
    let arguments: Vec<String> = std::env::args().collect();
    let place = arguments.iter().position(|a| a == name);
    place.and_then(|p| arguments.get(p + 1)).map_or_else(|| default.to_string(), Clone::clone)
}

/// One end of the pair.
fn end(node: &str, port: Value, rate: u64, stop: Time, epoch_ns: u64) -> Result<Testbed, String> {
    let signal = json!([{"at_ps": 0, "action": "signal", "lsps": 0, "rate_per_s": 1000.0}]);
    let description = json!({
        "seed": 1,
        "nodes": [{"name": "near", "kind": "edge", "programme": signal}, {"name": "far", "kind": "edge"}],
        "links": [{"a": 0, "b": 1, "rate_bps": 100_000_000_000u64, "delay_ps": 0}],
        "lsps": [{"name": "lsp", "from": 0, "to": 1, "routes": [[1]]}],
        "flows": [{"from": 0, "to": 1, "over": 0, "rate_bps": rate * SIZE * 8, "size": SIZE, "start_ps": START.0,
                   "stop_ps": stop.0}],
    });
    let placement = json!({"local": [node], "ports": [port], "busy": true, "epoch_ns": epoch_ns});
    let file = NetworkFile::read_part(&testing::described(&description)).map_err(|e| e.to_string())?;
    let placement: Placement = serde_json::from_value(placement).map_err(|e| e.to_string())?;
    Testbed::placed(&file, placement).map_err(|e| e.to_string())
}

fn run() -> Result<Value, String> {
    let number = |name, default| value(name, default).parse::<f64>().map_err(|e| format!("{name}: {e}"));
    let (rate, seconds) = (number("--rate", "10000")? as u64, number("--seconds", "3")?);
    let driver = value("--driver", "packet");
    let stop = START + Span::from_ms((seconds * 1000.0) as i64);
    let port = |node: &str, interface: String, netns: Value| json!({"node": node, "link": 0, "interface": interface, "netns": netns, "driver": driver, "offload": false});
    let near = port("near", value("--interface", "g0"), Value::Null);
    let far = port("far", value("--far-interface", "s0"), json!(value("--far-netns", "")));
    let epoch_ns = engine::external::Clock::new().epoch_ns();
    let far = thread::spawn(move || {
        let mut network = end("far", far, rate, stop, epoch_ns)?;
        network.run_until(START - Span::from_ms(200)).map_err(|e| e.to_string())
    });
    let mut network = end("near", near, rate, stop, epoch_ns)?;
    network.run_until(START - Span::from_ms(100)).map_err(|e| e.to_string())?;
    far.join().map_err(|_| "the far end failed".to_string())??;
    network.clear_lateness();
    network.run_until(stop).map_err(|e| e.to_string())?;
    network.table_json("lateness", None).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    match run() {
        Ok(result) => {
            println!("{result}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}
