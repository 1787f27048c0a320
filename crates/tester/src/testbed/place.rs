//! Where in a description a flow is: the paths of diagnostics.

use super::flow_spec::FlowSpec;
use base::diagnostic::{Diagnostic, Step};

/// Adds the place of a flow to a diagnostic of it.
pub trait OfFlow {
    /// The same diagnostic, seen from the top of the description; `index` counts the flows.
    fn of_flow(self, index: usize, spec: &FlowSpec) -> Diagnostic;
}

impl OfFlow for Diagnostic {
    fn of_flow(self, index: usize, spec: &FlowSpec) -> Diagnostic {
        self.at(Step::Called(index, format!("flow '{}'", spec.name))).at("flows")
    }
}
