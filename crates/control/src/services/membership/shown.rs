//! What tables show of groups on links.

use super::Listeners;
use base::{PortId, Time};
use core::fmt::Display;
use core::net::IpAddr;
use std::collections::BTreeMap;
use wire::membership::Address;

/// A group on a link, as hosts want it or as the settings say.
pub(crate) struct Shown<A> {
    pub port: PortId,
    pub group: IpAddr,
    pub mode: &'static str,
    pub is_static: bool,
    pub sources: Option<String>,
    pub excluded: Option<String>,
    pub querier: Option<A>,
    pub expires: Option<Time>,
}

/// The mode of a group of which all sources are wanted but some, or only some.
const fn mode(is_exclude: bool) -> &'static str {
    if is_exclude { "exclude" } else { "include" }
}

impl<A: Address + Ord + Into<IpAddr> + Display> Listeners<A> {
    /// What hosts want on all links, and behind that what is wanted whatever they say.
    pub(crate) fn shown(&self) -> Vec<Shown<A>> {
        let mut all = Vec::new();
        for (port, link) in &self.links {
            for (group, known) in &link.groups {
                let those = |running: bool| {
                    let all = known.sources.iter().filter(|(_, end)| end.is_some() == running);
                    let all: Vec<String> = all.map(|(source, _)| source.to_string()).collect();
                    (!all.is_empty()).then(|| all.join(" "))
                };
                all.push(Shown {
                    port: *port,
                    group: (*group).into(),
                    mode: mode(known.expires.is_some()),
                    is_static: false,
                    sources: those(true),
                    excluded: those(false),
                    querier: link.querier,
                    expires: known.expires,
                });
            }
        }
        let mut statics: BTreeMap<(PortId, IpAddr), Vec<Option<IpAddr>>> = BTreeMap::new();
        for (port, key) in &self.static_groups {
            statics.entry((*port, key.group)).or_default().push(key.source);
        }
        for ((port, group), sources) in statics {
            // All sources are wanted if one entry names none.
            let named: Option<Vec<String>> =
                sources.iter().map(|source| source.map(|source| source.to_string())).collect();
            all.push(Shown {
                port,
                group,
                mode: mode(named.is_none()),
                is_static: true,
                sources: named.map(|all| all.join(" ")),
                excluded: None,
                querier: None,
                expires: None,
            });
        }
        all
    }
}
