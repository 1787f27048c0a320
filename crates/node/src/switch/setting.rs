//! What controllers ask and set of a switch as a whole, in both versions alike.

use super::Switch;
use forwarding::openflow::Fragments;

/// The number that stands for all tables: OFPTT_ALL.
pub(super) const ALL_TABLES: u8 = 0xff;
/// OFPC_FRAG_NORMAL: fragments of IP are looked up.
const NORMAL: u16 = 0;
/// OFPC_FRAG_DROP: they are dropped.
const DROP: u16 = 1;
/// Bits of these in the flags of a switch.
const FRAGMENT_BITS: u16 = 3;

impl Switch {
    /// Flags of the switch, and how much of a packet without an entry a controller gets.
    pub(super) fn set_up(&self, to: u32) -> (u16, u16) {
        let flags = match self.datapath.fragments {
            Fragments::Normal => NORMAL,
            Fragments::Drop => DROP,
        };
        (flags, self.agent.connections.get(&to).map_or(0, |connection| connection.miss_send_len))
    }

    /// The flags are for all controllers, the length is for the one that says it.
    pub(super) fn set_config(&mut self, from: u32, flags: u16, miss_send_len: u16) {
        match flags & FRAGMENT_BITS {
            NORMAL => self.datapath.fragments = Fragments::Normal,
            DROP => self.datapath.fragments = Fragments::Drop,
            // Putting fragments together is not offered, and asking for it changes nothing.
            _ => {}
        }
        if let Some(connection) = self.agent.connections.get_mut(&from) {
            connection.miss_send_len = miss_send_len;
        }
    }
}
