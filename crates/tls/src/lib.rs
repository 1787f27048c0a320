//! TLS between an OpenFlow switch and its controllers: both ends show certificates, and both are verified.
//!
//! - [`Credentials`]: key, certificate and authorities, read from files and checked
//! - [`Session`]: one connection, as bytes in and bytes out, without a socket
//! - `peer`: who is accepted; `validity`: the time for which a certificate is; `words`: what went wrong, for people
//!
//! Drain order: after each call of [`Session::receive`], [`Session::send`] or [`Session::close`], and of the two that
//! begin one, send what [`Session::take_output`] returns.

mod credentials;
mod peer;
mod session;
#[cfg(test)]
mod tests;
mod validity;
mod words;

pub use credentials::{Credentials, Fault};
pub use session::Session;
