//! What is captured where, and the order in which it is written. Shared by both clocks.

use super::CaptureError;
use super::form::Form;
use super::pcapng::{BlockWriter, Way};
use crate::offload::real_frames;
use base::{Frame, LinkId, NodeId, PortId, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Identifies a capture until it is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaptureId(pub u32);

/// Which packets of the network a capture takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureTarget {
    /// What a port sends and what it receives.
    Port(NodeId, PortId),
    /// What both ports of a link send: each packet once, even if it is lost on the way.
    Link(LinkId),
    /// What every port sends, so each packet once on each of its links.
    Everything,
}

/// Where a capture is written to.
pub enum CaptureTo {
    /// A file, which is overwritten.
    File(PathBuf),
    /// Memory: the summary holds the bytes.
    Memory,
    /// Anything else, by its name for errors.
    Writer(String, Box<dyn Write + Send>),
}

/// A capture as the user asks for it.
pub struct CaptureSpec {
    /// Which packets it takes.
    pub target: CaptureTarget,
    /// Where its bytes go.
    pub to: CaptureTo,
    /// After how many the capture ends; never if absent.
    pub max_packets: Option<u64>,
    /// The calendar time at which the run began, in nanoseconds since 1970.
    pub epoch_ns: u64,
}

impl CaptureSpec {
    /// A capture without limit, of a run that began in 1970.
    pub fn new(target: CaptureTarget, to: CaptureTo) -> CaptureSpec {
        CaptureSpec { target, to, max_packets: None, epoch_ns: 0 }
    }
    /// The same capture, but over after so many packets.
    pub fn max_packets(mut self, packets: u64) -> CaptureSpec {
        self.max_packets = Some(packets);
        self
    }
}

/// What a capture holds at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureSummary {
    /// Packets that were written; those that a limit kept out don't count.
    pub packets: u64,
    /// The file, if it was captured to memory.
    pub bytes: Vec<u8>,
}

/// Packets on their way to a file.
///
/// A packet is known before its last bit leaves. It waits here until time has passed it, so that packets are written
/// in order of time, then in the order in which they were handed over; and it is taken back if its link goes down
/// before it has left.
pub struct Tap {
    name: String,
    out: Out,
    blocks: BlockWriter,
    /// The number in the file of each port that is captured, and what is shown of its frames.
    interfaces: BTreeMap<u32, (u32, Form)>,
    pending: BinaryHeap<Reverse<Pending>>,
    order: u64,
    packets: u64,
    max_packets: u64,
    epoch_ns: u64,
    error: Option<CaptureError>,
}

/// An opened [`CaptureTo`]: where the bytes of a capture go.
pub(crate) enum Out {
    Memory(Vec<u8>),
    Writer(Box<dyn Write + Send>),
}

impl Out {
    /// Opens it and says what it is called in errors.
    pub(crate) fn open(to: CaptureTo) -> Result<(String, Out), CaptureError> {
        Ok(match to {
            CaptureTo::Memory => ("memory".to_string(), Out::Memory(Vec::new())),
            CaptureTo::Writer(name, writer) => (name, Out::Writer(writer)),
            CaptureTo::File(path) => match File::create(&path) {
                Ok(file) => (
                    path.display().to_string(),
                    Out::Writer(Box::new(BufWriter::with_capacity(1 << 16, file))),
                ),
                Err(source) => return Err(CaptureError::Create { path, source }),
            },
        })
    }
    /// What was written, if it was to memory.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        if let Out::Memory(bytes) = self { bytes } else { Vec::new() }
    }
    pub(crate) fn writer(&mut self) -> &mut dyn Write {
        match self {
            Out::Memory(bytes) => bytes,
            Out::Writer(writer) => writer,
        }
    }
}

struct Pending {
    at: Time,
    order: u64,
    start: Time,
    port: u32,
    way: Way,
    bytes: Vec<u8>,
}

impl Tap {
    /// A capture of the ports given with number, name, speed, link type and what is shown of their frames.
    pub fn new(spec: CaptureSpec, ports: &[(u32, String, u64, u16, Form)]) -> Result<Tap, CaptureError> {
        let (name, out) = Out::open(spec.to)?;
        let mut tap = Tap {
            name,
            out,
            blocks: BlockWriter::default(),
            interfaces: BTreeMap::new(),
            pending: BinaryHeap::new(),
            order: 0,
            packets: 0,
            max_packets: spec.max_packets.unwrap_or(u64::MAX),
            epoch_ns: spec.epoch_ns,
            error: None,
        };
        let mut begin = || -> std::io::Result<()> {
            tap.blocks.section(tap.out.writer())?;
            for (index, (port, name, speed, link_type, form)) in ports.iter().enumerate() {
                let link_type = form.link_type().unwrap_or(*link_type);
                tap.blocks.interface(tap.out.writer(), name, *speed, link_type)?;
                tap.interfaces.insert(*port, (index as u32, *form));
            }
            Ok(())
        };
        match begin() {
            Ok(()) => Ok(tap),
            Err(source) => Err(CaptureError::Write { name: tap.name, packet: 0, source }),
        }
    }

    /// A frame passes `port`, its last bit at `at`, which is `now` or later.
    pub fn pass(&mut self, now: Time, port: u32, way: Way, start: Time, at: Time, frame: &Frame) {
        if self.is_over() {
            return;
        }
        // What a kernel left undone is written as it would look on a wire.
        let done = match frame.offload() {
            Some(_) => real_frames(frame.clone(), &mut |piece| self.wait(port, way, start, at, &piece)),
            None => 0,
        };
        if done == 0 {
            self.wait(port, way, start, at, frame);
        }
        self.write_until(now);
    }

    fn wait(&mut self, port: u32, way: Way, start: Time, at: Time, frame: &Frame) {
        let (order, bytes) = (self.order, frame.to_vec());
        self.pending.push(Reverse(Pending { at, order, start, port, way, bytes }));
        self.order += 1;
    }

    /// Takes back what has not left `port`, of which the last bit leaves after `at`.
    pub fn cut(&mut self, port: u32, at: Time) {
        self.pending.retain(|Reverse(p)| p.port != port || p.way == Way::Inbound || p.at <= at);
    }

    /// Takes back what has not left `port`, of which the first bit leaves after `at`.
    pub fn cut_waiting(&mut self, port: u32, at: Time) {
        self.pending.retain(|Reverse(p)| p.port != port || p.way == Way::Inbound || p.start <= at);
    }

    /// Has it all the packets that it was to have, or failed?
    pub fn is_over(&self) -> bool {
        self.packets >= self.max_packets || self.error.is_some()
    }

    /// The error that ended it.
    pub fn take_error(&mut self) -> Option<CaptureError> {
        self.error.take()
    }

    /// Writes what passed by `now`.
    pub fn write_until(&mut self, now: Time) {
        while !self.is_over() && self.pending.peek().is_some_and(|Reverse(p)| p.at <= now) {
            let Some(Reverse(p)) = self.pending.pop() else { break };
            let Some(&(interface, form)) = self.interfaces.get(&p.port) else { continue };
            let nanos = self.epoch_ns.saturating_add(p.at.as_nanos());
            // The first lane of a link is that of its first end, which has the circuit if there is one.
            let Some(shown) = form.show(nanos, p.port % 2 == 0, p.bytes) else { continue };
            match self.blocks.packet(self.out.writer(), interface, nanos, p.way, &shown) {
                Ok(()) => self.packets += 1,
                Err(source) => self.fail(source),
            }
        }
    }

    fn fail(&mut self, source: std::io::Error) {
        self.error = Some(CaptureError::Write { name: self.name.clone(), packet: self.packets, source });
        self.pending.clear();
    }

    /// Packets that it has written so far.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Writes what passed by `now`, and brings it into the file.
    pub fn flush(&mut self, now: Time) {
        self.write_until(now);
        if self.error.is_none()
            && let Err(source) = self.out.writer().flush()
        {
            self.fail(source);
        }
    }

    /// Writes what passed by `now` and ends the file.
    pub fn finish(mut self, now: Time) -> Result<CaptureSummary, CaptureError> {
        self.flush(now);
        match self.error {
            Some(error) => Err(error),
            None => Ok(CaptureSummary { packets: self.packets, bytes: self.out.into_bytes() }),
        }
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Pending) -> bool {
        self.order == other.order
    }
}
impl Eq for Pending {}
impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Pending) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Pending {
    fn cmp(&self, other: &Pending) -> core::cmp::Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}
