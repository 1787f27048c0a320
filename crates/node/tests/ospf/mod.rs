//! Routers that speak OSPF: in virtual time, and beside FRR's ospfd by the clock on the wall.

mod bird;
mod frr;
pub mod speaker;
mod virtual_time;
