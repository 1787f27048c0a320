//! Messages of a protocol over time.

use crate::protocol::Direction;
use base::Time;

/// Width of a bin: 10 ms, until there are too many.
pub const BIN_PS: u64 = 10_000_000_000;

/// Messages of one kind in one bin of 10 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBin {
    /// When the bin begins; it lasts 10 ms, or more once there are too many bins.
    pub start: Time,
    /// Whether the node received or sent them.
    pub direction: Direction,
    /// Their kind, by the number that the protocol gives it.
    pub kind: u8,
    /// Messages of the kind and direction in the bin; never zero.
    pub count: u32,
}

/// Counts that are kept at most. When there are more, bins become twice as wide.
const BINS_MAX: usize = 1 << 17;

/// A count: the first unit of its bin, and of which messages it is.
type Bin = (u64, Direction, u8);

/// Counts of messages by time, direction and kind.
#[derive(Debug)]
pub struct Messages {
    /// The bin that counts now.
    bin: u64,
    /// What is in it, in no order: of the few kinds that come within 10 ms.
    counts: Vec<(Direction, u8, u32)>,
    /// Bins that are over, in the order of their first unit, direction and kind: nearly all come last.
    bins: Vec<(Bin, u32)>,
    /// Width of a bin in units of [`BIN_PS`]: a power of two. Bins are named by their first unit.
    width: u64,
}

impl Default for Messages {
    fn default() -> Self {
        Messages { bin: 0, counts: Vec::new(), bins: Vec::new(), width: 1 }
    }
}

impl Messages {
    /// Counts a message of this kind at `now`.
    pub fn count(&mut self, now: Time, direction: Direction, kind: u8) {
        let bin = (now.0 / BIN_PS) & !(self.width - 1);
        if bin != self.bin {
            self.counts.sort_unstable();
            for (direction, kind, count) in self.counts.drain(..) {
                add(&mut self.bins, (self.bin, direction, kind), count);
            }
            self.bin = bin;
            if self.bins.len() > BINS_MAX {
                self.widen();
            }
        }
        match self.counts.iter_mut().find(|one| (one.0, one.1) == (direction, kind)) {
            Some(one) => one.2 += 1,
            None => self.counts.push((direction, kind, 1)),
        }
    }

    fn widen(&mut self) {
        self.width *= 2;
        let mask = !(self.width - 1);
        for ((bin, direction, kind), count) in core::mem::take(&mut self.bins) {
            add(&mut self.bins, (bin & mask, direction, kind), count);
        }
        self.bin &= mask;
    }

    /// Forgets the bins that began before a time.
    pub fn forget_before(&mut self, time: Time) {
        let first = time.0.div_ceil(BIN_PS);
        self.bins.drain(..self.bins.partition_point(|(key, _)| key.0 < first));
    }

    /// What is in the bin that counts now.
    fn current(&self) -> Vec<(Bin, u32)> {
        let mut all: Vec<(Bin, u32)> = self
            .counts
            .iter()
            .map(|&(direction, kind, count)| ((self.bin, direction, kind), count))
            .collect();
        all.sort_unstable();
        all
    }

    /// All counts, by time.
    pub fn iter(&self) -> impl Iterator<Item = MessageBin> {
        self.bins.iter().copied().chain(self.current()).map(|((bin, direction, kind), count)| MessageBin {
            start: Time(bin * BIN_PS),
            direction,
            kind,
            count,
        })
    }
}

/// Adds to a count, or puts it where it belongs.
fn add(bins: &mut Vec<(Bin, u32)>, bin: Bin, count: u32) {
    if bins.last().is_none_or(|(last, _)| *last < bin) {
        return bins.push((bin, count));
    }
    match bins.binary_search_by_key(&bin, |(known, _)| *known) {
        Ok(place) => bins[place].1 += count,
        Err(place) => bins.insert(place, (bin, count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_bounded_and_none_is_lost() {
        let mut messages = Messages::default();
        let bins = BINS_MAX as u64 * 5;
        for bin in 0..bins {
            messages.count(Time(bin * BIN_PS), Direction::Sent, 1);
        }
        let rows: Vec<MessageBin> = messages.iter().collect();
        assert!(rows.len() <= BINS_MAX + 1, "{}", rows.len());
        assert_eq!(rows.iter().map(|row| u64::from(row.count)).sum::<u64>(), bins);
        assert!(rows.windows(2).all(|pair| pair[0].start < pair[1].start));
    }
}
