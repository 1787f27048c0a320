//! A link with hosts: who asks there, and the groups that somebody wants.

use super::group::{Ask, Group, Version};
use super::querier::{QuerierEvent, QuerierState};
use super::section::IgmpSpec;
use crate::machine::State;
use base::Time;
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use wire::igmp::{self, QueryV3, Record, RecordKind, Repr};

/// A query that is due: its destination, and what it asks.
pub(super) type Query = (Ipv4Addr, Repr);

/// A question that is repeated.
#[derive(Clone, Debug)]
struct Question {
    group: Ipv4Addr,
    ask: Ask,
    due: Time,
    left: u8,
}

/// A link.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub state: QuerierState,
    /// The router's own address there.
    pub own: Ipv4Addr,
    /// The router that asks, if that is another.
    pub querier: Option<Ipv4Addr>,
    /// When that one is gone.
    other_until: Option<Time>,
    /// When the next general query is due.
    due: Time,
    /// General queries of the beginning that are still to come.
    starting: u8,
    pub groups: BTreeMap<Ipv4Addr, Group>,
    questions: Vec<Question>,
}

impl Link {
    pub(super) fn new(own: Ipv4Addr) -> Link {
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

    /// The link can be used: RFC 3376, 8.6 and 8.7 say how often is asked at first.
    pub(super) fn begin(&mut self, now: Time, spec: &IgmpSpec) {
        if self.step(QuerierEvent::Up) {
            (self.due, self.starting) = (now, spec.robustness);
        }
    }

    /// It can't any more: nothing is known.
    pub(super) fn lose(&mut self) {
        self.step(QuerierEvent::Lost);
        *self = Link { state: self.state, ..Link::new(self.own) };
    }

    /// A query of another router.
    pub(super) fn hear(
        &mut self,
        now: Time,
        spec: &IgmpSpec,
        from: Ipv4Addr,
        group: Ipv4Addr,
        v3: Option<&QueryV3>,
    ) {
        // RFC 3376, 6.6.2: the lowest address asks; RFC 2236, 3: a query from 0.0.0.0 elects nobody.
        if group.is_unspecified()
            && from < self.own
            && !from.is_unspecified()
            && self.step(QuerierEvent::LowerHeard)
        {
            self.querier = Some(from);
            self.other_until = Some(now + spec.other_querier_interval());
            self.questions.clear();
        }
        if group.is_unspecified()
            || self.state != QuerierState::NonQuerier
            || v3.is_some_and(|v3| v3.suppress)
        {
            return;
        }
        // RFC 3376, 6.6.1: what the querier asks about is forgotten here, too, if nobody answers.
        let sources: BTreeSet<Ipv4Addr> =
            v3.map(|v3| v3.sources.iter().copied().collect()).unwrap_or_default();
        let ask = if sources.is_empty() { Ask::Group } else { Ask::Sources(sources) };
        if let Some(known) = self.groups.get_mut(&group) {
            known.lower(&ask, now + spec.last_member_time());
        }
    }

    /// A host says what it wants of a group. Returns nothing: questions that follow are sent when they are due.
    pub(super) fn report(&mut self, now: Time, spec: &IgmpSpec, record: &Record, version: Version) {
        let group = self.groups.entry(record.group).or_default();
        if record.kind == RecordKind::IsExclude {
            // RFC 3376, 8.13: older host present interval.
            group.note(version, now + spec.membership_interval());
        }
        let asks = group.record(now, spec.membership_interval(), record);
        let is_known = group.expires.is_some() || !group.sources.is_empty();
        if !is_known {
            self.groups.remove(&record.group);
        } else if self.state == QuerierState::Querier {
            for ask in asks {
                let left = spec.robustness;
                self.questions.retain(|question| question.group != record.group || question.ask != ask);
                self.questions.push(Question { group: record.group, ask, due: now, left });
            }
        }
    }

    /// Lets timers end, and says which queries are due.
    pub(super) fn advance(&mut self, now: Time, spec: &IgmpSpec) -> Vec<Query> {
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
            let interval = spec.query_interval.0;
            self.due = now + base::Span(if self.starting > 0 { interval / 4 } else { interval });
            let response = spec.response_interval;
            queries
                .push((igmp::ALL_SYSTEMS, query(spec, Ipv4Addr::UNSPECIFIED, response, Vec::new(), false)));
        }
        let end = now + spec.last_member_time();
        for question in self.questions.iter_mut().filter(|question| question.due <= now) {
            let Some(group) = self.groups.get_mut(&question.group) else {
                question.left = 0;
                continue;
            };
            let sources = match &question.ask {
                Ask::Group => Vec::new(),
                Ask::Sources(sources) => sources.iter().copied().collect(),
            };
            if question.left == spec.robustness {
                group.lower(&question.ask, end);
            }
            let interval = spec.last_member_interval;
            queries.push((question.group, query(spec, question.group, interval, sources, false)));
            question.left -= 1;
            question.due = now + interval;
        }
        self.questions.retain(|question| question.left > 0);
        queries
    }

    pub(super) fn next(&self) -> Option<Time> {
        let asks = (self.state == QuerierState::Querier).then_some(self.due);
        let groups = self.groups.values().filter_map(Group::next);
        groups.chain(asks).chain(self.other_until).chain(self.questions.iter().map(|q| q.due)).min()
    }
}

fn query(
    spec: &IgmpSpec,
    group: Ipv4Addr,
    response: base::Span,
    sources: Vec<Ipv4Addr>,
    suppress: bool,
) -> Repr {
    let max_resp_ds = u16::try_from(response.0 / 100_000_000_000).unwrap_or(u16::MAX);
    let interval_s = u16::try_from(spec.query_interval.0 / 1_000_000_000_000).unwrap_or(u16::MAX);
    let v3 = QueryV3 { suppress, robustness: spec.robustness, interval_s, sources };
    Repr::Query { max_resp_ds, group, v3: (spec.version == 3).then_some(v3) }
}
