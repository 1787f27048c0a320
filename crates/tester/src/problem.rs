//! What can be wrong with traffic and with what measures it, and what is surprising about it. The words of all of it
//! stand here; those of what is wrong with a description as it is written stand in `spec/problem.rs`.

base::problems! {
    /// Problems of flows, and of what is measured.
    pub enum TrafficProblem {
        /// A part of a description about measuring that can't be read.
        Measuring { error: String } is WrongType, "measuring", "{error}";
        /// Phases that do not follow each other.
        PhaseOrder {} is Conflict, "phase-order", "each must begin after the one before";
        /// Bins that take no time.
        EmptyBin {} is OutOfRange, "empty-series-bin", "a bin is longer than nothing";
        /// More streams than numbers for them.
        TooManyStreams { most: u32 } is OutOfRange, "too-many-streams", "more than {most} streams";
        /// An end at which nothing is measured.
        NoInstrument { node: String, why: String } is Conflict, "no-instrument", "'{node}' is {why}";
        /// A name that another random flow has.
        RandomTwice {} is Conflict, "random-twice", "another flow has this name: each draws random numbers that go by its name";
        /// A group of LSPs by its place, which has none.
        NoGroup { group: usize } is UnknownName, "no-group", "there is no LSP group {group}";
        /// A flow over an LSP that begins or ends elsewhere.
        OtherEnds { from: String, to: String } is Conflict, "other-ends", "its LSP goes from '{from}' to '{to}'";
        /// A host that should put labels on packets.
        HostOverLsp {} is Conflict, "host-over-lsp", "a host sends over no LSP: say with 'carries' what the LSP takes";
        /// A tester of switches with other links than it needs.
        TesterLinks {} is Conflict, "tester-links", "a tester of switches has one link with addresses, for its channel, and two without, for data";
        /// A tester whose two ports of the switch are one.
        TesterPortTwice { port: u16 } is Conflict, "tester-port-twice", "to_port={port} is from_port, too: a switch sends no packet back by the port that it came by";
        /// A tester that is at other ports of the switch than it is told.
        TesterPort { key: &'static str, port: u16, own: u16 } is Conflict, "tester-port", "{key}={port}: its link leads to port {own} of the switch";
        /// A tester that the switch does not connect to.
        TesterUnknown { switch: String, own: String } is Conflict, "tester-unknown", "switch '{switch}' has no controller tcp:{own}, which is where the tester listens";
        /// A connection to a switch that can't be used.
        TesterChannel { error: String } is Failed, "tester-channel", "its connection to the switch: {error}";
        /// Several receivers of a flow to one node.
        NoGroupToReceive {} is Conflict, "no-group-to-receive", "only a flow to a group has several receivers: 'group' is missing";
        /// A flow to a group that is none.
        NotAGroup { group: String } is OutOfRange, "not-a-group", "group={group}: groups that routers forward are 224.0.1.0 to 239.255.255.255, and those of IPv6 of scope 3 or more";
        /// A flow to a group over an LSP to one node.
        GroupOverLsp {} is Conflict, "group-over-lsp", "packets to a group take its tree, and no LSP to one node";
        /// A receiver that can't join.
        ReceiverNoHost { node: String } is Conflict, "receiver-no-host", "'{node}' is no host: only hosts join groups";
        /// A group whose packets no router in front of a receiver brings.
        GroupWithoutTree { group: String, router: String, node: String } is Conflict, "group-without-tree", "router '{router}' in front of '{node}' knows no core of {group}: its 'cbt' needs the group with its core, its 'pim' a range with the group (IPv4 only), or a 'p2mp' LSP has to carry it";
        /// A receiver of a group in front of which a router does not hear what hosts want.
        HostNotHeard { group: String, router: String, node: String, protocol: &'static str } is Conflict, "host-not-heard", "router '{router}' does not hear that '{node}' wants {group}: it needs '{protocol}'";
        /// A receiver of a group with named senders that wants no packets of this sender.
        SenderNotNamed { node: String, group: String, from: String, source: String } is Conflict, "sender-not-named", "'{node}' has not joined {group} from {source}, the address of '{from}': PIM brings packets of named senders only, as join: '{group} from {source}' asks for";
        /// A router in front of a receiver that does not hear which senders it names.
        SenderNotHeard { group: String, router: String, node: String } is Conflict, "sender-not-heard", "router '{router}' does not hear which senders of {group} '{node}' names: it needs 'igmp' of version 3, or 'mld' of version 2 for IPv6";
        /// A sender that no routers with PIM lead to.
        NoWayToSender { router: String, group: String, from: String } is Conflict, "no-way-to-sender", "no way leads from router '{router}' to '{from}' on which every router speaks PIM for {group}: give those between 'pim'";
        /// A receiver to which no link leads.
        ReceiverUnreachable { node: String, from: String } is Conflict, "receiver-unreachable", "no link leads from '{from}' to '{node}'";
        /// A receiver that has not joined.
        ReceiverNotJoined { node: String, group: String } is Conflict, "receiver-not-joined", "'{node}' has not joined {group}: its 'join' says which groups it wants";
        /// An edge that should send without labels.
        EdgeWithoutLsp {} is Conflict, "edge-without-lsp", "an edge sends over LSPs only";
        /// A flow of IPv6 from or to a router without it.
        Ipv6End { node: String } is Conflict, "ipv6-end", "ipv6: '{node}' has no IPv6 address: give one to it, or to a link of it";
        /// A flow of IPv6 over a host's link without it.
        Ipv6Link { a: String, b: String } is Conflict, "ipv6-link", "ipv6: link {a} - {b} has no IPv6 addresses";
        /// A choice of links for what has no choice.
        NoHost { node: String } is Conflict, "no-host", "'{node}' is no host";
        /// A link at which the host is not.
        NotAtLink { node: String, link: usize } is UnknownName, "not-at-link", "'{node}' is not at link {link}";
        /// A flow from a host to itself by one link.
        WhichLinks { node: String } is WrongType, "which-links", "from '{node}' to itself: from_link and to_link say by which two of its links";
        /// A flow that ends before it begins.
        StopsFirst { stop: String, start: String } is Conflict, "stops-first", "stop={stop} is not after start={start}: it would send nothing";
        /// A flow that is over when it is added.
        Over { stop: String, now: String } is TooLate, "over", "stop={stop}: it is {now} already: it would send nothing";
        /// Frames that no source makes.
        Size { size: u32, least: u32, most: u32 } is OutOfRange, "size", "size={size}: a test packet has {least} to {most} bytes here";
        /// A code point of more than six bits.
        Dscp { dscp: u8 } is OutOfRange, "dscp", "dscp={dscp}: 0 to 63";
        /// An end of a flow over TCP that is no host.
        TcpAtNoHost { node: String } is Conflict, "tcp-at-no-host", "'{node}' is no host: programs that talk over TCP are at hosts";
        /// A flow over TCP from a host to itself.
        TcpToItself { node: String } is Conflict, "tcp-to-itself", "it begins and ends at '{node}'";
        /// A port that two servers of a host would wait at.
        PortTaken { port: u16, node: String } is Conflict, "tcp-port-taken", "port={port}: another flow over TCP ends at that port of '{node}'";
        /// A host whose ports are all waited at.
        NoPortLeft { node: String } is Conflict, "no-tcp-port-left", "a program waits at every port of '{node}' from 5001 on";
        /// Segments that a packet of the link does not hold.
        MssAboveMtu { mss: u16, node: String, mtu: u32, most: u32 } is OutOfRange, "mss-above-mtu", "mss={mss}: a packet of '{node}' has {mtu} bytes at most, of which {most} are data";
        /// A number that is no port (RFC 6335, 6).
        Port { key: &'static str, number: u32 } is OutOfRange, "udp-port", "{key}={number}: a UDP port is 1 to 65535";
        /// A trace of nothing.
        EmptyTrace {} is OutOfRange, "empty-trace", "gaps: a trace has at least one packet";
        /// A trace with other sizes than packets.
        TraceSizes { gaps: usize, sizes: usize } is Conflict, "trace-sizes", "a trace of {gaps} gaps and {sizes} sizes: as many of both";
        /// A trace without an end.
        EndlessTrace {} is Conflict, "endless-trace", "repeat: the trace takes no time, and would never end";
        /// A flow without a rate.
        NoRate {} is OutOfRange, "no-rate", "rate=0: a flow has a rate";
        /// A flow whose packets have no size.
        NoSize {} is WrongType, "no-size", "size: how long are its packets?";
        /// Sizes without any.
        NoSizes {} is OutOfRange, "no-sizes", "sizes: there are none to choose from";
        /// Weights that do not belong to the sizes.
        Weights { sizes: usize, weights: usize } is Conflict, "weights", "{sizes} sizes and {weights} weights: as many of both";
        /// Weights that choose nothing.
        BadWeights {} is OutOfRange, "bad-weights", "weights: numbers from zero on, of which one is more than zero";
        /// A mean of nothing.
        NoMeanSize { mean: f64 } is OutOfRange, "no-mean-size", "mean={mean}: a mean size is more than zero";
        /// Bounds the wrong way round.
        CrossedBounds { min: u32, max: u32 } is Conflict, "crossed-bounds", "min={min} is more than max={max}";
        /// A mean outside its bounds.
        MeanBeyond { mean: f64, min: u32, max: u32 } is Conflict, "mean-beyond", "mean={mean} is not between min={min} and max={max}: most frames would be as long as a bound";
        /// Periods of no time.
        EmptyPeriod { name: &'static str, mean: i64 } is OutOfRange, "empty-period", "{name}: mean={mean}: a period is longer than nothing";
        /// A Pareto distribution without a mean.
        NoMeanPeriod { name: &'static str, shape: f64 } is OutOfRange, "no-mean-period", "{name}: shape={shape}: a Pareto distribution has a mean if its shape is more than 1";
        /// Periods in which nothing is sent.
        SparsePeriod { mean: i64, usual: String, parts: String } is OutOfRange, "sparse-period", "on: mean={mean} ps: in a usual period, {usual} ps, it sends less than a part in {parts} of a packet";
    }
}

base::problems! {
    /// What is surprising about flows that can be added: warnings.
    pub enum TrafficAdvice {
        /// A flow over an LSP that drops all its packets.
        FlowDropped { lsp: String, kind: &'static str, phbs: String, phb: String } is Conflict, "flow-dropped", "the {kind} '{lsp}' has a place for {phbs} only: its packets, which are {phb}, are dropped";
        /// LSPs that an event leaves without a way.
        Stranded { event: String, lsps: String } is Conflict, "stranded", "it {event}, over which {lsps}, and no fallback avoids that";
        /// Flows that an event cuts off, though there is another way.
        RoutesStay { event: String, flows: String } is Conflict, "routes-stay", "it {event}, and routes stay as they are: {flows} all packets while it lasts, though there is another way ('routes: shortest' lets routes follow)";
        /// A flow to where no link leads.
        NoWay { from: String, to: String, more: String } is Conflict, "no-way", "no way leads from '{from}' to '{to}': all its packets are lost{more}";
        /// Flows that nothing on their way can tell apart.
        Alike { src: u16, dst: u16, first: String, more: String } is Conflict, "alike", "it has the addresses and the ports ({src} to {dst}) of flow '{first}'{more}: queues by flow, such as fq_codel, take them for one; another src_port would tell them apart";
    }
}
