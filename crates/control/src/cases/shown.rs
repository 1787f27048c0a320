//! What a node of a case does, in lines of text.

use super::node::{Node, Peer};
use super::words::joined;
use crate::protocol::{Output, Over, Protocol};
use crate::services::Source;
use crate::services::sessions::{Packet, SessionId, SessionOutput};
use base::plane::{Ack, NextHop, Nhlfe, TableOp};
use base::table::{Column, Table};
use base::{PortId, Span};
use std::collections::BTreeMap;

impl Node {
    pub(super) fn named(&self, is_it: impl Fn(&Peer) -> bool, other: impl core::fmt::Display) -> String {
        self.peers.iter().find(|peer| is_it(peer)).map_or_else(|| other.to_string(), |peer| peer.name.clone())
    }

    /// The other end of a connection.
    pub(super) fn end_of(&self, id: SessionId) -> String {
        let peer = self.peers.iter().find(|peer| peer.sessions.contains(&id));
        match peer {
            Some(peer) if peer.sessions.last() == Some(&id) => peer.name.clone(),
            Some(peer) => format!("{} by an older connection", peer.name),
            None => "somebody".into(),
        }
    }

    pub(super) fn handle_output(&mut self, output: Output) {
        match output {
            Output::Message(message) => {
                let to = self.named(|peer| peer.address == message.dst, message.dst);
                let said = self.dialect.show(&message.bytes, Some(message.port));
                let ttl = if message.ttl == 1 { String::new() } else { format!(" ttl {}", message.ttl) };
                self.print(&format!("to {to} by port {}{ttl}: {said}", message.port.0));
            }
            Output::Session(id, SessionOutput::Send(bytes)) => {
                let to = self.end_of(id);
                let said = self.dialect.show(&bytes, None);
                said.split("\n\n").for_each(|said| self.print(&format!("to {to}: {said}")));
            }
            Output::Session(id, end) => {
                let to = self.end_of(id);
                let how = if end == SessionOutput::Abort { "reset" } else { "closed" };
                self.print(&format!("the connection with {to} is {how}"));
            }
            Output::Tables(batch) => {
                batch.ops.iter().for_each(|op| self.print(&format!("writes {}", shown(op))));
                let ack = Ack { transaction: batch.transaction, failed: Vec::new() };
                self.with(|protocol, now, context| protocol.handle_ack(now, context, &ack));
            }
            Output::Event(event) => {
                let event = serde_json::to_string(&event).unwrap_or_default();
                self.print(&format!("event {event}"));
            }
            other => self.print(&format!("{other:?}")),
        }
    }

    /// A datagram that the tables route; connections have no packets here.
    pub(super) fn handle_packet(&mut self, packet: &Packet) {
        let Over::Udp { dst, .. } = packet.over else { return };
        let to = self.named(|peer| packet.dst == peer.address, packet.dst);
        let said = self.dialect.show(&packet.bytes, Some(PortId(0)));
        self.print(&format!("to {to} routed, UDP port {dst} ttl {}: {said}", packet.ttl));
    }

    /// The routes of the protocol that are others than before.
    pub(super) fn show_routes(&mut self) {
        let own = Source::Protocol(self.known.id);
        let mut now = BTreeMap::new();
        let hop = |hop: &NextHop| match hop {
            NextHop::Via { port, gateway } => format!("{gateway} port {}", port.0),
            other => format!("{other:?}"),
        };
        let all = self.services.rib.iter().filter(|(_, route, hops)| route.source == own && hops.is_some());
        for (prefix, route, hops) in all {
            let hops = joined(hops.into_iter().flatten().map(hop)).replace(',', " and ");
            now.insert(prefix.to_string(), format!("by {hops} metric {}", route.metric));
        }
        let all = self.services.rib6.iter().filter(|(_, route, hops)| route.source == own && hops.is_some());
        for (prefix, route, hops) in all {
            let hops = joined(hops.into_iter().flatten().map(hop)).replace(',', " and ");
            now.insert(prefix.to_string(), format!("by {hops} metric {}", route.metric));
        }
        let before = core::mem::replace(&mut self.routes, now.clone());
        for (prefix, said) in now.iter().filter(|(prefix, said)| before.get(*prefix) != Some(*said)) {
            self.print(&format!("route {prefix} {said}"));
        }
        for prefix in before.keys().filter(|prefix| !now.contains_key(*prefix)) {
            self.print(&format!("no route {prefix}"));
        }
    }

    /// The rows of a table, by these columns.
    pub(super) fn rows(&self, table: &str, columns: &[String]) -> Result<Vec<String>, String> {
        let view = self.known.views.iter().find(|view| view.decl.name == table).ok_or("no such table")?;
        let mut rows = Table::empty(view.decl);
        let protocol: &dyn Protocol = &*self.protocol;
        view.append(protocol, "r", &mut rows);
        let wrong = |name: &String| format!("{table} has no column '{name}'");
        let found: Vec<_> = columns
            .iter()
            .map(|name| rows.column(name).ok_or_else(|| wrong(name)))
            .collect::<Result<_, _>>()?;
        let cell = |name: &String, column: &Column, row| {
            let value = serde_json::to_value(column.get(row)).unwrap_or_default();
            match (value.as_str(), value.as_u64()) {
                (Some(text), _) if text.contains(' ') => format!("{name}='{text}'"),
                (Some(text), _) => format!("{name}={text}"),
                (None, Some(time)) if name.ends_with("_s") && time >= 1_000_000_000 => {
                    format!("{name}={}", time as f64 / Span::from_secs(1).0 as f64)
                }
                _ => format!("{name}={value}"),
            }
        };
        let row = |row| -> String {
            let cells: Vec<_> =
                columns.iter().zip(&found).map(|(name, column)| cell(name, column, row)).collect();
            cells.join(" ")
        };
        Ok((0..rows.len()).map(row).collect())
    }
}

/// A write to a table in a few words.
fn shown(op: &TableOp) -> String {
    let onward = |nhlfe: &Nhlfe| {
        let push = joined(nhlfe.push.as_slice().iter().map(|label| label.value()));
        let push = if push.is_empty() { "no label".into() } else { format!("label {push}") };
        match nhlfe.next_hop {
            NextHop::Via { port, gateway } => format!("{push} to {gateway} by port {}", port.0),
            other => format!("{push} {other:?}"),
        }
    };
    match op {
        TableOp::IlmSet { label, nhlfe } => format!("ILM {}: {}", label.value(), onward(nhlfe)),
        TableOp::IlmRemove { label } => format!("ILM {}: gone", label.value()),
        TableOp::FtnSet { fec: base::plane::Fec::Prefix(prefix), nhlfe } => {
            format!("FTN {prefix}: {}", onward(nhlfe))
        }
        TableOp::FtnRemove { fec: base::plane::Fec::Prefix(prefix) } => format!("FTN {prefix}: gone"),
        other => format!("{other:?}"),
    }
}
