//! A speaker with neighbours that are bytes of a test: what it does with sessions, restarts and families.

use super::super::Bgp;
use super::super::section::BgpSpec;
use crate::owner::Owner;
use crate::protocol::{Context, Output, Protocol, Setup};
use crate::services::sessions::{Closed, SessionEvent, SessionId, SessionOutput};
use crate::services::{Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use base::describe::{Describe, Value};
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{Label, PortId, Span, Streams, Time};
use core::any::Any;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use serde_json::json;
use std::collections::BTreeMap;
use wire::bgp::{
    AsPath, Attributes, Capability, Family, Message, NextHop, Nlri, Notification, Open, Origin, Reach,
    Refresh, Segment, Terms, Unknown, Unreach, Update, notification,
};

const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(super) const TERMS: Terms =
    Terms { four_octet: true, is_internal: false, add_path: [false; 4], labels_max: [0; 4] };

/// The neighbour at port `n` has the address 10.n.0.2 (2001:db8:n::2) and AS 65100 + n; this router has AS 65000.
pub(super) fn of(n: u8) -> (Ipv4Addr, u32) {
    (Ipv4Addr::new(10, n, 0, 2), 65_100 + u32::from(n))
}

fn global(n: u8, host: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, u16::from(n), 0, 0, 0, 0, host)
}

pub(super) struct Beside {
    pub(super) bgp: Bgp,
    pub(super) services: Box<Services>,
    now: Time,
    pub(super) sessions: BTreeMap<u8, SessionId>,
    /// What neighbours have been told.
    pub(super) told: Vec<(SessionId, Message)>,
    /// The same as bytes.
    pub(super) raw: Vec<(SessionId, Vec<u8>)>,
    pub(super) closed: Vec<SessionId>,
    /// How neighbours read what they are told.
    pub(super) terms: Terms,
}

impl Beside {
    pub(super) fn new(said: serde_json::Value) -> Beside {
        let value: Value = serde_json::from_value(said).expect("a value");
        let spec = BgpSpec::read(&value).expect("settings");
        let port = |n: u8| Interface {
            kind: InterfaceKind::Port(PortId(u16::from(n))),
            addresses: vec![
                InterfaceAddress { address: IpAddr::V4(Ipv4Addr::new(10, n, 0, 1)), prefix_len: 24 },
                InterfaceAddress { address: IpAddr::V6(global(n, 1)), prefix_len: 64 },
            ],
            link_local: None,
            neighbor: Some(of(n).0),
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
            up: true,
        };
        let interfaces = Interfaces::new("r".into(), OWN, (0..3).map(port).collect());
        let services = Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), Streams::new(1));
        let protocol: Box<dyn Any> = spec.protocol(&services);
        let bgp = *protocol.downcast::<Bgp>().expect("BGP");
        let (sessions, services) = (BTreeMap::new(), Box::new(services));
        Beside {
            bgp,
            services,
            now: Time::ZERO,
            sessions,
            told: Vec::new(),
            raw: Vec::new(),
            closed: Vec::new(),
            terms: TERMS,
        }
    }

    pub(super) fn with(&mut self, what: impl FnOnce(&mut Bgp, Time, &mut Context<'_>)) {
        let mut context = Context { services: &mut self.services, owner: Owner(0) };
        what(&mut self.bgp, self.now, &mut context);
        while let Some(output) = self.bgp.poll_output() {
            match output {
                Output::Session(id, SessionOutput::Send(bytes)) => {
                    self.told.push((id, Message::parse(&bytes, &self.terms).expect("a message")));
                    self.raw.push((id, bytes));
                }
                Output::Session(id, _) => self.closed.push(id),
                _ => {}
            }
        }
    }

    pub(super) fn event(&mut self, session: SessionId, event: SessionEvent<'_>) {
        self.with(|bgp, now, context| bgp.handle_session(now, context, session, event));
    }

    pub(super) fn say(&mut self, n: u8, message: &Message) {
        self.say_update(n, message.emit(&TERMS).expect("bytes"));
    }

    /// A message with these bytes, whose length is made right.
    pub(super) fn say_update(&mut self, n: u8, mut bytes: Vec<u8>) {
        let len = bytes.len() as u16;
        bytes[16..18].copy_from_slice(&len.to_be_bytes());
        self.event(self.sessions[&n], SessionEvent::Received(&bytes));
    }

    /// An UPDATE with what has to be there in front of this attribute.
    pub(super) fn say_bytes(&mut self, n: u8, attribute: &[u8]) {
        let before = [&[0x40, 1, 1, 0, 0x40, 2, 0], attribute].concat();
        let length = (before.len() as u16).to_be_bytes();
        self.say_update(n, [&[0xff; 16][..], &[0, 0, 2, 0, 0], &length, &before].concat());
    }

    /// Goes on to a time, and does what is due until then.
    pub(super) fn wait(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(due) = self.bgp.poll_timeout().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.with(|bgp, now, context| bgp.handle_timeout(now, context));
        }
        self.now = until;
    }

    /// The neighbour takes the connection that this router begins, and says this.
    pub(super) fn open(&mut self, n: u8, capabilities: Vec<Capability>) {
        self.open_as(n, of(n).1, capabilities);
    }

    /// The same of a neighbour with another AS.
    pub(super) fn open_as(&mut self, n: u8, asn: u32, capabilities: Vec<Capability>) {
        let peer = self.bgp.peers().iter().find(|peer| peer.config.address == of(n).0).expect("a neighbour");
        let session = peer.begun.session.expect("it connects");
        self.sessions.insert(n, session);
        self.event(session, SessionEvent::Connected);
        self.say(n, &Message::Open(Open::new(asn, 90, of(n).0, capabilities)));
        self.say(n, &Message::KeepAlive);
    }

    pub(super) fn update(&mut self, n: u8, update: Update) {
        self.say(n, &Message::Update(Box::new(update)));
    }

    pub(super) fn tell(&mut self, n: u8, prefixes: &[&str]) {
        self.update(n, Update { attributes: attributes(n), nlri: nlri(prefixes), ..Update::default() });
    }

    pub(super) fn routes(&self) -> Vec<String> {
        let own = |source: &crate::services::Source| source.word() == "bgp";
        let all = self.services.rib.iter().filter(|(_, route, hops)| own(&route.source) && hops.is_some());
        all.map(|(prefix, ..)| prefix.to_string()).collect()
    }

    /// The UPDATEs that a neighbour was told since the last call.
    pub(super) fn told(&mut self, n: u8) -> Vec<Update> {
        let session = self.sessions[&n];
        let (own, others) = core::mem::take(&mut self.told).into_iter().partition(|(of, _)| *of == session);
        self.told = others;
        let update = |(_, message): (SessionId, Message)| match message {
            Message::Update(update) => Some(*update),
            _ => None,
        };
        Vec::into_iter(own).filter_map(update).collect()
    }
}

pub(super) fn attributes(n: u8) -> Attributes {
    let as_path = Some(AsPath(vec![Segment::Sequence(vec![of(n).1])]));
    Attributes { origin: Some(Origin::Igp), as_path, next_hop: Some(of(n).0), ..Attributes::default() }
}

pub(super) fn nlri(prefixes: &[&str]) -> Vec<Nlri> {
    let read = |text: &&str| Nlri::new(text.parse().expect("a prefix"));
    prefixes.iter().map(read).collect()
}

pub(super) fn families(all: &[Family]) -> Vec<Capability> {
    let of = |family: &Family| {
        let (afi, safi) = family.numbers();
        Capability::Multiprotocol { afi, safi }
    };
    all.iter().map(of).chain([Capability::RouteRefresh]).collect()
}

/// What a neighbour says that goes on forwarding over restarts; `flags` of its family say whether it has.
pub(super) fn restarting(flags: u8) -> Vec<Capability> {
    let mut all = families(&[Family::Ipv4]);
    all.push(Capability::GracefulRestart { flags: 8, time_s: 120, families: vec![(1, 1, flags)] });
    all
}

pub(super) fn two(families: &[&str]) -> Beside {
    let neighbor = |n: u8| json!({"asn": of(n).1, "import": "all", "export": "all", "advertisement_interval": "0 s", "families": families});
    let neighbors = json!({of(0).0.to_string(): neighbor(0), of(1).0.to_string(): neighbor(1)});
    let mut beside = Beside::new(json!({"asn": 65000, "neighbors": neighbors, "connect_retry": "10 s"}));
    beside.wait(Span::ZERO);
    beside
}

pub(super) const END: fn() -> Update = Update::default;

#[test]
fn routes_of_a_neighbour_that_restarts_are_kept_until_it_has_told_them_again() {
    let mut net = two(&["ipv4"]);
    net.open(0, restarting(0x80));
    net.open(1, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24", "198.51.100.0/24"]);
    assert_eq!(net.routes(), ["198.51.100.0/24", "203.0.113.0/24"]);
    net.told(1);
    // RFC 4724, 4.2: the connection is lost, without a NOTIFICATION; nobody is told anything.
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    assert_eq!((net.routes().len(), net.told(1).len()), (2, 0));
    net.wait(Span::from_secs(20));
    net.open(0, restarting(0x80));
    net.tell(0, &["203.0.113.0/24"]);
    assert_eq!((net.routes().len(), net.told(1).len()), (2, 0), "the other may still come");
    net.update(0, END());
    assert_eq!(net.routes(), ["203.0.113.0/24"]);
    assert_eq!(net.told(1), [Update { withdrawn: nlri(&["198.51.100.0/24"]), ..Update::default() }]);
    // One that comes back and has not gone on forwarding has no routes.
    net.event(net.sessions[&0], SessionEvent::PeerClosed);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Done));
    net.wait(Span::from_secs(20));
    net.open(0, restarting(0));
    assert_eq!(net.routes(), [""; 0]);
    // One that does not come back has them as long as it has said.
    net.tell(0, &["203.0.113.0/24"]);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::TimedOut));
    net.wait(Span::from_secs(119));
    assert_eq!(net.routes(), ["203.0.113.0/24"]);
    net.wait(Span::from_secs(2));
    assert_eq!(net.routes(), [""; 0]);
}

#[test]
fn routes_of_a_neighbour_that_restarts_twice_are_not_kept_twice() {
    let mut net = two(&["ipv4"]);
    net.open(0, restarting(0x80));
    net.tell(0, &["203.0.113.0/24", "198.51.100.0/24"]);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    net.wait(Span::from_secs(20));
    net.open(0, restarting(0x80));
    net.tell(0, &["203.0.113.0/24"]);
    assert_eq!(net.routes().len(), 2);
    // RFC 4724, 4.2: what was marked as stale before is deleted.
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    assert_eq!(net.routes(), ["203.0.113.0/24"]);
}

#[test]
fn routes_of_a_neighbour_that_says_why_it_goes_are_not_kept() {
    let mut net = two(&["ipv4"]);
    net.open(0, restarting(0x80));
    net.tell(0, &["203.0.113.0/24"]);
    net.say(0, &Message::Notification(Notification::new(notification::Code::Cease)));
    assert_eq!(net.routes(), [""; 0]);
    // Nor those of one that does not know of restarts.
    net.wait(Span::from_secs(20));
    net.open(0, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24"]);
    assert_eq!(net.routes().len(), 1);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    assert_eq!(net.routes(), [""; 0]);
}

#[test]
fn a_session_begins_with_all_routes_and_their_end() {
    let mut net = two(&["ipv4", "ipv6"]);
    net.open(0, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24"]);
    net.open(1, families(&[Family::Ipv4, Family::Ipv6]));
    let told = net.told(1);
    assert_eq!(told[0].nlri, nlri(&["203.0.113.0/24"]));
    let end6 =
        Update { unreach: Some(Unreach { family: Family::Ipv6, nlri: Vec::new() }), ..Update::default() };
    assert_eq!(told[1..], [END(), end6], "RFC 4724, 2");
    // RFC 2918, 4: told again when asked, of the family that is asked for; of one that was not agreed on never.
    for (afi, count) in [(1, 1), (2, 0), (3, 0)] {
        net.say(1, &Message::RouteRefresh(Refresh { afi, safi: 1 }));
        assert_eq!(net.told(1).len(), count);
    }
}

#[test]
fn ipv6_passes_where_both_ends_want_it() {
    let mut net = two(&["ipv4", "ipv6"]);
    net.open(0, families(&[Family::Ipv4, Family::Ipv6]));
    net.open(1, families(&[Family::Ipv4, Family::Ipv6]));
    net.told(0);
    net.told(1);
    let there = |n: u8, host, prefixes: &[&str]| {
        let next_hop = NextHop::V6 { global: global(n, host), link_local: None };
        let reach = Some(Reach { family: Family::Ipv6, next_hop, nlri: nlri(prefixes) });
        Update { attributes: Attributes { next_hop: None, ..attributes(n) }, reach, ..Update::default() }
    };
    let prefix: Prefix6 = "2001:db8:ff::/48".parse().expect("a prefix");
    net.update(0, there(0, 2, &["2001:db8:ff::/48"]));
    assert_eq!(net.services.rib6.next_hops(prefix).len(), 1);
    let told = net.told(1);
    let reach = told[0].reach.clone().expect("IPv6");
    assert_eq!(reach.next_hop, NextHop::V6 { global: global(1, 1), link_local: None }, "this router itself");
    assert_eq!(told[0].attributes.as_path.as_ref().map(AsPath::steps), Some(2));
    let gone = Unreach { family: Family::Ipv6, nlri: nlri(&["2001:db8:ff::/48"]) };
    net.update(0, Update { unreach: Some(gone.clone()), ..Update::default() });
    assert_eq!(net.services.rib6.next_hops(prefix), []);
    assert_eq!(net.told(1), [Update { unreach: Some(gone), ..Update::default() }]);
    // RFC 4760, 8: of a neighbour that has not said so IPv6 is not taken, nor is it told any.
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    net.wait(Span::from_secs(20));
    net.open(0, families(&[Family::Ipv4]));
    net.update(0, there(0, 2, &["2001:db8:ff::/48"]));
    assert_eq!(net.services.rib6.next_hops(prefix), []);
    net.update(1, there(1, 2, &["2001:db8:fe::/48"]));
    assert!(net.told(0).iter().all(|update| update.reach.is_none()));
    // RFC 2545, 2: an address of the link alone is no next hop for others.
    let link = NextHop::V6 { global: "fe80::1".parse().expect("an address"), link_local: None };
    let mut wrong = there(1, 2, &["2001:db8:fd::/48"]);
    wrong.reach = wrong.reach.map(|reach| Reach { next_hop: link, ..reach });
    net.update(1, wrong);
    assert_eq!(net.services.rib6.iter().filter(|(_, route, _)| route.source.word() == "bgp").count(), 1);
}

#[test]
fn packets_from_farther_away_than_allowed_are_not_taken() {
    let neighbor = |hops: u8| json!({"asn": 65101, "ttl_security": hops});
    let neighbors = json!({"10.0.0.2": neighbor(1), "10.1.0.2": neighbor(254), "10.2.0.2": {"asn": 65101}});
    let net = Beside::new(json!({"asn": 65000, "neighbors": neighbors}));
    let of = |n: u8| {
        let remote = SocketAddr::new(IpAddr::V4(of(n).0), 179);
        net.bgp.accepts(remote, remote).map(|options| (options.ttl, options.ttl_min))
    };
    // RFC 5082, 3: what is from right beside has the time to live that it was sent with.
    assert_eq!([of(0), of(1), of(2), of(3)], [Some((255, 255)), Some((255, 2)), Some((64, 0)), None]);
}

#[test]
fn timers_vary_by_a_quarter() {
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    let mut waits = Vec::new();
    for _ in 0..40 {
        let peer = net.bgp.peers().iter().find(|peer| peer.is_established()).expect("established");
        let due = peer.established().map_or(Time::MAX, |one| one.speak);
        waits.push((due - net.now).0);
        net.wait(due - net.now);
        net.say(0, &Message::KeepAlive);
    }
    // RFC 4271, 10: a third of the hold time, and not always the same.
    let third = Span::from_secs(30).0;
    assert!(waits.iter().all(|wait| (third / 4 * 3..=third).contains(wait)), "{waits:?}");
    let (least, most) = (waits.iter().min(), waits.iter().max());
    assert!(most.zip(least).is_some_and(|(most, least)| most - least > third / 8));
}

#[test]
fn the_prefixes_of_both_families_are_told_apart() {
    let default: [IpPrefix; 2] =
        [Prefix::new(Ipv4Addr::UNSPECIFIED, 0).into(), Prefix6::new(Ipv6Addr::UNSPECIFIED, 0).into()];
    let family =
        |prefix| Family::ALL.iter().copied().find(|family| super::super::table::is_of(*family, prefix));
    assert_eq!(default.map(family), [Some(Family::Ipv4), Some(Family::Ipv6)]);
}

#[test]
fn a_prefix_that_is_withdrawn_and_told_at_once_is_told() {
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    let nlri = nlri(&["203.0.113.0/24"]);
    for _ in 0..2 {
        let update =
            Update { withdrawn: nlri.clone(), attributes: attributes(0), nlri: nlri.clone(), ..END() };
        net.update(0, update);
        // RFC 4271, 4.3.
        assert_eq!(net.routes(), ["203.0.113.0/24"]);
    }
}

#[test]
fn routes_that_cannot_be_are_not_taken() {
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    let path = |numbers: &[u32]| Some(AsPath(vec![Segment::Sequence(numbers.to_vec())]));
    let wrong = [
        // RFC 4271, 5.1.3 and 6.3: a next hop that is the receiver, or none.
        Attributes { next_hop: Some(Ipv4Addr::new(10, 0, 0, 1)), ..attributes(0) },
        Attributes { next_hop: Some(OWN), ..attributes(0) },
        Attributes { next_hop: Some(Ipv4Addr::UNSPECIFIED), ..attributes(0) },
        Attributes { next_hop: Some(Ipv4Addr::new(224, 0, 0, 5)), ..attributes(0) },
        // 9.1.2: its own number in the path; RFC 7606, 7.2: a path that begins with another than the neighbour.
        Attributes { as_path: path(&[of(0).1, 65_000]), ..attributes(0) },
        Attributes { as_path: path(&[65_009, of(0).1]), ..attributes(0) },
    ];
    for attributes in wrong {
        net.tell(0, &["203.0.113.0/24"]);
        assert_eq!(net.routes(), ["203.0.113.0/24"]);
        // It takes the place of the one before, and is not taken.
        net.update(0, Update { attributes, nlri: nlri(&["203.0.113.0/24"]), ..END() });
        assert_eq!(net.routes(), [""; 0]);
        assert!(net.bgp.peers().iter().any(|peer| peer.is_established()), "the session goes on");
    }
}

#[test]
fn what_nobody_knows_goes_on_if_it_is_transitive() {
    use wire::bgp::attribute::{OPTIONAL, PARTIAL, TRANSITIVE};
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    net.open(1, families(&[Family::Ipv4]));
    net.told(1);
    let one = |flags, kind| Unknown { flags, kind, value: wire::Hex(vec![7, kind]) };
    let long: Vec<u32> = core::iter::repeat_n(of(0).1, 255).collect();
    let attributes = Attributes {
        unknown: vec![one(OPTIONAL | TRANSITIVE, 99), one(OPTIONAL, 98)],
        as_path: Some(AsPath(vec![Segment::Sequence(long.clone())])),
        ..attributes(0)
    };
    net.update(0, Update { attributes, nlri: nlri(&["203.0.113.0/24"]), ..END() });
    let told = net.told(1);
    // RFC 4271, 5.
    assert_eq!(told[0].attributes.unknown, [one(OPTIONAL | TRANSITIVE | PARTIAL, 99)]);
    // 5.1.2: a segment has no more than 255 numbers.
    let segments = vec![Segment::Sequence(vec![65_000]), Segment::Sequence(long)];
    assert_eq!(told[0].attributes.as_path, Some(AsPath(segments)));
}

#[test]
fn a_malformed_attribute_withdraws_its_routes_and_the_session_goes_on() {
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24", "198.51.100.0/24"]);
    // The origin is a number that is not defined: it is the first attribute, behind two lengths.
    let update = Update { attributes: attributes(0), nlri: nlri(&["203.0.113.0/24"]), ..END() };
    let mut bytes = Message::Update(Box::new(update)).emit(&TERMS).expect("bytes");
    assert_eq!(bytes[23..27], [0x40, 1, 1, 0]);
    bytes[26] = 9;
    net.event(net.sessions[&0], SessionEvent::Received(&bytes));
    // RFC 7606, 2 and 7.1.
    assert_eq!(net.routes(), ["198.51.100.0/24"]);
    let peer = net.bgp.peers().iter().find(|peer| peer.is_established()).expect("the session goes on");
    assert_eq!(peer.malformed, 1);
}

#[test]
fn a_neighbour_that_connects_anew_has_restarted() {
    let mut net = two(&["ipv4"]);
    net.open(0, restarting(0x80));
    net.tell(0, &["203.0.113.0/24"]);
    let old = net.sessions[&0];
    // A connection of the other neighbour's stands for the one that comes: what counts is the address.
    let other = net
        .bgp
        .peers()
        .iter()
        .find(|peer| peer.config.address == of(1).0)
        .and_then(|peer| peer.begun.session);
    let anew = other.expect("another session");
    let remote = SocketAddr::new(IpAddr::V4(of(0).0), 40_000);
    net.event(anew, SessionEvent::Accepted { local: remote, remote });
    // RFC 4724, 4.2: the old one is closed, and the routes stay.
    assert!(net.closed.contains(&old));
    assert_eq!(net.routes(), ["203.0.113.0/24"]);
}

#[test]
fn a_neighbour_that_is_silent_for_the_hold_time_is_given_up() {
    let mut net = two(&["ipv4"]);
    net.open(0, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24"]);
    net.wait(Span::from_secs(89));
    assert_eq!(net.routes().len(), 1);
    net.wait(Span::from_secs(2));
    assert_eq!(net.routes(), [""; 0]);
    // RFC 4271, 6.5.
    let expired = Message::Notification(Notification::new(notification::Code::HoldTimerExpired));
    assert!(net.told.contains(&(net.sessions[&0], expired)) && net.closed.contains(&net.sessions[&0]));
}

#[test]
fn changes_are_told_in_rounds_and_the_last_one_counts() {
    let neighbor = |n: u8, interval: &str| json!({"asn": of(n).1, "import": "all", "export": "all", "advertisement_interval": interval});
    let neighbors =
        json!({of(0).0.to_string(): neighbor(0, "0 s"), of(1).0.to_string(): neighbor(1, "20 s")});
    let mut net = Beside::new(json!({"asn": 65000, "neighbors": neighbors}));
    net.wait(Span::ZERO);
    net.open(0, families(&[Family::Ipv4]));
    net.open(1, families(&[Family::Ipv4]));
    net.tell(0, &["203.0.113.0/24"]);
    assert_eq!(net.told(1).iter().filter(|update| !update.nlri.is_empty()).count(), 1);
    // RFC 4271, 9.2.1.1: what comes and goes meanwhile nobody hears of.
    net.tell(0, &["198.51.100.0/24", "192.0.2.0/24"]);
    net.update(0, Update { withdrawn: nlri(&["192.0.2.0/24"]), ..END() });
    net.wait(Span::from_secs(14));
    assert_eq!(net.told(1), []);
    net.wait(Span::from_secs(7));
    let told = net.told(1);
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0].nlri, &told[0].withdrawn), (&nlri(&["198.51.100.0/24"]), &vec![]));
}

#[test]
fn a_neighbour_beyond_a_link_is_reached_from_an_address_of_its_family() {
    let far = "2001:db8:ffff::9";
    let spoken = |is_ipv6: bool| {
        let mut net = Beside::new(json!({"asn": 65000, "neighbors": {far: {"asn": 65009}}}));
        if !is_ipv6 {
            let ports = net.services.interfaces.ports().map(|(_, port)| Interface {
                addresses: port.addresses.iter().filter(|own| own.address.is_ipv4()).copied().collect(),
                ..port.clone()
            });
            net.services.interfaces = Interfaces::new("r".into(), OWN, ports.collect());
        }
        let gateway = base::plane::NextHop::Via { port: PortId(0), gateway: global(0, 2).into() };
        let prefix: Prefix6 = "2001:db8:ffff::/48".parse().expect("a prefix");
        net.services.rib6.set(prefix, crate::services::Route::fixed(gateway));
        net.wait(Span::ZERO);
        net
    };
    let net = spoken(true);
    let peer = &net.bgp.peers()[0];
    assert_eq!(
        (peer.local, peer.begun.session.is_some()),
        (global(0, 1).into(), true),
        "no loopback has one"
    );
    let net = spoken(false);
    let peer = &net.bgp.peers()[0];
    assert_eq!((&*peer.last_end, peer.begun.session), ("this router has no IPv6 address", None));
}
