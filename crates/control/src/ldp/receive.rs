//! What comes by sessions, and what is answered (RFC 5036, 2.5.3 and 3.5).

use super::said::{IPV4, key_of};
use super::session::{SessionState, SessionStep};
use super::{Event, Ldp, cells};
use crate::protocol::Context;
use crate::services::distribution::LabelAdvertisement;
use crate::services::sessions::{SessionId, SessionOutput};
use base::{Span, Time};
use wire::ldp::{
    Addresses, Body, DEFAULT_MAX_PDU, Fec, Header, Initialization, LdpId, Malformed, Message, Notice, Status,
    VERSION, kind,
};
use wire::{Hex, Reason};

/// A session that ends, and what is said of it.
type Ended = (SessionStep, Notice);

fn about(status: Status, message: &Message) -> Notice {
    Notice { code: status.code(), message_id: message.id, message_type: message.body.kind() }
}

/// What is answered to something malformed.
struct Reply {
    status: Status,
    notice: Notice,
    /// The parameter that is wrong, whole (RFC 5561, 3 and 8).
    returned: Option<Hex>,
}

impl Reply {
    fn to(malformed: Malformed, pdu: &[u8]) -> Reply {
        let Malformed { status, message_id, message_type, error } = malformed;
        // What is malformed in a parameter is said to be where its value begins.
        let returned = match status {
            Status::UnknownTlv => Some(error.offset),
            Status::MalformedTlvValue => error.offset.checked_sub(4),
            _ => None,
        };
        let returned = returned.and_then(|at| wire::ldp::tlv_at(pdu, at)).map(Hex::from);
        // RFC 5561, 6: a parameter of an Initialization message that may not be left out is a capability that the other
        // end cannot do without.
        let status = match (status, message_type) {
            (Status::UnknownTlv, kind::INITIALIZATION) => Status::UnsupportedCapability,
            _ => status,
        };
        Reply { status, notice: Notice { code: status.code(), message_id, message_type }, returned }
    }

    fn shutdown() -> Reply {
        Reply { status: Status::Shutdown, notice: Notice::new(Status::Shutdown), returned: None }
    }
}

impl Ldp {
    /// Takes a PDU of a session.
    pub(super) fn receive(&mut self, now: Time, context: &mut Context<'_>, id: SessionId, pdu: &[u8]) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        let header = match Header::parse(pdu, session.max_pdu) {
            Ok(header) => header,
            Err(malformed) => {
                let notice = Reply::to(malformed, pdu).notice;
                self.count_malformed(malformed);
                return self.end(now, context, id, SessionStep::Refused, Body::notify(notice));
            }
        };
        // RFC 5036, 3.5.1.2.1: somebody else than the peer of the session.
        let other = session.peer.is_some_and(|peer| peer != header.id);
        if other && session.state != SessionState::NonExistent {
            let said = Body::notify(Notice::new(Status::BadLdpIdentifier));
            return self.end(now, context, id, SessionStep::Refused, said);
        }
        if session.keepalive > Span::ZERO {
            session.expires = now + session.keepalive;
        }
        for raw in wire::ldp::messages(pdu, header) {
            let Some(session) = self.sessions.get_mut(&id) else { return };
            let reply = match raw.and_then(|raw| Message::parse(&raw)) {
                Ok(Some(message)) => match self.take(now, context, id, header.id, message) {
                    Ok(()) => continue,
                    Err((step, notice)) => return self.end(now, context, id, step, Body::notify(notice)),
                },
                // RFC 5036, 2.5.3: before the session is established nothing is left out.
                Ok(None) if session.is_operational() => continue,
                Ok(None) => Reply::shutdown(),
                Err(malformed) => {
                    self.count_malformed(malformed);
                    Reply::to(malformed, pdu)
                }
            };
            let Some(session) = self.sessions.get_mut(&id) else { return };
            let Reply { status, notice, returned } = reply;
            if status.is_fatal() || !session.is_operational() {
                // The proposal of the other end was refused: it is not made again at once.
                session.was_refused |= status == Status::UnsupportedCapability;
                let says = status.is_fatal() || status == Status::UnsupportedCapability;
                let code = if says { notice.code } else { Status::Shutdown.code() };
                let said = Body::notify_tlvs(Notice { code, ..notice }, returned.filter(|_| says));
                return self.end(now, context, id, SessionStep::Refused, said);
            }
            session.say(Body::notify_tlvs(notice, returned));
        }
    }

    fn count_malformed(&mut self, found: Malformed) {
        if let Reason::Invalid(clause) = found.error.reason {
            let (_, count) = self.malformed.entry(clause).or_insert((found.status, 0));
            *count += 1;
        }
    }

    /// Takes a message. An error ends the session.
    fn take(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        from: LdpId,
        message: Message,
    ) -> Result<(), Ended> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let refused = |status| Err((SessionStep::Refused, about(status, &message)));
        let step = match (&message.body, session.state) {
            (Body::Notification { notice, request, fec, .. }, _) => {
                return self.notified(now, context, id, *notice, *request, fec.as_ref());
            }
            (Body::Initialization(wanted), SessionState::Initialized | SessionState::OpenSent) => {
                return self
                    .agree(now, context, id, from, wanted)
                    .map_err(|status| (SessionStep::Refused, about(status, &message)));
            }
            (Body::KeepAlive, SessionState::OpenRec | SessionState::Operational) => SessionStep::KeepAlive,
            (Body::Hello(_) | Body::Initialization(_), _) => return refused(Status::Shutdown),
            (_, SessionState::Operational) => SessionStep::Message,
            _ => return refused(Status::Shutdown),
        };
        let before = session.state;
        session.step(now, step);
        if before == SessionState::OpenRec {
            self.establish(now, context, id);
        }
        let key = self.sessions.get(&id).and_then(|session| session.peer).map(key_of);
        match &message.body {
            Body::Address(Addresses::V4(list)) | Body::AddressWithdraw(Addresses::V4(list)) => {
                let is_new = matches!(message.body, Body::Address(_));
                if let Some(key) = key {
                    self.labels.addresses(now, context.services, key, list, is_new);
                    self.multipoint.addresses(context.services, key, list, is_new);
                }
            }
            // RFC 5036, 3.5.5.1: no IPv6 is spoken.
            Body::Address(_) | Body::AddressWithdraw(_) => {
                self.advise(id, about(Status::UnsupportedAddressFamily, &message));
            }
            Body::Notification { .. } | Body::Hello(_) | Body::Initialization(_) | Body::KeepAlive => {}
            Body::Capability(said) => self.capable(id, *said),
            _ => self.take_labels(now, context, id, &message),
        }
        Ok(())
    }

    /// Sends a message in a session when the call returns.
    pub(super) fn say(&mut self, id: SessionId, body: Body) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.say(body);
        }
    }

    pub(super) fn advise(&mut self, id: SessionId, notice: Notice) {
        self.say(id, Body::notify(notice));
    }

    /// Takes a Notification: of a fatal error it ends the session (RFC 5036, 3.5.1.1).
    fn notified(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        notice: Notice,
        request: Option<u32>,
        fec: Option<&Fec>,
    ) -> Result<(), Ended> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        if !notice.is_fatal() && session.is_operational() {
            session.step(now, SessionStep::Message);
            match Status::of(notice.code) {
                // RFC 5919, 4: each kind of FEC has an end of its own.
                Some(Status::EndOfLib) if fec == Some(&Fec::AllPrefixes(IPV4)) => {
                    self.is_complete(now, context, id);
                }
                _ => self.advised(now, context, id, notice, request),
            }
            return Ok(());
        }
        let status = Status::of(notice.code);
        if status == Some(Status::Shutdown) {
            // RFC 5036, 2.5.4 and 3.5.1.1: a Shutdown is answered by one.
            return Err((SessionStep::Shutdown, Notice::new(Status::Shutdown)));
        }
        session.was_refused = !session.was_operational;
        session.step(now, SessionStep::Shutdown);
        self.lose(now, context, id, status.map_or("an unknown status", Status::words));
        self.outputs.push_back(crate::protocol::Output::Session(id, SessionOutput::Close));
        Ok(())
    }

    /// Takes an Initialization message: the session is as both want it, or why not (RFC 5036, 2.5.3 and 3.5.3).
    fn agree(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        id: SessionId,
        from: LdpId,
        wanted: &Initialization,
    ) -> Result<(), Status> {
        let (own, is_heard) = (self.own_for(from), self.is_heard(from));
        let cells = self.cells_of(from);
        let initialization = self.initialization(now, from);
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        session.was_refused = true;
        if !is_heard || wanted.receiver != own {
            return Err(Status::RejectedNoHello);
        }
        (session.peer, session.own) = (Some(from), own);
        if wanted.version != VERSION {
            return Err(Status::BadProtocolVersion);
        }
        if wanted.keepalive_s == 0 {
            return Err(Status::RejectedBadKeepAliveTime);
        }
        if let Some((_, cells)) = cells {
            session.channels = Some(cells::agree(own, from, &cells, wanted.atm.as_ref())?);
        }
        session.was_refused = false;
        // RFC 5036, 3.5.3: up to 255 means the usual.
        let theirs = if wanted.max_pdu <= 255 { DEFAULT_MAX_PDU } else { wanted.max_pdu };
        session.max_pdu = theirs.min(DEFAULT_MAX_PDU);
        let keepalive = self.config.keepalive_s.min(wanted.keepalive_s);
        session.keepalive = Span::from_secs(i64::from(keepalive));
        session.expires = now + session.keepalive;
        if session.state == SessionState::Initialized {
            session.say(initialization);
        }
        // RFC 5036, 3.5.3: on demand on links of ATM, on others only if both say so.
        session.on_demand =
            cells.is_some() || wanted.on_demand && self.config.advertise == LabelAdvertisement::OnDemand;
        // RFC 5561, 6: what stands in an Initialization message is there, whatever its state says.
        session.capabilities = wanted.capabilities.in_initialization();
        // RFC 3478, 2: without the L flag it is another mechanism.
        session.restart = wanted.restart.filter(|restart| restart.learns && cells.is_none());
        session.say(Body::KeepAlive);
        session.step(now, SessionStep::InitAccepted);
        // The other end has begun anew: what there was before it has forgotten.
        let older = self.sessions.values().filter(|one| one.peer == Some(from) && one.id != id);
        for older in older.map(|one| one.id).collect::<Vec<_>>() {
            self.end(now, context, older, SessionStep::Ended, Body::notify(Notice::new(Status::Shutdown)));
        }
        Ok(())
    }

    /// A session is established: this router tells its addresses and its labels (RFC 5036, 3.5.5.1).
    fn establish(&mut self, now: Time, context: &mut Context<'_>, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.was_operational = true;
        let Some(peer) = session.peer else { return };
        if let Some(known) = self.peers.get_mut(&peer) {
            (known.backoff, known.retry) = (Span::ZERO, Time::ZERO);
        }
        let ports = &self.config.ports;
        let of = context.services.interfaces.ports().filter(|(port, one)| one.up && ports.contains(port));
        let own = of.filter_map(|(_, one)| Some(one.ipv4()?.0));
        session.say(Body::Address(Addresses::V4(core::iter::once(self.router_id).chain(own).collect())));
        let (key, on_demand) = (key_of(peer), session.on_demand);
        self.event(Event::LdpSessionUp { router_id: peer.router });
        let ports = self.ports_of(peer);
        self.resume(now, context, id, peer);
        self.begin_trees(context.services, id, peer);
        if !self.begin_channels(context, id, key) {
            self.labels.begin(now, context.services, key, on_demand, ports);
        }
        self.await_labels(now, id);
    }
}
