//! Point-to-multipoint LSPs on the bus (RFC 4875).

mod errors;
mod make_before_break;
mod programmes;
mod protection;
mod remerge;
mod room;
mod setup;
mod several;
mod soft;

use super::bus::id;
use super::{Net, hops};
use crate::rsvp::command::{Command, PathRequest, ReservationStyle};
use crate::rsvp::{Event, Leaf, P2mpId, P2mpSpec, Signalling, TreeShape};
use base::plane::Prefix;
use base::{Rate, Span};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// RFC 4875, figure 1: A is 0, B is 1, and so on.
const FIGURE: [(char, char); 17] = [
    ('A', 'B'),
    ('B', 'E'),
    ('E', 'D'),
    ('D', 'C'),
    ('C', 'F'),
    ('D', 'G'),
    ('G', 'J'),
    ('J', 'N'),
    ('E', 'H'),
    ('H', 'K'),
    ('K', 'O'),
    ('H', 'L'),
    ('L', 'P'),
    ('H', 'I'),
    ('I', 'M'),
    ('M', 'Q'),
    ('Q', 'R'),
];

/// A square with a tail: 0 - 1 - 3 and 0 - 2 - 3, 3 - 4, and 1 - 5.
const SQUARE: [(usize, usize); 6] = [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (1, 5)];

fn node(letter: char) -> usize {
    letter as usize - 'A' as usize
}

fn figure() -> Vec<(usize, usize)> {
    FIGURE.iter().map(|&(a, b)| (node(a), node(b))).collect()
}

/// A leaf with an explicit route; it ends at the last node.
fn leaf(route: &[usize]) -> Leaf {
    Leaf { address: id(*route.last().expect("a leaf")), route: hops(route) }
}

/// A leaf with an explicit route by the letters of the figure.
fn lettered(route: &str) -> Leaf {
    leaf(&route.chars().map(node).collect::<Vec<_>>())
}

/// The six leaves of the figure.
fn six() -> Vec<Leaf> {
    ["BEDCF", "BEDGJN", "BEHKO", "BEHLP", "BEHIMQ", "BEHIMQR"].map(lettered).to_vec()
}

/// What the tree carries.
fn destination() -> Prefix {
    Prefix::host(Ipv4Addr::new(172, 16, 0, 1))
}

fn tree(leaves: Vec<Leaf>, mbps: u64) -> P2mpSpec {
    P2mpSpec {
        name: "tree".into(),
        p2mp_id: 7,
        tunnel_id: 1,
        leaves,
        signalling: Signalling::Together,
        shape: TreeShape::Shortest,
        path: PathRequest::default(),
        bandwidth: Rate::from_mbps(mbps),
        setup_priority: 7,
        holding_priority: 7,
        style: ReservationStyle::SharedExplicit,
        record_route: false,
        protection: None,
        groups: Vec::new(),
        carries: vec![destination()],
        filters: Vec::new(),
        watch: None,
        retry_first: Span::from_ms(100),
        retry_max: Span::from_secs(10),
    }
}

const ID: P2mpId = P2mpId { p2mp_id: 7, tunnel_id: 1 };

fn set(net: &mut Net, root: usize, spec: &P2mpSpec) {
    net.command(root, Command::P2mpSet(spec.clone().into()));
}

/// Each of these gets one copy, nobody else any, and none is lost.
fn assert_reached(net: &Net, root: usize, leaves: &[usize]) {
    let expected: BTreeMap<usize, usize> = leaves.iter().map(|&leaf| (leaf, 1)).collect();
    assert_eq!(net.copies(root, destination()), (expected, usize::from(leaves.is_empty())));
}

/// Errors that the root was told of: leaf, node, code, value.
fn errors(net: &Net) -> Vec<(Ipv4Addr, Ipv4Addr, u8, u16)> {
    let error = |(_, event): &(usize, Event)| match event {
        Event::LeafError { leaf, node, code, value, .. } => Some((*leaf, *node, *code, *value)),
        _ => None,
    };
    net.events.iter().filter_map(error).collect()
}
