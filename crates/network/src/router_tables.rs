//! Tables of one router or host: what it forwards by, what it counted, what it signals.

use super::Network;
use base::device::DropCounters;
use base::plane::{NextHop, Nhlfe, TcSource};
use base::table::{Rows, Shown, Table, word};
use base::{Label, NodeId, PortId, Rate, Time};
use core::net::Ipv4Addr;

base::table! {
    /// The incoming label map of a router: what becomes of packets that arrive with a label.
    pub struct IlmRow<'a> in "ilm" key ["label"] {
        /// The label that packets arrive with.
        label: Label,
        /// The labels that take its place, outermost first, or `pop`.
        out: String,
        /// The next router; `local` if the packet is looked at again here, `discard` if it is dropped, `tester` for one outside the network.
        to: &'a str,
        /// The port that it leaves by; absent if it does not leave.
        port: Option<PortId>,
        /// The address that it is sent to on that port; absent if it does not leave.
        gateway: Option<Ipv4Addr>,
        /// What becomes of its TC: `copy`, a number that is written, or what the LSP says of PHBs.
        tc: String,
        /// Packets that arrived with the label.
        packets: u64 = "packets",
        /// Their bytes, from the label stack on.
        bytes: u64 = "bytes",
    }
}

base::table! {
    /// What enters LSPs at a router (FEC to NHLFE). Rows with a filter come first, as they are looked at first.
    pub struct FtnRow<'a> in "ftn" key ["prefix", "filter", "classes"] {
        /// Destinations whose packets take the LSP; absent of a row with a filter.
        prefix: Option<Shown<base::plane::Prefix>>,
        /// Packets that take the LSP whatever their destination; absent of a row with a prefix.
        filter: Option<String>,
        /// PHBs whose packets take it; absent if all do.
        classes: Option<Vec<String>>,
        /// The labels that are pushed, outermost first.
        push: String,
        /// The next router; `local`, `discard` and `tester` as in table `ilm`.
        to: &'a str,
        /// The port that packets leave by; absent if they don't leave.
        port: Option<PortId>,
        /// The address that they are sent to on that port; absent if they don't leave.
        gateway: Option<Ipv4Addr>,
        /// How the TC is set: `copy`, a number that is written, or what the LSP says of PHBs.
        tc: String,
        /// Packets that took it.
        packets: u64 = "packets",
        /// Their bytes, from the IP header on.
        bytes: u64 = "bytes",
    }
}

base::table! {
    /// The forwarding table of a router for IPv4.
    pub struct FibRow<'a> in "fib" key ["prefix"] {
        /// Destinations; the longest prefix decides.
        prefix: Shown<base::plane::Prefix>,
        /// The next router; `local`, `discard` and `tester` as in table `ilm`.
        to: &'a str,
        /// The port that packets leave by; absent if they don't leave.
        port: Option<PortId>,
        /// The address that they are sent to on that port; absent if they don't leave.
        gateway: Option<Ipv4Addr>,
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
        /// Their IPv4 address.
        address: Ipv4Addr,
        /// Their Ethernet address.
        mac: base::MacAddr,
    }
}

base::table! {
    /// What went through each port of a router. A frame that a kernel left to be cut counts as one, its bytes as those of all that it becomes.
    pub struct CounterRow in "counters" key ["port"] {
        /// The port.
        port: PortId,
        /// Frames received.
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
    /// Packets that nodes dropped, by reason; reasons that did not occur have no row. Drops on links and in queues are in `ports`.
    pub struct DropRow<'a> in "drops" key ["node", "reason"] {
        /// The node.
        node: &'a str,
        /// Why.
        reason: String,
        /// How many.
        count: u64 = "packets",
    }
}

base::table! {
    /// The LSPs that begin, end or pass at a router.
    pub struct LspRow in "lsps" key ["from", "to", "tunnel", "lsp"] {
        /// The name that the head end gave.
        name: String,
        /// Tunnel id.
        tunnel: u16,
        /// LSP id.
        lsp: u16,
        /// Address of the head end.
        from: Ipv4Addr,
        /// Address of the egress.
        to: Ipv4Addr,
        /// `ingress`, `transit` or `egress`.
        role: String,
        /// `up`, or `signalling` as long as no label has come.
        state: &'static str,
        /// The label that packets arrive with; absent at the head end.
        in_label: Option<Label>,
        /// The label that they leave with; absent at the egress.
        out_label: Option<Label>,
        /// Bandwidth reserved here.
        bandwidth_bps: Rate = "bit/s",
        /// Setup priority, 0 the most urgent.
        setup_priority: u8,
        /// Holding priority, 0 the most tenacious.
        holding_priority: u8,
        /// Reservation style; absent before a reservation came.
        style: Option<String>,
        /// What was signalled of PHBs (RFC 3270); absent if nothing was.
        diffserv: Option<String>,
    }
}

base::table! {
    /// The tunnels that begin at a router.
    pub struct TunnelRow in "tunnels" key ["to", "tunnel"] {
        /// The tunnel's name.
        name: String,
        /// Address of the egress.
        to: Ipv4Addr,
        /// Tunnel id, unique towards this egress.
        tunnel: u16,
        /// LSP id of the LSP that carries traffic; absent while the tunnel is down.
        active: Option<u16>,
        /// LSP id of the LSP that is being signalled; absent if none is.
        candidate: Option<u16>,
        /// Attempts that failed since the last that did not.
        failures: u32 = "attempts",
        /// When the next attempt is made; absent if none is due.
        retry_s: Option<Time> = "s",
    }
}

base::table! {
    /// The bandwidth of a router's ports that LSPs can reserve.
    pub struct BandwidthRow in "bandwidth" key ["port"] {
        /// The port.
        port: PortId,
        /// Its address.
        address: Ipv4Addr,
        /// Can it be used?
        up: bool,
        /// What can be reserved in all.
        reservable_bps: Rate = "bit/s",
        /// What is reserved.
        reserved_bps: u64 = "bit/s",
    }
}

impl Network {
    fn next_hop(&self, node: usize, next_hop: NextHop) -> (&str, Option<PortId>, Option<Ipv4Addr>) {
        match next_hop {
            NextHop::Via { port, gateway } => {
                let own = self.ports_of(node).find(|(link, side)| link.ports[*side] == port);
                let far = own.map(|(link, side)| if side == 0 { link.spec.b } else { link.spec.a });
                let name = far.map_or("tester", |far| self.node_name(far));
                (name, Some(port), Some(gateway))
            }
            NextHop::Local => ("local", None, None),
            NextHop::Discard => ("discard", None, None),
        }
    }

    fn operation(nhlfe: &Nhlfe) -> String {
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

    pub(super) fn ilm(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ilm()) {
            let (to, port, gateway) = self.next_hop(node, row.nhlfe.next_hop);
            table.push(IlmRow {
                label: row.label,
                out: Self::operation(&row.nhlfe),
                to,
                port,
                gateway,
                tc: Self::tc(&row.nhlfe),
                packets: row.packets,
                bytes: row.bytes,
            });
        }
        table.finish()
    }

    pub(super) fn ftn(&self, node: usize) -> Table {
        let mut table = Rows::new();
        let Some(forwarding) = self.router(node).map(node::Router::forwarding) else { return table.finish() };
        let row = |nhlfe: &Nhlfe, packets: u64, bytes: u64| {
            let (to, port, gateway) = self.next_hop(node, nhlfe.next_hop);
            FtnRow {
                prefix: None,
                filter: None,
                classes: None,
                push: Self::operation(nhlfe),
                to,
                port,
                gateway,
                tc: Self::tc(nhlfe),
                packets,
                bytes,
            }
        };
        table.extend(forwarding.filters().map(|entry| FtnRow {
            filter: Some(entry.filter.to_string()),
            ..row(&entry.nhlfe, entry.packets, entry.bytes)
        }));
        table.extend(forwarding.ftn().map(|entry| FtnRow {
            prefix: Some(Shown(entry.prefix)),
            classes: entry.classes.map(|(_, set)| set.iter().map(|phb| phb.to_string()).collect()),
            ..row(&entry.nhlfe, entry.packets, entry.bytes)
        }));
        table.finish()
    }

    pub(super) fn fib(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().fib()) {
            let (to, port, gateway) = self.next_hop(node, row.next_hop);
            let (packets, bytes) = (row.packets, row.bytes);
            table.push(FibRow { prefix: Shown(row.prefix), to, port, gateway, packets, bytes });
        }
        table.finish()
    }

    pub(super) fn neighbors(&self, node: usize) -> Table {
        let mut table = Rows::new();
        let hosts = self.host(node).into_iter().flat_map(node::Host::neighbors);
        let all = self.router(node).into_iter().flat_map(node::Router::neighbors).chain(hosts);
        table.extend(all.map(|(port, address, mac)| NeighborRow { port, address, mac }));
        table.finish()
    }

    pub(super) fn counters(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ports()) {
            let c = row.counters;
            table.push(CounterRow {
                port: row.port,
                rx_packets: c.rx_packets,
                rx_bytes: c.rx_bytes,
                tx_packets: c.tx_packets,
                tx_bytes: c.tx_bytes,
            });
        }
        table.finish()
    }

    pub(super) fn drops(&self, node: Option<usize>) -> Table {
        let mut table = Rows::new();
        let mut add = |node: usize, drops: &DropCounters| {
            let node = self.node_name(node);
            table.extend(drops.iter().map(|(reason, count)| DropRow { node, reason: word(&reason), count }));
        };
        for other in (0..self.description.nodes.len()).filter(|n| node.is_none_or(|m| m == *n)) {
            if let Some(router) = self.router(other) {
                add(other, &router.drops());
            }
            if let Some(drops) = self.nodes[other].drops(&self.world, NodeId(other as u32)) {
                add(other, &drops);
            }
        }
        table.finish()
    }

    pub(super) fn lsp_states(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for lsp in self.router(node).into_iter().flat_map(|r| r.rsvp().lsps()) {
            table.push(LspRow {
                name: lsp.name,
                tunnel: lsp.tunnel_id,
                lsp: lsp.lsp_id,
                from: lsp.sender,
                to: lsp.end_point,
                role: format!("{:?}", lsp.role).to_lowercase(),
                state: if lsp.installed { "up" } else { "signalling" },
                in_label: lsp.in_label,
                out_label: lsp.out_label,
                bandwidth_bps: lsp.reserved,
                setup_priority: lsp.setup_priority,
                holding_priority: lsp.holding_priority,
                style: lsp.style.map(|style| format!("{style:?}")),
                diffserv: lsp.diffserv.map(|object| object.to_string()),
            });
        }
        table.finish()
    }

    pub(super) fn tunnels(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for tunnel in self.router(node).into_iter().flat_map(|r| r.rsvp().tunnels()) {
            table.push(TunnelRow {
                name: tunnel.name,
                to: tunnel.id.to,
                tunnel: tunnel.id.id,
                active: tunnel.active,
                candidate: tunnel.candidate,
                failures: tunnel.failures,
                retry_s: tunnel.retry_at,
            });
        }
        table.finish()
    }

    pub(super) fn bandwidth(&self, node: usize) -> Table {
        let mut table = Rows::new();
        for link in self.router(node).into_iter().flat_map(|r| r.rsvp().links()) {
            table.push(BandwidthRow {
                port: link.port,
                address: link.address,
                up: link.up,
                reservable_bps: link.reservable,
                reserved_bps: link.reserved.iter().map(|r| r.0).sum(),
            });
        }
        table.finish()
    }
}
