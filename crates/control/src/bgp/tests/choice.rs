//! A speaker beside a second reading of the RFCs: random tables of six neighbours, what is taken of them, and what each
//! neighbour knows in the end. The reading below is of RFC 4271, 9.1 and 5.1, RFC 4456, 8 and 9, and RFC 7911, 5; it
//! shares nothing with the speaker but the bytes of messages.

use super::super::Bgp;
use super::super::section::BgpSpec;
use crate::owner::Owner;
use crate::protocol::{Context, Output, Protocol, Setup};
use crate::services::sessions::{SessionEvent, SessionId, SessionOutput};
use crate::services::{
    Hops, Interface, InterfaceAddress, InterfaceKind, Interfaces, Route, RouteHop, Services, Source,
};
use base::describe::{Describe, Value};
use base::plane::{NextHop, Prefix};
use base::{Label, PortId, ProtocolId, Streams, Time};
use core::any::Any;
use core::net::{IpAddr, Ipv4Addr};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use wire::bgp::{
    AddPathMode, AsPath, Attributes, Capability, Message, Nlri, Open, Origin, Segment, Terms, Update,
};

const OWN_AS: u32 = 65_000;
const OWN_ID: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// Two neighbours of other ASes, two clients of this reflector and two others in its AS. The last client takes all
/// paths, and the last of the others tells several.
const ASES: [u32; 6] = [65_100, 65_101, OWN_AS, OWN_AS, OWN_AS, OWN_AS];
const CLIENTS: [bool; 6] = [false, false, true, true, false, false];
const TAKES_ALL: usize = 3;
const TELLS_SEVERAL: usize = 5;

/// What a neighbour says, or knows, of a prefix by one path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said {
    path: Vec<u32>,
    origin: u8,
    next_hop: Ipv4Addr,
    med: Option<u32>,
    local_pref: Option<u32>,
    originator: Option<Ipv4Addr>,
    clusters: Vec<Ipv4Addr>,
}

/// By neighbour: what is said of prefixes and paths.
type Tables = Vec<BTreeMap<(Prefix, u32), Said>>;

fn address(n: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, n as u8, 0, 2)
}

/// Identifiers are in another order than addresses.
fn id(n: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 99, 0, 9 - n as u8)
}

fn is_external(n: usize) -> bool {
    ASES[n] != OWN_AS
}

/// What it costs to get to a next hop: those of links are right beside, others as their third number says; behind
/// the last nothing leads.
fn cost(next_hop: Ipv4Addr) -> Option<u32> {
    match next_hop.octets() {
        [10, 50, cost, _] => (cost < 3).then_some(u32::from(cost)),
        _ => Some(0),
    }
}

mod reading {
    use super::*;

    /// 9.1.2: which routes there are to choose from, by neighbour and path.
    pub(super) fn feasible(tables: &Tables, prefix: Prefix) -> Vec<(usize, u32, Said)> {
        let mut all = Vec::new();
        for (n, table) in tables.iter().enumerate() {
            for ((of, path), said) in table {
                let loops = said.path.contains(&OWN_AS)
                    || said.originator == Some(OWN_ID)
                    || said.clusters.contains(&OWN_ID);
                if *of == prefix && !loops && cost(said.next_hop).is_some() {
                    all.push((n, *path, said.clone()));
                }
            }
        }
        all
    }

    /// Is `a` better than `b`, MED apart? 9.1.1, 9.1.2.2 a and b come before MED; the others behind it.
    fn before_med((n, _, a): &(usize, u32, Said)) -> (i64, usize, u8) {
        // 9.1.1: of routes from other ASes the local policy says how much they are preferred: all the same.
        let degree = if is_external(*n) { 100 } else { a.local_pref.unwrap_or(100) };
        (-i64::from(degree), a.path.len(), a.origin)
    }

    fn behind_med((n, path, a): &(usize, u32, Said)) -> (bool, u32, Ipv4Addr, usize, Ipv4Addr, u32) {
        // RFC 4456, 9: the originator stands for the identifier, then the shorter list of clusters.
        let who = a.originator.unwrap_or(id(*n));
        (!is_external(*n), cost(a.next_hop).unwrap_or(u32::MAX), who, a.clusters.len(), address(*n), *path)
    }

    /// 9.1.2.2.
    pub(super) fn best(mut all: Vec<(usize, u32, Said)>) -> Option<(usize, u32, Said)> {
        let least = all.iter().map(before_med).min()?;
        all.retain(|one| before_med(one) == least);
        let from = |one: &Said| one.path.first().copied().unwrap_or(OWN_AS);
        let med = |one: &Said| one.med.unwrap_or(0);
        let known = all.clone();
        all.retain(|(.., n)| !known.iter().any(|(.., m)| from(m) == from(n) && med(m) < med(n)));
        all.into_iter().min_by_key(behind_med)
    }

    /// 5.1 and 9.1.3, RFC 4456, 8: a route as a neighbour is told it, if it is.
    pub(super) fn told(to: usize, (from, _, said): &(usize, u32, Said)) -> Option<Said> {
        if to == *from {
            return None;
        }
        let mut told = said.clone();
        if is_external(to) {
            told.path.insert(0, OWN_AS);
            told.next_hop = Ipv4Addr::new(10, to as u8, 0, 1);
            (told.med, told.local_pref, told.originator) = (None, None, None);
            told.clusters = Vec::new();
            return Some(told);
        }
        told.local_pref = Some(if is_external(*from) { 100 } else { said.local_pref.unwrap_or(100) });
        if !is_external(*from) {
            if !CLIENTS[*from] && !CLIENTS[to] {
                return None;
            }
            told.originator = told.originator.or(Some(id(*from)));
            told.clusters.insert(0, OWN_ID);
            // Its receiver would ignore it.
            if told.originator == Some(id(to)) {
                return None;
            }
        }
        Some(told)
    }

    /// What a neighbour knows in the end of a prefix.
    pub(super) fn known(to: usize, tables: &Tables, prefix: Prefix) -> Vec<Said> {
        let all = feasible(tables, prefix);
        let mut known: Vec<Said> = match to {
            TAKES_ALL => all.iter().filter_map(|one| told(to, one)).collect(),
            _ => best(all).and_then(|one| told(to, &one)).into_iter().collect(),
        };
        known.sort();
        known
    }
}

fn terms(n: usize, is_from_it: bool) -> Terms {
    let several = if is_from_it { n == TELLS_SEVERAL } else { n == TAKES_ALL };
    Terms {
        four_octet: true,
        is_internal: !is_external(n),
        add_path: [several, false, false, false],
        labels_max: [0; 4],
    }
}

/// The speaker, and what its neighbours know from it.
struct Net {
    bgp: Bgp,
    services: Box<Services>,
    sessions: Vec<SessionId>,
    known: Tables,
}

impl Net {
    fn new() -> Net {
        let mut neighbors = serde_json::Map::new();
        for (n, asn) in ASES.into_iter().enumerate() {
            let said = json!({
                "asn": asn, "import": "all", "export": "all", "advertisement_interval": "0 s",
                "client": CLIENTS[n], "receive_paths": n == TELLS_SEVERAL,
            });
            let mut said = said.as_object().cloned().expect("a mapping");
            if n == TAKES_ALL {
                said.insert("send_paths".into(), json!("all"));
            }
            neighbors.insert(address(n).to_string(), said.into());
        }
        let value = json!({"asn": OWN_AS, "neighbors": neighbors});
        let value: Value = serde_json::from_value(value).expect("a value");
        let spec = BgpSpec::read(&value).expect("settings");
        let port = |n: usize| Interface {
            kind: InterfaceKind::Port(PortId(n as u16)),
            addresses: vec![InterfaceAddress {
                address: IpAddr::V4(Ipv4Addr::new(10, n as u8, 0, 1)),
                prefix_len: 24,
            }],
            link_local: None,
            neighbor: Some(address(n)),
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN_ID, (0..ASES.len()).map(port).collect());
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let mut services = Box::new(services);
        for metric in 0..3u8 {
            let (source, preference) = (Source::Protocol(ProtocolId::new("igp")), 110);
            let hop = NextHop::Via { port: PortId(5), gateway: address(5).into() };
            let hops = Hops::One(RouteHop::Direct(hop));
            let route = Route { source, preference, metric: metric.into(), tag: 0, hops };
            services.rib.set(Prefix::new(Ipv4Addr::new(10, 50, metric, 0), 24), route);
        }
        let protocol: Box<dyn Any> = spec.protocol(&services);
        let bgp = *protocol.downcast::<Bgp>().expect("BGP");
        let known = vec![BTreeMap::new(); ASES.len()];
        let mut net = Net { bgp, services, sessions: Vec::new(), known };
        net.with(|bgp, context| bgp.handle_timeout(Time::ZERO, context));
        for n in 0..ASES.len() {
            let session = net.bgp.peers().iter().find(|peer| peer.config.address == address(n));
            let session = session.and_then(|peer| peer.begun.session).expect("a connection");
            net.sessions.push(session);
        }
        for (n, asn) in ASES.into_iter().enumerate() {
            net.event(n, SessionEvent::Connected);
            let mut all = vec![Capability::Multiprotocol { afi: 1, safi: 1 }];
            match n {
                TAKES_ALL => all.push(Capability::AddPath(vec![(1, 1, AddPathMode::Receive)])),
                TELLS_SEVERAL => all.push(Capability::AddPath(vec![(1, 1, AddPathMode::Send)])),
                _ => {}
            }
            for message in [Message::Open(Open::new(asn, 0, id(n), all)), Message::KeepAlive] {
                let bytes = message.emit(&terms(n, true)).expect("bytes");
                net.event(n, SessionEvent::Received(&bytes));
            }
        }
        assert!(net.bgp.peers().iter().all(super::super::Peer::is_established));
        net
    }

    fn with(&mut self, what: impl FnOnce(&mut Bgp, &mut Context<'_>)) {
        what(&mut self.bgp, &mut Context { services: &mut self.services, owner: Owner(0) });
        while let Some(output) = self.bgp.poll_output() {
            let Output::Session(session, SessionOutput::Send(bytes)) = output else { continue };
            let Some(n) = self.sessions.iter().position(|known| *known == session) else { continue };
            let read = Message::parse(&bytes, &terms(n, false)).expect("a message");
            if let Message::Update(update) = read {
                assert_eq!(update.faults, [], "nothing malformed");
                self.hear(n, *update);
            }
        }
    }

    fn event(&mut self, n: usize, event: SessionEvent<'_>) {
        let session = self.sessions[n];
        self.with(|bgp, context| bgp.handle_session(Time::ZERO, context, session, event));
    }

    /// A neighbour takes what it is told.
    fn hear(&mut self, n: usize, update: Update) {
        let key = |one: &Nlri| match one.prefix {
            base::plane::IpPrefix::V4(prefix) => (prefix, one.path_id.unwrap_or(0)),
            base::plane::IpPrefix::V6(_) => unreachable!("IPv4 alone"),
        };
        for one in &update.withdrawn {
            assert!(self.known[n].remove(&key(one)).is_some(), "only what was told is withdrawn");
        }
        let attributes = &update.attributes;
        for one in &update.nlri {
            let path = attributes.as_path.as_ref().expect("a path");
            let said = Said {
                path: path.0.iter().flat_map(Segment::numbers).copied().collect(),
                origin: attributes.origin.expect("an origin") as u8,
                next_hop: attributes.next_hop.expect("a next hop"),
                med: attributes.med,
                local_pref: attributes.local_pref,
                originator: attributes.originator,
                clusters: attributes.cluster_list.clone(),
            };
            let before = self.known[n].insert(key(one), said.clone());
            // RFC 4271, 9.2: nothing is told twice.
            assert_ne!(before, Some(said), "told again");
        }
    }

    fn say(&mut self, n: usize, update: Update) {
        let bytes = Message::Update(Box::new(update)).emit(&terms(n, true)).expect("bytes");
        self.event(n, SessionEvent::Received(&bytes));
    }
}

fn prefix(n: u8) -> Prefix {
    Prefix::new(Ipv4Addr::new(203, 0, n, 0), 24)
}

/// A neighbour says something of a prefix, or withdraws it.
#[derive(Clone, Debug)]
struct Step {
    n: usize,
    prefix: u8,
    path_id: u32,
    said: Option<Said>,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let clusters = prop::collection::vec(prop_oneof![4 => Just(7u8), 1 => Just(1u8)], 0..3);
    let said = (
        prop::collection::vec(prop_oneof![9 => 65_200..65_203u32, 1 => Just(OWN_AS)], 0..3),
        (0..3u8, prop::option::of(0..3u32), prop::option::of(99..102u32)),
        prop::option::of(0..8usize),
        clusters,
        0..5u8,
    );
    let step = (0..ASES.len(), 0..3u8, 1..4u32, prop::option::weighted(0.8, said));
    let step = step.prop_map(|(n, prefix, path_id, said)| {
        let path_id = if n == TELLS_SEVERAL { path_id } else { 0 };
        let said = said.map(|(mut path, (origin, med, local_pref), originator, clusters, hop)| {
            if is_external(n) {
                path.insert(0, ASES[n]);
            }
            let inside = !is_external(n);
            Said {
                path,
                origin,
                med,
                local_pref: local_pref.filter(|_| inside),
                next_hop: if hop == 4 { address(n) } else { Ipv4Addr::new(10, 50, hop, 1) },
                originator: originator.filter(|_| inside).map(|n| if n == 7 { OWN_ID } else { id(n) }),
                clusters: clusters
                    .into_iter()
                    .filter(|_| inside)
                    .map(|last| if last == 1 { OWN_ID } else { Ipv4Addr::new(10, 98, 0, last) })
                    .collect(),
            }
        });
        Step { n, prefix, path_id, said }
    });
    prop::collection::vec(step, 1..60)
}

proptest! {
    #[test]
    fn what_neighbours_know_is_what_the_rfcs_say(steps in steps()) {
        let mut net = Net::new();
        let mut tables: Tables = vec![BTreeMap::new(); ASES.len()];
        for step in steps {
            let path_id = (step.n == TELLS_SEVERAL).then_some(step.path_id);
            let nlri = vec![Nlri { path_id, ..Nlri::new(prefix(step.prefix).into()) }];
            let key = (prefix(step.prefix), step.path_id);
            match step.said {
                None => {
                    tables[step.n].remove(&key);
                    net.say(step.n, Update { withdrawn: nlri, ..Update::default() });
                }
                Some(said) => {
                    let numbers = Some(said.path.clone()).filter(|path| !path.is_empty());
                    let segments = numbers.into_iter().map(Segment::Sequence).collect();
                    let attributes = Attributes {
                        origin: Origin::of(said.origin),
                        as_path: Some(AsPath(segments)),
                        next_hop: Some(said.next_hop),
                        med: said.med,
                        local_pref: said.local_pref,
                        originator: said.originator,
                        cluster_list: said.clusters.clone(),
                        ..Attributes::default()
                    };
                    tables[step.n].insert(key, said);
                    net.say(step.n, Update { attributes, nlri, ..Update::default() });
                }
            }
            for n in 0..ASES.len() {
                let of = prefix(step.prefix);
                let known = net.known[n].iter().filter(|((one, _), _)| *one == of);
                let mut known: Vec<Said> = known.map(|(_, said)| said.clone()).collect();
                known.sort();
                prop_assert_eq!(known, reading::known(n, &tables, of), "what {} knows of {}", n, of);
            }
        }
    }
}
