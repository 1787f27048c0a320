use super::*;
use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::prelude::*;

const SRC: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const DST: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

/// A SYN to the port of BGP.
const SYN: [u8; 32] = [
    0xc0, 0x00, 0x00, 0xb3, 0x12, 0x34, 0x56, 0x78, 0, 0, 0, 0, 0x80, 0x02, 0xff, 0xff, 0, 0, 0, 0, //
    2, 4, 0x05, 0xb4, 1, 3, 3, 7, 4, 2, 0, 0,
];

fn syn() -> Repr {
    let options = [
        TcpOption::MaximumSegmentSize(1460),
        TcpOption::NoOperation,
        TcpOption::WindowScale(7),
        TcpOption::SackPermitted,
    ];
    Repr {
        src_port: 49152,
        dst_port: 179,
        sequence: 0x1234_5678,
        acknowledgment: 0,
        reserved: 0,
        flags: Flags::SYN,
        window: 0xffff,
        urgent: 0,
        options: Options::of(&options).unwrap(),
    }
}

#[test]
fn a_syn_decodes_and_encodes() {
    let packet = Packet::new_checked(&SYN[..]).unwrap();
    assert_eq!(Repr::parse(&packet), Ok(syn()));
    assert_eq!((packet.sequence_len(), syn().options.maximum_segment_size()), (1, Some(1460)));
    let mut bytes = vec![0; syn().buffer_len()];
    syn().emit(&mut bytes);
    assert_eq!(bytes, SYN);
}

#[test]
fn a_checksum_covers_addresses_header_and_payload() {
    let v6 = [1, 2].map(|last| IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)));
    for [src, dst] in [[SRC, DST], v6] {
        let mut bytes = [&SYN[..], b"odd"].concat();
        Packet::new_checked(&mut bytes[..]).unwrap().fill_checksum(src, dst);
        assert_eq!(Packet::new_checked(&bytes).unwrap().verify_checksum(src, dst), Ok(()));
        assert!(Packet::new_checked(&bytes).unwrap().verify_checksum(src, src).is_err());
        for at in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x10;
            let packet = Packet::new_checked(&wrong);
            assert!(packet.is_err() || packet.is_ok_and(|p| p.verify_checksum(src, dst).is_err()), "{at}");
        }
    }
}

#[test]
fn a_wrong_data_offset_is_an_error() {
    let mut bytes = SYN;
    bytes[12] = 0x40;
    let error = Packet::new_checked(&bytes[..]).unwrap_err();
    assert_eq!(error.to_string(), "tcp: data offset is 4, outside 5 to 15 (at byte 12)");
    bytes[12] = 0x90;
    assert_eq!(Packet::new_checked(&bytes[..]).unwrap_err(), Error::truncated("tcp", 36, 32));
}

#[test]
fn flags_have_names() {
    let flags = Flags::SYN.with(Flags::ACK);
    assert_eq!(flags.names().collect::<Vec<_>>(), ["SYN", "ACK"]);
    assert_eq!(flags.names().filter_map(Flags::named).fold(Flags::default(), Flags::with), flags);
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_bytes(mut bytes in proptest::collection::vec(any::<u8>(), 0..80), words in 5u8..16) {
        if let Some(offset) = bytes.get_mut(12) {
            *offset = words << 4;
        }
        if let Ok(packet) = Packet::new_checked(&bytes) {
            let repr = Repr::parse(&packet).unwrap();
            let mut again = vec![0; repr.buffer_len()];
            repr.emit(&mut again);
            again[16..18].copy_from_slice(&bytes[16..18]);
            prop_assert_eq!(&again[..], &bytes[..packet.header_len()]);
            let list: Vec<TcpOption<'_>> = repr.options.iter().collect();
            let len = Options::of(&list).map_or(0, |o| o.as_bytes().len());
            prop_assert!(len <= repr.options.as_bytes().len());
        }
    }
}
