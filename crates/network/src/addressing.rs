//! Addresses that the builder gives: a block from 100.64.0.0/10 (RFC 6598) for each node. The first 8,192 nodes have a
//! /24 each, the others a /28, so that there are enough for large networks.
//!
//! In a node's block `.1` is its loopback (router id), `.2` its tester's port, and the /30s from `.4` on are links: 63
//! of them in a /24, three in a /28; the node at either end may give the link its addresses. Every LSP has an address
//! of its own in 198.18.0.0/15, which is set apart for benchmarks (RFC 2544, appendix C.2.2); beyond 131,072 LSPs, in
//! 10.0.0.0/8 (RFC 1918). The test packets over the LSP go to it: since no two have the same, an egress that is a head
//! end too can't send them into an LSP of its own.
//!
//! Where a router has IPv6, what begins and ends beside it has addresses in the network that is set apart for
//! benchmarks of IPv6: a /64 for each of the first 16,384 nodes, a /80 for each of the others, and a /64 for what LSPs
//! take.

use base::plane::{Prefix, Prefix6};
use core::net::{Ipv4Addr, Ipv6Addr};

/// Nodes with a block of 256 addresses.
const WIDE: usize = 1 << 13;
/// The most nodes of a network.
pub const NODES_MAX: usize = WIDE + (1 << 17);
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
    Prefix::new(at(node, 0), if node < WIDE { 24 } else { 28 })
}
/// What lies behind the blocks of so many nodes: the first address that is nobody's.
pub fn end_of_blocks(nodes: usize) -> u32 {
    at(nodes, 0).to_bits()
}
/// Links whose addresses the block of a node holds.
pub fn links_in_block(node: usize) -> u32 {
    if node < WIDE { 63 } else { 3 }
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
    Prefix6::new(of_node6(node, 0), if node < OWN6 { 64 } else { 80 })
}
/// The IPv6 address of the tester's port of a node.
pub fn probe6(node: usize) -> Ipv6Addr {
    of_node6(node, 2)
}
/// The IPv6 address of the router on that port.
pub fn beside6(node: usize) -> Ipv6Addr {
    of_node6(node, 3)
}
/// Where test packets of IPv6 over LSPs go.
pub fn test_network6() -> Prefix6 {
    Prefix6::new(at6(TESTS6, 0), 64)
}
/// Destination of the test packets of IPv6 over the `index`-th LSP of the network.
pub fn test_address6(index: u32) -> Ipv6Addr {
    at6(TESTS6, index)
}

/// Nodes with an IPv6 network of their own.
const OWN6: usize = 1 << 14;
/// Beyond the networks of all nodes.
const TESTS6: u16 = 0x8000;
const _: () = assert!(OWN6 + (NODES_MAX >> 16) < TESTS6 as usize);

fn of_node6(node: usize, offset: u32) -> Ipv6Addr {
    if node < OWN6 {
        return at6(node as u16, offset);
    }
    // 65,536 nodes share a network: the half behind it has their lower 16 bits.
    let shared = at6((OWN6 + (node >> 16)) as u16, offset);
    Ipv6Addr::from_bits(shared.to_bits() | u128::from(node as u16) << 48)
}

fn at6(network: u16, offset: u32) -> Ipv6Addr {
    let base = Ipv6Addr::new(0x2001, 2, 0, network, 0, 0, 0, 0);
    Ipv6Addr::from_bits(base.to_bits() + u128::from(offset))
}

/// Have two prefixes an address in common?
pub fn overlap(a: Prefix, b: Prefix) -> bool {
    a.contains(b.address()) || b.contains(a.address())
}

fn at(node: usize, offset: u32) -> Ipv4Addr {
    let (wide, narrow) = (node.min(WIDE) as u32, node.saturating_sub(WIDE) as u32);
    Ipv4Addr::from_bits(blocks().address().to_bits() + (wide << 8) + (narrow << 4) + offset)
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
        let order = if self.used[a] <= self.used[b] { [a, b] } else { [b, a] };
        let owner = order.into_iter().find(|owner| self.used[*owner] < links_in_block(*owner))?;
        let place = self.used[owner];
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
    fn blocks_lie_side_by_side() {
        assert_eq!(
            (block(WIDE - 1).to_string(), block(WIDE).to_string()),
            ("100.95.255.0/24".into(), "100.96.0.0/28".into())
        );
        assert_eq!(
            (loopback(WIDE + 1).to_string(), probe(WIDE + 1).to_string()),
            ("100.96.0.17".into(), "100.96.0.18".into())
        );
        assert_eq!(block(NODES_MAX - 1).to_string(), "100.127.255.240/28");
        let beyond = blocks().address().to_bits() + (1 << 22);
        assert_eq!(end_of_blocks(NODES_MAX), beyond);
        for node in [0, 1, WIDE - 1, WIDE, WIDE + 1, NODES_MAX - 1] {
            assert!(blocks().contains(block(node).address()) && block(node).contains(probe(node)));
            assert_eq!(end_of_blocks(node), block(node).address().to_bits());
        }
    }

    #[test]
    fn links_have_addresses_in_the_block_of_an_end_that_has_room() {
        let mut links = Links::new(WIDE + 2);
        for place in 0..6 {
            let first = links.next(WIDE, WIDE + 1).expect("room")[0];
            assert!(block(WIDE + place % 2).contains(first), "{first}");
        }
        assert_eq!(links.next(WIDE, WIDE + 1), None);
        // A node with a large block gives addresses when that of the other is full, however many it has given.
        for _ in 0..63 {
            assert!(block(7).contains(links.next(7, WIDE).expect("room")[1]));
        }
        assert_eq!(links.next(7, WIDE), None);
    }

    #[test]
    fn addresses_of_ipv6_tests_lie_in_their_networks() {
        assert_eq!(probe6(OWN6 - 1).to_string(), "2001:2:0:3fff::2");
        assert_eq!(probe6(OWN6).to_string(), "2001:2:0:4000:4000::2");
        assert_eq!(block6(NODES_MAX - 1).to_string(), "2001:2:0:4002:1fff::/80");
        assert_eq!(test_address6(LSPS_MAX - 1).to_string(), "2001:2:0:8000::101:ffff");
        let all = [probe6(0), beside6(5), test_address6(0), test_address6(LSPS_MAX - 1)];
        assert!(all.into_iter().all(|address| benchmarks6().contains(address)));
        assert!(block6(5).contains(beside6(5)) && !block6(4).contains(probe6(5)));
        assert!(test_network6().contains(all[3]) && !test_network6().contains(probe6(NODES_MAX - 1)));
    }
}
