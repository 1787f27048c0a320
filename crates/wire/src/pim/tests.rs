use super::*;
use crate::tree;

const GROUP: IpAddr = IpAddr::V4(Ipv4Addr::new(232, 1, 1, 1));
const SOURCE: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2));
const NEIGHBOR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

fn hello() -> Repr {
    let options = vec![
        HelloOption::Holdtime(105),
        HelloOption::LanPruneDelay { tracking: true, propagation_ms: 500, override_ms: 2500 },
        HelloOption::DrPriority(7),
        HelloOption::GenerationId(0x1234_5678),
        HelloOption::AddressList(vec![NEIGHBOR, SOURCE]),
        HelloOption::Unknown { kind: 65_001, value: [1, 2, 3][..].into() },
    ];
    Repr::Hello(Hello { options })
}

fn join_prune() -> Repr {
    let pruned = SourceEntry { source: NEIGHBOR, sparse: true, wildcard: true, rpt: true };
    let set = GroupSet { group: GROUP, joined: vec![SourceEntry::of(SOURCE)], pruned: vec![pruned] };
    Repr::JoinPrune(JoinPrune { upstream: NEIGHBOR, holdtime_s: 210, groups: vec![set] })
}

fn assert_message() -> Repr {
    let (preference, metric) = (110, 20);
    Repr::Assert(Assert { group: GROUP, source: SOURCE, rpt: false, preference, metric })
}

/// A Join/Prune as tshark and FRR know it.
const JOIN: [u8; 34] = [
    0x23, 0, 0xd7, 0xe4, 1, 0, 10, 0, 0, 1, 0, 1, 0, 210, 1, 0, 0, 32, 232, 1, 1, 1, 0, 1, 0, 0, 1, 0, 4, 32,
    10, 1, 0, 2,
];

#[test]
fn messages_come_back_as_they_were() {
    let register = Repr::Other { kind: kind::REGISTER, body: [0, 0, 0, 0, 0x45, 9, 9][..].into() };
    // RFC 7761, 4.9: its checksum does not cover the packet inside.
    let mut bytes = register.emit();
    *bytes.last_mut().expect("a byte") ^= 1;
    assert!(Repr::parse(&register.emit()) == Ok(register) && Repr::parse(&bytes).is_ok());
    for repr in [hello(), join_prune(), assert_message()] {
        let bytes = repr.emit();
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        for len in 0..bytes.len() {
            // Cut short, it is never read as something else: the checksum of the whole stands in it.
            assert!(Repr::parse(&bytes[..len]).is_err(), "{len} bytes");
        }
    }
    let mut join = join_prune();
    if let Repr::JoinPrune(message) = &mut join {
        message.groups[0].pruned.clear();
    }
    assert_eq!(join.emit(), JOIN);
}

#[test]
fn whatever_a_byte_is_what_is_read_is_written_again() {
    for repr in [hello(), join_prune(), assert_message()] {
        let whole = repr.emit();
        for (at, byte) in (0..whole.len()).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let sum = checksum_of(kind_of(bytes[0]), &bytes);
            bytes[2..4].copy_from_slice(&sum.to_be_bytes());
            if let Ok(read) = Repr::parse(&bytes) {
                assert_eq!(Repr::parse(&read.emit()), Ok(read), "{byte} at {at}");
            }
            let frame = frame(&bytes);
            assert_eq!(tree::encode(&tree::decode(&frame)).as_deref(), Ok(&frame[..]), "{byte} at {at}");
        }
    }
}

#[test]
fn errors_say_where() {
    let said = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = JOIN.to_vec();
        change(&mut bytes);
        bytes[2..4].copy_from_slice(&[0, 0]);
        let sum = checksum_of(kind_of(bytes[0]), &bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        Repr::parse(&bytes).map(|_| ()).map_err(|error| error.to_string()).expect_err("an error")
    };
    assert_eq!(said(&|bytes| bytes[0] = 0x13), "pim: PIM Ver is 1, not 2 (at byte 0)");
    assert_eq!(said(&|bytes| bytes[0] = 0x29), "pim: Type is 9, outside 0 to 8 (at byte 0)");
    assert_eq!(said(&|bytes| bytes[4] = 3), "pim: Addr Family is 3, outside 1 to 2 (at byte 4)");
    assert_eq!(said(&|bytes| bytes[5] = 1), "pim: Encoding Type is 1, not 0 (at byte 5)");
    assert_eq!(said(&|bytes| bytes[17] = 24), "pim: Mask Len is 24, not 32 (at byte 17)");
    assert_eq!(said(&|bytes| bytes[18] = 10), "pim: the address is no group (at byte 14)");
    assert_eq!(said(&|bytes| bytes[28] = 6), "pim: the WC bit is set and the RPT bit is not (at byte 28)");
    assert_eq!(said(&|bytes| bytes[29] = 31), "pim: Mask Len is 31, not 32 (at byte 29)");
    assert_eq!(said(&|bytes| bytes[23] = 2), "pim: 36 bytes needed, 34 there (at byte 34)");
    let mut bytes = JOIN.to_vec();
    bytes[2] ^= 1;
    let error = Repr::parse(&bytes).expect_err("an error").to_string();
    assert_eq!(error, "pim: checksum is 0xd6e4, not 0xd7e4 (at byte 2)");
}

#[test]
fn options_that_are_not_known_are_ignored_and_lengths_are_not() {
    let Ok(Repr::Hello(hello)) = Repr::parse(&hello().emit()) else { panic!("a Hello") };
    assert_eq!((hello.holdtime_s(), hello.dr_priority()), (Some(105), Some(7)));
    assert_eq!(hello.lan_prune_delay(), Some((true, 500, 2500)));
    assert_eq!((hello.generation_id(), hello.addresses()), (Some(0x1234_5678), &[NEIGHBOR, SOURCE][..]));
    let holdtime = |len: u8| {
        let mut bytes = vec![0x20, 0, 0, 0, 0, 1, 0, len, 0, 105, 0, 0];
        bytes.truncate(8 + usize::from(len));
        let sum = checksum_of(0, &bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        Repr::parse(&bytes).map_err(|error| error.to_string())
    };
    assert_eq!(holdtime(2), Ok(Repr::Hello(Hello { options: vec![HelloOption::Holdtime(105)] })));
    assert_eq!(holdtime(4), Err("pim: OptionLength is 4, not 2 (at byte 6)".into()));
    // RFC 7761, 4.3.4: addresses of a list are of one family.
    let v6 = IpAddr::V6("2001:db8::1".parse().expect("an address"));
    let options = vec![HelloOption::AddressList(vec![NEIGHBOR, v6])];
    let mixed = Repr::parse(&Repr::Hello(Hello { options }).emit()).expect_err("an error");
    assert_eq!(mixed.to_string(), "pim: addresses of two families are in one list (at byte 14)");
}

#[test]
fn cancelled_is_what_has_no_metric() {
    let Repr::Assert(assert) = assert_message() else { panic!("an Assert") };
    let cancel = Assert { rpt: true, preference: Assert::WORST_PREFERENCE, metric: u32::MAX, ..assert };
    assert_eq!((assert.is_cancel(), cancel.is_cancel()), (false, true));
    assert_eq!(Repr::parse(&Repr::Assert(cancel).emit()), Ok(Repr::Assert(cancel)));
}

/// An Ethernet frame with a message, as the tree of layers has it.
fn frame(message: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0, 0x5e, 0, 0, 13, 2, 0, 0, 0, 0, 1, 8, 0];
    let ip = crate::ipv4::Repr {
        src: Ipv4Addr::new(10, 0, 0, 2),
        dst: ALL_ROUTERS,
        protocol: crate::ipv4::Protocol::PIM,
        ttl: 1,
        dscp: base::Dscp::CS6,
        ecn: 0,
        ident: 0,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        payload_len: message.len() as u16,
        options: crate::ipv4::Options::NONE,
    };
    let mut header = vec![0; ip.buffer_len()];
    ip.emit(&mut header);
    frame.extend(header);
    frame.extend(message);
    frame
}

#[test]
fn people_read_it_and_write_it_again() {
    let lines = [
        "PIM Hello, holdtime 105 s, priority 7, generation 0x12345678",
        "PIM JoinPrune for 10.0.0.1, holdtime 210 s, join (10.1.0.2, 232.1.1.1), prune (*, 232.1.1.1)",
        "PIM Assert (10.1.0.2, 232.1.1.1), preference 110 metric 20",
    ];
    for (repr, line) in [hello(), join_prune(), assert_message()].into_iter().zip(lines) {
        let bytes = frame(&repr.emit());
        let decoded = tree::decode(&bytes);
        let summary = tree::summary(&decoded);
        assert!(summary.ends_with(line), "{summary}");
        assert_eq!(tree::encode(&decoded).as_deref(), Ok(&bytes[..]));
        let json = serde_json::to_string(&decoded).expect("JSON");
        assert_eq!(serde_json::from_str::<tree::Tree>(&json).expect("a tree"), decoded, "{json}");
    }
    // A wrong checksum is shown, and a reserved byte that is not zero is not lost.
    let mut wrong = frame(&JOIN);
    wrong[34 + 2] ^= 1;
    assert!(
        tree::summary(&tree::decode(&wrong)).contains("0xd6e4"),
        "{}",
        tree::summary(&tree::decode(&wrong))
    );
    let mut reserved = frame(&JOIN);
    reserved[34 + 1] = 1;
    assert_eq!(tree::encode(&tree::decode(&reserved)).as_deref(), Ok(&reserved[..]));
}
