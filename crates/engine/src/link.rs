//! What the user says of a link: two ports, each with rate, buffer and clock, and the wire between them.

use base::{NodeId, Rate, Span};
use serde::{Deserialize, Serialize};

/// One end of a link: a port that sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PortSpec {
    /// How fast it sends. Zero means in no time.
    pub rate: Rate,
    /// How many bytes may wait for their turn; a frame that does not fit is dropped. Without limit if absent.
    pub buffer_bytes: Option<u64>,
    /// How much faster than nominal its clock runs, in parts per billion.
    pub clock_offset_ppb: i64,
    /// How long the device takes to notice that the link went down or came up.
    pub detection: Span,
}

impl Default for PortSpec {
    /// A gigabit port with an unlimited buffer, a perfect clock and immediate detection.
    fn default() -> PortSpec {
        PortSpec { rate: Rate::from_gbps(1), buffer_bytes: None, clock_offset_ppb: 0, detection: Span::ZERO }
    }
}

/// A link between two devices (or between two ports of one).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// The device at its first end.
    pub a: NodeId,
    /// The device at its second end.
    pub b: NodeId,
    /// The ports at `a` and at `b`.
    pub ports: [PortSpec; 2],
    /// The propagation delay, the same both ways.
    pub delay: Span,
}

impl LinkSpec {
    /// A link of the same rate both ways, with unlimited buffers.
    pub fn new(a: NodeId, b: NodeId, rate: Rate, delay: Span) -> LinkSpec {
        let port = PortSpec { rate, ..PortSpec::default() };
        LinkSpec { a, b, ports: [port.clone(), port], delay }
    }
    /// The same with a limited buffer at both ports.
    pub fn with_buffer(mut self, bytes: u64) -> LinkSpec {
        self.ports.iter_mut().for_each(|p| p.buffer_bytes = Some(bytes));
        self
    }
    /// The same with this detection time at both ports.
    pub fn with_detection(mut self, detection: Span) -> LinkSpec {
        self.ports.iter_mut().for_each(|p| p.detection = detection);
        self
    }
}
