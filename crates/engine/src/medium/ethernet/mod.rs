//! Ethernet II, where frames with LLC may be among the others: what frames are inside a node.

use super::{Carries, Medium, Outside};
use crate::capture::pcapng;
use base::frame::Framing;

/// Ethernet II.
pub const ETHERNET: Medium = Medium {
    name: "ethernet",
    meaning: "Ethernet II; frames with LLC are sent as they are.",
    framing: Framing::ETHERNET,
    conversion: None,
    carries: Carries::Packets,
    link_type: pcapng::ETHERNET,
    has_addresses: true,
    outside: Outside::Anywhere,
};
