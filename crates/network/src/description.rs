//! One description of a network: what every front lowers its topology to, and every runner takes.

use crate::kind::{Facts, OwnPart};
use base::command::{FlowFilter, ReservationStyle};
use base::plane::{Prefix, TtlModel};
use base::{DiffServConfig, LspDiffServ, PhbSet, Rate, Span};
use core::net::Ipv4Addr;
use engine::discipline::TreeSpec;
use node::DeviceProfile;
use node::conditioner::ConditionerSpec;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

/// A network.
#[derive(Clone, Debug, Deserialize)]
pub struct Description {
    /// Seed of all random streams.
    #[serde(default)]
    pub seed: u64,
    /// Nodes; others refer to them by place.
    pub nodes: Vec<NodeSpec>,
    /// Links.
    #[serde(default)]
    pub links: Vec<LinkSpec>,
    /// Groups of LSPs.
    #[serde(default)]
    pub lsps: Vec<LspSpec>,
    /// Width of the bins of the series that queues keep of their backlogs, of the first 4,194,304 bins; none are kept if absent.
    #[serde(default, rename = "queue_bin_ps")]
    pub queue_bin: Option<Span>,
    /// What the description says beside, for whoever measures in the network: it is taken out before the network is built.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// An address with the length of the prefix that it lies in, such as `10.1.0.2/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct InterfaceAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Bits of the prefix.
    pub len: u8,
}

impl InterfaceAddress {
    /// The prefix that the address lies in.
    pub fn prefix(self) -> Prefix {
        Prefix::new(self.address, self.len)
    }

    /// May an interface on its network have `address`? It lies in the prefix, and is neither its first nor its last address, unless
    /// the prefix has only two (RFC 3021).
    pub fn is_usable(self, address: Ipv4Addr) -> bool {
        let prefix = self.prefix();
        let last = prefix.address().to_bits() | u32::MAX.checked_shr(u32::from(self.len)).unwrap_or(0);
        let ends = [prefix.address().to_bits(), last];
        prefix.contains(address) && (self.len >= 31 || !ends.contains(&address.to_bits()))
    }
}

impl core::fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}/{}", self.address, self.len)
    }
}

impl Serialize for InterfaceAddress {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl TryFrom<String> for InterfaceAddress {
    type Error = String;
    fn try_from(text: String) -> Result<InterfaceAddress, String> {
        let parts = text.split_once('/').and_then(|(a, len)| Some((a.parse().ok()?, len.parse().ok()?)));
        match parts {
            Some((address, len)) if len <= 32 => Ok(InterfaceAddress { address, len }),
            _ => Err(format!("'{text}' is not an IPv4 address with a prefix length such as 10.1.0.2/24")),
        }
    }
}

/// A node.
#[derive(Clone, Debug, Deserialize)]
pub struct NodeSpec {
    /// Name, unique.
    pub name: String,
    /// The name of its kind.
    pub kind: String,
    /// What others have to know of it. A description need not say it where the kind is known: then it is the kind's to say.
    #[serde(default)]
    pub facts: Option<Facts>,
    /// How long it takes for what it does.
    #[serde(default)]
    pub profile: DeviceProfile,
    /// Its RSVP-TE.
    #[serde(default)]
    pub rsvp: RsvpSpec,
    /// Its DiffServ over MPLS (RFC 3270); a router without copies traffic classes, and refuses LSPs that signal some.
    #[serde(default)]
    pub diffserv: Option<DiffServConfig>,
    /// Router id, instead of the one that the builder gives.
    #[serde(default)]
    pub router_id: Option<Ipv4Addr>,
    /// How many signalling messages are kept for table `signals`; none unless asked for.
    #[serde(default)]
    pub log_signals: u32,
    /// What the description says for its kind alone.
    #[serde(flatten)]
    pub own: OwnPart,
}

impl NodeSpec {
    /// What others have to know of it; they are all there as soon as a network is built.
    pub fn facts(&self) -> &Facts {
        self.facts.as_ref().unwrap_or(&Facts::UNKNOWN)
    }
}

/// Which label an egress asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EgressLabel {
    /// One of its own.
    #[default]
    Real,
    /// Implicit null: penultimate-hop popping.
    ImplicitNull,
    /// Explicit null.
    ExplicitNull,
}

/// RSVP-TE of a node. What is absent is as the RFCs recommend.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RsvpSpec {
    /// Refresh period R.
    #[serde(rename = "refresh_ps")]
    pub refresh: Option<Span>,
    /// Refresh reduction (RFC 2961).
    pub refresh_reduction: bool,
    /// Interval of Hellos (RFC 3209, 5); none are sent without.
    #[serde(rename = "hello_ps")]
    pub hello: Option<Span>,
    /// Label asked for as an egress.
    pub egress_label: EgressLabel,
    /// TTL model.
    pub ttl: TtlModel,
    /// How long a head end waits for the first Resv.
    #[serde(rename = "setup_timeout_ps")]
    pub setup_timeout: Option<Span>,
    /// Secret of INTEGRITY objects (RFC 2747) on all interfaces, as text; none without.
    pub integrity_key: Option<String>,
    /// Number of that key, 48 bits.
    pub integrity_key_id: u64,
    /// Ask senders for their sequence number before believing one (RFC 2747, 4.3).
    pub integrity_handshake: bool,
}

/// A link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Node at one end.
    pub a: usize,
    /// Node at the other.
    pub b: usize,
    /// Rate of both ports; zero sends in no time.
    #[serde(rename = "rate_bps")]
    pub rate: Rate,
    /// Propagation delay.
    #[serde(default, rename = "delay_ps")]
    pub delay: Span,
    /// Bandwidth that LSPs may reserve, each way; the rate if absent.
    #[serde(default, rename = "reservable_bps")]
    pub reservable: Option<Rate>,
    /// Buffer of both ports; that of the devices' profiles if absent.
    #[serde(default)]
    pub buffer_bytes: Option<u64>,
    /// Longest packet in bytes.
    #[serde(default = "default_mtu")]
    pub mtu: u32,
    /// Has the user said how long packets may be? Otherwise hardly any is so long, and nobody is warned of what only those would meet.
    #[serde(default)]
    pub mtu_said: bool,
    /// Time until the devices notice that the link went down or came up.
    #[serde(default, rename = "detection_ps")]
    pub detection: Span,
    /// How much faster than nominal the clock of the port at `a` runs, in parts per 10^9, beside the device's own offset.
    #[serde(default)]
    pub a_clock_ppb: i64,
    /// The same at `b`.
    #[serde(default)]
    pub b_clock_ppb: i64,
    /// Cost of the link for shortest paths.
    #[serde(default = "default_metric")]
    pub metric: u64,
    /// Addresses at `a` and at `b`, instead of those that the builder gives. A host with several links has its addresses here.
    #[serde(default)]
    pub addresses: Option<[InterfaceAddress; 2]>,
    /// Queue disciplines of the port at `a`: what waits there to be sent over the link; one queue of the port's buffer if absent.
    #[serde(default)]
    pub a_queue: Option<TreeSpec>,
    /// The same at `b`.
    #[serde(default)]
    pub b_queue: Option<TreeSpec>,
    /// What packets go through that arrive at the port at `a`, which is a router's.
    #[serde(default)]
    pub a_ingress: Option<ConditionerSpec>,
    /// The same at `b`.
    #[serde(default)]
    pub b_ingress: Option<ConditionerSpec>,
}

fn default_mtu() -> u32 {
    9_216
}
fn default_metric() -> u64 {
    1
}

/// A hop of an explicit route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum HopSpec {
    /// The next node; the best of the links to it.
    Node(usize),
    /// The next link.
    Link {
        /// Place of the link.
        link: usize,
    },
}

/// A group of LSPs that differ only by number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LspSpec {
    /// Name; in a group of several each gets its number behind.
    pub name: String,
    /// Head end.
    pub from: usize,
    /// Tail end.
    pub to: usize,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// Explicit routes in order of preference, without the head.
    #[serde(default)]
    pub routes: Vec<Vec<HopSpec>>,
    /// Are the hops of the routes loose?
    #[serde(default)]
    pub loose: bool,
    /// Use the shortest path as explicit route.
    #[serde(default)]
    pub shortest: bool,
    /// Bandwidth to reserve for each.
    #[serde(default, rename = "bandwidth_bps")]
    pub bandwidth: Rate,
    /// Setup priority.
    #[serde(default = "lowest_priority")]
    pub setup_priority: u8,
    /// Holding priority.
    #[serde(default = "lowest_priority")]
    pub holding_priority: u8,
    /// Reservation style.
    #[serde(default)]
    pub style: ReservationStyle,
    /// Record the route.
    #[serde(default)]
    pub record_route: bool,
    /// Record labels.
    #[serde(default)]
    pub record_labels: bool,
    /// Time before the first retry.
    #[serde(default = "retry_first", rename = "retry_first_ps")]
    pub retry_first: Span,
    /// Longest time between retries.
    #[serde(default = "retry_max", rename = "retry_max_ps")]
    pub retry_max: Span,
    /// How many retries; without limit if absent.
    #[serde(default)]
    pub retry_limit: Option<u32>,
    /// Signal at once; an edge leaves it to its programme.
    #[serde(default = "yes")]
    pub auto: bool,
    /// Destinations whose packets take the LSP at its head end, beside its test packets. For one LSP, not for a group of several.
    #[serde(default)]
    pub carries: Vec<Prefix>,
    /// Of the packets to the destinations in `carries` only those of these behaviours take the LSP; all if absent.
    #[serde(default)]
    pub classes: Option<PhbSet>,
    /// What is signalled of behaviours (RFC 3270).
    #[serde(default)]
    pub diffserv: Option<LspDiffServ>,
    /// Packets that take the LSP wherever they go. For one LSP, not for a group of several.
    #[serde(default)]
    pub filters: Vec<FlowFilter>,
}

fn one() -> u32 {
    1
}
fn lowest_priority() -> u8 {
    7
}
fn retry_first() -> Span {
    Span::from_secs(1)
}
fn retry_max() -> Span {
    Span::from_secs(60)
}
fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_prefix_are_not_for_interfaces() {
        let of = |text: &str| InterfaceAddress::try_from(text.to_string()).expect("an address");
        let at = |last| Ipv4Addr::new(10, 1, 0, last);
        let usable = |text, last| of(text).is_usable(at(last));
        assert!(usable("10.1.0.2/24", 1) && usable("10.1.0.2/24", 254));
        assert!(!usable("10.1.0.2/24", 0) && !usable("10.1.0.2/24", 255));
        assert!(usable("10.1.0.2/31", 2) && usable("10.1.0.2/31", 3) && !usable("10.1.0.2/31", 4));
        assert!(usable("10.1.0.2/0", 0) && usable("10.1.0.2/32", 2));
        for bad in ["10.1.0.2", "10.1.0.2/33", "10.1.0/24", "x/8", ""] {
            assert!(InterfaceAddress::try_from(bad.to_string()).is_err(), "{bad}");
        }
    }
}
