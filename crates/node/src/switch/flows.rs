//! Changes of flow tables, whichever version asks for them.

use super::Switch;
use base::Time;
use forwarding::openflow::{Filter, FlowTable, NewEntry, Pattern, Refusal};
use wire::openflow::v1_3::{Command, RemovedReason, flow_flags};

/// A change of entries.
pub(super) struct Change {
    pub(super) command: Command,
    /// The table; nothing for all of them, which only deletions are for.
    pub(super) table: Option<u8>,
    /// The entry as it is to be, or its pattern and priority.
    pub(super) entry: NewEntry,
    pub(super) cookie_mask: u64,
    pub(super) out_port: Option<u32>,
    pub(super) out_group: Option<u32>,
    /// Version 1.0 asks: what is changed gets the cookie, too, and an entry that is not there is added.
    pub(super) is_of_1_0: bool,
}

impl Switch {
    /// Adds, changes or deletes entries.
    pub(super) fn change_flows(&mut self, now: Time, change: Change) -> Result<(), Refusal> {
        let Change { command, table, entry, cookie_mask, out_port, out_group, is_of_1_0 } = change;
        let is_strict = matches!(command, Command::ModifyStrict | Command::DeleteStrict);
        let filter = Filter {
            pattern: entry.pattern,
            priority: is_strict.then_some(entry.priority),
            cookie: entry.cookie,
            cookie_mask,
            out_port,
            out_group,
            meter: None,
        };
        match command {
            Command::Add => self.add_flow(now, table, entry),
            Command::Modify | Command::ModifyStrict => {
                let Some(flows) = self.table_mut(table) else { return Ok(()) };
                let resets = entry.flags & flow_flags::RESET_COUNTS != 0;
                let cookie = is_of_1_0.then_some(entry.cookie);
                let changed = flows.modify(&filter, &entry.instructions, cookie, resets);
                if changed == 0 && is_of_1_0 {
                    let flags = entry.flags | flow_flags::RESET_COUNTS;
                    return self.add_flow(now, table, NewEntry { flags, ..entry });
                }
                Ok(())
            }
            Command::Delete | Command::DeleteStrict => {
                self.delete_flows(now, table, &filter, RemovedReason::Delete);
                Ok(())
            }
        }
    }

    fn table_mut(&mut self, table: Option<u8>) -> Option<&mut FlowTable> {
        self.datapath.tables.get_mut(usize::from(table.unwrap_or(0)))
    }

    fn add_flow(&mut self, now: Time, table: Option<u8>, entry: NewEntry) -> Result<(), Refusal> {
        match self.table_mut(table) {
            Some(flows) => flows.add(entry, now).map(drop),
            None => Ok(()),
        }
    }

    /// Deletes entries of a table or of all, and tells those who want to know.
    pub(super) fn delete_flows(
        &mut self,
        now: Time,
        table: Option<u8>,
        filter: &Filter,
        reason: RemovedReason,
    ) {
        let tables = match table {
            Some(table) => usize::from(table)..usize::from(table) + 1,
            None => 0..self.datapath.tables.len(),
        };
        for table in tables {
            let Some(flows) = self.datapath.tables.get_mut(table) else { continue };
            for gone in flows.delete(filter, reason) {
                self.agent.flow_removed(now, table as u8, &gone);
            }
        }
    }

    /// Deletes the entries that use a group that is gone.
    pub(super) fn delete_users_of_group(&mut self, now: Time, group: u32) {
        let filter = Filter { out_group: Some(group), ..Filter::covered(Pattern::ANY) };
        self.delete_flows(now, None, &filter, RemovedReason::GroupDelete);
    }

    /// Deletes the entries that pass a meter that is gone.
    pub(super) fn delete_users_of_meter(&mut self, now: Time, meter: u32) {
        let filter = Filter { meter: Some(meter), ..Filter::covered(Pattern::ANY) };
        self.delete_flows(now, None, &filter, RemovedReason::Delete);
    }

    /// How many entries a filter means, in all tables.
    pub(super) fn count_flows(&self, filter: &Filter) -> u32 {
        self.datapath.tables.iter().map(|flows| flows.select(filter).len() as u32).sum()
    }
}

/// Whole seconds since a time, and nanoseconds beyond them.
pub(super) fn age(now: Time, since: Time) -> (u32, u32) {
    let ns = now.as_nanos().saturating_sub(since.as_nanos());
    ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32)
}
