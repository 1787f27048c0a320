//! Runs of lost packets: packets that a flow sent one after the other, none of which went on.

use crate::losses::Marks;
use crate::time::Time;

/// Packets that a flow sent one after the other and that were all lost: a loss period, as RFC 6412 (3.6.5)
/// calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// When the first packet was lost.
    pub first: Time,
    /// When the last one was.
    pub last: Time,
    /// The number of the packet that was sent first, as the flow counts them.
    pub number: u64,
    /// How many there are.
    pub packets: u64,
}

impl Run {
    /// The number of the packet that follows.
    pub fn next(&self) -> u64 {
        self.number.wrapping_add(self.packets)
    }

    /// Is another longer? Of equal ones the later is not.
    pub fn is_below(&self, other: &Run) -> bool {
        other.packets > self.packets
    }
}

/// The runs of a flow at one place: after each mark the longest of those that began then.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    ended: Vec<Run>,
    last: Option<Run>,
}

impl Runs {
    /// The packet with this number was lost at `at`. One that follows the last run, or comes before it, makes it
    /// longer. If it was lost already, it is a copy of what is counted.
    pub fn add(&mut self, at: Time, number: u64, marks: &Marks) {
        if let Some(run) = &mut self.last {
            if number == run.next() {
                run.packets += 1;
            } else if number.wrapping_add(1) == run.number {
                // What is on a link that fails is dropped from its beginning, the packet that was sent last first.
                (run.number, run.packets) = (number, run.packets + 1);
            }
            if number.wrapping_sub(run.number) < run.packets {
                run.first = run.first.min(at);
                run.last = run.last.max(at);
                return;
            }
        }
        let begun = Run { first: at, last: at, number, packets: 1 };
        if let Some(run) = self.last.replace(begun) {
            push(&mut self.ended, run, marks);
        }
    }

    /// The runs in order of time, the one that goes on last.
    pub fn iter(&self) -> impl Iterator<Item = Run> {
        self.ended.iter().copied().chain(self.last)
    }
}

/// Adds a run to those before it, if it is the first since a mark or longer than the one that is there.
fn push(runs: &mut Vec<Run>, run: Run, marks: &Marks) {
    match runs.last_mut() {
        Some(known) if !marks.between(known.first, run.first) => {
            if known.is_below(&run) {
                *known = run;
            }
        }
        _ => runs.push(run),
    }
}

/// Runs of a flow at all places as those of the flow: what ends at one place and goes on at another is one run. Of
/// those that began between two marks the longest is kept; they are in order of time.
pub fn joined(mut runs: Vec<Run>, marks: &Marks) -> Vec<Run> {
    runs.sort_by_key(|run| (run.number, run.packets));
    let mut whole: Vec<Run> = Vec::new();
    for run in runs {
        match whole.last_mut() {
            Some(known) if run.number <= known.next() => {
                let end = known.next().max(run.next());
                known.packets = end.wrapping_sub(known.number);
                known.first = known.first.min(run.first);
                known.last = known.last.max(run.last);
            }
            _ => whole.push(run),
        }
    }
    whole.sort_by_key(|run| run.first);
    let mut found = Vec::new();
    whole.into_iter().for_each(|run| push(&mut found, run, marks));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(runs: impl Iterator<Item = Run>) -> Vec<(u64, u64, u64, u64)> {
        runs.map(|run| (run.first.0, run.last.0, run.number, run.packets)).collect()
    }

    #[test]
    fn a_run_ends_where_a_packet_was_not_lost() {
        let marks = Marks::default();
        let mut runs = Runs::default();
        for (at, number) in [(10, 4), (20, 5), (20, 5), (30, 6), (50, 8), (60, 9), (90, 12)] {
            runs.add(Time(at), number, &marks);
        }
        assert_eq!(seen(runs.iter()), [(10, 30, 4, 3), (90, 90, 12, 1)]);
    }

    #[test]
    fn packets_that_are_lost_last_first_are_one_run() {
        let marks = Marks::default();
        let mut runs = Runs::default();
        for (at, number) in [(10, 9), (10, 8), (10, 7), (20, 10), (30, 12), (40, 6)] {
            runs.add(Time(at), number, &marks);
        }
        assert_eq!(seen(joined(runs.iter().collect(), &marks).into_iter()), [(10, 40, 6, 5)]);
    }

    #[test]
    fn after_each_mark_the_longest_is_kept_and_a_run_goes_on_over_a_mark() {
        let marks = Marks::default();
        marks.add(Time(25));
        marks.add(Time(55));
        let mut runs = Runs::default();
        for (at, number) in [(10, 4), (20, 5), (30, 6), (50, 8), (60, 10), (70, 12), (80, 13), (90, 15)] {
            runs.add(Time(at), number, &marks);
        }
        let found = joined(runs.iter().collect(), &marks);
        assert_eq!(seen(found.into_iter()), [(10, 30, 4, 3), (50, 50, 8, 1), (70, 80, 12, 2)]);
    }

    #[test]
    fn what_goes_on_at_another_place_is_one_run() {
        let run =
            |first, last, number, packets| Run { first: Time(first), last: Time(last), number, packets };
        let found = joined(vec![run(30, 60, 7, 4), run(20, 25, 4, 3), run(90, 90, 20, 1)], &Marks::default());
        assert_eq!(seen(found.into_iter()), [(20, 60, 4, 7)]);
    }
}
