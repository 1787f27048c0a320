//! Table `outages`: how long nothing of a flow went through.

use super::Testbed;
use crate::generator::Generator;
use base::NodeId;
use base::Time;
use base::runs::{Run, joined};
use base::table::Table;
use std::collections::BTreeMap;

base::table! {
    /// Outages of each flow: packets that it sent one after the other and that were all lost, wherever. Of those that
    /// began between two things that were done to the network (table `actions`) the longest is here, in order of time.
    /// Of a flow over several LSPs the packets of all together are meant: while one of them gets through, there is no
    /// outage. What other processes of a lab lost is not known here.
    pub struct OutageRow in "outages" key ["flow", "first_s"] {
        /// The flow, by its place in the description.
        flow: u32,
        /// When the first packet was lost.
        first_s: Time = "s",
        /// When the last one was lost; as the first if only one was.
        last_s: Time = "s",
        /// How many packets were lost, one after the other.
        packets: u64 = "packets",
    }
}

/// Flow by flow, in order of time.
pub(super) fn table(testbed: &Testbed) -> Table {
    let mut runs: BTreeMap<u32, Vec<Run>> = BTreeMap::new();
    for losses in testbed.network.world().losses() {
        losses.book.runs().for_each(|(flow, run)| runs.entry(flow).or_default().push(run));
    }
    for node in testbed.ids().map(NodeId::index) {
        let sources = testbed.generator(node).into_iter().flat_map(Generator::sources);
        for source in sources {
            let stream = source.sent().next().map(|(stream, _)| stream);
            let Some(&flow) = stream.and_then(|stream| testbed.streams.get(stream.index())) else { continue };
            let unsent = source.unsent_runs().collect::<Vec<_>>();
            if !unsent.is_empty() {
                runs.entry(flow).or_default().extend(unsent);
            }
        }
    }
    let marks = testbed.network.moments();
    let rows = runs.into_iter().flat_map(|(flow, runs)| {
        joined(runs, &marks).into_iter().map(move |run| OutageRow {
            flow,
            first_s: run.first,
            last_s: run.last,
            packets: run.packets,
        })
    });
    rows.collect()
}
