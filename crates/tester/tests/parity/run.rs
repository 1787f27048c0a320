//! The three ways in which a network runs: in virtual time, by the clock in one piece, and by the clock in two halves
//! that only external ports join. All are run in small steps until something is so: nothing here depends on how fast
//! the machine is.

use super::facts::Facts;
use crate::common::memory;
use base::Span;
use engine::Fault;
use engine::external::ExternalPort;
use network::Placement;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

/// How a network runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// In virtual time.
    Virtual,
    /// By the clock, all in one.
    Wall,
    /// By the clock, in two parts.
    Halves,
}

/// How far the network runs between two looks.
const STEP: Span = Span::from_ms(5);
/// So long may it take until something is so.
const PATIENCE: Span = Span::from_secs(60);
/// In so many looks nothing arrives any more.
const QUIET: usize = 12;

/// A network, in one part or two.
pub struct Run {
    parts: Vec<Testbed>,
}

fn file(value: &Value) -> NetworkFile {
    NetworkFile::read_part(&testing::described(value)).expect("a description")
}

/// The names in a network, for what is added to it by places.
fn names(part: &Testbed) -> testing::Indexed {
    let nodes = part.description().nodes.iter().map(|node| node.name.clone()).collect();
    let links = part.links().iter().map(|link| link.ends()).collect();
    testing::Indexed::new(nodes, links, part.lsps().iter().map(|group| group.spec.name.clone()).collect())
}

/// The two parts of a network, the first with the nodes named; each link between them is a pair of ports.
fn halves(described: &Value, first: &[&str]) -> Vec<Testbed> {
    let name = |node: &Value| {
        let node = node.as_u64().expect("a node") as usize;
        described["nodes"][node]["name"].as_str().expect("a name").to_string()
    };
    let mut local = [Vec::new(), Vec::new()];
    for node in described["nodes"].as_array().expect("nodes") {
        let node = node["name"].as_str().expect("a name");
        local[usize::from(!first.contains(&node))].push(node);
    }
    let mut ports = [Vec::new(), Vec::new()];
    let mut made: [BTreeMap<String, memory::MemoryPort>; 2] = Default::default();
    for (index, link) in described["links"].as_array().expect("links").iter().enumerate() {
        let ends = ["a", "b"].map(|end| name(&link[end]));
        let sides = ends.each_ref().map(|end| usize::from(!first.contains(&end.as_str())));
        if sides[0] == sides[1] {
            continue;
        }
        for ((end, side), port) in ends.iter().zip(sides).zip(memory::pair(&format!("m{index}"))) {
            ports[side].push(json!({"node": end, "link": index, "interface": port.name()}));
            made[side].insert(port.name().to_string(), port);
        }
    }
    let epoch = engine::external::Clock::new().epoch_ns();
    let parts = local.into_iter().zip(ports).zip(made).map(|((local, ports), mut made)| {
        let placement = json!({"local": local, "ports": ports, "epoch_ns": epoch});
        let placement: Placement = serde_json::from_value(placement).expect("a placement");
        let mut open = |spec: &engine::external::ExternalSpec| -> Result<Box<dyn ExternalPort>, _> {
            Ok(Box::new(made.remove(&spec.interface).expect("a port that is opened once")))
        };
        Testbed::placed_with(&file(described), placement, &mut open).expect("a part of a network")
    });
    parts.collect()
}

impl Run {
    /// A network that has not run yet; `first` are the nodes of the first half.
    pub fn new(ground: Ground, described: &Value, first: &[&str]) -> Run {
        let parts = match ground {
            Ground::Virtual => vec![Testbed::new(&file(described)).expect("a network")],
            Ground::Wall => {
                vec![Testbed::placed(&file(described), Placement::default()).expect("a network")]
            }
            Ground::Halves => halves(described, first),
        };
        Run { parts }
    }

    fn step(&mut self) {
        for part in &mut self.parts {
            let until = part.now() + STEP;
            part.run_until(until).expect("no device fails");
        }
    }

    /// Runs until it is so.
    pub fn until(&mut self, what: &str, mut so: impl FnMut(&Facts) -> bool) -> Facts {
        let begin = self.parts[0].now();
        loop {
            let facts = self.facts();
            if so(&facts) {
                return facts;
            }
            assert!(self.parts[0].now() < begin + PATIENCE, "{what}: it never was so: {facts:#?}");
            self.step();
        }
    }

    /// Runs until nothing moves: no packet arrives and no message is exchanged.
    pub fn until_quiet(&mut self) -> Facts {
        let (mut last, mut quiet) = (self.facts(), 0);
        while quiet < QUIET {
            self.step();
            let facts = self.facts();
            quiet = if facts == last { quiet + 1 } else { 0 };
            last = facts;
        }
        last
    }

    /// The facts of all parts.
    pub fn facts(&mut self) -> Facts {
        self.parts.iter_mut().map(Facts::of).reduce(Facts::with).expect("a part")
    }

    /// Sends `packets` packets along a flow (one that has neither start nor stop), and runs until they have arrived or
    /// are lost.
    pub fn send(&mut self, flow: &Value, packets: u64) -> Facts {
        let mut spec = flow.clone();
        // All parts must agree on the time, though each has its own: it should be one that none has reached, also where
        // the machine has other things to do. Which packets a fault takes depends on their order.
        let now = self.parts.iter().map(|part| part.now()).max().expect("a part");
        let start = now + Span::from_ms(100);
        let bits = spec["size"].as_u64().expect("a size") * 8;
        let gap = Span::from_secs(1).0 as u64 * bits / spec["rate_bps"].as_u64().expect("a rate");
        spec["start_ps"] = json!(start.0);
        // So many gaps and no end: the packets are as many if the clock has passed the start meanwhile.
        spec["arrivals"] = json!({"kind": "trace", "gaps_ps": vec![gap; packets as usize]});
        let mut number = 0;
        for part in &mut self.parts {
            let spec = part.read_flow(&names(part).flow(&spec)).expect("a flow");
            number = part.add_flow(spec).expect("a flow") as u64;
        }
        self.until("all packets are sent", |facts| {
            let sent =
                facts.streams.iter().filter(|((flow, _), _)| *flow == number).map(|(_, counts)| counts[0]);
            sent.sum::<u64>() >= packets
        });
        self.until_quiet()
    }

    /// Tells a group of LSPs something; its head end is in one of the parts.
    pub fn tell(&mut self, group: usize, command: &str, route: Option<Value>) {
        let told = self.parts.iter_mut().filter_map(|part| {
            let routes = route.clone().map(|route| names(part).routes(&json!([route])));
            let routes = routes.map(|routes| part.read_routes(&routes).expect("a route"));
            part.lsp_command(group, command, routes).ok()
        });
        assert_eq!(told.count(), 1, "one part has the head end");
    }

    /// Puts a fault on a link, wherever its ends are.
    pub fn fault(&mut self, link: usize, fault: &Value) {
        for part in &mut self.parts {
            let mut fault = fault.clone();
            fault["link"] = json!(part.links()[link].id);
            fault["at"] = json!(0);
            let fault: Fault = serde_json::from_value(fault).expect("a fault");
            part.fault(fault).expect("a fault");
        }
    }

    /// Takes all faults away.
    pub fn heal(&mut self) {
        for part in &mut self.parts {
            let now = part.now().max(part.world().now());
            part.world_mut().heal_all(now).expect("no fault in the future");
        }
    }

    /// Cuts a link, or mends it.
    pub fn set_link(&mut self, link: usize, up: bool) {
        for part in &mut self.parts {
            part.set_link(link, up).expect("a link");
        }
    }

    /// What is left at routers after everything is torn down.
    pub fn left(&mut self) -> Vec<Value> {
        let state = |part: &mut Testbed| part.table_json("state", None).expect("a table");
        self.parts.iter_mut().map(state).collect()
    }
}
