use super::*;
use crate::hex::Hex;
use crate::tree::{self, Layer};
use proptest::prelude::*;

const R1: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const R2: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const AREA: Ipv4Addr = Ipv4Addr::UNSPECIFIED;

fn addresses() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}

fn keys() -> impl Strategy<Value = LsaKey> {
    let kind = prop_oneof![1..=5u8, Just(7), 9..=11u8, any::<u8>()];
    (kind, addresses(), addresses()).prop_map(|(kind, id, router)| LsaKey { kind: LsaKind(kind), id, router })
}

fn headers() -> impl Strategy<Value = LsaHeader> {
    (any::<(u16, u8, i32, u16, u16)>(), keys()).prop_map(
        |((age, options, sequence, checksum, length), key)| LsaHeader {
            age,
            options,
            key,
            sequence,
            checksum,
            length,
        },
    )
}

fn links() -> impl Strategy<Value = Vec<RouterLink>> {
    let tos = (any::<u8>(), any::<u16>()).prop_map(|(tos, metric)| TosMetric { tos, metric });
    let link = (addresses(), addresses(), 1..=4u8, any::<u16>(), proptest::collection::vec(tos, 0..3));
    let link = link.prop_map(|(id, data, kind, metric, tos)| RouterLink { id, data, kind, metric, tos });
    proptest::collection::vec(link, 0..5)
}

/// An advertisement whose body is as its type says.
fn lsas() -> impl Strategy<Value = Lsa> {
    let hex = || prop_oneof![Just(Hex::default()), any::<[u8; 4]>().prop_map(|bytes| bytes[..].into())];
    let body = prop_oneof![
        (any::<u8>(), links()).prop_map(|(flags, links)| (1, LsaBody::Router(Router { flags, links }))),
        (addresses(), proptest::collection::vec(addresses(), 0..5))
            .prop_map(|(mask, routers)| (2, LsaBody::Network(Network { mask, routers }))),
        (3..=4u8, addresses(), 0..=LS_INFINITY, hex())
            .prop_map(|(kind, mask, metric, tos)| (kind, LsaBody::Summary(Summary { mask, metric, tos }))),
        (prop_oneof![Just(5), Just(7)], addresses(), any::<bool>(), 0..=LS_INFINITY, addresses(), hex())
            .prop_map(|(kind, mask, type2, metric, forwarding, tos)| {
                let external = External { mask, type2, metric, forwarding, tag: metric, tos };
                (kind, LsaBody::External(external))
            }),
        (9..=11u8, proptest::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(kind, bytes)| (kind, LsaBody::Other { bytes: Hex(bytes) })),
    ];
    (any::<(u16, u8, i32)>(), addresses(), addresses(), body).prop_map(
        |((age, options, sequence), id, router, (kind, body))| {
            let key = LsaKey { kind: LsaKind(kind), id, router };
            Lsa { age, options, key, sequence, checksum: None, correct_checksum: None, body }
        },
    )
}

fn bodies() -> impl Strategy<Value = Body> {
    let many = || proptest::collection::vec(headers(), 0..4);
    let hello = (addresses(), any::<(u16, u8, u8, u32)>(), addresses(), addresses());
    let hello = (hello, proptest::collection::vec(addresses(), 0..4));
    prop_oneof![
        hello.prop_map(|((mask, (hello_s, options, priority, dead_s), designated, backup), neighbors)| {
            Body::Hello(Hello { mask, hello_s, options, priority, dead_s, designated, backup, neighbors })
        }),
        (any::<(u16, u8, u8, u32)>(), many()).prop_map(|((mtu, options, flags, sequence), headers)| {
            Body::Description(Description { mtu, options, flags, sequence, headers })
        }),
        proptest::collection::vec(keys(), 0..4).prop_map(|wanted| Body::Request { wanted }),
        proptest::collection::vec(lsas(), 0..4).prop_map(|lsas| {
            let whole = |lsa: Lsa| Lsa::read(&lsa.write().expect("bytes")).expect("an LSA");
            Body::Update { lsas: lsas.into_iter().map(whole).collect() }
        }),
        many().prop_map(|headers| Body::Ack { headers }),
    ]
}

fn auths() -> impl Strategy<Value = Auth> {
    let algorithm = prop_oneof![
        Just(Algorithm::Md5),
        Just(Algorithm::HmacSha1),
        Just(Algorithm::HmacSha256),
        Just(Algorithm::HmacSha384),
        Just(Algorithm::HmacSha512),
    ];
    let key = (any::<u8>(), algorithm, proptest::collection::vec(any::<u8>(), 0..80));
    prop_oneof![
        Just(Auth::Null),
        any::<[u8; 8]>().prop_map(Auth::Simple),
        key.prop_map(|(id, algorithm, secret)| Auth::Cryptographic(Key { id, algorithm, secret })),
    ]
}

fn hello() -> Hello {
    Hello {
        mask: Ipv4Addr::new(255, 255, 255, 252),
        hello_s: 10,
        options: options::E,
        priority: 1,
        dead_s: 40,
        designated: AREA,
        backup: AREA,
        neighbors: vec![R2],
    }
}

#[test]
fn a_hello_has_the_bytes_of_the_rfc() {
    let mut bytes = Body::Hello(hello()).packet(R1, AREA).expect("bytes");
    Auth::Null.seal(&mut bytes, 0);
    // RFC 2328, A.3.1 and A.3.2; the checksum is the complement of the sum of the words.
    let head = [2, 1, 0, 48, 10, 0, 0, 1, 0, 0, 0, 0];
    let body = [255, 255, 255, 252, 0, 10, 2, 1, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];
    assert_eq!((&bytes[..12], &bytes[24..]), (&head[..], &body[..]));
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    assert_eq!((sum >> 16) + (sum & 0xffff), 0xffff);
    let header = Header::parse(&bytes).expect("a header");
    assert_eq!((header.kind, header.router_id, header.length), (Kind::Hello, R1, 48));
    assert_eq!(Body::parse(header.kind, &bytes[HEADER_LEN..]), Ok(Body::Hello(hello())));
}

#[test]
fn an_advertisement_has_fletchers_checksum() {
    // RFC 905, annex B: both sums over all bytes, here all but the age, are zero.
    let link = RouterLink { id: R2, data: R1, kind: link::POINT_TO_POINT, metric: 10, tos: Vec::new() };
    let key = LsaKey { kind: LsaKind::ROUTER, id: R1, router: R1 };
    let body = LsaBody::Router(Router { flags: 0, links: vec![link] });
    let (sequence, checksum, correct_checksum) = (INITIAL_SEQUENCE, None, None);
    let lsa = Lsa { age: 1, options: options::E, key, sequence, checksum, correct_checksum, body };
    let mut bytes = lsa.write().expect("bytes");
    let (mut c0, mut c1) = (0u32, 0u32);
    for byte in &bytes[2..] {
        c0 = (c0 + u32::from(*byte)) % 255;
        c1 = (c1 + c0) % 255;
    }
    assert_eq!((c0, c1), (0, 0));
    assert!(Lsa::is_intact(&bytes));
    set_age(&mut bytes, 3600);
    assert!(Lsa::is_intact(&bytes), "the age is not covered");
    bytes[24] ^= 1;
    assert!(!Lsa::is_intact(&bytes));
    let read = Lsa::read(&bytes).expect("an LSA");
    assert!(read.correct_checksum.is_some());
    assert_eq!(read.write(), Ok(bytes));
}

#[test]
fn the_newer_instance_is_found_as_the_rfc_says() {
    let key = LsaKey { kind: LsaKind::ROUTER, id: R1, router: R1 };
    let (checksum, length) = (7, 36);
    let base = LsaHeader { age: 100, options: 2, key, sequence: INITIAL_SEQUENCE, checksum, length };
    let with = |age, sequence, checksum| LsaHeader { age, sequence, checksum, ..base };
    // RFC 2328, 13.1: sequence, as signed numbers; then checksum; then MaxAge; then ages that differ by a lot.
    assert_eq!(newer(&with(100, 1, 7), &with(100, -1, 9)), Newer::First);
    assert_eq!(newer(&with(100, MAX_SEQUENCE, 7), &with(100, INITIAL_SEQUENCE, 7)), Newer::First);
    assert_eq!(newer(&with(100, 1, 7), &with(100, 1, 9)), Newer::Second);
    assert_eq!(newer(&with(3600, 1, 7), &with(2000, 1, 7)), Newer::First);
    assert_eq!(newer(&with(1, 1, 7), &with(902, 1, 7)), Newer::First);
    assert_eq!(newer(&with(1, 1, 7), &with(901, 1, 7)), Newer::Neither);
}

#[test]
fn digests_are_those_of_the_rfcs() {
    // RFC 2328, D.4.3: MD5 over packet and padded key, behind the packet; the length and the checksum leave it out.
    let key = |algorithm| Auth::Cryptographic(Key { id: 3, algorithm, secret: b"secret".to_vec() });
    let mut bytes = Body::Hello(hello()).packet(R1, AREA).expect("bytes");
    key(Algorithm::Md5).seal(&mut bytes, 9);
    assert_eq!(bytes[12..24], [0, 0, 0, 2, 0, 0, 3, 16, 0, 0, 0, 9]);
    assert_eq!((bytes.len(), bytes[3]), (48 + 16, 48));
    let header = Header::parse(&bytes).expect("a header");
    assert_eq!(key(Algorithm::Md5).verify(&header, &bytes), Ok(Some(9)));
    let error = |auth: &Auth, bytes: &[u8]| auth.verify(&header, bytes).expect_err("a refusal").to_string();
    let other = Auth::Cryptographic(Key { id: 3, algorithm: Algorithm::Md5, secret: b"Secret".to_vec() });
    let wrong = "ospf: the digest is not that of the packet under this key (at byte 48)";
    assert_eq!(error(&other, &bytes), wrong);
    assert_eq!(error(&Auth::Null, &bytes), "ospf: AuType is 2, not 0 (at byte 14)");
    let sha = error(&key(Algorithm::HmacSha256), &bytes);
    assert_eq!(sha, "ospf: authentication length is 16, not 32 (at byte 19)");
    assert_eq!(error(&key(Algorithm::Md5), &bytes[..60]), "ospf: 64 bytes needed, 60 there (at byte 60)");
}

#[test]
fn lengths_that_lie_are_refused() {
    let mut bytes = Body::Hello(hello()).packet(R1, AREA).expect("bytes");
    let error = |bytes: &[u8]| Header::parse(bytes).expect_err("a refusal").to_string();
    assert_eq!(error(&bytes[..23]), "ospf: 24 bytes needed, 23 there (at byte 23)");
    assert_eq!(error(&bytes[..40]), "ospf: 48 bytes needed, 40 there (at byte 40)");
    bytes[3] = 23;
    assert_eq!(error(&bytes), "ospf: length is 23, outside 24 to 65535 (at byte 2)");
    bytes[..2].copy_from_slice(&[3, 1]);
    assert_eq!(error(&bytes), "ospf: version is 3, not 2 (at byte 0)");
    let refused = |kind, body: &[u8]| Body::parse(kind, body).expect_err("a refusal").to_string();
    assert_eq!(refused(Kind::Update, &[0, 0, 0, 1]), "ospf: # LSAs is 1, not 0 (at byte 24)");
    assert_eq!(refused(Kind::Request, &[0; 13]), "ospf: 24 bytes needed, 13 there (at byte 37)");
    let mut lsa = [0; 24];
    (lsa[3], lsa[23]) = (1, 21);
    assert_eq!(refused(Kind::Update, &lsa), "ospf: LSA length is 21, outside 20 to 20 (at byte 46)");
}

/// A frame with a packet.
fn frame(packet: &[u8]) -> Vec<u8> {
    use crate::{ethernet, ipv4};
    let (src, dst) = (base::MacAddr([2, 0, 0, 0, 0, 1]), base::MacAddr([1, 0, 0x5e, 0, 0, 5]));
    let tags = [None, None];
    let ethernet = ethernet::Repr { dst, src, tags, ethertype: ethernet::EtherType::IPV4 };
    let mut bytes = vec![0; ethernet.buffer_len()];
    ethernet.emit(&mut bytes);
    let len = packet.len() as u16;
    let ip = ipv4::Repr::new(R1, ALL_SPF_ROUTERS, ipv4::Protocol::OSPF, len);
    let mut header = vec![0; ip.buffer_len()];
    ip.emit(&mut header);
    [&bytes[..], &header, packet].concat()
}

#[test]
fn people_see_layers_and_a_line() {
    let mut bytes = Body::Hello(hello()).packet(R1, AREA).expect("bytes");
    Auth::Null.seal(&mut bytes, 0);
    let tree = tree::decode(&frame(&bytes));
    assert!(matches!(tree.layers[2], Layer::Ospf(_)), "{tree:?}");
    let line = tree::summary(&tree);
    let said = "OSPF Hello from 10.0.0.1 area 0.0.0.0, hello 10 s, dead 40 s, hears 10.0.0.2";
    assert!(line.ends_with(said), "{line}");
    let text = serde_json::to_string(&tree).expect("JSON");
    let again: tree::Tree = serde_json::from_str(&text).expect("a tree");
    assert_eq!((tree::encode(&again).ok(), again), (Some(frame(&bytes)), tree));
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn packets_are_written_and_read(body in bodies(), auth in auths(), sequence: u32) {
        let mut bytes = body.packet(R1, R2).expect("bytes");
        let length = bytes.len();
        auth.seal(&mut bytes, sequence);
        prop_assert_eq!(bytes.len(), length + auth.trailer_len());
        let header = Header::parse(&bytes).expect("a header");
        let sequence = matches!(auth, Auth::Cryptographic(_)).then_some(sequence);
        prop_assert_eq!(auth.verify(&header, &bytes), Ok(sequence));
        prop_assert_eq!(Body::parse(header.kind, &bytes[HEADER_LEN..length]), Ok(body.clone()));
        let tree = tree::decode(&frame(&bytes));
        let Some(Layer::Ospf(layer)) = tree.layers.get(2) else { panic!("{tree:?}") };
        prop_assert_eq!((&layer.body, layer.correct_checksum), (&body, None));
        let text = serde_json::to_string(&tree).expect("JSON");
        let again: tree::Tree = serde_json::from_str(&text).expect("a tree");
        prop_assert_eq!(tree::encode(&again), Ok(frame(&bytes)));
    }

    #[test]
    fn advertisements_are_intact_until_a_bit_is_wrong(lsa in lsas(), bit in 16usize..4000) {
        let mut bytes = lsa.write().expect("bytes");
        prop_assert!(Lsa::is_intact(&bytes));
        let read = Lsa::read(&bytes).expect("an LSA");
        prop_assert_eq!((&read.body, read.correct_checksum), (&lsa.body, None));
        let age = lsa.age;
        let of_update = Body::update(R1, R2, [(&bytes[..], age), (&bytes, age)].into_iter()).expect("bytes");
        let all: Vec<&[u8]> = Lsas::parse(&of_update[HEADER_LEN..]).expect("LSAs").collect();
        prop_assert_eq!(all, [&bytes[..], &bytes]);
        let bit = 16 + (bit - 16) % (bytes.len() * 8 - 16);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(!Lsa::is_intact(&bytes));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        kind in 0u8..7, bytes in proptest::collection::vec(prop_oneof![0u8..12, any::<u8>()], 0..120),
    ) {
        let mut whole = packet_of(kind, &bytes);
        if let Ok(header) = Header::parse(&whole) {
            let _ = (Auth::Null.verify(&header, &whole), Body::parse(header.kind, &whole[HEADER_LEN..]));
        }
        prop_assert_eq!(tree::encode(&tree::decode(&frame(&whole))), Ok(frame(&whole)));
        whole.truncate(bytes.len());
        prop_assert_eq!(tree::encode(&tree::decode(&frame(&whole))), Ok(frame(&whole)));
        let _ = (LsaBody::parse(LsaKind(kind), &bytes), Lsa::read(&bytes), Lsa::is_intact(&bytes));
    }
}

fn packet_of(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = ((HEADER_LEN + body.len()) as u16).to_be_bytes();
    [&[2, kind, length[0], length[1]], &[0; 20][..], body].concat()
}

/// tshark reads every kind of packet and of advertisement without complaint.
#[test]
fn tshark_finds_nothing_malformed() {
    use std::process::Command;
    if !testing::available("tshark") {
        return;
    }
    let key = |kind, id| LsaKey { kind, id, router: R1 };
    let lsa = |kind, id, body| Lsa {
        age: 1,
        options: options::E,
        key: key(kind, id),
        sequence: INITIAL_SEQUENCE,
        checksum: None,
        correct_checksum: None,
        body,
    };
    let net = Ipv4Addr::new(192, 0, 2, 0);
    let mask = Ipv4Addr::new(255, 255, 255, 0);
    let links = [(R2, R1, link::POINT_TO_POINT), (R2, R1, link::TRANSIT), (net, mask, link::STUB)];
    let links = links.map(|(id, data, kind)| RouterLink { id, data, kind, metric: 10, tos: Vec::new() });
    let external = External { mask, type2: true, metric: 20, forwarding: R2, tag: 7, tos: Hex::default() };
    let summary = |mask| LsaBody::Summary(Summary { mask, metric: 5, tos: Hex::default() });
    let router = Router { flags: router_flags::B | router_flags::E, links: links.to_vec() };
    // RFC 3630, 2.4.1: a TLV with the router's address.
    let te = Hex(vec![0, 1, 0, 4, 10, 0, 0, 1]);
    let lsas = vec![
        lsa(LsaKind::ROUTER, R1, LsaBody::Router(router)),
        lsa(LsaKind::NETWORK, R1, LsaBody::Network(Network { mask, routers: vec![R1, R2] })),
        lsa(LsaKind::SUMMARY_NETWORK, net, summary(mask)),
        lsa(LsaKind::SUMMARY_ROUTER, R2, summary(Ipv4Addr::UNSPECIFIED)),
        lsa(LsaKind::EXTERNAL, net, LsaBody::External(external.clone())),
        lsa(LsaKind::NSSA, net, LsaBody::External(external)),
        lsa(LsaKind::OPAQUE_AREA, Ipv4Addr::new(1, 0, 0, 0), LsaBody::Other { bytes: te }),
    ];
    let header = |lsa: &Lsa| LsaHeader::parse(&lsa.write().expect("bytes")).expect("a header");
    let headers: Vec<LsaHeader> = lsas.iter().map(header).collect();
    let wanted = headers.iter().map(|header| header.key).collect();
    let flags = Description::MORE | Description::MASTER;
    let described =
        Description { mtu: 1500, options: options::E, flags, sequence: 5, headers: headers.clone() };
    let packets = [
        Body::Hello(hello()),
        Body::Description(described),
        Body::Request { wanted },
        Body::Update { lsas },
        Body::Ack { headers },
    ];
    let digest = Auth::Cryptographic(Key { id: 1, algorithm: Algorithm::Md5, secret: b"x".to_vec() });
    let mut dump = String::new();
    for (body, auth) in packets.iter().flat_map(|body| [(body, &Auth::Null), (body, &digest)]) {
        let mut bytes = body.packet(R1, AREA).expect("bytes");
        auth.seal(&mut bytes, 1);
        let hex: Vec<String> = frame(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        dump += &format!("000000 {}\n", hex.join(" "));
    }
    let base = std::env::temp_dir().join(format!("wire-ospf-{}", std::process::id()));
    let (text, capture) = (base.with_extension("txt"), base.with_extension("pcap"));
    std::fs::write(&text, dump).expect("a file");
    let made = Command::new("text2pcap").args(["-q", "-F", "pcap"]).args([&text, &capture]).output();
    let made = made.expect("text2pcap runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let fields = ["-T", "fields", "-E", "separator=;", "-e", "_ws.malformed", "-e", "_ws.expert.severity"];
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&capture).args(fields).args(["-e", "ospf.msg", "-e", "ospf.lsa"]);
    let output = tshark.output().expect("tshark runs");
    let _ = (std::fs::remove_file(&text), std::fs::remove_file(&capture));
    let said = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<Vec<&str>> = said.lines().map(|line| line.split(';').collect()).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row[2]).collect();
    assert_eq!(kinds, ["1", "1", "2", "2", "3", "3", "4", "4", "5", "5"], "{said}");
    for row in &rows {
        let severe = |one: &str| one.parse::<u32>().is_ok_and(|severity| severity >= 0x60_0000);
        assert!(row[0].is_empty() && !row[1].split(',').any(severe), "{row:?}");
    }
    assert_eq!(rows[6][3], "1,2,3,4,5,7,10");
}
