//! Draws of a random programme.

use base::random::{Rng, Stream, Streams};

/// Draws that follow from a number.
pub struct Dice(Stream);

impl Dice {
    pub fn new(number: u64) -> Dice {
        Dice(Streams::new(number).stream("programme"))
    }

    /// A number from zero up to below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    /// True in `percent` of a hundred draws.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of several, each as likely as the others; there has to be one.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize].clone()
    }
}
