//! Tables of one router or host: what it forwards by, what it counted, what it signals.

use crate::Network;
use base::device::DropCounters;
use base::plane::{IpPrefix, NextHop, Nhlfe, TcSource};
use base::table::{Rows, Shown, Table, word};
use base::{Label, NodeId, PortId, Rate, Time};
use control::rsvp::{LinkView, LspView, Rsvp, TunnelView};
use core::net::{IpAddr, Ipv4Addr};
use std::borrow::Cow;

base::table! {
    /// The incoming label map of a router: what becomes of packets that arrive with a label.
    pub struct IlmRow<'a> in "ilm" key ["label"]
    of (label: Label, hop: Hop<'a>, counted: [u64; 2]) from nhlfe: &Nhlfe {
        /// The label that packets arrive with.
        label: Label => label,
        /// The labels that take its place, outermost first, or `pop`.
        out: String => operation(nhlfe),
        /// The next router; `local` if the packet is looked at again here, `discard` if it is dropped, `tester` for one
        /// outside the network, `group 7` or `replication 7` for one of table `next_hops` or `replications`.
        to: Cow<'a, str> => hop.to,
        /// The port that it leaves by; absent if it does not leave.
        port: Option<PortId> => hop.port,
        /// The address that it is sent to on that port; absent if it does not leave.
        gateway: Option<IpAddr> => hop.gateway,
        /// What becomes of its TC: `copy`, a number that is written, or what the LSP says of PHBs.
        tc: String => tc(nhlfe),
        /// Packets that arrived with the label.
        packets: u64 = "packets" => counted[0],
        /// Their bytes, from the label stack on.
        bytes: u64 = "bytes" => counted[1],
    }
}

base::table! {
    /// What enters LSPs at a router (FEC to NHLFE). Rows with a filter come first, as they are looked at first.
    pub struct FtnRow<'a> in "ftn" key ["prefix", "filter", "classes"]
    of (hop: Hop<'a>, prefix: Option<Shown<IpPrefix>>, filter: Option<String>, classes: Option<Vec<String>>, counted: [u64; 2])
    from nhlfe: &Nhlfe {
        /// Destinations whose packets take the LSP; absent of a row with a filter.
        prefix: Option<Shown<IpPrefix>> => prefix,
        /// Packets that take the LSP whatever their destination; absent of a row with a prefix.
        filter: Option<String> => filter,
        /// PHBs whose packets take it; absent if all do.
        classes: Option<Vec<String>> => classes,
        /// The labels that are pushed, outermost first.
        push: String => operation(nhlfe),
        /// The next router; `local`, `discard`, `tester` and groups as in table `ilm`.
        to: Cow<'a, str> => hop.to,
        /// The port that packets leave by; absent if they don't leave.
        port: Option<PortId> => hop.port,
        /// The address that they are sent to on that port; absent if they don't leave.
        gateway: Option<IpAddr> => hop.gateway,
        /// How the TC is set: `copy`, a number that is written, or what the LSP says of PHBs.
        tc: String => tc(nhlfe),
        /// Packets that took it.
        packets: u64 = "packets" => counted[0],
        /// Their bytes, from the IP header on.
        bytes: u64 = "bytes" => counted[1],
    }
}

base::table! {
    /// The forwarding table of a router for IPv4.
    pub struct FibRow<'a> in "fib" key ["prefix"] {
        /// Destinations; the longest prefix decides.
        prefix: Shown<IpPrefix>,
        /// The next router; `local`, `discard`, `tester` and groups as in table `ilm`.
        to: Cow<'a, str>,
        /// The port that packets leave by; absent if they don't leave.
        port: Option<PortId>,
        /// The address that they are sent to on that port; absent if they don't leave.
        gateway: Option<IpAddr>,
        /// Packets that took the route.
        packets: u64 = "packets",
        /// Their bytes, from the IP header on.
        bytes: u64 = "bytes",
    }
}

base::table! {
    /// The neighbours whose Ethernet addresses a router or a host knows.
    pub struct NeighborRow in "neighbors" key ["port", "address"] {
        /// The port that they are at.
        port: PortId,
        /// Address of the neighbour, of either family.
        address: IpAddr,
        /// Ethernet address that answered for it.
        mac: base::MacAddr,
    }
}

base::table! {
    /// What went through each port of a router. A frame that a kernel left to be cut counts as one, its bytes as those
    /// of all that it becomes.
    pub struct CounterRow in "counters" key ["port"] {
        /// The port.
        port: PortId,
        /// Frames received by the port.
        rx_packets: u64 = "frames",
        /// Their bytes, with padding and frame check sequence.
        rx_bytes: u64 = "bytes",
        /// Frames handed to the egress queue.
        tx_packets: u64 = "frames",
        /// Their bytes, with padding and frame check sequence.
        tx_bytes: u64 = "bytes",
    }
}

base::table! {
    /// Packets that nodes dropped, by reason; reasons that did not occur have no row. Drops on links and in queues are
    /// in `ports`. Of a switch with a profile PACKET_INs beyond its limits are here, too (`rate-limited`,
    /// `control-queue-full`).
    pub struct DropRow<'a> in "drops" key ["node", "reason"] {
        /// The node.
        node: &'a str,
        /// Why they were dropped, in one word such as `no-route`.
        reason: String,
        /// Packets dropped for this reason.
        count: u64 = "packets",
    }
}

base::table! {
    /// The LSPs that begin, end or pass at a router.
    pub struct LspRow in "lsps" key ["from", "to", "tunnel", "lsp"]
    of () from lsp: LspView {
        /// The name that the head end gave.
        name: String,
        /// Tunnel id, which the head end chose (RFC 3209, 4.6.1.1).
        tunnel: u16 => lsp.tunnel_id,
        /// LSP id: another for each LSP that the tunnel had.
        lsp: u16 => lsp.lsp_id,
        /// Address of the head end.
        from: Ipv4Addr => lsp.sender,
        /// Address of the egress.
        to: Ipv4Addr => lsp.end_point,
        /// `ingress`, `transit` or `egress`.
        role: String => format!("{:?}", lsp.role).to_lowercase(),
        /// `up`, or `signalling` as long as no label has come.
        state: &'static str => if lsp.installed { "up" } else { "signalling" },
        /// The label that packets arrive with; absent at the head end.
        in_label: Option<Label>,
        /// The label that they leave with; absent at the egress.
        out_label: Option<Label>,
        /// Bandwidth reserved on the link to the next hop; 0 without a reservation.
        bandwidth_bps: Rate = "bit/s" => lsp.reserved,
        /// Setup priority, 0 the most urgent.
        setup_priority: u8,
        /// Holding priority, 0 the most tenacious.
        holding_priority: u8,
        /// Reservation style; absent before a reservation came.
        style: Option<String> => lsp.style.map(|style| format!("{style:?}")),
        /// What was signalled of PHBs (RFC 3270); absent if nothing was.
        diffserv: Option<String> => lsp.diffserv.as_ref().map(ToString::to_string),
        /// Addresses that its Path recorded (RFC 3209, 4.4), from the previous hop back to the head end; empty if it
        /// records no route.
        recorded_upstream: Vec<Ipv4Addr>,
        /// Addresses that its Resv recorded, from the next hop on to the egress; empty if it records no route.
        recorded_downstream: Vec<Ipv4Addr>,
    }
}

base::table! {
    /// The tunnels that begin at a router.
    pub struct TunnelRow in "tunnels" key ["to", "tunnel"]
    of () from tunnel: TunnelView {
        /// Name of the tunnel, as the user gave it.
        name: String,
        /// Address of the egress.
        to: Ipv4Addr => tunnel.id.to,
        /// Tunnel id, unique towards this egress.
        tunnel: u16 => tunnel.id.id,
        /// LSP id of the LSP that carries traffic; absent while the tunnel is down.
        active: Option<u16>,
        /// Which of its explicit routes that LSP takes, 0 for the preferred one; absent while the tunnel is down, and
        /// of a tunnel without explicit routes.
        route: Option<u32>,
        /// LSP id of the LSP that is being signalled; absent if none is.
        candidate: Option<u16>,
        /// Attempts that failed since the last that did not.
        failures: u32 = "attempts",
        /// When the next attempt is made; absent if none is due.
        retry_s: Option<Time> = "s" => tunnel.retry_at,
    }
}

base::table! {
    /// The bandwidth of a router's ports that LSPs can reserve.
    pub struct BandwidthRow in "bandwidth" key ["port"]
    of () from link: LinkView {
        /// The port.
        port: PortId,
        /// Address of the router at the port.
        address: Ipv4Addr,
        /// Can it be used?
        up: bool,
        /// What can be reserved in all.
        reservable_bps: Rate = "bit/s" => link.reservable,
        /// What LSPs have reserved, all priorities together.
        reserved_bps: u64 = "bit/s" => link.reserved.iter().map(|rate| rate.0).sum(),
    }
}

/// Where packets go next, in the words of the tables.
#[derive(Clone)]
pub struct Hop<'a> {
    pub to: Cow<'a, str>,
    pub port: Option<PortId>,
    pub gateway: Option<IpAddr>,
}

pub fn hop(network: &Network, node: usize, next_hop: NextHop) -> Hop<'_> {
    let named = |to: Cow<'static, str>| Hop { to, port: None, gateway: None };
    match next_hop {
        NextHop::Via { port, gateway } => {
            let own = network.ports_of(node).find(|(link, side)| link.ports[*side] == port);
            let far = own.map(|(link, side)| link.ends()[1 - side]);
            let to = far.map_or("tester", |far| network.node_name(far));
            Hop { to: to.into(), port: Some(port), gateway: Some(gateway) }
        }
        NextHop::Group(group) => named(format!("group {}", group.0).into()),
        NextHop::Standby(group) => named(format!("backup of group {}", group.0).into()),
        NextHop::Replicate(list) => named(format!("replication {}", list.0).into()),
        NextHop::Local | NextHop::Unlabelled => named("local".into()),
        NextHop::Discard => named("discard".into()),
        NextHop::Selected(selector) => named(format!("selector {}", selector.0).into()),
    }
}

pub fn operation(nhlfe: &Nhlfe) -> String {
    let labels: Vec<String> = nhlfe.push.as_slice().iter().map(ToString::to_string).collect();
    if labels.is_empty() { "pop".into() } else { labels.join(" ") }
}

fn tc(nhlfe: &Nhlfe) -> String {
    match nhlfe.tc {
        TcSource::Copy => "copy".into(),
        TcSource::Set(tc) => tc.value().to_string(),
        TcSource::DiffServ(classes) => classes.to_string(),
    }
}

pub fn ilm(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (id, _, router) in network.routers(only) {
        table.extend(router.forwarding().ilm().map(|row| {
            let hop = hop(network, id, row.nhlfe.next_hop);
            IlmRow::of(row.label, hop, [row.packets, row.bytes], &row.nhlfe)
        }));
    }
    table.finish()
}

pub fn ftn(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (id, _, router) in network.routers(only) {
        let to = |nhlfe: &Nhlfe| hop(network, id, nhlfe.next_hop);
        table.extend(router.forwarding().filters().map(|row| {
            let filter = Some(row.filter.to_string());
            FtnRow::of(to(&row.nhlfe), None, filter, None, [row.packets, row.bytes], &row.nhlfe)
        }));
        table.extend(router.forwarding().ftn().map(|row| {
            let classes = row.classes.map(|(_, set)| set.iter().map(|phb| phb.to_string()).collect());
            let prefix = Some(Shown(IpPrefix::V4(row.prefix)));
            FtnRow::of(to(&row.nhlfe), prefix, None, classes, [row.packets, row.bytes], &row.nhlfe)
        }));
        table.extend(router.forwarding().ftn6().map(|row| {
            let prefix = Some(Shown(IpPrefix::V6(row.prefix)));
            FtnRow::of(to(&row.nhlfe), prefix, None, None, [row.packets, row.bytes], &row.nhlfe)
        }));
    }
    table.finish()
}

pub fn fib(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (id, _, router) in network.routers(only) {
        let forwarding = router.forwarding().complete();
        table.extend(forwarding.fib().map(|row| {
            let Hop { to, port, gateway } = hop(network, id, row.next_hop);
            let (packets, bytes) = (row.packets, row.bytes);
            FibRow { prefix: Shown(IpPrefix::V4(row.prefix)), to, port, gateway, packets, bytes }
        }));
        table.extend(forwarding.fib6().map(|row| {
            let Hop { to, port, gateway } = hop(network, id, row.next_hop);
            let (packets, bytes) = (row.packets, row.bytes);
            FibRow { prefix: Shown(IpPrefix::V6(row.prefix)), to, port, gateway, packets, bytes }
        }));
    }
    table.finish()
}

pub fn neighbors(network: &Network, only: Option<usize>) -> Table {
    let row = |(port, address, mac)| NeighborRow { port, address, mac };
    let of_routers = network.routers(only).flat_map(|(_, _, router)| router.neighbors());
    let of_hosts = only.and_then(|node| network.host(node)).into_iter().flat_map(node::Host::neighbors);
    of_routers.chain(of_hosts).map(row).collect()
}

pub fn counters(network: &Network, only: Option<usize>) -> Table {
    let ports = network.routers(only).flat_map(|(_, _, router)| router.forwarding().ports());
    let rows = ports.map(|row| (row.port, row.counters)).map(|(port, c)| CounterRow {
        port,
        rx_packets: c.rx_packets,
        rx_bytes: c.rx_bytes,
        tx_packets: c.tx_packets,
        tx_bytes: c.tx_bytes,
    });
    rows.collect()
}

pub fn drops(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for id in network.asked(only) {
        let node = network.node_name(id);
        let of_router = network.router(id).map(node::Router::drops);
        let of_node = network.nodes[id].drops(&network.world, NodeId(id as u32));
        for drops in of_router.iter().chain(&of_node) {
            let rows = DropCounters::iter(drops);
            table.extend(rows.map(|(reason, count)| DropRow { node, reason: word(&reason), count }));
        }
    }
    table.finish()
}

pub fn lsps(network: &Network, only: Option<usize>) -> Table {
    network.speakers(only).flat_map(|(_, rsvp): (_, &Rsvp)| rsvp.lsps()).map(LspRow::of).collect()
}

pub fn tunnels(network: &Network, only: Option<usize>) -> Table {
    network.speakers(only).flat_map(|(_, rsvp): (_, &Rsvp)| rsvp.tunnels()).map(TunnelRow::of).collect()
}

pub fn bandwidth(network: &Network, only: Option<usize>) -> Table {
    network.speakers(only).flat_map(|(_, rsvp): (_, &Rsvp)| rsvp.links()).map(BandwidthRow::of).collect()
}
