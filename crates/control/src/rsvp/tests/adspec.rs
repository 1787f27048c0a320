//! ADSPEC on its way to the egress, and back in what the egress asks for (RFC 2210, 2.3.2 and 3.3).

use super::messages::{first_address, packet, path};
use super::{Net, spec};
use crate::rsvp::command::Command;
use base::{PortId, Rate};
use wire::rsvp::{
    Adspec, AdspecFragment, ControlledLoadFragment, General, GuaranteedFragment, Message, Overrides,
};

/// Four routers in a row.
const ROW: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 3)];

/// The links differ: the second takes shorter packets, the third has less bandwidth.
fn uneven(send: bool) -> Net {
    Net::with(4, &ROW, |node, config| {
        config.adspec = send;
        for interface in &mut config.interfaces {
            match (node, interface.port) {
                (1, PortId(1)) => interface.mtu = 1400,
                (2, PortId(1)) => interface.reservable = Rate::from_mbps(200),
                _ => {}
            }
        }
    })
}

/// ADSPECs of the Paths that nodes sent, in their order.
fn of_paths(net: &Net) -> Vec<Option<Adspec>> {
    let of = |message: &Message| match message {
        Message::Path(path) => Some(path.adspec.clone()),
        _ => None,
    };
    net.log.iter().filter_map(|sent| of(&sent.message)).collect()
}

#[test]
fn a_head_end_sends_it_and_every_hop_adds_to_it() {
    let mut net = uneven(true);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 100));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    let mbps = |mbps| Rate::from_mbps(mbps).as_bytes_per_s();
    let general = |hops, bandwidth, mtu| Adspec {
        general: General { hops, bandwidth, latency_us: u32::MAX, mtu, ..General::default() },
        guaranteed: None,
        controlled_load: Some(ControlledLoadFragment::default()),
        others: Vec::new(),
    };
    let expected =
        [general(1, mbps(1000), 1500), general(2, mbps(1000), 1400), general(3, mbps(200), 1400)].map(Some);
    assert_eq!(of_paths(&net), expected);
    // The egress asks for packets no longer than the way takes; all routers reserve that.
    let resv = net.log.iter().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 3 => resv.flow_descriptors.first(),
        _ => None,
    });
    assert_eq!(resv.map(|descriptor| descriptor.flowspec.bucket().max_packet), Some(1400));
    assert!((0..3).all(|node| net.reserved(node) == 100));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
    // A PathTear says as much of its sender as the Path did, wherever it began.
    let of = |message: &Message| match message {
        Message::PathTear(tear) => Some(tear.sender.clone()?.adspec),
        _ => None,
    };
    let tears: Vec<_> = net.log.iter().filter_map(|sent| of(&sent.message)).collect();
    assert_eq!(tears, vec![Some(general(1, mbps(1000), 1500)); 3]);
}

#[test]
fn a_head_end_can_be_told_to_leave_it_out() {
    let mut net = uneven(false);
    let tunnel = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 100));
    net.run(100);
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3]));
    net.command(0, Command::TunnelRemove(tunnel));
    net.run(100);
    net.assert_clean();
    assert_eq!(of_paths(&net), [None, None, None]);
    let adspec = |message: &Message| matches!(message, Message::PathTear(tear) if tear.sender.as_ref().is_some_and(|s| s.adspec.is_some()));
    assert!(!net.log.iter().any(|sent| adspec(&sent.message)));
}

#[test]
fn services_that_a_router_does_not_do_are_marked() {
    let mut net = uneven(true);
    let mut message = path(&net, 3, &[1, 2, 3]);
    let own = Overrides { hops: Some(1), bandwidth: Some(5e8), latency_us: Some(7), mtu: Some(1450) };
    let unknown = AdspecFragment { service: 9, break_bit: false, data: vec![1, 2, 3, 4] };
    let sent = Adspec {
        general: General { hops: 1, bandwidth: 1e9, latency_us: 7, mtu: 1500, ..General::default() },
        guaranteed: Some(GuaranteedFragment { c_tot: 3, d_tot: 4, ..GuaranteedFragment::default() }),
        controlled_load: Some(ControlledLoadFragment { break_bit: false, overrides: own }),
        others: vec![unknown.clone()],
    };
    message.adspec = Some(sent.clone());
    let from = first_address(&net, 0);
    net.inject(1, PortId(0), from, &packet(Message::Path(message)));
    let bandwidth = Rate::from_gbps(1).as_bytes_per_s();
    let own = Overrides { hops: Some(2), bandwidth: Some(bandwidth), mtu: Some(1400), ..own };
    let expected = Adspec {
        general: General { hops: 2, bandwidth, mtu: 1400, ..sent.general },
        guaranteed: sent.guaranteed.map(|fragment| GuaranteedFragment { break_bit: true, ..fragment }),
        controlled_load: Some(ControlledLoadFragment { break_bit: false, overrides: own }),
        others: vec![AdspecFragment { break_bit: true, ..unknown }],
    };
    assert_eq!(of_paths(&net).first(), Some(&Some(expected)));
}

#[test]
fn tunnels_can_have_different_lsp_ids() {
    for (distinct, expected) in [(false, [1, 1, 2]), (true, [1, 2, 3])] {
        let mut net = Net::with(4, &ROW, |_, config| config.distinct_lsp_ids = distinct);
        let first = net.tunnel(0, spec(1, 3, &[&[1, 2, 3]], 1));
        net.tunnel(0, spec(2, 3, &[&[1, 2, 3]], 1));
        net.run(100);
        net.command(0, Command::TunnelReoptimise(first));
        net.run(100);
        let mut seen: Vec<u16> = Vec::new();
        for sent in net.log.iter().filter(|sent| sent.from == 0) {
            if let Message::Path(path) = &sent.message
                && let wire::rsvp::SenderTemplate::LspTunnelIpv4 { lsp_id, .. } = path.sender_template
            {
                seen.push(lsp_id);
            }
        }
        assert_eq!(seen, expected, "distinct: {distinct}");
    }
}
