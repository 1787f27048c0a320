//! A new LSP at its head end: its way, its state, its Path.

use super::Rsvp;
use super::command::{ReservationStyle, TunnelSpec};
use super::diffserv;
use super::error::Problem;
use super::explicit_route::{self, Step};
use super::faults::Fault;
use super::lsp::{Lsp, SenderKey, SessionKey};
use super::outbox::Sending;
use super::path::View;
use super::protection::ProtectionRequest;
use super::route::Ero;
use super::states::PathState;
use super::transport::Neighbor;
use crate::services::te::{NoPath, TePath};
use base::{PortId, Rate};
use wire::rsvp::{
    Adspec, ControlledLoadFragment, FastReroute, General, Object, SenderTspec, SessionAttribute, TokenBucket,
    Unknown, error_code,
};

/// Why a new LSP was not signalled.
#[derive(Clone, Debug)]
pub(super) enum Unstarted {
    /// An error code of RSVP, and its value.
    Error(u8, u16),
    /// There is no path that does what is asked of it.
    NoPath(NoPath),
}

impl From<(u8, u16)> for Unstarted {
    fn from((code, value): (u8, u16)) -> Unstarted {
        Unstarted::Error(code, value)
    }
}

impl Rsvp {
    /// Makes the state of a new LSP along the tunnel's current route, and sends its Path.
    pub(super) fn start(&mut self, index: u32) -> (u16, Result<u32, Unstarted>) {
        let Some(tunnel) = self.tunnels.get(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return (0, Err((error_code::RSVP_SYSTEM, 0).into()));
        };
        if !tunnel.spec.routes.is_empty() {
            return self.launch(index, None);
        }
        match self.find_path(index) {
            Ok(path) => self.launch(index, path),
            Err(why) => (0, Err(Unstarted::NoPath(why))),
        }
    }

    /// The same along a path that was computed, or else along the tunnel's current route.
    pub(super) fn launch(&mut self, index: u32, path: Option<TePath>) -> (u16, Result<u32, Unstarted>) {
        let router_id = self.config.router_id;
        let Some(tunnel) = self.tunnels.get(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return (0, Err((error_code::RSVP_SYSTEM, 0).into()));
        };
        let spec = tunnel.spec.clone();
        let session = SessionKey { end_point: spec.to, tunnel_id: spec.tunnel_id, extended: router_id };
        let route = spec.routes.get(tunnel.route).map(Vec::as_slice).unwrap_or_default();
        let mut ero = path.as_ref().map_or_else(|| Ero::of_command(route), |path| Ero::of_path(&path.hops));
        let way = path.map(|path| path.hops).unwrap_or_default();
        // Not zero, and not in use.
        let distinct = self.config.distinct_lsp_ids;
        let mut lsp_id = if distinct { self.lsp_ids } else { tunnel.next_lsp_id }.max(1);
        while self.store.find(&session, &SenderKey { address: router_id, lsp_id }).is_some() {
            lsp_id = lsp_id.wrapping_add(1).max(1);
        }
        if distinct {
            self.lsp_ids = lsp_id.wrapping_add(1);
        }
        if let Some(tunnel) = self.tunnels.get_mut(index) {
            tunnel.next_lsp_id = lsp_id.wrapping_add(1);
        }
        if let Some(object) = spec.diffserv.as_ref().and_then(diffserv::object)
            && let Err(Problem::Error(code, value)) = diffserv::check(self.config.diffserv.as_ref(), &object)
        {
            return (lsp_id, Err((code, value).into()));
        }
        if self.store.len() >= self.config.limits.lsps {
            return (lsp_id, Err((error_code::RSVP_SYSTEM, 0).into()));
        }
        let hops = ero.hops().unwrap_or_default();
        let setup_priority = spec.setup_priority.min(7);
        let expanded = self.expand(&hops, spec.to, (spec.bandwidth, setup_priority), affinities(&spec));
        let (links, rib, bandwidth) = (&self.links, &self.services.rib, spec.bandwidth);
        let view = View { links, rib, bandwidth, setup_priority, expanded };
        let step = explicit_route::select(&hops, true, spec.to, &view);
        let hop = match step {
            Ok(Step::Forward { hop, consumed, inserted }) => {
                ero.advance(consumed, &inserted);
                hop
            }
            Ok(Step::Egress) => {
                return (lsp_id, Err((error_code::ROUTING, error_code::routing::NO_ROUTE).into()));
            }
            Err(value) => {
                self.distrust_first(&way, &spec, error_code::ROUTING);
                return (lsp_id, Err((error_code::ROUTING, value).into()));
            }
        };
        if !self.is_admissible(&session, hop.port, spec.bandwidth, spec.setup_priority) {
            self.note_refusal(hop.port);
            self.distrust_first(&way, &spec, error_code::ADMISSION);
            return (lsp_id, Err((error_code::ADMISSION, error_code::admission::BANDWIDTH).into()));
        }
        let mut lsp = self.new_lsp(&spec, session, lsp_id, hop);
        lsp.ero = ero;
        let lsp = self.store.insert(lsp);
        self.send_path(lsp, Sending::Trigger);
        (lsp_id, Ok(lsp))
    }

    fn new_lsp(&self, spec: &TunnelSpec, session: SessionKey, lsp_id: u16, hop: Neighbor) -> Lsp {
        let router_id = self.config.router_id;
        let here = Neighbor { port: PortId(u16::MAX), address: router_id };
        let mut lsp = Lsp::new(session, SenderKey { address: router_id, lsp_id }, PathState::Ingress, here);
        let (mtu, reservable) = self
            .links
            .get(hop.port)
            .map_or((1500, spec.bandwidth), |l| (l.interface.mtu, l.interface.reservable));
        lsp.next_hop = Some(hop);
        lsp.ttl = self.config.message_ttl;
        (lsp.setup_priority, lsp.holding_priority) =
            (spec.setup_priority.min(7), spec.holding_priority.min(7));
        lsp.has_attribute = true;
        if spec.style == ReservationStyle::SharedExplicit {
            lsp.attribute_flags |= SessionAttribute::SE_STYLE;
        }
        if spec.record_labels {
            lsp.attribute_flags |= SessionAttribute::LABEL_RECORDING;
        }
        if let Some(asked) = spec.protection {
            self.ask_for_protection(&mut lsp, spec, asked);
        }
        let name = spec.name.as_bytes();
        lsp.name = name.get(..name.len().min(255)).unwrap_or_default().into();
        lsp.tspec = SenderTspec(TokenBucket::constant(spec.bandwidth.as_bytes_per_s(), mtu));
        if spec.record_route || spec.record_labels || spec.protection.is_some() {
            lsp.rare_mut().path_rro = Some(Vec::new());
        }
        if let Some(affinities) = affinities(spec) {
            lsp.rare_mut().affinities = Some(affinities);
        }
        if let Some(object) = spec.diffserv.as_ref().and_then(diffserv::object) {
            lsp.rare_mut().diffserv = Some(object);
        }
        if self.config.adspec {
            lsp.adspec = Some(adspec(reservable, mtu)).into();
        }
        lsp
    }
}

/// ADSPEC of Paths that begin here, by links with so much to reserve and this MTU. The egress is to ask for controlled
/// load, and for nothing else: services that are not mentioned are not to be used (RFC 2210, 3.3).
pub(super) fn adspec(reservable: Rate, mtu: u32) -> Adspec {
    let general =
        General { bandwidth: reservable.as_bytes_per_s(), latency_us: u32::MAX, mtu, ..General::default() };
    let controlled_load = Some(ControlledLoadFragment::default());
    Adspec { general, guaranteed: None, controlled_load, others: Vec::new() }
}

impl Rsvp {
    /// Asks the routers on the way for protection (RFC 4090, 5).
    fn ask_for_protection(&self, lsp: &mut Lsp, spec: &TunnelSpec, asked: ProtectionRequest) {
        lsp.attribute_flags |= SessionAttribute::LOCAL_PROTECTION | SessionAttribute::LABEL_RECORDING;
        if asked.node {
            lsp.attribute_flags |= SessionAttribute::NODE_PROTECTION;
        }
        if asked.bandwidth {
            lsp.attribute_flags |= SessionAttribute::BANDWIDTH_PROTECTION;
        }
        let wanted = spec.path.as_ref().map(|path| path.affinities).unwrap_or_default();
        // A detour reserves what stands here; a bypass only for who asks for that by the flag.
        let reserves_none = asked.one_to_one && !asked.bandwidth;
        let bandwidth = if reserves_none { Rate(0) } else { spec.bandwidth };
        let object = Object::FastReroute(FastReroute {
            setup_priority: lsp.setup_priority,
            holding_priority: lsp.holding_priority,
            hop_limit: u8::MAX,
            flags: if asked.one_to_one { FastReroute::ONE_TO_ONE } else { FastReroute::FACILITY },
            bandwidth: bandwidth.as_bytes_per_s(),
            include_any: wanted.include_any,
            exclude_any: wanted.exclude_any,
            include_all: Some(wanted.include_all),
        });
        // It rides along like an object that is not understood: routers that don't know it pass it on (RFC 2205, 3.10).
        lsp.rare_mut().path_unknown.extend(Unknown::of(&object));
    }
}

/// Which groups links of a tunnel's LSPs must have, if it is asked at all (RFC 3209, 4.7.4).
fn affinities(spec: &TunnelSpec) -> Option<wire::rsvp::Affinities> {
    let asked = spec.path.as_ref()?.affinities;
    (!asked.is_empty()).then_some(wire::rsvp::Affinities {
        exclude_any: asked.exclude_any,
        include_any: asked.include_any,
        include_all: asked.include_all,
    })
}
