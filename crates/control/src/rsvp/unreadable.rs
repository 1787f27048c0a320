//! The last messages that were discarded because of their bytes: where they came from, which layer found the fault, at
//! which byte, and what it was.

use super::transport::Malformed;
use base::{PortId, Time};
use core::net::Ipv4Addr;
use std::collections::VecDeque;

/// How many are kept; neighbours choose what they send.
const KEPT: usize = 64;

/// A message that was discarded because of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// When the message came, in the time of its router.
    pub at: Time,
    /// The port that it came in by.
    pub port: PortId,
    /// The source in its IPv4 header, which a peer may have made up.
    pub src: Ipv4Addr,
    /// The check that it did not pass.
    pub reason: Malformed,
    /// What could not be read, and where, counted from the first byte after the IP header; absent if the bytes could be
    /// read.
    pub error: Option<wire::rsvp::Error>,
}

/// The last of them.
#[derive(Debug, Default)]
pub(super) struct UnreadableLog(VecDeque<Unreadable>);

impl UnreadableLog {
    pub(super) fn push(&mut self, message: Unreadable) {
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back(message);
    }

    /// Those that are kept, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Unreadable> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_are_kept() {
        let mut log = UnreadableLog::default();
        for at in 0..100 {
            let (port, src, reason) = (PortId(0), Ipv4Addr::LOCALHOST, Malformed::Parse);
            log.push(Unreadable { at: Time(at), port, src, reason, error: None });
        }
        assert_eq!(log.iter().map(|one| one.at.0).collect::<Vec<_>>(), (36..100).collect::<Vec<_>>());
    }
}
