//! An interface that is taken away and made again is taken again.

use super::packet::{labelled, receive, spec};
use std::collections::VecDeque;
use testing::Pair;
use twinplane_engine::external::{Clock, Driver, ExternalPort, PortError, open};

fn passes(from: &mut dyn ExternalPort, to: &mut dyn ExternalPort) -> bool {
    let frame = labelled(7, 100);
    let mut queue = VecDeque::from([frame.clone()]);
    from.send(&mut queue).expect("the interface is there");
    queue.is_empty() && receive(to, &Clock::new(), 1) == [frame]
}

#[test]
fn an_interface_made_again_is_taken_again() {
    for driver in [Driver::Packet, Driver::Xdp] {
        let Some(pair) = Pair::new(1500) else { return };
        let [mut a, mut b] = [0, 1].map(|side| open(&spec(&pair, side, driver)).expect("a port"));
        assert!(passes(&mut *a, &mut *b), "{driver:?}");
        let sent = a.counters().tx_frames;
        pair.ip(0, &["link", "del", "e0"]);
        assert!(matches!(a.link_up(), Err(PortError::Gone { .. })));
        assert!(matches!(a.reopen(), Err(PortError::NoInterface { .. })));
        pair.connect(1500);
        // What was opened before is still gone: another interface has the name now.
        assert!(matches!(a.link_up(), Err(PortError::Gone { .. })));
        [&mut a, &mut b].into_iter().for_each(|port| port.reopen().expect("it is there again"));
        assert!(passes(&mut *a, &mut *b) && passes(&mut *b, &mut *a), "{driver:?}");
        assert_eq!(a.counters().tx_frames, sent + 1, "it counts on");
    }
}
