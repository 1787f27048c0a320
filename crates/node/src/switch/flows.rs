//! Changes of flow tables, whichever version asks for them.

use super::Switch;
use base::Time;
use forwarding::openflow::{Entry, Filter, FlowTable, NewEntry, Pattern, Refusal};
use std::collections::BTreeSet;
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

    /// Deletes the entries that use groups which are gone.
    pub(super) fn delete_users_of_groups(&mut self, now: Time, gone: &BTreeSet<u32>) {
        let uses = |entry: &Entry| entry.groups().any(|group| gone.contains(&group));
        self.delete_users(now, uses, RemovedReason::GroupDelete);
    }

    /// Deletes the entries that pass meters which are gone.
    pub(super) fn delete_users_of_meters(&mut self, now: Time, gone: &BTreeSet<u32>) {
        let uses = |entry: &Entry| entry.meter().is_some_and(|meter| gone.contains(&meter));
        self.delete_users(now, uses, RemovedReason::Delete);
    }

    fn delete_users(&mut self, now: Time, uses: impl Fn(&Entry) -> bool, reason: RemovedReason) {
        for (table, flows) in (0u8..).zip(&mut self.datapath.tables) {
            for gone in flows.delete_where(&uses, reason) {
                self.agent.flow_removed(now, table, &gone);
            }
        }
    }

    /// Entries that a filter means, of a table or of all, with table, pattern and priority.
    pub(super) fn flows<'a>(
        &'a self,
        table: Option<u8>,
        filter: &'a Filter,
    ) -> impl Iterator<Item = (u8, Pattern, u16, &'a Entry)> {
        let tables = (0u8..).zip(&self.datapath.tables);
        let tables = tables.filter(move |(own, _)| table.is_none_or(|table| table == *own));
        tables.flat_map(move |(table, flows)| {
            let found = flows.select(filter).into_iter();
            found.filter_map(move |id| {
                let (pattern, priority) = flows.pattern(id)?;
                Some((table, pattern, priority, flows.entry(id)?))
            })
        })
    }
}

/// Packets, bytes and how many entries there are.
pub(super) fn summed<'a>(entries: impl Iterator<Item = (u8, Pattern, u16, &'a Entry)>) -> (u64, u64, u32) {
    entries.fold((0, 0, 0), |(packets, bytes, count), (.., entry)| {
        (packets + entry.packets, bytes + entry.bytes, count + 1)
    })
}

/// Whole seconds since a time, and nanoseconds beyond them.
pub(super) fn age(now: Time, since: Time) -> (u32, u32) {
    let ns = now.as_nanos().saturating_sub(since.as_nanos());
    ((ns / 1_000_000_000) as u32, (ns % 1_000_000_000) as u32)
}
