//! The table of greet.

use super::Greet;
use base::table::{RowsOf, Table, View, word};
use base::{Label, PortId};
use core::net::Ipv4Addr;

/// The tables of greet.
pub(super) const VIEWS: &[View] = &[View::of::<Greet, GreetRow<'static>>()];

base::table! {
    /// The neighbours of routers that speak greet, the made-up protocol.
    pub struct GreetRow<'a> in "greet_neighbors" key ["node", "router_id"] {
        /// The router.
        node: &'a str,
        /// Router id of the neighbour.
        router_id: Ipv4Addr,
        /// The port that it is at.
        port: PortId,
        /// `heard`, `connected`, or `labelled`: how far it has come with it.
        state: String,
        /// The label that it was given; absent if none was left.
        label: Option<Label>,
        /// The label that it gave; absent until it was told.
        given: Option<Label>,
    }
}

impl RowsOf<Greet> for GreetRow<'static> {
    fn rows(greet: &Greet, node: &str, to: &mut Table) {
        for (router_id, neighbor) in &greet.neighbors {
            to.push(GreetRow {
                node,
                router_id: *router_id,
                port: neighbor.port,
                state: word(&neighbor.state),
                label: neighbor.label,
                given: neighbor.given,
            });
        }
    }
}
