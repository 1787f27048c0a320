//! Building a network, and asking for things to happen in it.

use super::agenda::Task;
use super::outage::Outage;
use super::{Node, NodeState, PortState, World};
use crate::error::{EngineError, check};
use crate::lane::Lane;
use crate::link::{LinkSpec, PortSpec};
use crate::medium::{Ends, Medium};
use crate::queue::Place;
use base::{Command, Device, Frame, LinkId, MacAddr, NodeId, PortId, Span, Time};
use std::collections::VecDeque;

impl World {
    /// Adds a device. It is drained when the network runs next, so that it can ask for its first timeout.
    pub fn add_device(&mut self, device: Box<dyn Device>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            device,
            ports: Vec::new(),
            recorder: None,
            timeout: Time::MAX,
            place: Place::default(),
            name: String::new(),
            state: NodeState::Up,
            stray_frames: 0,
            deferred: VecDeque::new(),
            restarts: 0,
            touched: true,
        });
        self.touched.push_back(id);
        self.unfound = true;
        id
    }

    /// Adds a link, which is up, and returns it with its port at either end. Ports of a device are numbered in the
    /// order in which its links are made. Devices get no notice: they know the ports that they were made with.
    pub fn add_link(&mut self, spec: LinkSpec) -> Result<(LinkId, PortId, PortId), EngineError> {
        let LinkSpec { a, b, ports, delay } = spec;
        self.check_node(a)?;
        self.check_node(b)?;
        ports.iter().try_for_each(check_port)?;
        let range = "zero or more";
        check(delay >= Span::ZERO, "propagation delay", delay, range)?;
        let link = LinkId((self.lanes.len() / 2) as u32);
        let lane = self.lanes.len() as u32;
        let port_a = self.add_port(a, lane)?;
        let port_b = match self.add_port(b, lane + 1) {
            Ok(port) => port,
            Err(error) => {
                self.nodes[a.index()].ports.pop();
                return Err(error);
            }
        };
        let [spec_a, spec_b] = ports;
        self.lanes.push(Lane::new(link, spec_a, delay, b, port_b));
        self.lanes.push(Lane::new(link, spec_b, delay, a, port_a));
        self.ports.resize_with(self.lanes.len(), PortState::default);
        self.outages.push(Outage::default());
        self.unfound = true;
        for lane in [lane, lane + 1] {
            self.keep_losses_too(lane);
            self.attend(lane);
        }
        Ok((link, port_a, port_b))
    }

    /// Says what frames are on a link; refused once it has carried some.
    pub fn set_medium(&mut self, link: LinkId, medium: &'static Medium) -> Result<(), EngineError> {
        self.check_link(link)?;
        let both = [2 * link.0, 2 * link.0 + 1];
        if both.iter().any(|&g| self.lanes[g as usize].is_used()) {
            return Err(EngineError::LinkInUse { link });
        }
        for g in both {
            self.lanes[g as usize].set_medium(medium);
            self.unfound = true;
            self.attend(g);
        }
        Ok(())
    }

    /// The addresses of the ports at both ends of lane `g`.
    pub(super) fn ends_of(&self, g: u32) -> Ends {
        let end = |g: u32| MacAddr::of_port(self.lanes[g as usize].to_node, self.lanes[g as usize].to_port);
        Ends { from: end(g ^ 1), to: end(g) }
    }

    fn add_port(&mut self, node: NodeId, lane: u32) -> Result<PortId, EngineError> {
        let ports = &mut self.nodes[node.index()].ports;
        let port = u16::try_from(ports.len()).map_err(|_| EngineError::TooManyPorts { node })?;
        ports.push(lane);
        Ok(PortId(port))
    }

    /// Gives `command` to a device at `at`.
    pub fn command(&mut self, at: Time, node: NodeId, command: Command) -> Result<(), EngineError> {
        self.check_node(node)?;
        self.ask(at, "command", Task::Command(node, command))
    }

    /// Lets `frame` arrive by `port` of a device at `at`, from nowhere: no link sees it.
    pub fn inject(&mut self, at: Time, node: NodeId, port: PortId, frame: Frame) -> Result<(), EngineError> {
        let count = self.nodes[self.check_node(node)?].ports.len();
        if port.index() >= count {
            return Err(EngineError::UnknownPort { node, port, count });
        }
        self.ask(at, "injection", Task::Inject(node, port, frame))
    }

    pub(super) fn ask(&mut self, at: Time, what: &'static str, task: Task) -> Result<(), EngineError> {
        if at < self.ahead {
            return Err(EngineError::TimePassed { what, at, now: self.ahead });
        }
        self.agenda.push(at, task);
        self.next_task = self.next_task.min(at);
        Ok(())
    }
}

fn check_port(port: &PortSpec) -> Result<(), EngineError> {
    let offset = port.clock_offset_ppb;
    let range = "between -500000000 and 500000000 ppb";
    check(offset.unsigned_abs() <= 500_000_000, "clock offset", offset, range)?;
    check(port.detection >= Span::ZERO, "detection time", port.detection, "zero or more")
}
