//! The table of the driver.

use super::Staged;
use base::table::{RowsOf, Table, View};

/// The tables of the driver.
pub(super) const VIEWS: &[View] = &[View::of::<Staged, StagedRow<'static>>()];

base::table! {
    /// The commits of routers whose tables are written by staged, the made-up driver. A restart begins anew.
    pub struct StagedRow<'a> in "staged_commits" key ["node"] {
        /// The router.
        node: &'a str,
        /// Commits that brought into force what was staged.
        commits: u64 = "commits",
        /// Commits that came before their interval was over, because the memory was full.
        early: u64 = "commits",
        /// Commits that failed and were tried again.
        failed: u64 = "commits",
        /// Commits that failed and were not tried again: what they were to put into tables was refused.
        given_up: u64 = "commits",
        /// Operations that were staged; ports and neighbours are not, unless something else is in their batch.
        operations: u64 = "operations",
        /// The most operations of one commit.
        largest: usize = "operations",
        /// Operations that wait for the next commit.
        waiting: usize = "operations",
    }
}

impl RowsOf<Staged> for StagedRow<'static> {
    fn rows(driver: &Staged, node: &str, to: &mut Table) {
        let super::Counters { commits, early, failed, given_up, operations, largest } = driver.counters;
        let waiting = driver.staged;
        to.push(StagedRow { node, commits, early, failed, given_up, operations, largest, waiting });
    }
}
