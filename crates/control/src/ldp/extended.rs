//! Extended discovery (RFC 5036, 2.4.2): Hellos to routers further away, by their addresses. A session that comes of
//! them exchanges labels, which no packet to a prefix takes: its next hops are on links.

use super::Ldp;
use super::discovery::{Adjacency, FOR_EVER};
use crate::protocol::{Context, IpArrival};
use crate::services::sessions::Datagram;
use base::{Dscp, Span, Time};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use wire::ldp::{Body, DEFAULT_MAX_PDU, Hello, LdpId, PORT};

/// Seconds of a hold time that is given as the usual one (RFC 5036, 3.5.2).
const USUAL_HOLD: u16 = 45;
/// Three Hellos may be lost (RFC 5036, 3.5.2.1: an interval of a third of the hold time at most).
const INTERVAL: Span = Span::from_secs(USUAL_HOLD as i64 / 3);

impl Ldp {
    /// Sends targeted Hellos that are due, to whom the user has named and to whom wants them, and forgets who was not
    /// heard.
    pub(super) fn reach_out(&mut self, now: Time, context: &mut Context<'_>) {
        let silent = self.targeted.iter().filter(|(_, one)| one.expires <= now);
        for id in silent.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.targeted.remove(&id);
            self.part_from(now, context, id);
        }
        if self.reach_due > now {
            return;
        }
        self.reach_due = now + INTERVAL;
        for to in self.config.targets.clone() {
            self.greet_far(context, to, true);
        }
        let answered = self.targeted.values().filter(|one| one.wants_answer).map(|one| one.address);
        for to in answered.filter(|to| !self.config.targets.contains(to)).collect::<Vec<_>>() {
            self.greet_far(context, to, false);
        }
    }

    fn greet_far(&mut self, context: &mut Context<'_>, to: Ipv4Addr, wants_targeted: bool) {
        let hello = Hello {
            hold_s: USUAL_HOLD,
            is_targeted: true,
            wants_targeted,
            // RFC 6720, 3: GTSM is for links only.
            gtsm: false,
            transport: Some(self.router_id),
            transport6: None,
            configuration: None,
        };
        self.hellos = self.hellos.wrapping_add(1).max(1);
        let hello = wire::ldp::Message::new(self.hellos, Body::Hello(hello));
        for bytes in wire::ldp::pdus(self.id(), [&hello], DEFAULT_MAX_PDU) {
            let (from, to) = (Some(IpAddr::V4(self.router_id)), SocketAddr::new(IpAddr::V4(to), PORT));
            let datagram = Datagram { from, port: PORT, to, ttl: 255, dscp: Dscp::CS6, bytes };
            // Without a route there is nobody to reach.
            let _ = context.send_datagram(datagram);
        }
    }

    /// Takes a targeted Hello, if this router has named its sender or takes those of all (RFC 5036, 3.5.2.1). Was it
    /// taken?
    pub(super) fn hear_far(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        ip: &IpArrival,
        id: LdpId,
        hello: &Hello,
    ) -> bool {
        let is_wanted = self.config.accept_targeted || self.config.targets.contains(&ip.src);
        if !is_wanted || ip.dst != self.router_id {
            return false;
        }
        let hold_s = if hello.hold_s == 0 { USUAL_HOLD } else { hello.hold_s.min(USUAL_HOLD) };
        let expires = match hold_s {
            FOR_EVER => Time::MAX,
            seconds => now + Span::from_secs(i64::from(seconds)),
        };
        let transport = hello.transport.unwrap_or(ip.src);
        let wants_answer = hello.wants_targeted;
        let adjacency = Adjacency { address: ip.src, transport, hold_s, expires, gtsm: false, wants_answer };
        if self.targeted.insert(id, adjacency).is_none() && wants_answer {
            self.reach_due = now;
            self.reach_out(now, context);
        }
        true
    }

    /// When Hellos are due, or somebody is heard no more.
    pub(super) fn reach_timeout(&self) -> Option<Time> {
        let is_busy = !self.config.targets.is_empty() || !self.targeted.is_empty();
        let expires = self.targeted.values().map(|one| one.expires).min();
        is_busy.then(|| expires.map_or(self.reach_due, |expires| expires.min(self.reach_due)))
    }

    /// Is a router heard, on a link or from further away?
    pub(super) fn is_heard(&self, id: LdpId) -> bool {
        self.targeted.contains_key(&id) || self.adjacencies.keys().any(|(_, known)| *known == id)
    }

    /// The other end of a session with a router.
    pub(super) fn transport_of(&self, id: LdpId) -> Option<Ipv4Addr> {
        let on_links = self.adjacencies.iter().find(|((_, other), _)| *other == id).map(|(_, one)| one);
        on_links.or_else(|| self.targeted.get(&id)).map(|one| one.transport)
    }
}
