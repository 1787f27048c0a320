//! What routers on the bus know of links, as a routing protocol would tell them.

use super::Net;
use super::bus::id;
use crate::owner::Owner;
use crate::services::te::{TeKey, TeLink, Towards};
use base::Rate;
use core::net::Ipv4Addr;

/// Tells every router of these links, which are all of the network, in their order.
pub(super) fn know_links(net: &mut Net, links: &[(usize, usize)]) {
    (0..links.len()).for_each(|link| know_link(net, links, link, true));
}

/// Tells every router that a link is there, or not any more.
pub(super) fn know_link(net: &mut Net, links: &[(usize, usize)], link: usize, is_there: bool) {
    know_link_as(net, links, link, is_there, |_| {});
}

/// The same of a link of which something else is said than usual.
pub(super) fn know_link_as(
    net: &mut Net,
    links: &[(usize, usize)],
    link: usize,
    is_there: bool,
    change: impl Fn(&mut TeLink),
) {
    let (a, b) = links[link];
    let on = |node| Ipv4Addr::new(10, 0, link as u8, if node == a { 1 } else { 2 });
    for (near, far) in [(a, b), (b, a)] {
        let key = TeKey { owner: Owner(0), area: 0, router: id(near), number: link as u32 };
        let mut said = TeLink {
            towards: Towards::Router(id(far)),
            local: on(near),
            remote: Some(on(far)),
            te_metric: Some(1),
            igp_metric: None,
            reservable: Rate::from_gbps(1),
            unreserved: [Rate::from_gbps(1); 8],
            groups: 0,
            srlgs: Vec::new(),
        };
        change(&mut said);
        for node in &mut net.nodes {
            let engineering = &mut node.services.engineering;
            if is_there { engineering.set_link(key, said.clone()) } else { engineering.remove_link(&key) }
        }
    }
}
