//! Links as users write them: a mapping, or `[a, b]` and `[a, b, {rate: 1 Gbit/s}]` in short.

use super::address::InterfaceAddress;
use super::labels::Labels;
use super::reference::Endpoint;
use base::describe::{
    AtEnds, Describe, Named, Ranged, Record, Schema, Schemas, Size, Value, malformed, wrong_type,
};
use base::diagnostic::{At, Diagnostic};
use base::{Rate, Span};
use engine::discipline::TreeSpec;
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
        /// Propagation delay.
        pub delay: Span = Span::ZERO;
        /// Longest packet in bytes, labels included.
        pub mtu: Option<u32>, in 68..=65_535, absent "9216; with driver xdp 3498; of a host's link 1500";
        /// Buffer of both ports.
        pub buffer: Option<Size>, absent "that of the devices' profiles";
        /// Cost for shortest paths.
        pub metric: u64 = 1, in 1..=4_294_967_296;
        /// Bandwidth that LSPs may reserve, each way.
        pub reservable: Option<Rate>, absent "the rate; without one, 10 Gbit/s";
        /// Time until the devices notice that the link went down or came up.
        pub detection: Span = Span::ZERO;
        /// How much faster than nominal the clocks of both ports run, in parts per million, beside the devices' own offsets.
        pub clock_ppm: [f64; 2] = [0.0, 0.0];
        /// How routers open it in a lab.
        pub driver: Option<Driver>, absent "as the router says";
        /// Addresses of both ends.
        pub addresses: Option<[InterfaceAddress; 2]>, absent "given by the network";
        /// What waits in front of it: a tree under `queues` by its name, or one itself, at both ends or by end, as in `{pe1: gold}`.
        pub queue: Option<AtEnds<TreeSpec>>, absent "one queue of the port's buffer";
        /// Meters and markers for what arrives by it: under `conditioners`, in the same way.
        pub ingress: Option<AtEnds<ConditionerSpec>>, absent "nothing is metered";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    read by hand;
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
