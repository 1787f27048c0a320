//! Whole messages: samples of each type, there and back by both ways.

use super::super::*;
use base::Label;
use std::net::{IpAddr, Ipv4Addr};

pub(crate) fn v4(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, last)
}

pub(crate) fn ip(last: u8) -> IpAddr {
    v4(last).into()
}

pub(crate) fn session() -> Session {
    Session::LspTunnelIpv4 { end_point: v4(3), tunnel_id: 7, extended_tunnel_id: v4(1) }
}

pub(crate) fn sender(lsp_id: u16) -> SenderTemplate {
    SenderTemplate::LspTunnelIpv4 { sender: v4(1), lsp_id }
}

pub(crate) fn common() -> Common {
    Common {
        integrity: None,
        acks: vec![MessageIdAck { nack: false, flags: 0, epoch: 0xabcdef, id: 9 }],
        message_id: Some(MessageId { flags: 1, epoch: 0x123456, id: 42 }),
        unknown: Vec::new(),
    }
}

fn adspec() -> Adspec {
    Adspec {
        general: General { bandwidth: 125e6, hops: 2, latency_us: u32::MAX, mtu: 1500, ..General::default() },
        guaranteed: Some(GuaranteedFragment {
            c_tot: 1,
            overrides: Overrides { mtu: Some(9000), ..Overrides::default() },
            ..GuaranteedFragment::default()
        }),
        controlled_load: Some(ControlledLoadFragment {
            break_bit: true,
            ..ControlledLoadFragment::default()
        }),
        others: Vec::new(),
    }
}

fn rro() -> Vec<RroSubobject> {
    vec![RroSubobject::address(v4(2)), RroSubobject::label(Label::truncate(17))]
}

fn tspec() -> SenderTspec {
    SenderTspec(TokenBucket { peak: f32::INFINITY, ..TokenBucket::constant(25e6, 1500) })
}

pub(crate) fn flow(lsp_id: u16) -> FlowDescriptor {
    let label = Label::new(16 + u32::from(lsp_id));
    FlowDescriptor {
        flowspec: Flowspec::ControlledLoad(tspec().0),
        filters: vec![Filter { filter_spec: sender(lsp_id), label, rro: Some(rro()) }],
    }
}

fn error_spec(code: u8, value: u16) -> ErrorSpec {
    ErrorSpec { node: ip(2), flags: 0, code, value }
}

fn descriptor() -> SenderDescriptor {
    SenderDescriptor {
        sender_tspec: Some(tspec()),
        adspec: Some(adspec()),
        ..SenderDescriptor::of(sender(5))
    }
}

pub(crate) fn path() -> Path {
    Path {
        common: common(),
        session: session(),
        hop: RsvpHop { address: ip(1), lih: 0x1001 },
        time_values: TimeValues { refresh_ms: 30_000 },
        ero: Some(vec![EroHop::strict(v4(2)), EroHop::loose(v4(3))]),
        label_request: Some(LabelRequest::ipv4()),
        session_attribute: Some(SessionAttribute::new(4, 3, SessionAttribute::SE_STYLE, "gold")),
        diffserv: None,
        policy_data: Vec::new(),
        sender_template: sender(5),
        sender_tspec: tspec(),
        adspec: Some(adspec()),
        rro: Some(vec![RroSubobject::address(v4(1))]),
    }
}

pub(crate) fn resv(style: Style, flow_descriptors: Vec<FlowDescriptor>) -> Resv {
    Resv {
        common: common(),
        session: session(),
        hop: RsvpHop { address: ip(2), lih: 0x1001 },
        time_values: TimeValues { refresh_ms: 30_000 },
        resv_confirm: Some(ip(3)),
        scope: None,
        policy_data: Vec::new(),
        style,
        flow_descriptors,
    }
}

/// At least one message of each type.
pub(crate) fn samples() -> Vec<Message> {
    let mut shared = flow(5);
    shared.filters.extend(flow(6).filters);
    let hop = RsvpHop { address: ip(1), lih: 0 };
    let integrity = Some(Integrity::new(KeyId([0, 0, 0, 0, 1, 2]), 7));
    let challenge = Challenge { key_id: KeyId([0, 0, 0, 0, 1, 2]), cookie: vec![1, 2, 3, 4, 5, 6, 7, 8] };
    let affinities = Affinities { exclude_any: 1, include_any: 2, include_all: 4 };
    let coloured =
        SessionAttribute { affinities: Some(affinities), ..SessionAttribute::new(7, 7, 0, "a name") };
    let hello = Hello::Request { src_instance: 0x1234, dst_instance: 0 };
    let mut messages = vec![
        Message::Path(path()),
        Message::Path(Path { session_attribute: Some(coloured), ero: Some(vec![]), ..path() }),
        Message::Resv(resv(Style::SharedExplicit, vec![shared])),
        Message::Resv(resv(Style::FixedFilter, vec![flow(5), flow(6)])),
        Message::PathErr(PathErr {
            common: common(),
            session: session(),
            error_spec: error_spec(error_code::ROUTING, error_code::routing::BAD_STRICT_NODE),
            policy_data: Vec::new(),
            sender: Some(descriptor()),
            ero: Some(vec![EroHop {
                loose: true,
                node: EroSubobject::Unknown { kind: 99, data: vec![1, 2, 3, 4, 5, 6] },
            }]),
        }),
        Message::ResvErr(ResvErr {
            common: common(),
            session: session(),
            hop,
            error_spec: error_spec(error_code::ADMISSION, error_code::admission::BANDWIDTH),
            scope: None,
            policy_data: Vec::new(),
            style: Style::FixedFilter,
            flow_descriptor: Some(flow(5)),
        }),
        Message::PathTear(PathTear { common: common(), session: session(), hop, sender: Some(descriptor()) }),
        Message::ResvTear(ResvTear {
            common: common(),
            session: session(),
            hop,
            scope: None,
            style: Style::SharedExplicit,
            filters: vec![sender(5), sender(6)],
        }),
        Message::ResvConf(ResvConf {
            common: common(),
            session: session(),
            error_spec: error_spec(error_code::CONFIRMATION, 0),
            resv_confirm: ip(3),
            style: Style::SharedExplicit,
            flow_descriptors: vec![flow(5)],
        }),
        Message::Ack(Ack { common: Common { message_id: None, ..common() } }),
        Message::Srefresh(Srefresh {
            common: common(),
            lists: vec![MessageIdList::List { flags: 0, epoch: 0x123456, ids: vec![1, 2, 3] }],
        }),
        Message::Hello(HelloMessage { common: Common::default(), hello }),
        Message::IntegrityChallenge(IntegrityChallenge {
            common: Common::default(),
            challenge: challenge.clone(),
        }),
        Message::IntegrityResponse(IntegrityResponse {
            common: Common { integrity, ..Common::default() },
            challenge,
        }),
        Message::Path(Path { diffserv: Some(DiffServ::LLsp(PhbId(0x2802))), ..path() }),
    ];
    let packets = messages.iter().map(|message| Packet::new(64, message.clone())).collect();
    messages.push(Message::Bundle(Bundle { packets }));
    messages
}

#[test]
fn samples_are_of_every_type() {
    let seen: Vec<MessageType> = samples().iter().map(Message::message_type).collect();
    assert!(MessageType::ALL.iter().all(|kind| seen.contains(kind)));
}

#[test]
fn typed_messages_there_and_back() {
    for message in samples() {
        let packet = Packet { flags: 1, send_ttl: 63, message };
        let mut bytes = vec![0xee; 3];
        packet.emit(&mut bytes).unwrap();
        assert_eq!(Packet::parse(&bytes[3..]).as_ref(), Ok(&packet), "{}", packet.summary());
    }
}

#[test]
fn raw_messages_there_and_back() {
    for message in samples() {
        let mut bytes = Vec::new();
        message.emit(1, 63, &mut bytes).unwrap();
        let raw = RawMessage::decode(&bytes).unwrap();
        let json = serde_json::to_string(&raw).unwrap();
        assert!(!json.contains("OPAQUE"), "{json}");
        assert_eq!(serde_json::from_str::<RawMessage>(&json).unwrap(), raw, "{json}");
        let mut again = Vec::new();
        raw.encode(&mut again).unwrap();
        assert_eq!(again, bytes, "{json}");
    }
}
