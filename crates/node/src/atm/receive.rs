//! A channel that is a label and whose packets are put together here.

use super::config::Channel;
use base::Label;
use wire::atm::aal5::{PAYLOAD_MAX, Reassembler};

/// Puts the cells of a label together.
#[derive(Debug)]
pub struct Receiver {
    /// By which they come.
    pub from: Channel,
    /// What the channel means to the router beside.
    pub label: Label,
    pub reassembler: Reassembler,
    /// Is it in the table?
    pub is_used: bool,
}

impl Receiver {
    pub fn new(from: Channel, label: Label) -> Receiver {
        Receiver { from, label, reassembler: Reassembler::new(PAYLOAD_MAX), is_used: true }
    }

    /// The channel means another label. What has come of a packet goes with what follows.
    pub fn set(&mut self, label: Label) {
        if !self.is_used {
            self.clear();
        }
        (self.label, self.is_used) = (label, true);
    }

    /// Forgets what has come in part.
    pub fn clear(&mut self) {
        self.reassembler = Reassembler::new(PAYLOAD_MAX);
    }
}
