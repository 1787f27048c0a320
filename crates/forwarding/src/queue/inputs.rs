//! Which trees ask by which port packets came, or what their labels mean: only for these does a node take note of it.

use super::spec::{FilterSpec, QueueSpec, TreeSpec};
use crate::conditioner::ActionSpec;

impl TreeSpec {
    /// Does anything in the tree ask by which port a packet came?
    pub fn asks_input(&self) -> bool {
        let conditioner = self.conditioner.iter().flat_map(|conditioner| &conditioner.rules);
        conditioner.into_iter().any(|rule| rule.matches.inputs.is_some()) || asks(&self.root)
    }

    /// Does a rule in front of the tree write TC bits that depend on the LSP?
    pub fn asks_encaps(&self) -> bool {
        let rules = self.conditioner.iter().flat_map(|conditioner| &conditioner.rules);
        let mut actions = rules.flat_map(|rule| [rule.green, rule.yellow, rule.red]);
        actions.any(|action| matches!(action, ActionSpec::Remark { tc: None, .. }))
    }
}

fn asks(queue: &QueueSpec) -> bool {
    let any = |filters: &[FilterSpec]| filters.iter().any(|filter| filter.matches.inputs.is_some());
    let below = |queue: &Option<Box<QueueSpec>>| queue.as_deref().is_some_and(asks);
    match queue {
        QueueSpec::Pfifo(_)
        | QueueSpec::Bfifo(_)
        | QueueSpec::Red(_)
        | QueueSpec::Gred(_)
        | QueueSpec::FqCodel(_) => false,
        QueueSpec::Tbf(spec) => below(&spec.queue),
        QueueSpec::Prio(spec) => any(&spec.filters) || spec.classes.iter().any(|class| asks(&class.queue)),
        QueueSpec::Drr(spec) => any(&spec.filters) || spec.classes.iter().any(|class| asks(&class.queue)),
        QueueSpec::Cbq(spec) => any(&spec.filters) || spec.classes.iter().any(|class| below(&class.queue)),
        QueueSpec::Htb(spec) => any(&spec.filters) || spec.classes.iter().any(|class| below(&class.queue)),
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
            json!({"discipline": "prio", "classes": [{"name": "a", "queue": queue}],
                   "filters": [{"match": {"inputs": inputs}, "class": "a"}]})
        };
        let tbf = |queue: Value| json!({"root": {"discipline": "tbf", "rate_bps": 9, "burst_bytes": 9, "queue": queue}});
        assert!(asks(tbf(prio(json!([1]), &fifo))) && !asks(tbf(prio(Value::Null, &fifo))));
        assert!(asks(tbf(prio(Value::Null, &prio(json!([0]), &fifo)))));
        let rule = |inputs: Value| json!({"root": fifo, "conditioner": {"rules": [{"name": "r", "match": {"inputs": inputs}}]}});
        assert!(asks(rule(json!([2]))) && !asks(rule(Value::Null)));
        let remarks = |red: Value| {
            let rules = json!([{"name": "r", "red": red}]);
            let tree = json!({"root": fifo, "conditioner": {"rules": rules}});
            serde_json::from_value::<TreeSpec>(tree).expect("a tree").asks_encaps()
        };
        assert!(remarks(json!({"kind": "remark", "phb": "AF12"})));
        assert!(
            !remarks(json!({"kind": "remark", "phb": "AF12", "tc": 2})) && !remarks(json!({"kind": "drop"}))
        );
    }
}
