//! What a description says of measuring: it is the tester's alone, and stands beside what says which network it is.

use super::flow_spec::FlowSpec;
use crate::problem::TrafficProblem;
use crate::series::Series;
use crate::sink::{Convention, Sink};
use base::diagnostic::Diagnostic;
use base::{Span, Time};
use network::Description;
use serde::Deserialize;
use serde_json::Value;

/// What is measured, and how.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measuring {
    /// Flows of test packets.
    #[serde(default)]
    pub flows: Vec<FlowSpec>,
    /// When the phases of the measurement begin.
    #[serde(default, rename = "phases_ps")]
    pub phases: Vec<Time>,
    /// From which bit to which bit delay is measured.
    #[serde(default)]
    pub convention: Convention,
    /// Width of the bins of series.
    #[serde(default = "default_bin", rename = "series_bin_ps")]
    pub series_bin: Span,
}

fn default_bin() -> Span {
    Span::from_ms(10)
}

/// The keys of a description that are the tester's.
pub const KEYS: [&str; 4] = ["flows", "phases_ps", "convention", "series_bin_ps"];

impl Measuring {
    /// Takes it out of a description, in which nothing may be left that nobody knows.
    pub fn take(description: &mut Description) -> Result<Measuring, Diagnostic> {
        let others = Value::Object(core::mem::take(&mut description.others));
        let measuring: Measuring = match serde_json::from_value(others) {
            Ok(measuring) => measuring,
            Err(error) => return Err(TrafficProblem::Measuring { error: error.to_string() }.into()),
        };
        if measuring.phases.windows(2).any(|w| w[0] >= w[1]) {
            return Err(Diagnostic::new(TrafficProblem::PhaseOrder {}).at("phases"));
        }
        if measuring.series_bin.0 <= 0 {
            return Err(Diagnostic::new(TrafficProblem::EmptyBin {}).at("series_bin"));
        }
        Ok(measuring)
    }

    /// A sink that measures so.
    pub fn sink(&self) -> Sink {
        Sink::new(self.phases.clone(), self.convention, Series::new(self.series_bin))
    }
}
