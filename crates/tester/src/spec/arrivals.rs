//! When the packets of a flow are due, as users write it.

use super::problem::FlowProblem;
use super::sizes::{FrameSize, check_lengths};
use crate::testbed;
use base::Span;
use base::describe::{Choice, Describe, Named, Ranged, Record, Schema, Schemas, Value, Word, unknown_word};
use base::diagnostic::{At, Diagnostic};

base::words! {
    /// Distribution of the lengths of periods.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PeriodDistribution {
        /// Many short ones, few long ones.
        Exponential = "exponential",
        /// Heavy tail: as the length to minus `shape`.
        Pareto = "pareto",
        /// Always the mean.
        Constant = "constant",
    }
    default Exponential;
}

base::record! {
    /// How long a source is on or off.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PeriodSpec {
        /// Mean length.
        pub mean: Span, in 1..=9_223_372_036_854_775_807;
        /// Distribution of the lengths.
        pub kind: PeriodDistribution = PeriodDistribution::Exponential;
        /// Of a Pareto distribution: the tail falls as the length to minus this; above 1.
        pub shape: f64 = 1.5;
    }
    check PeriodSpec::check;
    read by hand;
}

impl PeriodSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.shape > 1.0 {
            Ok(())
        } else {
            Err(FlowProblem::NoMean { shape: self.shape }.into()).at("shape")
        }
    }
}

/// A mapping, or the mean alone.
impl Describe for PeriodSpec {
    fn read(value: &Value) -> Result<PeriodSpec, Diagnostic> {
        if matches!(value, Value::Map(_)) {
            return PeriodSpec::read_record(value, "");
        }
        let mean = Span::read(value)?;
        mean.check_range(1, i128::from(i64::MAX))?;
        Ok(PeriodSpec { mean, kind: PeriodDistribution::Exponential, shape: 1.5 })
    }
    fn write(&self) -> Value {
        self.write_record()
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("PeriodSpec", |known| {
            let mut record = PeriodSpec::record_schema(known);
            record.short = vec![Span::schema(known)];
            Named::Record(record)
        })
    }
    fn example() -> Option<&'static str> {
        Some("300 ms")
    }
}

base::record! {
    /// A source that is on and off in turn, at constant rate while it is on.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct OnOff {
        /// How long it is on: a mean, or `{mean: 300 ms, kind: pareto, shape: 1.5}`.
        pub on: PeriodSpec;
        /// How long it is off, in the same way.
        pub off: PeriodSpec;
        /// `rate` of the flow is the mean over both, not that while it is on.
        pub rate_is_mean: bool = false;
    }
}

base::record! {
    /// Packets one by one, listed or from a capture.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Trace {
        /// Times from the packet before (of the first: from the start).
        pub gaps: Vec<Span> = Vec::new();
        /// Bytes of each frame.
        pub sizes: Vec<FrameSize> = Vec::new(), absent "`size` of the flow";
        /// Capture (pcap, pcapng) that gives gaps and sizes, beside this file.
        pub pcap: Option<String>;
        /// Take so many frames of the capture at most.
        pub limit: Option<u64>, in 1..=9_223_372_036_854_775_807;
        /// Begin again after the last.
        pub repeat: bool = false;
    }
    check Trace::check;
}

impl Trace {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.pcap.is_some() {
            let listed = !self.gaps.is_empty() || !self.sizes.is_empty();
            return if listed { Err(FlowProblem::CaptureAndGaps {}.into()).at("pcap") } else { Ok(()) };
        }
        if self.limit.is_some() {
            return Err(FlowProblem::LimitWithoutCapture {}.into()).at("limit");
        }
        if self.gaps.is_empty() {
            return Err(FlowProblem::None {}.into()).at("gaps");
        }
        check_lengths(&self.sizes, self.gaps.len())?;
        if self.repeat && self.gaps.iter().all(|gap| gap.0 == 0) {
            return Err(FlowProblem::Endless {}.into()).at("repeat");
        }
        Ok(())
    }
}

base::choice! {
    /// Packets that are not evenly spaced by a rate alone.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Pattern by "kind" {
        /// On and off in turn, at constant rate while on.
        OnOff(OnOff) = "on-off",
        /// Packets one by one, listed or from a capture.
        Trace(Trace) = "trace",
    }
    read by hand;
}

/// When packets are due.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalsSpec {
    /// Evenly spaced.
    Constant,
    /// A Poisson process.
    Poisson,
    /// By a pattern.
    Pattern(Pattern),
}

impl ArrivalsSpec {
    /// The times as they are drawn. A capture has to be read before.
    pub fn lowered(&self) -> Result<testbed::ArrivalSpec, Diagnostic> {
        let period = |period: &PeriodSpec| testbed::PeriodSpec {
            kind: match period.kind {
                PeriodDistribution::Exponential => testbed::PeriodKind::Exponential,
                PeriodDistribution::Pareto => testbed::PeriodKind::Pareto,
                PeriodDistribution::Constant => testbed::PeriodKind::Constant,
            },
            mean: period.mean,
            shape: period.shape,
        };
        Ok(match self {
            ArrivalsSpec::Constant => testbed::ArrivalSpec::Constant,
            ArrivalsSpec::Poisson => testbed::ArrivalSpec::Poisson,
            ArrivalsSpec::Pattern(Pattern::OnOff(on_off)) => {
                let (on, off) = (period(&on_off.on), period(&on_off.off));
                testbed::ArrivalSpec::OnOff(testbed::OnOffSpec { on, off, rate_is_mean: on_off.rate_is_mean })
            }
            ArrivalsSpec::Pattern(Pattern::Trace(trace)) if trace.pcap.is_some() => {
                return Err(Diagnostic::new(FlowProblem::CaptureNotRead {}).at("pcap"));
            }
            ArrivalsSpec::Pattern(Pattern::Trace(trace)) => testbed::ArrivalSpec::Trace(testbed::TraceSpec {
                gaps: trace.gaps.iter().map(|gap| gap.0.unsigned_abs()).collect(),
                sizes: trace.sizes.iter().map(|size| size.0).collect(),
                repeat: trace.repeat,
            }),
        })
    }
}

/// The words, and the tags of the mappings.
const WORDS: [&str; 4] = ["constant", "poisson", "on-off", "trace"];

impl Describe for ArrivalsSpec {
    fn read(value: &Value) -> Result<ArrivalsSpec, Diagnostic> {
        match value {
            Value::Map(_) => Pattern::read_choice(value).map(ArrivalsSpec::Pattern),
            Value::Text(word) if word == "constant" => Ok(ArrivalsSpec::Constant),
            Value::Text(word) if word == "poisson" => Ok(ArrivalsSpec::Poisson),
            other => Err(unknown_word(other, &WORDS)),
        }
    }
    fn write(&self) -> Value {
        match self {
            ArrivalsSpec::Constant => "constant".into(),
            ArrivalsSpec::Poisson => "poisson".into(),
            ArrivalsSpec::Pattern(pattern) => pattern.write_choice(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        let word = |word, meaning: &str| Word { word, meaning: meaning.into() };
        let words = vec![word("constant", "Evenly spaced."), word("poisson", "A Poisson process.")];
        known.named("ArrivalsSpec", |known| {
            Named::Choice(Choice { short: vec![Schema::Words(words)], ..Pattern::choice_schema(known) })
        })
    }
}
