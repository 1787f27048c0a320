//! The table of IGMP.

use super::Igmp;
use base::table::{RowsOf, Table, View};
use base::{PortId, Time};
use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

/// The tables of IGMP.
pub(super) const VIEWS: &[View] = &[View::of::<Igmp, GroupRow<'static>>()];

base::table! {
    /// The groups that hosts on the links of routers want, as IGMP has heard it, and those that are wanted there
    /// whatever they say.
    pub struct GroupRow<'a> in "groups" key ["node", "port", "group", "is_static"] {
        /// The router.
        node: &'a str,
        /// The port of the link.
        port: PortId,
        /// The group.
        group: Ipv4Addr,
        /// `include`: only some sources are wanted; `exclude`: all but some.
        mode: &'static str,
        /// Is this what `static_groups` says, and not what hosts do?
        is_static: bool,
        /// The sources that are wanted (`include`), or asked for by somebody (`exclude`); absent if there are none.
        sources: Option<String>,
        /// The sources that nobody wants (`exclude`); absent if there are none.
        excluded: Option<String>,
        /// The router that asks on the link; absent if it is this one.
        querier: Option<Ipv4Addr>,
        /// When the mode falls back to `include` if nobody reports the group; absent in that mode.
        expires_s: Option<Time> = "s",
    }
}

impl RowsOf<Igmp> for GroupRow<'static> {
    fn rows(igmp: &Igmp, node: &str, to: &mut Table) {
        for (port, link) in &igmp.listeners.links {
            for (group, known) in &link.groups {
                let those = |running: bool| {
                    let all = known.sources.iter().filter(|(_, end)| end.is_some() == running);
                    let all: Vec<String> = all.map(|(source, _)| source.to_string()).collect();
                    (!all.is_empty()).then(|| all.join(" "))
                };
                to.push(GroupRow {
                    node,
                    port: *port,
                    group: *group,
                    mode: if known.expires.is_some() { "exclude" } else { "include" },
                    is_static: false,
                    sources: those(true),
                    excluded: those(false),
                    querier: link.querier,
                    expires_s: known.expires,
                });
            }
        }
        let mut statics: BTreeMap<(PortId, IpAddr), Vec<Option<IpAddr>>> = BTreeMap::new();
        for (port, key) in &igmp.listeners.static_groups {
            statics.entry((*port, key.group)).or_default().push(key.source);
        }
        for ((port, group), sources) in statics {
            let IpAddr::V4(group) = group else { continue };
            // All sources are wanted if one entry names none.
            let named: Option<Vec<String>> =
                sources.iter().map(|source| source.map(|source| source.to_string())).collect();
            to.push(GroupRow {
                node,
                port,
                group,
                mode: if named.is_some() { "include" } else { "exclude" },
                is_static: true,
                sources: named.map(|all| all.join(" ")),
                excluded: None,
                querier: None,
                expires_s: None,
            });
        }
    }
}
