//! The transport at work: refresh reduction, Hello, INTEGRITY.

use super::bus::Script;
use super::{Net, spec};
use crate::protocol::Change;
use crate::rsvp::Config;
use crate::rsvp::Event;
use crate::rsvp::command::Command;
use crate::rsvp::transport::{HelloConfig, Key, PortKeys, RefreshReduction};
use base::random::Streams;
use base::{PortId, Span};
use core::net::Ipv4Addr;
use rand_chacha::rand_core::Rng;
use wire::rsvp::{Common, Hello, HelloMessage, KeyId, Message, MessageType, Packet, RsvpHop};

const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

fn reduced(_: usize, config: &mut Config) {
    config.refresh_reduction = Some(RefreshReduction { assume_capable: true, ..RefreshReduction::default() });
}

pub(super) fn greeting(_: usize, config: &mut Config) {
    config.hello = Some(HelloConfig { interval: Span::from_ms(100), ..HelloConfig::default() });
}

/// Loses a share of all messages.
fn lossy(percent: u32) -> Script {
    let mut random = Streams::new(3).stream("loss");
    Box::new(move |_, _| random.next_u32() % 100 < percent)
}

#[test]
fn summaries_take_the_place_of_refreshes() {
    let mut net = Net::with(4, &ROW, reduced);
    let tunnels: Vec<_> = (1..=20).map(|n| net.tunnel(0, spec(n, 3, &[&[1, 2, 3]], 1))).collect();
    net.run(1_000);
    let (paths, resvs) = (net.sent(1, MessageType::Path), net.sent(2, MessageType::Resv));
    assert_eq!((paths, resvs), (20, 20));
    net.run(600_000);
    assert_eq!((net.sent(1, MessageType::Path), net.sent(2, MessageType::Resv)), (paths, resvs));
    assert!(net.sent(1, MessageType::Srefresh) > 10);
    assert!((1..=20).all(|n| net.trace(0, n) == Some(vec![0, 1, 2, 3])));
    for tunnel in tunnels {
        net.command(0, Command::TunnelRemove(tunnel));
    }
    net.run(10_000);
    net.assert_clean();
}

#[test]
fn a_neighbour_without_the_extensions_gets_plain_refreshes() {
    let mut net = Net::with(4, &ROW, |n, config| {
        if n != 2 {
            config.refresh_reduction = Some(RefreshReduction::default());
        }
    });
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(600_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    assert!(net.sent(1, MessageType::Path) > 10);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(10_000);
    net.assert_clean();
}

#[test]
fn what_is_lost_is_sent_again_soon() {
    let mut net = Net::with(4, &ROW, reduced);
    net.lose = Some(lossy(10));
    let tunnels: Vec<_> = (1..=20).map(|n| net.tunnel(0, spec(n, 3, &[&[1, 2, 3]], 1))).collect();
    net.run(20_000);
    for n in 1..=20 {
        assert_eq!(net.trace(0, n), Some(vec![0, 1, 2, 3]), "tunnel {n} before its first refresh");
    }
    for tunnel in tunnels {
        net.command(0, Command::TunnelRemove(tunnel));
    }
    net.run(60_000);
    assert!(net.nodes.iter().all(|node| node.lsps().count() == 0), "teardown is reliable too");
    net.lose = None;
    net.run(400_000);
    net.assert_clean();
}

#[test]
fn shared_reservations_survive_on_summaries() {
    let mut net = Net::with(4, &ROW, |n, config| {
        reduced(n, config);
        config.linger = Span::from_secs(400);
    });
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 600));
    net.run(100);
    net.command(0, Command::TunnelReoptimise(tunnel));
    net.run(300_000);
    assert_eq!(net.nodes[1].lsps().filter(|lsp| lsp.installed).count(), 2);
    net.run(600_000);
    assert_eq!(net.nodes[1].lsps().filter(|lsp| lsp.installed).count(), 1);
    assert_eq!((net.trace(0, 1), net.reserved(1)), (Some(vec![0, 1, 2, 3]), 600));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(10_000);
    net.assert_clean();
}

#[test]
fn hello_notices_a_silent_neighbour() {
    let mut net = Net::with(4, &ROW, greeting);
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(2_000);
    assert!(net.events.iter().any(|(n, e)| *n == 0 && matches!(e, Event::NeighborUp { .. })));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    net.lose = Some(Box::new(|node, _| node == 2));
    net.run(2_000);
    let down = |(n, e): &(usize, Event)| *n == 1 && matches!(e, Event::NeighborDown { restarted: false, .. });
    assert!(net.events.iter().any(down), "{:?}", net.events);
    assert_eq!(net.nodes[0].lsps().count() + net.nodes[1].lsps().count() + net.nodes[3].lsps().count(), 0);
}

#[test]
fn hello_notices_a_restart() {
    let mut net = Net::with(4, &ROW, |n, config| {
        greeting(n, config);
        reduced(n, config);
    });
    let patient = crate::rsvp::command::TunnelSpec { retry_limit: None, ..spec(1, 3, &[&[1, 2, 3]], 1) };
    let tunnel = net.tunnel(0, patient);
    net.run(2_000);
    net.tables[2] = Default::default();
    net.change(2, Change::Restart);
    net.run(5_000);
    assert!(net.events.iter().any(|(_, e)| matches!(e, Event::NeighborDown { restarted: true, .. })));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]), "set up again: {:?}", net.events);
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(10_000);
    net.assert_clean();
}

/// RFC 3209, 5.3: Hellos go to neighbours whose status is tracked. Of one that was heard once, perhaps under an
/// address that nobody has, it is tracked no more after a minute, unless state depends on it or it was configured.
#[test]
fn a_neighbour_that_was_never_there_is_forgotten() {
    let mut net = Net::with(2, &[(0, 1)], greeting);
    net.run(1_000);
    let phantom = |last| Ipv4Addr::new(10, 0, 0, last);
    let hello = Hello::Request { src_instance: 7, dst_instance: 0 };
    let hello = Packet::new(1, Message::Hello(HelloMessage { common: Common::default(), hello }));
    for last in 100..180 {
        net.inject(1, PortId(0), phantom(last), &hello);
    }
    let hop = RsvpHop { address: phantom(100).into(), lih: 1 };
    let path = wire::rsvp::Path { hop, ..super::messages::path(&net, 1, &[1]) };
    net.inject(1, PortId(0), phantom(100), &Packet::new(63, Message::Path(path)));
    let known = |net: &Net| net.nodes[1].neighbors().count();
    assert_eq!((known(&net), net.nodes[1].lsps().count()), (64, 1), "there is room for so many at a port");
    net.run(59_000);
    assert_eq!(known(&net), 64);
    net.run(3_000);
    assert_eq!((known(&net), net.nodes[1].lsps().count()), (2, 1), "an LSP comes from one of them");
    net.run(200_000);
    assert_eq!((known(&net), net.nodes[1].lsps().count()), (1, 0), "it was not refreshed for 158 s");
    let hellos = net.sent(1, MessageType::Hello);
    // Whoever is there is heard again, and is a neighbour as before; one that was configured stays though it is silent.
    net.inject(1, PortId(0), phantom(100), &hello);
    assert_eq!(known(&net), 2);
    net.lose = Some(Box::new(|node, _| node == 0));
    net.run(120_000);
    assert_eq!(known(&net), 1);
    assert!(net.sent(1, MessageType::Hello) > hellos + 1_000, "it is still asked");
    net.link(0, 1, false);
    net.link(0, 1, true);
    net.run(1_000);
    assert_eq!(net.nodes[1].audit().transport.hellos, 1, "those that were forgotten stay so");
}

#[test]
fn signed_messages_are_taken_and_others_are_not() {
    let keys = |n: usize, config: &mut Config, secret: &[u8]| {
        let ports = if n == 0 || n == 3 { 1 } else { 2 };
        config.integrity = (0..ports)
            .map(|port| PortKeys {
                port: PortId(port),
                keys: vec![Key::new(KeyId([1; 6]), secret.to_vec())],
                handshake: false,
                window: 1,
            })
            .collect();
    };
    let mut net = Net::with(4, &ROW, |n, config| keys(n, config, b"secret"));
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(1_000);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    let mut net = Net::with(4, &ROW, |n, config| keys(n, config, if n == 2 { b"other" } else { b"secret" }));
    net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
    net.run(1_000);
    assert_eq!((net.trace(0, 1), net.nodes[2].lsps().count()), (None, 0));
}
