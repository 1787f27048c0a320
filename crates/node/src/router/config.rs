//! How a router is set up.

use crate::profile::DeviceProfile;
use base::plane::TtlModel;
use base::random::Rng;
use base::{DiffServConfig, MacAddr, PortId, Rate, Span, Streams};
use control::services::{Interface, Interfaces, Services};
use control::{ControlPlane, Setup, plane};
use core::net::Ipv4Addr;
use forwarding::Seed;
use forwarding::conditioner::Conditioner;
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
    /// The neighbour's address, if there is just one.
    pub neighbor: Option<Ipv4Addr>,
    /// The neighbour's router id, if it is known.
    pub neighbor_id: Option<Ipv4Addr>,
    /// Longest packet (Ethernet payload) in bytes.
    pub mtu: u32,
    /// Bandwidth that LSPs may reserve; absent where nobody signals.
    pub reservable: Option<Rate>,
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
    /// Each port's place here is its [`PortId`].
    pub ports: Vec<PortSetup>,
    /// How long the router takes for what it does.
    pub profile: DeviceProfile,
    /// The protocols that it speaks, in the order in which they are asked.
    pub protocols: Vec<Arc<dyn Setup>>,
    /// Time-to-live model of what arrives with explicit null, and of nothing else: each LSP says its own.
    pub ttl: TtlModel,
    /// DiffServ over MPLS (RFC 3270) of the forwarding plane; if absent, it does not support it.
    pub diffserv: Option<DiffServConfig>,
    /// Meters, markers and policers at ingress ports.
    pub conditioning: Conditioning,
    /// Random streams of the run.
    pub streams: Streams,
}

impl RouterConfig {
    pub(super) fn control(&self) -> plane::Config {
        let interface = |(i, p): (usize, &PortSetup)| Interface {
            port: PortId(i as u16),
            address: p.address,
            prefix_len: p.prefix_len,
            neighbor: p.neighbor,
            neighbor_id: p.neighbor_id,
            mtu: p.mtu,
            reservable: p.reservable,
            up: true,
        };
        let interfaces = self.ports.iter().enumerate().map(interface).collect();
        let interfaces = Interfaces::new(self.name.clone(), self.router_id, interfaces);
        let control = &self.profile.control;
        plane::Config {
            services: Services::new(interfaces, self.streams),
            costs: control.costs(),
            queue_messages: control.queue_messages,
            alert_queue_messages: control.alert_queue_messages,
        }
    }

    pub(super) fn forwarding(&self, control: &ControlPlane) -> forwarding::Config {
        let (explicit_null_ttl, diffserv) = (self.ttl, self.diffserv);
        let llc = control.listens_to_llc();
        let mut random = self.streams.stream(&format!("{}/ecmp", self.name));
        let seed = Seed(random.next_u64(), random.next_u64());
        forwarding::Config { explicit_null_ttl, diffserv, llc, seed, ..forwarding::Config::default() }
    }

    pub(super) fn write_time(&self) -> forwarding::WriteTime {
        let tables = &self.profile.tables;
        forwarding::WriteTime {
            fixed: Span::from_secs_f64(tables.write_us.max(0.0) / 1e6),
            per_entry: Span::from_secs_f64(tables.per_entry_ns.max(0.0) / 1e9),
        }
    }
}
