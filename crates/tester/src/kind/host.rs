//! An IP host as a node: in virtual time a device that answers ARP and ping and sends and takes flows; in real time a
//! real host beyond an interface, unless it is asked for in the process too.

use crate::spec::host_profile::HostProfileSpec;
use crate::spec::tcp::TcpOptions;
use crate::station::Station;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::diagnostic::{At, Diagnostic};
use base::{Device, NodeId};
use core::net::Ipv4Addr;
use engine::World;
use network::Network;
use network::NodeSpec;
use network::kind::{Facts, HostFacts, Node, NodeKind, Tests};
use network::spec::address::InterfaceAddress;
use network::spec::labels::Labels;
use network::spec::link::Driver;
use network::spec::membership::Membership;
use network::spec::placed::Ports;
use node::{Host, HostConfig};

/// An IP host, on one link or several, to routers.
pub const HOST: NodeKind =
    NodeKind::of::<HostSpec>("host", "An IP host.").with_ports(Ports { queue: true, ingress: false });

/// A host of the measuring process, with a link to each end of what is measured: its links give it its addresses.
pub const STATION: NodeKind = NodeKind::of::<StationSpec>(
    "station",
    "A host of the measuring process, with a link to each end of what is measured.",
)
.with_ports(Ports { queue: true, ingress: false });

base::record! {
    /// An IP host, on one link to a router: in a lab a network namespace with the kernel's own stack.
    #[derive(Clone, Debug, PartialEq)]
    pub struct HostSpec {
        /// Its address with the prefix length.
        pub address: Option<InterfaceAddress>, absent "those that its links say";
        /// The router's address.
        pub gateway: Option<Ipv4Addr>, absent "the first of the prefix";
        /// Longest packet in bytes.
        pub mtu: Option<u32>, in 68..=65_535, absent "1500";
        /// Host profile, by name, by file (*.toml), or what it says: how its TCP behaves. In a lab its kernel does as
        /// it is set.
        pub profile: Option<HostProfileSpec>, absent "modern";
        /// How TCP behaves for its programs where a flow says nothing else, whatever the profile says.
        pub tcp: Option<TcpOptions>, absent "as the profile says";
        /// Groups that it wants, each perhaps with the sources that packets may come from.
        pub join: Vec<Membership> = Vec::new();
        /// Commands run in it, in order, when the lab is up.
        pub exec: Vec<String> = Vec::new();
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

base::record! {
    /// A namespace with bare interfaces for the measuring process, a host with several links.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StationSpec {
        /// How it opens its interfaces in a lab.
        pub driver: Option<Driver>, absent "packet";
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl HostSpec {
    /// How TCP behaves for its programs.
    fn tcp(&self) -> Result<TcpOptions, Diagnostic> {
        let profile = self.profile.as_ref().map(HostProfileSpec::tcp).transpose()?.unwrap_or_default();
        Ok(self.tcp.unwrap_or_default().or(&profile))
    }
}

impl Node for HostSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        host(HostFacts { address: self.address, gateway: self.gateway, mtu: self.mtu, kernel: true })
    }

    fn enter(&self, _: &mut NodeSpec) -> Result<(), Diagnostic> {
        self.tcp().at("profile").map(|_| ())
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        let joined = self.join.iter().cloned();
        let groups =
            joined.map(|Membership { group, sources }| node::Membership { group, sources }).collect();
        let host = Host::new(HostConfig { groups, ..network.host_config(node) });
        Box::new(Station::new(host).with_tcp(self.tcp().unwrap_or_default()))
    }

    fn host<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Host> {
        Some(world.device::<Station>(id)?.host())
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        Some(world.device::<Station>(id)?.drops())
    }
}

/// The same device: only where its addresses come from is another thing.
impl Node for StationSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        host(HostFacts::default())
    }

    fn enter(&self, entry: &mut NodeSpec) -> Result<(), Diagnostic> {
        entry.driver = self.driver;
        Ok(())
    }

    fn device(&self, network: &Network, node: usize) -> Box<dyn Device> {
        Box::new(Station::new(Host::new(network.host_config(node))))
    }

    fn host<'a>(&self, world: &'a World, id: NodeId) -> Option<&'a Host> {
        Some(world.device::<Station>(id)?.host())
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        Some(world.device::<Station>(id)?.drops())
    }
}

fn host(host: HostFacts) -> Facts {
    Facts { links_min: 1, host: Some(host), tests: Tests::Within, ..Facts::of("a host") }
}
