//! All tests in one program: linking one for each file took longer than running them.

mod addresses;
mod conditioner;
mod diffserv;
mod groups;
mod groups6;
mod ipv6;
mod labels;
mod offload;
mod reference;
mod replication;
mod selectors;
mod support;
