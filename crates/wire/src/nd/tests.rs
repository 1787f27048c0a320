use super::*;
use crate::icmpv6::{self, Packet};
use crate::ipv6;
use proptest::prelude::*;

const MAC: MacAddr = MacAddr([2, 0, 0, 1, 0, 7]);
const ADDRESS: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0xab, 0xcdef);

fn options(list: &[NdOption<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    list.iter().for_each(|option| option.append_to(&mut bytes));
    bytes
}

fn emitted(repr: Repr<'_>, src: Ipv6Addr, dst: Ipv6Addr) -> Vec<u8> {
    let message = icmpv6::Repr::Discovery(repr);
    let mut bytes = vec![0x77; message.buffer_len()];
    message.emit(src, dst, &mut bytes);
    bytes
}

#[test]
fn addresses_are_made_of_addresses() {
    assert_eq!(solicited_node(ADDRESS), "ff02::1:ffab:cdef".parse::<Ipv6Addr>().unwrap());
    assert_eq!(group_mac(solicited_node(ADDRESS)), MacAddr([0x33, 0x33, 0xff, 0xab, 0xcd, 0xef]));
    // RFC 2464, 5: the universal bit is complemented.
    assert_eq!(
        link_local(MacAddr([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde])),
        "fe80::3656:78ff:fe9a:bcde".parse::<Ipv6Addr>().unwrap()
    );
}

#[test]
fn a_solicitation_and_its_answer_have_the_bytes_of_the_rfc() {
    let own = options(&[NdOption::SourceLinkLayer(MAC)]);
    let solicitation = Repr::NeighborSolicitation { target: ADDRESS, options: Options::of(&own).unwrap() };
    let bytes = emitted(solicitation, link_local(MAC), solicited_node(ADDRESS));
    assert_eq!(bytes[..2], [135, 0]);
    assert_eq!(bytes[4..8], [0; 4]);
    assert_eq!(bytes[8..24], ADDRESS.octets());
    assert_eq!(bytes[24..], [1, 1, 2, 0, 0, 1, 0, 7]);
    let target = options(&[NdOption::TargetLinkLayer(MAC)]);
    let answer = Repr::NeighborAdvertisement {
        router: true,
        solicited: true,
        replaces: false,
        target: ADDRESS,
        options: Options::of(&target).unwrap(),
    };
    let bytes = emitted(answer, ADDRESS, link_local(MAC));
    assert_eq!((bytes[0], bytes[4], &bytes[24..]), (136, 0xc0, &[2, 1, 2, 0, 0, 1, 0, 7][..]));
    let packet = Packet::new_checked(&bytes[..]).unwrap();
    assert_eq!(icmpv6::Repr::parse(&packet, ADDRESS, link_local(MAC)), Ok(icmpv6::Repr::Discovery(answer)));
    assert_eq!(answer.options().target(), Some(MAC));
}

#[test]
fn an_advertisement_of_a_router_says_what_holds_on_the_link() {
    let prefix = PrefixInformation {
        len: 64,
        on_link: true,
        autonomous: true,
        valid_s: 2_592_000,
        preferred_s: 604_800,
        prefix: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0),
    };
    let list = [NdOption::SourceLinkLayer(MAC), NdOption::Mtu(1500), NdOption::Prefix(prefix)];
    let bytes = options(&list);
    assert_eq!(bytes.len(), 8 + 8 + 32);
    assert_eq!(bytes[16..20], [3, 4, 64, 0xc0]);
    let options = Options::of(&bytes).unwrap();
    assert!(options.iter().eq(list));
    assert_eq!(options.source(), Some(MAC));
    let repr = Repr::RouterAdvertisement {
        hop_limit: 64,
        managed: false,
        other: true,
        lifetime_s: 1800,
        reachable_ms: 0,
        retransmit_ms: 1000,
        options,
    };
    let bytes = emitted(repr, link_local(MAC), ALL_NODES);
    assert_eq!(bytes[4..16], [64, 0x40, 7, 8, 0, 0, 0, 0, 0, 0, 3, 0xe8]);
}

#[test]
fn an_option_without_length_makes_a_message_void() {
    let mut data = ADDRESS.octets().to_vec();
    data.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    let error = Repr::parse(icmpv6::Type::NEIGHBOR_SOLICITATION, [0; 4], &data).unwrap_err();
    assert_eq!(error.to_string(), "icmpv6: option length is 0, outside 1 to 1 (at byte 25)");
    let error = Repr::parse(icmpv6::Type::NEIGHBOR_SOLICITATION, [0; 4], &data[..9]).unwrap_err();
    assert_eq!(error.to_string(), "icmpv6: 24 bytes needed, 17 there (at byte 17)");
}

#[test]
fn what_comes_from_afar_is_not_believed() {
    let own = options(&[NdOption::SourceLinkLayer(MAC)]);
    let with = Options::of(&own).unwrap();
    let ask = Repr::NeighborSolicitation { target: ADDRESS, options: with };
    let probe = Repr::NeighborSolicitation { target: ADDRESS, options: Options::default() };
    let header = |src, dst| ipv6::Repr {
        hop_limit: HOP_LIMIT,
        ..ipv6::Repr::new(src, dst, ipv6::Protocol::ICMPV6, 32)
    };
    let (group, nobody) = (solicited_node(ADDRESS), Ipv6Addr::UNSPECIFIED);
    let good = header(link_local(MAC), group);
    assert!(ask.check(&good).is_ok() && probe.check(&header(nobody, group)).is_ok());
    assert!(ask.check(&ipv6::Repr { hop_limit: 254, ..good }).is_err());
    assert!(ask.check(&header(nobody, group)).is_err(), "an address of nobody");
    assert!(probe.check(&header(nobody, ADDRESS)).is_err(), "a probe goes to the group");
    let of_group = Repr::NeighborSolicitation { target: ALL_NODES, options: with };
    assert!(of_group.check(&good).is_err());
    let advertisement = |solicited| Repr::NeighborAdvertisement {
        router: false,
        solicited,
        replaces: true,
        target: ADDRESS,
        options: Options::default(),
    };
    assert!(advertisement(false).check(&header(ADDRESS, ALL_NODES)).is_ok());
    assert!(advertisement(true).check(&header(ADDRESS, ALL_NODES)).is_err());
    let router = |src| {
        let (hop_limit, lifetime_s, reachable_ms, retransmit_ms) = (0, 0, 0, 0);
        let (managed, other, options) = (false, false, Options::default());
        Repr::RouterAdvertisement {
            hop_limit,
            managed,
            other,
            lifetime_s,
            reachable_ms,
            retransmit_ms,
            options,
        }
        .check(&header(src, ALL_NODES))
    };
    assert!(router(link_local(MAC)).is_ok() && router(ADDRESS).is_err());
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn any_options(bytes in proptest::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..80)) {
        if let Ok(options) = Options::of(&bytes) {
            let list: Vec<_> = options.iter().collect();
            prop_assert_eq!(self::options(&list), bytes);
        }
    }

    #[test]
    fn any_message(kind in 133u8..138, rest: [u8; 4], data in proptest::collection::vec(any::<u8>(), 0..60)) {
        let _ = Repr::parse(icmpv6::Type(kind), rest, &data);
    }
}
