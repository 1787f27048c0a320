//! Each object as bytes, put together by hand from the RFC's diagram, beside its value.

use super::super::*;
use super::hex;
use super::messages::{ip, v4};
use base::Label;
use std::net::{IpAddr, Ipv6Addr};

fn v6(last: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)
}

const V6_1: &str = "20010db8 00000000 00000000 00000001";
const V6_3: &str = "20010db8 00000000 00000000 00000003";

fn bucket() -> TokenBucket {
    // 1000.0 is 447a0000, 2000.0 is 44fa0000, 4000.0 is 457a0000.
    TokenBucket { rate: 1000.0, bucket: 2000.0, peak: 4000.0, min_unit: 64, max_packet: 1500 }
}
const BUCKET: &str = "7f000005 447a0000 44fa0000 457a0000 00000040 000005dc";

fn vectors() -> Vec<(String, Object)> {
    let mut all: Vec<(String, Object)> = Vec::new();
    let mut add = |bytes: &str, object: Object| all.push((bytes.to_owned(), object));

    add(
        "000c0101 0a000003 11010050",
        Object::Session(Session::Ipv4 { destination: v4(3), protocol: 17, flags: 1, port: 80 }),
    );
    add(
        &format!("00180102 {V6_3} 06000050"),
        Object::Session(Session::Ipv6 { destination: v6(3), protocol: 6, flags: 0, port: 80 }),
    );
    add(
        "00100107 0a000003 00000007 0a000001",
        Object::Session(Session::LspTunnelIpv4 { end_point: v4(3), tunnel_id: 7, extended_tunnel_id: v4(1) }),
    );
    add(
        &format!("00280108 {V6_3} 00000007 {V6_1}"),
        Object::Session(Session::LspTunnelIpv6 { end_point: v6(3), tunnel_id: 7, extended_tunnel_id: v6(1) }),
    );
    add(
        "0010010d 000000ff 00000007 0a000001",
        Object::Session(Session::P2mpLspTunnelIpv4 { p2mp_id: 255, tunnel_id: 7, extended_tunnel_id: v4(1) }),
    );
    add(
        &format!("001c010e 000000ff 00000007 {V6_1}"),
        Object::Session(Session::P2mpLspTunnelIpv6 { p2mp_id: 255, tunnel_id: 7, extended_tunnel_id: v6(1) }),
    );
    add("000c0301 0a000001 00001001", Object::RsvpHop(RsvpHop { address: ip(1), lih: 0x1001 }));
    add(
        &format!("00180302 {V6_1} 00001001"),
        Object::RsvpHop(RsvpHop { address: IpAddr::V6(v6(1)), lih: 0x1001 }),
    );
    add(
        "00240401 01000000 00000102 00000000 00000007 00112233 44556677 8899aabb ccddeeff",
        Object::Integrity(Integrity {
            flags: Integrity::HANDSHAKE,
            key_id: KeyId([0, 0, 0, 0, 1, 2]),
            sequence: 7,
            digest: *b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
        }),
    );
    add("00080501 00007530", Object::TimeValues(TimeValues { refresh_ms: 30_000 }));
    add(
        "000c0601 0a000002 01180002",
        Object::ErrorSpec(ErrorSpec { node: ip(2), flags: ErrorSpec::IN_PLACE, code: 24, value: 2 }),
    );
    add(
        &format!("00180602 {V6_1} 00010002"),
        Object::ErrorSpec(ErrorSpec { node: IpAddr::V6(v6(1)), flags: 0, code: 1, value: 2 }),
    );
    add("000c0701 0a000001 0a000002", Object::Scope(Scope::Ipv4(vec![v4(1), v4(2)])));
    add(&format!("00140702 {V6_1}"), Object::Scope(Scope::Ipv6(vec![v6(1)])));
    add("00080801 00000011", Object::Style(Style::WildcardFilter));
    add("00080801 0000000a", Object::Style(Style::FixedFilter));
    add("00080801 00000012", Object::Style(Style::SharedExplicit));
    add(
        &format!("00240902 00000007 05000006 {BUCKET}"),
        Object::Flowspec(Flowspec::ControlledLoad(bucket())),
    );
    add(
        &format!("00300902 0000000a 02000009 {BUCKET} 82000002 457a0000 00000064"),
        Object::Flowspec(Flowspec::Guaranteed { bucket: bucket(), rate: 4000.0, slack_us: 100 }),
    );
    add("000c0a01 0a000001 00000050", Object::FilterSpec(FilterSpec::Ipv4 { source: v4(1), port: 80 }));
    add(
        "000c0a07 0a000001 00000005",
        Object::FilterSpec(FilterSpec::LspTunnelIpv4 { sender: v4(1), lsp_id: 5 }),
    );
    add(
        "000c0b01 0a000001 00000050",
        Object::SenderTemplate(SenderTemplate::Ipv4 { source: v4(1), port: 80 }),
    );
    add(
        &format!("00180b02 {V6_1} 00000050"),
        Object::SenderTemplate(SenderTemplate::Ipv6 { source: v6(1), port: 80 }),
    );
    add(
        &format!("00180b03 {V6_1} 00abcdef"),
        Object::SenderTemplate(SenderTemplate::Ipv6FlowLabel { source: v6(1), flow_label: 0xabcdef }),
    );
    add(
        "000c0b07 0a000001 00000005",
        Object::SenderTemplate(SenderTemplate::LspTunnelIpv4 { sender: v4(1), lsp_id: 5 }),
    );
    add(
        &format!("00180b08 {V6_1} 00000005"),
        Object::SenderTemplate(SenderTemplate::LspTunnelIpv6 { sender: v6(1), lsp_id: 5 }),
    );
    add(
        "00140b0c 0a000001 00000005 0a000002 00000009",
        Object::SenderTemplate(SenderTemplate::P2mpLspTunnelIpv4 {
            sender: v4(1),
            lsp_id: 5,
            subgroup_originator: v4(2),
            subgroup_id: 9,
        }),
    );
    add(
        &format!("002c0b0d {V6_1} 00000005 {V6_3} 00000009"),
        Object::SenderTemplate(SenderTemplate::P2mpLspTunnelIpv6 {
            sender: v6(1),
            lsp_id: 5,
            subgroup_originator: v6(3),
            subgroup_id: 9,
        }),
    );
    add(&format!("00240c02 00000007 01000006 {BUCKET}"), Object::SenderTspec(SenderTspec(bucket())));
    add(
        "00540d02 00000013
         01000008 04000001 00000002 06000001 447a0000 08000001 ffffffff 0a000001 000005dc
         02800008 85000001 00000001 86000001 00000002 87000001 00000003 88000001 00000004
         05000000",
        Object::Adspec(Box::new(Adspec {
            general: General {
                break_bit: false,
                hops: 2,
                bandwidth: 1000.0,
                latency_us: u32::MAX,
                mtu: 1500,
                parameter_flags: [0; 4],
            },
            guaranteed: Some(GuaranteedFragment {
                break_bit: true,
                c_tot: 1,
                d_tot: 2,
                c_sum: 3,
                d_sum: 4,
                overrides: Overrides::default(),
            }),
            controlled_load: Some(ControlledLoadFragment::default()),
            others: Vec::new(),
        })),
    );
    add("000c0e01 00080001 deadbeef", Object::PolicyData(hex("00080001 deadbeef")));
    add("00080f01 0a000003", Object::ResvConfirm(ip(3)));
    add(&format!("00140f02 {V6_3}"), Object::ResvConfirm(IpAddr::V6(v6(3))));
    add("00081001 000fffff", Object::Label(Label::MAX));
    add("00081301 00000800", Object::LabelRequest(LabelRequest::ipv4()));
    add(
        "00101302 00000800 80010020 00020040",
        Object::LabelRequest(LabelRequest::Atm {
            l3pid: 0x0800,
            merge: true,
            min_vpi: 1,
            min_vci: 32,
            max_vpi: 2,
            max_vci: 64,
        }),
    );
    add(
        "00101303 00000800 01000010 00000020",
        Object::LabelRequest(LabelRequest::FrameRelay { l3pid: 0x0800, dli: 2, min_dlci: 16, max_dlci: 32 }),
    );
    let hops = [
        (false, EroSubobject::Ipv4 { address: v4(2), prefix_length: 32 }, "01080a000002 2000"),
        (
            true,
            EroSubobject::Ipv6 { address: v6(3), prefix_length: 64 },
            "8214 20010db8000000000000000000000003 4000",
        ),
        (false, EroSubobject::Label { upstream: true, c_type: 1, label: 17 }, "03088001 00000011"),
        (false, EroSubobject::Unnumbered { router_id: v4(2), interface_id: 3 }, "040c0000 0a000002 00000003"),
        (true, EroSubobject::AutonomousSystem { number: 65000 }, "a004fde8"),
        (true, EroSubobject::Unknown { kind: 99, data: vec![1, 2, 3, 4, 5, 6] }, "e308 010203040506"),
    ];
    for (loose, node, bytes) in hops {
        let length = hex(bytes).len() + 4;
        let hops = vec![EroHop { loose, node }];
        add(&format!("{length:04x}1401 {bytes}"), Object::ExplicitRoute(hops.clone()));
        add(&format!("{length:04x}c802 {bytes}"), Object::SecondaryExplicitRoute(hops));
    }
    add("00041401", Object::ExplicitRoute(vec![]));
    let entries = [
        (RroSubobject::Ipv4 { address: v4(2), prefix_length: 32, flags: 3 }, "01080a000002 2003"),
        (
            RroSubobject::Ipv6 { address: v6(3), prefix_length: 128, flags: 8 },
            "021420010db8000000000000000000000003 8008",
        ),
        (RroSubobject::Label { flags: 1, c_type: 1, label: 17 }, "03080101 00000011"),
        (
            RroSubobject::Unnumbered { flags: 1, router_id: v4(2), interface_id: 3 },
            "040c0100 0a000002 00000003",
        ),
        (RroSubobject::AutonomousSystem { number: 65000 }, "2004fde8"),
        (RroSubobject::Unknown { kind: 0xfe, data: vec![1, 2] }, "fe04 0102"),
    ];
    for (entry, bytes) in entries {
        let length = hex(bytes).len() + 4;
        add(&format!("{length:04x}1501 {bytes}"), Object::RecordRoute(vec![entry.clone()]));
        add(&format!("{length:04x}c902 {bytes}"), Object::SecondaryRecordRoute(vec![entry]));
    }
    add(
        "000c1601 00001234 00000000",
        Object::Hello(Hello::Request { src_instance: 0x1234, dst_instance: 0 }),
    );
    add(
        "000c1602 00005678 00001234",
        Object::Hello(Hello::Ack { src_instance: 0x5678, dst_instance: 0x1234 }),
    );
    add(
        "000c1701 01123456 0000002a",
        Object::MessageId(MessageId { flags: MessageId::ACK_DESIRED, epoch: 0x123456, id: 42 }),
    );
    add(
        "000c1801 00123456 0000002a",
        Object::MessageIdAck(MessageIdAck { nack: false, flags: 0, epoch: 0x123456, id: 42 }),
    );
    add(
        "000c1802 00123456 0000002a",
        Object::MessageIdAck(MessageIdAck { nack: true, flags: 0, epoch: 0x123456, id: 42 }),
    );
    let (flags, epoch) = (0, 0x123456);
    add(
        "00101901 00123456 00000001 00000002",
        Object::MessageIdList(MessageIdList::List { flags, epoch, ids: vec![1, 2] }),
    );
    add(
        "00101902 00123456 00000001 0a000001",
        Object::MessageIdList(MessageIdList::SourceIpv4 { flags, epoch, ids: vec![(1, v4(1))] }),
    );
    add(
        &format!("001c1903 00123456 00000001 {V6_1}"),
        Object::MessageIdList(MessageIdList::SourceIpv6 { flags, epoch, ids: vec![(1, v6(1))] }),
    );
    add(
        "00141904 00123456 00000001 0a000001 e0000001",
        Object::MessageIdList(MessageIdList::MulticastIpv4 {
            flags,
            epoch,
            ids: vec![(1, v4(1), [224, 0, 0, 1].into())],
        }),
    );
    add(
        &format!("002c1905 00123456 00000001 {V6_1} {V6_3}"),
        Object::MessageIdList(MessageIdList::MulticastIpv6 { flags, epoch, ids: vec![(1, v6(1), v6(3))] }),
    );
    add("00083201 0a000009", Object::S2lSubLsp(S2lSubLsp(ip(9))));
    add(&format!("00143202 {V6_1}"), Object::S2lSubLsp(S2lSubLsp(v6(1).into())));
    add("000c3f07 0a000002 0a000003", Object::Detour(Detour::Ipv4(vec![(v4(2), v4(3))])));
    add(&format!("00243f08 {V6_1} {V6_3}"), Object::Detour(Detour::Ipv6(vec![(v6(1), v6(3))])));
    add(
        "00144001 00000000 00000102 01020304 05060708",
        Object::Challenge(Challenge {
            key_id: KeyId([0, 0, 0, 0, 1, 2]),
            cookie: vec![1, 2, 3, 4, 5, 6, 7, 8],
        }),
    );
    let (ef, af12) = (PhbId(46 << 10), PhbId(12 << 10));
    let map = vec![MapEntry { tc: 5, phb: ef }, MapEntry { tc: 2, phb: af12 }];
    add("00104101 00000002 0005b800 00023000", Object::DiffServ(DiffServ::ELsp(map)));
    add("00084101 00000000", Object::DiffServ(DiffServ::ELsp(Vec::new())));
    add("00084102 00002802", Object::DiffServ(DiffServ::LLsp(PhbId(0x2802))));
    let reroute = FastReroute {
        setup_priority: 4,
        holding_priority: 3,
        hop_limit: 16,
        flags: FastReroute::ONE_TO_ONE,
        bandwidth: 1000.0,
        include_any: 1,
        exclude_any: 2,
        include_all: Some(3),
    };
    add("0018cd01 04031001 447a0000 00000001 00000002 00000003", Object::FastReroute(reroute));
    add(
        "0014cd07 04031001 447a0000 00000001 00000002",
        Object::FastReroute(FastReroute { include_all: None, ..reroute }),
    );
    let flags = SessionAttribute::SE_STYLE | SessionAttribute::LABEL_RECORDING;
    let attribute = SessionAttribute::new(4, 3, flags, "tunnel");
    add("0010cf07 04030606 74756e6e 656c0000", Object::SessionAttribute(attribute.clone()));
    let affinities = Affinities { exclude_any: 1, include_any: 2, include_all: 3 };
    add(
        "001ccf01 00000001 00000002 00000003 04030606 74756e6e 656c0000",
        Object::SessionAttribute(SessionAttribute { affinities: Some(affinities), ..attribute }),
    );
    add("00084201 00000005", Object::ClassType(ClassType { class_type: 5 }));
    let status = AdminStatus { reflect: true, testing: false, down: true, deletion: false };
    add("0008c401 80000002", Object::AdminStatus(status));
    add("0008c301 0a000001", Object::NotifyRequest(ip(1)));
    let tlvs =
        vec![AttributeTlv { kind: 1, value: vec![0x80, 0, 0, 0] }, AttributeTlv { kind: 9, value: vec![7] }];
    let text = "00010008 80000000 00090005 07000000";
    add(&format!("00144301 {text}"), Object::LspRequiredAttributes(tlvs.clone()));
    add(&format!("0014c501 {text}"), Object::LspAttributes(tlvs));
    let opaque = Opaque { class: 0xf0, c_type: 9, bytes: vec![1, 2, 3, 4], fault: None, reads_as: None };
    add("0008f009 01020304", Object::Opaque(opaque));
    all
}

#[test]
fn objects_encode_and_decode() {
    for (text, object) in vectors() {
        let bytes = hex(&text);
        let mut emitted = Vec::new();
        object.emit(&mut emitted).unwrap();
        assert_eq!(emitted, bytes, "{object:?}");
        let [high, low, class, c_type] = *bytes.first_chunk().unwrap();
        assert_eq!(usize::from(u16::from_be_bytes([high, low])), bytes.len(), "{text}");
        assert_eq!(Object::decode(class, c_type, &bytes[4..]), object, "{text}");
        let json = serde_json::to_string(&object).unwrap();
        assert_eq!(serde_json::from_str::<Object>(&json).unwrap(), object, "{json}");
    }
}

#[test]
fn every_class_has_a_vector() {
    let seen: Vec<u8> = vectors().iter().map(|(text, _)| hex(text)[2]).collect();
    let named = (1..=u8::MAX).filter(|&class| super::super::class::class_name(class).is_some());
    for class in named {
        assert!(seen.contains(&class), "class {class}");
    }
}

/// A short Path, byte by byte: header, SESSION, RSVP_HOP, TIME_VALUES, LABEL_REQUEST, SENDER_TEMPLATE, SENDER_TSPEC.
#[test]
fn a_path_message_byte_by_byte() {
    let text = format!(
        "10 01 0000 ff 00 0070
         00100107 0a000003 00000007 0a000001
         000c0301 0a000001 00001001
         00080501 00007530
         000c1401 01080a00 00022000
         00081301 00000800
         000c0b07 0a000001 00000005
         00240c02 00000007 01000006 {BUCKET}"
    );
    let mut bytes = hex(&text);
    let mut sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    bytes[2..4].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    let path = Path {
        common: Common::default(),
        ero: Some(vec![EroHop::strict(v4(2))]),
        session_attribute: None,
        adspec: None,
        rro: None,
        sender_tspec: SenderTspec(bucket()),
        ..super::messages::path()
    };
    let packet = Packet::new(255, Message::Path(path));
    assert_eq!(Packet::parse(&bytes).as_ref(), Ok(&packet));
    let mut emitted = Vec::new();
    packet.emit(&mut emitted).unwrap();
    assert_eq!(emitted, bytes);
}
