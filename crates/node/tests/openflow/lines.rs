//! What a controller is told, a line for each thing. What a switch is free to choose is left out: durations, and the
//! order of fields and instructions.

use wire::Hex;
use wire::openflow::v1_3::{Body, FlowStats, Instruction, Match, ReplyBody};
use wire::openflow::{v1_0, v1_3};

/// A field for a line: its value, and its mask if it has one.
fn word(matching: &Match) -> String {
    let mut fields = matching.fields.clone();
    fields.sort_by_key(|oxm| oxm.field);
    let words = fields.iter().map(|oxm| match oxm.mask {
        Some(mask) if mask != oxm.field.ones() => format!("{}={:x}/{mask:x}", oxm.field.word(), oxm.value),
        _ => format!("{}={:x}", oxm.field.word(), oxm.value),
    });
    words.collect::<Vec<_>>().join(",")
}

/// A match of version 1.0 for a line: 32 and more bits of an address that are not looked at are all.
fn word10(matching: &v1_0::Match) -> String {
    let mut matching = matching.clone();
    for shift in [v1_0::wildcards::NW_SRC_SHIFT, v1_0::wildcards::NW_DST_SHIFT] {
        if matching.wildcards >> shift & 32 != 0 {
            matching.wildcards = matching.wildcards & !(63 << shift) | 32 << shift;
        }
    }
    // A frame without a tag has no priority in it.
    if matching.wildcards & v1_0::wildcards::DL_VLAN == 0 && matching.dl_vlan == v1_0::VLAN_NONE {
        matching.wildcards |= v1_0::wildcards::DL_VLAN_PCP;
        matching.dl_vlan_pcp = 0;
    }
    format!("{matching:?}")
}

/// Instructions in the order in which they are done.
fn in_order(instructions: &[Instruction]) -> String {
    let mut words: Vec<(u8, String)> = instructions
        .iter()
        .filter(|instruction| match instruction {
            // Lists of nothing do nothing, and need not be remembered.
            Instruction::ApplyActions { actions } | Instruction::WriteActions { actions } => {
                !actions.is_empty()
            }
            _ => true,
        })
        .map(|instruction| {
            let rank = match instruction {
                Instruction::Meter { .. } => 0,
                Instruction::ApplyActions { .. } => 1,
                Instruction::ClearActions => 2,
                Instruction::WriteActions { .. } => 3,
                Instruction::WriteMetadata { .. } => 4,
                Instruction::GotoTable { .. } => 5,
                Instruction::Experimenter { .. } => 6,
            };
            (rank, format!("{instruction:?}"))
        })
        .collect();
    words.sort();
    words.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

fn flow_line(row: &FlowStats) -> String {
    format!(
        "flow table={} priority={} match={} cookie={} flags={} packets={} bytes={} {}",
        row.table,
        row.priority,
        word(&row.matching),
        row.cookie,
        row.flags.0,
        row.packets,
        row.bytes,
        in_order(&row.instructions)
    )
}

fn counted(counter: &v1_3::Counter) -> String {
    format!("packets={} bytes={}", counter.packets, counter.bytes)
}

/// A line for what a controller is told; nothing for what is not compared.
pub fn line13(message: v1_3::Message) -> Vec<String> {
    match message.body {
        Body::Error(error) => vec![format!("error {:?}", v1_3::Fault::of(error.numbers()))],
        Body::PacketIn(told) => vec![format!(
            "packet-in {:?} table={} cookie={:x} {} {}",
            told.reason,
            told.table,
            told.cookie,
            word(&told.matching),
            Hex(told.data.0.to_vec())
        )],
        Body::FlowRemoved(gone) => vec![format!(
            "gone table={} priority={} match={} cookie={} {:?} packets={} bytes={}",
            gone.table,
            gone.priority,
            word(&gone.matching),
            gone.cookie,
            gone.reason,
            gone.packets,
            gone.bytes
        )],
        Body::MultipartReply(reply) => match reply.body {
            ReplyBody::Flow(rows) => rows.iter().map(flow_line).collect(),
            ReplyBody::GroupDescription(rows) => rows.iter().map(|row| format!("{row:?}")).collect(),
            ReplyBody::Group(rows) => {
                let line = |row: &v1_3::GroupStats| {
                    let parts: Vec<_> = row.buckets.iter().map(counted).collect();
                    format!(
                        "group {} references={} packets={} bytes={} {}",
                        row.group,
                        row.references,
                        row.packets,
                        row.bytes,
                        parts.join(" ")
                    )
                };
                rows.iter().map(line).collect()
            }
            ReplyBody::MeterConfig(rows) => rows.iter().map(|row| format!("{row:?}")).collect(),
            ReplyBody::Meter(rows) => {
                let line = |row: &v1_3::MeterStats| {
                    let parts: Vec<_> = row.bands.iter().map(counted).collect();
                    format!(
                        "meter {} flows={} packets={} bytes={} {}",
                        row.meter,
                        row.flows,
                        row.packets,
                        row.bytes,
                        parts.join(" ")
                    )
                };
                rows.iter().map(line).collect()
            }
            ReplyBody::Aggregate(sum) => {
                vec![format!("all packets={} bytes={} flows={}", sum.packets, sum.bytes, sum.flows)]
            }
            other => vec![format!("{other:?}")],
        },
        // Of ports: the statistics at the end say what has become of them.
        Body::PortStatus(_) | Body::Hello(_) => Vec::new(),
        other => vec![format!("{other:?}")],
    }
}

pub fn line10(message: v1_0::Message) -> Vec<String> {
    use v1_0::{Body, StatsReplyBody};
    match message.body {
        Body::Error(error) => vec![format!("error {:?}", v1_0::Fault::of(error.numbers()))],
        Body::PacketIn(told) => {
            vec![format!(
                "packet-in {:?} in_port={} {}",
                told.reason,
                told.in_port,
                Hex(told.data.0.to_vec())
            )]
        }
        Body::FlowRemoved(gone) => vec![format!(
            "gone priority={} cookie={} {:?} packets={} bytes={} {}",
            gone.priority,
            gone.cookie,
            gone.reason,
            gone.packets,
            gone.bytes,
            word10(&gone.matching)
        )],
        Body::StatsReply(reply) => match reply.body {
            StatsReplyBody::Flow(rows) => {
                let line = |row: &v1_0::FlowStats| {
                    format!(
                        "flow table={} priority={} cookie={} packets={} bytes={} {} {:?}",
                        row.table,
                        row.priority,
                        row.cookie,
                        row.packets,
                        row.bytes,
                        word10(&row.matching),
                        row.actions
                    )
                };
                rows.iter().map(line).collect()
            }
            StatsReplyBody::Aggregate(sum) => vec![format!("{sum:?}")],
            other => vec![format!("{other:?}")],
        },
        Body::PortStatus(_) | Body::Hello(_) => Vec::new(),
        other => vec![format!("{other:?}")],
    }
}
