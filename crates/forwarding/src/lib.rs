//! Tables of the forwarding plane, and the one function that moves packets through them.
//!
//! - [`Forwarding`]: ports, adjacencies, ILM, FTN and FIB of one node; [`Forwarding::apply`] writes them,
//!   [`Forwarding::forward_batch`] decides on frames (the same function in a benchmark, in virtual and in real time)
//! - [`driver`]: the plane boundary: [`ForwardingPlane`], the tables with the [`Driver`] that writes them, and a folder
//!   or file for each driver
//! - [`punt`]: why a frame was punted, for the node's control processor
//! - [`local`]: sending what the node itself originates
//! - [`fragment`], [`icmp`], [`icmpv6`]: what the control processor does with packets that are too long or too old
//! - [`offload`]: what a kernel left undone on frames that do not just pass through
//! - [`conditioner`]: meters, markers and policers, at ingress ports or before egress queues
//! - [`queue`]: queue disciplines at egress ports
//! - [`explain`]: what decides on a packet, and what it overrides
//! - [`view`]: the tables as plain values
//!
//! Drain order: after each batch the owner looks at the verdicts; a punted frame is byte for byte what came in.

#![deny(unsafe_code)]

mod addresses;
mod addresses6;
mod adjacency;
mod circuits;
mod classed;
mod classes;
pub mod conditioner;
mod decide;
pub mod driver;
mod entry;
pub mod explain;
mod fast;
mod fib;
mod fib6;
mod filter;
mod flow;
pub mod fragment;
mod group;
mod hash;
pub mod icmp;
pub mod icmpv6;
mod ilm;
pub mod local;
mod local6;
mod look;
mod multicast;
pub mod offload;
pub mod openflow;
mod packet;
mod phb;
mod port;
pub mod punt;
pub mod queue;
mod recent;
mod replicate;
mod routed;
mod routed6;
mod selector;
mod tables;
mod tokens;
mod unwritten;
mod unwritten6;
pub mod view;

pub use addresses6::{is_mapped_loopback, is_single_node};
pub use driver::{Driver, ForwardingPlane, Notice, Timing, WriteTime};
pub use hash::Seed;
pub use port::PortCounters;
pub use punt::{Exception, PuntReason};
pub use replicate::Branch;
pub use tables::{Config, Forwarding};
