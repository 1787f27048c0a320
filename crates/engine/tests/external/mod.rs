//! Ports on real interfaces: two network namespaces and a veth between them, made and taken away by each test. Without
//! the privilege to make them, the tests say so and do nothing.

mod burst;
mod capture;
mod news;
mod packet;
mod reopen;
mod xdp;
