//! What packets meet along an LSP: TTL models seen by a traceroute (RFC 3443, RFC 4950), the labels an egress may ask
//! for, and links that are too narrow for a packet.

use crate::common::{MS, S, chain, conserved, network, routers, run};
use base::{Event, Frame, Label, NodeId, PortId, Time};
use control::rsvp::Rsvp;
use engine::{CaptureReader, CaptureSpec, CaptureTarget, CaptureTo};
use serde_json::{Value, json};
use twinplane_tester::Testbed;
use wire::{ethernet, ipv4, udp};

const HOPS: usize = 4;

/// A chain of five routers with one LSP from end to end.
fn line(ttl: &str, egress: &str, flows: Value) -> Testbed {
    let nodes = routers(HOPS + 1, &json!({"ttl": ttl, "egress_label": egress}));
    network(json!({
        "nodes": nodes, "links": chain(HOPS + 1, 1_000_000_000, MS),
        "lsps": [{"name": "lsp", "from": 0, "to": HOPS, "routes": [(1..=HOPS).collect::<Vec<_>>()]}], "flows": flows,
    }))
}

/// Who answered a probe with each TTL from one on: node, ICMP type and quoted labels; nothing if nobody did.
fn traceroute(network: &mut Testbed, longest: u8) -> Vec<Option<(usize, u8, Vec<Label>)>> {
    run(network, S);
    let (_, address) = network.tunnel(0, 0).expect("an LSP");
    for ttl in 1..=longest {
        network.ping(0, address, ttl, u16::from(ttl)).expect("a ping");
        let until = network.world().now().0 + 100 * MS;
        run(network, until);
    }
    let owner = |from| {
        let near = |link: &network::Link| link.addresses.iter().position(|a| *a == from);
        let found = network.links().iter().find_map(|l| near(l).map(|side| [l.spec.a, l.spec.b][side]));
        found.expect("an answer from a port of a router")
    };
    let mut answers = vec![None; longest.into()];
    let owners: Vec<_> =
        (1..=HOPS).map(|n| network.links()[n - 1].addresses[1]).map(|a| (a, owner(a))).collect();
    for record in network.events() {
        if let Event::ProbeReply { from, sequence, kind, labels, .. } = &record.event {
            let node =
                owners.iter().find(|o| o.0 == *from).expect("an answer from where the packet came in").1;
            answers[usize::from(*sequence) - 1] = Some((node, *kind, labels.clone()));
        }
    }
    answers
}

/// The label by which packets of the only LSP reach a node, if it gave one.
fn label_of(network: &Testbed, node: usize) -> Option<Label> {
    network.protocol::<Rsvp>(node).expect("RSVP-TE").lsps().next().expect("an LSP").in_label
}

#[test]
fn uniform_shows_every_hop_and_its_label() {
    for egress in ["real", "implicit-null", "explicit-null"] {
        let mut network = line("uniform", egress, json!([]));
        let answers = traceroute(&mut network, HOPS as u8 + 1);
        for (place, answer) in answers.iter().take(HOPS).enumerate() {
            let node = place + 1;
            let label = label_of(&network, node).expect("a label");
            let expected = if label == Label::IMPLICIT_NULL { vec![] } else { vec![label] };
            assert_eq!(answer.as_ref(), Some(&(node, 11, expected)), "{egress}, TTL {node}");
        }
        // One more reaches the tester beyond the egress, who answers no pings.
        assert_eq!(answers[HOPS], None, "{egress}");
    }
}

#[test]
fn pipe_and_short_pipe_hide_the_hops() {
    for (ttl, egress) in
        [("pipe", "real"), ("pipe", "explicit-null"), ("short-pipe", "implicit-null"), ("short-pipe", "real")]
    {
        let answers = traceroute(&mut line(ttl, egress, json!([])), HOPS as u8);
        let (node, kind, _) = answers[0].as_ref().unwrap_or_else(|| panic!("{ttl} {egress}: nobody answers"));
        assert_eq!((*node, *kind), (HOPS, 11), "{ttl} {egress}: the egress is the next hop");
        assert!(answers[1..].iter().all(Option::is_none), "{ttl} {egress}: {answers:?}");
    }
}

/// The IP packets that a port sends, with the time of each.
fn captured(network: &mut Testbed, node: usize, port: u16, until: u64) -> Vec<Vec<u8>> {
    let target = CaptureTarget::Port(NodeId(node as u32), PortId(port));
    let id = network.world_mut().capture(CaptureSpec::new(target, CaptureTo::Memory)).expect("a capture");
    run(network, until);
    let bytes = network.world_mut().finish_capture(id).expect("a capture").bytes;
    let packets = CaptureReader::new(&bytes[..]).expect("a capture").map(|p| p.expect("a packet").bytes);
    packets.filter(|p| p.get(12..14) == Some(&[8, 0])).map(|p| p[ethernet::HEADER_LEN..].to_vec()).collect()
}

#[test]
fn every_variant_delivers_with_the_ttl_of_its_model() {
    let flow = json!([{"from": 0, "to": HOPS, "over": 0, "rate_bps": 10_000_000, "size": 400, "start_ps": S, "stop_ps": S + 100 * MS}]);
    for ttl in ["uniform", "pipe", "short-pipe"] {
        for egress in ["real", "implicit-null", "explicit-null"] {
            let mut network = line(ttl, egress, flow.clone());
            let packets = captured(&mut network, HOPS, 1, 2 * S);
            let (sent, received) = conserved(&mut network).expect("conservation");
            assert!(sent == received && sent > 300, "{ttl} {egress}: {received} of {sent}");
            // RFC 3443: each router counts in the uniform model, else ingress and egress only. Sources send with 255.
            let expected = if ttl == "uniform" { 255 - HOPS as u8 - 1 } else { 255 - 2 };
            let seen: Vec<u8> = packets.iter().filter(|p| p[9] == 17).map(|p| p[8]).collect();
            assert!(
                seen.len() as u64 == sent && seen.iter().all(|t| *t == expected),
                "{ttl} {egress}: TTL {:?}",
                seen.first()
            );
        }
    }
}

/// A chain whose third link takes no more than 1,000 bytes.
fn narrow(flows: Value) -> Testbed {
    let mut links = chain(HOPS + 1, 1_000_000_000, MS);
    links[2]["mtu"] = json!(1_000);
    network(json!({
        "nodes": routers(HOPS + 1, &json!({})), "links": links,
        "lsps": [{"name": "lsp", "from": 0, "to": HOPS, "routes": [(1..=HOPS).collect::<Vec<_>>()]}], "flows": flows,
    }))
}

#[test]
fn packets_not_to_be_fragmented_are_reported() {
    let flow = |size: u64| json!({"from": 0, "to": HOPS, "over": 0, "rate_bps": 1_000_000, "size": size, "start_ps": S, "stop_ps": S + 20 * MS});
    // 14 bytes of Ethernet, 4 of frame check sequence, 4 of label: 1,014 is the longest that fits.
    for (size, fits) in [(1_014, true), (1_015, false)] {
        let mut network = narrow(json!([flow(size)]));
        run(&mut network, 2 * S);
        let (sent, received) = conserved(&mut network).expect("conservation");
        assert_eq!(received, if fits { sent } else { 0 }, "{size} bytes");
        let label = label_of(&network, 2);
        let from = network.links()[1].addresses[1];
        let told = |e: &&engine::EventRecord| matches!(&e.event, Event::ProbeReply { kind: 3, code: 4, from: f, labels, .. } if *f == from && labels.first() == label.as_ref());
        let reports = network.events().iter().filter(told).count() as u64;
        assert_eq!(reports, if fits { 0 } else { sent }, "{size} bytes");
    }
}

#[test]
fn packets_that_may_be_are_fragmented_under_their_label() {
    let mut network = narrow(json!([]));
    run(&mut network, S);
    let (_, dst) = network.tunnel(0, 0).expect("an LSP");
    let payload: Vec<u8> = (0..2_500u32).map(|i| (i * 7) as u8).collect();
    let header = ipv4::Repr {
        src: network.probe(0).expect("a probe").config().address,
        dst,
        protocol: ipv4::Protocol::UDP,
        ttl: 64,
        dscp: base::Dscp::DEFAULT,
        ecn: 0,
        ident: 77,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        payload_len: (udp::HEADER_LEN + payload.len()) as u16,
        options: ipv4::Options::NONE,
    };
    let mut datagram = vec![0, 9, 0, 9];
    datagram.extend(((udp::HEADER_LEN + payload.len()) as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(&payload);
    let mut bytes = vec![0; ethernet::HEADER_LEN + 20];
    let macs =
        (network.router(0).expect("a router").config().ports[1].mac, base::MacAddr([2, 9, 9, 9, 9, 9]));
    ethernet::Repr::untagged(macs.0, macs.1, ethernet::EtherType::IPV4).emit(&mut bytes);
    header.emit(&mut bytes[ethernet::HEADER_LEN..]);
    bytes.extend(&datagram);
    let world = network.world_mut();
    world.inject(Time(S), NodeId(0), PortId(1), Frame::from_bytes(&bytes)).expect("an injection");
    let mut fragments = captured(&mut network, HOPS, 1, 2 * S);
    fragments.retain(|p| p[9] == 17);
    assert_eq!(fragments.len(), 3);
    let mut whole = vec![0u8; datagram.len()];
    for fragment in &fragments {
        let packet = ipv4::Packet::new_checked(&fragment[..]).expect("a packet");
        assert!(packet.total_len() <= 996, "with its label it fits in 1,000 bytes");
        assert_eq!((packet.ident(), packet.dst()), (77, dst));
        let at = usize::from(packet.fragment_offset()) * 8;
        whole[at..at + packet.payload().len()].copy_from_slice(packet.payload());
    }
    assert!(whole == datagram, "put together it is what was sent");
}
