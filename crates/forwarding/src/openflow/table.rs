//! A flow table: adding, changing, deleting, expiring and counting.

use super::cache::Cache;
use super::shared::Shared;
use super::{Classifier, Entry, Fields, Filter, Pattern, Removed};
use crate::hash::Seed;
use base::Time;
use core::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::openflow::v1_3::{Instruction, RemovedReason, flow_flags};

/// A table of entries.
#[derive(Clone, Debug)]
pub struct FlowTable {
    classifier: Classifier,
    cache: Cache,
    entries: Vec<Option<Entry>>,
    shared: Shared,
    free: Vec<u32>,
    /// When to look at an entry, with the sequence that it has then; a packet may have put off its end meanwhile.
    deadlines: BinaryHeap<Reverse<(Time, u32, u64)>>,
    /// The sequence of each entry; an entry that takes the place of another has its own.
    sequences: Vec<u64>,
    next_sequence: u64,
    max_entries: usize,
    active: usize,
    lookups: u64,
    matched: u64,
}

/// An entry to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Which packets it is for.
    pub pattern: Pattern,
    /// Which of several entries is taken: the one with the highest.
    pub priority: u16,
    /// A number of the controller's own.
    pub cookie: u64,
    /// Seconds without packets after which it goes; zero for never.
    pub idle_timeout: u16,
    /// Seconds after which it goes; zero for never.
    pub hard_timeout: u16,
    /// Bits of `flow_flags`. An entry of version 1.0 has RESET_COUNTS, because that version always counts anew.
    pub flags: u16,
    /// What is done.
    pub instructions: Box<[Instruction]>,
}

/// What adding has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The entry is there beside the others.
    New(u32),
    /// It took the place of one with the same pattern and priority. Nobody is told that that one is gone.
    Replaced(u32),
}

/// Why an entry is not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A packet could have this pattern and that of another entry of the same priority, and the check was asked for.
    Overlap,
    /// The table is full.
    Full,
}

impl FlowTable {
    /// An empty table with room for `max_entries`.
    pub fn new(max_entries: usize, seed: Seed) -> FlowTable {
        FlowTable {
            classifier: Classifier::new(seed),
            cache: Cache::default(),
            entries: Vec::new(),
            shared: Shared::default(),
            free: Vec::new(),
            deadlines: BinaryHeap::new(),
            sequences: Vec::new(),
            next_sequence: 0,
            max_entries,
            active: 0,
            lookups: 0,
            matched: 0,
        }
    }

    /// The number of entries.
    pub fn active(&self) -> usize {
        self.active
    }

    /// Packets that were looked up, and those of them that found an entry.
    pub fn counters(&self) -> (u64, u64) {
        (self.lookups, self.matched)
    }

    /// An entry by its identifier, which another may have when it is gone.
    pub fn entry(&self, id: u32) -> Option<&Entry> {
        self.entries.get(id as usize)?.as_ref()
    }

    /// The pattern and priority of an entry.
    pub fn pattern(&self, id: u32) -> Option<(Pattern, u16)> {
        self.classifier.get(id)
    }

    /// Is it the entry for packets that no other one is for?
    pub fn is_miss(&self, id: u32) -> bool {
        self.classifier.is_last_resort(id)
    }

    /// The entry that a packet of so many bytes takes, which counts it.
    pub fn take(&mut self, packet: &Fields, bytes: u32, now: Time) -> Option<u32> {
        let found = self.lookup(packet);
        self.lookups += 1;
        let entry = self.entries.get_mut(found? as usize)?.as_mut()?;
        self.matched += 1;
        entry.used = now;
        entry.packets += u64::from(entry.flags & flow_flags::NO_PKT_COUNTS == 0);
        entry.bytes += if entry.flags & flow_flags::NO_BYT_COUNTS == 0 { u64::from(bytes) } else { 0 };
        found
    }

    /// The entry that a packet would take.
    pub fn lookup(&mut self, packet: &Fields) -> Option<u32> {
        if let Some(found) = self.cache.get(packet) {
            return found;
        }
        let found = self.classifier.lookup(packet);
        self.cache.put(packet, found);
        found
    }

    /// Adds an entry, or puts it in the place of the one with the same pattern and priority.
    pub fn add(&mut self, new: NewEntry, now: Time) -> Result<Added, Refusal> {
        let old = self.classifier.find(&new.pattern, new.priority);
        if new.flags & flow_flags::CHECK_OVERLAP != 0 && self.overlaps(&new.pattern, new.priority) {
            return Err(Refusal::Overlap);
        }
        let NewEntry { pattern, priority, cookie, idle_timeout, hard_timeout, flags, instructions } = new;
        let mut entry = Entry {
            cookie,
            idle_timeout,
            hard_timeout,
            flags,
            created: now,
            used: now,
            packets: 0,
            bytes: 0,
            instructions: self.shared.of(instructions),
        };
        let sequence = self.next_sequence;
        let added = match old {
            Some(id) => {
                if let (Some(old), 0) = (self.entry(id), flags & flow_flags::RESET_COUNTS) {
                    (entry.packets, entry.bytes) = (old.packets, old.bytes);
                }
                Added::Replaced(id)
            }
            None if self.active >= self.max_entries => return Err(Refusal::Full),
            None => {
                let id = self.free.pop().unwrap_or(self.entries.len() as u32);
                if self.entries.len() == id as usize {
                    self.entries.push(None);
                    self.sequences.push(0);
                }
                self.classifier.insert(id, &pattern, priority, sequence);
                self.cache.clear();
                self.active += 1;
                Added::New(id)
            }
        };
        self.next_sequence += 1;
        let (Added::New(id) | Added::Replaced(id)) = added;
        if let Some((at, _)) = entry.deadline() {
            self.deadlines.push(Reverse((at, id, sequence)));
        }
        self.entries[id as usize] = Some(entry);
        self.sequences[id as usize] = sequence;
        self.forget_deadlines();
        Ok(added)
    }

    /// Entries that go before their time leave their deadlines behind: takes those out when they are the greater part.
    fn forget_deadlines(&mut self) {
        if self.deadlines.len() > 2 * self.active + 64 {
            let is_current = |id: u32, sequence| {
                self.entries[id as usize].is_some() && self.sequences[id as usize] == sequence
            };
            self.deadlines.retain(|Reverse((_, id, sequence))| is_current(*id, *sequence));
        }
    }

    /// Changes the instructions of entries, and nothing else of them but their cookie, if one is given, and, with
    /// `reset_counts`, what they have counted: how many there were.
    pub fn modify(
        &mut self,
        filter: &Filter,
        instructions: &[Instruction],
        cookie: Option<u64>,
        reset_counts: bool,
    ) -> usize {
        let ids = self.select(&Filter { out_port: None, out_group: None, ..*filter });
        if ids.is_empty() {
            return 0;
        }
        let instructions = self.shared.of(instructions.into());
        for id in &ids {
            if let Some(entry) = &mut self.entries[*id as usize] {
                entry.instructions = instructions.clone();
                entry.cookie = cookie.unwrap_or(entry.cookie);
                if reset_counts {
                    (entry.packets, entry.bytes) = (0, 0);
                }
            }
        }
        ids.len()
    }

    /// Deletes entries: those that were there.
    pub fn delete(&mut self, filter: &Filter, reason: RemovedReason) -> Vec<Removed> {
        let ids = self.select(filter);
        ids.into_iter().filter_map(|id| self.remove(id, reason)).collect()
    }

    /// Deletes entries of which this is true: those that were there.
    pub fn delete_where(&mut self, is_meant: impl Fn(&Entry) -> bool, reason: RemovedReason) -> Vec<Removed> {
        let ids = 0..self.entries.len() as u32;
        let meant: Vec<u32> = ids.filter(|id| self.entry(*id).is_some_and(&is_meant)).collect();
        meant.into_iter().filter_map(|id| self.remove(id, reason)).collect()
    }

    /// When [`FlowTable::expire`] has to be called; perhaps there is nothing to do then.
    pub fn next_timeout(&self) -> Option<Time> {
        self.deadlines.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes out entries whose time has passed, the first to go first.
    pub fn expire(&mut self, now: Time) -> Vec<Removed> {
        let mut gone = Vec::new();
        while let Some(Reverse((at, id, sequence))) =
            self.deadlines.peek().copied().filter(|next| next.0.0 <= now)
        {
            self.deadlines.pop();
            let Some(entry) = self.entry(id).filter(|_| self.sequences[id as usize] == sequence) else {
                continue;
            };
            match entry.deadline() {
                // A packet came since.
                Some((later, _)) if later > at => self.deadlines.push(Reverse((later, id, sequence))),
                Some((_, reason)) => gone.extend(self.remove(id, reason)),
                None => {}
            }
        }
        gone
    }

    /// Identifiers of the entries that a filter means, in ascending order.
    pub fn select(&self, filter: &Filter) -> Vec<u32> {
        let admits = |id: &u32| self.entry(*id).is_some_and(|entry| filter.admits(entry));
        if let Some(priority) = filter.priority {
            return self.classifier.find(&filter.pattern, priority).filter(admits).into_iter().collect();
        }
        if !self.classifier.has_tuple(None, |mask| mask.contains(&filter.pattern.mask)) {
            return Vec::new();
        }
        let covers = |id: &u32| self.classifier.get(*id).is_some_and(|(own, _)| filter.pattern.covers(&own));
        (0..self.entries.len() as u32).filter(admits).filter(covers).collect()
    }

    /// Could a packet have this pattern and that of an entry of this priority?
    fn overlaps(&self, pattern: &Pattern, priority: u16) -> bool {
        if !self.classifier.has_tuple(Some(priority), |_| true) {
            return false;
        }
        let mut ids = 0..self.entries.len() as u32;
        ids.any(|id| {
            self.classifier.get(id).is_some_and(|(own, other)| other == priority && own.overlaps(pattern))
        })
    }

    fn remove(&mut self, id: u32, reason: RemovedReason) -> Option<Removed> {
        let (pattern, priority) = self.classifier.get(id)?;
        let entry = self.entries[id as usize].take()?;
        self.classifier.remove(id);
        self.cache.clear();
        self.free.push(id);
        self.active -= 1;
        Some(Removed { pattern, priority, entry, reason })
    }
}
