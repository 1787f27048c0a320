//! The routing table of routers, with the routes that are not in force.

use super::router::hop;
use crate::Network;
use base::plane::{IpPrefix, NextHop};
use base::table::{Rows, Shown, Table};
use control::services::{Rib, RouteHop, RoutePrefix};

base::table! {
    /// The routing table of each router: all routes of all sources, in force or not. What packets take is in `fib`.
    pub struct RibRow<'a> in "rib" key ["node", "prefix", "source"] {
        /// The router.
        node: &'a str,
        /// Destinations that take the route.
        prefix: Shown<IpPrefix>,
        /// Whence it comes: `connected`, `static`, or the protocol that has learnt it.
        source: String,
        /// Administrative distance: of the routes of a prefix the least wins.
        preference: u8,
        /// Among routes of one preference the least wins.
        metric: u32,
        /// A number for those who pass routes on; 0 if none was given.
        tag: u32,
        /// Where the source says that packets go: `local`, `discard`, a node, or an address to which another route
        /// leads.
        next_hops: Vec<String>,
        /// Where packets go, if the route is in force; none if another is better, or it does not resolve.
        active: Vec<String>,
    }
}

pub fn rib(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for (id, node, router) in network.routers(only) {
        let name = |next_hop: &NextHop| hop(network, id, *next_hop).to.into_owned();
        let services = router.control().services();
        push(&mut table, node, &services.rib.complete(), &name);
        push(&mut table, node, &services.rib6.complete(), &name);
    }
    table.finish()
}

/// The routes of a node for one family.
fn push<'a, P: RoutePrefix>(
    table: &mut Rows<RibRow<'a>>,
    node: &'a str,
    rib: &Rib<P>,
    name: &dyn Fn(&NextHop) -> String,
) {
    for (prefix, route, active) in rib.iter() {
        let wanted = route.hops.as_slice().iter().map(|hop| match *hop {
            RouteHop::Direct(next_hop) => name(&next_hop),
            RouteHop::Through(gateway) => gateway.into().to_string(),
        });
        table.push(RibRow {
            node,
            prefix: Shown(prefix.into()),
            source: route.source.word().into(),
            preference: route.preference,
            metric: route.metric,
            tag: route.tag,
            next_hops: wanted.collect(),
            active: active.unwrap_or_default().iter().map(name).collect(),
        });
    }
}
