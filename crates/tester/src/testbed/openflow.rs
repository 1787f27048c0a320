//! Tables `openflow_tests` and `openflow_rounds`: what testers of OpenFlow switches found.

use super::Testbed;
use crate::kind::tester_ports;
use crate::openflow::report::Spread;
use crate::openflow::{OpenFlowTester, Report, Round, Settings};
use crate::problem::TrafficProblem;
use base::diagnostic::os_text;
use base::protocol_value::ProtocolValue;
use base::table::{Rows, Table};
use base::{Command, NodeId, PortId, Rate, Span, Time};
use core::net::SocketAddr;
use engine::World;
use engine::external::Stream;
use network::{NetworkError, Place};
use node::switch::{ChannelInput, Controller, ManagedSwitch, Transport};
use std::os::fd::OwnedFd;
use wire::Hex;

base::table! {
    /// What each tester of a switch found.
    pub struct OpenFlowTestRow<'a> in "openflow_tests" key ["node"]
    of (node: &'a str, settings: &'a Settings, spread: Option<Spread>) from report: &'a Report {
        /// Node that tests a switch.
        node: &'a str => node,
        /// What is tested: `packet-in`, `packet-in-action`, `packet-out`, `control`, `data`, `flow-add`, `flow-mod`,
        /// `flow-expiry` or `statistics`.
        test: &'static str => settings.test.word(),
        /// `waiting` (no switch has connected), `refused` (one has that does not speak version 1.0), `preparing`,
        /// `running`,
        /// `done`, or `reset` (the switch has ended the connection before the test was over).
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
        /// Test `statistics`: the most packets that had left when it was asked what was counted, and were not counted.
        behind: Option<u64> = "packets" => report.behind,
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
        /// Test `flow-expiry`: entries of which the switch has said that they are gone.
        removed: Option<u32> = "entries" => at.removed.map(|(count, _)| count),
        /// The same: when it said so of the last one, from the first segment on.
        removed_s: Option<f64> = "s" => at.removed.map(|(_, span)| span.as_secs_f64()),
        /// The same: when the last packet was sent that still left, from the first segment on.
        passed_s: Option<f64> = "s" => at.passed.map(Span::as_secs_f64),
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

    /// Lets a tester speak to its switch by a connection of the kernel's TCP, in real time. Its links are those of data
    /// alone.
    pub fn carry_openflow(&mut self, node: usize, socket: OwnedFd) -> Result<(), NetworkError> {
        let failed = |error: std::io::Error| {
            let error = os_text(&error);
            TrafficProblem::TesterChannel { error }.of_node(self.description(), node)
        };
        let mut stream = Stream::new(socket).map_err(failed)?;
        let (node, connection) = (NodeId(node as u32), 0);
        let tell = move |world: &mut World, now: Time, input: ChannelInput| {
            // The node is there, and the time has not passed: nothing can be wrong.
            let told = world.command(now, node, Command::Protocol(ProtocolValue::new(input)));
            debug_assert!(told.is_ok());
        };
        let (mut is_told, mut is_over) = (false, false);
        let fd = stream.poll_fd();
        let attend = move |world: &mut World, now: Time| {
            if !is_told {
                is_told = true;
                tell(world, now, ChannelInput::Opened { connection });
            }
            let mut bytes = Vec::new();
            stream.receive(&mut bytes);
            if !bytes.is_empty() {
                tell(world, now, ChannelInput::Received { connection, bytes: Hex(bytes) });
            }
            // A device that is lent to be changed is looked after at once: only if there is something to take.
            let has_some = world.device::<OpenFlowTester>(node).is_some_and(OpenFlowTester::has_channel);
            let tester = if has_some { world.device_mut::<OpenFlowTester>(node) } else { None };
            let bytes = tester.map(OpenFlowTester::take_channel).unwrap_or_default();
            stream.send(&bytes);
            if !stream.is_open() && !is_over {
                is_over = true;
                tell(world, now, ChannelInput::Closed { connection });
            }
        };
        self.network.attend(fd, Box::new(attend));
        Ok(())
    }

    /// Refuses a tester without a link for its channel and two for data. In real time the channel may be elsewhere.
    pub(super) fn check_openflow_testers(&self, is_real: bool) -> Result<(), NetworkError> {
        for node in 0..self.description().nodes.len() {
            let tester = self.openflow_tester(node);
            let problem = tester.and_then(|tester| self.tester_problem(node, tester, is_real));
            if let Some(problem) = problem {
                return Err(problem.of_node(self.description(), node).into());
            }
        }
        Ok(())
    }

    /// What is wrong with the place of a tester, as far as the switch is one of ours.
    fn tester_problem(&self, node: usize, tester: &OpenFlowTester, is_real: bool) -> Option<TrafficProblem> {
        let ports = tester_ports(&self.network, node).filter(|(control, _)| control.is_some() || is_real);
        let Some((control, data)) = ports else { return Some(TrafficProblem::TesterLinks {}) };
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
        let (other, _) = beyond(control?)?;
        let address = self.network.host_config(node).port(control?)?.address;
        let own = SocketAddr::new(address.into(), tester.listens());
        let knows = |one: &Controller| *one == Controller::Connect(Transport::Tcp, own.ip(), own.port());
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
