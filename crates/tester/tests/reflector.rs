//! Reflector, the example of a kind of node, in a network under both clocks.

use base::device::DropReason;
use base::{NodeId, PortId, Span, Time};
use engine::external::{ExternalPort, ExternalSpec, PortError};
use network::Placement;
use network::kind::Reflector;
use node::Peer;
use serde_json::json;
use twinplane_tester::Testbed;
use twinplane_tester::spec::NetworkFile;

const US: u64 = 1_000_000;
const FRAME: [u8; 16] = [2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x88, 0xb5, 1, 2];

/// A raw port, and a reflector at the other end of its link.
fn file(hold: &str) -> Result<NetworkFile, String> {
    let described = json!({
        "name": "mirror",
        "nodes": {"a": {"kind": "peer"}, "m": {"kind": "reflector", "hold": hold}},
        "links": [{"endpoints": ["a", "m"], "rate": "1 Gbit/s", "delay": "10 us"}],
    });
    let value = serde_json::from_value(described).expect("a value");
    NetworkFile::read_part(&value).map_err(|error| error.words())
}

/// Sends a frame into a network, and says what came back until a time.
fn reflected(network: &mut Testbed, until: Time) -> Vec<(Time, PortId, Vec<u8>)> {
    let now = network.now();
    peer(network).send(now, PortId(0), &FRAME);
    network.run_until(until).expect("a run");
    let count = network.world().device::<Reflector>(NodeId(1)).expect("a reflector").reflected();
    assert_eq!(count, 1);
    peer(network).take_received()
}

fn peer(network: &mut Testbed) -> &mut Peer {
    network.world_mut().device_mut(NodeId(0)).expect("a peer")
}

#[test]
fn a_frame_comes_back_with_its_addresses_exchanged() {
    let mut network = Testbed::new(&file("5 us").expect("a description")).expect("a network");
    let received = reflected(&mut network, Time(100 * US));
    let [(at, _, bytes)] = &received[..] else { panic!("{received:?}") };
    assert_eq!(bytes[..12], [2, 0, 0, 0, 0, 8, 2, 0, 0, 0, 0, 9]);
    assert_eq!(bytes[12..], FRAME[12..]);
    // 64 bytes at 1 Gbit/s, the link, and the time that it is held; the link back.
    assert_eq!(at.0, 2 * (512_000 + 10 * US) + 5 * US);
}

#[test]
fn what_does_not_come_back_is_counted() {
    let mut network = Testbed::new(&file("0").expect("a description")).expect("a network");
    let mut to_a_group = FRAME;
    to_a_group[0] = 3;
    for bytes in [&to_a_group[..], &FRAME[..11]] {
        peer(&mut network).send(Time::ZERO, PortId(0), bytes);
    }
    assert_eq!(reflected(&mut network, Time(100 * US)).len(), 1);
    let drops = network.world().device::<Reflector>(NodeId(1)).expect("a reflector").drops();
    let reasons: Vec<_> = drops.iter().collect();
    assert_eq!(reasons, [(DropReason::NotForUs, 1), (DropReason::Truncated, 1)]);
}

#[test]
fn the_same_happens_by_the_clock_on_the_wall() {
    let placement: Placement = serde_json::from_value(json!({})).expect("a placement");
    let mut none = |_: &ExternalSpec| -> Result<Box<dyn ExternalPort>, PortError> {
        panic!("all of it is in this process")
    };
    let file = file("1 ms").expect("a description");
    let mut network = Testbed::placed_with(&file, placement, &mut none).expect("a network");
    network.run_until(Time(US)).expect("a run");
    let until = network.now() + Span::from_ms(50);
    assert_eq!(reflected(&mut network, until).len(), 1);
}

#[test]
fn settings_are_checked_where_they_are_written() {
    let wrong = file("-1 ms").expect_err("a refusal");
    assert_eq!(wrong, "'-1 ms': it cannot be negative");
}
