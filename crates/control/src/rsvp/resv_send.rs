//! Resv messages on their way to the previous hop, and the confirmations that they ask for.

use super::Rsvp;
use super::counters::Discard;
use super::faults::Fault;
use super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::outbox::{Sending, ipv4};
use super::record_route;
use super::resv::resv_handle;
use super::states::{PathEvent, ResvEvent};
use super::transport::{Arrival, Delivery};
use base::{Label, Rate, Time};
use std::net::IpAddr;
use wire::rsvp::error_code::{self, routing};
use wire::rsvp::{
    ErrorSpec, Filter, FlowDescriptor, Message, Resv, ResvConf, RroSubobject, SessionAttribute, Style,
};

/// The LSPs that one Resv is about: mostly one.
pub(super) enum Group {
    One([u32; 1]),
    Many(Vec<u32>),
}

impl Group {
    const NONE: Group = Group::Many(Vec::new());

    /// The LSPs of the group by their indices in the store.
    pub(super) fn members(&self) -> &[u32] {
        match self {
            Group::One(one) => one,
            Group::Many(many) => many,
        }
    }
}

impl Rsvp {
    /// The egress's own reservation (RFC 3209, 2.2 and 4.1.1).
    pub(super) fn egress_reserve(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let shared = lsp.attribute_flags & SessionAttribute::SE_STYLE != 0;
        let style = if shared { Style::SharedExplicit } else { Style::FixedFilter };
        let (new, flowspec) = (!lsp.is_reserved(), lsp.flowspec_of_receiver());
        if self.reserve(index, style, flowspec).is_err() {
            return;
        }
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        self.counters.faults.step(&mut lsp.resv, ResvEvent::Reserved);
        let has_null = lsp.in_label == Some(Label::EXPLICIT_NULL);
        let own_context = self.store.get(index).is_some_and(|lsp| self.has_own_context(lsp));
        // An LSP that got a context of its own can't go on with explicit null, even if it began with it; one with a
        // label keeps that.
        let too_little = own_context && has_null;
        let is_selected = self.store.get(index).is_some_and(|lsp| self.is_selected_of(lsp));
        if !(new || too_little) {
            self.send_resv(index, Sending::Trigger);
            return;
        }
        let by_cells = self.store.get(index).is_some_and(|lsp| self.cells_at(lsp.prev_hop.port).is_some());
        let label = match self.config.egress_label {
            // A channel is a label whatever is below.
            // A channel leads to the packets of its own LSP alone.
            _ if by_cells && is_selected => None,
            _ if by_cells => self.take_label_for(index),
            super::EgressLabel::Real => self.take_label(),
            // What came by one LSP could not be told from what came by another.
            _ if is_selected => self.take_label(),
            // RFC 3270, 2.4: explicit null, the same for all, could not identify this LSP's context.
            super::EgressLabel::ExplicitNull if own_context => self.take_label(),
            super::EgressLabel::ImplicitNull => Some(Label::IMPLICIT_NULL),
            super::EgressLabel::ExplicitNull => Some(Label::EXPLICIT_NULL),
        };
        let Some(label) = label else {
            self.path_problem(index, error_code::ROUTING, routing::LABEL_ALLOCATION);
            self.remove_lsp(index, PathEvent::LabelRefused);
            return;
        };
        let confirm = self.config.confirm.then_some(IpAddr::V4(self.config.router_id));
        if let Some(lsp) = self.store.get_mut(index) {
            // The Resv that brings a new label waits for its entry.
            lsp.in_label = Some(label);
            self.counters.faults.step(&mut lsp.resv, ResvEvent::Relabelled);
            if confirm.is_some() {
                lsp.rare_mut().confirm = confirm;
            }
        }
        self.install(index);
    }

    /// Sends the Resv for an LSP to its previous hop; in SE style for all LSPs of the session that came from there.
    /// Sets the time of the next one. Returns the LSPs that it was about.
    pub(super) fn send_resv(&mut self, index: u32, sending: Sending) -> Group {
        let Some(lsp) = self.store.get(index) else {
            self.counters.faults.note(Fault::NoLsp);
            return Group::NONE;
        };
        let hop = lsp.prev_hop;
        let group = self.resv_group(index, lsp);
        let next = self.next_refresh();
        if !group.members().contains(&index) {
            self.send_resv_around(index, sending);
            if let Some(lsp) = self.store.get_mut(index) {
                // Nothing to send now: blockaded (RFC 2205, 3.5), or not in the tables yet.
                lsp.resv_refresh_at = if lsp.resv.is_installed() { next } else { Time::MAX };
            }
            self.arm(index);
            return Group::NONE;
        }
        let handle = resv_handle(group.members().first().copied().unwrap_or(index));
        if !self.summarised(hop, sending, handle) {
            let mut built = self.build_resv(index, group.members());
            let Some((message, dropped)) = &mut built else {
                self.counters.faults.note(Fault::Incomplete);
                return group;
            };
            if *dropped {
                group.members().iter().for_each(|&member| self.resv_rro_dropped(member));
            }
            self.send_to_neighbor(hop, message, sending.delivery(handle));
        }
        for &member in group.members() {
            self.send_resv_around(member, sending);
            if let Some(lsp) = self.store.get_mut(member) {
                self.counters.faults.step(&mut lsp.resv, ResvEvent::Announced);
                lsp.resv_refresh_at = next;
                if let Some(rare) = &mut lsp.rare {
                    // Asked for once, not with every refresh.
                    rare.confirm = None;
                }
            }
            self.arm(member);
        }
        group
    }

    /// The bandwidth that one Resv asks for, for all LSPs that it is about.
    pub(super) fn merged_rate(&self, index: u32) -> Rate {
        let rate = |&i: &u32| self.store.get(i).map(|lsp| lsp.reserved_rate());
        let group = self.store.get(index).map_or(Group::NONE, |lsp| self.resv_group(index, lsp));
        group.members().iter().filter_map(rate).max().unwrap_or_default()
    }

    /// The LSPs that go into one Resv: those of the session with the same previous hop in SE style, else one.
    fn resv_group(&self, index: u32, lsp: &Lsp) -> Group {
        let now = self.now;
        let ready = |i: u32| {
            self.store.get(i).is_some_and(|other| {
                let is_cut_off = other.rare.as_ref().is_some_and(|rare| rare.is_cut_off);
                let blockaded = other.rare.as_ref().and_then(|rare| rare.blockade);
                other.resv.is_installed()
                    && other.role() != Role::Head
                    && !is_cut_off
                    && other.style == lsp.style
                    && other.prev_hop == lsp.prev_hop
                    && blockaded.is_none_or(|(until, rate)| now >= until || other.reserved_rate() < rate)
            })
        };
        if lsp.style == Some(Style::SharedExplicit) {
            let mut members = self.store.session(&lsp.session).filter(|&i| ready(i));
            match (members.next(), members.next()) {
                (None, _) => Group::NONE,
                (Some(one), None) => Group::One([one]),
                (Some(first), Some(second)) => {
                    Group::Many([first, second].into_iter().chain(members).collect())
                }
            }
        } else if ready(index) {
            Group::One([index])
        } else {
            Group::NONE
        }
    }

    /// The Resv, and whether recorded routes had to be left out because it would have become too long.
    pub(super) fn build_resv(&self, index: u32, group: &[u32]) -> Option<(Message, bool)> {
        let lsp = self.store.get(index)?;
        let own = self.own_hop(lsp.prev_hop, lsp.lih);
        let IpAddr::V4(address) = own.address else { return None };
        let members = || group.iter().filter_map(|&i| self.store.get(i));
        // The merged FLOWSPEC is the largest (RFC 2205, 2.2).
        let flowspec = members().map(|m| m.flowspec()).max_by(|a, b| a.rate().total_cmp(&b.rate()))?;
        let filters = members().filter_map(|member| {
            let label = member.in_label?;
            let rare = member.rare.as_deref();
            let recorded = if member.role() == Role::Egress {
                rare.and_then(|rare| rare.path_rro.as_ref()).map(|_| &[][..])
            } else {
                rare.and_then(|rare| rare.resv_rro.as_deref())
            };
            let with_label = member.attribute_flags & SessionAttribute::LABEL_RECORDING != 0;
            let said = with_label.then(|| match member.by_cells() {
                None => RroSubobject::global_label(label),
                // A channel is one of its own link alone.
                Some(_) => RroSubobject::label(label),
            });
            let rro = recorded
                .map(|rest| record_route::push_with(address, self.rro_flags(member), said.clone(), rest));
            Some(Filter { filter_spec: member.sender.to_wire(), label: Some(label), rro })
        });
        let mut filters: Vec<Filter> = filters.collect();
        let recorded: usize =
            filters.iter().flat_map(|f| &f.rro).map(|rro| record_route::wire_len(rro)).sum();
        // RFC 3209, 4.4.3. 256 bytes hold all else that a Resv carries here but for what each LSP has.
        let mtu = self.links.get(lsp.prev_hop.port).map_or(usize::MAX, |link| link.interface.mtu as usize);
        let dropped = recorded > 0 && 256 + 24 * filters.len() + recorded > mtu;
        if dropped {
            filters.iter_mut().for_each(|filter| filter.rro = None);
        }
        let rare = lsp.rare.as_deref();
        let mut common = wire::rsvp::Common::default();
        let mut policy_data = Vec::new();
        if let Some(rare) = rare {
            common.unknown.clone_from(&rare.resv_unknown);
            policy_data.clone_from(&rare.resv_policy);
        }
        // Put together where it stays: it is long.
        let message = Message::Resv(Resv {
            common,
            session: lsp.session.to_wire(),
            hop: own,
            time_values: self.time_values(),
            resv_confirm: members().find_map(|m| m.rare.as_deref().and_then(|rare| rare.confirm)),
            scope: None,
            policy_data,
            style: lsp.style?,
            flow_descriptors: vec![FlowDescriptor { flowspec, filters }],
        });
        Some((message, dropped))
    }

    /// Confirms to a receiver that its reservation is in force (RFC 2205, 2.6).
    pub(super) fn confirm(&mut self, index: u32, receiver: IpAddr) {
        // Receivers of IPv6 are not reached.
        let Some(to) = ipv4(receiver) else { return };
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (Some(hop), Some(style)) = (lsp.next_hop, lsp.style) else {
            return self.counters.faults.note(Fault::Incomplete);
        };
        let filter = Filter { filter_spec: lsp.sender.to_wire(), label: None, rro: None };
        let confirmation = ResvConf {
            common: wire::rsvp::Common::default(),
            session: lsp.session.to_wire(),
            error_spec: ErrorSpec {
                node: IpAddr::V4(self.config.router_id),
                flags: 0,
                code: error_code::CONFIRMATION,
                value: 0,
            },
            resv_confirm: receiver,
            style,
            flow_descriptors: vec![FlowDescriptor { flowspec: lsp.flowspec(), filters: vec![filter] }],
        };
        let (src, ttl) = (self.config.router_id, self.config.message_ttl);
        self.send_end_to_end(hop, (src, to), ttl, &mut Message::ResvConf(confirmation), Delivery::Plain);
    }

    /// Sends a ResvConf on its way to the receiver (RFC 2205, 3.1.9).
    pub(super) fn handle_resv_conf(&mut self, arrival: &Arrival, confirmation: ResvConf) {
        let Some(receiver) = ipv4(confirmation.resv_confirm) else {
            return self.counters.discard(Discard::NotAnLspTunnel);
        };
        if self.links.is_own(receiver) {
            self.counters.confirmed += 1;
            return;
        }
        let filters = confirmation.flow_descriptors.iter().flat_map(|d| &d.filters);
        let senders: Vec<SenderKey> = filters.filter_map(|f| SenderKey::of(&f.filter_spec)).collect();
        let session = SessionKey::of(&confirmation.session);
        let hop = session.and_then(|session| {
            senders.iter().find_map(|sender| self.store.get(self.store.find(&session, sender)?)?.next_hop)
        });
        match hop {
            Some(hop) if arrival.ip.ttl > 1 => {
                let mut message = confirmation;
                message.common = super::error::passed_on(message.common);
                let ends = (arrival.ip.src, receiver);
                self.send_end_to_end(
                    hop,
                    ends,
                    arrival.ip.ttl - 1,
                    &mut Message::ResvConf(message),
                    Delivery::Plain,
                );
            }
            Some(_) => self.counters.discard(Discard::TtlExpired),
            None => self.counters.discard(Discard::NoState),
        }
    }
}
