//! Programmes of emulated edge routers as users write them.

use super::problem::FlowProblem;
use crate::programme::{Action, Step};
use base::Time;
use base::describe::Name;
use base::diagnostic::{At, Diagnostic};

base::record! {
    /// A step of a programme: something is done to all LSPs of a group, evenly spaced.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StepSpec {
        /// When it begins.
        pub at: Time = Time::ZERO;
        /// What is done.
        pub action: Action;
        /// To which group of LSPs, by its name.
        pub lsps: Name;
        /// How many messages are sent per second; above zero.
        pub rate: Option<f64>, absent "all at once";
    }
    check StepSpec::check;
}

impl StepSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        match self.rate {
            Some(rate) if rate <= 0.0 => Err(Diagnostic::new(FlowProblem::NoPace { rate })).at("rate"),
            _ => Ok(()),
        }
    }

    /// The step as it is done to the group of LSPs at this place.
    pub fn lowered(&self, lsps: u32) -> Option<Step> {
        Some(Step { at: self.at, action: self.action, lsps, rate_per_s: self.rate.unwrap_or(0.0) })
    }
}
