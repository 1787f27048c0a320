//! Neighbours: connections are begun, taken and ended (RFC 4271, 8), and what comes by them is read.

use super::restart::restart_of;
use super::session::{Connection, SessionState, SessionStep};
use super::table::{is_labelled, is_of};
use super::told::Pending;
use super::{Bgp, Event, Peer, several};
use crate::protocol::{Context, Output};
use crate::services::sessions::{Closed, Connect, Refusal, SessionId, SessionOutput};
use crate::services::{Interface, InterfaceKind, Services};
use base::plane::IpPrefix;
use base::{PortId, Span, Time};
use core::net::{IpAddr, SocketAddr};
use wire::bgp::notification::Code;
use wire::bgp::{AddPathMode, Capability, Family, Message, Notification, Open, PORT, Terms};

/// How long an OPEN is waited for (RFC 4271, 8.2.2: "a HoldTimer value of 4 minutes is suggested").
const LARGE_HOLD: Span = Span::from_secs(240);

/// Why there is no session where no route leads to the neighbour.
const NO_ROUTE: &str = "no route to the neighbour";

/// How a connection ended, in words.
fn ended(why: Closed) -> &'static str {
    match why {
        Closed::Done => "connection closed",
        Closed::Reset => "connection reset",
        Closed::Refused => "connection refused",
        Closed::TimedOut => "connection timed out",
    }
}

/// A link of the router that a neighbour's address is on, and the router's own address of that family there.
pub(super) fn shared_link(services: &Services, remote: IpAddr) -> Option<(PortId, &Interface, IpAddr)> {
    services.interfaces.ports().find_map(|(port, one)| {
        Some((port, one, one.addresses.iter().find(|own| own.is_beside(remote))?.address))
    })
}

/// Why no connection was begun to a neighbour.
fn not_begun(peer: &Peer, from: Option<IpAddr>, why: Refusal) -> &'static str {
    match (why, peer.config.address) {
        (Refusal::Address, IpAddr::V6(_)) if from.is_none() => "this router has no IPv6 address",
        (Refusal::Address, _) => "no connection to such an address is possible",
        (Refusal::Ports, _) => "no port is free",
        (Refusal::Sessions, _) => "the router has too many sessions",
    }
}

/// The addresses of this node towards a neighbour: of the link that both are on, or else those of its loopback; for a
/// neighbour by an IPv6 address that of its first port that has one, if its loopback has none.
fn set_local(services: &Services, peer: &mut Peer) {
    let interfaces = &services.interfaces;
    let (local4, local6) = match shared_link(services, peer.config.address) {
        Some((_, one, _)) => (one.ipv4().map(|own| own.0), one.ipv6().map(|own| own.0)),
        None => {
            let of_port = || interfaces.ports().find_map(|(_, one)| one.ipv6()).map(|own| own.0);
            let of_port = || of_port().filter(|_| peer.config.address.is_ipv6());
            (None, interfaces.loopbacks6().next().or_else(of_port))
        }
    };
    (peer.local4, peer.local6) = (local4.unwrap_or(interfaces.router_id), local6);
    let shared = shared_link(services, peer.config.address).map(|(.., own)| own);
    peer.local = shared.unwrap_or(match peer.config.address {
        IpAddr::V4(_) => peer.local4.into(),
        IpAddr::V6(_) => peer.local6.map_or(IpAddr::V4(peer.local4), IpAddr::V6),
    });
}

/// The families that both ends want routes of (RFC 4760, 8); of one that says nothing of families IPv4 alone.
fn shared(own: &[Family], open: &Open) -> Vec<Family> {
    let told = |capability: &Capability| match capability {
        Capability::Multiprotocol { afi, safi } => Some((*afi, *safi)),
        _ => None,
    };
    let theirs: Vec<(u16, u8)> = open.capabilities.iter().filter_map(told).collect();
    let is_shared =
        |family: &Family| theirs.contains(&family.numbers()) || theirs.is_empty() && *family == Family::Ipv4;
    own.iter().copied().filter(is_shared).collect()
}

impl Bgp {
    fn place_of(&self, id: SessionId) -> Option<usize> {
        self.peers.iter().position(|peer| peer.connections().any(|one| one.session == Some(id)))
    }

    fn send(&mut self, now: Time, place: usize, id: SessionId, message: &Message) {
        let Some(hold) = self.peers[place].connection(id).map(|one| one.hold) else { return };
        // RFC 4271, 10: a third of the hold time; 4.4: not more often than each second.
        let wait = self.jittered(Span(hold.0 / 3)).max(Span::from_secs(1));
        let Some(connection) = self.peers[place].connection(id) else { return };
        if hold > Span::ZERO {
            connection.speak = now + wait;
        }
        if let Ok(bytes) = message.emit(&connection.terms) {
            self.outputs.push_back(Output::Session(id, SessionOutput::Send(bytes)));
        }
    }

    /// Begins the connections that can be begun.
    pub(super) fn connect_due(&mut self, now: Time, context: &mut Context<'_>) {
        for place in 0..self.peers.len() {
            let peer = &self.peers[place];
            let waits = matches!(peer.begun.state, SessionState::Idle | SessionState::Active);
            if !waits || peer.taken.is_some() || peer.retry > now {
                continue;
            }
            let address = peer.config.address;
            let is_reached = match address {
                IpAddr::V4(address) => context.services.rib.lookup(address).is_some(),
                IpAddr::V6(address) => context.services.rib6.lookup(address).is_some(),
            };
            let wait = self.jittered(self.config.connect_retry);
            let peer = &mut self.peers[place];
            peer.retry = now + wait;
            set_local(context.services, peer);
            if !is_reached {
                peer.last_end = NO_ROUTE.into();
                continue;
            }
            let from = Some(peer.local).filter(|own| own.is_ipv4() == address.is_ipv4());
            let to = SocketAddr::new(address, PORT);
            let options = Bgp::options(&peer.config);
            let connect = Connect { from, port: None, to, options };
            let begun = context.connect(now, connect);
            let peer = &mut self.peers[place];
            match begun {
                Ok(session) => {
                    let step = if peer.begun.state == SessionState::Idle {
                        SessionStep::Start
                    } else {
                        SessionStep::RetryExpired
                    };
                    peer.begun.step(now, step);
                    peer.begun.session = Some(session);
                }
                Err(why) => peer.last_end = not_begun(peer, from, why).into(),
            }
        }
    }

    /// This router's OPEN leaves by a connection that is there.
    pub(super) fn opened(&mut self, now: Time, id: SessionId) {
        let Some(place) = self.place_of(id) else { return };
        if let Some(connection) = self.peers[place].connection(id) {
            connection.step(now, SessionStep::TcpUp);
            (connection.expires, connection.hold) = (now + LARGE_HOLD, Span::ZERO);
        }
        let families = self.peers[place].config.families.iter().map(|family| family.numbers());
        let mut all: Vec<Capability> =
            families.map(|(afi, safi)| Capability::Multiprotocol { afi, safi }).collect();
        all.push(Capability::RouteRefresh);
        all.extend(self.restart_capability(place));
        let peer = &self.peers[place].config;
        let mode = match (peer.takes_paths, peer.told_paths.is_some()) {
            (true, true) => Some(AddPathMode::Both),
            (true, false) => Some(AddPathMode::Receive),
            (false, true) => Some(AddPathMode::Send),
            (false, false) => None,
        };
        if let Some(mode) = mode {
            let numbers = peer.families.iter().map(|family| family.numbers());
            all.push(Capability::AddPath(numbers.map(|(afi, safi)| (afi, safi, mode)).collect()));
        }
        all.extend(several::capability(&peer.families));
        let open = Open::new(self.config.asn, self.peers[place].config.hold_s, self.router_id, all);
        self.send(now, place, id, &Message::Open(open));
    }

    /// A neighbour's connection is there.
    pub(super) fn taken(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, remote: SocketAddr) {
        let from = |peer: &Peer| peer.config.address == remote.ip();
        let Some(place) = self.peers.iter().position(from) else {
            self.outputs.push_back(Output::Session(id, SessionOutput::Abort));
            return;
        };
        // RFC 4724, 4.2: a neighbour that restarts connects anew before its end of the connection has failed here.
        let peer = &self.peers[place];
        let old = peer.established().filter(|one| {
            self.config.keeps_routes && one.restart.as_ref().is_some_and(|r| !r.families.is_empty())
        });
        if let Some(old) = old.and_then(|one| one.session) {
            self.fail(now, context, old, "the neighbour has connected anew");
            self.outputs.push_back(Output::Session(old, SessionOutput::Abort));
        }
        // RFC 4271, 6.8: what is established stays, and so does the first of two of the neighbour's.
        let peer = &self.peers[place];
        if peer.is_established() || peer.taken.is_some() || peer.barred_until > now {
            self.outputs.push_back(Output::Session(id, SessionOutput::Abort));
            return;
        }
        let mut connection = Connection::new();
        connection.step(now, SessionStep::Listen);
        connection.session = Some(id);
        set_local(context.services, &mut self.peers[place]);
        self.peers[place].taken = Some(connection);
        self.opened(now, id);
    }

    /// Takes a message.
    pub(super) fn receive(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, bytes: &[u8]) {
        let Some(place) = self.place_of(id) else { return };
        let Some(connection) = self.peers[place].connection(id) else { return };
        let message = match Message::parse(bytes, &connection.terms) {
            Ok(message) => message,
            Err(malformed) => {
                return self.end(now, context, id, SessionStep::Refused, malformed.notification);
            }
        };
        if connection.hold > Span::ZERO {
            connection.expires = now + connection.hold;
        }
        match (connection.state, message) {
            (_, Message::Notification(why)) => {
                connection.step(now, SessionStep::Notified);
                self.lose(now, context, id, &format!("the neighbour said: {}", why.words()), false);
                self.outputs.push_back(Output::Session(id, SessionOutput::Close));
            }
            (SessionState::OpenSent, Message::Open(open)) => self.agree(now, context, place, id, &open),
            (SessionState::OpenConfirm, Message::KeepAlive) => {
                connection.step(now, SessionStep::KeepAlive);
                self.establish(now, context, place, id);
            }
            (SessionState::Established, Message::KeepAlive) => {
                connection.step(now, SessionStep::KeepAlive);
            }
            (SessionState::Established, Message::Update(update)) => {
                connection.step(now, SessionStep::Update);
                self.update(context, place, update);
                self.limit(now, context, place, id);
            }
            (SessionState::Established, Message::RouteRefresh(refresh)) => {
                // RFC 2918, 4: only of a family that both have.
                let family = Family::of(refresh.afi, refresh.safi);
                if let Some(family) = family.filter(|family| connection.families.contains(family)) {
                    self.tell_again(place, family);
                }
            }
            // RFC 4271, 8.2.2: what is not expected.
            _ => self.end(now, context, id, SessionStep::Refused, Notification::new(Code::StateMachine)),
        }
    }

    /// Ends the session with a neighbour that has told more routes than are taken of it, until the next attempt is due
    /// (RFC 4271, 6.7; RFC 4486, 4).
    fn limit(&mut self, now: Time, context: &mut Context<'_>, place: usize, id: SessionId) {
        let peer = &self.peers[place];
        let Some(most) = peer.config.maximum_prefixes.filter(|most| peer.received > *most) else { return };
        let code = Code::TooManyPrefixes;
        let words = format!("this router said: {}, which is {most} of this neighbour", code.words());
        self.end_because(now, context, id, (SessionStep::Stop, Notification::new(code)), &words);
        self.peers[place].barred_until = self.peers[place].retry;
    }

    /// Takes an OPEN: the session is as both want it, or why not (RFC 4271, 6.2 and 6.8).
    fn agree(&mut self, now: Time, context: &mut Context<'_>, place: usize, id: SessionId, open: &Open) {
        let peer = &self.peers[place];
        let refused = if open.asn() != peer.config.asn {
            Some(Code::BadPeerAs)
        } else if !self.is_external(place) && open.id == self.router_id {
            // RFC 6286, 2.2: within an AS nobody has the number of another.
            Some(Code::BadIdentifier)
        } else {
            None
        };
        if let Some(code) = refused {
            self.peers[place].last_end = match code {
                Code::BadPeerAs => format!("the neighbour has AS {}, not {}", open.asn(), peer.config.asn),
                _ => code.words().into(),
            };
            return self.end(now, context, id, SessionStep::Refused, Notification::new(code));
        }
        let is_begun = peer.begun.session == Some(id);
        let other = peer.connections().find(|one| one.session.is_some_and(|other| other != id));
        let collides = other
            .filter(|other| matches!(other.state, SessionState::OpenConfirm | SessionState::Established));
        if let Some(other) = collides.map(|other| (other.session, other.is_established())) {
            // The connection that the end with the greater identifier has begun stays; of equal ones, that of the
            // greater AS (RFC 6286, 2.3).
            let is_greater = (self.router_id, self.config.asn) > (open.id, open.asn());
            let this_stays = !other.1 && is_greater == is_begun;
            let loser = if this_stays { other.0 } else { Some(id) };
            if let Some(loser) = loser {
                self.end(now, context, loser, SessionStep::Stop, Notification::new(Code::Collision));
            }
            if !this_stays {
                return;
            }
        }
        let is_internal = !self.is_external(place);
        let hold_s = self.peers[place].config.hold_s.min(open.hold_s);
        let peer = &self.peers[place].config;
        let families = shared(&peer.families, open);
        // RFC 7911, 5: one end says that it tells several paths, and the other that it takes them.
        let does = |family: &Family, mode| {
            let all = open.capabilities.iter().find_map(|capability| match capability {
                Capability::AddPath(all) => Some(all),
                _ => None,
            });
            let (afi, safi) = family.numbers();
            let its = |one: &&(u16, u8, AddPathMode)| (one.0, one.1) == (afi, safi);
            let said = all.and_then(|all| all.iter().find(its));
            said.is_some_and(|(.., said)| *said == mode || *said == AddPathMode::Both)
        };
        let mut add_path = [false; Family::ALL.len()];
        for family in families.iter().filter(|family| peer.takes_paths && does(family, AddPathMode::Send)) {
            add_path[family.place()] = true;
        }
        let (mut labels_told, mut labels_max) = ([0; Family::ALL.len()], [0; Family::ALL.len()]);
        for family in families.iter().filter(|family| is_labelled(**family)) {
            if let Some(count) = several::taken_by(open, *family) {
                (labels_told[family.place()], labels_max[family.place()]) = (count, several::TAKEN);
            }
        }
        let is_many = |family: &&Family| peer.told_paths.is_some() && does(family, AddPathMode::Receive);
        let many = families.iter().filter(is_many).copied().collect();
        let Some(connection) = self.peers[place].connection(id) else { return };
        connection.hold = Span::from_secs(i64::from(hold_s));
        connection.expires = if hold_s == 0 { Time::MAX } else { now + connection.hold };
        connection.speak = Time::MAX;
        connection.id = Some(open.id);
        connection.terms = Terms { four_octet: open.has_four_octets(), is_internal, add_path, labels_max };
        connection.labels_told = labels_told;
        connection.many = many;
        connection.refreshes = open.capabilities.contains(&Capability::RouteRefresh);
        connection.restart = restart_of(open);
        connection.families = families;
        connection.step(now, SessionStep::OpenGood);
        self.send(now, place, id, &Message::KeepAlive);
    }

    /// Routes are exchanged from now on.
    fn establish(&mut self, now: Time, context: &mut Context<'_>, place: usize, id: SessionId) {
        let others = self.peers[place].connections().filter_map(|one| one.session);
        for other in others.filter(|other| *other != id).collect::<Vec<_>>() {
            self.end(now, context, other, SessionStep::Stop, Notification::new(Code::Collision));
        }
        let peer = &mut self.peers[place];
        peer.id = peer.connection(id).and_then(|connection| connection.id);
        peer.known_id = peer.id;
        (peer.has_met, peer.is_restart_untold) = (true, false);
        peer.last_end.clear();
        let families = peer.connection(id).map(|one| one.families.clone()).unwrap_or_default();
        let is_told = |prefix: &IpPrefix| families.iter().any(|family| is_of(*family, *prefix));
        let all = self.prefixes.keys_where(|entry| entry.best_at().is_some());
        peer.pending = all.into_iter().filter(is_told).collect();
        peer.next_update = now;
        let ends_due = self.met_again(place);
        let peer = &mut self.peers[place];
        peer.ends_due = ends_due;
        self.is_watch_due = true;
        let (address, asn) = (peer.config.address, peer.config.asn);
        self.event(Event::BgpSessionUp { address, asn });
        self.resume(now, context, place, id);
    }

    /// What connections are due to do: begin, say something, or end; and neighbours are told what is due.
    pub(super) fn timers(&mut self, now: Time, context: &mut Context<'_>) {
        for place in 0..self.peers.len() {
            let all: Vec<Connection> = self.peers[place].connections().cloned().collect();
            for connection in all {
                let Some(id) = connection.session else { continue };
                if connection.expires <= now {
                    let why = Notification::new(Code::HoldTimerExpired);
                    self.end(now, context, id, SessionStep::HoldExpired, why);
                } else if connection.speak <= now {
                    self.send(now, place, id, &Message::KeepAlive);
                }
            }
        }
        for place in 0..self.peers.len() {
            if self.peers[place].stale > 0 && self.peers[place].stale_until <= now {
                self.drop_stale(context, place, None);
            }
        }
        self.connect_due(now, context);
    }

    /// A port can be used, or can't: sessions with neighbours of other ASes that are right behind it end at once.
    pub(super) fn interface(&mut self, now: Time, context: &mut Context<'_>, port: PortId, up: bool) {
        let Some(one) = context.services.interfaces.of_port(port) else { return };
        debug_assert!(matches!(one.kind, InterfaceKind::Port(_)));
        let addresses = one.addresses.clone();
        for place in 0..self.peers.len() {
            let address = self.peers[place].config.address;
            if !addresses.iter().any(|own| own.is_beside(address)) {
                continue;
            }
            self.peers[place].retry = if up { now } else { self.peers[place].retry };
            let sessions: Vec<_> = self.peers[place].connections().filter_map(|one| one.session).collect();
            let ends = !up && self.is_external(place);
            for id in sessions.into_iter().filter(|_| ends) {
                self.end(now, context, id, SessionStep::Stop, Notification::new(Code::Cease));
            }
        }
    }

    /// Ends a connection with a NOTIFICATION.
    pub(super) fn end(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        step: SessionStep,
        why: Notification,
    ) {
        let words = format!("this router said: {}", why.words());
        self.end_because(now, context, id, (step, why), &words);
    }

    /// The same for a reason that a NOTIFICATION cannot say.
    pub(super) fn end_because(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        (step, why): (SessionStep, Notification),
        words: &str,
    ) {
        let Some(place) = self.place_of(id) else { return };
        let Some(connection) = self.peers[place].connection(id) else { return };
        if connection.state as u8 >= SessionState::OpenSent as u8 {
            self.send(now, place, id, &Message::Notification(why));
        }
        if let Some(connection) = self.peers[place].connection(id) {
            connection.step(now, step);
        }
        self.lose(now, context, id, words, false);
        self.outputs.push_back(Output::Session(id, SessionOutput::Close));
    }

    /// The TCP connection has ended.
    pub(super) fn closed(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, why: Closed) {
        self.fail(now, context, id, ended(why));
    }

    /// The same, or the neighbour sends nothing more.
    pub(super) fn fail(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, why: &str) {
        let Some(place) = self.place_of(id) else { return };
        if let Some(connection) = self.peers[place].connection(id) {
            connection.step(now, SessionStep::TcpFails);
        }
        self.lose(now, context, id, why, true);
    }

    /// Forgets a connection, and what was learnt by it, unless the neighbour seems to restart: the connection has
    /// failed without a NOTIFICATION (RFC 4724, 4.2).
    fn lose(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, why: &str, is_failure: bool) {
        let Some(place) = self.place_of(id) else { return };
        let retry = now + self.jittered(self.config.connect_retry);
        let keeps = self.config.keeps_routes;
        let peer = &mut self.peers[place];
        let lost = peer.connection(id).cloned();
        let is_begun = peer.begun.session == Some(id);
        if is_begun {
            let (state, since) = (peer.begun.state, peer.begun.since);
            peer.begun = Connection { state, since, ..Connection::new() };
        } else {
            peer.taken = None;
        }
        peer.retry = retry;
        if peer.is_established() || peer.connections().any(|one| one.session.is_some()) {
            // The other connection goes on.
            return;
        }
        let was_up = peer.id.take().is_some();
        if was_up || !peer.last_end.starts_with("the neighbour has AS") {
            peer.last_end = why.into();
        }
        self.is_watch_due |= was_up;
        if was_up {
            let (address, asn, why) = (peer.config.address, peer.config.asn, why.to_string());
            (peer.pending, peer.ends_due) = (Pending::default(), Vec::new());
            self.untell(context, place);
            if !is_failure {
                // It keeps nothing.
                self.peers[place].told_several.clear();
            }
            if let Some(lost) = &lost {
                self.lost_again(place, lost);
            }
            match lost.and_then(|one| one.restart).filter(|_| keeps && is_failure) {
                Some(restart) => self.keep(now, context, place, &restart),
                None => self.forget(context, place),
            }
            self.event(Event::BgpSessionDown { address, asn, why });
        }
    }
}

impl Bgp {
    /// A route has changed: neighbours to which there was none may be reached now.
    pub(super) fn reached(&mut self, now: Time, context: &mut Context<'_>, prefix: IpPrefix) {
        let mut is_any = false;
        for peer in self.peers.iter_mut().filter(|peer| prefix.contains(peer.config.address)) {
            if peer.begun.state == SessionState::Idle && peer.last_end == NO_ROUTE {
                (peer.retry, is_any) = (now, true);
            }
        }
        if is_any {
            self.connect_due(now, context);
        }
    }
}
