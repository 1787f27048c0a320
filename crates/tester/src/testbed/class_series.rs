//! Table `class_series`: what arrived over time of each class, however many flows it has.

use super::{FlowSpec, Testbed};
use crate::course::{CourseBin, merged};
use base::table::{Rows, Table};
use base::{Dscp, NodeId, Phb, Span, Time};
use std::collections::BTreeMap;

base::table! {
    /// Delay over time of each class, all its flows and sinks together, in bins by time of arrival. A class is that of
    /// demands, or the PHB that flows ask for. Bins are as wide as those of table `series`; of more than 64 flows, and
    /// of demands, twice as wide again and again, so that they do not become too many.
    pub struct ClassSeriesRow<'a> in "class_series" key ["class", "phb", "start_s"]
    of (class: Option<&'a str>, phb: &'a str) from bin: &CourseBin {
        /// The class of demands; absent of flows, and of demands without classes.
        class: Option<&'a str> => class,
        /// The PHB that the packets ask for, by the recommended code points.
        phb: &'a str => phb,
        /// When the bin begins.
        start_s: Time = "s" => bin.start,
        /// Packets that arrived in the bin, duplicates left out.
        packets: u64 = "packets",
        /// Mean delay.
        mean_s: f64 = "s" => bin.mean_s(),
        /// Least delay.
        min_s: f64 = "s" => bin.min.as_secs_f64(),
        /// Greatest delay.
        max_s: f64 = "s" => bin.max.as_secs_f64(),
    }
}

/// What a flow counts for over time: its code point, or the class of a demand.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    Flow(Dscp),
    Demand(u32),
}

/// Numbers of code points; those of classes of demands are behind them.
const CODES: u32 = 64;

impl Class {
    pub(super) fn is_demand(self) -> bool {
        matches!(self, Class::Demand(_))
    }

    /// By this number sinks know it.
    pub(super) fn number(self) -> u32 {
        match self {
            Class::Flow(dscp) => u32::from(dscp.value()),
            Class::Demand(place) => CODES + place,
        }
    }
}

impl Testbed {
    /// What a flow counts for.
    pub(super) fn class_of(&self, flow: usize, spec: &FlowSpec) -> Class {
        let of_flow = || Class::Flow(Dscp::new(spec.dscp).unwrap_or_default());
        self.demands.class_of(flow).map_or_else(of_flow, Class::Demand)
    }

    /// The name of a class of demands, and the PHB, of the class with a number.
    fn class_named(&self, number: u32) -> (Option<&str>, String) {
        let demand = number.checked_sub(CODES).and_then(|place| self.demands.class(place));
        let of_code = || (None, u8::try_from(number).ok().and_then(Dscp::new).unwrap_or_default());
        let (name, dscp) = demand.unwrap_or_else(of_code);
        (name, Phb::of_dscp(dscp).to_string())
    }
}

/// Class by class, in order of time.
pub(super) fn table(testbed: &Testbed) -> Table {
    let sinks = || testbed.ids().map(NodeId::index).filter_map(|node| testbed.sink(node));
    let shared = || sinks().flat_map(|sink| sink.courses().shared());
    let widths = shared().filter(|(_, course)| !course.bins().is_empty()).map(|(_, course)| course.width());
    let width = widths.chain([testbed.measuring.series_bin]).max().unwrap_or(Span(1));
    let mut bins: BTreeMap<(Option<&str>, String), BTreeMap<Time, CourseBin>> = BTreeMap::new();
    let mut add = |class: u32, of: &[CourseBin]| {
        let known = bins.entry(testbed.class_named(class)).or_default();
        for bin in merged(of, width) {
            known.entry(bin.start).and_modify(|all| all.add(&bin)).or_insert(bin);
        }
    };
    for (class, course) in shared() {
        add(class, course.bins());
    }
    for (flow, of) in sinks().flat_map(|sink| sink.courses().alone()) {
        if let Some(known) = testbed.flows.get(flow as usize) {
            add(testbed.class_of(flow as usize, &known.spec).number(), of);
        }
    }
    let mut table = Rows::new();
    for ((class, phb), of) in &bins {
        table.extend(of.values().map(|bin| ClassSeriesRow::of(*class, phb, bin)));
    }
    table.finish()
}
