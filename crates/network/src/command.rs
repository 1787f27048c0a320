//! What a user does to a running network.

use super::Network;
use super::actions::{Action, Target};
use super::error::NetworkError;
use super::problem::RunProblem;
use super::spec::problem::NetworkProblem;
use base::diagnostic::Diagnostic;
use base::{Command, LinkId, NodeId, PortId, ProtocolId, Span, Time};
use control::Protocol;
use core::net::IpAddr;
use engine::{Fault, FaultKind};
use node::Peer;

impl Network {
    /// The engine's link of a description's link.
    pub fn link_id(&self, link: usize) -> Result<LinkId, NetworkError> {
        match self.links.get(link) {
            Some(known) => Ok(known.id),
            None => Err(Diagnostic::new(NetworkProblem::NoLink { link, count: self.links.len() }).into()),
        }
    }

    /// Puts a fault on the network; a time that has passed means now. Links are the engine's.
    pub fn fault(&mut self, mut fault: Fault) -> Result<(), NetworkError> {
        fault.at = fault.at.max(self.now());
        self.check_rate(&fault.kind)?;
        self.world.fault(fault.clone())?;
        if let Some(kind) = self.beyond_circuit(&fault.kind) {
            self.world.fault(Fault { kind, ..fault.clone() })?;
        }
        self.note_fault(&fault);
        self.expect_routes(&fault);
        Ok(())
    }

    /// Has something fail that [`Network::end_fault`] ends by this mark, a number of the caller's; at `until`, if that
    /// is known, for table `actions`. A time that has passed means now.
    pub fn fault_marked(
        &mut self,
        at: Time,
        kind: FaultKind,
        until: Option<Time>,
        mark: u64,
    ) -> Result<(), NetworkError> {
        let fault = Fault::new(at.max(self.now()), kind);
        self.check_rate(&fault.kind)?;
        self.world.fault_marked(fault.at, fault.kind.clone(), mark)?;
        if let Some(kind) = self.beyond_circuit(&fault.kind) {
            self.world.fault_marked(fault.at, kind, mark)?;
        }
        self.expect_routes(&fault);
        self.note_fault(&Fault { until, ..fault });
        Ok(())
    }

    /// Takes a fault away, with a mark only if none of its kind has begun there since; a time that has passed means
    /// now.
    pub fn end_fault(&mut self, at: Time, kind: FaultKind, mark: Option<u64>) -> Result<(), NetworkError> {
        let at = at.max(self.now());
        self.expect_routes(&Fault::new(at, kind.clone()));
        if let Some(kind) = self.beyond_circuit(&kind) {
            self.world.end_fault(at, kind, mark)?;
        }
        Ok(self.world.end_fault(at, kind, mark)?)
    }

    /// Refuses a rate of a circuit or a virtual path: it would be that of frames between its first node and switch.
    fn check_rate(&self, kind: &FaultKind) -> Result<(), NetworkError> {
        let FaultKind::RateLimit { link, .. } = *kind else { return Ok(()) };
        match self.links.iter().find(|known| known.id == link && known.second().is_some()) {
            Some(known) => {
                let [a, b] = known.ends().map(|end| self.node_name(end));
                let between = format!("{a} - {b}");
                Err(Diagnostic::new(match known.path {
                    Some(_) => RunProblem::RateOfPath { between },
                    None => RunProblem::RateOfCircuit { between },
                })
                .into())
            }
            None => Ok(()),
        }
    }

    /// What a failure of a circuit or a virtual path, or its end, is at its other end: both nodes learn of it.
    fn beyond_circuit(&self, kind: &FaultKind) -> Option<FaultKind> {
        let second = |link: LinkId| self.links.iter().find(|known| known.id == link)?.second();
        Some(match *kind {
            FaultKind::LinkDown { link } => FaultKind::LinkDown { link: second(link)? },
            FaultKind::LinkUp { link } => FaultKind::LinkUp { link: second(link)? },
            FaultKind::LinkHeal { link } => FaultKind::LinkHeal { link: second(link)? },
            _ => return None,
        })
    }

    /// Takes all faults away now: links and devices come up, nothing disturbs them.
    pub fn heal_all(&mut self) -> Result<(), NetworkError> {
        self.fault(Fault::new(self.now(), FaultKind::HealAll))
    }

    /// Cuts a link, or repairs it.
    pub fn set_link(&mut self, link: usize, up: bool) -> Result<(), NetworkError> {
        let link = self.link_id(link)?;
        let kind = if up { FaultKind::LinkUp { link } } else { FaultKind::LinkDown { link } };
        self.fault(Fault::new(self.now(), kind))
    }

    /// Restarts one protocol of a router now: it is silent for a time, and packets go by what it had written.
    pub fn restart_protocol(
        &mut self,
        node: usize,
        protocol: &str,
        down_for: Span,
    ) -> Result<(), NetworkError> {
        self.check_local(node)?;
        let speaker = |id| self.router(node).and_then(|router| router.control().speaker(id));
        let can = |id: &ProtocolId| speaker(*id).is_some_and(Protocol::restarts_alone);
        let Some(id) = protocol.parse().ok().filter(can) else {
            let (node, protocol) = (self.node_name(node).into(), protocol.into());
            return Err(Diagnostic::new(RunProblem::NotAlone { node, protocol }).into());
        };
        let command = Command::RestartProtocol { protocol: id, down_for };
        let (at, target) = (self.now(), Target::Node(node));
        self.world.command(at, NodeId(node as u32), command)?;
        let until = Some(at + down_for);
        self.note(Action { until, value: Some(protocol.into()), ..Action::new(at, "restart", target) });
        Ok(())
    }

    /// Sends an ICMP echo request from a router or a host; answers come as events.
    pub fn ping(
        &mut self,
        node: usize,
        to: impl Into<IpAddr>,
        ttl: u8,
        sequence: u16,
    ) -> Result<(), NetworkError> {
        self.check_local(node)?;
        let command = Command::Probe { to: to.into(), ttl, sequence };
        Ok(self.world.command(self.now(), NodeId(node as u32), command)?)
    }

    /// Sends a frame from a raw port.
    pub fn peer_send(&mut self, node: usize, bytes: &[u8]) -> Result<(), NetworkError> {
        let now = self.now();
        match self.world.device_mut::<Peer>(NodeId(node as u32)) {
            Some(peer) => {
                peer.send(now, PortId(0), bytes);
                Ok(())
            }
            None => Err(self.no_raw_port(node)),
        }
    }

    fn no_raw_port(&self, node: usize) -> NetworkError {
        Diagnostic::new(RunProblem::NoRawPort { node: self.node_name(node).into() }).into()
    }

    /// The frames that a raw port received since the last call.
    pub fn peer_receive(&mut self, node: usize) -> Result<Vec<(base::Time, Vec<u8>)>, NetworkError> {
        match self.world.device_mut::<Peer>(NodeId(node as u32)) {
            Some(peer) => Ok(peer.take_received().into_iter().map(|(at, _, bytes)| (at, bytes)).collect()),
            None => Err(self.no_raw_port(node)),
        }
    }
}
