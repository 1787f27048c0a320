//! The tables of the driver.

use super::OpenFlow;
use base::table::{RowsOf, Table, View};

/// The tables of the driver.
pub(super) const VIEWS: &[View] =
    &[View::of::<OpenFlow, SwitchRow<'static>>(), View::of::<OpenFlow, RefusedRow<'static>>()];

base::table! {
    /// The switch of each router whose forwarding plane is one, by OpenFlow.
    pub struct SwitchRow<'a> in "openflow_switches" key ["node"] {
        /// The router.
        node: &'a str,
        /// `none`, `greeting` (both ends say their versions), `reading` (the router reads which entries there are),
        /// `up`, `refused` (it does not speak version 1.3), or `silent` (it does not answer, and its connection is
        /// closed).
        state: &'static str,
        /// Connections that it has made.
        connections: u64,
        /// Connections that were closed because it was silent.
        silent: u64,
        /// Entries that it should have.
        entries: usize = "entries",
        /// Entries written, also in the place of others.
        written: u64 = "entries",
        /// Entries deleted because the tables say something else.
        deleted: u64 = "entries",
        /// Entries that it had already when it connected, and that stayed as they were.
        kept: u64 = "entries",
        /// Entries that it had when it connected, and that were deleted.
        stale: u64 = "entries",
        /// Messages that it did not do.
        errors: u64 = "messages",
        /// Packets that it handed to the router.
        packet_ins: u64 = "packets",
        /// Packets that it was given to send.
        packet_outs: u64 = "packets",
        /// Packets of the router that were lost since no switch was there. The last ones before the first switch wait.
        lost: u64 = "packets",
        /// Operations that wait until it has done them.
        waiting: usize = "operations",
    }
}

base::table! {
    /// What switches of routers can't do and was refused, by reason.
    pub struct RefusedRow<'a> in "openflow_refused" key ["node", "reason"] {
        /// The router.
        node: &'a str,
        /// What the switch would have to do.
        reason: &'static str,
        /// Operations that were refused.
        count: u64 = "operations",
    }
}

impl RowsOf<OpenFlow> for SwitchRow<'static> {
    fn rows(driver: &OpenFlow, node: &str, to: &mut Table) {
        let super::Counters {
            connections,
            silent,
            written,
            deleted,
            kept,
            stale,
            errors,
            packet_ins,
            packet_outs,
            lost,
        } = driver.counters;
        to.push(SwitchRow {
            node,
            state: driver.session.word(),
            connections,
            silent,
            entries: driver.desired.len(),
            written,
            deleted,
            kept,
            stale,
            errors,
            packet_ins,
            packet_outs,
            lost,
            waiting: driver.pending.iter().map(|one| one.ops).sum(),
        });
    }
}

impl RowsOf<OpenFlow> for RefusedRow<'static> {
    fn rows(driver: &OpenFlow, node: &str, to: &mut Table) {
        for (&reason, &count) in &driver.refused {
            to.push(RefusedRow { node, reason, count });
        }
    }
}
