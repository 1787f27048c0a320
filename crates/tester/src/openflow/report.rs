//! What a test of a switch found.

use base::{Span, Time};

base::words! {
    /// How far a test is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Standing {
        /// No switch has connected.
        Waiting = "waiting",
        /// A switch has connected that does not speak version 1.0.
        Refused = "refused",
        /// The switch is being prepared.
        Preparing = "preparing",
        /// Packets or messages of the test are sent.
        Running = "running",
        /// It is over; what is still under way is waited for.
        Done = "done",
        /// The switch has ended the connection before the test was over.
        Reset = "reset",
    }
}

/// Entries that were added or changed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// When the first segment was given to TCP.
    pub begun: Time,
    /// From then until the first packet left by the last entry; absent if none did.
    pub delay: Option<Span>,
    /// From then until the switch said that all was done (barrier); absent if it did not.
    pub barrier: Option<Span>,
    /// Entries that a probe of their own has passed; absent where none are sent.
    pub confirmed: Option<u32>,
    /// Entries of which the switch has said that they are gone, and from `begun` to the last time that it did; absent
    /// if it did not.
    pub removed: Option<(u32, Span)>,
    /// Of entries that go by themselves: from `begun` until the last packet was sent that still left; absent if none.
    pub passed: Option<Span>,
}

impl Round {
    /// One of which nothing is known yet.
    pub fn begun(begun: Time) -> Round {
        Round { begun, delay: None, barrier: None, confirmed: None, removed: None, passed: None }
    }
}

/// What a test found.
#[derive(Clone, Debug)]
pub struct Report {
    /// How far it is.
    pub standing: Standing,
    /// Stamped packets, or echo requests, sent.
    pub sent: u64,
    /// Those that came back, where they were to come.
    pub received: u64,
    /// Those that came after the end of the test: they were neither lost nor received in time.
    pub late: u64,
    /// Delays of those that were received, in the order in which they came.
    pub delays: Vec<Span>,
    /// Rounds of additions or changes.
    pub rounds: Vec<Round>,
    /// Connections that the switch has ended before the test was over.
    pub resets: u64,
    /// Error messages of the switch.
    pub errors: u64,
    /// PACKET_INs, whatever was in them.
    pub packet_ins: u64,
    /// The most packets that had left when it was asked what was counted, and were not counted; absent where nothing
    /// was asked or answered.
    pub behind: Option<u64>,
}

impl Default for Report {
    fn default() -> Report {
        Report {
            standing: Standing::Waiting,
            sent: 0,
            received: 0,
            late: 0,
            delays: Vec::new(),
            rounds: Vec::new(),
            resets: 0,
            errors: 0,
            packet_ins: 0,
            behind: None,
        }
    }
}

/// Mean, median and standard deviation of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// In seconds, as all of it.
    pub mean: f64,
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// That of the sample; absent of a single value.
    pub sd: Option<f64>,
    /// The least, in seconds.
    pub min: f64,
    /// The greatest, in seconds.
    pub max: f64,
}

impl Report {
    /// How delays are spread: those of packets, or of rounds in a test that has them; nothing if there are none.
    pub fn spread(&self) -> Option<Spread> {
        let of_rounds = self.rounds.iter().filter_map(|round| round.delay);
        let all = self.delays.iter().copied().chain(of_rounds);
        let mut all: Vec<f64> = all.map(Span::as_secs_f64).collect();
        all.sort_by(f64::total_cmp);
        let (min, max) = (*all.first()?, *all.last()?);
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        let middle = all.len() / 2;
        let median = if all.len() % 2 == 1 { all[middle] } else { (all[middle - 1] + all[middle]) / 2.0 };
        let squares = all.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>();
        let sd = (all.len() > 1).then(|| libm::sqrt(squares / (count - 1.0)));
        Some(Spread { mean, median, sd, min, max })
    }
}
