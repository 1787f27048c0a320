//! Selectors as a table.

use super::Rsvp;
use super::selector::Heard;
use base::table::{RowsOf, Table, word};
use base::{Label, Time};
use core::net::Ipv4Addr;

base::table! {
    /// What the end of each tunnel with protection 1+1 takes: of the LSPs that carry the same packets, those of one.
    pub struct SelectorRow<'a> in "selectors" key ["node", "sender", "tunnel_id", "end_point"] {
        /// The router: the tail end.
        node: &'a str,
        /// The name of the tunnel; absent while no LSP is there.
        tunnel: Option<String>,
        /// Address of the head end.
        sender: Ipv4Addr,
        /// Address of the tail end.
        end_point: Ipv4Addr,
        /// Number of the tunnel at its head end.
        tunnel_id: u16,
        /// `idle` without an LSP, `working` when packets of the working LSP are taken, `protecting` when those of
        /// another are, or `restoring` when the working LSP is back and waits to be taken again.
        state: String,
        /// LSP id of the LSP whose packets are taken; absent without any.
        selected: Option<u16>,
        /// The label with which they come; absent without any.
        label: Option<Label>,
        /// LSP id of the working LSP: the first, and after its end the next that comes; absent while there is none.
        working: Option<u16>,
        /// LSP ids of the others, in the order in which they came.
        others: String,
        /// LSP ids of those by which BFD does not hear the head end any more.
        dead: String,
        /// When the working LSP is taken again; absent if it does not wait for that.
        restore_s: Option<Time> = "s",
        /// How often another LSP was selected than before.
        switches: u64,
        /// When one was selected last; absent if none ever was.
        since_s: Option<Time> = "s",
    }
}

impl RowsOf<Rsvp> for SelectorRow<'static> {
    fn rows(rsvp: &Rsvp, node: &str, to: &mut Table) {
        for (session, selector) in &rsvp.selectors {
            let name =
                |lsp: u32| rsvp.store.get(lsp).map(|lsp| String::from_utf8_lossy(&lsp.name).into_owned());
            let selected = selector.member(selector.selected);
            let ids = |which: &dyn Fn(&super::selector::Member) -> bool| {
                let ids = selector.members.iter().filter(|member| which(member));
                ids.map(|member| member.lsp_id.to_string()).collect::<Vec<_>>().join(" ")
            };
            to.push(SelectorRow {
                node,
                tunnel: selected.and_then(|member| name(member.lsp)),
                sender: session.extended,
                end_point: session.end_point,
                tunnel_id: session.tunnel_id,
                state: word(&selector.state),
                selected: selected.map(|member| member.lsp_id),
                label: selected.map(|member| member.label),
                working: selector.member(selector.working).map(|member| member.lsp_id),
                others: ids(&|member| Some(member.lsp) != selector.selected),
                dead: ids(&|member| member.heard == Heard::Dead),
                restore_s: (selector.restore_at < Time::MAX).then_some(selector.restore_at),
                switches: selector.switches,
                since_s: selector.since,
            });
        }
    }
}
