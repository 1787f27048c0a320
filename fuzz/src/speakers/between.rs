//! Somebody between two routers, who hands on what each says to the other, and changes some of it.

use super::edit::{Edit, packet};
use base::device::DropReason;
use base::{Command, Device, Frame, Output, PortId, Time};
use std::collections::VecDeque;

/// Packets of BFD are most of what two routers say: one of so many of them counts for the changes.
const WATCHING: u64 = 8;

/// A device with two ports.
#[derive(Debug, Default)]
pub(super) struct Between {
    /// The changes that are still to be made, the first first.
    pub(super) edits: VecDeque<Edit>,
    /// While this is set, no frame is handed on.
    pub(super) is_cut: bool,
    /// Messages that were changed.
    pub(super) changed: u64,
    passed: u8,
    watching: u64,
    outputs: VecDeque<Output>,
}

impl Between {
    fn change(&mut self, frame: &mut Vec<u8>) {
        let Some(edit) = self.edits.front() else { return };
        if is_bfd(frame) {
            self.watching += 1;
            if !self.watching.is_multiple_of(WATCHING) {
                return;
            }
        }
        if self.passed < edit.skip {
            self.passed += 1;
            return;
        }
        self.passed = 0;
        self.changed += u64::from(edit.make(frame));
        self.edits.pop_front();
    }
}

fn is_bfd(frame: &[u8]) -> bool {
    let udp = packet(frame).filter(|at| frame[at + 9] == 17).map(|at| at + usize::from(frame[at] & 15) * 4);
    // RFC 5881, 4 and RFC 5884, 7.
    udp.and_then(|at| frame.get(at + 2..at + 4)) == Some(&3784_u16.to_be_bytes())
}

impl Device for Between {
    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        let mut bytes = frame.to_vec();
        // Whose frame it was: for its router it ends here.
        self.outputs.push_back(Output::Discard { port, frame, reason: DropReason::NoListener });
        if self.is_cut {
            return;
        }
        self.change(&mut bytes);
        let to = PortId(1 - port.0);
        self.outputs.push_back(Output::Transmit { port: to, frame: Frame::from_bytes(&bytes), ready: now });
    }
    fn handle_timeout(&mut self, _: Time) {}
    fn handle_command(&mut self, _: Time, _: Command) {}
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
