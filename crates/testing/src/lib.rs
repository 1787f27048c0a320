//! What tests of every crate share. Only `[dev-dependencies]` name this crate, so nothing of it is in a product.
//!
//! - [`available`]: a test that needs root or a tool says loudly when it cannot run, and fails where it has to.
//! - [`described`]: networks in few words, by places, in the form that users write.
//! - [`Pair`]: two network namespaces and a veth between them, for tests beside the kernel.
//! - [`cases`] and [`runs`]: random campaigns take their length and their seed from two environment variables.

mod campaign;
mod indexed;
mod needs;
mod pair;

pub use campaign::{cases, runs, seed};
pub use indexed::{Indexed, described, plain};
pub use needs::available;
pub use pair::Pair;
