//! Groups and meters.

use super::{Action, Fault};
use crate::openflow::macros::{layout, numbers, sized, typed};
use crate::openflow::{Field, Malformed, Reader, Rest};
use serde::{Deserialize, Serialize};

/// Numbers of groups that stand for something else than one group.
pub mod groups {
    /// The greatest number of a group.
    pub const MAX: u32 = 0xffff_ff00;
    /// All groups, to delete them.
    pub const ALL: u32 = 0xffff_fffc;
    /// Any group or none, in filters.
    pub const ANY: u32 = 0xffff_ffff;
}

/// Numbers of meters that stand for something else than one meter that entries use.
pub mod meters {
    /// The greatest number of a meter.
    pub const MAX: u32 = 0xffff_0000;
    /// The meter of the way through the switch's processor.
    pub const SLOWPATH: u32 = 0xffff_fffd;
    /// The meter of packets for the controller.
    pub const CONTROLLER: u32 = 0xffff_fffe;
    /// All meters.
    pub const ALL: u32 = 0xffff_ffff;
}

/// Bits of `flags` of a meter.
pub mod meter_flags {
    /// Rates are in kbit/s.
    pub const KBPS: u16 = 1 << 0;
    /// Rates are in packets a second.
    pub const PKTPS: u16 = 1 << 1;
    /// Bursts are given.
    pub const BURST: u16 = 1 << 2;
    /// Packets are counted.
    pub const STATS: u16 = 1 << 3;
    /// All that there are.
    pub const ALL: u16 = 0xf;
}

numbers! {
    /// What is done to a group.
    GroupCommand: u16, Fault::BadGroupCommand, "a command that is not known" {
        /// Add it.
        Add = 0;
        /// Change it.
        Modify = 1;
        /// Delete it.
        Delete = 2;
    }

    /// What a group does with a packet.
    GroupType: u8, Fault::BadGroupType, "a type of group that is not known" {
        /// Every bucket gets a copy.
        All = 0;
        /// One bucket gets it, by weight.
        Select = 1;
        /// The only bucket gets it.
        Indirect = 2;
        /// The first bucket gets it that is alive.
        FastFailover = 3;
    }

    /// What is done to a meter.
    MeterCommand: u16, Fault::BadMeterCommand, "a command that is not known" {
        /// Add it.
        Add = 0;
        /// Change it.
        Modify = 1;
        /// Delete it.
        Delete = 2;
    }
}

layout! {
    /// Adds, changes or deletes a group.
    GroupMod {
        /// What is done.
        command: GroupCommand;
        /// What it does with packets.
        kind: GroupType, pad 1;
        /// Its number.
        group: u32;
        /// Its buckets.
        buckets: Buckets;
    }

    /// Adds, changes or deletes a meter.
    MeterMod {
        /// What is done.
        command: MeterCommand;
        /// See [`meter_flags`].
        flags: MeterFlags;
        /// Its number.
        meter: u32;
        /// Its bands.
        bands: Vec<Band>;
    }
}

/// Buckets of a group: all that is left. What is wrong with their lengths is an error of buckets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<Bucket>);

impl Field for Buckets {
    fn read(from: &mut Reader<'_>) -> Result<Buckets, Malformed> {
        let buckets = Vec::read(&mut from.or(Fault::BadBucket.numbers()))?;
        from.rest();
        Ok(Buckets(buckets))
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }
}

sized! {
    /// A list of actions of a group.
    Bucket {
        [length];
        /// Its share, in select groups.
        weight: u16;
        /// The port that it is alive with, in fast failover groups; ANY for none.
        watch_port: u32;
        /// The group that it is alive with; ANY for none.
        watch_group: u32, pad 4;
        /// What it does.
        actions: Vec<Action>;
    }
}

/// Flags of a meter; unknown ones are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MeterFlags(pub u16);

impl Field for MeterFlags {
    fn read(from: &mut Reader<'_>) -> Result<MeterFlags, Malformed> {
        let (at, flags) = (from.at(), u16::read(from)?);
        if flags & !meter_flags::ALL != 0 {
            return Err(Fault::BadMeterFlags.at(at, "flags that are not known"));
        }
        Ok(MeterFlags(flags))
    }
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }
}

typed! {
    /// What a meter does with packets that are faster than a rate. Rates are in kbit/s or packets a second, bursts in
    /// kbit or packets, as the meter's flags say.
    Band: Fault::BadBand, Fault::RequestBadLen, "a type of band that is not known" {
        /// Drop them.
        Drop = 1 {
            /// The rate.
            rate: u32;
            /// The burst.
            burst: u32, pad 4;
        };
        /// Make it likelier that they are dropped later.
        DscpRemark = 2 {
            /// The rate.
            rate: u32;
            /// The burst.
            burst: u32;
            /// By how much the drop precedence in the DSCP grows.
            levels: u8, pad 3;
        };
        /// What an experimenter says.
        Experimenter = 0xffff {
            /// The rate.
            rate: u32;
            /// The burst.
            burst: u32;
            /// The experimenter.
            experimenter: u32;
            /// What the experimenter says it is.
            data: Rest;
        };
    }
}
