//! PathErr and ResvErr, and what deserves them (RFC 2205, 3.1.7, 3.1.8, 3.5 and B; RFC 3209, 7.3).

use super::Rsvp;
use super::counters::Discard;
use super::faults::Fault;
use super::head::Loss;
use super::lsp::{Role, SenderKey, SessionKey};
use super::outbox::ipv4;
use super::path::path_handle;
use super::protection::{has_unreadable, is_fast_reroute};
use super::resv::resv_handle;
use super::transport::{Arrival, Delivery, Handle, Neighbor};
use base::Rate;
use std::net::IpAddr;
use wire::rsvp::error_code::{self, notify, policy, routing};
use wire::rsvp::{
    Common, Detour, EroHop, ErrorSpec, Filter, FlowDescriptor, Message, PathErr, Resv, ResvErr,
    SenderDescriptor, Session, Style, Unknown, UnknownAction, class,
};

/// What is wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// To be counted, not answered.
    Silent(Discard),
    /// To be answered by a PathErr or ResvErr with this code and value.
    Error(u8, u16),
}

impl Problem {
    pub(super) const fn routing(value: u16) -> Problem {
        Problem::Error(error_code::ROUTING, value)
    }
    /// RFC 2205, 3.10: a C-Type of a known class that is not served here.
    pub(super) const fn c_type(class: u8, c_type: u8) -> Problem {
        Problem::Error(error_code::UNKNOWN_C_TYPE, u16::from_be_bytes([class, c_type]))
    }
    /// A session that is not an IPv4 LSP tunnel.
    pub(super) const fn unserved_session(session: &Session) -> Problem {
        let c_type = match session {
            Session::Ipv4 { .. } => 1,
            Session::Ipv6 { .. } => 2,
            Session::LspTunnelIpv4 { .. } => return Problem::c_type(class::SENDER_TEMPLATE, 0),
            Session::LspTunnelIpv6 { .. } => 8,
            Session::P2mpLspTunnelIpv4 { .. } => 13,
            Session::P2mpLspTunnelIpv6 { .. } => 14,
        };
        Problem::c_type(class::SESSION, c_type)
    }
}

/// An object that makes the whole message unacceptable (RFC 2205, 3.10). To a node that supports DiffServ a DIFFSERV
/// object is none in a message where it means nothing. FAST_REROUTE is known here: the bits of its class, by which
/// others send it on, do not save a C-Type that is not (RFC 4090, 4.1), nor one that can't be read.
pub(super) fn unknown_object(unknown: &[Unknown], diffserv: bool) -> Result<(), Problem> {
    let idle = |object: &Unknown| diffserv && object.class == class::DIFFSERV;
    let is_strange = |object: &Unknown| object.class == class::FAST_REROUTE && !is_fast_reroute(object);
    let rejected =
        |object: &&Unknown| (object.action() == UnknownAction::Reject && !idle(object)) || is_strange(object);
    let Some(object) = unknown.iter().find(rejected) else { return Ok(()) };
    // DIFFSERV is a class that a node knows if it supports DiffServ. The form of DETOUR that is known is taken from a
    // Path before.
    let known = (class::in_typed_messages(object.class) && object.class != class::DIFFSERV)
        || (object.class == class::DETOUR && object.c_type != Detour::C_TYPE_IPV4)
        || object.class == class::FAST_REROUTE;
    let code = if known { error_code::UNKNOWN_C_TYPE } else { error_code::UNKNOWN_CLASS };
    Err(Problem::Error(code, u16::from_be_bytes([object.class, object.c_type])))
}

/// How a message with these objects counts that is answered by an error.
pub(super) fn counted_as(unknown: &[Unknown]) -> Discard {
    if has_unreadable(unknown) { Discard::Malformed } else { Discard::Refused }
}

/// Is the object to be sent on, unexamined?
pub(super) fn is_forwarded(object: &Unknown) -> bool {
    object.action() == UnknownAction::Forward
}

/// What of the objects that any message may carry goes on with a message that is passed on.
pub(super) fn passed_on(common: Common) -> Common {
    let unknown = common.unknown.into_iter().filter(is_forwarded).collect();
    Common { unknown, ..Common::default() }
}

/// What an error means, in words for people; in numbers if it is not known.
pub(super) fn words((code, value): (u8, u16)) -> String {
    error_code::words(code, value).unwrap_or_else(|| format!("error {code}, value {value}"))
}

impl Rsvp {
    pub(super) fn error_spec(&self, flags: u8, code: u8, value: u16) -> ErrorSpec {
        ErrorSpec { node: IpAddr::V4(self.config.router_id), flags, code, value }
    }

    /// Answers a Path that this router does not take. `sender` is what that said of its sender (RFC 2205, 3.1.7), `ero`
    /// what of its route is not known (RFC 3209, 4.3.6).
    pub(super) fn originate_path_err(
        &mut self,
        to: Neighbor,
        session: Session,
        sender: SenderDescriptor,
        ero: Option<Vec<EroHop>>,
        (code, value): (u8, u16),
    ) {
        let error = PathErr {
            common: Common::default(),
            session,
            error_spec: self.error_spec(0, code, value),
            policy_data: Vec::new(),
            sender: Some(sender),
            ero,
        };
        self.counters.error_sent(code, value);
        self.send_to_neighbor(to, &mut Message::PathErr(error), Delivery::Reliable);
    }

    /// Reports to the ingress of an LSP what is wrong with it.
    pub(super) fn path_problem(&mut self, index: u32, code: u8, value: u16) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if lsp.role() == Role::Head {
            let node = self.config.router_id;
            self.lose(index, Loss::Error { node, code, value });
            return;
        }
        let rare = lsp.rare.as_deref();
        let sender = SenderDescriptor {
            sender_template: lsp.sender.to_wire(),
            sender_tspec: Some(lsp.tspec),
            adspec: lsp.adspec.to_wire(),
            rro: rare.and_then(|rare| rare.path_rro.clone()),
        };
        let (to, session) = (lsp.prev_hop, lsp.session.to_wire());
        self.originate_path_err(to, session, sender, None, (code, value));
    }

    /// RFC 3209, 4.4.3: a recorded route that no longer fits is dropped, and the ingress gets one report of it.
    pub(super) fn rro_dropped(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if !std::mem::replace(&mut lsp.rare_mut().rro_dropped, true) {
            self.path_problem(index, error_code::NOTIFY, notify::RRO_TOO_LARGE);
        }
    }

    /// The same of a Resv: the egress gets one report.
    pub(super) fn resv_rro_dropped(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if std::mem::replace(&mut lsp.rare_mut().resv_rro_dropped, true) {
            return;
        }
        // At the egress there is nobody to be told.
        let (Some(hop), Some(style)) = (lsp.next_hop, lsp.style) else { return };
        let filter = Filter { filter_spec: lsp.sender.to_wire(), label: Some(lsp.out_label), rro: None };
        let descriptor = FlowDescriptor { flowspec: lsp.flowspec(), filters: vec![filter] };
        let (lih, session) = (u32::from(hop.port.0), lsp.session.to_wire());
        let why = (error_code::NOTIFY, notify::RRO_TOO_LARGE);
        self.originate_resv_err(hop, lih, session, style, descriptor, 0, why);
    }

    /// Answers a Resv that this router does not take.
    pub(super) fn refuse_resv(
        &mut self,
        arrival: &Arrival,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: Option<&Filter>,
        (code, value): (u8, u16),
        in_place: bool,
    ) {
        self.counters.discard(Discard::Refused);
        let filters = filter.cloned().map(|filter| Filter { rro: None, ..filter }).into_iter().collect();
        let descriptor = FlowDescriptor { flowspec: descriptor.flowspec, filters };
        let flags = if in_place { ErrorSpec::IN_PLACE } else { 0 };
        self.originate_resv_err(
            arrival.from,
            resv.hop.lih,
            resv.session,
            resv.style,
            descriptor,
            flags,
            (code, value),
        );
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a ResvErr")]
    fn originate_resv_err(
        &mut self,
        to: Neighbor,
        lih: u32,
        session: Session,
        style: Style,
        descriptor: FlowDescriptor,
        flags: u8,
        (code, value): (u8, u16),
    ) {
        let error = ResvErr {
            common: Common::default(),
            session,
            hop: self.own_hop(to, lih),
            error_spec: self.error_spec(flags, code, value),
            scope: None,
            policy_data: Vec::new(),
            style,
            flow_descriptor: Some(descriptor),
        };
        self.counters.error_sent(code, value);
        self.send_to_neighbor(to, &mut Message::ResvErr(error), Delivery::Reliable);
    }

    /// Takes the bandwidth of a weaker LSP away: tail and head get an error (RFC 3209, 4.7.3).
    pub(super) fn preempt(&mut self, index: u32) {
        self.counters.preempted += 1;
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        if let (Some(hop), Some(style)) = (lsp.next_hop, lsp.style) {
            let filter = Filter { filter_spec: lsp.sender.to_wire(), label: Some(lsp.out_label), rro: None };
            let descriptor = FlowDescriptor { flowspec: lsp.flowspec(), filters: vec![filter] };
            let (lih, session) = (u32::from(hop.port.0), lsp.session.to_wire());
            self.originate_resv_err(
                hop,
                lih,
                session,
                style,
                descriptor,
                0,
                (error_code::POLICY, policy::PREEMPTED),
            );
        }
        self.path_problem(index, error_code::POLICY, policy::PREEMPTED);
        self.send_resv_tear(index);
        self.drop_reservation(index);
        self.arm(index);
    }

    /// PathErr goes hop by hop to the ingress and changes nothing on its way (RFC 2205, 3.1.7).
    pub(super) fn handle_path_err(&mut self, arrival: &Arrival, error: PathErr) {
        let spec = error.error_spec;
        self.counters.error_received(spec.code, spec.value);
        let keys = SessionKey::of(&error.session)
            .zip(error.sender.as_ref().and_then(|sender| SenderKey::of(&sender.sender_template)));
        let found = keys.and_then(|(session, sender)| self.store.find(&session, &sender));
        let Some((index, lsp)) = found.and_then(|index| Some((index, self.store.get(index)?))) else {
            if !keys.is_some_and(|(session, sender)| self.error_from_around(&session, &sender, spec)) {
                self.counters.discard(Discard::NoState);
            }
            return;
        };
        if lsp.next_hop.is_none_or(|hop| hop.port != arrival.from.port) {
            self.counters.discard(Discard::WrongHop);
            return;
        }
        let (role, to) = (lsp.role(), lsp.prev_hop);
        // What the next hop said last of the LSP is its Resv.
        if self.is_overtaken(arrival, resv_handle(index)) {
            return;
        }
        self.transport.acknowledge(Handle(path_handle(index)));
        // RFC 4090, 6.3.2: like a ResvTear, it is not sent on as long as a detour is up, which takes the traffic. What
        // its head end is told of that is a notification.
        let notifies = spec.code == error_code::NOTIFY;
        if !notifies && self.store.get(index).is_some_and(|lsp| self.is_detourable(lsp)) {
            if !self.store.get(index).is_some_and(|lsp| lsp.is_diverted()) {
                self.divert(index);
                self.restore_after(index);
            }
            return;
        }
        if role == Role::Head {
            let node = ipv4(spec.node).unwrap_or(arrival.ip.src);
            self.lose(index, Loss::Error { node, code: spec.code, value: spec.value });
            return;
        }
        let message = PathErr { common: passed_on(error.common), ..error };
        self.pass_on_merged(arrival, index, &message);
        self.pass_on(arrival, to, &mut Message::PathErr(message));
    }

    /// ResvErr goes hop by hop to the egress, and leaves blockade state behind if bandwidth was refused (RFC 2205,
    /// 3.5).
    pub(super) fn handle_resv_err(&mut self, arrival: &Arrival, error: ResvErr) {
        let spec = error.error_spec;
        self.counters.error_received(spec.code, spec.value);
        let filters = error.flow_descriptor.iter().flat_map(|descriptor| &descriptor.filters);
        let senders: Vec<SenderKey> = filters.filter_map(|f| SenderKey::of(&f.filter_spec)).collect();
        let Some(session) = SessionKey::of(&error.session).filter(|_| !senders.is_empty()) else {
            self.counters.discard(Discard::NoState);
            return;
        };
        let refused = error.flow_descriptor.as_ref().map(|d| Rate::from_bytes_per_s(d.flowspec.rate()));
        let until = self.now
            + base::Span(
                self.config.refresh_period.0.saturating_mul(i64::from(self.config.blockade_multiplier)),
            );
        let mut onward: Vec<Neighbor> = Vec::new();
        for sender in senders {
            let found = self.store.find(&session, &sender);
            let Some((index, lsp)) = found.and_then(|index| Some((index, self.store.get(index)?))) else {
                self.counters.discard(Discard::NoState);
                continue;
            };
            if lsp.role() == Role::Head || lsp.prev_hop.port != arrival.from.port || !lsp.is_reserved() {
                self.counters.discard(Discard::WrongHop);
                continue;
            }
            // What the previous hop said last of the LSP is its Path.
            if self.is_overtaken(arrival, path_handle(index)) {
                continue;
            }
            let Some(lsp) = self.store.get_mut(index) else { continue };
            if let (error_code::ADMISSION, Some(rate)) = (spec.code, refused) {
                lsp.rare_mut().blockade = Some((until, rate));
            }
            // What stays in place concerns those only who asked for as much as was refused (RFC 2205, 3.5).
            let in_place = spec.code == error_code::ADMISSION && spec.flags & ErrorSpec::IN_PLACE != 0;
            let concerned = !in_place || refused.is_none_or(|rate| rate <= lsp.reserved_rate());
            let next_hop = lsp.next_hop.filter(|hop| concerned && !onward.contains(hop));
            self.transport.acknowledge(Handle(resv_handle(index)));
            onward.extend(next_hop);
        }
        for hop in onward {
            let mut message = error.clone();
            message.common = passed_on(message.common);
            message.hop = self.own_hop(hop, u32::from(hop.port.0));
            self.pass_on(arrival, hop, &mut Message::ResvErr(message));
        }
    }

    /// An LSP whose way is gone: the ingress gets an error (RFC 3209, 7.3).
    pub(super) fn no_route(&mut self, index: u32) {
        self.path_problem(index, error_code::ROUTING, routing::NO_ROUTE);
    }
}
