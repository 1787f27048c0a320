//! What can be wrong with links that carry cells, and with circuits.

base::problems! {
    /// What is refused of links that carry cells, and of circuits.
    pub enum AtmProblem {
        /// Cells at a node that makes nothing of them.
        CellsAtOthers { node: String } is Conflict, "cells-at-others", "medium=atm: '{node}' is no ATM switch: give it a circuit ('pvc') that ends at one";
        /// A link of another medium at a switch.
        PacketsAtSwitch { node: String } is Conflict, "packets-at-switch", "'{node}' is an ATM switch: its links have medium atm and lead to others, and packets come to it by a 'pvc' between two routers or hosts";
        /// A circuit that would end in a switch.
        CircuitOfSwitch { node: String } is Conflict, "circuit-of-switch", "pvc: '{node}' is an ATM switch: a circuit is between two routers or hosts, and 'through' names the switches";
        /// A circuit that would end at a node that sends no packets of its own.
        NoStation { node: String, called: String } is Conflict, "no-station", "pvc: '{node}' is {called}: a circuit is between two routers or hosts";
        /// A circuit without a link of cells.
        ShortCircuit { count: usize } is OutOfRange, "short-circuit", "{count} switches: a circuit passes two at least, joined by a link of medium atm";
        /// A circuit through what is no switch.
        NoSwitch { node: String } is Conflict, "no-atm-switch", "'{node}' is no ATM switch";
        /// A circuit that comes back.
        SwitchTwice { node: String } is Conflict, "atm-switch-twice", "'{node}' is on the way already";
        /// Two switches without a link.
        NoCellLink { from: String, to: String } is Conflict, "no-cell-link", "no link of medium atm joins '{from}' and '{to}'";
        /// Two links of cells between the same switches.
        TwoCellLinks { between: String } is Conflict, "two-cell-links", "a link of medium atm joins {between} already, and a circuit could not say which it takes";
        /// Packets that no port has room for.
        NoRoomForPacket { node: String, key: &'static str, waiting: u32, mtu: u32, cells: u64 } is Conflict, "no-room-for-packet", "at '{node}' {waiting} cells may wait, and a packet of mtu {mtu} takes {cells}: it needs more '{key}' (or 'buffer' of its link), or the circuit a smaller 'mtu'";
        /// A list of VCIs that does not fit the way.
        VciCount { count: usize, links: usize } is OutOfRange, "vci-count", "{count} VCIs for {links} links: one for all, or one for each";
        /// A VCI that no circuit has.
        VciRange { vci: u32, min: u32, max: u32 } is OutOfRange, "vci-range", "VCI {vci}: {min} to {max}, since those below are the network's own";
        /// Two circuits with one channel on a link.
        TwoOwners { vpi: u16, vci: u16, between: String, other: String } is Conflict, "two-owners", "VPI {vpi}, VCI {vci} on link {between} is that of the circuit {other} already";
        /// A channel of a path that is switched as a whole.
        ChannelInPath { vpi: u16, between: String, other: String } is Conflict, "channel-in-path", "VPI {vpi} on link {between} is that of the virtual path {other}, which is switched as a whole: a circuit can't have a channel of it, too";
        /// Two paths with one number on a link.
        TwoPathOwners { vpi: u32, between: String, other: String } is Conflict, "two-path-owners", "VPI {vpi} on link {between} is that of the virtual path {other} already";
        /// A VPI that headers on a link can't say, or that no virtual path has.
        VpiRange { vpi: u32, min: u32, max: u32, between: String } is OutOfRange, "vpi-range", "VPI {vpi}: {min} to {max} on link {between}";
        /// A list of VPIs that does not fit the way.
        VpiCount { count: usize, links: usize } is OutOfRange, "vpi-count", "{count} VPIs for {links} links: one for all, or one for each: to the first switch, between switches, and from the last one";
        /// A link whose paths are used up.
        NoVpiLeft { between: String } is Conflict, "no-vpi-left", "on link {between} no VPI is left";
        /// A virtual path without a switch.
        ShortPath {} is OutOfRange, "short-path", "no switches: a virtual path passes one at least, and without any a link of medium atm would do";
        /// A virtual path that ends where no cells do.
        NoPathEnd { node: String, called: String } is Conflict, "no-path-end", "vp: '{node}' is {called}: a virtual path is between two routers or ATM-LSRs, or between two ATM switches";
        /// A link whose channels are used up.
        NoVciLeft { between: String, vpi: u16 } is Conflict, "no-vci-left", "on link {between} no VCI of VPI {vpi} is left";
        /// InATMARP on a circuit that carries IP alone.
        MapWithoutSnap {} is Conflict, "map-without-snap", "map inatmarp needs encapsulation llc-snap: others carry no such packets";
        /// Constant bit rate without a rate.
        CbrWithoutPeak {} is Conflict, "cbr-without-peak", "service cbr needs a peak rate, such as 'pcr: 4750 cells/s'";
        /// A rate of nothing.
        PeakOfNothing {} is OutOfRange, "peak-of-nothing", "0: a peak rate is more than nothing, such as 4750 cells/s";
        /// Policing of what cannot be early.
        NobodyPolices {} is Conflict, "nobody-polices", "the end shapes the cells, and a circuit of two switches has no other that measures them: it needs a third switch, or 'shaped: false'";
        /// Constant bit rate that takes what it wants.
        CbrUnbounded {} is Conflict, "cbr-unbounded", "service cbr with 'shaped: false' needs a 'tolerance', such as 100 ms: its cells leave first, and nothing else keeps them to the peak rate";
        /// Policing by no rate.
        ToleranceWithoutPeak {} is Conflict, "tolerance-without-peak", "'tolerance' says how early beside the peak rate a cell may be, and 'pcr' is missing";
        /// A peak rate above that of a link.
        PeakAboveLink { pcr: String, between: String, rate: String } is Conflict, "peak-above-link", "pcr={pcr}: link {between} carries {rate}";
        /// A promise over what has promised nothing.
        CbrOverUbr { between: String } is Conflict, "cbr-over-ubr", "service cbr: the virtual path {between} is of service ubr, and promises nothing to what is in it";
        /// A link of which more is promised than it has.
        Oversold { pcr: String, between: String, rate: String, promised: String } is Conflict, "oversold", "pcr={pcr}: link {between} carries {rate}, of which {promised} is promised to others of service cbr";
    }
}
