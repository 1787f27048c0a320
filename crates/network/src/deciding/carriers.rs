//! What leads packets to the next hop of a route, where that is an address beyond other routes: an LSP, the route into
//! a tunnel, or another route.

use super::words::weaker;
use crate::Network;
use base::plane::{IpPrefix, NextHop};
use control::rsvp::Rsvp;
use control::services::{Binder, Bindings, Carrier, Rib, RoutePrefix, Source};
use core::fmt::Display;
use forwarding::explain::Rule;

impl Network {
    /// What leads to the next hop of a route, in words.
    pub(super) fn through(&self, node: usize, rule: &Rule) -> Option<String> {
        let services = self.router(node)?.control().services();
        let mut found = match *rule {
            Rule::Route(IpPrefix::V4(prefix)) => {
                self.leading(node, &services.rib, &services.bindings, prefix)
            }
            Rule::Route(IpPrefix::V6(prefix)) => {
                self.leading(node, &services.rib6, &services.bindings, prefix)
            }
            _ => Vec::new(),
        };
        found.dedup();
        (!found.is_empty()).then(|| found.join(", "))
    }

    /// What would lead there otherwise, the next best first, a line for each.
    pub(super) fn weaker_carriers(&self, node: usize, rule: &Rule) -> Vec<String> {
        let Some(router) = self.router(node) else { return Vec::new() };
        let services = router.control().services();
        match *rule {
            Rule::Route(IpPrefix::V4(prefix)) => self.others(node, &services.rib, &services.bindings, prefix),
            Rule::Route(IpPrefix::V6(prefix)) => {
                self.others(node, &services.rib6, &services.bindings, prefix)
            }
            _ => Vec::new(),
        }
    }

    fn leading<P: RoutePrefix>(
        &self,
        node: usize,
        rib: &Rib<P>,
        bindings: &Bindings,
        prefix: P,
    ) -> Vec<String> {
        let name = |carrier: &Carrier<P>| match *carrier {
            Carrier::Lsp(host) => bindings.binder(host.into()).map(|binder| self.binder_name(node, binder)),
            Carrier::Route { source, next_hop, .. } => Some(self.source_name(node, source, next_hop)),
        };
        rib.carriers(prefix, bindings).iter().filter_map(name).collect()
    }

    fn others<P: RoutePrefix + Display>(
        &self,
        node: usize,
        rib: &Rib<P>,
        bindings: &Bindings,
        prefix: P,
    ) -> Vec<String> {
        let mut lines = Vec::new();
        for carrier in rib.carriers(prefix, bindings) {
            match carrier {
                Carrier::Lsp(host) => {
                    let waiting = bindings.binders(host.into()).skip(1);
                    lines.extend(
                        waiting.map(|binder| format!("ftn {host} ({})", self.binder_name(node, binder))),
                    );
                    lines.extend(rib.lookup(host.first()).and_then(|(found, _)| route(rib, found)));
                }
                Carrier::Route { prefix, .. } => lines.extend(weaker(rib, prefix)),
            }
        }
        lines.dedup();
        lines
    }

    /// Whose an LSP is: a tunnel's by its name.
    pub(super) fn binder_name(&self, node: usize, binder: Binder) -> String {
        let rsvp = self.protocol::<Rsvp>(node).filter(|_| binder.owner == Rsvp::ID);
        let named = rsvp.and_then(|rsvp| rsvp.named_by_sequence(binder.rank));
        named.map_or_else(|| binder.owner.name().to_string(), |name| format!("lsp {name}"))
    }

    /// Whose a route is: one into a tunnel by the tunnel's name.
    pub(super) fn source_name(&self, node: usize, source: Source, next_hop: NextHop) -> String {
        let named = match next_hop {
            NextHop::Group(group) if source == Source::Protocol(Rsvp::ID) => {
                self.protocol::<Rsvp>(node).and_then(|rsvp| rsvp.named_by_group(group))
            }
            _ => None,
        };
        named.map_or_else(|| source.word().to_string(), |name| format!("lsp {name}"))
    }
}

/// The route to a prefix, in a line.
fn route<P: RoutePrefix + Display>(rib: &Rib<P>, prefix: P) -> Option<String> {
    let best = rib.best(prefix)?;
    Some(format!("rib {prefix} ({}): preference {}", best.source.word(), best.preference))
}
