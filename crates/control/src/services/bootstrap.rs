//! Sessions of BFD over LSPs begin with LSP ping (RFC 5884, 6): who watches says which LSP is to be verified and by
//! which number it knows the session; who speaks LSP ping asks the far end, and there says whose session is to begin.

use super::{WatchedLsp, WatchedPath};
use crate::inquiry::Fec;
use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};

/// What is to be verified of an LSP that begins here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The number of the session at this router.
    pub discriminator: u32,
    /// Does the session hear the far end? Then the far end need not be told the number (RFC 5884, 6.1), and is asked
    /// rarely.
    pub is_up: bool,
    /// The path that the session watches. The far end answers to the address that requests come from (RFC 5884, 7),
    /// which is that from which the session speaks.
    pub path: WatchedPath,
}

/// A session that another router wants for an LSP that ends here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What is put on the LSP.
    pub fec: Fec,
    /// The router where it begins.
    pub from: IpAddr,
    /// By which number that router knows the session.
    pub discriminator: u32,
}

/// LSPs that are verified, and sessions that are wanted.
#[derive(Debug, Default)]
pub struct Bootstrap {
    wishes: BTreeMap<WatchedLsp, Wish>,
    /// LSPs whose wishes are others than before: LSP ping has not been told yet.
    asked: VecDeque<WatchedLsp>,
    offers: VecDeque<Offer>,
    /// Has BFD not been told of the offers?
    is_offered: bool,
}

impl Bootstrap {
    /// Has an LSP verified, or says something else of its session.
    pub fn ask(&mut self, lsp: WatchedLsp, wish: Wish) {
        if self.wishes.insert(lsp, wish) != Some(wish) {
            self.asked.push_back(lsp);
        }
    }

    /// Has an LSP verified no more.
    pub fn forget(&mut self, lsp: WatchedLsp) {
        if self.wishes.remove(&lsp).is_some() {
            self.asked.push_back(lsp);
        }
    }

    /// What is to be verified of an LSP; nothing if it is not.
    pub fn wish(&self, lsp: WatchedLsp) -> Option<Wish> {
        self.wishes.get(&lsp).copied()
    }

    /// Another router wants a session for an LSP that ends here.
    pub fn offer(&mut self, offer: Offer) {
        self.offers.push_back(offer);
        self.is_offered = true;
    }

    /// The next session that another router wants.
    pub fn poll_offer(&mut self) -> Option<Offer> {
        self.offers.pop_front()
    }

    /// Everything is lost: the node restarts.
    pub(crate) fn restart(&mut self) {
        *self = Bootstrap::default();
    }

    /// Is anybody to be told of anything?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        self.is_offered || !self.asked.is_empty()
    }

    /// The next LSP whose wish is another than before.
    pub(crate) fn poll_asked(&mut self) -> Option<WatchedLsp> {
        self.asked.pop_front()
    }

    /// Are there offers of which BFD is to be told?
    pub(crate) fn poll_offered(&mut self) -> bool {
        core::mem::take(&mut self.is_offered)
    }
}
