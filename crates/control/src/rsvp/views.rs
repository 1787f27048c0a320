//! Read-only views, as plain data.

use super::Rsvp;
use super::autoroute::group;
use super::command::TunnelId;
use super::ftn::FILTER_BITS;
use super::lsp::{Lsp, Role, SessionKey};
use super::record_route;
use super::transport::Neighbor;
use base::plane::GroupId;
use base::{Label, PortId, Rate, Time};
use core::net::Ipv4Addr;
use wire::rsvp::{DiffServ, RroSubobject, Style};

/// One LSP: its path state, and its reservation if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LspView {
    /// Address of the egress.
    pub end_point: Ipv4Addr,
    /// Number of the tunnel at its ingress; all LSPs of a tunnel share it.
    pub tunnel_id: u16,
    /// The extended tunnel id: mostly the address of the ingress.
    pub extended_tunnel_id: Ipv4Addr,
    /// Address of the ingress.
    pub sender: Ipv4Addr,
    /// Number of the LSP within its tunnel.
    pub lsp_id: u16,
    /// Name of the tunnel, as the Path's SESSION_ATTRIBUTE has it; empty if it has none.
    pub name: String,
    /// What this router is to it.
    pub role: Role,
    /// Where the Path came from; nothing at the ingress.
    pub previous_hop: Option<Neighbor>,
    /// Where the Path went; nothing at the egress.
    pub next_hop: Option<Neighbor>,
    /// Setup priority, 0 (highest) to 7: what the LSP may preempt (RFC 3209, 4.7.1).
    pub setup_priority: u8,
    /// Holding priority, 0 (highest) to 7: what may preempt the LSP (RFC 3209, 4.7.1).
    pub holding_priority: u8,
    /// The DIFFSERV object of the Path (RFC 3270, 5.2); nothing if none was signalled: an E-LSP with the
    /// preconfigured mapping.
    pub diffserv: Option<DiffServ>,
    /// Bandwidth asked for by the Path's SENDER_TSPEC.
    pub requested: Rate,
    /// Bandwidth reserved on the link to the next hop; zero without a reservation.
    pub reserved: Rate,
    /// Style of the reservation; nothing if there is none.
    pub style: Option<Style>,
    /// Label with which packets arrive; nothing at the ingress, and as long as none is allocated.
    pub in_label: Option<Label>,
    /// Label with which packets leave; nothing at the egress, and before a Resv has brought it.
    pub out_label: Option<Label>,
    /// True once the driver has acknowledged its table entries.
    pub installed: bool,
    /// Addresses recorded upstream, the latest first.
    pub recorded_upstream: Vec<Ipv4Addr>,
    /// Addresses recorded downstream, the next hop first.
    pub recorded_downstream: Vec<Ipv4Addr>,
    /// Labels recorded downstream, the next hop's first.
    pub recorded_labels: Vec<Label>,
    /// When the path state expires without a refresh.
    pub path_expires: Option<Time>,
    /// When the reservation expires without a refresh; nothing if there is none.
    pub resv_expires: Option<Time>,
}

/// One tunnel at its head end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunnelView {
    /// Identifies the tunnel at this head end.
    pub id: TunnelId,
    /// Name of the tunnel, as the user gave it.
    pub name: String,
    /// LSP id of the LSP that carries traffic.
    pub active: Option<u16>,
    /// Which of the explicit routes that LSP takes, 0 for the preferred one; nothing if there are none to choose from.
    pub route: Option<u32>,
    /// LSP id of the LSP that is being set up.
    pub candidate: Option<u16>,
    /// LSP ids of LSPs that carried traffic before.
    pub retiring: Vec<u16>,
    /// Rounds of attempts without success in a row.
    pub failures: u32,
    /// When it is tried again.
    pub retry_at: Option<Time>,
}

/// What the end of a tunnel whose LSPs carry the same packets (1+1) chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SelectorView {
    /// The session of the LSPs.
    pub session: SessionKey,
    /// LSP id of the LSP of which packets are taken.
    pub selected: Option<u16>,
    /// LSP id of the working LSP.
    pub working: Option<u16>,
    /// How often another LSP was selected than before.
    pub switches: u64,
}

/// An interface and the bandwidth reserved on it, in the direction out of this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkView {
    /// The router's port; one interface per port.
    pub port: PortId,
    /// This router's address on the link.
    pub address: Ipv4Addr,
    /// False while the port is down.
    pub up: bool,
    /// Bandwidth that may be reserved.
    pub reservable: Rate,
    /// Bandwidth that is, by holding priority.
    pub reserved: [Rate; 8],
}

fn time(at: Time) -> Option<Time> {
    (at < Time::MAX).then_some(at)
}

fn view(lsp: &Lsp) -> LspView {
    let rare = lsp.rare.as_deref();
    let up = rare.and_then(|rare| rare.path_rro.as_deref()).unwrap_or_default();
    let down = rare.and_then(|rare| rare.resv_rro.as_deref()).unwrap_or_default();
    let label = |entry: &RroSubobject| match *entry {
        RroSubobject::Label { label, .. } => Label::new(label),
        _ => None,
    };
    LspView {
        end_point: lsp.session.end_point,
        tunnel_id: lsp.session.tunnel_id,
        extended_tunnel_id: lsp.session.extended,
        sender: lsp.sender.address,
        lsp_id: lsp.sender.lsp_id,
        name: String::from_utf8_lossy(&lsp.name).into_owned(),
        role: lsp.role(),
        previous_hop: (lsp.role() != Role::Head).then_some(lsp.prev_hop),
        next_hop: lsp.next_hop,
        setup_priority: lsp.setup_priority,
        holding_priority: lsp.holding_priority,
        diffserv: lsp.diffserv().cloned(),
        requested: lsp.requested_rate(),
        reserved: lsp.reserved_rate(),
        style: lsp.style,
        in_label: lsp.in_label,
        out_label: (lsp.is_reserved() && lsp.role() != Role::Egress).then_some(lsp.out_label),
        installed: lsp.resv.is_installed(),
        recorded_upstream: record_route::addresses(up),
        recorded_downstream: record_route::addresses(down),
        recorded_labels: down.iter().filter_map(label).collect(),
        path_expires: time(lsp.path_expires),
        resv_expires: time(lsp.resv_expires),
    }
}

impl Rsvp {
    /// Every LSP that this router has path state for.
    pub fn lsps(&self) -> impl Iterator<Item = LspView> + '_ {
        self.store.iter().map(|(_, lsp)| view(lsp))
    }

    /// Is `label` one with which packets of a tunnel arrive here, whose head end has router id `from`?
    pub fn has_label(&self, from: Ipv4Addr, tunnel: TunnelId, label: Label) -> bool {
        let session = SessionKey { end_point: tunnel.to, tunnel_id: tunnel.id, extended: from };
        let mut lsps = self.store.session(&session).filter_map(|index| self.store.get(index));
        lsps.any(|lsp| lsp.entry_label() == Some(label))
    }

    /// The name of the LSP with whose label packets arrive here.
    pub fn named_by_label(&self, label: Label) -> Option<String> {
        let mut all = self.store.iter().map(|(_, lsp)| lsp);
        let lsp = all.find(|lsp| lsp.entry_label() == Some(label))?;
        Some(String::from_utf8_lossy(&lsp.name).into_owned())
    }

    /// The name of the tunnel that was declared as number `sequence`: the rank of its bindings.
    pub fn named_by_sequence(&self, sequence: u64) -> Option<String> {
        let mut all = self.tunnels.iter();
        all.find(|(_, tunnel)| tunnel.sequence == sequence).map(|(_, tunnel)| tunnel.spec.name.clone())
    }

    /// The name of the tunnel that a filter, or an entry of a prefix for some PHBs, leads into, by its order.
    pub fn named_by_order(&self, order: u64) -> Option<String> {
        self.named_by_sequence(order >> FILTER_BITS)
    }

    /// The name of the tunnel that routes lead through by a group of next hops.
    pub fn named_by_group(&self, of: GroupId) -> Option<String> {
        let mut all = self.tunnels.iter();
        all.find(|(_, tunnel)| group(tunnel.sequence) == of).map(|(_, tunnel)| tunnel.spec.name.clone())
    }

    /// How many LSPs this router has path state for.
    pub fn state_count(&self) -> usize {
        self.store.len()
    }

    /// Every tunnel that starts here, in the order of their ids.
    pub fn tunnels(&self) -> impl Iterator<Item = TunnelView> + '_ {
        let lsp_id = |index: u32| self.store.get(index).map(|lsp| lsp.sender.lsp_id);
        self.tunnels.iter().map(move |(_, tunnel)| TunnelView {
            id: tunnel.id(),
            name: tunnel.spec.name.clone(),
            active: tunnel.active.and_then(lsp_id),
            route: tunnel
                .active
                .filter(|_| !tunnel.spec.routes.is_empty())
                .map(|_| tunnel.active_route as u32),
            candidate: tunnel.candidate.and_then(lsp_id),
            retiring: tunnel.retiring.iter().filter_map(|entry| lsp_id(entry.1)).collect(),
            failures: tunnel.failures,
            retry_at: time(tunnel.retry_at),
        })
    }

    /// The selectors of tunnels that end here, in the order of their sessions.
    pub fn selectors(&self) -> impl Iterator<Item = SelectorView> + '_ {
        self.selectors.iter().map(|(session, selector)| {
            let lsp_id = |lsp| selector.member(lsp).map(|member| member.lsp_id);
            SelectorView {
                session: *session,
                selected: lsp_id(selector.selected),
                working: lsp_id(selector.working),
                switches: selector.switches,
            }
        })
    }

    /// Every interface, in the order of the ports.
    pub fn links(&self) -> impl Iterator<Item = LinkView> + '_ {
        self.links.iter().map(|link| LinkView {
            port: link.interface.port,
            address: link.interface.address,
            up: link.up,
            reservable: link.interface.reservable,
            reserved: link.reserved.map(Rate),
        })
    }
}
