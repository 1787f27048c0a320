//! What every port does, and how one is asked for.

use super::clock::Clock;
use super::error::PortError;
use base::Frame;
use std::collections::VecDeque;
use std::os::fd::RawFd;
use std::path::PathBuf;

/// Frames that can wait unless said otherwise: some milliseconds at the rate of a busy interface.
const RECEIVE_SLOTS: u32 = 2048;

/// What passed a port, and what did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExternalCounters {
    /// Frames that were read from the interface. A super-frame counts as one.
    pub rx_frames: u64,
    /// Bytes of the received frames, from the Ethernet header on.
    pub rx_bytes: u64,
    /// Frames sent. A super-frame counts as one.
    pub tx_frames: u64,
    /// Bytes of the sent frames, from the Ethernet header on.
    pub tx_bytes: u64,
    /// Frames that the kernel dropped because nobody took them in time.
    pub rx_kernel_drops: u64,
    /// Frames that came and were too long to be taken.
    pub rx_too_long: u64,
    /// Frames that came with something left undone that nobody here can do.
    pub rx_unknown: u64,
    /// Frames to be sent that were dropped: the interface is switched off, or takes nothing for long.
    pub tx_dropped: u64,
    /// Frames to be sent that are longer than the interface takes.
    pub tx_too_long: u64,
    /// Frames to be sent that the kernel refused, or that are not what they say they are.
    pub tx_errors: u64,
    /// Super-frames that were cut in software.
    pub tx_segmented: u64,
}

/// By which of the kernel's ways a port has its frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// AF_PACKET: takes every Ethernet interface.
    #[default]
    Packet,
    /// AF_XDP: quicker, for interfaces with one receive queue and frames that fit in a page.
    Xdp,
}

/// An interface to be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalSpec {
    /// The name of the interface in its namespace.
    pub interface: String,
    /// The path of its network namespace; that of the calling thread if absent.
    pub netns: Option<PathBuf>,
    /// The kernel's way to its frames: AF_PACKET unless said otherwise.
    pub driver: Driver,
    /// Take super-frames and partial checksums from the kernel and hand them to it. Otherwise every frame is made real
    /// when it comes, and before it goes.
    pub offload: bool,
    /// Take frames to every address.
    pub promiscuous: bool,
    /// Send past the queue discipline of the interface (AF_PACKET).
    pub bypass_queue: bool,
    /// Frames that can wait to be received.
    pub receive_slots: u32,
    /// Have the kernel look for frames in our calls instead of by interrupts (AF_XDP, where the driver can).
    pub busy_poll: bool,
}

impl ExternalSpec {
    /// The interface of that name of the calling thread's namespace, by AF_PACKET.
    pub fn new(interface: &str) -> ExternalSpec {
        ExternalSpec {
            interface: interface.to_string(),
            netns: None,
            driver: Driver::Packet,
            offload: true,
            promiscuous: false,
            bypass_queue: false,
            receive_slots: RECEIVE_SLOTS,
            busy_poll: false,
        }
    }
}

/// A port: frames between an interface and whoever holds it. None of its calls ever waits.
pub trait ExternalPort: Send {
    /// The interface's name, as it was opened.
    fn name(&self) -> &str;
    /// Appends frames that have come, `max` of the kernel's at the most, and returns how many were appended: a
    /// super-frame may be several.
    fn receive(&mut self, clock: &Clock, frames: &mut Vec<Frame>, max: usize) -> Result<usize, PortError>;
    /// Takes frames from the front, as many as the interface takes now, and returns how many. What is too long, or
    /// can't be sent for good, is taken, dropped and counted.
    fn send(&mut self, frames: &mut VecDeque<Frame>) -> Result<usize, PortError>;
    /// Holds it frames that it took and has not sent? Then it is to be asked to send soon, though there be no others.
    fn has_unsent(&self) -> bool {
        false
    }
    /// Takes the interface that has the name now, in place of one that was taken away. What was counted stays.
    fn reopen(&mut self) -> Result<(), PortError> {
        Err(PortError::Gone { name: self.name().to_string() })
    }
    /// A descriptor that is readable when frames wait.
    fn poll_fd(&self) -> RawFd;
    /// Is the interface switched on, and its other end there? Quick enough to be asked ten times a second.
    /// [`PortError::Gone`] if there is no such interface any more.
    fn link_up(&mut self) -> Result<bool, PortError>;
    /// What passed since it was opened, and what was dropped.
    fn counters(&self) -> ExternalCounters;
}
