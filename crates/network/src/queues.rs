//! Queue disciplines at the ends of links: how they are put there, what they counted, and whether that adds up.

use super::Network;
use super::description::LinkSpec;
use super::error::NetworkError;
use super::place::Place;
use super::problem::{BuildProblem, RunProblem};
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::table::{Figures, Rows, Table};
use base::{NodeId, Streams, Time};
use engine::discipline::{Facts, QueueRow, Tree, TreeSpec};

base::table! {
    /// Every queue and class in front of a link: what it was given, sent, dropped and holds. Bytes are those that the
    /// tree accounts.
    pub struct QueueTableRow<'a> in "queues" key ["node", "link", "path"] {
        /// The node that sends.
        node: &'a str,
        /// The link, by its place in the description.
        link: usize,
        /// The node at the link's other end.
        neighbor: &'a str,
        /// The queue's place in the tree: `root`, `root/gold` and so on.
        path: String,
        /// The path of the class that it is in, where that is another than its own path says.
        parent: Option<String>,
        /// The queue discipline, or `class` for a class that only groups others.
        discipline: &'static str,
        /// Packets given.
        given_packets: u64 = "packets",
        /// Their bytes.
        given_bytes: u64 = "bytes",
        /// Packets sent.
        sent_packets: u64 = "packets",
        /// Their bytes.
        sent_bytes: u64 = "bytes",
        /// Packets dropped, at once or out of the queue.
        dropped_packets: u64 = "packets",
        /// Their bytes.
        dropped_bytes: u64 = "bytes",
        /// Packets that wait.
        backlog_packets: u64 = "packets",
        /// Bytes that wait.
        backlog_bytes: u64 = "bytes",
        /// Packets dropped by reason; reasons that did not occur are left out.
        drops: DropCounters = "packets",
        /// Packets marked in place of being dropped (ECN).
        marked: u64 = "packets",
        /// How often the queue would have sent but was held back by its rate.
        overlimits: u64 = "times",
        /// The most packets that ever waited.
        backlog_packets_max: u64 = "packets",
        /// The most bytes that ever waited.
        backlog_bytes_max: u64 = "bytes",
        /// Packets that waited, mean over the time of the run.
        mean_packets: f64 = "packets",
        /// How long a packet waited, mean over those that left; absent before one did.
        mean_wait_s: Option<f64> = "s",
        /// What only this discipline knows, such as `average_bytes` of RED.
        extra: Figures,
    }
}

base::table! {
    /// What waited in every queue and class over time, if that is kept (`queue_bin`).
    pub struct QueueSeriesRow<'a> in "queue_series" key ["node", "link", "path", "start_s"] {
        /// The node that sends.
        node: &'a str,
        /// The link, by its place in the description.
        link: usize,
        /// The node at the link's other end.
        neighbor: &'a str,
        /// The queue's place in the tree, as in table `queues`.
        path: String,
        /// When the bin begins.
        start_s: Time = "s",
        /// Bytes that waited, mean over the bin, or over what of the last bin is past.
        mean_bytes: f64 = "bytes",
        /// The most bytes that waited at once.
        max_bytes: u64 = "bytes",
    }
}

/// The two ends of a link.
pub(super) const SIDES: [usize; 2] = [0, 1];

impl LinkSpec {
    /// The queue disciplines at an end.
    pub(super) fn queue(&self, side: usize) -> Option<&TreeSpec> {
        [&self.a_queue, &self.b_queue][side].as_ref()
    }
}

/// A diagnostic of what stands at a place in a tree, such as `root/gold`, with the steps to it.
pub(super) fn in_tree(path: &str, found: Diagnostic) -> Diagnostic {
    let steps = path.split('/').skip(1).flat_map(|name| match name {
        "queue" => vec!["queue"],
        class => vec!["classes", class],
    });
    found.below(steps.collect::<Vec<_>>().into_iter())
}

impl Network {
    /// Puts queue disciplines at the ports of the nodes that are here; what is wrong with those of other nodes is told
    /// as well.
    pub(super) fn add_queues(&mut self) -> Result<(), NetworkError> {
        if self.description.queue_bin.is_some_and(|bin| bin.0 <= 0) {
            return Err(Diagnostic::new(BuildProblem::EmptyBin {}).at("queue_bin").into());
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
        let refused = |problem: BuildProblem| self.at_end(problem, "queue", index, side);
        if self.facts(node).foreign {
            let called = self.facts(node).called.to_string();
            return Err(refused(BuildProblem::QueueOfOthers { called }).into());
        }
        // By the names that users gave: a node or a queue more disturbs no other.
        let name = format!("queue/{}/{index}", self.node_name(node));
        let random = Streams::new(self.description.seed).stream(&name);
        let facts = Facts { rate: link.spec.rate, mtu: link.spec.mtu };
        let mut tree =
            Tree::new(spec, &facts, random).map_err(|found| self.at_end(found, "queue", index, side))?;
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

    /// Compares what every queue was given with what it sent, dropped and holds, in packets and bytes, and with
    /// Little's law. An error says that a discipline is wrong, not the user.
    pub fn audit(&self) -> Result<(), NetworkError> {
        let Some(wrong) = self.world.audit_queues().into_iter().next() else { return Ok(()) };
        let link = self.links.iter().position(|link| link.id == wrong.link);
        let what = match wrong.queues.first() {
            Some(what) => what.clone(),
            None => format!(
                "frames sent are not those that arrived, were dropped or are on their way: {:?}",
                wrong.counters
            ),
        };
        let unbalanced = RunProblem::QueuesUnbalanced { at: self.world.now().to_string(), what };
        Err(unbalanced.of_link(&self.description, link.unwrap_or(wrong.link.index())).into())
    }

    /// Every queue and class: what it was given, sent, dropped and holds.
    pub(super) fn queues(&self, node: Option<usize>) -> Result<Table, NetworkError> {
        self.audit()?;
        let mut table = Rows::new();
        let now = self.world.now();
        for (node, link, tree) in self.trees(node) {
            for QueueRow { path, parent, discipline, counters: c, extra } in tree.report(now) {
                table.push(QueueTableRow {
                    node: self.node_name(node),
                    link,
                    neighbor: self.far_name(node, link),
                    path,
                    parent,
                    discipline,
                    given_packets: c.given.packets,
                    given_bytes: c.given.bytes,
                    sent_packets: c.sent.packets,
                    sent_bytes: c.sent.bytes,
                    dropped_packets: c.dropped.packets,
                    dropped_bytes: c.dropped.bytes,
                    backlog_packets: c.backlog.packets,
                    backlog_bytes: c.backlog.bytes,
                    drops: c.drops.clone(),
                    marked: c.marked,
                    overlimits: c.overlimits,
                    backlog_packets_max: c.backlog_packets_max,
                    backlog_bytes_max: c.backlog_bytes_max,
                    mean_packets: c.mean_packets(now),
                    mean_wait_s: c.mean_wait_s(),
                    extra: Figures(extra),
                });
            }
        }
        Ok(table.finish())
    }

    /// What waited in every queue and class over time, if that is kept: mean and most bytes of each bin, of the last so
    /// far.
    pub(super) fn queue_series(&self, node: Option<usize>) -> Result<Table, NetworkError> {
        self.audit()?;
        let mut table = Rows::<QueueSeriesRow>::new();
        let now = self.world.now();
        let width = self.description.queue_bin.map_or(1, |bin| bin.0.max(1) as u64);
        for (node, link, tree) in self.trees(node) {
            for row in tree.report(now) {
                for (place, bin) in (0u64..).zip(row.counters.series(now)) {
                    let start = place.saturating_mul(width);
                    let span = width.min(now.0.saturating_sub(start)).max(1);
                    table.push(QueueSeriesRow {
                        node: self.node_name(node),
                        link,
                        neighbor: self.far_name(node, link),
                        path: row.path.clone(),
                        start_s: Time(start),
                        mean_bytes: bin.area as f64 / span as f64,
                        max_bytes: bin.max,
                    });
                }
            }
        }
        Ok(table.finish())
    }
}
