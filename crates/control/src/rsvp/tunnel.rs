//! What the head end knows of a tunnel.

use super::command::TunnelId;
use super::command::TunnelSpec;
use super::computed::{ATTEMPTS, Computed};
use super::permanent_bridge::Bridge;
use super::slab::Slab;
use super::states::TunnelState;
use crate::services::WatchedPath;
use base::{Map, Time, TimerId};
use std::sync::Arc;

/// A tunnel at its head end.
#[derive(Clone, Debug)]
pub(super) struct Tunnel {
    pub spec: Arc<TunnelSpec>,
    pub state: TunnelState,
    /// The LSP that carries traffic.
    pub active: Option<u32>,
    /// Which of the routes it takes.
    pub active_route: usize,
    /// The LSP that is being set up.
    pub candidate: Option<u32>,
    /// The batch that moves traffic to the candidate.
    pub moving: Option<u64>,
    /// The LSPs that BFD watches, as it was asked for.
    pub watched: Vec<WatchedPath>,
    /// The LSP that carries traffic, if a router on its way leads it around a failure.
    pub repaired: Option<u32>,
    /// LSPs that carried traffic before, and when they go.
    pub retiring: Vec<(Time, u32)>,
    /// The route of the next attempt, or of the candidate.
    pub route: usize,
    /// Routes tried since the last success or pause.
    pub tried: usize,
    /// Rounds without success in a row.
    pub failures: u32,
    pub retry_at: Time,
    pub give_up_at: Time,
    pub next_lsp_id: u16,
    /// What is mapped to the active LSP in the tables, as it was asked for.
    pub carried: Option<Arc<TunnelSpec>>,
    /// What the batch under way maps to the candidate.
    pub offered: Option<Arc<TunnelSpec>>,
    /// What the filters drop in the tables, since there is no LSP, as it was asked for.
    pub barred: Option<Arc<TunnelSpec>>,
    /// How packets are sent over all of its LSPs, if they are (1+1).
    pub bridge: Option<Bridge>,
    /// What is kept of its path, if it was ever computed.
    pub computed: Option<Box<Computed>>,
    /// How many tunnels were declared before it.
    pub sequence: u64,
    pub timer: Option<TimerId>,
    pub timer_at: Time,
}

impl Tunnel {
    pub(super) fn new(spec: Arc<TunnelSpec>, first_lsp_id: u16) -> Tunnel {
        Tunnel {
            spec,
            state: TunnelState::Down,
            active: None,
            active_route: 0,
            candidate: None,
            moving: None,
            watched: Vec::new(),
            repaired: None,
            retiring: Vec::new(),
            route: 0,
            tried: 0,
            failures: 0,
            retry_at: Time::MAX,
            give_up_at: Time::MAX,
            next_lsp_id: first_lsp_id,
            carried: None,
            offered: None,
            barred: None,
            bridge: None,
            computed: None,
            sequence: 0,
            timer: None,
            timer_at: Time::MAX,
        }
    }

    /// Identifies the tunnel at its head end: address of the egress, and tunnel id.
    pub(super) fn id(&self) -> TunnelId {
        TunnelId { to: self.spec.to, id: self.spec.tunnel_id }
    }

    /// How many routes there are to try: the routing table's is one, and of computed paths there are a few.
    pub(super) fn routes(&self) -> usize {
        match (self.is_computed(), self.k()) {
            (true, 1) => ATTEMPTS,
            (true, k) => k,
            (false, _) => self.spec.routes.len().max(1),
        }
    }

    /// Is there one route, of which each hop is given? Then another attempt goes the same way as the one before.
    pub(super) fn has_one_way(&self) -> bool {
        match &self.spec.routes[..] {
            [route] => !self.is_computed() && !route.is_empty() && route.iter().all(|hop| !hop.loose),
            _ => false,
        }
    }

    /// Goes on to the next route.
    pub(super) fn next_route(&mut self) {
        self.tried += 1;
        self.route = (self.route + 1) % self.routes();
    }

    /// Begins with the preferred route again.
    pub(super) fn begin_round(&mut self) {
        (self.route, self.tried, self.retry_at) = (0, 0, Time::MAX);
        if let Some(computed) = &mut self.computed {
            computed.begin_round();
        }
    }

    /// When something is to be done.
    pub(super) fn deadline(&self) -> Time {
        let retiring = self.retiring.iter().map(|entry| entry.0).min().unwrap_or(Time::MAX);
        let computed = self.computed.as_ref();
        let check = computed.and_then(|computed| computed.check_at).unwrap_or(Time::MAX);
        let standby = computed.map_or(Time::MAX, |computed| computed.standby.deadline());
        retiring.min(self.retry_at).min(self.give_up_at).min(check).min(standby)
    }
}

/// The tunnels of a head end.
#[derive(Debug, Default)]
pub(super) struct Tunnels {
    slab: Slab<Tunnel>,
    by_id: Map<TunnelId, u32>,
    declared: u64,
}

impl Tunnels {
    pub(super) fn find(&self, id: TunnelId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }
    /// Puts a tunnel in, declared after all others.
    pub(super) fn insert(&mut self, mut tunnel: Tunnel) -> u32 {
        let id = tunnel.id();
        tunnel.sequence = self.declared;
        self.declared += 1;
        let index = self.slab.insert(tunnel);
        self.by_id.insert(id, index);
        index
    }
    pub(super) fn remove(&mut self, index: u32) -> Option<Tunnel> {
        let tunnel = self.slab.remove(index)?;
        self.by_id.remove(&tunnel.id());
        Some(tunnel)
    }
    pub(super) fn get(&self, index: u32) -> Option<&Tunnel> {
        self.slab.get(index)
    }
    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Tunnel> {
        self.slab.get_mut(index)
    }
    pub(super) fn generation(&self, index: u32) -> u32 {
        self.slab.generation(index)
    }
    pub(super) fn len(&self) -> usize {
        self.slab.len()
    }
    pub(super) fn indices(&self) -> Vec<u32> {
        self.slab.indices()
    }
    /// Tunnels by setup priority, then as they were declared: whoever may take bandwidth from others looks for a path
    /// first (RFC 3209, 4.7.1), and so need not take it.
    pub(super) fn by_priority(&self) -> Vec<u32> {
        let mut all: Vec<_> = self.slab.iter().collect();
        all.sort_unstable_by_key(|(_, tunnel)| (tunnel.spec.setup_priority, tunnel.sequence));
        all.into_iter().map(|(index, _)| index).collect()
    }
    /// Tunnels in the order of their ids.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Tunnel)> {
        let mut all: Vec<_> = self.slab.iter().collect();
        all.sort_unstable_by_key(|(_, tunnel)| tunnel.id());
        all.into_iter()
    }
}
