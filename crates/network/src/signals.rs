//! The sequence of signalling messages at the routers that were asked to keep it.

use super::Network;
use base::Time;
use base::table::{Rows, Table};
use control::protocol::Direction;
use control::rsvp::Rsvp;
use core::net::Ipv4Addr;

base::table! {
    /// The RSVP messages of routers that were asked to keep them, each router's in order of time.
    pub struct SignalRow<'a> in "signals" key [] {
        /// The router.
        node: &'a str,
        /// When it sent or received the message.
        time_s: Time = "s",
        /// The link, by its place in the description; absent where the port has none.
        link: Option<usize>,
        /// The node at the link's other end; absent with the link.
        neighbor: Option<&'a str>,
        /// `rx` or `tx`.
        direction: &'static str,
        /// The type of the message: `Path`, `Resv` and so on.
        r#type: &'static str,
        /// The session that it is about, as end point and tunnel id; absent where it does not say.
        session: Option<String>,
        /// Address of the LSP's sender; absent where it does not say.
        sender: Option<Ipv4Addr>,
        /// LSP id; absent where it does not say.
        lsp_id: Option<u16>,
    }
}

/// The name of a direction.
pub fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Received => "rx",
        Direction::Sent => "tx",
    }
}

/// The messages of one router or of all.
pub fn table(network: &Network, node: Option<usize>) -> Table {
    let mut table = Rows::new();
    for node in network.ids().map(base::NodeId::index).filter(|n| node.is_none_or(|m| m == *n)) {
        let records = network.protocol::<Rsvp>(node).into_iter().flat_map(|rsvp| rsvp.signals().0);
        for record in records {
            let mut places = network.graph.links_of(node);
            let link = places.find(|&link| network.links[link].port_at(node) == Some(record.port));
            let neighbor = link.and_then(|link| network.graph.beyond(link, node));
            table.push(SignalRow {
                node: network.node_name(node),
                time_s: record.at,
                link,
                neighbor: neighbor.map(|n| network.node_name(n)),
                direction: word(record.direction),
                r#type: Rsvp::type_name(record.kind),
                session: record.tunnel.map(|(to, id)| format!("{to}/{id}")),
                sender: record.lsp.map(|n| n.0),
                lsp_id: record.lsp.map(|n| n.1),
            });
        }
    }
    table.finish()
}
