//! Ports, links, faults, timers, capture, record and replay; both clocks.
//!
//! What both clocks share stands on its own: [`link`] (what the user says of a link), [`lane`] (one direction of a
//! link: the egress port and the wire behind it), [`egress`] (queue disciplines in front of that wire), [`offload`]
//! (super-frames cut into real ones), [`fault`] and [`impair`] (what can go wrong on it), [`capture`], [`digest`],
//! [`counters`] and [`record`]. The virtual clock is [`virtual_time::World`]: an event queue that jumps.
//! [`real_time::Runner`] drives the same world by the clock on the wall, and [`external`] carries frames to and from
//! interfaces.
//!
//! No protocol is known here: frames are bytes with a length.

pub mod capture;
pub mod counters;
pub mod digest;
pub mod egress;
pub mod error;
pub mod external;
pub mod fault;
pub mod impair;
pub mod lane;
pub mod link;
pub mod medium;
pub mod offload;
pub mod queue;
pub mod real_time;
pub mod record;
pub mod ring;
pub mod virtual_time;

pub use capture::{
    CaptureError, CaptureId, CaptureReader, CaptureSpec, CaptureSummary, CaptureTarget, CaptureTo, Packet,
};
pub use counters::{DirectionCounters, Imbalance, PortCounters};
pub use digest::RunDigest;
pub use error::EngineError;
pub use fault::{Direction, Fault, FaultKind};
/// What waits at egress ports, and in which order it leaves.
pub use forwarding::queue as discipline;
pub use link::{LinkSpec, PortSpec};
pub use medium::Medium;
pub use record::{RecordTo, Recording, RecordingError, Replay, replay};
pub use virtual_time::{EventRecord, LossPlace, LossesAt, Progress, Shared, Stopwatch, ThreadsFor, World};
