//! What tests of every crate share. Only `[dev-dependencies]` name this crate, so nothing of it is in a product.
//!
//! - [`available`]: a test that needs root or a tool says loudly when it cannot run, and fails where it has to.
//! - [`cases`] and [`runs`]: random campaigns take their length and their seed from two environment variables.

mod campaign;
mod needs;

pub use campaign::{cases, runs, seed};
pub use needs::available;
