//! Whether packets reach other nodes: protocols say whom they want watched, a protocol such as BFD watches, and the
//! former are told what it finds (RFC 5882). LSPs may be watched by LSP ping instead (RFC 8029), which also says of
//! those that BFD watches whether they end where they are to end (RFC 5884, 4).
//!
//! All who want the same path watched share it. A path of which nothing is known is not dead: nobody loses a neighbour
//! because that does not speak BFD, or because somebody has shut a session down (RFC 5882, 3.2 and 3.3).

mod excused;
mod lsp;
mod ping_section;
mod section;
#[cfg(test)]
mod tests;

pub use excused::{COMES_BACK, Excused};
pub use lsp::WatchedLsp;
pub use ping_section::PingSpec;
pub use section::WatchSpec;

use base::{PortId, ProtocolId, Span};
use core::net::IpAddr;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How packets get to the other node of a path that is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// It is right behind this port.
    Hop(PortId),
    /// By the routing tables: routers may lie between.
    Routed,
    /// On an LSP that begins here; what comes back is routed.
    Lsp(WatchedLsp),
    /// On an LSP that ends here. Its head end decides whether it is watched; here it is only listened to.
    End(WatchedLsp),
}

/// A way between two nodes that can be watched. Both addresses are of IPv4, or both of IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchedPath {
    /// How packets get there.
    pub way: Way,
    /// The node's own address.
    pub local: IpAddr,
    /// The other node's address.
    pub remote: IpAddr,
}

impl WatchedPath {
    /// The path to a node right behind a port.
    pub fn hop(port: PortId, local: impl Into<IpAddr>, remote: impl Into<IpAddr>) -> WatchedPath {
        WatchedPath { way: Way::Hop(port), local: local.into(), remote: remote.into() }
    }

    /// What comes by an LSP of RSVP-TE that ends here; nothing of others.
    pub fn end(lsp: WatchedLsp) -> Option<WatchedPath> {
        match lsp {
            WatchedLsp::Rsvp { endpoint, sender, .. } => {
                Some(WatchedPath { way: Way::End(lsp), local: endpoint.into(), remote: sender.into() })
            }
            _ => None,
        }
    }

    /// The port that the other node is right behind; absent if routers may lie between the two.
    pub const fn port(&self) -> Option<PortId> {
        match self.way {
            Way::Hop(port) => Some(port),
            Way::Routed | Way::Lsp(_) | Way::End(_) => None,
        }
    }

    /// The LSP that packets take, if it is one that begins here.
    pub const fn lsp(&self) -> Option<WatchedLsp> {
        match self.way {
            Way::Lsp(lsp) => Some(lsp),
            Way::Hop(_) | Way::Routed | Way::End(_) => None,
        }
    }
}

/// Who watches a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Watcher {
    /// Sessions of BFD (RFC 5880).
    #[default]
    Bfd,
    /// Requests of LSP ping (RFC 8029), on LSPs.
    LspPing,
}

/// How closely a path is to be watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pace {
    /// From a packet to the next; absent for what is usual at the node.
    pub interval: Option<Span>,
    /// After so many packets that are missing the path is dead; absent for what is usual at the node.
    pub multiplier: Option<u8>,
    /// Which protocol watches: BFD, or LSP ping alone.
    pub by: Watcher,
}

impl Pace {
    /// Is it BFD that watches?
    pub const fn is_of_bfd(&self) -> bool {
        matches!(self.by, Watcher::Bfd)
    }
}

/// What is known of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: nobody answers, or somebody does not want to know.
    #[default]
    Unknown,
    /// Packets get through, both ways.
    Alive,
    /// They did, and do not any more.
    Dead,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    clients: BTreeMap<ProtocolId, Pace>,
    /// Do packets get through, as far as who watches can tell?
    heard: Verdict,
    /// Does who watches go on at both ends while their control planes restart?
    is_independent: bool,
    /// Why they do not come out where they are to, if that is known.
    misled: Option<&'static str>,
}

impl Entry {
    fn verdict(&self) -> Verdict {
        if self.misled.is_some() { Verdict::Dead } else { self.heard }
    }
}

/// The paths of a node that are watched.
#[derive(Debug, Default)]
pub struct Liveness {
    entries: BTreeMap<WatchedPath, Entry>,
    /// Paths whose clients are others than before: who watches has not been told yet.
    asked: VecDeque<WatchedPath>,
    /// Paths that have come to life or died: clients have not been told yet.
    changed: VecDeque<(WatchedPath, bool)>,
}

impl Liveness {
    /// A protocol wants a path watched, or watched at another pace.
    pub fn watch(&mut self, client: ProtocolId, path: WatchedPath, pace: Pace) {
        let entry = self.entries.entry(path).or_default();
        if entry.clients.insert(client, pace) != Some(pace) {
            self.asked.push_back(path);
        }
    }

    /// A protocol wants a path watched no more.
    pub fn unwatch(&mut self, client: ProtocolId, path: WatchedPath) {
        let Some(entry) = self.entries.get_mut(&path) else { return };
        if entry.clients.remove(&client).is_some() {
            self.asked.push_back(path);
        }
        if entry.clients.is_empty() {
            self.entries.remove(&path);
        }
    }

    /// Has exactly these paths watched for a protocol.
    pub fn watch_only(&mut self, client: ProtocolId, wanted: &BTreeMap<WatchedPath, Pace>) {
        let of_client = |entry: &Entry| entry.clients.contains_key(&client);
        let gone = self.entries.iter().filter(|(path, entry)| of_client(entry) && !wanted.contains_key(path));
        for path in gone.map(|(path, _)| *path).collect::<Vec<_>>() {
            self.unwatch(client, path);
        }
        wanted.iter().for_each(|(path, pace)| self.watch(client, *path, *pace));
    }

    /// Who wants a path watched, and how closely.
    pub fn clients(&self, path: WatchedPath) -> impl Iterator<Item = (ProtocolId, Pace)> + '_ {
        self.entries.get(&path).into_iter().flat_map(|entry| &entry.clients).map(|(id, pace)| (*id, *pace))
    }

    /// What is known of a path.
    pub fn verdict(&self, path: WatchedPath) -> Verdict {
        self.entries.get(&path).map_or(Verdict::Unknown, Entry::verdict)
    }

    /// Why packets on an LSP do not come out where they are to, if somebody has answered that they do not.
    pub fn why_misled(&self, path: WatchedPath) -> Option<&'static str> {
        self.entries.get(&path).and_then(|entry| entry.misled)
    }

    /// Notes what was found of a path. Clients are told if it came to life, or died.
    pub fn found(&mut self, path: WatchedPath, verdict: Verdict) {
        self.change(path, |entry| entry.heard = verdict);
    }

    /// Notes whether who watches a path goes on at both ends while their control planes restart. If not, a path that
    /// dies may be one whose other end restarts (RFC 5882, 4.3).
    pub fn set_independent(&mut self, path: WatchedPath, is_independent: bool) {
        if let Some(entry) = self.entries.get_mut(&path) {
            entry.is_independent = is_independent;
        }
    }

    /// Does a path that is dead carry no packets, whatever the control planes at its ends do?
    pub fn is_independent(&self, path: WatchedPath) -> bool {
        self.entries.get(&path).is_some_and(|entry| entry.is_independent)
    }

    /// Notes what the far end of an LSP, or who else got its packets, has answered: why the LSP does not end there, or
    /// that it does. The former counts at once, whatever was known before: it is an answer, not silence.
    pub fn verified(&mut self, path: WatchedPath, misled: Option<&'static str>) {
        self.change(path, |entry| entry.misled = misled);
    }

    fn change(&mut self, path: WatchedPath, what: impl FnOnce(&mut Entry)) {
        let Some(entry) = self.entries.get_mut(&path) else { return };
        let before = entry.verdict();
        what(entry);
        match (before, entry.verdict()) {
            (Verdict::Unknown, Verdict::Dead) if entry.misled.is_some() => {
                self.changed.push_back((path, false))
            }
            (Verdict::Unknown | Verdict::Dead, Verdict::Alive) => self.changed.push_back((path, true)),
            (Verdict::Alive, Verdict::Dead) => self.changed.push_back((path, false)),
            // What was dead may be alive: nothing says otherwise any more.
            (Verdict::Dead, Verdict::Unknown) => self.changed.push_back((path, true)),
            _ => {}
        }
    }

    /// The other nodes' addresses behind a port that do not answer any more.
    pub fn dead(&self) -> BTreeSet<(PortId, IpAddr)> {
        let dead = self.entries.iter().filter(|(_, entry)| entry.verdict() == Verdict::Dead);
        dead.filter_map(|(path, _)| Some((path.port()?, path.remote))).collect()
    }

    /// What was wanted and found is lost: the node restarts.
    pub(crate) fn restart(&mut self) {
        *self = Liveness::default();
    }

    /// Is anybody to be told of anything?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.asked.is_empty() || !self.changed.is_empty()
    }

    /// The next path whose clients are others than before.
    pub(crate) fn poll_asked(&mut self) -> Option<WatchedPath> {
        self.asked.pop_front()
    }

    /// The next path of which clients are to be told, and whether it is alive.
    pub(crate) fn poll_change(&mut self) -> Option<(WatchedPath, bool)> {
        self.changed.pop_front()
    }
}
