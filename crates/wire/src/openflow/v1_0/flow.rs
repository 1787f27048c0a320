//! Changes of entries, and entries that are gone.

use super::{Action, Fault, Match, ports};
use crate::openflow::macros::{layout, numbers};
use crate::openflow::{Code, NO_BUFFER};

/// Bits of `flags` of a FLOW_MOD.
pub mod flow_flags {
    /// Tell the controller when the entry is gone.
    pub const SEND_FLOW_REM: u16 = 1 << 0;
    /// Refuse the entry if it overlaps one of its priority.
    pub const CHECK_OVERLAP: u16 = 1 << 1;
    /// The entry is for the time without a controller.
    pub const EMERG: u16 = 1 << 2;
}

numbers! {
    /// What is done to entries.
    Command: u16, Fault::BadCommand, "a command that is not known" {
        /// Add one, in the place of one that has the same match and priority.
        Add = 0;
        /// Change the actions of all that match, or add one if none does.
        Modify = 1;
        /// Change the actions of the one with the same match and priority, or add one.
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
    }
}

layout! {
    /// Adds, changes or deletes entries.
    FlowMod {
        /// Which packets are meant, or which entries.
        matching: Match;
        /// A number of the controller's own.
        cookie: u64;
        /// What is done.
        command: Command;
        /// Seconds without packets after which the entry goes; zero for never.
        idle_timeout: u16;
        /// Seconds after which it goes; zero for never.
        hard_timeout: u16;
        /// Which of several entries that match is taken: the one with the highest.
        priority: u16;
        /// A packet in a buffer that the actions are done to, or [`crate::openflow::NO_BUFFER`].
        buffer_id: u32;
        /// Deletes only entries that send to this port, if it is not NONE.
        out_port: u16;
        /// See [`flow_flags`].
        flags: u16;
        /// What is done with packets.
        actions: Vec<Action>;
    }

    /// An entry is gone.
    FlowRemoved {
        /// Its match.
        matching: Match;
        /// Its cookie.
        cookie: u64;
        /// Its priority.
        priority: u16;
        /// Why it is gone.
        reason: RemovedReason, pad 1;
        /// Whole seconds that it was there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its idle timeout, in seconds.
        idle_timeout: u16, pad 2;
        /// Packets that matched.
        packets: u64;
        /// Their bytes.
        bytes: u64;
    }
}

impl FlowMod {
    /// A change at the lowest priority: without a time limit, a packet in a buffer or actions, and of entries to
    /// whatever port.
    pub fn new(command: Command, matching: Match) -> FlowMod {
        FlowMod {
            matching,
            cookie: 0,
            command,
            idle_timeout: 0,
            hard_timeout: 0,
            priority: 0,
            buffer_id: NO_BUFFER,
            out_port: ports::NONE,
            flags: 0,
            actions: Vec::new(),
        }
    }
}
