//! Which part of a network runs in this process, and by which interfaces it reaches the rest.

use super::Link;
use super::description::Description;
use super::kind::Resolved;
use super::place::{Place, node_name as name};
use super::problem::PlacementProblem;
use base::diagnostic::{At, Diagnostic};
use engine::medium::{Medium, Outside};
use serde::Deserialize;
use std::path::PathBuf;

/// Where a network runs in real time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Placement {
    /// Names of the nodes that are devices of this process. Absent: every node but those outside, which are the
    /// external ones and the hosts that an interface leads to.
    pub local: Option<Vec<String>>,
    /// Interfaces, each at a local node's end of a link.
    pub ports: Vec<PortPlacement>,
    /// Time zero of the run, on the system's monotonic clock in nanoseconds, so that several processes have one time
    /// axis; when the network first runs if absent.
    pub epoch_ns: Option<u64>,
    /// Calendar time at time zero of the run, in nanoseconds since 1970: the sequence numbers of signed messages follow
    /// it, so that they rise when a process is started again (RFC 2747, 3.2). By the system's clocks if absent.
    pub calendar_ns: Option<u64>,
    /// How often this process was started before: control planes draw other random numbers in each life.
    pub incarnation: u64,
    /// Tunnel ids that runs before this one have used between any two nodes: LSPs get others.
    pub tunnels_from: u16,
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
    pub fn whole(description: &Description, nodes: &[Resolved]) -> Result<Placed, Diagnostic> {
        for (index, (spec, node)) in description.nodes.iter().zip(nodes).enumerate() {
            let refused = |problem: PlacementProblem| Err(problem.of_node(description, index));
            if spec.facts().foreign {
                return refused(PlacementProblem::External { called: spec.facts().called.to_string() });
            }
            if spec.facts().elsewhere {
                return refused(PlacementProblem::PlaneElsewhere {});
            }
            if !node.linked {
                return refused(PlacementProblem::NoSuchKind { kind: spec.kind.clone() });
            }
        }
        Ok(Placed { local: vec![true; description.nodes.len()], listed: false, ends: Vec::new() })
    }

    /// The nodes and link ends that a placement names. Paths of errors begin with `placement`.
    pub fn resolve(
        description: &Description,
        nodes: &[Resolved],
        links: &[Link],
        placement: &Placement,
    ) -> Result<Placed, Diagnostic> {
        Placed::resolve_names(description, nodes, links, placement).at("placement")
    }

    fn resolve_names(
        description: &Description,
        nodes: &[Resolved],
        links: &[Link],
        placement: &Placement,
    ) -> Result<Placed, Diagnostic> {
        let ends = placement.ports.iter().map(|port| end_of(description, links, port));
        let ends: Vec<(usize, usize)> = ends.collect::<Result<_, _>>()?;
        let mut sorted = ends.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            let (link, side) = twice[0];
            let node = name(description, links[link].ends()[side]).to_string();
            return Err(PlacementProblem::PortTwice { node, link }.into());
        }
        let local = local_nodes(description, nodes, links, placement, &ends)?;
        let placed = Placed { local, listed: placement.local.is_some(), ends };
        placed.check_links(description, links)?;
        Ok(placed)
    }

    /// A link between a local node and another needs an interface; one between two local nodes has two or none.
    fn check_links(&self, description: &Description, links: &[Link]) -> Result<(), Diagnostic> {
        for (index, link) in links.iter().enumerate() {
            let local = link.ends().map(|node| self.local[node]);
            let attached = [0, 1].map(|side| self.ends.contains(&(index, side)));
            for side in [0, 1] {
                let near = name(description, link.ends()[side]).to_string();
                let far = name(description, link.ends()[1 - side]).to_string();
                if attached[side] && !local[side] {
                    return Err(PlacementProblem::PortElsewhere { node: near, link: index }.into());
                }
                let needs_one = !description.nodes[link.ends()[side]].facts().elsewhere;
                if local[side] && !local[1 - side] && !attached[side] && needs_one {
                    return Err(PlacementProblem::NoPort { near, far, link: index }.into());
                }
                if attached[side] {
                    let ends = [side, 1 - side].map(|side| link.ends()[side]);
                    self.check_medium(description, (index, link.spec.medium), ends)?;
                }
                if local[0] && local[1] && attached[side] && !attached[1 - side] {
                    return Err(PlacementProblem::OnePort { near, far, link: index }.into());
                }
            }
        }
        Ok(())
    }

    /// Refuses media of links that lead out of every process, as all links of a lab do.
    pub fn check_media(description: &Description) -> Result<(), Diagnostic> {
        let nowhere = Placed { local: vec![false; description.nodes.len()], listed: true, ends: Vec::new() };
        for (index, link) in description.links.iter().enumerate() {
            for ends in [[link.a, link.b], [link.b, link.a]] {
                nowhere.check_medium(description, (index, link.medium), ends)?;
            }
        }
        Ok(())
    }
}

impl Placed {
    /// Does an interface carry the medium of its link, and read it who is at the other end?
    fn check_medium(
        &self,
        description: &Description,
        (index, medium): (usize, &Medium),
        [near, far]: [usize; 2],
    ) -> Result<(), Diagnostic> {
        let host = description.nodes[far].facts().host;
        let of_host = host.is_some_and(|host| host.kernel) && !self.local[far];
        let is_kernel = of_host || description.nodes[far].facts().kernel;
        match medium.outside {
            Outside::Nowhere => {
                let node = name(description, near).to_string();
                Err(PlacementProblem::MediumInside { node, medium: medium.name, link: index }.into())
            }
            Outside::Routers if is_kernel => {
                let host = name(description, far).to_string();
                Err(PlacementProblem::MediumOfKernel { host, medium: medium.name, link: index }.into())
            }
            Outside::Routers | Outside::Anywhere => Ok(()),
        }
    }
}

fn end_of(
    description: &Description,
    links: &[Link],
    port: &PortPlacement,
) -> Result<(usize, usize), Diagnostic> {
    let interface = port.interface.clone();
    let Some(link) = links.get(port.link) else {
        let count = links.len();
        return Err(PlacementProblem::PortLink { interface, link: port.link, count }.into());
    };
    match link.ends().iter().position(|&node| name(description, node) == port.node) {
        Some(side) => Ok((port.link, side)),
        None => {
            let node = port.node.clone();
            Err(PlacementProblem::PortNode { interface, node, link: port.link }.into())
        }
    }
}

fn local_nodes(
    description: &Description,
    resolved: &[Resolved],
    links: &[Link],
    placement: &Placement,
    ends: &[(usize, usize)],
) -> Result<Vec<bool>, Diagnostic> {
    let nodes = &description.nodes;
    let mut local = vec![placement.local.is_none(); nodes.len()];
    match &placement.local {
        Some(names) => {
            for given in names {
                let Some(node) = nodes.iter().position(|n| n.name == *given) else {
                    return Err(PlacementProblem::NoNode { node: given.clone() }.into());
                };
                if nodes[node].facts().foreign {
                    return Err(PlacementProblem::ExternalHere { node: given.clone() }.into());
                }
                if !resolved[node].linked {
                    let (node, kind) = (given.clone(), nodes[node].kind.clone());
                    return Err(PlacementProblem::NoKindHere { node, kind }.into());
                }
                local[node] = true;
            }
        }
        None => {
            if let Some(node) = nodes.iter().position(|node| node.facts().elsewhere) {
                return Err(PlacementProblem::PlaneElsewhere {}.of_node(description, node));
            }
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
