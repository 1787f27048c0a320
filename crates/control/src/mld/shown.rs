//! The table of MLD.

use super::Mld;
use base::table::{RowsOf, Table, View};
use base::{PortId, Time};
use core::net::IpAddr;

/// The tables of MLD.
pub(super) const VIEWS: &[View] = &[View::of::<Mld, GroupRow<'static>>()];

base::table! {
    /// The groups of IPv6 that hosts on the links of routers want, as MLD has heard it, and those that are wanted there
    /// whatever they say.
    pub struct GroupRow<'a> in "mld_groups" key ["node", "port", "group", "is_static"] {
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
        /// The router that asks on the link, by its link-local address; absent if it is this one.
        querier: Option<IpAddr>,
        /// When the mode falls back to `include` if nobody reports the group; absent in that mode.
        expires_s: Option<Time> = "s",
    }
}

impl RowsOf<Mld> for GroupRow<'static> {
    fn rows(mld: &Mld, node: &str, to: &mut Table) {
        for one in mld.listeners.shown() {
            to.push(GroupRow {
                node,
                port: one.port,
                group: one.group,
                mode: one.mode,
                is_static: one.is_static,
                sources: one.sources,
                excluded: one.excluded,
                querier: one.querier.map(IpAddr::V6),
                expires_s: one.expires,
            });
        }
    }
}
