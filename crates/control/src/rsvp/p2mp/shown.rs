//! Point-to-multipoint LSPs as tables.

use super::P2mp;
use super::states::{FeedState, LeafState};
use super::tree::{Sub, Tree};
use crate::rsvp::Rsvp;
use crate::rsvp::record_route;
use base::table::{RowsOf, Table};
use base::{Label, PortId, Rate};
use core::net::Ipv4Addr;

base::table! {
    /// Point-to-multipoint LSPs at each router (RFC 4875).
    pub struct P2mpLspRow<'a> in "p2mp_lsps" key ["node", "root", "p2mp_id", "tunnel_id", "lsp_id"] {
        /// Router that has this state.
        node: &'a str,
        /// Name of the tunnel, as its root signals it.
        name: String,
        /// Address of the root.
        root: Ipv4Addr,
        /// P2MP ID: unique at the root.
        p2mp_id: u32,
        /// Tunnel ID, of a root's tunnels with one P2MP ID.
        tunnel_id: u16,
        /// LSP id within the tunnel; absent at the root while no leaf is signalled.
        lsp_id: Option<u16>,
        /// What the router is to it: `root`, `transit` with one way on, `branch` with several, `leaf`, or `bud`: a leaf
        /// with ways on.
        role: &'static str,
        /// Leaves behind the router, itself included.
        leaves: usize = "leaves",
        /// Of them, those that are reserved.
        reserved: usize = "leaves",
        /// Sub-groups that path state came in (RFC 4875, 4.3).
        sub_groups: usize,
        /// Neighbours that packets are copied to.
        branches: usize,
        /// Label that packets come with; absent at the root, and as long as there is none.
        in_label: Option<Label>,
        /// Previous hops whose packets are dropped, because another one brings them, too (RFC 4875, 18).
        dropped: usize,
        /// Bandwidth that each link of the tree is asked for.
        bandwidth: Rate = "bit/s",
    }
}

base::table! {
    /// Leaves of point-to-multipoint LSPs at each router: their S2L sub-LSPs (RFC 4875, 4.4).
    pub struct S2lRow<'a> in "s2ls" key ["node", "root", "p2mp_id", "tunnel_id", "lsp_id", "leaf", "previous_hop"] {
        /// Router that has this state.
        node: &'a str,
        /// Name of the tunnel, as its root signals it.
        name: String,
        /// Address of the root.
        root: Ipv4Addr,
        /// P2MP ID: unique at the root.
        p2mp_id: u32,
        /// Tunnel ID, of a root's tunnels with one P2MP ID.
        tunnel_id: u16,
        /// LSP id within the tunnel; absent at the root while no leaf is signalled.
        lsp_id: Option<u16>,
        /// Address of the leaf.
        leaf: Ipv4Addr,
        /// At the root `down`, `signalling` or `up`; elsewhere `waiting` or `reserved`. At the root an LSP that is made
        /// to replace another, or was replaced, has `reserved` instead of `up`: no packets take it.
        state: &'static str,
        /// Where its Path came from; absent at the root.
        previous_hop: Option<Ipv4Addr>,
        /// Where its Path goes; absent at the leaf itself.
        next_hop: Option<Ipv4Addr>,
        /// The port to there.
        port: Option<PortId>,
        /// Label that the next hop gave; absent as long as there is none.
        out_label: Option<Label>,
        /// Router that named the sub-group in which its Path goes on, or came where it ends (RFC 4875, 4.3).
        originator: Option<Ipv4Addr>,
        /// Number of that sub-group.
        sub_group: Option<u16>,
        /// Addresses recorded on the way to the leaf; absent if they are not recorded.
        route: Option<String>,
        /// At the root: what was wrong with the last attempt, while the leaf is not reached.
        problem: Option<String>,
    }
}

pub(super) fn name(tree: &Tree) -> String {
    let said = tree.attributes.session_attribute.as_ref();
    said.map_or_else(String::new, |said| String::from_utf8_lossy(&said.name).into_owned())
}

impl RowsOf<Rsvp> for P2mpLspRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let p2mp = &rsvp.p2mp;
        for (key, tree) in p2mp.index.iter().filter_map(|(key, tree)| Some((key, p2mp.trees.get(*tree)?))) {
            let subs = || p2mp.subs_of(tree);
            let reserved = subs().map(|sub| rsvp.p2mp_reserved(sub).len()).sum();
            let branches = p2mp.branches_of(tree);
            let ways: std::collections::BTreeSet<_> =
                branches.filter(|branch| branch.reserved.is_some()).map(|branch| branch.to).collect();
            let role = match (tree.root.is_some(), tree.is_leaf, ways.len()) {
                (true, ..) => "root",
                (_, true, 0) => "leaf",
                (_, true, _) => "bud",
                (_, _, 0 | 1) => "transit",
                _ => "branch",
            };
            let fed = tree.feeds.values().filter(|feed| feed.state == FeedState::InForce);
            to.push(P2mpLspRow {
                node,
                name: name(tree),
                root: key.sender.address,
                p2mp_id: key.session.p2mp_id,
                tunnel_id: key.session.tunnel_id,
                lsp_id: Some(key.sender.lsp_id),
                role,
                leaves: subs().map(|sub| sub.leaves.len()).sum(),
                reserved,
                sub_groups: tree.subs.len(),
                branches: ways.len(),
                in_label: fed.filter(|feed| !feed.is_dropped).find_map(|feed| feed.label),
                dropped: tree.feeds.values().filter(|feed| feed.is_dropped).count(),
                bandwidth: tree.attributes.rate(),
            });
        }
        for root in p2mp.by_id.values().filter_map(|&root| p2mp.roots.get(root)) {
            if root.tree.is_some() {
                continue;
            }
            to.push(P2mpLspRow {
                node,
                name: root.spec.name.clone(),
                root: rsvp.config.router_id,
                p2mp_id: root.spec.p2mp_id,
                tunnel_id: root.spec.tunnel_id,
                lsp_id: None,
                role: "root",
                leaves: root.leaves.len(),
                reserved: 0,
                sub_groups: 0,
                branches: 0,
                in_label: None,
                dropped: 0,
                bandwidth: root.spec.bandwidth,
            });
        }
    }
}

/// The rows of leaves of a sub-group.
fn leaves<'a>(p2mp: &P2mp, node: &'a str, tree: &Tree, sub: &Sub) -> Vec<S2lRow<'a>> {
    let key = tree.key;
    let root = tree.root.and_then(|root| p2mp.roots.get(root));
    let row = |(leaf, at): (&Ipv4Addr, &super::tree::LeafAt)| {
        let branch = at.branch.and_then(|branch| p2mp.branches.get(branch));
        let has = branch.is_none_or(|branch| branch.has(*leaf));
        let reserved = branch.and_then(|branch| branch.reserved.as_ref());
        let recorded = reserved.and_then(|reserved| reserved.leaves.get(leaf)?.as_deref());
        let known = root.and_then(|root| root.leaves.get(leaf));
        let words =
            |rro| record_route::addresses(rro).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let named = branch.map_or(sub.key, |branch| branch.key);
        S2lRow {
            node,
            name: name(tree),
            root: key.sender.address,
            p2mp_id: key.session.p2mp_id,
            tunnel_id: key.session.tunnel_id,
            lsp_id: Some(key.sender.lsp_id),
            leaf: *leaf,
            state: match known.map(|known| known.state) {
                Some(LeafState::Down) => "down",
                Some(LeafState::Signalling) => "signalling",
                Some(LeafState::Up) if root.is_some_and(|root| root.of.is_some()) => "reserved",
                Some(LeafState::Up) => "up",
                None if has => "reserved",
                None => "waiting",
            },
            previous_hop: root.is_none().then_some(sub.prev_hop.address),
            next_hop: branch.map(|branch| branch.to.address),
            port: branch.map(|branch| branch.to.port),
            out_label: reserved.filter(|_| has).map(|reserved| reserved.label),
            originator: Some(named.originator),
            sub_group: Some(named.id),
            route: recorded.map(words),
            problem: known.and_then(|known| known.problem.clone()),
        }
    };
    sub.leaves.iter().map(row).collect()
}

impl RowsOf<Rsvp> for S2lRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        let p2mp = &rsvp.p2mp;
        for tree in p2mp.index.values().filter_map(|&tree| p2mp.trees.get(tree)) {
            let subs = p2mp.subs_of(tree);
            let mut rows: Vec<S2lRow<'_>> = subs.flat_map(|sub| leaves(p2mp, node, tree, sub)).collect();
            rows.sort_by_key(|row| (row.leaf, row.previous_hop));
            rows.into_iter().for_each(|row| to.push(row));
        }
        for root in p2mp.by_id.values().filter_map(|&root| p2mp.roots.get(root)) {
            for (leaf, state) in root.leaves.iter().filter(|(_, leaf)| leaf.sub.is_none()) {
                to.push(S2lRow {
                    node,
                    name: root.spec.name.clone(),
                    root: rsvp.config.router_id,
                    p2mp_id: root.spec.p2mp_id,
                    tunnel_id: root.spec.tunnel_id,
                    lsp_id: None,
                    leaf: *leaf,
                    state: "down",
                    previous_hop: None,
                    next_hop: None,
                    port: None,
                    out_label: None,
                    originator: None,
                    sub_group: None,
                    route: None,
                    problem: state.problem.clone(),
                });
            }
        }
    }
}
