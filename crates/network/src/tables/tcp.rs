//! TCP connections of routers.

use crate::Network;
use base::table::Table;
use base::{ProtocolId, Time};
use control::services::sessions::SessionRow;
use node::Router;

base::table! {
    /// TCP connections of each router's protocols that are there now, those that are being opened or closed included.
    pub struct TcpRow<'a> in "tcp" key ["node", "local", "remote"]
    of (node: &'a str, protocol: ProtocolId) from row: SessionRow {
        /// The router.
        node: &'a str => node,
        /// The protocol that the connection belongs to.
        protocol: String => protocol.to_string(),
        /// The router's address and port.
        local: String => row.local.to_string(),
        /// Address and port of the other end.
        remote: String => row.remote.to_string(),
        /// State of the connection, as RFC 9293, 3.3.2, calls it.
        state: String => row.state.to_string(),
        /// When it was established; absent before.
        since_s: Option<Time> = "s" => row.since,
        /// Segments received.
        segments_received: u64 = "segments" => row.counters.segments_received,
        /// Segments sent, those sent again included.
        segments_sent: u64 = "segments" => row.counters.segments_sent,
        /// Segments that were sent again, since nobody acknowledged them in time or others overtook them.
        retransmitted: u64 = "segments" => row.counters.retransmitted,
        /// Bytes that were received in order and read.
        bytes_received: u64 = "bytes" => row.counters.bytes_received,
        /// Bytes that the protocol has given to be sent.
        bytes_sent: u64 = "bytes" => row.counters.bytes_sent,
    }
}

pub fn connections(network: &Network, only: Option<usize>) -> Table {
    let rows = |(_, node, router)| {
        let control = Router::control(router);
        let rows = control.services().sessions.rows();
        rows.filter_map(move |row| Some(TcpRow::of(node, control.name_of(row.owner)?, row)))
    };
    network.routers(only).flat_map(rows).collect()
}
