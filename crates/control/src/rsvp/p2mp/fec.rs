//! What is bound to a P2MP LSP, as whoever tests it wants to know (RFC 6425, 3.1.1 and 4.2).

use super::shares::Leaves;
use super::states::FeedState;
use super::{P2mpId, TreeKey};
use crate::inquiry::{Ends, Fec, FecMapping, GivenBy};
use crate::rsvp::Rsvp;
use base::plane::{LabelStack, Leg};
use core::net::Ipv4Addr;

impl Rsvp {
    /// What is bound to a P2MP LSP here; nothing if this router is not part of it.
    pub(in crate::rsvp) fn p2mp_mapping(&self, key: &TreeKey) -> Option<FecMapping> {
        let tree = self.p2mp.trees.get(self.p2mp.tree(key)?)?;
        let in_force = tree.feeds.values().filter(|feed| feed.state == FeedState::InForce);
        let given = in_force.filter(|feed| !feed.is_dropped).filter_map(|feed| feed.label).collect();
        // Branches of several sub-groups may lead to one neighbour by one label: that is one copy.
        let (mut legs, mut behind): (Vec<Leg>, Vec<Vec<Ipv4Addr>>) = (Vec::new(), Vec::new());
        for branch in self.p2mp.branches_of(tree) {
            let Some(reserved) = &branch.reserved else { continue };
            let labels = LabelStack::one(reserved.label);
            let direct = Leg { labels, port: branch.to.port, gateway: branch.to.address.into() };
            let mut ways = self.p2mp_ways_around(branch, reserved.label);
            if ways.is_empty() {
                ways.push((direct, &Leaves::All));
            }
            for (leg, taken) in ways {
                let place = legs.iter().position(|known| *known == leg).unwrap_or_else(|| {
                    legs.push(leg);
                    behind.push(Vec::new());
                    legs.len() - 1
                });
                behind[place].extend(reserved.leaves.keys().filter(|leaf| taken.has(**leaf)));
            }
        }
        let ends = Ends { given, behind: Some(behind) };
        Some(FecMapping::several(GivenBy::RsvpTe, ends, tree.is_leaf, legs))
    }

    /// The LSP of a tunnel that begins here, as it is in force; nothing while no leaf is signalled.
    pub fn p2mp_fec(&self, p2mp_id: u32, tunnel_id: u16) -> Option<Fec> {
        let index = *self.p2mp.by_id.get(&P2mpId { p2mp_id, tunnel_id })?;
        let root = self.p2mp.roots.get(index)?;
        let is_its = |tree: &&super::tree::Tree| tree.root == Some(index);
        let key = self.p2mp.trees.get(root.tree?).filter(is_its)?.key;
        Some(Fec::RsvpP2mpIpv4 {
            p2mp_id,
            tunnel_id,
            extended_tunnel_id: key.session.extended.to_bits(),
            sender: key.sender.address,
            lsp_id: key.sender.lsp_id,
        })
    }
}
