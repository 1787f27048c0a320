//! An OpenFlow switch: tables that controllers write, and the agent that talks to them.
//!
//! - [`config`](SwitchConfig): how it is set up
//! - [`channel`](ChannelInput): what goes between it and whoever carries its connections
//! - `agent`: its connections (`connection`), what it tells by itself, and to whom; `buffers`: packets that wait there
//! - [`managed`](ManagedSwitch): a switch whose connections its own network stack carries
//! - [`profile`](SwitchProfile): what a measured switch takes for what it does; `control_path`: how messages wait
//! - `flows`, `checks`: changes of tables, and what is refused of them; `setting`: what is set of the switch itself
//! - `bundles`: changes that are done together
//! - `queues`: what controllers are told of the queues of ports
//! - `version_1_0`, `version_1_3`: the messages of each version
//!
//! Beside the drain order of [`Device`]: [`Switch::poll_channel`] until it returns nothing, after
//! [`Switch::set_waker`]'s function was called.

mod agent;
mod buffers;
mod bundles;
mod channel;
mod checks;
mod config;
mod connection;
mod control_path;
mod flows;
mod managed;
mod ports;
mod profile;
mod queues;
mod setting;
#[cfg(test)]
mod tests;
mod version_1_0;
mod version_1_3;

pub use channel::{ChannelInput, ChannelOutput, ControllerEvent, FIRST_INCOMING, OUTPUT_MAX};
pub use config::{Controller, FailMode, SwitchConfig, SwitchPort, TlsFiles, Transport};
pub use connection::{ConnectionView, RefusedView};
pub use managed::{ManagedSwitch, PortUse};
pub use profile::SwitchProfile;
/// Bytes of a stream.
pub use wire::Hex as Bytes;
pub use wire::openflow::v1_3::Role;

use agent::Agent;
use base::device::{DropCounters, DropReason};
use base::{Command, Device, Event, Frame, Output, PortId, Time, Verdict};
use forwarding::openflow::{Datapath, Leaving, PortSetting};
use ports::Port;
use std::collections::VecDeque;
use wire::openflow::v1_3::{Action, PortReason};

/// A switch.
pub struct Switch {
    config: SwitchConfig,
    datapath: Datapath,
    ports: Vec<Port>,
    agent: Agent,
    outputs: VecDeque<Output>,
    /// What frames that leave in copies have become, until they are handed in.
    copies: VecDeque<Vec<(PortId, Frame)>>,
    drops: DropCounters,
}

impl Switch {
    /// A switch whose ports are up, and which has no connection yet.
    pub fn new(config: SwitchConfig, now: Time) -> Switch {
        let mut datapath = Datapath::new(config.tables.max(1), config.max_entries, config.seed);
        for number in 1..=config.ports.len() as u32 {
            datapath.set_port(number, PortSetting { config: 0, is_up: true });
        }
        Switch {
            ports: config.ports.iter().map(|port| Port::new(port, now)).collect(),
            agent: Agent::new(&config),
            datapath,
            outputs: VecDeque::new(),
            copies: VecDeque::new(),
            drops: DropCounters::default(),
            config,
        }
    }

    /// How it was set up.
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// Its tables.
    pub fn datapath(&self) -> &Datapath {
        &self.datapath
    }

    /// Its connections, by their numbers.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionView> {
        self.agent.connections()
    }

    /// Those who were turned away where it listens, by the place of that among its controllers.
    pub fn refused_connections(&self) -> impl Iterator<Item = (u32, &RefusedView)> {
        self.agent.refused()
    }

    /// Error messages that it sent, by type and code, the lowest first.
    pub fn errors(&self) -> impl Iterator<Item = (wire::openflow::Code, u64)> {
        self.agent.errors()
    }

    /// PACKET_INs that controllers did not get since they read too slowly.
    pub fn packet_ins_left_out(&self) -> u64 {
        self.agent.left_out
    }

    /// Frames discarded, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// Has `wake` called when there is something for [`Switch::poll_channel`] that was not there before. Connections to
    /// controllers are wanted from then on: until somebody carries them, as in virtual time, none is begun.
    pub fn set_waker(&mut self, now: Time, wake: Box<dyn Fn() + Send>) {
        self.agent.set_waker(&self.config, now, wake);
    }

    /// What is next to be done with its connections.
    pub fn poll_channel(&mut self) -> Option<ChannelOutput> {
        self.agent.poll_channel()
    }

    /// Frames that leave, and packets for controllers; with the frames, whether a controller got one.
    fn carry_out(&mut self, leaving: Vec<Leaving>) -> (Vec<(PortId, Frame)>, bool) {
        let (mut frames, mut is_told) = (Vec::new(), false);
        for one in leaving {
            match one {
                Leaving::Port { port, queue, mut frame } => {
                    let place = port as usize - 1;
                    if let Some(queue) = queue.filter(|queue| self.ports[place].queue(*queue).is_some()) {
                        frame.set_mark(queue);
                    }
                    self.ports[place].count_sent(&frame);
                    frames.push((PortId(place as u16), frame));
                }
                Leaving::Controller { reason, table, cookie, max_len, fields, frame } => {
                    is_told |= self.agent.packet_in(reason, table, cookie, max_len, &fields, &frame);
                }
            }
        }
        self.agent.wake();
        (frames, is_told)
    }

    /// What becomes of a frame.
    fn forward(&mut self, now: Time, port: PortId, frame: Frame) -> Result<Vec<(PortId, Frame)>, DropReason> {
        let number = u32::from(port.0) + 1;
        let Some(counted) = self.ports.get_mut(port.index()) else { return Err(DropReason::PortDown) };
        counted.count_received(&frame);
        let mut leaving = Vec::new();
        let processed = if self.config.fail == FailMode::Standalone && !self.agent.is_connected() {
            self.datapath.process_normal(now, number, frame, &mut leaving)
        } else {
            self.datapath.process(now, number, frame, &mut leaving)
        };
        if let Err(reason) = processed {
            self.ports[port.index()].counters.rx_dropped += 1;
            return Err(reason);
        }
        match self.carry_out(leaving) {
            // No entry, or one that sends it nowhere.
            (frames, false) if frames.is_empty() => Err(DropReason::Discard),
            (frames, _) => Ok(frames),
        }
    }

    /// Does actions with a frame that a controller has given, and sends what leaves.
    fn execute(&mut self, now: Time, in_port: u32, actions: &[Action], frame: Frame) {
        let mut leaving = Vec::new();
        if let Err(reason) = self.datapath.execute(now, in_port, actions, frame, &mut leaving) {
            self.drops.count(reason);
        }
        for (port, frame) in self.carry_out(leaving).0 {
            self.outputs.push_back(Output::Transmit { port, frame, ready: now });
        }
    }

    fn port_changed(&mut self, port: PortId, is_up: bool) {
        let number = u32::from(port.0) + 1;
        let Some(setting) = self.datapath.ports().get(&number).copied() else { return };
        if setting.is_up == is_up {
            return;
        }
        self.datapath.set_port(number, PortSetting { is_up, ..setting });
        let port = port.0;
        self.outputs.push_back(Output::Event(match is_up {
            true => Event::PortUp { port },
            false => Event::PortDown { port },
        }));
        self.tell_port(number, PortReason::Modify, None);
        self.agent.wake();
    }

    fn restart(&mut self, now: Time) {
        self.datapath.clear(self.config.max_entries);
        for (number, setting) in self.datapath.ports().clone() {
            self.datapath.set_port(number, PortSetting { config: 0, ..setting });
        }
        self.agent.restart(&self.config, now);
    }
}

impl Device for Switch {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        self.copies.clear();
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            // The frame itself is kept as it is: who runs this asks for it if it leaves in copies.
            *verdict = match self.forward(now, port, frame.clone()) {
                Err(reason) => {
                    self.drops.count(reason);
                    Verdict::Drop(reason)
                }
                Ok(mut leaving) if leaving.len() == 1 => match leaving.pop() {
                    Some((port, changed)) => {
                        *frame = changed;
                        Verdict::Transmit { port, ready: now }
                    }
                    None => Verdict::Consume,
                },
                Ok(leaving) if leaving.is_empty() => Verdict::Consume,
                Ok(leaving) => {
                    self.copies.push_back(leaving);
                    Verdict::Replicate
                }
            };
        }
    }

    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        let copies = match self.copies.pop_front() {
            Some(copies) => copies,
            None => match self.forward(now, port, frame.clone()) {
                Ok(copies) => copies,
                Err(reason) => {
                    self.drops.count(reason);
                    self.outputs.push_back(Output::Discard { port, frame, reason });
                    return;
                }
            },
        };
        let count = copies.len() as u32;
        for (port, frame) in copies {
            self.outputs.push_back(Output::Transmit { port, frame, ready: now });
        }
        if count > 1 {
            self.outputs.push_back(Output::Copied { port, frame, copies: count - 1 });
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        for table in 0..self.datapath.tables.len() {
            let gone = self.datapath.tables[table].expire(now);
            gone.into_iter().for_each(|gone| self.agent.flow_removed(now, table as u8, &gone));
        }
        self.agent.handle_timeout(now);
        self.agent.wake();
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) => self.port_changed(port, true),
            Command::PortDown(port) => self.port_changed(port, false),
            Command::QueueCounted { port, queues } => self.queue_counted(now, port, &queues),
            Command::Restart => self.restart(now),
            Command::Protocol(value) => {
                if let Some(input) = value.read::<ChannelInput>() {
                    self.handle_channel(now, input.into_owned());
                }
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        let tables = self.datapath.tables.iter().filter_map(forwarding::openflow::FlowTable::next_timeout);
        tables.chain(self.agent.poll_timeout()).min()
    }
}
