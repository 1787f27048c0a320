//! What lies below the LSP state machine, for each neighbour: refresh reduction (RFC 2961), Hello (RFC 3209, 5) and
//! INTEGRITY (RFC 2747).
//!
//! The LSP layer builds typed messages, says to whom they go and how they are to be delivered, and gets typed messages
//! and events back. [`Transport`] adds MESSAGE_ID and acknowledgements, signs, bundles, retransmits until acknowledged,
//! replaces refreshes by summaries, and answers Ack, Srefresh, Hello and the integrity handshake itself.
//!
//! Two words of the LSP layer: an outgoing [`Handle`] stands for state that it advertises to one neighbour (what one
//! Path or Resv says), an incoming one for state that a neighbour advertises. They are two separate ranges of numbers.
//! Handles are best small (indices of a slab): tables are indexed by them.

mod bundle;
mod codec;
mod config;
mod counters;
mod greeting;
mod hello;
mod integrity;
mod message_id;
mod neighbor;
mod output;
mod receive;
mod retransmit;
mod send;
mod state;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod timeout;
mod tombstone;
mod types;

pub use config::{Config, HelloConfig, Interface, Key, PortKeys, RefreshReduction};
pub use counters::{Audit, Counters, Malformed};
pub use state::Transport;
pub use types::{
    Arrival, Datagram, Delivery, Envelope, Handle, Incoming, Neighbor, NeighborView, ReceivedId,
};
