//! A router under flood, in virtual time.
//!
//! ```text
//! attacker ---- r0 ---- r1 ---- r2        LSPs from r0 to r2 and back, traffic on them, re-optimised all the while
//! ```

use super::{Flood, Target, corpus};
use crate::Testbed;
use crate::problem::TrafficProblem;
use crate::spec::NetworkFile;
use base::Time;
use base::diagnostic::Diagnostic;
use network::NetworkError;
use network::problem::RunProblem;
use network::tunnels::{self, TunnelChange};
use node::router::Balance;
use serde_json::{Value, json};

const MS: u64 = 1_000_000_000;
/// Which node is flooded.
const ROUTER: usize = 1;
/// LSPs through the router, each way.
const LSPS: usize = 4;
/// Frames of the flood at the same time, and the time until the next.
const BURST: usize = 100;
const INTERVAL: u64 = MS;

/// The network, and the flood on it.
pub struct Siege {
    network: Testbed,
    flood: Flood,
    sent: u64,
    bursts: u64,
}

/// What there is after so many frames.
#[derive(Clone, Debug)]
pub struct Report {
    /// Frames sent to the router.
    pub sent: u64,
    /// Frames that its port received.
    pub received: u64,
    /// What became of the frames that it received, by all its ports.
    pub balance: Balance,
    /// Packets that it discarded of those it wanted to send itself.
    pub own_drops: u64,
    /// Packets of the streams over its LSPs: sent, received.
    pub traffic: (u64, u64),
    /// LSPs that are up, of those there are.
    pub lsps: (usize, usize),
    /// LSPs that were moved without a gap.
    pub moved: usize,
    /// LSPs that went down.
    pub down: usize,
    /// What the router holds: neighbours, frames that wait for them, LSPs, messages that wait.
    pub held: (usize, usize, usize, usize),
}

impl Siege {
    /// The network, its LSPs up and its traffic flowing.
    pub fn new(seed: u64) -> Result<Siege, NetworkError> {
        let rsvp = json!({"refresh": "1 s", "refresh_reduction": true, "hello": "100 ms"});
        let router = json!({"kind": "router", "rsvp": rsvp});
        let link = |a: &str, b: &str, net: u8| {
            let ipv6 = [format!("2001:db8:{net}::1/64"), format!("2001:db8:{net}::2/64")];
            json!({"endpoints": [a, b], "rate": "40 Gbit/s", "delay": "10 us", "ipv6": ipv6})
        };
        let lsp = |from: &str, to: &str| {
            json!({"name": format!("{from}-{to}"), "from": from, "to": to, "count": LSPS, "shortest": true,
                "setup_priority": 0, "bandwidth": "1 Mbit/s"})
        };
        let flow = |from: &str, to: &str| {
            json!({"from": from, "to": to, "over": format!("{from}-{to}"), "rate": "2 Mbit/s", "size": 500,
                "start": "400 ms"})
        };
        let description = json!({
            "name": "siege", "seed": seed,
            "nodes": {"attacker": {"kind": "peer"}, "r0": router, "r1": router, "r2": router},
            "links": [link("attacker", "r0", 1), link("r0", "r1", 2), link("r1", "r2", 3)],
            "lsps": [lsp("r0", "r2"), lsp("r2", "r0")], "flows": [flow("r0", "r2"), flow("r2", "r0")],
        });
        let described = serde_json::from_value(description);
        let described = described
            .map_err(|error| Diagnostic::new(TrafficProblem::Measuring { error: error.to_string() }))?;
        let file = NetworkFile::read_part(&described)?;
        let mut network = Testbed::new(&file)?;
        network.world_mut().run_until(Time(500 * MS))?;
        let setup = network.router(ROUTER).map(|r| r.config().ports[0]);
        let Some(setup) = setup else { return Err(no_router()) };
        let mut beyond = vec![network.loopback(2), network.loopback(3)];
        beyond.extend(network.tunnel(0, 0).map(|(_, address)| address));
        let target = Target {
            mac: setup.mac,
            address: setup.address,
            neighbor: core::net::Ipv4Addr::from_bits(setup.address.to_bits() ^ 3),
            beyond,
            lengths: (0, 9_600),
        };
        Ok(Siege { network, flood: Flood::new(seed, target, corpus::frames()), sent: 0, bursts: 0 })
    }

    /// Sends so many frames more, while LSPs are re-optimised, ten each second.
    pub fn run(&mut self, frames: u64) -> Result<(), NetworkError> {
        let end = self.sent + frames;
        while self.sent < end {
            for _ in 0..BURST.min((end - self.sent) as usize) {
                self.network.peer_send(0, self.flood.next_frame().1)?;
                self.sent += 1;
            }
            self.bursts += 1;
            if self.bursts.is_multiple_of(100) {
                let group = (self.bursts / 100 % 2) as usize;
                self.network.lsp_command(group, "reoptimise", None)?;
            }
            let until = self.network.world().now().0 + INTERVAL;
            self.network.world_mut().run_until(Time(until))?;
            self.network.peer_receive(0)?;
        }
        Ok(())
    }

    /// Lets what is under way come to its end.
    pub fn settle(&mut self) -> Result<(), NetworkError> {
        let until = self.network.world().now().0 + 5_000 * MS;
        self.network.world_mut().run_until(Time(until))?;
        self.network.peer_receive(0)?;
        Ok(())
    }

    /// Frames sent so far, by kind.
    pub fn flood(&self) -> &Flood {
        &self.flood
    }

    /// What there is now.
    pub fn report(&mut self) -> Result<Report, NetworkError> {
        let streams = self.network.table_json("streams", None)?;
        let sum = |name: &str| -> u64 {
            streams[name].as_array().into_iter().flatten().filter_map(Value::as_u64).sum()
        };
        let traffic = (sum("sent"), sum("received"));
        let lsps = self.network.table_json("lsps", None)?;
        let states = lsps["state"].as_array().map(Vec::as_slice).unwrap_or_default();
        let up = states.iter().filter(|state| *state == "up").count();
        let mut count = |wanted: TunnelChange| {
            let told = self.network.events().iter().filter_map(|record| tunnels::change(&record.event));
            told.filter(|told| told.1 == wanted).count()
        };
        let (moved, down) = (count(TunnelChange::Moved), count(TunnelChange::Down));
        let Some(router) = self.network.router(ROUTER) else {
            return Err(no_router());
        };
        let balance = router.balance();
        let (neighbors, waiting) = router.neighbor_counts();
        Ok(Report {
            sent: self.sent,
            received: router.forwarding().port_counters(base::PortId(0)).rx_packets,
            own_drops: router.drops().total() - balance.dropped.total(),
            balance,
            traffic,
            lsps: (up, states.len()),
            moved,
            down,
            held: (neighbors, waiting, router.control().state_count(), router.backlog().1),
        })
    }
}

/// Packets of the traffic that may be on their way at any time.
const UNDER_WAY: u64 = 8;

impl Report {
    /// Packets of the streams that did not arrive, and are not on their way.
    pub fn traffic_lost(&self) -> u64 {
        self.traffic.0.saturating_sub(self.traffic.1 + UNDER_WAY)
    }

    /// Is every received frame accounted for, once?
    pub fn is_balanced(&self) -> bool {
        let b = &self.balance;
        b.received + b.fragments + b.copies == b.forwarded + b.delivered + b.dropped.total() + b.waiting
    }
}

fn no_router() -> NetworkError {
    Diagnostic::new(RunProblem::NotHere { node: format!("r{}", ROUTER - 1) }).into()
}
