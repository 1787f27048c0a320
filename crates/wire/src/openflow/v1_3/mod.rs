//! OpenFlow 1.3 (wire version 4).
//!
//! - [`oxm`](Oxm), [`matching`](Match): fields, and matches that consist of them
//! - [`action`](Action): actions and instructions
//! - [`flow`](FlowMod), [`group`](GroupMod), [`port`](PortMod), [`switch`](Features): messages by what they change
//! - [`multipart`](MultipartRequest), [`table_features`](TableFeatures): questions and answers about what there is
//! - [`bundle`](BundleControl): messages that are done together
//! - [`fault`](Fault): errors

mod action;
mod bundle;
mod fault;
mod flow;
mod group;
mod matching;
mod multipart;
mod oxm;
mod port;
mod switch;
mod table_features;

pub use super::{AggregateStats, Description, PortReason};
pub use action::{Action, Instruction};
pub use bundle::{BundleAdd, BundleControl, BundleFault, ONF, bundle_control, bundle_flags, bundle_kinds};
pub use fault::Fault;
pub use flow::{Command, FlowFlags, FlowMod, FlowRemoved, RemovedReason, TableMod, flow_flags};
pub use group::{
    Band, Bucket, Buckets, GroupCommand, GroupMod, GroupType, MeterCommand, MeterFlags, MeterMod, groups,
    meter_flags, meters,
};
pub use matching::{Match, Setting, VLAN_PRESENT};
pub use multipart::{
    Counter, Experiment, FlowStats, FlowStatsRequest, GroupDescription, GroupFeatures, GroupRequest,
    GroupStats, MeterConfig, MeterFeatures, MeterRequest, MeterStats, MultipartReply, MultipartRequest,
    PortRequest, PortStats, QueueRequest, QueueStats, ReplyBody, RequestBody, TableStats,
};
pub use oxm::{Oxm, OxmField};
pub use port::{PacketQueue, Port, PortMod, PortStatus, QueueConfig, QueueConfigRequest, QueueProperty};
pub use switch::{
    AsyncConfig, Experimenter, Features, PacketIn, PacketInReason, PacketOut, Role, RoleMessage, SwitchConfig,
};
pub use table_features::{List, Offer, TableFeatures, TableProperty};

use super::macros::{bodies, message};
use super::{ErrorMessage, Hello, Rest, Version};

/// Numbers of ports that stand for something else than one port.
pub mod ports {
    /// The greatest number of a port.
    pub const MAX: u32 = 0xffff_ff00;
    /// The port that the packet came in by.
    pub const IN_PORT: u32 = 0xffff_fff8;
    /// The first flow table: of PACKET_OUT only.
    pub const TABLE: u32 = 0xffff_fff9;
    /// The switch's own forwarding.
    pub const NORMAL: u32 = 0xffff_fffa;
    /// All ports but the one of ingress and those that are blocked, as the switch's own forwarding floods.
    pub const FLOOD: u32 = 0xffff_fffb;
    /// All ports but the one of ingress.
    pub const ALL: u32 = 0xffff_fffc;
    /// The controller.
    pub const CONTROLLER: u32 = 0xffff_fffd;
    /// The switch's own network stack.
    pub const LOCAL: u32 = 0xffff_fffe;
    /// Any port or none, in filters.
    pub const ANY: u32 = 0xffff_ffff;
}

bodies! {
    /// The first message.
    Hello(Hello) = 0, "hello";
    /// What was wrong with a message.
    Error(ErrorMessage) = 1, "error";
    /// Is the other end there?
    EchoRequest(Rest) = 2, "echo-request";
    /// The answer, with the bytes of the question.
    EchoReply(Rest) = 3, "echo-reply";
    /// A message of an experimenter.
    Experimenter(Experimenter) = 4, "experimenter";
    /// What can the switch do?
    FeaturesRequest = 5, "features-request";
    /// What it can do.
    FeaturesReply(Features) = 6, "features-reply";
    /// How is it set?
    GetConfigRequest = 7, "get-config-request";
    /// How it is set.
    GetConfigReply(SwitchConfig) = 8, "get-config-reply";
    /// How it is to be set.
    SetConfig(SwitchConfig) = 9, "set-config";
    /// A packet for the controller.
    PacketIn(PacketIn) = 10, "packet-in";
    /// An entry is gone.
    FlowRemoved(FlowRemoved) = 11, "flow-removed";
    /// A port has changed.
    PortStatus(PortStatus) = 12, "port-status";
    /// A packet to send.
    PacketOut(PacketOut) = 13, "packet-out";
    /// Entries to add, change or delete.
    FlowMod(FlowMod) = 14, "flow-mod";
    /// A group to add, change or delete.
    GroupMod(GroupMod) = 15, "group-mod";
    /// A port to change.
    PortMod(PortMod) = 16, "port-mod";
    /// A table to change.
    TableMod(TableMod) = 17, "table-mod";
    /// A question.
    MultipartRequest(MultipartRequest) = 18, "multipart-request";
    /// An answer.
    MultipartReply(MultipartReply) = 19, "multipart-reply";
    /// All before this is to be done before what comes after it.
    BarrierRequest = 20, "barrier-request";
    /// All before the question is done.
    BarrierReply = 21, "barrier-reply";
    /// Which queues has a port?
    QueueGetConfigRequest(QueueConfigRequest) = 22, "queue-get-config-request";
    /// The queues of a port.
    QueueGetConfigReply(QueueConfig) = 23, "queue-get-config-reply";
    /// The role that a controller wants.
    RoleRequest(RoleMessage) = 24, "role-request";
    /// The role that it has.
    RoleReply(RoleMessage) = 25, "role-reply";
    /// What is the controller told?
    GetAsyncRequest = 26, "get-async-request";
    /// What it is told.
    GetAsyncReply(AsyncConfig) = 27, "get-async-reply";
    /// What it is to be told.
    SetAsync(AsyncConfig) = 28, "set-async";
    /// A meter to add, change or delete.
    MeterMod(MeterMod) = 29, "meter-mod";
}

message!(Version::V1_3);
