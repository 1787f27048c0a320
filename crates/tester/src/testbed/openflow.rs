//! Tables `openflow_tests` and `openflow_rounds`: what testers of OpenFlow switches found.

use super::Testbed;
use crate::kind::tester_ports;
use crate::openflow::report::Spread;
use crate::openflow::{OpenFlowTester, Report, Round, Settings};
use crate::problem::TrafficProblem;
use base::table::{Rows, Table};
use base::{NodeId, PortId, Rate, Span, Time};
use core::net::SocketAddr;
use network::{NetworkError, Place};
use node::switch::{Controller, ManagedSwitch};

base::table! {
    /// What each tester of a switch found.
    pub struct OpenFlowTestRow<'a> in "openflow_tests" key ["node"]
    of (node: &'a str, settings: &'a Settings, spread: Option<Spread>) from report: &'a Report {
        /// Node that tests a switch.
        node: &'a str => node,
        /// What is tested: `packet-in`, `packet-in-action`, `packet-out`, `control`, `data`, `flow-add` or `flow-mod`.
        test: &'static str => settings.test.word(),
        /// `waiting` (no switch has connected), `preparing`, `running`, `done`, or `reset` (the switch has ended the
        /// connection before the test was over).
        state: &'static str => report.standing.word(),
        /// The rate that sets the time between packets.
        rate_bps: Rate = "bit/s" => settings.rate,
        /// Length of a packet.
        size: u32 = "bytes" => settings.size,
        /// Entries of a round.
        flows: u32 = "entries" => settings.flows,
        /// Stamped packets or echo requests sent.
        sent: u64 = "packets",
        /// Those that came where they were to come before the end of the test.
        received: u64 = "packets",
        /// Those that came later.
        late: u64 = "packets",
        /// Mean of their delays, or of those of rounds; absent, like the next four, if there are none.
        delay_mean_s: Option<f64> = "s" => spread.map(|one| one.mean),
        /// Median of the same.
        delay_median_s: Option<f64> = "s" => spread.map(|one| one.median),
        /// Standard deviation of the sample; absent of a single one, too.
        delay_sd_s: Option<f64> = "s" => spread.and_then(|one| one.sd),
        /// The least of these delays.
        delay_min_s: Option<f64> = "s" => spread.map(|one| one.min),
        /// The greatest of these delays.
        delay_max_s: Option<f64> = "s" => spread.map(|one| one.max),
        /// PACKET_INs, whatever was in them.
        packet_ins: u64,
        /// Error messages of the switch.
        errors: u64,
        /// Connections that the switch has ended before the test was over.
        resets: u64,
    }
}

base::table! {
    /// Entries that testers have added or changed at once.
    pub struct OpenFlowRoundRow<'a> in "openflow_rounds" key ["node", "round"]
    of (node: &'a str, round: usize, flows: u32) from at: &'a Round {
        /// Node that tests a switch.
        node: &'a str => node,
        /// The round, from 0.
        round: usize => round,
        /// Entries that were added or changed.
        flows: u32 = "entries" => flows,
        /// When the first segment was given to TCP.
        begun_s: Time = "s" => at.begun,
        /// From then until the first packet left by the last entry; absent if none did.
        delay_s: Option<f64> = "s" => at.delay.map(Span::as_secs_f64),
        /// From then until the switch answered the barrier behind them; absent if there was none, or no answer.
        barrier_s: Option<f64> = "s" => at.barrier.map(Span::as_secs_f64),
        /// Entries that a probe of their own has passed; absent where none are sent.
        confirmed: Option<u32> = "entries" => at.confirmed,
    }
}

impl Testbed {
    /// The tester of switches at a node.
    pub fn openflow_tester(&self, node: usize) -> Option<&OpenFlowTester> {
        self.network.world().device(NodeId(node as u32))
    }

    fn openflow_testers(&self) -> impl Iterator<Item = (&str, &OpenFlowTester)> {
        let nodes = 0..self.description().nodes.len();
        nodes.filter_map(|node| Some((self.node_name(node), self.openflow_tester(node)?)))
    }

    /// Refuses a tester without a link for its channel and two for data.
    pub(super) fn check_openflow_testers(&self) -> Result<(), NetworkError> {
        for node in 0..self.description().nodes.len() {
            let problem = self.openflow_tester(node).and_then(|tester| self.tester_problem(node, tester));
            if let Some(problem) = problem {
                return Err(problem.of_node(self.description(), node).into());
            }
        }
        Ok(())
    }

    /// What is wrong with the place of a tester, as far as the switch is one of ours.
    fn tester_problem(&self, node: usize, tester: &OpenFlowTester) -> Option<TrafficProblem> {
        let Some((control, data)) = tester_ports(&self.network, node) else {
            return Some(TrafficProblem::TesterLinks {});
        };
        let said = tester.machine().settings().ports;
        if said[0] == said[1] {
            return Some(TrafficProblem::TesterPortTwice { port: said[1] });
        }
        // The node at the other end of a port, and the port there.
        let beyond = |port: PortId| {
            let (link, side) = self.network.ports_of(node).find(|(link, side)| link.ports[*side] == port)?;
            Some((link.ends()[1 - side], link.ports[1 - side]))
        };
        let switch = |node: usize| self.network.world().device::<ManagedSwitch>(NodeId(node as u32));
        for ((key, port), place) in ["from_port", "to_port"].into_iter().zip(said).zip(data) {
            let (other, there) = beyond(place)?;
            let Some(own) = switch(other).and_then(|switch| switch.number_of(there)) else { continue };
            if own != port {
                return Some(TrafficProblem::TesterPort { key, port, own });
            }
        }
        let (other, _) = beyond(control)?;
        let address = self.network.host_config(node).port(control)?.address;
        let own = SocketAddr::new(address.into(), tester.listens());
        let knows = |one: &Controller| *one == Controller::Connect(own.ip(), own.port());
        match switch(other) {
            Some(switch) if !switch.switch().config().controllers.iter().any(knows) => {
                let switch = self.node_name(other).into();
                Some(TrafficProblem::TesterUnknown { switch, own: own.to_string() })
            }
            _ => None,
        }
    }
}

/// A row for each tester, in the order of nodes.
pub(super) fn tests(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (node, tester) in testbed.openflow_testers() {
        let (settings, report) = (tester.machine().settings(), tester.machine().report());
        table.push(OpenFlowTestRow::of(node, settings, report.spread(), report));
    }
    table.finish()
}

/// Tester by tester, round by round.
pub(super) fn rounds(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (node, tester) in testbed.openflow_testers() {
        let machine = tester.machine();
        for (place, round) in machine.report().rounds.iter().enumerate() {
            table.push(OpenFlowRoundRow::of(node, place, machine.settings().flows, round));
        }
    }
    table.finish()
}
