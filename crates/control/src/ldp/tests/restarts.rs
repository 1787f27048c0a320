//! Restarts while forwarding goes on (RFC 3478): of a neighbour, and of the speaker itself.

use super::super::restart::Graceful;
use super::answers::{Bench, OTHER, OWN, THEIRS, fec, mapping};
use crate::protocol::{Change, Protocol};
use crate::services::Pace;
use crate::services::distribution::{Binding, LabelControl};
use crate::services::sessions::{Closed, SessionEvent};
use base::plane::{NextHop, Prefix, TableOp};
use base::{Label, Span};
use core::net::Ipv4Addr;
use wire::ldp::*;

pub(super) const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);
pub(super) const FARTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 10);
pub(super) const GRACEFUL: Graceful = Graceful {
    reconnect: Span::from_secs(60),
    hold: Span::from_secs(50),
    liveness: Span::from_secs(40),
    recovery_max: Span::from_secs(30),
};

pub(super) fn ft(learns: bool, reconnect_s: u32, recovery_s: u32) -> Option<FtSession> {
    Some(FtSession { learns, reconnect_ms: reconnect_s * 1000, recovery_ms: recovery_s * 1000 })
}

fn wanting(restart: Option<FtSession>) -> Body {
    let capabilities = Capabilities { unrecognized_notification: Some(true), ..Capabilities::default() };
    match Bench::initialization(180, OWN) {
        Body::Initialization(wanted) => {
            Body::Initialization(Initialization { restart, capabilities, ..wanted })
        }
        other => other,
    }
}

impl Bench {
    /// What its Initialization says of restarts, in answer to the neighbour's.
    pub(super) fn establish_with(&mut self, restart: Option<FtSession>) -> Option<FtSession> {
        self.heard();
        let (local, remote) = ((OWN, PORT).into(), (OTHER, 50_000).into());
        self.event(SessionEvent::Accepted { local, remote });
        self.say(wanting(restart));
        self.say(Body::KeepAlive);
        match &self.said[..] {
            [Body::Initialization(own), Body::KeepAlive, ..] => own.restart,
            other => panic!("{other:?}"),
        }
    }

    /// With a session, and labels 99 and 98 of the neighbour for two routes.
    pub(super) fn labelled(
        restart: Option<FtSession>,
        graceful: Option<Graceful>,
        control: LabelControl,
    ) -> Bench {
        let mut bench = Bench::with(|config| {
            (config.graceful, config.control, config.keepalive_s) = (graceful, control, 180);
            config.bfd = Some(Pace::default());
        });
        bench.establish_with(restart);
        bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
        bench.route(FAR, true);
        bench.route(FARTHER, true);
        bench.say(mapping(FAR, 99));
        bench.say(mapping(FARTHER, 98));
        bench
    }

    pub(super) fn lose(&mut self) {
        self.event(SessionEvent::Closed(Closed::Reset));
    }

    /// Time passes, and the neighbour says Hello.
    pub(super) fn wait(&mut self, seconds: i64) {
        for _ in 0..seconds {
            self.now += Span::from_secs(1);
            self.greet();
            self.call(|ldp, now, context| ldp.handle_timeout(now, context));
        }
    }

    /// The label with which packets of a prefix leave.
    pub(super) fn out(&self, to: Ipv4Addr) -> Option<u32> {
        let known = self.ldp.labels().fec(Prefix::host(to))?;
        known.used.first().map(|used| used.2.value())
    }

    /// The label with which packets of a prefix come.
    fn label(&self, to: Ipv4Addr) -> Option<Label> {
        match self.ldp.labels().fec(Prefix::host(to))?.binding? {
            Binding::Label { label, .. } => Some(label),
            Binding::Here => None,
        }
    }

    fn told(&mut self, to: Ipv4Addr) -> Vec<AnyLabel> {
        let of = |body: &Body| match body {
            Body::Mapping { fecs, label, .. } if *fecs == [fec(to)] => Some(*label),
            _ => None,
        };
        self.heard().iter().filter_map(of).collect()
    }
}

/// RFC 3478, 2: the L flag is set; recovery is zero unless something is preserved. Without the setting there is no TLV.
#[test]
fn an_initialization_says_what_is_kept() {
    assert_eq!(Bench::with(|_| {}).establish_with(ft(true, 10, 10)), None);
    let mut bench = Bench::labelled(None, Some(GRACEFUL), LabelControl::Independent);
    bench.lose();
    assert_eq!(bench.establish_with(None), ft(true, 60, 50), "its entries are as they were");
    // RFC 3478, 3.1: what is left of the timer.
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.wait(20);
    assert_eq!(bench.establish_with(None), ft(true, 60, 30));
    // A node that restarts has lost its entries.
    bench.services.restart();
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::Restart));
    bench.wait(1);
    assert_eq!(bench.establish_with(None), ft(true, 60, 0));
}

/// RFC 3478, 3.3: labels of a neighbour that can restart stay, for the lesser of its Reconnect Timeout and the Neighbor
/// Liveness Timer.
#[test]
fn labels_of_a_neighbour_that_is_away_stay_for_a_while() {
    for (reconnect_s, lasts) in [(20, 20), (90, 40)] {
        let mut bench = Bench::labelled(ft(true, reconnect_s, 0), Some(GRACEFUL), LabelControl::Independent);
        bench.ops.clear();
        bench.lose();
        bench.wait(lasts - 1);
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), Some(98)));
        assert!(bench.ops.is_empty(), "{:?}", bench.ops);
        bench.wait(1);
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (None, None), "{reconnect_s}");
    }
    // One that keeps nothing, one of another mechanism (RFC 3478, 2), one that says nothing; and who does not help.
    let cases = [
        (ft(true, 0, 0), Some(GRACEFUL)),
        (ft(false, 20, 0), Some(GRACEFUL)),
        (None, Some(GRACEFUL)),
        (ft(true, 20, 0), None),
    ];
    for (restart, graceful) in cases {
        let mut bench = Bench::labelled(restart, graceful, LabelControl::Independent);
        bench.lose();
        assert_eq!(bench.out(FAR), None, "{restart:?}");
    }
}

/// RFC 3478, 3.3: a neighbour that is back has for its labels the lesser of its Recovery Time and the Maximum Recovery
/// Time; the same label is stale no more, and another just takes its place.
#[test]
fn a_neighbour_that_is_back_confirms_its_labels() {
    for (recovery_s, lasts) in [(10, 10), (90, 30)] {
        let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent);
        bench.lose();
        bench.wait(30);
        bench.ops.clear();
        bench.establish_with(ft(true, 60, recovery_s));
        assert!(bench.ops.is_empty(), "its addresses and labels are known on: {:?}", bench.ops);
        bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
        bench.say(mapping(FAR, 97));
        assert_eq!(bench.out(FAR), Some(97));
        let released = bench.heard().iter().any(|body| matches!(body, Body::Release { .. }));
        assert!(!released, "the other end has forgotten the old one");
        bench.wait(lasts - 1);
        assert_eq!(bench.out(FARTHER), Some(98));
        bench.wait(1);
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(97), None), "{recovery_s}");
    }
}

/// RFC 3478, 3.3: what a neighbour has not preserved goes at once; RFC 5919, 5.2: what it has not given again by the
/// end of its labels, too.
#[test]
fn labels_that_a_neighbour_has_lost_go_at_once() {
    for restart in [ft(true, 60, 0), None] {
        let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent);
        bench.lose();
        bench.establish_with(restart);
        assert_eq!((bench.out(FAR), bench.out(FARTHER)), (None, None));
    }
    let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent);
    bench.lose();
    bench.establish_with(ft(true, 60, 60));
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.say(mapping(FAR, 99));
    // RFC 3478, 3.3 (a): a label from before the session is taken back like any other.
    bench.say(Body::Withdraw { fec: fec(FARTHER), label: None });
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), None));
    bench.say(mapping(FARTHER, 96));
    bench.lose();
    bench.establish_with(ft(true, 60, 60));
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.say(mapping(FAR, 99));
    bench.say(Body::end_of_lib(Fec::AllPrefixes(1)));
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), None));
}

/// RFC 3478, 3.3: a label that is free is not used again for the sum of both times.
#[test]
fn labels_rest_before_they_are_used_again() {
    let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent);
    let label = bench.label(FAR).expect("a label");
    bench.route(FAR, false);
    bench.say(Body::Release { fec: fec(FAR), label: Some(AnyLabel::Generic(label)), notice: None });
    let owner = super::super::Ldp::ID;
    assert_eq!(bench.services.labels.owner(label), Some(owner));
    bench.wait(59);
    assert_eq!(bench.services.labels.owner(label), Some(owner));
    bench.wait(1);
    assert_eq!(bench.services.labels.owner(label), None);
    // Of the free ones the one is taken that was not used for longest: one that was never used.
    bench.route(FARTHER, true);
    assert!(bench.label(FARTHER).is_some_and(|other| other != label));
}

/// RFC 3478, 3.1: the speaker's entries stay, each prefix keeps its label, and what nobody confirms goes when time is
/// up.
#[test]
fn entries_stay_while_the_speaker_restarts() {
    let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Independent);
    let before = [bench.label(FAR), bench.label(FARTHER)];
    assert!(before[0].is_some() && before[1].is_some());
    bench.ops.clear();
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.wait(10);
    bench.establish_with(ft(true, 60, 60));
    assert!(bench.ops.is_empty(), "{:?}", bench.ops);
    assert_eq!([bench.label(FAR), bench.label(FARTHER)], before);
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), Some(98)));
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    bench.say(mapping(FAR, 99));
    assert_eq!(bench.ldp.labels().stale(), 1, "the other one");
    bench.wait(40);
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (Some(99), None));
    let [label, other] = before.map(|label| label.expect("a label"));
    let of = |op: &TableOp| match op {
        TableOp::IlmSet { label, nhlfe } => Some((*label, Some(nhlfe.next_hop))),
        TableOp::IlmRemove { label } => Some((*label, None)),
        _ => None,
    };
    let written: Vec<_> = bench.ops.iter().filter_map(of).collect();
    assert_eq!(written, [(other, Some(NextHop::Unlabelled))], "and nothing of {label}");
}

/// RFC 3478, 3.1.1, with ordered control: a label is told again when the next hop has given one, and all are told by
/// then (RFC 5919, 4).
#[test]
fn with_ordered_control_a_label_is_told_when_its_entry_is_confirmed() {
    let mut bench = Bench::labelled(ft(true, 60, 0), Some(GRACEFUL), LabelControl::Ordered);
    let label = bench.label(FAR).expect("a label");
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.wait(1);
    bench.establish_with(ft(true, 60, 60));
    bench.say(Body::Address(Addresses::V4(vec![OTHER, THEIRS])));
    assert_eq!(bench.told(FAR), []);
    bench.say(mapping(FAR, 99));
    assert_eq!(bench.told(FAR), [AnyLabel::Generic(label)]);
    bench.say(mapping(FARTHER, 98));
    assert!(bench.heard().contains(&Body::end_of_lib(Fec::AllPrefixes(1))));
}

/// Without the setting a speaker that restarts takes its entries out.
#[test]
fn without_graceful_restart_entries_go() {
    let mut bench = Bench::labelled(None, None, LabelControl::Independent);
    bench.call(|ldp, now, context| ldp.handle_change(now, context, &Change::RestartAlone));
    bench.call(|ldp, now, context| ldp.handle_timeout(now, context));
    assert_eq!((bench.out(FAR), bench.out(FARTHER)), (None, None));
    let ftn = |op: &TableOp| matches!(op, TableOp::FtnRemove { .. });
    assert_eq!(bench.ops.iter().filter(|op| ftn(op)).count(), 2);
    assert!(bench.services.bindings.is_empty());
}
