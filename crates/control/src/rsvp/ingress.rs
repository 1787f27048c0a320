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
use super::route::Ero;
use super::states::PathState;
use super::transport::Neighbor;
use base::PortId;
use wire::rsvp::{
    Adspec, ControlledLoadFragment, General, SenderTspec, SessionAttribute, TokenBucket, error_code,
};

impl Rsvp {
    /// Makes the state of a new LSP along the tunnel's current route, and sends its Path.
    pub(super) fn start(&mut self, index: u32) -> (u16, Result<u32, (u8, u16)>) {
        let router_id = self.config.router_id;
        let Some(tunnel) = self.tunnels.get(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return (0, Err((error_code::RSVP_SYSTEM, 0)));
        };
        let spec = tunnel.spec.clone();
        let session = SessionKey { end_point: spec.to, tunnel_id: spec.tunnel_id, extended: router_id };
        let route = spec.routes.get(tunnel.route).map(Vec::as_slice).unwrap_or_default();
        let mut ero = Ero::of_command(route);
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
            return (lsp_id, Err((code, value)));
        }
        if self.store.len() >= self.config.limits.lsps {
            return (lsp_id, Err((error_code::RSVP_SYSTEM, 0)));
        }
        let view = View {
            links: &self.links,
            rib: &self.services.rib,
            bandwidth: spec.bandwidth,
            setup_priority: spec.setup_priority.min(7),
        };
        let hops = ero.hops().unwrap_or_default();
        let step = explicit_route::select(&hops, true, spec.to, &view);
        let hop = match step {
            Ok(Step::Forward { hop, consumed, inserted }) => {
                ero.advance(consumed, inserted);
                hop
            }
            Ok(Step::Egress) => return (lsp_id, Err((error_code::ROUTING, error_code::routing::NO_ROUTE))),
            Err(value) => return (lsp_id, Err((error_code::ROUTING, value))),
        };
        if !self.is_admissible(&session, hop.port, spec.bandwidth, spec.setup_priority) {
            self.note_refusal(hop.port);
            return (lsp_id, Err((error_code::ADMISSION, error_code::admission::BANDWIDTH)));
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
        let name = spec.name.as_bytes();
        lsp.name = name.get(..name.len().min(255)).unwrap_or_default().into();
        lsp.tspec = SenderTspec(TokenBucket::constant(spec.bandwidth.as_bytes_per_s(), mtu));
        if spec.record_route || spec.record_labels {
            lsp.rare_mut().path_rro = Some(Vec::new());
        }
        if let Some(object) = spec.diffserv.as_ref().and_then(diffserv::object) {
            lsp.rare_mut().diffserv = Some(object);
        }
        if self.config.adspec {
            let general = General {
                break_bit: false,
                hops: 0,
                bandwidth: reservable.as_bytes_per_s(),
                latency_us: u32::MAX,
                mtu,
                ..General::default()
            };
            // The egress is to ask for controlled load, and for nothing else: services that are not mentioned are not
            // to be used (RFC 2210, 3.3).
            let controlled_load = Some(ControlledLoadFragment::default());
            let adspec = Adspec { general, guaranteed: None, controlled_load, others: Vec::new() };
            lsp.adspec = Some(adspec).into();
        }
        lsp
    }
}
