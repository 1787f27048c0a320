use super::*;

fn at(ms: i64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

#[test]
fn a_link_is_down_when_enough_probes_are_missed_and_up_with_the_next() {
    let mut link = Link::NEW;
    let hear = |link: &mut Link, ms: i64, sequence: u32| {
        link.hear(at(ms), sequence, Span::from_ms(10), 3);
        link.step(at(ms), LinkEvent::Heard)
    };
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
        "Up --Heard--> Up",
        "Up --Missed--> Down",
        "Up --Interface--> Unheard",
        "Down --Heard--> Up",
        "Down --Interface--> Unheard",
    ];
    assert_eq!(LinkState::CHART.lines(), lines);
}
