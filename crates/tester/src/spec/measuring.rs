//! What users write of measuring in the whole of a network.

use crate::problem::TrafficProblem;
use crate::series::Series;
use crate::sink::{Convention, Sink};
use base::diagnostic::{At, Diagnostic};
use base::{Span, Time};

base::record! {
    /// When phases of the measurement begin, and how delays are measured.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MeasuringSpec {
        /// When phases begin; packets that are due before the first are in phase -1.
        pub phases: Vec<Time> = vec![Time::ZERO];
        /// From which bit at the source to which bit at the sink a delay is measured (RFC 1242, 3.8).
        pub convention: Convention = Convention::FirstToFirst;
        /// Width of the bins of series of delays.
        pub series_bin: Span = Span::from_ms(10), in 1..=9_223_372_036_854_775_807;
        /// Width of the bins of time in which lost packets are counted.
        pub loss_bin: Span = Span::from_secs(1), in 1..=9_223_372_036_854_775_807;
    }
    check MeasuringSpec::check;
}

impl Default for MeasuringSpec {
    fn default() -> MeasuringSpec {
        MeasuringSpec {
            phases: vec![Time::ZERO],
            convention: Convention::FirstToFirst,
            series_bin: Span::from_ms(10),
            loss_bin: Span::from_secs(1),
        }
    }
}

impl MeasuringSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        match self.phases.windows(2).position(|pair| pair[0] >= pair[1]) {
            Some(place) => Err(Diagnostic::new(TrafficProblem::PhaseOrder {})).at(place + 1).at("phases"),
            None => Ok(()),
        }
    }

    /// A sink that measures so.
    pub fn sink(&self) -> Sink {
        Sink::new(self.phases.clone(), self.convention, Series::new(self.series_bin))
    }
}
