//! Changes of entries and tables, and entries that are gone.

use super::{Fault, Instruction, Match, groups, ports};
use crate::openflow::macros::{layout, numbers};
use crate::openflow::{Code, Field, Malformed, NO_BUFFER, Reader};
use serde::{Deserialize, Serialize};

/// Bits of `flags` of a FLOW_MOD and of an entry.
pub mod flow_flags {
    /// Tell the controller when the entry is gone.
    pub const SEND_FLOW_REM: u16 = 1 << 0;
    /// Refuse the entry if it overlaps one of its priority.
    pub const CHECK_OVERLAP: u16 = 1 << 1;
    /// Begin to count anew.
    pub const RESET_COUNTS: u16 = 1 << 2;
    /// Packets need not be counted.
    pub const NO_PKT_COUNTS: u16 = 1 << 3;
    /// Bytes need not be counted.
    pub const NO_BYT_COUNTS: u16 = 1 << 4;
    /// All that there are.
    pub const ALL: u16 = 0x1f;
}

numbers! {
    /// What is done to entries.
    Command: u8, Fault::BadFlowCommand, "a command that is not known" {
        /// Add one, in the place of one that has the same match and priority.
        Add = 0;
        /// Change the instructions of all that match.
        Modify = 1;
        /// Change the instructions of the one with the same match and priority.
        ModifyStrict = 2;
        /// Delete all that match.
        Delete = 3;
        /// Delete the one with the same match and priority.
        DeleteStrict = 4;
    }

    /// Why an entry is gone.
    RemovedReason: u8, Code::BAD_LEN, "a reason that is not known" {
        /// No packet came for the idle timeout.
        IdleTimeout = 0;
        /// The hard timeout has passed.
        HardTimeout = 1;
        /// It was deleted.
        Delete = 2;
        /// Its group was deleted.
        GroupDelete = 3;
    }
}

/// Flags of an entry; unknown ones are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FlowFlags(pub u16);

impl Field for FlowFlags {
    fn read(from: &mut Reader<'_>) -> Result<FlowFlags, Malformed> {
        let (at, flags) = (from.at(), u16::read(from)?);
        if flags & !flow_flags::ALL != 0 {
            return Err(Fault::BadFlowFlags.at(at, "flags that are not known"));
        }
        Ok(FlowFlags(flags))
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }
}

layout! {
    /// Adds, changes or deletes entries.
    FlowMod {
        /// A number of the controller's own.
        cookie: u64;
        /// Changes or deletes only entries whose cookie has these bits of `cookie`.
        cookie_mask: u64;
        /// The table; 0xff deletes from all.
        table: u8;
        /// What is done.
        command: Command;
        /// Seconds without packets after which the entry goes; zero for never.
        idle_timeout: u16;
        /// Seconds after which it goes; zero for never.
        hard_timeout: u16;
        /// Which of several entries that match is taken: the one with the highest.
        priority: u16;
        /// A packet in a buffer that is looked up then, or [`crate::openflow::NO_BUFFER`].
        buffer_id: u32;
        /// Deletes only entries that send to this port, if it is not ANY.
        out_port: u32;
        /// Deletes only entries that give to this group, if it is not ANY.
        out_group: u32;
        /// See [`flow_flags`].
        flags: FlowFlags, pad 2;
        /// Which packets are meant, or which entries.
        matching: Match;
        /// What is done with packets.
        instructions: Vec<Instruction>;
    }

    /// An entry is gone.
    FlowRemoved {
        /// Its cookie.
        cookie: u64;
        /// Its priority.
        priority: u16;
        /// Why it is gone.
        reason: RemovedReason;
        /// Its table.
        table: u8;
        /// Whole seconds that it was there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its idle timeout, in seconds.
        idle_timeout: u16;
        /// Its hard timeout, in seconds.
        hard_timeout: u16;
        /// Packets that matched.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// Its match.
        matching: Match;
    }

    /// How a table is to be: no version before 1.4 defines a bit.
    TableMod {
        /// The table; 0xff for all.
        table: u8, pad 3;
        /// Bits that are deprecated.
        config: u32;
    }
}

impl FlowMod {
    /// A change of table 0 at the lowest priority: without a time limit, a packet in a buffer or instructions, and of
    /// whatever port, group and cookie entries are.
    pub fn new(command: Command, matching: Match) -> FlowMod {
        FlowMod {
            cookie: 0,
            cookie_mask: 0,
            table: 0,
            command,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0,
            buffer_id: NO_BUFFER,
            out_port: ports::ANY,
            out_group: groups::ANY,
            flags: FlowFlags(0),
            matching,
            instructions: Vec::new(),
        }
    }
}
