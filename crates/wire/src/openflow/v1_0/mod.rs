//! OpenFlow 1.0 (wire version 1).

mod action;
mod fault;
mod flow;
mod matching;
mod port;
mod stats;
mod switch;

pub use super::{AggregateStats, Description, PortReason};
pub use action::Action;
pub use fault::Fault;
pub use flow::{Command, FlowMod, FlowRemoved, RemovedReason, flow_flags};
pub use matching::{Match, VLAN_NONE, wildcards};
pub use port::{PacketQueue, Port, PortMod, PortStatus, QueueConfig, QueueConfigRequest, QueueProperty};
pub use stats::{
    FlowStats, FlowStatsRequest, PortStats, PortStatsRequest, QueueStats, QueueStatsRequest, StatsReply,
    StatsReplyBody, StatsRequest, StatsRequestBody, TableStats, VendorStats,
};
pub use switch::{Features, PacketIn, PacketInReason, PacketOut, SwitchConfig, Vendor};

use super::macros::{bodies, message};
use super::{ErrorMessage, Hello, Rest, Version};

/// Numbers of ports that stand for something else than one port.
pub mod ports {
    /// The greatest number of a physical port.
    pub const MAX: u16 = 0xff00;
    /// The port that the packet came in by.
    pub const IN_PORT: u16 = 0xfff8;
    /// The flow table: of PACKET_OUT only.
    pub const TABLE: u16 = 0xfff9;
    /// The switch's own forwarding.
    pub const NORMAL: u16 = 0xfffa;
    /// All physical ports but the one of ingress and those that are not to flood.
    pub const FLOOD: u16 = 0xfffb;
    /// All physical ports but the one of ingress.
    pub const ALL: u16 = 0xfffc;
    /// The controller.
    pub const CONTROLLER: u16 = 0xfffd;
    /// The switch's own network stack.
    pub const LOCAL: u16 = 0xfffe;
    /// No port.
    pub const NONE: u16 = 0xffff;
}

bodies! {
    /// The first message; what is in it is left alone.
    Hello(Hello) = 0, "hello";
    /// What was wrong with a message.
    Error(ErrorMessage) = 1, "error";
    /// Is the other end there?
    EchoRequest(Rest) = 2, "echo-request";
    /// The answer, with the bytes of the question.
    EchoReply(Rest) = 3, "echo-reply";
    /// A message of a vendor.
    Vendor(Vendor) = 4, "vendor";
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
    /// A port to change.
    PortMod(PortMod) = 15, "port-mod";
    /// What has been counted?
    StatsRequest(StatsRequest) = 16, "stats-request";
    /// What has been counted.
    StatsReply(StatsReply) = 17, "stats-reply";
    /// All before this is to be done before what comes after it.
    BarrierRequest = 18, "barrier-request";
    /// All before the question is done.
    BarrierReply = 19, "barrier-reply";
    /// Which queues has a port?
    QueueGetConfigRequest(QueueConfigRequest) = 20, "queue-get-config-request";
    /// The queues of a port.
    QueueGetConfigReply(QueueConfig) = 21, "queue-get-config-reply";
}

message!(Version::V1_0);
