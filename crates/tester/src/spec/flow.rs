//! Flows of test packets as users write them.

use super::arrivals::ArrivalsSpec;
use super::ends::place_of;
use super::problem::FlowProblem;
use super::sizes::{FrameSize, SizesSpec};
use crate::testbed::{self, Family};
use base::describe::{Describe, Name};
use base::diagnostic::{At, Diagnostic};
use base::{Dscp, Rate, Time};
use core::net::IpAddr;
use network::spec::reference::{Endpoint, NodeRef};

base::words! {
    /// Which bytes of a packet a rate counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RateCounted {
        /// Those of the Ethernet frame with its frame check sequence.
        Frame = "frame",
        /// Those of the IP packet.
        Ip = "ip",
    }
    default Frame;
}

base::record! {
    /// A flow of test packets.
    #[derive(Clone, Debug, PartialEq)]
    pub struct FlowSpec {
        /// Its name, of which there is one only.
        pub name: Option<Name>, absent "FROM-TO";
        /// Where it begins: a host, a station, an edge, a router.
        pub from: NodeRef;
        /// Where it ends.
        pub to: NodeRef;
        /// The group that its packets go to, instead of the address of a node. Hosts that receive it have joined it.
        pub group: Option<IpAddr>, absent "it goes to a node";
        /// Hosts that receive it beside `to`, if it goes to a group.
        pub receivers: Vec<NodeRef> = Vec::new();
        /// Which IP its packets are of: ipv6 takes that both ends have IPv6 addresses, of hosts the link that it goes
        /// by. A flow to a group is of the group's.
        pub family: Option<Family>, absent "that of the group, else ipv4";
        /// LSP that it takes from where it begins.
        pub over: Option<Name>, absent "routers decide";
        /// Rate of all its packets; of arrivals on-off while it is on.
        pub rate: Rate = Rate(1_000_000), in 1..=9_223_372_036_854_775_807;
        /// Bytes that the rate counts: of Ethernet frames, or of the IP packets in them.
        pub rate_counts: RateCounted = RateCounted::Frame;
        /// Frame with header and frame check sequence, in bytes: bytes, imix, or a mapping of kind uniform, empirical
        /// or exponential.
        pub size: SizesSpec = SizesSpec::Fixed(FrameSize(512));
        /// When packets are due: constant, poisson, or a mapping of kind on-off or trace.
        pub arrivals: ArrivalsSpec = ArrivalsSpec::Constant;
        /// Code point, by name or number.
        pub dscp: Dscp = Dscp::DEFAULT;
        /// UDP port that its packets come from.
        pub src_port: Option<u16>, in 1..=65_535, absent "one from 49152 on, its own";
        /// UDP port that they go to.
        pub dst_port: Option<u16>, in 1..=65_535, absent "61614";
        /// When it starts.
        pub start: Time = Time::ZERO;
        /// When it stops.
        pub stop: Option<Time>, in 1..=9_223_372_036_854_775_807, absent "with the run";
        /// Packets write down the links that they cross.
        pub trace: bool = false;
        /// Keep every packet: table `packets`.
        pub log: bool = false;
        /// Routers between its ends that lower the TTL of its packets, by which their TTL is checked at the end of an
        /// LSP.
        pub hops: Option<u8>, in 0..=254, absent "checked is only that it became lower";
        /// Link by which it leaves a node with several: the neighbour, or NODE:INTERFACE of either end.
        pub from_link: Option<Endpoint>, absent "on the shortest path";
        /// Link at whose address it ends, in the same way.
        pub to_link: Option<Endpoint>, absent "on the shortest path";
    }
    check FlowSpec::check;
}

impl FlowSpec {
    /// Its name, said or not.
    pub fn name(&self) -> String {
        match &self.name {
            Some(name) => name.to_string(),
            None => format!("{}-{}", self.from.name, self.to.name),
        }
    }

    /// The flow as it is built; its names lead somewhere. `group` finds a group of LSPs by its name.
    pub fn lowered(
        &self,
        ends: &[[Endpoint; 2]],
        group: impl Fn(&str) -> Option<usize>,
    ) -> Result<testbed::FlowSpec, Diagnostic> {
        let link = |node: &NodeRef, said: &Option<Endpoint>| {
            said.as_ref().map(|said| place_of(node, said, ends)).transpose()
        };
        let over = match &self.over {
            None => None,
            Some(name) => {
                let unknown = || FlowProblem::UnknownLsp { name: name.to_string(), hint: String::new() };
                Some(group(name).ok_or_else(|| Diagnostic::new(unknown()).at("over"))?)
            }
        };
        Ok(testbed::FlowSpec {
            name: self.name(),
            from: self.from.index(),
            to: self.to.index(),
            from_link: link(&self.from, &self.from_link).at("from_link")?,
            to_link: link(&self.to, &self.to_link).at("to_link")?,
            group: self.group,
            also_to: self.receivers.iter().map(NodeRef::index).collect(),
            family: self.family.unwrap_or_else(|| self.family_of_group()),
            over,
            rate: self.rate,
            rate_counts: match self.rate_counts {
                RateCounted::Frame => testbed::RateCounts::Frame,
                RateCounted::Ip => testbed::RateCounts::Ip,
            },
            size: Some(self.size.lowered()),
            arrivals: self.arrivals.lowered().at("arrivals")?,
            dscp: self.dscp.value(),
            src_port: self.src_port.map(u32::from),
            dst_port: self.dst_port.map(u32::from),
            start: self.start,
            stop: self.stop,
            trace: self.trace,
            log: self.log,
            hops: self.hops,
        })
    }

    fn family_of_group(&self) -> Family {
        if self.group.is_some_and(|group| group.is_ipv6()) { Family::Ipv6 } else { Family::Ipv4 }
    }

    fn check(&self) -> Result<(), Diagnostic> {
        if let (Some(group), Some(family)) = (self.group, self.family)
            && family != self.family_of_group()
        {
            let group = group.to_string();
            return Err(Diagnostic::new(FlowProblem::GroupOfOtherFamily { group }).at("family").on_key());
        }
        let Some(stop) = self.stop.filter(|stop| *stop <= self.start) else { return Ok(()) };
        let [stop, start] =
            [stop, self.start].map(|time| time.write().as_text().unwrap_or("0 s").to_string());
        Err(FlowProblem::StopsBeforeStart { stop, start }.into()).at("stop")
    }
}
