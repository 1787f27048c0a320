//! What a switch with management ports does with frames, timeouts and commands.

use super::super::control_path::ControlPath;
use super::{ManagedSwitch, PortUse};
use base::device::DropReason;
use base::{Command, Device, Frame, Output, PortId, Time, Verdict};

/// Every frame takes the general way, because a packet for a controller leaves by another port than its own.
impl Device for ManagedSwitch {
    fn handle_packet(&mut self, now: Time, port: PortId, mut frame: Frame) {
        match self.inner.get(port.index()).copied() {
            Some((PortUse::Management, inner)) => self.host.handle_packet(now, inner, frame),
            Some((PortUse::Data, inner)) => match self.switch.forward_one(now, inner, &mut frame) {
                Verdict::Transmit { port, ready } => {
                    let port = self.data.get(port.index()).copied().unwrap_or(port);
                    let ready = ready + self.latency(frame.len());
                    self.outputs.push_back(Output::Transmit { port, frame, ready });
                }
                Verdict::Punt | Verdict::Replicate => self.switch.handle_packet(now, inner, frame),
                Verdict::Drop(reason) => self.outputs.push_back(Output::Discard { port, frame, reason }),
                Verdict::Consume => {}
            },
            None => {
                self.drops.count(DropReason::PortDown);
                self.outputs.push_back(Output::Discard { port, frame, reason: DropReason::PortDown });
            }
        }
        self.settle(now);
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.host.poll_timeout().is_some_and(|at| at <= now) {
            self.host.handle_timeout(now);
        }
        if self.switch.poll_timeout().is_some_and(|at| at <= now) {
            self.switch.handle_timeout(now);
        }
        self.settle(now);
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        let inner = |port: PortId| self.inner.get(port.index()).copied();
        match command {
            Command::PortUp(port) | Command::PortDown(port) => {
                let is_up = matches!(command, Command::PortUp(_));
                let of = |port| if is_up { Command::PortUp(port) } else { Command::PortDown(port) };
                match inner(port) {
                    Some((PortUse::Data, port)) => self.switch.handle_command(now, of(port)),
                    Some((PortUse::Management, port)) => self.host.handle_command(now, of(port)),
                    None => {}
                }
            }
            Command::Restart => {
                self.carried.clear();
                self.drops.merge(&self.path.drops);
                self.path = ControlPath::new(*self.path.profile());
                self.by_connection.clear();
                self.host.handle_command(now, Command::Restart);
                self.switch.handle_command(now, Command::Restart);
                self.listen();
            }
            Command::QueueCounted { port, queues } => {
                if let Some((PortUse::Data, port)) = inner(port) {
                    self.switch.handle_command(now, Command::QueueCounted { port, queues });
                }
            }
            Command::Probe { .. } => self.host.handle_command(now, command),
            other => self.switch.handle_command(now, other),
        }
        self.settle(now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let own = [self.host.poll_timeout(), self.switch.poll_timeout(), self.path.poll_timeout()];
        own.into_iter().flatten().min()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        self.host.show_held(see);
    }
}
