mod several;

use super::attributes::attribute as kinds;
use super::notification::Code;
use super::*;
use crate::hex::Hex;
use base::Label;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

const LONG: Terms = Terms { four_octet: true, is_internal: true, add_path: [false; 4], labels_max: [0; 4] };

fn terms() -> impl Strategy<Value = Terms> {
    let labels_max = [0..5u8, 0..5, 0..5, 0..5].prop_map(|all| all.map(|max| if max == 1 { 0 } else { max }));
    (any::<(bool, bool, [bool; 4])>(), labels_max).prop_map(
        |((four_octet, is_internal, add_path), labels_max)| Terms {
            four_octet,
            is_internal,
            add_path,
            labels_max,
        },
    )
}

fn nlri(family: Family, terms: Terms, is_withdrawn: bool) -> impl Strategy<Value = Nlri> {
    any::<(u128, u8, u32, [u32; Labels::MAX], u8)>().prop_map(move |(address, len, id, labels, count)| {
        let (bytes, numbers) = (address.to_be_bytes(), family.numbers());
        let prefix = if numbers.0 == 1 {
            let [a, b, c, d, ..] = bytes;
            IpPrefix::V4(Prefix::new(Ipv4Addr::new(a, b, c, d), len % 33))
        } else {
            IpPrefix::V6(Prefix6::new(Ipv6Addr::from(bytes), len % 129))
        };
        let labels = if numbers.1 == 4 && !is_withdrawn {
            let count = 1 + usize::from(count % terms.labels_max[family.place()].max(1));
            Labels::new(&labels.map(Label::truncate)[..count]).expect("labels")
        } else {
            Labels::NONE
        };
        Nlri { prefix, path_id: terms.add_path[family.place()].then_some(id), labels }
    })
}

fn addresses() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

fn paths(most: u32) -> impl Strategy<Value = AsPath> {
    let segment = (any::<bool>(), vec(0..=most, 1..6))
        .prop_map(|(is_set, all)| if is_set { Segment::Set(all) } else { Segment::Sequence(all) });
    vec(segment, 0..4).prop_map(AsPath)
}

fn attributes(terms: Terms) -> impl Strategy<Value = Attributes> {
    let most = if terms.four_octet { u32::MAX } else { 0xffff };
    let aggregator =
        move |most| (0..=most, addresses()).prop_map(|(asn, address)| Aggregator { asn, address });
    let first = (
        (0..3u8).prop_map(|number| Origin::of(number).expect("an origin")),
        paths(most),
        addresses(),
        of(any::<u32>()),
        of(any::<u32>()),
        any::<bool>(),
        of(aggregator(most)),
        vec(any::<u32>(), 0..4),
    );
    let unknown = (33..=255u8, any::<bool>(), vec(any::<u8>(), 0..300));
    let second = (
        of(addresses()),
        vec(addresses(), 0..4),
        vec(any::<[u8; 8]>(), 0..4),
        vec(any::<[u32; 3]>(), 0..4),
        of(paths(u32::MAX)),
        of(aggregator(u32::MAX)),
        of(unknown),
        any::<bool>(),
    );
    (first, second).prop_map(move |(first, second)| {
        let internal = terms.is_internal;
        let long = !terms.four_octet;
        Attributes {
            origin: Some(first.0),
            as_path: Some(first.1),
            next_hop: Some(first.2),
            med: first.3,
            local_pref: first.4.filter(|_| internal),
            atomic_aggregate: first.5,
            aggregator: first.6,
            partial: if second.7 && !first.7.is_empty() { 1 << kinds::COMMUNITIES } else { 0 },
            communities: first.7,
            originator: second.0.filter(|_| internal),
            cluster_list: if internal { second.1 } else { Vec::new() },
            extended_communities: second.2,
            large_communities: second.3,
            as4_path: second.4.filter(|path| long && !path.0.is_empty()),
            as4_aggregator: second.5.filter(|_| long),
            unknown: second
                .6
                .map(|(kind, is_transitive, value)| Unknown {
                    flags: if is_transitive { 0xe0 } else { 0x80 },
                    kind,
                    value: Hex(value),
                })
                .into_iter()
                .collect(),
        }
    })
}

fn updates(terms: Terms) -> impl Strategy<Value = Update> {
    let v6 = any::<(u128, Option<u128>)>().prop_map(|(global, link)| NextHop::V6 {
        global: Ipv6Addr::from_bits(global),
        link_local: link.map(Ipv6Addr::from_bits),
    });
    let reach = (0..4usize, addresses().prop_map(NextHop::V4), v6).prop_flat_map(move |(place, v4, v6)| {
        let family = Family::ALL[place];
        let next_hop = if family.numbers().0 == 1 { v4 } else { v6 };
        let all = vec(nlri(family, terms, false), 0..6);
        all.prop_map(move |nlri| Reach { family, next_hop, nlri })
    });
    let unreach = (0..4usize).prop_flat_map(move |place| {
        let family = Family::ALL[place];
        vec(nlri(family, terms, true), 0..6).prop_map(move |nlri| Unreach { family, nlri })
    });
    let v4 = || vec(nlri(Family::Ipv4, terms, false), 0..8);
    (v4(), attributes(terms), of(reach), of(unreach), v4()).prop_map(
        |(withdrawn, attributes, reach, unreach, nlri)| Update {
            withdrawn,
            attributes,
            reach,
            unreach,
            nlri,
            faults: Vec::new(),
        },
    )
}

fn capabilities() -> impl Strategy<Value = Capability> {
    let modes = [AddPathMode::Receive, AddPathMode::Send, AddPathMode::Both];
    prop_oneof![
        any::<(u16, u8)>().prop_map(|(afi, safi)| Capability::Multiprotocol { afi, safi }),
        Just(Capability::RouteRefresh),
        (1..=u32::MAX).prop_map(Capability::FourOctet),
        (0..16u8, 0..4096u16, vec(any::<(u16, u8, u8)>(), 0..4))
            .prop_map(|(flags, time_s, families)| Capability::GracefulRestart { flags, time_s, families }),
        vec(any::<(u16, u8, u8)>(), 0..4).prop_map(Capability::MultipleLabels),
        vec((any::<u16>(), any::<u8>(), prop::sample::select(modes.to_vec())), 0..4)
            .prop_map(Capability::AddPath),
        (70..=255u8, vec(any::<u8>(), 0..8))
            .prop_map(|(code, value)| Capability::Unknown { code, value: Hex(value) }),
    ]
}

fn messages() -> impl Strategy<Value = (Terms, Message)> {
    let open = (1..=u16::MAX, 3..=u16::MAX, 1..=u32::MAX, vec(capabilities(), 0..5));
    let open = open.prop_map(|(short_asn, hold_s, id, capabilities)| {
        Message::Open(Open { short_asn, hold_s, id: Ipv4Addr::from_bits(id), capabilities })
    });
    let why = (any::<(u8, u8)>(), vec(any::<u8>(), 0..30)).prop_map(|((code, subcode), data)| {
        Message::Notification(Notification { code, subcode, data: Hex(data) })
    });
    let refresh = any::<(u16, u8)>().prop_map(|(afi, safi)| Message::RouteRefresh(Refresh { afi, safi }));
    prop_oneof![
        (terms(), prop_oneof![open, why, refresh, Just(Message::KeepAlive)]),
        terms().prop_flat_map(|terms| (
            Just(terms),
            updates(terms).prop_map(|one| Message::Update(Box::new(one)))
        )),
    ]
}

proptest! {
    #[test]
    fn messages_are_read_and_written((terms, message) in messages()) {
        let bytes = message.emit(&terms).expect("a short message");
        prop_assert_eq!(message_len(&bytes), Some(bytes.len()));
        prop_assert_eq!(message_len(&bytes[..bytes.len() - 1]), None);
        prop_assert_eq!(Message::parse(&bytes, &terms), Ok(message));
    }

    /// Whatever bytes change, the decoder says something; what it takes it writes to something that says the same.
    #[test]
    fn nothing_panics((terms, message) in messages(), cuts in vec((19..4096usize, any::<u8>()), 0..6)) {
        let mut bytes = message.emit(&terms).expect("a short message");
        for (at, byte) in cuts {
            let len = bytes.len();
            bytes[at % len] = byte;
        }
        let _ = message_len(&bytes);
        if let Ok(mut read) = Message::parse(&bytes, &terms) {
            if let Message::Update(update) = &mut read {
                update.faults.clear();
            }
            if let Ok(again) = read.emit(&terms) {
                let again = Message::parse(&again, &terms);
                // Without what was discarded, something mandatory may be missing; what is there is the same.
                if let (Ok(Message::Update(mut again)), Message::Update(read)) = (again, &read) {
                    again.faults.clear();
                    prop_assert_eq!(&again, read);
                }
            }
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(kind in 0..7u8, terms in terms(), body in vec(any::<u8>(), 0..200)) {
        let mut bytes = vec![0xff; 16];
        bytes.extend((19 + body.len() as u16).to_be_bytes());
        bytes.push(kind);
        bytes.extend(body);
        let _ = Message::parse(&bytes, &terms);
    }

    /// What comes through a speaker of two octets is what was sent (RFC 6793, 4.2).
    #[test]
    fn long_numbers_pass_short_speakers(path in paths(u32::MAX), before in vec(1..=0xffffu32, 0..4)) {
        let old = AsPath(path.0.iter().map(|segment| {
            let short = |all: &[u32]| all.iter().map(|asn| (*asn).min(u32::from(AS_TRANS))).collect();
            match segment {
                Segment::Set(all) => Segment::Set(short(all)),
                Segment::Sequence(all) => Segment::Sequence(short(all)),
            }
        }).collect());
        let ahead = |path: &AsPath| before.iter().rev().fold(path.clone(), |path, asn| path.prepended(*asn, 1));
        let (all, expected) = (ahead(&old).merged(&path), ahead(&path));
        let numbers = |path: &AsPath| path.0.iter().flat_map(|segment| segment.numbers().to_vec()).collect::<Vec<_>>();
        prop_assert_eq!(numbers(&all), numbers(&expected));
        prop_assert_eq!(all.steps(), expected.steps());
    }
}

fn update(withdrawn: &[u8], attributes: &[u8], nlri: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0xff; 16];
    bytes.extend([0, 0, kind::UPDATE]);
    bytes.extend((withdrawn.len() as u16).to_be_bytes());
    bytes.extend(withdrawn);
    bytes.extend((attributes.len() as u16).to_be_bytes());
    bytes.extend(attributes);
    bytes.extend(nlri);
    let len = bytes.len() as u16;
    bytes[16..18].copy_from_slice(&len.to_be_bytes());
    bytes
}

const ORIGIN: &[u8] = &[0x40, 1, 1, 0];
const PATH: &[u8] = &[0x40, 2, 6, 2, 1, 0, 0, 0xfd, 0xe9];
const NEXT: &[u8] = &[0x40, 3, 4, 10, 0, 0, 1];
const TEN: &[u8] = &[8, 10];

#[test]
fn messages_have_the_bytes_of_the_rfc() {
    let open = Open::new(70_000, 90, Ipv4Addr::new(10, 0, 0, 1), vec![Capability::RouteRefresh]);
    let bytes = Message::Open(open.clone()).emit(&LONG).expect("an OPEN");
    let expected =
        [0, 41, 1, 4, 0x5b, 0xa0, 0, 90, 10, 0, 0, 1, 12, 2, 2, 2, 0, 2, 6, 65, 4, 0, 1, 0x11, 0x70];
    assert_eq!((&bytes[..16], &bytes[16..]), (&[0xff; 16][..], &expected[..]));
    assert_eq!((open.asn(), open.has_four_octets()), (70_000, true));
    let attributes = Attributes {
        origin: Some(Origin::Igp),
        as_path: Some(AsPath(vec![Segment::Sequence(vec![65_001])])),
        next_hop: Some(Ipv4Addr::new(10, 0, 0, 1)),
        ..Attributes::default()
    };
    let ten = Nlri::new(IpPrefix::V4(Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8)));
    let told = Update { attributes, nlri: vec![ten], ..Update::default() };
    let expected = update(&[], &[ORIGIN, PATH, NEXT].concat(), TEN);
    assert_eq!(Message::Update(Box::new(told)).emit(&LONG), Ok(expected));
    let labels = Labels::one(Label::truncate(0x12345));
    let labelled = Update {
        reach: Some(Reach {
            family: Family::Ipv4Labelled,
            next_hop: NextHop::V4(Ipv4Addr::new(10, 0, 0, 1)),
            nlri: vec![Nlri { labels, ..ten }],
        }),
        ..Update::default()
    };
    let expected = [0x80, 14, 14, 0, 1, 4, 4, 10, 0, 0, 1, 0, 32, 0x12, 0x34, 0x51, 10];
    assert_eq!(Message::Update(Box::new(labelled)).emit(&LONG), Ok(update(&[], &expected, &[])));
    let end = Message::parse(&update(&[], &[], &[]), &LONG);
    assert!(matches!(end, Ok(Message::Update(update)) if update.end_of_rib() == Some(Family::Ipv4)));
    let end = Message::parse(&update(&[], &[0x80, 15, 3, 0, 2, 1], &[]), &LONG);
    assert!(matches!(end, Ok(Message::Update(update)) if update.end_of_rib() == Some(Family::Ipv6)));
    let long = Update {
        nlri: vec![Nlri::new(IpPrefix::V4(Prefix::host(Ipv4Addr::LOCALHOST))); 900],
        ..Update::default()
    };
    assert!(Message::Update(Box::new(long)).emit(&LONG).is_err(), "longer than messages are");
}

/// RFC 6793, 6: neither ends a session nor withdraws a route.
#[test]
fn what_speakers_of_two_octets_add_is_left_out_where_it_is_malformed() {
    let short = Terms { four_octet: false, ..LONG };
    let all = [ORIGIN, &[0x40, 2, 4, 2, 1, 0xfd, 0xe9], NEXT].concat();
    let read = |more: &[u8]| match Message::parse(&update(&[], &[&all, more].concat(), TEN), &short) {
        Ok(Message::Update(update)) => (update.treatment(), update.attributes.as4_path),
        _ => unreachable!("an UPDATE"),
    };
    let nine = Some(AsPath(vec![Segment::Sequence(vec![9])]));
    assert_eq!(read(&[0xc0, 17, 6, 2, 1, 0, 0, 0, 9]), (None, nine.clone()));
    // A segment of a confederation is left out, and the rest stays.
    assert_eq!(read(&[0xc0, 17, 12, 3, 1, 0, 0, 0, 7, 2, 1, 0, 0, 0, 9]), (None, nine));
    let discarded = (Some(Treatment::AttributeDiscard), None);
    for path in [&[2, 1, 0, 0][..], &[2, 2, 0, 0, 0, 9], &[9, 1, 0, 0, 0, 9], &[2, 0, 2, 1, 0, 0, 0, 9]] {
        assert_eq!(read(&[&[0xc0, 17, path.len() as u8], path].concat()), discarded);
    }
    assert_eq!(read(&[0xc0, 18, 7, 0, 0, 0, 9, 10, 0, 0]), discarded);
}

/// RFC 4271, 9.2: a route that does not fit into a message is not told.
#[test]
fn a_route_that_is_longer_than_messages_is_not_told() {
    let ten = Nlri::new(IpPrefix::V4(Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8)));
    let room = MAX_LEN - HEADER_LEN - 4 - ten.buffer_len(Family::Ipv4);
    let count = |room: usize| pack::reached(Family::Ipv4, None, &vec![0; room], &[ten]).count();
    assert_eq!((count(room), count(room + 1)), (1, 0));
}

/// RFC 4271, 6.1 and 6.2: which NOTIFICATION answers what.
#[test]
fn headers_and_opens_that_are_malformed_have_their_notification() {
    let wrong = |change: &dyn Fn(&mut Vec<u8>)| {
        let open = Open::new(65_001, 90, Ipv4Addr::new(10, 0, 0, 1), vec![Capability::RouteRefresh]);
        let mut bytes = Message::Open(open).emit(&LONG).expect("an OPEN");
        change(&mut bytes);
        let found = Message::parse(&bytes, &LONG).expect_err("something malformed");
        (found.notification.known().expect("a known one"), found.notification.data.0)
    };
    assert_eq!(wrong(&|b| b[3] = 0), (Code::NotSynchronized, vec![]));
    assert_eq!(wrong(&|b| b[17] = 18), (Code::BadLength, vec![0, 18]));
    assert_eq!(wrong(&|b| b[18] = 4), (Code::BadLength, vec![0, 41]));
    assert_eq!(wrong(&|b| b[18] = 9), (Code::BadType, vec![9]));
    assert_eq!(wrong(&|b| b[19] = 3), (Code::BadVersion, vec![0, 4]));
    assert_eq!(wrong(&|b| b[23] = 2), (Code::BadHoldTime, vec![]));
    assert_eq!(wrong(&|b| b[24..28].fill(0)), (Code::BadIdentifier, vec![]));
    assert_eq!(wrong(&|b| b[28] = 11), (Code::Open, vec![]));
    assert_eq!(wrong(&|b| b[29] = 1), (Code::UnsupportedParameter, vec![]));
    assert_eq!(wrong(&|b| b[30] = 40), (Code::Open, vec![]));
    assert_eq!(wrong(&|b| b[36] = 3), (Code::Open, vec![]), "a capability of another length");
    assert_eq!(wrong(&|b| b[37..41].fill(0)), (Code::BadPeerAs, vec![]));
    for (place, code) in Code::ALL.iter().enumerate() {
        assert_eq!(Notification::new(*code).known(), Some(*code));
        assert!(!Code::ALL[..place].iter().any(|other| other.numbers() == code.numbers()));
    }
    assert_eq!(Notification { code: 9, subcode: 7, data: Hex(vec![]) }.words(), "error 9, subcode 7");
    assert_eq!(message_len(&[0; 19]), Some(19), "refused by itself");
}

/// RFC 7606: what is malformed in an UPDATE ends the session, withdraws its routes, or counts as absent.
#[test]
fn updates_that_are_malformed_are_treated_as_rfc_7606_says() {
    use Treatment::{AttributeDiscard as Discard, TreatAsWithdraw as Withdraw};
    let all = [ORIGIN, PATH, NEXT].concat();
    let with = |more: &[u8]| Message::parse(&update(&[], &[&all, more].concat(), TEN), &LONG);
    let treated = |read: Result<Message, Malformed>| match read {
        Ok(Message::Update(update)) => Ok(update.treatment()),
        Ok(_) => unreachable!("an UPDATE"),
        Err(malformed) => Err(malformed.notification.known().expect("a known one")),
    };
    let cases: &[(&[u8], Treatment, &str)] = &[
        (&[0xc0, 5, 4, 0, 0, 0, 1], Withdraw, "flags"),
        (&[0x40, 5, 3, 0, 0, 1], Withdraw, "local preference"),
        (&[0x80, 4, 3, 0, 0, 1], Withdraw, "discriminator"),
        (&[0x40, 6, 1, 0], Discard, "atomic aggregate"),
        (&[0xc0, 7, 6, 0, 1, 10, 0, 0, 1], Discard, "aggregator of two octets"),
        (&[0xc0, 8, 0], Withdraw, "no community"),
        (&[0xc0, 8, 5, 0, 0, 0, 1, 9], Withdraw, "communities"),
        (&[0x80, 9, 3, 0, 0, 1], Withdraw, "originator"),
        (&[0x80, 10, 0], Withdraw, "no cluster"),
        (&[0xc0, 16, 7, 0, 0, 0, 0, 0, 0, 0], Withdraw, "extended communities"),
        (&[0xc0, 32, 4, 0, 0, 0, 0], Withdraw, "large communities"),
        (&[0xc0, 17, 6, 2, 1, 0, 0, 0, 9], Discard, "AS4_PATH between speakers of four octets"),
        (&[0x80, 14, 9, 0, 99, 1, 4, 1, 2, 3, 4, 0], Discard, "a family that nobody knows"),
        (&[0x40, 1, 1, 1], Discard, "twice"),
        (&[0x80, 4, 9, 1], Withdraw, "behind all attributes"),
        (&[0x80, 4], Withdraw, "no room for an attribute"),
    ];
    for (more, treatment, what) in cases {
        assert_eq!(treated(with(more)), Ok(Some(*treatment)), "{what}");
    }
    assert_eq!(treated(with(&[])), Ok(None));
    assert_eq!(treated(with(&[0xc0, 99, 1, 7])), Ok(None), "not known, and passed on");
    // RFC 4271, 4.3: the lower four bits of flags say nothing, and are not passed on.
    let odd = with(&[0xcf, 99, 1, 7]);
    assert!(matches!(odd, Ok(Message::Update(update)) if update.attributes.unknown[0].flags == 0xc0));
    assert_eq!(treated(with(&[0xc7, 8, 4, 0, 0, 0, 1])), Ok(None));
    let external = Terms { is_internal: false, ..LONG };
    for kind in [kinds::LOCAL_PREF, kinds::ORIGINATOR_ID, kinds::CLUSTER_LIST] {
        let flags = kinds::flags(kind).expect("a known one");
        let bytes = update(&[], &[&all[..], &[flags, kind, 1, 0]].concat(), TEN);
        assert_eq!(treated(Message::parse(&bytes, &external)), Ok(Some(Discard)), "from outside");
    }
    // In place of a mandatory attribute that is there.
    let instead = |place: usize, one: &[u8]| {
        let mut parts = [ORIGIN, PATH, NEXT];
        parts[place] = one;
        treated(Message::parse(&update(&[], &parts.concat(), TEN), &LONG))
    };
    for place in 0..3 {
        assert_eq!(instead(place, &[]), Ok(Some(Withdraw)), "it is not there");
    }
    for origin in [&[0x40, 1, 1, 3][..], &[0x40, 1, 0], &[0x40, 1, 2, 0, 0]] {
        assert_eq!(instead(0, origin), Ok(Some(Withdraw)));
    }
    for path in [
        &[0x40, 2, 6, 7, 1, 0, 0, 0, 1][..],
        &[0x40, 2, 6, 2, 2, 0, 0, 0, 1],
        &[0x40, 2, 2, 2, 0],
        &[0x40, 2, 1, 2],
    ] {
        assert_eq!(instead(1, path), Ok(Some(Withdraw)));
    }
    assert_eq!(instead(1, &[0x40, 2, 0]), Ok(None), "an empty path");
    assert_eq!(instead(2, &[0x40, 3, 3, 1, 2, 3]), Ok(Some(Withdraw)));
    // RFC 7606, 3 h: of several errors the strongest treatment.
    let both = [&[0x40, 6, 1, 0][..], &[0x80, 4, 3, 0, 0, 1]].concat();
    assert_eq!(treated(with(&both)), Ok(Some(Withdraw)));
    // RFC 7606, 5.1: attributes in any order, and all four fields in one message.
    let mixed = [NEXT, &[0x80, 15, 3, 0, 2, 1], PATH, ORIGIN].concat();
    assert_eq!(treated(Message::parse(&update(TEN, &mixed, TEN), &LONG)), Ok(None));
    // What ends the session.
    assert_eq!(treated(with(&[0x40, 99, 0])), Err(Code::UnknownWellKnown));
    // RFC 7606, 3 j: destinations that end behind all attributes were not read.
    for kind in [kinds::MP_REACH_NLRI, kinds::MP_UNREACH_NLRI] {
        assert_eq!(treated(with(&[0x80, kind, 9, 0, 2, 1])), Err(Code::AttributeList));
    }
    // RFC 7606, 5.2: nor perhaps those behind the only attribute, which is too long.
    assert_eq!(treated(Message::parse(&update(&[], &[0x40, 1, 9, 0], &[]), &LONG)), Err(Code::AttributeList));
    assert_eq!(treated(with(&[0x80, 14, 4, 0, 2, 1, 0])), Err(Code::OptionalAttribute), "too short");
    assert_eq!(
        treated(with(&[0x80, 14, 9, 0, 2, 1, 4, 1, 2, 3, 4, 0])),
        Err(Code::OptionalAttribute),
        "next hop"
    );
    assert_eq!(
        treated(with(&[0x80, 15, 4, 0, 1, 1, 33])),
        Err(Code::OptionalAttribute),
        "length of a prefix"
    );
    assert_eq!(treated(with(&[0xc0, 15, 3, 0, 2, 1])), Err(Code::AttributeFlags));
    let twice = [0x80, 15, 3, 0, 2, 1, 0x80, 15, 3, 0, 2, 1];
    assert_eq!(treated(with(&twice)), Err(Code::AttributeList));
    for networks in [&[33, 1, 2, 3, 4, 5][..], &[24, 10, 0], &[8]] {
        assert_eq!(treated(Message::parse(&update(&[], &all, networks), &LONG)), Err(Code::InvalidNetwork));
        assert_eq!(treated(Message::parse(&update(networks, &[], &[]), &LONG)), Err(Code::InvalidNetwork));
    }
    // RFC 7606, 5.2: an error where no destination is told ends the session, a discard does not.
    let bare = |attributes: &[u8]| treated(Message::parse(&update(TEN, attributes, &[]), &LONG));
    assert_eq!(bare(&[0x40, 1, 1, 3]), Err(Code::InvalidOrigin));
    assert_eq!(bare(&[0x40, 6, 1, 0]), Ok(Some(Discard)));
    let mut short = update(&[], &all, &[]);
    short[22] = 99;
    assert_eq!(treated(Message::parse(&short, &LONG)), Err(Code::AttributeList));
}
