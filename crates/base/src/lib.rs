//! Vocabulary and contracts: what every other crate of Twinplane speaks, and nothing that does I/O.
//!
//! - [`time`]: [`Time`], [`Span`], [`Rate`], [`Serialiser`]; picoseconds, no drift
//! - [`ids`]: nodes, ports, links, streams, MAC addresses
//! - [`losses`]: frames that end on their way, counted by whose they are and why
//! - [`label`]: [`Label`], [`TrafficClass`], [`Dscp`]
//! - [`limiter`]: how often a node may do what others make it do
//! - [`frame`]: the [`Frame`] that moves between devices
//! - [`describe`]: descriptions that users write, declared once; [`diagnostic`]: what is wrong with one, as data
//! - [`device`]: the one contract that every device keeps under both clocks
//! - [`diffserv`]: what LSPs know of PHBs (RFC 3270)
//! - [`flow`]: filters that name flows of packets; [`flow_spec`]: the same as users write them
//! - [`phb`]: per-hop behaviours (PHBs) and sets of them
//! - [`plane`]: what control and forwarding say to each other, and nothing else
//! - [`command`], [`event`]: what a user tells a device, what a device tells a user
//! - [`protocol`]: what names a control protocol; [`protocol_value`]: its commands and events, on their way through
//!   crates that know no protocol
//! - [`mod@prefetch`]: hints to the processor about memory
//! - [`random`]: named random streams
//! - [`table`]: tables for users, declared once
//! - [`wheel`]: a timing wheel for millions of timers
//! - [`growth`]: how large tables grow
//! - [`queue`]: queues that keep little memory
//! - [`histogram`]: a histogram with bins in proportion to their values
//! - [`pages`]: lists that grow without being moved
//! - [`dense`]: tables for millions of small values
//! - [`map`]: a hash map with a fixed hash that cannot be iterated

pub mod command;
pub mod dense;
pub mod describe;
pub mod device;
pub mod diagnostic;
pub mod diffserv;
pub mod event;
pub mod flow;
pub mod flow_spec;
pub mod frame;
pub mod growth;
pub mod histogram;
pub mod ids;
pub mod label;
pub mod limiter;
pub mod losses;
pub mod map;
pub mod pages;
pub mod phb;
pub mod plane;
pub mod prefetch;
pub mod protocol;
pub mod protocol_value;
pub mod queue;
pub mod random;
pub mod runs;
pub mod table;
pub mod time;
pub mod wheel;

pub use command::{Command, QueueCount};
pub use dense::{Dense, Interned, Interner};
pub use device::{Device, Output, Verdict};
pub use diffserv::{DiffServConfig, DscpMap, ELsp, LLsp, LspDiffServ};
pub use event::{Event, EventName};
pub use frame::{Body, Frame};
pub use histogram::Histogram;
pub use ids::{LinkId, MacAddr, NodeId, PortId, StreamId};
pub use label::{Dscp, Label, TrafficClass};
pub use limiter::Limiter;
pub use losses::LossBook;
pub use map::{FixedHasher, Map};
pub use phb::{Phb, PhbSet, SchedulingClass};
pub use protocol::ProtocolId;
pub use protocol_value::{ProtocolType, ProtocolValue};
pub use random::Streams;
pub use time::{Rate, Serialiser, Span, Time};
pub use wheel::{TimerId, Wheel};
