//! The switch itself, packets to and from a controller, and messages of vendors.

use super::{Action, Port};
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
        tables: u8, pad 3;
        /// What it can do: bits of OFPC.
        capabilities: u32;
        /// The actions that it knows: bit n stands for type n.
        actions: u32;
        /// Its ports.
        ports: Vec<Port>;
    }

    /// How a switch is set.
    SwitchConfig {
        /// What is done with fragments: OFPC_FRAG.
        flags: u16;
        /// Bytes of a packet without an entry that go to the controller if it is buffered.
        miss_send_len: u16;
    }

    /// A packet for the controller.
    PacketIn {
        /// Where it waits, or [`crate::openflow::NO_BUFFER`].
        buffer_id: u32;
        /// Its length.
        total_len: u16;
        /// Where it came in.
        in_port: u16;
        /// Why it is sent.
        reason: PacketInReason, pad 1;
        /// Its beginning, or all of it.
        data: Rest;
    }

    /// A message of a vendor.
    Vendor {
        /// The vendor: an OUI, if the upper octet is zero.
        vendor: u32;
        /// What the vendor says it is.
        data: Rest;
    }
}

numbers! {
    /// Why a packet goes to the controller.
    PacketInReason: u8, Code::BAD_LEN, "a reason that is not known" {
        /// No entry matches it.
        NoMatch = 0;
        /// An action says so.
        Action = 1;
    }
}

/// A packet to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketOut {
    /// Where it waits, or [`crate::openflow::NO_BUFFER`].
    pub buffer_id: u32,
    /// Where it came in, or NONE.
    pub in_port: u16,
    /// What is done with it.
    pub actions: Vec<Action>,
    /// The packet, if it does not wait in a buffer.
    pub data: Rest,
}

impl Field for PacketOut {
    fn read(from: &mut Reader<'_>) -> Result<PacketOut, Malformed> {
        let (buffer_id, in_port, len) = (u32::read(from)?, u16::read(from)?, u16::read(from)?);
        let actions = Vec::read(&mut from.split(len.into())?)?;
        Ok(PacketOut { buffer_id, in_port, actions, data: Rest::read(from)? })
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.buffer_id.write(to);
        self.in_port.write(to);
        let place = to.len();
        to.extend([0, 0]);
        self.actions.write(to);
        crate::openflow::fields::set_len(to, place + 2, place);
        self.data.write(to);
    }
}
