//! Addresses and ports of a whole network, the same in every process that runs a part of it.

use super::Link;
use super::addressing::{self, Links, overlap};
use super::description::{Description, InterfaceAddress, LinkSpec};
use super::error::{NetworkError, input};
use super::kind::HostFacts;
use base::plane::Prefix;
use base::{LinkId, PortId};
use core::net::Ipv4Addr;

/// Ports and addresses of all links; ports are counted at each node in the order of its links.
pub fn links(description: &Description) -> Result<Vec<Link>, NetworkError> {
    let mut addresses = Links::new(description.nodes.len());
    let mut ports = vec![0u16; description.nodes.len()];
    let mut next = |node: usize| {
        let port = PortId(ports[node]);
        ports[node] += 1;
        port
    };
    let plan = |(index, spec): (usize, &LinkSpec)| {
        let (addresses, prefix_len) = match host_of(description, spec) {
            Some(side) => match spec.addresses {
                Some(given) if is_multihomed(description, [spec.a, spec.b][side]) => {
                    host_given(description, index, spec, side, given)?
                }
                _ => host_link(description, index, spec, side)?,
            },
            None => match spec.addresses {
                Some(given) => given_link(description, index, spec, given)?,
                None => (addresses.next(spec.a, spec.b)?, 30),
            },
        };
        let ports = [next(spec.a), next(spec.b)];
        Ok::<_, NetworkError>(Link { spec: spec.clone(), id: LinkId(0), ports, addresses, prefix_len })
    };
    let links: Vec<Link> = description.links.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
    check_apart(description, &links)?;
    Ok(links)
}

/// Router id of a node, given or not; of a host, its address.
pub fn loopback(description: &Description, node: usize) -> Ipv4Addr {
    let spec = description.nodes.get(node);
    let host = spec.and_then(|n| n.facts().host);
    let own = || host.and_then(|host| host.address).map(|own| own.address);
    let given = spec.and_then(|n| n.router_id).or_else(own);
    let first = || host.and_then(|_| addresses_of(description, node).next()).map(|own| own.address);
    given.or_else(first).unwrap_or_else(|| addressing::loopback(node))
}

/// The addresses that links give a node, in their order.
fn addresses_of(description: &Description, node: usize) -> impl Iterator<Item = InterfaceAddress> {
    let own = move |link: &LinkSpec| {
        let side = [link.a, link.b].iter().position(|&end| end == node)?;
        link.addresses.map(|given| given[side])
    };
    description.links.iter().filter_map(own)
}

/// The addresses that a host's description gives it.
fn host_facts(description: &Description, host: usize) -> HostFacts {
    description.nodes[host].facts().host.unwrap_or_default()
}

/// Has a host its addresses from its links?
pub fn is_multihomed(description: &Description, host: usize) -> bool {
    let links = description.links.iter().filter(|link| link.a == host || link.b == host).count();
    links > 1 || host_facts(description, host).address.is_none()
}

/// Refuses a host with several links, or none of its own address, that its links give no addresses.
pub fn check_host(description: &Description, host: usize) -> Result<(), NetworkError> {
    let name = &description.nodes[host].name;
    let own = host_facts(description, host);
    if !is_multihomed(description, host) {
        return Ok(());
    }
    let mut links = description.links.iter().enumerate().filter(|(_, link)| link.a == host || link.b == host);
    let several = links.clone().count() > 1;
    if let Some((link, _)) = links.find(|(_, link)| link.addresses.is_none()) {
        return input(match several {
            false => format!("host '{name}' has no address: say one such as 10.1.0.2/24"),
            true => {
                format!("host '{name}' has several links: link {link} must say its 'addresses' at both ends")
            }
        });
    }
    if own.gateway.is_some() {
        return input(format!("host '{name}': its gateways are at the other ends of its links"));
    }
    match own.address {
        Some(own) if !addresses_of(description, host).any(|given| given == own) => {
            input(format!("host '{name}': {own} is not among the addresses that its links give it"))
        }
        _ => Ok(()),
    }
}

/// At which end of a link a host is.
fn host_of(description: &Description, spec: &LinkSpec) -> Option<usize> {
    [spec.a, spec.b].iter().position(|&node| description.nodes[node].facts().host.is_some())
}

type Addresses = ([Ipv4Addr; 2], u8);

/// The host's address and that of the router's port towards it.
fn host_link(
    description: &Description,
    index: usize,
    spec: &LinkSpec,
    side: usize,
) -> Result<Addresses, NetworkError> {
    let at = [spec.a, spec.b][side];
    let (name, host) = (&description.nodes[at].name, host_facts(description, at));
    let Some(own) = host.address else { return input(format!("host '{name}' has no address")) };
    if spec.addresses.is_some() {
        return input(format!("link {index}: its addresses are those of host '{name}' and its gateway"));
    }
    let prefix = own.prefix();
    if own.len > 31 {
        return input(format!("host '{name}': {own}: there is no room for its gateway in the prefix"));
    }
    if !own.is_usable(own.address) || !is_unicast(own.address) {
        return input(format!("host '{name}': {own}: not an address that a host can have"));
    }
    for (taken, whose) in reserved(description) {
        if overlap(taken, prefix) {
            return input(format!("host '{name}': {prefix} collides with {taken}, {whose}"));
        }
    }
    let mut others = (prefix.address().to_bits()..).take(3).map(Ipv4Addr::from_bits);
    let first = others.find(|a| own.is_usable(*a) && *a != own.address);
    let gateway = host.gateway.or(first).unwrap_or(own.address);
    if gateway == own.address {
        return input(format!("host '{name}': its gateway {gateway} is its own address"));
    }
    if !own.is_usable(gateway) {
        return input(format!(
            "host '{name}': its gateway {gateway} is not an address of a router in {prefix}"
        ));
    }
    let addresses = if side == 0 { [own.address, gateway] } else { [gateway, own.address] };
    Ok((addresses, own.len))
}

/// The addresses of a link of a host that has its addresses from its links.
fn host_given(
    description: &Description,
    index: usize,
    spec: &LinkSpec,
    side: usize,
    given: [InterfaceAddress; 2],
) -> Result<Addresses, NetworkError> {
    let addresses = given_link(description, index, spec, given)?;
    let name = &description.nodes[[spec.a, spec.b][side]].name;
    let prefix = given[side].prefix();
    match reserved(description).find(|(taken, _)| overlap(*taken, prefix)) {
        Some((taken, whose)) => input(format!("host '{name}': {prefix} collides with {taken}, {whose}")),
        None => Ok(addresses),
    }
}

/// Addresses that the user gave a link.
fn given_link(
    description: &Description,
    index: usize,
    spec: &LinkSpec,
    given: [InterfaceAddress; 2],
) -> Result<Addresses, NetworkError> {
    let [a, b] = given;
    let names = [spec.a, spec.b].map(|node| description.nodes[node].name.as_str());
    let what = format!("link {index} ('{}' to '{}')", names[0], names[1]);
    if a.prefix() != b.prefix() || a.len != b.len {
        return input(format!("{what}: {a} and {b} are not in one network"));
    }
    if a.address == b.address {
        return input(format!("{what}: both ends have the address {}", a.address));
    }
    for own in given {
        if !own.is_usable(own.address) || !is_unicast(own.address) {
            return input(format!("{what}: {own}: not an address that an interface can have"));
        }
    }
    if let Some((taken, whose)) = taken(description, a.prefix()) {
        return input(format!("{what}: {} collides with {taken}, {whose}", a.prefix()));
    }
    Ok(([a.address, b.address], a.len))
}

/// What a prefix that was given collides with: the blocks of this network's nodes, or its test networks.
fn taken(description: &Description, prefix: Prefix) -> Option<(Prefix, &'static str)> {
    let first = addressing::block(0).address().to_bits();
    let end = first + ((description.nodes.len() as u32) << 8);
    let last = prefix.address().to_bits() | u32::MAX.checked_shr(u32::from(prefix.len())).unwrap_or(0);
    if prefix.address().to_bits() < end && last >= first {
        return Some((addressing::blocks(), "from which nodes and links without any have their addresses"));
    }
    let mut tests = addressing::test_networks_of(lsps_of(description));
    Some((tests.find(|test| overlap(*test, prefix))?, "to which test packets over LSPs go"))
}

/// Prefixes in which no host may be, and why.
fn reserved(description: &Description) -> impl Iterator<Item = (Prefix, &'static str)> {
    let tests = addressing::test_networks_of(lsps_of(description));
    let tests = tests.map(|prefix| (prefix, "to which test packets over LSPs go"));
    tests.chain([(addressing::blocks(), "from which routers and links have their addresses")])
}

fn lsps_of(description: &Description) -> u32 {
    description.lsps.iter().fold(0, |sum: u32, group| sum.saturating_add(group.count))
}

fn is_unicast(address: Ipv4Addr) -> bool {
    !(address.is_multicast() || address.is_loopback() || address.is_broadcast() || address.octets()[0] == 0)
}

/// No two hosts or links that the user gave addresses may overlap, and a router id is one of the node's own addresses or one that
/// nobody else has.
fn check_apart(description: &Description, links: &[Link]) -> Result<(), NetworkError> {
    let mut given: Vec<(Prefix, usize, String)> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let prefix = Prefix::new(link.addresses[0], link.prefix_len);
        if let Some(side) = host_of(description, &link.spec) {
            let host = &description.nodes[link.ends()[side]];
            given.push((prefix, index, format!("host '{}'", host.name)));
        } else if link.spec.addresses.is_some() {
            given.push((prefix, index, format!("link {index}")));
        }
    }
    // In order of address a prefix stands right before what lies in it.
    given.sort();
    for pair in given.windows(2) {
        let [(a, _, first), (b, _, second)] = pair else { continue };
        if overlap(*a, *b) {
            return input(format!("{first} ({a}) and {second} ({b}) overlap"));
        }
    }
    let mut ids: Vec<(Ipv4Addr, &str)> = Vec::new();
    for (node, spec) in description.nodes.iter().enumerate() {
        let Some(id) = spec.router_id else { continue };
        let name = &spec.name;
        ids.push((id, name));
        if !is_unicast(id) {
            return input(format!("node '{name}': router_id={id}: not an address that a router can have"));
        }
        // The prefix that could hold it is the last that begins no later.
        let before = given.partition_point(|(prefix, ..)| prefix.address() <= id).checked_sub(1);
        if let Some((prefix, link, whose)) = before.and_then(|place| given.get(place))
            && prefix.contains(id)
        {
            let link = &links[*link];
            let own =
                link.ends().iter().zip(link.addresses).any(|(&end, address)| end == node && address == id);
            if !own {
                return input(format!(
                    "node '{name}': router_id={id} lies in {prefix}, which is that of {whose}"
                ));
            }
        } else if id != addressing::loopback(node)
            && let Some((taken, whose)) = taken(description, Prefix::host(id))
        {
            return input(format!("node '{name}': router_id={id} collides with {taken}, {whose}"));
        }
    }
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            input(format!("nodes '{}' and '{}' both have router_id={}", pair[0].1, pair[1].1, pair[0].0))
        }
        None => Ok(()),
    }
}
