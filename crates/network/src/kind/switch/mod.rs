//! An OpenFlow switch: a shared segment whose frames go where controllers say.

mod controller;
mod ovs;
mod profile;
mod tls;

pub(crate) use self::controller::ControllerSpec;
pub use self::ovs::OVS;
use self::profile::SwitchProfileSpec;
use self::tls::TlsSpec;
use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::description::{NodeNumber, NodeSpec};
use crate::segment;
use crate::spec::labels::Labels;
use crate::spec::placed::Ports;
use crate::spec::problem::NetworkProblem;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::diagnostic::Diagnostic;
use base::plane::Prefix;
use base::{Device, NodeId, PortId, Rate, Span, Streams};
use engine::World;
use engine::discipline::TreeSpec;
use node::switch::{FailMode, ManagedSwitch, PortUse, SwitchPort};
use node::{HostConfig, Switch, SwitchConfig};
use wire::openflow::Version;

/// An OpenFlow switch; routers and hosts on links to it are in one network.
pub const SWITCH: NodeKind = NodeKind::of::<SwitchSpec>(
    "switch",
    "An OpenFlow switch: routers and hosts on links to it are in one network.",
)
.with_ports(Ports { queue: true, ingress: false });

base::words! {
    /// What a switch does while no controller is connected.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum FailWord {
        /// Its entries stay as they are; packets without one are dropped.
        Secure = "secure",
        /// It forwards as a switch that learns addresses.
        Standalone = "standalone",
    }
    default Secure;
}

base::words! {
    /// Which versions of OpenFlow a switch speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum VersionWord {
        /// Both; the highest that a controller speaks, too, is taken.
        Both = "both",
        /// 1.0 alone.
        V1_0 = "1.0",
        /// 1.3 alone.
        V1_3 = "1.3",
    }
    default Both;
}

base::record! {
    /// An OpenFlow switch. Its ports have the numbers 1, 2 and so on, in the order of links. A link with `addresses` is
    /// none of them but a management port: over TCP of its own the switch talks to controllers there. A switch without
    /// one has them over TCP of the kernel, in a lab only, where it is a process in a network namespace.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SwitchSpec {
        /// The network that all its members are in, such as `10.1.0.0/24`.
        pub prefix: Prefix;
        /// Its controllers: `tcp:ADDRESS:PORT` to connect to, `ptcp:PORT` to listen for; `ssl:ADDRESS:PORT` and
        /// `pssl:PORT` are the same over TLS.
        pub controllers: Vec<ControllerSpec> = Vec::new();
        /// By what the switch and its controllers know each other over TLS. In virtual time, where nobody is at the
        /// other end, it is only looked at.
        pub tls: Option<TlsSpec>, absent "none of them is over TLS";
        /// What controllers know it by, beyond zero.
        pub datapath_id: Option<u64>, in 1..=9_223_372_036_854_775_807, absent "its place among the nodes";
        /// Versions of OpenFlow that it speaks.
        pub version: VersionWord = VersionWord::default();
        /// What it does while no controller is connected.
        pub fail: FailWord = FailWord::default();
        /// How many flow tables it has.
        pub tables: u8 = 64, in 1..=254;
        /// Entries that each table has room for.
        pub max_entries: u32 = 1_000_000, in 1..=4_000_000_000;
        /// Packets that it keeps for controllers, which get their beginnings; with none they get all of them.
        pub buffers: u32 = 256, in 0..=65_536;
        /// After how long it asks a silent controller whether it is there; zero for never.
        pub probe: Span = Span::from_secs(5);
        /// Switch profile: how long it takes for what it does, where it has a management port.
        pub profile: Option<SwitchProfileSpec>, absent "it takes no time";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
    check SwitchSpec::check;
}

impl SwitchSpec {
    /// What can be seen without the rest of the network.
    fn check(&self) -> Result<(), Diagnostic> {
        check_tls(&self.controllers, self.tls.as_ref())
    }

    fn number(&self) -> NodeNumber {
        number(self.datapath_id)
    }
}

/// Refuses controllers over TLS where no files are named for it.
fn check_tls(controllers: &[ControllerSpec], tls: Option<&TlsSpec>) -> Result<(), Diagnostic> {
    let secured = controllers.iter().position(ControllerSpec::is_secured);
    match secured.filter(|_| tls.is_none()) {
        Some(place) => {
            let controller = controllers[place].to_string();
            Err(Diagnostic::new(NetworkProblem::NoTls { controller }).at(place).at("controllers"))
        }
        None => Ok(()),
    }
}

/// What controllers know a switch by.
fn number(said: Option<u64>) -> NodeNumber {
    NodeNumber { key: "datapath_id", called: "datapath id", said }
}

impl Node for SwitchSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.number = Some(self.number());
        Ok(())
    }

    fn facts(&self) -> Facts {
        let secured = self.controllers.iter().any(ControllerSpec::is_secured);
        let profiled = self.profile.is_some();
        Facts { managed: true, profiled, secured, ..Facts::segment("a switch", self.prefix) }
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        let name = &network.description().nodes[node].name;
        let mut ports: Vec<(u16, SwitchPort)> = Vec::new();
        let mut managed = Vec::new();
        for link in network.links() {
            let Some(port) = link.port_at(node) else { continue };
            if !segment::is_of(network.facts(node), &link.spec) {
                managed.push(port);
                continue;
            }
            let rate = Some(link.spec.rate).filter(|rate| *rate > Rate(0));
            let (name, address) = (format!("{name}-eth{}", port.0 + 1), Network::mac_of(node, port));
            let queues = link.spec.queue(link.side(node)).map(TreeSpec::marked).unwrap_or_default();
            ports.push((port.0, SwitchPort { name, address, rate, queues }));
        }
        ports.sort_by_key(|(port, _)| *port);
        let versions = match self.version {
            VersionWord::Both => Version::ALL.to_vec(),
            VersionWord::V1_0 => vec![Version::V1_0],
            VersionWord::V1_3 => vec![Version::V1_3],
        };
        let config = SwitchConfig {
            datapath_id: self.number().at(node),
            name: name.clone(),
            versions,
            controllers: self.controllers.iter().map(|spec| spec.0).collect(),
            tls: self.tls.as_ref().map(TlsSpec::lowered),
            fail: match self.fail {
                FailWord::Secure => FailMode::Secure,
                FailWord::Standalone => FailMode::Standalone,
            },
            tables: self.tables,
            max_entries: self.max_entries as usize,
            buffers: self.buffers,
            probe: (self.probe > Span::ZERO).then_some(self.probe),
            ports: ports.into_iter().map(|(_, port)| port).collect(),
            seed: Default::default(),
        };
        let now = network.world().now();
        if managed.is_empty() {
            return Box::new(Switch::new(config, now));
        }
        let all = network.host_config(node);
        let stack =
            all.ports.iter().enumerate().filter(|(place, _)| managed.contains(&PortId(*place as u16)));
        let stack = HostConfig { ports: stack.map(|(_, port)| *port).collect(), groups: Vec::new() };
        let of = |place: usize| match managed.contains(&PortId(place as u16)) {
            true => PortUse::Management,
            false => PortUse::Data,
        };
        let uses: Vec<PortUse> = (0..all.ports.len()).map(of).collect();
        let streams = Streams::new(network.description().seed);
        let profile = self.profile.as_ref().map(SwitchProfileSpec::lowered).unwrap_or_default();
        Box::new(ManagedSwitch::new(config, (stack, &uses), profile, streams, now))
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        let managed = || world.device::<ManagedSwitch>(id).map(ManagedSwitch::drops);
        world.device::<Switch>(id).map(|switch| switch.drops().clone()).or_else(managed)
    }
}
