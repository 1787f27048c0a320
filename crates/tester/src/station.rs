//! A simulated host that is a source and a sink of test packets too.
//!
//! With several ports it may send to itself: a packet leaves by one port, crosses the network, and comes back by
//! another.

use crate::generator::Generator;
use crate::instrument::{Instrument, receive, take_all};
use crate::packet::Addresses;
use crate::probe::StreamSpec;
use crate::programs::settings::Program;
use crate::programs::{Client, Programs};
use crate::sink::Sink;
use crate::source::Source;
use crate::spec::tcp::TcpOptions;
use base::device::{Departure, DropCounters, DropReason};
use base::{Command, Device, Frame, Output, PortId, Span, Streams, Time, Verdict};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use node::Host;
use std::collections::VecDeque;
use wire::ipv6;

const ARP_INTERVAL: Span = Span::from_secs(1);
/// A source that is held begins after so long, whether its neighbours are known or not: then its packets wait for those
/// as any of a host do.
const PATIENCE: Span = Span::from_secs(10);
/// Where the destination is in an IPv4 packet without label.
const DESTINATION: core::ops::Range<usize> = 30..34;
/// The same in an IPv6 packet.
const DESTINATION6: core::ops::Range<usize> = 38..54;
/// Where the next header is in an IPv6 packet without label.
const NEXT_HEADER: usize = 20;

/// The host with its sources and its sink.
#[derive(Debug)]
pub struct Station {
    host: Host,
    generator: Generator,
    /// The streams of each source, and the port that they leave by.
    specs: Vec<(PortId, Vec<StreamSpec>)>,
    /// IPv4 addresses of the host, one for each port, and the groups that it wants.
    own: Vec<[u8; 4]>,
    /// IPv6 addresses of its ports that have one, and the groups of IPv6 that it wants.
    own6: Vec<[u8; 16]>,
    sink: Sink,
    /// When to see whether a neighbour has to be asked for again, as long as one that a stream sends to is not known.
    ask: Option<Time>,
    /// Are all of them known? Else packets take the host's own way out, where they wait for those that are not.
    known: bool,
    /// When sources that are held begin at the latest.
    latest: Time,
    /// Programs that talk over TCP, if there are any.
    programs: Option<Box<Programs>>,
    /// How TCP behaves where a flow says nothing else.
    tcp: TcpOptions,
    outputs: VecDeque<Output>,
    drops: DropCounters,
}

impl Station {
    /// Sources and a sink at `host`; the sink expects nothing yet.
    pub fn new(host: Host) -> Station {
        Station {
            own: host
                .config()
                .ports
                .iter()
                .map(|port| port.address)
                .chain(host.groups().iter().filter_map(|known| match known.group {
                    IpAddr::V4(group) => Some(group),
                    IpAddr::V6(_) => None,
                }))
                .map(|address| address.octets())
                .collect(),
            own6: host
                .config()
                .ports
                .iter()
                .filter_map(|port| Some(port.ipv6?.address))
                .chain(host.groups().iter().filter_map(|known| match known.group {
                    IpAddr::V4(_) => None,
                    IpAddr::V6(group) => Some(group),
                }))
                .map(|address| address.octets())
                .collect(),
            host,
            generator: Generator::default(),
            specs: Vec::new(),
            sink: Sink::default(),
            ask: None,
            known: true,
            latest: Time::ZERO,
            programs: None,
            tcp: TcpOptions::default(),
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
        }
    }

    /// The IP host whose ports the test packets use.
    pub fn host(&self) -> &Host {
        &self.host
    }
    /// The same with a TCP that behaves like this where a flow says nothing else.
    pub fn with_tcp(self, tcp: TcpOptions) -> Station {
        Station { tcp, ..self }
    }

    /// How TCP behaves where a flow says nothing else.
    pub fn tcp(&self) -> TcpOptions {
        self.tcp
    }

    /// Programs that talk over TCP.
    pub fn programs(&self) -> Option<&Programs> {
        self.programs.as_deref()
    }

    /// Adds a program that begins connections, at the host of this name.
    pub fn add_client(&mut self, now: Time, name: &str, streams: Streams, client: Client) {
        self.host.begin_tcp(name, streams);
        self.programs.get_or_insert_default().add_client(now, client);
    }

    /// Adds a program that waits for connections to a port.
    pub fn add_server(&mut self, name: &str, streams: Streams, port: u16, program: Program) {
        self.host.begin_tcp(name, streams);
        self.programs.get_or_insert_default().add_server(&mut self.host, port, program);
    }

    /// Lets programs do what they can.
    fn run_programs(&mut self, now: Time) {
        if let Some(programs) = &mut self.programs {
            programs.run(now, &mut self.host);
        }
    }

    /// Frames discarded, by the host too.
    pub fn drops(&self) -> DropCounters {
        let mut all = self.host.drops().clone();
        all.merge(&self.drops);
        all
    }

    /// Gives each stream its header, lets sources begin whose neighbours are all known, and says whether those of all
    /// sources are.
    fn set_templates(&mut self, now: Time) -> bool {
        self.known = true;
        for (place, (port, specs)) in self.specs.iter().enumerate() {
            let Some(own) = self.host.config().port(*port) else { continue };
            let mut known = true;
            for (index, spec) in specs.iter().enumerate() {
                let mac = self.host.neighbor_mac(*port, spec.dst);
                known &= mac.is_some();
                let own6 = own.ipv6.map(|own| own.address);
                let addresses = Addresses::towards(own.address, own6, spec.dst);
                let template = addresses.map(|to| spec.template(own.mac, mac.unwrap_or_default(), to));
                if let Some(source) = self.generator.source_mut(place) {
                    source.set_template(index, template);
                }
            }
            if known || self.latest <= now {
                self.generator.release(place, now);
            }
            self.known &= known;
        }
        self.known
    }

    /// Asks for the neighbours that streams wait for.
    fn ask_again(&mut self, now: Time) {
        if self.set_templates(now) {
            self.ask = None;
            return;
        }
        self.ask = Some(now + ARP_INTERVAL);
        let streams = self.specs.iter().flat_map(|(port, specs)| specs.iter().map(|spec| (*port, spec.dst)));
        let unknown = streams.filter(|&(port, dst)| self.host.neighbor_mac(port, dst).is_none());
        let hop = |(port, dst)| Some((port, self.host.config().port(port)?.neighbor_towards(dst)?));
        let mut hops: Vec<(PortId, IpAddr)> = unknown.filter_map(hop).collect();
        hops.sort_unstable();
        hops.dedup();
        hops.into_iter().for_each(|(port, hop)| self.host.expect(now, port, hop));
    }

    /// Takes a test packet; anything else is punted.
    #[inline]
    fn sink_test_packet(&mut self, now: Time, frame: &Frame) -> Verdict {
        let to = frame.header().get(DESTINATION);
        if !self.own.iter().any(|own| to == Some(&own[..])) && !self.is_own6(frame) {
            return Verdict::Punt;
        }
        let Some(stamp) = self.sink.stamp(now, frame) else { return Verdict::Punt };
        receive(&mut self.sink, now, stamp, frame)
    }

    /// Is the frame an IPv6 packet to an address of this host?
    #[inline]
    fn is_own6(&self, frame: &Frame) -> bool {
        let to = || frame.header().get(DESTINATION6);
        !self.own6.is_empty()
            && frame.header().get(12..14) == Some(&[0x86, 0xdd])
            && self.own6.iter().any(|own| to() == Some(&own[..]))
    }

    /// Sends what is due by the sources.
    fn send(&mut self, now: Time) {
        while let Some((port, frame)) = self.generator.poll(now, &mut self.drops, DropReason::NoAdjacency) {
            match destination(&frame).filter(|_| !self.known) {
                Some(to) => self.host.send_frame(now, port, to, frame),
                None => self.outputs.push_back(Output::Transmit { port, frame, ready: now }),
            }
        }
    }

    /// When something other than a packet of the generator is due; the largest time if nothing is.
    #[inline]
    fn others(&self) -> Time {
        let programs = self.programs.as_ref().and_then(|programs| programs.next());
        Time::earliest([self.ask, self.host.poll_timeout(), programs]).unwrap_or(Time::MAX)
    }

    fn drain(&mut self) {
        while let Some(output) = self.host.poll_output() {
            self.outputs.push_back(output);
        }
    }
}

/// Where the packet of a source goes that stands at a host.
fn destination(frame: &Frame) -> Option<IpAddr> {
    let header = frame.header();
    if header.get(12..14) == Some(&[0x86, 0xdd]) {
        let to = header.get(DESTINATION6)?.first_chunk::<16>()?;
        return Some(Ipv6Addr::from(*to).into());
    }
    let to = header.get(DESTINATION)?.first_chunk::<4>()?;
    Some(Ipv4Addr::from(*to).into())
}

impl Instrument for Station {
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
    /// A source that is held begins when the neighbours that it sends to are known.
    fn add_source(&mut self, now: Time, mut source: Source, streams: Vec<StreamSpec>) {
        streams.iter().for_each(|spec| source.add_stream(spec.stream));
        self.specs.push((source.port(), streams));
        self.generator.add(source);
        self.latest = now + PATIENCE;
        if !self.set_templates(now) {
            self.ask = self.ask.or(Some(now));
        }
    }
}

impl Device for Station {
    fn forward_batch(&mut self, now: Time, _: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        take_all(frames, verdicts, |frame| self.sink_test_packet(now, frame));
    }

    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        match self.sink_test_packet(now, &frame) {
            Verdict::Punt => {}
            Verdict::Drop(reason) => {
                return self.outputs.push_back(Output::Discard { port, frame, reason });
            }
            _ => return,
        }
        let resolves = match frame.header().get(12..14) {
            Some([0x08, 0x06]) => true,
            Some([0x86, 0xdd]) => frame.header().get(NEXT_HEADER) == Some(&ipv6::Protocol::ICMPV6.0),
            _ => false,
        };
        self.host.handle_packet(now, port, frame);
        self.run_programs(now);
        if resolves {
            self.set_templates(now);
        }
        self.drain();
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.host.poll_timeout().is_some_and(|at| at <= now) {
            self.host.handle_timeout(now);
        }
        self.run_programs(now);
        if self.ask.is_some_and(|at| at <= now) {
            self.ask_again(now);
        }
        self.drain();
        self.send(now);
        self.drain();
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        let forgets = matches!(command, Command::PortDown(_) | Command::Restart);
        let may_ask = matches!(command, Command::PortUp(_));
        let restarts = matches!(command, Command::Restart);
        self.host.handle_command(now, command);
        if let Some(programs) = self.programs.as_mut().filter(|_| restarts) {
            programs.restart(now, &mut self.host);
        }
        if forgets && !self.set_templates(now) {
            self.ask = Some(now + ARP_INTERVAL);
        } else if may_ask && !self.known {
            self.ask_again(now);
        }
        self.drain();
    }

    fn poll_departure(&mut self, before: Time) -> Option<Departure> {
        if !self.known {
            return None;
        }
        // What the generator sends changes nothing of the rest.
        let others = self.others();
        let before = before.min(others);
        let (at, port, frame) =
            self.generator.poll_before(before, &mut self.drops, DropReason::NoAdjacency)?;
        let next = others.min(self.generator.next().unwrap_or(Time::MAX));
        Some(Departure { at, port, frame, next: (next != Time::MAX).then_some(next) })
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.host.show_held(see);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let next = self.others().min(self.generator.next().unwrap_or(Time::MAX));
        (next != Time::MAX).then_some(next)
    }
}
