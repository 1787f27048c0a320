use super::sample::Dice;
use super::v1_3::{Fault, Match, Oxm, OxmField};
use super::*;
use crate::hex::Hex;
use proptest::collection::vec;
use proptest::prelude::*;

/// What an independent implementation writes, one message a line, behind a name that begins with its version.
const FIXTURES: &str = include_str!("fixtures.txt");

fn fixtures() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    FIXTURES.lines().map(|line| {
        let (name, hex) = line.split_once(' ').expect("a name and bytes");
        (name, hex.parse::<Hex>().expect("hexadecimal digits").0)
    })
}

fn fixture(name: &str) -> Vec<u8> {
    fixtures().find(|(known, _)| *known == name).expect("a fixture of this name").1
}

fn emitted(message: &Any) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.emit(&mut bytes).expect("short enough");
    bytes
}

#[test]
fn what_others_write_is_read_and_written_again() {
    let mut count = 0;
    for (name, bytes) in fixtures() {
        let message =
            Any::parse(&bytes).expect("a known version").unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(Hex(emitted(&message)), Hex(bytes.clone()), "{name}");
        assert_eq!(message_len(&bytes), Some(bytes.len()), "{name}");
        assert!(Any::is_header(&bytes), "{name}");
        let json = serde_json::to_value(&message).expect("JSON");
        assert_eq!(serde_json::from_value::<Any>(json).expect("the same"), message, "{name}");
        count += 1;
    }
    assert!(count > 50, "{count} fixtures");
}

#[test]
fn a_flow_mod_of_1_0_has_the_values_that_were_asked_for() {
    use v1_0::{Body, Command, FlowMod, Match, wildcards};
    let bits = wildcards::ALL
        & !(wildcards::IN_PORT | wildcards::DL_TYPE | wildcards::NW_PROTO | wildcards::TP_DST)
        & !(63 << wildcards::NW_SRC_SHIFT | 63 << wildcards::NW_DST_SHIFT);
    let bits = bits | 24 << wildcards::NW_SRC_SHIFT | 63 << wildcards::NW_DST_SHIFT;
    let Ok(v1_0::Message { xid: 0x102, body: Body::FlowMod(read) }) =
        v1_0::Message::parse(&fixture("v1_0.flow-mod"))
    else {
        panic!("no flow mod");
    };
    let expected = FlowMod {
        matching: Match {
            wildcards: bits,
            in_port: 3,
            dl_type: 0x800,
            nw_proto: 17,
            nw_src: [10, 0, 0, 0].into(),
            tp_dst: 5001,
            ..Match::ANY
        },
        cookie: 0x1122_3344_5566_7788,
        command: Command::Add,
        idle_timeout: 5,
        hard_timeout: 30,
        priority: 1000,
        buffer_id: NO_BUFFER,
        out_port: v1_0::ports::NONE,
        flags: 3,
        actions: read.actions.clone(),
    };
    assert_eq!(read, expected);
    assert_eq!(read.actions.len(), 12);
}

#[test]
fn a_flow_mod_of_1_3_has_the_values_that_were_asked_for() {
    use v1_3::{Body, Command, Instruction};
    let Ok(v1_3::Message { body: Body::FlowMod(read), .. }) =
        v1_3::Message::parse(&fixture("v1_3.flow-mod.0"))
    else {
        panic!("no flow mod");
    };
    assert_eq!((read.cookie, read.cookie_mask, read.table, read.command), (1, 3, 2, Command::Add));
    assert_eq!((read.idle_timeout, read.hard_timeout, read.priority, read.flags.0), (5, 30, 77, 7));
    assert_eq!(read.matching.fields[0], Oxm::exact(OxmField::InPort, 1));
    let dst = Oxm { field: OxmField::EthDst, value: 0x0200_0000_0000, mask: Some(0xffff_ff00_0000) };
    assert!(read.matching.fields.contains(&dst), "{:?}", read.matching);
    assert_eq!(read.instructions[0], Instruction::Meter { meter: 3 });
    assert_eq!(read.instructions[5], Instruction::GotoTable { table: 5 });
}

/// A flow mod of 1.3 with these bytes as its match, its instructions behind it.
fn with_match(tail: &str) -> Result<v1_3::Message, Malformed> {
    let mut bytes = fixture("v1_3.flow-mod.1");
    bytes.truncate(48);
    bytes.extend(tail.parse::<Hex>().expect("hexadecimal digits").0);
    fields::set_len(&mut bytes, 0, 2);
    v1_3::Message::parse(&bytes)
}

#[test]
fn what_is_malformed_gets_the_error_of_the_specification() {
    let answer = |tail: &str| with_match(tail).expect_err(tail).answer;
    let cases = [
        ("0000000400000000", Fault::BadMatchType),
        ("0001000300000000", Fault::BadMatchLen),
        ("0001002000000000", Fault::BadMatchLen),
        ("0001000880000004", Fault::BadMatchLen),
        ("0001000a800000020001000000000000", Fault::BadMatchLen),
        ("0001000a800050020001000000000000", Fault::BadField),
        ("0001000a00010a020001000000000000", Fault::BadField),
        ("0001000c80000b0408000fff00000000", Fault::BadMask),
        ("0001000980000e010100000000000000", Fault::BadPrereq),
        ("00010009800010014000000000000000", Fault::BadValue),
        ("000100148000000400000001800000040000000100000000", Fault::DupField),
        ("000100148000070c020000000001ffffffffff0000000000", Fault::BadWildcards),
        // Behind an empty match: instructions and actions.
        ("00010004000000000009000800000000", Fault::UnknownInst),
        ("00010004000000000001000400000000", Fault::BadInstLen),
        ("00010004000000000004001000000000", Fault::BadInstLen),
        ("000100040000000000040010000000000005000800000000", Fault::BadActionType),
        ("000100040000000000040010000000000000000800000000", Fault::BadActionLen),
        ("0001000400000000000400180000000000190010800046020001000000000000", Fault::BadSetLen),
        ("0001000400000000000400180000000000190010800000040000000100000000", Fault::BadSetType),
        ("0001000400000000000400180000000000190010800046010800000000000000", Fault::BadSetArgument),
    ];
    for (tail, fault) in cases {
        assert_eq!(Fault::of(answer(tail)), Some(fault), "{tail}");
    }
}

#[test]
fn headers_are_refused_for_version_type_and_length() {
    let answer = |bytes: &[u8]| v1_3::Message::parse(bytes).expect_err("malformed").answer;
    assert_eq!(answer(&[1, 0, 0, 8, 0, 0, 0, 0]), Code::BAD_VERSION);
    assert_eq!(answer(&[4, 99, 0, 8, 0, 0, 0, 0]), Code::BAD_TYPE);
    assert_eq!(answer(&[4, 20, 0, 9, 0, 0, 0, 0]), Code::BAD_LEN);
    assert_eq!(answer(&[4, 20, 0, 9, 0, 0, 0, 0, 0]), Code::BAD_LEN);
    assert_eq!(answer(&[4, 20]), Code::BAD_LEN);
    assert_eq!(message_len(&[4, 0, 0, 3, 0, 0, 0, 0]), Some(8));
    assert_eq!(message_len(&[4, 0, 0, 9, 0, 0, 0, 0]), None);
    assert!(Any::parse(&[9, 0, 0, 8]).is_none());
}

#[test]
fn ends_agree_on_a_version() {
    let both = Hello::with(&Version::ALL);
    assert_eq!(both.agree(4, &Version::ALL), Some(Version::V1_3));
    assert_eq!(both.agree(6, &[Version::V1_0]), Some(Version::V1_0));
    assert_eq!(Hello::with(&[Version::V1_0]).agree(1, &[Version::V1_3]), None);
    let none = Hello::default();
    assert_eq!(none.agree(1, &Version::ALL), Some(Version::V1_0));
    assert_eq!(none.agree(6, &Version::ALL), Some(Version::V1_3));
    assert_eq!(none.agree(3, &Version::ALL), None);
}

#[test]
fn errors_quote_the_message_that_they_are_about() {
    let request = vec![7; 100];
    let error = ErrorMessage::answer(&Code::BAD_TYPE.at(1, "not known"), &request);
    assert_eq!((error.kind, error.code, error.data.0.len()), (1, 1, 64));
    assert_eq!(Fault::of(error.numbers()).map(Fault::words), Some("message type not supported"));
    for fault in Fault::ALL {
        assert_eq!(Fault::of(fault.numbers()), Some(*fault));
    }
    for fault in v1_0::Fault::ALL {
        assert_eq!(v1_0::Fault::of(fault.numbers()), Some(*fault));
    }
}

fn samples(seed: u64) -> Vec<Any> {
    let mut dice = Dice(seed);
    let old = v1_0::Body::samples(&mut dice).into_iter();
    let old = old.map(|body| Any::V1_0(v1_0::Message { xid: 7, body })).collect::<Vec<_>>();
    let new = v1_3::Body::samples(&mut dice).into_iter();
    old.into_iter().chain(new.map(|body| Any::V1_3(v1_3::Message { xid: 7, body }))).collect()
}

#[test]
fn matches_without_a_prerequisite_are_refused_whatever_the_field() {
    for field in OxmField::ALL.iter().filter(|field| **field as u8 > 6 && **field != OxmField::TunnelId) {
        let matching = Match { fields: vec![Oxm::exact(*field, 0)] };
        let mut bytes = Vec::new();
        matching.write(&mut bytes);
        let refused = with_match(&Hex(bytes).to_string()).expect_err(field.word());
        assert_eq!(refused.answer, Fault::BadPrereq.numbers(), "{}", field.word());
    }
}

proptest! {
    #![proptest_config(testing::cases(128))]
    #[test]
    fn every_message_is_read_again(seed: u64) {
        for message in samples(seed) {
            let bytes = emitted(&message);
            let read = Any::parse(&bytes).expect("a known version");
            prop_assert_eq!(read, Ok(message.clone()));
            let json = serde_json::to_string(&message).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Any>(&json).expect("the same"), message);
        }
    }

    #[test]
    fn messages_with_another_byte_are_read_or_refused(seed: u64, changes in vec((any::<u16>(), any::<u8>()), 1..4)) {
        for message in samples(seed) {
            let mut bytes = emitted(&message);
            for (at, byte) in &changes {
                let place = usize::from(*at) % bytes.len();
                bytes[place] = *byte;
            }
            if let Some(Err(malformed)) = Any::parse(&bytes) {
                prop_assert!(malformed.error.offset <= bytes.len());
            }
            for version in [1, 4] {
                bytes[0] = version;
                bytes.truncate(bytes.len() - bytes.len().min(1) * usize::from(bytes.len() > 8));
                fields::set_len(&mut bytes, 0, 2);
                if let Some(Ok(read)) = Any::parse(&bytes) {
                    emitted(&read);
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(kind in 0u8..32, is_new: bool, body in vec(any::<u8>(), 0..120)) {
        let mut bytes = vec![if is_new { 4 } else { 1 }, kind, 0, 0, 0, 0, 0, 1];
        bytes.extend(body);
        fields::set_len(&mut bytes, 0, 2);
        if let Some(Ok(read)) = Any::parse(&bytes) {
            emitted(&read);
        }
    }
}

/// A capture of a TCP segment for each message, each of a connection of its own.
fn capture(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 1] {
        file.extend(word.to_be_bytes());
    }
    for (number, message) in (0u32..).zip(messages) {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0];
        frame.extend((message.len() as u16 + 40).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend((10_000 + number as u16).to_be_bytes());
        frame.extend(PORT.to_be_bytes());
        frame.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
        frame.extend(message);
        for word in [number, 0, frame.len() as u32, frame.len() as u32] {
            file.extend(word.to_be_bytes());
        }
        file.extend(frame);
    }
    file
}

/// Does tshark 4.0 read such a message to its end? It goes on behind the end of an experimenter's band or answer and of
/// a flow mod of 1.0 without actions. It takes what an error quotes, or a packet in a message, for a whole one, and
/// those of random messages are too short.
fn tshark_reads(message: &Any) -> bool {
    use v1_3::{Band, Body, MultipartReply, ReplyBody};
    let is_foreign = |bands: &[Band]| bands.iter().any(|band| matches!(band, Band::Experimenter { .. }));
    match message {
        Any::V1_0(message) => match &message.body {
            v1_0::Body::FlowMod(flow) => !flow.actions.is_empty(),
            v1_0::Body::PacketIn(packet) => packet.data.0.len() >= 60,
            v1_0::Body::PacketOut(packet) => packet.data.0.len() >= 60,
            v1_0::Body::Error(_) => false,
            _ => true,
        },
        Any::V1_3(message) => match &message.body {
            Body::MeterMod(meter) => !is_foreign(&meter.bands),
            Body::MultipartReply(MultipartReply { body: ReplyBody::MeterConfig(all), .. }) => {
                !all.iter().any(|meter| is_foreign(&meter.bands))
            }
            Body::MultipartReply(MultipartReply { body: ReplyBody::Experimenter(_), .. }) => false,
            Body::PacketIn(packet) => packet.data.is_empty(),
            Body::PacketOut(packet) => packet.data.is_empty(),
            Body::Error(_) => false,
            _ => true,
        },
    }
}

#[test]
fn tshark_finds_nothing_malformed() {
    if !testing::available("tshark") {
        return;
    }
    let fixtures = fixtures().filter_map(|(_, bytes)| Any::parse(&bytes)?.ok());
    let all = fixtures.chain((0..20).flat_map(samples)).filter(tshark_reads);
    let messages: Vec<Vec<u8>> = all.map(|message| emitted(&message)).collect();
    assert!(messages.len() > 800, "{} messages", messages.len());
    let path = std::env::temp_dir().join(format!("twinplane-openflow-{}.pcap", std::process::id()));
    std::fs::write(&path, capture(&messages)).expect("a capture");
    let said = |words: &[&str]| {
        let output = std::process::Command::new("tshark").arg("-r").arg(&path).args(words).output();
        String::from_utf8(output.expect("tshark").stdout).expect("text")
    };
    let malformed = said(&["-Y", "_ws.malformed"]);
    let known = said(&["-Y", "openflow_v1 || openflow_v4"]);
    std::fs::remove_file(&path).expect("the capture");
    assert_eq!(malformed, "");
    assert_eq!(known.lines().count(), messages.len());
}
