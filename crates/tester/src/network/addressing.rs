//! Addresses that the builder gives: a /24 from 100.64.0.0/10 (RFC 6598) for each node.
//!
//! In a node's block `.1` is its loopback (router id), `.2` its tester's port, and the /30s from `.4` on are links: 63 of them; the
//! node at either end may give the link its addresses. Every LSP has an address of its own in 10.0.0.0/8 (RFC 1918), to which the
//! test packets over it go: since no two have the same, an egress that is a head end too can't send them into an LSP of its own.

use super::error::{NetworkError, input};
use base::plane::Prefix;
use core::net::Ipv4Addr;

/// The most nodes of a network.
pub const NODES_MAX: usize = 1 << 14;
/// Links whose addresses one node's block holds.
const LINKS_PER_BLOCK: u32 = 63;
/// The most LSPs of a network.
pub const LSPS_MAX: u32 = 1 << 24;

/// The block of a node.
pub fn block(node: usize) -> Prefix {
    Prefix::new(at(node, 0), 24)
}
/// The loopback of a node.
pub fn loopback(node: usize) -> Ipv4Addr {
    at(node, 1)
}
/// The tester's port of a node.
pub fn probe(node: usize) -> Ipv4Addr {
    at(node, 2)
}
/// Where all test packets over LSPs go.
pub fn test_network() -> Prefix {
    Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8)
}
/// Destination of the test packets over the `index`-th LSP of the network.
pub fn test_address(index: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(test_network().address().to_bits() + index)
}

fn at(node: usize, offset: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(100, 64, 0, 0).to_bits() + ((node as u32) << 8) + offset)
}

/// Gives links their addresses.
#[derive(Debug)]
pub struct Links {
    used: Vec<u32>,
}

impl Links {
    /// No link yet, among so many nodes.
    pub fn new(nodes: usize) -> Links {
        Links { used: vec![0; nodes] }
    }

    /// The addresses of the next link between nodes `a` and `b`, of prefix length 30.
    pub fn next(&mut self, a: usize, b: usize) -> Result<[Ipv4Addr; 2], NetworkError> {
        let owner = if self.used[a] <= self.used[b] { a } else { b };
        let place = self.used[owner];
        if place >= LINKS_PER_BLOCK {
            return input(format!(
                "nodes {a} and {b} have {LINKS_PER_BLOCK} links or more each: between two such nodes there are no addresses left"
            ));
        }
        self.used[owner] += 1;
        let base = 4 + 4 * place;
        Ok([at(owner, base + 1), at(owner, base + 2)])
    }
}
