//! A node of a kind that this program does not have.

use super::{Facts, Node};
use crate::Network;
use base::Device;
use node::Peer;

/// Nothing of it is known but what the description says of it for others: it is in another process.
pub struct Placeholder(pub Facts);

impl Node for Placeholder {
    fn facts(&self) -> Facts {
        self.0.clone()
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Peer::new())
    }
}
