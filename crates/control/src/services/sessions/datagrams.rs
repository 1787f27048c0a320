//! UDP of a node: ports that protocols bind while they run, and datagrams that the tables route.

use super::types::{Datagram, Packet, Refusal};
use super::{EPHEMERAL, Sessions, is_single, source};
use crate::owner::Owner;
use crate::protocol::Over;
use crate::services::Interfaces;
use rand::RngExt;

impl Sessions {
    /// Binds a UDP port: datagrams to it reach the protocol as what it listens to does. Without a number it is an
    /// ephemeral one that nobody has; nothing if the port is in use.
    pub(crate) fn bind(&mut self, owner: Owner, port: Option<u16>) -> Option<u16> {
        let is_free =
            |port: &u16| *port != 0 && !self.bound.contains_key(port) && !self.listened.contains(port);
        let start = self.ports.random_range(EPHEMERAL);
        let port = match port {
            Some(port) => Some(port).filter(is_free),
            None => (start..=*EPHEMERAL.end()).chain(*EPHEMERAL.start()..start).find(is_free),
        }?;
        self.bound.insert(port, owner);
        Some(port)
    }

    /// Gives a UDP port back that a protocol has bound.
    pub(crate) fn release(&mut self, owner: Owner, port: u16) {
        if self.bound.get(&port) == Some(&owner) {
            self.bound.remove(&port);
        }
    }

    /// The protocol that has bound a UDP port.
    pub(crate) fn bound_by(&self, port: u16) -> Option<Owner> {
        self.bound.get(&port).copied()
    }

    /// Sends a datagram by the tables.
    pub(crate) fn send_datagram(
        &mut self,
        interfaces: &Interfaces,
        datagram: Datagram,
    ) -> Result<(), Refusal> {
        let Datagram { from, port, to, ttl, dscp, bytes } = datagram;
        let src = from.or_else(|| source(interfaces, to.ip())).ok_or(Refusal::Address)?;
        if !is_single(to.ip()) || to.port() == 0 || src.is_ipv4() != to.ip().is_ipv4() {
            return Err(Refusal::Address);
        }
        let over = Over::Udp { src: port, dst: to.port() };
        self.packets.push_back(Packet { src, dst: to.ip(), ttl, dscp, over, bytes });
        Ok(())
    }
}
