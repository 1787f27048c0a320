//! What a boundary router says of networks outside (RFC 2328, 12.4.4): routes of other sources that it is to announce.

use super::Ospf;
use super::database::Scope;
use super::summaries::{ids, mask_of};
use crate::protocol::Context;
use crate::services::Source;
use base::Time;
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::Hex;
use wire::ospf::{External, LsaBody, LsaKey, LsaKind};

base::words! {
    /// Whose routes are announced.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Imported {
        /// Those that the description gives for the router.
        Static = "static",
    }
    default Static;
}

/// How routes of a source are announced as networks outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// Whose routes they are.
    pub from: Imported,
    /// What it costs to go there.
    pub metric: u32,
    /// Is the metric more than any cost inside (type 2), not added to it (type 1)?
    pub is_type2: bool,
    /// A number for other boundary routers.
    pub tag: u32,
}

impl Ospf {
    /// Is it a boundary router of the AS?
    pub fn is_boundary(&self) -> bool {
        !self.config.redistribute.is_empty()
    }

    /// Says of a prefix what is true of it now, if it is outside.
    pub(super) fn import(&mut self, context: &Context<'_>, prefix: Prefix) {
        let own = context.services.rib.best(prefix).filter(|route| route.source == Source::Static);
        // What leads to the port beside the router, or to nobody, is nothing for others.
        let leads = |hop: &NextHop| match hop {
            NextHop::Via { port, .. } => {
                self.interfaces.get(port).is_some_and(|one| one.config.area.is_some())
            }
            NextHop::Discard => true,
            _ => false,
        };
        let is_host = self.config.hosts.iter().any(|(host, _)| Prefix::host(*host) == prefix);
        let is_outside =
            own.is_some() && !is_host && context.services.rib.next_hops(prefix).iter().any(leads);
        let said = self.config.redistribute.iter().find(|one| one.from == Imported::Static);
        let new = said.filter(|_| is_outside).copied();
        let changed = match new {
            Some(new) => self.imported.insert(prefix, new) != Some(new),
            None => self.imported.remove(&prefix).is_some(),
        };
        self.is_import_due |= changed;
    }

    /// Announces what is outside.
    pub(super) fn announce_outside(&mut self, now: Time) {
        let mut wanted = BTreeMap::new();
        for (id, (prefix, said)) in ids(&self.imported) {
            let key = LsaKey { kind: LsaKind::EXTERNAL, id, router: self.router_id };
            let body = LsaBody::External(External {
                mask: mask_of(prefix),
                type2: said.is_type2,
                metric: said.metric,
                forwarding: Ipv4Addr::UNSPECIFIED,
                tag: said.tag,
                tos: Hex::default(),
            });
            wanted.insert((Scope::As, key), body);
        }
        self.claim(now, wanted, |kind| kind == LsaKind::EXTERNAL);
    }
}
