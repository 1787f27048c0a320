//! Descriptions of networks in few words, for tests: nodes, links and LSPs refer to each other by their places, and
//! quantities are whole numbers of picoseconds, bits per second and bytes, so that a test can compute with them.
//!
//! They become what users write, which is all that the product reads.

use base::describe::Value;
use serde_json::Value as Json;

type Entries = Vec<(String, Value)>;

/// A whole network: `nodes`, `links`, `lsps`, `flows`, and beside them `seed`, `phases_ps`, `convention`,
/// `series_bin_ps`, `loss_bin_ps` and `queue_bin_ps`.
pub fn described(indexed: &Json) -> Value {
    let names = Indexed::of(indexed);
    let mut whole =
        vec![("name".to_string(), Value::from("test")), ("seed".into(), number(indexed, "seed", 0))];
    let mut measuring: Entries = vec![("phases".into(), Value::List(Vec::new()))];
    for (key, value) in entries(indexed) {
        match key.as_str() {
            "seed" => {}
            "nodes" => whole.push((key, Value::Map(elements(value).map(|node| names.node(node)).collect()))),
            "links" => {
                let links = elements(value).enumerate();
                let links = links.map(|(place, link)| names.link(place, link)).collect();
                whole.push((key, Value::List(links)));
            }
            "lsps" => whole.push((key, Value::List(elements(value).map(|lsp| names.lsp(lsp)).collect()))),
            "flows" => whole.push((key, Value::List(elements(value).map(|flow| names.flow(flow)).collect()))),
            "phases_ps" => measuring[0].1 = Value::List(elements(value).map(time).collect()),
            "convention" => measuring.push((key, plain(value))),
            "series_bin_ps" => measuring.push(("series_bin".into(), time(value))),
            "loss_bin_ps" => measuring.push(("loss_bin".into(), time(value))),
            "queue_bin_ps" => whole.push(("queue_bin".into(), time(value))),
            _ => whole.push((key, plain(value))),
        }
    }
    whole.push(("measuring".into(), Value::Map(measuring)));
    Value::Map(whole)
}

/// The names of a network, to write what is added to it.
pub struct Indexed {
    nodes: Vec<String>,
    links: Vec<[usize; 2]>,
    lsps: Vec<String>,
}

impl Indexed {
    /// Those of a description.
    pub fn of(indexed: &Json) -> Indexed {
        let names = |group: &str| {
            let name = |element: &Json| element["name"].as_str().unwrap_or_default().to_string();
            elements(&indexed[group]).map(name).collect()
        };
        let end = |link: &Json, key: &str| link[key].as_u64().unwrap_or_default() as usize;
        let links = elements(&indexed["links"]).map(|link| [end(link, "a"), end(link, "b")]).collect();
        Indexed { nodes: names("nodes"), links, lsps: names("lsps") }
    }

    /// Those of a network that stands: its nodes, the ends of its links, its groups of LSPs.
    pub fn new(nodes: Vec<String>, links: Vec<[usize; 2]>, lsps: Vec<String>) -> Indexed {
        Indexed { nodes, links, lsps }
    }

    /// Takes note of a group of LSPs that was added.
    pub fn add_lsp(&mut self, name: &str) {
        self.lsps.push(name.into());
    }

    fn name(&self, place: &Json) -> Value {
        let known = place.as_u64().and_then(|place| self.nodes.get(place as usize));
        known.map_or_else(|| Value::from(format!("node {place}")), |name| name.as_str().into())
    }

    fn node(&self, node: &Json) -> (String, Value) {
        let mut found = Vec::new();
        for (key, value) in entries(node) {
            match key.as_str() {
                "name" => {}
                "rsvp" => found.push((key, Value::Map(entries(value).flat_map(renamed).collect()))),
                "programme" => {
                    found.push((key, Value::List(elements(value).map(|step| self.step(step)).collect())));
                }
                _ if value.is_null() => {}
                _ => found.push((key, plain(value))),
            }
        }
        (node["name"].as_str().unwrap_or_default().to_string(), Value::Map(found))
    }

    fn step(&self, step: &Json) -> Value {
        let mut found = Vec::new();
        for (key, value) in entries(step) {
            match key.as_str() {
                "lsps" => found.push((key, self.group(value))),
                "rate_per_s" if value.as_f64() == Some(0.0) => {}
                "rate_per_s" => found.push(("rate".into(), plain(value))),
                _ => found.extend(renamed((key, value))),
            }
        }
        Value::Map(found)
    }

    fn group(&self, place: &Json) -> Value {
        let known = place.as_u64().and_then(|place| self.lsps.get(place as usize));
        known.map_or_else(|| Value::from(format!("lsp {place}")), |name| name.as_str().into())
    }

    fn link(&self, place: usize, link: &Json) -> Value {
        let end = |key: &str| match self.name(&link[key]) {
            Value::Text(name) => Value::from(format!("{name}:l{place}")),
            other => other,
        };
        let mut found = vec![("endpoints".to_string(), Value::List(vec![end("a"), end("b")]))];
        let mut clocks = [0.0; 2];
        for (key, value) in entries(link) {
            let key = key.as_str();
            match key {
                "a" | "b" | "mtu_said" => {}
                "mtu" if link.get("mtu_said") != Some(&Json::Bool(true)) && value.as_u64() == Some(9_216) => {
                }
                _ if value.is_null() => {}
                "rate_bps" if value.as_u64() == Some(0) => {
                    found.push(("rate".into(), "none".into()));
                    if link.get("reservable_bps").is_none() {
                        found.push(("reservable".into(), 0u64.into()));
                    }
                }
                "a_clock_ppb" => clocks[0] = value.as_f64().unwrap_or_default() / 1_000.0,
                "b_clock_ppb" => clocks[1] = value.as_f64().unwrap_or_default() / 1_000.0,
                "a_queue" | "b_queue" | "a_ingress" | "b_ingress" => {
                    let (side, key) = key.split_at(1);
                    let Value::Text(node) = self.name(&link[side]) else { continue };
                    let key = &key[1..];
                    match found.iter_mut().find(|entry| entry.0 == key) {
                        Some((_, here)) => here.set(&node, plain(value)),
                        None => found.push((key.into(), Value::Map(vec![(node, plain(value))]))),
                    }
                }
                _ => found.extend(renamed((key.to_string(), value))),
            }
        }
        found.push(("clock_ppm".into(), Value::List(clocks.map(Value::from).to_vec())));
        Value::Map(found)
    }

    /// A group of LSPs.
    pub fn lsp(&self, lsp: &Json) -> Value {
        let mut found = Vec::new();
        for (key, value) in entries(lsp) {
            match key.as_str() {
                "from" | "to" => found.push((key, self.name(value))),
                "routes" => {
                    let Value::List(routes) = self.routes(value) else { continue };
                    assert!(routes.len() <= 2, "a route and a fallback");
                    let keys = ["route", "fallback"].map(String::from);
                    found.extend(keys.into_iter().zip(routes));
                }
                "auto" => found.push(("signal".into(), plain(value))),
                _ => found.extend(renamed((key, value))),
            }
        }
        for (key, value) in [("record_route", Value::from(false)), ("holding_priority", Value::from(7u8))] {
            if lsp.get(key).is_none() {
                found.push((key.into(), value));
            }
        }
        Value::Map(found)
    }

    /// Explicit routes: lists of nodes, and links as `{"link": 3}`.
    pub fn routes(&self, routes: &Json) -> Value {
        let hop = |hop: &Json| if hop.is_object() { plain(hop) } else { self.name(hop) };
        let route = |route: &Json| Value::List(elements(route).map(hop).collect());
        Value::List(elements(routes).map(route).collect())
    }

    /// A flow.
    pub fn flow(&self, flow: &Json) -> Value {
        let mut found = Vec::new();
        for (key, value) in entries(flow) {
            match key.as_str() {
                "from" | "to" => found.push((key, self.name(value))),
                "over" if value.is_null() => {}
                // A trace has no rate.
                "rate_bps" if flow["arrivals"]["kind"] == "trace" => {}
                "over" => found.push((key, self.group(value))),
                "from_link" | "to_link" => {
                    let place = value.as_u64().unwrap_or_default() as usize;
                    let node = self.links.get(place).map(|link| self.name(&link[0].into()));
                    let node = node.and_then(|node| node.as_text().map(String::from)).unwrap_or_default();
                    found.push((key, format!("{node}:l{place}").into()));
                }
                "arrivals" => found.push((key, arrivals(value))),
                _ => found.extend(renamed((key, value))),
            }
        }
        Value::Map(found)
    }
}

fn arrivals(value: &Json) -> Value {
    if !value.is_object() {
        return plain(value);
    }
    let mut found = Vec::new();
    for (key, value) in entries(value) {
        match key.as_str() {
            "gaps_ps" => found.push(("gaps".into(), Value::List(elements(value).map(time).collect()))),
            "on" | "off" => found.push((key, Value::Map(entries(value).flat_map(renamed).collect()))),
            _ => found.push((key, plain(value))),
        }
    }
    Value::Map(found)
}

/// A field by the name that users know, with its unit; nothing for one that is null.
fn renamed((key, value): (String, &Json)) -> Option<(String, Value)> {
    if value.is_null() {
        return None;
    }
    let key = match key.as_str() {
        "integrity_key" => "key",
        "integrity_key_id" => "key_id",
        "integrity_handshake" => "handshake",
        "buffer_bytes" => "buffer",
        other => other,
    };
    Some(if let Some(key) = key.strip_suffix("_ps") {
        (key.into(), time(value))
    } else {
        (key.strip_suffix("_bps").unwrap_or(key).into(), plain(value))
    })
}

fn time(ps: &Json) -> Value {
    if ps.is_number() { format!("{ps} ps").into() } else { plain(ps) }
}

fn number(of: &Json, key: &str, default: u64) -> Value {
    of.get(key).map_or_else(|| default.into(), plain)
}

fn entries(of: &Json) -> impl Iterator<Item = (String, &Json)> {
    of.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), value))
}

fn elements(of: &Json) -> impl Iterator<Item = &Json> {
    of.as_array().into_iter().flatten()
}

/// The same value.
pub fn plain(value: &Json) -> Value {
    serde_json::from_value(value.clone()).unwrap_or_default()
}
