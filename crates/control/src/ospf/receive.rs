//! Which packets are taken (RFC 2328, 8.2 and D.5), and why others are not.

use super::interface::{InterfaceName, InterfaceState, NetworkType};
use super::{Event, Ospf};
use crate::protocol::IpArrival;
use base::Time;
use core::net::Ipv4Addr;
use wire::ospf::{ALL_D_ROUTERS, Body, HEADER_LEN, Header, Kind};

impl Ospf {
    /// A packet has come.
    pub(super) fn receive(&mut self, now: Time, ip: &IpArrival, bytes: &[u8]) {
        match self.accept(ip, bytes) {
            Ok(Some(header)) => self.take(now, ip, &header, bytes),
            Ok(None) => {}
            Err(why) => self.refuse(InterfaceName::Port(ip.port), ip.src, why),
        }
    }

    /// The header of a packet that is to be taken, nothing if it is not for this router, or why it is refused.
    fn accept(&mut self, ip: &IpArrival, bytes: &[u8]) -> Result<Option<Header>, String> {
        let by = InterfaceName::Port(ip.port);
        let Some(interface) = self.interfaces.get_mut(&by) else { return Ok(None) };
        let area = self.config.area_by(&interface.config);
        if interface.state == InterfaceState::Down || interface.config.passive {
            return Ok(None);
        }
        // RFC 2328, 8.2: what is sent to the designated router and its backup is for nobody else.
        if ip.dst == ALL_D_ROUTERS && !interface.is_designated() {
            return Ok(None);
        }
        let header = Header::parse(bytes).map_err(|error| error.to_string())?;
        if header.area != area {
            return Err(format!("its area is {}, and here the area is {area}", header.area));
        }
        let mask = interface.mask().to_bits();
        let is_of_network = ip.src.to_bits() & mask == interface.address.to_bits() & mask;
        if interface.config.network == NetworkType::Broadcast && !is_of_network {
            let (network, len) = (interface.network(), interface.prefix_len);
            return Err(format!("its address is not of the network {network}/{len}"));
        }
        if header.router_id == self.router_id {
            return Err(format!("it has the router id {} of this router", self.router_id));
        }
        let sequence = interface.config.auth.verify(&header, bytes).map_err(|error| error.to_string())?;
        let name = match interface.config.network {
            NetworkType::PointToPoint => header.router_id,
            NetworkType::Broadcast => ip.src,
        };
        // RFC 2328, D.5.3: a neighbour's sequence numbers never become less.
        if let (Some(neighbor), Some(sequence)) = (interface.neighbors.get_mut(&name), sequence) {
            if neighbor.sequence.is_some_and(|last| sequence < last) {
                return Err(format!("its cryptographic sequence number went back to {sequence}"));
            }
            neighbor.sequence = Some(sequence);
        }
        Ok(Some(header))
    }

    /// Takes a packet that has passed.
    fn take(&mut self, now: Time, ip: &IpArrival, header: &Header, bytes: &[u8]) {
        let by = InterfaceName::Port(ip.port);
        let Some(interface) = self.interfaces.get(&by) else { return };
        let name = match interface.config.network {
            NetworkType::PointToPoint => header.router_id,
            NetworkType::Broadcast => ip.src,
        };
        let whole = bytes.get(HEADER_LEN..usize::from(header.length)).unwrap_or(&[]);
        // Instances of an update stay bytes.
        if header.kind == Kind::Update {
            return match wire::ospf::Lsas::parse(whole) {
                Ok(lsas) => self.on_update(now, (by, name), lsas),
                Err(error) => self.refuse(by, ip.src, error.at(HEADER_LEN).to_string()),
            };
        }
        let at = (by, name);
        match Body::parse(header.kind, whole) {
            Ok(Body::Hello(hello)) => self.on_hello(now, at, ip.src, header.router_id, &hello),
            Ok(Body::Description(description)) => self.on_description(now, at, description),
            Ok(Body::Request { wanted }) => self.on_request(now, at, &wanted),
            Ok(Body::Ack { headers }) => self.on_ack(at, &headers),
            Ok(Body::Update { .. }) => {}
            Err(error) => self.refuse(by, ip.src, error.to_string()),
        }
    }

    /// Counts a packet that is not taken, and says why if that is new.
    pub(super) fn refuse(&mut self, by: InterfaceName, source: Ipv4Addr, why: String) {
        let Some(interface) = self.interfaces.get_mut(&by) else { return };
        interface.refusals += 1;
        let refused = Some((source, why.clone()));
        if interface.refused != refused {
            interface.refused = refused;
            let InterfaceName::Port(port) = by;
            self.event(Event::OspfRefused { port, source, why });
        }
    }
}
