//! All tests in one program: linking one for each file took longer than running them.

mod bfd;
mod bgp;
mod bird;
mod frr;
mod lan;
mod ldp;
mod openflow;
mod ospf;
mod sessions;
