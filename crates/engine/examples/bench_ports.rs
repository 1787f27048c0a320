//! Hands frames from one interface to another, untouched: what the ports alone cost, without a router between them.
//!
//! Says `ready` on the standard output once both interfaces are open, and runs until it is ended.
//!
//! `cargo run --release -p twinplane-engine --example bench_ports -- --ingress r0 --egress r1 [--driver packet|xdp]`

use std::collections::VecDeque;
use std::process::ExitCode;
use twinplane_engine::external::{Clock, Driver, ExternalSpec, PortError, open};

/// Frames taken at once.
const BATCH: usize = 64;

struct Options {
    ingress: String,
    egress: String,
    driver: Driver,
}

fn options() -> Result<Options, String> {
    let (mut ingress, mut egress, mut driver) = (None, None, Driver::Packet);
    let mut words = std::env::args().skip(1);
    while let Some(name) = words.next() {
        let value = words.next().ok_or_else(|| format!("{name} needs a value"))?;
        match (name.as_str(), value.as_str()) {
            ("--ingress", _) => ingress = Some(value),
            ("--egress", _) => egress = Some(value),
            ("--driver", "packet") => driver = Driver::Packet,
            ("--driver", "xdp") => driver = Driver::Xdp,
            _ => return Err(format!("{name} {value}: see the head of this program")),
        }
    }
    let [Some(ingress), Some(egress)] = [ingress, egress] else {
        return Err("--ingress and --egress are needed".into());
    };
    Ok(Options { ingress, egress, driver })
}

fn forward(options: &Options) -> Result<(), PortError> {
    let spec = |name| ExternalSpec { driver: options.driver, ..ExternalSpec::new(name) };
    let mut ingress = open(&spec(&options.ingress))?;
    let mut egress = open(&spec(&options.egress))?;
    let clock = Clock::new();
    let (mut arrived, mut waiting) = (Vec::with_capacity(BATCH), VecDeque::with_capacity(2 * BATCH));
    println!("ready");
    loop {
        if waiting.len() < BATCH {
            ingress.receive(&clock, &mut arrived, BATCH)?;
            waiting.extend(arrived.drain(..));
        }
        if !waiting.is_empty() {
            egress.send(&mut waiting)?;
        }
    }
}

fn main() -> ExitCode {
    match options().and_then(|options| forward(&options).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}
