//! Tests of LSPs (RFC 8029, RFC 6425) as users ask for them: which FEC they mean, and what has come of a test.

use super::Network;
use super::description::P2mpSpec;
use super::p2mp::tree_id;
use super::p2mp_ldp::lsp_id;
use super::problem::LspTestProblem;
use super::spec::p2mp::TreeProtocol;
use base::describe::{Record, Value};
use base::diagnostic::{At, Diagnostic};
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{Command, Label, NodeId, Span};
use control::lsp_ping::{self, LspPing, Mode};
use control::rsvp::{Role, Rsvp};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::ldp::P2mp;
use wire::lsp_ping::{Fec, Responder};

base::words! {
    /// Who gives the labels of an LSP that is tested. What carries it on its way is found by the head end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TestedBy {
        /// RSVP-TE.
        Rsvp = "rsvp",
        /// LDP.
        Ldp = "ldp",
        /// BGP (RFC 8277).
        Bgp = "bgp",
        /// Whoever does: LDP, TDP or BGP.
        Any = "any",
    }
}

base::words! {
    /// How replies come (RFC 8029, 3).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ReplyBy {
        /// Not at all.
        None = "none",
        /// As a UDP datagram.
        Udp = "udp",
        /// The same, with the Router Alert option, and not along an LSP.
        RouterAlert = "router-alert",
        /// By a control channel of the application.
        ControlChannel = "control-channel",
    }
    default Udp;
}

base::record! {
    /// A test of an LSP (RFC 8029; RFC 6425 of one with several ends).
    #[derive(Clone, Debug, PartialEq)]
    pub struct LspTestSpec {
        /// What is tested: a group of LSPs of RSVP-TE, or a point-to-multipoint LSP, that begins here, by name; or a
        /// node, an address or a prefix that packets get a label to.
        pub to: String;
        /// Who gives its labels.
        pub protocol: Option<TestedBy>, absent "rsvp of a group of LSPs, bgp of an IPv6 prefix, else ldp";
        /// Which LSP of the group, from 0.
        pub index: u32 = 0;
        /// Is each hop to answer?
        pub trace: bool = false;
        /// How many requests, if it is no trace.
        pub count: u32 = 1, in 1..=10_000;
        /// From one to the next.
        pub interval: Span = Span::from_secs(1), in 1..=3_600_000_000_000_000;
        /// How long a reply may take.
        pub wait: Span = Span::from_secs(2), in 1..=60_000_000_000_000;
        /// The most hops of a trace.
        pub hops: u8 = 30, in 1..=255;
        /// How replies come.
        pub reply: ReplyBy = ReplyBy::Udp;
        /// Bytes of the IP packet, if it is to be longer than it would be.
        pub size: Option<u16>, in 1..=65_535;
        /// How replies are marked: the byte of the IP header.
        pub tos: Option<u8>, in 0..=255;
        /// Where requests are sent: an address of 127.0.0.0/8, by which routers may choose among several ways; or of
        /// ::ffff:127.0.0.0/104, to send packets of IPv6. Those are sent in any case to an edge that takes no others.
        pub destination: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
        /// Of a point-to-multipoint LSP of RSVP-TE: the one leaf that is to reply, and routers on the way to it.
        pub leaf: Option<String>;
        /// Of a point-to-multipoint LSP: the one router that is to reply, a node or an address of it.
        pub router: Option<String>;
        /// How long replies of a point-to-multipoint LSP may wait, so that they do not come all at once. They are
        /// waited for so much longer.
        pub jitter: Option<Span>, in 0..=60_000_000_000_000, absent "1 ms for each leaf of more than 16, 100 ms where the leaves are not known, else none";
    }
}

impl Network {
    /// Begins a test at a router as a user asks for it: the number by which table `lsp_probes` names it.
    pub fn test_lsp(&mut self, node: usize, asked: &Value) -> Result<u32, Diagnostic> {
        let spec = LspTestSpec::read_record(asked, "")?;
        self.check_local(node)?;
        if self.router(node).is_none() {
            return Err(LspTestProblem::NoRouter { node: self.node_name(node).into() }.into());
        }
        if !spec.destination.to_canonical().is_loopback()
            || spec.destination == IpAddr::V6(Ipv6Addr::LOCALHOST)
        {
            let address = spec.destination.to_string();
            return Err(Diagnostic::new(LspTestProblem::Destination { address }).at("destination"));
        }
        let fec = self.tested(node, &spec).at("to")?;
        let responder = self.responder(&fec, &spec)?;
        let number = self.lsp_tests.len() as u32 + 1;
        let mode = match spec.trace {
            true => Mode::Trace { hops: spec.hops },
            false => Mode::Ping { count: spec.count, interval: spec.interval },
        };
        let command = lsp_ping::Command {
            mode,
            wait: spec.wait,
            reply_mode: match spec.reply {
                ReplyBy::None => 1,
                ReplyBy::Udp => 2,
                ReplyBy::RouterAlert => 3,
                ReplyBy::ControlChannel => 4,
            },
            size: spec.size,
            tos: spec.tos,
            destination: spec.destination,
            responder,
            jitter_ms: spec.jitter.map(|longest| (longest.0 / Span::from_ms(1).0) as u32),
            ..lsp_ping::Command::new(number, fec)
        };
        let command = Command::Protocol(base::ProtocolValue::new(command));
        let sent = self.world.command(self.now(), NodeId(node as u32), command);
        sent.map_err(|error| LspTestProblem::Failed { error: error.to_string() })?;
        // A router that is down, or restarts, does not do it.
        let leaves = self.p2mp.iter().find(|tree| tree.name == spec.to).map_or(0, |tree| tree.leaves.len());
        let wait = spec.wait + spec.jitter.unwrap_or(Span::from_ms((leaves as i64).max(100)));
        let longest = match mode {
            Mode::Ping { count, interval } => Span(interval.0 * i64::from(count) + wait.0),
            Mode::Trace { hops } => Span(wait.0 * 2 * (i64::from(hops) + 1)),
        };
        self.lsp_tests.push(self.now() + longest);
        Ok(number)
    }

    /// Has a test at a router ended, or is it none?
    pub fn is_lsp_tested(&self, node: usize, number: u32) -> bool {
        let is_late = |place: u32| self.lsp_tests.get(place as usize).is_none_or(|end| *end < self.now());
        let is_done = |ping: &LspPing| ping.is_done(number);
        self.protocol::<LspPing>(node).is_none_or(is_done) || number.checked_sub(1).is_none_or(is_late)
    }

    /// Has the tables of a router do something else with a label, without telling its control plane: packets leave with
    /// another label, or there is no entry any more.
    pub fn break_label(&mut self, node: usize, label: u32, out: Option<u32>) -> Result<(), Diagnostic> {
        self.check_local(node)?;
        let known = |label: u32| Label::new(label).ok_or(LspTestProblem::Label { label });
        let (label, out) = (known(label)?, out.map(known).transpose()?);
        let router =
            self.router(node).ok_or(LspTestProblem::NoRouter { node: self.node_name(node).into() })?;
        if router.forwarding().ilm_row(label).is_none() {
            let (node, label) = (self.node_name(node).into(), label.value());
            return Err(LspTestProblem::NoEntry { node, label }.into());
        }
        let command = Command::LabelFault { label, out };
        let sent = self.world.command(self.now(), NodeId(node as u32), command);
        sent.map_err(|error| LspTestProblem::Failed { error: error.to_string() }.into())
    }

    /// Who of the routers of a point-to-multipoint LSP is to reply.
    fn responder(&self, fec: &Fec, spec: &LspTestSpec) -> Result<Option<Responder>, Diagnostic> {
        let said = [
            ("leaf", spec.leaf.is_some()),
            ("router", spec.router.is_some()),
            ("jitter", spec.jitter.is_some()),
        ];
        let mut said = said.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| key);
        let key = said.next();
        let name = || spec.to.clone();
        if let Some(key) = key.filter(|_| !fec.has_several_ends()) {
            return Err(Diagnostic::new(LspTestProblem::OneEnd { name: name(), key }).at(key).on_key());
        }
        match (&spec.leaf, &spec.router) {
            (Some(_), Some(_)) => {
                Err(Diagnostic::new(LspTestProblem::LeafAndRouter {}).at("router").on_key())
            }
            (Some(_), None) if matches!(fec, Fec::LdpP2mp { .. }) => {
                Err(Diagnostic::new(LspTestProblem::LeafOfLdp { name: name() }).at("leaf").on_key())
            }
            (Some(leaf), None) => {
                let tree = self.p2mp.iter().find(|tree| tree.name == spec.to);
                let is_it = |place: &usize| self.node_name(*place) == leaf;
                let known = tree.and_then(|tree| tree.leaves.iter().map(|(place, _)| *place).find(is_it));
                let no_leaf = || {
                    let leaf = leaf.clone();
                    Diagnostic::new(LspTestProblem::NoLeaf { name: name(), leaf }).at("leaf")
                };
                let address = IpAddr::V4(self.loopback(known.ok_or_else(no_leaf)?));
                Ok(Some(Responder::Egress { address }))
            }
            (None, Some(_)) if spec.trace => {
                Err(Diagnostic::new(LspTestProblem::RouterOfTrace {}).at("router").on_key())
            }
            (None, Some(router)) => {
                let node = self.description().nodes.iter().position(|known| known.name == *router);
                let address =
                    node.map(|node| IpAddr::V4(self.loopback(node))).or_else(|| router.parse().ok());
                let no_router =
                    || Diagnostic::new(LspTestProblem::NoResponder { name: router.clone() }).at("router");
                Ok(Some(Responder::Node { address: address.ok_or_else(no_router)? }))
            }
            (None, None) => Ok(None),
        }
    }

    /// A point-to-multipoint LSP that begins here.
    fn tested_tree(&self, node: usize, index: usize, tree: &P2mpSpec) -> Result<Fec, Diagnostic> {
        let name = || tree.name.clone();
        if tree.root != node {
            let (from, here) = (self.node_name(tree.root).into(), self.node_name(node).into());
            return Err(LspTestProblem::Elsewhere { name: name(), from, here }.into());
        }
        match tree.protocol {
            TreeProtocol::Ldp => {
                let root = IpAddr::V4(self.loopback(node));
                let P2mp { root, opaque } = P2mp::generic(root, lsp_id(index, tree));
                Ok(Fec::LdpP2mp { root, opaque })
            }
            TreeProtocol::RsvpTe => {
                let (p2mp_id, tunnel_id) = tree_id(index);
                let known = self.protocol::<Rsvp>(node).and_then(|rsvp| rsvp.p2mp_fec(p2mp_id, tunnel_id));
                known.ok_or_else(|| LspTestProblem::IsDown { name: name() }.into())
            }
        }
    }

    /// The FEC that a user means.
    fn tested(&self, node: usize, spec: &LspTestSpec) -> Result<Fec, Diagnostic> {
        let group = self.find_lsp(&spec.to);
        if let Some(group) = group.filter(|_| spec.protocol.is_none_or(|by| by == TestedBy::Rsvp)) {
            return self.tested_tunnel(node, group, spec);
        }
        let tree = self.p2mp.iter().enumerate().find(|(_, tree)| tree.name == spec.to);
        let is_by = |tree: &P2mpSpec| match spec.protocol {
            None | Some(TestedBy::Any) => true,
            Some(TestedBy::Rsvp) => tree.protocol == TreeProtocol::RsvpTe,
            Some(TestedBy::Ldp) => tree.protocol == TreeProtocol::Ldp,
            Some(TestedBy::Bgp) => false,
        };
        if let Some((index, tree)) = tree.filter(|(_, tree)| is_by(tree)) {
            return self.tested_tree(node, index, tree);
        }
        let name = || spec.to.clone();
        if spec.protocol == Some(TestedBy::Rsvp) {
            return Err(LspTestProblem::NoLsp { name: name() }.into());
        }
        match self.tested_prefix(&spec.to)? {
            IpPrefix::V4(prefix) => {
                let (prefix, length) = (prefix.address(), prefix.len());
                Ok(match spec.protocol {
                    Some(TestedBy::Bgp) => Fec::BgpIpv4 { prefix, length },
                    Some(TestedBy::Any) => Fec::GenericIpv4 { prefix, length },
                    _ => Fec::LdpIpv4 { prefix, length },
                })
            }
            IpPrefix::V6(prefix) => {
                let (prefix, length) = (prefix.address(), prefix.len());
                match spec.protocol {
                    Some(TestedBy::Ldp) => Err(LspTestProblem::LdpOfIpv6 { name: name() }.into()),
                    Some(TestedBy::Any) => Ok(Fec::GenericIpv6 { prefix, length }),
                    _ => Ok(Fec::BgpIpv6 { prefix, length }),
                }
            }
        }
    }

    fn tested_prefix(&self, to: &str) -> Result<IpPrefix, Diagnostic> {
        if let Some(node) = self.description().nodes.iter().position(|known| known.name == to) {
            return Ok(Prefix::host(self.loopback(node)).into());
        }
        let host = |address| match address {
            IpAddr::V4(address) => IpPrefix::V4(Prefix::host(address)),
            IpAddr::V6(address) => IpPrefix::V6(Prefix6::host(address)),
        };
        let read = match to.split_once('/') {
            Some(_) => to.parse().ok(),
            None => to.parse().ok().map(host),
        };
        read.ok_or_else(|| LspTestProblem::NoTarget { name: to.into() }.into())
    }

    /// The LSP that carries the traffic of a tunnel now.
    fn tested_tunnel(&self, node: usize, group: usize, spec: &LspTestSpec) -> Result<Fec, Diagnostic> {
        let name = || spec.to.clone();
        let from = self.lsps[group].spec.from;
        if from != node {
            let (from, here) = (self.node_name(from).into(), self.node_name(node).into());
            return Err(LspTestProblem::Elsewhere { name: name(), from, here }.into());
        }
        let Some((id, _)) = self.tunnel(group, spec.index) else {
            let count = self.lsps[group].tunnels.len();
            return Err(LspTestProblem::NoIndex { name: name(), index: spec.index, count }.into());
        };
        let rsvp = self.protocol::<Rsvp>(node);
        let active = rsvp.and_then(|rsvp| rsvp.tunnels().find(|tunnel| tunnel.id == id)?.active);
        let of = rsvp.into_iter().flat_map(Rsvp::lsps).find(|lsp| {
            let is_of_tunnel = (lsp.end_point, lsp.tunnel_id) == (id.to, id.id);
            lsp.role == Role::Head && is_of_tunnel && Some(lsp.lsp_id) == active
        });
        let lsp = of.ok_or_else(|| LspTestProblem::IsDown { name: name() })?;
        Ok(Fec::RsvpIpv4 {
            endpoint: lsp.end_point,
            tunnel_id: lsp.tunnel_id,
            extended_tunnel_id: lsp.extended_tunnel_id.to_bits(),
            sender: lsp.sender,
            lsp_id: lsp.lsp_id,
        })
    }
}
