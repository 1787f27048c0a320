//! Settling which of several routers forwards packets onto a link (RFC 7761, 4.6).

use super::Pim;
use super::discard::Discard;
use super::machines::{AssertEvent, AssertState, UpstreamState};
use super::metric::Metric;
use super::tree::{Leg, TreeId};
use crate::machine::State;
use crate::protocol::Context;
use base::plane::GroupKey;
use base::{PortId, Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::pim::{Assert, Repr};

/// So long an election holds (RFC 7761, 4.11: Assert_Time).
const ASSERT_TIME: Span = Span::from_secs(180);
/// So long before its end the winner says again that it is (RFC 7761, 4.11: Assert_Override_Interval).
const OVERRIDE: Span = Span::from_secs(3);

impl Pim {
    /// Packets have come by an interface that this router sends them to: another router does so, too (RFC 7761, 4.8.2).
    pub(super) fn handle_data(&mut self, now: Time, context: &mut Context<'_>, key: GroupKey, port: PortId) {
        let GroupKey { group: IpAddr::V4(group), source: Some(IpAddr::V4(source)) } = key else { return };
        let id = TreeId { group, source };
        let Some(tree) = self.trees.get(&id) else { return };
        if tree.state == UpstreamState::Joined && tree.could_assert(&self.around(), port) {
            self.assert_step(now, id, port, AssertEvent::DataArrives, None);
            self.settle(now, context, id);
        }
    }

    /// Takes an Assert of a neighbour.
    pub(super) fn handle_assert(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        (port, from): (PortId, Ipv4Addr),
        assert: &Assert,
    ) {
        let (IpAddr::V4(group), IpAddr::V4(source)) = (assert.group, assert.source) else {
            return self.discards.count(Discard::Malformed);
        };
        if !self.spec.takes(group) {
            return self.discards.count(Discard::OutsideRange);
        }
        if source.is_unspecified() {
            // About a tree for all senders, which there is none of in the range (RFC 7761, 4.8.1).
            return self.discards.count(Discard::NotSpecific);
        }
        let id = TreeId { group, source };
        let Some(event) = self.event_of(id, port, &Metric::of(assert, from)) else { return };
        self.assert_step(now, id, port, event, Some(Metric::of(assert, from)));
        self.settle(now, context, id);
    }

    /// What an Assert is in the state of the interface that it came by; nothing if it changes nothing (RFC 7761,
    /// figure 8).
    fn event_of(&self, id: TreeId, port: PortId, said: &Metric) -> Option<AssertEvent> {
        let (tree, around) = (self.trees.get(&id)?, self.around());
        let own = tree.own_metric(&around, port);
        // None is acceptable without a metric, and none is inferior to a router that does not forward.
        let is_acceptable = !said.is_infinite() && said.is_better(&own);
        let is_inferior = !own.is_infinite() && own.is_better(said);
        let leg = tree.legs.get(&port);
        match leg.map_or(AssertState::NoInfo, |leg| leg.assert) {
            AssertState::NoInfo => {
                let is_tracking = tree.is_tracking(&around, port, tree.state == UpstreamState::Joined);
                if said.rpt {
                    tree.could_assert(&around, port).then_some(AssertEvent::RptHeard)
                } else if is_inferior {
                    Some(AssertEvent::InferiorHeard)
                } else {
                    (is_acceptable && is_tracking).then_some(AssertEvent::AcceptableHeard)
                }
            }
            AssertState::Winner => match is_inferior {
                true => Some(AssertEvent::InferiorHeard),
                false => is_acceptable.then_some(AssertEvent::PreferredHeard),
            },
            AssertState::Loser => {
                let winner = leg.and_then(|leg| leg.winner)?;
                let is_winners = winner.address == said.address;
                if !said.is_infinite() && said.is_better(&winner) {
                    Some(AssertEvent::PreferredHeard)
                } else if is_winners && (is_inferior || said.is_infinite()) {
                    Some(AssertEvent::WinnerWorse)
                } else {
                    (is_winners && is_acceptable && !said.rpt).then_some(AssertEvent::AcceptableHeard)
                }
            }
        }
    }

    /// Goes on by the state machine, and does what is to be done then: A1 to A6 of RFC 7761, 4.6.1. `said` is the
    /// metric that was heard.
    pub(super) fn assert_step(
        &mut self,
        now: Time,
        id: TreeId,
        port: PortId,
        event: AssertEvent,
        said: Option<Metric>,
    ) {
        let Some(tree) = self.trees.get(&id) else { return };
        let state = tree.legs.get(&port).map_or(AssertState::NoInfo, |leg| leg.assert);
        let Some(next) = state.next(event) else { return };
        let own = tree.spt_metric(&self.around(), port);
        if let Some(tree) = self.trees.get_mut(&id) {
            let leg = tree.legs.entry(port).or_insert(Leg::NEW);
            leg.assert = next;
            (leg.winner, leg.assert_timer) = match next {
                AssertState::NoInfo => (None, None),
                AssertState::Winner => (Some(own), Some(now + (ASSERT_TIME - OVERRIDE))),
                AssertState::Loser => (said, Some(now + ASSERT_TIME)),
            };
        }
        match next {
            AssertState::Winner => self.say_assert(id, port, own),
            // AssertCancel (RFC 7761, 4.6.4).
            AssertState::NoInfo if state == AssertState::Winner => {
                self.say_assert(id, port, Metric::INFINITE)
            }
            _ => {}
        }
        self.note_due(id);
    }

    fn say_assert(&mut self, id: TreeId, port: PortId, metric: Metric) {
        let Metric { rpt, preference, metric, .. } = metric;
        let (group, source) = (id.group.into(), id.source.into());
        self.send_known(port, &Repr::Assert(Assert { group, source, rpt, preference, metric }));
    }
}
