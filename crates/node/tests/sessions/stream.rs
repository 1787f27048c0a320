//! Megabytes through routers and links that lose packets.

use super::talk::{MS, PORT, Role, S, Talk, address, chain, config, id, router, routes, rows, socket, talk};
use base::{Device, LinkId, NodeId, Span, Time};
use control::services::sessions::{Closed, Options};
use control::unheard::Unheard;
use engine::{CaptureSpec, CaptureTarget, CaptureTo, Direction, Fault, FaultKind, World};
use twinplane_node::Router;

const BYTES: usize = 2_000_000;

fn lossy(seed: u64, probability: f64) -> World {
    let client = Role::client(address(3, 0), BYTES);
    let mut world = chain(seed, vec![Some(client), None, None, Some(Role::server())]);
    let kind = FaultKind::Loss { link: LinkId(1), direction: Direction::Both, probability };
    world.fault(Fault { at: Time::ZERO, until: None, kind }).expect("a fault");
    world
}

fn only(talk: &Talk) -> &super::talk::Heard {
    assert_eq!(talk.sessions.len(), 1, "{:?}", talk.refused);
    talk.sessions.values().next().expect("a session")
}

#[test]
fn megabytes_and_their_echo_come_through_loss() {
    let mut world = lossy(1, 0.01);
    world.run_until(Time(S)).expect("a run");
    let again: u64 = [0, 3].map(|node| rows(&world, node)[0].counters.retransmitted).iter().sum();
    assert!(again > 10, "{again} retransmissions");
    world.run_until(Time(400 * S)).expect("a run");
    for (node, opened) in [(0, "Connected"), (3, "Accepted")] {
        let heard = only(talk(&world, node));
        assert_eq!((heard.received, heard.right, heard.closed), (BYTES, true, Some(Closed::Done)), "r{node}");
        assert_eq!(heard.log.first().map(String::as_str), Some(opened), "r{node}");
        assert_eq!(rows(&world, node), [], "r{node}: nothing is left behind");
        assert!(router(&world, node).drops().total() == 0, "r{node}: {:?}", router(&world, node).drops());
    }
    // What the server sends back waits for room as often as something is lost.
    assert!(only(talk(&world, 3)).log.iter().any(|what| what == "Writable"));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let digest = |seed, probability| {
        let mut world = lossy(seed, probability);
        world.run_until(Time(5 * S)).expect("a run");
        world.digest()
    };
    assert_eq!(digest(7, 0.02), digest(7, 0.02));
    // Nothing is lost: what differs are ports and sequence numbers.
    assert_ne!(digest(7, 0.0), digest(8, 0.0));
}

#[test]
fn a_recording_holds_inputs_and_gives_the_same_outputs() {
    for node in [0, 3] {
        let mut world = lossy(3, 0.02);
        world.record(NodeId(node)).expect("a router");
        world.run_until(Time(3 * S)).expect("a run");
        let recording = world.take_recording(NodeId(node)).expect("memory").expect("a recording");
        assert!(recording.outputs > 100, "{}", recording.outputs);
        let role = if node == 0 { Role::client(address(3, 0), BYTES) } else { Role::server() };
        let fresh = Router::new(config(node as usize, Some(role), world.streams()));
        let replay = engine::replay(Box::new(fresh), &recording);
        assert!(replay.same && replay.digest == recording.digest, "r{node}");
    }
}

#[test]
fn a_slow_control_processor_closes_the_window_and_opens_it_again() {
    let small = Options { receive_bytes: 8_192, ..Options::default() };
    let server = Role { accepts: Some(small), ..Role::server() };
    let client = Role::client(id(1), 200_000);
    let mut world = World::new(1);
    let mut slow = config(1, Some(server), world.streams());
    // A message of 4,096 bytes takes 2.2 s: longer than any retransmission timer.
    slow.profile = serde_json::from_str(r#"{"control": {"costs": {"talk": {"talk": {"us": 2200000}}}}}"#)
        .expect("a profile");
    let nodes = [Router::new(config(0, Some(client), world.streams())), Router::new(slow)];
    for (place, device) in nodes.into_iter().enumerate() {
        let node = world.add_device(Box::new(device));
        for route in routes(place, 2) {
            world.command(Time::ZERO, node, route).expect("a router");
        }
    }
    let rate = base::Rate::from_gbps(1);
    world.add_link(engine::LinkSpec::new(NodeId(0), NodeId(1), rate, Span::from_ms(1))).expect("a link");
    world.run_until(Time(20 * S)).expect("a run");
    let received = talk(&world, 1).sessions.values().next().expect("a session").received;
    assert!((8 * 4_096..=9 * 4_096).contains(&received), "{received} bytes after 20 s");
    // Nothing is dropped for want of room: the window was closed.
    assert_eq!(router(&world, 1).drops().total(), 0);
    world.run_until(Time(400 * S)).expect("a run");
    let heard = talk(&world, 1).sessions.values().next().expect("a session");
    assert_eq!((heard.received, heard.right, heard.closed), (200_000, true, Some(Closed::Done)));
    let counted: u64 = router(&world, 1).control().messages().map(|(bin, _)| u64::from(bin.count)).sum();
    assert_eq!(counted, 2 * 200_000u64.div_ceil(4_096), "each message is counted, as is each that is sent");
}

#[test]
fn datagrams_go_by_the_tables_and_come_back_to_the_port_that_was_bound() {
    let ask = Role { asks: Some((Time(MS), socket(id(2), PORT))), ..Role::default() };
    let nobody = Role { asks: Some((Time(MS), socket(id(1), PORT))), ..Role::default() };
    let mut world = chain(1, vec![Some(ask), None, Some(Role::server())]);
    world.run_until(Time(S)).expect("a run");
    let [(port, bytes)] = &talk(&world, 0).datagrams[..] else { panic!("{:?}", talk(&world, 0).datagrams) };
    assert_eq!((*port >= 49_152, bytes.as_slice()), (true, &b"who"[..]));
    assert_eq!(talk(&world, 2).datagrams, [(PORT, b"who".to_vec())]);
    let mut world = chain(1, vec![Some(nobody), None]);
    world.run_until(Time(S)).expect("a run");
    assert_eq!(router(&world, 1).control().unheard().get(Unheard::UdpPort), 1);
}

#[test]
fn devices_keep_their_books() {
    let mut world = lossy(9, 0.05);
    world.run_until(Time(10 * S)).expect("a run");
    for node in 0..4 {
        let balance = router(&world, node).balance();
        let accounted = balance.forwarded + balance.delivered + balance.dropped.total() + balance.waiting;
        assert_eq!(balance.received + balance.fragments, accounted, "r{node}");
        assert!(router(&world, node).poll_timeout().is_none_or(|at| at > world.now()));
    }
    assert!(world.audit().is_empty());
}

#[test]
fn tshark_finds_nothing_wrong() {
    if !testing::available("tshark") {
        return;
    }
    let mut world = lossy(2, 0.02);
    let path = std::env::temp_dir().join(format!("sessions-tshark-{}.pcapng", std::process::id()));
    let to = CaptureTo::File(path.clone());
    let tap = world.capture(CaptureSpec::new(CaptureTarget::Everything, to)).expect("a capture");
    world.run_until(Time(2 * S)).expect("a run");
    let packets = world.finish_capture(tap).expect("a file").packets;
    let fields = [
        "ip.checksum.status",
        "tcp.checksum.status",
        "_ws.malformed",
        "tcp.options.mss_val",
        "ip.dsfield.dscp",
    ];
    let mut command = std::process::Command::new("tshark");
    command.arg("-r").arg(&path).args(["-Y", "tcp", "-T", "fields"]);
    for on in ["ip.check_checksum:TRUE", "tcp.check_checksum:TRUE"] {
        command.args(["-o", on]);
    }
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let output = command.output().expect("tshark runs");
    std::fs::remove_file(&path).expect("a file");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.lines().count() > 500 && packets > 500, "{packets} packets");
    for line in text.lines() {
        // Good, good, not malformed; the MSS of a link of 1,500 bytes in a SYN; CS6.
        assert!(line == "1\t1\t\t\t48" || line == "1\t1\t\t1460\t48", "{line:?}");
    }
}
