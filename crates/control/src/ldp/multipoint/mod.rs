//! Point-to-multipoint LSPs (RFC 6388, 2): trees of labels that leaves set up towards a root.
//!
//! - [`command`]: what a user tells roots and leaves
//! - [`tree`]: what a router has of an LSP, and the entries that follow from it (2.4.1, 2.4.2, 2.4.3)
//! - [`states`]: what becomes of labels; `upstream`: who leads to the root (2.4.1.1, 2.4.1.2)
//! - `exchange`: labels that come, are taken back and given back
//! - `carry`: packets that take an LSP at its root, and groups at its leaves
//! - `writes`: entries of tables, and labels that are free again
//! - `speaker`: the same for a speaker of LDP, by its sessions; `shown`: tables
//!
//! What is in the tables is a function of what is known: the neighbours downstream with their labels, whether this
//! router is a leaf, and the upstream LSR. Whatever changes, [`Multipoint::update`] brings the tables there. A label
//! is told when its entry is in force, and free again when the neighbour has released it or its session is lost.

mod carry;
pub mod command;
pub(super) mod exchange;
mod fec;
pub(super) mod shown;
mod speaker;
pub mod states;
pub mod tree;
mod upstream;
mod writes;

use crate::services::Services;
use crate::services::distribution::PeerKey;
use base::plane::Prefix;
use base::queue::take_first;
use base::{PortId, Time};
use carry::Root;
use core::net::{IpAddr, Ipv4Addr};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tree::Tree;
use wire::ldp::{Body, P2mp};
use writes::Writes;

/// A neighbour with a session.
#[derive(Debug)]
struct Peer {
    /// Has it said that it takes part (RFC 6388, 2.1)? Else it is told nothing of these LSPs.
    is_capable: bool,
    /// Links on which it is heard, with the sources of its Hellos there.
    links: BTreeMap<PortId, Ipv4Addr>,
    /// Its addresses, as it has said them (RFC 5036, 2.7).
    addresses: BTreeSet<Ipv4Addr>,
    /// How many labels it has given.
    labels: usize,
    /// The longest opaque value of which it can be told a label: its PDUs are no longer than it has said.
    opaque_max: usize,
}

/// Bytes of a Label Mapping beside the opaque value, behind the length of its PDU: the identifier of the label space
/// (6), the header of the message (8), that of the FEC (4), the element with an IPv4 root (10), the label (8), and the
/// number of the request that it answers (8).
const AROUND_OPAQUE: usize = 6 + 8 + 4 + 10 + 8 + 8;

/// How much is kept for the sake of neighbours. A label of another LSP is released.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// LSPs of a router.
    pub trees: usize,
    /// Labels of a neighbour.
    pub labels: usize,
    /// Bytes of an opaque value; a generic LSP identifier has seven of them.
    pub opaque: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { trees: 1 << 16, labels: 1 << 14, opaque: 1024 }
    }
}

/// The point-to-multipoint LSPs of a router.
#[derive(Debug, Default)]
pub struct Multipoint {
    /// The ports on which LDP is spoken: what hosts send to groups comes by the others.
    ports: BTreeSet<PortId>,
    peers: BTreeMap<PeerKey, Peer>,
    trees: BTreeMap<P2mp, Tree>,
    /// LSPs that begin here.
    roots: BTreeMap<P2mp, Root>,
    /// LSPs that have a root here were declared so often.
    declared: u64,
    /// LSPs for which there was no label or no room in the tables, by the times when they are tried again.
    lacking: BTreeSet<(Time, P2mp)>,
    writes: Writes,
    said: VecDeque<(PeerKey, Body)>,
    pub(super) limits: Limits,
    /// Labels of neighbours that were released because of them, by reason, and LSPs that could not be said.
    pub(super) declined: BTreeMap<&'static str, u64>,
    /// Steps that no label should take.
    pub faults: u64,
}

impl Multipoint {
    /// Those of a router that speaks LDP on these ports, and knows nothing yet.
    pub(super) fn new(ports: BTreeSet<PortId>) -> Multipoint {
        Multipoint { ports, ..Multipoint::default() }
    }

    /// The same as it is after a restart of the node: all that users have said, and nothing else.
    pub(super) fn anew(&self) -> Multipoint {
        let joined = self.trees.iter().filter(|(_, tree)| tree.is_leaf || tree.name.is_some());
        let as_said =
            |tree: &Tree| Tree { is_leaf: tree.is_leaf, name: tree.name.clone(), ..Tree::default() };
        Multipoint {
            trees: joined.map(|(lsp, tree)| (lsp.clone(), as_said(tree))).collect(),
            roots: self.roots.iter().map(|(lsp, root)| (lsp.clone(), root.anew())).collect(),
            declared: self.declared,
            limits: self.limits,
            ..Multipoint::new(self.ports.clone())
        }
    }

    /// LDP alone has restarted: entries of these LSPs go, whether forwarding goes on for prefixes or not.
    pub(super) fn restart(&mut self, services: &mut Services) {
        let peers = core::mem::take(&mut self.peers);
        for lsp in self.trees.keys().cloned().collect::<Vec<_>>() {
            peers.keys().for_each(|key| self.forget(&lsp, *key));
            self.update(services, &lsp);
        }
        self.said.clear();
    }

    /// The LSPs that something is known of.
    pub fn trees(&self) -> impl Iterator<Item = (&P2mp, &Tree)> {
        self.trees.iter()
    }

    /// How many these are.
    pub fn count(&self) -> usize {
        self.trees.len()
    }

    /// Labels are exchanged with a neighbour from now on.
    pub(super) fn begin(
        &mut self,
        services: &mut Services,
        key: PeerKey,
        (is_capable, max_pdu): (bool, u16),
        links: BTreeMap<PortId, Ipv4Addr>,
    ) {
        let opaque_max = usize::from(max_pdu).saturating_sub(AROUND_OPAQUE);
        let peer = Peer { is_capable, links, addresses: BTreeSet::new(), labels: 0, opaque_max };
        self.peers.insert(key, peer);
        self.update_if(services, |_, _| true);
    }

    /// No labels are exchanged any more: it has none of this router, and this router none of it.
    pub(super) fn end(&mut self, services: &mut Services, key: PeerKey) {
        if self.peers.remove(&key).is_none() {
            return;
        }
        self.said.retain(|(to, _)| *to != key);
        for lsp in self.trees.keys().cloned().collect::<Vec<_>>() {
            self.forget(&lsp, key);
            self.update(services, &lsp);
        }
    }

    /// The links on which a neighbour is heard are these.
    pub(super) fn heard_on(
        &mut self,
        services: &mut Services,
        key: PeerKey,
        links: BTreeMap<PortId, Ipv4Addr>,
    ) {
        let Some(peer) = self.peers.get_mut(&key).filter(|peer| peer.links != links) else { return };
        peer.links = links;
        self.update_if(services, |_, _| true);
    }

    /// A neighbour has addresses, or has them no more.
    pub(super) fn addresses(
        &mut self,
        services: &mut Services,
        key: PeerKey,
        list: &[Ipv4Addr],
        is_new: bool,
    ) {
        let Some(peer) = self.peers.get_mut(&key) else { return };
        for address in list {
            if is_new {
                peer.addresses.insert(*address)
            } else {
                peer.addresses.remove(address)
            };
        }
        self.update_if(services, |_, _| true);
    }

    /// The route to a prefix is another one: that may be the way to a root, or the better link to a neighbour.
    pub(super) fn route_changed(&mut self, services: &mut Services, prefix: Prefix) {
        let leads_to = |address: IpAddr| match address {
            IpAddr::V4(address) => prefix.contains(address),
            IpAddr::V6(_) => false,
        };
        self.update_if(services, |lsp, tree| {
            leads_to(lsp.root) || tree.given.keys().any(|key| prefix.contains(key.0))
        });
    }

    /// Looks again at LSPs.
    fn update_if(&mut self, services: &mut Services, is_concerned: impl Fn(&P2mp, &Tree) -> bool) {
        let all = self.trees.iter().filter(|(lsp, tree)| is_concerned(lsp, tree));
        for lsp in all.map(|(lsp, _)| lsp.clone()).collect::<Vec<_>>() {
            self.update(services, &lsp);
        }
    }

    /// Tries LSPs again for which there was no label, or no room in the tables.
    pub(super) fn retry(&mut self, now: Time, services: &mut Services) {
        while let Some((_, lsp)) = self.lacking.first().filter(|(at, _)| *at <= now).cloned() {
            self.try_again(&lsp, None);
            if let Some(tree) = self.trees.get_mut(&lsp) {
                tree.left_out.clear();
                tree.is_out = false;
            }
            self.update(services, &lsp);
        }
    }

    /// When that is.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.lacking.first().map(|(at, _)| *at)
    }

    /// What a neighbour is to be told next.
    pub(super) fn poll_say(&mut self) -> Option<(PeerKey, Body)> {
        take_first(&mut self.said)
    }
}
