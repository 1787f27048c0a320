//! The differences to Open vSwitch that random programmes know of: each is shown by a test in `named`. Those that leave
//! tables alike are excused here; the others are left out of random programmes, where a comment has their name.

use super::programme::Step;
use super::run::Seen;
use wire::openflow::v1_3::{Action, Body, Command, GroupCommand, GroupType, Instruction, ports};

/// Faults that a message may have, as far as it can be seen without tables.
fn can_be(body: &Body, fault: &str) -> bool {
    let change = match body {
        Body::FlowMod(change) => change,
        Body::GroupMod(change) => {
            return match fault {
                "error Some(UnknownGroup)" => change.command == GroupCommand::Modify,
                "error Some(GroupExists)" => change.command == GroupCommand::Add,
                "error Some(InvalidGroup)" => {
                    change.kind == GroupType::Indirect && change.buckets.0.len() != 1
                }
                _ => false,
            };
        }
        _ => return false,
    };
    let actions = || {
        change.instructions.iter().flat_map(|instruction| match instruction {
            Instruction::ApplyActions { actions } | Instruction::WriteActions { actions } => &actions[..],
            _ => &[],
        })
    };
    let has_instruction = |wanted: fn(&Instruction) -> bool| change.instructions.iter().any(wanted);
    let has_action = |wanted: fn(&Action) -> bool| actions().any(wanted);
    match fault {
        "error Some(BadOutPort)" => {
            has_action(|action| matches!(action, Action::Output { port: ports::ANY | ports::TABLE, .. }))
        }
        "error Some(BadOutGroup)" => has_action(|action| matches!(action, Action::Group { .. })),
        "error Some(UnknownMeter)" => has_instruction(|one| matches!(one, Instruction::Meter { .. })),
        "error Some(BadInstTableId)" => change
            .instructions
            .iter()
            .any(|one| matches!(one, Instruction::GotoTable { table } if *table <= change.table)),
        "error Some(BadArgument)" => has_action(|one| {
            matches!(one, Action::PushVlan { ethertype: 0x1234 } | Action::PushMpls { ethertype: 0x0800 })
        }),
        // Actions that packets can't have, or that may be.
        "error Some(MatchInconsistent)" => {
            actions().any(|action| !matches!(action, Action::Output { .. } | Action::Group { .. }))
        }
        _ => false,
    }
}

fn without_cookies(seen: &Seen) -> Vec<String> {
    let words = |line: &String| {
        line.split(' ').filter(|word| !word.starts_with("cookie=")).collect::<Vec<_>>().join(" ")
    };
    seen.iter().map(words).collect()
}

/// Is it one of the differences that leave tables alike?
pub fn is_excused(step: Option<&Step>, ours: &Seen, theirs: &Seen) -> bool {
    // packet-in-of-an-action-set
    if theirs.iter().any(|line| line.contains("cookie=ffffffffffffffff"))
        && without_cookies(ours) == without_cookies(theirs)
    {
        return true;
    }
    let Some(Step::Say13(body)) = step else { return false };
    match (&ours[..], &theirs[..]) {
        // unknown-meter
        ([ours], [theirs]) if theirs == "error Some(InvalidMeter)" => ours == "error Some(UnknownMeter)",
        // several-faults
        ([ours], [theirs]) => can_be(body, ours) && can_be(body, theirs),
        // change-of-nothing
        ([ours], []) => {
            let Body::FlowMod(change) = body else { return false };
            let is_change = matches!(change.command, Command::Modify | Command::ModifyStrict);
            is_change && ["error Some(BadOutGroup)", "error Some(UnknownMeter)"].contains(&&ours[..])
        }
        _ => false,
    }
}
