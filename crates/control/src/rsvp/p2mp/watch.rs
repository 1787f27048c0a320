//! Has the ends of a P2MP LSP watched whether its packets come, by BFD (RFC 8562): the root sends, and ends listen.

use crate::rsvp::Rsvp;
use crate::services::{WatchedLsp, WatchedPath, Way};

impl Rsvp {
    /// Has the LSP of a tunnel watched that begins here, while packets take it and its settings say so.
    pub(super) fn p2mp_watch(&mut self, index: u32) {
        let Some(root) = self.p2mp.roots.get_mut(index) else { return };
        let pace = root.spec.watch.filter(|_| root.list.is_some());
        if root.watched.is_none() && pace.is_none() {
            return;
        }
        let router = self.config.router_id;
        let tree = root.tree.and_then(|tree| self.p2mp.trees.get(tree));
        let wanted = tree.zip(pace).map(|(tree, pace)| {
            let way = Way::Lsp(WatchedLsp::RsvpP2mp {
                p2mp_id: tree.key.session.p2mp_id,
                tunnel_id: tree.key.session.tunnel_id,
                extended_tunnel_id: tree.key.session.extended,
                sender: tree.key.sender.address,
                lsp_id: tree.key.sender.lsp_id,
            });
            (WatchedPath { way, local: router.into(), remote: router.into() }, pace)
        });
        let path = wanted.map(|(path, _)| path);
        let before = core::mem::replace(&mut root.watched, path);
        let liveness = &mut self.services.liveness;
        if let Some(gone) = before.filter(|before| Some(*before) != path) {
            liveness.unwatch(Rsvp::ID, gone);
        }
        if let Some((path, pace)) = wanted {
            liveness.watch(Rsvp::ID, path, pace);
        }
    }
}
