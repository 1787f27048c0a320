//! What is surprising about flows, and about queues in sight of them, with the place of each.

use super::flow_spec::{Family, FlowSpec};
use super::place::OfFlow;
use super::{Testbed, flow_ports};
use crate::problem::TrafficAdvice;
use base::Dscp;
use base::diagnostic::Diagnostic;
use engine::discipline::Longest;
use network::advice::{Narrow, USUAL_MTU, narrow};
use network::{Link, LspSpec, NodeSpec};

const ETHERNET_AND_FCS: u32 = 18;

impl Testbed {
    /// What is surprising about the network, then about its flows: flows whose packets are all dropped, and flows that
    /// nothing can tell apart.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut said: Vec<Diagnostic> = self.network.unlinked().into_iter().collect();
        said.extend(self.network.link_warnings(&|link| self.longest(link)));
        said.extend(self.network.lsp_warnings());
        said.extend(self.network.meeting_warnings());
        for (index, flow) in self.flows.iter().enumerate() {
            let group = flow.spec.over.and_then(|group| self.network.lsps().get(group));
            said.extend(group.and_then(|group| {
                let dropped =
                    no_place_for(&flow.spec, &group.spec, &self.description().nodes[group.spec.from])?;
                Some(dropped.at("over").on_key().of_flow(index, &flow.spec))
            }));
        }
        said.extend(self.without_way());
        said.extend(self.harmed());
        said.extend(flow_ports::alike(&self.flows));
        said
    }

    /// Flows to where no link leads: said once, at the first of them.
    fn without_way(&self) -> Option<Diagnostic> {
        let parts = self.graph().parts();
        let is_lost = |spec: &FlowSpec| {
            // Packets of IPv6 may be carried over links without it.
            spec.over.is_none() && spec.from != spec.to && !parts.joined(spec.from, spec.to)
        };
        let mut lost = self.flows.iter().enumerate().filter(|(_, flow)| is_lost(&flow.spec));
        let (index, flow) = lost.next()?;
        let more = match lost.count() {
            0 => String::new(),
            more => format!(", and so are those of {more} more"),
        };
        let [from, to] = [flow.spec.from, flow.spec.to].map(|node| self.node_name(node).to_string());
        let found: Diagnostic = TrafficAdvice::NoWay { from, to, more }.into();
        Some(found.at("to").on_key().of_flow(index, &flow.spec))
    }

    /// The longest packet to be expected on a link: as long as on an Ethernet, or as a flow has it.
    fn longest(&self, link: &Link) -> Longest {
        // By a host's link come the host's packets only.
        let host = link.ends().into_iter().find(|end| self.facts(*end).host.is_some());
        let comes = |flow: &&FlowSpec| host.is_none_or(|host| [flow.from, flow.to].contains(&host));
        let size = |flow: &FlowSpec| flow.size_range().map_or(0, |(_, most)| most);
        let flows = self.flows.iter().map(|flow| &flow.spec).filter(comes);
        let Some(flow) = flows.max_by_key(|flow| size(flow)) else { return Longest::default() };
        let labels = u32::from(flow.over.is_some()) * (1 + u32::from(flow.family == Family::Ipv6));
        let bytes = size(flow).saturating_sub(ETHERNET_AND_FCS).min(link.spec.mtu);
        if bytes <= USUAL_MTU {
            return Longest::default();
        }
        let whose = match flow.name.as_str() {
            "" => "a flow".into(),
            name => format!("flow '{name}'"),
        };
        Longest { bytes, labels, whose: Some(whose), ..Longest::default() }
    }
}

/// A flow over an LSP that drops all its packets.
fn no_place_for(flow: &FlowSpec, spec: &LspSpec, head: &NodeSpec) -> Option<Diagnostic> {
    let Narrow { encaps, kind, phbs } = narrow(spec, head)?;
    let phb = head.diffserv.as_ref()?.dscp.phb(Dscp::new(flow.dscp)?);
    (!encaps.phbs().contains(phb)).then(|| {
        let lsp = spec.name.clone();
        TrafficAdvice::FlowDropped { lsp, kind, phbs, phb: phb.to_string() }.into()
    })
}
