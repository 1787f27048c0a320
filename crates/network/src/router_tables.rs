//! Tables of one router or host: what it forwards by, what it counted, what it signals.

use super::Network;
use super::columns::Columns;
use base::NodeId;
use base::device::DropCounters;
use base::plane::{NextHop, Nhlfe, TcSource};
use serde_json::{Value, json};

impl Network {
    fn next_hop(&self, node: usize, next_hop: NextHop) -> [Value; 3] {
        match next_hop {
            NextHop::Via { port, gateway } => {
                let own = self.ports_of(node).find(|(link, side)| link.ports[*side] == port);
                let far = own.map(|(link, side)| if side == 0 { link.spec.b } else { link.spec.a });
                let name = far.map_or("tester", |far| self.node_name(far));
                [json!(name), json!(port.0), json!(gateway.to_string())]
            }
            NextHop::Local => [json!("local"), Value::Null, Value::Null],
            NextHop::Discard => [json!("discard"), Value::Null, Value::Null],
        }
    }

    fn operation(nhlfe: &Nhlfe) -> String {
        let labels: Vec<String> = nhlfe.push.as_slice().iter().map(ToString::to_string).collect();
        if labels.is_empty() { "pop".into() } else { labels.join(" ") }
    }

    /// What becomes of TC: `copy`, a number, or what the LSP says of PHBs (its DiffServ context).
    fn tc(nhlfe: &Nhlfe) -> Value {
        match nhlfe.tc {
            TcSource::Copy => json!("copy"),
            TcSource::Set(tc) => json!(tc.value().to_string()),
            TcSource::DiffServ(classes) => json!(classes.to_string()),
        }
    }

    pub(super) fn ilm(&self, node: usize) -> Value {
        let mut table = Columns::new(&["label", "out", "to", "port", "gateway", "packets", "bytes", "tc"]);
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ilm()) {
            let [to, port, gateway] = self.next_hop(node, row.nhlfe.next_hop);
            let out = json!(Self::operation(&row.nhlfe));
            table.push([
                json!(row.label.value()),
                out,
                to,
                port,
                gateway,
                json!(row.packets),
                json!(row.bytes),
                Self::tc(&row.nhlfe),
            ]);
        }
        table.finish()
    }

    pub(super) fn ftn(&self, node: usize) -> Value {
        let mut table = Columns::new(&[
            "prefix", "push", "to", "port", "gateway", "packets", "bytes", "filter", "classes", "tc",
        ]);
        // Filters first: they are looked at first.
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().filters()) {
            let [to, port, gateway] = self.next_hop(node, row.nhlfe.next_hop);
            let push = json!(Self::operation(&row.nhlfe));
            let filter = json!(row.filter.to_string());
            let (packets, bytes, tc) = (json!(row.packets), json!(row.bytes), Self::tc(&row.nhlfe));
            table.push([Value::Null, push, to, port, gateway, packets, bytes, filter, Value::Null, tc]);
        }
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ftn()) {
            let [to, port, gateway] = self.next_hop(node, row.nhlfe.next_hop);
            let push = json!(Self::operation(&row.nhlfe));
            let prefix = json!(row.prefix.to_string());
            let filter = Value::Null;
            let (packets, bytes, tc) = (json!(row.packets), json!(row.bytes), Self::tc(&row.nhlfe));
            let classes = row.classes.map(|(_, set)| set);
            table.push([prefix, push, to, port, gateway, packets, bytes, filter, json!(classes), tc]);
        }
        table.finish()
    }

    pub(super) fn fib(&self, node: usize) -> Value {
        let mut table = Columns::new(&["prefix", "to", "port", "gateway", "packets", "bytes"]);
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().fib()) {
            let [to, port, gateway] = self.next_hop(node, row.next_hop);
            table.push([
                json!(row.prefix.to_string()),
                to,
                port,
                gateway,
                json!(row.packets),
                json!(row.bytes),
            ]);
        }
        table.finish()
    }

    pub(super) fn neighbors(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "address", "mac"]);
        let hosts = self.host(node).into_iter().flat_map(node::Host::neighbors);
        let all = self.router(node).into_iter().flat_map(node::Router::neighbors).chain(hosts);
        for (port, address, mac) in all {
            table.push([json!(port.0), json!(address.to_string()), json!(mac.to_string())]);
        }
        table.finish()
    }

    pub(super) fn counters(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes"]);
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ports()) {
            let c = row.counters;
            let counts = [c.rx_packets, c.rx_bytes, c.tx_packets, c.tx_bytes].map(|n| json!(n));
            let [rx_packets, rx_bytes, tx_packets, tx_bytes] = counts;
            table.push([json!(row.port.0), rx_packets, rx_bytes, tx_packets, tx_bytes]);
        }
        table.finish()
    }

    pub(super) fn drops(&self, node: Option<usize>) -> Value {
        let mut table = Columns::new(&["node", "reason", "count"]);
        let mut add = |node: usize, drops: &DropCounters| {
            for (reason, count) in drops.iter() {
                table.push([json!(self.node_name(node)), json!(reason), json!(count)]);
            }
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

    pub(super) fn lsp_states(&self, node: usize) -> Value {
        let mut table = Columns::new(&[
            "name",
            "tunnel",
            "lsp",
            "from",
            "to",
            "role",
            "state",
            "in_label",
            "out_label",
            "bandwidth_bps",
            "setup_priority",
            "holding_priority",
            "style",
            "diffserv",
        ]);
        for lsp in self.router(node).into_iter().flat_map(|r| r.rsvp().lsps()) {
            table.push([
                json!(lsp.name),
                json!(lsp.tunnel_id),
                json!(lsp.lsp_id),
                json!(lsp.sender.to_string()),
                json!(lsp.end_point.to_string()),
                json!(format!("{:?}", lsp.role).to_lowercase()),
                json!(if lsp.installed { "up" } else { "signalling" }),
                json!(lsp.in_label),
                json!(lsp.out_label),
                json!(lsp.reserved.0),
                json!(lsp.setup_priority),
                json!(lsp.holding_priority),
                json!(lsp.style.map(|s| format!("{s:?}"))),
                json!(lsp.diffserv.map(|object| object.to_string())),
            ]);
        }
        table.finish()
    }

    pub(super) fn tunnels(&self, node: usize) -> Value {
        let mut table =
            Columns::new(&["name", "to", "tunnel", "active", "candidate", "failures", "retry_ps"]);
        for t in self.router(node).into_iter().flat_map(|r| r.rsvp().tunnels()) {
            let (to, id) = (json!(t.id.to.to_string()), json!(t.id.id));
            let retry = json!(t.retry_at.map(|t| t.0));
            table.push([
                json!(t.name),
                to,
                id,
                json!(t.active),
                json!(t.candidate),
                json!(t.failures),
                retry,
            ]);
        }
        table.finish()
    }

    pub(super) fn bandwidth(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "address", "up", "reservable_bps", "reserved_bps"]);
        for link in self.router(node).into_iter().flat_map(|r| r.rsvp().links()) {
            let reserved: u64 = link.reserved.iter().map(|r| r.0).sum();
            let (port, address) = (json!(link.port.0), json!(link.address.to_string()));
            table.push([port, address, json!(link.up), json!(link.reservable.0), json!(reserved)]);
        }
        table.finish()
    }
}
