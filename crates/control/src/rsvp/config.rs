//! How one RSVP speaker is set up.

use super::transport::{HelloConfig, PortKeys, RefreshReduction};
use super::{ProtectionConfig, Remerge};
use crate::services::Pace;
use base::plane::{TcSource, TtlModel};
use base::{DiffServConfig, PortId, Rate, Span, Streams};
use core::net::Ipv4Addr;

/// An interface that speaks RSVP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The router's port; one interface per port.
    pub port: PortId,
    /// The router's own address on it.
    pub address: Ipv4Addr,
    /// Length of the prefix of the link.
    pub prefix_len: u8,
    /// The neighbour's address, if there is just one.
    pub neighbor: Option<Ipv4Addr>,
    /// The neighbour's router id, if it is known: an explicit route may name it instead of an interface.
    pub neighbor_id: Option<Ipv4Addr>,
    /// Bandwidth that LSPs may reserve in the direction out of this router.
    pub reservable: Rate,
    /// Longest IP packet that the link takes, in bytes.
    pub mtu: u32,
}

impl Default for Interface {
    fn default() -> Interface {
        Interface {
            port: PortId(0),
            address: Ipv4Addr::UNSPECIFIED,
            prefix_len: 30,
            neighbor: None,
            neighbor_id: None,
            reservable: Rate::from_gbps(1),
            mtu: 1500,
        }
    }
}

/// Which label the egress of an LSP asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EgressLabel {
    /// A label of its own: the egress looks it up in the ILM and pops it.
    #[default]
    Real,
    /// Implicit null: the router before pops (penultimate-hop popping).
    ImplicitNull,
    /// IPv4 explicit null: the label arrives, with its traffic class, and is popped without a look-up.
    ExplicitNull,
}

/// Bounds on what neighbours can make this router store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// LSPs that begin here, pass, or end here.
    pub lsps: usize,
    /// Neighbours with which the extensions of RFC 2961 and Hello are used.
    pub neighbors: usize,
    /// LSPs of one session; two are what make-before-break needs.
    pub lsps_per_session: usize,
    /// Subobjects of an explicit or a recorded route.
    pub route_hops: usize,
    /// Bytes of unknown objects, policy data and unknown services of an ADSPEC kept for one LSP.
    pub opaque_bytes: usize,
    /// The longest refresh period of a neighbour that is believed.
    pub refresh_period_max: Span,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            lsps: 4_000_000,
            neighbors: 4096,
            lsps_per_session: 64,
            route_hops: 128,
            opaque_bytes: 1024,
            refresh_period_max: Span::from_secs(3600),
        }
    }
}

/// Everything that one speaker needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Name of the node: names its random stream.
    pub name: String,
    /// Router id; an address that LSPs may end at.
    pub router_id: Ipv4Addr,
    /// The interfaces that speak RSVP; messages on other ports are not for this speaker.
    pub interfaces: Vec<Interface>,
    /// Label that this router asks for as an egress.
    pub egress_label: EgressLabel,
    /// Time-to-live model of the entries that are written.
    pub ttl: TtlModel,
    /// Where the traffic class of pushed labels comes from.
    pub tc: TcSource,
    /// What the node knows of RFC 3270; if absent, it doesn't support it, and refuses LSPs that signal PHBs.
    pub diffserv: Option<DiffServConfig>,
    /// Refresh period R (RFC 2205, 3.7).
    pub refresh_period: Span,
    /// K: so many refreshes may be lost before state is (RFC 2205, 3.7).
    pub lifetime_multiplier: u32,
    /// Refresh times are drawn from 0.5 R to 1.5 R (RFC 2205, 3.7); exactly R without it.
    pub jitter: bool,
    /// Kb: blockade state lasts for Kb R (RFC 2205, 3.5).
    pub blockade_multiplier: u32,
    /// IP TTL of the messages that this router originates.
    pub message_ttl: u8,
    /// How long a head end waits for the first Resv before it gives an attempt up.
    pub setup_timeout: Span,
    /// How long the old LSP stays after traffic has moved off it, so that what is on its way arrives.
    pub linger: Span,
    /// As an egress, ask for a ResvConf.
    pub confirm: bool,
    /// Put an ADSPEC in the Paths that this router originates: a sender may leave it out (RFC 2205, 3.1.3), but there
    /// are routers that refuse a Path without it.
    pub adspec: bool,
    /// Give LSPs of different tunnels different LSP ids, too, as long as there are any. A session makes them different
    /// without that (RFC 3209, 4.6.2.1), but there are routers that look at the sender and the LSP id alone.
    pub distinct_lsp_ids: bool,
    /// Refresh reduction (RFC 2961), or plain RFC 2205.
    pub refresh_reduction: Option<RefreshReduction>,
    /// Hello (RFC 3209, 5), or none.
    pub hello: Option<HelloConfig>,
    /// Have neighbours watched (RFC 5882), and how closely.
    pub bfd: Option<Pace>,
    /// How LSPs that ask for protection are protected here.
    pub protection: ProtectionConfig,
    /// What is done where branches of a point-to-multipoint LSP meet again (RFC 4875, 18.1.1).
    pub p2mp_remerge: Remerge,
    /// Keys of the ports whose messages are signed (RFC 2747).
    pub integrity: Vec<PortKeys>,
    /// Calendar time at time zero, in nanoseconds since 1970: sequence numbers of signed messages follow it. Absent in
    /// virtual time, which nobody remembers.
    pub calendar_ns: Option<u64>,
    /// Bounds on stored state, so that no neighbour can exhaust this router's memory.
    pub limits: Limits,
    /// Random streams of the run.
    pub streams: Streams,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            name: String::new(),
            router_id: Ipv4Addr::UNSPECIFIED,
            interfaces: Vec::new(),
            egress_label: EgressLabel::Real,
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
            diffserv: None,
            refresh_period: Span::from_secs(30),
            lifetime_multiplier: 3,
            jitter: true,
            blockade_multiplier: 3,
            message_ttl: 255,
            setup_timeout: Span::from_secs(90),
            linger: Span::from_secs(1),
            confirm: false,
            adspec: true,
            distinct_lsp_ids: false,
            refresh_reduction: None,
            hello: None,
            bfd: None,
            protection: ProtectionConfig::DECLARED,
            p2mp_remerge: Remerge::default(),
            integrity: Vec::new(),
            calendar_ns: None,
            limits: Limits::default(),
            streams: Streams::new(1),
        }
    }
}
