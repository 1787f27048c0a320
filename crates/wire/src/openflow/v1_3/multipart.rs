//! Questions and answers that may take several messages.

use super::table_features::TableFeatures;
use super::{Band, Buckets, Fault, GroupType, Instruction, Match, MeterFlags, Port, flow::FlowFlags};
use crate::openflow::macros::{layout, multipart, sized};
use crate::openflow::{AggregateStats, Description, Rest};

multipart! {
    /// A question.
    MultipartRequest, RequestBody, "Do further messages belong to this question?": Fault::BadMultipart, pad 4 {
        /// Who made the switch?
        Description = 0;
        /// Entries, one by one.
        Flow(FlowStatsRequest) = 1;
        /// Entries, all together.
        Aggregate(FlowStatsRequest) = 2;
        /// What tables have counted.
        Table = 3;
        /// What ports have counted.
        PortStats(PortRequest) = 4;
        /// What queues have counted.
        Queue(QueueRequest) = 5;
        /// What groups have counted.
        Group(GroupRequest) = 6;
        /// Groups.
        GroupDescription = 7;
        /// What groups can do.
        GroupFeatures = 8;
        /// What meters have counted.
        Meter(MeterRequest) = 9;
        /// Meters.
        MeterConfig(MeterRequest) = 10;
        /// What meters can do.
        MeterFeatures = 11;
        /// What tables can do, or are to do.
        TableFeatures(Vec<TableFeatures>) = 12;
        /// Ports.
        PortDescription = 13;
        /// A question of an experimenter.
        Experimenter(Experiment) = 0xffff;
    }

    /// An answer.
    MultipartReply, ReplyBody, "Do further messages belong to this answer?": Fault::BadMultipart, pad 4 {
        /// Who made the switch.
        Description(Description) = 0;
        /// Entries, one by one.
        Flow(Vec<FlowStats>) = 1;
        /// Entries, all together.
        Aggregate(AggregateStats) = 2;
        /// What tables have counted.
        Table(Vec<TableStats>) = 3;
        /// What ports have counted.
        PortStats(Vec<PortStats>) = 4;
        /// What queues have counted.
        Queue(Vec<QueueStats>) = 5;
        /// What groups have counted.
        Group(Vec<GroupStats>) = 6;
        /// Groups.
        GroupDescription(Vec<GroupDescription>) = 7;
        /// What groups can do.
        GroupFeatures(GroupFeatures) = 8;
        /// What meters have counted.
        Meter(Vec<MeterStats>) = 9;
        /// Meters.
        MeterConfig(Vec<MeterConfig>) = 10;
        /// What meters can do.
        MeterFeatures(MeterFeatures) = 11;
        /// What tables can do.
        TableFeatures(Vec<TableFeatures>) = 12;
        /// Ports.
        PortDescription(Vec<Port>) = 13;
        /// An answer of an experimenter.
        Experimenter(Experiment) = 0xffff;
    }
}

layout! {
    /// Which entries are asked about.
    FlowStatsRequest {
        /// Those of this table; 0xff for all.
        table: u8, pad 3;
        /// Those that send to this port, if it is not ANY.
        out_port: u32;
        /// Those that give to this group, if it is not ANY.
        out_group: u32, pad 4;
        /// Those whose cookie has these bits ...
        cookie: u64;
        /// ... where this mask has them.
        cookie_mask: u64;
        /// Those that this covers.
        matching: Match;
    }

    /// A table.
    TableStats {
        /// Its number.
        table: u8, pad 3;
        /// Entries that are there.
        active: u32;
        /// Packets that were looked up.
        lookups: u64;
        /// Packets that matched.
        matched: u64;
    }

    /// Which port is asked about.
    PortRequest {
        /// Its number, or ANY for all.
        port: u32, pad 4;
    }

    /// A port. All ones stand for what is not counted.
    PortStats {
        /// Its number.
        port: u32, pad 4;
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
        /// Whole seconds that the port has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
    }

    /// Which queues are asked about.
    QueueRequest {
        /// The port, or ANY.
        port: u32;
        /// The queue, or all ones for all.
        queue: u32;
    }

    /// A queue.
    QueueStats {
        /// Its port.
        port: u32;
        /// Its number.
        queue: u32;
        /// Bytes sent.
        tx_bytes: u64;
        /// Packets sent.
        tx_packets: u64;
        /// Packets that found no room.
        tx_errors: u64;
        /// Whole seconds that the queue has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
    }

    /// Which group is asked about.
    GroupRequest {
        /// Its number, or ALL.
        group: u32, pad 4;
    }

    /// A bucket, or a band.
    Counter {
        /// Packets.
        packets: u64;
        /// Their bytes.
        bytes: u64;
    }

    /// What groups can do; of four values each is of one type of group, in the order of their numbers.
    GroupFeatures {
        /// The types: bit n stands for type n.
        types: u32;
        /// Bits of OFPGFC.
        capabilities: u32;
        /// Groups that have room.
        max_groups: [u32; 4];
        /// Actions that buckets can have: bit n stands for type n.
        actions: [u32; 4];
    }

    /// Which meter is asked about.
    MeterRequest {
        /// Its number, or ALL.
        meter: u32, pad 4;
    }

    /// What meters can do.
    MeterFeatures {
        /// Meters that have room.
        max_meters: u32;
        /// Types of bands: bit n stands for type n.
        bands: u32;
        /// Bits of `meter_flags`.
        capabilities: u32;
        /// Bands of a meter, at most.
        max_bands: u8;
        /// Colours.
        max_colors: u8, pad 2;
    }

    /// What an experimenter asks or tells.
    Experiment {
        /// The experimenter.
        experimenter: u32;
        /// Its type, which the experimenter defines.
        kind: u32;
        /// What the experimenter says it is.
        data: Rest;
    }
}

sized! {
    /// An entry.
    FlowStats {
        [length];
        /// Its table.
        table: u8, pad 1;
        /// Whole seconds that it has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its priority.
        priority: u16;
        /// Its idle timeout, in seconds.
        idle_timeout: u16;
        /// Its hard timeout, in seconds.
        hard_timeout: u16;
        /// See [`super::flow_flags`].
        flags: FlowFlags, pad 4;
        /// Its cookie.
        cookie: u64;
        /// Packets that matched.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// Its match.
        matching: Match;
        /// What it does.
        instructions: Vec<Instruction>;
    }

    /// What a group has counted.
    GroupStats {
        [length], pad 2;
        /// Its number.
        group: u32;
        /// Entries and groups that give to it.
        references: u32, pad 4;
        /// Packets.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// Whole seconds that it has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its buckets.
        buckets: Vec<Counter>;
    }

    /// A group.
    GroupDescription {
        [length];
        /// What it does with packets.
        kind: GroupType, pad 1;
        /// Its number.
        group: u32;
        /// Its buckets.
        buckets: Buckets;
    }

    /// What a meter has counted.
    MeterStats {
        /// Its number.
        meter: u32;
        [length], pad 6;
        /// Entries that pass it.
        flows: u32;
        /// Packets.
        packets: u64;
        /// Their bytes.
        bytes: u64;
        /// Whole seconds that it has been there.
        duration_s: u32;
        /// Nanoseconds beyond them.
        duration_ns: u32;
        /// Its bands.
        bands: Vec<Counter>;
    }

    /// A meter.
    MeterConfig {
        [length];
        /// See [`super::meter_flags`].
        flags: MeterFlags;
        /// Its number.
        meter: u32;
        /// Its bands.
        bands: Vec<Band>;
    }
}
