//! Links as users write them: a mapping, or `[a, b]` and `[a, b, {rate: 1 Gbit/s}]` in short.

use super::address::InterfaceAddress;
use super::address6::InterfaceAddress6;
use super::advertise::AdvertiseSpec;
use super::labels::Labels;
use super::lc_atm::{LcAtmProblem, LcAtmSpec};
use super::medium::LinkMedium;
use super::problem::NetworkProblem;
use super::pvc::PvcSpec;
use super::reference::Endpoint;
use super::vp::VpSpec;
use crate::atm::payload;
use crate::description::{self, NodeSpec};
use base::describe::{
    AtEnds, Describe, Name, Named, Ranged, Record, Schema, Schemas, Several, Size, Value, malformed,
    wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use base::{Rate, Span};
use engine::discipline::TreeSpec;
use engine::medium::{ATM, Carries};
use node::conditioner::ConditionerSpec;

base::words! {
    /// How a process opens its interfaces.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Driver {
        /// AF_PACKET rings.
        Packet = "packet",
        /// AF_XDP, which needs a kernel and a driver that know it.
        Xdp = "xdp",
    }
    default Packet;
}

/// The rate of both ports of a link: without one they are as fast as what they send by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkRate(pub Option<Rate>);

impl Describe for LinkRate {
    fn read(value: &Value) -> Result<LinkRate, Diagnostic> {
        if value.as_text() == Some("none") {
            return Ok(LinkRate(None));
        }
        let rate = Rate::read(value)?;
        rate.check_range(1, i128::from(u64::MAX >> 1))?;
        Ok(LinkRate(Some(rate)))
    }
    fn write(&self) -> Value {
        self.0.map_or_else(|| "none".into(), |rate| rate.write())
    }
    fn schema(known: &mut Schemas) -> Schema {
        Schema::OneOf(vec![Schema::Text { form: "none", pattern: Some("^none$") }, Rate::schema(known)])
    }
    fn example() -> Option<&'static str> {
        Some("1 Gbit/s")
    }
}

base::record! {
    /// A link between two nodes.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LinkSpec {
        /// The two ends, each NODE, or NODE:INTERFACE.
        pub endpoints: [Endpoint; 2];
        /// Rate of both ports, or none: as fast as the interfaces are.
        pub rate: LinkRate = LinkRate(None);
        /// What frames are on it.
        pub medium: Option<LinkMedium>, absent "ethernet";
        /// A permanent virtual circuit of ATM in the place of a wire.
        pub pvc: Option<PvcSpec>, absent "none";
        /// A virtual path of ATM in the place of a wire of cells.
        pub vp: Option<VpSpec>, absent "none";
        /// Cells have headers of a user-network interface: 8 bits of VPI, and generic flow control. Of a virtual path
        /// that is so on the way to its first switch and from its last one.
        pub uni: Option<bool>, absent "they have those between nodes of a network (NNI), with 12 bits of VPI";
        /// How labels are channels, where routers or ATM-LSRs are at both ends of medium atm.
        pub lc_atm: Option<LcAtmSpec>, absent "as usual";
        /// Propagation delay.
        pub delay: Span = Span::ZERO;
        /// Longest packet in bytes, labels included.
        pub mtu: Option<u32>, in 68..=65_535, absent "9216; with driver xdp 3498; no more than a frame of its medium holds; of a host's link 1500; of a circuit of ATM, and of medium atm between routers, 9180";
        /// Buffer of both ports.
        pub buffer: Option<Size>, absent "that of the devices' profiles";
        /// Cost for shortest paths.
        pub metric: u64 = 1, in 1..=4_294_967_296;
        /// Bandwidth that LSPs may reserve, each way.
        pub reservable: Option<Rate>, absent "the rate; without one, 10 Gbit/s; of a circuit its peak rate or that of its slowest link, and of medium atm its rate, without cell headers";
        /// Time until the devices notice that the link went down or came up.
        pub detection: Span = Span::ZERO;
        /// How much faster than nominal the clocks of both ports run, in parts per million, beside the devices' own
        /// offsets.
        pub clock_ppm: [f64; 2] = [0.0, 0.0];
        /// Shared-risk link groups that it is in, one name or several: the links of a group fail together, as those in
        /// one duct do.
        pub srlg: Option<Several<Name>>, absent "none";
        /// How routers open it in a lab.
        pub driver: Option<Driver>, absent "as the router says";
        /// Addresses of both ends.
        pub addresses: Option<[InterfaceAddress; 2]>, absent "given by the network";
        /// IPv6 addresses of both ends, in one network; link-local ones are made by the interfaces themselves.
        pub ipv6: Option<[InterfaceAddress6; 2]>, absent "the link has no IPv6";
        /// Routers and hosts in the process look whether their IPv6 addresses are free before they use them.
        pub dad: Option<bool>, absent "they do not";
        /// What its routers say of themselves to hosts.
        pub advertise: Option<AdvertiseSpec>, absent "nothing";
        /// What waits in front of it: a tree under `queues` by its name, or one itself, at both ends or by end, as in
        /// `{pe1: gold}`.
        pub queue: Option<AtEnds<TreeSpec>>, absent "one queue of the port's buffer";
        /// Meters and markers for what arrives by it: under `conditioners`, in the same way.
        pub ingress: Option<AtEnds<ConditionerSpec>>, absent "nothing is metered";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    read by hand;
}

/// What a veth pair says its speed is: so much may be reserved on a link without a rate, in bits per second.
const RESERVABLE_WITHOUT_RATE: Rate = Rate(10_000_000_000);
/// Longest packet of a link of which nothing is said, in bytes.
const MTU: u32 = 9_216;
/// The same of a circuit of ATM.
const MTU_ATM: u32 = 9_180;
/// The same where AF_XDP is at an end: a frame of its rings has 3,520 bytes.
const MTU_XDP: u32 = 3_498;

impl LinkSpec {
    /// The link as it is built between these nodes, with what it does not say itself; what stands at its ends is put
    /// there later.
    pub fn lowered(&self, nodes: &[NodeSpec]) -> Result<description::LinkSpec, Diagnostic> {
        let ends = self.endpoints.each_ref().map(|end| &nodes[end.node.index()]);
        let of_host = ends.iter().find_map(|node| node.facts().host?.mtu);
        if let (Some(host), Some(mtu)) = (of_host, self.mtu.filter(|mtu| Some(*mtu) != of_host)) {
            return Err(Diagnostic::new(NetworkProblem::OtherMtu { mtu, host }).at("mtu"));
        }
        let said = self.mtu.or(of_host);
        let is_xdp = match self.driver {
            Some(driver) => driver == Driver::Xdp,
            None => ends.iter().any(|node| node.driver == Some(Driver::Xdp)),
        };
        let [a, b] = self.endpoints.each_ref().map(|end| end.node.index());
        let [a_clock_ppb, b_clock_ppb] = self.clock_ppm.map(|ppm| (ppm * 1_000.0).round_ties_even() as i64);
        let LinkMedium(medium) = match self.vp {
            Some(_) => LinkMedium(&ATM),
            None => self.medium.unwrap_or_default(),
        };
        if self.vp.is_some() && self.pvc.is_some() {
            return Err(Diagnostic::new(NetworkProblem::PathAndCircuit {}).at("vp").on_key());
        }
        if let Some(key) = self.vp.as_ref().and_then(|_| self.of_cell_wires()) {
            return Err(Diagnostic::new(NetworkProblem::OfCellWires { key }).at(key).on_key());
        }
        if let Some(key) = self.pvc.as_ref().and_then(|_| self.of_wires()) {
            return Err(Diagnostic::new(NetworkProblem::OfWires { key }).at(key).on_key());
        }
        if self.pvc.is_some() && self.driver.is_some() {
            return Err(Diagnostic::new(NetworkProblem::CircuitDriver {}).at("driver").on_key());
        }
        let carries_cells = self.pvc.is_none() && medium.carries == Carries::Cells;
        let is_labelled = carries_cells && ends.iter().all(|node| node.facts().is_own_transit());
        if self.lc_atm.is_some() && !is_labelled {
            return Err(Diagnostic::new(LcAtmProblem::Elsewhere {}).at("lc_atm").on_key());
        }
        let uni = self.uni == Some(true);
        let rate = self.vp.as_ref().map_or(self.rate.0, |vp| vp.pcr);
        if uni && !carries_cells {
            return Err(Diagnostic::new(NetworkProblem::UniOfPackets {}).at("uni").on_key());
        }
        if let Some(labels) = &self.lc_atm {
            labels.check_on(self.vp.is_some(), uni).at("lc_atm")?;
        }
        if let Some(key) = self.not_of_labels().filter(|_| is_labelled) {
            return Err(Diagnostic::new(LcAtmProblem::NotThere { key }).at(key).on_key());
        }
        if let Some(key) = self.of_packets().filter(|_| carries_cells && !is_labelled) {
            return Err(Diagnostic::new(NetworkProblem::OfPackets { key }).at(key).on_key());
        }
        // The longest packet that is usual on ATM (RFC 2225, 7).
        let mtu_max = if self.pvc.is_some() || is_labelled { MTU_ATM } else { medium.mtu() };
        let unsaid_mtu = if is_xdp { MTU_XDP } else { MTU }.min(mtu_max);
        let of_ipv6 = [("dad", self.dad == Some(true)), ("advertise", self.advertise.is_some())];
        if let Some((key, _)) = of_ipv6.into_iter().find(|(_, said)| *said && self.ipv6.is_none()) {
            return Err(Diagnostic::new(NetworkProblem::WithoutIpv6 {}).at(key));
        }
        let advertise = self.advertise.as_ref().map(AdvertiseSpec::lowered).transpose().at("advertise")?;
        if advertise.is_some() && !ends.iter().any(|node| node.facts().is_own_transit()) {
            return Err(Diagnostic::new(NetworkProblem::NobodyAdvertises {}).at("advertise"));
        }
        Ok(description::LinkSpec {
            a,
            b,
            rate: rate.unwrap_or_default(),
            medium,
            pvc: self.pvc.clone(),
            vp: self.vp.clone(),
            uni,
            lc_atm: is_labelled.then(|| self.lc_atm.clone().unwrap_or_else(LcAtmSpec::usual)),
            delay: self.delay,
            // A circuit without a peak rate has that of its slowest link, which the plan of the network finds.
            reservable: self.reservable.or_else(|| match &self.pvc {
                Some(pvc) => pvc.payload_rate(),
                None if is_labelled => Some(rate.map_or(RESERVABLE_WITHOUT_RATE, payload)),
                None => rate.is_none().then_some(RESERVABLE_WITHOUT_RATE),
            }),
            buffer_bytes: self.buffer.map(|buffer| buffer.0),
            mtu: said.unwrap_or(unsaid_mtu),
            mtu_said: said.is_some(),
            detection: self.detection,
            a_clock_ppb,
            b_clock_ppb,
            srlg: self.srlg.iter().flat_map(|groups| &groups.0).map(ToString::to_string).collect(),
            metric: self.metric,
            addresses: self.addresses,
            ipv6: self.ipv6,
            dad: self.dad.unwrap_or(false),
            advertise,
            a_queue: None,
            b_queue: None,
            a_ingress: None,
            b_ingress: None,
        })
    }
}

impl LinkSpec {
    /// What it says of a wire.
    fn of_wires(&self) -> Option<&'static str> {
        let said = [
            ("rate", self.rate.0.is_some()),
            ("medium", self.medium.is_some()),
            ("delay", self.delay != Span::ZERO),
            ("buffer", self.buffer.is_some()),
            ("queue", self.queue.is_some()),
            ("clock_ppm", self.clock_ppm != [0.0, 0.0]),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }
}

impl LinkSpec {
    /// What it says of a wire of cells.
    fn of_cell_wires(&self) -> Option<&'static str> {
        let said = [
            ("rate", self.rate.0.is_some()),
            ("medium", self.medium.is_some_and(|LinkMedium(medium)| medium.carries != Carries::Cells)),
            ("delay", self.delay != Span::ZERO),
            ("clock_ppm", self.clock_ppm != [0.0, 0.0]),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }
}

impl LinkSpec {
    /// What it says that a link of labels which are channels does not have.
    fn not_of_labels(&self) -> Option<&'static str> {
        let said = [
            ("ipv6", self.ipv6.is_some()),
            ("queue", self.queue.is_some()),
            ("ingress", self.ingress.is_some()),
            ("driver", self.driver.is_some()),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }
}

impl LinkSpec {
    /// What it says of packets, of which a link of cells knows nothing.
    fn of_packets(&self) -> Option<&'static str> {
        let said = [
            ("mtu", self.mtu.is_some()),
            ("metric", self.metric != 1),
            ("reservable", self.reservable.is_some()),
            ("addresses", self.addresses.is_some()),
            ("ipv6", self.ipv6.is_some()),
            ("queue", self.queue.is_some()),
            ("ingress", self.ingress.is_some()),
            ("driver", self.driver.is_some()),
        ];
        said.into_iter().find(|(_, said)| *said).map(|(key, _)| key)
    }
}

impl Describe for LinkSpec {
    fn read(value: &Value) -> Result<LinkSpec, Diagnostic> {
        let Value::List(elements) = value else { return LinkSpec::read_record(value, "") };
        let form = "[a, b] or [a, b, {rate: 1 Gbit/s}]";
        let (ends, settings) = match &elements[..] {
            [a, b] => ([a, b], None),
            [a, b, settings @ Value::Map(_)] => ([a, b], Some(settings)),
            _ => return Err(malformed(value, format!("a link such as {form}"))),
        };
        for (index, end) in ends.into_iter().enumerate() {
            Endpoint::read(end).at(index)?;
        }
        let mut whole = settings.cloned().unwrap_or(Value::Map(Vec::new()));
        if whole.get("endpoints").is_some() {
            return Err(wrong_type(value, format!("{form}: its two ends are given already")))
                .at("endpoints")
                .at(2);
        }
        whole.set("endpoints", Value::List(ends.into_iter().cloned().collect()));
        LinkSpec::read_record(&whole, "").at(2)
    }
    fn write(&self) -> Value {
        self.write_record()
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("LinkSpec", |known| {
            let mut record = LinkSpec::record_schema(known);
            let end = Endpoint::schema(known);
            record.short = vec![Schema::Tuple(vec![end.clone(), end, Schema::Named("LinkSpec")])];
            Named::Record(record)
        })
    }
    fn example() -> Option<&'static str> {
        Some("[a, b]")
    }
}
