//! Tables of what a network holds and what happened in it: columns of equal length, for data frames.

use super::columns::Columns;
use super::error::{NetworkError, input};
use super::{Network, signals};
use base::{Event, NodeId};
use serde_json::{Map, Value, json};

impl Network {
    /// A table by name: of one node where it needs one, else of all.
    pub fn table(&mut self, name: &str, node: Option<usize>) -> Result<Value, NetworkError> {
        if let Some(node) = node {
            self.check_table(name, node)?;
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
            ("queues", _) => self.queues(node),
            ("conditioners", _) => Ok(self.conditioners(node)),
            ("queue_series", _) => self.queue_series(node),
            ("messages", _) => Ok(self.messages()),
            ("signals", _) => Ok(signals::table(self, node)),
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

    /// Refuses a table of a node that has none such.
    pub fn check_table(&self, name: &str, node: usize) -> Result<(), NetworkError> {
        self.check_local(node, &format!("table '{name}'"))?;
        let hosts_have = matches!(name, "neighbors" | "drops" | "queues" | "queue_series" | "conditioners")
            && self.host(node).is_some();
        if self.router(node).is_none() && !hosts_have {
            return input(format!("table '{name}': '{}' is no router and has none", self.node_name(node)));
        }
        Ok(())
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

    /// All nodes, as devices of the engine.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
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
