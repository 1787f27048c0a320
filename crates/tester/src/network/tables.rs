//! Tables of what a network holds and what happened in it: columns of equal length, for data frames.

use super::error::{NetworkError, input};
use super::{Network, signals, traffic};
use base::device::DropCounters;
use base::plane::{NextHop, Nhlfe};
use base::{Event, NodeId};
use serde_json::{Map, Value, json};

/// A table under construction: rows of named values become columns.
#[derive(Debug, Default)]
pub struct Columns {
    names: Vec<&'static str>,
    columns: Vec<Vec<Value>>,
}

impl Columns {
    /// A table with these columns.
    pub fn new(names: &[&'static str]) -> Columns {
        Columns { names: names.to_vec(), columns: vec![Vec::new(); names.len()] }
    }

    /// Adds a row; its values are in the order of the columns.
    pub fn push<const N: usize>(&mut self, row: [Value; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    /// An object of columns.
    pub fn finish(self) -> Value {
        let columns = self.columns.into_iter().map(Value::Array);
        Value::Object(self.names.into_iter().map(String::from).zip(columns).collect::<Map<_, _>>())
    }
}

impl Network {
    /// A table by name: of one node where it needs one, else of all.
    pub fn table(&mut self, name: &str, node: Option<usize>) -> Result<Value, NetworkError> {
        if let Some(node) = node {
            self.check_local(node, &format!("table '{name}'"))?;
            let hosts_have = matches!(name, "neighbors" | "drops") && self.station(node).is_some();
            if self.router(node).is_none() && !hosts_have {
                return input(format!(
                    "table '{name}': '{}' is no router and has none",
                    self.node_name(node)
                ));
            }
        }
        match (name, node) {
            ("ilm", Some(node)) => Ok(self.ilm(node)),
            ("ftn", Some(node)) => Ok(self.ftn(node)),
            ("fib", Some(node)) => Ok(self.fib(node)),
            ("neighbors", Some(node)) => Ok(self.neighbors(node)),
            ("counters", Some(node)) => Ok(self.counters(node)),
            ("drops", _) => Ok(self.drops(node)),
            ("lsps", Some(node)) => Ok(self.lsp_states(node)),
            ("lsps", None) => Ok(self.lsp_groups()),
            ("tunnels", Some(node)) => Ok(self.tunnels(node)),
            ("bandwidth", Some(node)) => Ok(self.bandwidth(node)),
            ("streams", _) => Ok(traffic::streams(self)),
            ("series", _) => Ok(traffic::series(self)),
            ("delays", _) => Ok(traffic::delays(self)),
            ("routes", _) => {
                traffic::check_routes(self);
                Ok(traffic::routes(self))
            }
            ("messages", _) => Ok(self.messages()),
            ("signals", _) => Ok(signals::table(self, node)),
            ("lsp_log", _) => Ok(self.lsp_log()),
            ("steps", _) => Ok(self.steps()),
            ("ports", _) => self.ports(),
            ("interfaces", _) => Ok(self.interfaces()),
            ("lateness", _) => Ok(self.lateness()),
            ("events", _) => Ok(self.event_table()),
            ("processors", _) => Ok(self.processors()),
            ("state", _) => Ok(self.state()),
            ("ilm" | "ftn" | "fib" | "neighbors" | "counters" | "tunnels" | "bandwidth", None) => {
                input(format!("table '{name}': of which node?"))
            }
            _ => input(format!("table '{name}': there is none of that name")),
        }
    }

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

    fn ilm(&self, node: usize) -> Value {
        let mut table = Columns::new(&["label", "out", "to", "port", "gateway", "packets", "bytes"]);
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
            ]);
        }
        table.finish()
    }

    fn ftn(&self, node: usize) -> Value {
        let mut table =
            Columns::new(&["prefix", "push", "to", "port", "gateway", "packets", "bytes", "filter"]);
        // Filters first: they are looked at first.
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().filters()) {
            let [to, port, gateway] = self.next_hop(node, row.nhlfe.next_hop);
            let push = json!(Self::operation(&row.nhlfe));
            let filter = json!(row.filter.to_string());
            table.push([Value::Null, push, to, port, gateway, json!(row.packets), json!(row.bytes), filter]);
        }
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ftn()) {
            let [to, port, gateway] = self.next_hop(node, row.nhlfe.next_hop);
            let push = json!(Self::operation(&row.nhlfe));
            let prefix = json!(row.prefix.to_string());
            let filter = Value::Null;
            table.push([prefix, push, to, port, gateway, json!(row.packets), json!(row.bytes), filter]);
        }
        table.finish()
    }

    fn fib(&self, node: usize) -> Value {
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

    fn neighbors(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "address", "mac"]);
        let hosts = self.station(node).into_iter().flat_map(|s| s.host().neighbors());
        let all = self.router(node).into_iter().flat_map(node::Router::neighbors).chain(hosts);
        for (port, address, mac) in all {
            table.push([json!(port.0), json!(address.to_string()), json!(mac.to_string())]);
        }
        table.finish()
    }

    fn counters(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "rx_packets", "rx_bytes", "tx_packets", "tx_bytes"]);
        for row in self.router(node).into_iter().flat_map(|r| r.forwarding().ports()) {
            let c = row.counters;
            let counts = [c.rx_packets, c.rx_bytes, c.tx_packets, c.tx_bytes].map(|n| json!(n));
            let [rx_packets, rx_bytes, tx_packets, tx_bytes] = counts;
            table.push([json!(row.port.0), rx_packets, rx_bytes, tx_packets, tx_bytes]);
        }
        table.finish()
    }

    fn drops(&self, node: Option<usize>) -> Value {
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
            if let Some(edge) = self.edge(other) {
                add(other, edge.drops());
            }
            if let Some(station) = self.station(other) {
                add(other, &station.drops());
            }
        }
        table.finish()
    }

    fn lsp_states(&self, node: usize) -> Value {
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
            ]);
        }
        table.finish()
    }

    fn tunnels(&self, node: usize) -> Value {
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

    fn bandwidth(&self, node: usize) -> Value {
        let mut table = Columns::new(&["port", "address", "up", "reservable_bps", "reserved_bps"]);
        for link in self.router(node).into_iter().flat_map(|r| r.rsvp().links()) {
            let reserved: u64 = link.reserved.iter().map(|r| r.0).sum();
            let (port, address) = (json!(link.port.0), json!(link.address.to_string()));
            table.push([port, address, json!(link.up), json!(link.reservable.0), json!(reserved)]);
        }
        table.finish()
    }

    /// All LSPs of all head ends.
    fn lsp_groups(&self) -> Value {
        let names = ["lsps", "index", "name", "from", "to", "state", "lsp", "label", "hops"];
        let mut table = Columns::new(&names);
        let mut active = base::Map::new();
        let mut labels = base::Map::new();
        for head in 0..self.description.nodes.len() {
            if !self.lsps.iter().any(|group| group.spec.from == head) {
                continue;
            }
            let Some(router) = self.router(head) else { continue };
            for tunnel in router.rsvp().tunnels() {
                active.insert((head, tunnel.id), tunnel.active);
            }
            for lsp in router.rsvp().lsps() {
                let tunnel = base::command::TunnelId { to: lsp.end_point, id: lsp.tunnel_id };
                labels.insert((head, tunnel, lsp.lsp_id), lsp.out_label);
            }
        }
        for (number, group) in self.lsps.iter().enumerate() {
            let spec = &group.spec;
            if !self.is_local(spec.from) {
                continue;
            }
            for (index, id) in group.tunnels.iter().enumerate() {
                let known = active.get(&(spec.from, *id)).copied();
                let lsp = known.flatten();
                let state = match (known, lsp) {
                    (Some(_), Some(_)) => "up",
                    (Some(_), None) => "down",
                    (None, _) => "not signalled",
                };
                let label = lsp.and_then(|lsp| labels.get(&(spec.from, *id, lsp)).copied().flatten());
                let name =
                    if spec.count == 1 { spec.name.clone() } else { format!("{}-{}", spec.name, index + 1) };
                table.push([
                    json!(number),
                    json!(index),
                    json!(name),
                    json!(self.node_name(spec.from)),
                    json!(self.node_name(spec.to)),
                    json!(state),
                    json!(lsp),
                    json!(label),
                    json!(group.links.as_ref().map(Vec::len)),
                ]);
            }
        }
        table.finish()
    }

    fn messages(&self) -> Value {
        let mut table = Columns::new(&["node", "start_ps", "direction", "type", "count"]);
        for node in 0..self.description.nodes.len() {
            for bin in self.router(node).into_iter().flat_map(node::Router::messages) {
                let (direction, kind) = signals::words(bin.direction, bin.kind);
                let name = json!(self.node_name(node));
                table.push([name, json!(bin.start.0), json!(direction), json!(kind), json!(bin.count)]);
            }
        }
        table.finish()
    }

    fn lsp_log(&self) -> Value {
        let mut table = Columns::new(&["time_ps", "node", "lsps", "index", "up"]);
        for node in 0..self.description.nodes.len() {
            for t in self.edge(node).into_iter().flat_map(crate::edge::Edge::log) {
                let name = json!(self.node_name(node));
                table.push([json!(t.at.0), name, json!(t.group), json!(t.index), json!(t.up)]);
            }
        }
        table.finish()
    }

    fn steps(&self) -> Value {
        let mut table = Columns::new(&["node", "at_ps", "action", "lsps", "up"]);
        for node in 0..self.description.nodes.len() {
            for record in self.edge(node).into_iter().flat_map(crate::edge::Edge::records) {
                let step = &record.step;
                let name = json!(self.node_name(node));
                table.push([name, json!(step.at.0), json!(step.action), json!(step.lsps), json!(record.up)]);
            }
        }
        table.finish()
    }

    fn ports(&self) -> Result<Value, NetworkError> {
        let names = [
            "link",
            "from",
            "to",
            "sent_frames",
            "sent_bytes",
            "received_frames",
            "received_bytes",
            "dropped",
            "drops",
            "waiting_bytes_max",
        ];
        let mut table = Columns::new(&names);
        for (index, link) in self.links.iter().enumerate() {
            if !link.ends().iter().any(|&node| self.is_local(node)) {
                continue;
            }
            let ends = [(link.spec.a, link.spec.b), (link.spec.b, link.spec.a)];
            for ((from, to), c) in ends.into_iter().zip(self.world.link_counters(link.id)?) {
                let drops: Map<String, Value> = c
                    .drops
                    .iter()
                    .map(|(reason, n)| (json!(reason).as_str().unwrap_or("?").to_string(), json!(n)))
                    .collect();
                table.push([
                    json!(index),
                    json!(self.node_name(from)),
                    json!(self.node_name(to)),
                    json!(c.sent_frames),
                    json!(c.sent_bytes),
                    json!(c.received_frames),
                    json!(c.received_bytes),
                    json!(c.drops.total()),
                    Value::Object(drops),
                    json!(c.waiting_bytes_max),
                ]);
            }
        }
        Ok(table.finish())
    }

    fn event_table(&mut self) -> Value {
        self.events();
        let mut table = Columns::new(&["time_ps", "node", "lsps", "index", "event"]);
        for record in &self.events {
            let known = tunnel_of(&record.event)
                .and_then(|tunnel| self.by_tunnel.get(&(record.node.0, tunnel)).copied());
            let node = record.node.index();
            let name = if node < self.description.nodes.len() { self.node_name(node) } else { "tester" };
            table.push([
                json!(record.at.0),
                json!(name),
                json!(known.map(|k| k.0)),
                json!(known.map(|k| k.1)),
                json!(record.event),
            ]);
        }
        table.finish()
    }

    fn processors(&self) -> Value {
        let mut table = Columns::new(&["node", "queue_peak", "busy_s", "queue_drops"]);
        for node in 0..self.description.nodes.len() {
            let Some(router) = self.router(node) else { continue };
            let (peak, busy) = router.processor_load();
            let lost = router.drops().get(base::device::DropReason::ControlQueueFull);
            table.push([json!(self.node_name(node)), json!(peak), json!(busy), json!(lost)]);
        }
        table.finish()
    }

    /// What is left anywhere: after everything is torn down, nothing.
    fn state(&self) -> Value {
        let names = [
            "node",
            "lsps",
            "sessions",
            "tunnels",
            "labels",
            "reserved_bps",
            "timers",
            "ilm",
            "ftn",
            "waiting",
        ];
        let mut table = Columns::new(&names);
        for node in 0..self.description.nodes.len() {
            let Some(router) = self.router(node) else { continue };
            let audit = router.rsvp().audit();
            let (writes, messages) = router.backlog();
            table.push([
                json!(self.node_name(node)),
                json!(audit.lsps),
                json!(audit.sessions),
                json!(audit.tunnels),
                json!(audit.labels),
                json!(audit.reserved.iter().map(|r| r.1.0).sum::<u64>()),
                json!(audit.timers),
                json!(router.forwarding().ilm_len()),
                json!(router.forwarding().ftn().count() + router.forwarding().filters().count()),
                json!(writes + messages + audit.transactions),
            ]);
        }
        table.finish()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.description.nodes.len() as u32).map(NodeId)
    }
}

fn tunnel_of(event: &Event) -> Option<base::command::TunnelId> {
    match event {
        Event::LspUp { tunnel, .. }
        | Event::LspDown { tunnel, .. }
        | Event::LspError { tunnel, .. }
        | Event::LspRerouted { tunnel, .. } => Some(*tunnel),
        _ => None,
    }
}
