//! Both directions of an interface to a pcapng file, as they pass.
//!
//! Times are the kernel's, taken when a frame passes the interface. A frame that a kernel left undone (a super-frame, a
//! partial checksum) is written as it would look on a wire, in real frames with their checksums, unless asked otherwise.
//!
//! ```no_run
//! # use twinplane_engine::external::capture::{InterfaceCapture, InterfaceCaptureSpec};
//! # use twinplane_engine::CaptureTo;
//! let spec = InterfaceCaptureSpec { max_packets: Some(100), ..InterfaceCaptureSpec::new("e0") };
//! let mut capture = InterfaceCapture::open(&spec, CaptureTo::File("e0.pcapng".into()))?;
//! capture.run(&mut || false)?; // until there are 100
//! println!("{} packets", capture.finish()?.packets);
//! # Ok::<(), twinplane_engine::external::capture::InterfaceCaptureError>(())
//! ```

use super::error::{PortError, refused};
use super::interface::{Interface, Probe};
use super::packet::incoming::Incoming;
use super::sys::wait_readable;
use super::{netns, offload};
use crate::capture::pcapng::{BlockWriter, Way};
use crate::capture::tap::Out;
use crate::capture::{CaptureError, CaptureTo};
use base::Frame;
use std::path::PathBuf;
use thiserror::Error;

/// How long a wait for frames lasts before the stop condition is looked at.
const LOOK_MS: i32 = 50;
/// Slots of the ring: frames that can wait while the file is written.
const SLOTS: u32 = 8192;

/// What is to be captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceCaptureSpec {
    /// The interface.
    pub interface: String,
    /// The path of its network namespace; that of the calling thread if absent.
    pub netns: Option<PathBuf>,
    /// What the interface is called in the file; its own name if absent.
    pub label: Option<String>,
    /// Bytes of each packet that are kept; all if absent.
    pub snap_len: Option<u32>,
    /// After how many packets the capture is over; never if absent.
    pub max_packets: Option<u64>,
    /// Write what was left undone as it is: super-frames whole, checksums partial.
    pub undone: bool,
}

impl InterfaceCaptureSpec {
    /// Everything that passes an interface of the calling thread's namespace.
    pub fn new(interface: &str) -> InterfaceCaptureSpec {
        InterfaceCaptureSpec {
            interface: interface.to_string(),
            netns: None,
            label: None,
            snap_len: None,
            max_packets: None,
            undone: false,
        }
    }
}

/// Why a capture can't begin or go on.
#[derive(Debug, Error)]
pub enum InterfaceCaptureError {
    /// The interface.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The file.
    #[error(transparent)]
    File(#[from] CaptureError),
}

/// What became of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCaptureSummary {
    /// Packets written.
    pub packets: u64,
    /// Frames that passed while there was no room to keep them.
    pub missed: u64,
    /// Was the interface taken away in the meantime?
    pub gone: bool,
    /// The file, if it was captured to memory.
    pub bytes: Vec<u8>,
}

/// A capture that has begun: what passes from now on is kept, and written by [`InterfaceCapture::run`].
pub struct InterfaceCapture {
    interface: Interface,
    probe: Probe,
    incoming: Incoming,
    name: String,
    out: Out,
    blocks: BlockWriter,
    snap_len: usize,
    max_packets: u64,
    undone: bool,
    packets: u64,
    gone: bool,
}

impl InterfaceCapture {
    /// Begins.
    pub fn open(
        spec: &InterfaceCaptureSpec,
        to: CaptureTo,
    ) -> Result<InterfaceCapture, InterfaceCaptureError> {
        let (interface, probe, incoming) = netns::within(spec.netns.as_deref(), || {
            let interface = Interface::here(&spec.interface)?;
            let failed = |source| refused(format!("packet socket on {}", spec.interface), source);
            let incoming = Incoming::open(&interface, SLOTS, true, false).map_err(failed)?;
            Ok((interface, Probe::new(&spec.interface)?, incoming))
        })?;
        let (name, out) = Out::open(to)?;
        let mut capture = InterfaceCapture {
            interface,
            probe,
            incoming,
            name,
            out,
            blocks: BlockWriter::default(),
            snap_len: spec.snap_len.map_or(usize::MAX, |len| len as usize),
            max_packets: spec.max_packets.unwrap_or(u64::MAX),
            undone: spec.undone,
            packets: 0,
            gone: false,
        };
        let label = spec.label.as_ref().unwrap_or(&spec.interface);
        let begun = capture
            .blocks
            .section(capture.out.writer())
            .and_then(|()| capture.blocks.interface(capture.out.writer(), label, 0));
        begun.map_err(|source| capture.write_error(source))?;
        Ok(capture)
    }

    fn write_error(&self, source: std::io::Error) -> CaptureError {
        CaptureError::Write { name: self.name.clone(), packet: self.packets, source }
    }

    /// Has it all the packets that it was to have, or no interface any more?
    pub fn is_over(&self) -> bool {
        self.gone || self.packets >= self.max_packets
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
        let failed =
            |source| PortError::System { what: format!("interface {}", self.interface.name), source };
        if !wait_readable(self.incoming.fd(), timeout_ms).map_err(failed)? {
            self.gone = matches!(
                self.probe.link_up(&self.interface.name, self.interface.index),
                Err(PortError::Gone { .. })
            );
        }
        let mut waiting = 0;
        while waiting < SLOTS && !self.is_over() {
            let Some(received) = self.incoming.next() else { break };
            waiting += 1;
            let Some(received) = received else { continue };
            let way = if received.outgoing { Way::Outbound } else { Way::Inbound };
            self.write(received.frame, received.nanos, way)?;
        }
        if waiting == 0 {
            self.incoming.clear_error();
        }
        Ok(())
    }

    fn write(&mut self, frame: Frame, nanos: u64, way: Way) -> Result<(), CaptureError> {
        let mut result = Ok(());
        let (out, blocks) = (&mut self.out, &mut self.blocks);
        let (packets, most, snap_len) = (&mut self.packets, self.max_packets, self.snap_len);
        let mut write = |frame: Frame| {
            if result.is_ok() && *packets < most {
                let bytes = frame.to_vec();
                let kept = &bytes[..bytes.len().min(snap_len)];
                result = blocks.packet_start(out.writer(), 0, nanos, way, kept, bytes.len());
                *packets += u64::from(result.is_ok());
            }
        };
        if self.undone || offload::real_frames(frame.clone(), &mut write) == 0 {
            write(frame);
        }
        result.map_err(|source| self.write_error(source))
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<InterfaceCaptureSummary, InterfaceCaptureError> {
        let flushed = self.out.writer().flush();
        flushed.map_err(|source| self.write_error(source))?;
        let counts = self.incoming.counts;
        let missed = self.incoming.kernel_drops() + counts.no_room + counts.too_long + counts.unknown;
        let (packets, gone) = (self.packets, self.gone);
        Ok(InterfaceCaptureSummary { packets, missed, gone, bytes: self.out.into_bytes() })
    }
}
