//! What must be true of a description before anything is built from it.

use super::addressing;
use super::description::{Description, LspSpec, NodeKind, NodeSpec};
use super::error::{NetworkError, input};
use super::plan;

/// Refuses what can't be built; addresses are looked at when they are given.
pub fn check(description: &Description) -> Result<(), NetworkError> {
    check_nodes(description)?;
    check_links(description)?;
    if description.phases.windows(2).any(|w| w[0] >= w[1]) {
        return input("phases: each must begin after the one before");
    }
    if description.series_bin.0 <= 0 {
        return input("series_bin_ps: a bin is longer than nothing");
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
        let host = node.kind == NodeKind::Host;
        if !host && (node.address.is_some() || node.gateway.is_some()) {
            return input(format!(
                "node '{}': only hosts have an address and a gateway of their own",
                node.name
            ));
        }
        if node.diffserv.is_some() && matches!(node.kind, NodeKind::Host | NodeKind::Peer) {
            return input(format!("node '{}': a host or a raw port has no 'diffserv'", node.name));
        }
        if node.router_id.is_some() && matches!(node.kind, NodeKind::Host | NodeKind::Peer) {
            return input(format!("node '{}': a host or a raw port has no router id", node.name));
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
            if nodes[near].kind == NodeKind::Host && nodes[far].kind != NodeKind::Router {
                let (host, other) = (&nodes[near].name, &nodes[far].name);
                return input(format!(
                    "host '{host}': its link leads to '{other}', which is no router: nobody is its gateway"
                ));
            }
            links_of[near] += 1;
        }
    }
    for (index, (node, links)) in nodes.iter().zip(links_of).enumerate() {
        match node.kind {
            NodeKind::Host if links == 0 => {
                return input(format!("host '{}' has no link: it needs one, to a router", node.name));
            }
            NodeKind::Host => plan::check_host(description, index)?,
            NodeKind::Edge | NodeKind::Peer if links != 1 => {
                return input(format!(
                    "node '{}': an edge or a raw port has one link, not {links}",
                    node.name
                ));
            }
            _ => {}
        }
    }
    Ok(())
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
        && tail.kind == NodeKind::Router
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
