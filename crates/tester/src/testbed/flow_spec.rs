//! Flows of test packets as the user describes them: how fast, how long the packets are, and when they are due.

use base::{Rate, Span, Time};
use core::net::IpAddr;
use std::sync::Arc;

/// A flow of test packets; over a group of LSPs, one stream for each, which share the rate evenly.
///
/// What is random in it is drawn from streams that have the flow's name: the same seed gives the same packets at the
/// same times, whatever else is in the network.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Name, unique within the network.
    pub name: String,
    /// Node at which it begins.
    pub from: usize,
    /// Node at which it ends; the one at which it begins if that is a host with several links.
    pub to: usize,
    /// Link by which it leaves a host; the first on the shortest path if absent.
    pub from_link: Option<usize>,
    /// Link of a host whose address it goes to; the last on the shortest path if absent.
    pub to_link: Option<usize>,
    /// The group that its packets go to, instead of the address of a node.
    pub group: Option<IpAddr>,
    /// Nodes that receive it beside `to`, if it goes to a group.
    pub also_to: Vec<usize>,
    /// Which IP its packets are of.
    pub family: Family,
    /// Group of LSPs that it takes; the routing table decides if absent.
    pub over: Option<usize>,
    /// Mean rate of all its streams together (of an on-off source the rate while it is on, unless it says otherwise). A
    /// trace needs none.
    pub rate: Rate,
    /// Which bytes the rate counts.
    pub rate_counts: RateCounts,
    /// Bytes of a frame, with frame check sequence, as the source sends it. A trace with sizes needs none.
    pub size: Option<SizeSpec>,
    /// When packets are due.
    pub arrivals: ArrivalSpec,
    /// Code point of the IP header, 0 to 63.
    pub dscp: u8,
    /// UDP source port; one that no flow from the same node has so far, if absent.
    pub src_port: Option<u32>,
    /// UDP destination port; that of test packets if absent.
    pub dst_port: Option<u32>,
    /// When the first packet may leave.
    pub start: Time,
    /// When it stops; never if absent.
    pub stop: Option<Time>,
    /// Do packets write down the links that they cross?
    pub trace: bool,
    /// Keep every packet, for table `packets`.
    pub log: bool,
    /// Routers on the way that count TTL, if that is known.
    pub hops: Option<u8>,
}

impl FlowSpec {
    /// All nodes that receive it.
    pub fn receivers(&self) -> impl Iterator<Item = usize> + '_ {
        core::iter::once(self.to).chain(self.also_to.iter().copied())
    }
}

base::words! {
    /// Which IP packets are of.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Family {
        /// IPv4.
        Ipv4 = "ipv4",
        /// IPv6, where both ends have IPv6 addresses.
        Ipv6 = "ipv6",
    }
    default Ipv4;
}

/// Which bytes of a packet a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateCounts {
    /// Those of the Ethernet frame with its frame check sequence.
    #[default]
    Frame,
    /// Those of the IP packet.
    Ip,
}

/// When packets are due.
///
/// Gaps do not depend on sizes: at a constant rate packets of different sizes are evenly spaced, by the time that the
/// mean size takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ArrivalSpec {
    /// Evenly spaced.
    #[default]
    Constant,
    /// A Poisson process.
    Poisson,
    /// Constant while on, nothing while off.
    OnOff(OnOffSpec),
    /// As listed.
    Trace(TraceSpec),
}

/// A source that is on and off in turn, on at first.
///
/// Its clock runs while it is on: packets are evenly spaced by that clock, so that periods of any length give the same
/// mean rate.
#[derive(Clone, Debug, PartialEq)]
pub struct OnOffSpec {
    /// For how long it is on.
    pub on: PeriodSpec,
    /// For how long it is off.
    pub off: PeriodSpec,
    /// The flow's rate is the mean over both, not that while it is on.
    pub rate_is_mean: bool,
}

/// How long a period lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PeriodSpec {
    /// Distribution that the lengths of the periods have.
    pub kind: PeriodKind,
    /// Mean length of a period.
    pub mean: Span,
    /// Shape of a Pareto distribution, more than 1: the tail falls as the length to minus this power.
    pub shape: f64,
}

/// Distribution of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodKind {
    /// Always the mean.
    Constant,
    /// Exponential.
    Exponential,
    /// Pareto.
    Pareto,
}

/// Packets one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpec {
    /// Time from the packet before (of the first: from the start of the flow) to each, in picoseconds.
    pub gaps: Arc<[u64]>,
    /// Size of each; that of the flow if empty.
    pub sizes: Arc<[u32]>,
    /// Begin again after the last.
    pub repeat: bool,
}

/// How long frames are, in bytes with frame check sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeSpec {
    /// Every frame has this many bytes.
    Fixed(u32),
    /// Each size in a range equally often.
    Uniform(UniformSpec),
    /// Some sizes, each as often as its weight says.
    Empirical(EmpiricalSpec),
    /// Exponential; what is shorter or longer than the bounds is as long as they are.
    Exponential(ExponentialSpec),
}

/// Sizes in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformSpec {
    /// The shortest frame, in bytes.
    pub min: u32,
    /// The longest frame, in bytes.
    pub max: u32,
}

/// Sizes by weight.
#[derive(Clone, Debug, PartialEq)]
pub struct EmpiricalSpec {
    /// The sizes.
    pub sizes: Vec<u32>,
    /// How often each occurs, in any unit; all alike if empty.
    pub weights: Vec<f64>,
}

/// Exponential sizes between bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExponentialSpec {
    /// Mean of the distribution without the bounds.
    pub mean: f64,
    /// The shortest.
    pub min: u32,
    /// The longest.
    pub max: u32,
}
