//! The named differences, one by one: what is done, and what is seen of ours and of Open vSwitch alone.

use super::ovs::{Ovs, PROGRAMS};
use super::packet::{Network, Packet, Transport};
use super::programme::{Programme, Step};
use super::run::run;
use super::subject::Ours;
use base::MacAddr;
use wire::openflow::v1_3::{
    Action, Body, Bucket, Buckets, Command, FlowMod, GroupCommand, GroupMod, GroupType, Instruction, Match,
    Oxm, OxmField, Setting, groups, ports,
};
use wire::openflow::{Version, v1_0};

/// Differences that there may be at most.
const MOST: usize = 20;

struct Difference {
    name: &'static str,
    steps: Vec<Step>,
}

/// Of each difference its name, and lines that are seen of ours (`-`) or of Open vSwitch (`+`) alone.
const SEEN: &str = include_str!("named.txt");

fn flow(
    command: Command,
    table: u8,
    priority: u16,
    fields: &[(OxmField, u128)],
    does: Vec<Instruction>,
) -> FlowMod {
    let fields = fields.iter().map(|(field, value)| Oxm::exact(*field, *value)).collect();
    FlowMod { cookie: 5, table, priority, instructions: does, ..FlowMod::new(command, Match { fields }) }
}

fn add(table: u8, fields: &[(OxmField, u128)], does: Vec<Instruction>) -> Step {
    Step::Say13(Body::FlowMod(flow(Command::Add, table, 7, fields, does)))
}

fn apply(actions: Vec<Action>) -> Instruction {
    Instruction::ApplyActions { actions }
}

fn write(actions: Vec<Action>) -> Instruction {
    Instruction::WriteActions { actions }
}

fn to(port: u32) -> Action {
    Action::Output { port, max_len: 0xffff }
}

fn set(field: OxmField, value: u128) -> Action {
    Action::SetField { set: Setting(Oxm::exact(field, value)) }
}

const PUSH_LABEL: Action = Action::PushMpls { ethertype: 0x8847 };
const PUSH_TAG: Action = Action::PushVlan { ethertype: 0x8100 };
const IPV4: [(OxmField, u128); 1] = [(OxmField::EthType, 0x0800)];
const LABELLED: [(OxmField, u128); 1] = [(OxmField::EthType, 0x8847)];

/// A frame of UDP that comes by the first port.
fn packet() -> Packet {
    Packet {
        port: 1,
        dst: 0x0200_0000_0002,
        src: 0x0200_0000_0001,
        tags: Vec::new(),
        labels: Vec::new(),
        network: Network::Ipv4 { src: [10, 0, 0, 1].into(), dst: [10, 0, 0, 2].into(), fragment: 0 },
        dscp: 10,
        ecn: 0,
        ttl: 64,
        transport: Transport::Ports { protocol: 17, src: 1, dst: 2 },
        payload: 0,
    }
}

fn frame(packet: &Packet) -> Step {
    Step::Frame(packet.port, packet.bytes())
}

fn group(kind: GroupType, id: u32, lists: &[&[Action]]) -> Step {
    let bucket = |actions: &&[Action]| Bucket {
        weight: 0,
        watch_port: ports::ANY,
        watch_group: groups::ANY,
        actions: actions.to_vec(),
    };
    let buckets = Buckets(lists.iter().map(bucket).collect());
    Step::Say13(Body::GroupMod(GroupMod { command: GroupCommand::Add, kind, group: id, buckets }))
}

fn old(command: v1_0::Command, matching: v1_0::Match, actions: Vec<v1_0::Action>) -> Step {
    Step::Say10(v1_0::Body::FlowMod(v1_0::FlowMod {
        cookie: 5,
        priority: 7,
        actions,
        ..v1_0::FlowMod::new(command, matching)
    }))
}

/// Of version 1.3: faults, and what tables do.
fn of_tables() -> Vec<Difference> {
    let change = |does| Step::Say13(Body::FlowMod(flow(Command::Modify, 0, 7, &[], does)));
    let by_cookie =
        FlowMod { cookie: 0, cookie_mask: u64::MAX, ..flow(Command::Delete, 0xff, 0, &[], vec![]) };
    vec![
        Difference { name: "port-zero", steps: vec![add(0, &[], vec![apply(vec![to(0)])])] },
        Difference {
            name: "table-as-a-port-of-entries",
            steps: vec![add(0, &[], vec![apply(vec![to(ports::TABLE)])])],
        },
        Difference { name: "unknown-meter", steps: vec![add(0, &[], vec![Instruction::Meter { meter: 3 }])] },
        Difference {
            name: "change-of-nothing",
            steps: vec![change(vec![apply(vec![Action::Group { group: 3 }])])],
        },
        Difference {
            name: "several-faults",
            steps: vec![add(0, &[], vec![Instruction::Meter { meter: 3 }, apply(vec![to(ports::ANY)])])],
        },
        Difference {
            name: "action-set-after-a-miss",
            steps: vec![
                add(0, &[], vec![write(vec![to(2)]), Instruction::GotoTable { table: 1 }]),
                frame(&packet()),
            ],
        },
        Difference {
            name: "packet-in-of-an-action-set",
            steps: vec![
                add(0, &[], vec![Instruction::GotoTable { table: 1 }]),
                Step::Say13(Body::FlowMod(FlowMod {
                    cookie: 6,
                    ..flow(Command::Add, 1, 7, &[], vec![write(vec![to(ports::CONTROLLER)])])
                })),
                frame(&packet()),
            ],
        },
        Difference {
            name: "bytes-as-they-came",
            steps: vec![
                add(
                    0,
                    &[(OxmField::VlanVid, 0)],
                    vec![apply(vec![PUSH_TAG]), Instruction::GotoTable { table: 1 }],
                ),
                add(1, &[], vec![apply(vec![to(2)])]),
                frame(&packet()),
            ],
        },
        Difference {
            name: "entries-of-one-priority",
            steps: vec![
                add(0, &[], vec![apply(vec![to(3)])]),
                add(0, &IPV4, vec![apply(vec![to(2)])]),
                // Makes Open vSwitch look at entries for EtherTypes first.
                Step::Say13(Body::FlowMod(flow(Command::Add, 0, 9, &LABELLED, vec![]))),
                frame(&packet()),
            ],
        },
        Difference { name: "cookie-zero-in-all-tables", steps: vec![Step::Say13(Body::FlowMod(by_cookie))] },
        Difference {
            name: "counters-of-groups",
            steps: vec![
                group(GroupType::FastFailover, 1, &[]),
                add(0, &[], vec![apply(vec![Action::Group { group: 1 }, Action::Group { group: 1 }])]),
                frame(&packet()),
            ],
        },
        Difference {
            name: "groups-of-groups",
            steps: vec![
                group(GroupType::All, 1, &[&[Action::Group { group: 2 }]]),
                group(GroupType::All, 3, &[&[Action::Group { group: 3 }]]),
            ],
        },
    ]
}

/// Of version 1.3: what actions do.
fn of_actions() -> Vec<Difference> {
    let tagged = Packet { tags: vec![(0x8100, 0x6005)], ..packet() };
    let labelled = |label: u32, ttl: u32| Packet { labels: vec![label << 12 | ttl], ..packet() };
    let six = Network::Ipv6 { src: 1u128.into(), dst: 2u128.into(), label: 0 };
    let later = Network::Ipv4 { src: [10, 0, 0, 1].into(), dst: [10, 0, 0, 2].into(), fragment: 5 };
    let outputs = |action: Action| vec![apply(vec![action, to(2)])];
    vec![
        Difference {
            name: "tag-on-a-tag",
            steps: vec![add(0, &[(OxmField::VlanVid, 0x1005)], outputs(PUSH_TAG)), frame(&tagged)],
        },
        Difference {
            name: "first-label",
            steps: vec![
                add(0, &IPV4, outputs(PUSH_LABEL)),
                add(0, &[(OxmField::EthType, 0x86dd)], outputs(PUSH_LABEL)),
                add(0, &[(OxmField::EthType, 0x88b5)], outputs(PUSH_LABEL)),
                frame(&packet()),
                frame(&Packet { network: six, dscp: 0, ..packet() }),
                frame(&Packet { network: Network::Other(0x88b5), ..packet() }),
            ],
        },
        Difference {
            name: "room-for-headers",
            steps: vec![
                add(0, &LABELLED, vec![apply(vec![PUSH_LABEL, PUSH_LABEL, PUSH_LABEL, to(2)])]),
                frame(&labelled(16, 64)),
            ],
        },
        Difference {
            name: "later-fragments",
            steps: vec![
                add(0, &IPV4, outputs(set(OxmField::Ipv4Dst, 0x0a00_0003))),
                frame(&Packet {
                    network: later,
                    transport: Transport::Ports { protocol: 6, src: 1, dst: 2 },
                    ..packet()
                }),
            ],
        },
        Difference {
            name: "label-of-another-packet",
            steps: vec![
                add(0, &LABELLED, outputs(set(OxmField::MplsLabel, 20))),
                frame(&labelled(16, 64)),
                frame(&labelled(16, 9)),
            ],
        },
        Difference {
            name: "not-offered",
            steps: vec![
                add(0, &LABELLED, outputs(Action::CopyTtlIn)),
                add(0, &LABELLED, outputs(Action::CopyTtlOut)),
                add(0, &[], outputs(Action::PushPbb { ethertype: 0x88e7 })),
                add(0, &[(OxmField::EthType, 0x88e7)], outputs(Action::PopPbb)),
                add(0, &[(OxmField::EthType, 0x88e7), (OxmField::PbbIsid, 1)], vec![]),
                add(0, &[(OxmField::EthType, 0x86dd), (OxmField::Ipv6Exthdr, 1)], vec![]),
                add(0, &[(OxmField::InPort, 1), (OxmField::InPhyPort, 1)], vec![]),
            ],
        },
    ]
}

/// Differences that only OpenFlow 1.0 has.
fn of_1_0() -> Vec<Difference> {
    use v1_0::wildcards::{ALL, DL_DST, NW_PROTO};
    let by_dst =
        v1_0::Match { wildcards: ALL & !DL_DST, dl_dst: MacAddr([2, 0, 0, 0, 0, 2]), ..v1_0::Match::ANY };
    let port = |port| v1_0::Action::Output { port, max_len: 0 };
    let echo = Packet { transport: Transport::Icmp { kind: 8, code: 0 }, ..packet() };
    let ignored = v1_0::Match { wildcards: ALL & !NW_PROTO, nw_proto: 17, ..v1_0::Match::ANY };
    vec![
        Difference {
            name: "ports-of-icmp",
            steps: vec![
                old(v1_0::Command::Add, by_dst, vec![v1_0::Action::SetTpDst { port: 1 }, port(2)]),
                frame(&echo),
            ],
        },
        Difference {
            name: "ignored-fields-of-a-change",
            steps: vec![
                old(v1_0::Command::Add, v1_0::Match::ANY, vec![port(2)]),
                old(v1_0::Command::Delete, ignored, vec![]),
            ],
        },
    ]
}

#[test]
fn what_open_vswitch_does_otherwise_has_a_name() {
    if !PROGRAMS.into_iter().all(testing::available) {
        return;
    }
    let mut theirs = Ovs::start("named");
    let named: Vec<Difference> = [of_tables(), of_actions(), of_1_0()].into_iter().flatten().collect();
    assert!(named.len() <= MOST, "{} differences", named.len());
    let mut seen = String::new();
    for Difference { name, steps } in named {
        let version = if matches!(steps[0], Step::Say10(_)) { Version::V1_0 } else { Version::V1_3 };
        let programme = Programme { version, steps, is_exact: true };
        let (ours, theirs) = (run(&mut Ours::new(), &programme, 0), run(&mut theirs, &programme, 0));
        seen += &format!("{name}\n");
        for (sign, of, other) in [('-', &ours, &theirs), ('+', &theirs, &ours)] {
            let steps = of.iter().zip(other);
            let alone = steps.flat_map(|(of, other)| of.iter().filter(|line| !other.contains(line)));
            alone.for_each(|line| seen += &format!("  {sign} {}\n", line.trim_end()));
        }
    }
    assert!(seen == SEEN, "named.txt should be:\n{seen}");
}
