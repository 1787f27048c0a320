//! Who speaks BFD because LSPs are watched (RFC 5884, 4: both ends are to be set up for it).

use super::description::{Description, LspSpec, P2mpSpec};
use base::ProtocolId;
use control::bfd::Bfd;
use std::collections::BTreeSet;

/// The nodes where LSPs that are watched begin and end, as far as the description says.
#[derive(Debug, Default)]
pub struct WatchedEnds {
    nodes: BTreeSet<usize>,
    /// LSPs of these protocols are watched by some node: they end at all that speak them.
    protocols: BTreeSet<ProtocolId>,
}

impl WatchedEnds {
    /// Those of a description, whose LSPs are given beside it, those with several ends apart.
    pub fn of(description: &Description, lsps: &[LspSpec], trees: &[P2mpSpec]) -> WatchedEnds {
        let watched = lsps.iter().filter(|lsp| lsp.watch.is_some_and(|pace| pace.is_of_bfd()));
        let trees = trees.iter().filter(|tree| tree.watch.is_some());
        let ends = |tree: &P2mpSpec| {
            let leaves = tree.leaves.iter().map(|(leaf, _)| *leaf);
            leaves.chain([tree.root]).collect::<Vec<_>>()
        };
        let of_trees = trees.flat_map(ends);
        let setups = description.nodes.iter().flat_map(|node| node.protocols.setups());
        WatchedEnds {
            nodes: watched.flat_map(|lsp| [lsp.from, lsp.to]).chain(of_trees).collect(),
            protocols: setups.filter_map(|setup| setup.watches_lsps()).collect(),
        }
    }

    /// Does a node speak BFD, by what the description says of it and of LSPs?
    pub fn needs_bfd(&self, description: &Description, node: usize) -> bool {
        let is_end = |protocol: ProtocolId| protocol == Bfd::ID || self.protocols.contains(&protocol);
        let protocols = &description.nodes[node].protocols;
        self.nodes.contains(&node)
            || protocols.spoken().any(|spoken| is_end(spoken.protocol) || spoken.setup.watches())
    }
}
