//! Bypass tunnels that users declare (RFC 4090, 3.2): what they protect, and that they do not fail together with it.

use super::Network;
use super::description::{HopSpec, LspSpec};
use super::problem::LspProblem;
use base::diagnostic::Diagnostic;
use control::rsvp::Bypass;
use control::rsvp::command::TunnelSpec;

impl Network {
    /// The link that a bypass protects, if the LSP is one and there is such a link.
    pub(super) fn guarded_link(&self, spec: &LspSpec) -> Option<usize> {
        match spec.bypass? {
            HopSpec::Node(node) => self.graph.link_between(spec.from, node),
            HopSpec::Link { link } => self.graph.beyond(link, spec.from).map(|_| link),
        }
    }

    /// Refuses a bypass around what its head end is not connected to. Paths begin at the LSP.
    pub(super) fn check_bypass(&self, spec: &LspSpec) -> Result<(), Diagnostic> {
        let Some(hop) = spec.bypass else { return Ok(()) };
        if self.guarded_link(spec).is_some() {
            return Ok(());
        }
        let to = match hop {
            HopSpec::Node(node) => format!("'{}'", self.node_name(node)),
            HopSpec::Link { link } => format!("the far end of link {link}"),
        };
        let nothing = LspProblem::NothingToBypass { node: self.node_name(spec.from).to_string(), to };
        Err(Diagnostic::new(nothing).at("bypass").on_key())
    }

    /// Refuses an explicit route of a bypass over what it protects from. Paths begin at the LSP.
    pub(super) fn check_risk(&self, spec: &LspSpec, along: &[usize]) -> Result<(), Diagnostic> {
        let Some(guarded) = self.guarded_link(spec) else { return Ok(()) };
        let far = self.far_end(spec, guarded);
        let groups = &self.links[guarded].spec.srlg;
        for &link in along {
            let [a, b] = self.links[link].ends().map(|node| self.node_name(node).to_string());
            let shared = self.links[link].spec.srlg.iter().find(|group| groups.contains(group));
            let through = far.filter(|far| *far != spec.to && self.links[link].ends().contains(far));
            let what = if link == guarded {
                format!("the link from '{a}' to '{b}'")
            } else if let Some(group) = shared {
                format!("the link from '{a}' to '{b}', which is in group '{group}', too")
            } else if let Some(node) = through {
                format!("'{}'", self.node_name(node))
            } else {
                continue;
            };
            return Err(Diagnostic::new(LspProblem::SharesRisk { what }).at("route").on_key());
        }
        Ok(())
    }

    fn far_end(&self, spec: &LspSpec, link: usize) -> Option<usize> {
        self.graph.beyond(link, spec.from)
    }

    /// Makes a tunnel a bypass: it knows the addresses of the router where it ends, and a computed path keeps away from
    /// what it protects from.
    pub(super) fn make_bypass(&self, tunnel: &mut TunnelSpec, spec: &LspSpec, guarded: usize) {
        let side = self.links[guarded].side(spec.from);
        let own = self.links[guarded].addresses[side];
        let far = self.far_end(spec, guarded);
        let node = far.is_some_and(|far| far != spec.to);
        let ends = self.links.iter().filter(|link| link.ends().contains(&spec.to));
        let merge_point = ends.map(|link| link.addresses[link.side(spec.to)]).collect();
        tunnel.bypass = Some(Box::new(Bypass { link: own, merge_point, node }));
        // Traffic takes it by the entries of the LSPs that it protects.
        if tunnel.routes.is_empty() {
            let path = tunnel.path.get_or_insert_default();
            path.exclude.push(own);
            path.exclude.extend(far.filter(|_| node).map(|far| self.loopback(far)));
        }
    }
}
