//! How packets leave: by the port of a single hop (RFC 5881, 6), by the tables (RFC 5883), or on an LSP (RFC 5884, 7).

use super::Bfd;
use super::session::{Role, Session};
use crate::inquiry::Inquiry;
use crate::protocol::{Context, Message, Message6, Output, Over};
use crate::services::sessions::Datagram;
use base::{Dscp, PortId};
use core::net::{IpAddr, SocketAddr};
use wire::bfd::{MULTIHOP_PORT, PORT, TTL};

impl Bfd {
    /// Sends a packet of a session. One of an LSP waits for what the node says is bound to that.
    pub(super) fn send(&mut self, context: &mut Context<'_>, number: u32, bytes: Vec<u8>) {
        let Some(session) = self.sessions.get(&number) else { return };
        if let Some(fec) = session.fec() {
            self.inquired += 1;
            self.inquiries.insert(self.inquired, (number, bytes));
            let inquiry = Inquiry { number: self.inquired, fecs: vec![fec], ..Inquiry::default() };
            return self.outputs.push_back(Output::Inquire(Box::new(inquiry)));
        }
        match session.path.port() {
            Some(port) => self.outputs.extend(by_port(session, port, bytes)),
            None => by_tables(context, session, bytes),
        }
    }
}

fn by_port(session: &Session, port: PortId, bytes: Vec<u8>) -> Option<Output> {
    debug_assert!(session.role == Role::Beside, "an LSP is no port");
    let over = Over::Udp { src: session.source, dst: PORT };
    Some(match (session.path.local, session.path.remote) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Output::Message(Message {
            port,
            next: Some(dst),
            src,
            dst,
            over,
            ttl: TTL,
            router_alert: false,
            bytes,
        }),
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let next = Some(dst);
            let message = Message6 { port, next, src, dst, over, hop_limit: TTL, router_alert: None, bytes };
            Output::Message6(Box::new(message))
        }
        // Nobody asks for a path between two families.
        _ => return None,
    })
}

/// Sends a packet by the tables.
pub(super) fn by_tables(context: &mut Context<'_>, session: &Session, bytes: Vec<u8>) {
    let (from, to) = (Some(session.path.local), SocketAddr::new(session.path.remote, MULTIHOP_PORT));
    let datagram = Datagram { from, port: session.source, to, ttl: TTL, dscp: Dscp::CS6, bytes };
    // An address that can't be sent to is one that nobody answers from.
    let _ = context.send_datagram(datagram);
}
