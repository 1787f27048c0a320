//! An emulated label edge router: tunnels, sources and sinks of labelled packets on one port, and a test programme.
//!
//! It speaks with the system under test only by its port: signalling and addresses are those of a router, and test
//! packets carry the labels that the system under test gave.

use crate::checks::{Taken, Whose};
use crate::generator::Generator;
use crate::instrument::{Instrument, take_all, verdict};
use crate::packet::{Addresses, Shape, Template};
use crate::probe::StreamSpec;
use crate::programme::{Action, Agenda, Step, StepRecord, Task};
use crate::sink::{Receipt, Sink};
use crate::source::Source;
use base::device::{Departure, DropCounters, DropReason};
use base::plane::NextHop;
use base::{Command, Device, Frame, Label, Map, Output, PortId, Time, TrafficClass, Verdict};
use core::net::IpAddr;
use network::kind;
use network::tunnels::{self, TunnelChange, TunnelKey};
use node::Router;
use std::collections::VecDeque;

const PORT: PortId = PortId(0);

#[derive(Debug)]
struct Tunnel {
    of: kind::Tunnel,
    signalled: bool,
    up: bool,
}

/// A tunnel came up or went down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When the edge learned of it.
    pub at: Time,
    /// Group of the tunnel.
    pub group: u32,
    /// Its place in the group.
    pub index: u32,
    /// True if an LSP of the tunnel carries traffic from then on.
    pub up: bool,
}

/// A head end of LSPs with sources and a sink: a router that signals, and test packets around it.
#[derive(Debug)]
pub struct Edge {
    router: Router,
    tunnels: Vec<Tunnel>,
    by_key: Map<TunnelKey, usize>,
    generator: Generator,
    streams: Vec<Vec<StreamSpec>>,
    sink: Sink,
    steps: VecDeque<Step>,
    agenda: Agenda,
    records: Vec<StepRecord>,
    log: Vec<Transition>,
    outputs: VecDeque<Output>,
    drops: DropCounters,
    /// When anything but a packet of the generator is due.
    due: Time,
    /// Changes whenever labels may have changed that this edge gave.
    state: u64,
}

impl Edge {
    /// An edge around `router`, which has one port, with a programme; its sink expects nothing yet.
    pub fn new(router: Router, mut programme: Vec<Step>) -> Edge {
        programme.sort_by_key(|step| step.at);
        let mut edge = Edge {
            router,
            tunnels: Vec::new(),
            by_key: Map::new(),
            generator: Generator::default(),
            streams: Vec::new(),
            sink: Sink::default(),
            steps: programme.into(),
            agenda: Agenda::default(),
            records: Vec::new(),
            log: Vec::new(),
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            due: Time::MAX,
            state: 1,
        };
        edge.look_ahead();
        edge
    }

    /// Finds out when anything but a packet of the generator is due.
    fn look_ahead(&mut self) {
        let step = self.steps.front().map(|step| step.at);
        let times = [self.router.poll_timeout(), step, self.agenda.next()];
        self.due = times.into_iter().flatten().min().unwrap_or(Time::MAX);
    }

    /// Adds a step to the programme.
    pub fn add_step(&mut self, step: Step) {
        let place = self.steps.partition_point(|known| known.at <= step.at);
        self.steps.insert(place, step);
        self.look_ahead();
    }

    /// Adds a tunnel, to be signalled by the programme.
    pub fn add_tunnel(&mut self, tunnel: kind::Tunnel) {
        self.by_key.insert(tunnel.key, self.tunnels.len());
        self.tunnels.push(Tunnel { of: tunnel, signalled: false, up: false });
    }

    /// The router that signals for the edge.
    pub fn router(&self) -> &Router {
        &self.router
    }
    /// The router within, to be changed.
    pub fn router_mut(&mut self) -> &mut Router {
        &mut self.router
    }
    /// What each step of the programme found.
    pub fn records(&self) -> &[StepRecord] {
        &self.records
    }
    /// Tunnels going up and down, in order of time.
    pub fn log(&self) -> &[Transition] {
        &self.log
    }
    /// How many tunnels there are, and how many are up.
    pub fn tunnel_counts(&self) -> (usize, usize) {
        (self.tunnels.len(), self.tunnels.iter().filter(|t| t.up).count())
    }
    /// Frames discarded by the edge itself.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// Gives each stream the labels that its destination maps to now, or none to send with.
    fn set_templates(&mut self) {
        for place in 0..self.streams.len() {
            for index in 0..self.streams[place].len() {
                self.set_template(place, index);
            }
        }
    }

    fn set_template(&mut self, place: usize, index: usize) {
        let stream = self.streams[place][index];
        let template = self.template_of(&stream);
        if let Some(source) = self.generator.source_mut(place) {
            source.set_template(index, template);
        }
    }

    fn template_of(&self, stream: &StreamSpec) -> Option<Template> {
        let nhlfe = match stream.dst {
            IpAddr::V4(dst) => self.router.forwarding().route_local(dst)?,
            IpAddr::V6(dst) => self.router.forwarding().route_local6(dst)?,
        };
        let NextHop::Via { port, gateway: IpAddr::V4(gateway) } = nhlfe.next_hop else { return None };
        let dst_mac = self.router.neighbor_mac(port, gateway)?;
        let setup = self.router.config().ports.get(port.index())?;
        let own6 = setup.ipv6.map(|own| own.address);
        Some(Template::new(&Shape {
            stream: stream.stream,
            dst_mac,
            src_mac: setup.mac,
            labels: nhlfe.push.as_slice().to_vec(),
            class: TrafficClass::truncate(stream.dscp.value() >> 3),
            addresses: Addresses::towards(self.router.config().router_id, own6, stream.dst)?,
            ports: stream.ports,
            dscp: stream.dscp,
            ttl: stream.ttl,
            size: stream.size,
        }))
    }

    fn transition(&mut self, now: Time, place: usize, up: bool) {
        let tunnel = &mut self.tunnels[place];
        if tunnel.up != up {
            tunnel.up = up;
            let transition = Transition { at: now, group: tunnel.of.group, index: tunnel.of.index, up };
            self.log.push(transition);
        }
        let carried: Vec<IpAddr> = tunnel.of.carries.iter().map(|prefix| prefix.address()).collect();
        for place in 0..self.streams.len() {
            for index in 0..self.streams[place].len() {
                if carried.contains(&self.streams[place][index].dst) {
                    self.set_template(place, index);
                }
            }
        }
    }

    fn begin(&mut self, step: Step) {
        let of_group = |t: &(usize, &Tunnel)| t.1.of.group == step.lsps;
        let group = || self.tunnels.iter().enumerate().filter(of_group);
        let up: Vec<usize> = group().filter(|t| t.1.up).map(|t| t.0).collect();
        self.records.push(StepRecord { step, up: up.len() as u32 });
        let set = |places: Vec<usize>| places.into_iter().map(|p| (Task::Set, p));
        let remove = |places: Vec<usize>| places.into_iter().map(|p| (Task::Remove, p));
        match step.action {
            Action::Signal => {
                let fresh = group().filter(|t| !t.1.signalled).map(|t| t.0).collect();
                self.agenda.add(step.at, step.rate_per_s, set(fresh));
            }
            Action::Flap => {
                self.agenda.add(step.at, step.rate_per_s, remove(up.clone()).chain(set(up)));
            }
            Action::Tear => {
                let signalled = group().filter(|t| t.1.signalled).map(|t| t.0).collect();
                self.agenda.add(step.at, step.rate_per_s, remove(signalled));
            }
        }
    }

    fn carry_out(&mut self, now: Time, task: Task, place: usize) {
        let tunnel = &mut self.tunnels[place];
        match task {
            Task::Set => {
                tunnel.signalled = true;
                let command = tunnel.of.set.clone();
                self.router.handle_command(now, command);
            }
            Task::Remove => {
                tunnel.signalled = false;
                let command = tunnel.of.remove.clone();
                self.router.handle_command(now, command);
            }
        }
    }

    /// Passes on what the router within wants done, and takes note of its tunnels.
    fn drain(&mut self, now: Time) {
        self.state += 1;
        while let Some(output) = self.router.poll_output() {
            if let Output::Event(event) = &output
                && let Some((tunnel, change)) = tunnels::change(event)
                && let Some(&place) = self.by_key.get(&tunnel)
            {
                match change {
                    TunnelChange::Up | TunnelChange::Moved => self.transition(now, place, true),
                    TunnelChange::Down => self.transition(now, place, false),
                    TunnelChange::Refused | TunnelChange::Standby => {}
                }
            }
            self.outputs.push_back(output);
        }
    }

    /// Takes a test packet, if its label is that of the LSP which it was sent over; anything else is punted.
    #[inline]
    fn sink_test_packet(&mut self, now: Time, frame: &Frame) -> Verdict {
        let Some(stamp) = self.sink.stamp(now, frame) else { return Verdict::Punt };
        let (router, state) = (&self.router, self.state);
        let receipt =
            self.sink.receive(now, stamp, frame, state, |lsp| whose(router, state, frame.header(), lsp));
        if receipt == Receipt::UnknownLabel {
            self.drops.count(DropReason::UnknownLabel);
        }
        verdict(receipt)
    }
}

/// Whose the outermost label of a packet is that came to this router, if it was sent over `lsp`.
#[inline]
fn whose(router: &Router, state: u64, header: &[u8], lsp: Option<&mut Taken>) -> Whose {
    let Some([0x88, 0x47, a, b, c]) = header.get(12..17) else { return Whose::Unknown };
    let label = Label::truncate(u32::from_be_bytes([0, *a, *b, *c]) >> 4);
    if label == Label::EXPLICIT_NULL || label == Label::EXPLICIT_NULL_V6 {
        return Whose::Unknown;
    }
    let expected = lsp.is_some();
    if lsp.is_some_and(|lsp| lsp.has(label, state, router)) {
        Whose::Right
    } else if !router.forwarding().is_local(label) {
        Whose::Nobody
    } else if expected {
        Whose::Other
    } else {
        Whose::Unknown
    }
}

impl Instrument for Edge {
    fn generator(&self) -> &Generator {
        &self.generator
    }
    fn generator_mut(&mut self) -> &mut Generator {
        &mut self.generator
    }
    fn sink(&self) -> &Sink {
        &self.sink
    }
    fn sink_mut(&mut self) -> &mut Sink {
        &mut self.sink
    }
    fn unsent_reason(&self) -> DropReason {
        DropReason::NoRoute
    }
    fn add_source(&mut self, _: Time, mut source: Source, streams: Vec<StreamSpec>) {
        streams.iter().for_each(|s| source.add_stream(s.stream));
        self.generator.add(source);
        self.streams.push(streams);
        self.set_templates();
    }
}

impl Device for Edge {
    fn forward_batch(&mut self, now: Time, _: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        take_all(frames, verdicts, |frame| self.sink_test_packet(now, frame));
    }

    fn handle_packet(&mut self, now: Time, _: PortId, mut frame: Frame) {
        match self.sink_test_packet(now, &frame) {
            Verdict::Punt => {}
            Verdict::Drop(reason) => {
                return self.outputs.push_back(Output::Discard { port: PORT, frame, reason });
            }
            _ => return,
        }
        let mut verdict = [Verdict::Punt];
        self.router.forward_batch(now, PORT, core::slice::from_mut(&mut frame), &mut verdict);
        match verdict[0] {
            Verdict::Punt | Verdict::Replicate => self.router.handle_packet(now, PORT, frame),
            Verdict::Transmit { port, ready } => {
                self.outputs.push_back(Output::Transmit { port, frame, ready })
            }
            Verdict::Drop(reason) => {
                self.outputs.push_back(Output::Discard { port: PORT, frame, reason });
            }
            Verdict::Consume => {}
        }
        self.drain(now);
        self.look_ahead();
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some((_, frame)) = self.generator.poll(now, &mut self.drops, DropReason::NoRoute) {
            self.outputs.push_back(Output::Transmit { port: PORT, frame, ready: now });
        }
        if self.router.poll_timeout().is_some_and(|t| t <= now) {
            self.router.handle_timeout(now);
            self.drain(now);
        }
        while let Some(step) = self.steps.pop_front_if(|step| step.at <= now) {
            self.begin(step);
        }
        while let Some((task, place)) = self.agenda.pop(now) {
            self.carry_out(now, task, place);
            self.drain(now);
        }
        self.look_ahead();
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        self.router.handle_command(now, command);
        self.drain(now);
        self.look_ahead();
    }

    fn poll_departure(&mut self, before: Time) -> Option<Departure> {
        let before = before.min(self.due);
        let (at, _, frame) = self.generator.poll_before(before, &mut self.drops, DropReason::NoRoute)?;
        Some(Departure { at, port: PORT, frame, next: self.poll_timeout() })
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.router.show_held(see);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let due = self.generator.next().map_or(self.due, |next| next.min(self.due));
        (due != Time::MAX).then_some(due)
    }
}
