//! What TDP knows, as tables.

use super::Tdp;
use super::session::Session;
use crate::services::distribution::{Binding, Peer};
use base::plane::Prefix;
use base::table::{RowsOf, Shown, Table, View};
use base::{Label, PortId, Time};
use core::net::Ipv4Addr;

/// The tables of TDP.
pub(super) const VIEWS: &[View] =
    &[View::of::<Tdp, TdpSessionRow<'static>>(), View::of::<Tdp, TdpBindingRow<'static>>()];

base::table! {
    /// Sessions of TDP, those that are not established yet included.
    pub struct TdpSessionRow<'a> in "tdp_sessions" key ["node", "remote"]
    of (node: &'a str, labels: Option<&Peer>) from one: &Session {
        /// The router.
        node: &'a str => node,
        /// The other end of the connection.
        remote: Ipv4Addr,
        /// Router id of the other router; absent as long as it has not said it.
        router_id: Option<Ipv4Addr> => one.peer.map(|peer| peer.0),
        /// `active` if this router has begun the connection, else `passive`.
        role: &'static str => if one.is_active { "active" } else { "passive" },
        /// `closed`, `open-sent`, `open-answered` or `operational`: how far it has come.
        state: &'static str => one.state.word(),
        /// Since when it is in this state.
        since_s: Time = "s" => one.since,
        /// Tags that the other router has given.
        received: usize = "tags" => labels.map_or(0, |labels| labels.given.len()),
        /// Tags that this router has given.
        sent: usize = "tags" => labels.map_or(0, |labels| labels.sent.len()),
    }
}

base::table! {
    /// Prefixes with a tag: what the router tells its neighbours by TDP, and what it does with it.
    pub struct TdpBindingRow<'a> in "tdp_bindings" key ["node", "prefix"] {
        /// The router.
        node: &'a str,
        /// Destinations whose packets get the tag.
        prefix: Shown<Prefix>,
        /// The tag as a label; 3 (implicit null, which TDP writes as 1) where packets are to come without, and absent
        /// where none was left.
        label: Option<Label>,
        /// Ports by which packets leave with the tags of neighbours.
        ports: Vec<PortId>,
        /// Addresses of these neighbours.
        next_hops: Vec<Ipv4Addr>,
        /// Labels with which they leave; 3 stands for none.
        out_labels: Vec<Label>,
    }
}

impl RowsOf<Tdp> for TdpSessionRow<'static> {
    fn rows(tdp: &Tdp, node: &str, to: &mut Table) {
        for one in tdp.sessions() {
            let labels = one.peer.and_then(|peer| tdp.labels().peer(peer));
            to.push(TdpSessionRow::of(node, labels, one));
        }
    }
}

impl RowsOf<Tdp> for TdpBindingRow<'static> {
    fn rows(tdp: &Tdp, node: &str, to: &mut Table) {
        for (prefix, known) in tdp.labels().fecs() {
            to.push(TdpBindingRow {
                node,
                prefix: Shown(prefix),
                label: known.binding.map(|binding| match binding {
                    Binding::Here => Label::IMPLICIT_NULL,
                    Binding::Label { label, .. } => label,
                }),
                ports: known.used.iter().map(|used| used.0).collect(),
                next_hops: known.used.iter().map(|used| used.1).collect(),
                out_labels: known.used.iter().map(|used| used.2).collect(),
            });
        }
    }
}
