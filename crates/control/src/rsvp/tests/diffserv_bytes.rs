//! DIFFSERV objects as bytes that nobody should send, at a router of each kind (RFC 3270, 5.2 to 5.5; RFC 3140, 2).

use super::Net;
use super::diffserv::everywhere;
use super::messages::{first_address, packet, path};
use base::PortId;
use proptest::prelude::*;
use wire::rsvp::error_code::diffserv::{
    INVALID_MAPPING, UNEXPECTED_OBJECT, UNSUPPORTED_PHB, UNSUPPORTED_PSC,
};
use wire::rsvp::error_code::{DIFFSERV, UNKNOWN_C_TYPE, UNKNOWN_CLASS};
use wire::rsvp::{Message, Packet, SenderTemplate, Session};

/// A Path as node 0 would send it to node 1, with these objects at its end; no checksum (RFC 2205, 3.1.1).
fn with_objects(net: &Net, objects: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet(Message::Path(path(net, 3, &[1, 2, 3]))).emit(&mut bytes).expect("a Path");
    objects.iter().for_each(|object| bytes.extend_from_slice(object));
    let len = (bytes.len() as u16).to_be_bytes();
    bytes[2..4].fill(0);
    bytes[6..8].copy_from_slice(&len);
    bytes
}

/// An object with this C-Type and body.
fn object(c_type: u8, body: &[u8]) -> Vec<u8> {
    let len = (4 + body.len() as u16).to_be_bytes();
    [&[len[0], len[1], 65, c_type], body].concat()
}

/// What node 1 made of a Path.
#[derive(Debug, PartialEq)]
enum Answer {
    /// It went on, with this object in bytes.
    Onward(Option<Vec<u8>>),
    Error(u8, u16),
    /// It went no further, and nobody got an error.
    Dropped,
}

fn answer(supports: bool, objects: &[&[u8]]) -> Answer {
    let mut net = Net::with(4, &[(0, 1), (1, 2), (2, 3)], |n, config| {
        if supports {
            everywhere(n, config);
        }
    });
    let bytes = with_objects(&net, objects);
    let from = first_address(&net, 0);
    net.inject_bytes(1, PortId(0), from, 64, &bytes);
    net.run(1);
    let sent = net.log.iter().find(|sent| sent.from == 1).map(|sent| sent.message.clone());
    match sent {
        Some(Message::PathErr(error)) => Answer::Error(error.error_spec.code, error.error_spec.value),
        Some(Message::Path(path)) => {
            assert!(path.common.unknown.is_empty());
            let mut bytes = Vec::new();
            let without = wire::rsvp::Path { diffserv: None, ..path.clone() };
            let mut plain = Vec::new();
            packet(Message::Path(path.clone())).emit(&mut bytes).expect("a Path");
            packet(Message::Path(without)).emit(&mut plain).expect("a Path");
            let mut len = bytes.len() - plain.len();
            if path.diffserv.is_none() {
                len = 0;
            }
            let found = bytes.windows(4).position(|w| len > 0 && w[..3] == [0, len as u8, 65]);
            Answer::Onward(found.map(|at| bytes[at..at + len].to_vec()))
        }
        Some(other) => panic!("{other:?}"),
        None => Answer::Dropped,
    }
}

fn error(value: u16) -> Answer {
    Answer::Error(DIFFSERV, value)
}

/// A DIFFSERV object of C-Type 1 with MAPnb `count`, which need not be the number of entries.
fn map(count: u8, entries: &[(u8, u16)]) -> Vec<u8> {
    let entry = |(tc, phb): &(u8, u16)| [0, *tc, phb.to_be_bytes()[0], phb.to_be_bytes()[1]];
    let all = entries.iter().flat_map(entry);
    object(1, &[0, 0, 0, count].into_iter().chain(all).collect::<Vec<u8>>())
}

#[test]
fn every_fault_has_its_code() {
    let ef = 0xb800;
    let nine: Vec<(u8, u16)> = (0..9).map(|n| (n & 7, ef)).collect();
    let fifteen: Vec<(u8, u16)> = (0..15).map(|n| (n & 7, ef)).collect();
    let cases: Vec<(&str, Vec<u8>, Answer)> = vec![
        ("more entries than MAPnb", map(0, &[(1, ef)]), error(INVALID_MAPPING)),
        ("fewer entries than MAPnb", map(3, &[(1, ef), (2, ef)]), error(INVALID_MAPPING)),
        ("MAPnb 8 without entries", map(8, &[]), error(INVALID_MAPPING)),
        ("MAPnb 9", map(9, &nine), error(INVALID_MAPPING)),
        ("MAPnb 15", map(15, &fifteen), error(INVALID_MAPPING)),
        ("MAPnb 9 without entries", map(9, &[]), error(INVALID_MAPPING)),
        ("no MAPnb", object(1, &[]), error(INVALID_MAPPING)),
        ("a TC twice, with the same", map(2, &[(3, ef), (3, ef)]), error(INVALID_MAPPING)),
        ("a TC twice, with another", map(2, &[(3, ef), (3, 0)]), error(INVALID_MAPPING)),
        ("bits of a standard PHBID", map(1, &[(0, 0xb804)]), error(INVALID_MAPPING)),
        ("a set in a mapping", map(1, &[(0, 0x2802)]), error(INVALID_MAPPING)),
        ("bits of another PHBID", map(1, &[(0, 0x1235)]), error(INVALID_MAPPING)),
        ("a PHB that is not standard", map(1, &[(0, 0x1231)]), error(UNSUPPORTED_PHB)),
        ("no class", object(2, &[]), error(UNSUPPORTED_PSC)),
        ("a class too long", object(2, &[0, 0, 0xb8, 0, 0, 0, 0, 0]), error(UNSUPPORTED_PSC)),
        ("a class that is not standard", object(2, &[0, 0, 0x12, 0x33]), error(UNSUPPORTED_PSC)),
        ("AF12 as if it were a class", object(2, &[0, 0, 0x30, 0x00]), error(UNSUPPORTED_PSC)),
        ("AF1 not by its lowest", object(2, &[0, 0, 0x30, 0x02]), error(UNSUPPORTED_PSC)),
        ("EF as if it were several", object(2, &[0, 0, 0xb8, 0x02]), error(UNSUPPORTED_PSC)),
        ("C-Type 0", object(0, &[0, 0, 0, 0]), Answer::Error(UNKNOWN_C_TYPE, 0x4100)),
        ("C-Type 3", object(3, &[0, 0, 0, 0]), Answer::Error(UNKNOWN_C_TYPE, 0x4103)),
    ];
    for (what, bytes, expected) in cases {
        assert_eq!(answer(true, &[&bytes]), expected, "{what}");
        let unknown = u16::from_be_bytes([65, bytes[3]]);
        assert_eq!(answer(false, &[&bytes]), Answer::Error(UNKNOWN_CLASS, unknown), "{what}");
    }
}

#[test]
fn bits_that_mean_nothing_are_ignored_and_not_sent_on() {
    // RFC 3270, 5.2: reserved fields are set to zero on transmission and ignored on receipt.
    let mapped = object(1, &[0xff, 0xff, 0xff, 0xf1, 0xff, 0xfd, 0xb8, 0]);
    assert_eq!(
        answer(true, &[&mapped]),
        Answer::Onward(Some(object(1, &[0, 0, 0, 1, 0, 5, 0xb8, 0]))),
        "TC 5 is EF"
    );
    let class = object(2, &[0xff, 0xff, 0x28, 0x02]);
    assert_eq!(answer(true, &[&class]), Answer::Onward(Some(object(2, &[0, 0, 0x28, 0x02]))));
    let empty = object(1, &[0xff, 0xff, 0xff, 0xf0]);
    assert_eq!(answer(true, &[&empty]), Answer::Onward(Some(object(1, &[0, 0, 0, 0]))));
    assert_eq!(answer(true, &[]), Answer::Onward(None));
    assert_eq!(answer(false, &[]), Answer::Onward(None));
}

#[test]
fn of_several_objects_the_first_decides_whatever_the_others_are() {
    let (good, bad) = (object(2, &[0, 0, 0xb8, 0]), map(9, &[]));
    let (odd, none) = (object(3, &[0; 4]), object(1, &[]));
    for second in [&good, &bad, &odd, &none] {
        assert_eq!(answer(true, &[&good, second]), Answer::Onward(Some(good.clone())));
        assert_eq!(answer(true, &[&bad, second]), error(INVALID_MAPPING));
        assert_eq!(answer(true, &[&none, second]), error(INVALID_MAPPING));
        assert_eq!(answer(true, &[&odd, second]), Answer::Error(UNKNOWN_C_TYPE, 0x4103));
    }
    assert_eq!(answer(true, &[&good, &bad, &odd]), Answer::Onward(Some(good)));
}

#[test]
fn lengths_that_lie_drop_the_message() {
    for len in [0u16, 2, 3, 5, 6, 7, 12, 400, 0xffff] {
        let mut bytes = object(2, &[0, 0, 0xb8, 0]);
        bytes[..2].copy_from_slice(&len.to_be_bytes());
        for supports in [false, true] {
            assert_eq!(answer(supports, &[&bytes]), Answer::Dropped, "length {len}");
        }
    }
}

#[test]
fn sessions_that_are_no_tunnels_get_unexpected_object() {
    let net = Net::with(4, &[(0, 1), (1, 2), (2, 3)], everywhere);
    let good = object(2, &[0, 0, 0xb8, 0]);
    let mut sent = Packet::parse(&with_objects(&net, &[&good])).expect("a Path");
    let Message::Path(path) = &mut sent.message else { panic!("a Path") };
    let (to, from) = (super::bus::id(3), super::bus::id(0));
    path.session = Session::Ipv4 { destination: to, protocol: 17, flags: 0, port: 9 };
    path.sender_template = SenderTemplate::Ipv4 { source: from, port: 9 };
    let mut net = net;
    let src = first_address(&net, 0);
    net.inject(1, PortId(0), src, &sent);
    net.run(1);
    let errors: Vec<(u8, u16)> = net
        .log
        .iter()
        .filter_map(|sent| match &sent.message {
            Message::PathErr(error) => Some((error.error_spec.code, error.error_spec.value)),
            _ => None,
        })
        .collect();
    assert_eq!(errors, [(DIFFSERV, UNEXPECTED_OBJECT)]);
}

proptest! {
    #![proptest_config(testing::cases(300))]

    /// Whatever an object says, it goes on as it was understood, or is answered with a code of its own.
    #[test]
    fn any_object_goes_on_or_is_answered(c_type in 0u8..4, words in proptest::collection::vec(any::<u32>(), 0..12), count in 0u8..16) {
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        if let (1, Some(last)) = (c_type, body.get_mut(3)) {
            *last = *last & 0xf0 | count.min(words.len() as u8);
        }
        let bytes = object(c_type, &body);
        let found = answer(true, &[&bytes]);
        match found {
            Answer::Onward(Some(object)) => {
                prop_assert_eq!(object.len(), bytes.len());
                prop_assert_eq!(object[3], c_type);
                // What went on says the same once more.
                prop_assert_eq!(answer(true, &[&object]), Answer::Onward(Some(object)));
            }
            Answer::Error(DIFFSERV, value) => prop_assert!((2..=4).contains(&value)),
            Answer::Error(UNKNOWN_C_TYPE, value) => prop_assert_eq!(value, 0x4100 | u16::from(c_type)),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
