//! A protocol that talks over TCP and UDP, and chains of routers that speak it.

use base::plane::{Ack, NextHop, Prefix};
use base::{Command, MacAddr, NodeId, PortId, ProtocolId, ProtocolValue, Rate, Span, Streams, Time};
use control::protocol::{Arrival, Change, Context, Listen, Output};
use control::services::Services;
use control::services::sessions::{
    Closed, Congestion, Connect, Datagram, Options, SessionEvent, SessionId, SessionOutput, SessionRow,
};
use control::{Protocol, Setup};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use engine::{LinkSpec, World};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use twinplane_node::Router;
use twinplane_node::router::{PortSetup, RouterConfig};

/// A millisecond in picoseconds.
pub const MS: u64 = 1_000_000_000;
/// A second in picoseconds.
pub const S: u64 = 1_000 * MS;
/// The port that servers listen to.
pub const PORT: u16 = 4_000;
/// Options of connections of which thousands stand beside each other: small buffers, no timeout.
pub const SMALL: Options = Options {
    ttl: 64,
    ttl_min: 0,
    dscp: base::Dscp::CS6,
    receive_bytes: 4_096,
    send_bytes: 4_096,
    timeout: None,
    keep_alive: None,
    nagle: false,
    key: None,
    mss: None,
    congestion: Congestion::Reno,
    ack_delay: Some(Span::from_ms(10)),
    window_scaling: true,
    sack: true,
    program: false,
};

/// What a node does.
#[derive(Clone, Debug)]
pub struct Role {
    /// TCP and UDP port that it listens to.
    pub listens: Option<u16>,
    /// How the connections behave that it accepts; none are if absent.
    pub accepts: Option<Options>,
    /// Connections that it begins, and when.
    pub connects: Vec<(Time, Connect)>,
    /// Bytes that it sends over each connection as soon as that is established.
    pub sends: usize,
    /// Bytes of each message, for the control processor.
    pub message: usize,
    /// Does it send back what it receives?
    pub echoes: bool,
    /// Does it close a connection when it has sent all of its own, and when the other end has closed?
    pub closes: bool,
    /// A datagram that it sends from a bound port, and when.
    pub asks: Option<(Time, SocketAddr)>,
}

impl Default for Role {
    fn default() -> Role {
        Role {
            listens: None,
            accepts: Some(Options::default()),
            connects: Vec::new(),
            sends: 0,
            message: 4_096,
            echoes: false,
            closes: true,
            asks: None,
        }
    }
}

impl Role {
    /// Listens, and sends back what it hears.
    pub fn server() -> Role {
        Role { listens: Some(PORT), echoes: true, ..Role::default() }
    }

    /// Connects at the beginning and sends so many bytes.
    pub fn client(to: Ipv4Addr, sends: usize) -> Role {
        Role { connects: vec![(Time::ZERO, connect(to))], sends, ..Role::default() }
    }
}

pub fn connect(to: Ipv4Addr) -> Connect {
    Connect { from: None, port: None, to: SocketAddr::new(to.into(), PORT), options: Options::default() }
}

/// The byte at a place of the stream that every node sends.
pub fn byte(place: usize) -> u8 {
    (place.wrapping_mul(2_654_435_761) >> 13) as u8
}

/// What came by one session.
#[derive(Clone, Debug, Default)]
pub struct Heard {
    pub received: usize,
    /// Is every byte the one that belongs there?
    pub right: bool,
    pub log: Vec<String>,
    pub closed: Option<Closed>,
}

/// The protocol.
#[derive(Debug)]
pub struct Talk {
    pub role: Role,
    pub sessions: BTreeMap<SessionId, Heard>,
    pub datagrams: Vec<(u16, Vec<u8>)>,
    pub refused: Vec<String>,
    outputs: VecDeque<Output>,
    begun: usize,
    asked: bool,
}

impl Setup for Role {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        Box::new(Talk {
            role: self.clone(),
            sessions: BTreeMap::new(),
            datagrams: Vec::new(),
            refused: Vec::new(),
            outputs: VecDeque::new(),
            begun: 0,
            asked: false,
        })
    }
}

impl Talk {
    fn output(&mut self, session: SessionId, output: SessionOutput) {
        self.outputs.push_back(Output::Session(session, output));
    }

    /// Sends a byte more over every session.
    pub fn say(&mut self) {
        for session in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.output(session, SessionOutput::Send(vec![0]));
        }
    }

    /// Resets every session.
    pub fn abort_all(&mut self) {
        for session in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.output(session, SessionOutput::Abort);
        }
    }
}

impl Protocol for Talk {
    fn id(&self) -> ProtocolId {
        ProtocolId::new("talk")
    }
    fn listens(&self) -> Vec<Listen> {
        self.role
            .listens
            .into_iter()
            .flat_map(|port| [Listen::TcpPort(port), Listen::UdpPort(port), Listen::UdpPort6(port)])
            .collect()
    }
    fn speaks_on(&self, _: PortId) -> bool {
        true
    }
    fn kind_of(&self, _: &[u8]) -> u8 {
        0
    }
    fn kind_name(&self, _: u8) -> &'static str {
        "talk"
    }
    fn state_count(&self) -> usize {
        self.sessions.len()
    }
    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        (stream.len() >= self.role.message).then_some(self.role.message)
    }
    fn accepts(&self, _: SocketAddr, _: SocketAddr) -> Option<Options> {
        self.role.accepts
    }
    fn handle_session(&mut self, _: Time, _: &mut Context<'_>, session: SessionId, event: SessionEvent<'_>) {
        let heard = self.sessions.entry(session).or_insert(Heard { right: true, ..Heard::default() });
        match event {
            SessionEvent::Received(bytes) => {
                heard.right &= bytes.iter().zip(heard.received..).all(|(&found, place)| found == byte(place));
                heard.received += bytes.len();
                if self.role.echoes {
                    self.output(session, SessionOutput::Send(bytes.to_vec()));
                }
            }
            other => {
                heard.log.push(format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_owned());
                match other {
                    SessionEvent::Connected | SessionEvent::Accepted { .. } if self.role.sends > 0 => {
                        let bytes = (0..self.role.sends).map(byte).collect();
                        self.output(session, SessionOutput::Send(bytes));
                        if self.role.closes {
                            self.output(session, SessionOutput::Close);
                        }
                    }
                    SessionEvent::PeerClosed if self.role.closes => {
                        self.output(session, SessionOutput::Close)
                    }
                    SessionEvent::Closed(why) => heard.closed = Some(why),
                    _ => {}
                }
            }
        }
    }
    fn handle_message(&mut self, _: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]) {
        let (from, own, over): (IpAddr, IpAddr, _) = match arrival {
            Arrival::Ip(ip) => (ip.src.into(), ip.dst.into(), ip.over),
            Arrival::Ip6(ip) => (ip.src.into(), ip.dst.into(), ip.over),
            Arrival::Lsp(_) | Arrival::Lsp6(_) | Arrival::Llc(_) => return,
        };
        let control::protocol::Over::Udp { src, dst } = over else { return };
        self.datagrams.push((dst, bytes.to_vec()));
        if self.role.echoes {
            let to = SocketAddr::new(from, src);
            let datagram = Datagram {
                from: Some(own),
                port: dst,
                to,
                ttl: 64,
                dscp: base::Dscp::CS6,
                bytes: bytes.to_vec(),
            };
            context.send_datagram(datagram).expect("a datagram");
        }
    }
    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>) {
        while let Some(&(at, connect)) = self.role.connects.get(self.begun)
            && at <= now
        {
            self.begun += 1;
            match context.connect(now, connect) {
                Ok(session) => {
                    self.sessions.insert(session, Heard { right: true, ..Heard::default() });
                }
                Err(why) => self.refused.push(format!("{why:?}")),
            }
        }
        if let Some((at, to)) = self.role.asks
            && at <= now
            && !self.asked
        {
            self.asked = true;
            let port = context.bind(None).expect("a port");
            let datagram =
                Datagram { from: None, port, to, ttl: 64, dscp: base::Dscp::CS6, bytes: b"who".to_vec() };
            context.send_datagram(datagram).expect("a datagram");
        }
    }
    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }
    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}
    fn handle_change(&mut self, _: Time, _: &mut Context<'_>, change: &Change) {
        if matches!(change, Change::Restart) {
            self.sessions.clear();
            self.outputs.clear();
        }
    }
    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }
    fn poll_timeout(&self) -> Option<Time> {
        let connects = self.role.connects.get(self.begun).map(|(at, _)| *at);
        let asks = self.role.asks.filter(|_| !self.asked).map(|(at, _)| at);
        [connects, asks].into_iter().flatten().min()
    }
}

/// The address of a router towards the one before it (0) or behind it (1) in a chain.
pub fn address(router: usize, side: u8) -> Ipv4Addr {
    let link = if side == 0 { router } else { router + 1 };
    Ipv4Addr::new(10, 0, link as u8, if side == 0 { 2 } else { 1 })
}

/// The router id of a router of a chain.
pub fn id(router: usize) -> Ipv4Addr {
    Ipv4Addr::new(192, 0, 2, router as u8 + 1)
}

/// How a router of a chain is made: its first port leads back, if there is a router before it, its last one on.
pub fn config(router: usize, role: Option<Role>, streams: Streams) -> RouterConfig {
    let mac = |side| MacAddr([2, 0, 0, 0, router as u8, side]);
    let port = |side| PortSetup::new(mac(side), address(router, side), 24);
    let ports = if router == 0 { vec![port(1)] } else { vec![port(0), port(1)] };
    let protocols = role.into_iter().map(|role| Arc::new(role) as Arc<dyn Setup>).collect();
    RouterConfig::ideal(format!("r{router}"), id(router), ports, protocols, streams)
}

/// Routes to the networks and router ids of a chain of so many routers, at one of them.
pub fn routes(router: usize, count: usize) -> Vec<Command> {
    let mut all = Vec::new();
    let via = |back: bool| NextHop::Via {
        port: PortId(u16::from(!back && router > 0)),
        gateway: if back { address(router - 1, 1) } else { address(router + 1, 0) }.into(),
    };
    for other in (0..count).filter(|&other| other != router) {
        all.push(Command::RouteSet { prefix: Prefix::host(id(other)), next_hop: via(other < router) });
    }
    for link in (1..count).filter(|&link| link != router && link != router + 1) {
        let prefix = Prefix::new(Ipv4Addr::new(10, 0, link as u8, 0), 24);
        all.push(Command::RouteSet { prefix, next_hop: via(link < router) });
    }
    all
}

/// A chain of routers with links of 1 Gbit/s and 1 ms.
pub fn chain(seed: u64, roles: Vec<Option<Role>>) -> World {
    let mut world = World::new(seed);
    let count = roles.len();
    for (router, role) in roles.into_iter().enumerate() {
        let node = world.add_device(Box::new(Router::new(config(router, role, world.streams()))));
        for route in routes(router, count) {
            world.command(Time::ZERO, node, route).expect("a router");
        }
    }
    link(&mut world, count);
    world
}

/// Links the routers of a chain.
pub fn link(world: &mut World, count: usize) {
    for router in 1..count {
        let [a, b] = [router - 1, router].map(|node| NodeId(node as u32));
        world.add_link(LinkSpec::new(a, b, Rate::from_gbps(1), Span::from_ms(1))).expect("a link");
    }
}

pub fn router(world: &World, node: usize) -> &Router {
    world.device(NodeId(node as u32)).expect("a router")
}

pub fn talk(world: &World, node: usize) -> &Talk {
    router(world, node).control().protocol().expect("the protocol")
}

/// The connections of a router.
pub fn rows(world: &World, node: usize) -> Vec<SessionRow> {
    router(world, node).control().services().sessions.rows().collect()
}

/// An IPv4 address of sockets.
pub fn socket(address: Ipv4Addr, port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(address), port)
}
