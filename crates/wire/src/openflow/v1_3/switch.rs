//! The switch itself, packets to and from a controller, controllers' roles and what
//! they are told, and messages of experimenters.

use super::{Action, Fault, Match};
use crate::openflow::fields::set_len;
use crate::openflow::macros::{layout, numbers};
use crate::openflow::{Code, Field, Malformed, Reader, Rest};
use serde::{Deserialize, Serialize};

layout! {
    /// What a switch can do.
    Features {
        /// Its identifier: the lower 48 bits are an address, the others are as its implementer likes.
        datapath_id: u64;
        /// Packets that it can hold for a controller.
        buffers: u32;
        /// Its tables.
        tables: u8;
        /// Which connection this is: zero for the main one.
        auxiliary: u8, pad 2;
        /// What it can do: bits of OFPC.
        capabilities: u32;
        /// Nothing.
        reserved: u32;
    }

    /// How a switch is set.
    SwitchConfig {
        /// What is done with fragments: OFPC_FRAG.
        flags: u16;
        /// Bytes of a packet that go to the controller if it is buffered; 0xffff sends all, and buffers nothing.
        miss_send_len: u16;
    }

    /// A packet for the controller.
    PacketIn {
        /// Where it waits, or [`crate::openflow::NO_BUFFER`].
        buffer_id: u32;
        /// Its length.
        total_len: u16;
        /// Why it is sent.
        reason: PacketInReason;
        /// The table that sent it.
        table: u8;
        /// The cookie of the entry that sent it; all ones if there is none.
        cookie: u64;
        /// Where it came in, and its metadata.
        matching: Match, pad 2;
        /// Its beginning, or all of it.
        data: Rest;
    }

    /// The role that a controller wants or has.
    RoleMessage {
        /// The role.
        role: Role, pad 4;
        /// Counts who was master, so that an old message does not make one.
        generation: u64;
    }

    /// What a controller is told: bit n of a mask stands for reason n. The first mask of each is of masters and equals,
    /// the second of slaves.
    AsyncConfig {
        /// Reasons of PACKET_IN.
        packet_in: [u32; 2];
        /// Reasons of PORT_STATUS.
        port_status: [u32; 2];
        /// Reasons of FLOW_REMOVED.
        flow_removed: [u32; 2];
    }

    /// A message of an experimenter.
    Experimenter {
        /// The experimenter: an OUI, if the upper octet is zero.
        experimenter: u32;
        /// Its type, which the experimenter defines.
        kind: u32;
        /// What the experimenter says it is.
        data: Rest;
    }
}

numbers! {
    /// Why a packet goes to the controller.
    PacketInReason: u8, Code::BAD_LEN, "a reason that is not known" {
        /// No entry matches it, or the entry of those that none else matches.
        NoMatch = 0;
        /// An action says so.
        Action = 1;
        /// Its TTL is not valid.
        InvalidTtl = 2;
    }

    /// What a controller may do.
    Role: u32, Fault::BadRole, "a role that is not known" {
        /// What it may already.
        NoChange = 0;
        /// Everything, as others.
        Equal = 1;
        /// Everything, and all other masters become slaves.
        Master = 2;
        /// Read.
        Slave = 3;
    }
}

/// A packet to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketOut {
    /// Where it waits, or [`crate::openflow::NO_BUFFER`].
    pub buffer_id: u32,
    /// Where it came in, or CONTROLLER.
    pub in_port: u32,
    /// What is done with it.
    pub actions: Vec<Action>,
    /// The packet, if it does not wait in a buffer.
    pub data: Rest,
}

impl Field for PacketOut {
    fn read(from: &mut Reader<'_>) -> Result<PacketOut, Malformed> {
        let (buffer_id, in_port, len) = (u32::read(from)?, u32::read(from)?, u16::read(from)?);
        from.take(6)?;
        let actions = Vec::read(&mut from.split(len.into())?)?;
        Ok(PacketOut { buffer_id, in_port, actions, data: Rest::read(from)? })
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.buffer_id.write(to);
        self.in_port.write(to);
        let place = to.len();
        to.extend([0; 8]);
        self.actions.write(to);
        set_len(to, place + 8, place);
        self.data.write(to);
    }
}
