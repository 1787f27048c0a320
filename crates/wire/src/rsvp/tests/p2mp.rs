//! Messages about point-to-multipoint LSPs: their lists of leaves, and compressed routes.

use super::super::sub_lsp::compress;
use super::super::*;
use super::messages::{ip, path, resv, v4};
use base::Label;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::net::IpAddr;

const FAMILY: SenderTemplate = SenderTemplate::P2mpLspTunnelIpv4 {
    sender: std::net::Ipv4Addr::new(10, 0, 0, 1),
    lsp_id: 5,
    subgroup_originator: std::net::Ipv4Addr::new(10, 0, 0, 1),
    subgroup_id: 9,
};

fn session() -> Session {
    Session::P2mpLspTunnelIpv4 { p2mp_id: 255, tunnel_id: 7, extended_tunnel_id: v4(1) }
}

/// Routers of figure 1 by their letters: A is 10.0.0.1.
fn route(letters: &str) -> Vec<EroHop> {
    letters.bytes().map(|letter| EroHop::strict(v4(letter - b'A' + 1))).collect()
}

fn leaf(letter: char, sero: Option<&str>) -> SubLsp {
    SubLsp { explicit_route: sero.map(route), ..SubLsp::of(ip(letter as u8 - b'A' + 1)) }
}

/// The six leaves of RFC 4875, figure 1, as one Path names them.
fn figure() -> (Vec<EroHop>, Vec<SubLsp>) {
    let full = ["BEDCF", "BEDGJN", "BEHKO", "BEHLP", "BEHIMQ", "BEHIMQR"];
    let routes: Vec<_> = full
        .iter()
        .map(|letters| (ip(letters.as_bytes()[letters.len() - 1] - b'A' + 1), route(letters)))
        .collect();
    compress(&routes).expect("one first hop")
}

fn p2mp_path(leaves: &[SubLsp]) -> Path {
    let (session, sender_template, ero) = (session(), FAMILY, Some(figure().0));
    let mut path = Path { session, sender_template, ero, ..path() };
    path.common.add_sub_lsps(leaves).expect("short");
    path
}

fn bytes(message: Message) -> Vec<u8> {
    let mut out = Vec::new();
    message.emit(0, 64, &mut out).expect("written");
    out
}

fn read(bytes: &[u8]) -> Message {
    Packet::parse(bytes).expect("read").message
}

fn p2mp_resv() -> Resv {
    let filter = Filter { filter_spec: FAMILY, label: Label::new(17), rro: Some(Vec::new()) };
    let flow = FlowDescriptor { filters: vec![filter], ..super::messages::flow(5) };
    let mut resv = Resv { session: session(), ..resv(Style::SharedExplicit, vec![flow]) };
    let recorded = Some(vec![RroSubobject::address(v4(3)), RroSubobject::label(Label::truncate(18))]);
    let leaves = [SubLsp::of(ip(6)), SubLsp { recorded_route: recorded, ..SubLsp::of(ip(14)) }];
    resv.common.add_sub_lsps(&leaves).expect("short");
    resv
}

fn p2mp_tear() -> PathTear {
    let mut tear = PathTear {
        common: Common::default(),
        session: session(),
        hop: RsvpHop { address: ip(1), lih: 0 },
        sender: Some(SenderDescriptor::of(FAMILY)),
    };
    tear.common.add_sub_lsps(&[SubLsp::of(ip(6)), SubLsp::of(ip(14))]).expect("short");
    tear
}

/// RFC 4875, 4.5: the example of the RFC, byte for byte there and back.
#[test]
fn routes_are_compressed_as_in_the_figure() {
    let (ero, leaves) = figure();
    let after = [('N', "DGJN"), ('O', "EHKO"), ('P', "HLP"), ('Q', "HIMQ"), ('R', "QR")];
    let mut expected = vec![leaf('F', None)];
    expected.extend(after.map(|(letter, sero)| leaf(letter, Some(sero))));
    assert_eq!((ero, &leaves), (route("BEDCF"), &expected));

    let written = bytes(Message::Path(p2mp_path(&leaves)));
    let message = read(&written);
    assert_eq!(message.common().expect("objects").sub_lsps(), Ok(expected));
    assert_eq!(bytes(message), written);
    let mut again = Vec::new();
    RawMessage::decode(&written).expect("read").encode(&mut again).expect("written");
    assert_eq!(again, written);
}

#[test]
fn routes_with_different_first_hops_need_a_path_each() {
    assert_eq!(compress(&[]), None);
    assert_eq!(compress(&[(ip(3), route("BC")), (ip(4), route("CD"))]), None);
    assert_eq!(compress(&[(ip(3), route("BC")), (ip(4), Vec::new())]), None);
}

/// A router that is reached in two ways is no branch node: a reader would find the other way to it.
#[test]
fn crossing_routes_are_written_from_where_they_part() {
    let routes = [(ip(5), route("BCE")), (ip(6), route("BDCF")), (ip(7), route("BDCG"))];
    let (_, leaves) = compress(&routes).expect("one first hop");
    assert_eq!(leaves[1], leaf('F', Some("BDCF")));
    assert_eq!(leaves[2], leaf('G', Some("DCG")));
}

#[test]
fn reservations_and_teardowns_name_their_leaves() {
    for message in [Message::Resv(p2mp_resv()), Message::PathTear(p2mp_tear())] {
        let again = read(&bytes(message.clone()));
        assert_eq!(
            again.common().expect("objects").sub_lsps(),
            message.common().expect("objects").sub_lsps()
        );
        let leaves = again.common().expect("objects").sub_lsps().expect("a list");
        assert_eq!(leaves.iter().map(|leaf| leaf.leaf).collect::<Vec<IpAddr>>(), [ip(6), ip(14)]);
    }
}

#[test]
fn a_summary_names_the_leaves() {
    let said = Message::Path(p2mp_path(&[leaf('F', None), leaf('N', Some("DGJN"))])).summary();
    let leaves = ", leaves 10.0.0.6, 10.0.0.14 via 10.0.0.4 10.0.0.7 10.0.0.10 10.0.0.14";
    assert!(
        said.contains("p2mp tunnel 10.0.0.1/7/255 lsp 10.0.0.1/5 sub-group 9") && said.contains(leaves),
        "{said}"
    );
}

/// RFC 4875, 5.1: a SERO of the first leaf MUST be ignored.
#[test]
fn a_secondary_route_of_the_first_leaf_is_ignored() {
    let leaves = [leaf('F', Some("DCF")), leaf('N', Some("DGJN"))];
    let read = read(&bytes(Message::Path(p2mp_path(&leaves))));
    let expected = vec![leaf('F', None), leaf('N', Some("DGJN"))];
    assert_eq!(read.common().expect("objects").sub_lsps(), Ok(expected));
}

#[test]
fn lists_that_cannot_be_read_are_refused() {
    let object =
        |class, c_type, data: &[u8]| Unknown { class, c_type, position: Unknown::LAST, data: data.to_vec() };
    let (s2l, sero, srro) =
        (class::S2L_SUB_LSP, class::SECONDARY_EXPLICIT_ROUTE, class::SECONDARY_RECORD_ROUTE);
    let leaf = || object(s2l, 1, &[10, 0, 0, 9]);
    let orphan = Reason::Invalid("a secondary route follows no S2L_SUB_LSP");
    let ends = Reason::Invalid("the object ends within a subobject");
    let cases = [
        (vec![object(s2l, 3, &[10, 0, 0, 9])], s2l, Reason::UnknownCType),
        (vec![object(s2l, 1, &[])], s2l, Reason::BodyLength { expected: 4, found: 0 }),
        (vec![object(s2l, 2, &[0; 12])], s2l, Reason::BodyLength { expected: 16, found: 12 }),
        (vec![object(sero, 2, &[])], sero, orphan),
        (vec![object(srro, 2, &[]), leaf()], srro, orphan),
        (vec![leaf(), object(sero, 2, &[1, 8, 10, 0])], sero, ends),
        (vec![leaf(), object(srro, 2, &[1, 8, 10, 0])], srro, ends),
    ];
    for (unknown, class, reason) in cases {
        let common = Common { unknown, ..Common::default() };
        let error = common.sub_lsps().expect_err("refused");
        assert_eq!((error.object.expect("an object").0, error.reason), (class, reason), "{common:?}");
    }
    // RFC 4873 has routes of the same classes, with another C-Type: they are no part of a list.
    let common = Common { unknown: vec![object(sero, 1, &[1, 2, 3, 4]), leaf()], ..Common::default() };
    assert_eq!(common.sub_lsps(), Ok(vec![SubLsp::of(ip(9))]));
}

#[test]
fn a_route_too_long_for_an_object_is_not_added() {
    let endless = SubLsp { explicit_route: Some(vec![EroHop::strict(v4(1)); 9000]), ..SubLsp::of(ip(9)) };
    let mut common = Common::default();
    let error = common.add_sub_lsps(&[SubLsp::of(ip(8)), endless]).expect_err("too long");
    assert_eq!((error.reason, common.unknown.len()), (Reason::TooLong, 0));
}

/// The whole routes, as a reader finds them: each branch node stands first in an earlier route.
fn expand(ero: &[EroHop], leaves: &[SubLsp]) -> Vec<Vec<EroHop>> {
    let mut routes: Vec<Vec<EroHop>> = vec![ero.to_vec()];
    for leaf in &leaves[1..] {
        let sero = leaf.explicit_route.as_ref().expect("a route");
        let way = routes.iter().find_map(|route| {
            let place = route.iter().position(|hop| hop == &sero[0])?;
            Some(&route[..place])
        });
        let whole = [way.expect("a branch node"), sero].concat();
        routes.push(whole);
    }
    routes
}

/// Class, C-Type and words of an object of a list, as they may come.
fn object() -> impl Strategy<Value = (u8, u8, Vec<[u8; 4]>)> {
    let class = prop_oneof![Just(50u8), Just(200), Just(201)];
    (class, 0u8..4, prop::collection::vec(any::<[u8; 4]>(), 0..6))
}

proptest! {
    /// Whatever the routes, trees or not: compressed, written, read and followed they are the same.
    #[test]
    fn compressed_routes_lead_the_same_way(ways in prop::collection::vec(prop::collection::vec(0u8..9, 0..6), 1..12)) {
        let routes: Vec<(IpAddr, Vec<EroHop>)> = ways
            .iter()
            .map(|way| {
                // A way passes no router twice, and all begin at 10.0.0.100.
                let once: BTreeMap<u8, usize> =
                    way.iter().enumerate().rev().map(|(place, &hop)| (hop, place)).collect();
                let kept = way.iter().enumerate().filter(|(place, hop)| once[*hop] == *place);
                let hops: Vec<u8> = std::iter::once(100).chain(kept.map(|(_, &hop)| hop)).collect();
                (ip(hops[hops.len() - 1]), hops.iter().map(|&hop| EroHop::strict(v4(hop))).collect())
            })
            .collect();
        let (ero, leaves) = compress(&routes).expect("one first hop");
        let message = read(&bytes(Message::Path(Path { ero: Some(ero), ..p2mp_path(&leaves) })));
        let Message::Path(path) = message else { panic!("not a Path") };
        let leaves = path.common.sub_lsps().expect("a list");
        prop_assert!(leaves.iter().map(|leaf| leaf.leaf).eq(routes.iter().map(|route| route.0)));
        let whole = expand(&path.ero.expect("a route"), &leaves);
        prop_assert_eq!(whole, routes.into_iter().map(|route| route.1).collect::<Vec<_>>());
    }

    /// No list makes the reader panic, and what it reads is written again as it was read.
    #[test]
    fn any_list_is_read_or_refused(objects in prop::collection::vec(object(), 0..8)) {
        let unknown = objects.into_iter().map(|(class, c_type, words)| Unknown {
            class, c_type, position: Unknown::LAST, data: words.concat(),
        });
        let common = Common { unknown: unknown.collect(), ..Common::default() };
        if let Ok(leaves) = common.sub_lsps() {
            let mut again = Common::default();
            again.add_sub_lsps(&leaves).expect("short");
            prop_assert_eq!(again.sub_lsps(), Ok(leaves));
        }
    }
}

/// RFC 4875, 4.5: secondary routes are found in whatever order they come, and one that begins nowhere is an error of
/// its leaf alone.
#[test]
fn routes_are_found_in_any_order() {
    let (ero, mut leaves) = figure();
    let full = ["BEDCF", "BEDGJN", "BEHKO", "BEHLP", "BEHIMQ", "BEHIMQR"].map(route);
    leaves[1..].reverse();
    let mut expected: Vec<_> = full.iter().cloned().map(Ok).collect();
    expected[1..].reverse();
    let found = |leaves: &[SubLsp], own: u8| -> Vec<_> {
        let is_self = |hop: &EroHop| hop.node == EroHop::strict(v4(own)).node;
        sub_lsp::expand(&ero, leaves, 64, is_self).into_iter().map(|(_, route)| route).collect()
    };
    assert_eq!(found(&leaves, 2), expected);
    // At E the rest of a route begins where it says that it does.
    assert_eq!(found(&[leaf('F', None), leaf('O', Some("EHKO"))], 5)[1], Ok(route("EHKO")));
    leaves.remove(1);
    leaves[2] = SubLsp { explicit_route: Some(route("ZP")), ..leaves[2].clone() };
    let found = found(&leaves, 2);
    assert_eq!(
        (found[2].clone(), found.iter().filter(|route| route.is_ok()).count()),
        (Err(sub_lsp::Orphan), 4)
    );
    assert_eq!(
        sub_lsp::expand(&ero, &[leaf('F', None), leaf('N', None)], 64, |_| false)[1].1,
        Ok(Vec::new())
    );
}

/// tshark reads each object of the three messages without complaint.
#[test]
fn tshark_reads_the_lists() {
    use std::process::Command;
    if !testing::available("tshark") {
        return;
    }
    let messages =
        [Message::Path(p2mp_path(&figure().1)), Message::Resv(p2mp_resv()), Message::PathTear(p2mp_tear())];
    let mut dump = String::new();
    for message in messages {
        let hex: Vec<String> = bytes(message).iter().map(|byte| format!("{byte:02x}")).collect();
        dump += &format!("000000 {}\n", hex.join(" "));
    }
    let base = std::env::temp_dir().join(format!("wire-p2mp-{}", std::process::id()));
    let (text, capture) = (base.with_extension("txt"), base.with_extension("pcap"));
    std::fs::write(&text, dump).expect("a file");
    let made =
        Command::new("text2pcap").args(["-q", "-F", "pcap", "-i", "46"]).args([&text, &capture]).output();
    let made = made.expect("text2pcap runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&capture).args(["-T", "fields", "-E", "separator=;"]);
    let leaf = "rsvp.s2l_sub_lsp.destination_ipv4_address";
    let group = "rsvp.template_filter.sub_group_id";
    for field in ["_ws.malformed", "_ws.expert.severity", "rsvp.msg", "rsvp.session.p2mp_id", group, leaf] {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark runs");
    let _ = (std::fs::remove_file(&text), std::fs::remove_file(&capture));
    let said = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<&str> = said.lines().collect();
    let all = "10.0.0.6,10.0.0.14,10.0.0.15,10.0.0.16,10.0.0.17,10.0.0.18";
    let expected = [("1", all), ("2", "10.0.0.6,10.0.0.14"), ("5", "10.0.0.6,10.0.0.14")];
    let expected = expected.map(|(kind, leaves)| format!(";;{kind};255;9;{leaves}"));
    assert_eq!(rows, expected, "{said}");
}

/// A short message can't say routes that are much longer than it is itself.
#[test]
fn routes_beyond_a_limit_are_errors_of_their_leaves() {
    let hop = |n: u32| EroHop::strict(std::net::Ipv4Addr::from(0x0a00_0000 + n));
    let leaf = |n: u8, route: Option<Vec<EroHop>>| SubLsp {
        explicit_route: route,
        ..SubLsp::of(std::net::Ipv4Addr::new(10, 255, 0, n).into())
    };
    let long: Vec<EroHop> = (1..8_000).map(hop).collect();
    let leaves = [
        leaf(1, None),
        leaf(2, Some(vec![hop(1), hop(2), hop(9)])),
        leaf(3, Some(long)),
        leaf(4, Some(vec![hop(9), hop(5)])),
    ];
    let routes = sub_lsp::expand(&[hop(0), hop(1)], &leaves, 4, |_| false);
    let lengths: Vec<_> = routes.into_iter().map(|(_, route)| route.map(|route| route.len()).ok()).collect();
    assert_eq!(lengths, [Some(2), Some(4), None, None]);
}
