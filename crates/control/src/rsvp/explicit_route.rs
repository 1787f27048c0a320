//! Where a Path goes next (RFC 3209, 4.3.4): a pure function of the explicit route and of what this router knows.

use super::transport::Neighbor;
use core::net::Ipv4Addr;
use wire::rsvp::error_code::routing;
use wire::rsvp::{EroHop, EroSubobject};

/// What the selection of a next hop needs to know of the router.
pub(super) trait Topology {
    /// Is this router part of the abstract node?
    fn is_self(&self, node: &EroSubobject) -> bool;
    /// A neighbour that is part of the abstract node.
    fn adjacent(&self, node: &EroSubobject) -> Option<Neighbor>;
    /// The next hop towards an address by the routing table, and whether the route is for that host alone.
    fn route(&self, to: Ipv4Addr) -> Option<(Neighbor, bool)>;
    /// The way to the loose hop that comes next, or to the end of the tunnel where the route ends before it: addresses
    /// of the routers on it. Absent if there is none but that of the routing table, empty if there must be another and
    /// is none.
    fn expanded(&self) -> Option<&[Ipv4Addr]> {
        None
    }
    /// May the neighbour be part of the abstract node, as far as is known?
    fn may_be(&self, hop: Neighbor, node: &EroSubobject) -> bool;
}

/// What to do with a Path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The tunnel ends here.
    Egress,
    /// The Path goes on to a neighbour.
    Forward {
        /// The neighbour, and the port that it is beyond.
        hop: Neighbor,
        /// Subobjects that do not go on.
        consumed: u8,
        /// Strict hops to put before the rest.
        inserted: Vec<Ipv4Addr>,
    },
}

/// Selects the next hop, or names the value of a routing problem error.
///
/// `head` says that the route does not begin with this router: it is the ingress.
pub(super) fn select(
    hops: &[EroHop],
    head: bool,
    end_point: Ipv4Addr,
    topology: &impl Topology,
) -> Result<Step, u16> {
    // RFC 3209, 4.3.4.1, 2 and 3: as long as the subobject that follows is this router too, go on with it.
    let consumed = hops.iter().take_while(|hop| topology.is_self(&hop.node)).count();
    // RFC 3209, 4.3.6: what is not known matters where this router comes to it, and only there.
    if hops.get(consumed).is_some_and(|hop| is_unsupported(&hop.node)) {
        return Err(routing::BAD_EXPLICIT_ROUTE);
    }
    // RFC 3209, 4.3.4.1, 1: the first subobject must describe a node that this router is part of.
    if !head && consumed == 0 && !hops.is_empty() {
        return Err(routing::BAD_INITIAL_SUBOBJECT);
    }
    let end = EroSubobject::Ipv4 { address: end_point, prefix_length: 32 };
    let Some(hop) = hops.get(consumed) else {
        // The explicit route ends here; the rest of the way, if there is one, is up to the routing table.
        if topology.is_self(&end) {
            return Ok(Step::Egress);
        }
        if let Some(way) = topology.expanded() {
            return along(way, consumed, topology).ok_or(routing::NO_ROUTE);
        }
        let by_table = topology.route(end_point).map(|(hop, _)| hop);
        let hop = by_table.or_else(|| topology.adjacent(&end)).ok_or(routing::NO_ROUTE)?;
        return Ok(Step::Forward { hop, consumed: clamp(consumed), inserted: Vec::new() });
    };
    // The route leads on from the end of the tunnel, or comes back here.
    let returns = |hop: &EroHop| {
        matches!(hop.node, EroSubobject::Ipv4 { prefix_length: 32, .. }) && topology.is_self(&hop.node)
    };
    if topology.is_self(&end) || hops.iter().skip(consumed).any(returns) {
        return Err(routing::BAD_EXPLICIT_ROUTE);
    }
    // 6: the way to a loose node, where more is known than the next hop.
    if let (true, Some(way)) = (hop.loose, topology.expanded()) {
        return along(way, consumed, topology).ok_or(routing::BAD_LOOSE_NODE);
    }
    // 4: a neighbour in the next abstract node.
    if let Some(next) = topology.adjacent(&hop.node) {
        return Ok(Step::Forward { hop: next, consumed: clamp(consumed), inserted: Vec::new() });
    }
    let by_table = match hop.node {
        EroSubobject::Ipv4 { address, .. } => topology.route(address),
        _ => None,
    };
    // 5: a neighbour within this abstract node, on the way to the next; it stays first in the route.
    if let (Some(current), Some((next, _))) = (consumed.checked_sub(1).and_then(|i| hops.get(i)), by_table)
        && current.node.contains(next.address)
    {
        return Ok(Step::Forward { hop: next, consumed: clamp(consumed - 1), inserted: Vec::new() });
    }
    match by_table {
        // 6: any neighbour on the way to a loose node; 7: name it, so that it finds itself in the first subobject.
        Some((next, _)) if hop.loose => {
            Ok(Step::Forward { hop: next, consumed: clamp(consumed), inserted: vec![next.address] })
        }
        // A host route is all that is known of where a strict node is. If it is not the neighbour, that will say so.
        Some((next, true)) if topology.may_be(next, &hop.node) => {
            Ok(Step::Forward { hop: next, consumed: clamp(consumed), inserted: Vec::new() })
        }
        _ if hop.loose => Err(routing::BAD_LOOSE_NODE),
        _ => Err(routing::BAD_STRICT_NODE),
    }
}

/// The first step of a way whose hops go on in front of the rest.
fn along(way: &[Ipv4Addr], consumed: usize, topology: &impl Topology) -> Option<Step> {
    let hop = topology.adjacent(&EroSubobject::Ipv4 { address: *way.first()?, prefix_length: 32 })?;
    Some(Step::Forward { hop, consumed: clamp(consumed), inserted: way.to_vec() })
}

/// The route from the subobject on that this router comes to and does not know, if it comes to one (RFC 3209, 4.3.6).
pub(super) fn not_known(hops: &[EroHop], is_self: impl Fn(&EroSubobject) -> bool) -> Option<Vec<EroHop>> {
    let consumed = hops.iter().take_while(|hop| is_self(&hop.node)).count();
    let rest = hops.get(consumed..)?;
    rest.first().is_some_and(|hop| is_unsupported(&hop.node)).then(|| rest.to_vec())
}

/// Subobjects that this router can't follow (RFC 3209, 4.3.4.1).
fn is_unsupported(node: &EroSubobject) -> bool {
    !matches!(
        node,
        EroSubobject::Ipv4 { .. } | EroSubobject::Ipv6 { .. } | EroSubobject::AutonomousSystem { .. }
    )
}

fn clamp(consumed: usize) -> u8 {
    consumed.min(255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    /// This router is 10.0.0.1; neighbours 10.0.0.2 (port 2), 10.9.0.3 (port 3); a default route by port 3 for the
    /// rest of 10.0.0.0/8, host routes for 10.7.7.7.
    struct Here;
    const fn ip(c: u8, d: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, c, 0, d)
    }
    const NEIGHBOURS: [Neighbor; 2] =
        [Neighbor { port: PortId(2), address: ip(0, 2) }, Neighbor { port: PortId(3), address: ip(9, 3) }];

    impl Topology for Here {
        fn is_self(&self, node: &EroSubobject) -> bool {
            node.contains(ip(0, 1))
        }
        fn adjacent(&self, node: &EroSubobject) -> Option<Neighbor> {
            NEIGHBOURS.into_iter().find(|hop| node.contains(hop.address))
        }
        fn route(&self, to: Ipv4Addr) -> Option<(Neighbor, bool)> {
            let host = to == Ipv4Addr::new(10, 7, 7, 7);
            (to.octets()[0] == 10).then_some((NEIGHBOURS[1], host))
        }
        fn may_be(&self, hop: Neighbor, _: &EroSubobject) -> bool {
            hop == NEIGHBOURS[1]
        }
    }

    fn prefix(address: Ipv4Addr, prefix_length: u8, loose: bool) -> EroHop {
        EroHop { loose, node: EroSubobject::Ipv4 { address, prefix_length } }
    }
    fn forward(port: usize, consumed: u8, inserted: Option<Ipv4Addr>) -> Result<Step, u16> {
        Ok(Step::Forward { hop: NEIGHBOURS[port - 2], consumed, inserted: inserted.into_iter().collect() })
    }

    #[test]
    fn strict_routes() {
        let me = EroHop::strict(ip(0, 1));
        let far = EroHop::strict(ip(5, 5));
        let end = ip(5, 5);
        assert_eq!(select(&[me.clone(), EroHop::strict(ip(0, 2))], false, end, &Here), forward(2, 1, None));
        assert_eq!(select(&[EroHop::strict(ip(0, 2))], true, end, &Here), forward(2, 0, None));
        assert_eq!(
            select(&[EroHop::strict(ip(0, 2))], false, end, &Here),
            Err(routing::BAD_INITIAL_SUBOBJECT)
        );
        assert_eq!(select(&[me.clone(), far], false, end, &Here), Err(routing::BAD_STRICT_NODE));
        assert_eq!(select(std::slice::from_ref(&me), false, ip(0, 1), &Here), Ok(Step::Egress));
        assert_eq!(select(&[], false, ip(0, 1), &Here), Ok(Step::Egress));
        assert_eq!(select(&[me], false, end, &Here), forward(3, 1, None));
        let host = EroHop::strict(Ipv4Addr::new(10, 7, 7, 7));
        assert_eq!(select(&[host], true, end, &Here), forward(3, 0, None));
    }

    #[test]
    fn loose_routes_and_abstract_nodes() {
        let end = ip(5, 5);
        let me = EroHop::strict(ip(0, 1));
        assert_eq!(
            select(&[me.clone(), EroHop::loose(end)], false, end, &Here),
            forward(3, 1, Some(NEIGHBOURS[1].address))
        );
        let nowhere = EroHop::loose(Ipv4Addr::new(11, 0, 0, 1));
        assert_eq!(select(&[me.clone(), nowhere], false, end, &Here), Err(routing::BAD_LOOSE_NODE));
        // Both ends of the way lie within the abstract node: it stays first.
        let net = prefix(Ipv4Addr::new(10, 8, 0, 0), 13, false);
        let wide = prefix(Ipv4Addr::new(10, 0, 0, 0), 8, false);
        assert_eq!(select(&[wide, nowhere_but_routed()], false, end, &Here), forward(3, 0, None));
        assert_eq!(select(&[me, net], false, end, &Here), forward(3, 1, None));
    }
    fn nowhere_but_routed() -> EroHop {
        EroHop::strict(ip(66, 1))
    }

    #[test]
    fn routes_that_cannot_be() {
        let me = EroHop::strict(ip(0, 1));
        let label =
            EroHop { loose: false, node: EroSubobject::Label { upstream: false, c_type: 1, label: 5 } };
        let on = EroHop::strict(ip(0, 2));
        // What is not known counts where the router comes to it; the others pass it on.
        let refused = [me.clone(), me.clone(), label.clone(), on.clone()];
        assert_eq!(select(&refused, false, ip(5, 5), &Here), Err(routing::BAD_EXPLICIT_ROUTE));
        let is_self = |node: &EroSubobject| Here.is_self(node);
        assert_eq!(not_known(&refused, is_self), Some(vec![label.clone(), on.clone()]));
        assert_eq!(
            select(std::slice::from_ref(&label), false, ip(5, 5), &Here),
            Err(routing::BAD_EXPLICIT_ROUTE)
        );
        let passed = [me.clone(), on.clone(), label];
        assert_eq!(select(&passed, false, ip(5, 5), &Here), forward(2, 1, None));
        assert_eq!(not_known(&passed, is_self), None);
        let back = [me.clone(), on.clone(), me.clone(), EroHop::strict(ip(5, 5))];
        assert_eq!(select(&back, false, ip(5, 5), &Here), Err(routing::BAD_EXPLICIT_ROUTE));
        assert_eq!(select(&[me, on], false, ip(0, 1), &Here), Err(routing::BAD_EXPLICIT_ROUTE));
        assert_eq!(select(&[], false, Ipv4Addr::new(11, 0, 0, 1), &Here), Err(routing::NO_ROUTE));
    }
}
