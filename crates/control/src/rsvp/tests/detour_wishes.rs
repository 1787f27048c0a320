//! What an LSP wants of its detours (RFC 4090, 6.2): no more routers than so many, links of some colours, none of a
//! risk group of what may fail; and what becomes of a detour that nobody wants any more.

use super::Net;
use super::bus::{hops, id};
use super::detours::{AVAILABLE, BANDWIDTH, LADDER, NODE, asking, flags, ladder, last_detour, on};
use super::te::{know_link, know_link_as};
use crate::protocol::Change;
use crate::rsvp::command::{Command, PathRequest, TunnelId, TunnelSpec};
use crate::rsvp::{Event, ProtectionRequest};
use crate::services::te::Affinities;
use base::PortId;
use wire::rsvp::{
    Common, FastReroute, FlowDescriptor, Flowspec, Message, Object, Packet, Path, ResvTear, RsvpHop,
    SenderTemplate, Session, SessionAttribute, Style, Unknown, class,
};

/// The last Path that the head end of the ladder has sent.
fn last_path(net: &Net) -> Path {
    let sent = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Path(path) if sent.from == 0 => Some(path.clone()),
        _ => None,
    });
    sent.expect("a Path of the head end")
}

/// Router 1 gets that Path again, with something else in it.
fn changed(net: &mut Net, change: impl FnOnce(&mut Path)) {
    let mut path = last_path(net);
    change(&mut path);
    net.inject(1, PortId(0), on(0, 0), &Packet::new(path_ttl(net), Message::Path(path)));
    net.run(100);
}

/// With which TTL head ends send.
fn path_ttl(net: &Net) -> u8 {
    net.nodes[0].config().message_ttl
}

fn without_wish(path: &mut Path) {
    path.common.unknown.retain(|object| object.class != class::FAST_REROUTE);
    if let Some(attribute) = &mut path.session_attribute {
        attribute.flags &= !(SessionAttribute::LOCAL_PROTECTION
            | SessionAttribute::NODE_PROTECTION
            | SessionAttribute::BANDWIDTH_PROTECTION);
    }
}

/// FAST_REROUTE says something else.
fn asks(path: &mut Path, change: impl FnOnce(&mut FastReroute)) {
    let place = path.common.unknown.iter().position(|object| object.class == class::FAST_REROUTE);
    let object = &mut path.common.unknown[place.expect("FAST_REROUTE")];
    let Object::FastReroute(mut asked) = object.read() else { panic!("{object:?}") };
    change(&mut asked);
    *object = Unknown::of(&Object::FastReroute(asked)).expect("an object");
}

#[test]
fn a_detour_has_no_more_routers_than_it_may_have() {
    // From 1 to 3 or to 2 there is one router in between; 0 allows for none (RFC 4090, 4.1).
    for (hop_limit, has_one) in [(0, false), (1, true)] {
        let mut net = ladder();
        net.tunnel(0, asking(1, true, false));
        net.run(1_000);
        assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
        changed(&mut net, |path| asks(path, |asked| asked.hop_limit = hop_limit));
        net.run(2_000);
        assert_eq!(flags(&net, 0, 1), Some(if has_one { AVAILABLE | NODE } else { 0 }), "{hop_limit}");
    }
}

#[test]
fn a_detour_takes_links_of_the_colours_that_its_lsp_wants() {
    let red = |exclude_any: u32| Affinities { exclude_any, ..Affinities::default() };
    // One of the links around router 2 is red, and then one of those around the link, too.
    for (links, expected) in [(&[6][..], AVAILABLE), (&[6, 4], 0)] {
        let mut net = ladder();
        for link in links {
            know_link_as(&mut net, &LADDER, *link, true, |said| said.groups = 0b10);
        }
        let path = Some(Box::new(PathRequest { affinities: red(0b10), ..PathRequest::default() }));
        net.tunnel(0, TunnelSpec { path, ..asking(1, true, false) });
        net.tunnel(0, asking(2, true, false));
        net.run(2_000);
        assert_eq!(flags_of(&net, 1), Some(expected), "{links:?}");
        assert_eq!(flags_of(&net, 2), Some(AVAILABLE | NODE), "this one does not mind");
    }
}

/// The flags of router 1 in the recorded route of a tunnel of the head end.
fn flags_of(net: &Net, tunnel: u16) -> Option<u8> {
    let mut net_log = net.log.iter().rev().filter(|sent| sent.from == 1);
    let rro = net_log.find_map(|sent| match &sent.message {
        Message::Resv(resv) => match resv.session {
            Session::LspTunnelIpv4 { tunnel_id, .. }
                if tunnel_id == tunnel && resv.hop.address == on(0, 1) =>
            {
                resv.flow_descriptors[0].filters[0].rro.clone()
            }
            _ => None,
        },
        _ => None,
    })?;
    rro.iter().find_map(|entry| match *entry {
        wire::rsvp::RroSubobject::Ipv4 { address, flags, .. } if address == on(0, 1) => Some(flags),
        _ => None,
    })
}

#[test]
fn a_detour_shares_no_risk_with_the_link_that_it_leads_around() {
    for (group, expected) in [(8, AVAILABLE), (7, 0)] {
        let mut net = ladder();
        // There is no way but by router 5, whose link is in a group of the link to 2, or in another one.
        [6, 7].into_iter().for_each(|link| know_link(&mut net, &LADDER, link, false));
        know_link_as(&mut net, &LADDER, 1, true, |said| said.srlgs = vec![7]);
        know_link_as(&mut net, &LADDER, 4, true, |said| said.srlgs = vec![group]);
        net.tunnel(0, asking(1, false, false));
        net.run(2_000);
        assert_eq!(flags(&net, 0, 1), Some(expected), "group {group}");
        // Where there is another way, that is taken.
        [6, 7].into_iter().for_each(|link| know_link(&mut net, &LADDER, link, true));
        net.change(1, Change::Engineering { is_lost: false });
        net.run(40_000);
        assert_eq!(flags(&net, 0, 1).map(|flags| flags & AVAILABLE), Some(AVAILABLE));
        net.link(1, 2, false);
        let around = if group == 7 { vec![0, 1, 6, 3, 4] } else { vec![0, 1, 5, 2, 3, 4] };
        assert_eq!(net.trace(0, 1), Some(around));
    }
}

#[test]
fn a_detour_goes_with_the_wish_for_it() {
    let mut net = ladder();
    net.tunnel(0, asking(1, true, false));
    net.run(1_000);
    assert_eq!((net.nodes[1].audit().detours, net.nodes[6].lsps().count()), (1, 1));
    let to_2 = |net: &Net| {
        net.tables[1]
            .ilm
            .values()
            .filter(
                |nhlfe| matches!(nhlfe.next_hop, base::plane::NextHop::Via { port, .. } if port == PortId(1)),
            )
            .count()
    };
    assert_eq!(to_2(&net), 1);
    changed(&mut net, without_wish);
    assert_eq!(net.nodes[1].audit().detours, 0);
    // Router 2 does not hear of the wish any more, either.
    assert_eq!((net.nodes[2].audit().detours, net.nodes[6].lsps().count()), (0, 0));
    assert_eq!((flags(&net, 0, 1), to_2(&net)), (Some(0), 1));
    assert_eq!(net.trace(0, 1), Some(vec![0, 1, 2, 3, 4]));
    // The next Path of the head end asks again.
    net.run(60_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    // Whoever wants a bypass has no detour.
    changed(&mut net, |path| asks(path, |asked| asked.flags = FastReroute::FACILITY));
    assert_eq!((net.nodes[1].audit().detours, flags(&net, 0, 1)), (0, Some(0)));
    net.run(60_000);
    net.command(0, Command::TunnelRemove(TunnelId { to: id(4), id: 1 }));
    net.run(400_000);
    net.assert_clean();
}

/// RFC 4090, 4.4: the flag is clear where the detour has reserved less than was asked for.
#[test]
fn bandwidth_is_promised_only_as_far_as_it_is_reserved() {
    let mut net = ladder();
    net.tunnel(0, asking(1, true, true));
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE | BANDWIDTH));
    // What router 6 has said of the detour that begins at router 1, for less.
    let own = SenderTemplate::LspTunnelIpv4 { sender: on(6, 1), lsp_id: 1 };
    let answer = net.log.iter().rev().find_map(|sent| match &sent.message {
        Message::Resv(resv) if sent.from == 6 => {
            let mut filters = resv.flow_descriptors.iter().flat_map(|one| &one.filters);
            Some((resv.clone(), filters.find(|filter| filter.filter_spec == own)?.clone()))
        }
        _ => None,
    });
    let (mut less, filter) = answer.expect("a Resv of the detour");
    let flowspec = Flowspec::ControlledLoad(super::messages::bucket(5));
    less.flow_descriptors = vec![FlowDescriptor { flowspec, filters: vec![filter] }];
    net.inject(1, PortId(3), on(6, 6), &Packet::new(64, Message::Resv(less)));
    // Told at once, and what is shown says the same.
    net.run(10);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    let (_, lsp) = net.nodes[1].store.iter().find(|(_, lsp)| lsp.has_detour()).expect("the LSP");
    assert_eq!(net.nodes[1].lacks(lsp), Some("the detour has no bandwidth for it"));
    // Until the next Resv of router 6, router 1 says so.
    net.lose = Some(Box::new(|from, message| from == 6 && matches!(message, Message::Resv(_))));
    net.run(50_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
}

/// RFC 4090, 6.3.2: what took a detour because its reservation was torn down does not blame the link that is there.
#[test]
fn a_detour_that_is_lost_after_a_tear_does_not_blame_the_link() {
    let mut net = ladder();
    let own = TunnelSpec { routes: vec![hops(&[2, 3, 4])], retry_limit: Some(0), ..asking(1, false, false) };
    net.tunnel(1, own);
    net.run(1_000);
    let session = Session::LspTunnelIpv4 { end_point: id(4), tunnel_id: 1, extended_tunnel_id: id(1) };
    let torn = Message::ResvTear(ResvTear {
        common: Common::default(),
        session,
        hop: RsvpHop { address: on(1, 2).into(), lih: 1 },
        scope: None,
        style: Style::SharedExplicit,
        filters: vec![SenderTemplate::LspTunnelIpv4 { sender: id(1), lsp_id: 1 }],
    });
    net.inject(1, PortId(1), on(1, 2), &Packet::new(64, torn));
    assert_eq!(net.trace(1, 1), Some(vec![1, 6, 3, 4]));
    assert!(last_detour(&net, 1).session == session);
    net.link(1, 6, false);
    net.run(100);
    let down = net.events.iter().find_map(|(node, event)| match event {
        Event::LspDown { reason, .. } if *node == 1 => Some(reason.clone()),
        _ => None,
    });
    assert_eq!(down.as_deref(), Some("the reservation was torn down"));
}

/// Whoever asks for a detour after a bypass was its backup has that alone.
#[test]
fn a_wish_may_change_from_one_way_to_the_other() {
    let mut net = ladder();
    let protection = Some(ProtectionRequest { node: true, bandwidth: false, one_to_one: false });
    net.tunnel(0, TunnelSpec { protection, ..asking(1, true, false) });
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(0), "nobody has made a bypass");
    changed(&mut net, |path| asks(path, |asked| asked.flags = FastReroute::ONE_TO_ONE));
    net.run(1_000);
    assert_eq!(flags(&net, 0, 1), Some(AVAILABLE | NODE));
    net.run(60_000);
    assert_eq!(net.nodes[1].audit().detours, 0, "the head end says what it wants with each Path");
}
