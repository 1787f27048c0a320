//! A link with hosts: who asks there, and the groups that somebody wants.

use super::group::{Ask, Group, Speaks};
use super::querier::{QuerierEvent, QuerierState};
use super::timing::Timing;
use crate::machine::State;
use base::{Span, Time};
use std::collections::BTreeMap;
use wire::membership::{Address, Record, RecordKind};

/// A query, by whoever sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query<A> {
    /// The group that is asked about; all if absent.
    pub group: Option<A>,
    /// The sources of it that are asked about; all if there are none.
    pub sources: Vec<A>,
    /// Routers that hear it are not to lower their timers.
    pub suppress: bool,
    /// Time in which hosts are to answer.
    pub response: Span,
}

/// A question that is repeated.
#[derive(Clone, Debug)]
struct Question<A> {
    group: A,
    ask: Ask<A>,
    due: Time,
    left: u8,
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Link<A> {
    pub state: QuerierState,
    /// The router's own address there.
    pub own: A,
    /// The router that asks, if that is another.
    pub querier: Option<A>,
    /// When that one is gone.
    other_until: Option<Time>,
    /// When the next general query is due.
    due: Time,
    /// General queries of the beginning that are still to come.
    starting: u8,
    pub groups: BTreeMap<A, Group<A>>,
    questions: Vec<Question<A>>,
}

impl<A: Address + Ord> Link<A> {
    pub(crate) fn new(own: A) -> Link<A> {
        Link {
            state: QuerierState::Down,
            own,
            querier: None,
            other_until: None,
            due: Time::MAX,
            starting: 0,
            groups: BTreeMap::new(),
            questions: Vec::new(),
        }
    }

    fn step(&mut self, event: QuerierEvent) -> bool {
        let next = self.state.next(event);
        self.state = next.unwrap_or(self.state);
        next.is_some()
    }

    /// The link can be used: RFC 3376, 8.6 and 8.7, and RFC 3810, 9.6 and 9.7, say how often is asked at first.
    pub(crate) fn begin(&mut self, now: Time, timing: &Timing) {
        if self.step(QuerierEvent::Up) {
            (self.due, self.starting) = (now, timing.robustness);
        }
    }

    /// It can't any more: nothing is known.
    pub(crate) fn lose(&mut self) {
        self.step(QuerierEvent::Lost);
        *self = Link { state: self.state, ..Link::new(self.own) };
    }

    /// A query of another router.
    pub(crate) fn hear(&mut self, now: Time, timing: &Timing, from: A, query: &Query<A>) {
        self.elect(now, timing, from);
        let Some(group) = query.group.filter(|_| !query.suppress && self.state != QuerierState::Down) else {
            return;
        };
        // RFC 3376, 6.6.1; RFC 3810, 7.6.1: what another router asks about is forgotten here, too, if nobody answers.
        let ask = match query.sources.is_empty() {
            true => Ask::Group,
            false => Ask::Sources(query.sources.iter().copied().collect()),
        };
        if let Some(known) = self.groups.get_mut(&group) {
            known.lower(&ask, now + timing.last_listener_time());
        }
    }

    /// RFC 3376, 6.6.2; RFC 3810, 7.6.2: the lowest address asks. RFC 2236, 3: a query without a source elects nobody.
    fn elect(&mut self, now: Time, timing: &Timing, from: A) {
        if from < self.own && from != A::UNSPECIFIED && self.step(QuerierEvent::LowerHeard) {
            self.querier = Some(from);
            self.other_until = Some(now + timing.other_querier_interval());
            self.questions.clear();
        }
    }

    /// A host says what it wants of a group. Returns nothing: questions that follow are sent when they are due.
    pub(crate) fn report(&mut self, now: Time, timing: &Timing, record: &Record<A>, speaks: Speaks) {
        let group = self.groups.entry(record.group).or_default();
        if record.kind == RecordKind::IsExclude {
            // RFC 3376, 8.13; RFC 3810, 9.13: older host present interval.
            group.note(speaks, now + timing.listening_interval());
        }
        let asks = group.record(now, timing.listening_interval(), record);
        let is_known = group.expires.is_some() || !group.sources.is_empty();
        if !is_known {
            self.groups.remove(&record.group);
        } else if self.state == QuerierState::Querier {
            for ask in asks {
                let left = timing.robustness;
                self.questions.retain(|question| question.group != record.group || question.ask != ask);
                self.questions.push(Question { group: record.group, ask, due: now, left });
            }
        }
    }

    /// Lets timers end, and says which queries are due.
    pub(crate) fn advance(&mut self, now: Time, timing: &Timing) -> Vec<Query<A>> {
        let mut queries = Vec::new();
        if self.other_until.is_some_and(|end| end <= now) && self.step(QuerierEvent::OtherGone) {
            (self.other_until, self.querier) = (None, None);
            self.due = now;
        }
        self.groups.retain(|_, group| group.advance(now));
        if self.state != QuerierState::Querier {
            return queries;
        }
        if self.due <= now {
            self.starting = self.starting.saturating_sub(1);
            let interval = timing.query_interval.0;
            self.due = now + Span(if self.starting > 0 { interval / 4 } else { interval });
            let response = timing.response_interval;
            queries.push(Query { group: None, sources: Vec::new(), suppress: false, response });
        }
        let end = now + timing.last_listener_time();
        for question in self.questions.iter_mut().filter(|question| question.due <= now) {
            let Some(group) = self.groups.get_mut(&question.group) else {
                question.left = 0;
                continue;
            };
            if question.left == timing.robustness {
                group.lower(&question.ask, end);
            }
            let response = timing.last_listener_interval;
            let asked = group.asked(&question.ask, end).into_iter();
            let group = Some(question.group);
            queries.extend(asked.map(|(sources, suppress)| Query { group, sources, suppress, response }));
            question.left -= 1;
            question.due = now + response;
        }
        self.questions.retain(|question| question.left > 0);
        queries
    }

    pub(crate) fn next(&self) -> Option<Time> {
        let asks = (self.state == QuerierState::Querier).then_some(self.due);
        let groups = self.groups.values().filter_map(Group::next);
        groups.chain(asks).chain(self.other_until).chain(self.questions.iter().map(|q| q.due)).min()
    }

    /// What is wanted here: groups, each with one of its sources, or with none if all are wanted.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (A, Option<A>)> {
        self.groups.iter().flat_map(|(group, known)| {
            let all = known.wanted().map_or_else(|| vec![None], |few| few.into_iter().map(Some).collect());
            all.into_iter().map(|source| (*group, source))
        })
    }
}
