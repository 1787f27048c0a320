//! What is surprising about the queues, conditioners, LSPs and flows of a network that can be built, with the place of each.

use super::description::{LspSpec, NodeSpec};
use super::flow_spec::FlowSpec;
use super::queues::SIDES;
use super::{Network, flow_ports};
use base::plane::Encaps;
use base::{Dscp, Phb, PhbSet};
use engine::discipline::{Facts, warnings_at};
use node::conditioner;

/// Links take longer packets than usual by default, and hardly anybody sends them: what only those would meet is not worth a warning.
const USUAL_MTU: u32 = 1500;

impl Network {
    /// A sentence for each, in the order of links, of LSPs and of flows: rates that add up to more than there is, filters that take nothing, thresholds and
    /// bursts that are not what they look like, behaviours that an LSP takes and has no place for, flows that nothing can tell apart. They stand
    /// behind the link, the node and the place in its tree, the LSP, or the flows.
    pub fn warnings(&self) -> Vec<String> {
        let mut said = Vec::new();
        for (index, link) in self.links.iter().enumerate() {
            for side in SIDES {
                let name = self.node_name(link.ends()[side]);
                let at = |what: &str| format!("{}: {what} at '{name}'", self.link_words(index));
                if let Some(tree) = link.spec.queue(side) {
                    let facts = Facts { rate: link.spec.rate, mtu: link.spec.mtu.min(USUAL_MTU) };
                    let lead = at("queue");
                    said.extend(warnings_at(tree, &facts).into_iter().map(|text| format!("{lead}: {text}")));
                }
                if let Some(spec) = link.spec.ingress(side) {
                    said.extend(conditioner::warnings(spec, &at("ingress")));
                }
            }
        }
        let lsps = self.lsps.iter().map(|group| &group.spec);
        for spec in lsps {
            said.extend(no_place(spec, &self.description.nodes[spec.from]));
            said.extend(self.refusals(spec));
        }
        for flow in &self.flows {
            let group = flow.spec.over.and_then(|group| self.lsps.get(group));
            said.extend(group.and_then(|group| {
                no_place_for(&flow.spec, &group.spec, &self.description.nodes[group.spec.from])
            }));
        }
        said.extend(flow_ports::alike(&self.flows));
        said
    }
}

/// What the EXP bits of an LSP mean where it begins, if it has no place for packets of some behaviours (RFC 3270, 3.5 and 4.5); and the
/// words for it.
fn narrow(spec: &LspSpec, head: &NodeSpec) -> Option<(Encaps, String)> {
    let preconfigured = head.diffserv.as_ref()?.exp_map;
    let encaps = spec.diffserv.map_or(Encaps::ELsp(preconfigured), |lsp| lsp.encaps(preconfigured));
    let kind = match encaps {
        // What it has no EXP bits for goes as default forwarding.
        Encaps::ELsp(map) if map.exp(Phb::DEFAULT).is_some() => return None,
        Encaps::ELsp(_) => "E-LSP",
        Encaps::LLsp(_) => "L-LSP",
    };
    let words =
        format!("lsp '{}': the {kind} has a place for {} only", spec.name, names(encaps.behaviours()));
    Some((encaps, words))
}

fn names(set: PhbSet) -> String {
    set.iter().map(|phb| phb.to_string()).collect::<Vec<_>>().join(", ")
}

/// Packets that an LSP takes and then drops.
fn no_place(spec: &LspSpec, head: &NodeSpec) -> Option<String> {
    let (encaps, words) = narrow(spec, head)?;
    let lost =
        |taken: PhbSet| taken.iter().filter(|phb| !encaps.behaviours().contains(*phb)).collect::<PhbSet>();
    match spec.classes.map(lost) {
        Some(lost) if !lost.is_empty() => {
            Some(format!("{words}: packets of {} of its 'classes' are dropped", names(lost)))
        }
        None if !spec.carries.is_empty() => Some(format!(
            "{words}, and takes all packets to what it carries: say in 'classes' which, or others are dropped"
        )),
        _ => None,
    }
}

/// A flow over an LSP that drops all its packets.
fn no_place_for(flow: &FlowSpec, spec: &LspSpec, head: &NodeSpec) -> Option<String> {
    let (encaps, words) = narrow(spec, head)?;
    let phb = head.diffserv.as_ref()?.dscp.phb(Dscp::new(flow.dscp)?);
    (!encaps.behaviours().contains(phb)).then(|| {
        let name =
            if flow.name.is_empty() { "a flow over it".into() } else { format!("flow '{}'", flow.name) };
        format!("{words}: packets of {name}, which are {phb}, are dropped")
    })
}
