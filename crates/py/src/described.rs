//! Types of queues, conditioners and DiffServ, checked for Python: values are read, and come back as what could have
//! been written.

use crate::{describe, error};
use base::describe::{Describe, Value};
use base::diagnostic::Diagnostic;
use base::flow_spec::FilterSpec;
use base::{DiffServConfig, ELsp, LLsp, LspDiffServ, PhbSet};
use engine::discipline::accounting::Accounting;
use engine::discipline::classify::Match;
use engine::discipline::spec::*;
use node::conditioner::{ConditionerSpec, RuleSpec, SingleRate, TokenBucket, TwoRate};
use pyo3::prelude::*;

fn checked<T: Describe>(value: &Value) -> Result<Value, Diagnostic> {
    T::read(value).map(|made| made.write())
}

/// A type that Python may ask for, by name.
struct Known {
    name: &'static str,
    check: fn(&Value) -> Result<Value, Diagnostic>,
}

macro_rules! known {
    ($($name:literal: $type:ty),* $(,)?) => {
        &[$(Known { name: $name, check: checked::<$type> }),*]
    };
}

/// All of them; their names are those of the Python model.
const KNOWN: &[Known] = known! {
    "Tree": TreeSpec,
    "Queue": QueueSpec,
    "PrioClass": PrioClass,
    "DrrClass": DrrClass,
    "HtbClass": HtbClass,
    "CbqClass": CbqClass,
    "GredQueue": GredQueue,
    "Filter": ClassFilter,
    "Match": Match,
    "Accounting": Accounting,
    "Conditioner": ConditionerSpec,
    "NamedConditioner": NamedConditioner,
    "Rule": RuleSpec,
    "TokenBucket": TokenBucket,
    "SingleRate": SingleRate,
    "TwoRate": TwoRate,
    "DiffServ": DiffServConfig,
    "LspDiffServ": LspDiffServ,
    "ELsp": ELsp,
    "LLsp": LLsp,
    "Phbs": PhbSet,
    "FlowFilter": FilterSpec,
};

/// Reads a value as a type and returns what could have been written to the same effect, defaults included.
#[pyfunction]
pub fn check<'py>(
    py: Python<'py>,
    type_name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let known = KNOWN.iter().find(|known| known.name == type_name);
    let known = known.ok_or_else(|| error::input(format!("there is no described type '{type_name}'")))?;
    let given = describe::value(value)?;
    let written = (known.check)(&given).map_err(|error| error::diagnostic(py, &given, &error))?;
    describe::object(py, &written)
}
