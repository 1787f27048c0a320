//! Table `checks`: whether what arrived is what was sent, and what could not be checked.

use super::{Flow, Testbed};
use crate::checks::Checks;
use base::StreamId;
use base::table::{Rows, Table};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

base::table! {
    /// Whether the packets of each flow that arrived are those that were sent: label, LSP, TTL, TC and bytes. Packets
    /// that arrived again are counted again. Flows whose sink is in another process have no row.
    pub struct CheckRow<'a> in "checks" key ["flow"]
    of (flow: usize, name: &'a str, lsp: bool, received: u64) from checks: Checks {
        /// The flow, by its place in the description.
        flow: usize => flow,
        /// Its name.
        name: &'a str => name,
        /// Packets that its sink took.
        received: u64 = "packets" => received,
        /// Packets that came with the label of another LSP, or to a sink that does not expect them. They are not
        /// received, but lost.
        misdelivered: u64 = "packets" => checks.misdelivered,
        /// Packets received that were changed on the way: their destination, their length, or a byte of their content.
        damaged: u64 = "packets" => checks.damaged,
        /// Packets received whose label had another TTL than routers on their way leave: as many less than was sent as
        /// the flow has `hops`; without `hops`, as much as was sent or more.
        ttl_wrong: u64 = "packets" => checks.ttl_wrong,
        /// Packets received whose label had another TC than the source wrote. Routers that remark do that.
        tc_changed: u64 = "packets" => checks.tc_changed,
        /// Packets received over an LSP whose label tells nothing about it: none was left, or explicit null. Absent of
        /// a flow that takes no LSP.
        label_unchecked: Option<u64> = "packets" => lsp.then_some(checks.label_unchecked),
        /// Packets received whose TTL could not be checked: they had no label, or it is not known how many routers they
        /// passed. Absent of a flow that takes no LSP.
        ttl_unchecked: Option<u64> = "packets" => lsp.then_some(checks.ttl_unchecked),
    }
}

/// Flow by flow.
pub(super) fn table(testbed: &Testbed) -> Table {
    let (mut table, astray) = (Rows::new(), astray(testbed));
    for (number, flow) in testbed.flows.iter().enumerate() {
        let Some(sink) = testbed.sink(flow.spec.to) else { continue };
        let (mut all, mut received) = (Checks::default(), 0);
        for stream in streams_of(testbed, number, flow) {
            let phases = sink.stream(stream).into_iter().flat_map(|stats| stats.phases.iter().enumerate());
            for (phase, stats) in phases {
                all.add(&stats.checks);
                all.misdelivered += astray.get(&(stream, phase)).copied().unwrap_or(0);
                received += stats.received() + stats.duplicated;
            }
        }
        table.push(CheckRow::of(number, &flow.spec.name, flow.spec.over.is_some(), received, all));
    }
    table.finish()
}

/// The streams of the flow with this number.
fn streams_of(testbed: &Testbed, number: usize, flow: &Flow) -> impl Iterator<Item = StreamId> {
    let is_own = move |stream: &StreamId| {
        testbed.streams.get(stream.index()).is_some_and(|flow| *flow as usize == number)
    };
    (flow.first_stream..).map(StreamId).take_while(is_own)
}

/// Packets that came to sinks that do not expect them, by stream and phase.
pub(super) type Astray = BTreeMap<(StreamId, usize), u64>;

/// Asks each sink once, if there is anything to ask for.
pub(super) fn astray(testbed: &Testbed) -> Astray {
    let mut found = Astray::new();
    if !testbed.has_astray.load(Ordering::Relaxed) {
        return found;
    }
    for sink in testbed.ids().filter_map(|node| testbed.sink(node.index())) {
        sink.astray().for_each(|(of, count)| *found.entry(of).or_default() += count);
    }
    found
}
