//! What can be wrong with a network that is built, placed and run. The words of all of it stand here; those of what is
//! wrong with a description as it is written stand in `spec/problem.rs`.

base::problems! {
    /// Problems of nodes and links, whatever kind they are of.
    pub enum BuildProblem {
        /// Two nodes that others could not tell apart.
        NumberTwice { id: u64, called: &'static str, other: String } is Conflict, "number-twice", "{id} is the {called} of '{other}', too";
        /// More nodes than there are blocks of addresses.
        TooManyNodes { count: usize, most: usize } is OutOfRange, "too-many-nodes", "{count} nodes: at most {most}";
        /// Two nodes with one name.
        SameName {} is Conflict, "same-name", "two nodes have that name";
        /// A node by its place among the nodes, which has no such place.
        NodeNumber { node: usize, count: usize } is UnknownName, "node-number", "node {node} of {count}";
        /// A protocol that sends more by itself than a link can carry.
        LinkOverloaded { protocol: String, load: String, a: String, b: String, rate: String } is Conflict, "link-overloaded", "{protocol} sends {load}, and link {a} - {b} carries {rate}: a longer period or shorter probes are needed";
        /// DiffServ of what is no router.
        NoDiffServ { called: String } is Conflict, "no-diffserv", "{called} has no 'diffserv'";
        /// A router id of what is no router.
        NoRouterId { called: String } is Conflict, "no-router-id", "{called} has no router id";
        /// A name in the costs of a device profile that no protocol has.
        CostOfNobody { profile: String, protocol: String, hint: String } is UnknownName, "cost-of-nobody", "profile '{profile}': control.costs: no protocol is named '{protocol}'{hint}";
        /// A name there that no kind of message has.
        CostOfNothing { profile: String, protocol: String, kind: String, hint: String } is UnknownName, "cost-of-nothing", "profile '{profile}': control.costs.{protocol}: no kind of message is named '{kind}'{hint}";
        /// A key that no node of the kind has.
        NothingOwn { key: String } is UnknownName, "nothing-own", "unknown field '{key}': nodes of this kind have none such";
        /// Facts that contradict the kind.
        OtherFacts { kind: String } is Conflict, "other-facts", "its 'facts' are not those of a node of kind '{kind}': leave them out";
        /// A link from a node to itself.
        BothEnds { node: String } is Conflict, "both-ends", "both ends are at node '{node}'";
        /// A time that runs backwards.
        NegativeDelay {} is OutOfRange, "negative-delay", "a delay can't be negative";
        /// A length of packets that IP does not have.
        Mtu { mtu: u32 } is OutOfRange, "mtu", "mtu={mtu}: 68 to 65535 bytes";
        /// A packet that no frame of the medium holds.
        MediumMtu { mtu: u32, medium: &'static str, most: u32 } is Conflict, "medium-mtu", "mtu={mtu}: a frame of medium {medium} holds a packet of up to {most} bytes";
        /// A shared segment with frames that have no addresses.
        MediumOfSegment { medium: &'static str, node: String } is Conflict, "medium-of-segment", "medium={medium}: its frames have no Ethernet addresses, by which '{node}' passes frames on";
        /// A host beside something that passes nothing on.
        NobodysGateway { host: String, other: String } is Conflict, "nobodys-gateway", "host '{host}': its link leads to '{other}', which is no router: nobody is its gateway";
        /// A host without a link.
        Alone {} is Conflict, "alone", "it has no link: a host needs one, to a router";
        /// A kind that has so many links, no more and no fewer.
        ExactLinks { called: String, links: String, count: usize } is Conflict, "exact-links", "{called} has {links}, not {count}";
        /// More links than the kind has.
        ManyLinks { called: String, links: String, count: usize } is Conflict, "many-links", "{called} has {links} at most, not {count}";
        /// Fewer links than the kind has.
        FewLinks { called: String, links: String, count: usize } is Conflict, "few-links", "{called} has {links} at least, not {count}";
        /// A switch that takes time for what it does, and has nowhere to take it.
        ProfileUnmanaged {} is Conflict, "profile-unmanaged", "profile: only a switch with a management port has one: a link with addresses is missing";
        /// TLS over a TCP that knows nothing of it.
        TlsManaged {} is Conflict, "tls-managed", "TLS is over TCP of the kernel, and not over that of a management port: 'tcp' and 'ptcp', or no link with addresses";
        /// A queue at a port of somebody else's.
        QueueOfOthers { called: String } is Conflict, "queue-of-others", "it is {called}: its queues are not ours";
        /// A conditioner where packets do not arrive at a router of ours.
        NoConditioner {} is Conflict, "no-conditioner", "it is no router of ours: only these condition what arrives";
        /// Routes that would have to be computed for routers of other processes.
        RoutesElsewhere { node: String } is Conflict, "routes-elsewhere", "router '{node}' is in a process of its own: routes are computed anew where all routers are in one process, in virtual time or in real time, and not in a lab";
        /// Settings of a protocol for a neighbour that is none.
        NoNeighbor { name: String, known: String } is UnknownName, "no-neighbor", "no link leads to '{name}'{known}";
        /// A member of a mesh that is named besides by something else than the address of its session there.
        MeshMember { name: String, router: String, address: String } is Conflict, "mesh-member", "'{name}' is router '{router}' of the same mesh, whose sessions are between loopback addresses: name it by '{address}' to say something else of that session";
        /// A way from a router to itself.
        JoinsItself {} is Conflict, "joins-itself", "that is this router itself";
        /// A way to a router that has one in the list already, in other words.
        JoinsTwice { router: String, other: String, region: String } is Conflict, "joins-twice", "a virtual link to '{other}' through {region} stands in the list already, and '{router}' is the same router";
        /// A way to a node that knows nothing of it.
        JoinsSilent { name: String, protocol: String } is Conflict, "joins-silent", "'{name}' does not speak {protocol}";
        /// Bins that take no time.
        EmptyBin {} is OutOfRange, "empty-bin", "a bin is longer than nothing";
    }
}

base::problems! {
    /// Problems of addresses that the description gives, and of those that it has to give.
    pub enum AddressProblem {
        /// A host that has its address from nowhere.
        NoAddress {} is WrongType, "no-address", "it has no address: say one such as 10.1.0.2/24";
        /// A host with several links, of which one gives it no address.
        NoLinkAddresses { host: String } is WrongType, "no-link-addresses", "host '{host}' has several links: each must say its 'addresses' at both ends";
        /// A gateway of a host that has several.
        ManyGateways {} is Conflict, "many-gateways", "its gateways are at the other ends of its links";
        /// An address that is none of those that links give.
        NotAmong { address: String } is Conflict, "not-among", "{address} is not among the addresses that its links give it";
        /// Addresses of a link that has them from its host.
        HostsAddresses { host: String } is Conflict, "hosts-addresses", "its addresses are those of host '{host}' and its gateway";
        /// A prefix for one.
        NoRoom { address: String } is OutOfRange, "no-room", "{address}: there is no room for its gateway in the prefix";
        /// An address that means something else, such as a network or a group.
        NotForHosts { address: String } is OutOfRange, "not-for-hosts", "{address}: not an address that a host can have";
        /// The same, of a link.
        NotForInterfaces { address: String } is OutOfRange, "not-for-interfaces", "{address}: not an address that an interface can have";
        /// The same, of a router id.
        NotForRouters { address: String } is OutOfRange, "not-for-routers", "router_id={address}: not an address that a router can have";
        /// A prefix that the network gives, or sends test packets to.
        Collides { prefix: String, taken: String, whose: &'static str } is Conflict, "collides", "{prefix} collides with {taken}, {whose}";
        /// The same, of a router id.
        IdCollides { id: String, taken: String, whose: &'static str } is Conflict, "id-collides", "router_id={id} collides with {taken}, {whose}";
        /// A router id that is in somebody's network.
        IdWithin { id: String, prefix: String, whose: String } is Conflict, "id-within", "router_id={id} lies in {prefix}, which is that of {whose}";
        /// A router id that another router has.
        IdTwice { id: String, other: String } is Conflict, "id-twice", "router_id={id} is that of '{other}', too";
        /// A gateway that is the host itself.
        OwnGateway { gateway: String } is Conflict, "own-gateway", "its gateway {gateway} is its own address";
        /// A gateway that its host does not reach.
        FarGateway { gateway: String, prefix: String } is OutOfRange, "far-gateway", "its gateway {gateway} is not an address of a router in {prefix}";
        /// Ends that do not reach each other.
        TwoNetworks { first: String, second: String } is Conflict, "two-networks", "{first} and {second} are not in one network";
        /// One address at both ends.
        SameAddress { address: String } is Conflict, "same-address", "both ends have the address {address}";
        /// A link with IPv6 that takes too short packets.
        ShortForIpv6 { mtu: u32, least: u32 } is OutOfRange, "short-for-ipv6", "mtu={mtu}: a link with IPv6 takes packets of {least} bytes at least";
        /// An IPv6 loopback address that another router has.
        LoopbackTwice { address: String, other: String } is Conflict, "loopback-twice", "{address} is that of '{other}', too";
        /// An IPv6 loopback address within the network of a link.
        LoopbackWithin { address: String, prefix: String } is Conflict, "loopback-within", "{address} lies in {prefix}, which is that of a link";
        /// Two networks that have addresses in common.
        Overlap { prefix: String, other: String, whose: String } is Conflict, "overlap", "{prefix} and {other} of {whose} overlap";
        /// Addresses of a link to a segment.
        SegmentsAddresses { segment: String } is Conflict, "segments-addresses", "its addresses are in the prefix of segment '{segment}': leave them out";
        /// A segment on a segment.
        TwoPrefixes { other: String, prefix: String } is Conflict, "two-prefixes", "it has a link to switch '{other}', so that both are one network: its prefix has to be {prefix}, too";
        TwoSegments { other: String } is Conflict, "two-segments", "it has a link to '{other}', another segment: put a router between them";
        /// A segment whose prefix is too small.
        SegmentFull { prefix: String, member: String } is OutOfRange, "segment-full", "{prefix} has no address left for '{member}'";
        /// Two hosts of a segment with one address.
        AddressTwice { address: String, other: String } is Conflict, "address-twice", "{address} is the address of '{other}', too";
        /// Two nodes whose blocks are full.
        NoneLeft { count: u32 } is OutOfRange, "none-left", "both nodes have {count} links or more: between two such nodes there are no addresses left";
    }
}

base::problems! {
    /// Problems of LSPs.
    pub enum LspProblem {
        /// No way between its ends.
        NoPath { from: String, to: String } is Conflict, "no-path", "there is no path from '{from}' to '{to}'";
        /// A way through a router that does not signal.
        ThroughSilent { node: String, called: String } is Conflict, "through-silent", "its way leads through '{node}', {called}, which does not speak RSVP-TE";
        /// A way over a shared segment, where RSVP-TE has no neighbour of its own on the link.
        OverSegment { segment: String } is Conflict, "over-segment", "its way leads over segment '{segment}': LSPs go over links between two routers";
        /// An LSP that begins at somebody else's router.
        ForeignHead { node: String, called: String } is Conflict, "foreign-head", "'{node}' is {called}: its LSPs begin there";
        /// An LSP that is watched by LSP ping, which its end does not answer.
        NoLspPing { node: String } is Conflict, "lsp-without-lsp-ping", "lsp_ping needs a router at its end that answers LSP ping, and '{node}' is none";
        /// An LSP that is watched by BFD, of which an end does not speak that.
        NoBfd { node: String } is Conflict, "lsp-without-bfd", "bfd needs both ends to speak BFD, and '{node}' does not: say 'bfd' among its protocols";
        /// An LSP that begins at what is no router.
        NoHead { node: String, called: String } is Conflict, "no-head", "'{node}' is {called}, not a router";
        /// An LSP that ends where nobody signals.
        NoTail { node: String, called: String } is Conflict, "no-tail", "'{node}' is {called}: an LSP ends at a router";
        /// An LSP to a router that does not signal.
        SilentTail { node: String, called: String } is Conflict, "silent-tail", "'{node}' is {called}, which does not speak RSVP-TE";
        /// An LSP of 1+1 to what can't select between two.
        NoSelector { node: String, called: String } is Conflict, "no-selector", "'{node}' is {called}, and only routers choose between the two LSPs of '1+1': use '1:1'";
        /// An LSP to somebody else's router, of which the id is not known.
        ForeignTail { node: String } is WrongType, "foreign-tail", "'{node}' is external: say its router_id";
        /// A set of classes without any.
        NoClasses {} is OutOfRange, "no-classes", "'classes' is empty: no packet would take it";
        /// Classes of packets to nowhere.
        ClassesAlone {} is Conflict, "classes-alone", "'classes' says of which behaviours what 'carries' names is";
        /// A filter that takes nothing, or can't be.
        Filter { error: String } is OutOfRange, "filter", "{error}";
        /// A tunnelling model that its tail end does not know.
        TailWithoutDiffServ { node: String } is Conflict, "tail-without-diffserv", "it has a tunnelling model, and node '{node}', where it ends, has no 'diffserv'";
        /// DiffServ of an LSP whose head end has none.
        HeadWithoutDiffServ { node: String } is Conflict, "head-without-diffserv", "node '{node}' has no 'diffserv', so its LSPs can't say anything of behaviours";
        /// PHBs that its head end does not have.
        UnsupportedPhbs { node: String, missing: String } is Conflict, "unsupported-phbs", "node '{node}' does not support {missing} ('supported' of its 'diffserv')";
        /// An LSP that ends where it begins.
        SameEnds { node: String } is Conflict, "same-ends", "both ends are at '{node}'";
        /// A priority that signalling can't say.
        Priority {} is OutOfRange, "priority", "priorities are 0 to 7";
        /// A holding priority below the setup priority.
        Preempting { setup: u8, holding: u8 } is Conflict, "preempting", "setup priority {setup} is more urgent than holding priority {holding}: LSPs would preempt each other for ever (RFC 3209, 4.7.1)";
        /// More tunnels than ids.
        TooManyTunnels { most: u16 } is OutOfRange, "too-many-tunnels", "more than {most} tunnels between one pair of routers";
        /// More LSPs than addresses.
        TooManyLsps { most: u32 } is OutOfRange, "too-many-lsps", "more than {most} LSPs in one network";
        /// Test packets that would go to what the description gives.
        TestsTaken { lsps: u32, prefix: String, taken: String } is Conflict, "tests-taken", "test packets over {lsps} LSPs go to {prefix}, where {taken} is that this network was given";
        /// A route over a link that is not there.
        NoSuchHop { here: String, to: String } is Conflict, "no-such-hop", "its route goes from '{here}' to {to}, and no link does";
        /// A route that ends elsewhere.
        RouteEnds { end: String, to: String } is Conflict, "route-ends", "its route ends at '{end}', not at '{to}'";
        /// A loose hop without a name on the wire.
        ForeignHop { node: String } is WrongType, "foreign-hop", "its route goes through '{node}', which is external: say its router_id";
        /// Explicit routes of one tree that part and meet again.
        WaysMeet { node: String } is Conflict, "ways-meet", "its route meets that of another leaf again at '{node}', where both go on by one link: let it lead there as that one does, or say 'remerge: allow' of the rsvp of '{node}'";
        /// A group of a tree that another protocol brings to one of its ends.
        GroupTaken { node: String, group: String, protocol: String } is Conflict, "group-taken", "{group} is a group of {protocol} at '{node}' already: a router takes packets of a group from one tree";
        /// Groups that a router would get by trees of two protocols.
        GroupsOfBoth { node: String, other: String } is Conflict, "groups-of-both", "'{node}' is an end of '{other}', too, which another protocol sets up: a router has its groups by trees of one";
        /// An end of a tree of LDP that takes no part in such trees.
        NoTrees { node: String } is Conflict, "no-trees", "'{node}' takes no part in trees of LDP: say 'ldp' among its protocols, without 'p2mp: false'";
        /// Two trees of LDP that routers can't tell apart.
        LspIdTwice { lsp_id: u32, other: String } is Conflict, "lsp-id-twice", "lsp_id={lsp_id} is that of '{other}' of the same root, too";
        /// A bypass of a link that its head end does not have.
        NothingToBypass { node: String, to: String } is Conflict, "nothing-to-bypass", "'{node}' has no link to {to}: a bypass leads around a link of the router where it begins";
        /// A bypass over the link that it is to protect, or over one that fails with it.
        SharesRisk { what: String } is Conflict, "shares-risk", "its way leads over {what}: what it protects from, it would not survive";
        /// A command that LSPs do not know.
        UnknownCommand { command: String } is UnknownName, "unknown-command", "LSP command '{command}': signal, route, tear or reoptimise";
        /// A group of LSPs by its place, which has none.
        GroupNumber { group: usize, count: usize } is UnknownName, "group-number", "LSP group {group} of {count}";
    }
}

base::problems! {
    /// Problems of a placement: which nodes are in a process, and by which interfaces it reaches the others.
    pub enum PlacementProblem {
        /// Somebody else's router in virtual time.
        External { called: String } is Conflict, "external", "it is {called}: somebody else's router is there in real time only";
        /// A kind that this program does not have, in virtual time.
        NoSuchKind { kind: String } is Conflict, "no-such-kind", "this program has no nodes of kind '{kind}': they run in another process only";
        /// Two interfaces for one end of a link.
        PortTwice { node: String, link: usize } is Conflict, "port-twice", "two interfaces for node '{node}' on link {link}";
        /// An interface for a node of another process.
        PortElsewhere { node: String, link: usize } is Conflict, "port-elsewhere", "link {link}: node '{node}' is not local: it has no interface here";
        /// A link that leads out of the process, and no interface.
        NoPort { near: String, far: String, link: usize } is Conflict, "no-port", "link {link} from '{near}' to '{far}': '{far}' is not local, and no interface leads to it";
        /// One interface where there are two or none.
        OnePort { near: String, far: String, link: usize } is Conflict, "one-port", "link {link} from '{near}' to '{far}': both are local, so that both have an interface or neither";
        /// An interface that does not carry the medium of its link.
        MediumInside { node: String, medium: &'static str, link: usize } is Conflict, "medium-inside", "'{node}': link {link} has medium {medium}, which no interface carries";
        /// A kernel at the other end of a link whose medium it does not read.
        MediumOfKernel { host: String, medium: &'static str, link: usize } is Conflict, "medium-of-kernel", "link {link} has medium {medium}, which the kernel of '{host}' does not read";
        /// A link by its place, which has none.
        PortLink { interface: String, link: usize, count: usize } is UnknownName, "port-link", "interface '{interface}': link {link} of {count}";
        /// A node that is not at the link.
        PortNode { interface: String, node: String, link: usize } is UnknownName, "port-node", "interface '{interface}': node '{node}' is not at link {link}";
        /// A name that no node has.
        NoNode { node: String } is UnknownName, "no-node", "there is no node '{node}'";
        /// Somebody else's router in this process.
        ExternalHere { node: String } is Conflict, "external-here", "node '{node}' is external: it can't be local";
        /// A router whose forwarding plane is a switch, where none can be.
        PlaneElsewhere {} is Conflict, "plane-elsewhere", "table_driver: its forwarding plane is a switch, which only the process of a router reaches (twinplane-router)";
        /// A kind that this program does not have.
        NoKindHere { node: String, kind: String } is Conflict, "no-kind-here", "node '{node}': this program has no nodes of kind '{kind}': it can't be local";
    }
}

base::problems! {
    /// Problems of what is asked of a network that runs, and of the run.
    pub enum RunProblem {
        /// A node of another process.
        NotHere { node: String } is Conflict, "not-here", "'{node}' is not in this process";
        /// A node by its place, which has none.
        NoNode { node: usize, count: usize } is UnknownName, "no-node-number", "node {node}: there are {count}";
        /// A table that only the process of a router has.
        TableOfProcess { table: String } is Conflict, "table-of-process", "table '{table}': only a router that runs as a process of its own has it";
        /// A table of the way of a packet, and no packet.
        TableOfPacket { table: String } is WrongType, "table-of-packet", "table '{table}': to where?";
        /// An address of a family that traffic engineering does not know.
        TeOfIpv4 { address: String } is WrongType, "te-of-ipv4", "'{address}': traffic engineering knows addresses of IPv4";
        /// There is no path by what a router knows of traffic engineering.
        NoTePath { from: String, to: String, why: String } is Conflict, "no-te-path", "from '{from}' to '{to}': {why}";
        /// A destination that is none.
        NoDestination { to: String } is UnknownName, "no-destination", "'{to}' is neither an address nor the name of a node";
        /// A label that is too great for its 20 bits.
        NoLabel { label: u32 } is OutOfRange, "path-no-label", "{label}: a label is at most 1048575";
        /// A packet between two families.
        TwoFamilies { src: String, to: String } is Conflict, "path-two-families", "a packet from {src} to {to}: both addresses are of IPv4, or both of IPv6";
        /// A router that no packet can come to.
        NoPortUp { node: String } is Conflict, "no-port-up", "no port of '{node}' is up: no packet comes there";
        /// A table of one node, and no node.
        TableOfWhich { table: String } is WrongType, "table-of-which", "table '{table}': of which node?";
        /// A name that no table has.
        NoTable { table: String } is UnknownName, "no-table", "table '{table}': there is none of that name";
        /// A table that nodes of that kind do not have.
        TableOfNone { table: String, node: String } is Conflict, "table-of-none", "table '{table}': '{node}' is no router and has none";
        /// A table that can't be written down.
        TableFailed { table: String, error: String } is Failed, "table-failed", "table '{table}': {error}";
        /// A rate of a circuit, which has none of its own.
        RateOfCircuit { between: String } is Conflict, "rate-of-circuit", "{between} is a circuit of ATM, which has no rate of its own: those of the links between its switches can be changed";
        /// A rate of a virtual path, which ends and switches keep to.
        RateOfPath { between: String } is Conflict, "rate-of-path", "{between} is a virtual path of ATM, whose rate is what was agreed: those of the links between its switches can be changed";
        /// A protocol that is not there, or not without the rest of the node.
        NotAlone { node: String, protocol: String } is Conflict, "restart-not-alone", "'{node}' speaks no '{protocol}' that can be restarted alone: LDP ('ldp') and BGP ('bgp') can";
        /// A port that nobody outside may use.
        NoRawPort { node: String } is Conflict, "no-raw-port", "'{node}' is not a raw port";
        /// A recording that begins too late.
        RecordingLate {} is TooLate, "recording-late", "a recording begins before the network first runs";
        /// No recording to take.
        NotRecorded { node: String } is Conflict, "not-recorded", "router '{node}' is not being recorded";
        /// A node of which nothing is recorded.
        NoRecording { node: String } is Conflict, "no-recording", "'{node}' is no router: only routers are recorded";
        /// A file that is no recording.
        RecordingFile { error: String } is WrongType, "recording-file", "recording: {error}";
        /// The network of a recording, which can't be read.
        RecordingNetwork { error: String } is WrongType, "recording-network", "recording: its network: {error}";
        /// An interface that does not open.
        NoInterface { error: String } is Failed, "no-interface", "{error}";
        /// A processor that the process does not get.
        NoProcessor { cpu: usize, error: String } is Failed, "no-processor", "processor {cpu}: {error}";
        /// An interface that went away in a run.
        InterfaceLost { interface: String, how: &'static str } is Failed, "interface-lost", "interface {interface} {how}";
        /// Queues that lost packets without counting them: a defect.
        QueuesUnbalanced { at: String, what: String } is Failed, "queues-unbalanced", "its queues do not add up at {at}: {what}";
    }
}

base::problems! {
    /// Problems of tests of LSPs that users ask for.
    pub enum LspTestProblem {
        /// A node that has no LSPs.
        NoRouter { node: String } is Conflict, "lsp-test-no-router", "'{node}' is no router: LSPs are tested from routers";
        /// A name that nothing has which can be tested.
        NoTarget { name: String } is UnknownName, "lsp-test-no-target", "'{name}' is no address and no prefix, and neither a node nor an LSP has that name";
        /// A name that no LSP has.
        NoLsp { name: String } is UnknownName, "lsp-test-no-lsp", "no LSP is named '{name}'";
        /// A prefix of IPv6, for which LDP gives no labels.
        LdpOfIpv6 { name: String } is Conflict, "lsp-test-ldp-ipv6", "'{name}': LDP gives labels for IPv4 prefixes only; 'protocol: bgp' tests what BGP gives for one of IPv6";
        /// What is asked of the ends of an LSP that has one.
        OneEnd { name: String, key: &'static str } is Conflict, "lsp-test-one-end", "'{name}' has one end: '{key}' is asked of a point-to-multipoint LSP";
        /// Two that alone are to reply.
        LeafAndRouter {} is Conflict, "lsp-test-leaf-and-router", "replies are limited to those of the way to one 'leaf', or to those of one 'router'";
        /// A leaf of LDP, of which other routers do not know.
        LeafOfLdp { name: String } is Conflict, "lsp-test-leaf-of-ldp", "'{name}' is of LDP, whose routers do not know which leaves are behind them (RFC 6425, 3.2.1): 'router' names one that is to reply";
        /// A leaf that an LSP does not have.
        NoLeaf { name: String, leaf: String } is UnknownName, "lsp-test-no-leaf", "'{leaf}' is no leaf of p2mp '{name}'";
        /// A trace to one router alone.
        RouterOfTrace {} is Conflict, "lsp-test-router-of-trace", "a trace asks the routers on the way: 'leaf' limits it to the way to one leaf";
        /// A router that there is not.
        NoResponder { name: String } is UnknownName, "lsp-test-no-responder", "'{name}' is no address, and no node has that name";
        /// An LSP of another head end.
        Elsewhere { name: String, from: String, here: String } is Conflict, "lsp-test-elsewhere", "lsp '{name}' begins at '{from}', not at '{here}'";
        /// An LSP that the group does not have.
        NoIndex { name: String, index: u32, count: usize } is OutOfRange, "lsp-test-no-index", "lsp '{name}': index={index} of {count}";
        /// An LSP that carries no traffic.
        IsDown { name: String } is Conflict, "lsp-test-down", "lsp '{name}' is down: there is nothing to be tested";
        /// An address that routers would forward.
        Destination { address: String } is OutOfRange, "lsp-test-destination", "{address}: an address of 127.0.0.0/8 or ::ffff:127.0.0.0/104 is needed, which no router forwards (RFC 8029, 4.3)";
        /// A number that no label has.
        Label { label: u32 } is OutOfRange, "lsp-test-label", "label={label}: 0 to 1048575";
        /// A label without an entry.
        NoEntry { node: String, label: u32 } is UnknownName, "lsp-test-no-entry", "'{node}' has no entry for label {label}";
        /// A device that took no command.
        Failed { error: String } is Failed, "lsp-test-failed", "{error}";
    }
}

base::problems! {
    /// What is surprising about a network that can be built as it is described: warnings.
    pub enum AdviceProblem {
        /// Nodes that nothing leads to.
        Unlinked { others: String } is Conflict, "unlinked", "it has no link{others}: no packet gets there, and none away";
        /// Settings of a protocol that differ between the ends of a link.
        Disagree { protocol: String, what: &'static str, here: String, a: String, there: String, b: String } is Conflict, "disagree", "{protocol}: the {what} is {here} at '{a}' and {there} at '{b}': the two do not become neighbours";
        /// The same of settings that are not shown.
        DisagreeSecretly { protocol: String, what: &'static str, a: String, b: String } is Conflict, "disagree-secretly", "{protocol}: '{a}' and '{b}' do not have the same {what}: the two do not become neighbours";
        /// Ways of authentication by which two routers do not watch each other.
        BfdKeys { a: String, here: String, b: String, there: String } is Conflict, "bfd-keys", "bfd: the authentication is {here} at '{a}' and {there} at '{b}': their sessions do not come up";
        /// The same of secrets.
        BfdSecrets { a: String, b: String } is Conflict, "bfd-secrets", "bfd: '{a}' and '{b}' do not have the same secret of the key: their sessions do not come up";
        /// A key that one end sends with and the other does not take.
        KeyUntaken { protocol: String, key: String, a: String, at: String, b: String } is Conflict, "key-untaken", "{protocol}: '{a}' sends by {key} from {at} on, which '{b}' does not take then: the two do not stay neighbours";
        /// The same of a key of which both have another secret.
        KeySecret { protocol: String, key: String, a: String, at: String, b: String } is Conflict, "key-secret", "{protocol}: '{a}' sends by {key} from {at} on, of which '{b}' has another secret: the two do not stay neighbours";
        /// A protocol that one end of a link says nothing of.
        HalfPassive { protocol: String, a: String, b: String } is Conflict, "half-passive", "{protocol}: '{b}' is passive here and '{a}' is not: the two do not become neighbours";
        /// A protocol that only one end of a link speaks.
        OneSided { protocol: String, a: String, b: String, lacks: &'static str } is Conflict, "one-sided", "'{a}' speaks {protocol} and '{b}' does not: {lacks}";
        /// Labels for a link that carries none.
        LabelsDropped { protocol: String, a: String, b: String } is Conflict, "labels-dropped", "{protocol}: '{a}' and '{b}' give each other labels for this circuit, whose encapsulation vc-mux carries IPv4 alone: every packet with a label is dropped there (unknown-protocol); llc-snap or shim would carry it";
        /// Labels below others on a link whose packets have one.
        SecondLabelDropped { protocol: String, a: String, b: String } is Conflict, "second-label-dropped", "{protocol}: '{a}' puts a label below that which leads to the next hop, and packets on the link to '{b}' have room for one, since 'encapsulation' of 'lc_atm' is bare: those with two are dropped (unknown-protocol); shim would carry them";
        /// A neighbour that expects nobody.
        NotExpected { a: String, b: String } is Conflict, "not-expected", "'{a}' expects '{b}' and '{b}' does not expect '{a}': no session comes to be";
        /// What a protocol has found in its way while the network ran.
        Complaint { said: String } is Conflict, "complaint", "{said}";
        /// A controller that a switch has tried in vain to connect to.
        ControllerSilent { controller: String, attempts: u32, why: String } is Conflict, "controller-silent", "the switch has no controller at {controller}: {attempts} attempts in a row have failed{why}";
        /// A controller of a switch that has no way to it.
        ControllerNowhere { controller: String } is Conflict, "controller-nowhere", "nothing leads the switch to {controller}: in virtual time a controller is at the other end of a link with 'addresses'";
        /// A cost that messages of a protocol can't say.
        CostCut { protocol: String, ends: String, cost: u64, most: u64 } is OutOfRange, "cost-cut", "{protocol}: the link costs {cost} at {ends}, and messages can say {most} at most: it counts as that, and paths over it look shorter than they are (the costs of all links have to be lower)";
        /// A neighbour by an address that nobody has.
        NoSuchNeighbor { a: String, address: String } is Conflict, "no-such-neighbor", "'{a}' expects a neighbour at {address}, and no node has that address: no session comes to be";
        /// A way through a region to a router that knows nothing of it.
        NotJoined { protocol: String, a: String, b: String, what: &'static str, region: String } is Conflict, "not-joined", "{protocol}: '{a}' has a virtual link to '{b}' through {what} {region}, and '{b}' has none back: it does not come to be";
        /// The same to a router that there is not.
        JoinsNobody { protocol: String, a: String, router: String } is Conflict, "joins-nobody", "{protocol}: '{a}' has a virtual link to {router}, and no router has that router id: it does not come to be";
        /// Labels for exact prefixes, and routes that are to blocks of addresses.
        NoExactRoutes { protocol: String } is Conflict, "no-exact-routes", "it speaks {protocol} and no protocol that finds routes: routes by shortest paths are to blocks of addresses, for which neighbours give no labels; 'ospf: true' finds routes to each";
        /// A segment of which nobody becomes designated router (RFC 2328, 9.4).
        NobodyDesignated { protocol: String, routers: String } is Conflict, "nobody-designated", "{protocol}: {routers} all have priority 0, so that none of them becomes designated router and no routes are exchanged here: one needs 'priority: 1' or more";
        /// Sessions that nothing brings packets of to the other end.
        NoRouteToNeighbor { neighbor: String, more: String } is Conflict, "no-route-to-neighbor", "nothing finds a route to its neighbour {neighbor}{more}: no session comes to be; 'ospf: true' at the routers in between and at both ends would find one, or say one in 'routes'";
        /// Next hops that those who are told of them find no route to.
        NextHopAstray { of: String, address: String, to: String } is Conflict, "next-hop-astray", "it tells {to} routes of '{of}' with next hop {address}, to which nothing finds a route there: they are not used; 'next_hop_self: true' for that neighbour would be right, or 'ospf: true' at both";
        /// A session with another AS by which no route passes (RFC 8212).
        NothingPasses { other: String, missing: String } is Conflict, "nothing-passes", "no route passes between it and '{other}', which is in another AS, as long as nobody says which may (RFC 8212): {missing}; 'all' lets every route pass";
        /// A session that the other end does not want.
        NotTargeted { b: String, address: String } is Conflict, "not-targeted", "it wants a session with '{b}' ({address}), which does not want one: no session comes to be; 'accept_targeted: true' of '{b}' would be right, or an address of this router among its 'targets'";
        /// A neighbour that is watched and does not watch (RFC 5880, 6.1).
        WatchedByOne { a: String, b: String, by: String } is Conflict, "watched-by-one", "bfd: '{a}' has '{b}' watched, and '{b}' does not have '{a}' watched: no session comes up between them; {by} at '{b}' would be right";
        /// Two routers with one number.
        SameRouterId { id: String, other: String } is Conflict, "same-router-id", "'{other}' has its router id {id}, too: others take the two for one";
        /// Routers of a protocol that do not hear of each other.
        Parted { protocol: String, some: String, others: String } is Conflict, "parted", "{protocol}: nothing joins {some} and {others}: neither side finds routes to the other";
        /// A router in several regions and not in the one that joins them.
        Stray { protocol: String, what: &'static str, own: String, center: String } is Conflict, "stray", "{protocol}: it is in {what} {own} and not in {what} {center}, which joins all others: it finds no routes from one to the other";
        /// A region that does not touch the one that joins all.
        Apart { protocol: String, what: &'static str, own: String, routers: String, center: String } is Conflict, "apart", "{protocol}: no router of {what} {own} ({routers}) is in {what} {center}, which joins all others: it finds no routes to them";
        /// The region that joins all is in pieces.
        Pieces { protocol: String, what: &'static str, center: String, some: String, others: String } is Conflict, "pieces", "{protocol}: {what} {center}, which joins all others, is in pieces: no link inside of it joins {some} and {others}";
        /// A bucket that is smaller than packets that came.
        BeyondBurst { lost: u64, given: u64 } is OutOfRange, "beyond-burst", "{lost} of {given} packets were dropped since they are longer than its bucket (beyond-burst): give more 'burst', and 'mtu' if there is a peak rate";
        /// An LSP that another leaves nothing.
        Hidden { first: String } is Conflict, "hidden-lsp", "it takes packets only while lsp '{first}' is down, which has the same 'carries' and 'classes' and was declared before it";
        /// Packets that an LSP takes and drops.
        ClassesDropped { kind: &'static str, phbs: String, lost: String } is Conflict, "classes-dropped", "the {kind} has a place for {phbs} only: packets of {lost} of its 'classes' are dropped";
        /// Packets of any PHB on an LSP that has no place for some.
        TakesAll { kind: &'static str, phbs: String } is Conflict, "takes-all", "the {kind} has a place for {phbs} only, and takes all packets to what it carries: say in 'classes' which, or others are dropped";
        /// A link of a protected LSP that nothing leads around.
        NoSecondWay { a: String, b: String, others: String } is Conflict, "no-second-way", "no second way leads it{others} around the link from '{a}' to '{b}', as 'protection' asks for: when that fails, it is down";
        /// An LSP with a standby for which there is only one way somewhere.
        NoStandbyWay { a: String, b: String, others: String } is Conflict, "no-standby-way", "no second way leads it{others} from end to end without the link from '{a}' to '{b}', as its standby would have to: when that fails, it is down";
        /// A tail end that is asked for a label by which it could not tell two LSPs apart.
        OwnLabels { node: String } is Conflict, "own-labels", "'{node}' gives it labels of its own, whatever 'egress_label' says: with '1+1' it has to tell two LSPs apart";
        /// A router on the way of a protected LSP without a bypass tunnel.
        NoBypass { a: String, b: String, others: String } is Conflict, "no-bypass", "'{a}' has no bypass tunnel that leads it{others} around the link to '{b}', as 'protection' asks for: declare one with 'bypass', or have the router make them by 'rsvp: {{protection: facility}}'";
        /// A router on the way of an LSP with one-to-one backup that computes no paths.
        NoDetour { a: String, b: String, others: String } is Conflict, "no-detour", "'{a}' has no detour that leads it{others} around the link to '{b}', as 'protection' asks for: it knows of no links, which 'ospf: {{te: true}}' would tell it";
        /// Leaves of a tree by LDP behind routers that take no part (RFC 6388, 2.1).
        NeverJoins { leaves: String, routers: String } is Conflict, "never-joins", "no label gets from {leaves} to the root: every way leads by {routers}, without LDP, with 'p2mp: false' in 'ldp', or over a link whose labels are channels of ATM ('lc_atm'), to which nobody tells labels of trees";
        /// A node that does not know the DIFFSERV object (RFC 3270, 5.4).
        UnknownObject { node: String, place: String } is Conflict, "unknown-object", "node '{node}'{place} has no 'diffserv', and refuses its DIFFSERV object as one of an unknown class";
        /// A node that does not have the PHBs of an LSP (RFC 3270, 5.3).
        Unsupported { node: String, place: String, missing: String } is Conflict, "unsupported", "node '{node}'{place} does not support {missing} ('supported' of its 'diffserv'), and refuses it";
    }
}
