//! What must be the same under both clocks: LSPs, labels and what they carried, messages between neighbours, packets,
//! drops. No times.

use serde_json::Value;
use std::collections::BTreeMap;
use twinplane_tester::Testbed;

/// Rows of a table by their first columns.
type Rows = BTreeMap<Vec<String>, Vec<String>>;

/// The facts of a run, or of a part of one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// State of each LSP at its head, and the hops of its route.
    pub lsps: Rows,
    /// What each router does to each label, and how many packets it did it to.
    pub labels: Rows,
    /// Which packets each router puts into LSPs, and how many.
    pub classes: Rows,
    /// By router, neighbour, direction, session and LSP: the types of the messages, in order.
    pub messages: BTreeMap<Vec<String>, Vec<String>>,
    /// By flow and stream: packets sent, received and duplicated.
    pub streams: BTreeMap<(u64, u64), [u64; 3]>,
    /// Frames that links lost, by link, sender and reason.
    pub lost: BTreeMap<(String, String, String), u64>,
    /// Frames that nodes discarded, by node and reason.
    pub discarded: BTreeMap<(String, String), u64>,
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

/// The rows of a table: for each the named columns.
fn rows(table: &Value, names: &[&str]) -> Vec<Vec<String>> {
    let column = |name: &&str| table[*name].as_array().unwrap_or_else(|| panic!("no column {name}"));
    let columns: Vec<&Vec<Value>> = names.iter().map(column).collect();
    let count = columns.first().map_or(0, |column| column.len());
    (0..count).map(|row| columns.iter().map(|column| text(&column[row])).collect()).collect()
}

fn keyed(rows: Vec<Vec<String>>, keys: usize) -> Rows {
    rows.into_iter().map(|mut row| (row.drain(..keys).collect(), row)).collect()
}

fn prefixed(name: &str, rows: Vec<Vec<String>>) -> impl Iterator<Item = Vec<String>> {
    rows.into_iter().map(move |row| core::iter::once(name.to_string()).chain(row).collect())
}

impl Facts {
    /// The facts of what is in one process.
    pub fn of(network: &mut Testbed) -> Facts {
        let mut table = |name: &str, node| network.table_json(name, node).expect("a table");
        let lsps = rows(&table("lsps", None), &["lsps", "index", "state", "lsp", "label", "hops"]);
        let streams = table("streams", None);
        let messages = table("signals", None);
        let ports = table("ports", None);
        let drops = table("drops", None);
        let mut facts = Facts { lsps: keyed(lsps, 2), ..Facts::default() };
        for row in rows(&streams, &["flow", "stream", "sent", "received", "duplicated"]) {
            let number = |place: usize| row[place].parse().unwrap_or(0);
            let known = facts.streams.entry((number(0), number(1))).or_default();
            (0..3).for_each(|place| known[place] += number(place + 2));
        }
        for row in rows(&messages, &["node", "neighbor", "direction", "session", "lsp_id", "type"]) {
            let (kind, key) = row.split_last().expect("columns");
            facts.messages.entry(key.to_vec()).or_default().push(kind.clone());
        }
        for (row, drops) in
            rows(&ports, &["link", "from"]).into_iter().zip(ports["drops"].as_array().expect("drops"))
        {
            for (reason, count) in drops.as_object().expect("an object") {
                let key = (row[0].clone(), row[1].clone(), reason.clone());
                *facts.lost.entry(key).or_default() += count.as_u64().expect("a count");
            }
        }
        for row in rows(&drops, &["node", "reason", "count"]) {
            *facts.discarded.entry((row[0].clone(), row[1].clone())).or_default() +=
                row[2].parse::<u64>().expect("a count");
        }
        for node in 0..network.description().nodes.len() {
            if network.router(node).is_none() {
                continue;
            }
            let name = network.description().nodes[node].name.clone();
            let ilm = network.table_json("ilm", Some(node)).expect("a table");
            let ilm = rows(&ilm, &["label", "out", "to", "packets", "bytes"]);
            facts.labels.extend(keyed(prefixed(&name, ilm).collect(), 2));
            let ftn = network.table_json("ftn", Some(node)).expect("a table");
            let ftn = rows(&ftn, &["prefix", "push", "to", "packets", "bytes"]);
            facts.classes.extend(keyed(prefixed(&name, ftn).collect(), 2));
        }
        facts
    }

    /// With the facts of another part of the same network.
    pub fn with(mut self, other: Facts) -> Facts {
        self.lsps.extend(other.lsps);
        self.labels.extend(other.labels);
        self.classes.extend(other.classes);
        self.messages.extend(other.messages);
        for (key, counts) in other.streams {
            let known = self.streams.entry(key).or_default();
            known.iter_mut().zip(counts).for_each(|(all, more)| *all += more);
        }
        for (key, count) in other.lost {
            *self.lost.entry(key).or_default() += count;
        }
        for (key, count) in other.discarded {
            *self.discarded.entry(key).or_default() += count;
        }
        self
    }

    /// Fails with the first difference to `other`.
    pub fn assert_same(&self, other: &Facts, what: &str) {
        assert_eq!(self.lsps, other.lsps, "{what}: LSPs");
        assert_eq!(self.streams, other.streams, "{what}: packets of streams");
        assert_eq!(self.lost, other.lost, "{what}: frames lost on links");
        assert_eq!(self.discarded, other.discarded, "{what}: frames discarded by nodes");
        let between = |facts: &Facts| facts.messages.keys().cloned().collect::<Vec<_>>();
        assert_eq!(between(self), between(other), "{what}: who signalled what with whom");
        for (key, messages) in &self.messages {
            assert_eq!(Some(messages), other.messages.get(key), "{what}: messages of {key:?}");
        }
        assert_eq!(self.labels, other.labels, "{what}: labels");
        assert_eq!(self.classes, other.classes, "{what}: classes of packets");
    }
}
