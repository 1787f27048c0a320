//! Several labels of one destination (RFC 8277, 2.1 to 2.4), beside a codec that writes bits one by one and knows
//! nothing of the other.

use super::super::notification::Code;
use super::super::*;
use super::{LONG, NEXT, ORIGIN, PATH, update};
use base::Label;
use base::plane::{IpPrefix, Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::collection::vec;
use proptest::prelude::*;

/// Takes so many labels of each family.
fn taking(labels_max: u8) -> Terms {
    Terms { labels_max: [labels_max; 4], ..LONG }
}

fn of(labels: &[u32]) -> Labels {
    let all: Vec<Label> = labels.iter().copied().map(Label::truncate).collect();
    Labels::new(&all).expect("no more labels than there can be")
}

/// A destination as the test knows it: bits of its address, and labels.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Plain {
    prefix: String,
    labels: Vec<u32>,
}

fn bits(value: u128, count: usize) -> String {
    (0..count).rev().map(|bit| if value >> bit & 1 == 1 { '1' } else { '0' }).collect()
}

/// RFC 8277, 2.3, figure 3: a length in bits, labels of 20 bits with three that are zero and an S bit, the prefix.
fn written(all: &[Plain]) -> Vec<u8> {
    let mut to = String::new();
    for one in all {
        to += &bits((24 * one.labels.len() + one.prefix.len()) as u128, 8);
        for (place, label) in one.labels.iter().enumerate() {
            let is_last = place + 1 == one.labels.len();
            to += &(bits(u128::from(*label), 20) + "000" + if is_last { "1" } else { "0" });
        }
        to += &one.prefix;
        while !to.len().is_multiple_of(8) {
            to.push('0');
        }
    }
    let bytes = to.as_bytes().chunks(8).map(|byte| core::str::from_utf8(byte).expect("digits"));
    bytes.map(|byte| u8::from_str_radix(byte, 2).expect("bits")).collect()
}

/// The same the other way; nothing where a destination does not end where it should.
fn read(bytes: &[u8], address: usize) -> Option<Vec<Plain>> {
    let mut left: String = bytes.iter().map(|byte| bits(u128::from(*byte), 8)).collect();
    let mut take = |count: usize| -> Option<String> {
        let rest = (left.len() >= count).then(|| left.split_off(count))?;
        Some(core::mem::replace(&mut left, rest))
    };
    let number = |text: &str| u32::from_str_radix(text, 2).ok();
    let mut all = Vec::new();
    while let Some(len) = take(8) {
        let mut len = number(&len)? as usize;
        let padding = (8 - len % 8) % 8;
        let mut labels = Vec::new();
        loop {
            len = len.checked_sub(24)?;
            labels.push(number(&take(20)?)?);
            if take(4)?.ends_with('1') {
                break;
            }
        }
        if len > address {
            return None;
        }
        let prefix = take(len)?;
        take(padding)?;
        all.push(Plain { prefix, labels });
    }
    Some(all)
}

fn plain(nlri: &Nlri) -> Plain {
    let prefix = match nlri.prefix {
        IpPrefix::V4(prefix) => {
            bits(u128::from(prefix.address().to_bits()) << 96, 128)[..usize::from(prefix.len())].into()
        }
        IpPrefix::V6(prefix) => bits(prefix.address().to_bits(), 128)[..usize::from(prefix.len())].into(),
    };
    Plain { prefix, labels: nlri.labels.iter().map(Label::value).collect() }
}

fn destinations() -> impl Strategy<Value = (Family, Vec<Nlri>)> {
    let one = (any::<u128>(), any::<u8>(), vec(0..1u32 << 20, 1..=Labels::MAX));
    (any::<bool>(), vec(one, 0..6)).prop_map(|(is_ipv4, all)| {
        let nlri = all.into_iter().map(|(address, len, labels)| {
            let prefix = if is_ipv4 {
                IpPrefix::V4(Prefix::new(Ipv4Addr::from_bits((address >> 96) as u32), len % 33))
            } else {
                IpPrefix::V6(Prefix6::new(Ipv6Addr::from_bits(address), len % 129))
            };
            Nlri { labels: of(&labels), ..Nlri::new(prefix) }
        });
        (if is_ipv4 { Family::Ipv4Labelled } else { Family::Ipv6Labelled }, nlri.collect())
    })
}

proptest! {
    #[test]
    fn several_labels_are_what_a_plain_codec_makes_of_them((family, all) in destinations()) {
        let mut bytes = Vec::new();
        all.iter().for_each(|one| one.emit(&mut bytes, family));
        let plain: Vec<Plain> = all.iter().map(plain).collect();
        prop_assert_eq!(&bytes, &written(&plain));
        prop_assert_eq!(bytes.len(), all.iter().map(|one| one.buffer_len(family)).sum::<usize>());
        prop_assert_eq!(Nlri::read(&bytes, family, &taking(4), false, 0), Ok((all, false)));
    }

    /// Whatever bytes come: both read the same, or both say that nobody can.
    #[test]
    fn what_a_plain_codec_reads_of_any_bytes_is_read(
        is_ipv4: bool, labels in vec((0..1u32 << 20, 0..8u8, any::<bool>()), 0..8), len in any::<u8>(), more in vec(any::<u8>(), 0..20)
    ) {
        let family = if is_ipv4 { Family::Ipv4Labelled } else { Family::Ipv6Labelled };
        let stack = labels.iter().flat_map(|(label, rest, is_last)| {
            let [_, a, b, c] = (label << 4 | u32::from(rest << 1) | u32::from(*is_last)).to_be_bytes();
            [a, b, c]
        });
        let bytes: Vec<u8> = [len].into_iter().chain(stack).chain(more).collect();
        let found = Nlri::read(&bytes, family, &taking(4), false, 0).ok();
        let expected = read(&bytes, if is_ipv4 { 32 } else { 128 });
        prop_assert_eq!(found.is_some(), expected.is_some());
        if let (Some((found, has_too_many)), Some(expected)) = (found, expected) {
            prop_assert_eq!(has_too_many, expected.iter().any(|one| one.labels.len() > 4));
            for (found, mut expected) in found.iter().zip(expected) {
                expected.labels.truncate(4);
                // What is behind the length of a prefix does not count.
                prop_assert_eq!(plain(found), expected);
            }
        }
    }
}

/// `10.0.0.0/8` with these labels, and the next hop `10.0.0.1`, as an UPDATE has it.
fn ten(labels: &[u8]) -> Vec<u8> {
    let nlri = [&[8 + 8 * labels.len() as u8], labels, &[10]].concat();
    let value = [&[0, 1, 4, 4, 10, 0, 0, 1, 0][..], &nlri].concat();
    update(&[], &[ORIGIN, PATH, &[0x80, 14, value.len() as u8], &value].concat(), &[])
}

fn reads(bytes: &[u8], terms: &Terms) -> Result<(Option<Treatment>, Vec<Vec<u32>>), Code> {
    match Message::parse(bytes, terms) {
        Ok(Message::Update(update)) => {
            let all = update.reach.iter().flat_map(|reach| &reach.nlri);
            Ok((update.treatment(), all.map(|one| plain(one).labels).collect()))
        }
        Ok(_) => unreachable!("an UPDATE"),
        Err(malformed) => Err(malformed.notification.known().expect("a known one")),
    }
}

#[test]
fn the_s_bit_counts_where_several_labels_were_agreed_on() {
    let several = [0, 0x10, 0, 0x12, 0x34, 0x50, 0, 0x06, 0x41];
    assert_eq!(reads(&ten(&several), &taking(4)), Ok((None, vec![vec![256, 0x12345, 100]])));
    // RFC 8277, 2.1: more than this end has said that it takes: treat-as-withdraw, and the session stays.
    let withdrawn = Some(Treatment::TreatAsWithdraw);
    assert_eq!(reads(&ten(&several), &taking(2)).map(|read| read.0), Ok(withdrawn));
    let five = [several, [0, 0, 0x21, 0, 0, 0, 0, 0, 0]].concat();
    let five = [&[0, 0x20, 0, 0, 0x30, 0], &five[..9]].concat();
    assert_eq!(reads(&ten(&five), &taking(4)), Ok((withdrawn, vec![vec![512, 768, 256, 0x12345]])));
    // RFC 8277, 2.2: with one label what is behind it is the prefix, which is too long here.
    assert_eq!(reads(&ten(&several), &LONG), Err(Code::OptionalAttribute));
    assert_eq!(
        reads(&ten(&[0x12, 0x34, 0x5e]), &LONG),
        Ok((None, vec![vec![0x12345]])),
        "S and the rest say nothing"
    );
    // RFC 8277, 2.3, and RFC 7606, 3 j: without a last label nobody knows where the prefix begins.
    assert_eq!(reads(&ten(&[0, 0x10, 0]), &taking(4)), Err(Code::OptionalAttribute));
    assert_eq!(
        reads(&ten(&[0x12, 0x34, 0x5f]), &taking(4)),
        Ok((None, vec![vec![0x12345]])),
        "reserved bits"
    );
}

#[test]
fn what_is_withdrawn_has_three_bytes_whatever_was_agreed_on() {
    let mut bytes = Vec::new();
    let ten = Nlri::new(IpPrefix::V4(Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8)));
    ten.emit(&mut bytes, Family::Ipv4Labelled);
    assert_eq!(bytes, [32, 0x80, 0, 0, 10]);
    for terms in [LONG, taking(4)] {
        for field in [[0x80, 0, 0], [0, 0, 0], [0x12, 0x34, 0x50], [0xff; 3]] {
            let bytes = [&[32], &field[..], &[10]].concat();
            assert_eq!(Nlri::read(&bytes, Family::Ipv4Labelled, &terms, true, 0), Ok((vec![ten], false)));
        }
    }
}

#[test]
fn the_capability_has_the_bytes_of_the_rfc() {
    let several = Capability::MultipleLabels(vec![(1, 4, 4), (2, 4, 255)]);
    let open =
        Open { capabilities: vec![several], ..Open::new(65_001, 90, Ipv4Addr::new(10, 0, 0, 1), vec![]) };
    let bytes = Message::Open(open.clone()).emit(&LONG).expect("an OPEN");
    assert_eq!(bytes[29..], [2, 10, 8, 8, 0, 1, 4, 4, 0, 2, 4, 255]);
    assert_eq!(Message::parse(&bytes, &LONG), Ok(Message::Open(open)));
    // A length that is no multiple of four is malformed: the session does not begin.
    let odd = [&[0xff; 16][..], &[0, 38, 1, 4, 0xfd, 0xe9, 0, 90, 10, 0, 0, 1, 9, 2, 7, 8, 5, 0, 1, 4, 4, 0]]
        .concat();
    let said = Message::parse(&odd, &LONG).expect_err("something malformed");
    assert_eq!(said.notification.known(), Some(Code::Open));
}

#[test]
fn destinations_with_several_labels_share_messages() {
    let all: Vec<Nlri> = (0..600u32)
        .map(|n| {
            let prefix = IpPrefix::V4(Prefix::host(Ipv4Addr::from_bits(n)));
            Nlri { labels: of(&[n, 2, 3, 4][..1 + n as usize % 4]), ..Nlri::new(prefix) }
        })
        .collect();
    let attributes = [ORIGIN, PATH, NEXT].concat();
    let next_hop = Some(NextHop::V4(Ipv4Addr::LOCALHOST));
    let updates: Vec<_> = pack::reached(Family::Ipv4Labelled, next_hop, &attributes, &all).collect();
    assert!(updates.len() < 4 && updates.iter().all(|bytes| bytes.len() <= MAX_LEN));
    let read = |bytes: &Vec<u8>| match Message::parse(bytes, &taking(4)) {
        Ok(Message::Update(update)) => update.reach.expect("destinations").nlri,
        other => unreachable!("an UPDATE, not {other:?}"),
    };
    assert_eq!(updates.iter().flat_map(read).collect::<Vec<_>>(), all);
}

/// tshark reads the capability and destinations with several labels, and the labels that it finds are these.
#[test]
fn tshark_finds_nothing_malformed_in_several_labels() {
    use std::process::Command;
    if !testing::available("tshark") {
        return;
    }
    let open =
        Open::new(65_001, 90, Ipv4Addr::new(10, 0, 0, 1), vec![Capability::MultipleLabels(vec![(1, 4, 4)])]);
    let open = Message::Open(open).emit(&LONG).expect("an OPEN");
    let net = |last| IpPrefix::V4(Prefix::new(Ipv4Addr::new(203, 0, 113, last), 32));
    let all = [
        Nlri { labels: of(&[100, 200, 300]), ..Nlri::new(net(1)) },
        Nlri { labels: of(&[400]), ..Nlri::new(net(2)) },
    ];
    let attributes = [ORIGIN, PATH].concat();
    let next_hop = Some(NextHop::V4(Ipv4Addr::LOCALHOST));
    let told: Vec<_> = pack::reached(Family::Ipv4Labelled, next_hop, &attributes, &all).collect();
    let gone = pack::withdrawn(Family::Ipv4Labelled, &[Nlri::new(net(1))]);
    let folder = std::env::temp_dir().join(format!("bgp-labels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (text, capture) = (folder.join("bytes"), folder.join("capture.pcap"));
    let dump = |bytes: &Vec<u8>| {
        let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
        format!("000000{hex}\n")
    };
    std::fs::write(&text, [open].iter().chain(&told).chain(&gone).map(dump).collect::<String>())
        .expect("a file");
    let made = Command::new("text2pcap")
        .args(["-q", "-F", "pcap", "-T", "179,40000"])
        .args([&text, &capture])
        .output();
    let made = made.expect("text2pcap runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let output = Command::new("tshark").arg("-r").arg(&capture).args(["-V", "-O", "bgp"]).output();
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.expect("tshark runs").stdout).into_owned();
    assert!(!said.contains("Malformed"), "{said}");
    for wanted in
        ["Multiple Labels", "100,200,300 (bottom)", "400 (bottom)", "203.0.113.1/32", "203.0.113.2/32"]
    {
        assert!(said.contains(wanted), "no '{wanted}' in {said}");
    }
}
