//! What a user tells RSVP-TE: tunnels to be set up, changed and torn down.

use super::{Bypass, P2mpId, P2mpSpec, ProtectionRequest, Rsvp};
use crate::services::Pace;
use crate::services::te::{Affinities, Disjoint, Metric};
use base::diffserv::LspDiffServ;
use base::flow::FlowFilter;
use base::plane::{Prefix, Prefix6, TunnelModel};
use base::protocol_value::{ProtocolType, ProtocolValue};
use base::{PhbSet, ProtocolId, Rate, Span};
use core::net::Ipv4Addr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A hop of an explicit route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RouteHop {
    /// An address of the next node, or a prefix that it lies in.
    pub prefix: Prefix,
    /// May there be other nodes in between (RFC 3209, 4.3.3.1)?
    pub loose: bool,
}

base::words! {
    /// Which reservation style the egress is asked for (RFC 2205, 1.3; RFC 3209, 2.4).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ReservationStyle {
        /// One reservation per sender.
        FixedFilter = "fixed-filter",
        /// One reservation shared by the LSPs of a tunnel: what make before break needs.
        SharedExplicit = "shared-explicit",
    }
    default SharedExplicit;
}

base::words! {
    /// What becomes of the packets that the filters of a tunnel take while it has no LSP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum WhenDown {
        /// They go as they would without the filters.
        Route = "route",
        /// They are dropped, so that they take no other way.
        Drop = "drop",
    }
    default Route;
}

/// What the head end of a tunnel asks of the path that it computes, beside bandwidth and priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRequest {
    /// By which costs paths are compared.
    pub metric: Metric,
    /// Which administrative groups links must have; they are signalled (RFC 3209, 4.7.4).
    pub affinities: Affinities,
    /// No more links than this.
    pub hop_limit: Option<u32>,
    /// Links of these shared risk link groups are not used.
    pub exclude_srlgs: Vec<u32>,
    /// Addresses of routers that the path does not touch, and of links, at either end, that it does not take.
    pub exclude: Vec<Ipv4Addr>,
    /// A better path is looked for so often; only by command and after failures if absent.
    pub reoptimise: Option<Span>,
    /// A better path is looked for whenever something else is known of links.
    pub follow: bool,
    /// How many paths are looked for at once, to be tried one after the other; up to 1, the best path is looked for
    /// again after each failure.
    #[serde(default, skip_serializing_if = "is_one_path")]
    pub k: u32,
    /// An LSP stands by along another path, and what the two paths have not in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standby: Option<Disjoint>,
    /// The LSP that stands by carries each packet, too, and the end of the tunnel takes those of one (1+1).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub one_plus_one: bool,
    /// The traffic, or with 1+1 the working LSP, goes back to the best path when nothing has changed of links for so
    /// long (wait to restore); it stays where it is if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revert_after: Option<Span>,
}

/// Recordings say only what is not as it is without saying.
const fn is_one_path(k: &u32) -> bool {
    *k <= 1
}

/// A point-to-point tunnel as its head end is asked for it. A tunnel is named by its id and its egress (RFC 3209, 2.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelSpec {
    /// What people call it: in tables, events and messages. Nothing is looked up by it.
    pub name: String,
    /// Tunnel id, unique at the head end towards this egress.
    pub tunnel_id: u16,
    /// The egress's address (its router id).
    pub to: Ipv4Addr,
    /// Explicit routes in order of preference, each without this node itself; without one the head end
    /// computes a path, or the routing tables decide hop by hop.
    pub routes: Vec<Vec<RouteHop>>,
    /// What is asked of a computed path. If absent, a path is computed all the same where there is no route and the
    /// head end knows its end from traffic engineering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Box<PathRequest>>,
    /// Its LSP is watched, by BFD (RFC 5884) or by LSP ping (RFC 8029), and how closely.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch: Option<Pace>,
    /// What every hop is asked to reserve: the rate in the SENDER_TSPEC (RFC 2210, 3.1); 0 reserves nothing.
    pub bandwidth: Rate,
    /// Setup priority, 0 the most urgent (RFC 3209, 4.7).
    pub setup_priority: u8,
    /// Holding priority, 0 the most tenacious; not greater than the setup priority.
    pub holding_priority: u8,
    /// Asked for by a flag of the SESSION_ATTRIBUTE (RFC 3209, 4.7.1).
    pub style: ReservationStyle,
    /// Record the route (RFC 3209, 4.4).
    pub record_route: bool,
    /// Record the label of each hop as well (RFC 3209, 4.4.1.3).
    pub record_labels: bool,
    /// What its LSPs ask of the routers on their way, if one after them fails (RFC 4090); nothing if absent. Labels are
    /// recorded then, whatever `record_labels` says (RFC 4090, 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protection: Option<ProtectionRequest>,
    /// It is a bypass tunnel: what it protects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<Box<Bypass>>,
    /// Destinations whose packets take the tunnel.
    pub carries: Vec<Prefix>,
    /// Routes to what lies behind the end of the tunnel lead through it, as far as a routing protocol knows (RFC 3906).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub autoroute: bool,
    /// IPv6 destinations whose packets take the tunnel, below the label IPv6 explicit null (RFC 4798, 3).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub carries6: Vec<Prefix6>,
    /// Destinations of whose packets those of these PHBs take the tunnel (RFC 3270, 2.4). Entries of a tunnel that
    /// was declared earlier are looked at first.
    #[serde(default)]
    pub classed: Vec<(Prefix, PhbSet)>,
    /// What its LSPs are asked to know of PHBs (RFC 3270, 5.3); if absent, nothing is signalled, and every node that
    /// supports DiffServ takes them for E-LSPs with its preconfigured mapping.
    #[serde(default)]
    pub diffserv: Option<LspDiffServ>,
    /// Packets that take the tunnel whatever their destination's route or prefix, while the tunnel has an LSP.
    /// Filters of a tunnel that was declared earlier are looked at first, and those of one tunnel in this order.
    #[serde(default)]
    pub filters: Vec<FlowFilter>,
    /// What becomes of those packets while the tunnel has no LSP.
    #[serde(default)]
    pub when_down: WhenDown,
    /// How many times to try again after a failure; without limit if absent.
    pub retry_limit: Option<u32>,
    /// Time before the first retry; it doubles up to `retry_max`.
    pub retry_first: Span,
    /// Bound of the time between retries, at which doubling ends.
    pub retry_max: Span,
}

/// Identifies a tunnel at its head end (RFC 3209, 4.6.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TunnelId {
    /// Router id of the egress, as in [`TunnelSpec::to`].
    pub to: Ipv4Addr,
    /// As in [`TunnelSpec::tunnel_id`]: two tunnels to different egresses may share it.
    pub id: u16,
}

/// How the end of a tunnel chooses between LSPs that carry the same packets (1+1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectorSpec {
    /// The working LSP is taken again when it has been there for so long (wait to restore); another LSP is taken until
    /// it fails if absent.
    pub revert_after: Option<Span>,
}

/// A command to RSVP-TE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Sets a tunnel up, or changes it: make before break (RFC 3209, 2.5).
    TunnelSet(Arc<TunnelSpec>),
    /// Tears a tunnel down and forgets it.
    TunnelRemove(TunnelId),
    /// Signals a new LSP of the tunnel along its preferred route and moves the traffic over when it is up.
    TunnelReoptimise(TunnelId),
    /// Sets a point-to-multipoint tunnel up, or changes it: leaves are grafted and pruned (RFC 4875, 5.3 and 7.2).
    P2mpSet(Arc<P2mpSpec>),
    /// Tears a point-to-multipoint tunnel down and forgets it.
    P2mpRemove(P2mpId),
    /// Says which tunnelling model the LSPs of somebody's tunnel have that pass or end here (RFC 3270, 2.6).
    TunnelModel {
        /// The head end's address (its router id).
        from: Ipv4Addr,
        /// Identifies the tunnel together with `from`.
        tunnel: TunnelId,
        /// The model; the node's own if absent.
        model: Option<TunnelModel>,
    },
    /// Says that the LSPs of somebody's tunnel that end here carry the same packets, of which those of one are taken.
    Selector {
        /// The head end's address (its router id).
        from: Ipv4Addr,
        /// Identifies the tunnel together with `from`.
        tunnel: TunnelId,
        /// How to choose; LSPs that come from now on are taken each for itself if absent.
        selector: Option<SelectorSpec>,
    },
}

impl ProtocolType for Command {
    const PROTOCOL: ProtocolId = Rsvp::ID;
}

impl From<Command> for base::Command {
    fn from(command: Command) -> base::Command {
        base::Command::Protocol(ProtocolValue::new(command))
    }
}
