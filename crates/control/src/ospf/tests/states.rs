//! The machines as they are: whoever changes one changes this text, too.

use super::super::{CHARTS, delay, interface, neighbor};
use crate::machine::State;

#[test]
fn the_states_of_an_interface() {
    let expected = "\
Down --UpPointToPoint--> PointToPoint
Down --UpEligible--> Waiting
Down --UpIneligible--> DrOther
Waiting --ElectedDr--> Dr
Waiting --ElectedBackup--> Backup
Waiting --ElectedOther--> DrOther
Waiting --Down--> Down
PointToPoint --Down--> Down
DrOther --ElectedDr--> Dr
DrOther --ElectedBackup--> Backup
DrOther --ElectedOther--> DrOther
DrOther --Down--> Down
Backup --ElectedDr--> Dr
Backup --ElectedBackup--> Backup
Backup --ElectedOther--> DrOther
Backup --Down--> Down
Dr --ElectedDr--> Dr
Dr --ElectedBackup--> Backup
Dr --ElectedOther--> DrOther
Dr --Down--> Down";
    assert_eq!(interface::InterfaceState::CHART.lines().join("\n"), expected);
}

#[test]
fn the_states_of_a_neighbour() {
    let expected = "\
Down --Hello--> Init
Init --Hello--> Init
Init --OneWay--> Init
Init --Heard--> TwoWay
Init --HeardAdjacent--> ExStart
Init --Gone--> Down
TwoWay --Hello--> TwoWay
TwoWay --Heard--> TwoWay
TwoWay --Unwanted--> TwoWay
TwoWay --Wanted--> ExStart
TwoWay --OneWay--> Init
TwoWay --Gone--> Down
ExStart --Hello--> ExStart
ExStart --Wanted--> ExStart
ExStart --Negotiated--> Exchange
ExStart --Unwanted--> TwoWay
ExStart --OneWay--> Init
ExStart --Gone--> Down
Exchange --Hello--> Exchange
Exchange --Wanted--> Exchange
Exchange --Described--> Loading
Exchange --Loaded--> Full
Exchange --Mismatch--> ExStart
Exchange --Unwanted--> TwoWay
Exchange --OneWay--> Init
Exchange --Gone--> Down
Loading --Hello--> Loading
Loading --Wanted--> Loading
Loading --Loaded--> Full
Loading --Mismatch--> ExStart
Loading --Unwanted--> TwoWay
Loading --OneWay--> Init
Loading --Gone--> Down
Full --Hello--> Full
Full --Wanted--> Full
Full --Mismatch--> ExStart
Full --Unwanted--> TwoWay
Full --OneWay--> Init
Full --Gone--> Down";
    assert_eq!(neighbor::NeighborState::CHART.lines().join("\n"), expected);
}

#[test]
fn the_states_of_the_delay() {
    let expected = "\
Quiet --Change--> ShortWait
ShortWait --Change--> ShortWait
ShortWait --Learnt--> LongWait
ShortWait --Calm--> Quiet
LongWait --Change--> LongWait
LongWait --Calm--> Quiet";
    assert_eq!(delay::DelayState::CHART.lines().join("\n"), expected);
    assert_eq!(CHARTS.len(), 3);
}

/// RFC 8405, 5 and 6: 50 ms after a first change, 200 ms while one failure is learnt, 5 s while changes go on, and all
/// quiet again 10 s after the last.
#[test]
fn computations_are_delayed_as_the_rfc_says() {
    use super::super::delay::{Delay, DelayConfig, DelayState};
    use base::{Span, Time};
    let mut delay = Delay::new(DelayConfig::default());
    let ms = |ms: u64| Time(ms * 1_000_000_000);
    let mut computed = Vec::new();
    let mut changes = vec![0, 10, 100, 1_000, 2_000, 20_000];
    let mut now = ms(0);
    loop {
        let change = changes.first().map(|at| ms(*at));
        let Some(next) = Time::earliest([change, delay.due()]) else { break };
        now = now.max(next);
        if change == Some(now) {
            delay.change(now);
            changes.remove(0);
        } else if delay.is_due(now) {
            computed.push(now.0 / 1_000_000_000);
        }
    }
    assert_eq!(computed, [50, 300, 6_000, 20_050]);
    assert_eq!((delay.state, now), (DelayState::Quiet, ms(20_000) + Span::from_secs(10)));
}
