//! Table `loss_periods`: what did not come to a receiver, one packet after the other.

use super::Testbed;
use super::packets::streams_of;
use crate::sequence::Numbered;
use base::Time;
use base::table::Table;

base::table! {
    /// Packets of a stream that a receiver did not get, one after the other, though it got a later one. However many
    /// copies of a packet there are, and wherever they are lost, it counts if none came. Of those that ended between
    /// two things that were done to the network (table `actions`) the longest is here. What is on its way, and comes
    /// late, is missing until then.
    pub struct LossPeriodRow<'a> in "loss_periods" key ["flow", "lsp", "node", "first"] {
        /// The flow, by its place in the description.
        flow: usize,
        /// Which LSP of its group the stream takes, from 0.
        lsp: u32,
        /// The receiver.
        node: &'a str,
        /// The number of the first packet that is missing, as the stream counts them from 0.
        first: u64,
        /// How many there are.
        packets: u64 = "packets",
        /// When the packet behind them was due to leave, which may itself have come late.
        next_sent_s: Time = "s",
        /// When its last bit arrived.
        next_received_s: Time = "s",
    }
}

/// Flow by flow, receivers in the order in which they were named.
pub(super) fn table(testbed: &Testbed) -> Table {
    let marks = testbed.network.moments();
    let mut rows: Vec<LossPeriodRow<'_>> = Vec::new();
    for (number, flow) in testbed.flows.iter().enumerate() {
        let streams = || streams_of(testbed, number, flow).zip(0..);
        for (node, (stream, lsp)) in
            flow.spec.receivers().flat_map(|node| streams().map(move |one| (node, one)))
        {
            let Some(stats) = testbed.sink(node).and_then(|sink| sink.stream(stream)) else { continue };
            let begun = rows.len();
            let mut gaps: Vec<(u64, Numbered)> = stats.sequence.gaps().collect();
            gaps.sort_by_key(|(first, after)| (after.arrival, *first));
            for (first, after) in gaps {
                let row = LossPeriodRow {
                    flow: number,
                    lsp,
                    node: testbed.node_name(node),
                    first,
                    packets: after.number - first,
                    next_sent_s: after.departure,
                    next_received_s: after.arrival,
                };
                match rows[begun..].last_mut() {
                    Some(known) if !marks.between(known.next_received_s, row.next_received_s) => {
                        if known.packets < row.packets {
                            *known = row;
                        }
                    }
                    _ => rows.push(row),
                }
            }
        }
    }
    rows.into_iter().collect()
}
