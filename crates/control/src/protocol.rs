//! The contract of control protocols: what a protocol is given, what it gives, and what it says of itself.
//!
//! A protocol is a sans-I/O state machine. It takes messages, commands, acknowledgements, changes and the time; it
//! gives messages, table writes and events. It knows neither the router around it nor any other protocol: what they
//! share are the services in its [`Context`]. [`ControlPlane`](crate::plane::ControlPlane) composes protocols.

use crate::inquiry::{Fec, FecMapping, Findings, Inquiry};
use crate::lifetimes::SharedKey;
use crate::owner::Owner;
use crate::services::sessions::{
    Connect, Datagram, Options, Refusal, SessionEvent, SessionId, SessionOutput,
};
use crate::services::{Attached, InterfaceId, Services, WatchedLsp, WatchedPath};
use base::describe::SectionDecl;
use base::diagnostic::Diagnostic;
use base::plane::{Ack, Batch, GroupKey, IpPrefix};
use base::table::View;
use base::{Event, MacAddr, PortId, ProtocolId, ProtocolValue, Rate, Time};
use core::any::Any;
use core::fmt::Debug;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

/// What a protocol can listen to. Two protocols never listen to the same, groups apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Listen {
    /// Packets of an IP protocol, by its number, that are addressed to this node.
    IpProtocol(u8),
    /// Packets of an IP protocol, by its number, that carry the Router Alert option (RFC 2113), wherever they go: they
    /// are taken out of the stream.
    RouterAlert(u8),
    /// Datagrams to a UDP port.
    UdpPort(u16),
    /// Connections to a TCP port: [`Protocol::accepts`] is asked of each.
    TcpPort(u16),
    /// What the protocol listens to is taken if it is sent to this group, too.
    Group(Ipv4Addr),
    /// The same, whatever the group; broadcasts are among them.
    EveryGroup,
    /// IPv6 packets of an IP protocol, by its number, that are addressed to this node; ICMPv6 and TCP are the node's
    /// own.
    IpProtocol6(u8),
    /// ICMPv6 messages of a type that are addressed to this node. Their checksum is the protocol's to look at.
    Icmpv6(u8),
    /// Datagrams of IPv6 to a UDP port.
    UdpPort6(u16),
    /// What the protocol listens to of IPv6 is taken if it is sent to this group, too, and comes by a port that has an
    /// IPv6 address.
    Group6(Ipv6Addr),
    /// The same, whatever the group. What has the Router Alert option (RFC 2711) is taken out of the stream, too,
    /// though the group is one that is forwarded.
    EveryGroup6,
    /// The UDP datagrams that the protocol listens to are taken if they are sent to an address of 127/8, too, or to one
    /// of ::ffff:127/104: what tests an LSP is (RFC 8029, 2.1; RFC 5884, 7). They come as [`Arrival::Lsp`] or
    /// [`Arrival::Lsp6`], with the labels that they had.
    Loopback,
    /// Frames with an LLC header (IEEE 802.2) to this service access point.
    Llc(u8),
}

impl Listen {
    /// May several protocols listen to it? A group is none by itself: it adds to what a protocol listens to.
    pub(crate) fn is_shared(self) -> bool {
        matches!(
            self,
            Listen::Group(_)
                | Listen::EveryGroup
                | Listen::Group6(_)
                | Listen::EveryGroup6
                | Listen::Loopback
        )
    }
}

/// What carries a message above IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// An IP protocol, by its number.
    Ip(u8),
    /// A UDP datagram for a port that the protocol listens to.
    Udp {
        /// Source port.
        src: u16,
        /// Destination port.
        dst: u16,
    },
}

/// How a message came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// In an IPv4 packet.
    Ip(IpArrival),
    /// In an IPv4 packet to 127/8, with labels or without.
    Lsp(LspArrival),
    /// In an IPv6 packet.
    Ip6(Ip6Arrival),
    /// In an IPv6 packet to ::ffff:127/104, with labels or without.
    Lsp6(LspArrival<Ip6Arrival>),
    /// In a frame with an LLC header.
    Llc(LlcArrival),
}

impl Arrival {
    /// The port by which it came.
    pub const fn port(&self) -> PortId {
        match self {
            Arrival::Ip(ip) => ip.port,
            Arrival::Lsp(lsp) => lsp.ip.port,
            Arrival::Ip6(ip) => ip.port,
            Arrival::Lsp6(lsp) => lsp.ip.port,
            Arrival::Llc(llc) => llc.port,
        }
    }
}

/// What the LLC header of a received message said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlcArrival {
    /// The port by which it came.
    pub port: PortId,
    /// Ethernet address of the sender.
    pub src: MacAddr,
    /// Ethernet address that it was sent to: the port's own, or a group.
    pub dst: MacAddr,
    /// Destination service access point.
    pub sap: u8,
}

/// What the IP header of a received message said, and by which port it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpArrival {
    /// The port by which it came.
    pub port: PortId,
    /// IP source: the neighbour, or the node that made a message which nodes in between don't read.
    pub src: Ipv4Addr,
    /// IP destination: this node, a group, or a node further away if the message was taken out of the stream.
    pub dst: Ipv4Addr,
    /// IP time to live on arrival.
    pub ttl: u8,
    /// Was it marked for every router on its way to look at: by the Router Alert option (RFC 2113), or by the label of
    /// that name (RFC 3032, 2.1)?
    pub router_alert: bool,
    /// What carried it above IP.
    pub over: Over,
}

/// The deepest stack of labels that is told of a message.
const STACK_MAX: usize = 6;

/// What the headers of a received message said that tests an LSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LspArrival<I = IpArrival> {
    /// What its IP header said.
    pub ip: I,
    /// Entries of the label stack, the top first; those that are not there are zero.
    words: [u32; STACK_MAX],
    depth: u8,
}

impl<I> LspArrival<I> {
    /// A message that came with these entries of a label stack, as they are on the wire, the top first; nothing if they
    /// are too many.
    pub fn new(ip: I, stack: &[u32]) -> Option<LspArrival<I>> {
        let mut words = [0; STACK_MAX];
        words.get_mut(..stack.len())?.copy_from_slice(stack);
        Some(LspArrival { ip, words, depth: stack.len() as u8 })
    }

    /// The entries of the label stack, the top first: label, traffic class, bottom of stack, time to live (RFC 3032,
    /// 2.1).
    pub fn stack(&self) -> &[u32] {
        &self.words[..usize::from(self.depth)]
    }
}

/// What the IPv6 header of a received message said, and by which port it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip6Arrival {
    /// The port by which it came.
    pub port: PortId,
    /// IPv6 source, of a single node: its link-local address, or another one.
    pub src: Ipv6Addr,
    /// IPv6 destination: this node, or a group.
    pub dst: Ipv6Addr,
    /// Hop limit on arrival: 255 if no router has forwarded what was sent with that (RFC 5082, 3).
    pub hop_limit: u8,
    /// Was it marked for every router on its way to look at, by the Router Alert option (RFC 2711)?
    pub router_alert: bool,
    /// What carried it above IPv6, extension headers apart.
    pub over: Over,
}

/// A message that a protocol sends in an IP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The port by which it leaves.
    pub port: PortId,
    /// The neighbour to send the frame to; if absent, the one that the tables name for the destination. What is sent to
    /// a group, or to all on a link, leaves by the port, whatever stands here.
    pub next: Option<Ipv4Addr>,
    /// IP source: not this node where a message keeps the address of the node that made it.
    pub src: Ipv4Addr,
    /// The IPv4 address that the packet goes to: a unicast one or a group.
    pub dst: Ipv4Addr,
    /// What carries it above IP.
    pub over: Over,
    /// IP time to live.
    pub ttl: u8,
    /// Put the Router Alert option in (RFC 2113).
    pub router_alert: bool,
    /// What follows the IP header, or the UDP header.
    pub bytes: Vec<u8>,
}

/// A message that a protocol sends in an IPv6 packet. A node without IPv6 sends none, and a port without an IPv6
/// address sends none to a group or to a link-local address. What is longer than the port takes is not sent: no IPv6
/// packet of the node's own is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message6 {
    /// The port by which it leaves, if that is not for the tables to say.
    pub port: PortId,
    /// The neighbour to send the frame to; if absent, the destination itself where that is link-local, else the one
    /// that the tables name for it. What is sent to a group leaves by the port, whatever stands here.
    pub next: Option<Ipv6Addr>,
    /// IPv6 source: an address of the port, its link-local one or another, or one of the loopback.
    pub src: Ipv6Addr,
    /// IPv6 destination.
    pub dst: Ipv6Addr,
    /// What carries it above IPv6. UDP gets its checksum (RFC 8200, 8.1); other protocols bring their own, over the
    /// pseudo-header that they want.
    pub over: Over,
    /// Hop limit: 1 or 255 for what is for a neighbour.
    pub hop_limit: u8,
    /// Put the Router Alert option in, with this value (RFC 2711).
    pub router_alert: Option<u16>,
    /// What follows the IPv6 header, or the UDP header.
    pub bytes: Vec<u8>,
}

/// A message that a protocol sends in a frame with an LLC header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlcMessage {
    /// The port by which it leaves.
    pub port: PortId,
    /// Ethernet address that it is sent to, mostly a group.
    pub dst: MacAddr,
    /// Service access point of both ends.
    pub sap: u8,
    /// What follows the LLC header.
    pub bytes: Vec<u8>,
}

/// A message that a protocol sends along an LSP, whatever the tables say: by this port, with these labels. What is
/// longer than the port takes is not sent. Its addresses are both of IPv4 or both of IPv6.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LspMessage {
    /// The port by which it leaves.
    pub port: PortId,
    /// The neighbour that the frame goes to.
    pub gateway: IpAddr,
    /// Entries of the label stack as they are on the wire, the top first; none where the first router takes the label
    /// off before there is one.
    pub stack: Vec<u32>,
    /// IP source.
    pub src: IpAddr,
    /// IP destination: of 127/8, or of ::ffff:127/104, where the LSP is tested, else whom the message is for.
    pub dst: IpAddr,
    /// What carries it above IP.
    pub over: Over,
    /// IP time to live, or hop limit.
    pub ttl: u8,
    /// Put the Router Alert option in (RFC 2113; in IPv6 with the value of RFC 7506).
    pub router_alert: bool,
    /// What follows the IP header, or the UDP header.
    pub bytes: Vec<u8>,
}

/// What a protocol wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Send a message in an IPv4 packet.
    Message(Message),
    /// Send a message in an IPv6 packet.
    Message6(Box<Message6>),
    /// Send a message in a frame with an LLC header.
    Llc(LlcMessage),
    /// Send a datagram along an LSP.
    Lsp(Box<LspMessage>),
    /// Hand what both planes say to [`Protocol::handle_findings`].
    Inquire(Box<Inquiry>),
    /// Write tables, and hand the driver's answer to [`Protocol::handle_ack`].
    Tables(Batch),
    /// Do something with a session of the protocol's own.
    Session(SessionId, SessionOutput),
    /// An event for the user.
    Event(Event),
}

/// What changed around a protocol. Each leaves out what it has not asked for, so that a new kind of change edits no
/// protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// An interface can be used from now on, or can't.
    Interface {
        /// The interface that can be used from now on, or can no longer.
        interface: InterfaceId,
        /// The port that it is, if it is one.
        port: Option<PortId>,
        /// Can it be used?
        up: bool,
    },
    /// The next hops of a prefix are others than before: [`Rib::next_hops`](crate::services::Rib::next_hops) says
    /// which.
    Route(IpPrefix),
    /// What is left of the bandwidth of a port is something else:
    /// [`Bandwidth::left`](crate::services::Bandwidth::left) says what.
    Bandwidth {
        /// The port whose link it is.
        port: PortId,
        /// Was bandwidth refused there?
        is_refused: bool,
    },
    /// The link of a port is to be avoided from now on, or no more, or for another reason:
    /// [`Avoided::is`](crate::services::Avoided::is) and
    /// [`Avoided::is_silent`](crate::services::Avoided::is_silent) say which.
    Avoided {
        /// The port whose link it is.
        port: PortId,
    },
    /// Something else than before is known of links beyond their costs:
    /// [`Engineering::path`](crate::services::Engineering::path) may find another path.
    Engineering {
        /// Has a link gone, or does it lead elsewhere?
        is_lost: bool,
    },
    /// Other tunnels than before can be taken by routes, or something else lies behind them:
    /// [`Shortcuts`](crate::services::Shortcuts) says what.
    Shortcuts,
    /// A path that somebody has had watched has come to life, or has died: packets do not get through any more. Nothing
    /// is said of a path that never was alive.
    Liveness {
        /// Which path.
        path: WatchedPath,
        /// Do packets get through?
        is_alive: bool,
    },
    /// Other clients than before want a path watched, or nobody does any more:
    /// [`Liveness::clients`](crate::services::Liveness::clients) says who.
    Watching(WatchedPath),
    /// An LSP is to be verified for who watches it, or no more:
    /// [`Bootstrap::wish`](crate::services::Bootstrap::wish) says what is wanted.
    Verifying(WatchedLsp),
    /// Other routers want LSPs watched that end here:
    /// [`Bootstrap::poll_offer`](crate::services::Bootstrap::poll_offer) says which.
    Offered,
    /// Other ports than before want packets to groups: [`Multicast`](crate::services::Multicast) says which.
    Group(GroupKey),
    /// A packet to a group has come by a port that packets of this key are sent to: another router sends them there,
    /// too.
    WrongInterface {
        /// What the packet is.
        key: GroupKey,
        /// By which port it came.
        port: PortId,
    },
    /// The node restarts: all state is lost, and what was configured is done again.
    Restart,
    /// The protocol alone has restarted: services, its own entries and the tables of the forwarding plane are as they
    /// were. Only a protocol is told that says so ([`Protocol::restarts_alone`]).
    RestartAlone,
}

/// What a protocol can be told of by [`Protocol::handle_change`]. Of a restart it is told in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Ask for [`Change::Interface`] whenever an interface changes.
    Interfaces,
    /// Ask for [`Change::Route`] whenever the best route to a prefix changes.
    Routes,
    /// Ask for [`Change::Bandwidth`] whenever bandwidth is reserved, given back or refused.
    Bandwidth,
    /// Ask for [`Change::Avoided`] whenever a link is to be avoided, or is so no more, or nobody is heard there.
    Avoided,
    /// Ask for [`Change::Engineering`] whenever something else is known of links beyond their costs; what is told in
    /// one moment is one change.
    Engineering,
    /// Ask for [`Change::Shortcuts`] whenever tunnels can be taken by routes, or can't, and when something else lies
    /// behind them.
    Shortcuts,
    /// Ask for [`Change::Liveness`] of every path that is watched, whoever has it watched.
    Liveness,
    /// Ask for [`Change::Watching`]: for who watches paths.
    Watching,
    /// Ask for [`Change::Verifying`]: for who speaks LSP ping.
    Verifying,
    /// Ask for [`Change::Offered`]: for who watches LSPs.
    Offered,
    /// Ask for [`Change::Group`] whenever other ports want packets to a group, and for [`Change::WrongInterface`].
    Groups,
}

/// The services of the node, as a protocol may use them during a call.
#[derive(Debug)]
pub struct Context<'a> {
    /// What all protocols of the node share. They are in a box, so that a protocol can have them in hand for the length
    /// of a call.
    pub services: &'a mut Box<Services>,
    /// The protocol that is called.
    pub owner: Owner,
}

impl Context<'_> {
    /// Begins a TCP connection. What comes of it is told to [`Protocol::handle_session`]; what the protocol does with
    /// it goes as [`Output::Session`].
    pub fn connect(&mut self, now: Time, connect: Connect) -> Result<SessionId, Refusal> {
        let Services { sessions, interfaces, .. } = &mut **self.services;
        sessions.connect(now, self.owner, interfaces, connect)
    }

    /// Binds a UDP port: datagrams to it, of IPv4 and of IPv6, come to [`Protocol::handle_message`]. Without a number
    /// it is an ephemeral one; nothing if the port is in use.
    pub fn bind(&mut self, port: Option<u16>) -> Option<u16> {
        self.services.sessions.bind(self.owner, port)
    }

    /// Gives a UDP port back that the protocol has bound.
    pub fn release(&mut self, port: u16) {
        self.services.sessions.release(self.owner, port);
    }

    /// Sends a UDP datagram by the tables, whatever port that is.
    pub fn send_datagram(&mut self, datagram: Datagram) -> Result<(), Refusal> {
        let Services { sessions, interfaces, .. } = &mut **self.services;
        sessions.send_datagram(interfaces, datagram)
    }
}

/// Which way a message went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// The message came to this node.
    Received,
    /// This node sent the message.
    Sent,
}

/// A control protocol of one node.
///
/// Give it what happens by the `handle_*` methods, with a time that never goes back; after each of them drain
/// [`Protocol::poll_output`] until it returns nothing, then read [`Protocol::poll_timeout`].
pub trait Protocol: Any + Send + Debug {
    /// Its name, by which commands, events and device profiles mean it.
    fn id(&self) -> ProtocolId;

    /// What it listens to; asked once, when the node is made.
    fn listens(&self) -> Vec<Listen>;

    /// What it is told of when it changes; asked once, when the node is made.
    fn subscribes(&self) -> Vec<Topic> {
        Vec::new()
    }

    /// Can it be restarted while the rest of the node goes on? Then it knows what to do with what it has written to
    /// tables before ([`Change::RestartAlone`]).
    fn restarts_alone(&self) -> bool {
        false
    }

    /// Is it part of the forwarding plane, as BFD on a line card? Then its packets do not wait for the control
    /// processor, and take no time.
    fn is_of_forwarding(&self) -> bool {
        false
    }

    /// Do its messages keep links or sessions alive? In real time they wait behind no others.
    fn is_urgent(&self) -> bool {
        false
    }

    /// Does it speak on a port? What it listens to and comes by another port reaches nobody.
    fn speaks_on(&self, port: PortId) -> bool;

    /// What kind of message these bytes are, by a number of the protocol's own: messages are counted by it, and take
    /// the time that the device profile states for it.
    fn kind_of(&self, bytes: &[u8]) -> u8;

    /// The name of a kind of message, as tables and device profiles have it.
    fn kind_name(&self, kind: u8) -> &'static str;

    /// What keeps it from its work now, in words for who looks at the node: a clause each. Nothing that may still come
    /// right by itself.
    fn complaints(&self, now: Time) -> Vec<String> {
        let _ = now;
        Vec::new()
    }

    /// How many states it holds (LSPs, routes, neighbours, as the protocol counts): what a message costs may depend on
    /// it.
    fn state_count(&self) -> usize;

    /// Takes note of a message of its own that reaches the node, before it waits for the control processor, or that
    /// leaves it. For tables only: the state of the protocol must not depend on it.
    fn note(&mut self, now: Time, port: PortId, direction: Direction, bytes: &[u8]) {
        let _ = (now, port, direction, bytes);
    }

    /// Takes a message: the bytes after the header of IP, UDP or LLC.
    fn handle_message(&mut self, now: Time, context: &mut Context<'_>, arrival: &Arrival, bytes: &[u8]);

    /// How the TCP of a connection behaves that another node begins, to a port that this protocol listens to; nothing
    /// refuses it.
    fn accepts(&self, local: SocketAddr, remote: SocketAddr) -> Option<Options> {
        let _ = (local, remote);
        Some(Options::default())
    }

    /// Bytes of the first message in what a session has received and the protocol has not yet been given; nothing as
    /// long as it is not all there. Each message takes its time of the control processor.
    fn message_len(&self, stream: &[u8]) -> Option<usize> {
        Some(stream.len())
    }

    /// Takes note of what happened to a session of its own, or takes a message of it.
    fn handle_session(
        &mut self,
        now: Time,
        context: &mut Context<'_>,
        session: SessionId,
        event: SessionEvent<'_>,
    ) {
        let _ = (now, context, session, event);
    }

    /// Does what is due.
    fn handle_timeout(&mut self, now: Time, context: &mut Context<'_>);

    /// Carries out a command that is meant for it. Is it one that it knows?
    fn handle_command(&mut self, now: Time, context: &mut Context<'_>, command: &ProtocolValue) -> bool;

    /// Takes the driver's answer to a batch of table writes.
    fn handle_ack(&mut self, now: Time, context: &mut Context<'_>, ack: &Ack);

    /// Takes note of what changed around it. It is called after the call that made the change has returned, also if
    /// that was one of its own: protocols in the order of the array, changes in the order in which they were made.
    fn handle_change(&mut self, now: Time, context: &mut Context<'_>, change: &Change);

    /// What it has bound to an FEC of its own; nothing if it knows nothing of it. [`FecMapping::is_spoken`] is not its
    /// business.
    fn mapping(&self, services: &Services, fec: &Fec) -> Option<FecMapping> {
        let _ = (services, fec);
        None
    }

    /// The FEC of the LSP by which its binding of an address, of this rank, sends packets.
    fn carrier(&self, to: Ipv4Addr, rank: u64) -> Option<Fec> {
        let _ = (to, rank);
        None
    }

    /// Takes the answer to an inquiry of its own.
    fn handle_findings(&mut self, now: Time, context: &mut Context<'_>, findings: Findings) {
        let _ = (now, context, findings);
    }

    /// What is to be done next; nothing when the protocol is drained.
    fn poll_output(&mut self) -> Option<Output>;

    /// Takes the memory of a message that has been sent, to use it again. Nothing is lost without it but time.
    fn recycle(&mut self, bytes: Vec<u8>) {
        drop(bytes);
    }

    /// When to call [`Protocol::handle_timeout`]: never later than the next thing due, perhaps earlier.
    fn poll_timeout(&self) -> Option<Time>;
}

/// What is known of a protocol without a node that speaks it: a line of [`PROTOCOLS`](crate::PROTOCOLS).
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// The name that descriptions, costs and events know the protocol by.
    pub id: ProtocolId,
    /// As [`Protocol::kind_name`].
    pub kind_name: fn(u8) -> &'static str,
    /// The tables that it shows, in the order in which they are listed.
    pub views: &'static [View],
    /// What users write of it at a node, under its name among `protocols`; a node speaks it where that is written. If
    /// absent, the description says in another way who speaks it.
    pub section: Option<SectionDecl<dyn Setup>>,
}

impl Known {
    /// The names of its kinds of messages, in the order of their numbers.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        let mut last = UNKNOWN_KIND;
        (0..=u8::MAX).map(self.kind_name).filter(move |&name| {
            let fresh = name != UNKNOWN_KIND && name != last;
            last = name;
            fresh
        })
    }
}

/// The name of a kind of message that a protocol does not know.
pub const UNKNOWN_KIND: &str = "unknown";

/// Something that both ends of a link have to be set up with alike, or they do not become neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// What it is, as a noun in the singular.
    pub what: &'static str,
    /// What it is set to, for people.
    pub value: String,
    /// Is the value nothing that may be shown?
    pub is_secret: bool,
    /// Its numbered keys with their times, if it is authentication that has them. Where both ends have some, these
    /// count and not the value: each end has to take what the other sends.
    pub keys: Vec<SharedKey>,
}

impl Agreement {
    /// One that may be shown.
    pub const fn open(what: &'static str, value: String) -> Agreement {
        Agreement { what, value, is_secret: false, keys: Vec::new() }
    }

    /// One that may not be shown.
    pub const fn secret(what: &'static str, value: String) -> Agreement {
        Agreement { what, value, is_secret: true, keys: Vec::new() }
    }
}

/// A way through a region by which a protocol joins its node to another router, as if a link led there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join<'a> {
    /// That router: the name of a node, or its router id.
    pub router: &'a str,
    /// The region, as [`Agreement`]s have its value. The way itself is in the one that joins all others.
    pub region: String,
    /// What has to be the same at the other end.
    pub wants: Vec<Agreement>,
}

/// How a node is set up to speak a protocol. Who knows which one it is may ask for its settings ([`Any`]).
pub trait Setup: Any + Debug + Send + Sync {
    /// The protocol at a node with these services, in its initial state.
    fn protocol(&self, services: &Services) -> Box<dyn Protocol>;

    /// Does the protocol find IPv4 routes? Then the node is given none by shortest paths.
    fn finds_routes(&self) -> bool {
        false
    }

    /// Does it tell the node of links and what can be reserved on them, so that the node can compute paths?
    fn knows_links(&self) -> bool {
        false
    }

    /// Does it give labels for all of the node's routes?
    fn gives_labels(&self) -> bool {
        false
    }

    /// Does it put labels on packets below those that lead to the next hop?
    fn stacks_labels(&self) -> bool {
        false
    }

    /// Does it take part in LSPs with several ends that leaves set up?
    fn joins_trees(&self) -> bool {
        false
    }

    /// Does it have neighbours watched? Then the node speaks BFD, whether anybody has said so or not.
    fn watches(&self) -> bool {
        false
    }

    /// Does it have those watched that it meets by a port?
    fn watches_at(&self, _attached: &Attached) -> bool {
        false
    }

    /// Those whom it has watched by name, address or router id, wherever they are.
    fn watches_afar(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Does it have its LSPs watched? Then all nodes that speak this protocol, where they may end, speak BFD, too.
    fn watches_lsps(&self) -> Option<ProtocolId> {
        None
    }

    /// What a link lacks of which only one end speaks the protocol, if that is worth a warning.
    fn lacks_alone(&self) -> Option<&'static str> {
        None
    }

    /// What it costs to send by a port, where that is a matter of the protocol; `metric` is what the link says.
    fn cost(&self, _attached: &Attached, _metric: u64) -> Option<u64> {
        None
    }

    /// What it would cost to send by a port if messages of the protocol could say it, and the most that they can, where
    /// that is less.
    fn cost_cut(&self, _attached: &Attached, _metric: u64) -> Option<(u64, u64)> {
        None
    }

    /// What it sends by each port of its own accord, whatever happens, in bits a second: more than the link can carry
    /// is refused.
    fn load(&self) -> Option<Rate> {
        None
    }

    /// Does it bring packets of a group to who wants them? Nothing if that is not its business.
    fn brings(&self, _group: IpAddr) -> Option<bool> {
        None
    }

    /// Does it bring packets of a group only to who names the senders that are wanted?
    fn needs_sources(&self) -> bool {
        false
    }

    /// Does it hear which hosts want a group, or is it told?
    fn hears_hosts(&self, _group: IpAddr) -> bool {
        false
    }

    /// Does it hear which senders of a group hosts name, or is it told?
    fn hears_sources(&self, _group: IpAddr) -> bool {
        false
    }

    /// The nodes, by name, that settings are for, and the key under which they stand: each has to be at the other end
    /// of a link.
    fn neighbors(&self) -> (&'static str, Vec<&str>) {
        ("", Vec::new())
    }

    /// What it wants to have in common with one of those that it expects, by that name.
    fn agreements_with(&self, _: &str) -> Vec<Agreement> {
        Vec::new()
    }

    /// The routers that it meets, by name or by an IPv4 address: each of them has to expect it, too. None if it finds
    /// them by itself.
    fn expected(&self) -> Vec<&str> {
        Vec::new()
    }

    /// By which number others know the node, if that is not its router id.
    fn router_id(&self) -> Option<Ipv4Addr> {
        None
    }

    /// The value of an [`Agreement`], by what it is, that links have which join all others: those with another value
    /// are regions, and reach each other through them alone. Nothing if the protocol has no regions.
    fn center(&self) -> Option<(&'static str, String)> {
        None
    }

    /// The routers that it joins the node to through other regions, and the key of the list in which they stand. Both
    /// ends have to say so.
    fn joins(&self) -> (&'static str, Vec<Join<'_>>) {
        ("", Vec::new())
    }

    /// What is wrong with its settings at a node with links to these others, by their names.
    fn check_links(&self, _nodes: &[&str]) -> Result<(), Diagnostic> {
        Ok(())
    }

    /// The same with router ids in place of names of nodes; nothing if it names none. `id_of` gives the number that
    /// others know a node by, if it speaks the protocol.
    fn with_router_ids(&self, _id_of: &dyn Fn(&str) -> Option<Ipv4Addr>) -> Option<Arc<dyn Setup>> {
        None
    }

    /// The mesh that the node is in, by a name: all nodes in it meet each other, without naming each other.
    fn mesh(&self) -> Option<String> {
        None
    }

    /// The same with the other nodes of the mesh, by their router ids; nothing if it is in none.
    fn with_mesh(&self, _others: &[Ipv4Addr]) -> Option<Arc<dyn Setup>> {
        None
    }

    /// What has to be as at the other end of a link, on which packets have so many bytes at most; nothing where the
    /// protocol is not spoken.
    fn agreements(&self, attached: &Attached, mtu: u32) -> Option<Vec<Agreement>> {
        let _ = (attached, mtu);
        None
    }
}
