//! The state block of one LSP at one router: its path state (PSB) and its reservation (RSB), side by side.
//!
//! For a point-to-point tunnel there is one of each per sender, so both live in one block of a slab: one look-up, one
//! timer, and 300 bytes or so. What few LSPs have (recorded routes, opaque objects) is boxed.

use super::advert::Advert;
use super::cells::ByCells;
use super::protection::{Merged, Protection};
use super::route::Ero;
use super::slab::NIL;
use super::states::{PathState, ResvState};
use super::transport::Neighbor;
use base::plane::ChannelRange;
use base::{Label, Rate, Time, TimerId};
use core::hash::{Hash, Hasher};
use core::net::Ipv4Addr;
use std::net::IpAddr;
use wire::rsvp::{
    Affinities, DiffServ, FilterSpec, Flowspec, RroSubobject, SenderTemplate, SenderTspec, Session, Style,
    Unknown,
};

/// A session: LSP_TUNNEL_IPv4 (RFC 3209, 4.6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionKey {
    /// Address of the egress.
    pub end_point: Ipv4Addr,
    /// Number of the tunnel at its ingress; the same as long as the tunnel lives.
    pub tunnel_id: u16,
    /// The extended tunnel id: mostly the address of the ingress, so that sessions of others are not shared.
    pub extended: Ipv4Addr,
}

/// A sender: LSP_TUNNEL_IPv4 (RFC 3209, 4.6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SenderKey {
    /// Address of the ingress.
    pub address: Ipv4Addr,
    /// Number of the LSP within its tunnel; each attempt and each new route gets another one.
    pub lsp_id: u16,
}

// Two words instead of three pieces: it is looked up with every message.
impl Hash for SessionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from(self.end_point.to_bits()) << 16 | u64::from(self.tunnel_id));
        state.write_u32(self.extended.to_bits());
    }
}

impl SessionKey {
    pub(super) fn of(session: &Session) -> Option<SessionKey> {
        match *session {
            Session::LspTunnelIpv4 { end_point, tunnel_id, extended_tunnel_id } => {
                Some(SessionKey { end_point, tunnel_id, extended: extended_tunnel_id })
            }
            _ => None,
        }
    }
    pub(super) const fn to_wire(self) -> Session {
        Session::LspTunnelIpv4 {
            end_point: self.end_point,
            tunnel_id: self.tunnel_id,
            extended_tunnel_id: self.extended,
        }
    }
}

impl SenderKey {
    pub(super) fn of(sender: &SenderTemplate) -> Option<SenderKey> {
        match *sender {
            SenderTemplate::LspTunnelIpv4 { sender, lsp_id } => Some(SenderKey { address: sender, lsp_id }),
            _ => None,
        }
    }
    pub(super) const fn to_wire(self) -> FilterSpec {
        SenderTemplate::LspTunnelIpv4 { sender: self.address, lsp_id: self.lsp_id }
    }
}

/// What this router is to an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The ingress: the head end of the tunnel.
    Head,
    /// Neither ingress nor egress: it swaps labels.
    Transit,
    /// The egress: the LSP ends here.
    Egress,
}

/// What most LSPs do not have.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    /// RECORD_ROUTE as the Path brought it (at the head: empty).
    pub path_rro: Option<Vec<RroSubobject>>,
    /// RECORD_ROUTE as the Resv brought it.
    pub resv_rro: Option<Vec<RroSubobject>>,
    pub affinities: Option<Affinities>,
    /// DIFFSERV as the Path brought it, or as the head end asks for (RFC 3270, 5.3).
    pub diffserv: Option<DiffServ>,
    /// Objects to be forwarded unexamined (RFC 2205, 3.10), and policy data.
    pub path_unknown: Vec<Unknown>,
    pub path_policy: Vec<Vec<u8>>,
    pub resv_unknown: Vec<Unknown>,
    pub resv_policy: Vec<Vec<u8>>,
    /// Channels that the Path asks for as labels, from a link of ATM.
    pub asked: Option<ChannelRange>,
    /// What it has if its packets come as cells.
    pub by_cells: Option<ByCells>,
    /// The receiver that waits for a ResvConf.
    pub confirm: Option<IpAddr>,
    /// Blockade state (RFC 2205, 3.5): until when, and which rate was refused.
    pub blockade: Option<(Time, Rate)>,
    /// A FLOWSPEC that is not simply controlled load for the sender's traffic.
    pub flowspec: Option<Flowspec>,
    /// How it is protected here, if it asks for that.
    pub protection: Option<Protection>,
    /// Backups that lead to this router and are merged into it (RFC 4090, 7).
    pub backups: Vec<Merged>,
    /// It is the detour of this LSP, and begins here (RFC 4090, 6.3).
    pub detour_of: Option<u32>,
    /// Its previous hop can't be reached or has torn it down: it lives on for the sake of its backups.
    pub is_cut_off: bool,
    /// The RRO was dropped because it no longer fits the MTU (RFC 3209, 4.4.3).
    pub rro_dropped: bool,
    /// The same of the RRO in a Resv.
    pub resv_rro_dropped: bool,
}

/// Path state and reservation of one LSP.
#[derive(Debug)]
pub(super) struct Lsp {
    pub session: SessionKey,
    pub sender: SenderKey,
    /// The next LSP of the session, or [`NIL`].
    pub next: u32,

    // Path state.
    pub path: PathState,
    /// Where the Path came from; at the head this router itself.
    pub prev_hop: Neighbor,
    /// The previous hop's logical interface handle.
    pub lih: u32,
    /// Where the Path goes; nothing at the egress, and while there is no way on.
    pub next_hop: Option<Neighbor>,
    /// Send_TTL of the Path that goes on.
    pub ttl: u8,
    pub setup_priority: u8,
    pub holding_priority: u8,
    pub attribute_flags: u8,
    /// A SESSION_ATTRIBUTE was there.
    pub has_attribute: bool,
    pub l3pid: u16,
    pub tspec: SenderTspec,
    pub ero: Ero,
    pub adspec: Advert,
    pub name: Box<[u8]>,
    /// Refresh period that the previous hop announced, milliseconds.
    pub path_period_ms: u32,
    pub path_expires: Time,
    pub path_refresh_at: Time,

    // Reservation.
    pub resv: ResvState,
    /// The style; nothing means no reservation.
    pub style: Option<Style>,
    /// Label that this router gave to the previous hop.
    pub in_label: Option<Label>,
    /// Label that the next hop gave.
    pub out_label: Label,
    /// Transaction of the latest table write.
    pub transaction: u64,
    /// Refresh period that the next hop announced, milliseconds.
    pub resv_period_ms: u32,
    pub resv_expires: Time,
    pub resv_refresh_at: Time,
    /// Neighbours in the list of those who hold bandwidth on the link, by holding priority.
    pub link_prev: u32,
    pub link_next: u32,

    pub timer: Option<TimerId>,
    pub timer_at: Time,
    pub rare: Option<Box<Rare>>,
}

impl Lsp {
    /// A block without a reservation.
    pub(super) fn new(session: SessionKey, sender: SenderKey, path: PathState, prev_hop: Neighbor) -> Lsp {
        Lsp {
            session,
            sender,
            next: NIL,
            path,
            prev_hop,
            lih: 0,
            next_hop: None,
            ttl: 0,
            setup_priority: 7,
            holding_priority: 7,
            attribute_flags: 0,
            has_attribute: false,
            l3pid: wire::rsvp::LabelRequest::IPV4,
            tspec: SenderTspec::default(),
            ero: Ero::default(),
            adspec: Advert::Absent,
            name: Box::default(),
            path_period_ms: 0,
            path_expires: Time::MAX,
            path_refresh_at: Time::MAX,
            resv: ResvState::Absent,
            style: None,
            in_label: None,
            out_label: Label::EXPLICIT_NULL,
            transaction: 0,
            resv_period_ms: 0,
            resv_expires: Time::MAX,
            resv_refresh_at: Time::MAX,
            link_prev: NIL,
            link_next: NIL,
            timer: None,
            timer_at: Time::MAX,
            rare: None,
        }
    }

    /// What this router is to the LSP.
    pub(super) const fn role(&self) -> Role {
        match self.path {
            PathState::Ingress => Role::Head,
            PathState::Egress => Role::Egress,
            PathState::New | PathState::Transit | PathState::Stranded | PathState::Gone => Role::Transit,
        }
    }

    /// Is there a reservation?
    pub(super) const fn is_reserved(&self) -> bool {
        self.style.is_some()
    }

    /// The FLOWSPEC of the reservation.
    pub(super) fn flowspec(&self) -> Flowspec {
        match self.rare.as_ref().and_then(|rare| rare.flowspec) {
            Some(flowspec) => flowspec,
            None => Flowspec::ControlledLoad(self.tspec.0),
        }
    }

    /// What an egress asks for: controlled load for the sender's traffic, in packets no longer than the way takes, if
    /// the Path says so (RFC 2210, 2.3.2).
    pub(super) fn flowspec_of_receiver(&self) -> Flowspec {
        let mut bucket = self.tspec.0;
        if let Some(mtu) = self.adspec.path_mtu() {
            bucket.max_packet = bucket.max_packet.min(mtu);
            bucket.min_unit = bucket.min_unit.min(bucket.max_packet);
        }
        Flowspec::ControlledLoad(bucket)
    }

    /// Keeps the FLOWSPEC; the usual one costs no memory.
    pub(super) fn set_flowspec(&mut self, flowspec: Flowspec) {
        if flowspec == Flowspec::ControlledLoad(self.tspec.0) {
            if let Some(rare) = &mut self.rare {
                rare.flowspec = None;
            }
        } else {
            self.rare_mut().flowspec = Some(flowspec);
        }
    }

    /// Changes the sender's traffic without changing what is reserved.
    pub(super) fn set_tspec(&mut self, tspec: SenderTspec) {
        let flowspec = self.flowspec();
        self.tspec = tspec;
        if self.is_reserved() {
            self.set_flowspec(flowspec);
        }
    }

    /// Bandwidth that the reservation takes.
    pub(super) fn reserved_rate(&self) -> Rate {
        if self.is_reserved() { Rate::from_bytes_per_s(self.flowspec().rate()) } else { Rate(0) }
    }

    /// Bandwidth that the sender asks for.
    pub(super) fn requested_rate(&self) -> Rate {
        Rate::from_bytes_per_s(self.tspec.0.rate)
    }

    /// Priority at which the bandwidth is held: never better than that at which it was asked for (RFC 3209, 4.7.3).
    pub(super) fn holding(&self) -> usize {
        usize::from(self.holding_priority.min(7))
    }

    pub(super) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// When the block's timer is to go off.
    pub(super) fn deadline(&self) -> Time {
        self.path_expires.min(self.path_refresh_at).min(self.resv_expires).min(self.resv_refresh_at)
    }
}
