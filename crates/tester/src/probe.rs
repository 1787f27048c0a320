//! A tester's port beside a router: sources and sinks of IP packets, and nothing that forwards.

use crate::generator::Generator;
use crate::instrument::{Instrument, receive, take_all};
use crate::packet::{Addresses, Ports, Shape, Template};
use crate::probe6::is_ipv6;
use crate::sink::Sink;
use crate::source::Source;
use base::device::{Departure, DropCounters, DropReason};
use base::{
    Command, Device, Dscp, Event, Frame, MacAddr, Output, PortId, Span, StreamId, Time, TrafficClass, Verdict,
};
use core::net::{IpAddr, Ipv4Addr};
use network::beside::BesideConfig;
use node::neighbors::arp_frame;
use std::collections::VecDeque;
use wire::{arp, ethernet, icmp, ipv4, mpls};

const PORT: PortId = PortId(0);
const ARP_INTERVAL: Span = Span::from_secs(1);
/// Packets that wait for the router's Ethernet address at most; the latest are kept (RFC 1122, 2.3.2.2).
const WAITING_MAX: usize = 4096;

/// A stream of IP packets as a probe sends it.
#[derive(Clone, Copy, Debug)]
pub struct StreamSpec {
    /// Number of the stream, which stands in every packet.
    pub stream: StreamId,
    /// IP address that the packets are sent to.
    pub dst: IpAddr,
    /// UDP ports, by which a sink knows a stream's packets.
    pub ports: Ports,
    /// Code point of the IP header: the PHB that the packets ask for.
    pub dscp: Dscp,
    /// TTL of the IP header as the packets leave.
    pub ttl: u8,
    /// Bytes of the frame at this port, with frame check sequence.
    pub size: u32,
}

impl StreamSpec {
    /// Its packets between these addresses to the neighbour at `dst_mac`.
    pub fn template(&self, src_mac: MacAddr, dst_mac: MacAddr, addresses: Addresses) -> Template {
        Template::new(&Shape {
            stream: self.stream,
            dst_mac,
            src_mac,
            labels: Vec::new(),
            class: TrafficClass::default(),
            addresses,
            ports: self.ports,
            dscp: self.dscp,
            ttl: self.ttl,
            size: self.size,
        })
    }
}

/// An IP host without a stack on a hidden port beside a router: it answers ARP and neighbour discovery, sends test
/// packets and takes them.
#[derive(Debug)]
pub struct Probe {
    config: BesideConfig,
    generator: Generator,
    specs: Vec<Vec<StreamSpec>>,
    sink: Sink,
    /// The router's Ethernet address, as ARP and as neighbour discovery say.
    gateway_macs: [Option<MacAddr>; 2],
    /// Do streams send by IPv4, and by IPv6?
    wanted: [bool; 2],
    /// Is all that streams have to know of the router known?
    known: bool,
    ask: Option<Time>,
    /// Packets that wait for the gateway's address.
    waiting: VecDeque<Frame>,
    outputs: VecDeque<Output>,
    drops: DropCounters,
    /// The links that each traced packet crossed.
    traces: Vec<(StreamId, Vec<base::LinkId>)>,
}

impl Probe {
    /// Its addresses, and those of the router that it is beside.
    pub fn config(&self) -> &BesideConfig {
        &self.config
    }

    /// A probe with a sink for what arrives, which expects nothing yet.
    pub fn new(config: BesideConfig) -> Probe {
        Probe {
            config,
            generator: Generator::default(),
            specs: Vec::new(),
            sink: Sink::default(),
            gateway_macs: [None; 2],
            wanted: [false; 2],
            known: false,
            ask: None,
            waiting: VecDeque::new(),
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            traces: Vec::new(),
        }
    }

    fn set_templates(&mut self, place: usize) {
        let macs = self.gateway_macs.map(Option::unwrap_or_default);
        let own6 = self.config.ipv6.map(|(own, _)| own);
        let Some(specs) = self.specs.get(place) else { return };
        let Some(source) = self.generator.source_mut(place) else { return };
        for (index, spec) in specs.iter().enumerate() {
            let addresses = Addresses::towards(self.config.address, own6, spec.dst);
            let mac = macs[usize::from(spec.dst.is_ipv6())];
            source.set_template(index, addresses.map(|to| spec.template(self.config.mac, mac, to)));
        }
    }

    /// Frames that were for nobody here, or whose next hop never answered, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
    /// The links that each traced packet crossed, in order of arrival.
    pub fn take_traces(&mut self) -> Vec<(StreamId, Vec<base::LinkId>)> {
        core::mem::take(&mut self.traces)
    }

    /// Tells whose frame ends here.
    fn discard(&mut self, frame: Frame, reason: DropReason) {
        self.outputs.push_back(Output::Discard { port: PORT, frame, reason });
    }

    pub(crate) fn tell(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    pub(crate) fn send(&mut self, now: Time, frame: Frame) {
        self.outputs.push_back(Output::Transmit { port: PORT, frame, ready: now });
    }

    /// Sends a packet of a source, now or as soon as it is known where to.
    fn send_test_packet(&mut self, now: Time, frame: Frame) {
        if self.known || self.gateway_macs[usize::from(is_ipv6(frame.header()))].is_some() {
            return self.send(now, frame);
        }
        self.waiting.push_back(frame);
        if self.waiting.len() > WAITING_MAX
            && let Some(frame) = self.waiting.pop_front()
        {
            self.drops.count(DropReason::NoAdjacency);
            self.discard(frame, DropReason::NoAdjacency);
        }
    }

    /// Finds out whether all is known that streams have to know.
    fn look(&mut self) {
        self.known = self.wanted.iter().zip(self.gateway_macs).all(|(wanted, mac)| !wanted || mac.is_some());
        if self.known {
            self.ask = None;
        }
    }

    /// The gateway has this Ethernet address, as IPv4 or, with place 1, IPv6 has it.
    fn learn(&mut self, now: Time, family: usize, mac: MacAddr) {
        if self.gateway_macs[family] == Some(mac) {
            return;
        }
        self.gateway_macs[family] = Some(mac);
        self.look();
        (0..self.specs.len()).for_each(|place| self.set_templates(place));
        for mut frame in core::mem::take(&mut self.waiting) {
            if usize::from(is_ipv6(frame.header())) != family {
                self.waiting.push_back(frame);
                continue;
            }
            if let Some(dst) = frame.header_mut().first_chunk_mut::<6>() {
                *dst = mac.0;
            }
            self.send(now, frame);
        }
    }

    pub(crate) fn learn6(&mut self, now: Time, mac: MacAddr) {
        self.learn(now, 1, mac);
    }

    fn send_arp(
        &mut self,
        now: Time,
        operation: arp::Operation,
        target: (MacAddr, Ipv4Addr),
        sender_ip: Ipv4Addr,
    ) {
        let repr = arp::Repr {
            operation,
            sender_mac: self.config.mac,
            sender_ip,
            target_mac: target.0,
            target_ip: target.1,
        };
        self.send(now, arp_frame(&repr));
    }

    fn handle_arp(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let packet = arp::Packet::new_checked(bytes.get(ethernet::HEADER_LEN..)?).ok()?;
        let repr = arp::Repr::parse(&packet).ok()?;
        if repr.sender_ip == self.config.gateway {
            self.learn(now, 0, repr.sender_mac);
        }
        if repr.operation == arp::Operation::REQUEST && repr.target_ip != self.config.gateway {
            self.send_arp(now, arp::Operation::REPLY, (repr.sender_mac, repr.sender_ip), repr.target_ip);
        }
        Some(())
    }

    /// ICMP answers to probes become events.
    fn handle_icmp(&mut self, bytes: &[u8]) -> Option<()> {
        let ip = ipv4::Packet::new_checked(bytes.get(ethernet::HEADER_LEN..)?).ok()?;
        if ip.protocol() != ipv4::Protocol::ICMP || ip.dst() != self.config.address {
            return None;
        }
        let packet = icmp::Packet::new_checked(ip.payload()).ok()?;
        let (kind, code) = (packet.icmp_type().0, packet.code());
        let labels = match icmp::Repr::parse(&packet).ok()? {
            icmp::Repr::TimeExceeded { quote, .. } | icmp::Repr::DestinationUnreachable { quote, .. } => {
                quote
                    .mpls_stack()
                    .map(|stack| stack.filter_map(Result::ok).map(|e: mpls::Repr| e.label).collect())
            }
            _ => None,
        };
        let event = Event::ProbeReply {
            from: ip.src().into(),
            sequence: 0,
            kind,
            code,
            labels: labels.unwrap_or_default(),
        };
        self.outputs.push_back(Output::Event(event));
        Some(())
    }
}

impl Probe {
    /// Takes a test packet; anything else is punted.
    #[inline]
    fn sink_test_packet(&mut self, now: Time, frame: &Frame) -> Verdict {
        let Some(stamp) = self.sink.stamp(now, frame) else { return Verdict::Punt };
        if let Some(trace) = frame.trace() {
            self.traces.push((stamp.stream, trace.to_vec()));
        }
        receive(&mut self.sink, now, stamp, frame)
    }
}

impl Instrument for Probe {
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
        DropReason::NoAdjacency
    }
    fn add_source(&mut self, now: Time, mut source: Source, streams: Vec<StreamSpec>) {
        for spec in &streams {
            source.add_stream(spec.stream);
            self.sink.add_own(spec.stream);
        }
        self.generator.add(source);
        streams.iter().for_each(|spec| self.wanted[usize::from(spec.dst.is_ipv6())] = true);
        self.specs.push(streams);
        self.look();
        self.set_templates(self.specs.len() - 1);
        if !self.known {
            self.ask = self.ask.or(Some(now));
        }
    }
}

impl Device for Probe {
    fn forward_batch(&mut self, now: Time, _: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        take_all(frames, verdicts, |frame| self.sink_test_packet(now, frame));
    }

    fn handle_packet(&mut self, now: Time, _: PortId, frame: Frame) {
        match self.sink_test_packet(now, &frame) {
            Verdict::Punt => {}
            Verdict::Drop(reason) => return self.discard(frame, reason),
            _ => return,
        }
        let bytes = frame.to_vec();
        let handled = match bytes.get(12..14) {
            Some([0x08, 0x06]) => self.handle_arp(now, &bytes),
            Some([0x08, 0x00]) => self.handle_icmp(&bytes),
            Some([0x86, 0xdd]) => self.handle_ipv6(now, &bytes),
            _ => None,
        };
        if handled.is_none() {
            self.drops.count(DropReason::NoListener);
            self.discard(frame, DropReason::NoListener);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.ask.is_some_and(|at| at <= now) {
            self.ask = Some(now + ARP_INTERVAL);
            let [asks, asks6] = [0, 1].map(|of| self.wanted[of] && self.gateway_macs[of].is_none());
            if asks {
                let target = (MacAddr::default(), self.config.gateway);
                self.send_arp(now, arp::Operation::REQUEST, target, self.config.address);
            }
            if asks6 {
                self.ask6(now);
            }
        }
        while let Some((_, frame)) = self.generator.poll(now, &mut self.drops, DropReason::NoAdjacency) {
            self.send_test_packet(now, frame);
        }
    }

    fn handle_command(&mut self, _: Time, _: Command) {}

    fn poll_departure(&mut self, before: Time) -> Option<Departure> {
        if !self.known {
            return None;
        }
        let before = self.ask.map_or(before, |ask| ask.min(before));
        let (at, _, frame) = self.generator.poll_before(before, &mut self.drops, DropReason::NoAdjacency)?;
        Some(Departure { at, port: PORT, frame, next: self.poll_timeout() })
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.waiting.iter().for_each(see);
    }

    fn poll_timeout(&self) -> Option<Time> {
        match (self.ask, self.generator.next()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}
