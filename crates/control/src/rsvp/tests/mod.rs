//! Several speakers on an in-memory bus, with a driver that acknowledges what is written.

mod bus;
mod errors;
mod setup;

use bus::{Net, hops, spec};
