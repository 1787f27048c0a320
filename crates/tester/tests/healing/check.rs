//! What must be so after everything is healed: what routers know and do is what it would be without any fault.

use crate::common::column;
use base::Label;
use control::rsvp::Rsvp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use twinplane_tester::Testbed;

/// The end state, in words that do not depend on how it was come to: which label stands for what is not among them.
#[derive(Debug, PartialEq, Eq)]
pub struct Facts(BTreeMap<&'static str, BTreeSet<String>>);

/// Columns of tables that are the same however the state was come to.
const SAME: [(&str, &[&str]); 8] = [
    ("ospf_neighbors", &["node", "towards", "router_id", "state"]),
    ("ospf_database", &["node", "area", "type", "router", "length"]),
    ("ldp_sessions", &["node", "remote", "router_id", "state", "received", "sent"]),
    ("ldp_labels", &["node", "prefix", "router_id", "is_used"]),
    ("ldp_bindings", &["node", "prefix", "told", "ports", "next_hops"]),
    ("rib", &["node", "prefix", "source", "preference", "metric", "next_hops", "active"]),
    ("bgp_neighbors", &["node", "address", "state"]),
    ("bgp_routes", &["node", "prefix", "from", "is_best", "is_reached", "next_hop", "as_path"]),
];

impl Facts {
    pub fn of(network: &mut Testbed) -> Result<Facts, String> {
        let mut facts = BTreeMap::new();
        for (name, columns) in SAME {
            let table = network.table_json(name, None).map_err(|error| error.to_string())?;
            let columns: Vec<Vec<Value>> =
                columns.iter().map(|column| self::column(&table, column)).collect();
            let rows = columns.first().map_or(0, Vec::len);
            let row = |row: usize| {
                columns.iter().map(|column| column[row].to_string()).collect::<Vec<_>>().join(" ")
            };
            facts.insert(name, (0..rows).map(row).collect());
        }
        let lsps = network.table_json("lsps", None).map_err(|error| error.to_string())?;
        let states = column(&lsps, "name").into_iter().zip(column(&lsps, "state"));
        facts.insert("lsps", states.map(|(name, state)| format!("{name} {state}")).collect());
        Ok(Facts(facts))
    }

    /// Rows compared.
    pub fn count(&self) -> u64 {
        self.0.values().map(|rows| rows.len() as u64).sum()
    }

    /// What differs from what it should be.
    pub fn differ(&self, expected: &Facts) -> Option<String> {
        let said = self.0.iter().filter_map(|(name, rows)| {
            let expected = &expected.0[name];
            let missing: Vec<_> = expected.difference(rows).collect();
            let surplus: Vec<_> = rows.difference(expected).collect();
            let same = missing.is_empty() && surplus.is_empty();
            (!same).then(|| format!("table {name}: {missing:?} should be there, and {surplus:?} should not"))
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| said.join("\n"))
    }
}

/// All databases are the same: instance by instance, with the same contents.
pub fn databases_are_equal(network: &mut Testbed, nodes: usize) -> Result<(), String> {
    let table = network.table_json("ospf_database", None).map_err(|error| error.to_string())?;
    let columns = ["type", "id", "router", "sequence", "checksum", "length"].map(|name| column(&table, name));
    let mut of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (row, node) in column(&table, "node").iter().enumerate() {
        let text: Vec<String> = columns.iter().map(|column| column[row].to_string()).collect();
        of.entry(node.to_string()).or_default().insert(text.join(" "));
    }
    let first = of.values().next().cloned().unwrap_or_default();
    match of.iter().find(|(_, database)| **database != first) {
        _ if of.len() != nodes => Err(format!("{} databases of {nodes} routers", of.len())),
        Some((node, database)) => {
            Err(format!("the database of {node} differs: {:?}", database.symmetric_difference(&first)))
        }
        None => Ok(()),
    }
}

/// Each label that a router has given out leads somewhere, none is taken that belongs to nothing, and as many are in
/// use as protocols say that they have given.
pub fn no_label_is_left(network: &mut Testbed, nodes: usize) -> Result<(), String> {
    let bindings = network.table_json("ldp_bindings", None).map_err(|error| error.to_string())?;
    let (at, labels) = (column(&bindings, "node"), column(&bindings, "label"));
    for node in 0..nodes {
        let router = network.router(node).ok_or("a router")?;
        let name = &network.description().nodes[node].name;
        let rsvp: &Rsvp = router.control().protocol().ok_or("RSVP-TE")?;
        let own = at.iter().zip(&labels).filter(|(at, _)| at.as_str() == Some(name)).map(|(_, label)| label);
        let by_ldp = own.filter_map(|label| Label::new(u32::try_from(label.as_u64()?).ok()?));
        let given: BTreeSet<Label> = by_ldp
            .chain(rsvp.lsps().filter_map(|lsp| lsp.in_label))
            .filter(|label| !label.is_reserved())
            .collect();
        let held: BTreeSet<Label> = router.forwarding().ilm().map(|row| row.label).collect();
        if given != held {
            return Err(format!("{name} has given {given:?}, and its tables take {held:?}"));
        }
        let used: u32 = router.control().services().labels.owners().map(|(_, _, used)| used).sum();
        if used as usize != given.len() {
            return Err(format!("{name} has given {} labels, and {used} are in use", given.len()));
        }
        let (writes, messages) = router.backlog();
        if (writes, messages) != (0, 0) {
            return Err(format!("{name} has {writes} writes and {messages} messages to do"));
        }
    }
    Ok(())
}
