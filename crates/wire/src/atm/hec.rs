//! What a receiver makes of the header error control: it corrects one bit, but not in two cells running.

use super::cell::HEADER_LEN;
use super::crc::{hec, remainder};

/// What a receiver does about an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The cell before was right: one wrong bit is corrected.
    #[default]
    Correction,
    /// The cell before was wrong: since errors come in bursts, a cell with any error is dropped.
    Detection,
}

/// What the header error control says of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// No error.
    Right,
    /// An error as one wrong bit makes it.
    OneBit,
    /// Any other error.
    SeveralBits,
}

/// What becomes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is taken as it came.
    Taken,
    /// It is taken with one bit of the header put right.
    Corrected,
    /// It is dropped, because its header is wrong.
    Dropped,
}

impl Mode {
    /// The receiver of I.432.1: its next mode, and what becomes of the cell.
    pub const fn step(self, event: Event) -> (Mode, Verdict) {
        match (self, event) {
            (Mode::Correction, Event::Right) => (Mode::Correction, Verdict::Taken),
            (Mode::Correction, Event::OneBit) => (Mode::Detection, Verdict::Corrected),
            (Mode::Correction, Event::SeveralBits) => (Mode::Detection, Verdict::Dropped),
            (Mode::Detection, Event::Right) => (Mode::Correction, Verdict::Taken),
            (Mode::Detection, Event::OneBit | Event::SeveralBits) => (Mode::Detection, Verdict::Dropped),
        }
    }
}

/// The receiver of a link's cells, with what it has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HecReceiver {
    /// What it does about the next error.
    pub mode: Mode,
    /// Cells whose headers were right.
    pub right: u64,
    /// Cells of which one bit was corrected.
    pub corrected: u64,
    /// Cells dropped for their headers.
    pub dropped: u64,
}

impl HecReceiver {
    /// Takes the header of the next cell, and corrects it where the verdict is so.
    pub fn receive(&mut self, header: &mut [u8; HEADER_LEN]) -> Verdict {
        let wrong = wrong_bit(header);
        let verdict = self.note(match wrong {
            None => Event::Right,
            Some(Some(_)) => Event::OneBit,
            Some(None) => Event::SeveralBits,
        });
        if let (Verdict::Corrected, Some(Some(bit))) = (verdict, wrong) {
            header[bit / 8] ^= 0x80 >> (bit % 8);
        }
        verdict
    }

    /// Counts the next cell, whose header error control says this, and says what becomes of it.
    pub const fn note(&mut self, event: Event) -> Verdict {
        let (mode, verdict) = self.mode.step(event);
        self.mode = mode;
        match verdict {
            Verdict::Taken => self.right += 1,
            Verdict::Corrected => self.corrected += 1,
            Verdict::Dropped => self.dropped += 1,
        }
        verdict
    }
}

/// Nothing if the header is right, else the bit that is wrong if one wrong bit explains it, counted from the first
/// one on the wire.
fn wrong_bit(header: &[u8; HEADER_LEN]) -> Option<Option<usize>> {
    let [a, b, c, d, found] = *header;
    let syndrome = hec([a, b, c, d]) ^ found;
    if syndrome == 0 {
        return None;
    }
    // Each of the 40 bits has a syndrome of its own, which the tests show.
    Some((0..40).find(|&bit| syndrome_of(bit) == syndrome))
}

/// The syndrome of one wrong bit.
pub(super) fn syndrome_of(bit: usize) -> u8 {
    let mut error = [0; HEADER_LEN];
    error[bit / 8] = 0x80 >> (bit % 8);
    let [a, b, c, d, e] = error;
    remainder([a, b, c, d]) ^ e
}
