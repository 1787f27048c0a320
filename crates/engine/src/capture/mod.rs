//! Capture of links and ports as pcapng files, and a reader for pcap and pcapng.
//!
//! - [`pcapng`]: the bytes of a file
//! - [`tap`]: which packets are written, when, and in which order
//! - [`reader`]: packets of a file somebody else may have written
//!
//! A packet's time is that at which its **last bit** passes the port where it is captured: it leaves the sending port
//! (outbound) or reaches the receiving one (inbound). Times are in nanoseconds, rounded down: what the engine knows
//! beyond that, down to a picosecond, is lost in the file. Packets are written without padding and frame check
//! sequence, in order of time.

pub mod form;
pub mod pcapng;
pub mod reader;
pub mod tap;

pub use reader::{CaptureReader, Packet};
pub use tap::{CaptureId, CaptureSpec, CaptureSummary, CaptureTarget, CaptureTo};

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a capture file.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file can't be made.
    #[error("{}: can't be written: {}", .path.display(), base::diagnostic::os_text(.source))]
    Create {
        /// The path as the user gave it.
        path: PathBuf,
        /// What the system answered to opening it for writing.
        source: io::Error,
    },
    /// The file can't be written any further (the disk may be full). What it holds so far can be read.
    #[error("{name}: packet {packet} can't be written: {}", base::diagnostic::os_text(.source))]
    Write {
        /// The file, or what it is instead of one.
        name: String,
        /// How many packets there are before.
        packet: u64,
        /// What the system, or the writer that stands for the file, answered.
        source: io::Error,
    },
    /// The bytes can't be read at all.
    #[error("at byte {offset}: {}", base::diagnostic::os_text(.source))]
    Read {
        /// Bytes of the file that had been read before.
        offset: u64,
        /// What the system answered.
        source: io::Error,
    },
    /// Neither pcap nor pcapng.
    #[error("not a capture file: begins with {magic:02x?}, neither a pcap nor a pcapng magic number")]
    Foreign {
        /// The bytes that it begins with, four at the most.
        magic: Vec<u8>,
    },
    /// The file ends in the middle of something.
    #[error("capture file ends at byte {offset} in the middle of {what}")]
    Truncated {
        /// Length of the file in bytes.
        offset: u64,
        /// The part that should continue there, such as `a record header`; put into the message as it is.
        what: &'static str,
    },
    /// A field has an impossible value.
    #[error("capture file, byte {offset}: {what} of {value}")]
    Malformed {
        /// Where the block or record begins.
        offset: u64,
        /// The field, in the words of the message.
        what: &'static str,
        /// The value as the file has it; no value of its kind is allowed there.
        value: u64,
    },
    /// There is no such capture, or it is finished.
    #[error("no capture {0}: it was never begun, or is finished")]
    Unknown(u32),
}
