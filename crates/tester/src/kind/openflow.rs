//! The tester of OpenFlow switches as a node.

use crate::openflow::{OpenFlowTester, Settings, Spoken, Test};
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::{Device, NodeId, PortId, Rate, Span, Streams};
use engine::World;
use network::Network;
use network::kind::{Facts, Node, NodeKind};
use network::spec::labels::Labels;
use node::HostConfig;

/// A tester of OpenFlow switches: a controller with two data ports.
pub const OPENFLOW_TESTER: NodeKind = NodeKind::of::<OpenFlowTesterSpec>(
    "openflow-tester",
    "A tester of OpenFlow switches: their controller, with two data ports.",
);

base::record! {
    /// A tester of an OpenFlow switch: a link with `addresses` leads to a management port of the switch, and two others
    /// to ports of its datapath. It waits for the switch to connect, and then does one test.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OpenFlowTesterSpec {
        /// Which messages or packets are sent, and what is measured of them.
        pub test: Test = Test::default();
        /// The version of OpenFlow that it speaks.
        pub version: Spoken = Spoken::default();
        /// Sets the time between two packets: size x 8,000,000 / (rate in Mbit/s x 1024 x 1024) microseconds.
        pub rate: Rate = Rate(10_000_000), in 1_000..=100_000_000_000;
        /// Length of a packet, without its frame check sequence.
        pub size: u32 = 1500, in 66..=1_514;
        /// One packet of so many is stamped and sent.
        pub every: u32 = 1_000, in 1..=1_000_000;
        /// In test `data`: those between stamped packets are sent, too.
        pub fill: bool = false;
        /// How long packets are sent.
        pub duration: Span = Span::from_secs(60);
        /// Entries that are added or changed at once.
        pub flows: u32 = 1, in 1..=1_000_000;
        /// From the first packet of the stream to the first addition or change, and between two rounds.
        pub wait: Span = Span::from_secs(10);
        /// From a packet of the stream to the additions or changes that begin with it.
        pub lead: Span = Span::ZERO;
        /// Each entry has to pass a probe of its own once the last one works.
        pub confirm: bool = false;
        /// In test `flow-expiry`: seconds after which entries go by themselves (hard timeout).
        pub timeout: u16 = 1, in 1..=65_535;
        /// The TCP port that it waits at.
        pub listen: u16 = 6633, in 1..=65_535;
        /// The number of the switch's port that packets go to.
        pub from_port: u16 = 1, in 1..=65_279;
        /// The number of the switch's port that they come back from.
        pub to_port: u16 = 2, in 1..=65_279;
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

/// The link of the channel, unless that is elsewhere, and those of data, by their ports.
pub(crate) fn ports(network: &Network, node: usize) -> Option<(Option<PortId>, [PortId; 2])> {
    let has = |given: bool| {
        let links = network.ports_of(node).filter(move |(link, _)| link.spec.addresses.is_some() == given);
        links.map(|(link, side)| link.ports[side])
    };
    let (control, data): (Vec<PortId>, Vec<PortId>) = (has(true).collect(), has(false).collect());
    match (&control[..], &data[..]) {
        ([], [from, to]) => Some((None, [*from, *to])),
        ([control], [from, to]) => Some((Some(*control), [*from, *to])),
        _ => None,
    }
}

impl Node for OpenFlowTesterSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts { links_min: 2, links_max: Some(3), ..Facts::of("a tester of switches") }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        let settings = Settings {
            test: self.test,
            version: self.version,
            rate: self.rate,
            size: self.size,
            every: self.every,
            fill: self.fill,
            duration: self.duration,
            flows: self.flows,
            wait: self.wait,
            lead: self.lead,
            confirm: self.confirm,
            timeout: self.timeout,
            ports: [self.from_port, self.to_port],
        };
        // Other links are refused when all is built.
        let ports = ports(network, node).unwrap_or((None, [PortId(0), PortId(1)]));
        let stack = ports.0.and_then(|control| network.host_config(node).port(control).copied());
        let stack = HostConfig { ports: stack.into_iter().collect(), groups: Vec::new() };
        let streams = Streams::new(network.description().seed);
        let name = &network.description().nodes[node].name;
        Box::new(OpenFlowTester::new(settings, stack, ports, (name, streams), self.listen))
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        world.device::<OpenFlowTester>(id).map(OpenFlowTester::drops)
    }
}
