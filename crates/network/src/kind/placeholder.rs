//! A node of a kind that this program does not have.

use super::{Facts, Node};
use crate::Network;
use base::Device;
use base::describe::Value;
use node::Peer;

/// Nothing of it is known but what the description says of it for others: it is in another process.
pub struct Placeholder {
    /// What others have to know of it.
    pub facts: Facts,
    /// What else the description says of it, which nobody here reads.
    pub described: Value,
}

impl Node for Placeholder {
    fn described(&self) -> Value {
        self.described.clone()
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
