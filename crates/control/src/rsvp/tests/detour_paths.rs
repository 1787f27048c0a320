//! Paths of detours by hand, at a router where they come together with their LSP or with each other: how much is
//! reserved, what can't be one, and what is malformed.

use super::Net;
use super::bus::id;
use super::detour_merge::{STAR, blocks, of, send};
use super::detours::pairs;
use super::messages::bucket;
use super::refreshes::{say, summary};
use crate::rsvp::transport::RefreshReduction;
use base::PortId;
use core::net::Ipv4Addr;
use wire::rsvp::error_code::{self, routing, traffic_control};
use wire::rsvp::{
    LabelRequest, Message, MessageType, Packet, Path, RroSubobject, SenderTemplate, SenderTspec,
    SessionAttribute, Unknown,
};

type Said = (Path, PortId, Ipv4Addr);

fn star() -> Net {
    let mut net = Net::new(6, &STAR);
    net.honest = false;
    net
}

/// A Path that asks for so much, in the style of those that share.
fn for_mbps((mut path, port, address): Said, mbps: u64) -> Said {
    path.sender_tspec = SenderTspec(bucket(mbps));
    let flags = path.session_attribute.as_ref().map_or(0, |attribute| attribute.flags);
    path.session_attribute = Some(SessionAttribute {
        affinities: None,
        setup_priority: 7,
        holding_priority: 7,
        flags: flags | SessionAttribute::SE_STYLE,
        name: b"by hand".to_vec(),
    });
    (path, port, address)
}

/// The same under a sender of the router's own (RFC 4090, 6.1.1).
fn under((mut path, port, address): Said, node: usize) -> Said {
    path.sender_template = SenderTemplate::LspTunnelIpv4 { sender: id(node), lsp_id: 1 };
    (path, port, address)
}

/// What the last Resv of node 1 to a neighbour says is reserved, in Mbit/s.
fn promised(net: &Net, link: u8) -> Option<u64> {
    net.log.iter().rev().filter(|sent| sent.from == 1).find_map(|sent| match &sent.message {
        Message::Resv(resv) if resv.hop.address == Ipv4Addr::new(10, 0, link, 2) => {
            let rate = resv.flow_descriptors[0].flowspec.rate();
            Some(base::Rate::from_bytes_per_s(rate).0 / 1_000_000)
        }
        _ => None,
    })
}

/// Backups that are merged at node 1.
fn merged(net: &Net) -> usize {
    net.nodes[1].store.iter().filter_map(|(_, lsp)| lsp.rare.as_ref()).map(|rare| rare.backups.len()).sum()
}

fn refused(net: &Net) -> u64 {
    net.nodes[1].counters().errors_sent_of(error_code::ROUTING, routing::NO_ROUTE)
}

#[test]
fn what_is_promised_to_detours_that_meet_is_reserved() {
    let avoids = |node: usize| Some((id(node), id(5)));
    for larger_first in [false, true] {
        // 7.1.1: under senders of their own. The larger goes on by itself, unless the smaller joins it.
        let mut net = star();
        let small = for_mbps(of(&net, 0, &[1, 2, 3], avoids(0)), 10);
        let large = under(for_mbps(of(&net, 4, &[1, 2, 3], avoids(4)), 20), 4);
        let mut both = [small, large];
        if larger_first {
            both.reverse();
        }
        both.into_iter().for_each(|one| send(&mut net, one));
        assert_eq!(blocks(&net).len(), if larger_first { 1 } else { 2 });
        // The two share what is reserved (RFC 3209, 2.5).
        let to_small = if larger_first { 10 } else { 20 };
        assert_eq!((net.reserved(1), promised(&net, 0), promised(&net, 1)), (20, Some(to_small), Some(20)));
        // 7.1.2: under the sender of their LSP. The larger goes on for both.
        let mut net = star();
        let small = for_mbps(of(&net, 0, &[1, 2, 3], avoids(0)), 10);
        let large = for_mbps(of(&net, 4, &[1, 2, 3], avoids(4)), 20);
        let mut both = [small, large];
        if larger_first {
            both.reverse();
        }
        both.into_iter().for_each(|one| send(&mut net, one));
        assert_eq!((blocks(&net), merged(&net)), (vec![Some(PortId(1))], 1));
        assert_eq!((net.reserved(1), promised(&net, 0), promised(&net, 1)), (20, Some(10), Some(20)));
    }
    // The LSP is the one that goes on, whatever it asks for: then that is what there is.
    let mut net = star();
    let lsp = for_mbps(of(&net, 0, &[1, 2, 3], None), 10);
    let detour = for_mbps(of(&net, 4, &[1, 2, 3], Some((id(4), id(0)))), 20);
    [lsp, detour].into_iter().for_each(|one| send(&mut net, one));
    assert_eq!((blocks(&net), merged(&net)), (vec![Some(PortId(0))], 1));
    assert_eq!((net.reserved(1), promised(&net, 0), promised(&net, 1)), (10, Some(10), Some(10)));
}

#[test]
fn a_detour_that_can_not_be_one_with_its_lsp_gives_way_when_that_comes() {
    // Another next hop; or the LSP comes to what the detour avoids.
    for (route, avoided) in [(&[1, 5, 3], 0), (&[1, 2, 3], 2)] {
        let mut net = star();
        let mut detour = of(&net, 4, &[1, 2, 3], Some((id(4), id(avoided))));
        if avoided == 2 {
            // By an address that nobody knows to be that of router 2.
            let hops = [id(1), Ipv4Addr::new(10, 0, 2, 2), id(3)];
            detour.0.ero = Some(hops.map(wire::rsvp::EroHop::strict).into());
        }
        send(&mut net, detour);
        assert_eq!(blocks(&net), [Some(PortId(1))]);
        let lsp = of(&net, 0, route, None);
        send(&mut net, lsp);
        assert_eq!((blocks(&net), merged(&net), refused(&net)), (vec![Some(PortId(0))], 0, 1));
        // Its Paths are those of the LSP, and so are the Resvs.
        net.log.clear();
        net.run(100_000);
        assert!(promised(&net, 0).is_some() && promised(&net, 1).is_none());
        let mut paths = net.log.iter().filter_map(|sent| match &sent.message {
            Message::Path(path) if sent.from == 1 => Some(path),
            _ => None,
        });
        assert!(paths.all(|path| pairs(path).is_none()));
    }
}

#[test]
fn a_detour_that_is_refused_is_merged_no_more() {
    let mut net = star();
    let lsp = of(&net, 0, &[1, 2, 3], None);
    let detour = of(&net, 4, &[1, 2, 3], Some((id(4), id(0))));
    [lsp, detour].into_iter().for_each(|one| send(&mut net, one));
    assert_eq!((merged(&net), refused(&net)), (1, 0));
    // Now it avoids what the LSP comes to.
    let other = of(&net, 4, &[1, 2, 3], Some((id(4), id(2))));
    send(&mut net, other);
    assert_eq!((blocks(&net), merged(&net), refused(&net)), (vec![Some(PortId(0))], 0, 1));
}

#[test]
fn the_number_of_a_detour_that_gives_way_stands_for_nothing_any_more() {
    let mut net = Net::with(6, &STAR, |node, config| {
        if node == 1 {
            config.refresh_reduction = Some(RefreshReduction::default());
        }
    });
    net.honest = false;
    let (detour, _, neighbor) = of(&net, 4, &[1, 2, 3], Some((id(4), id(0))));
    say(&mut net, neighbor, 1, 7, Message::Path(detour));
    net.run(50);
    let (lsp, _, previous) = of(&net, 0, &[1, 2, 3], None);
    say(&mut net, previous, 0, 0, Message::Path(lsp));
    net.run(50);
    assert_eq!((blocks(&net), merged(&net)), (vec![Some(PortId(0))], 1));
    // RFC 2961, 5.4: what is not known by its number has to be said in full.
    let nacks = |net: &Net| net.log.iter().filter(|sent| has_nack(&sent.message)).count();
    assert_eq!(nacks(&net), 0);
    say(&mut net, neighbor, 1, 0, summary(&[7]));
    assert_eq!(nacks(&net), 1);
    // And the LSP expires without Paths of its own, whatever the other says.
    for _ in 0..6 {
        net.run(30_000);
        say(&mut net, neighbor, 1, 0, summary(&[7]));
    }
    assert_eq!(blocks(&net), []);
}

fn has_nack(message: &Message) -> bool {
    message.common().is_some_and(|common| common.acks.iter().any(|ack| ack.nack))
}

/// What node 1 answers a Path of a backup with that would be merged, by a change that makes it wrong: of a detour under
/// either sender, and of one around a failure.
fn answers(change: impl Fn(&mut Path)) -> Vec<(u8, u16)> {
    let mut found = Vec::new();
    for kind in 0..3 {
        let mut net = star();
        net.route_all();
        let lsp = of(&net, 0, &[1, 2, 3], None);
        send(&mut net, lsp);
        let avoids = Some((id(4), id(0))).filter(|_| kind < 2);
        let mut backup = of(&net, 4, &[1, 2, 3], avoids);
        if kind > 0 {
            backup = under(backup, 4);
        }
        if kind == 2 {
            backup.0.session_attribute = None;
        }
        change(&mut backup.0);
        send(&mut net, backup);
        let error = net.log.iter().find_map(|sent| match &sent.message {
            Message::PathErr(error) if sent.from == 1 => {
                Some((error.error_spec.code, error.error_spec.value))
            }
            _ => None,
        });
        assert_eq!(merged(&net), usize::from(error.is_none()), "{kind}: {error:?}");
        assert_eq!(blocks(&net), [Some(PortId(0))], "the LSP goes on");
        assert_eq!(net.sent(1, MessageType::PathErr), usize::from(error.is_some()));
        found.extend(error);
    }
    found
}

#[test]
fn what_is_wrong_with_the_path_of_a_backup_is_answered_as_with_any() {
    assert_eq!(answers(|_| {}), []);
    // RFC 3209, 4.2.4: the payload.
    let payload = (error_code::ROUTING, routing::UNSUPPORTED_L3PID);
    let wrong = |path: &mut Path| path.label_request = Some(LabelRequest::Generic { l3pid: 0x86dd });
    assert_eq!(answers(wrong), [payload; 3]);
    // RFC 3209, 4.4.4: a loop.
    let own = RroSubobject::Ipv4 { address: id(1), prefix_length: 32, flags: 0 };
    let wrong = |path: &mut Path| path.rro = Some(vec![own.clone()]);
    assert_eq!(answers(wrong), [(error_code::ROUTING, routing::LOOP); 3]);
    // RFC 2205, 3.10: a class that is not known and may not be left out.
    let unknown = Unknown { class: 100, c_type: 1, position: Unknown::LAST, data: vec![0; 4] };
    let wrong = |path: &mut Path| path.common.unknown.push(unknown.clone());
    assert_eq!(answers(wrong), [(error_code::UNKNOWN_CLASS, u16::from_be_bytes([100, 1])); 3]);
    // RFC 2205, B: a traffic description that makes no sense.
    let wrong = |path: &mut Path| path.sender_tspec.0.rate = -1.0;
    assert_eq!(answers(wrong), [(error_code::TRAFFIC_CONTROL, traffic_control::BAD_TSPEC); 3]);
}

/// RFC 4090, 7: around a failure the TTL need not be the one that the Path was sent with; else it must be.
#[test]
fn a_detour_does_not_pass_routers_without_rsvp() {
    for (is_detour, taken) in [(true, 0), (false, 1)] {
        let mut net = star();
        let lsp = of(&net, 0, &[1, 2, 3], None);
        send(&mut net, lsp);
        let avoids = Some((id(4), id(0))).filter(|_| is_detour);
        let (mut path, port, address) = under(of(&net, 4, &[1, 2, 3], avoids), 4);
        path.session_attribute = None;
        let mut bytes = Vec::new();
        Packet::new(64, Message::Path(path)).emit(&mut bytes).expect("a Path");
        net.inject_bytes(1, port, address, 63, &bytes);
        net.run(50);
        assert_eq!(merged(&net), taken);
        let refused = net.nodes[1].counters().errors_sent_of(error_code::ROUTING, routing::NON_RSVP_ROUTER);
        assert_eq!(refused, u64::from(is_detour));
    }
}
