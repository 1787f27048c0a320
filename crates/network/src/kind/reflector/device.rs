//! What a reflector does with frames.

use base::device::{DropCounters, DropReason};
use base::{Command, Device, Frame, Output, PortId, Span, Time, Verdict};

/// A device that sends frames back by the port by which they come. It has nothing to remember, so that all happens on
/// the fast path.
#[derive(Debug)]
pub struct Reflector {
    hold: Span,
    reflected: u64,
    drops: DropCounters,
}

impl Reflector {
    /// One that keeps each frame for a while.
    pub fn new(hold: Span) -> Reflector {
        Reflector { hold, reflected: 0, drops: DropCounters::default() }
    }

    /// How many frames it has sent back.
    pub fn reflected(&self) -> u64 {
        self.reflected
    }

    /// Frames that it has not sent back, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
}

/// Exchanges the addresses of a frame to one station. A frame to a group stays as it is: no frame comes from a group
/// (IEEE 802.3, 3.2.3).
fn exchange(frame: &mut Frame) -> Result<(), DropReason> {
    let addresses = frame.header_mut().first_chunk_mut::<12>().ok_or(DropReason::Truncated)?;
    if addresses[0] & 1 != 0 {
        return Err(DropReason::NotForUs);
    }
    addresses.rotate_left(6);
    Ok(())
}

impl Device for Reflector {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            *verdict = match exchange(frame) {
                Ok(()) => {
                    self.reflected += 1;
                    Verdict::Transmit { port, ready: now + self.hold }
                }
                Err(reason) => {
                    self.drops.count(reason);
                    Verdict::Drop(reason)
                }
            };
        }
    }

    fn handle_packet(&mut self, _: Time, _: PortId, _: Frame) {
        debug_assert!(false, "it punts nothing");
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn handle_command(&mut self, _: Time, _: Command) {}

    fn poll_output(&mut self) -> Option<Output> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}
