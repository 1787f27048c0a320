//! All state blocks: a slab, and an index by session whose LSPs are chained.

use super::lsp::{Lsp, SenderKey, SessionKey};
use super::slab::{NIL, Slab};
use base::Map;

/// The LSPs of a router.
#[derive(Debug, Default)]
pub(super) struct Store {
    lsps: Slab<Lsp>,
    /// The first LSP of each session.
    sessions: Map<SessionKey, u32>,
}

impl Store {
    /// The first LSP of a session; the others follow by [`Lsp::next`].
    pub(super) fn first(&self, session: &SessionKey) -> Option<u32> {
        self.sessions.get(session).copied()
    }

    /// The LSP of a session with this sender.
    pub(super) fn find(&self, session: &SessionKey, sender: &SenderKey) -> Option<u32> {
        self.find_from(self.first(session), sender)
    }

    /// The LSP with this sender in the session whose first LSP is `first`.
    pub(super) fn find_from(&self, first: Option<u32>, sender: &SenderKey) -> Option<u32> {
        self.chain(first).find(|&index| self.get(index).is_some_and(|lsp| lsp.sender == *sender))
    }

    /// The LSPs of a session.
    pub(super) fn session(&self, session: &SessionKey) -> impl Iterator<Item = u32> + '_ {
        self.chain(self.first(session))
    }

    /// The LSPs of the session whose first LSP is `first`.
    pub(super) fn chain(&self, first: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(first, |&index| self.get(index).map(|lsp| lsp.next))
            .take_while(|&index| index != NIL)
    }

    /// Adds an LSP at the end of its session's chain.
    pub(super) fn insert(&mut self, lsp: Lsp) -> u32 {
        let session = lsp.session;
        let index = self.lsps.insert(lsp);
        let mut last = *self.sessions.get_or_insert_with(session, || index);
        if last != index {
            while let Some(next) = self.lsps.get(last).map(|lsp| lsp.next).filter(|&next| next != NIL) {
                last = next;
            }
            if let Some(lsp) = self.lsps.get_mut(last) {
                lsp.next = index;
            }
        }
        index
    }

    /// Takes an LSP out.
    pub(super) fn remove(&mut self, index: u32) -> Option<Lsp> {
        let (session, next) = self.get(index).map(|lsp| (lsp.session, lsp.next))?;
        let before = self.session(&session).take_while(|&i| i != index).last();
        match before.and_then(|before| self.lsps.get_mut(before)) {
            Some(before) => before.next = next,
            None if next == NIL => {
                self.sessions.remove(&session);
            }
            None => {
                self.sessions.insert(session, next);
            }
        }
        self.lsps.remove(index)
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> Option<&Lsp> {
        self.lsps.get(index)
    }
    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Lsp> {
        self.lsps.get_mut(index)
    }
    pub(super) fn generation(&self, index: u32) -> u32 {
        self.lsps.generation(index)
    }
    pub(super) fn len(&self) -> usize {
        self.lsps.len()
    }
    pub(super) fn sessions(&self) -> usize {
        self.sessions.len()
    }
    pub(super) fn indices(&self) -> Vec<u32> {
        self.lsps.indices()
    }
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Lsp)> {
        self.lsps.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rsvp::states::PathState;
    use crate::rsvp::transport::Neighbor;
    use base::PortId;
    use core::net::Ipv4Addr;

    #[test]
    fn sessions_chain_their_lsps() {
        let a = Ipv4Addr::new(10, 0, 0, 1);
        let session = SessionKey { end_point: a, tunnel_id: 1, extended: a };
        let hop = Neighbor { port: PortId(0), address: a };
        let lsp = |lsp_id| Lsp::new(session, SenderKey { address: a, lsp_id }, PathState::New, hop);
        for gone in 0..3 {
            let mut store = Store::default();
            let ids: Vec<u32> = (1..=3).map(|id| store.insert(lsp(id))).collect();
            assert_eq!(store.session(&session).collect::<Vec<_>>(), ids);
            store.remove(ids[gone]);
            let left: Vec<u32> = ids.iter().copied().filter(|&i| i != ids[gone]).collect();
            assert_eq!(store.session(&session).collect::<Vec<_>>(), left);
            left.iter().for_each(|&i| assert!(store.remove(i).is_some()));
            assert_eq!((store.len(), store.sessions()), (0, 0));
        }
    }
}
