//! IGMP, as a router speaks it: which groups the hosts of its links want (RFC 2236, RFC 3376).
//!
//! What hosts want is noted in the service of groups; which protocol then brings the packets is not its business.
//!
//! - [`section`](IgmpSpec): the settings that users write, `igmp: true` or a mapping
//! - `querier`: who asks on a link, as a state machine
//! - `link`: a link with its questions and its groups; `group`: filter mode and sources of one
//! - `shown`: its table

mod group;
mod link;
mod querier;
mod section;
mod shown;
#[cfg(test)]
mod tests;

pub use querier::{QuerierEvent, QuerierState};
pub use section::IgmpSpec;

use crate::machine::{Chart, State};
use crate::protocol::{
    Arrival, Change, Context, Known, Listen, Message, Output, Over, Protocol, Topic, UNKNOWN_KIND,
};
use crate::services::{Beyond, Interfaces, Services};
use base::describe::SectionDecl;
use base::plane::{Ack, GroupKey};
use base::{PortId, ProtocolId, ProtocolValue, Time};
use core::net::Ipv4Addr;
use group::Version;
use link::Link;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wire::igmp::{self, Record, RecordKind, Repr, kind};

/// The state machines of IGMP.
pub const CHARTS: &[Chart] = &[QuerierState::CHART];

/// A router's IGMP.
#[derive(Debug)]
pub struct Igmp {
    spec: IgmpSpec,
    links: BTreeMap<PortId, Link>,
    /// What is wanted whatever hosts say, and on which links.
    static_groups: BTreeSet<(PortId, GroupKey)>,
    /// What the service of groups was told.
    told: BTreeSet<(PortId, GroupKey)>,
    /// Messages that could not be read, or that no router may take.
    malformed: u64,
    begun: bool,
    next: Option<Time>,
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
        let links = links_of(&services.interfaces);
        let ports = services.interfaces.ports().map(|(port, _)| port);
        let named = ports.filter_map(|port| Some((port, services.interfaces.attached(port)?)));
        let statics =
            named.flat_map(|(port, link)| spec.static_groups(&link.node).map(move |one| (port, one.key())));
        let static_groups = statics.collect();
        let (told, outputs) = (BTreeSet::new(), VecDeque::new());
        Igmp { spec, links, static_groups, told, malformed: 0, begun: false, next: Some(Time::ZERO), outputs }
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
        for (port, link) in &mut self.links {
            for (dst, query) in link.advance(now, &self.spec) {
                let (src, over) = (link.own, Over::Ip(igmp::PROTOCOL));
                let (bytes, router_alert) = (query.emit(), true);
                // RFC 3376, 4: TTL 1, and the Router Alert option.
                let message =
                    Message { port: *port, next: None, src, dst, over, ttl: 1, router_alert, bytes };
                self.outputs.push_back(Output::Message(message));
            }
        }
        self.next = self.links.values().filter_map(Link::next).min();
        let mut wanted = BTreeSet::new();
        for (port, link) in &self.links {
            for (group, known) in &link.groups {
                let key = |source: Option<Ipv4Addr>| {
                    (*port, GroupKey { group: (*group).into(), source: source.map(Into::into) })
                };
                match known.wanted() {
                    None => drop(wanted.insert(key(None))),
                    Some(sources) => wanted.extend(sources.into_iter().map(|source| key(Some(source)))),
                }
            }
        }
        let interfaces = &context.services.interfaces;
        let is_up = |port: PortId| interfaces.of_port(port).is_some_and(|interface| interface.up);
        wanted.extend(self.static_groups.iter().filter(|(port, _)| is_up(*port)));
        let groups = &mut context.services.multicast;
        for (port, key) in wanted.difference(&self.told) {
            groups.want(*key, *port, Igmp::ID, true);
        }
        for (port, key) in self.told.difference(&wanted) {
            groups.want(*key, *port, Igmp::ID, false);
        }
        self.told = wanted;
    }

    fn hear(&mut self, now: Time, port: PortId, src: Ipv4Addr, repr: &Repr) {
        let spec = &self.spec;
        let Some(link) = self.links.get_mut(&port) else { return };
        let older = |kind, group| Record { kind, group, sources: Vec::new() };
        // RFC 3376, 7.3.2: reports and leaves of older versions are records, too.
        match repr {
            Repr::Query { group, v3, .. } => link.hear(now, spec, src, *group, v3.as_ref()),
            Repr::ReportV1 { group } => {
                link.report(now, spec, &older(RecordKind::IsExclude, *group), Version::V1);
            }
            Repr::ReportV2 { group } => {
                link.report(now, spec, &older(RecordKind::IsExclude, *group), Version::V2);
            }
            Repr::Leave { group } => {
                link.report(now, spec, &older(RecordKind::ToInclude, *group), Version::V2);
            }
            Repr::ReportV3 { records } if spec.version == 3 => {
                for record in records.iter().filter(|record| !is_local(record.group)) {
                    link.report(now, spec, record, Version::V3);
                }
            }
            Repr::ReportV3 { .. } => {}
        }
        link.groups.retain(|group, _| !is_local(*group));
    }
}

/// Groups of one link need no tree.
fn is_local(group: Ipv4Addr) -> bool {
    base::plane::is_link_local_group(group.into())
}

/// Links with hosts, none of which is up yet.
fn links_of(interfaces: &Interfaces) -> BTreeMap<PortId, Link> {
    let speaks = |port: PortId| match interfaces.attached(port) {
        Some(attached) => matches!(attached.beyond, Beyond::Host | Beyond::Segment),
        None => false,
    };
    let all = interfaces.ports().filter(|(port, _)| speaks(*port));
    all.filter_map(|(port, interface)| Some((port, Link::new(interface.ipv4()?.0)))).collect()
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
        self.links.contains_key(&port)
    }

    fn kind_of(&self, bytes: &[u8]) -> u8 {
        bytes.first().copied().unwrap_or(0)
    }

    fn kind_name(&self, kind: u8) -> &'static str {
        Igmp::name_of(kind)
    }

    fn state_count(&self) -> usize {
        self.links.values().map(|link| link.groups.len()).sum()
    }

    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let Arrival::Ip(ip) = arrival else { return };
        // RFC 3376, 9.2: without the option a message of version 2 or 3 may come from beyond the link; those of
        // version 1 have none.
        match Repr::parse(bytes) {
            Ok(repr) if ip.ttl == 1 || matches!(repr, Repr::ReportV1 { .. }) => {
                self.hear(now, ip.port, ip.src, &repr);
                self.advance(now, context);
            }
            _ => self.malformed += 1,
        }
    }

    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        if !core::mem::replace(&mut self.begun, true) {
            let interfaces = &context.services.interfaces;
            let up = |port: &PortId| interfaces.of_port(*port).is_some_and(|interface| interface.up);
            self.links
                .iter_mut()
                .filter(|(port, _)| up(port))
                .for_each(|(_, link)| link.begin(now, &self.spec));
        }
        self.advance(now, context);
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            // Before the first timeout nothing has begun: it looks at all interfaces as they are then.
            Change::Interface { port: Some(port), up, .. } if self.begun => {
                if let Some(link) = self.links.get_mut(&port) {
                    if up { link.begin(now, &self.spec) } else { link.lose() }
                }
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
        self.next
    }
}
