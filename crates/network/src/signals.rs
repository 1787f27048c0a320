//! The sequence of signalling messages at the routers that were asked to keep it.

use super::Network;
use super::columns::Columns;
use node::router::Direction;
use serde_json::{Value, json};
use wire::rsvp::MessageType;

/// Names of a direction and of a message type.
pub fn words(direction: Direction, kind: u8) -> (&'static str, &'static str) {
    let direction = match direction {
        Direction::Received => "rx",
        Direction::Sent => "tx",
    };
    (direction, MessageType::of(kind).map_or("unknown", MessageType::name))
}

/// The messages of one router or of all, each router's in order of time: by which link they went to or came from which neighbour, and
/// which session (end point and tunnel id) and LSP they were about, where they say.
pub fn table(network: &Network, node: Option<usize>) -> Value {
    let names = ["node", "time_ps", "link", "neighbor", "direction", "type", "session", "sender", "lsp_id"];
    let mut table = Columns::new(&names);
    for node in network.ids().map(base::NodeId::index).filter(|n| node.is_none_or(|m| m == *n)) {
        let records = network.router(node).into_iter().flat_map(|router| router.signals().0);
        for record in records {
            let mut places = network.graph.links_of(node);
            let link = places.find(|&link| network.links[link].port_at(node) == Some(record.port));
            let neighbor = link.and_then(|link| network.graph.beyond(link, node));
            let (direction, kind) = words(record.direction, record.kind);
            let session = record.tunnel.map(|(to, id)| format!("{to}/{id}"));
            table.push([
                json!(network.node_name(node)),
                json!(record.at.0),
                json!(link),
                json!(neighbor.map(|n| network.node_name(n))),
                json!(direction),
                json!(kind),
                json!(session),
                json!(record.lsp.map(|n| n.0.to_string())),
                json!(record.lsp.map(|n| n.1)),
            ]);
        }
    }
    table.finish()
}
