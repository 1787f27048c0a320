//! IGMP, as a router speaks it: which groups the hosts of its links want (RFC 2236, RFC 3376).
//!
//! What hosts want is noted in the service of groups; which protocol then brings the packets is not its business.
//!
//! - [`section`](IgmpSpec): the settings that users write, `igmp: true` or a mapping
//! - `shown`: its table
//!
//! Links, groups and the election are in [`crate::services::membership`], which MLD has, too.

mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use section::IgmpSpec;

use crate::machine::{Chart, State};
use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::membership::{Listeners, QuerierState, Query, Speaks, Timing};
use crate::services::{Interface, Services};
use base::describe::SectionDecl;
use base::plane::Ack;
use base::{PortId, ProtocolId, ProtocolValue, Time};
use core::net::Ipv4Addr;
use std::collections::VecDeque;
use wire::igmp::{self, QueryV3, Record, RecordKind, Repr, kind};

/// The state machines of IGMP.
pub const CHARTS: &[Chart] = &[QuerierState::CHART];

/// A router's IGMP.
#[derive(Debug)]
pub struct Igmp {
    spec: IgmpSpec,
    listeners: Listeners<Ipv4Addr>,
    /// Messages that could not be read, or that no router may take.
    malformed: u64,
    outputs: VecDeque<Output>,
}

impl Igmp {
    /// The name of IGMP among protocols.
    pub const ID: ProtocolId = ProtocolId::new("igmp");

    /// IGMP among the protocols that there are.
    pub const KNOWN: Known = Known {
        id: Igmp::ID,
        kind_name: Igmp::name_of,
        views: shown::VIEWS,
        section: Some(SectionDecl::of::<IgmpSpec>("IGMP: which groups the hosts of its links want.")),
    };

    fn new(spec: IgmpSpec, services: &Services) -> Igmp {
        let ports = services.interfaces.ports().map(|(port, _)| port);
        let named = ports.filter_map(|port| Some((port, services.interfaces.attached(port)?)));
        let statics =
            named.flat_map(|(port, link)| spec.static_groups(&link.node).map(move |one| (port, one.key())));
        let own = |interface: &Interface| Some(interface.ipv4()?.0);
        let listeners = Listeners::new(&services.interfaces, own, statics.collect());
        Igmp { spec, listeners, malformed: 0, outputs: VecDeque::new() }
    }

    fn name_of(number: u8) -> &'static str {
        match number {
            kind::QUERY => "Query",
            kind::REPORT_V1 => "ReportV1",
            kind::REPORT_V2 => "ReportV2",
            kind::LEAVE => "Leave",
            kind::REPORT_V3 => "ReportV3",
            _ => UNKNOWN_KIND,
        }
    }

    /// Does what is due, and tells what is wanted now.
    fn advance(&mut self, now: Time, context: &mut Context<'_>) {
        let timing = self.spec.timing();
        for (port, src, query) in self.listeners.advance(now, &timing, context.services, Igmp::ID) {
            let dst = query.group.unwrap_or(igmp::ALL_SYSTEMS);
            let bytes = self.written(&timing, query).emit();
            let over = Over::Ip(igmp::PROTOCOL);
            // RFC 3376, 4: TTL 1, and the Router Alert option.
            let message = Message { port, next: None, src, dst, over, ttl: 1, router_alert: true, bytes };
            self.outputs.push_back(Output::Message(message));
        }
    }

    fn written(&self, timing: &Timing, query: Query<Ipv4Addr>) -> Repr {
        let max_resp_ds = u16::try_from(query.response.0 / 100_000_000_000).unwrap_or(u16::MAX);
        let interval_s = u16::try_from(timing.query_interval.0 / 1_000_000_000_000).unwrap_or(u16::MAX);
        let (suppress, robustness, sources) = (query.suppress, timing.robustness, query.sources);
        let v3 = QueryV3 { suppress, robustness, interval_s, sources };
        let group = query.group.unwrap_or(Ipv4Addr::UNSPECIFIED);
        Repr::Query { max_resp_ds, group, v3: (self.spec.version == 3).then_some(v3) }
    }

    fn hear(&mut self, now: Time, port: PortId, src: Ipv4Addr, repr: Repr) {
        let timing = self.spec.timing();
        let Some(link) = self.listeners.links.get_mut(&port) else { return };
        let mut report = |record: &Record, speaks| {
            if !is_local(record.group) {
                link.report(now, &timing, record, speaks);
            }
        };
        let older = |kind, group| Record { kind, group, sources: Vec::new() };
        // RFC 3376, 7.3.2: reports and leaves of older versions are records, too.
        match repr {
            Repr::Query { group, v3, .. } => {
                let group = (!group.is_unspecified()).then_some(group);
                let (suppress, sources) = v3.map(|v3| (v3.suppress, v3.sources)).unwrap_or_default();
                let query = Query { group, sources, suppress, response: timing.response_interval };
                link.hear(now, &timing, src, &query);
            }
            Repr::ReportV1 { group } => report(&older(RecordKind::IsExclude, group), Speaks::Joins),
            Repr::ReportV2 { group } => report(&older(RecordKind::IsExclude, group), Speaks::Leaves),
            Repr::Leave { group } => report(&older(RecordKind::ToInclude, group), Speaks::Leaves),
            Repr::ReportV3 { records } if self.spec.version == 3 => {
                records.iter().for_each(|record| report(record, Speaks::Sources));
            }
            Repr::ReportV3 { .. } => {}
        }
    }
}

/// Groups of one link need no tree.
fn is_local(group: Ipv4Addr) -> bool {
    base::plane::is_link_local_group(group.into())
}

impl Protocol for Igmp {
    fn id(&self) -> ProtocolId {
        Igmp::ID
    }

    fn listens(&self) -> Vec<Listen> {
        // RFC 3376, 6.6: reports go to groups that the router itself is no member of.
        vec![Listen::IpProtocol(igmp::PROTOCOL), Listen::RouterAlert(igmp::PROTOCOL), Listen::EveryGroup]
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
        Igmp::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.listeners.state_count()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        // RFC 3376, 9.2: without the option a message of version 2 or 3 may come from beyond the link; those of
        // version 1 have none.
        match Repr::parse(bytes) {
            Ok(repr) if ip.ttl == 1 || matches!(repr, Repr::ReportV1 { .. }) => {
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
            Change::Restart => *self = Igmp::new(self.spec.clone(), context.services),
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
