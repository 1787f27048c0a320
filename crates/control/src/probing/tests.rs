use super::*;
use base::Span;

fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A probe comes, each 10 ms, of which three may be missed. Does the link count as another than before?
fn hear(link: &mut Link, ms: i64, sequence: u32, hears: bool) -> bool {
    let event = link.hear(at(ms), &Repr { hears, sequence, period_us: 10_000 }, 3);
    event.is_some_and(|event| link.step(at(ms), event))
}

#[test]
fn a_link_that_works_in_one_direction_is_down_at_both_ends() {
    let mut link = Link::NEW;
    // The first probes of both ends cross.
    assert!(!hear(&mut link, 0, 0, false) && !hear(&mut link, 10, 1, true));
    for ms in [20, 30, 40] {
        assert!(!hear(&mut link, ms, 2, false), "{ms} ms: not yet");
    }
    assert!(hear(&mut link, 50, 5, false) && link.state == LinkState::Down);
    assert!(link.tell_hears(), "which the other end is told");
    assert!(!hear(&mut link, 60, 6, false) && hear(&mut link, 70, 7, true) && link.state == LinkState::Up);
}

/// One end misses probes for a moment: it says so for as long as the other end needs to take the link for down.
#[test]
fn a_short_failure_in_one_direction_takes_the_link_down_at_both_ends() {
    let (mut one, mut other) = (Link::NEW, Link::NEW);
    for link in [&mut one, &mut other] {
        hear(link, 0, 0, true);
    }
    one.miss(3);
    assert!(one.step(at(35), LinkEvent::Missed));
    let mut states = Vec::new();
    for n in 4..12_u32 {
        let ms = i64::from(n) * 10;
        let said = one.tell_hears();
        hear(&mut other, ms, n, said);
        let back = other.tell_hears();
        hear(&mut one, ms, n, back);
        states.push((one.state == LinkState::Up, other.state == LinkState::Up));
    }
    assert_eq!(states.iter().position(|both| *both == (false, false)), Some(3), "{states:?}");
    assert_eq!(states.last(), Some(&(true, true)), "{states:?}");
}

#[test]
fn a_link_that_was_down_is_not_up_for_its_interface() {
    let mut link = Link::NEW;
    hear(&mut link, 0, 0, true);
    assert!(link.step(at(35), LinkEvent::Missed));
    for up in [false, true] {
        link.begin(at(50), up);
        assert!(!link.step(at(50), LinkEvent::Interface) && link.state == LinkState::Down);
    }
    assert!(hear(&mut link, 60, 1, true), "only a probe says so");
    // Nor is it forgotten that the other end sends probes when the interface goes while it is up.
    link.begin(at(70), false);
    assert!(!link.step(at(70), LinkEvent::Interface) && link.expires.is_none());
    link.begin(at(80), true);
    link.step(at(80), LinkEvent::Interface);
    assert_eq!((link.state, link.expires), (LinkState::Unheard, Some(at(115))));
    assert!(link.step(at(115), LinkEvent::Missed) && link.state == LinkState::Down);
}

#[test]
fn a_link_is_down_when_enough_probes_are_missed_and_up_with_the_next() {
    let mut link = Link::NEW;
    let hear = |link: &mut Link, ms: i64, sequence: u32| hear(link, ms, sequence, true);
    assert!(!hear(&mut link, 0, 7) && !hear(&mut link, 10, 8), "nobody is told of the first one");
    assert_eq!(link.expires, Some(at(45)));
    assert!(link.step(at(45), LinkEvent::Missed) && link.state == LinkState::Down);
    assert!(hear(&mut link, 80, 15) && link.state == LinkState::Up);
    assert_eq!((link.received, link.missed, link.outages), (3, 6, 1));
    assert_eq!((link.down_at, link.up_at), (Some(at(45)), Some(at(80))));
    // A neighbour that begins anew counts from zero.
    hear(&mut link, 90, 0);
    assert_eq!(link.missed, 6);
}

#[test]
fn what_probes_take_of_a_link() {
    let spec = |period, size| ProbingSpec { period, misses: 3, size };
    // 84 bytes are the shortest frame with preamble and gap.
    assert_eq!(spec(Span::from_ms(10), 12).load().0, 67_200);
    assert_eq!(spec(Span::from_ms(1), 1472).load().0, 12_304_000);
}

#[test]
fn the_machine() {
    let lines = [
        "Unheard --Heard--> Up",
        "Unheard --Missed--> Down",
        "Up --Heard--> Up",
        "Up --Missed--> Down",
        "Up --Interface--> Unheard",
        "Down --Heard--> Up",
    ];
    assert_eq!(LinkState::CHART.lines(), lines);
}
