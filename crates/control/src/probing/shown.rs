//! The table of link probing.

use super::{LinkState, Probing};
use base::table::{RowsOf, Table, View};
use base::{PortId, Rate, Time};

/// The tables of link probing.
pub(super) const VIEWS: &[View] = &[View::of::<Probing, ProbedRow<'static>>()];

base::table! {
    /// The links that routers probe.
    pub struct ProbedRow<'a> in "probed_links" key ["node", "port"] {
        /// The router.
        node: &'a str,
        /// The port of the link.
        port: PortId,
        /// `unheard`: no probe came yet; `up`; `down`: they came, and do not come any more.
        state: &'static str,
        /// Probes sent.
        sent: u32 = "packets",
        /// Probes received.
        received: u64 = "packets",
        /// Probes that the neighbour sent and that did not come.
        missed: u64 = "packets",
        /// How often the link went down.
        outages: u32,
        /// When it was last noticed to be down; absent if it never was.
        down_s: Option<Time> = "s",
        /// When it was last noticed to be up; absent if it never was.
        up_s: Option<Time> = "s",
        /// What the router's own probes take of the link.
        load: Rate = "bit/s",
    }
}

impl RowsOf<Probing> for ProbedRow<'static> {
    fn rows(probing: &Probing, node: &str, to: &mut Table) {
        for (port, link) in &probing.links {
            to.push(ProbedRow {
                node,
                port: *port,
                state: match link.state {
                    LinkState::Unheard => "unheard",
                    LinkState::Up => "up",
                    LinkState::Down => "down",
                },
                sent: link.sent,
                received: link.received,
                missed: link.missed,
                outages: link.outages,
                down_s: link.down_at,
                up_s: link.up_at,
                load: probing.spec.load(),
            });
        }
    }
}
