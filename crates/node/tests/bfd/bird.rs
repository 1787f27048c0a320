//! The same beside BIRD, whose OSPF has the router watched.

use super::{Beside, OWN, THEIRS, is_in, session};
use crate::bird::Bird;
use crate::ospf::speaker::full;
use base::Span;
use control::bfd::states::SessionState;
use testing::Pair;

const CONFIG: &str = "\
router id 192.0.2.200;
protocol device {}
protocol bfd {
  interface \"e0\" { min rx interval 400 ms; min tx interval 400 ms; multiplier 50; };
}
protocol ospf v2 {
  ipv4 { import all; export none; };
  area 0 { interface \"e0\" { type ptp; hello 1; dead 40; bfd yes; }; };
}
";

#[test]
fn bird_agrees_on_intervals_and_is_missed_when_it_ends() {
    if !testing::available("birdc") {
        return;
    }
    let Some(pair) = Pair::new(1500) else { return };
    pair.ip(1, &["address", "add", &format!("{THEIRS}/24"), "dev", "e0"]);
    let mut beside = Beside::new(&pair);
    let bird = Bird::start(&pair, "bfd", CONFIG);
    beside.wait("adjacent", |world| full(world, 0) == 1);
    beside.wait("up", |world| is_in(world, SessionState::Up));
    beside.wait("agreed", |world| {
        let session = session(world).expect("a session");
        (session.interval(), session.detection()) == (Span::from_ms(400), Span::from_secs(20))
    });
    let told = bird.ask("show bfd sessions");
    let line = told.lines().find(|line| line.starts_with(&OWN.to_string())).unwrap_or_default();
    assert!(line.contains("Up") && line.contains("0.400") && line.contains("24.000"), "{told}");
    // BIRD 2.0.12 ends its BFD without a word: that is found by time, and the neighbour is lost with it (RFC 5882,
    // 4.2.1). It comes again by its Hellos alone, perhaps before anybody looks.
    beside.world.drain_events();
    assert!(bird.ask("disable bfd1").contains("disabled"));
    beside.wait("down", |world| is_in(world, SessionState::Down));
    let mut rounds = 0..2;
    beside.wait("told", |_| rounds.next().is_none());
    beside.wait("adjacent without BFD", |world| full(world, 0) == 1);
    let events = beside.world.drain_events();
    let lost = events.iter().filter(|record| format!("{:?}", record.event).contains("OspfAdjacencyLost"));
    assert_eq!(lost.count(), 1, "{events:?}");
    assert!(bird.ask("enable bfd1").contains("enabled"));
    beside.wait("up again", |world| is_in(world, SessionState::Up));
    beside.wait("adjacent again", |world| full(world, 0) == 1);
}
