//! Queue disciplines at the ends of links: how they are put there, what they counted, and whether that adds up.

use super::Network;
use super::columns::Columns;
use super::description::LinkSpec;
use super::error::{NetworkError, input};
use base::{NodeId, Streams};
use engine::discipline::{Facts, QueueRow, SpecError, Tree, TreeSpec};
use serde_json::{Map, Value, json};

/// The two ends of a link.
pub(super) const SIDES: [usize; 2] = [0, 1];

impl LinkSpec {
    /// The queue disciplines at an end.
    pub(super) fn queue(&self, side: usize) -> Option<&TreeSpec> {
        [&self.a_queue, &self.b_queue][side].as_ref()
    }
}

impl Network {
    /// Puts queue disciplines at the ports of the nodes that are here; what is wrong with those of other nodes is told as well.
    pub(super) fn add_queues(&mut self) -> Result<(), NetworkError> {
        if self.description.queue_bin.is_some_and(|bin| bin.0 <= 0) {
            return input("queue_bin_ps: a bin is longer than nothing");
        }
        for link in 0..self.links.len() {
            for side in SIDES {
                self.add_queue(link, side)?;
            }
        }
        Ok(())
    }

    fn add_queue(&mut self, index: usize, side: usize) -> Result<(), NetworkError> {
        let link = &self.links[index];
        let Some(spec) = link.spec.queue(side) else { return Ok(()) };
        let node = link.ends()[side];
        let what = format!("{}: queue at '{}'", self.link_words(index), self.node_name(node));
        if self.facts(node).foreign {
            return input(format!("{what}: it is external: its queues are not ours"));
        }
        // By the names that users gave: a node or a queue more disturbs no other.
        let name = format!("queue/{}/{index}", self.node_name(node));
        let random = Streams::new(self.description.seed).stream(&name);
        let facts = Facts { rate: link.spec.rate, mtu: link.spec.mtu };
        let mut tree = Tree::new(spec, &facts, random).map_err(|error| in_words(&what, &error))?;
        if let Some(diffserv) = &self.description.nodes[node].diffserv {
            tree.set_diffserv(diffserv);
        }
        if let Some(bin) = self.description.queue_bin {
            tree.watch(bin);
        }
        if self.is_local(node) {
            let port = link.ports[side];
            self.world.set_queue(NodeId(node as u32), port, tree)?;
        }
        Ok(())
    }

    /// A link as errors name it.
    pub fn link_words(&self, link: usize) -> String {
        let [a, b] = self.links[link].ends().map(|node| self.node_name(node));
        format!("link {link} ('{a}' to '{b}')")
    }

    /// Who is at the other end of a link.
    pub(super) fn far_name(&self, node: usize, link: usize) -> &str {
        let link = &self.links[link];
        self.node_name(link.ends()[1 - link.side(node)])
    }

    /// The trees of the nodes that are here, or of one: node, link, tree.
    pub(super) fn trees(&self, only: Option<usize>) -> impl Iterator<Item = (usize, usize, &Tree)> {
        let ends =
            self.links.iter().enumerate().flat_map(|(index, link)| SIDES.map(|side| (index, link, side)));
        let wanted = ends.filter(move |(_, link, side)| only.is_none_or(|node| link.ends()[*side] == node));
        wanted.filter_map(|(index, link, side)| {
            let node = link.ends()[side];
            Some((node, index, self.world.queue(NodeId(node as u32), link.ports[side])?))
        })
    }

    /// Compares what every queue was given with what it sent, dropped and holds, in packets and bytes, and with Little's law. An error
    /// says that a discipline is wrong, not the user.
    pub fn audit(&self) -> Result<(), NetworkError> {
        let Some(wrong) = self.world.audit_queues().into_iter().next() else { return Ok(()) };
        let link = self.links.iter().position(|link| link.id == wrong.link);
        let link = link.map_or_else(|| format!("link {}", wrong.link.0), |link| self.link_words(link));
        let what = match wrong.queues.first() {
            Some(what) => what.clone(),
            None => format!(
                "frames sent are not those that arrived, were dropped or are on their way: {:?}",
                wrong.counters
            ),
        };
        Err(NetworkError::Run(format!("the queues of {link} do not add up at {}: {what}", self.world.now())))
    }

    /// Every queue and class: what it was given, sent, dropped and holds.
    pub(super) fn queues(&self, node: Option<usize>) -> Result<Value, NetworkError> {
        self.audit()?;
        let mut table = Columns::new(&[
            "node",
            "link",
            "neighbor",
            "path",
            "parent",
            "discipline",
            "given_packets",
            "given_bytes",
            "sent_packets",
            "sent_bytes",
            "dropped_packets",
            "dropped_bytes",
            "backlog_packets",
            "backlog_bytes",
            "drops",
            "marked",
            "overlimits",
            "backlog_packets_max",
            "backlog_bytes_max",
            "mean_packets",
            "mean_wait_s",
            "extra",
        ]);
        let now = self.world.now();
        for (node, link, tree) in self.trees(node) {
            for QueueRow { path, parent, discipline, counters: c, extra } in tree.report(now) {
                let drops = c.drops.iter().map(|(reason, n)| (word(&json!(reason)), json!(n)));
                let extra = extra.into_iter().map(|(name, value)| (name.to_string(), json!(value)));
                table.push([
                    json!(self.node_name(node)),
                    json!(link),
                    json!(self.far_name(node, link)),
                    json!(path),
                    json!(parent),
                    json!(discipline),
                    json!(c.given.packets),
                    json!(c.given.bytes),
                    json!(c.sent.packets),
                    json!(c.sent.bytes),
                    json!(c.dropped.packets),
                    json!(c.dropped.bytes),
                    json!(c.backlog.packets),
                    json!(c.backlog.bytes),
                    Value::Object(drops.collect::<Map<_, _>>()),
                    json!(c.marked),
                    json!(c.overlimits),
                    json!(c.backlog_packets_max),
                    json!(c.backlog_bytes_max),
                    json!(c.mean_packets(now)),
                    json!(c.mean_wait_s()),
                    Value::Object(extra.collect::<Map<_, _>>()),
                ]);
            }
        }
        Ok(table.finish())
    }

    /// What waited in every queue and class over time, if that is kept: mean and most bytes of each bin, of the last so far.
    pub(super) fn queue_series(&self, node: Option<usize>) -> Result<Value, NetworkError> {
        self.audit()?;
        let mut table =
            Columns::new(&["node", "link", "neighbor", "path", "start_ps", "mean_bytes", "max_bytes"]);
        let now = self.world.now();
        let width = self.description.queue_bin.map_or(1, |bin| bin.0.max(1) as u64);
        for (node, link, tree) in self.trees(node) {
            for row in tree.report(now) {
                for (place, bin) in (0u64..).zip(row.counters.series(now)) {
                    let start = place.saturating_mul(width);
                    let span = width.min(now.0.saturating_sub(start)).max(1);
                    table.push([
                        json!(self.node_name(node)),
                        json!(link),
                        json!(self.far_name(node, link)),
                        json!(row.path),
                        json!(start),
                        json!(bin.area as f64 / span as f64),
                        json!(bin.max),
                    ]);
                }
            }
        }
        Ok(table.finish())
    }
}

/// An error of a tree or a conditioner, behind where that is.
pub(super) fn in_words(what: &str, error: &SpecError) -> NetworkError {
    NetworkError::Input(format!("{what}: {error}"))
}

/// A value that is written as a word, without its quotes.
pub(super) fn word(value: &Value) -> String {
    value.as_str().unwrap_or("?").to_string()
}
