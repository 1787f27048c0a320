//! What the events of a description ask of the routers of a lab, each a process of its own: requests to their control
//! sockets, with their times.

use super::schedule::{Deed, Schedule};
use crate::spec::NetworkFile;
use crate::spec::event::What;
use base::{LinkId, Streams, Time};
use serde_json::{Value, json};

/// What is asked of the nodes of a network up to a time, in order: `{"at_ps", "nodes", "request", "argument"}` each.
/// Times are those of the network; flows are the tester's own.
pub fn agenda(file: &NetworkFile, until: Time) -> Vec<Value> {
    let mut schedule = Schedule::of(&file.events, Streams::new(file.network.spec.seed), Time::ZERO);
    let mut asked = Vec::new();
    while let Some(deed) = schedule.pop(until) {
        asked.extend(requests(file, &deed));
    }
    asked
}

fn requests(file: &NetworkFile, deed: &Deed) -> Vec<Value> {
    let at_ps = deed.at.0;
    let spec = &file.network.spec;
    let name = |node: usize| file.network.nodes.get(node).map_or("?", |node| &*node.0);
    let link = |place: usize| {
        let ends = spec.links.get(place).map(|link| link.endpoints.each_ref());
        ends.map_or(Vec::new(), |ends| ends.iter().map(|end| end.node.name.to_string()).collect())
    };
    // Routers count links as the description does.
    if let Some(kind) = deed.fault(|place| LinkId(place as u32)) {
        let nodes = match &deed.what {
            What::HealAll => file.network.nodes.iter().map(|node| node.0.to_string()).collect(),
            what => match (what.link(), what.node()) {
                (Some(place), _) => link(place),
                (_, Some(node)) => {
                    // The links of a node that goes down go with it: whoever is at their other ends is told, too.
                    let links = (0..spec.links.len()).map(link).filter(|ends| {
                        !matches!(what, What::Restart(_)) && ends.iter().any(|end| end == name(node))
                    });
                    let mut told = vec![name(node).to_string()];
                    links.flatten().for_each(|end| {
                        if !told.contains(&end) {
                            told.push(end)
                        }
                    });
                    told
                }
                _ => Vec::new(),
            },
        };
        let mut argument = serde_json::to_value(kind).unwrap_or_default();
        argument["end"] = json!(!deed.begins);
        argument["mark"] = json!(deed.mark);
        return vec![json!({"at_ps": at_ps, "nodes": nodes, "request": "fault", "argument": argument})];
    }
    let order = |lsp: &str, what: &str| {
        let head =
            spec.lsps.iter().find(|known| &*known.name == lsp).map(|known| known.from.name.to_string());
        let argument = json!({"lsp": lsp, "do": what});
        head.map(|head| json!({"at_ps": at_ps, "nodes": [head], "request": "command", "argument": argument}))
    };
    let orders = match (&deed.what, deed.begins) {
        (What::Flap(lsp), true) if deed.until.is_none() => vec![order(lsp, "tear"), order(lsp, "signal")],
        (What::Flap(lsp) | What::Tear(lsp), true) | (What::Signal(lsp), false) => vec![order(lsp, "tear")],
        (What::Flap(lsp) | What::Tear(lsp), false) | (What::Signal(lsp), true) => vec![order(lsp, "signal")],
        _ => Vec::new(),
    };
    orders.into_iter().flatten().collect()
}
