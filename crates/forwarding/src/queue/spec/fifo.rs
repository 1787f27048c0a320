//! Queues that drop what does not fit and reorder nothing: pfifo, bfifo.

use serde::{Deserialize, Serialize};

/// First in, first out, limited in packets: Linux's tc-pfifo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PfifoSpec {
    /// Packets that may wait.
    pub limit: u64,
}

impl Default for PfifoSpec {
    /// Linux's usual length of a transmit queue.
    fn default() -> PfifoSpec {
        PfifoSpec { limit: 1000 }
    }
}

/// First in, first out, limited in bytes: Linux's tc-bfifo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BfifoSpec {
    /// Bytes that may wait.
    pub limit_bytes: u64,
}
