//! The table of core-based trees.

use super::Cbt;
use super::tree::{Limb, TreeState};
use base::table::{RowsOf, Table, View};
use base::{Label, PortId};
use core::net::Ipv4Addr;

/// The tables of core-based trees.
pub(super) const VIEWS: &[View] = &[View::of::<Cbt, TreeRow<'static>>()];

base::table! {
    /// The neighbours of routers on core-based trees, and the labels that they have given each other. A router that is
    /// alone on a tree has a row without neighbour.
    pub struct TreeRow<'a> in "group_trees" key ["node", "group", "port"] {
        /// The router.
        node: &'a str,
        /// The group.
        group: Ipv4Addr,
        /// The core of the tree.
        core: Ipv4Addr,
        /// `off`, `joining` or `on-tree`: how far the router has come.
        state: &'static str,
        /// What the neighbour is: `parent`, on the way to the core, or `child`; absent without neighbour.
        role: Option<&'static str>,
        /// The port that it is at.
        port: Option<PortId>,
        /// Its address there.
        neighbor: Option<Ipv4Addr>,
        /// The label with which packets of the group come from it; absent if they come without.
        label_in: Option<Label>,
        /// The label with which they go to it.
        label_out: Option<Label>,
        /// Ports with hosts that want the group.
        hosts: u32 = "ports",
    }
}

impl RowsOf<Cbt> for TreeRow<'static> {
    fn rows(cbt: &Cbt, node: &str, to: &mut Table) {
        for (group, tree) in &cbt.trees {
            let parent = tree.parent.iter().map(|limb| ("parent", limb));
            let children = tree.children.values().map(|limb| ("child", limb));
            let mut limbs: Vec<Option<(&'static str, &Limb)>> = parent.chain(children).map(Some).collect();
            if limbs.is_empty() {
                limbs.push(None);
            }
            for limb in limbs {
                let (role, limb) = limb.unzip();
                to.push(TreeRow {
                    node,
                    group: *group,
                    core: tree.core,
                    state: match tree.state {
                        TreeState::Off => "off",
                        TreeState::Joining => "joining",
                        TreeState::OnTree => "on-tree",
                    },
                    role,
                    port: limb.map(|limb| limb.port),
                    neighbor: limb.map(|limb| limb.address),
                    label_in: limb.and_then(|limb| limb.mine),
                    label_out: limb.and_then(|limb| limb.theirs),
                    hosts: tree.hosts.len() as u32,
                });
            }
        }
    }
}
