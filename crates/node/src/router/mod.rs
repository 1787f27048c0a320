//! A label-switching and label-edge router: forwarding tables, control plane, ARP and ICMP behind one contract.
//!
//! Transit packets go through [`Device::forward_batch`] and never leave the forwarding plane. What it punts comes to
//! [`Device::handle_packet`]: ARP and ICMP are answered, what protocols listen to waits for the
//! control processor.

mod arp;
mod arrival;
mod config;
mod copies;
mod exception;
#[cfg(test)]
mod fuzz6_tests;
mod ipv6;
mod link6;
#[cfg(test)]
mod link6_tests;
mod listening;
#[cfg(test)]
mod listening6_tests;
#[cfg(test)]
mod listening_tests;
mod lsp;
mod remote;
mod signalling;
mod signalling6;
#[cfg(test)]
mod tests;

pub use config::{Address6, Conditioning, PortSetup, RouterConfig};

use crate::neighbors::Neighbors;
use crate::profile::Pipeline;
use base::Limiter;
use base::device::{DropCounters, DropReason};
use base::plane::{
    Batch, GroupId, Member, NextHop, PortConfig, Prefix6, Table, TableOp, TransactionId, Unwritten,
};
use base::queue::take_first;
use base::{Command, Device, Frame, Output, PortId, Time, Verdict};
use control::ControlPlane;
use core::net::{IpAddr, Ipv6Addr};
use forwarding::driver::Written;
use forwarding::explain::Explained;
use forwarding::{Branch, Driver, Exception, Forwarding, ForwardingPlane, Notice};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// What waits for a neighbour's Ethernet address.
#[derive(Debug)]
enum Waiting {
    /// A frame in transit, and the port that it came by.
    Transit(PortId, Frame),
    /// A packet of this router: 14 bytes of room for Ethernet, then IP; and the neighbour, if it is not for the
    /// tables to say.
    Own(Frame, Option<(PortId, IpAddr)>),
    /// A packet of this router behind labels: room for Ethernet, labels, then IP; the port by which it leaves, and the
    /// neighbour.
    Labelled(PortId, IpAddr, Frame),
    /// A packet of this router that goes along the LSP of a frame which came by this port.
    Along(PortId, Frame),
    /// A frame in transit that is replicated, the port that it came by, and which of its copies this is.
    Copy(PortId, Frame, Branch),
}

impl Waiting {
    /// Was it received from outside, and is it to be accounted for?
    fn is_received(&self) -> bool {
        matches!(self, Waiting::Transit(..) | Waiting::Copy(..))
    }

    fn frame(&self) -> &Frame {
        match self {
            Waiting::Transit(_, frame)
            | Waiting::Own(frame, _)
            | Waiting::Labelled(_, _, frame)
            | Waiting::Along(_, frame)
            | Waiting::Copy(_, frame, _) => frame,
        }
    }
}

/// What became of the frames that a router received. None is lost without being counted: `received + fragments +
/// copies = forwarded + delivered + dropped + waiting`, but for frames that waited when the router restarted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    /// Frames received by all ports.
    pub received: u64,
    /// Frames more than those, by fragmentation.
    pub fragments: u64,
    /// Frames more than those, by replication.
    pub copies: u64,
    /// Received frames, fragments and copies of them, handed to ports.
    pub forwarded: u64,
    /// Frames for the router itself that it made use of.
    pub delivered: u64,
    /// Frames discarded, by reason.
    pub dropped: DropCounters,
    /// Frames that wait for a neighbour's Ethernet address.
    pub waiting: u64,
}

/// A label switching router: forwarding tables, control plane, ARP and ICMP. What every packet needs lies in front.
#[derive(Debug)]
#[repr(C)]
pub struct Router {
    pipeline: Pipeline,
    plane: ForwardingPlane,
    config: RouterConfig,
    /// Batches that the router has written by itself.
    batches: u64,
    control: ControlPlane,
    neighbors: Neighbors<Waiting>,
    outputs: VecDeque<Output>,
    /// Memory of signalling frames that have been handled.
    spare: Vec<Vec<u8>>,
    /// Received frames discarded, but for those that the forwarding plane counts.
    drops: DropCounters,
    /// Packets of this router discarded.
    own: DropCounters,
    /// Received frames that reached their end here.
    delivered: u64,
    /// Frames of this router handed to its ports.
    originated: u64,
    /// Frames more than before, by fragmentation of what was received.
    fragments: u64,
    /// Frames more than before, by replication of what was received.
    copies: u64,
    errors: Limiter,
    echoes: Limiter,
    /// Groups of next hops that were configured, for static routes.
    groups: BTreeMap<GroupId, Box<[Member]>>,
    /// Pings that nobody has answered, by sequence number.
    asked: BTreeMap<u16, u32>,
    /// For each port, until when its address is not defended once more.
    defended: Vec<Time>,
    up: Vec<bool>,
    /// For each port that is down, neighbours that were known when it went down.
    stale: Vec<Vec<IpAddr>>,
    ident: u16,
    /// What ports do with their IPv6 addresses.
    links6: Vec<link6::Link6>,
    /// From which times of advertisements are drawn.
    random6: Option<Box<base::random::Stream>>,
    /// Why the received frame that is being handled is discarded, once that is so.
    discarded: Option<DropReason>,
}

impl Router {
    /// A router whose ports are up.
    pub fn new(config: RouterConfig) -> Router {
        let control = ControlPlane::new(config.control(), &config.protocols);
        let mut router = Router {
            plane: config.plane(&control),
            batches: 0,
            pipeline: config.profile.forwarding.pipeline(),
            control,
            neighbors: Neighbors::default(),
            outputs: VecDeque::new(),
            spare: Vec::new(),
            drops: DropCounters::default(),
            own: DropCounters::default(),
            delivered: 0,
            originated: 0,
            fragments: 0,
            copies: 0,
            errors: Limiter::new(exception::ERRORS.0, exception::ERRORS.1),
            echoes: Limiter::new(exception::ECHOES.0, exception::ECHOES.1),
            groups: BTreeMap::new(),
            asked: BTreeMap::new(),
            defended: vec![Time::ZERO; config.ports.len()],
            up: vec![true; config.ports.len()],
            stale: vec![Vec::new(); config.ports.len()],
            ident: 0,
            links6: vec![link6::Link6::default(); config.ports.len()],
            random6: None,
            discarded: None,
            config,
        };
        router.connect(Time::ZERO);
        router
    }

    /// Writes what every table starts with: ports, and the routes that the control plane has.
    fn connect(&mut self, now: Time) {
        for index in 0..self.config.ports.len() {
            self.configure_port(now, PortId(index as u16));
        }
        for (group, members) in self.groups.clone() {
            self.write(now, vec![TableOp::GroupSet { group, members }]);
        }
        let routes: Vec<_> = core::iter::from_fn(|| self.control.poll_route()).collect();
        self.write(now, routes);
        // Addresses that ports make themselves are of their links alone: no protocol has to know of them.
        let ports = self.config.ports.iter().filter(|port| port.ipv6.is_some());
        let own: Vec<TableOp> = ports.map(|port| local6(wire::nd::link_local(port.mac))).collect();
        if !own.is_empty() {
            self.write(now, own);
        }
        let forwarding = self.plane.forwarding_mut();
        forwarding.note_inputs(self.config.conditioning.note_inputs);
        forwarding.note_encaps(self.config.conditioning.note_encaps);
        for (port, conditioner) in &self.config.conditioning.at {
            forwarding.set_conditioner(*port, Some(conditioner.clone()));
        }
        self.begin6(now);
    }

    fn configure_port(&mut self, now: Time, port: PortId) {
        let Some(setup) = self.config.ports.get(port.index()) else { return };
        let config = PortConfig { mac: setup.mac, mtu: setup.mtu, up: self.up[port.index()] };
        self.write(now, vec![TableOp::PortSet { port, config }]);
    }

    /// Writes what is not the control plane's. Nothing waits for the answer; what fails is counted
    /// ([`Router::written`]).
    fn write(&mut self, now: Time, ops: Vec<TableOp>) {
        self.batches += 1;
        let transaction = TransactionId::of(TransactionId::NODE, self.batches);
        self.plane.submit(now, Batch { transaction, ops, barrier: false });
    }

    /// Gives a router that has just been made the static routes of a source without writing them, as if they had been
    /// written. Its tables are written at once and have no limit.
    pub fn set_unwritten(&mut self, source: Arc<dyn Unwritten>) {
        self.control.set_unwritten(source.clone());
        self.plane.forwarding_mut().set_unwritten(source);
    }

    /// The same for IPv6.
    pub fn set_unwritten6(&mut self, source: Arc<dyn Unwritten<Prefix6>>) {
        self.control.set_unwritten6(source.clone());
        self.plane.forwarding_mut().set_unwritten6(source);
    }

    /// How it was set up.
    pub fn config(&self) -> &RouterConfig {
        &self.config
    }
    /// The forwarding tables as they are in force, to be looked at.
    pub fn forwarding(&self) -> &Forwarding {
        self.plane.forwarding()
    }
    /// The control plane, to be looked at.
    pub fn control(&self) -> &ControlPlane {
        &self.control
    }
    /// The control plane, to change what it keeps for tables.
    pub fn control_mut(&mut self) -> &mut ControlPlane {
        &mut self.control
    }
    /// Frames discarded by the forwarding plane and by the control processor, by reason: those received, and packets
    /// of this router that could not be sent.
    pub fn drops(&self) -> DropCounters {
        let mut all = self.balance().dropped;
        all.merge(&self.own);
        all
    }
    /// What became of the frames received.
    pub fn balance(&self) -> Balance {
        let mut dropped = self.forwarding().drops().clone();
        dropped.merge(&self.drops);
        let ports = || self.forwarding().ports().map(|row| row.counters);
        let transmitted: u64 = ports().map(|c| c.tx_packets).sum();
        Balance {
            received: ports().map(|c| c.rx_packets).sum(),
            fragments: self.fragments,
            copies: self.copies,
            forwarded: transmitted.saturating_sub(self.originated),
            delivered: self.delivered,
            dropped,
            waiting: self.neighbors.items().filter(|item| item.is_received()).count() as u64,
        }
    }
    /// What would become of a frame that arrived by a port now; nothing is counted or sent.
    pub fn explain(&mut self, port: PortId, frame: &Frame) -> Explained {
        self.plane.forwarding_mut().explain(port, frame)
    }
    /// Table operations that are not in force yet, and signalling messages that wait.
    pub fn backlog(&self) -> (usize, usize) {
        (self.plane.backlog(), self.control.waiting())
    }
    /// The driver that writes the forwarding tables, to be looked at.
    pub fn driver(&self) -> &dyn Driver {
        self.plane.driver()
    }
    /// What was written to the forwarding plane, and what of it failed; routes that are in force without having been
    /// written are counted like others.
    pub fn written(&self) -> Written {
        let mut written = self.plane.soft().written().clone();
        written.done[Table::Fib.index()] += self.forwarding().unwritten();
        written
    }
    /// The Ethernet address of a neighbour, if it is known.
    pub fn neighbor_mac(&self, port: PortId, address: impl Into<IpAddr>) -> Option<base::MacAddr> {
        self.neighbors.get(port, address.into())
    }
    /// How many neighbours are known or asked for, and how many frames wait for them.
    pub fn neighbor_counts(&self) -> (usize, usize) {
        (self.neighbors.len(), self.neighbors.waiting())
    }
    /// Neighbours whose Ethernet address is known, with the port that they are on.
    pub fn neighbors(&self) -> impl Iterator<Item = (PortId, IpAddr, base::MacAddr)> {
        self.neighbors.iter()
    }

    /// What was written of channels of ATM that are labels, for whoever has the ports of cells.
    pub fn poll_circuit(&mut self) -> Option<TableOp> {
        self.plane.forwarding_mut().poll_circuit()
    }

    fn transmit(&mut self, now: Time, port: PortId, frame: Frame) {
        // What the router itself sends takes the time of the processor that forwards, if there is one.
        self.pipeline.send_own(now);
        self.outputs.push_back(Output::Transmit { port, frame, ready: now });
    }

    /// Sends an IP packet of this router; `frame` has 14 bytes of room in front of it. `via` is the neighbour where
    /// it is not for the tables to say.
    fn send(&mut self, now: Time, mut frame: Frame, via: Option<(PortId, IpAddr)>) {
        match self.plane.packet_out(&mut frame, via) {
            Ok(port) => {
                self.originated += 1;
                self.transmit(now, port, frame);
            }
            Err(Exception::Drop(reason)) => self.own.count(reason),
            Err(Exception::Punt(forwarding::PuntReason::Replicate { branches })) => {
                self.send_copies(now, &frame, branches)
            }
            Err(Exception::Punt(reason)) => self.send_exception(now, frame, via, reason),
        }
    }

    /// Forwards a frame on a device whose processor does that: it looks into a table, or two if the frame gets its
    /// first label.
    #[inline(never)]
    fn forward_by_processor(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let is_labelled = |frame: &Frame| frame.header().get(12..14) == Some(&[0x88, 0x47]);
        let before = is_labelled(frame);
        let verdict = self.plane.forwarding_mut().forward_one(now, port, frame);
        self.pipeline.receive(now, if !before && is_labelled(frame) { 2 } else { 1 });
        match verdict {
            Verdict::Transmit { port, .. } => {
                self.pipeline.send(now);
                Verdict::Transmit { port, ready: self.pipeline.ready(now, frame.wire_len()) }
            }
            verdict => verdict,
        }
    }

    /// Gives a frame in transit to the forwarding plane once more.
    fn forward_again(&mut self, now: Time, port: PortId, mut frame: Frame) {
        match self.plane.forwarding_mut().forward_again(now, port, &mut frame) {
            Verdict::Transmit { port, .. } => {
                let ready = self.pipeline.ready(now, frame.wire_len());
                self.outputs.push_back(Output::Transmit { port, frame, ready });
            }
            Verdict::Drop(reason) => self.outputs.push_back(Output::Discard { port, frame, reason }),
            Verdict::Consume => {}
            Verdict::Punt | Verdict::Replicate => match self.forwarding().classify_again(port, &frame) {
                Some(reason) => self.handle_exception(now, port, frame, reason),
                None => self.lose(port, frame, DropReason::Malformed),
            },
        }
    }

    fn port_changed(&mut self, now: Time, port: PortId, up: bool) {
        let Some(state) = self.up.get_mut(port.index()) else { return };
        if *state == up {
            return;
        }
        *state = up;
        if up {
            let stale = core::mem::take(&mut self.stale[port.index()]);
            let forget = |gateway| TableOp::AdjacencyRemove { port, gateway };
            if !stale.is_empty() {
                self.write(now, stale.into_iter().map(forget).collect());
            }
        } else {
            // That the port is down is one write, however much hangs on it. The neighbours on it are unknown from now
            // on; they are taken out of the tables when that makes a difference.
            let (known, lost) = self.neighbors.forget_port(port);
            self.stale[port.index()] = known;
            lost.into_iter().for_each(|item| self.drop_waiting(item, DropReason::PortDown));
        }
        self.configure_port(now, port);
        self.begin_link6(now, port);
        self.control.port_changed(now, port, up);
        let port = port.0;
        let event = if up { base::Event::PortUp { port } } else { base::Event::PortDown { port } };
        self.outputs.push_back(Output::Event(event));
    }

    fn restart(&mut self, now: Time) {
        self.plane = self.config.plane(&self.control);
        let mut neighbors = core::mem::take(&mut self.neighbors);
        for port in (0..self.config.ports.len()).map(|index| PortId(index as u16)) {
            for item in neighbors.forget_port(port).1 {
                if let Waiting::Transit(port, frame) | Waiting::Copy(port, frame, _) = item {
                    self.outputs.push_back(Output::Discard { port, frame, reason: DropReason::NodeDown });
                }
            }
        }
        self.stale.iter_mut().for_each(Vec::clear);
        self.pipeline = self.config.profile.forwarding.pipeline();
        self.control.restart(now);
        self.connect(now);
    }

    /// Handles what the forwarding plane tells by itself.
    fn notice(&mut self, now: Time) {
        while let Some(notice) = self.plane.poll_notice() {
            match notice {
                Notice::Punt { port, frame, reason } => self.handle_exception(now, port, frame, reason),
                Notice::Full(table) => {
                    self.outputs.push_back(Output::Event(base::Event::TableFull { table }));
                }
            }
        }
    }

    /// As [`Device::forward_one`], by a pipeline or a processor that takes its time.
    #[inline(never)]
    fn forward_in_time(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        if self.pipeline.has_processor() {
            return self.forward_by_processor(now, port, frame);
        }
        match self.plane.forwarding_mut().forward_one(now, port, frame) {
            Verdict::Transmit { port, .. } => {
                Verdict::Transmit { port, ready: self.pipeline.ready(now, frame.wire_len()) }
            }
            verdict => verdict,
        }
    }

    fn write_now(&mut self, now: Time, batch: Batch) {
        self.plane.submit(now, batch);
    }
}

/// The route to an IPv6 address of the router itself.
fn local6(address: Ipv6Addr) -> TableOp {
    TableOp::Route6Set { prefix: Prefix6::host(address), next_hop: NextHop::Local }
}

impl Device for Router {
    #[inline]
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        if self.pipeline.has_processor() {
            for (frame, verdict) in frames.iter_mut().zip(verdicts) {
                *verdict = self.forward_by_processor(now, port, frame);
            }
            return;
        }
        self.plane.forwarding_mut().forward_batch(now, port, frames, verdicts);
        if !self.pipeline.is_ideal() {
            for (frame, verdict) in frames.iter().zip(verdicts) {
                if let Verdict::Transmit { ready, .. } = verdict {
                    *ready = self.pipeline.ready(now, frame.wire_len());
                }
            }
        }
    }

    fn forward_one(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        if self.pipeline.is_ideal() {
            return self.plane.forwarding_mut().forward_one(now, port, frame);
        }
        self.forward_in_time(now, port, frame)
    }

    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        if let Some(frame) = self.plane.punt(port, frame) {
            self.forward_again(now, port, frame);
        }
        self.notice(now);
        self.settle(now);
    }

    fn is_urgent(&self, frame: &Frame) -> bool {
        self.is_for_urgent(frame)
    }

    fn handle_timeout(&mut self, now: Time) {
        self.neighbors_due(now);
        self.process(now);
        self.control.handle_timeout(now);
        self.settle(now);
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) => self.port_changed(now, port, true),
            Command::PortDown(port) => self.port_changed(now, port, false),
            Command::GroupSet { group, members } => {
                self.write(now, vec![TableOp::GroupSet { group, members: members.clone() }]);
                self.groups.insert(group, members);
            }
            Command::RouteSet { prefix, next_hop } => {
                self.control.set_static(now, prefix, Some(next_hop));
            }
            Command::RouteRemove { prefix } => {
                self.control.set_static(now, prefix, None);
            }
            Command::Route6Set { prefix, next_hop } => {
                self.control.set_static6(now, prefix, Some(next_hop));
            }
            Command::Route6Remove { prefix } => {
                self.control.set_static6(now, prefix, None);
            }
            Command::Restart => self.restart(now),
            Command::RestartProtocol { protocol, down_for } => {
                self.control.restart_protocol(now, protocol, down_for);
            }
            Command::Probe { to: IpAddr::V4(to), ttl, sequence } => self.send_echo(now, to, ttl, sequence),
            Command::Probe { to: IpAddr::V6(to), ttl, sequence } => self.send_echo6(now, to, ttl, sequence),
            Command::LabelFault { label, out } => self.corrupt(now, label, out),
            Command::Protocol(command) => self.handle_protocol(now, &command),
            // Nor does a router ask what its queues have counted.
            Command::Start | Command::Stop | Command::QueueCounted { .. } => {}
        }
        self.settle(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        if self.plane.is_remote() { self.poll_remote() } else { take_first(&mut self.outputs) }
    }

    fn poll_timeout(&self) -> Option<Time> {
        Time::earliest([self.control.poll_timeout(), self.plane.poll_timeout(), self.neighbors.next()])
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.neighbors.items().filter(|item| item.is_received()).for_each(|item| see(item.frame()));
    }
}
