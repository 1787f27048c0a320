//! Instruments: sources, sinks, emulated edge routers, test programmes and metrics.

pub mod delay;
pub mod pacer;
pub mod packet;
pub mod sequence;
pub mod series;
pub mod sink;
pub mod source;
