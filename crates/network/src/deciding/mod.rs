//! Which tables decide on a packet at each router of its way, what they override, and where it ends: by the tables
//! themselves, for a packet that nobody sends.
//!
//! The frame is made, and at each router the forwarding plane says what it would do with it (`forwarding::explain`) and
//! writes the frame that would leave; that one arrives at the next router.

mod carriers;
mod packet;
mod words;

pub use packet::PacketSpec;

use crate::Network;
use crate::error::NetworkError;
use crate::problem::RunProblem;
use base::diagnostic::Diagnostic;
use base::table::{Rows, Table};
use base::{Frame, MacAddr, NodeId, PortId};
use core::net::IpAddr;
use forwarding::explain::{Explained, Outcome};

base::table! {
    /// What decides on a packet at each router of its way, of a packet that is asked for and not sent.
    pub struct PathRow in "path" key ["hop", "step"] {
        /// The router, counted from 1.
        hop: u32,
        /// The entry at that router, counted from 1: first labels that end there, last what decides.
        step: u32,
        /// The router.
        node: String,
        /// The labels that the packet has before the entry, outermost first; absent if it has none.
        labels: Option<String>,
        /// `filter`, `ftn`, `ilm` or `fib`; `none` if no entry takes the packet.
        table: &'static str,
        /// What the entry takes: a label, a filter, or a prefix.
        entry: String,
        /// Whose the entry is: an LSP by its name, or `connected`, `static` or a protocol. Absent if it is nobody's.
        owner: Option<String>,
        /// Of a route whose next hop is an address that other routes or LSPs lead to, what leads there: an LSP by its
        /// name, or the protocol whose LSP or route it is, or several. Absent if the entry says the neighbour itself.
        through: Option<String>,
        /// What becomes of the packet: `forward`, `push`, `swap` or `pop` of labels, `deliver`, or `drop` and why.
        action: String,
        /// The next node; absent if the packet does not leave here.
        to: Option<String>,
        /// The port that it leaves by; absent as above.
        port: Option<PortId>,
        /// The neighbour's address; absent as above.
        gateway: Option<IpAddr>,
        /// The neighbour's Ethernet address; absent as above, and if it has to be asked for.
        mac: Option<MacAddr>,
        /// The labels that the packet leaves with, outermost first; absent if it leaves without.
        leaves: Option<String>,
        /// What would decide without the entry, the next best first, up to the first route; then routes to its prefix
        /// that a better one keeps out of the table; then what would lead to its next hop in place of what `through`
        /// says.
        overrides: Vec<String>,
    }
}

/// More routers than a time to live lets a packet pass.
const HOPS_MAX: u32 = 256;

/// Where a packet arrives.
struct At {
    node: usize,
    port: PortId,
}

impl Network {
    /// What decides on a packet that enters the network at a router, or at a host, at each router of this process on
    /// its way.
    pub fn path(&mut self, from: usize, packet: &PacketSpec) -> Result<Table, NetworkError> {
        let to = self.address_of(&packet.to)?;
        let src = match &packet.src {
            Some(src) => self.address_of(src)?,
            None => self.own_address(from, to).unwrap_or(to),
        };
        if src.is_ipv4() != to.is_ipv4() {
            let (src, to) = (src.to_string(), to.to_string());
            return Err(Diagnostic::new(RunProblem::TwoFamilies { src, to }).into());
        }
        let mut at = self.entrance(from, to)?;
        let mut frame = Frame::from_bytes(&packet::frame(&packet.between(src, to), &packet.labels));
        let mut table = Rows::new();
        for hop in 1..HOPS_MAX {
            address(&mut frame, MacAddr::of_port(NodeId(at.node as u32), at.port));
            let Some(explained) = self.explain(&at, &frame) else { break };
            let next = self.push_hop(&mut table, hop, &at, &frame, to, &explained);
            match (next, explained.frame) {
                (Some(next), Some(left)) => (at, frame) = (next, left),
                _ => break,
            }
        }
        Ok(table.finish())
    }

    /// An address that is written as it is, or that of a node.
    pub(crate) fn address_of(&self, text: &str) -> Result<IpAddr, NetworkError> {
        if let Ok(address) = text.parse() {
            return Ok(address);
        }
        let node = self.description.nodes.iter().position(|node| node.name == text);
        let node = node.ok_or_else(|| Diagnostic::new(RunProblem::NoDestination { to: text.into() }))?;
        Ok(self.loopback(node).into())
    }

    /// An address of a node in the family of another; nothing if it has none.
    fn own_address(&self, node: usize, to: IpAddr) -> Option<IpAddr> {
        match to {
            IpAddr::V4(_) => Some(self.loopback(node).into()),
            IpAddr::V6(_) => Some(self.description.nodes[node].ipv6?.into()),
        }
    }

    /// Where a packet of a node enters: at the router itself, by its first port that is up, or at the router that is a
    /// host's gateway.
    fn entrance(&self, from: usize, to: IpAddr) -> Result<At, NetworkError> {
        self.check_node(from)?;
        if let Some(router) = self.router(from) {
            let up = router.forwarding().ports().find(|row| row.config.up);
            let port = up.map(|row| row.port);
            let none = || Diagnostic::new(RunProblem::NoPortUp { node: self.node_name(from).into() });
            return Ok(At { node: from, port: port.ok_or_else(none)? });
        }
        let first = self.facts(from).host.and_then(|_| self.ports_of(from).next());
        let beyond = first.and_then(|(link, side)| {
            let gateway = IpAddr::V4(link.addresses[1 - side]);
            self.beyond(from, link.ports[side], gateway, to)
        });
        beyond.filter(|at| self.router(at.node).is_some()).ok_or_else(|| {
            let (table, node) = ("path".into(), self.node_name(from).into());
            Diagnostic::new(RunProblem::TableOfNone { table, node }).into()
        })
    }

    fn explain(&mut self, at: &At, frame: &Frame) -> Option<Explained> {
        let id = NodeId(at.node as u32);
        let router = self.nodes.get(at.node)?.router_mut(&mut self.world, id)?;
        Some(router.explain(at.port, frame))
    }

    /// The node that has a frame next which leaves by a port to a neighbour: over a shared segment the member with its
    /// address, elsewhere the other end.
    fn beyond(&self, node: usize, port: PortId, gateway: IpAddr, to: IpAddr) -> Option<At> {
        let (link, side) = self.ports_of(node).find(|(link, side)| link.ports[*side] == port)?;
        let far = link.ends()[1 - side];
        if !crate::segment::is_of(self.facts(far), &link.spec) {
            return Some(At { node: far, port: link.ports[1 - side] });
        }
        let wanted = if gateway.is_unspecified() { to } else { gateway };
        let mut found =
            self.segment_members(far).filter(|(link, side)| IpAddr::V4(link.addresses[*side]) == wanted);
        found.next().map(|(link, side)| At { node: link.ends()[side], port: link.ports[side] })
    }

    /// The rows of a router, and where the packet arrives next, if it does at a node that is here.
    fn push_hop(
        &self,
        table: &mut Rows<PathRow>,
        hop: u32,
        at: &At,
        frame: &Frame,
        destination: IpAddr,
        explained: &Explained,
    ) -> Option<At> {
        let node = self.node_name(at.node);
        let before = labels(frame);
        let row = |step: usize| PathRow {
            hop,
            step: step as u32 + 1,
            node: node.into(),
            labels: shown(before.get(step..).unwrap_or_default()),
            table: "none",
            entry: before.first().map_or_else(|| destination.to_string(), u32::to_string),
            owner: None,
            through: None,
            action: String::new(),
            to: None,
            port: None,
            gateway: None,
            mac: None,
            leaves: None,
            overrides: Vec::new(),
        };
        let mut rows: Vec<PathRow> = explained
            .taken
            .iter()
            .enumerate()
            .map(|(step, taken)| PathRow {
                table: words::table(&taken.rule),
                entry: words::entry(&taken.rule),
                owner: self.owner_of(at.node, taken),
                through: self.through(at.node, &taken.rule),
                action: words::action(taken),
                ..row(step)
            })
            .collect();
        if rows.is_empty() {
            rows.push(row(0));
        }
        let mut next = None;
        if let Some(last) = rows.last_mut() {
            let all = explained.overridden.iter().map(|taken| self.overridden(at.node, taken));
            let weaker = explained.taken.last().map(|taken| self.weaker_routes(at.node, &taken.rule));
            let beneath = explained.taken.last().map(|taken| self.weaker_carriers(at.node, &taken.rule));
            last.overrides =
                all.chain(weaker.unwrap_or_default()).chain(beneath.unwrap_or_default()).collect();
            if let Outcome::Leaves { port, gateway, mac } = explained.outcome {
                next = self.beyond(at.node, port, gateway, destination);
                let name = next.as_ref().map_or("tester", |next| self.node_name(next.node));
                last.to = Some(name.into());
                (last.port, last.gateway, last.mac) = (Some(port), Some(gateway), mac);
                last.leaves = explained.frame.as_ref().and_then(|left| shown(&labels(left)));
            }
            if let Some(end) = words::end(&explained.outcome) {
                last.action = end;
            }
        }
        rows.into_iter().for_each(|row| table.push(row));
        next
    }
}

/// Gives a frame the Ethernet address of the port that it arrives at.
fn address(frame: &mut Frame, mac: MacAddr) {
    if let Some(to) = frame.header_mut().first_chunk_mut::<6>() {
        *to = mac.0;
    }
}

/// The labels of a frame, outermost first.
fn labels(frame: &Frame) -> Vec<u32> {
    let count = usize::from(forwarding::punt::labels_of(frame));
    let stack = frame.header().get(14..).unwrap_or_default().chunks_exact(4).take(count);
    stack.map(|word| u32::from(word[0]) << 12 | u32::from(word[1]) << 4 | u32::from(word[2]) >> 4).collect()
}

fn shown(labels: &[u32]) -> Option<String> {
    let labels: Vec<String> = labels.iter().map(u32::to_string).collect();
    (!labels.is_empty()).then(|| labels.join(" "))
}
