//! Labels that neighbours give, take back and give back for point-to-multipoint LSPs (RFC 6388, 2.4.1 and 2.4.2).

use super::states::{LabelState, LabelStep};
use super::writes::map;
use super::{Limits, Multipoint, Tree};
use crate::services::Services;
use crate::services::distribution::PeerKey;
use base::Label;
use wire::ldp::{AnyLabel, Body, Fec, P2mp};

/// Which labels of these LSPs are meant: of one LSP or of all, and one label or all.
#[derive(Clone, Copy, Debug)]
pub(in crate::ldp) struct MeantTrees<'a> {
    pub lsp: Option<&'a P2mp>,
    pub label: Option<Label>,
}

impl MeantTrees<'_> {
    fn is(&self, label: Label) -> bool {
        self.label.is_none_or(|of| of == label)
    }

    fn among(&self, all: &Multipoint) -> Vec<P2mp> {
        match self.lsp {
            Some(lsp) => all.trees.contains_key(lsp).then(|| lsp.clone()).into_iter().collect(),
            None => all.trees.keys().cloned().collect(),
        }
    }
}

impl Multipoint {
    /// A neighbour gives a label (RFC 6388, 2.4.1.4 and 2.4.1.5).
    pub(in crate::ldp) fn mapped(&mut self, services: &mut Services, key: PeerKey, lsp: &P2mp, label: Label) {
        if !self.peers.contains_key(&key) {
            return;
        }
        let release = |label| Body::Release {
            fec: Fec::P2mp(lsp.clone()),
            label: Some(AnyLabel::Generic(label)),
            notice: None,
        };
        // RFC 6388, 2.4: a label of the label space of the router, which reserved ones are not.
        if label.is_reserved() {
            return self.said.push_back((key, release(label)));
        }
        if let Some(why) = self.limit(key, lsp) {
            *self.declined.entry(why).or_default() += 1;
            return self.said.push_back((key, release(label)));
        }
        let tree = self.trees.entry(lsp.clone()).or_default();
        // RFC 5036, A.1.2: a neighbour has one label for an FEC; another takes its place.
        match tree.given.insert(key, label) {
            Some(before) if before != label => self.said.push_back((key, release(before))),
            Some(_) => {}
            None => {
                if let Some(peer) = self.peers.get_mut(&key) {
                    peer.labels += 1;
                }
            }
        }
        self.update(services, lsp);
    }

    /// Why a label of a neighbour is not kept, if it is one more than are.
    fn limit(&self, key: PeerKey, lsp: &P2mp) -> Option<&'static str> {
        let is_known = self.trees.get(lsp).is_some_and(|tree| tree.given.contains_key(&key));
        let given = self.peers.get(&key).map_or(0, |peer| peer.labels);
        match self.limits {
            _ if is_known => None,
            Limits { opaque, .. } if lsp.opaque.0.len() > opaque => {
                Some("an opaque value longer than is kept")
            }
            Limits { labels, .. } if given >= labels => Some("more labels of a neighbour than are kept"),
            Limits { trees, .. } if self.trees.len() >= trees && !self.trees.contains_key(lsp) => {
                Some("more point-to-multipoint LSPs than are kept")
            }
            _ => None,
        }
    }

    /// A neighbour's label for an LSP is forgotten.
    pub(super) fn take_given(&mut self, lsp: &P2mp, key: PeerKey) {
        let given = self.trees.get_mut(lsp).and_then(|tree| tree.given.remove(&key));
        if let Some(peer) = given.and_then(|_| self.peers.get_mut(&key)) {
            peer.labels = peer.labels.saturating_sub(1);
        }
    }

    /// A neighbour takes labels back (RFC 6388, 2.4.2.2 and 2.4.2.3). The speaker has released them.
    pub(in crate::ldp) fn withdrawn(&mut self, services: &mut Services, key: PeerKey, meant: MeantTrees<'_>) {
        for lsp in meant.among(self) {
            let given = self.trees.get(&lsp).and_then(|tree| tree.given.get(&key));
            if given.is_some_and(|label| meant.is(*label)) {
                self.take_given(&lsp, key);
                self.update(services, &lsp);
            }
        }
    }

    /// A neighbour gives labels back: most were taken back before, and are free then.
    pub(in crate::ldp) fn released(&mut self, key: PeerKey, meant: MeantTrees<'_>) {
        for lsp in meant.among(self) {
            let Some(Tree { own, withdrawn, .. }) = self.trees.get_mut(&lsp) else { continue };
            for mut own in withdrawn.extract_if(.., |own| own.upstream == key && meant.is(own.label)) {
                Multipoint::step(&mut self.faults, &mut own.state, LabelStep::Released);
                self.writes.free.push(own.label);
            }
            let is_it = |own: &&mut super::tree::Own| {
                own.upstream == key && meant.is(own.label) && own.state == LabelState::Told
            };
            if let Some(own) = own.as_mut().filter(is_it) {
                Multipoint::step(&mut self.faults, &mut own.state, LabelStep::Released);
            }
            self.sweep(&lsp);
        }
    }

    /// A neighbour asks for labels that it was told: of one LSP or of all (RFC 5918, 4). Is there any?
    pub(in crate::ldp) fn requested(&mut self, key: PeerKey, lsp: Option<&P2mp>, request: u32) -> bool {
        let meant = MeantTrees { lsp, label: None };
        let mut any = false;
        for lsp in meant.among(self) {
            let own = self.trees.get_mut(&lsp).and_then(|tree| tree.own.as_mut());
            let is_known = |own: &&mut super::tree::Own| {
                own.upstream == key && matches!(own.state, LabelState::Told | LabelState::Declined)
            };
            if let Some(own) = own.filter(is_known) {
                Multipoint::step(&mut self.faults, &mut own.state, LabelStep::Requested);
                self.said.push_back((key, map(&lsp, own.label, Some(request))));
                any = true;
            }
        }
        any
    }
}
