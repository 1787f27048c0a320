//! TCP and UDP of routers, by a protocol that only exists here: in virtual time, through links that lose packets,
//! recorded and replayed, and beside the kernel's TCP.

mod kernel;
mod many;
mod open;
mod six;
mod stream;
mod talk;
