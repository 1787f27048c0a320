//! What a boundary router says of networks outside (RFC 2328, 12.4.4): routes of other sources that it is to announce.

use super::Ospf;
use super::database::Scope;
use super::interface::InterfaceName;
use super::summaries::{ids, mask_of};
use crate::protocol::Context;
use crate::services::policy::{self, PolicyRule, Subject};
use crate::services::{Beyond, Route};
use base::Time;
use base::plane::{NextHop, Prefix};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use std::sync::Arc;
use wire::Hex;
use wire::bgp::Attributes;
use wire::ospf::{External, LsaBody, LsaKey, LsaKind};

/// The greatest metric that leads anywhere (RFC 2328, B: LSInfinity is more).
const MOST: u32 = 0xff_fffe;

base::words! {
    /// Whose routes are announced.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Imported {
        /// Those that the description gives for the router.
        Static = "static",
        /// The networks of its links that OSPF does not have anyway.
        Connected = "connected",
        /// Those that BGP has learnt.
        Bgp = "bgp",
    }
    default Static;
}

/// How routes of a source are announced as networks outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redistribution {
    /// Whose routes they are.
    pub from: Imported,
    /// Which of them, and what is changed; all if there is no rule.
    pub rules: Arc<[PolicyRule]>,
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
        let new = self.imported_as(context, prefix);
        let changed = match new {
            Some(new) => self.imported.insert(prefix, new.clone()) != Some(new),
            None => self.imported.remove(&prefix).is_some(),
        };
        self.is_import_due |= changed;
    }

    /// How a prefix is announced as outside, if it is.
    fn imported_as(&self, context: &Context<'_>, prefix: Prefix) -> Option<Redistribution> {
        let own: &Route = context.services.rib.best(prefix)?;
        let said = self.config.redistribute.iter().find(|one| one.from.word() == own.source.word())?;
        let is_inside = |port| {
            let interface = self.interfaces.get(&InterfaceName::Port(port));
            interface.is_some_and(|one| one.config.area.is_some())
        };
        // What leads to the port beside the router, or to nobody, is nothing for others.
        let leads = |hop: &NextHop| match (hop, said.from) {
            (NextHop::Via { port, .. }, Imported::Static) => is_inside(*port),
            (NextHop::Via { port, .. }, from) => {
                let attached = context.services.interfaces.attached(*port);
                let is_beside = attached.is_some_and(|at| at.beyond == Beyond::Instrument);
                !is_beside && (from == Imported::Bgp || !is_inside(*port))
            }
            (NextHop::Discard, _) => true,
            _ => false,
        };
        let is_host = self.config.hosts.iter().any(|(host, _)| Prefix::host(*host) == prefix);
        if is_host || !context.services.rib.next_hops(prefix).iter().any(leads) {
            return None;
        }
        if said.rules.is_empty() {
            return Some(said.clone());
        }
        let attributes = Attributes { med: Some(said.metric), ..Attributes::default() };
        let mut route = Subject { prefix: prefix.into(), tag: own.tag, attributes };
        let passes = policy::passes(&said.rules, &mut route, 0);
        // A number that rules have not given it is the one of the section.
        let tag = if route.tag == own.tag && said.tag != 0 { said.tag } else { route.tag };
        let metric = route.attributes.med.unwrap_or(said.metric).min(MOST);
        passes.then(|| Redistribution { metric, tag, ..said.clone() })
    }

    /// Announces what is outside: to the whole AS, and to areas that are not so stubby.
    pub(super) fn announce_outside(&mut self, now: Time) {
        let mut wanted = BTreeMap::new();
        let mut put = |scope, kind, all: &BTreeMap<Prefix, External>| {
            for (id, (_, said)) in ids(all) {
                let key = LsaKey { kind, id, router: self.router_id };
                wanted.insert((scope, key), LsaBody::External(said.clone()));
            }
        };
        put(Scope::As, LsaKind::EXTERNAL, &self.outside_for_all(now));
        for area in self.active_nssas() {
            put(Scope::Area(area), LsaKind::NSSA, &self.outside_for(area));
        }
        self.claim(now, wanted, |kind| matches!(kind, LsaKind::EXTERNAL | LsaKind::NSSA));
    }

    /// What is imported, with an address that packets are to be sent to.
    pub(super) fn imported_by(&self, forwarding: Ipv4Addr) -> BTreeMap<Prefix, External> {
        let said = |(prefix, said): (&Prefix, &Redistribution)| {
            let (mask, tos) = (mask_of(*prefix), Hex::default());
            let Redistribution { is_type2: type2, metric, tag, .. } = *said;
            (*prefix, External { mask, type2, metric, forwarding, tag, tos })
        };
        self.imported.iter().map(said).collect()
    }
}
