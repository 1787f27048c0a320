//! What a point of local repair sends through a bypass, and what the merge point answers (RFC 4090, 6.4.3 and 6.4.4).
//!
//! The merge point tells the Paths of a backup from those of the LSP by the address of the sender (6.1.1), and answers
//! to the address in RSVP_HOP, whatever lies in between. Neighbours' extensions, as acknowledgements and summaries, and
//! signatures, are not used there: the two are no neighbours.

use super::super::Rsvp;
use super::super::counters::Discard;
use super::super::faults::Fault;
use super::super::head::Loss;
use super::super::lsp::{Lsp, Role, SenderKey, SessionKey};
use super::super::outbox::ipv4;
use super::super::resv::is_acceptable;
use super::super::speaker::IP_PROTOCOL;
use super::select::ASKING;
use crate::protocol::{self, LspMessage, Output, Over};
use base::plane::NextHop;
use core::net::{IpAddr, Ipv4Addr};
use wire::rsvp::{
    Common, EroHop, EroSubobject, ErrorSpec, Filter, FlowDescriptor, Message, PathTear, Resv, ResvErr,
    RsvpHop, SenderDescriptor, SenderTemplate, class, error_code,
};

impl Rsvp {
    /// The address by which the merge point knows this router: that of the port of the bypass, so that it is another
    /// one than the sender's where the head end repairs its own LSP (RFC 4090, 6.1.1).
    pub(in crate::rsvp) fn repair_address(&self, lsp: &Lsp) -> Option<Ipv4Addr> {
        self.address_around(lsp.protection()?.chosen?.bypass, lsp.sender.address)
    }

    /// The same for a sender whose LSP takes a bypass.
    pub(in crate::rsvp) fn address_around(&self, bypass: u32, sender: Ipv4Addr) -> Option<Ipv4Addr> {
        let address = self.links.address(self.bypass_leg(bypass)?.port)?;
        Some(address).filter(|address| *address != sender)
    }

    /// Sends a Path of a diverted LSP through its bypass, made from the one that the next hop would have got.
    pub(in crate::rsvp) fn send_path_around(&mut self, index: u32, message: Message) {
        let Message::Path(mut path) = message else { return };
        let Some(lsp) = self.store.get(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let (Some(address), Some(chosen)) =
            (self.repair_address(lsp), lsp.protection().and_then(|p| p.chosen))
        else {
            // The bypass has just gone; what follows from that is on its way.
            return;
        };
        let Some(tail) = self.tunnels.get(chosen.bypass).map(|tunnel| tunnel.spec.to) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        // RFC 4090, 6.4.3.
        path.sender_template = SenderTemplate::LspTunnelIpv4 { sender: address, lsp_id: lsp.sender.lsp_id };
        path.hop = RsvpHop { address: IpAddr::V4(address), lih: 0 };
        if let Some(attribute) = &mut path.session_attribute {
            attribute.flags &= !ASKING;
        }
        path.common.unknown.retain(|object| object.class != class::FAST_REROUTE);
        path.ero = path.ero.map(|ero| self.beyond(chosen.bypass, tail, ero));
        let (ends, ttl) = ((address, lsp.session.end_point), lsp.ttl);
        self.send_into_bypass(chosen.bypass, ends, ttl, Message::Path(path));
    }

    /// An explicit route from the merge point on: what precedes it goes, and it is named by the address that the bypass
    /// ends at (RFC 4090, 6.4.4).
    pub(in crate::rsvp) fn beyond(&self, bypass: u32, tail: Ipv4Addr, ero: Vec<EroHop>) -> Vec<EroHop> {
        let is_there = |hop: &EroHop| match hop.node {
            EroSubobject::Ipv4 { address, prefix_length: 32 } => self.is_at_end(bypass, address),
            _ => false,
        };
        let at = ero.iter().position(is_there);
        let rest = ero.into_iter().skip(at.map_or(0, |at| at + 1));
        [EroHop::strict(tail)].into_iter().chain(rest).collect()
    }

    /// Sends a PathTear of a diverted LSP through its bypass.
    pub(in crate::rsvp) fn send_tear_around(&mut self, index: u32) {
        let Some(lsp) = self.store.get(index).filter(|lsp| lsp.is_diverted()) else { return };
        let (Some(address), Some(chosen)) =
            (self.repair_address(lsp), lsp.protection().and_then(|p| p.chosen))
        else {
            return;
        };
        let template = SenderTemplate::LspTunnelIpv4 { sender: address, lsp_id: lsp.sender.lsp_id };
        let tear = PathTear {
            common: Common::default(),
            session: lsp.session.to_wire(),
            hop: RsvpHop { address: IpAddr::V4(address), lih: 0 },
            sender: Some(SenderDescriptor {
                sender_template: template,
                sender_tspec: Some(lsp.tspec),
                adspec: None,
                rro: None,
            }),
        };
        let (ends, ttl) = ((address, lsp.session.end_point), lsp.ttl);
        self.send_into_bypass(chosen.bypass, ends, ttl, Message::PathTear(tear));
    }

    /// Sends a message through a bypass, as a labelled packet from one address to another.
    pub(in crate::rsvp) fn send_into_bypass(
        &mut self,
        bypass: u32,
        ends: (Ipv4Addr, Ipv4Addr),
        ttl: u8,
        message: Message,
    ) {
        let Some(leg) = self.bypass_leg(bypass).filter(|_| ttl > 0) else { return };
        let IpAddr::V4(gateway) = leg.gateway else { return };
        let labels = leg.labels.as_slice();
        let word = |(n, label): (usize, &base::Label)| {
            // Network control (RFC 4594, 3.1), as the IP header says below; the lowest is the bottom of the stack.
            label.value() << 12 | 6 << 9 | u32::from(n == 0) << 8 | u32::from(ttl)
        };
        let stack: Vec<u32> = labels.iter().enumerate().map(word).rev().collect();
        let Some(bytes) = self.transport.plain(ttl, &message) else { return };
        self.counters.sent(message.message_type());
        self.outputs.push_back(Output::Lsp(Box::new(LspMessage {
            port: leg.port,
            gateway: gateway.into(),
            stack,
            src: ends.0.into(),
            dst: ends.1.into(),
            over: Over::Ip(IP_PROTOCOL),
            ttl,
            router_alert: true,
            bytes,
        })));
    }

    /// Sends a message to a router that need be no neighbour, by the routing table.
    pub(in crate::rsvp) fn send_far(&mut self, to: Ipv4Addr, message: &Message) {
        let way = match self.services.rib.first_hop(to) {
            Some((_, NextHop::Via { port, gateway: IpAddr::V4(gateway) })) => {
                Some((port, if gateway.is_unspecified() { to } else { gateway }))
            }
            _ => {
                let near = self.links.adjacent(
                    &EroSubobject::Ipv4 { address: to, prefix_length: 32 },
                    base::Rate(0),
                    7,
                );
                near.map(|hop| (hop.port, hop.address))
            }
        };
        // Without a route the state is refreshed again in its time.
        let Some((port, next)) = way.filter(|(port, _)| self.links.is_up(*port)) else { return };
        let ttl = self.config.message_ttl;
        let Some(bytes) = self.transport.plain(ttl, message) else { return };
        self.counters.sent(message.message_type());
        self.outputs.push_back(Output::Message(protocol::Message {
            port,
            next: Some(next),
            src: self.far_address(),
            dst: to,
            over: Over::Ip(IP_PROTOCOL),
            ttl,
            router_alert: false,
            bytes,
        }));
    }

    /// The address by which routers that are no neighbours know this one.
    pub(in crate::rsvp) const fn far_address(&self) -> Ipv4Addr {
        self.config.router_id
    }

    /// The diverted LSP that a merge point means by this session and sender.
    fn diverted(&self, session: &SessionKey, sender: &SenderKey) -> Option<u32> {
        if !self.links.is_own(sender.address) {
            return None;
        }
        let mut all = self.store.session(session);
        all.find(|index| {
            self.store.get(*index).is_some_and(|lsp| {
                lsp.sender.lsp_id == sender.lsp_id
                    && lsp.sender != *sender
                    && lsp.is_diverted()
                    && !lsp.has_detour()
            })
        })
    }

    /// A merge point answers for a diverted LSP: that refreshes its reservation. Was the filter about one?
    pub(in crate::rsvp) fn resv_from_around(
        &mut self,
        resv: &Resv,
        descriptor: &FlowDescriptor,
        filter: &Filter,
        changed: &mut Vec<u32>,
    ) -> bool {
        let keys = SessionKey::of(&resv.session).zip(SenderKey::of(&filter.filter_spec));
        let Some(index) = keys.and_then(|(session, sender)| self.diverted(&session, &sender)) else {
            return false;
        };
        if !descriptor.flowspec.bucket().is_sound() {
            self.counters.discard(Discard::Malformed);
            return true;
        }
        let Some(label) = filter.label.filter(|label| is_acceptable(*label)) else {
            self.refuse_label_around(resv, descriptor, filter);
            return true;
        };
        if filter.rro.as_ref().is_some_and(|rro| rro.len() > 2 * self.config.limits.route_hops) {
            self.counters.discard(Discard::Limit);
            return true;
        }
        let period = resv.time_values.refresh_ms;
        let expires = self.now + self.lifetime(period);
        let Some(lsp) = self.store.get_mut(index) else { return true };
        (lsp.resv_period_ms, lsp.resv_expires) = (period, expires);
        let (own, head) = (lsp.out_label, lsp.role() == Role::Head);
        let rare = lsp.rare_mut();
        let mut news = false;
        if rare.resv_rro != filter.rro {
            rare.resv_rro.clone_from(&filter.rro);
            news = true;
        }
        let mut relabelled = false;
        if let Some(chosen) = rare.protection.as_mut().and_then(|protection| protection.chosen.as_mut())
            && chosen.swap.unwrap_or(own) != label
        {
            relabelled = true;
        }
        if relabelled {
            self.relabel(index, label);
        }
        self.arm(index);
        if news && !head {
            changed.push(index);
        }
        true
    }

    /// A merge point gives a label for a diverted LSP that can't be used (RFC 3209, 4.1.1.2).
    fn refuse_label_around(&mut self, resv: &Resv, descriptor: &FlowDescriptor, filter: &Filter) {
        self.counters.discard(Discard::Refused);
        let Some(merge_point) = ipv4(resv.hop.address) else { return };
        let (code, value) = (error_code::ROUTING, error_code::routing::UNACCEPTABLE_LABEL);
        let filters = vec![Filter { rro: None, ..filter.clone() }];
        let error = ResvErr {
            common: Common::default(),
            session: resv.session,
            hop: RsvpHop { address: IpAddr::V4(self.far_address()), lih: resv.hop.lih },
            error_spec: self.error_spec(0, code, value),
            scope: None,
            policy_data: Vec::new(),
            style: resv.style,
            flow_descriptor: Some(FlowDescriptor { flowspec: descriptor.flowspec, filters }),
        };
        self.counters.error_sent(code, value);
        self.send_far(merge_point, &Message::ResvErr(error));
    }

    /// The merge point knows a diverted LSP by another label than was recorded.
    fn relabel(&mut self, index: u32, label: base::Label) {
        let Some(chosen) = self.store.get(index).and_then(|lsp| lsp.protection()?.chosen) else { return };
        let group = self.enter_group(chosen.hop, chosen.bypass, Some(label));
        self.count_user(chosen.bypass, true, chosen.committed);
        self.let_go(chosen);
        if let Some(lsp) = self.store.get_mut(index)
            && let Some(protection) = lsp.rare.as_mut().and_then(|rare| rare.protection.as_mut())
        {
            protection.chosen = Some(super::Chosen { swap: Some(label), group, ..chosen });
        }
        self.install(index);
    }

    /// A merge point gives the reservation of a diverted LSP up. Was it one?
    pub(in crate::rsvp) fn tear_from_around(&mut self, session: &SessionKey, sender: &SenderKey) -> bool {
        let Some(index) = self.diverted(session, sender) else { return false };
        self.reservation_lost(index, Loss::Torn);
        true
    }

    /// A router on the way around does not take a diverted LSP: its head end is told. Was it about one?
    pub(in crate::rsvp) fn error_from_around(
        &mut self,
        session: &SessionKey,
        sender: &SenderKey,
        spec: ErrorSpec,
    ) -> bool {
        let Some(index) = self.diverted(session, sender) else { return false };
        if spec.code == error_code::NOTIFY {
            return true;
        }
        if self.store.get(index).is_some_and(|lsp| lsp.role() == Role::Head) {
            let node = ipv4(spec.node).unwrap_or(self.config.router_id);
            self.lose(index, Loss::Error { node, code: spec.code, value: spec.value });
        } else {
            self.path_problem(index, spec.code, spec.value);
        }
        true
    }
}
