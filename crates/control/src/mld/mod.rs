//! MLD, as a router speaks it: which groups of IPv6 the hosts of its links want (RFC 3810; version 1 as its section 8
//! says).
//!
//! What hosts want is noted in the service of groups; which protocol then brings the packets is not its business.
//!
//! - [`section`](MldSpec): the settings that users write, `mld: true` or a mapping
//! - `shown`: its table
//!
//! Links, groups and the election are in [`crate::services::membership`], which IGMP has, too.

mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use section::MldSpec;

use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message6, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::membership::{Listeners, Query, Speaks, Timing};
use crate::services::{Interface, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, is_link_local_group};
use base::{PortId, ProtocolId, ProtocolValue, Time};
use core::net::Ipv6Addr;
use std::collections::VecDeque;
use wire::icmpv6::Type;
use wire::mld::{self, QueryV2, Record, RecordKind, Repr};
use wire::{ipv6, nd};

/// The types of its messages among those of ICMPv6.
const TYPES: [Type; 4] =
    [Type::LISTENER_QUERY, Type::LISTENER_REPORT_V1, Type::LISTENER_DONE, Type::LISTENER_REPORT_V2];

/// A router's MLD.
#[derive(Debug)]
pub struct Mld {
    spec: MldSpec,
    listeners: Listeners<Ipv6Addr>,
    /// Messages that could not be read, or that no router may take.
    malformed: u64,
    outputs: VecDeque<Output>,
}

impl Mld {
    /// The name of MLD among protocols.
    pub const ID: ProtocolId = ProtocolId::new("mld");

    /// MLD among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Mld::ID,
        kind_name: Mld::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<MldSpec>("MLD: which groups of IPv6 the hosts of its links want.")),
    };

    fn new(spec: MldSpec, services: &Services) -> Mld {
        let ports = services.interfaces.ports().map(|(port, _)| port);
        let named = ports.filter_map(|port| Some((port, services.interfaces.attached(port)?)));
        let statics =
            named.flat_map(|(port, link)| spec.static_groups(&link.node).map(move |one| (port, one.key())));
        // RFC 3810, 7.6.2: the election compares link-local addresses.
        let own = |interface: &Interface| interface.link_local;
        let listeners = Listeners::new(&services.interfaces, own, statics.collect());
        Mld { spec, listeners, malformed: 0, outputs: VecDeque::new() }
    }

    fn name_of(number: u8) -> &'static str {
        match Type(number) {
            Type::LISTENER_QUERY => "Query",
            Type::LISTENER_REPORT_V1 => "ReportV1",
            Type::LISTENER_DONE => "Done",
            Type::LISTENER_REPORT_V2 => "ReportV2",
            _ => UNKNOWN_KIND,
        }
    }

    /// Does what is due, and tells what is wanted now.
    fn advance(&mut self, now: Time, context: &mut Context<'_>) {
        let timing = self.spec.timing();
        for (port, src, query) in self.listeners.advance(now, &timing, context.services, Mld::ID) {
            // RFC 3810, 5.1.15.
            let dst = query.group.unwrap_or(nd::ALL_NODES);
            let bytes = self.written(&timing, query).emit(src, dst);
            let over = Over::Ip(ipv6::Protocol::ICMPV6.0);
            // RFC 3810, 5: from a link-local address, hop limit 1, and the Router Alert option.
            let (hop_limit, router_alert) = (1, Some(mld::ROUTER_ALERT));
            let message = Message6 { port, next: None, src, dst, over, hop_limit, router_alert, bytes };
            self.outputs.push_back(Output::Message6(Box::new(message)));
        }
    }

    fn written(&self, timing: &Timing, query: Query<Ipv6Addr>) -> Repr {
        let max_resp_ms = u32::try_from(query.response.0 / 1_000_000_000).unwrap_or(u32::MAX);
        let interval_s = u16::try_from(timing.query_interval.0 / 1_000_000_000_000).unwrap_or(u16::MAX);
        let (suppress, robustness, sources) = (query.suppress, timing.robustness, query.sources);
        let v2 = QueryV2 { suppress, robustness, interval_s, sources };
        let group = query.group.unwrap_or(Ipv6Addr::UNSPECIFIED);
        Repr::Query { max_resp_ms, group, v2: (self.spec.version == 2).then_some(v2) }
    }

    fn hear(&mut self, now: Time, port: PortId, src: Ipv6Addr, repr: Repr) {
        let timing = self.spec.timing();
        let Some(link) = self.listeners.links.get_mut(&port) else { return };
        let mut report = |record: &Record<Ipv6Addr>, speaks| {
            // Groups of one link need no tree.
            if !is_link_local_group(record.group.into()) {
                link.report(now, &timing, record, speaks);
            }
        };
        let older = |kind, group| Record { kind, group, sources: Vec::new() };
        // RFC 3810, 8.3.2: reports and leaves of version 1 are records, too.
        match repr {
            Repr::Query { group, v2, .. } => {
                let group = (!group.is_unspecified()).then_some(group);
                let (suppress, sources) = v2.map(|v2| (v2.suppress, v2.sources)).unwrap_or_default();
                let query = Query { group, sources, suppress, response: timing.response_interval };
                link.hear(now, &timing, src, &query);
            }
            Repr::ReportV1 { group } => report(&older(RecordKind::IsExclude, group), Speaks::Leaves),
            Repr::Done { group } => report(&older(RecordKind::ToInclude, group), Speaks::Leaves),
            Repr::ReportV2 { records } if self.spec.version == 2 => {
                records.iter().for_each(|record| report(record, Speaks::Sources));
            }
            Repr::ReportV2 { .. } => {}
        }
    }
}

impl Protocol for Mld {
    fn id(&self) -> ProtocolId {
        Mld::ID
    }

    fn listens(&self) -> Vec<Listen> {
        // RFC 3810, 5: reports of version 1 go to groups that the router itself is no member of.
        TYPES.iter().map(|one| Listen::Icmpv6(one.0)).chain([Listen::EveryGroup6]).collect()
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Interfaces]
    }

    fn speaks_on(&self, port: PortId) -> bool {
        self.listeners.links.contains_key(&port)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.first().copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Mld::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.listeners.state_count()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip6(ip) = arrival else { return };
        // RFC 3810, 7.4 and 7.6: else it may come from beyond the link.
        let is_of_link = ip.src.is_unicast_link_local() && ip.hop_limit == 1 && ip.router_alert;
        match Repr::parse(bytes, ip.src, ip.dst) {
            Ok(repr) if is_of_link => {
                // It may come before the first timeout.
                self.listeners.begin(now, &self.spec.timing(), &context.services.interfaces);
                self.hear(now, ip.port, ip.src, repr);
                self.advance(now, context);
            }
            _ => self.malformed += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        self.listeners.begin(now, &self.spec.timing(), &context.services.interfaces);
        self.advance(now, context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Interface { port: Some(port), up, .. }
                if self.listeners.port_changed(now, &self.spec.timing(), port, up) =>
            {
                self.advance(now, context);
            }
            Change::Restart => *self = Mld::new(self.spec.clone(), context.services),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.listeners.next()
    }
}
