//! A router some of whose ports carry cells, labels of which are channels (RFC 3035): an edge of a network of cells, or
//! with cells that are passed on an ATM-LSR.
//!
//! Behind each port of cells is the switch, beside the switch the router. What the router sends by such a port becomes
//! cells; cells that end here come to the router as frames of Ethernet by that port. The router's protocols write where
//! channels lead, by way of its forwarding plane, and the switch carries that out.

use super::{AtmConfig, AtmSwitch, Port};
use crate::Router;
use base::{Command, Device, Frame, Output, PortId, Time, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// A router with ports of cells.
#[derive(Debug)]
pub struct AtmRouter {
    router: Router,
    switch: AtmSwitch,
    /// How many ports the node has. To the switch, the router is behind as many ports more.
    ports: u16,
    /// Packets that the router is not done with yet, which leave by a port of cells: by time, in their order.
    held: BTreeMap<(Time, u64), (PortId, Frame)>,
    number: u64,
    outputs: VecDeque<Output>,
}

impl AtmRouter {
    /// A router and its switch. The switch has the ports of the router, and behind them once as many to the router.
    pub fn new(router: Router, config: &AtmConfig) -> AtmRouter {
        let mut node = AtmRouter {
            router,
            switch: AtmSwitch::new(config),
            ports: (config.ports.len() / 2) as u16,
            held: BTreeMap::new(),
            number: 0,
            outputs: VecDeque::new(),
        };
        node.settle(Time::ZERO);
        node
    }

    /// The router.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// The router, to be changed.
    pub fn router_mut(&mut self) -> &mut Router {
        &mut self.router
    }

    /// The switch.
    pub fn switch(&self) -> &AtmSwitch {
        &self.switch
    }

    fn carries_cells(&self, port: PortId) -> bool {
        matches!(self.switch.ports.get(port.index()), Some(Port::Cells(_)))
    }

    /// Gives a frame to the router.
    fn hand_to_router(&mut self, now: Time, port: PortId, mut frame: Frame) {
        match self.router.forward_one(now, port, &mut frame) {
            Verdict::Transmit { port, ready } => self.leave(now, port, ready, frame),
            Verdict::Punt | Verdict::Replicate => self.router.handle_packet(now, port, frame),
            Verdict::Drop(reason) => self.outputs.push_back(Output::Discard { port, frame, reason }),
            Verdict::Consume => {}
        }
    }

    /// A frame of the router leaves by a port.
    fn leave(&mut self, now: Time, port: PortId, ready: Time, frame: Frame) {
        if !self.carries_cells(port) {
            return self.outputs.push_back(Output::Transmit { port, frame, ready });
        }
        if ready > now {
            self.number += 1;
            self.held.insert((ready, self.number), (port, frame));
            return;
        }
        self.switch.take_packet(now, PortId(port.0 + self.ports), frame);
    }

    /// Has router and switch take what the other one gives, until neither has anything more to give.
    fn settle(&mut self, now: Time) {
        loop {
            // What is written is in force before anybody is told.
            while let Some(op) = self.router.poll_circuit() {
                self.switch.apply(&op);
            }
            if let Some(output) = self.router.poll_output() {
                match output {
                    Output::Transmit { port, frame, ready } => self.leave(now, port, ready, frame),
                    other => self.outputs.push_back(other),
                }
                continue;
            }
            let outside = |port: PortId| PortId(port.0 % self.ports);
            match self.switch.poll_output() {
                Some(Output::Transmit { port, frame, .. }) if port.0 >= self.ports => {
                    self.hand_to_router(now, outside(port), frame);
                }
                Some(Output::Discard { port, frame, reason }) => {
                    self.outputs.push_back(Output::Discard { port: outside(port), frame, reason });
                }
                // The router says itself that a port is up or down.
                Some(Output::Event(_)) => {}
                Some(other) => self.outputs.push_back(other),
                None => return,
            }
        }
    }
}

impl Device for AtmRouter {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            *verdict = self.forward_one(now, port, frame);
        }
    }

    fn forward_one(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        // A packet may leave as cells, which are more than a verdict says.
        match self.carries_cells(port) {
            true => self.switch.forward_one(now, port, frame),
            false => Verdict::Punt,
        }
    }

    fn is_urgent(&self, frame: &Frame) -> bool {
        self.router.is_urgent(frame)
    }

    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        match self.carries_cells(port) {
            true => self.switch.handle_packet(now, port, frame),
            false => self.hand_to_router(now, port, frame),
        }
        self.settle(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some(entry) = self.held.first_entry().filter(|entry| entry.key().0 <= now) {
            let (port, frame) = entry.remove();
            self.switch.take_packet(now, PortId(port.0 + self.ports), frame);
        }
        self.switch.handle_timeout(now);
        self.router.handle_timeout(now);
        self.settle(now);
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) | Command::PortDown(port) if self.carries_cells(port) => {
                self.switch.handle_command(now, command.clone());
            }
            Command::Restart => {
                self.switch.handle_command(now, Command::Restart);
                self.switch.forget_labels();
                let reason = base::device::DropReason::NodeDown;
                for (port, frame) in core::mem::take(&mut self.held).into_values() {
                    self.outputs.push_back(Output::Discard { port, frame, reason });
                }
            }
            _ => {}
        }
        self.router.handle_command(now, command);
        self.settle(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let held = self.held.first_key_value().map(|((ready, _), _)| *ready);
        Time::earliest([self.router.poll_timeout(), self.switch.poll_timeout(), held])
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.router.show_held(see);
        self.switch.show_held(see);
        self.held.values().for_each(|(_, frame)| see(frame));
    }
}
