//! What is bound to a point-to-multipoint LSP, as whoever tests it wants to know (RFC 6425, 3.1.2 and 4.2).

use super::Multipoint;
use super::states::LabelState;
use crate::inquiry::{Ends, FecMapping, GivenBy};
use base::plane::{Leg, NextHop};
use wire::ldp::P2mp;

impl Multipoint {
    /// What is bound to an LSP here; nothing if this router is not part of it. Only leaves know of themselves.
    pub(in crate::ldp) fn mapping(&self, lsp: &P2mp) -> Option<FecMapping> {
        let tree = self.trees.get(lsp)?;
        let own = tree.own.as_ref().filter(|own| own.state == LabelState::Told);
        let leg = |branch: &base::plane::Nhlfe| match branch.next_hop {
            NextHop::Via { port, gateway } => Some(Leg { labels: branch.push, port, gateway }),
            _ => None,
        };
        let legs = tree.branches.iter().filter_map(leg).collect();
        let ends = Ends { given: own.map(|own| own.label).into_iter().collect(), behind: None };
        Some(FecMapping::several(GivenBy::Ldp, ends, tree.is_leaf, legs))
    }
}
