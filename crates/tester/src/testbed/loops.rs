//! Table `loops`: packets that came to a router twice on their way, and arrived nevertheless.

use super::Testbed;
use base::LinkId;
use base::table::{Rows, Table};
use std::collections::{BTreeMap, BTreeSet};

base::table! {
    /// Whether traced packets that arrived had been at a router twice; flows without traced packets have no row.
    /// Packets that went round until their time to live was over are in table `losses`, with the reason `ttl-expired`.
    pub struct LoopRow in "loops" key ["flow"] {
        /// The flow, by its place in the description.
        flow: u32,
        /// Packets that arrived and whose links were noted.
        traced: u64 = "packets",
        /// Those of them that had been at a router twice.
        looped: u64 = "packets",
    }
}

/// Traced packets of a flow that arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    /// How many there were.
    traced: u64,
    /// How many had been at a node twice.
    looped: u64,
}

/// The nodes at the ends of each link. Those of instruments beside routers are not among them.
pub(super) type Ends = BTreeMap<LinkId, [usize; 2]>;

/// The ends of all links of a network.
pub(super) fn ends(testbed: &Testbed) -> Ends {
    testbed.links().iter().map(|link| (link.id, link.ends())).collect()
}

/// Notes the way of a packet of a flow.
pub(super) fn note(testbed: &mut Testbed, flow: u32, links: &[LinkId], ends: &Ends) {
    let Some(from) = testbed.flows.get(flow as usize).map(|flow| flow.spec.from) else { return };
    let passed = testbed.passed.entry(flow).or_default();
    passed.traced += 1;
    passed.looped += u64::from(is_looped(from, links, ends));
}

/// Does a way from a node over these links lead to a node twice?
fn is_looped(from: usize, links: &[LinkId], ends: &Ends) -> bool {
    let mut at = from;
    let mut seen = BTreeSet::from([at]);
    let mut way = links.iter().filter_map(|link| ends.get(link));
    way.any(|&[a, b]| {
        at = if at == a { b } else { a };
        !seen.insert(at)
    })
}

/// Flow by flow.
pub(super) fn table(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (&flow, passed) in &testbed.passed {
        table.push(LoopRow { flow, traced: passed.traced, looped: passed.looped });
    }
    table.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_that_comes_to_a_node_twice_is_a_loop() {
        let ends: Ends = [(1, [0, 1]), (2, [1, 2]), (3, [2, 0]), (4, [1, 3])]
            .into_iter()
            .map(|(link, ends)| (LinkId(link), ends))
            .collect();
        let looped = |from: usize, way: &[u32]| {
            let links: Vec<LinkId> = way.iter().copied().map(LinkId).collect();
            is_looped(from, &links, &ends)
        };
        assert!(!looped(0, &[]) && !looped(0, &[1, 4]) && !looped(0, &[3, 2, 4]));
        // There and back, round a triangle, and with the links of instruments before and behind.
        assert!(looped(0, &[1, 1, 3]) && looped(1, &[1, 3, 2, 4]) && looped(0, &[9, 3, 3, 1, 4, 9]));
        assert!(!looped(2, &[9, 2, 4, 9]));
    }
}
