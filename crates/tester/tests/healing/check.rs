//! What must be so after everything is healed: what routers know and do is what it would be without any fault.

use crate::common::column;
use base::Label;
use control::bgp::Bgp;
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
    // Of both families, with labels and without: the prefix tells the family, and the labels whether there are any.
    (
        "bgp_routes",
        &[
            "node",
            "prefix",
            "from",
            "is_best",
            "is_reached",
            "next_hop",
            "as_path",
            "med",
            "label",
            "local_label",
        ],
    ),
];

/// Columns with labels: what counts is whether there is one, and which of those that mean something themselves.
const LABELS: [&str; 2] = ["label", "local_label"];

fn fact(column: &str, value: &Value) -> String {
    let label = value.as_u64().filter(|_| LABELS.contains(&column)).and_then(|one| Label::new(one as u32));
    match label {
        Some(label) if !label.is_reserved() => "a label".into(),
        _ => value.to_string(),
    }
}

impl Facts {
    pub fn of(network: &mut Testbed) -> Result<Facts, String> {
        let mut facts = BTreeMap::new();
        for (name, columns) in SAME {
            let table = network.table_json(name, None).map_err(|error| error.to_string())?;
            let columns: Vec<Vec<String>> = columns
                .iter()
                .map(|name| column(&table, name).iter().map(|value| fact(name, value)).collect())
                .collect();
            let rows = columns.first().map_or(0, Vec::len);
            let row = |row: usize| columns.iter().map(|column| &*column[row]).collect::<Vec<_>>().join(" ");
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

/// Labels of a table, by the names of the routers that have given them out.
fn given_by(network: &mut Testbed, table: &str, column: &str) -> Result<Vec<(Value, Label)>, String> {
    let table = network.table_json(table, None).map_err(|error| error.to_string())?;
    let rows = self::column(&table, "node").into_iter().zip(self::column(&table, column));
    let read =
        |(node, label): (Value, Value)| Some((node, Label::new(u32::try_from(label.as_u64()?).ok()?)?));
    Ok(rows.filter_map(read).filter(|(_, label)| !label.is_reserved()).collect())
}

/// Each label that a router has given out leads somewhere, none is taken that belongs to nothing, and as many are in
/// use as protocols say that they have given. Says how many of them are of BGP.
pub fn no_label_is_left(network: &mut Testbed, routers: usize) -> Result<u64, String> {
    let of_ldp = given_by(network, "ldp_bindings", "label")?;
    let of_bgp = given_by(network, "bgp_routes", "local_label")?;
    let mut labels_of_bgp = 0;
    for node in 0..routers {
        let router = network.router(node).ok_or("a router")?;
        let name = &network.description().nodes[node].name;
        let own = |all: &[(Value, Label)]| -> BTreeSet<Label> {
            all.iter().filter(|(at, _)| at.as_str() == Some(name)).map(|(_, label)| *label).collect()
        };
        let by_bgp = own(&of_bgp);
        // Those outside have no RSVP-TE.
        let rsvp: Option<&Rsvp> = router.control().protocol();
        let by_rsvp = rsvp.into_iter().flat_map(Rsvp::lsps).filter_map(|lsp| lsp.in_label);
        let mut given = own(&of_ldp);
        given.extend(by_rsvp.filter(|label| !label.is_reserved()));
        given.extend(&by_bgp);
        let held: BTreeSet<Label> = router.forwarding().ilm().map(|row| row.label).collect();
        if given != held {
            return Err(format!("{name} has given {given:?}, and its tables take {held:?}"));
        }
        let owners = || router.control().services().labels.owners();
        let of_bgp: u32 = owners().filter(|(_, owner, _)| *owner == Bgp::ID).map(|(_, _, used)| used).sum();
        if of_bgp as usize != by_bgp.len() {
            return Err(format!("BGP of {name} tells {by_bgp:?}, and has {of_bgp} labels"));
        }
        labels_of_bgp += u64::from(of_bgp);
        let used: u32 = owners().map(|(_, _, used)| used).sum();
        if used as usize != given.len() {
            return Err(format!("{name} has given {} labels, and {used} are in use", given.len()));
        }
        let (writes, messages) = router.backlog();
        if (writes, messages) != (0, 0) {
            return Err(format!("{name} has {writes} writes and {messages} messages to do"));
        }
    }
    Ok(labels_of_bgp)
}
