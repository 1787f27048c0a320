//! Ways of trees that are to be protected, as a table.

use super::protect::Asked;
use super::shares::{Guarded, Share};
use super::tree::Tree;
use crate::rsvp::Rsvp;
use crate::rsvp::transport::Neighbor;
use base::table::{RowsOf, Table, word};
use base::{Label, PortId};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

base::table! {
    /// The ways of point-to-multipoint LSPs that ask for protection, from each router to each of its next ones (RFC
    /// 4875, 15). There are several rows where several bypass tunnels lead around the next router, to one router behind
    /// it each.
    pub struct ProtectedTreeRow<'a> in "protected_trees"
    key ["node", "root", "p2mp_id", "tunnel_id", "lsp_id", "next_hop", "bypass"] {
        /// The router: the point of local repair.
        node: &'a str,
        /// Name of the tunnel, as its root signals it.
        name: String,
        /// Address of the root.
        root: Ipv4Addr,
        /// P2MP ID: unique at the root.
        p2mp_id: u32,
        /// Tunnel ID, of a root's tunnels with one P2MP ID.
        tunnel_id: u16,
        /// LSP id within the tunnel.
        lsp_id: u16,
        /// The next router, by its address on the link.
        next_hop: Ipv4Addr,
        /// The port to there.
        port: PortId,
        /// Leaves behind it that are reserved; with several bypass tunnels those that this one takes.
        leaves: usize = "leaves",
        /// `unprotected`, `available`, `in-use`, or `reverting` while it is signalled along a link that is back.
        state: String,
        /// The bypass tunnel that is its backup; absent without one.
        bypass: Option<String>,
        /// Does that lead around the next router, and not only around the link to it?
        node_protection: bool,
        /// Has it bandwidth for the tree, as the tree asks for?
        bandwidth_protection: bool,
        /// The label by which the router at its end knows the tree; absent without one.
        merge_label: Option<Label>,
        /// Why there is no backup, or less than the tree asks for; absent if it has all.
        lacks: Option<&'static str>,
    }
}

impl Rsvp {
    /// Why the way of a tree to a neighbour has less protection than the tree asks for.
    fn p2mp_lacks(&self, tree: &Tree, hop: Neighbor) -> Option<&'static str> {
        let chosen = tree.protections.get(&hop).and_then(|guarded| guarded.together().chosen);
        let wish = self.p2mp_wish(tree);
        match chosen {
            Some(chosen) if self.p2mp_seeks_node(tree, hop) && !chosen.node => {
                Some("no bypass tunnels lead around the next router to where all leaves come through")
            }
            Some(chosen) if wish.bandwidth && !chosen.bandwidth => Some("the bypass has no bandwidth for it"),
            Some(_) => None,
            None if self.p2mp_asked(tree) == Asked::Detours => Some("trees have no detours"),
            None if self.p2mp_label(tree, hop).is_none() => Some("the next router gave it several labels"),
            None if self.p2mp_lacks_label(tree, hop) => {
                Some("the recorded label of the next router is not known to be good on its other ports")
            }
            None if self.protections.of_port(hop.port).next().is_some() => {
                Some("no bypass of the port is up that all leaves beyond it could take")
            }
            None if self.config.protection.automatic => Some("there is no other way"),
            None => Some("no bypass protects the port"),
        }
    }
}

impl RowsOf<Rsvp> for ProtectedTreeRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let p2mp = &rsvp.p2mp;
        for tree in p2mp.index.values().filter_map(|&tree| p2mp.trees.get(tree)) {
            if rsvp.p2mp_asked(tree) == Asked::Nothing {
                continue;
            }
            let reserved = p2mp.branches_of(tree).filter(|branch| branch.reserved.is_some());
            let hops: BTreeSet<Neighbor> = reserved.map(|branch| branch.to).collect();
            for hop in hops {
                let unguarded = Guarded::NONE;
                let guarded = tree.protections.get(&hop).unwrap_or(&unguarded);
                let label = rsvp.p2mp_label(tree, hop);
                let leaves: Vec<Ipv4Addr> = rsvp.p2mp_recorded(tree, hop).into_keys().collect();
                let shares: Vec<Option<&Share>> = match guarded.shares.is_empty() {
                    true => vec![None],
                    false => guarded.shares.iter().map(Some).collect(),
                };
                for share in shares {
                    let chosen = share.map(|share| share.chosen);
                    let bypass = chosen.and_then(|chosen| rsvp.tunnels.get(chosen.bypass));
                    let has = |leaf: &&Ipv4Addr| share.is_none_or(|share| share.leaves.has(**leaf));
                    to.push(ProtectedTreeRow {
                        node,
                        name: super::shown::name(tree),
                        root: tree.key.sender.address,
                        p2mp_id: tree.key.session.p2mp_id,
                        tunnel_id: tree.key.session.tunnel_id,
                        lsp_id: tree.key.sender.lsp_id,
                        next_hop: hop.address,
                        port: hop.port,
                        leaves: leaves.iter().filter(has).count(),
                        state: word(&guarded.state),
                        bypass: bypass.map(|tunnel| tunnel.spec.name.clone()),
                        node_protection: chosen.is_some_and(|chosen| chosen.node),
                        bandwidth_protection: chosen.is_some_and(|chosen| chosen.bandwidth),
                        merge_label: chosen.and_then(|chosen| chosen.swap.or(label)),
                        lacks: rsvp.p2mp_lacks(tree, hop),
                    });
                }
            }
        }
    }
}
