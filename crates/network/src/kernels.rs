//! What a lab sets a router of a kernel up with: what its neighbours expect of it, and routes where nobody finds any.

use super::spec::protocols::Spoken;
use super::{Link, Network};
use base::ProtocolId;
use base::plane::{NextHop, Prefix};
use control::protocol::Agreement;
use core::net::IpAddr;

/// A protocol that the other end of a link speaks, and would speak with the router.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Place of the link.
    pub link: usize,
    /// The protocol.
    pub protocol: ProtocolId,
    /// What it costs the other end to send by the link, where the protocol has costs.
    pub cost: Option<u64>,
    /// What both ends have to be set up with alike.
    pub agreements: Vec<Agreement>,
}

impl Network {
    /// Is a node a router that a lab makes of a kernel?
    pub fn is_of_kernel(&self, node: usize) -> bool {
        self.facts(node).kernel
    }

    /// What routers of ours at the other ends of a node's links expect to meet there, in the order of links. On a
    /// segment the first of them that speaks a protocol speaks for all.
    pub fn expectations(&self, node: usize) -> Vec<Expectation> {
        let mut found: Vec<Expectation> = Vec::new();
        for (index, link) in self.links.iter().enumerate().filter(|(_, link)| link.ends().contains(&node)) {
            let far = link.ends()[1 - link.side(node)];
            let around: Vec<&Link> = match self.facts(far).segment {
                Some(_) => self.links.iter().filter(|other| other.ends().contains(&far)).collect(),
                None => vec![link],
            };
            for ends in around {
                for side in [0, 1].into_iter().filter(|&side| ends.ends()[side] != node) {
                    for one in self.expected_at(ends, side, index) {
                        let known = found.iter().any(|it| it.link == index && it.protocol == one.protocol);
                        found.extend((!known).then_some(one));
                    }
                }
            }
        }
        found
    }

    /// What the router at an end of a link expects there.
    fn expected_at(&self, link: &Link, side: usize, index: usize) -> Vec<Expectation> {
        let (spec, attached) = (&self.description.nodes[link.ends()[side]], self.attached_at(link, side));
        let expected = |spoken: &Spoken| {
            let agreements = spoken.setup.agreements(&attached, link.spec.mtu)?;
            let cost = spoken.setup.cost(&attached, link.spec.metric);
            Some(Expectation { link: index, protocol: spoken.protocol, cost, agreements })
        };
        spec.protocols.spoken().filter_map(expected).collect()
    }

    /// The routes that a router of a kernel needs, as prefix and gateway: by shortest paths to all of the network, or
    /// where it hears of routes those alone that nobody announces. It hears of them from a neighbour that finds routes;
    /// others of its kind find routes if anybody does.
    pub fn kernel_routes(&self, node: usize) -> Vec<(Prefix, IpAddr)> {
        let far = |(link, side): (&Link, usize)| link.ends()[1 - side];
        let anybody = (0..self.description.nodes.len()).any(|node| self.finds_routes(node));
        let is_led = self.ports_of(node).map(far).any(|far| match self.facts(far).segment {
            Some(_) => anybody,
            None => self.finds_routes(far) || (anybody && self.is_of_kernel(far)),
        });
        let routes = match is_led {
            true => self.silent_neighbors(node).collect(),
            false => self.routes_by(node, &self.graph.tree(node)),
        };
        let by_gateway = |(prefix, next_hop)| match next_hop {
            NextHop::Via { gateway, .. } => Some((prefix, gateway)),
            _ => None,
        };
        routes.into_iter().filter_map(by_gateway).collect()
    }
}
