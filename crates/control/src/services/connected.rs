//! Connected routes: the node's own addresses, and the networks of its interfaces, as long as these can be used.
//!
//! A port that goes down takes its networks and its own addresses there out of the routing table, as routers in the
//! field do; addresses of loopbacks stay. So nobody is told any more that there is a way to them, and packets to them
//! take another way if there is one.

use super::{InterfaceAddress, InterfaceKind, Interfaces, Rib, Route, RoutePrefix, Source};
use base::PortId;
use base::plane::{NextHop, Prefix, Prefix6};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The routing tables of both families as a node starts: all its ports can be used.
pub(super) fn tables(interfaces: &Interfaces) -> (Rib, Rib<Prefix6>) {
    let (mut rib, mut rib6) = (Rib::default(), Rib::default());
    rib.set(Prefix::host(interfaces.router_id), Route::connected(NextHop::Local));
    for address in interfaces.loopbacks6() {
        rib6.set(Prefix6::host(address), Route::connected(NextHop::Local));
    }
    for (port, interface) in interfaces.ports() {
        for own in &interface.addresses {
            match own.address {
                IpAddr::V4(address) => begin(&mut rib, port, address, own.prefix_len),
                IpAddr::V6(address) => begin(&mut rib6, port, address, own.prefix_len),
            }
        }
    }
    (rib, rib6)
}

/// Enters an address of a port: the network beyond, whose packets have no gateway, and the node's own.
fn begin<P: RoutePrefix>(rib: &mut Rib<P>, port: PortId, address: P::Address, len: u8) {
    rib.set(P::of(address, len), Route::connected(beyond(port, address.into())));
    rib.set(P::of(address, P::BITS), Route::connected(NextHop::Local));
}

/// A port can be used from now on, or can't: its routes come back, or are gone.
pub(super) fn port_changed(interfaces: &Interfaces, rib: &mut Rib, rib6: &mut Rib<Prefix6>, port: PortId) {
    let Some(interface) = interfaces.of_port(port) else { return };
    for own in &interface.addresses {
        match own.address {
            IpAddr::V4(address) => follow(interfaces, rib, address, own.prefix_len),
            IpAddr::V6(address) => follow(interfaces, rib6, address, own.prefix_len),
        }
    }
}

/// Brings the routes by an address of a port up to date.
fn follow<P: RoutePrefix>(interfaces: &Interfaces, rib: &mut Rib<P>, address: P::Address, len: u8) {
    let mut lengths = vec![len, P::BITS];
    lengths.dedup();
    for len in lengths {
        let prefix = P::of(address, len);
        match connected(interfaces, address.into(), len, len == P::BITS) {
            Some(next_hop) => rib.set(prefix, Route::connected(next_hop)),
            None => drop(rib.remove(prefix, Source::Connected)),
        }
    }
}

/// Where packets to the network of an address go by interfaces that can be used. Of several ports in one network the
/// last one has it.
fn connected(interfaces: &Interfaces, address: IpAddr, len: u8, is_host: bool) -> Option<NextHop> {
    let is_of = |own: &InterfaceAddress| own.prefix_len == len && own.is_beside(address);
    let mut found = None;
    for (_, interface) in interfaces.iter().filter(|(_, interface)| interface.up) {
        let mut all = interface.addresses.iter();
        if is_host && all.clone().any(|own| own.address == address) {
            return Some(NextHop::Local);
        }
        if let InterfaceKind::Port(port) = interface.kind
            && all.any(is_of)
        {
            found = Some(beyond(port, address));
        }
    }
    found
}

/// The next hop of a network right beyond a port.
const fn beyond(port: PortId, family_of: IpAddr) -> NextHop {
    let gateway = match family_of {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    NextHop::Via { port, gateway }
}

#[cfg(test)]
mod tests {
    use super::super::Interface;
    use super::*;

    /// Ports with these addresses.
    fn ports(all: &[&[(&str, u8)]]) -> Vec<Interface> {
        let own = |&(address, prefix_len): &(&str, u8)| InterfaceAddress {
            address: address.parse().expect("an address"),
            prefix_len,
        };
        let port = |(number, addresses): (u16, &&[(&str, u8)])| Interface {
            kind: InterfaceKind::Port(PortId(number)),
            addresses: addresses.iter().map(own).collect(),
            link_local: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        (0..).zip(all).map(port).collect()
    }

    #[test]
    fn what_another_port_or_a_loopback_has_too_stays() {
        let ports = ports(&[
            &[("10.0.0.1", 24), ("2001:db8::1", 64)],
            &[("10.0.0.2", 24), ("192.0.2.1", 32)],
            &[("10.0.9.0", 31), ("10.0.0.1", 30)],
        ]);
        let mut interfaces = Interfaces::new("n".into(), Ipv4Addr::new(192, 0, 2, 1), ports);
        let (mut rib, mut rib6) = tables(&interfaces);
        let mut set = |port: u16, up: bool| {
            interfaces.set_up(super::super::InterfaceId::of(PortId(port)), up);
            port_changed(&interfaces, &mut rib, &mut rib6, PortId(port));
            let v4 = |(prefix, hops): (Prefix, &[NextHop])| (prefix.to_string(), hops.to_vec());
            let v6 = |(prefix, hops): (Prefix6, &[NextHop])| (prefix.to_string(), hops.to_vec());
            rib.active().map(v4).chain(rib6.active().map(v6)).collect::<Vec<_>>()
        };
        let whole = set(0, true);
        let hop = |all: &[(String, Vec<NextHop>)], prefix: &str| {
            all.iter().find(|(known, _)| known == prefix).map(|(_, hops)| hops[0])
        };
        let network = "10.0.0.0/24";
        assert_eq!(hop(&whole, network), Some(beyond(PortId(1), Ipv4Addr::LOCALHOST.into())));
        // The other port in the network has it now, and a loopback the router's own address.
        let some = set(1, false);
        assert_eq!(hop(&some, network), Some(beyond(PortId(0), Ipv4Addr::LOCALHOST.into())));
        assert_eq!((hop(&some, "10.0.0.2/32"), hop(&some, "192.0.2.1/32")), (None, Some(NextHop::Local)));
        // Another port has the very address.
        let less = set(0, false);
        assert_eq!((hop(&less, network), hop(&less, "10.0.0.1/32")), (None, Some(NextHop::Local)));
        assert_eq!((hop(&less, "2001:db8::/64"), hop(&less, "2001:db8::1/128")), (None, None));
        let last = set(2, false);
        assert_eq!(last, [("192.0.2.1/32".to_string(), vec![NextHop::Local])]);
        (0..3).for_each(|port| drop(set(port, true)));
        assert_eq!(set(0, true), whole);
    }
}
