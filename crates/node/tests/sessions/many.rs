//! Ten thousand connections of a node: all stand beside each other, and take as many segments each as one alone.

use super::talk::{MS, Role, S, SMALL, address, chain, connect, router, rows, talk};
use base::Time;
use control::services::sessions::Connect;
use std::collections::BTreeSet;

#[test]
fn ten_thousand_connections_stand_beside_each_other() {
    const COUNT: usize = 10_000;
    let connect = Connect { options: SMALL, ..connect(address(1, 0)) };
    // Ten in a millisecond: the handshakes overlap.
    let connects = (0..COUNT).map(|n| (Time(n as u64 * MS / 10), connect)).collect();
    let client = Role { connects, sends: 2_000, message: 500, closes: false, ..Role::default() };
    let server = Role { accepts: Some(SMALL), message: 500, closes: false, ..Role::server() };
    let mut world = chain(1, vec![Some(client), Some(server)]);
    world.run_until(Time(10 * S)).expect("a run");
    for node in [0, 1] {
        assert_eq!(rows(&world, node).len(), COUNT, "r{node}");
        assert_eq!(
            talk(&world, node).sessions.len(),
            COUNT,
            "r{node}: {:?}",
            talk(&world, node).refused.first()
        );
        assert!(talk(&world, node).sessions.values().all(|heard| heard.received == 2_000 && heard.right));
        // No timer is left but those that have nothing to wait for.
        assert_eq!(router(&world, node).control().poll_timeout(), None, "r{node}");
    }
    let ports: BTreeSet<u16> = rows(&world, 0).iter().map(|row| row.local.port()).collect();
    assert_eq!((ports.len(), ports.first() >= Some(&49_152)), (COUNT, true));
    // As many segments for each as for one alone.
    let segments: u64 = rows(&world, 0).iter().map(|row| row.counters.segments_sent).sum();
    assert_eq!(segments, COUNT as u64 * rows(&world, 0)[0].counters.segments_sent);
}
