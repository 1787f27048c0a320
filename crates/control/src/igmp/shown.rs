//! The table of IGMP.

use super::Igmp;
use base::table::{RowsOf, Table, View};
use base::{PortId, Time};
use core::net::{IpAddr, Ipv4Addr};

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
        group: IpAddr,
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
        for one in igmp.listeners.shown() {
            to.push(GroupRow {
                node,
                port: one.port,
                group: one.group,
                mode: one.mode,
                is_static: one.is_static,
                sources: one.sources,
                excluded: one.excluded,
                querier: one.querier,
                expires_s: one.expires,
            });
        }
    }
}
