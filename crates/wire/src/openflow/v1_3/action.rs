//! Actions and instructions.

use super::Fault;
use super::matching::Setting;
use crate::openflow::Rest;
use crate::openflow::macros::typed;

typed! {
    /// What is done with a packet.
    Action: Fault::BadActionType, Fault::BadActionLen, "a type of action that is not known" {
        /// Send it.
        Output = 0 {
            /// Where to.
            port: u32;
            /// Bytes of it that go to a controller.
            max_len: u16, pad 6;
        };
        /// Copy the TTL from the second header to the outermost.
        CopyTtlOut = 11 pad 4;
        /// Copy the TTL from the outermost header to the second.
        CopyTtlIn = 12 pad 4;
        /// Set the TTL of the top label stack entry.
        SetMplsTtl = 15 {
            /// The TTL.
            ttl: u8, pad 3;
        };
        /// Decrement that TTL.
        DecMplsTtl = 16 pad 4;
        /// Put on a VLAN tag.
        PushVlan = 17 {
            /// The tag's type.
            ethertype: u16, pad 2;
        };
        /// Take off the outermost VLAN tag.
        PopVlan = 18 pad 4;
        /// Put on a label stack entry.
        PushMpls = 19 {
            /// The EtherType of MPLS.
            ethertype: u16, pad 2;
        };
        /// Take off the top label stack entry.
        PopMpls = 20 {
            /// What the packet is behind it.
            ethertype: u16, pad 2;
        };
        /// Take this queue when the packet is sent.
        SetQueue = 21 {
            /// The queue.
            queue: u32;
        };
        /// Give it to a group.
        Group = 22 {
            /// The group.
            group: u32;
        };
        /// Set the TTL or hop limit of IP.
        SetNwTtl = 23 {
            /// The TTL.
            ttl: u8, pad 3;
        };
        /// Decrement that TTL.
        DecNwTtl = 24 pad 4;
        /// Set a field.
        SetField = 25 {
            /// The field and its value.
            set: Setting;
        };
        /// Put on a tag of provider backbone bridging.
        PushPbb = 26 {
            /// The tag's type.
            ethertype: u16, pad 2;
        };
        /// Take off that tag.
        PopPbb = 27 pad 4;
        /// An action of an experimenter.
        Experimenter = 0xffff {
            /// The experimenter.
            experimenter: u32;
            /// What the experimenter says it is.
            data: Rest;
        };
    }

    /// What an entry does with a packet.
    Instruction: Fault::UnknownInst, Fault::BadInstLen, "a type of instruction that is not known" {
        /// Look it up in another table.
        GotoTable = 1 {
            /// The table, which comes after this one.
            table: u8, pad 3;
        };
        /// Write into the metadata.
        WriteMetadata = 2 pad 4 {
            /// The value.
            metadata: u64;
            /// The bits that are written.
            mask: u64;
        };
        /// Put actions into the action set.
        WriteActions = 3 pad 4 {
            /// The actions.
            actions: Vec<Action>;
        };
        /// Do actions now.
        ApplyActions = 4 pad 4 {
            /// The actions.
            actions: Vec<Action>;
        };
        /// Make the action set empty.
        ClearActions = 5 pad 4;
        /// Pass a meter.
        Meter = 6 {
            /// The meter.
            meter: u32;
        };
        /// An instruction of an experimenter.
        Experimenter = 0xffff {
            /// The experimenter.
            experimenter: u32;
            /// What the experimenter says it is.
            data: Rest;
        };
    }
}
