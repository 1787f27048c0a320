//! What must be true of a description before anything is built from it.

use super::addressing;
use super::description::{Description, LspSpec, NodeSpec};
use super::error::{NetworkError, input};
use super::plan;

/// Refuses what can't be built; addresses are looked at when they are given.
pub fn check(description: &Description) -> Result<(), NetworkError> {
    check_nodes(description)?;
    check_links(description)?;
    if let Some(key) = description.others.keys().next() {
        return input(format!("unknown field `{key}`: nobody here knows what it says"));
    }
    Ok(())
}

fn check_nodes(description: &Description) -> Result<(), NetworkError> {
    let nodes = &description.nodes;
    if nodes.len() > addressing::NODES_MAX {
        return input(format!("{} nodes: at most {}", nodes.len(), addressing::NODES_MAX));
    }
    let mut names: Vec<&str> = nodes.iter().map(|n| n.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
        return input(format!("node '{}': two nodes have that name", twice[0]));
    }
    for node in nodes {
        let (name, facts) = (&node.name, node.facts());
        if node.diffserv.is_some() && !facts.router {
            return input(format!("node '{name}': {} has no 'diffserv'", facts.called));
        }
        if node.router_id.is_some() && !facts.router {
            return input(format!("node '{name}': {} has no router id", facts.called));
        }
    }
    Ok(())
}

fn check_links(description: &Description) -> Result<(), NetworkError> {
    let nodes = &description.nodes;
    let mut links_of = vec![0; nodes.len()];
    for (index, link) in description.links.iter().enumerate() {
        if link.a >= nodes.len() || link.b >= nodes.len() {
            let bad = link.a.max(link.b);
            return input(format!("link {index}: node {bad} of {}", nodes.len()));
        }
        if link.a == link.b {
            return input(format!("link {index}: both ends are at node '{}'", nodes[link.a].name));
        }
        if link.delay.0 < 0 || link.detection.0 < 0 {
            return input(format!("link {index}: a delay can't be negative"));
        }
        if !(68..=65_535).contains(&link.mtu) {
            return input(format!("link {index}: mtu={}: 68 to 65535 bytes", link.mtu));
        }
        for (near, far) in [(link.a, link.b), (link.b, link.a)] {
            let gateway = nodes[far].facts().is_own_transit();
            if nodes[near].facts().host.is_some() && !gateway {
                let (host, other) = (&nodes[near].name, &nodes[far].name);
                return input(format!(
                    "host '{host}': its link leads to '{other}', which is no router: nobody is its gateway"
                ));
            }
            links_of[near] += 1;
        }
    }
    for (index, (node, links)) in nodes.iter().zip(links_of).enumerate() {
        let (name, facts) = (&node.name, node.facts());
        let (least, most) = (facts.links_min, facts.links_max);
        match (facts.host, most) {
            (Some(_), _) if links < least => {
                return input(format!("host '{name}' has no link: it needs one, to a router"));
            }
            (_, Some(most)) if most == least && links != most => {
                return input(format!("node '{name}': {} has {}, not {links}", facts.called, words(most)));
            }
            (_, Some(most)) if links > most => {
                return input(format!(
                    "node '{name}': {} has {} at most, not {links}",
                    facts.called,
                    words(most)
                ));
            }
            _ if links < least => {
                return input(format!(
                    "node '{name}': {} has {} at least, not {links}",
                    facts.called,
                    words(least)
                ));
            }
            (Some(_), _) => plan::check_host(description, index)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// So many links.
fn words(links: usize) -> String {
    if links == 1 { "one link".into() } else { format!("{links} links") }
}

/// Refuses what an LSP can't carry.
pub fn check_carried(spec: &LspSpec) -> Result<(), NetworkError> {
    if spec.classes.is_some_and(|classes| classes.is_empty()) {
        return input(format!("lsp '{}': 'classes' is empty: no packet would take it", spec.name));
    }
    if spec.classes.is_some() && spec.carries.is_empty() {
        return input(format!(
            "lsp '{}': 'classes' says of which behaviours what 'carries' names is",
            spec.name
        ));
    }
    if spec.count != 1 && !(spec.carries.is_empty() && spec.filters.is_empty()) {
        return input(format!(
            "lsp '{}': a group of {} LSPs carries its test packets only: 'carries' and 'filters' are for one LSP",
            spec.name, spec.count
        ));
    }
    for (index, filter) in spec.filters.iter().enumerate() {
        if let Err(error) = filter.check() {
            return input(format!("lsp '{}': filter {}: {error}", spec.name, index + 1));
        }
    }
    Ok(())
}

/// Refuses an LSP that says something of behaviours and begins, or should end, where nobody knows of them.
pub fn check_diffserv(spec: &LspSpec, [head, tail]: [&NodeSpec; 2]) -> Result<(), NetworkError> {
    if spec.diffserv.and_then(|diffserv| diffserv.model()).is_some()
        && tail.facts().is_own_transit()
        && tail.diffserv.is_none()
    {
        return input(format!(
            "lsp '{}': it has a tunnelling model, and node '{}', where it ends, has no 'diffserv'",
            spec.name, tail.name
        ));
    }
    match (&spec.diffserv, &head.diffserv) {
        (Some(_), None) => input(format!(
            "lsp '{}': node '{}' has no 'diffserv', so its LSPs can't say anything of behaviours",
            spec.name, head.name
        )),
        (Some(wanted), Some(known)) => {
            let wanted = wanted.encaps(known.tc_map).phbs();
            let missing: Vec<String> =
                wanted.iter().filter(|p| !known.supported().contains(*p)).map(|p| p.to_string()).collect();
            if missing.is_empty() {
                return Ok(());
            }
            input(format!(
                "lsp '{}': node '{}' does not support {} ('supported' of its 'diffserv')",
                spec.name,
                head.name,
                missing.join(", ")
            ))
        }
        (None, _) => Ok(()),
    }
}
