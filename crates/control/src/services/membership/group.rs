//! What a router knows of a group on a link: the filter mode and the sources (RFC 3376, 6.2 to 6.5; RFC 3810, 7.2 to
//! 7.5).

use base::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use wire::membership::{Address, Record, RecordKind};

/// What has to be asked again before it is forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ask<A> {
    /// Does anybody want the group?
    Group,
    /// Does anybody want these sources of it?
    Sources(BTreeSet<A>),
}

/// What hosts can say that speak the version of which a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// That they want a group (IGMPv1).
    Joins,
    /// That they leave it, too (IGMPv2, MLDv1).
    Leaves,
    /// Of which sources they want it, too (IGMPv3, MLDv2).
    Sources,
}

/// A group on a link. With a group timer its filter mode is EXCLUDE, else INCLUDE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group<A> {
    /// When the mode falls back to INCLUDE, if it is EXCLUDE.
    pub expires: Option<Time>,
    /// Sources, each with the end of its timer; nothing for one that is excluded.
    pub sources: BTreeMap<A, Option<Time>>,
    /// Until when a host may be there that says no sources, and one that does not say that it leaves (RFC 3376, 7.3.2;
    /// RFC 3810, 8.3.2).
    pub older: [Option<Time>; 2],
}

impl<A> Default for Group<A> {
    fn default() -> Self {
        Group { expires: None, sources: BTreeMap::new(), older: [None; 2] }
    }
}

impl<A: Address + Ord> Group<A> {
    /// A report of an older version: such a host may be there until `end`.
    pub(crate) fn note(&mut self, speaks: Speaks, end: Time) {
        let [leaves, joins] = &mut self.older;
        match speaks {
            Speaks::Joins => *joins = Some(end),
            Speaks::Leaves => *leaves = Some(end),
            Speaks::Sources => {}
        }
    }

    /// Sources whose timers run: A in INCLUDE mode, X in EXCLUDE mode.
    fn running(&self) -> BTreeSet<A> {
        self.sources.iter().filter(|(_, end)| end.is_some()).map(|(source, _)| *source).collect()
    }

    /// Sources that are excluded: Y.
    fn excluded(&self) -> BTreeSet<A> {
        self.sources.iter().filter(|(_, end)| end.is_none()).map(|(source, _)| *source).collect()
    }

    fn set(&mut self, sources: impl IntoIterator<Item = A>, end: Option<Time>) {
        self.sources.extend(sources.into_iter().map(|source| (source, end)));
    }

    /// Takes a record in. `interval` is the group membership interval: how long an answer holds. Returns what is to be
    /// asked before it is forgotten (RFC 3376, tables of 6.4.1 and 6.4.2; RFC 3810, the same in 7.4.1 and 7.4.2).
    pub(crate) fn record(&mut self, now: Time, interval: Span, record: &Record<A>) -> Vec<Ask<A>> {
        let [leaves, joins] = self.older.map(|until| until.is_some_and(|end| end > now));
        let mut said: BTreeSet<A> = record.sources.iter().copied().collect();
        // RFC 3376, 7.3.2, and RFC 3810, 8.3.2: while a host of an older version is there, BLOCK is ignored, and so are
        // the sources of TO_EX; while one is there that never says that it leaves, TO_IN is, too, and so a Leave.
        match record.kind {
            RecordKind::Block if leaves || joins => return Vec::new(),
            RecordKind::ToInclude if joins => return Vec::new(),
            RecordKind::ToExclude if leaves || joins => said.clear(),
            _ => {}
        }
        let end = now + interval;
        let (running, excluded) = (self.running(), self.excluded());
        let both = |a: &BTreeSet<A>, b: &BTreeSet<A>| a & b;
        let less = |a: &BTreeSet<A>, b: &BTreeSet<A>| a - b;
        match (self.expires, record.kind) {
            (_, RecordKind::IsInclude | RecordKind::Allow) => {
                self.set(said, Some(end));
                Vec::new()
            }
            (None, RecordKind::ToInclude) => {
                self.set(said.iter().copied(), Some(end));
                asks([Ask::Sources(less(&running, &said))])
            }
            (Some(_), RecordKind::ToInclude) => {
                self.set(said.iter().copied(), Some(end));
                asks([Ask::Sources(less(&running, &said)), Ask::Group])
            }
            (None, RecordKind::Block) => asks([Ask::Sources(both(&running, &said))]),
            (Some(group_end), RecordKind::Block) => {
                self.set(less(&less(&said, &running), &excluded), Some(group_end));
                asks([Ask::Sources(less(&said, &excluded))])
            }
            (None, kind @ (RecordKind::IsExclude | RecordKind::ToExclude)) => {
                let kept = both(&running, &said);
                self.sources.retain(|source, _| kept.contains(source));
                self.set(less(&said, &running), None);
                self.expires = Some(end);
                match kind {
                    RecordKind::ToExclude => asks([Ask::Sources(kept)]),
                    _ => Vec::new(),
                }
            }
            (Some(group_end), kind @ (RecordKind::IsExclude | RecordKind::ToExclude)) => {
                self.sources.retain(|source, _| said.contains(source));
                let new = less(&less(&said, &running), &excluded);
                let to_exclude = kind == RecordKind::ToExclude;
                self.set(new, Some(if to_exclude { group_end } else { end }));
                self.expires = Some(end);
                if to_exclude { asks([Ask::Sources(less(&said, &excluded))]) } else { Vec::new() }
            }
        }
    }

    /// What is asked about is forgotten at `end` unless somebody answers (RFC 3376, 6.6.3).
    pub(crate) fn lower(&mut self, ask: &Ask<A>, end: Time) {
        match ask {
            Ask::Group => self.expires = self.expires.map(|expires| expires.min(end)),
            Ask::Sources(sources) => {
                let asked = self.sources.iter_mut().filter(|(source, _)| sources.contains(source));
                asked.for_each(|(_, expires)| *expires = expires.map(|expires| expires.min(end)));
            }
        }
    }

    /// The questions by which it is asked for something that is forgotten at `end` unless somebody answers: sources,
    /// and whether routers that listen are to keep their timers, since somebody has answered already (RFC 3376, 6.6.3;
    /// RFC 3810, 7.6.3).
    pub(crate) fn asked(&self, ask: &Ask<A>, end: Time) -> Vec<(Vec<A>, bool)> {
        let is_answered = |timer: Option<Time>| timer.is_some_and(|timer| timer > end);
        match ask {
            Ask::Group => vec![(Vec::new(), is_answered(self.expires))],
            Ask::Sources(sources) => {
                let timer = |source: &A| self.sources.get(source).copied().flatten();
                let (kept, asked): (Vec<A>, Vec<A>) =
                    sources.iter().copied().partition(|source| is_answered(timer(source)));
                [(kept, true), (asked, false)]
                    .into_iter()
                    .filter(|(sources, _)| !sources.is_empty())
                    .collect()
            }
        }
    }

    /// Lets timers end. Returns false if nobody wants anything of the group any more (RFC 3376, 6.5).
    pub(crate) fn advance(&mut self, now: Time) -> bool {
        let is_exclude = self.expires.is_some();
        let over = |end: Option<Time>| end.is_some_and(|end| end <= now);
        if is_exclude {
            self.sources.values_mut().filter(|end| over(**end)).for_each(|end| *end = None);
        } else {
            self.sources.retain(|_, end| !over(*end));
        }
        if over(self.expires) {
            // Those that were asked for go on; those that were excluded are forgotten.
            self.expires = None;
            self.sources.retain(|_, end| end.is_some());
        }
        self.older.iter_mut().filter(|until| over(**until)).for_each(|until| *until = None);
        self.expires.is_some() || !self.sources.is_empty()
    }

    /// When the next timer ends.
    pub(crate) fn next(&self) -> Option<Time> {
        let sources = self.sources.values().flatten().copied();
        sources.chain(self.expires).chain(self.older.into_iter().flatten()).min()
    }

    /// The sources that are wanted: all if absent.
    pub(crate) fn wanted(&self) -> Option<BTreeSet<A>> {
        self.expires.is_none().then(|| self.running())
    }
}

/// Without those that ask about nobody.
fn asks<A>(all: impl IntoIterator<Item = Ask<A>>) -> Vec<Ask<A>> {
    let is_empty = |ask: &Ask<A>| matches!(ask, Ask::Sources(sources) if sources.is_empty());
    all.into_iter().filter(|ask| !is_empty(ask)).collect()
}
