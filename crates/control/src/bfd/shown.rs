//! What BFD knows, as tables.

use super::session::{Role, Session};
use super::states::{TailState, word};
use super::{Bfd, Discarded};
use crate::services::Verdict;
use base::table::{RowsOf, Table, View};
use base::{Label, PortId, Span, Time};
use core::net::IpAddr;
use wire::bfd::Diag;

/// The tables of BFD.
pub(super) const VIEWS: &[View] = &[
    View::of::<Bfd, BfdSessionRow<'static>>(),
    View::of::<Bfd, BfdMultipointRow<'static>>(),
    View::of::<Bfd, BfdDiscardRow<'static>>(),
];

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
    /// Sessions of BFD with several receivers (RFC 8562): at the root of a point-to-multipoint LSP, and where it ends.
    pub struct BfdMultipointRow<'a> in "bfd_multipoint" key ["node", "head", "discriminator", "label"] {
        /// The router.
        node: &'a str,
        /// `begins`: the LSP begins here, and its ends are sent packets. `ends`: packets come here.
        lsp_end: &'static str,
        /// The LSP, by what is put on it; absent where it ends, since packets do not say it.
        lsp: Option<String>,
        /// Where it ends: the label that packets come with.
        label: Option<Label>,
        /// The address of the router where it begins.
        head: IpAddr,
        /// Number of the session at that router.
        discriminator: u32,
        /// Where it ends `up`: packets of the head come, and it says that it is up; or `down`. Where it begins what it
        /// says: `down` at first, so that sessions before it end, then `up`, and `admin-down` when nobody wants it any
        /// more.
        state: &'static str,
        /// Since when it is in this state.
        since_s: Time = "s",
        /// Where it ends: why it is down.
        diagnostic: &'static str,
        /// Protocols that have the LSP watched, where it begins.
        clients: Vec<&'a str>,
        /// From a packet to the next; each comes up to a quarter earlier.
        interval_s: Span = "s",
        /// Without a packet for so long the session is down, where the LSP ends.
        detection_s: Span = "s",
        /// Packets sent to all ends.
        sent: u64 = "packets",
        /// Packets taken.
        received: u64 = "packets",
        /// How often it came up.
        ups: u64 = "times",
        /// How often it was up and did not stay so.
        downs: u64 = "times",
    }
}

impl RowsOf<Bfd> for BfdMultipointRow<'static> {
    fn rows(bfd: &Bfd, node: &str, to: &mut Table) {
        for head in bfd.multipoint.heads() {
            to.push(BfdMultipointRow {
                node,
                lsp_end: "begins",
                lsp: head.path.lsp().map(|lsp| lsp.to_string()),
                label: None,
                head: head.path.local,
                discriminator: head.discriminator,
                state: word(head.state.said()),
                since_s: head.since,
                diagnostic: Diag::NONE.name(),
                clients: head.clients.iter().map(|client| client.name()).collect(),
                interval_s: head.interval(),
                detection_s: head.detection(),
                sent: head.counts.sent,
                received: 0,
                ups: head.counts.ups,
                downs: head.counts.downs,
            });
        }
        for tail in bfd.multipoint.tails() {
            to.push(BfdMultipointRow {
                node,
                lsp_end: "ends",
                lsp: None,
                label: Some(tail.label),
                head: tail.head,
                discriminator: tail.discriminator,
                state: if tail.state == TailState::Up { "up" } else { "down" },
                since_s: tail.since,
                diagnostic: tail.diag.name(),
                clients: Vec::new(),
                interval_s: tail.interval(),
                detection_s: tail.detection(),
                sent: 0,
                received: tail.counts.received,
                ups: tail.counts.ups,
                downs: tail.counts.downs,
            });
        }
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
        /// not that of the session; `multipoint`: it goes to several receivers and has come by no LSP; `limit`: there
        /// are as many sessions as there may be.
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
