//! Bypass tunnels: those that users declare, and those that are made for LSPs that ask for protection (RFC 4090, 6.2).

use super::super::command::{PathRequest, ReservationStyle, TunnelId, TunnelSpec, WhenDown};
use super::super::lsp::Lsp;
use super::super::transport::Neighbor;
use super::super::{Rsvp, Timer};
use super::select::lacks_protection;
use super::turns::Turn;
use super::{Bypass, Guard};
use base::plane::{LabelStack, Leg};
use base::{Label, PortId, Rate, Span, Time};
use core::net::Ipv4Addr;
use std::sync::Arc;

/// A bypass that was made here goes when it has had no LSP for so long. Make before break leaves none for a moment.
const IDLE: Span = Span::from_secs(10);

/// From a change of what is known of links to the search for backups.
const SETTLE: Span = Span::from_secs(1);

impl Rsvp {
    /// The port that a bypass protects; nothing if the tunnel is none, or protects a link that is not there.
    fn guarded_port(&self, spec: &TunnelSpec) -> Option<PortId> {
        let bypass = spec.bypass.as_deref()?;
        let mut links = self.links.iter();
        links.find(|link| link.interface.address == bypass.link).map(|link| link.interface.port)
    }

    /// A tunnel was declared, or declared anew: it may be a bypass now, or none any more.
    pub(in crate::rsvp) fn guard(&mut self, tunnel: u32) {
        let Some(spec) = self.tunnels.get(tunnel).map(|tunnel| tunnel.spec.clone()) else { return };
        let Some(port) = self.guarded_port(&spec) else { return self.unguard(tunnel) };
        let guard = Guard { port, lsps: 0, committed: 0, idle: None, automatic: false };
        self.protections.guards.entry(tunnel).or_insert(guard).port = port;
    }

    /// A tunnel is no bypass any more.
    pub(in crate::rsvp) fn unguard(&mut self, tunnel: u32) {
        if self.protections.guards.contains_key(&tunnel) {
            self.follow_bypass(tunnel, false);
            self.protections.guards.remove(&tunnel);
        }
    }

    /// The way into a bypass, if it is up: the label that its first hop gave, unless it is implicit null.
    pub(in crate::rsvp) fn bypass_leg(&self, bypass: u32) -> Option<Leg> {
        let lsp = self.store.get(self.tunnels.get(bypass)?.active?)?;
        let hop = lsp.next_hop.filter(|hop| lsp.is_reserved() && self.links.is_up(hop.port))?;
        let labels = match lsp.out_label {
            Label::IMPLICIT_NULL => LabelStack::EMPTY,
            label => LabelStack::one(label),
        };
        Some(Leg { labels, port: hop.port, gateway: hop.address.into() })
    }

    /// What a bypass has reserved.
    pub(super) fn bypass_rate(&self, bypass: u32) -> Rate {
        let active = self.tunnels.get(bypass).and_then(|tunnel| self.store.get(tunnel.active?));
        active.map_or(Rate(0), |lsp| lsp.requested_rate())
    }

    /// An address of the router at the end of a bypass?
    pub(in crate::rsvp) fn is_at_end(&self, bypass: u32, address: Ipv4Addr) -> bool {
        self.tunnels.get(bypass).is_some_and(|tunnel| {
            let merge_point = tunnel.spec.bypass.iter().flat_map(|bypass| &bypass.merge_point);
            tunnel.spec.to == address || merge_point.into_iter().any(|other| *other == address)
        })
    }

    /// A bypass has come up, gone down, or takes another way: what leads into it follows.
    pub(in crate::rsvp) fn bypass_changed(&mut self, bypass: u32) {
        self.follow_bypass(bypass, true);
    }

    /// The same. LSPs that do not use the bypass find the best one anew, each when it is its turn if `in_turn` says so:
    /// one write has changed already what their packets do.
    fn follow_bypass(&mut self, bypass: u32, in_turn: bool) {
        let Some(guard) = self.protections.guards.get(&bypass) else { return };
        let port = guard.port;
        self.rewrite_groups(bypass);
        let concerned = |rsvp: &Rsvp, index: u32| {
            rsvp.store
                .get(index)
                .is_some_and(|lsp| lsp.next_hop.is_some_and(|hop| hop.port == port) && lsp.wants_protection())
        };
        for index in self.store.indices() {
            if !concerned(self, index) {
                continue;
            }
            let is_user = self.store.get(index).is_some_and(|lsp| {
                let chosen = lsp.protection().and_then(|protection| protection.chosen);
                lsp.is_diverted() && chosen.is_some_and(|chosen| chosen.bypass == bypass)
            });
            match (is_user, self.bypass_leg(bypass).is_some()) {
                (true, true) => self.install(index),
                (true, false) => self.divert_again(index),
                (false, _) if in_turn => self.in_turn(index, Turn::Protect),
                (false, _) => self.protect_again(index),
            }
        }
        self.first_turn();
        self.p2mp_bypass_changed(bypass, port);
    }

    /// Has a bypass made for an LSP that asks for protection and has none that does, as far as its way is known.
    pub(in crate::rsvp) fn make_bypass(&mut self, hop: Neighbor, next: Option<Ipv4Addr>, rate: Option<Rate>) {
        if !self.config.protection.automatic || self.services.engineering.is_empty() {
            return;
        }
        let engineering = &mut self.services.engineering;
        let Some(next_router) = engineering.router_of(hop.address) else { return };
        // RFC 4090, 6: around the router first, and around the link alone if that is not feasible.
        if let Some(after) = next.and_then(|next| engineering.router_of(next))
            && after != self.config.router_id
            && self.has_bypass(hop.port, after, true, Some(next_router), rate)
        {
            return;
        }
        self.has_bypass(hop.port, next_router, false, None, rate);
    }

    /// Has a bypass made from a port to a merge point, unless there is one. Is there one that is up, or may come up?
    fn has_bypass(
        &mut self,
        port: PortId,
        to: Ipv4Addr,
        node: bool,
        avoid: Option<Ipv4Addr>,
        rate: Option<Rate>,
    ) -> bool {
        let same = |rsvp: &Rsvp, bypass: u32| {
            rsvp.tunnels.get(bypass).is_some_and(|tunnel| {
                tunnel.spec.to == to && tunnel.spec.bypass.as_ref().is_some_and(|own| own.node == node)
            })
        };
        let mut known = self.protections.of_port(port);
        let found = known.find(|bypass| same(self, *bypass));
        drop(known);
        let index = match found {
            Some(bypass) if rate.is_none() => Some(bypass),
            Some(bypass) => {
                self.widen(bypass, rate.unwrap_or_default());
                Some(bypass)
            }
            None => self.new_bypass(port, to, node, avoid, rate),
        };
        let state = index.and_then(|index| self.tunnels.get(index)).map(|tunnel| tunnel.state);
        state.is_some_and(|state| state.has_active() || state.has_candidate())
    }

    /// Asks for more bandwidth where an automatic bypass has too little for another LSP: twice as much each time, so
    /// that it is signalled anew seldom.
    fn widen(&mut self, bypass: u32, more: Rate) {
        let Some(guard) = self.protections.guards.get(&bypass).filter(|guard| guard.automatic) else {
            return;
        };
        let needed = guard.committed.saturating_add(more.0);
        let Some(spec) = self.tunnels.get(bypass).map(|tunnel| tunnel.spec.clone()) else { return };
        if needed > spec.bandwidth.0 {
            let bandwidth = Rate(needed.checked_next_power_of_two().unwrap_or(needed));
            self.tunnel_set(&Arc::new(TunnelSpec { bandwidth, ..(*spec).clone() }));
        }
    }

    fn new_bypass(
        &mut self,
        port: PortId,
        to: Ipv4Addr,
        node: bool,
        avoid: Option<Ipv4Addr>,
        rate: Option<Rate>,
    ) -> Option<u32> {
        let link = self.links.address(port)?;
        let far = self.links.get(port).and_then(|link| link.interface.neighbor);
        // The numbers that users' tunnels get begin at the other end.
        let free = |id: &u16| self.tunnels.find(TunnelId { to, id: *id }).is_none();
        let tunnel_id = (1..=u16::MAX).rev().find(free)?;
        let engineering = &mut self.services.engineering;
        let merge_point = engineering.addresses_of(to);
        let kind = if node { "node" } else { "link" };
        let path = PathRequest {
            exclude: [Some(link), far, avoid].into_iter().flatten().collect(),
            // RFC 4090, 6.2: what fails together with the link does not help.
            exclude_srlgs: engineering.srlgs_of(link),
            follow: true,
            ..PathRequest::default()
        };
        let spec = TunnelSpec {
            name: format!("bypass-{kind}-{link}-{to}"),
            tunnel_id,
            to,
            routes: Vec::new(),
            path: Some(Box::new(path)),
            bandwidth: rate
                .map_or(Rate(0), |rate| Rate(rate.0.checked_next_power_of_two().unwrap_or(rate.0))),
            setup_priority: 7,
            holding_priority: 0,
            style: ReservationStyle::SharedExplicit,
            record_route: true,
            record_labels: false,
            protection: None,
            bypass: Some(Box::new(Bypass { link, merge_point, node })),
            carries: Vec::new(),
            autoroute: false,
            carries6: Vec::new(),
            classed: Vec::new(),
            diffserv: None,
            watch: None,
            filters: Vec::new(),
            when_down: WhenDown::Route,
            retry_limit: None,
            retry_first: Span::from_secs(1),
            retry_max: Span::from_secs(30),
        };
        let id = TunnelId { to, id: tunnel_id };
        self.tunnel_set(&Arc::new(spec.clone()));
        let mut index = self.tunnels.find(id)?;
        let is_tried = |rsvp: &Rsvp, index| {
            rsvp.tunnels.get(index).is_some_and(|t| t.state.has_active() || t.state.has_candidate())
        };
        if spec.bandwidth.0 > 0 && !is_tried(self, index) {
            // RFC 4090, 6: a backup without a guarantee is better than none.
            self.tunnel_set(&Arc::new(TunnelSpec { bandwidth: Rate(0), ..spec }));
            index = self.tunnels.find(id)?;
        }
        let idle = Some(self.now);
        if let Some(guard) = self.protections.guards.get_mut(&index) {
            (guard.automatic, guard.idle) = (true, idle);
        }
        self.sweep_later();
        Some(index)
    }

    /// Looks for bypass tunnels without LSPs when the first of them has had none for long enough.
    pub(super) fn sweep_later(&mut self) {
        let idle =
            self.protections.guards.values().filter(|guard| guard.automatic).filter_map(|guard| guard.idle);
        let Some(at) = idle.min().map(|since| since + IDLE) else { return };
        if self.protections.sweep_at.is_none() {
            self.protections.sweep_at = Some(at);
            self.wheel.schedule(at, Timer::Sweep);
        }
    }

    /// Takes bypass tunnels away that were made here and have had no LSP for a while.
    pub(in crate::rsvp) fn sweep(&mut self) {
        self.protections.sweep_at = None;
        let now = self.now;
        let is_over = |since: Time| since + IDLE <= now;
        let over: Vec<(u32, PortId)> = self
            .protections
            .guards
            .iter()
            .filter(|(_, guard)| guard.automatic && guard.idle.is_some_and(is_over))
            .map(|(bypass, guard)| (*bypass, guard.port))
            .collect();
        for (bypass, port) in over {
            // RFC 4090, 6.2: what could not be set up is tried again, as long as an LSP waits for it.
            if self.is_wanted(bypass, port) {
                if let Some(guard) = self.protections.guards.get_mut(&bypass) {
                    guard.idle = Some(now);
                }
                continue;
            }
            if let Some(id) = self.tunnels.get(bypass).map(|tunnel| tunnel.id()) {
                self.tunnel_remove(id);
            }
        }
        self.sweep_later();
    }

    /// Does an LSP that leaves by a port have less protection than it asks for, and could a bypass give it more?
    fn is_wanted(&self, bypass: u32, port: PortId) -> bool {
        let leaves = |lsp: &Lsp| lsp.next_hop.is_some_and(|hop| hop.port == port);
        let mut all = self.store.iter().map(|(_, lsp)| lsp);
        all.any(|lsp| leaves(lsp) && lacks_protection(lsp) && self.could_serve(bypass, lsp))
            || self.p2mp_wants_bypass(bypass, port)
    }

    /// Something else is known of links: LSPs that could not be protected are looked at when what belongs to it has
    /// come (RFC 4090, 6.2: what can't be brought up is tried again later).
    pub(in crate::rsvp) fn protect_later(&mut self) {
        let looks = self.config.protection.automatic || !self.protections.detours.is_empty();
        if looks && !self.protections.is_looking {
            self.protections.is_looking = true;
            self.wheel.schedule(self.now + SETTLE, Timer::Protect);
        }
    }

    /// Looks for backups of LSPs that have less protection than they ask for.
    pub(in crate::rsvp) fn protect_all(&mut self) {
        self.protections.is_looking = false;
        self.try_detours();
        for index in self.store.indices() {
            if self.store.get(index).is_some_and(lacks_protection) {
                self.protect_again(index);
            }
        }
        self.p2mp_protect_all();
    }
}
