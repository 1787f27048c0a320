//! What random programmes of faults are drawn from.

use base::{LinkId, Span};
use engine::{Direction, FaultKind};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A generator of random numbers that needs no crate and never changes (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    /// From zero to before `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Impairment {
    Loss,
    Corruption,
    Duplication,
    Reordering,
    Delay,
}

impl Impairment {
    /// The fault of a link, both ways. `thousandths` is how probable it is, for those of which that is so.
    pub fn fault(self, link: LinkId, thousandths: u64) -> FaultKind {
        let direction = Direction::Both;
        let probability = thousandths as f64 / 1e3;
        match self {
            Impairment::Loss => FaultKind::Loss { link, direction, probability },
            Impairment::Corruption => {
                FaultKind::Corruption { link, direction, bit_error_rate: probability / 1e3, deliver: false }
            }
            Impairment::Duplication => FaultKind::Duplication { link, direction, probability },
            Impairment::Reordering => {
                FaultKind::Reordering { link, direction, probability, extra: Span::from_ms(40) }
            }
            Impairment::Delay => {
                FaultKind::Delay { link, direction, extra: Span::from_ms(3), jitter: Span::from_ms(30) }
            }
        }
    }
}

/// Carries out a programme; a panic is a failure like others, so that the programme can be cut down and printed.
pub fn guarded<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        Err(format!("panic: {}", text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}
