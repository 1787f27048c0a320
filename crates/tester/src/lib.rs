//! Instruments: sources, sinks, emulated edge routers, test programmes and metrics.

pub mod arrivals;
pub mod batches;
pub mod checks;
pub mod course;
pub mod delay;
pub mod edge;
pub mod flood;
pub mod generator;
pub mod instrument;
pub mod kind;
pub mod openflow;
pub mod pacer;
pub mod packet;
mod places;
pub mod probe;
mod probe6;
pub mod problem;
pub mod programme;
pub mod programs;
pub mod sequence;
pub mod series;
pub mod sink;
pub mod sizes;
pub mod source;
pub mod spec;
pub mod station;
mod student;
pub mod testbed;
pub mod together;

pub use kind::KINDS;
pub use testbed::Testbed;
