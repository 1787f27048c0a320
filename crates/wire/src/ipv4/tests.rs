use super::options::IpOption;
use super::*;
use proptest::prelude::*;

const SRC: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 1);
const DST: Ipv4Addr = Ipv4Addr::new(192, 168, 0, 199);

fn vectors() -> [(&'static [u8], Repr); 2] {
    let udp = Repr { dont_fragment: true, ..Repr::new(SRC, DST, Protocol::UDP, 4) };
    let rsvp = Repr {
        ttl: 255,
        dscp: Dscp::CS6,
        ident: 0x1234,
        options: Options::ROUTER_ALERT,
        ..Repr::new(SRC, DST, Protocol::RSVP, 4)
    };
    static UDP: [u8; 24] = [
        0x45, 0x00, 0x00, 0x18, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0xbc, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7, 1, 2, 3, 4,
    ];
    static RSVP: [u8; 28] = [
        0x46, 0xc0, 0x00, 0x1c, 0x12, 0x34, 0x00, 0x00, 0xff, 0x2e, 0x91, 0xa2, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7, 0x94, 0x04, 0x00, 0x00, 1, 2, 3, 4,
    ];
    [(&UDP, udp), (&RSVP, rsvp)]
}

#[test]
fn vectors_decode() {
    for (bytes, repr) in vectors() {
        let packet = Packet::new_checked(bytes).unwrap();
        assert_eq!(Repr::parse(&packet), Ok(repr));
        assert_eq!(packet.payload(), &[1, 2, 3, 4]);
    }
}

#[test]
fn vectors_encode() {
    for (bytes, repr) in vectors() {
        let mut buffer = vec![0x77; repr.buffer_len()];
        repr.emit(&mut buffer);
        assert_eq!(buffer, bytes[..repr.buffer_len()]);
        assert_eq!(repr.check(), Ok(()));
    }
}

#[test]
fn a_well_known_header() {
    // The header of the checksum example that many textbooks print.
    let mut bytes = [0u8; 0x73];
    bytes[..20].copy_from_slice(&[
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7,
    ]);
    assert_eq!(Packet::new_checked(&bytes).unwrap().compute_checksum(), 0xb861);
}

#[test]
fn errors_name_the_field() {
    let good = vectors()[0].0;
    let with = |at: usize, value: u8| {
        let mut bytes = good.to_vec();
        bytes[at] = value;
        Packet::new_checked(&bytes).and_then(|p| Repr::parse(&p)).unwrap_err().to_string()
    };
    assert_eq!(with(0, 0x65), "ipv4: version is 6, not 4 (at byte 0)");
    assert_eq!(with(0, 0x44), "ipv4: IHL is 4, outside 5 to 15 (at byte 0)");
    assert_eq!(with(0, 0x47), "ipv4: 28 bytes needed, 24 there (at byte 24)");
    assert_eq!(with(3, 19), "ipv4: total length is 19, outside 20 to 65535 (at byte 2)");
    assert_eq!(with(3, 25), "ipv4: 25 bytes needed, 24 there (at byte 24)");
    assert_eq!(with(8, 0x3f), "ipv4: checksum is 0xb8bc, not 0xb9bc (at byte 10)");
    let mut bytes = vectors()[1].0.to_vec();
    bytes[21] = 5;
    Packet::new_unchecked(&mut bytes).fill_checksum();
    let error = Repr::parse(&Packet::new_checked(&bytes).unwrap()).unwrap_err();
    assert_eq!(error.to_string(), "ipv4: option length is 5, outside 2 to 4 (at byte 21)");
}

#[test]
fn replacing_keeps_the_checksum_right() {
    for (bytes, _) in vectors() {
        let mut bytes = bytes.to_vec();
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        for ttl in [254, 1, 0, 63] {
            packet.replace_ttl(ttl);
            packet.replace_dscp(Dscp::new(ttl & 0x3f).unwrap());
            assert_eq!(packet.verify_checksum(), Ok(()));
            assert_eq!((packet.ttl(), packet.dscp().value()), (ttl, ttl & 0x3f));
        }
    }
}

#[test]
fn options_are_read_and_built() {
    let mut builder = OptionsBuilder::new();
    let options = [
        IpOption::NoOperation,
        IpOption::Other { kind: options::RECORD_ROUTE, data: &[4, 0, 0, 0, 0] },
        IpOption::RouterAlert(0),
    ];
    for option in options {
        builder.push(option).unwrap();
    }
    assert!(builder.push(IpOption::Other { kind: 130, data: &[0; 30] }).is_err());
    let built = builder.finish();
    assert_eq!(built.as_bytes(), [1, 7, 7, 4, 0, 0, 0, 0, 148, 4, 0, 0]);
    assert!(built.iter().eq(options));
    assert!(built.router_alert() && !Options::NONE.router_alert());
    assert_eq!(built.of_later_fragments(), Options::ROUTER_ALERT);
    assert_eq!(Options::from_bytes(built.as_bytes()), Ok(built));
}

#[test]
fn later_fragments_have_the_copied_options_only() {
    let mut builder = OptionsBuilder::new();
    builder.push(IpOption::Other { kind: options::RECORD_ROUTE, data: &[4, 0, 0, 0, 0, 0] }).unwrap();
    builder.push(IpOption::RouterAlert(0)).unwrap();
    let header = Repr { options: builder.finish(), ..Repr::new(SRC, DST, Protocol::UDP, 100) };
    let plan: Vec<_> = fragments(&header, 60).unwrap().collect();
    assert_eq!(header.buffer_len(), 32);
    // 60 - 32 = 28, rounded down to 24; then 60 - 24 = 36, rounded down to 32.
    let payloads: Vec<_> = plan.iter().map(|f| f.payload.clone()).collect();
    assert_eq!(payloads, [0..24, 24..56, 56..88, 88..100]);
    assert!(plan[1..].iter().all(|f| f.header.options == Options::ROUTER_ALERT));
    assert_eq!(plan[0].header.options, header.options);
    assert_eq!(plan[3].header.fragment_offset, 11);
}

#[test]
fn fragmentation_is_refused() {
    let header = Repr { dont_fragment: true, ..Repr::new(SRC, DST, Protocol::UDP, 100) };
    assert_eq!(fragments(&header, 119).unwrap_err(), Refusal::DontFragment);
    assert_eq!(fragments(&header, 120).unwrap().count(), 1);
    let header = Repr { dont_fragment: false, ..header };
    assert_eq!(fragments(&header, 27).unwrap_err(), Refusal::MtuTooSmall);
    assert_eq!(fragments(&header, 28).unwrap().count(), 13);
}

fn any_header() -> impl Strategy<Value = Repr> {
    let tail = (any::<(bool, bool)>(), 0u16..1000, 0u16..2000, any_options());
    (any::<(u32, u32, u8, u8, u8, u16)>(), tail).prop_map(|(a, (flags, offset, payload_len, options))| Repr {
        src: a.0.into(),
        dst: a.1.into(),
        protocol: Protocol(a.2),
        ttl: a.3,
        dscp: Dscp::of_tos(a.4),
        ecn: a.4 & 3,
        ident: a.5,
        dont_fragment: flags.0,
        more_fragments: flags.1,
        fragment_offset: offset,
        payload_len,
        options,
    })
}

fn any_options() -> impl Strategy<Value = Options> {
    proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u8>(), 0..8)), 0..6).prop_map(
        |list| {
            let mut builder = OptionsBuilder::new();
            for (kind, data) in &list {
                let option = match kind {
                    0..32 => IpOption::NoOperation,
                    32..64 => IpOption::RouterAlert(0),
                    &kind => IpOption::Other { kind, data },
                };
                if builder.push(option).is_err() {
                    break;
                }
            }
            builder.finish()
        },
    )
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..100), likely: bool) {
        if likely && bytes.len() >= 24 {
            bytes[0] = 0x45 + (bytes[0] & 1);
            bytes[2..4].copy_from_slice(&[0, 24]);
        }
        if let Ok(packet) = Packet::new_checked(&bytes) {
            let _ = (Repr::parse(&packet), packet.payload());
            if let Ok(repr) = Repr::parse_unverified(&packet) {
                let mut again = vec![0; repr.buffer_len()];
                repr.emit(&mut again);
                let mut want = bytes[..packet.header_len()].to_vec();
                want[6] &= 0x7f;
                Packet::new_unchecked(&mut want).fill_checksum();
                prop_assert_eq!(again, want);
                prop_assert!(repr.options.iter().count() <= options::MAX_LEN);
            }
        }
    }

    #[test]
    fn round_trip(repr in any_header()) {
        let mut bytes = vec![0; repr.total_len()];
        repr.emit(&mut bytes);
        prop_assert_eq!(Repr::parse(&Packet::new_checked(&bytes).unwrap()), Ok(repr));
    }

    #[test]
    fn fragments_cover_the_payload_once(header in any_header(), mtu in 68usize..1600) {
        let Ok(plan) = fragments(&header, mtu) else {
            prop_assert!(header.dont_fragment && header.total_len() > mtu);
            return Ok(());
        };
        let mut next = 0;
        for piece in plan {
            prop_assert_eq!(piece.payload.start, next);
            next = piece.payload.end;
            prop_assert!(piece.header.total_len() <= mtu);
            prop_assert_eq!(usize::from(piece.header.payload_len), piece.payload.len());
            prop_assert_eq!(
                usize::from(piece.header.fragment_offset - header.fragment_offset) * 8, piece.payload.start
            );
            let last = next == usize::from(header.payload_len);
            prop_assert_eq!(piece.header.more_fragments, header.more_fragments || !last);
            prop_assert!(last || piece.payload.len() % 8 == 0 && !piece.payload.is_empty());
        }
        prop_assert_eq!(next, usize::from(header.payload_len));
    }
}
