//! What a network file means by what it leaves out, where that is not the same as in a program.
//!
//! A file describes a lab: routers in processes of their own, which may be started again one by one, and hosts with the
//! kernel's stack. A program that says nothing of a field wants nothing of it.

use super::NetworkFile;
use super::problem::FlowProblem;
use super::programme::StepSpec;
use crate::kind::FILE_KINDS;
use crate::programme::Action;
use base::describe::{AtEnds, Describe, DescribeProblem, Name, Value};
use base::diagnostic::Diagnostic;
use base::{Span, Time};
use network::spec::medium::LinkMedium;
use network::spec::reference::Endpoint;

/// Interval of Hellos: by them neighbours notice a router that lost its state.
const HELLO: Span = Span::from_secs(9);
/// Longest packet of a host, in bytes: what the kernel takes an Ethernet for.
const HOST_MTU: u32 = 1_500;
/// So many LSPs an emulated edge signals when it begins, in a second.
const LSPS_PER_S: f64 = 1_000.0;

impl NetworkFile {
    /// Refuses what a lab can't be made of, though a network could: hosts have an address of their own, and stations
    /// those of their links.
    pub(super) fn check_hosts(&self) -> Result<(), Diagnostic> {
        let topology = |error: Diagnostic| {
            if self.network.has_topology { error.at("topology") } else { error }
        };
        for (name, node) in &self.network.nodes {
            if &*node.kind == "host" && node.fields.get("address").is_none() {
                let (field, example) = ("address".to_string(), ", such as 10.1.0.2/24".to_string());
                let missing = Diagnostic::new(DescribeProblem::Missing { field, example });
                return Err(topology(missing.at(&**name).at("nodes")));
            }
        }
        for (index, link) in
            self.network.spec.links.iter().enumerate().filter(|(_, link)| link.addresses.is_none())
        {
            let is_station = |end: &&Endpoint| &*self.network.nodes[end.node.index()].1.kind == "station";
            if let Some(end) = link.endpoints.iter().find(is_station) {
                let station = end.node.name.to_string();
                let missing = Diagnostic::new(FlowProblem::StationAddresses { station });
                return Err(topology(missing.at(index).at("links")));
            }
        }
        Ok(())
    }

    /// Writes it in.
    pub(super) fn fill(&mut self) {
        for flow in &mut self.flows {
            flow.name = Some(Name(flow.name().into()));
        }
        for link in 0..self.network.spec.links.len() {
            self.part_ends(link);
        }
        for index in 0..self.network.nodes.len() {
            let links = self.network.spec.links.iter();
            let mut own = links.filter(|link| link.endpoints.iter().any(|end| end.node.index() == index));
            let of_medium = |LinkMedium(medium): LinkMedium| medium.mtu().min(HOST_MTU);
            let mtu = own.find_map(|link| link.mtu.or(link.medium.map(of_medium)));
            let (name, node) = &mut self.network.nodes[index];
            match &*node.kind {
                "router" => say_hello(&mut node.fields),
                "host" if node.fields.get("mtu").is_none() => {
                    node.fields.set("mtu", mtu.unwrap_or(HOST_MTU).into());
                }
                "edge" => {
                    say_hello(&mut node.fields);
                    if matches!(node.fields.get("programme"), Some(Value::List(steps)) if steps.is_empty()) {
                        let own =
                            self.network.spec.lsps.iter().filter(|lsp| lsp.signal && lsp.from.name == *name);
                        let step = |lsp: &network::spec::lsp::LspSpec| StepSpec {
                            at: Time::ZERO,
                            action: Action::Signal,
                            lsps: lsp.name.clone(),
                            rate: Some(LSPS_PER_S),
                        };
                        let programme: Vec<StepSpec> = own.map(step).collect();
                        node.fields.set("programme", programme.write());
                    }
                }
                _ => {}
            }
        }
    }
}

impl NetworkFile {
    /// What is said for both ends of a link stands at those whose ports are ours.
    fn part_ends(&mut self, index: usize) {
        let ends = self.network.spec.links[index].endpoints.clone();
        let ports = ends.each_ref().map(|end| self.network.ports(end.node.index(), FILE_KINDS));
        let names = |takes: [bool; 2]| {
            let ours = ends.iter().zip(takes).filter(|(_, takes)| *takes);
            ours.map(|(end, _)| end.node.name.clone()).collect::<Vec<Name>>()
        };
        let link = &mut self.network.spec.links[index];
        part(&mut link.queue, names(ports.map(|ports| ports.queue)));
        part(&mut link.ingress, names(ports.map(|ports| ports.ingress)));
    }
}

fn part<T: Clone>(given: &mut Option<AtEnds<T>>, ends: Vec<Name>) {
    if let Some(AtEnds::Both(one)) = given {
        let one = one.clone();
        *given = Some(AtEnds::Each(ends.into_iter().map(|end| (end, one.clone())).collect()));
    }
}

fn say_hello(node: &mut Value) {
    let Some(mut rsvp) = node.get("rsvp").cloned() else { return };
    if rsvp.get("hello").is_none() {
        rsvp.set("hello", HELLO.write());
        node.set("rsvp", rsvp);
    }
}
