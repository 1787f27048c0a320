//! The way of a detour (RFC 4090, 6.2): from here to the tail end without what it protects from, and from the first
//! router on which it meets the LSP on along the LSP's own route.

use super::super::Rsvp;
use super::super::computed::{ATTEMPTS, distrust, signalled};
use super::super::explicit_route::{self, Step};
use super::super::head::Loss;
use super::super::path::View;
use super::super::record_route;
use super::super::route::Ero;
use super::super::transport::Neighbor;
use super::select::{recorded, seeks_node};
use crate::services::te::{Affinities, Constraints, Held, NoPath, TeHop};
use base::Rate;
use core::net::Ipv4Addr;
use wire::rsvp::{EroHop, EroSubobject, FastReroute, SenderTspec, error_code};

/// What a detour is made for. As long as that stays, the detour does (RFC 4090, 6.3).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    /// The next hop of the LSP.
    pub hop: Neighbor,
    pub asked: FastReroute,
    /// Around the next router, if that is not the last.
    node: bool,
    /// Whoever asked for that is told whether bandwidth is guaranteed.
    bandwidth: bool,
    tspec: SenderTspec,
    /// Addresses of routers further down, the next hop's first; from the recorded route.
    route: Vec<Ipv4Addr>,
    /// The explicit route that goes on.
    ero: Vec<EroHop>,
}

/// A way for a detour.
pub(super) struct Found {
    pub hop: Neighbor,
    pub ero: Ero,
    /// The links up to the merge point.
    pub way: Vec<TeHop>,
    pub rate: Rate,
    /// Setup and holding priority.
    pub priorities: (u8, u8),
    pub affinities: Option<wire::rsvp::Affinities>,
    pub node: bool,
    pub bandwidth: bool,
}

/// The address of a hop that is a single router.
pub(super) fn host(hop: &EroHop) -> Option<Ipv4Addr> {
    match hop.node {
        EroSubobject::Ipv4 { address, prefix_length: 32 } => Some(address),
        _ => None,
    }
}

impl Rsvp {
    /// What an LSP needs a detour for, as far as its way is known.
    pub(super) fn wanted_detour(&self, index: u32) -> Option<Wanted> {
        let lsp = self.store.get(index)?;
        let rro = lsp.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
        let (_, bandwidth, _) = lsp.wanted_protection();
        Some(Wanted {
            hop: lsp.next_hop?,
            asked: lsp.fast_reroute()?,
            node: seeks_node(lsp),
            bandwidth,
            tspec: lsp.tspec,
            route: recorded(rro).into_iter().map(|(address, _)| address).collect(),
            ero: lsp.ero.outgoing().unwrap_or_default(),
        })
    }

    /// The best way: around the router before around the link alone, and with bandwidth before without (RFC 4090, 6).
    pub(super) fn find_detour(&mut self, index: u32) -> Result<Found, NoPath> {
        let unknown = NoPath::Unknown(self.config.router_id);
        let Some(lsp) = self.store.get(index) else { return Err(unknown) };
        let end_point = lsp.session.end_point;
        if self.services.engineering.is_empty() {
            return Err(NoPath::Unknown(end_point));
        }
        let known = self.protections.detours.get(&index);
        let Some((wanted, failures)) = known.map(|detour| (detour.wanted.clone(), detour.failures)) else {
            return Err(unknown);
        };
        if failures > 0 {
            // Mostly there is still no way at all: that is known after one search.
            let constraints = self.detour_constraints(index, &wanted, false, Rate(0));
            self.services.engineering.path(self.now, self.config.router_id, end_point, &constraints)?;
        }
        let full = Rate::from_bytes_per_s(wanted.asked.bandwidth);
        let rates: &[Rate] = if full.0 > 0 { &[full, Rate(0)] } else { &[full] };
        let around: &[bool] = if wanted.node { &[true, false] } else { &[false] };
        let mut why = unknown;
        for (node, rate) in around.iter().flat_map(|node| rates.iter().map(move |rate| (*node, *rate))) {
            match self.detour_around(index, &wanted, node, rate) {
                Ok(found) => {
                    let bandwidth = wanted.bandwidth && rate == full;
                    return Ok(Found { bandwidth, ..found });
                }
                Err(reason) => why = reason,
            }
        }
        Err(why)
    }

    /// What the way of a detour must do, as its LSP asks for it.
    fn detour_constraints(&mut self, index: u32, wanted: &Wanted, node: bool, rate: Rate) -> Constraints {
        let near = self.links.address(wanted.hop.port);
        let far = self.links.get(wanted.hop.port).and_then(|link| link.interface.neighbor);
        let lsp = self.store.get(index);
        // Links before this router, by the near ends that a Path records (6.2): their other direction may be taken.
        let before = lsp.and_then(|lsp| lsp.rare.as_ref()?.path_rro.as_deref());
        let before = before.map(record_route::addresses).unwrap_or_default();
        let held = lsp.map_or((Rate(0), 7), |lsp| (lsp.reserved_rate(), lsp.holding_priority.min(7)));
        let engineering = &mut self.services.engineering;
        let router = engineering.router_of(wanted.hop.address).filter(|_| node);
        // What the LSP has reserved behind the merge point the detour shares (RFC 3209, 2.5).
        let links = wanted.route.iter().filter_map(|far| engineering.near_of(*far)).collect();
        let asked = &wanted.asked;
        Constraints {
            bandwidth: signalled(rate),
            priority: asked.setup_priority.min(7),
            affinities: Affinities {
                exclude_any: asked.exclude_any,
                include_any: asked.include_any,
                include_all: asked.include_all.unwrap_or(0),
            },
            exclude_srlgs: near.map(|near| engineering.srlgs_of(near)).unwrap_or_default(),
            exclude: [near, far, Some(wanted.hop.address), router].into_iter().flatten().collect(),
            exclude_from: before,
            held: Held { rate: held.0, priority: held.1, links, replaced: None },
            ..Constraints::default()
        }
    }

    fn detour_around(
        &mut self,
        index: u32,
        wanted: &Wanted,
        node: bool,
        rate: Rate,
    ) -> Result<Found, NoPath> {
        let (router_id, now) = (self.config.router_id, self.now);
        let unknown = NoPath::Unknown(router_id);
        let Some(session) = self.store.get(index).map(|lsp| lsp.session) else { return Err(unknown) };
        let constraints = self.detour_constraints(index, wanted, node, rate);
        let setup = constraints.priority;
        let mut why = unknown;
        for _ in 0..ATTEMPTS {
            // RFC 4090, 6.2: the destination MUST be the tail end.
            let path = self.services.engineering.path(now, router_id, session.end_point, &constraints)?;
            let (way, hops) = self.spliced(index, wanted, path.hops);
            let between = way.len().saturating_sub(1) as u32;
            if between > u32::from(wanted.asked.hop_limit) {
                let limit = u32::from(wanted.asked.hop_limit) + 1;
                return Err(NoPath::TooLong { links: way.len() as u32, limit });
            }
            let (links, rib) = (&self.links, &self.services.rib);
            let view = View { links, rib, bandwidth: rate, setup_priority: setup, expanded: None };
            let step = explicit_route::select(&hops, true, session.end_point, &view);
            let refused = match step {
                Ok(Step::Forward { hop, .. }) if !self.is_admissible(&session, hop.port, rate, setup) => {
                    self.note_refusal(hop.port);
                    error_code::ADMISSION
                }
                Ok(Step::Forward { hop, consumed, inserted }) => {
                    let mut ero = Ero::new(Some(&hops));
                    ero.advance(consumed, &inserted);
                    let affinities = self.detour_affinities(index, wanted, &hops);
                    let priorities = (setup, wanted.asked.holding_priority.min(setup));
                    // Said is what it does, whether that was asked for or not (4.4).
                    let next = self.services.engineering.router_of(wanted.hop.address);
                    let node = next.is_some_and(|next| way.iter().all(|hop| hop.router != next));
                    return Ok(Found { hop, ero, way, rate, priorities, affinities, node, bandwidth: false });
                }
                _ => error_code::ROUTING,
            };
            let Some(first) = way.first() else { return Err(why) };
            self.services.engineering.distrust(now, first.near, distrust(refused, setup, rate));
            why = NoPath::Unknown(first.far);
        }
        Err(why)
    }

    /// The links of a computed path up to where it meets the LSP, and the explicit route along them and from there on
    /// as the LSP goes (RFC 4090, 6.3): what is the same behind the merge point is merged there (7.1.1).
    fn spliced(&mut self, index: u32, wanted: &Wanted, path: Vec<TeHop>) -> (Vec<TeHop>, Vec<EroHop>) {
        let end_point = self.store.get(index).map(|lsp| lsp.session.end_point);
        let engineering = &mut self.services.engineering;
        let mut router = |address: Ipv4Addr| engineering.router_of(address).unwrap_or(address);
        let by_ero = || wanted.ero.iter().filter_map(host).collect::<Vec<_>>();
        let known = if wanted.route.is_empty() { by_ero() } else { wanted.route.clone() };
        let further: Vec<Ipv4Addr> = known.into_iter().chain(end_point).map(&mut router).collect();
        let place = |router: Ipv4Addr| further.iter().position(|one| *one == router);
        let meets =
            path.iter().position(|hop| place(hop.router).is_some()).unwrap_or(path.len().saturating_sub(1));
        let merge = path.get(meets).and_then(|hop| place(hop.router)).unwrap_or(further.len());
        let way: Vec<TeHop> = path.into_iter().take(meets + 1).collect();
        let mut is_behind = |hop: &EroHop| {
            let at = host(hop).and_then(|address| place(router(address)));
            at.is_none_or(|at| at > merge)
        };
        let skipped = wanted.ero.iter().rposition(|hop| !is_behind(hop)).map_or(0, |last| last + 1);
        let rest = wanted.ero.iter().skip(skipped).cloned();
        let hops = way.iter().map(|hop| EroHop::strict(hop.far)).chain(rest).collect();
        (way, hops)
    }

    /// RFC 4090, 6.3: routers that find a part of the way by themselves are told which links will do.
    fn detour_affinities(
        &self,
        index: u32,
        wanted: &Wanted,
        hops: &[EroHop],
    ) -> Option<wire::rsvp::Affinities> {
        if hops.iter().any(|hop| hop.loose) {
            let asked = &wanted.asked;
            return Some(wire::rsvp::Affinities {
                exclude_any: asked.exclude_any,
                include_any: asked.include_any,
                include_all: asked.include_all.unwrap_or(0),
            });
        }
        self.store.get(index)?.rare.as_ref()?.affinities
    }

    /// A detour failed: the link where it did is avoided from now on.
    pub(super) fn blame_detour(&mut self, index: u32, why: Loss) {
        let (router_id, now) = (self.config.router_id, self.now);
        let Some(detour) = self.protections.detours.get(&index) else { return };
        let engineering = &mut self.services.engineering;
        let (place, code) = match why {
            Loss::PortDown => (Some(0), error_code::ROUTING),
            Loss::Error { node, code, .. } => {
                let router = engineering.router_of(node);
                let at = detour.way.iter().position(|hop| Some(hop.router) == router);
                let last = detour.way.len().saturating_sub(1);
                let place = at.map(|at| (at + 1).min(last));
                (place.or((node == router_id).then_some(0)), code)
            }
            _ => (None, 0),
        };
        let Some(hop) = place.and_then(|place| detour.way.get(place)) else { return };
        let asked = &detour.wanted.asked;
        let said = distrust(code, asked.setup_priority, Rate::from_bytes_per_s(asked.bandwidth));
        engineering.distrust(now, hop.near, said);
    }
}
