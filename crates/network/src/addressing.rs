//! Addresses that the builder gives: a /24 from 100.64.0.0/10 (RFC 6598) for each node.
//!
//! In a node's block `.1` is its loopback (router id), `.2` its tester's port, and the /30s from `.4` on are links: 63
//! of them; the node at either end may give the link its addresses. Every LSP has an address of its own in
//! 198.18.0.0/15, which is set apart for benchmarks (RFC 2544, appendix C.2.2); beyond 131,072 LSPs, in 10.0.0.0/8 (RFC
//! 1918). The test packets over the LSP go to it: since no two have the same, an egress that is a head end too can't
//! send them into an LSP of its own.
//!
//! Where a router has IPv6, what begins and ends beside it has addresses in the network that is set apart for
//! benchmarks of IPv6: a /64 for each node, and one for what LSPs take.

use base::plane::{Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};

/// The most nodes of a network.
pub const NODES_MAX: usize = 1 << 14;
/// Links whose addresses one node's block holds.
pub const LINKS_PER_BLOCK: u32 = 63;
/// LSPs whose test packets go to the first of the test networks.
pub const FIRST_TESTS: u32 = 1 << 17;
/// The most LSPs of a network.
pub const LSPS_MAX: u32 = FIRST_TESTS + (1 << 24);

/// What all blocks lie in.
pub fn blocks() -> Prefix {
    Prefix::new(Ipv4Addr::new(100, 64, 0, 0), 10)
}
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
/// Where test packets over LSPs go; the second is used by networks with more than [`FIRST_TESTS`] LSPs.
pub fn test_networks() -> [Prefix; 2] {
    [Prefix::new(Ipv4Addr::new(198, 18, 0, 0), 15), Prefix::new(Ipv4Addr::new(10, 0, 0, 0), 8)]
}
/// Those of them that `lsps` LSPs need.
pub fn test_networks_of(lsps: u32) -> impl Iterator<Item = Prefix> {
    test_networks().into_iter().take(if lsps > FIRST_TESTS { 2 } else { 1 })
}
/// Destination of the test packets over the `index`-th LSP of the network.
pub fn test_address(index: u32) -> Ipv4Addr {
    let [first, second] = test_networks().map(|network| network.address().to_bits());
    Ipv4Addr::from_bits(match index.checked_sub(FIRST_TESTS) {
        None => first + index,
        Some(beyond) => second + beyond,
    })
}

/// What tests of IPv6 lie in (RFC 5180, 8; 2001:2::/48 by its erratum 1752).
pub fn benchmarks6() -> Prefix6 {
    Prefix6::new(Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 0), 48)
}
/// The IPv6 network of the tester's port of a node.
pub fn block6(node: usize) -> Prefix6 {
    Prefix6::new(at6(node as u16, 0), 64)
}
/// The IPv6 address of the tester's port of a node.
pub fn probe6(node: usize) -> Ipv6Addr {
    at6(node as u16, 2)
}
/// The IPv6 address of the router on that port.
pub fn beside6(node: usize) -> Ipv6Addr {
    at6(node as u16, 3)
}
/// Where test packets of IPv6 over LSPs go.
pub fn test_network6() -> Prefix6 {
    Prefix6::new(at6(TESTS6, 0), 64)
}
/// Destination of the test packets of IPv6 over the `index`-th LSP of the network.
pub fn test_address6(index: u32) -> Ipv6Addr {
    at6(TESTS6, index)
}

/// Beyond the numbers of all nodes.
const TESTS6: u16 = 0x8000;
const _: () = assert!(NODES_MAX <= TESTS6 as usize);

fn at6(network: u16, offset: u32) -> Ipv6Addr {
    let base = Ipv6Addr::new(0x2001, 2, 0, network, 0, 0, 0, 0);
    Ipv6Addr::from_bits(base.to_bits() + u128::from(offset))
}

/// Have two prefixes an address in common?
pub fn overlap(a: Prefix, b: Prefix) -> bool {
    a.contains(b.address()) || b.contains(a.address())
}

fn at(node: usize, offset: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(blocks().address().to_bits() + ((node as u32) << 8) + offset)
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

    /// The addresses of the next link between nodes `a` and `b`, of prefix length 30; nothing if the blocks of both are
    /// used up.
    pub fn next(&mut self, a: usize, b: usize) -> Option<[Ipv4Addr; 2]> {
        let owner = if self.used[a] <= self.used[b] { a } else { b };
        let place = self.used[owner];
        if place >= LINKS_PER_BLOCK {
            return None;
        }
        self.used[owner] += 1;
        let base = 4 + 4 * place;
        Some([at(owner, base + 1), at(owner, base + 2)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_addresses_lie_in_the_test_networks_and_differ() {
        let [first, second] = test_networks();
        assert!(first.contains(test_address(0)) && first.contains(test_address(FIRST_TESTS - 1)));
        assert_eq!(test_address(FIRST_TESTS - 1), Ipv4Addr::new(198, 19, 255, 255));
        assert_eq!(test_address(FIRST_TESTS), second.address());
        assert!(second.contains(test_address(LSPS_MAX - 1)));
        assert_eq!(test_networks_of(FIRST_TESTS).count(), 1);
        assert_eq!(test_networks_of(FIRST_TESTS + 1).count(), 2);
    }

    #[test]
    fn addresses_of_ipv6_tests_lie_in_their_networks() {
        assert_eq!(probe6(NODES_MAX - 1).to_string(), "2001:2:0:3fff::2");
        assert_eq!(test_address6(LSPS_MAX - 1).to_string(), "2001:2:0:8000::101:ffff");
        let all = [probe6(0), beside6(5), test_address6(0), test_address6(LSPS_MAX - 1)];
        assert!(all.into_iter().all(|address| benchmarks6().contains(address)));
        assert!(block6(5).contains(beside6(5)) && !block6(4).contains(probe6(5)));
        assert!(test_network6().contains(all[3]) && !test_network6().contains(probe6(NODES_MAX - 1)));
    }
}
