//! All tests in one program: linking one for each file took longer than running them.

mod bgp;
mod lan;
mod ospf;
mod sessions;
