//! Types of queues, conditioners, DiffServ, OSPF, LDP, TDP and BGP, checked for Python: values are read, and come back
//! as what could have been written.

use crate::{describe, error};
use base::describe::{Describe, Schemas, Value};
use base::diagnostic::Diagnostic;
use base::flow_spec::FilterSpec;
use base::{DiffServConfig, ELsp, LLsp, LspDiffServ, PhbSet};
use control::bfd::section::{BfdAuthSpec, BfdSpec};
use control::bgp::section::{BgpNeighborSpec, BgpSpec};
use control::ldp::section::LdpSpec;
use control::ospf::auth_section::OspfAuthSpec;
use control::ospf::section::{
    OspfAreaSpec, OspfImportSpec, OspfPortSpec, OspfRangeSpec, OspfSpec, OspfSpfSpec,
};
use control::services::{PingSpec, WatchSpec};
use control::tdp::section::TdpSpec;
use engine::discipline::accounting::Accounting;
use engine::discipline::classify::Match;
use engine::discipline::spec::*;
use node::conditioner::{ConditionerSpec, MeterSpec, RuleSpec, SingleRate, TokenBucket, TwoRate};
use pyo3::prelude::*;

fn checked<T: Describe>(value: &Value) -> Result<Value, Diagnostic> {
    T::read(value).map(|made| made.write())
}

fn entered<T: Describe>(known: &mut Schemas) {
    T::schema(known);
}

/// A type that Python may ask for, by name.
struct Known {
    name: &'static str,
    check: fn(&Value) -> Result<Value, Diagnostic>,
    schema: fn(&mut Schemas),
}

macro_rules! known {
    ($($name:literal: $type:ty),* $(,)?) => {
        &[$(Known { name: $name, check: checked::<$type>, schema: entered::<$type> }),*]
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
    "Meter": MeterSpec,
    "TokenBucket": TokenBucket,
    "SingleRate": SingleRate,
    "TwoRate": TwoRate,
    "DiffServ": DiffServConfig,
    "LspDiffServ": LspDiffServ,
    "ELsp": ELsp,
    "LLsp": LLsp,
    "Phbs": PhbSet,
    "FlowFilter": FilterSpec,
    "Ospf": OspfSpec,
    "OspfInterface": OspfPortSpec,
    "OspfAuthentication": OspfAuthSpec,
    "OspfSpf": OspfSpfSpec,
    "Ldp": LdpSpec,
    "Tdp": TdpSpec,
    "Bfd": BfdSpec,
    "BfdAuthentication": BfdAuthSpec,
    "BfdPace": WatchSpec,
    "LspPingPace": PingSpec,
    "Bgp": BgpSpec,
    "BgpNeighbor": BgpNeighborSpec,
    "OspfArea": OspfAreaSpec,
    "OspfRange": OspfRangeSpec,
    "OspfRedistribution": OspfImportSpec,
};

/// The names of the types that [`check`] knows.
#[pyfunction]
pub fn checked_types() -> Vec<&'static str> {
    KNOWN.iter().map(|known| known.name).collect()
}

/// Enters these types among those of network files, which name most of them already.
pub fn enter(known: &mut Schemas) {
    KNOWN.iter().for_each(|one| (one.schema)(known));
}

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
