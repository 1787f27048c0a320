//! Names of nodes and links, for people, in place of their numbers.

use network::Network;
use serde_json::Value;
use std::net::IpAddr;

type Named<T> = Result<T, String>;

/// A node by name or by place.
pub fn node(network: &Network, given: &Value) -> Named<usize> {
    let nodes = &network.description().nodes;
    match given {
        Value::String(name) => named_node(network, name),
        Value::Number(number) => {
            let place = number.as_u64().and_then(|place| usize::try_from(place).ok());
            let place = place.filter(|&place| place < nodes.len());
            place.ok_or(format!("node {number} of {}", nodes.len()))
        }
        other => Err(format!("{other} is not a node: its name is needed")),
    }
}

/// A node by name.
pub fn named_node(network: &Network, name: &str) -> Named<usize> {
    let place = network.description().nodes.iter().position(|node| node.name == name);
    place.ok_or(format!("no node is named '{name}'"))
}

/// A link by place, or by the names of its ends: `["a", "b"]`; the first of several.
pub fn link(network: &Network, given: &Value) -> Named<usize> {
    let links = network.links();
    match given {
        Value::Number(number) => {
            let place = number.as_u64().and_then(|place| usize::try_from(place).ok());
            let place = place.filter(|&place| place < links.len());
            place.ok_or(format!("link {number} of {}", links.len()))
        }
        Value::Array(ends) if ends.len() == 2 => {
            let (a, b) = (node(network, &ends[0])?, node(network, &ends[1])?);
            let joins = |link: &network::Link| {
                let spec = &link.spec;
                (spec.a, spec.b) == (a, b) || (spec.a, spec.b) == (b, a)
            };
            links.iter().position(joins).ok_or(format!("no link joins {} and {}", ends[0], ends[1]))
        }
        other => Err(format!("{other} is not a link: its place or the names of its two ends are needed")),
    }
}

/// Whose an address is.
pub fn owner(network: &Network, address: IpAddr) -> Option<&str> {
    let nodes = &network.description().nodes;
    let address = match address {
        IpAddr::V4(address) => address,
        IpAddr::V6(address) => return Some(nodes[network.owner6(address)?].name.as_str()),
    };
    let loopback = (0..nodes.len()).find(|&node| network.loopback(node) == address);
    let at_link = || {
        network.links().iter().find_map(|link| {
            let side = link.addresses.iter().position(|&own| own == address)?;
            Some(if side == 0 { link.spec.a } else { link.spec.b })
        })
    };
    Some(nodes[loopback.or_else(at_link)?].name.as_str())
}
