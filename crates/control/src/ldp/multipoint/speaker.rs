//! A speaker of LDP and its point-to-multipoint LSPs: what comes by sessions, and what is said by them.

use super::command::Command;
use super::exchange::MeantTrees;
use crate::ldp::Ldp;
use crate::ldp::said::key_of;
use crate::protocol::Context;
use crate::services::Services;
use crate::services::distribution::PeerKey;
use crate::services::sessions::SessionId;
use base::{Label, PortId};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use wire::ldp::{AnyLabel, Fec, LdpId, P2mp, Status};

/// The number of IPv4 among address families.
const IPV4: u16 = 1;

/// The LSPs that a withdrawal or a release is about; nothing if it is about none.
fn meant(fec: &Fec, label: Option<AnyLabel>) -> Option<MeantTrees<'_>> {
    let lsp = match fec {
        // RFC 6388, 9: all of the family.
        Fec::Wildcard | Fec::AllP2mp(IPV4) => None,
        Fec::P2mp(lsp) => Some(lsp),
        Fec::Prefix(_) | Fec::AllPrefixes(_) | Fec::AllP2mp(_) => return None,
    };
    let label = match label {
        None => None,
        Some(AnyLabel::Generic(label)) => Some(label),
        Some(_) => return None,
    };
    Some(MeantTrees { lsp, label })
}

impl Ldp {
    /// Its point-to-multipoint LSPs.
    pub const fn multipoint(&self) -> &super::Multipoint {
        &self.multipoint
    }

    /// Does this router say to a neighbour that it takes part in point-to-multipoint LSPs (RFC 6388, 2.1)? Where labels
    /// are channels there is no label space of the whole router, of which theirs are (2.4).
    pub(in crate::ldp) fn takes_trees(&self, peer: LdpId) -> bool {
        self.config.p2mp && self.cells_of(peer).is_none()
    }

    /// The links on which a router is heard, with its addresses there.
    fn links_of(&self, peer: LdpId) -> BTreeMap<PortId, Ipv4Addr> {
        let heard = self.adjacencies.iter().filter(|((_, id), _)| *id == peer);
        heard.map(|((port, _), one)| (*port, one.address)).collect()
    }

    /// A session is established.
    pub(in crate::ldp) fn begin_trees(&mut self, services: &mut Services, id: SessionId, peer: LdpId) {
        if self.takes_trees(peer) {
            let session = self.sessions.get(&id);
            let is_capable = session.is_some_and(|session| session.capabilities.p2mp == Some(true));
            let max_pdu = session.map_or(0, |session| session.max_pdu);
            let links = self.links_of(peer);
            self.multipoint.begin(services, key_of(peer), (is_capable, max_pdu), links);
        }
    }

    /// The links on which a neighbour is heard are others than before.
    pub(in crate::ldp) fn update_tree_links(&mut self, services: &mut Services, peer: LdpId) {
        let links = self.links_of(peer);
        self.multipoint.heard_on(services, key_of(peer), links);
    }

    /// Puts into sessions what is to be said of these LSPs.
    pub(in crate::ldp) fn tell_trees(&mut self) {
        while let Some((key, body)) = self.multipoint.poll_say() {
            let mut all = self.sessions.values_mut();
            let session = all.find(|one| one.is_operational() && one.peer.map(key_of) == Some(key));
            if let Some(session) = session {
                session.say(body);
            }
        }
    }

    /// A neighbour gives a label for an LSP, or why it can't be taken.
    pub(in crate::ldp) fn tree_mapped(
        &mut self,
        services: &mut Services,
        peer: LdpId,
        lsp: &P2mp,
        label: Label,
    ) -> Result<(), Status> {
        if !self.takes_trees(peer) {
            return Err(Status::UnknownFec);
        }
        let IpAddr::V4(_) = lsp.root else { return Err(Status::UnsupportedAddressFamily) };
        self.multipoint.mapped(services, key_of(peer), lsp, label);
        Ok(())
    }

    /// A neighbour takes labels back.
    pub(in crate::ldp) fn trees_withdrawn(
        &mut self,
        services: &mut Services,
        key: PeerKey,
        (fec, label): (&Fec, Option<AnyLabel>),
    ) {
        if let Some(meant) = meant(fec, label) {
            self.multipoint.withdrawn(services, key, meant);
        }
    }

    /// A neighbour gives labels back.
    pub(in crate::ldp) fn trees_released(&mut self, key: PeerKey, (fec, label): (&Fec, Option<AnyLabel>)) {
        if let Some(meant) = meant(fec, label) {
            self.multipoint.released(key, meant);
        }
    }

    /// A neighbour asks for labels, of one LSP or of all of a family; or why it gets none.
    pub(in crate::ldp) fn trees_requested(
        &mut self,
        peer: LdpId,
        fec: &Fec,
        request: u32,
    ) -> Result<(), Status> {
        let lsp = match fec {
            _ if !self.takes_trees(peer) => return Err(Status::UnknownFec),
            Fec::P2mp(lsp) => Some(lsp),
            Fec::AllP2mp(IPV4) => None,
            _ => return Err(Status::UnsupportedAddressFamily),
        };
        // Labels are told unasked, and only to the neighbour that leads to the root.
        let is_any = self.multipoint.requested(key_of(peer), lsp, request);
        if is_any || lsp.is_none() { Ok(()) } else { Err(Status::NoRoute) }
    }

    /// Does what a user has said of an LSP.
    pub(in crate::ldp) fn command(&mut self, context: &mut Context<'_>, command: &Command) {
        let services = &mut **context.services;
        match command {
            Command::TreeSet(spec) => {
                self.multipoint.set_root(services, spec);
                self.is_watch_due = true;
            }
            Command::Join { name, root, lsp_id } => {
                let lsp = P2mp::generic((*root).into(), *lsp_id);
                self.multipoint.set_leaf(services, &lsp, Some(name.clone()));
            }
            Command::Leave { root, lsp_id } => {
                let lsp = P2mp::generic((*root).into(), *lsp_id);
                self.multipoint.set_leaf(services, &lsp, None);
            }
        }
    }
}
