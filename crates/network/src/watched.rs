//! Who speaks BFD because LSPs are watched (RFC 5884, 4: both ends are to be set up for it).

use super::description::{Description, LspSpec};
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
    /// Those of a description, whose LSPs are given beside it.
    pub fn of(description: &Description, lsps: &[LspSpec]) -> WatchedEnds {
        let watched = lsps.iter().filter(|lsp| lsp.watch.is_some_and(|pace| pace.is_of_bfd()));
        let setups = description.nodes.iter().flat_map(|node| node.protocols.setups());
        WatchedEnds {
            nodes: watched.flat_map(|lsp| [lsp.from, lsp.to]).collect(),
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
