//! Resv messages: checking, reserving, labels and sending them on (RFC 2205, 3.1.4; RFC 3209, 4.1).

use super::Rsvp;
use super::counters::Discard;
use super::error::{Problem, unknown_object};
use super::faults::Fault;
use super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::outbox::Sending;
use super::path::path_handle;
use super::record_route;
use super::states::ResvEvent;
use super::transport::{Arrival, Handle};
use base::Label;
use wire::rsvp::error_code::{self, routing, traffic_control};
use wire::rsvp::{Filter, FlowDescriptor, Flowspec, Resv, RroSubobject, Style};

/// What a Resv says of one LSP.
struct Request<'a> {
    style: Style,
    flowspec: Flowspec,
    label: Label,
    rro: Option<Vec<RroSubobject>>,
    resv: &'a Resv,
}

/// Can packets be sent by a label that a next hop gives (RFC 3209, 4.1.1.2)? Of the reserved ones (RFC 3032, 2.1) only
/// the two nulls make sense.
pub(super) fn is_acceptable(label: Label) -> bool {
    !label.is_reserved() || label == Label::IMPLICIT_NULL || label == Label::EXPLICIT_NULL
}

impl Rsvp {
    pub(super) fn handle_resv(&mut self, arrival: &Arrival, resv: &Resv) {
        let mut changed = Vec::new();
        for descriptor in &resv.flow_descriptors {
            if descriptor.filters.is_empty() {
                // WF has no filters, and no label could be matched to its sender (RFC 3209, 2.4.2).
                self.refuse_resv(arrival, resv, descriptor, None, (error_code::UNKNOWN_STYLE, 0), false);
            }
            for filter in &descriptor.filters {
                if self.resv_from_around(resv, descriptor, filter, &mut changed) {
                    continue;
                }
                match self.check_resv(arrival, resv, descriptor, filter) {
                    Ok((index, request)) => match self.accept(index, request) {
                        Ok(news) => {
                            // The identifier stands for all that the message sets, and for no more.
                            if let Some(id) = arrival.id {
                                self.transport.bind(id, Handle(resv_handle(index)));
                            }
                            if news {
                                changed.push(index);
                            }
                        }
                        Err((code, value)) => {
                            self.refused(index, arrival, resv, descriptor, filter, (code, value));
                        }
                    },
                    Err(Problem::Silent(why)) => self.counters.discard(why),
                    Err(Problem::Error(code, value)) => {
                        self.refuse_resv(arrival, resv, descriptor, Some(filter), (code, value), false);
                    }
                }
            }
        }
        let mut announced: Vec<u32> = Vec::new();
        for index in changed {
            if !announced.contains(&index) {
                announced.extend(self.send_resv(index, Sending::Trigger).members());
            }
        }
    }

    /// All that can be wrong with one filter of a Resv, short of what it asks for.
    fn check_resv<'a>(
        &self,
        arrival: &Arrival,
        resv: &'a Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
    ) -> Result<(u32, Request<'a>), Problem> {
        let session =
            SessionKey::of(&resv.session).ok_or_else(|| Problem::unserved_session(&resv.session))?;
        let first = self.store.first(&session);
        if first.is_none() {
            return Err(Problem::Error(error_code::NO_PATH, 0));
        }
        unknown_object(&resv.common.unknown, self.config.diffserv.is_some())?;
        if resv.style == Style::WildcardFilter {
            return Err(Problem::Error(error_code::UNKNOWN_STYLE, 0));
        }
        let found =
            SenderKey::of(&filter.filter_spec).and_then(|sender| self.store.find_from(first, &sender));
        let Some((index, lsp)) = found.and_then(|index| Some((index, self.store.get(index)?))) else {
            return Err(Problem::Error(error_code::NO_SENDER, 0));
        };
        // From where the Path went: the NHOP is the address of the interface that the Resv left by (RFC 2205, 3.1.4).
        if lsp.next_hop != Some(arrival.from) || (lsp.is_diverted() && !self.is_reverting(index)) {
            return Err(Problem::Silent(Discard::WrongHop));
        }
        if arrival.id.is_some_and(|id| self.transport.out_of_order(id, Handle(resv_handle(index)))) {
            return Err(Problem::Silent(Discard::OutOfOrder));
        }
        for other in self.store.chain(first).filter_map(|i| self.store.get(i)) {
            if let Some(style) =
                other.style.filter(|&style| style != resv.style && other.sender != lsp.sender)
            {
                let value = style.option_vector() as u16;
                return Err(Problem::Error(error_code::CONFLICTING_STYLE, value));
            }
        }
        if !descriptor.flowspec.bucket().is_sound() || !descriptor.flowspec.rate().ge(&0.0) {
            return Err(Problem::Error(error_code::TRAFFIC_CONTROL, traffic_control::BAD_FLOWSPEC));
        }
        let label = filter.label.filter(|&label| is_acceptable(label));
        let label = label.filter(|&label| self.is_usable(index, arrival.from, label));
        let label = label.ok_or(Problem::routing(routing::UNACCEPTABLE_LABEL))?;
        if record_route::has_loop(filter.rro.as_deref(), &self.links) {
            // RFC 3209, 4.4.4: a Resv in a loop is just dropped.
            return Err(Problem::Silent(Discard::Loop));
        }
        let opaque = resv.common.unknown.iter().map(|object| object.data.len());
        let opaque: usize = opaque.chain(resv.policy_data.iter().map(Vec::len)).sum();
        let recorded = filter.rro.as_ref().map_or(0, Vec::len);
        let limits = &self.config.limits;
        if opaque > limits.opaque_bytes || recorded > 2 * limits.route_hops {
            return Err(Problem::Error(error_code::RSVP_SYSTEM, 0));
        }
        let request = Request {
            style: resv.style,
            flowspec: descriptor.flowspec,
            label,
            rro: filter.rro.clone(),
            resv,
        };
        Ok((index, request))
    }

    /// Reserves for one LSP. Must the previous hop be told something new at once?
    fn accept(&mut self, index: u32, request: Request<'_>) -> Result<bool, (u8, u16)> {
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return Ok(false);
        };
        let (was_reserved, old_label, role) = (lsp.is_reserved(), lsp.out_label, lsp.role());
        let mut changed = lsp.style != Some(request.style) || lsp.flowspec() != request.flowspec;
        self.reserve(index, request.style, request.flowspec)
            .map_err(|_| (error_code::ADMISSION, error_code::admission::BANDWIDTH))?;
        if role != Role::Head && self.store.get(index).is_some_and(|lsp| lsp.in_label.is_none()) {
            let Some(label) = self.take_label_for(index) else {
                self.unreserve(index);
                return Err((error_code::ROUTING, routing::LABEL_ALLOCATION));
            };
            if let Some(lsp) = self.store.get_mut(index) {
                lsp.in_label = Some(label);
            }
        }
        let period = request.resv.time_values.refresh_ms;
        let expires = self.now + self.lifetime(period);
        let confirm = request.resv.resv_confirm;
        let Some(lsp) = self.store.get_mut(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return Ok(false);
        };
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Reserved);
        lsp.out_label = request.label;
        lsp.resv_period_ms = period;
        lsp.resv_expires = expires;
        let forwarded: Vec<_> =
            request.resv.common.unknown.iter().filter(|o| super::error::is_forwarded(o)).cloned().collect();
        let plain = request.rro.is_none()
            && forwarded.is_empty()
            && confirm.is_none()
            && request.resv.policy_data.is_empty();
        if !plain || lsp.rare.is_some() {
            let rare = lsp.rare_mut();
            if rare.resv_rro != request.rro
                || rare.resv_unknown != forwarded
                || rare.resv_policy != request.resv.policy_data
            {
                rare.resv_rro = request.rro;
                rare.resv_unknown = forwarded;
                rare.resv_policy.clone_from(&request.resv.policy_data);
                changed = true;
            }
            if confirm.is_some() && changed {
                rare.confirm = confirm;
            }
        }
        let installed = lsp.resv.is_installed();
        let reverted = self.revert(index);
        let protected = self.protect(index);
        changed |= reverted || protected;
        if !was_reserved || old_label != request.label || reverted || protected {
            self.install(index);
        } else if let Some(protected) = self.store.get(index).filter(|_| changed).and_then(Lsp::detour_of) {
            // A detour has another bandwidth than before, which the flags of its LSP tell.
            self.announce(protected);
        }
        if let (Some(receiver), false) = (confirm, changed) {
            // RFC 2205, 2.6: nothing to be forwarded, so the request is met here.
            self.confirm(index, receiver);
        }
        self.arm(index);
        // What is new waits for its table entry: see `table_ack`.
        Ok(changed && installed && role != Role::Head)
    }

    /// Answers a Resv whose bandwidth or label is not to be had.
    fn refused(
        &mut self,
        index: u32,
        arrival: &Arrival,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
        (code, value): (u8, u16),
    ) {
        let in_place = self.store.get(index).is_some_and(|lsp| lsp.is_reserved());
        if code == error_code::ADMISSION {
            self.refuse_resv(arrival, resv, descriptor, Some(filter), (code, value), in_place);
        }
        if !in_place {
            // The ingress learns it too, and need not wait for a Resv that does not come.
            self.path_problem(index, code, value);
        }
    }
}

/// The handle of an LSP's reservation.
pub(super) const fn resv_handle(index: u32) -> u32 {
    path_handle(index) | 1
}
