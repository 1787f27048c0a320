//! Which trees ask by which port packets came, or what their labels mean: only for these does a node take note of it.
//! And from names of neighbours to ports.

use super::classify::Match;
use super::problem::QueueProblem;
use super::spec::{ClassFilter, QueueSpec, TreeSpec};
use crate::conditioner::{ActionSpec, ConditionerSpec};
use base::PortId;
use base::describe::{Describe, Schema, Schemas, Several, Value, malformed};
use base::diagnostic::{At, Diagnostic};

/// From the name of a neighbour, or of an interface of either, to the ports towards it.
pub type Find<'a> = dyn FnMut(&str) -> Result<Vec<PortId>, Diagnostic> + 'a;

/// Where packets came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A neighbour, or an interface of either as `NODE:INTERFACE`; the network knows to which ports it leads.
    Named(String),
    /// A port of the node itself, by its number.
    Port(PortId),
}

const FORM: &str = "a neighbour's name, or the number of a port from 0 to 65535";

impl Describe for Input {
    fn read(value: &Value) -> Result<Input, Diagnostic> {
        match value {
            Value::Text(name) => Ok(Input::Named(name.clone())),
            Value::Int(port) => {
                u16::try_from(*port).map(|port| Input::Port(PortId(port))).map_err(|_| malformed(value, FORM))
            }
            other => Err(malformed(other, FORM)),
        }
    }
    fn write(&self) -> Value {
        match self {
            Input::Named(name) => name.as_str().into(),
            Input::Port(port) => port.0.into(),
        }
    }
    fn schema(_: &mut Schemas) -> Schema {
        let port = Schema::Int { least: 0, most: u16::MAX as i128 };
        Schema::OneOf(vec![Schema::Text { form: "a neighbour's name", pattern: None }, port])
    }
}

impl Match {
    /// The ports by which packets may have come, if the match asks for that.
    pub(super) fn ports(&self) -> Result<Option<Vec<PortId>>, Diagnostic> {
        let Some(Several(inputs)) = &self.inputs else { return Ok(None) };
        let port = |(index, input): (usize, &Input)| match input {
            Input::Port(port) => Ok(*port),
            Input::Named(name) => {
                Err(Diagnostic::new(QueueProblem::Unresolved { name: name.clone() }).at(index).at("inputs"))
            }
        };
        inputs.iter().enumerate().map(port).collect::<Result<_, _>>().map(Some)
    }

    /// Puts ports in the place of names.
    pub fn resolve_inputs(&mut self, find: &mut Find<'_>) -> Result<(), Diagnostic> {
        let Some(Several(inputs)) = &mut self.inputs else { return Ok(()) };
        let mut found = Vec::new();
        for (index, input) in inputs.iter().enumerate() {
            match input {
                Input::Port(port) => found.push(*port),
                Input::Named(name) => found.extend(find(name).at(index).at("inputs")?),
            }
        }
        found.sort_unstable();
        found.dedup();
        *inputs = found.into_iter().map(Input::Port).collect();
        Ok(())
    }
}

impl ConditionerSpec {
    /// Puts ports in the place of names of neighbours.
    pub fn resolve_inputs(&mut self, find: &mut Find<'_>) -> Result<(), Diagnostic> {
        let mut rules = self.rules.iter_mut().enumerate();
        rules.try_for_each(|(index, rule)| rule.matches.resolve_inputs(find).at(index).at("rules"))
    }
}

impl QueueSpec {
    /// Puts ports in the place of names of neighbours.
    pub fn resolve_inputs(&mut self, find: &mut Find<'_>) -> Result<(), Diagnostic> {
        for (index, filter) in self.filters_mut().iter_mut().enumerate() {
            filter.matches.resolve_inputs(find).at(index).at("filters")?;
        }
        for (name, queue) in self.queues_mut() {
            let found = queue.resolve_inputs(find).at("queue");
            match name {
                Some(name) => found.at(name).at("classes")?,
                None => found?,
            }
        }
        Ok(())
    }

    fn filters_mut(&mut self) -> &mut [ClassFilter] {
        match self {
            QueueSpec::Prio(spec) => &mut spec.filters,
            QueueSpec::Drr(spec) => &mut spec.filters,
            QueueSpec::Cbq(spec) => &mut spec.filters,
            QueueSpec::Htb(spec) => &mut spec.filters,
            _ => &mut [],
        }
    }

    /// The disciplines directly below it, with their classes.
    fn queues_mut(&mut self) -> Vec<(Option<String>, &mut QueueSpec)> {
        macro_rules! of {
            ($spec:expr) => {{
                let named = $spec.classes.iter_mut();
                named
                    .filter_map(|(name, class)| Some((Some(name.to_string()), class.queue.as_deref_mut()?)))
                    .collect()
            }};
            (always $spec:expr) => {{
                let named = $spec.classes.iter_mut();
                named.map(|(name, class)| (Some(name.to_string()), &mut *class.queue)).collect()
            }};
        }
        match self {
            QueueSpec::Tbf(spec) => {
                spec.queue.as_deref_mut().map(|queue| (None, queue)).into_iter().collect()
            }
            QueueSpec::Prio(spec) => of!(always spec),
            QueueSpec::Drr(spec) => of!(always spec),
            QueueSpec::Cbq(spec) => of!(spec),
            QueueSpec::Htb(spec) => of!(spec),
            _ => Vec::new(),
        }
    }
}

impl TreeSpec {
    /// Does anything in the tree ask by which port a packet came?
    pub fn asks_input(&self) -> bool {
        let conditioner = self.conditioner().into_iter().flat_map(|conditioner| &conditioner.rules);
        conditioner.into_iter().any(|rule| rule.matches.inputs.is_some()) || asks(&self.root)
    }

    /// Does a rule in front of the tree write TC bits that depend on the LSP?
    pub fn asks_encaps(&self) -> bool {
        let rules = self.conditioner().into_iter().flat_map(|conditioner| &conditioner.rules);
        let mut actions = rules.flat_map(|rule| [rule.green, rule.yellow, rule.red]);
        actions.any(|action| matches!(action, ActionSpec::Remark { tc: None, .. }))
    }
}

fn asks(queue: &QueueSpec) -> bool {
    let any = |filters: &[ClassFilter]| filters.iter().any(|filter| filter.matches.inputs.is_some());
    let below = |queue: &Option<Box<QueueSpec>>| queue.as_deref().is_some_and(asks);
    match queue {
        QueueSpec::Pfifo(_)
        | QueueSpec::Bfifo(_)
        | QueueSpec::Red(_)
        | QueueSpec::Gred(_)
        | QueueSpec::FqCodel(_) => false,
        QueueSpec::Tbf(spec) => below(&spec.queue),
        QueueSpec::Prio(spec) => any(&spec.filters) || spec.classes.iter().any(|class| asks(&class.1.queue)),
        QueueSpec::Drr(spec) => any(&spec.filters) || spec.classes.iter().any(|class| asks(&class.1.queue)),
        QueueSpec::Cbq(spec) => any(&spec.filters) || spec.classes.iter().any(|class| below(&class.1.queue)),
        QueueSpec::Htb(spec) => any(&spec.filters) || spec.classes.iter().any(|class| below(&class.1.queue)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn wherever_it_is_asked() {
        let asks = |tree: Value| serde_json::from_value::<TreeSpec>(tree).expect("a tree").asks_input();
        let fifo = json!({"discipline": "pfifo"});
        let prio = |inputs: Value, queue: &Value| {
            json!({"discipline": "prio", "classes": {"a": {"queue": queue}},
                   "filters": [{"inputs": inputs, "class": "a"}]})
        };
        let tbf = |queue: Value| json!({"discipline": "tbf", "rate": 9, "burst": 9, "queue": queue});
        assert!(asks(tbf(prio(json!([1]), &fifo))) && !asks(tbf(prio(Value::Null, &fifo))));
        assert!(asks(tbf(prio(Value::Null, &prio(json!("east"), &fifo)))));
        let rule = |inputs: Value| json!({"root": fifo, "conditioner": {"rules": [{"name": "r", "inputs": inputs}]}});
        assert!(asks(rule(json!([2]))) && !asks(rule(Value::Null)));
        let remarks = |red: &str| {
            let tree = json!({"root": fifo, "conditioner": {"rules": [{"name": "r", "red": red}]}});
            serde_json::from_value::<TreeSpec>(tree).expect("a tree").asks_encaps()
        };
        assert!(remarks("remark AF12"));
        assert!(!remarks("remark AF12 as TC 2") && !remarks("drop"));
    }

    #[test]
    fn names_become_ports_wherever_they_stand() {
        let mut tree: TreeSpec = serde_json::from_value(json!({
            "discipline": "prio", "classes": {"a": {"queue": {"discipline": "drr", "classes": {"b": {}},
            "filters": [{"inputs": ["east", 7], "class": "b"}]}}}}))
        .expect("a tree");
        let mut none = |_: &str| Err(QueueProblem::Unresolved { name: "east".into() }.into());
        let error = tree.resolve_inputs(&mut none).expect_err("nobody").to_string();
        assert!(error.starts_with("classes/a/queue/filters/0/inputs/0: 'east'"), "{error}");
        tree.resolve_inputs(&mut |_| Ok(vec![PortId(9), PortId(7)])).expect("found");
        assert!(tree.write().get("classes").is_some_and(|c| format!("{c:?}").contains("[Int(7), Int(9)]")));
    }
}
