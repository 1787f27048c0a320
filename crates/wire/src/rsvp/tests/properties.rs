//! Properties: arbitrary bytes do no harm, and whatever can be said survives the way there and back.

use super::super::*;
use super::messages::samples;
use base::Label;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

fn v4() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from)
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    any::<u128>().prop_map(Ipv6Addr::from)
}

fn address() -> impl Strategy<Value = IpAddr> {
    prop_oneof![v4().prop_map(IpAddr::V4), v6().prop_map(IpAddr::V6)]
}

fn session() -> impl Strategy<Value = Session> {
    prop_oneof![
        (v4(), any::<u16>(), v4()).prop_map(|(end_point, tunnel_id, extended_tunnel_id)| {
            Session::LspTunnelIpv4 { end_point, tunnel_id, extended_tunnel_id }
        }),
        (v6(), any::<u16>(), v6()).prop_map(|(end_point, tunnel_id, extended_tunnel_id)| {
            Session::LspTunnelIpv6 { end_point, tunnel_id, extended_tunnel_id }
        }),
        (v4(), any::<u8>(), any::<u8>(), any::<u16>()).prop_map(|(destination, protocol, flags, port)| {
            Session::Ipv4 { destination, protocol, flags, port }
        }),
        (any::<u32>(), any::<u16>(), v4()).prop_map(|(p2mp_id, tunnel_id, extended_tunnel_id)| {
            Session::P2mpLspTunnelIpv4 { p2mp_id, tunnel_id, extended_tunnel_id }
        }),
    ]
}

fn sender() -> impl Strategy<Value = SenderTemplate> {
    prop_oneof![
        (v4(), any::<u16>()).prop_map(|(sender, lsp_id)| SenderTemplate::LspTunnelIpv4 { sender, lsp_id }),
        (v6(), any::<u16>()).prop_map(|(sender, lsp_id)| SenderTemplate::LspTunnelIpv6 { sender, lsp_id }),
        (v4(), any::<u16>()).prop_map(|(source, port)| SenderTemplate::Ipv4 { source, port }),
        (v6(), 0..1u32 << 24)
            .prop_map(|(source, flow_label)| { SenderTemplate::Ipv6FlowLabel { source, flow_label } }),
    ]
}

fn float() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

fn bucket() -> impl Strategy<Value = TokenBucket> {
    (float(), float(), float(), any::<u32>(), any::<u32>()).prop_map(
        |(rate, bucket, peak, min_unit, max_packet)| TokenBucket { rate, bucket, peak, min_unit, max_packet },
    )
}

fn flowspec() -> impl Strategy<Value = Flowspec> {
    prop_oneof![
        bucket().prop_map(Flowspec::ControlledLoad),
        (bucket(), float(), any::<u32>()).prop_map(|(bucket, rate, slack_us)| Flowspec::Guaranteed {
            bucket,
            rate,
            slack_us
        }),
    ]
}

fn ero() -> impl Strategy<Value = Vec<EroHop>> {
    let node = prop_oneof![
        (v4(), 0..=32u8).prop_map(|(address, prefix_length)| EroSubobject::Ipv4 { address, prefix_length }),
        (v6(), 0..=128u8).prop_map(|(address, prefix_length)| EroSubobject::Ipv6 { address, prefix_length }),
        (any::<bool>(), any::<u8>(), any::<u32>())
            .prop_map(|(upstream, c_type, label)| { EroSubobject::Label { upstream, c_type, label } }),
        (v4(), any::<u32>())
            .prop_map(|(router_id, interface_id)| EroSubobject::Unnumbered { router_id, interface_id }),
        any::<u16>().prop_map(|number| EroSubobject::AutonomousSystem { number }),
        (40..128u8, 0..60usize, any::<u8>())
            .prop_map(|(kind, words, fill)| EroSubobject::Unknown { kind, data: vec![fill; words * 4 + 2] }),
    ];
    vec((any::<bool>(), node).prop_map(|(loose, node)| EroHop { loose, node }), 0..6)
}

fn rro() -> impl Strategy<Value = Vec<RroSubobject>> {
    let entry = prop_oneof![
        (v4(), any::<u8>(), any::<u8>()).prop_map(|(address, prefix_length, flags)| {
            RroSubobject::Ipv4 { address, prefix_length, flags }
        }),
        (any::<u8>(), any::<u8>(), any::<u32>())
            .prop_map(|(flags, c_type, label)| { RroSubobject::Label { flags, c_type, label } }),
        (any::<u8>(), v4(), any::<u32>()).prop_map(|(flags, router_id, interface_id)| {
            RroSubobject::Unnumbered { flags, router_id, interface_id }
        }),
    ];
    vec(entry, 0..6)
}

fn overrides() -> impl Strategy<Value = Overrides> {
    let (a, b) = (option::of(any::<u32>()), option::of(float()));
    (a, b, option::of(any::<u32>()), option::of(any::<u32>()))
        .prop_map(|(hops, bandwidth, latency_us, mtu)| Overrides { hops, bandwidth, latency_us, mtu })
}

fn adspec() -> impl Strategy<Value = Adspec> {
    let general = (any::<bool>(), any::<u32>(), float(), any::<u32>(), any::<u32>(), any::<[u8; 4]>());
    let general = general.prop_map(|(break_bit, hops, bandwidth, latency_us, mtu, parameter_flags)| {
        General { break_bit, hops, bandwidth, latency_us, mtu, parameter_flags }
    });
    let guaranteed = (any::<bool>(), any::<[u32; 4]>(), overrides());
    let guaranteed = guaranteed.prop_map(|(break_bit, [c_tot, d_tot, c_sum, d_sum], overrides)| {
        GuaranteedFragment { break_bit, c_tot, d_tot, c_sum, d_sum, overrides }
    });
    let controlled = (any::<bool>(), overrides())
        .prop_map(|(break_bit, overrides)| ControlledLoadFragment { break_bit, overrides });
    let other =
        (6..=255u8, any::<bool>(), vec(any::<u32>(), 0..4)).prop_map(|(service, break_bit, words)| {
            let data = words.into_iter().flat_map(u32::to_be_bytes).collect();
            AdspecFragment { service, break_bit, data }
        });
    (general, option::of(guaranteed), option::of(controlled), vec(other, 0..3)).prop_map(
        |(general, guaranteed, controlled_load, others)| Adspec {
            general,
            guaranteed,
            controlled_load,
            others,
        },
    )
}

fn attribute() -> impl Strategy<Value = SessionAttribute> {
    let affinities = any::<[u32; 3]>().prop_map(|[exclude_any, include_any, include_all]| Affinities {
        exclude_any,
        include_any,
        include_all,
    });
    (option::of(affinities), any::<[u8; 3]>(), vec(any::<u8>(), 0..=255)).prop_map(
        |(affinities, [setup_priority, holding_priority, flags], name)| SessionAttribute {
            affinities,
            setup_priority,
            holding_priority,
            flags,
            name,
        },
    )
}

fn diffserv() -> impl Strategy<Value = DiffServ> {
    let entry = (0..8u8, any::<u16>()).prop_map(|(tc, phb)| MapEntry { tc, phb: PhbId(phb) });
    prop_oneof![
        vec(entry, 0..=15).prop_map(DiffServ::ELsp),
        any::<u16>().prop_map(|class| DiffServ::LLsp(PhbId(class))),
    ]
}

fn common() -> impl Strategy<Value = Common> {
    let id = (any::<u8>(), 0..1u32 << 24, any::<u32>());
    let ack = (any::<bool>(), id.clone()).prop_map(|(nack, (flags, epoch, id))| MessageIdAck {
        nack,
        flags,
        epoch,
        id,
    });
    let id = id.prop_map(|(flags, epoch, id)| MessageId { flags, epoch, id });
    let integrity = (any::<[u8; 6]>(), any::<u64>())
        .prop_map(|(key_id, sequence)| Integrity::new(KeyId(key_id), sequence));
    (option::of(integrity), vec(ack, 0..3), option::of(id)).prop_map(|(integrity, acks, message_id)| Common {
        integrity,
        acks,
        message_id,
        unknown: Vec::new(),
    })
}

fn hop() -> impl Strategy<Value = RsvpHop> {
    (address(), any::<u32>()).prop_map(|(address, lih)| RsvpHop { address, lih })
}

fn path() -> impl Strategy<Value = Path> {
    let policy = vec(any::<u32>(), 0..4)
        .prop_map(|words| words.into_iter().flat_map(u32::to_be_bytes).collect::<Vec<u8>>());
    (
        (common(), session(), hop(), any::<u32>(), option::of(ero()), option::of(any::<u16>())),
        (option::of(attribute()), vec(policy, 0..2), sender(), bucket(), option::of(diffserv())),
        (option::of(adspec()), option::of(rro())),
    )
        .prop_map(|(a, b, c)| Path {
            common: a.0,
            session: a.1,
            hop: a.2,
            time_values: TimeValues { refresh_ms: a.3 },
            ero: a.4,
            label_request: a.5.map(|l3pid| LabelRequest::Generic { l3pid }),
            session_attribute: b.0,
            diffserv: b.4,
            policy_data: b.1,
            sender_template: b.2,
            sender_tspec: SenderTspec(b.3),
            adspec: c.0,
            rro: c.1,
        })
}

fn resv() -> impl Strategy<Value = Resv> {
    let filter = (sender(), option::of(any::<u32>()), option::of(rro()))
        .prop_map(|(filter_spec, label, rro)| Filter { filter_spec, label: label.map(Label::truncate), rro });
    let filters = vec(filter, 1..4);
    let body = (flowspec(), filters, any::<bool>()).prop_map(|(flowspec, filters, shared)| {
        if shared {
            return (Style::SharedExplicit, vec![FlowDescriptor { flowspec, filters }]);
        }
        let one = |filter| FlowDescriptor { flowspec, filters: vec![filter] };
        (Style::FixedFilter, filters.into_iter().map(one).collect())
    });
    let scope = vec(v4(), 0..3).prop_map(Scope::Ipv4);
    (common(), session(), hop(), any::<u32>(), option::of(address()), option::of(scope), body).prop_map(
        |(common, session, hop, refresh_ms, resv_confirm, scope, (style, flow_descriptors))| Resv {
            common,
            session,
            hop,
            time_values: TimeValues { refresh_ms },
            resv_confirm,
            scope,
            policy_data: Vec::new(),
            style,
            flow_descriptors,
        },
    )
}

/// Objects with any contents, their lengths right, of classes that are mostly known.
fn almost_message() -> impl Strategy<Value = Vec<u8>> {
    let class = prop_oneof![4 => 0..26u8, 1 => Just(50), 1 => Just(63), 1 => 200..208u8, 1 => any::<u8>()];
    let word =
        prop_oneof![any::<u32>(), 0..32u32, Just(0x0108_0a00), Just(7), Just(0x0500_0006), Just(0x7f00_0005)];
    let object =
        (class, prop_oneof![0..9u8, 12..15u8], vec(word, 0..12)).prop_map(|(class, c_type, words)| {
            let length = (words.len() * 4 + 4) as u16;
            let mut bytes = length.to_be_bytes().to_vec();
            bytes.extend([class, c_type]);
            bytes.extend(words.into_iter().flat_map(u32::to_be_bytes));
            bytes
        });
    (
        prop_oneof![1..8u8, Just(13), Just(15), Just(20), Just(25), any::<u8>()],
        any::<[u8; 4]>(),
        vec(object, 0..8),
    )
        .prop_map(|(kind, [flags, c, ttl, reserved], objects)| {
            let body: Vec<u8> = objects.concat();
            let length = (body.len() + 8) as u16;
            let mut bytes = vec![0x10 | flags & 0x0f, kind, 0, c & 1, ttl, reserved];
            bytes.extend(length.to_be_bytes());
            bytes.extend(body);
            bytes
        })
}

fn raw_is_identity(bytes: &[u8]) {
    let Ok(raw) = RawMessage::decode(bytes) else { return };
    let mut again = Vec::new();
    raw.encode(&mut again).unwrap();
    assert_eq!(again, bytes[..again.len()]);
    let json = serde_json::to_string(&raw).unwrap();
    assert_eq!(serde_json::from_str::<RawMessage>(&json).unwrap(), raw, "{json}");
}

/// Whatever can be read can be written, and then reads the same.
fn typed_settles(bytes: &[u8]) {
    let Ok(packet) = Packet::parse(bytes) else { return };
    let mut again = Vec::new();
    packet.emit(&mut again).unwrap();
    let once = Packet::parse(&again).unwrap();
    let mut thrice = Vec::new();
    once.emit(&mut thrice).unwrap();
    assert_eq!(thrice, again);
    assert!(!packet.summary().contains('\n'));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn arbitrary_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..300)) {
        raw_is_identity(&bytes);
        typed_settles(&bytes);
        let _ = integrity::verify(b"key", &bytes);
        if let Ok(all) = messages(&bytes) {
            prop_assert!(all.count() <= bytes.len());
        }
    }

    #[test]
    fn almost_messages_do_no_harm(bytes in almost_message()) {
        prop_assert!(RawMessage::decode(&bytes).is_ok() || bytes[1] == 12);
        raw_is_identity(&bytes);
        typed_settles(&bytes);
        if let Err(error) = Packet::parse(&bytes) {
            prop_assert!(error.offset <= bytes.len(), "{}", error);
            let _ = Reply::to(&bytes, &error, Ipv4Addr::LOCALHOST.into());
        }
        let mut unsummed = bytes;
        unsummed[2..4].fill(0);
        typed_settles(&unsummed);
    }

    #[test]
    fn damaged_samples_do_no_harm(which in 0..32usize, at in any::<u16>(), value: u8, cut in any::<u16>()) {
        let samples = samples();
        let mut bytes = Vec::new();
        samples[which % samples.len()].emit(0, 64, &mut bytes).unwrap();
        let at = usize::from(at) % bytes.len();
        bytes[at] = value;
        bytes[2..4].fill(0);
        raw_is_identity(&bytes);
        typed_settles(&bytes);
        bytes.truncate(usize::from(cut) % (bytes.len() + 1));
        raw_is_identity(&bytes);
        typed_settles(&bytes);
    }

    #[test]
    fn paths_there_and_back(path in path(), flags in 0..16u8, send_ttl: u8) {
        let packet = Packet { flags, send_ttl, message: Message::Path(path) };
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).unwrap();
        prop_assert_eq!(Packet::parse(&bytes), Ok(packet));
        raw_is_identity(&bytes);
    }

    #[test]
    fn resvs_there_and_back(resv in resv(), flags in 0..16u8, send_ttl: u8) {
        let packet = Packet { flags, send_ttl, message: Message::Resv(resv) };
        let mut bytes = Vec::new();
        packet.emit(&mut bytes).unwrap();
        prop_assert_eq!(Packet::parse(&bytes), Ok(packet));
        raw_is_identity(&bytes);
    }

    #[test]
    fn unknown_objects_keep_their_places(
        path in path(), unknown in vec((any::<u8>(), any::<u8>(), vec(any::<u32>(), 0..3)), 0..4), places: [u8; 4],
    ) {
        let mut raw_bytes = Vec::new();
        // What comes first stays there (RFC 2961, 4.1).
        let first = usize::from(path.common.integrity.is_some())
            + path.common.acks.len()
            + usize::from(path.common.message_id.is_some());
        Message::Path(path).emit(0, 1, &mut raw_bytes).unwrap();
        let mut raw = RawMessage::decode(&raw_bytes).unwrap();
        if let RawBody::Objects(objects) = &mut raw.body {
            for ((low, c_type, words), place) in unknown.into_iter().zip(places) {
                let bytes = words.into_iter().flat_map(u32::to_be_bytes).collect();
                let opaque = Opaque { class: low | 0xd0, c_type, bytes, fault: None, reads_as: None };
                let place = first + usize::from(place) % (objects.len() + 1 - first);
                objects.insert(place, Object::Opaque(opaque));
            }
        }
        let mut bytes = Vec::new();
        raw.encode(&mut bytes).unwrap();
        let packet = Packet::parse(&bytes).unwrap();
        let mut again = Vec::new();
        packet.emit(&mut again).unwrap();
        prop_assert_eq!(again, bytes);
    }
}

proptest! {
    /// DETOUR (RFC 4090, 4.2): any pairs come back; what is no whole number of pairs is none.
    #[test]
    fn pairs_of_detours_come_back(pairs in vec((v4(), v4()), 0..40), bytes in vec(any::<u8>(), 0..80)) {
        let object = Object::Detour(Detour::Ipv4(pairs));
        let carried = Unknown::of(&object).expect("short enough");
        prop_assert_eq!((carried.class, carried.c_type), (class::DETOUR, Detour::C_TYPE_IPV4));
        prop_assert_eq!(carried.read(), object);
        let read = Object::decode(class::DETOUR, Detour::C_TYPE_IPV4, &bytes);
        let whole = matches!(&read, Object::Detour(Detour::Ipv4(pairs)) if pairs.len() * 8 == bytes.len());
        prop_assert_eq!(whole, bytes.len() % 8 == 0, "{:?}", read);
    }
}
