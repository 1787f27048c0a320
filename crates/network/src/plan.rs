//! Addresses and ports of a whole network, the same in every process that runs a part of it.

use super::Link;
use super::addressing::{self, Links, overlap};
use super::atm;
use super::description::{Description, LinkSpec};
use super::kind::HostFacts;
use super::place::{Place, node_name};
use super::problem::AddressProblem;
use super::segment;
use super::spec::address::InterfaceAddress;
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use base::{LinkId, PortId};
use core::net::Ipv4Addr;
use std::collections::BTreeSet;

/// Ports and addresses of all links; ports are counted at each node in the order of its links.
pub fn links(description: &Description) -> Result<Vec<Link>, Diagnostic> {
    let segments = segment::addresses(description)?;
    let atm::Planned { mut circuits, mut paths } = atm::plan(description)?;
    let mut addresses = Links::new(description.nodes.len());
    let mut ports = vec![0u16; description.nodes.len()];
    let mut next = |node: usize| {
        let port = PortId(ports[node]);
        ports[node] += 1;
        port
    };
    let plan = |(index, spec): (usize, &LinkSpec)| {
        let (addresses, prefix_len) = match host_of(description, spec) {
            _ if segments.contains_key(&index) => segments[&index],
            Some(side) => match spec.addresses {
                Some(given)
                    if is_multihomed(description, [spec.a, spec.b][side])
                        || is_at_manager(description, spec, side) =>
                {
                    host_given(description, index, side, given)?
                }
                _ => host_link(description, index, spec, side)?,
            },
            None => match spec.addresses {
                Some(given) => given_link(description, index, given)?,
                None => match addresses.next(spec.a, spec.b) {
                    Some(given) => (given, 30),
                    None => {
                        let most = addressing::links_in_block(spec.a).max(addressing::links_in_block(spec.b));
                        let none = AddressProblem::NoneLeft { count: most };
                        return Err(none.of_link(description, index));
                    }
                },
            },
        };
        let ports = [next(spec.a), next(spec.b)];
        let mut circuit = circuits.remove(&index);
        if let Some(circuit) = &mut circuit
            && let [first, .., last] = circuit.through[..]
        {
            circuit.access = [next(first), next(last)];
        }
        let mut path = paths.remove(&index);
        if let Some(path) = &mut path
            && let ([first, ..], [.., last]) = (&path.through[..], &path.through[..])
        {
            path.access = [next(*first), next(*last)];
        }
        let mut spec = spec.clone();
        if let Some(circuit) = &circuit {
            spec.reservable = spec.reservable.or_else(|| atm::payload_rate(description, circuit));
        }
        Ok::<_, Diagnostic>(Link { spec, id: LinkId(0), ports, addresses, prefix_len, circuit, path })
    };
    let links: Vec<Link> = description.links.iter().enumerate().map(plan).collect::<Result<_, _>>()?;
    check_apart(description, &links)?;
    super::ipv6::check(description)?;
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

/// Does the link of a host with one lead to a node that is managed over it, and give the host its own address?
fn is_at_manager(description: &Description, spec: &LinkSpec, side: usize) -> bool {
    let (host, far) = ([spec.a, spec.b][side], [spec.a, spec.b][1 - side]);
    let given = spec.addresses.map(|given| given[side]);
    description.nodes[far].facts().managed
        && given.is_some()
        && given == host_facts(description, host).address
}

/// Refuses a host with several links, or none of its own address, that its links give no addresses.
pub fn check_host(description: &Description, host: usize) -> Result<(), Diagnostic> {
    let own = host_facts(description, host);
    if !is_multihomed(description, host) {
        return Ok(());
    }
    let mut links = description.links.iter().enumerate().filter(|(_, link)| link.a == host || link.b == host);
    let several = links.clone().count() > 1;
    if let Some((link, _)) = links.find(|(_, link)| link.addresses.is_none()) {
        return Err(match several {
            false => AddressProblem::NoAddress {}.of_node(description, host),
            true => {
                let host = node_name(description, host).to_string();
                AddressProblem::NoLinkAddresses { host }.of_link(description, link)
            }
        });
    }
    let refused = |problem: AddressProblem, key: &str| {
        Err(Diagnostic::new(problem).at(key).on_key().of_node(description, host))
    };
    if own.gateway.is_some() {
        return refused(AddressProblem::ManyGateways {}, "gateway");
    }
    match own.address {
        Some(own) if !addresses_of(description, host).any(|given| given == own) => {
            refused(AddressProblem::NotAmong { address: own.to_string() }, "address")
        }
        _ => Ok(()),
    }
}

/// At which end of a link a host is.
fn host_of(description: &Description, spec: &LinkSpec) -> Option<usize> {
    [spec.a, spec.b].iter().position(|&node| description.nodes[node].facts().host.is_some())
}

/// Addresses at the two ends of a link, and the length of their prefix.
pub(super) type Addresses = ([Ipv4Addr; 2], u8);

/// The host's address and that of the router's port towards it.
fn host_link(
    description: &Description,
    index: usize,
    spec: &LinkSpec,
    side: usize,
) -> Result<Addresses, Diagnostic> {
    let at = [spec.a, spec.b][side];
    let host = host_facts(description, at);
    let refused = |problem: AddressProblem, key: &str| {
        Err(Diagnostic::new(problem).at(key).on_key().of_node(description, at))
    };
    let Some(own) = host.address else {
        return Err(AddressProblem::NoAddress {}.of_node(description, at));
    };
    if spec.addresses.is_some() {
        let theirs = AddressProblem::HostsAddresses { host: node_name(description, at).into() };
        return Err(Diagnostic::new(theirs).at("addresses").on_key().of_link(description, index));
    }
    let prefix = own.prefix();
    if own.len > 31 {
        return refused(AddressProblem::NoRoom { address: own.to_string() }, "address");
    }
    if !own.is_usable(own.address) || !is_unicast(own.address) {
        return refused(AddressProblem::NotForHosts { address: own.to_string() }, "address");
    }
    if let Some(found) = reserved(description).find(|(taken, _)| overlap(*taken, prefix)) {
        return refused(collides(prefix, found), "address");
    }
    let mut others = (prefix.address().to_bits()..).take(3).map(Ipv4Addr::from_bits);
    let first = others.find(|a| own.is_usable(*a) && *a != own.address);
    let gateway = host.gateway.or(first).unwrap_or(own.address);
    if gateway == own.address {
        return refused(AddressProblem::OwnGateway { gateway: gateway.to_string() }, "gateway");
    }
    if !own.is_usable(gateway) {
        let (gateway, prefix) = (gateway.to_string(), prefix.to_string());
        return refused(AddressProblem::FarGateway { gateway, prefix }, "gateway");
    }
    let addresses = if side == 0 { [own.address, gateway] } else { [gateway, own.address] };
    Ok((addresses, own.len))
}

/// The addresses of a link of a host that has its addresses from its links.
fn host_given(
    description: &Description,
    index: usize,
    side: usize,
    given: [InterfaceAddress; 2],
) -> Result<Addresses, Diagnostic> {
    let addresses = given_link(description, index, given)?;
    let prefix = given[side].prefix();
    match reserved(description).find(|(taken, _)| overlap(*taken, prefix)) {
        Some(found) => {
            Err(Diagnostic::new(collides(prefix, found)).at("addresses").on_key().of_link(description, index))
        }
        None => Ok(addresses),
    }
}

pub(super) fn collides(prefix: Prefix, (taken, whose): (Prefix, &'static str)) -> AddressProblem {
    AddressProblem::Collides { prefix: prefix.to_string(), taken: taken.to_string(), whose }
}

/// Addresses that the user gave a link.
fn given_link(
    description: &Description,
    index: usize,
    given: [InterfaceAddress; 2],
) -> Result<Addresses, Diagnostic> {
    let [a, b] = given;
    let refused = |problem: AddressProblem| {
        Err(Diagnostic::new(problem).at("addresses").on_key().of_link(description, index))
    };
    if a.prefix() != b.prefix() || a.len != b.len {
        return refused(AddressProblem::TwoNetworks { first: a.to_string(), second: b.to_string() });
    }
    if a.address == b.address {
        return refused(AddressProblem::SameAddress { address: a.address.to_string() });
    }
    for own in given {
        if !own.is_usable(own.address) || !is_unicast(own.address) {
            return refused(AddressProblem::NotForInterfaces { address: own.to_string() });
        }
    }
    if let Some(found) = taken(description, a.prefix()) {
        return refused(collides(a.prefix(), found));
    }
    Ok(([a.address, b.address], a.len))
}

/// What a prefix that was given collides with: the blocks of this network's nodes, or its test networks.
pub(super) fn taken(description: &Description, prefix: Prefix) -> Option<(Prefix, &'static str)> {
    let first = addressing::block(0).address().to_bits();
    let end = addressing::end_of_blocks(description.nodes.len());
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

/// No two hosts or links that the user gave addresses may overlap, and a router id is one of the node's own addresses
/// or one that nobody else has.
fn check_apart(description: &Description, links: &[Link]) -> Result<(), Diagnostic> {
    // The host of a link that has its addresses from one.
    let host = |link: &Link| host_of(description, &link.spec).map(|side| link.ends()[side]);
    let standing = segment::joined(description);
    let segment = |link: &Link| segment::at(description, &link.spec).map(|node| standing[node]);
    let whose = |link: usize| match host(&links[link]) {
        _ if segment(&links[link]).is_some() => {
            let name = segment(&links[link]).map_or("", |segment| node_name(description, segment));
            format!("segment '{name}'")
        }
        Some(host) => format!("host '{}'", node_name(description, host)),
        None => {
            let [a, b] = links[link].ends().map(|end| node_name(description, end));
            format!("link {a} - {b}")
        }
    };
    let with_given = |link: &Link| host(link).is_some() || link.spec.addresses.is_some();
    // All links of a segment have one network.
    let mut segments = BTreeSet::new();
    let own = links.iter().enumerate().filter(|(_, link)| match segment(link) {
        Some(node) => segments.insert(node),
        None => with_given(link),
    });
    let mut given: Vec<(Prefix, usize)> =
        own.map(|(index, link)| (Prefix::new(link.addresses[0], link.prefix_len), index)).collect();
    // In order of address a prefix stands right before what lies in it.
    given.sort();
    for pair in given.windows(2) {
        let [first, second] = pair else { continue };
        if overlap(first.0, second.0) {
            // The one that was described later is the one to change.
            let (old, new) = if first.1 < second.1 { (first, second) } else { (second, first) };
            let (prefix, other) = (new.0.to_string(), old.0.to_string());
            let both = Diagnostic::new(AddressProblem::Overlap { prefix, other, whose: whose(old.1) });
            if let Some(node) = segment(&links[new.1]) {
                return Err(both.at("prefix").on_key().of_node(description, node));
            }
            return Err(match host(&links[new.1]) {
                Some(host) if links[new.1].spec.addresses.is_none() => {
                    both.at("address").on_key().of_node(description, host)
                }
                _ => both.at("addresses").on_key().of_link(description, new.1),
            });
        }
    }
    let refused = |problem: AddressProblem, node: usize| {
        Err(Diagnostic::new(problem).at("router_id").on_key().of_node(description, node))
    };
    let mut ids: Vec<(Ipv4Addr, usize)> = Vec::new();
    for (node, spec) in description.nodes.iter().enumerate() {
        let Some(id) = spec.router_id else { continue };
        ids.push((id, node));
        if !is_unicast(id) {
            return refused(AddressProblem::NotForRouters { address: id.to_string() }, node);
        }
        // The prefix that could hold it is the last that begins no later.
        let before = given.partition_point(|(prefix, ..)| prefix.address() <= id).checked_sub(1);
        if let Some(&(prefix, index)) = before.and_then(|place| given.get(place))
            && prefix.contains(id)
        {
            let link = &links[index];
            let own =
                link.ends().iter().zip(link.addresses).any(|(&end, address)| end == node && address == id);
            if !own {
                let (id, prefix) = (id.to_string(), prefix.to_string());
                return refused(AddressProblem::IdWithin { id, prefix, whose: whose(index) }, node);
            }
        } else if id != addressing::loopback(node)
            && let Some((taken, whose)) = taken(description, Prefix::host(id))
        {
            let (id, taken) = (id.to_string(), taken.to_string());
            return refused(AddressProblem::IdCollides { id, taken, whose }, node);
        }
    }
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => {
            let other = node_name(description, pair[0].1).to_string();
            refused(AddressProblem::IdTwice { id: pair[0].0.to_string(), other }, pair[1].1)
        }
        None => Ok(()),
    }
}
