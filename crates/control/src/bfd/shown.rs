//! What BFD knows, as tables.

use super::session::{Role, Session};
use super::states::word;
use super::{Bfd, Discarded};
use crate::services::Verdict;
use base::table::{RowsOf, Table, View};
use base::{PortId, Span, Time};
use core::net::IpAddr;

/// The tables of BFD.
pub(super) const VIEWS: &[View] =
    &[View::of::<Bfd, BfdSessionRow<'static>>(), View::of::<Bfd, BfdDiscardRow<'static>>()];

base::table! {
    /// Sessions of BFD: the paths to neighbours that protocols have watched.
    pub struct BfdSessionRow<'a> in "bfd_sessions" key ["node", "port", "lsp", "local", "neighbor", "discriminator"]
    of (node: &'a str) from one: &'a Session {
        /// The router.
        node: &'a str => node,
        /// The port that the neighbour is right behind; absent if routers may lie between the two (RFC 5883).
        port: Option<PortId> => one.path.port(),
        /// The LSP that is watched (RFC 5884), by what is put on it; absent if it is none.
        lsp: Option<String> => one.fec().map(|fec| fec.to_string()),
        /// `begins`: the LSP begins here. `ends`: it ends here, and the router where it begins has asked for the
        /// session.
        lsp_end: Option<&'static str> => match one.role {
            Role::Beside => None,
            Role::Head { .. } => Some("begins"),
            Role::Tail { .. } => Some("ends"),
        },
        /// The router's own address.
        local: IpAddr => one.path.local,
        /// The neighbour's address; where an LSP begins, the one that it leads to.
        neighbor: IpAddr => one.path.remote,
        /// `up`: both hear each other. `init`: the neighbour is heard. `down`: it is not. `admin-down`: nobody wants to
        /// know, or the port is down.
        state: &'static str => word(one.state.said()),
        /// Since when it is in this state.
        since_s: Time = "s" => one.since,
        /// Why it changed last from a state in which the neighbour was heard.
        diagnostic: &'static str => one.diag.name(),
        /// `alive`, `dead`, or `unknown`: what protocols are told of the path.
        path: &'static str => match one.verdict {
            Verdict::Unknown => "unknown",
            Verdict::Alive => "alive",
            Verdict::Dead => "dead",
        },
        /// The state that the neighbour says.
        remote_state: &'static str => word(one.remote.state),
        /// Why the neighbour's session changed last.
        remote_diagnostic: &'static str => one.remote.diag.name(),
        /// Do both ends say that BFD goes on while their control planes restart (bit C)?
        is_independent: bool => one.is_independent(),
        /// Protocols that have the path watched; none while the neighbour is told that the session ends.
        clients: Vec<&'a str> => one.clients.iter().map(|client| client.name()).collect(),
        /// Number of the session at this router.
        discriminator: u32 => one.discriminator,
        /// Its number at the neighbour; absent while it is not known.
        remote_discriminator: Option<u32> => Some(one.remote.discriminator).filter(|number| *number > 0),
        /// From a packet of this router to its next, as both have agreed; each comes up to a quarter earlier.
        interval_s: Span = "s" => one.interval(),
        /// Without a packet of the neighbour for so long the session is down; absent before anything was heard.
        detection_s: Option<Span> = "s" => Some(one.detection()).filter(|time| *time > Span::ZERO),
        /// After so many packets of this router that are missing the neighbour takes the session for down.
        multiplier: u8 => one.terms.multiplier,
        /// Packets sent.
        sent: u64 = "packets" => one.counts.sent,
        /// Packets taken.
        received: u64 = "packets" => one.counts.received,
        /// How often it came up.
        ups: u64 = "times" => one.counts.ups,
        /// How often it was up and did not stay so.
        downs: u64 = "times" => one.counts.downs,
    }
}

base::table! {
    /// Packets of BFD that were not taken.
    pub struct BfdDiscardRow<'a> in "bfd_discards" key ["node", "reason"]
    of (node: &'a str, reason: &'a str) from one: &Discarded {
        /// The router.
        node: &'a str => node,
        /// `malformed`; `ttl`: it has passed a router; `no-session`: it means none that there is; `other-port`: its
        /// session is at another port, or over an LSP and it is not; `other-end`: its session is over an LSP, and with
        /// another; `authenticated`, `unauthenticated`, `wrong-type`, `wrong-key` and `replayed`: its authentication is
        /// not that of the session.
        reason: &'a str => reason,
        /// How many.
        packets: u64 = "packets",
        /// Who sent the last of them.
        from: IpAddr,
    }
}

impl RowsOf<Bfd> for BfdSessionRow<'static> {
    fn rows(bfd: &Bfd, node: &str, to: &mut Table) {
        bfd.sessions().for_each(|one| to.push(BfdSessionRow::of(node, one)));
    }
}

impl RowsOf<Bfd> for BfdDiscardRow<'static> {
    fn rows(bfd: &Bfd, node: &str, to: &mut Table) {
        bfd.discards.iter().for_each(|(reason, one)| to.push(BfdDiscardRow::of(node, reason, one)));
    }
}
