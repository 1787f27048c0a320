//! Which part of a network runs in this process, and by which interfaces it reaches the rest.

use super::Link;
use super::description::Description;
use super::error::{NetworkError, input};
use super::kind::Resolved;
use serde::Deserialize;
use std::path::PathBuf;

/// Where a network runs in real time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Placement {
    /// Names of the nodes that are devices of this process. Absent: every node but those outside, which are the external ones and the
    /// hosts that an interface leads to.
    pub local: Option<Vec<String>>,
    /// Interfaces, each at a local node's end of a link.
    pub ports: Vec<PortPlacement>,
    /// Time zero of the run, on the system's monotonic clock in nanoseconds, so that several processes have one time axis; when the
    /// network first runs if absent.
    pub epoch_ns: Option<u64>,
    /// How often this process was started before: control planes draw other random numbers in each life.
    pub incarnation: u64,
    /// Poll the interfaces without sleeping.
    pub busy: bool,
    /// The processor to run on.
    pub cpu: Option<usize>,
    /// A port that goes down or away ends the run with an error; else it is an event.
    pub fail_on_port_down: bool,
}

/// An interface in the place of the far end of a link.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortPlacement {
    /// The local node.
    pub node: String,
    /// The link, by its place in the description.
    pub link: usize,
    /// Name of the interface.
    pub interface: String,
    /// The network namespace that the interface is in; this process's own if absent.
    #[serde(default)]
    pub netns: Option<PathBuf>,
    /// How frames get in and out.
    #[serde(default)]
    pub driver: DriverKind,
    /// Let frames through that the kernel has not cut into segments or summed up yet.
    #[serde(default)]
    pub offload: bool,
}

/// How an external port moves frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverKind {
    /// AF_PACKET.
    #[default]
    Packet,
    /// AF_XDP.
    Xdp,
}

/// A placement whose names are resolved and which has been checked against its description.
#[derive(Clone, Debug)]
pub struct Placed {
    /// Is each node a device of this process?
    pub local: Vec<bool>,
    /// Did the placement list them? Then another process may have the rest; else hosts that are not here are real.
    pub listed: bool,
    /// For each port of the placement the link and which end of it.
    pub ends: Vec<(usize, usize)>,
}

impl Placed {
    /// Everything is here, in virtual time.
    pub fn whole(description: &Description, nodes: &[Resolved]) -> Result<Placed, NetworkError> {
        for (spec, node) in description.nodes.iter().zip(nodes) {
            if spec.facts().foreign {
                return input(format!(
                    "node '{}' is external: somebody else's router is there in real time only",
                    spec.name
                ));
            }
            if !node.linked {
                return input(format!(
                    "node '{}': this program has no nodes of kind '{}': they run in another process only",
                    spec.name, spec.kind
                ));
            }
        }
        Ok(Placed { local: vec![true; description.nodes.len()], listed: false, ends: Vec::new() })
    }

    /// The nodes and link ends that a placement names.
    pub fn resolve(
        description: &Description,
        nodes: &[Resolved],
        links: &[Link],
        placement: &Placement,
    ) -> Result<Placed, NetworkError> {
        let ends = placement.ports.iter().map(|port| end_of(description, links, port));
        let ends: Vec<(usize, usize)> = ends.collect::<Result<_, _>>()?;
        let mut sorted = ends.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let (link, side) = twice[0];
            let node = name(description, links[link].ends()[side]);
            return input(format!("placement: two interfaces for node '{node}' on link {link}"));
        }
        let local = local_nodes(description, nodes, links, placement, &ends)?;
        let placed = Placed { local, listed: placement.local.is_some(), ends };
        placed.check_links(description, links)?;
        Ok(placed)
    }

    /// A link between a local node and another needs an interface; one between two local nodes has two or none.
    fn check_links(&self, description: &Description, links: &[Link]) -> Result<(), NetworkError> {
        for (index, link) in links.iter().enumerate() {
            let local = link.ends().map(|node| self.local[node]);
            let attached = [0, 1].map(|side| self.ends.contains(&(index, side)));
            for side in [0, 1] {
                let near = name(description, link.ends()[side]);
                let far = name(description, link.ends()[1 - side]);
                if attached[side] && !local[side] {
                    return input(format!(
                        "placement: link {index}: node '{near}' is not local: it has no interface here"
                    ));
                }
                if local[side] && !local[1 - side] && !attached[side] {
                    return input(format!(
                        "placement: link {index} from '{near}' to '{far}': '{far}' is not local, and no interface leads to it"
                    ));
                }
                if local[0] && local[1] && attached[side] && !attached[1 - side] {
                    return input(format!(
                        "placement: link {index} from '{near}' to '{far}': both are local, so that both have an interface or neither"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn name(description: &Description, node: usize) -> &str {
    description.nodes.get(node).map_or("?", |n| n.name.as_str())
}

fn end_of(
    description: &Description,
    links: &[Link],
    port: &PortPlacement,
) -> Result<(usize, usize), NetworkError> {
    let Some(link) = links.get(port.link) else {
        return input(format!(
            "placement: interface '{}': link {} of {}",
            port.interface,
            port.link,
            links.len()
        ));
    };
    match link.ends().iter().position(|&node| name(description, node) == port.node) {
        Some(side) => Ok((port.link, side)),
        None => input(format!(
            "placement: interface '{}': node '{}' is not at link {}",
            port.interface, port.node, port.link
        )),
    }
}

fn local_nodes(
    description: &Description,
    resolved: &[Resolved],
    links: &[Link],
    placement: &Placement,
    ends: &[(usize, usize)],
) -> Result<Vec<bool>, NetworkError> {
    let nodes = &description.nodes;
    let mut local = vec![placement.local.is_none(); nodes.len()];
    match &placement.local {
        Some(names) => {
            for given in names {
                let Some(node) = nodes.iter().position(|n| n.name == *given) else {
                    return input(format!("placement: there is no node '{given}'"));
                };
                if nodes[node].facts().foreign {
                    return input(format!("placement: node '{given}' is external: it can't be local"));
                }
                if !resolved[node].linked {
                    let kind = &nodes[node].kind;
                    return input(format!(
                        "placement: node '{given}': this program has no nodes of kind '{kind}': it can't be local"
                    ));
                }
                local[node] = true;
            }
        }
        None => {
            for (node, spec) in nodes.iter().enumerate() {
                local[node] = !spec.facts().foreign && resolved[node].linked;
            }
            for &(link, side) in ends {
                let far = links[link].ends()[1 - side];
                if nodes[far].facts().host.is_some() && !ends.contains(&(link, 1 - side)) {
                    local[far] = false;
                }
            }
        }
    }
    Ok(local)
}
