//! The classes of a tree that packets with a mark go to, as queues that somebody chooses by their numbers.

use super::{CbqClass, ClassFilter, HtbClass, QueueSpec, TreeSpec};
use crate::queue::classify::Match;
use base::Rate;

/// A class that all packets with a mark go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedClass {
    /// The mark; zero for the class of packets that no filter takes.
    pub mark: u32,
    /// The place of the class in the tree, such as `root/gold`.
    pub path: String,
    /// The rate that it has for certain, if the discipline promises one.
    pub min_rate: Option<Rate>,
    /// The rate that it never exceeds, if there is one.
    pub max_rate: Option<Rate>,
}

impl TreeSpec {
    /// The classes of the root that a filter by mark alone names, and the class `default`, by their marks.
    pub fn marked(&self) -> Vec<MarkedClass> {
        let (filters, default) = match &self.root {
            QueueSpec::Htb(spec) => (&spec.filters, spec.default.as_deref()),
            QueueSpec::Cbq(spec) => (&spec.filters, spec.default.as_deref()),
            QueueSpec::Drr(spec) => (&spec.filters, spec.default.as_deref()),
            QueueSpec::Prio(spec) => {
                let last = spec.classes.last().map(|(name, _)| &**name);
                (&spec.filters, spec.default.as_deref().or(last))
            }
            _ => return Vec::new(),
        };
        let named = filters.iter().filter_map(|filter| Some((mark_of(filter)?, &*filter.class)));
        let marked = default.map(|name| (0, name)).into_iter().chain(named).map(|(mark, name)| {
            let (min_rate, max_rate) = self.root.rates_of(name);
            MarkedClass { mark, path: format!("root/{name}"), min_rate, max_rate }
        });
        let mut classes: Vec<MarkedClass> = marked.collect();
        // No two filters ask for the same mark alone: the second is refused, since it can take nothing.
        classes.sort_by_key(|class| class.mark);
        classes
    }
}

/// The mark that a filter asks for, if it asks for nothing else. Zero is no mark.
fn mark_of(filter: &ClassFilter) -> Option<u32> {
    let mark = filter.matches.mark.filter(|mark| *mark != 0)?;
    (filter.matches == Match { mark: Some(mark), ..Match::default() }).then_some(mark)
}

impl QueueSpec {
    /// What a class has at least, and at most.
    fn rates_of(&self, name: &str) -> (Option<Rate>, Option<Rate>) {
        let ((least, most), queue) = match self {
            QueueSpec::Htb(spec) => match found(&spec.classes, name) {
                // Without a parent it borrows from nobody, whatever its ceiling says.
                Some(HtbClass { parent, rate, ceil, queue, .. }) => {
                    let most = ceil.filter(|_| parent.is_some()).unwrap_or(*rate);
                    ((Some(*rate), Some(most)), queue.as_deref())
                }
                None => return (None, None),
            },
            QueueSpec::Cbq(spec) => match found(&spec.classes, name) {
                Some(CbqClass { rate, bounded, queue, .. }) => {
                    ((Some(*rate), bounded.then_some(*rate)), queue.as_deref())
                }
                None => return (None, None),
            },
            QueueSpec::Drr(spec) => ((None, None), found(&spec.classes, name).map(|class| &*class.queue)),
            QueueSpec::Prio(spec) => ((None, None), found(&spec.classes, name).map(|class| &*class.queue)),
            _ => return (None, None),
        };
        let shaped = match queue {
            Some(QueueSpec::Tbf(spec)) => Some(spec.rate),
            _ => None,
        };
        (least, [most, shaped].into_iter().flatten().min())
    }
}

fn found<'a, T>(classes: &'a [(base::describe::ClassName, T)], name: &str) -> Option<&'a T> {
    classes.iter().find(|(own, _)| &**own == name).map(|(_, class)| class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn marked(root: Value) -> Vec<(u32, String, Option<u64>, Option<u64>)> {
        let spec: TreeSpec = serde_json::from_value(json!({"root": root})).expect("a description");
        let classes = spec.marked().into_iter();
        classes
            .map(|class| {
                (class.mark, class.path, class.min_rate.map(|rate| rate.0), class.max_rate.map(|rate| rate.0))
            })
            .collect()
    }

    #[test]
    fn classes_are_found_by_the_marks_that_alone_lead_to_them() {
        let classes = json!({"link": {"rate": 5000}, "a": {"parent": "link", "rate": 1000, "ceil": 3000},
            "b": {"rate": 2000, "ceil": 4000}, "rest": {"rate": 500}});
        let filters = json!([{"mark": 7, "class": "b"}, {"mark": 1, "class": "a"},
            {"mark": 2, "phb": ["EF"], "class": "a"}, {"dscp": [10], "class": "b"}]);
        let found =
            marked(json!({"discipline": "htb", "classes": classes, "filters": filters, "default": "rest"}));
        let expected = [
            (0, "root/rest".into(), Some(500), Some(500)),
            (1, "root/a".into(), Some(1000), Some(3000)),
            (7, "root/b".into(), Some(2000), Some(2000)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_class_has_the_rate_of_the_bucket_in_it_and_without_classes_there_are_none() {
        let shaped = json!({"queue": {"discipline": "tbf", "rate": 8000, "burst": 2000, "limit": 9000}});
        let found = marked(json!({"discipline": "prio", "classes": {"a": shaped, "b": {}},
            "filters": [{"mark": 3, "class": "a"}]}));
        assert_eq!(found, [(0, "root/b".into(), None, None), (3, "root/a".into(), None, Some(8000))]);
        assert!(marked(json!({"discipline": "pfifo"})).is_empty());
    }
}
