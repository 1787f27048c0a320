//! Point-to-multipoint LSPs as tables.

use super::tree::Tree;
use super::{Multipoint, Peer};
use crate::ldp::Ldp;
use base::plane::NextHop;
use base::table::{RowsOf, Shown, Table};
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
use wire::ldp::P2mp;

base::table! {
    /// Point-to-multipoint LSPs of LDP at each router (RFC 6388).
    pub struct LdpP2mpLspRow<'a> in "ldp_p2mp_lsps" key ["node", "root", "opaque"] {
        /// Router that has this state.
        node: &'a str,
        /// Router id of that router, as its neighbours know it.
        router_id: Ipv4Addr,
        /// Name of the LSP; absent but at the root and at leaves, since it is not signalled.
        name: Option<String>,
        /// Address of the root.
        root: Shown<IpAddr>,
        /// Generic LSP identifier, unique at the root; absent if the opaque value is something else.
        lsp_id: Option<u32>,
        /// The opaque value by which the root tells its LSPs apart, in hexadecimal digits.
        opaque: String,
        /// What the router is to it: `root`, `transit` with one way on, `branch` with several, `leaf`, or `bud`: a leaf
        /// with ways on.
        role: &'static str,
        /// Router id of the upstream LSR, the neighbour that leads to the root; absent at the root, and where no label
        /// was given because no such neighbour is there, or nobody wants packets.
        upstream: Option<Ipv4Addr>,
        /// Label that packets come with.
        in_label: Option<Label>,
        /// What has become of that label: `writing`, `told` or `declined`.
        state: Option<&'static str>,
        /// Labels before it, whose release is awaited.
        withdrawn: usize = "labels",
        /// Neighbours that packets are copied to.
        branches: usize,
    }
}

base::table! {
    /// Labels that neighbours have given for point-to-multipoint LSPs of LDP, whether they are used or not.
    pub struct LdpP2mpLabelRow<'a> in "ldp_p2mp_labels" key ["node", "root", "opaque", "router_id"] {
        /// The router that keeps the label.
        node: &'a str,
        /// Address of the root.
        root: Shown<IpAddr>,
        /// Generic LSP identifier, unique at the root; absent if the opaque value is something else.
        lsp_id: Option<u32>,
        /// The opaque value by which the root tells its LSPs apart, in hexadecimal digits.
        opaque: String,
        /// The router that has given it.
        router_id: Ipv4Addr,
        /// The label.
        label: Label,
        /// The port by which copies leave with it; absent if none do: the router that has given it is the upstream LSR,
        /// or is heard on no link, or no packets come.
        port: Option<PortId>,
        /// The neighbour's address on that port.
        next_hop: Option<Shown<IpAddr>>,
    }
}

/// The way on by which copies leave with a label of a neighbour.
fn way(tree: &Tree, label: Label, peer: &Peer) -> Option<(PortId, IpAddr)> {
    let mut ways = tree.branches.iter().filter(|branch| branch.push.as_slice() == [label]);
    ways.find_map(|branch| match branch.next_hop {
        NextHop::Via { port, gateway: IpAddr::V4(gateway) } => {
            let is_its = peer.is_at(port, gateway) || peer.links.get(&port) == Some(&gateway);
            is_its.then_some((port, IpAddr::V4(gateway)))
        }
        _ => None,
    })
}

impl Multipoint {
    fn role(&self, lsp: &P2mp, tree: &Tree, is_root: bool) -> &'static str {
        let ways = tree.branches.iter().filter(|branch| branch.next_hop != NextHop::Local).count();
        match (is_root || self.roots.contains_key(lsp), tree.is_leaf, ways) {
            (true, ..) => "root",
            (_, true, 0) => "leaf",
            (_, true, _) => "bud",
            (_, _, 0 | 1) => "transit",
            _ => "branch",
        }
    }
}

impl RowsOf<Ldp> for LdpP2mpLspRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        for (lsp, tree) in ldp.multipoint().trees() {
            let is_root = lsp.root == IpAddr::V4(ldp.router_id);
            let own = tree.own.as_ref();
            to.push(LdpP2mpLspRow {
                node,
                router_id: ldp.router_id,
                name: tree.name.clone(),
                root: Shown(lsp.root),
                lsp_id: lsp.lsp_id(),
                opaque: lsp.opaque.to_string(),
                role: ldp.multipoint().role(lsp, tree, is_root),
                upstream: own.map(|own| own.upstream.0),
                in_label: own.map(|own| own.label),
                state: own.map(|own| own.state.word()),
                withdrawn: tree.withdrawn.len(),
                branches: tree.branches.iter().filter(|branch| branch.next_hop != NextHop::Local).count(),
            });
        }
    }
}

impl RowsOf<Ldp> for LdpP2mpLabelRow<'static> {
    fn rows(ldp: &Ldp, node: &str, to: &mut Table) {
        let multipoint = ldp.multipoint();
        for (lsp, tree) in multipoint.trees() {
            for (key, label) in &tree.given {
                let way = multipoint.peers.get(key).and_then(|peer| way(tree, *label, peer));
                to.push(LdpP2mpLabelRow {
                    node,
                    root: Shown(lsp.root),
                    lsp_id: lsp.lsp_id(),
                    opaque: lsp.opaque.to_string(),
                    router_id: key.0,
                    label: *label,
                    port: way.map(|(port, _)| port),
                    next_hop: way.map(|(_, gateway)| Shown(gateway)),
                });
            }
        }
    }
}
