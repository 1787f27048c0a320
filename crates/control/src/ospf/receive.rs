//! Which packets are taken (RFC 2328, 8.2 and D.5), and why others are not.

use super::areas::BACKBONE;
use super::interface::{Interface, InterfaceName, InterfaceState, NetworkType, VirtualLink};
use super::{Event, Ospf};
use crate::protocol::IpArrival;
use base::Time;
use core::net::Ipv4Addr;
use wire::ospf::{ALL_D_ROUTERS, Body, HEADER_LEN, Header, Kind};

impl Ospf {
    /// A packet has come.
    pub(super) fn receive(&mut self, now: Time, ip: &IpArrival, bytes: &[u8]) {
        let (by, header) = match self.associate(ip, bytes) {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(why) => return self.refuse(InterfaceName::Port(ip.port), ip.src, why),
        };
        match self.accept(now, ip, by, &header, bytes) {
            Ok(sequence) => {
                self.take(now, ip, by, &header, bytes);
                // RFC 2328, D.5.3 (3): also of a neighbour that this Hello has made.
                if let (Some(sequence), Some(interface)) = (sequence, self.interfaces.get_mut(&by))
                    && let Some(neighbor) = interface.neighbors.get_mut(&interface.name_of(ip, &header))
                {
                    neighbor.sequence = Some(sequence);
                }
            }
            Err(why) => self.refuse(by, ip.src, why),
        }
    }

    /// The interface that a packet is for, and its header; nothing if it is not for this router, or why it is refused.
    fn associate(&self, ip: &IpArrival, bytes: &[u8]) -> Result<Option<(InterfaceName, Header)>, String> {
        let by = InterfaceName::Port(ip.port);
        let Some(interface) = self.interfaces.get(&by) else { return Ok(None) };
        let area = self.config.area_by(&interface.config);
        if interface.state == InterfaceState::Down || interface.config.passive {
            return Ok(None);
        }
        // RFC 2328, 8.2: what is sent to the designated router and its backup is for nobody else.
        if ip.dst == ALL_D_ROUTERS && !interface.is_designated() {
            return Ok(None);
        }
        let header = Header::parse(bytes).map_err(|error| error.to_string())?;
        if header.area == area {
            return Ok(Some((by, header)));
        }
        if header.area != BACKBONE || ip.dst.is_multicast() {
            return Err(format!("its area is {}, and here the area is {area}", header.area));
        }
        // RFC 2328, 8.2 (2): it has come by a virtual link through the area of the port.
        let router = header.router_id;
        let by = InterfaceName::Virtual(VirtualLink { area, router });
        match self.interfaces.get(&by) {
            Some(end) => Ok((end.state != InterfaceState::Down).then_some((by, header))),
            None => Err(format!(
                "it comes by a virtual link, and there is none to {router} through area {area} here"
            )),
        }
    }

    /// The cryptographic sequence number of a packet of an interface, if it has one, or why the packet is refused.
    fn accept(
        &self,
        now: Time,
        ip: &IpArrival,
        by: InterfaceName,
        header: &Header,
        bytes: &[u8],
    ) -> Result<Option<u32>, String> {
        let router_id = self.router_id;
        let Some(interface) = self.interfaces.get(&by) else { return Ok(None) };
        let mask = interface.mask().to_bits();
        let is_of_network = ip.src.to_bits() & mask == interface.address.to_bits() & mask;
        if interface.config.network == NetworkType::Broadcast && !is_of_network {
            let (network, len) = (interface.network(), interface.prefix_len);
            return Err(format!("its address is not of the network {network}/{len}"));
        }
        if header.router_id == router_id {
            return Err(format!("it has the router id {router_id} of this router"));
        }
        let sequence = interface.config.auth.verify(now, header, bytes)?;
        // RFC 2328, D.5.3 (2): a neighbour's sequence numbers never become less.
        let last = interface.neighbors.get(&interface.name_of(ip, header)).and_then(|one| one.sequence);
        match sequence.zip(last) {
            Some((sequence, last)) if sequence < last => {
                Err(format!("its cryptographic sequence number went back to {sequence}"))
            }
            _ => Ok(sequence),
        }
    }

    /// Takes a packet that has passed.
    fn take(&mut self, now: Time, ip: &IpArrival, by: InterfaceName, header: &Header, bytes: &[u8]) {
        let Some(interface) = self.interfaces.get(&by) else { return };
        let name = interface.name_of(ip, header);
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
            self.event(match by {
                InterfaceName::Port(port) => Event::OspfRefused { port, source, why },
                InterfaceName::Virtual(VirtualLink { area, router: router_id }) => {
                    Event::OspfVirtualRefused { router_id, area, source, why }
                }
            });
        }
    }
}

impl Interface {
    /// By which name a neighbour is known that a packet comes from (RFC 2328, 8.2).
    fn name_of(&self, ip: &IpArrival, header: &Header) -> Ipv4Addr {
        match self.config.network {
            NetworkType::PointToPoint => header.router_id,
            NetworkType::Broadcast => ip.src,
        }
    }
}
