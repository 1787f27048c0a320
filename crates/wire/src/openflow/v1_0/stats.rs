//! What has been counted.

use super::{Action, Fault, Match};
use crate::openflow::macros::{layout, multipart, sized};
use crate::openflow::{AggregateStats, Description, Name, Rest};

multipart! {
    /// A question about what has been counted.
    StatsRequest, StatsRequestBody, "Always false: no question has several messages in this version.":
    Fault::BadStat, pad 0 {
        /// Who made the switch?
        Description = 0;
        /// Entries, one by one.
        Flow(FlowStatsRequest) = 1;
        /// Entries, all together.
        Aggregate(FlowStatsRequest) = 2;
        /// Tables.
        Table = 3;
        /// Ports.
        Port(PortStatsRequest) = 4;
        /// Queues.
        Queue(QueueStatsRequest) = 5;
        /// A question of a vendor.
        Vendor(VendorStats) = 0xffff;
    }

    /// What has been counted.
    StatsReply, StatsReplyBody, "Do further messages belong to this answer?": Fault::BadStat, pad 0 {
        /// Who made the switch.
        Description(Description) = 0;
        /// Entries, one by one.
        Flow(Vec<FlowStats>) = 1;
        /// Entries, all together.
        Aggregate(AggregateStats) = 2;
        /// Tables.
        Table(Vec<TableStats>) = 3;
        /// Ports.
        Port(Vec<PortStats>) = 4;
        /// Queues.
        Queue(Vec<QueueStats>) = 5;
        /// An answer of a vendor.
        Vendor(VendorStats) = 0xffff;
    }
}

layout! {
    /// Which entries are asked about.
    FlowStatsRequest {
        /// Those that this covers.
        matching: Match;
        /// Those of this table; 0xff for all, 0xfe for the emergency table.
        table: u8, pad 1;
        /// Those that send to this port, if it is not NONE.
        out_port: u16;
    }

    /// A table.
    TableStats {
        /// Its number.
        table: u8, pad 3;
        /// Its name.
        name: Name<32>;
        /// What entries can leave out: bits of [`super::wildcards`].
        wildcards: u32;
        /// Entries that have room.
        max_entries: u32;
        /// Entries that are there.
        active: u32;
        /// Packets that were looked up.
        lookups: u64;
        /// Packets that matched.
        matched: u64;
    }

    /// Which port is asked about.
    PortStatsRequest {
        /// Its number, or NONE for all.
        port: u16, pad 6;
    }

    /// A port. All ones stand for what is not counted.
    PortStats {
        /// Its number.
        port: u16, pad 6;
        /// Packets received.
        rx_packets: u64;
        /// Packets sent.
        tx_packets: u64;
        /// Bytes received.
        rx_bytes: u64;
        /// Bytes sent.
        tx_bytes: u64;
        /// Received packets that were dropped.
        rx_dropped: u64;
        /// Packets to send that were dropped.
        tx_dropped: u64;
        /// Errors of reception, all kinds.
        rx_errors: u64;
        /// Errors of transmission.
        tx_errors: u64;
        /// Frames that were not aligned.
        rx_frame_errors: u64;
        /// Packets that came while there was no room.
        rx_over_errors: u64;
        /// Frames with a wrong check sequence.
        rx_crc_errors: u64;
        /// Collisions.
        collisions: u64;
    }

    /// Which queues are asked about.
    QueueStatsRequest {
        /// The port, or ALL.
        port: u16, pad 2;
        /// The queue, or all ones for all.
        queue: u32;
    }

    /// A queue.
    QueueStats {
        /// Its port.
        port: u16, pad 2;
        /// Its number.
        queue: u32;
        /// Bytes sent.
        tx_bytes: u64;
        /// Packets sent.
        tx_packets: u64;
        /// Packets that found no room.
        tx_errors: u64;
    }

    /// Statistics of a vendor.
    VendorStats {
        /// The vendor.
        vendor: u32;
        /// What the vendor says it is.
        data: Rest;
    }
}

sized! {
    /// An entry.
    FlowStats {
        [length];
        /// Its table.
        table: u8, pad 1;
        /// Its match.
        matching: Match;
        /// Whole seconds that it has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its priority.
        priority: u16;
        /// Its idle timeout, in seconds.
        idle_timeout: u16;
        /// Its hard timeout, in seconds.
        hard_timeout: u16, pad 6;
        /// Its cookie.
        cookie: u64;
        /// Packets that matched.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// What it does.
        actions: Vec<Action>;
    }
}
