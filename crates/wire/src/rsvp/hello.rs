//! The HELLO object (RFC 3209, 5.2).

use serde::{Deserialize, Serialize};

/// HELLO: a neighbour's sign of life. C-Type 1 asks, C-Type 2 answers.
///
/// ```text
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                         Src_Instance                          |
/// |                         Dst_Instance                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Hello {
    /// C-Type 1.
    #[serde(rename = "HELLO REQUEST")]
    Request {
        /// Changes when the sender restarts; never zero.
        src_instance: u32,
        /// Src_Instance last heard from the neighbour, or zero.
        dst_instance: u32,
    },
    /// C-Type 2.
    #[serde(rename = "HELLO ACK")]
    Ack {
        /// Changes when the sender restarts; never zero.
        src_instance: u32,
        /// Src_Instance last heard from the neighbour, or zero.
        dst_instance: u32,
    },
}
