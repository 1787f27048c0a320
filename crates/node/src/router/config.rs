//! How a router is set up.

use crate::advertising::Advertise;
use crate::profile::DeviceProfile;
use base::plane::{Table, TtlModel};
use base::random::Rng;
use base::{DiffServConfig, Label, MacAddr, PortId, Rate, Streams};
use control::services::{Attached, Interface, InterfaceAddress, InterfaceKind, Interfaces, Services};
use control::{ControlPlane, Setup, plane};
use core::net::{Ipv4Addr, Ipv6Addr};
use forwarding::conditioner::Conditioner;
use forwarding::{ForwardingPlane, Seed, Timing, driver};
use std::sync::Arc;

/// A port of a router.
#[derive(Clone, Copy, Debug)]
pub struct PortSetup {
    /// Source of the frames that leave by the port, and the only unicast destination that it takes.
    pub mac: MacAddr,
    /// Address on the link, from which signalling and ICMP leave.
    pub address: Ipv4Addr,
    /// Length of the prefix of the link.
    pub prefix_len: u8,
    /// IPv6 address on the link, beside the link-local one that the port makes itself; IPv6 is spoken only where there
    /// is one.
    pub ipv6: Option<Address6>,
    /// The neighbour's address, if there is just one.
    pub neighbor: Option<Ipv4Addr>,
    /// The neighbour's router id, if it is known.
    pub neighbor_id: Option<Ipv4Addr>,
    /// Longest packet (Ethernet payload) in bytes.
    pub mtu: u32,
    /// What a path by the port costs.
    pub cost: u64,
    /// Bandwidth that LSPs may reserve; absent where nobody signals.
    pub reservable: Option<Rate>,
}

impl PortSetup {
    /// A port with IPv4 alone, of Ethernet's 1500 bytes, that knows of no neighbour and where nobody reserves.
    pub const fn new(mac: MacAddr, address: Ipv4Addr, prefix_len: u8) -> PortSetup {
        PortSetup {
            mac,
            address,
            prefix_len,
            ipv6: None,
            neighbor: None,
            neighbor_id: None,
            mtu: 1500,
            cost: 1,
            reservable: None,
        }
    }
}

/// An IPv6 address of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address6 {
    /// From which the router answers and reports errors.
    pub address: Ipv6Addr,
    /// Length of the prefix of the link, in bits.
    pub prefix_len: u8,
    /// Is it used only after a look whether somebody has it (RFC 4862, 5.4)?
    pub dad: bool,
    /// What the router says of itself there; nothing if absent (RFC 4861, 6.2.1: AdvSendAdvertisements).
    pub advertise: Option<Advertise>,
}

impl Address6 {
    /// An address that is used without a look, and of which nothing is said.
    pub const fn new(address: Ipv6Addr, prefix_len: u8) -> Address6 {
        Address6 { address, prefix_len, dad: false, advertise: None }
    }
}

/// What a router does with packets as they arrive.
#[derive(Clone, Debug, Default)]
pub struct Conditioning {
    /// Conditioners, each on what arrives by a port.
    pub at: Vec<(PortId, Conditioner)>,
    /// Note on packets by which port they came, for queues that ask.
    pub note_inputs: bool,
    /// Note on packets what their labels mean, for conditioners of egress queues that write TC.
    pub note_encaps: bool,
}

/// All that a router is made with. What users change later comes as commands.
#[derive(Clone, Debug)]
pub struct RouterConfig {
    /// Name; it names the router's random stream.
    pub name: String,
    /// Router id: a loopback address that is always reachable.
    pub router_id: Ipv4Addr,
    /// An IPv6 loopback address that is always reachable, where the router has one.
    pub ipv6: Option<Ipv6Addr>,
    /// Each port's place here is its [`PortId`].
    pub ports: Vec<PortSetup>,
    /// What each port is attached to, for protocols that have settings by neighbour; may be left out.
    pub attached: Vec<Attached>,
    /// How long the router takes for what it does.
    pub profile: DeviceProfile,
    /// The protocols that it speaks, in the order in which they are asked.
    pub protocols: Vec<Arc<dyn Setup>>,
    /// What writes its forwarding tables.
    pub table_driver: Arc<dyn driver::Setup>,
    /// Time-to-live model of what arrives with explicit null, and of nothing else: each LSP says its own.
    pub ttl: TtlModel,
    /// DiffServ over MPLS (RFC 3270) of the forwarding plane; if absent, it does not support it.
    pub diffserv: Option<DiffServConfig>,
    /// Meters, markers and policers at ingress ports.
    pub conditioning: Conditioning,
    /// Random streams of the run.
    pub streams: Streams,
}

/// The addresses of a port, of both families.
fn addresses_of(port: &PortSetup) -> Vec<InterfaceAddress> {
    let own = InterfaceAddress { address: port.address.into(), prefix_len: port.prefix_len };
    let own6 =
        port.ipv6.map(|own| InterfaceAddress { address: own.address.into(), prefix_len: own.prefix_len });
    core::iter::once(own).chain(own6).collect()
}

impl RouterConfig {
    /// A router that takes no time for what it does, with the tables of the model and without DiffServ.
    pub fn ideal(
        name: String,
        router_id: Ipv4Addr,
        ports: Vec<PortSetup>,
        protocols: Vec<Arc<dyn Setup>>,
        streams: Streams,
    ) -> RouterConfig {
        RouterConfig {
            name,
            router_id,
            ipv6: None,
            ports,
            attached: Vec::new(),
            profile: DeviceProfile::ideal(),
            protocols,
            table_driver: Arc::new(driver::model::ModelSpec {}),
            ttl: TtlModel::Uniform,
            diffserv: None,
            conditioning: Conditioning::default(),
            streams,
        }
    }

    pub(super) fn control(&self) -> plane::Config {
        let interface = |(i, p): (usize, &PortSetup)| Interface {
            kind: InterfaceKind::Port(PortId(i as u16)),
            addresses: addresses_of(p),
            link_local: p.ipv6.map(|_| wire::nd::link_local(p.mac)),
            neighbor: p.neighbor,
            neighbor_id: p.neighbor_id,
            mtu: p.mtu,
            cost: p.cost,
            reservable: p.reservable,
            up: true,
        };
        let interfaces = self.ports.iter().enumerate().map(interface).collect();
        let mut interfaces = Interfaces::new(self.name.clone(), self.router_id, interfaces)
            .with_attached(self.attached.iter().cloned());
        if let Some(address) = self.ipv6 {
            interfaces = interfaces.with_loopback6(address);
        }
        let control = &self.profile.control;
        plane::Config {
            services: Services::new(interfaces, (Label::FIRST_UNRESERVED, Label::MAX), self.streams),
            costs: control.costs(),
            queue_messages: control.queue_messages,
            alert_queue_messages: control.alert_queue_messages,
        }
    }

    /// Empty forwarding tables, and the driver that writes them.
    pub(super) fn plane(&self, control: &ControlPlane) -> ForwardingPlane {
        ForwardingPlane::new(&*self.table_driver, self.forwarding(control), self.timing())
    }

    fn forwarding(&self, control: &ControlPlane) -> forwarding::Config {
        let (explicit_null_ttl, diffserv) = (self.ttl, self.diffserv);
        let llc = control.listens_to_llc();
        let mut random = self.streams.stream(&format!("{}/ecmp", self.name));
        let seed = Seed(random.next_u64(), random.next_u64());
        let tables = &self.profile.tables;
        let most = |limit: Option<u32>| limit.map_or(usize::MAX, |most| most as usize);
        forwarding::Config {
            explicit_null_ttl,
            diffserv,
            llc,
            seed,
            ilm_max: most(tables.labels_max),
            fib_max: most(tables.prefixes_max),
            filters_max: most(tables.filters_max),
            groups_max: most(tables.groups_max),
            lists_max: most(tables.replications_max),
            multicast_max: most(tables.multicast_max),
            ..forwarding::Config::default()
        }
    }

    /// What the driver takes for writes; which fail is drawn from a stream of the router's own.
    fn timing(&self) -> Timing {
        let random = self.streams.stream(&format!("{}/tables", self.name));
        let times = Table::ALL.map(|table| self.profile.tables.time(table));
        Timing { times, failures: self.profile.tables.failures, random }
    }
}
