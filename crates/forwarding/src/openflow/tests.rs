use super::*;
use crate::hash::Seed;
use base::time::PS_PER_S;
use base::{MacAddr, Time};
use proptest::collection::vec;
use proptest::prelude::*;
use wire::openflow::v1_0::{self, wildcards};
use wire::openflow::v1_3::{Action, Instruction, Match, Oxm, OxmField, RemovedReason, flow_flags};

fn seconds(seconds: u64) -> Time {
    Time(seconds * PS_PER_S)
}

fn output(port: u32) -> Box<[Instruction]> {
    [Instruction::ApplyActions { actions: vec![Action::Output { port, max_len: 0 }] }].into()
}

fn exact(fields: &[(OxmField, u128)]) -> Pattern {
    let fields = fields.iter().map(|(field, value)| Oxm::exact(*field, *value)).collect();
    Pattern::from(&Match { fields })
}

fn to_ip(address: u32, len: u32) -> Pattern {
    let mut pattern = exact(&[(OxmField::EthType, 0x0800)]);
    let mask = u32::MAX.checked_shl(32 - len).unwrap_or(0);
    pattern.set(OxmField::Ipv4Dst, address.into(), mask.into());
    pattern
}

fn packet_to(address: u32) -> Fields {
    to_ip(address, 32).value
}

fn entry(pattern: Pattern, priority: u16, port: u32) -> NewEntry {
    let instructions = output(port);
    NewEntry { pattern, priority, cookie: 0, idle_timeout: 0, hard_timeout: 0, flags: 0, instructions }
}

fn table() -> FlowTable {
    FlowTable::new(1000, Seed::default())
}

fn port_of(table: &mut FlowTable, packet: &Fields) -> Option<u32> {
    let id = table.lookup(packet)?;
    (1..100).find(|port| table.entry(id).is_some_and(|entry| entry.sends_to(*port)))
}

#[test]
fn the_highest_priority_is_taken_whatever_the_length_of_the_prefix() {
    let mut table = table();
    table.add(entry(to_ip(0x0a00_0000, 8), 10, 1), Time::ZERO).expect("room");
    table.add(entry(to_ip(0x0a01_0000, 16), 5, 2), Time::ZERO).expect("room");
    table.add(entry(Pattern::ANY, 0, 3), Time::ZERO).expect("room");
    assert_eq!(port_of(&mut table, &packet_to(0x0a01_0001)), Some(1));
    assert_eq!(port_of(&mut table, &packet_to(0x0b01_0001)), Some(3));
    table.delete(&Filter::strict(to_ip(0x0a00_0000, 8), 10), RemovedReason::Delete);
    assert_eq!(port_of(&mut table, &packet_to(0x0a01_0001)), Some(2));
}

#[test]
fn the_same_pattern_and_priority_take_the_place_of_the_old() {
    let mut table = table();
    let pattern = to_ip(0x0a00_0000, 8);
    let Ok(Added::New(id)) = table.add(entry(pattern, 10, 1), Time::ZERO) else { panic!("an entry") };
    table.take(&packet_to(0x0a00_0001), 100, seconds(1));
    assert_eq!(table.add(entry(pattern, 10, 2), seconds(2)), Ok(Added::Replaced(id)));
    let now = table.entry(id).expect("the entry");
    assert_eq!((now.packets, now.bytes, now.created), (1, 100, seconds(2)));
    let anew = NewEntry { flags: flow_flags::RESET_COUNTS, ..entry(pattern, 10, 2) };
    assert_eq!(table.add(anew, seconds(3)), Ok(Added::Replaced(id)));
    assert_eq!(table.entry(id).map(|entry| entry.packets), Some(0));
    assert_eq!(table.active(), 1);
}

#[test]
fn overlaps_are_refused_if_that_is_asked_for() {
    let mut table = table();
    table.add(entry(to_ip(0x0a00_0000, 8), 10, 1), Time::ZERO).expect("room");
    let checked =
        |pattern, priority| NewEntry { flags: flow_flags::CHECK_OVERLAP, ..entry(pattern, priority, 2) };
    let tcp = exact(&[(OxmField::EthType, 0x0800), (OxmField::IpProto, 6)]);
    assert_eq!(table.add(checked(tcp, 10), Time::ZERO), Err(Refusal::Overlap));
    assert!(table.add(checked(tcp, 11), Time::ZERO).is_ok());
    assert!(table.add(checked(to_ip(0x0b00_0000, 8), 10), Time::ZERO).is_ok());
    assert!(table.add(checked(exact(&[(OxmField::EthType, 0x86dd)]), 10), Time::ZERO).is_ok());
}

#[test]
fn a_full_table_takes_what_replaces_and_nothing_else() {
    let mut table = FlowTable::new(1, Seed::default());
    table.add(entry(Pattern::ANY, 1, 1), Time::ZERO).expect("room");
    assert_eq!(table.add(entry(Pattern::ANY, 2, 1), Time::ZERO), Err(Refusal::Full));
    assert!(table.add(entry(Pattern::ANY, 1, 2), Time::ZERO).is_ok());
}

#[test]
fn changes_and_deletions_are_for_what_is_covered_with_its_cookie_port_and_group() {
    let mut table = table();
    for (place, len) in [8, 16, 24].into_iter().enumerate() {
        let port = place as u32 + 1;
        let cookie = place as u64;
        table.add(NewEntry { cookie, ..entry(to_ip(0x0a00_0000, len), 10, port) }, Time::ZERO).expect("room");
    }
    let wide = Filter::covered(to_ip(0x0a00_0000, 16));
    assert_eq!(table.modify(&wide, &output(9), None, false), 2);
    assert_eq!(table.modify(&Filter::strict(to_ip(0x0a00_0000, 16), 11), &output(9), Some(8), false), 0);
    let cookie = Filter { cookie: 2, cookie_mask: 2, ..Filter::covered(Pattern::ANY) };
    assert_eq!(table.select(&cookie), [2]);
    let port = Filter { out_port: Some(9), ..Filter::covered(Pattern::ANY) };
    assert_eq!(table.select(&port), [1, 2]);
    assert_eq!(table.select(&Filter { out_group: Some(9), ..port }), [0; 0]);
    let gone = table.delete(&port, RemovedReason::Delete);
    assert_eq!(gone.iter().map(|gone| gone.entry.cookie).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((gone[0].pattern, gone[0].priority), (to_ip(0x0a00_0000, 16), 10));
    assert_eq!(table.active(), 1);
}

#[test]
fn entries_go_when_their_time_has_passed() {
    let mut table = table();
    let idle = NewEntry { idle_timeout: 5, ..entry(to_ip(1, 32), 1, 1) };
    let hard = NewEntry { hard_timeout: 8, idle_timeout: 6, ..entry(to_ip(2, 32), 1, 2) };
    table.add(idle, Time::ZERO).expect("room");
    table.add(hard, Time::ZERO).expect("room");
    table.take(&packet_to(1), 1, seconds(4));
    table.take(&packet_to(2), 1, seconds(4));
    assert_eq!(table.next_timeout(), Some(seconds(5)));
    assert_eq!(table.expire(seconds(5)), []);
    assert_eq!(table.expire(Time(seconds(8).0 - 1)), []);
    let reasons = |gone: Vec<Removed>| gone.iter().map(|gone| gone.reason).collect::<Vec<_>>();
    assert_eq!(reasons(table.expire(seconds(8))), [RemovedReason::HardTimeout]);
    assert_eq!(table.next_timeout(), Some(seconds(9)));
    assert_eq!(reasons(table.expire(seconds(20))), [RemovedReason::IdleTimeout]);
    assert_eq!((table.active(), table.next_timeout()), (0, None));
}

#[test]
fn deadlines_of_entries_that_are_gone_do_not_pile_up() {
    let mut table = table();
    for _ in 0..10_000 {
        table.add(NewEntry { hard_timeout: 60, ..entry(to_ip(1, 32), 1, 1) }, Time::ZERO).expect("room");
    }
    assert!(table.expire(seconds(59)).is_empty());
    assert_eq!(table.expire(seconds(60)).len(), 1);
}

#[test]
fn matches_of_1_0_leave_out_what_their_protocol_does_not_have() {
    let all =
        v1_0::Match { wildcards: 0, dl_src: MacAddr([2; 6]), nw_proto: 6, tp_dst: 80, ..v1_0::Match::ANY };
    let masked = |matching: v1_0::Match, field: OxmField| Pattern::from(&matching).mask.get(field);
    let tcp = v1_0::Match { dl_type: 0x0800, ..all.clone() };
    assert_eq!(masked(tcp.clone(), OxmField::TcpDst), 0xffff);
    assert_eq!(masked(v1_0::Match { nw_proto: 50, ..tcp.clone() }, OxmField::TcpDst), 0);
    assert_eq!(masked(v1_0::Match { dl_type: 0x86dd, ..all }, OxmField::IpProto), 0);
    let untagged = v1_0::Match { dl_vlan: v1_0::VLAN_NONE, ..tcp.clone() };
    assert_eq!(masked(untagged.clone(), OxmField::VlanPcp), 0);
    assert_eq!(masked(untagged, OxmField::VlanVid), 0x1fff);
    let prefix = v1_0::Match { wildcards: 8 << wildcards::NW_SRC_SHIFT, ..tcp };
    assert_eq!(masked(prefix, OxmField::Ipv4Src), 0xffff_ff00);
    assert_eq!(Pattern::from(&v1_0::Match::ANY), Pattern::ANY);
}

#[test]
fn a_priority_of_1_0_without_a_vlan_is_that_of_any_tag_and_of_no_untagged_frame() {
    let wildcards = wildcards::ALL & !wildcards::DL_VLAN_PCP;
    for pcp in [0, 5] {
        let pattern = Pattern::from(&v1_0::Match { wildcards, dl_vlan_pcp: pcp, ..v1_0::Match::ANY });
        let frame = |vlan: u128, pcp: u8| {
            let mut fields = Fields::NONE;
            fields.set(OxmField::VlanVid, vlan);
            fields.set(OxmField::VlanPcp, pcp.into());
            fields
        };
        assert!(pattern.matches(&frame(0x1000, pcp)) && pattern.matches(&frame(0x1000 | 77, pcp)));
        assert!(!pattern.matches(&frame(0x1000 | 77, pcp ^ 1)));
        assert!(!pattern.matches(&frame(0, 0)), "a frame without a tag, for priority {pcp}");
    }
}

#[test]
fn a_pattern_says_the_match_that_it_was_made_of() {
    use OxmField::*;
    let new = Match {
        fields: vec![
            Oxm::exact(InPort, 3),
            Oxm { field: Metadata, value: 1, mask: Some(1) },
            Oxm::exact(EthType, 0x86dd),
            Oxm::exact(VlanVid, 0x1005),
            Oxm::exact(VlanPcp, 3),
            Oxm::exact(IpProto, 58),
            Oxm { field: Ipv6Src, value: 7 << 120, mask: Some(0xff << 120) },
            Oxm::exact(Icmpv6Type, 135),
            Oxm::exact(Ipv6NdTarget, 99),
        ],
    };
    assert_eq!(Match::from(&Pattern::from(&new)), new);
    let some = |wildcards, dl_type, nw_proto| v1_0::Match {
        wildcards,
        in_port: 3,
        dl_type,
        nw_proto,
        nw_src: [10, 0, 0, 0].into(),
        nw_dst: [10, 0, 0, 9].into(),
        tp_src: 8,
        tp_dst: 5,
        dl_vlan: v1_0::VLAN_NONE,
        ..v1_0::Match::ANY
    };
    let open = wildcards::DL_SRC | wildcards::DL_DST | wildcards::DL_VLAN_PCP | wildcards::NW_TOS;
    let old = some(open | 8 << wildcards::NW_SRC_SHIFT, 0x0800, 17);
    assert_eq!(v1_0::Match::from(&Pattern::from(&old)), old);
    let old = some(open, 0x0800, 1);
    assert_eq!(v1_0::Match::from(&Pattern::from(&old)), old);
    // What is not looked at is not remembered.
    let any = v1_0::Match::from(&Pattern::ANY);
    assert_eq!(Pattern::from(&any), Pattern::ANY);
}

/// The entries of a table, searched one by one.
#[derive(Default)]
struct Linear(Vec<(Pattern, u16, u32)>);

impl Linear {
    fn lookup(&self, packet: &Fields) -> Option<u32> {
        let matching = self.0.iter().filter(|(pattern, ..)| pattern.matches(packet));
        // Of several with the highest priority the oldest.
        matching.rev().max_by_key(|(_, priority, _)| *priority).map(|(.., port)| *port)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Add(Pattern, u16),
    DeleteStrict(usize),
    DeleteCovered(Pattern),
    Packet(Fields),
}

/// Patterns over few values, so that many of them overlap.
fn pattern() -> impl Strategy<Value = Pattern> {
    (any::<[u8; 8]>(), any::<u8>()).prop_map(|(values, wanted)| {
        use OxmField::*;
        let mut pattern = Pattern::ANY;
        let fields = [InPort, Metadata, EthDst, EthType, VlanVid, Ipv6Dst, TcpDst, EthSrc];
        for (bit, field) in fields.into_iter().enumerate().filter(|(bit, _)| wanted >> bit & 1 == 1) {
            let mask = if field.has_mask() {
                [u128::MAX, 1, 2, !1][usize::from(values[bit] >> 6)]
            } else {
                u128::MAX
            };
            pattern.set(field, (values[bit] & 3).into(), mask);
        }
        pattern
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (pattern(), 0u16..6).prop_map(|(pattern, priority)| Step::Add(pattern, priority)),
        1 => any::<usize>().prop_map(Step::DeleteStrict),
        1 => pattern().prop_map(Step::DeleteCovered),
        6 => pattern().prop_map(|pattern| Step::Packet(pattern.value)),
    ]
}

proptest! {
    #![proptest_config(testing::cases(256))]
    #[test]
    fn the_search_finds_what_a_scan_of_all_entries_finds(steps in vec(step(), 1..120)) {
        let (mut table, mut linear) = (FlowTable::new(usize::MAX, Seed::default()), Linear::default());
        for (port, step) in (0u32..).zip(&steps) {
            match step {
                Step::Add(pattern, priority) => {
                    let same = linear.0.iter_mut().find(|known| (known.0, known.1) == (*pattern, *priority));
                    match same {
                        Some(known) => known.2 = port,
                        None => linear.0.push((*pattern, *priority, port)),
                    }
                    prop_assert!(table.add(entry(*pattern, *priority, port), Time::ZERO).is_ok());
                }
                Step::DeleteStrict(place) if !linear.0.is_empty() => {
                    let (pattern, priority, _) = linear.0.remove(place % linear.0.len());
                    let gone = table.delete(&Filter::strict(pattern, priority), RemovedReason::Delete);
                    prop_assert_eq!(gone.len(), 1);
                }
                Step::DeleteStrict(_) => {}
                Step::DeleteCovered(pattern) => {
                    let before = linear.0.len();
                    linear.0.retain(|(own, ..)| !pattern.covers(own));
                    let gone = table.delete(&Filter::covered(*pattern), RemovedReason::Delete);
                    prop_assert_eq!(gone.len(), before - linear.0.len());
                }
                Step::Packet(packet) => {
                    // Twice: the second time out of the cache.
                    for _ in 0..2 {
                        let found = table.lookup(packet);
                        let expected = linear.lookup(packet);
                        prop_assert_eq!(found.is_some(), expected.is_some());
                        if let (Some(id), Some(port)) = (found, expected) {
                            prop_assert!(table.entry(id).is_some_and(|entry| entry.sends_to(port)));
                        }
                    }
                }
            }
            prop_assert_eq!(table.active(), linear.0.len());
        }
    }
}
