//! A router of an LSP with several ends (RFC 6425): which requests it replies to, as what, and when.

use super::speaker::{ASKER, Node, OWN, leg, request};
use crate::inquiry::{Ends, Fec, FecMapping, GivenBy, Inquiry};
use crate::lsp_ping::section::LspPingSpec;
use base::plane::LabelUse;
use base::{Label, Span, Time};
use core::net::{IpAddr, Ipv4Addr};
use wire::hex::Hex;
use wire::lsp_ping::{LspPing as Wire, Mapping, Place, RawTlv, Responder, Tlv};

/// The entry of label 20 with class 6, at the bottom, whose time to live is over.
const WORD: u32 = 20 << 12 | 6 << 9 | 1 << 8 | 1;
const LEAVES: [Ipv4Addr; 3] =
    [Ipv4Addr::new(192, 0, 2, 21), Ipv4Addr::new(192, 0, 2, 22), Ipv4Addr::new(192, 0, 2, 23)];

fn rsvp() -> Fec {
    Fec::RsvpP2mpIpv4 { p2mp_id: 1, tunnel_id: 1, extended_tunnel_id: 7, sender: ASKER, lsp_id: 1 }
}

fn ldp() -> Fec {
    Fec::LdpP2mp { root: ASKER.into(), opaque: Hex(vec![1, 0, 4, 0, 0, 0, 1]) }
}

fn way() -> Tlv {
    let place = Place::Ipv4Unnumbered { address: Ipv4Addr::new(224, 0, 0, 2), index: 0 };
    let (mtu, flags, parts) = (1500, 0, Vec::new());
    Tlv::DownstreamDetailedMapping(Mapping { mtu, flags, place, return_code: 0, return_subcode: 0, parts })
}

fn only(responder: Responder) -> Tlv {
    Tlv::P2mpResponder { responders: vec![responder] }
}

fn egress(address: Ipv4Addr) -> Tlv {
    only(Responder::Egress { address: address.into() })
}

fn node_of(address: Ipv4Addr) -> Tlv {
    only(Responder::Node { address: address.into() })
}

/// What both planes say of a router that has two ways on: two leaves are behind the first one, and one is behind the
/// other. It may be a leaf itself.
fn branch(
    is_leaf: bool,
    knows_ends: bool,
) -> impl FnOnce(&Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>) {
    move |_| {
        let legs = vec![leg(&[30]), base::plane::Leg { port: base::PortId(0), ..leg(&[31]) }];
        let behind = knows_ends.then(|| vec![LEAVES[..2].to_vec(), LEAVES[2..].to_vec()]);
        let ends = Ends { given: vec![Label::truncate(19), Label::truncate(20)], behind };
        let known = FecMapping::several(GivenBy::RsvpTe, ends, is_leaf, legs.clone());
        (vec![LabelUse::Copied { legs, here: is_leaf }], vec![Some(known)])
    }
}

/// What is replied: the return code, and the labels and codes of the ways on.
fn replied(node: &mut Node) -> Option<(u8, Vec<(u32, u8)>)> {
    let (_, reply) = node.reply()?;
    assert_eq!(reply.flags, 0, "RFC 6425, 3.4");
    let way = |tlv: &Tlv| match tlv {
        Tlv::DownstreamDetailedMapping(way) => Some((way.labels()?[0].label, way.return_code)),
        _ => None,
    };
    Some((reply.return_code, reply.tlvs.iter().filter_map(way).collect()))
}

/// A bud hears a request with these TLVs.
fn bud(fec: Fec, knows_ends: bool, more: Vec<Tlv>) -> Option<(u8, Vec<(u32, u8)>)> {
    ask(fec, more, branch(true, knows_ends))
}

fn ask(
    fec: Fec,
    more: Vec<Tlv>,
    found: impl FnOnce(&Inquiry) -> (Vec<LabelUse>, Vec<Option<FecMapping>>),
) -> Option<(u8, Vec<(u32, u8)>)> {
    let mut node = Node::new(&LspPingSpec::default());
    let tlvs = [vec![Tlv::TargetFecStack { fecs: vec![fec] }], more].concat();
    node.hear(&[WORD], &request(tlvs).write().expect("bytes"), found);
    let reply = replied(&mut node);
    assert_eq!(node.discards().is_empty(), reply.is_some(), "{:?}", node.discards());
    reply
}

/// RFC 6425, 4.2.1.3: the rules of a router that is an end, and has others behind it.
#[test]
fn a_bud_replies_as_what_it_is_asked() {
    let both = Some((3, vec![(30, 8), (31, 8)]));
    for fec in [rsvp(), ldp()] {
        assert_eq!(bud(fec.clone(), true, vec![]), Some((3, vec![])));
        assert_eq!(bud(fec.clone(), true, vec![way()]), both, "an end and a branch");
        assert_eq!(bud(fec.clone(), true, vec![way(), node_of(OWN)]), both);
        assert_eq!(bud(fec.clone(), true, vec![way(), node_of(Ipv4Addr::new(10, 0, 1, 1))]), both);
        assert_eq!(bud(fec, true, vec![way(), node_of(LEAVES[0])]), None);
    }
    assert_eq!(bud(rsvp(), true, vec![way(), egress(OWN)]), Some((3, vec![])), "an end alone");
    assert_eq!(bud(rsvp(), true, vec![egress(LEAVES[0])]), Some((8, vec![])), "one on the way");
    assert_eq!(bud(rsvp(), true, vec![way(), egress(LEAVES[1])]), Some((8, vec![(30, 0)])));
    assert_eq!(bud(rsvp(), true, vec![way(), egress(LEAVES[2])]), Some((8, vec![(31, 0)])));
    assert_eq!(bud(rsvp(), true, vec![way(), egress(Ipv4Addr::new(192, 0, 2, 99))]), None, "elsewhere");
    // 3.2.1: of LDP nobody knows who is behind him.
    assert_eq!(bud(ldp(), false, vec![way(), egress(LEAVES[0])]), None);
    assert_eq!(bud(ldp(), false, vec![way(), egress(OWN)]), None);
}

/// RFC 6425, 4.2.1.1.
#[test]
fn a_branch_tells_its_ways() {
    let branch = |more: Vec<Tlv>| ask(rsvp(), more, branch(false, true));
    assert_eq!(branch(vec![]), Some((8, vec![])));
    assert_eq!(branch(vec![way()]), Some((14, vec![(30, 8), (31, 8)])));
    assert_eq!(branch(vec![way(), egress(LEAVES[2])]), Some((8, vec![(31, 0)])));
}

/// RFC 6425, 4.2: a router finds out whether it is part of the LSP, and says so whoever is to reply. Its label may be
/// that of another LSP.
#[test]
fn a_router_that_is_not_part_of_the_lsp_says_so() {
    let unknown = |_: &Inquiry| (vec![LabelUse::Switched(vec![leg(&[30])])], vec![None]);
    assert_eq!(ask(rsvp(), vec![way()], unknown), Some((4, vec![])));
    assert_eq!(ask(ldp(), vec![way(), egress(LEAVES[0])], unknown), Some((4, vec![])));
    let other = |inquiry: &Inquiry| {
        let (uses, mut known) = branch(false, true)(inquiry);
        if let Some(ends) = known[0].as_mut().and_then(|known| known.ends.as_mut()) {
            ends.given = vec![Label::truncate(19)];
        }
        known[0].as_mut().expect("a mapping").given = Some(Label::truncate(19));
        (uses, known)
    };
    assert_eq!(ask(rsvp(), vec![way()], other), Some((10, vec![])));
    // The tables deliver what the protocol says goes on.
    let here = |inquiry: &Inquiry| (vec![LabelUse::Below], branch(false, true)(inquiry).1);
    assert_eq!(ask(rsvp(), vec![], here), Some((9, vec![])));
}

/// RFC 6425, 3.2: without a sub-TLV it is as if the TLV were not there, and of several the first counts. What is none
/// is malformed, or not understood.
#[test]
fn responders_are_read_as_they_are_meant() {
    let none = Tlv::P2mpResponder { responders: Vec::new() };
    assert_eq!(bud(rsvp(), true, vec![none]), Some((3, vec![])));
    let address = IpAddr::V4(OWN);
    let several = vec![
        Responder::Node { address },
        Responder::Egress { address: LEAVES[0].into() },
        Responder::Other { kind: 9, value: Hex(vec![1]) },
    ];
    assert_eq!(bud(rsvp(), true, vec![Tlv::P2mpResponder { responders: several }]), Some((3, vec![])));
    for (kind, code) in [(1, 1), (4, 1), (5, 2), (0x8005, 3)] {
        let other = only(Responder::Other { kind, value: Hex(vec![1, 2, 3]) });
        assert_eq!(bud(rsvp(), true, vec![other]).map(|(code, _)| code), Some(code), "sub-type {kind}");
    }
    // They mean nothing for an LSP with one end.
    let one = Fec::LdpIpv4 { prefix: OWN, length: 32 };
    let given = Some(Label::truncate(20));
    let end = |_: &Inquiry| (vec![LabelUse::Below], vec![Some(FecMapping::egress(GivenBy::Ldp, given))]);
    assert_eq!(ask(one, vec![egress(LEAVES[0])], end), Some((3, vec![])));
}

/// RFC 6425, 3.5: Downstream Mapping is ignored.
#[test]
fn the_mapping_of_old_is_ignored() {
    let old = Tlv::Other { kind: 2, value: Hex(vec![0; 16]) };
    assert_eq!(bud(rsvp(), true, vec![old.clone()]), Some((3, vec![])));
    let mut node = Node::new(&LspPingSpec::default());
    let one = Fec::LdpIpv4 { prefix: OWN, length: 32 };
    let tlvs = vec![Tlv::TargetFecStack { fecs: vec![one] }, old];
    node.hear(&[WORD], &request(tlvs).write().expect("bytes"), branch(true, true));
    let (_, reply) = node.reply().expect("a reply");
    let errored = vec![RawTlv { kind: 2, value: Hex(vec![0; 16]) }];
    assert_eq!((reply.return_code, &reply.tlvs[..]), (2, &[Tlv::ErroredTlvs { errored }][..]));
}

/// RFC 6425, 3.3 and 4.1.2: a reply waits for a random time, and says when the request came.
#[test]
fn replies_wait_for_a_random_time() {
    let mut waits = Vec::new();
    let mut node = Node::new(&LspPingSpec::default());
    for sequence in 0..40 {
        let tlvs = vec![Tlv::TargetFecStack { fecs: vec![rsvp()] }, Tlv::EchoJitter { jitter_ms: 800 }];
        let asked = Wire { sequence, ..request(tlvs) };
        let (came, stamp) = (node.now, super::super::ntp(node.now));
        node.hear(&[WORD], &asked.write().expect("bytes"), branch(true, true));
        assert!(node.reply().is_none(), "at once");
        node.now = node.due().expect("a reply that waits");
        assert!(node.now <= came + Span::from_ms(800), "too late");
        node.call(|ping, now, context| ping.handle_timeout(now, context));
        let (_, reply) = node.reply().expect("a reply");
        assert_eq!((reply.sequence, reply.received), (sequence, stamp));
        waits.push((node.now - came).0 as f64 / 8e11);
        node.now = Time(node.now.0 + 1_000_000_000_000);
    }
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    let least = waits.iter().copied().fold(1.0, f64::min);
    assert!((0.35..0.65).contains(&mean) && least < 0.15, "{waits:?}");
    assert_eq!(node.due(), None);
}
