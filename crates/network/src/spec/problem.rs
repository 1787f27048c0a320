//! What can be wrong with a network, beside what can be wrong with any description. The words of all of it stand here.

use base::describe::{Name, near};
use base::diagnostic::{Diagnostic, Step};

base::problems! {
    /// Problems of a network's description, and of what is asked of a network that runs.
    pub enum NetworkProblem {
        /// A controller over TLS, and nothing to be known by.
        NoTls { controller: String } is Conflict, "no-tls", "{controller} is over TLS: 'tls' has to say private_key, certificate and ca_cert";
        /// A name that no node has.
        UnknownNode { name: String, hint: String } is UnknownName, "unknown-node", "'{name}', no node has that name{hint}";
        /// A field of containerlab's files that has no meaning here.
        Containerlab { field: String, why: String } is UnknownName, "containerlab-field", "'{field}' is containerlab's and is not used here: {why}";
        /// A kind that has another name now.
        RenamedKind { kind: String, new: String } is UnknownName, "renamed-kind", "'{kind}' is called '{new}' now";
        /// A kind of containerlab's.
        ForeignKind { kind: String, nearest: String } is UnknownName, "foreign-kind", "'{kind}' is containerlab's; nearest to it is '{nearest}'";
        /// Nodes or links at the top and under `topology`.
        TopologyTwice { key: String } is Conflict, "topology-twice", "{key} are under 'topology', too: one of the two";
        /// An interface that the kernel makes itself.
        Loopback { node: String } is Conflict, "loopback-name", "{node}: 'lo' is the kernel's own interface";
        /// Two links that end at one interface.
        InterfaceTwice { node: String, interface: String } is Conflict, "interface-twice", "'{node}' has an interface '{interface}' already";
        /// An endpoint and its node that name two interfaces.
        OtherInterface { node: String, own: String, given: String } is Conflict, "other-interface", "the interface of '{node}' is '{own}', not '{given}'";
        /// Somebody else's router, and no interface to it.
        WhichInterface { node: String } is WrongType, "which-interface", "which interface '{node}' is behind is not said: '{node}:eth1', or 'interface: eth1'";
        /// A link from a node to itself.
        LinkToItself {} is Conflict, "link-to-itself", "the two ends are the same node";
        /// A hop over an interface that the node does not have.
        NoInterface { node: String, interface: String, hint: String } is UnknownName, "unknown-interface", "'{node}' has no interface '{interface}'{hint}";
        /// A link by a place that no link has.
        NoLink { link: usize, count: usize } is UnknownName, "unknown-link", "link {link}: there are {count}, counted from 0";
        /// A hop that no link leads to.
        NoWayOn { from: String, to: String } is Conflict, "no-way-on", "no link leads from '{from}' to '{to}'";
        /// A route by a link to a shared segment, on which there are several next hops.
        ViaSegment { from: String, to: String } is Conflict, "via-segment", "'{to}' is a shared segment, and no next hop of '{from}': name links between two routers";
        /// A bypass that is to be protected.
        ProtectionOnTheWay { key: &'static str } is Conflict, "protection-on-the-way", "'{key}' is of routers that lead around what fails, and '1:1' and '1+1' are from end to end: the second LSP has the LSP's bandwidth, and 'disjoint' says what it avoids";
        ProtectionOfEnds { key: &'static str } is Conflict, "protection-of-ends", "'{key}' is of '1:1' and '1+1', protection from end to end: set 'method', or leave it out";
        AutorouteTwice {} is Conflict, "autoroute-twice", "with '1+1' both LSPs carry what 'carries' and 'filters' say, and a route of 'autoroute' leads over one: say what it carries, or use '1:1'";
        TreeByBypass {} is Conflict, "tree-by-bypass", "trees are protected by bypass tunnels only: say 'facility', or leave 'method' out";
        ProtectedBypass {} is Conflict, "protected-bypass", "a bypass tunnel is not protected itself: leave 'protection' out";
        /// A group of bypasses.
        ManyBypasses { count: u32 } is Conflict, "many-bypasses", "a bypass in a group of {count}: one each has a way of its own";
        /// A static route with more next hops than a group has members.
        ManyNextHops { count: usize, most: usize } is OutOfRange, "many-next-hops", "{count} next hops: at most {most}";
        /// A static route that is to depend on several neighbours.
        WatchedSeveral { count: usize } is Conflict, "watched-several", "bfd of a route with {count} next hops: only a route with one can depend on it";
        /// A route that ends elsewhere than its LSP.
        RouteEnds { end: String, to: String } is Conflict, "route-ends-elsewhere", "it ends at '{end}', and the LSP at '{to}'";
        /// A link and the host at its end that say two lengths.
        OtherMtu { mtu: u32, host: u32 } is Conflict, "other-mtu", "{mtu}: the host at its end says {host}: one of the two";
        /// Something that a circuit has from the links that it passes.
        OfWires { key: &'static str } is Conflict, "of-wires", "a circuit has none of its own: the links between ATM switches have a '{key}'";
        /// Something that a virtual path has from the links that it passes.
        OfCellWires { key: &'static str } is Conflict, "of-cell-wires", "a virtual path has no '{key}' of its own: the links that it passes have one, and its rate is 'pcr'";
        /// A link that is to be a virtual path and a circuit.
        PathAndCircuit {} is Conflict, "path-and-circuit", "a link is a virtual path ('vp') or a circuit ('pvc'), not both: a path between two ATM switches carries circuits that lead through both";
        /// Headers of cells on a link without cells.
        UniOfPackets {} is Conflict, "uni-of-packets", "'uni' says which headers cells have, and this link carries none: only medium atm does, and 'vp'";
        /// Something that a link of cells does not have.
        OfPackets { key: &'static str } is Conflict, "of-packets", "a link of medium atm carries cells and has no '{key}': the circuits ('pvc') that pass it may have one";
        /// An interface of this machine for a circuit.
        CircuitDriver {} is Conflict, "circuit-driver", "a circuit has no interface of this machine, and no driver";
        /// A profile that is not there.
        UnknownProfile { profile: String } is UnknownName, "unknown-profile", "'{profile}': the core knows the profile 'ideal' by name, of others what they say is needed";
        /// An LSP that ends where it begins.
        LspWithoutWay { node: String } is Conflict, "lsp-without-way", "it begins and ends at {node}";
        /// A holding priority below the setup priority.
        WeakHolding { setup: u8, holding: u8 } is Conflict, "weak-holding", "priorities are 0 (highest) to 7, and holding must not be weaker than setup (setup {setup}, holding {holding})";
        /// Something of computed paths for an LSP that has a route.
        RouteBeside { key: &'static str, route: &'static str } is Conflict, "route-beside", "'{key}' is of paths that the head end computes, and '{route}' says where it goes: one of the two";
        /// Several paths to each leaf of a tree.
        OneTree { key: &'static str } is Conflict, "one-tree", "'{key}' is of LSPs to one router: of a point-to-multipoint LSP there is one tree";
        /// Something of the signalling of RSVP-TE, for a tree of LDP.
        TreeOfRsvp { key: &'static str } is Conflict, "tree-of-rsvp", "'{key}' is of trees of RSVP-TE: leaves of a tree of LDP join along the routes to its root";
        /// Something of LDP, for a tree of RSVP-TE.
        TreeOfLdp { key: &'static str } is Conflict, "tree-of-ldp", "'{key}' is of trees of LDP: say 'protocol: ldp', too";
        /// A tree without an end.
        NoLeaves {} is OutOfRange, "no-leaves", "it has no leaf: say one router at least";
        /// A tree that ends where it begins.
        RootAsLeaf { node: String } is Conflict, "root-as-leaf", "'{node}' is its root, and can't be a leaf of it";
        /// A leaf that is named again.
        LeafTwice { node: String } is Conflict, "leaf-twice", "'{node}' is a leaf of it already: each leaf is named once";
        /// An explicit route to what is no leaf.
        RouteToNoLeaf { node: String } is Conflict, "route-to-no-leaf", "'{node}' is no leaf of it: routes are said by leaf";
        /// An address that is no group, or one of a single link.
        NotAGroup { group: String } is OutOfRange, "tree-not-a-group", "{group} is no group that routers forward: those are 224.0.1.0 to 239.255.255.255, and those of IPv6 of scope 3 or more";
        /// Something at an end that the link does not have.
        NoEnd { name: String, a: String, b: String, hint: String } is UnknownName, "no-end", "'{name}' is no end of it, {a} and {b} are{hint}";
        /// Queues or meters where no port of ours is.
        NotOurPort { node: String, kind: String } is Conflict, "not-our-port", "'{node}' is of kind {kind}: its ports are not ours";
        /// A name under which the network has nothing.
        UnknownNamed { name: String, group: &'static str, hint: String } is UnknownName, "unknown-named", "'{name}' is not under '{group}'{hint}";
        /// Packets from somebody who is no neighbour.
        NoNeighbour { node: String, name: String, hint: String } is UnknownName, "no-neighbour", "{node} has no neighbour '{name}'{hint}";
        /// Packets by an interface that no link of the node has.
        NoLinkEnd { node: String, name: String, hint: String } is UnknownName, "no-link-end", "no link of {node} has an end '{name}'{hint}";
        /// A tree or a conditioner that stands nowhere.
        Unused { why: &'static str } is Conflict, "unused", "it is not used: {why}";
        /// Something of IPv6 on a link that has none.
        WithoutIpv6 {} is Conflict, "without-ipv6", "the link has no IPv6 addresses: 'ipv6' gives it some";
        /// Advertisements on a link without a router of ours.
        NobodyAdvertises {} is Conflict, "nobody-advertises", "neither end is a router of ours";
        /// Advertisements whose least distance is too near to the longest.
        AdvertisedTooRarely { least: String, most: String } is OutOfRange, "advertised-too-rarely", "interval_min={least} is more than three quarters of interval={most}";
        /// A default router that is forgotten before it is heard again.
        AdvertisedTooShort { lifetime: String, interval: String } is OutOfRange, "advertised-too-short", "lifetime={lifetime} is neither 0 nor as long as interval={interval}";
        /// Addresses that would be preferred when they are none any more.
        PreferredTooLong {} is Conflict, "preferred-too-long", "'preferred' is longer than 'valid'";
        /// Classes of an LSP that carries IPv6.
        ClassesOfIpv6 {} is Conflict, "classes-of-ipv6", "IPv6 prefixes are carried whole: say 'classes' of an LSP that carries IPv4 only";
        /// Classes of no destination.
        ClassesOfNothing {} is Conflict, "classes-of-nothing", "'carries' says to where packets of them take it, and is missing";
        /// Packets of no filter that should be dropped while an LSP is down.
        DropsNothing {} is Conflict, "drops-nothing", "'filters' says which packets are dropped while it is down, and is missing";
        /// A group of several LSPs that should carry packets of users.
        GroupCarries { count: u32, key: String } is Conflict, "group-carries", "a group of {count} LSPs carries its test packets only: '{key}' is for one LSP";
    }
}

/// No node has this name; the nearest one that exists is suggested, or all if they are few.
pub fn unknown_node(name: &Name, known: &[Name]) -> Diagnostic {
    let known: Vec<&str> = known.iter().map(|name| &**name).collect();
    let hint = match near(name, &known) {
        hint if hint.is_empty() && (1..=8).contains(&known.len()) => {
            format!(" (one of {})", known.join(", "))
        }
        hint => hint,
    };
    NetworkProblem::UnknownNode { name: name.to_string(), hint }.into()
}

/// What containerlab's files have and these have not, with what to do instead.
const CONTAINERLAB: [(&str, &str); 13] = [
    ("image", "it runs no containers: a host runs what is installed on this machine"),
    ("type", "a router's timing is its 'profile'"),
    ("mgmt", "routers are managed through sockets, not through a network"),
    ("mgmt-ipv4", "routers are managed through sockets, not through a network"),
    ("startup-config", "LSPs are listed under 'lsps'"),
    ("binds", "a host sees the files of this machine"),
    ("env", "a host's commands are given under 'exec'"),
    ("ports", "a host has an address of its own"),
    ("vars", "metadata go into 'labels'"),
    ("defaults", "each node says what it is"),
    ("kinds", "each node says what it is"),
    ("prefix", "namespaces are called tp-NAME-NODE"),
    ("group", "metadata go into 'labels'"),
];

/// The same error, in words for whoever comes with a file of containerlab's.
pub fn for_containerlab(error: Diagnostic) -> Diagnostic {
    if error.code() != "unknown-field" {
        return error;
    }
    let Some(Step::Key(field)) = error.path().last().cloned() else { return error };
    match CONTAINERLAB.iter().find(|known| known.0 == field) {
        Some((_, why)) => error.with(NetworkProblem::Containerlab { field, why: (*why).into() }),
        None => error,
    }
}

/// The kinds that had another name, and those of containerlab that are nearest to one of ours.
pub fn former_kind(kind: &str) -> Option<NetworkProblem> {
    let word = kind;
    let kind = kind.to_string();
    Some(match word {
        "tester" => NetworkProblem::RenamedKind { kind, new: "edge".into() },
        "linux" => NetworkProblem::ForeignKind { kind, nearest: "host".into() },
        "ovs-bridge" => NetworkProblem::ForeignKind { kind, nearest: "bridge".into() },
        "ext-container" => NetworkProblem::ForeignKind { kind, nearest: "host".into() },
        _ => return None,
    })
}
