//! What passes interfaces, to a pcapng file.
//!
//! Times are the kernel's, taken when a frame passes the interface. A frame that a kernel left undone (a super-frame,
//! a partial checksum) is written as it would look on a wire, in real frames with their checksums, unless asked
//! otherwise. Frames of several interfaces are written in the order of their times: they are held until none can come
//! any more that passed before.
//!
//! ```no_run
//! # use twinplane_engine::external::capture::{CaptureSource, InterfaceCapture, InterfaceCaptureSpec};
//! # use twinplane_engine::CaptureTo;
//! let spec = InterfaceCaptureSpec { max_packets: Some(100), ..InterfaceCaptureSpec::of(CaptureSource::new("e0")) };
//! let mut capture = InterfaceCapture::open(&spec, CaptureTo::File("e0.pcapng".into()))?;
//! capture.run(&mut || false)?; // until there are 100
//! println!("{} packets", capture.finish()?.packets);
//! # Ok::<(), twinplane_engine::external::capture::InterfaceCaptureError>(())
//! ```

use super::clock::Clock;
use super::error::{PortError, refused};
use super::interface::{Interface, Probe};
use super::netns;
use super::packet::incoming::Incoming;
use super::sys::wait_readable;
use crate::capture::pcapng::{BlockWriter, ETHERNET, Way};
use crate::capture::tap::Out;
use crate::capture::{CaptureError, CaptureTo};
use crate::offload;
use base::{Frame, Span, Time};
use std::os::fd::RawFd;
use std::path::PathBuf;
use thiserror::Error;

/// How long a wait for frames lasts before the stop condition is looked at.
const LOOK_MS: i32 = 50;
/// The same while frames are held.
const HELD_MS: i32 = 1;
/// Slots of the ring: frames that can wait while the file is written.
const SLOTS: u32 = 8192;
/// So old is a frame, by its stamp, when no earlier one can come in at another interface any more.
const SETTLED_NS: u64 = 1_000_000;
/// So often what was written is handed to the system, so that others can read the file meanwhile.
const FLUSH: Span = Span::from_ms(200);

/// An interface to be captured, and under which name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSource {
    /// The interface's name in its namespace.
    pub interface: String,
    /// The path of its network namespace; that of the calling thread if absent.
    pub netns: Option<PathBuf>,
    /// What the interface is called in the file; its own name if absent.
    pub label: Option<String>,
    /// Capture only what the interface receives.
    pub inbound_only: bool,
}

impl CaptureSource {
    /// Both directions of an interface of the calling thread's namespace.
    pub fn new(interface: &str) -> CaptureSource {
        CaptureSource { interface: interface.to_string(), netns: None, label: None, inbound_only: false }
    }
}

/// What an interface capture is to take, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceCaptureSpec {
    /// The interfaces, each with a number of its own in the file, in this order.
    pub sources: Vec<CaptureSource>,
    /// Bytes of each packet that are kept; all if absent.
    pub snap_len: Option<u32>,
    /// After how many packets the capture is over; never if absent.
    pub max_packets: Option<u64>,
    /// Write what was left undone as it is: super-frames whole, checksums partial.
    pub undone: bool,
}

impl InterfaceCaptureSpec {
    /// Everything that passes one interface.
    pub fn of(source: CaptureSource) -> InterfaceCaptureSpec {
        InterfaceCaptureSpec { sources: vec![source], snap_len: None, max_packets: None, undone: false }
    }
}

/// Why a capture can't begin or go on.
#[derive(Debug, Error)]
pub enum InterfaceCaptureError {
    /// An interface can't be opened or read.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The file can't be made or written.
    #[error(transparent)]
    File(#[from] CaptureError),
}

/// What an interface capture holds at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCaptureSummary {
    /// Packets written to the file, of all interfaces.
    pub packets: u64,
    /// Frames that passed while there was no room to keep them.
    pub missed: u64,
    /// Was an interface taken away in the meantime?
    pub gone: bool,
    /// The file, if it was captured to memory.
    pub bytes: Vec<u8>,
}

/// An interface that is listened to.
struct Tapped {
    interface: Interface,
    probe: Probe,
    incoming: Incoming,
    /// Frames of it that were written.
    written: u64,
}

impl Tapped {
    fn open(source: &CaptureSource) -> Result<Tapped, PortError> {
        netns::within(source.netns.as_deref(), || {
            let interface = Interface::here(&source.interface)?;
            let failed = |error| refused(format!("packet socket on {}", source.interface), error);
            let incoming = Incoming::open(&interface, SLOTS, !source.inbound_only, false).map_err(failed)?;
            Ok(Tapped { interface, probe: Probe::new(&source.interface)?, incoming, written: 0 })
        })
    }

    fn is_gone(&mut self) -> bool {
        let state = self.probe.link_up(&self.interface.name, self.interface.index);
        matches!(state, Err(PortError::Gone { .. }))
    }

    fn missed(&self) -> u64 {
        let counts = self.incoming.counts;
        self.incoming.kernel_drops() + counts.no_room + counts.too_long + counts.unknown
    }
}

/// A frame that is held until it is its turn.
struct Held {
    nanos: u64,
    index: usize,
    way: Way,
    frame: Frame,
}

/// A capture that has begun: what passes from now on is kept, and written by [`InterfaceCapture::run`].
pub struct InterfaceCapture {
    tapped: Vec<Tapped>,
    held: Vec<Held>,
    name: String,
    out: Out,
    blocks: BlockWriter,
    snap_len: usize,
    max_packets: u64,
    undone: bool,
    packets: u64,
    gone: bool,
    clock: Clock,
    flushed: Time,
}

impl InterfaceCapture {
    /// Opens all interfaces, then the file, and writes what begins it.
    pub fn open(
        spec: &InterfaceCaptureSpec,
        to: CaptureTo,
    ) -> Result<InterfaceCapture, InterfaceCaptureError> {
        let tapped = spec.sources.iter().map(Tapped::open).collect::<Result<_, _>>()?;
        let (name, out) = Out::open(to)?;
        let mut capture = InterfaceCapture {
            tapped,
            held: Vec::new(),
            name,
            out,
            blocks: BlockWriter::default(),
            snap_len: spec.snap_len.map_or(usize::MAX, |len| len as usize),
            max_packets: spec.max_packets.unwrap_or(u64::MAX),
            undone: spec.undone,
            packets: 0,
            gone: false,
            clock: Clock::new(),
            flushed: Time::ZERO,
        };
        let begun = capture.begin(&spec.sources);
        begun.map_err(|source| capture.write_error(source))?;
        Ok(capture)
    }

    fn begin(&mut self, sources: &[CaptureSource]) -> std::io::Result<()> {
        self.blocks.section(self.out.writer())?;
        for source in sources {
            let label = source.label.as_ref().unwrap_or(&source.interface);
            self.blocks.interface(self.out.writer(), label, 0, ETHERNET)?;
        }
        self.out.writer().flush()
    }

    fn write_error(&self, source: std::io::Error) -> CaptureError {
        CaptureError::Write { name: self.name.clone(), packet: self.packets, source }
    }

    /// Has it all the packets that it was to have, or no interface any more?
    pub fn is_over(&self) -> bool {
        self.gone || self.packets >= self.max_packets
    }

    /// Packets written so far, of all interfaces.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Writes what passes until the capture is over or `stop`, asked every 50 ms or so, says so.
    pub fn run(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), InterfaceCaptureError> {
        while !self.is_over() && !stop() {
            self.step(LOOK_MS)?;
        }
        Ok(())
    }

    /// Waits up to `timeout_ms` for a frame and writes those that wait.
    pub fn step(&mut self, timeout_ms: i32) -> Result<(), InterfaceCaptureError> {
        let fds: Vec<RawFd> = self.tapped.iter().map(|tapped| tapped.incoming.fd()).collect();
        let timeout_ms = if self.held.is_empty() { timeout_ms } else { timeout_ms.min(HELD_MS) };
        let failed = |source| PortError::System { what: format!("capture {}", self.name), source };
        let ready = wait_readable(&fds, timeout_ms).map_err(failed)?;
        if !ready && self.held.is_empty() {
            self.gone |= self.tapped.iter_mut().any(Tapped::is_gone);
        }
        let settled = self.take_all();
        self.write_until(settled)?;
        let now = self.clock.now();
        if now - self.flushed >= FLUSH {
            let flushed = self.out.writer().flush();
            flushed.map_err(|source| self.write_error(source))?;
            self.flushed = now;
        }
        Ok(())
    }

    /// Takes what waits at all interfaces. Returns until when, by the kernel's stamps, that is all that there was.
    fn take_all(&mut self) -> u64 {
        let now = Clock::calendar_ns();
        let alone = self.tapped.len() == 1;
        let mut settled = if alone { u64::MAX } else { now.saturating_sub(SETTLED_NS) };
        for (index, tapped) in self.tapped.iter_mut().enumerate() {
            let (mut waiting, mut last) = (0, 0);
            while waiting < SLOTS {
                let Some(received) = tapped.incoming.next() else { break };
                waiting += 1;
                let Some(received) = received else { continue };
                let way = if received.outgoing { Way::Outbound } else { Way::Inbound };
                last = received.nanos;
                self.held.push(Held { nanos: last, index, way, frame: received.frame });
            }
            match waiting {
                0 => tapped.incoming.clear_error(),
                SLOTS if !alone => settled = settled.min(last),
                _ => {}
            }
        }
        settled
    }

    /// Writes held frames in the order of their times, up to `until`.
    fn write_until(&mut self, until: u64) -> Result<(), CaptureError> {
        if self.tapped.len() > 1 {
            self.held.sort_by_key(|held| held.nanos);
        }
        let count = self.held.partition_point(|held| until == u64::MAX || held.nanos <= until);
        let rest = self.held.split_off(count);
        for held in core::mem::replace(&mut self.held, rest) {
            self.write(held)?;
        }
        Ok(())
    }

    fn write(&mut self, held: Held) -> Result<(), CaptureError> {
        let Held { nanos, index, way, frame } = held;
        let mut result = Ok(());
        let (out, blocks, written) = (&mut self.out, &mut self.blocks, &mut self.tapped[index].written);
        let (packets, most, snap_len) = (&mut self.packets, self.max_packets, self.snap_len);
        let mut write = |frame: Frame| {
            if result.is_ok() && *packets < most {
                let bytes = frame.to_vec();
                let kept = &bytes[..bytes.len().min(snap_len)];
                result = blocks.packet_start(out.writer(), index as u32, nanos, way, kept, bytes.len());
                *packets += u64::from(result.is_ok());
                *written += u64::from(result.is_ok());
            }
        };
        if self.undone || offload::real_frames(frame.clone(), &mut write) == 0 {
            write(frame);
        }
        result.map_err(|source| self.write_error(source))
    }

    /// Writes what has passed until now, and ends the file.
    pub fn finish(mut self) -> Result<InterfaceCaptureSummary, InterfaceCaptureError> {
        self.take_all();
        self.write_until(u64::MAX)?;
        let ended = self.end();
        ended.map_err(|source| self.write_error(source))?;
        let missed = self.tapped.iter().map(Tapped::missed).sum();
        let (packets, gone) = (self.packets, self.gone);
        Ok(InterfaceCaptureSummary { packets, missed, gone, bytes: self.out.into_bytes() })
    }

    /// What each interface has counted.
    fn end(&mut self) -> std::io::Result<()> {
        let now = Clock::calendar_ns();
        for (index, tapped) in self.tapped.iter().enumerate() {
            let (written, missed) = (tapped.written, tapped.missed());
            self.blocks.statistics(self.out.writer(), index as u32, now, written + missed, missed)?;
        }
        self.out.writer().flush()
    }
}
