//! What a process that serves a network for a long time needs: LSPs by name, and no more events than it keeps.

use super::Network;
use super::description::{HopSpec, LspSpec, P2mpSpec};
use super::spec::lsp::lowered_route;
use super::spec::{self, reference, resolve_hop, resolve_lsp};
use base::Time;
use base::describe::{Describe, Value};
use base::diagnostic::{At, Diagnostic};
use engine::EventRecord;

impl Network {
    /// A group of LSPs by its name; the first of several.
    pub fn find_lsp(&self, name: &str) -> Option<usize> {
        self.planned_group(name).map(|group| group as usize).filter(|group| *group < self.lsps.len())
    }

    /// A group of LSPs as users write it, for this network.
    pub fn read_lsp(&self, value: &Value) -> Result<LspSpec, Diagnostic> {
        let mut lsp = spec::lsp::LspSpec::read(value)?;
        resolve_lsp(&mut lsp, &self.description.names, &self.description.ends)?;
        Ok(lsp.lowered())
    }

    /// A point-to-multipoint LSP as users write it, for this network.
    pub fn read_p2mp(&self, value: &Value) -> Result<P2mpSpec, Diagnostic> {
        let mut tree = spec::p2mp::P2mpSpec::read(value)?;
        tree.resolve(&self.description.names, &self.description.ends)?;
        Ok(tree.lowered())
    }

    /// Explicit routes as users write them, for this network.
    pub fn read_routes(&self, value: &Value) -> Result<Vec<Vec<HopSpec>>, Diagnostic> {
        let mut routes = Vec::<Vec<reference::HopSpec>>::read(value)?;
        for (index, route) in routes.iter_mut().enumerate() {
            for (place, hop) in route.iter_mut().enumerate() {
                resolve_hop(hop, &self.description.names, &self.description.ends).at(place).at(index)?;
            }
        }
        Ok(routes.iter().map(|route| lowered_route(route)).collect())
    }

    /// What a group of LSPs was asked for last.
    pub fn lsp_spec(&self, group: usize) -> Option<&LspSpec> {
        Some(&self.lsps.get(group)?.spec)
    }

    /// Forgets events and counts of signalling messages from before a time, so that a network that runs for days holds
    /// no more than one that runs for minutes.
    pub fn forget_before(&mut self, time: Time) {
        let fresh = self.world.drain_events();
        self.events.extend(fresh);
        let old = self.events.partition_point(|record| record.at < time);
        self.events.drain(..old);
        let old = self.actions.partition_point(|action| action.at < time);
        self.actions.drain(..old);
        self.marks.forget_before(time);
        for node in self.ids() {
            if let Some(router) = self.nodes[node.index()].router_mut(&mut self.world, node) {
                router.control_mut().forget_messages(time);
            }
        }
    }

    /// Shows what happened since the last call of this (or of [`Network::events`], or since somebody looked at the
    /// table), and forgets all but about the last `keep` events.
    pub fn hear(&mut self, keep: usize, mut fresh: impl FnMut(&EventRecord)) {
        let before = self.events.len();
        self.events().iter().skip(before).for_each(&mut fresh);
        if self.events.len() > keep.saturating_mul(2) {
            self.events.drain(..self.events.len() - keep);
        }
    }
}
