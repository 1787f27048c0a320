//! Table `receivers`: what each receiver of a flow to a group got.

use super::Testbed;
use crate::delay::DelayStats;
use base::StreamId;
use base::table::{Rows, Table};

base::table! {
    /// What each receiver of flows to groups got, in each phase. Every receiver is to get every packet.
    pub struct ReceiverRow<'a> in "receivers" key ["flow", "node", "phase"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// The receiver.
        node: &'a str,
        /// The phase by time of departure, from 0; -1 is before the first.
        phase: i64,
        /// Packets received, duplicates left out.
        received: u64 = "packets",
        /// Packets that had arrived before.
        duplicated: u64 = "packets",
        /// Packets that arrived after later ones (RFC 4737).
        reordered: u64 = "packets",
        /// Mean delay; absent if nothing arrived.
        delay_mean_s: Option<f64> = "s",
        /// Greatest delay; absent if nothing arrived.
        delay_max_s: Option<f64> = "s",
    }
}

/// Flow by flow, receivers in the order in which they were named.
pub(super) fn table(testbed: &Testbed) -> Table {
    let mut table = Rows::new();
    for (number, flow) in testbed.flows.iter().enumerate().filter(|(_, flow)| flow.spec.group.is_some()) {
        for node in flow.spec.receivers() {
            let stream = StreamId(flow.first_stream);
            let Some(stats) = testbed.sink(node).and_then(|sink| sink.stream(stream)) else { continue };
            let seen = |(_, stats): &(usize, &crate::sink::PhaseStats)| stats.received() > 0;
            table.extend(stats.phases.iter().enumerate().filter(|one| one.0 > 0 || seen(one)).map(
                |(phase, stats)| ReceiverRow {
                    flow: number,
                    node: testbed.node_name(node),
                    phase: phase as i64 - 1,
                    received: stats.received(),
                    duplicated: stats.duplicated,
                    reordered: stats.reordered,
                    delay_mean_s: DelayStats::mean_s(&stats.delay),
                    delay_max_s: DelayStats::max_s(&stats.delay),
                },
            ));
        }
    }
    table.finish()
}
