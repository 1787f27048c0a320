//! Rules: order, absence, repetition, unknown objects, styles, errors and their answers, integrity.

use super::super::header::checksum;
use super::super::*;
use super::hex;
use super::messages::{flow, ip, path, resv, samples, sender, session, v4};

fn emitted(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.emit(0, 64, &mut bytes).unwrap();
    bytes
}

/// The message with its objects changed by `edit`.
fn edited(message: &Message, edit: impl FnOnce(&mut Vec<Object>)) -> Vec<u8> {
    let mut raw = RawMessage::decode(&emitted(message)).unwrap();
    if let RawBody::Objects(objects) = &mut raw.body {
        edit(objects);
    }
    let mut bytes = Vec::new();
    raw.encode(&mut bytes).unwrap();
    bytes
}

fn opaque(class: u8, c_type: u8, bytes: &[u8]) -> Object {
    Object::Opaque(Opaque { class, c_type, bytes: bytes.to_vec(), fault: None, reads_as: None })
}

fn parse(bytes: &[u8]) -> Result<Message, Error> {
    Packet::parse(bytes).map(|packet| packet.message)
}

#[test]
fn objects_of_a_path_come_in_any_order() {
    let message = Message::Path(path());
    let bytes = edited(&message, |objects| objects.reverse());
    assert_eq!(parse(&bytes), Ok(message));
}

#[test]
fn what_a_message_needs_is_named_when_missing() {
    let needed = [
        (class::SESSION, "SESSION"),
        (class::RSVP_HOP, "RSVP_HOP"),
        (class::TIME_VALUES, "TIME_VALUES"),
        (class::SENDER_TEMPLATE, "SENDER_TEMPLATE"),
        (class::SENDER_TSPEC, "SENDER_TSPEC"),
    ];
    for (number, name) in needed {
        let mut length = 0;
        let bytes = edited(&Message::Path(path()), |objects| {
            let has = |object: &Object| {
                let mut bytes = Vec::new();
                object.emit(&mut bytes).unwrap();
                bytes[2] == number
            };
            objects.retain(|object| !has(object));
            length = objects.len();
        });
        let error = parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), format!("rsvp: {name}: missing (at byte {})", bytes.len()));
        assert_eq!(error.answer(), None);
    }
}

#[test]
fn a_second_session_is_an_error_and_a_second_route_is_left_out() {
    let extra = Object::Session(session());
    let bytes = edited(&Message::Path(path()), |objects| objects.push(extra));
    assert_eq!(parse(&bytes).unwrap_err().reason, Reason::Duplicate);
    let extra = Object::ExplicitRoute(vec![EroHop::strict(v4(9))]);
    let bytes = edited(&Message::Path(path()), |objects| objects.push(extra));
    assert_eq!(parse(&bytes), Ok(Message::Path(path())));
}

#[test]
fn unknown_objects_stay_where_they_were() {
    let message = Message::Path(path());
    let bytes = edited(&message, |objects| {
        objects.insert(2, opaque(0x7f, 1, &[0; 4]));
        objects.insert(5, opaque(0xbf, 1, &[1; 8]));
        objects.push(opaque(0xff, 2, &[]));
    });
    let parsed = parse(&bytes).unwrap();
    assert_eq!(emitted(&parsed), bytes);
    let common = parsed.common().unwrap();
    let actions: Vec<UnknownAction> = common.unknown.iter().map(Unknown::action).collect();
    assert_eq!(actions, [UnknownAction::Reject, UnknownAction::Ignore, UnknownAction::Forward]);
    assert_eq!(common.rejection(), Some((error_code::UNKNOWN_CLASS, 0x7f01)));
    assert_eq!(common.forwarded().map(|unknown| unknown.class).collect::<Vec<_>>(), [0xff]);
}

/// RFC 2961, 4.1: acknowledgements and MESSAGE_ID follow the header or INTEGRITY, whatever came before them.
#[test]
fn unknown_objects_do_not_come_before_those_that_are_first() {
    for place in 0..2 {
        let bytes = edited(&Message::Path(path()), |objects| objects.insert(place, opaque(0xff, 1, &[7; 4])));
        let mut parsed = parse(&bytes).unwrap();
        for signed in [false, true] {
            if let Some(common) = parsed.common_mut().filter(|_| signed) {
                common.integrity = Some(Integrity::new(KeyId([1; 6]), 5));
            }
            let classes: Vec<u8> =
                header::Objects::of(&emitted(&parsed)).map(|object| object.unwrap().class).collect();
            let first: &[u8] = if signed { &[class::INTEGRITY] } else { &[] };
            let then = [class::MESSAGE_ID_ACK, class::MESSAGE_ID, 0xff, class::SESSION];
            assert!(classes.starts_with(&[first, &then].concat()), "{place}: {classes:?}");
        }
    }
}

#[test]
fn the_two_high_bits_decide() {
    assert_eq!(unknown_action(0b0111_1111), UnknownAction::Reject);
    assert_eq!(unknown_action(0b1011_1111), UnknownAction::Ignore);
    assert_eq!(unknown_action(0b1100_0000), UnknownAction::Forward);
}

#[test]
fn an_unknown_c_type_rejects_the_message() {
    let bytes =
        edited(&Message::Path(path()), |objects| objects.push(opaque(class::SESSION_ATTRIBUTE, 9, &[0; 4])));
    let parsed = parse(&bytes).unwrap();
    assert_eq!(parsed.common().unwrap().rejection(), Some((error_code::UNKNOWN_C_TYPE, 0xcf09)));
    // Where the object is needed, the message cannot be read at all.
    let bytes = edited(&Message::Path(path()), |objects| {
        objects.retain(|object| !matches!(object, Object::SenderTspec(_)));
        objects.push(opaque(class::SENDER_TSPEC, 9, &[0; 4]));
    });
    let error = parse(&bytes).unwrap_err();
    assert_eq!(error.answer(), Some((error_code::UNKNOWN_C_TYPE, 0x0c09)));
    // No answer without a sender descriptor's TSPEC, but with its template.
    let reply = Reply::to(&bytes, &error, ip(2)).unwrap();
    assert_eq!(reply.to, path().hop);
    let Message::PathErr(err) = reply.message else { panic!("{:?}", reply.message) };
    assert_eq!(err.session, session());
    assert_eq!(err.sender, Some(SenderDescriptor::of(sender(5))));
    assert_eq!((err.error_spec.code, err.error_spec.value, err.error_spec.node), (14, 0x0c09, ip(2)));
}

#[test]
fn a_diffserv_object_counts_once_and_in_a_path_only() {
    let (first, second) =
        (opaque(class::DIFFSERV, 2, &[0, 0, 0x28, 2]), opaque(class::DIFFSERV, 2, &[0, 0, 0xb8, 0]));
    let short = opaque(class::DIFFSERV, 1, &[0, 0, 0, 1]);
    let read = |message: &Message, more: &[Object]| {
        let bytes = edited(message, |objects| objects.extend(more.iter().cloned()));
        let unknown =
            |common: &Common| common.unknown.iter().map(|u| (u.class, u.c_type)).collect::<Vec<_>>();
        match parse(&bytes).unwrap() {
            Message::Path(path) => (unknown(&path.common), path.diffserv),
            other => (unknown(other.common().unwrap()), None),
        }
    };
    let (path, resv) = (Message::Path(path()), Message::Resv(resv(Style::SharedExplicit, vec![flow(5)])));
    let af1 = Some(DiffServ::LLsp(PhbId(0x2802)));
    assert_eq!(read(&path, &[first.clone(), second]), (vec![], af1.clone()));
    assert_eq!(read(&path, &[first.clone(), short.clone()]), (vec![], af1));
    assert_eq!(read(&path, std::slice::from_ref(&short)), (vec![(65, 1)], None));
    assert_eq!(
        read(&path, &[short, first.clone()]),
        (vec![(65, 1)], None),
        "the first is the one that can't be read"
    );
    assert_eq!(read(&resv, &[first]), (vec![(65, 2)], None));
}

#[test]
fn diffserv_objects_that_were_read_are_written_so_that_they_say_the_same() {
    let object = |c_type, bytes: &[u8]| opaque(class::DIFFSERV, c_type, bytes);
    let some = [
        object(1, &[0, 0, 0, 1, 0, 5, 0xb8, 0]),
        object(2, &[0xff, 0xff, 0x28, 2]),
        object(1, &[0, 0, 0, 3]),
        object(2, &[0; 8]),
        object(9, &[1; 4]),
    ];
    for (a, b, behind) in (0..5).flat_map(|a| (0..5).flat_map(move |b| [(a, b, false), (a, b, true)])) {
        let bytes = edited(&Message::Path(path()), |objects| {
            // Behind what comes first (RFC 2961, 4.1).
            let at = if behind { objects.len() } else { 2 };
            objects.splice(at..at, [some[a].clone(), some[b].clone()]);
        });
        let read = parse(&bytes).unwrap();
        let Message::Path(path) = &read else { panic!("a Path") };
        let unread = path.common.unknown.iter().filter(|o| o.class == class::DIFFSERV).count();
        assert_eq!((path.diffserv.is_some(), unread), (a < 2, usize::from(a >= 2)), "{a} {b}");
        assert_eq!(parse(&emitted(&read)), Ok(read.clone()), "{a} {b}");
    }
}

#[test]
fn bad_contents_are_answered_with_their_code() {
    let cases = [
        (opaque(class::EXPLICIT_ROUTE, 1, &[1, 3, 0, 0]), (24, 1)),
        (opaque(class::ADSPEC, 2, &[0; 8]), (21, 5)),
    ];
    for (object, answer) in cases {
        let path = Path { ero: None, adspec: None, ..path() };
        let bytes = edited(&Message::Path(path), |objects| objects.push(object));
        let error = parse(&bytes).unwrap_err();
        assert_eq!(error.answer(), Some(answer), "{error}");
        assert!(matches!(Reply::to(&bytes, &error, ip(2)).unwrap().message, Message::PathErr(_)));
    }
    let shared = Message::Resv(resv(Style::SharedExplicit, vec![flow(5)]));
    let cases = [
        (class::LABEL, opaque(class::LABEL, 1, &[0; 8]), (24, 6)),
        (class::FLOWSPEC, opaque(class::FLOWSPEC, 2, &[0, 0, 0, 2, 6, 0, 0, 1, 0, 0, 0, 0]), (21, 2)),
        (class::STYLE, opaque(class::STYLE, 1, &[0, 0, 0, 9]), (6, 0)),
    ];
    for (number, object, answer) in cases {
        let bytes = edited(&shared, |objects| {
            for old in objects.iter_mut() {
                let mut bytes = Vec::new();
                old.emit(&mut bytes).unwrap();
                if bytes[2] == number {
                    *old = object.clone();
                }
            }
        });
        let error = parse(&bytes).unwrap_err();
        assert_eq!(error.answer(), Some(answer), "{error}");
        assert!(matches!(Reply::to(&bytes, &error, ip(2)).unwrap().message, Message::ResvErr(_)));
    }
}

#[test]
fn a_label_of_more_than_20_bits_is_none_and_the_first_counts() {
    let message = Message::Resv(resv(Style::SharedExplicit, vec![flow(5)]));
    let bytes = edited(&message, |objects| {
        let at = objects.iter().position(|object| matches!(object, Object::Label(_))).unwrap();
        objects.insert(at, opaque(class::LABEL, 1, &[0, 0x10, 0, 0]));
    });
    let Ok(Message::Resv(read)) = parse(&bytes) else { panic!("a Resv") };
    assert_eq!(read.flow_descriptors[0].filters[0].label, None);
}

#[test]
fn an_ff_descriptor_without_flowspec_takes_the_one_before() {
    let message = Message::Resv(resv(Style::FixedFilter, vec![flow(5), flow(6)]));
    let mut seen = 0;
    let bytes = edited(&message, |objects| {
        objects.retain(|object| {
            seen += usize::from(matches!(object, Object::Flowspec(_)));
            seen < 2 || !matches!(object, Object::Flowspec(_))
        });
    });
    assert_eq!(seen, 2);
    assert_eq!(parse(&bytes), Ok(message));
}

#[test]
fn styles_limit_the_flow_descriptors() {
    let wild = FlowDescriptor { filters: vec![], ..flow(5) };
    let good = Message::Resv(resv(Style::WildcardFilter, vec![wild.clone()]));
    assert_eq!(parse(&emitted(&good)), Ok(good));
    let bad = [
        (Style::WildcardFilter, vec![flow(5)]),
        (Style::WildcardFilter, vec![wild.clone(), wild.clone()]),
        (Style::SharedExplicit, vec![flow(5), flow(6)]),
        (Style::SharedExplicit, vec![wild.clone()]),
        (Style::FixedFilter, vec![wild]),
        (Style::FixedFilter, vec![]),
    ];
    for (style, descriptors) in bad {
        let bytes = emitted(&Message::Resv(resv(style, descriptors)));
        assert!(parse(&bytes).is_err(), "{style:?}");
    }
}

#[test]
fn damaged_messages_are_refused() {
    let bytes = emitted(&Message::Path(path()));
    let mut damaged = bytes.clone();
    damaged[12] ^= 1;
    assert!(matches!(parse(&damaged).unwrap_err().reason, Reason::Checksum { .. }));
    // No checksum, no check.
    damaged[2..4].fill(0);
    assert!(parse(&damaged).is_ok());
    assert!(matches!(parse(&bytes[..bytes.len() - 4]).unwrap_err().reason, Reason::Truncated { .. }));
    assert!(matches!(parse(&bytes[..5]).unwrap_err().reason, Reason::Truncated { .. }));
    let mut version = bytes.clone();
    version[0] = 0x20;
    assert_eq!(parse(&version).unwrap_err().reason, Reason::Version(2));
    // What comes after the message is not part of it.
    assert_eq!(parse(&[&bytes[..], &[1, 2, 3]].concat()), Ok(Message::Path(path())));
    let object = hex("10ff0000 ff00000c 00030101");
    let error = RawMessage::decode(&object).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rsvp: SESSION C-Type 1: object length 3 is less than 4, not a multiple of 4 or beyond the message (at byte 8)"
    );
}

#[test]
fn reserved_fields_are_ignored_by_type_and_kept_raw() {
    let mut bytes = emitted(&Message::Hello(HelloMessage {
        common: Common::default(),
        hello: Hello::Ack { src_instance: 1, dst_instance: 2 },
    }));
    bytes[5] = 7;
    bytes.extend(hex("00080501 00000001"));
    bytes.extend(hex("000c0107 00"));
    bytes.truncate(bytes.len() - 5);
    // LABEL_REQUEST with its reserved bits set.
    bytes.extend(hex("00081301 ffff0800"));
    let length = bytes.len() as u16;
    bytes[6..8].copy_from_slice(&length.to_be_bytes());
    bytes[2..4].fill(0);
    let raw = RawMessage::decode(&bytes).unwrap();
    assert_eq!((raw.reserved, raw.checksum), (7, Some(0)));
    let RawBody::Objects(objects) = &raw.body else { panic!() };
    let Some(Object::Opaque(last)) = objects.last() else { panic!("{objects:?}") };
    assert_eq!(last.reads_as.as_deref(), Some(&Object::LabelRequest(LabelRequest::ipv4())));
    let mut again = Vec::new();
    raw.encode(&mut again).unwrap();
    assert_eq!(again, bytes);
}

#[test]
fn a_bad_message_in_a_bundle_costs_no_other() {
    let hello = Message::Hello(HelloMessage {
        common: Common::default(),
        hello: Hello::Request { src_instance: 1, dst_instance: 2 },
    });
    let (good, mut bad) = (emitted(&hello), emitted(&Message::Path(path())));
    bad[30] ^= 1;
    let mut bytes = Vec::new();
    emit_bundle(1, 64, [&good[..], &bad, &good], &mut bytes).unwrap();
    assert_eq!(Header::parse(&bytes).unwrap().checksum, checksum(&bytes));
    assert!(Packet::parse(&bytes).is_err());
    let parsed: Vec<_> = messages(&bytes).unwrap().map(|(_, message)| parse(message.unwrap())).collect();
    assert_eq!(parsed[0], Ok(hello.clone()));
    assert!(parsed[1].is_err());
    assert_eq!(parsed[2], Ok(hello));
    assert_eq!(parsed.len(), 3);
    // Bundles do not nest.
    let mut nested = Vec::new();
    emit_bundle(1, 64, [&bytes[..]], &mut nested).unwrap();
    assert_eq!(parse(&nested).unwrap_err().reason, Reason::Invalid("a bundle in a bundle"));
    assert!(RawMessage::decode(&nested).is_err());
}

#[test]
fn one_message_alone_counts_as_itself() {
    let bytes = emitted(&Message::Path(path()));
    let all: Vec<_> = messages(&bytes).unwrap().collect();
    assert_eq!(all, [(0, Ok(&bytes[..]))]);
}

#[test]
fn hmac_md5_is_that_of_rfc_2104() {
    // RFC 2202, 2, case 2: key "Jefe". Here it is shown through sign: the digest of the message without digest.
    use hmac::{Hmac, KeyInit, Mac};
    let mut mac = Hmac::<md5::Md5>::new_from_slice(b"Jefe").unwrap();
    mac.update(b"what do ya want for nothing?");
    assert_eq!(mac.finalize().into_bytes().to_vec(), hex("750c783e6ab0b503eaa86e310a5db738"));
}

#[test]
fn signed_messages_verify_under_their_key_only() {
    let integrity = Some(Integrity::new(KeyId([0, 0, 0, 0, 0, 9]), 77));
    let message = Message::Path(Path { common: Common { integrity, ..Common::default() }, ..path() });
    let mut bytes = emitted(&message);
    assert!(integrity::verify(b"secret", &bytes).is_err());
    integrity::sign(b"secret", &mut bytes).unwrap();
    assert_eq!(bytes[2..4], [0, 0]);
    let found = integrity::verify(b"secret", &bytes).unwrap();
    assert_eq!((found.sequence, found.key_id), (77, KeyId([0, 0, 0, 0, 0, 9])));
    assert!(integrity::verify(b"secreT", &bytes).is_err());
    let parsed = parse(&bytes).unwrap();
    assert_eq!(parsed.common().unwrap().integrity, Some(found));
    // A checksum put in afterwards does no harm.
    let mut summed = bytes.clone();
    let value = checksum(&summed);
    summed[2..4].copy_from_slice(&value.to_be_bytes());
    assert!(integrity::verify(b"secret", &summed).is_ok());
    for at in (0..bytes.len()).filter(|at| !(2..4).contains(at)) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(integrity::verify(b"secret", &damaged).is_err(), "byte {at}");
    }
    assert!(integrity::verify(b"secret", &emitted(&Message::Path(path()))).is_err());
}

#[test]
fn too_long_messages_are_not_written() {
    let mut out = vec![1, 2, 3];
    let long = Path { policy_data: vec![vec![0; 40_000]; 2], ..path() };
    assert_eq!(Message::Path(long).emit(0, 1, &mut out).unwrap_err().reason, Reason::TooLong);
    let long = Path { ero: Some(vec![EroHop::strict(v4(1)); 10_000]), ..path() };
    assert_eq!(Message::Path(long).emit(0, 1, &mut out).unwrap_err().reason, Reason::TooLong);
    let node = EroSubobject::Unknown { kind: 9, data: vec![0; 300] };
    let long = Path { ero: Some(vec![EroHop { loose: false, node }]), ..path() };
    assert_eq!(Message::Path(long).emit(0, 1, &mut out).unwrap_err().reason, Reason::TooLong);
    assert_eq!(out, [1, 2, 3]);
}

#[test]
fn prefixes_contain_addresses() {
    let prefix = |prefix_length| EroSubobject::Ipv4 { address: v4(4), prefix_length };
    assert!(prefix(32).contains(v4(4)) && !prefix(32).contains(v4(5)));
    assert!(prefix(31).contains(v4(5)) && !prefix(31).contains(v4(6)));
    assert!(prefix(0).contains([255, 0, 0, 1].into()));
    assert!(!EroSubobject::AutonomousSystem { number: 1 }.contains(v4(4)));
}

#[test]
fn floats_that_are_no_numbers_survive_json() {
    for bits in [0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0xffff_ffff, 0x8000_0000, 1, 0x7f7f_ffff] {
        let bucket = TokenBucket { rate: f32::from_bits(bits), ..TokenBucket::default() };
        let json = serde_json::to_string(&bucket).unwrap();
        assert_eq!(serde_json::from_str::<TokenBucket>(&json).unwrap(), bucket, "{json}");
    }
}

#[test]
fn summaries_are_one_line() {
    let lines: Vec<String> = samples().iter().map(Message::summary).collect();
    assert_eq!(
        lines[0],
        "Path tunnel 10.0.0.1/7 to 10.0.0.3 lsp 10.0.0.1/5 via 10.0.0.2 ~10.0.0.3, 25000000 B/s, from 10.0.0.1, \
         id 0x123456/42, ack 0xabcdef/9"
    );
    assert!(lines[4].contains(": routing problem: bad strict node (24/2) at 10.0.0.2"), "{}", lines[4]);
    assert!(lines.iter().all(|line| !line.contains('\n')));
}
