//! An ATM switch: cells change their channel by a table, and circuits of packets begin and end at it.
//!
//! Ports that carry cells hold frames of 53 bytes, without an Ethernet header. Ports of packets are those of routers
//! and hosts whose circuits end here: their frames become cells at once ([`end`]). A cell that comes is looked up by
//! its port, path and channel: it belongs to an end here, or leaves by another port with another channel. A path may be
//! switched as a whole: then its cells keep their channels ([`path`]).

mod agenda;
mod config;
mod cross;
mod end;
mod forward;
mod gcra;
mod labelled;
mod output;
mod path;
mod payload;
mod peer;
mod receive;
mod router;
mod send;
mod shown;
mod tables;
#[cfg(test)]
mod tests;
mod ways;

pub use config::{
    AtmConfig, Channel, Cross, EndConfig, LabelConfig, Map, Path, PathCross, PortConfig, Service, Station,
    Traffic,
};
pub use cross::CrossCounters;
pub use end::EndCounters;
pub use gcra::Gcra;
pub use output::OutputCounters;
pub use router::AtmRouter;
pub use shown::Input;
pub use shown::{CrossShown, EndShown, PathShown, PortShown};

use self::agenda::Agenda;
use self::cross::Crossing;
use self::end::End;
use self::forward::Fate;
use self::labelled::Labelled;
use self::output::Output as Outgoing;
use self::path::PathCrossing;
use self::receive::Receiver;
use self::ways::{Way, Ways};
use base::device::{DropCounters, DropReason};
use base::{Command, Device, Event, Frame, Output, PortId, Time, Verdict};
use std::collections::VecDeque;
use wire::atm::{Format, HecReceiver, Mode};

/// A port that carries cells.
#[derive(Debug)]
struct CellPort {
    format: Format,
    receiver: HecReceiver,
    ways: Ways,
    output: Outgoing,
    input: Input,
    /// What is known of channels that are labels, if they are.
    labelled: Option<Box<Labelled>>,
}

/// A port, by what its link carries.
#[derive(Debug)]
enum Port {
    Cells(Box<CellPort>),
    Packets(Box<End>),
    None,
}

/// An ATM switch: its ports, and the channels that it passes on.
#[derive(Debug)]
pub struct AtmSwitch {
    ports: Vec<Port>,
    crossings: Vec<Crossing>,
    paths: Vec<PathCrossing>,
    /// Channels that are labels and end here.
    receivers: Vec<Receiver>,
    epd_cells: Option<u32>,
    outputs: VecDeque<Output>,
    drops: DropCounters,
    /// When ports have something to do.
    agenda: Agenda,
}

impl AtmSwitch {
    /// A switch whose ports are up. What refers to ports that do not carry cells is left out: whoever makes the
    /// configuration has checked it.
    pub fn new(config: &AtmConfig) -> AtmSwitch {
        let used = used_services(config);
        let format = |port: PortId| match config.ports.get(port.index()) {
            Some(PortConfig::Cells { format, .. }) => *format,
            _ => Format::Nni,
        };
        let port = |(number, port): (usize, &PortConfig)| match port {
            PortConfig::Cells { rate, is_shaped, clock_ppb, format, ubr_cells, labels } => {
                let limits = [config.cbr_cells, ubr_cells.unwrap_or(config.ubr_cells)];
                let holds = *is_shaped || used[number] == [true, true];
                Port::Cells(Box::new(CellPort {
                    format: *format,
                    receiver: HecReceiver::default(),
                    ways: Ways::default(),
                    output: Outgoing::new(*rate, *clock_ppb, limits, holds),
                    input: Input::default(),
                    labelled: labels.map(|labels| Box::new(Labelled::new(labels))),
                }))
            }
            PortConfig::Packets(end) => Port::Packets(Box::new(End::new(*end, format(end.channel.port)))),
            PortConfig::None => Port::None,
        };
        let mut switch = AtmSwitch {
            ports: config.ports.iter().enumerate().map(port).collect(),
            crossings: config.crosses.iter().map(|cross| Crossing::new(*cross)).collect(),
            paths: config.paths.iter().map(|path| PathCrossing::new(*path)).collect(),
            receivers: Vec::new(),
            epd_cells: config.epd_cells,
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            agenda: Agenda::new(config.ports.len()),
        };
        for (place, cross) in config.crosses.iter().enumerate() {
            switch.enter(cross.from, Way::Cross(place as u32));
        }
        for (place, path) in config.paths.iter().enumerate() {
            switch.enter_path(path.from, place);
        }
        for (number, port) in config.ports.iter().enumerate() {
            if let PortConfig::Packets(end) = port {
                switch.enter(end.channel, Way::End(PortId(number as u16)));
            }
        }
        switch
    }

    fn enter(&mut self, channel: Channel, way: Way) {
        if let Some(Port::Cells(port)) = self.ports.get_mut(channel.port.index()) {
            port.ways.enter(channel, way);
        }
    }

    /// Frames and cells discarded, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    fn lose(&mut self, port: PortId, frame: Frame, reason: DropReason) {
        self.drops.count(reason);
        self.outputs.push_back(Output::Discard { port, frame, reason });
    }

    fn port_changed(&mut self, now: Time, port: PortId, up: bool) {
        let change = if up { Event::PortUp { port: port.0 } } else { Event::PortDown { port: port.0 } };
        self.outputs.push_back(Output::Event(change));
        if let Some(Port::Cells(found)) = self.ports.get_mut(port.index()) {
            let gone = found.output.set_up(now, up, DropReason::PortDown);
            self.agenda.set(port, None);
            gone.into_iter().for_each(|frame| self.lose(port, frame, DropReason::PortDown));
        }
    }

    /// Forgets what it was in the middle of; its table stays.
    fn restart(&mut self, now: Time) {
        for number in 0..self.ports.len() {
            let port = PortId(number as u16);
            match &mut self.ports[number] {
                Port::Packets(end) => {
                    self.drops.add(DropReason::NodeDown, end.waiting_cells());
                    end.clear();
                }
                Port::Cells(found) => {
                    found.receiver.mode = Mode::default();
                    for frame in found.output.set_up(now, true, DropReason::NodeDown) {
                        self.lose(port, frame, DropReason::NodeDown);
                    }
                }
                Port::None => {}
            }
            self.agenda.set(port, None);
        }
        for place in 0..self.crossings.len() {
            let port = self.crossings[place].config.from.port;
            for frame in self.crossings[place].restart() {
                self.lose(port, frame, DropReason::NodeDown);
            }
        }
        self.paths.iter_mut().for_each(PathCrossing::restart);
        self.receivers.iter_mut().for_each(Receiver::clear);
    }
}

/// Which services have channels or paths that leave by each port.
fn used_services(config: &AtmConfig) -> Vec<[bool; 2]> {
    let mut used = vec![[false; 2]; config.ports.len()];
    let ends = config.ports.iter().filter_map(|port| match port {
        PortConfig::Packets(end) => Some((end.channel.port, end.traffic.service)),
        PortConfig::Cells { .. } | PortConfig::None => None,
    });
    let crosses = config.crosses.iter().map(|cross| (cross.to.port, cross.traffic.service));
    let paths = config.paths.iter().map(|path| (path.to.port, path.traffic.service));
    for (port, service) in ends.chain(crosses).chain(paths) {
        if let Some(used) = used.get_mut(port.index()) {
            used[service as usize] = true;
        }
    }
    used
}

impl Device for AtmSwitch {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter_mut().zip(verdicts) {
            *verdict = self.forward_one(now, port, frame);
        }
    }

    fn forward_one(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Verdict {
        let Some(found) = self.recognise_quick(now, port, frame) else { return Verdict::Punt };
        match self.take_cell(now, found, frame) {
            Fate::Leaves(port) => Verdict::Transmit { port, ready: now },
            Fate::Kept => Verdict::Consume,
            Fate::Dropped(reason) => {
                self.drops.count(reason);
                Verdict::Drop(reason)
            }
        }
    }

    fn handle_packet(&mut self, now: Time, port: PortId, mut frame: Frame) {
        if let Some(Port::Packets(_)) = self.ports.get(port.index()) {
            return self.take_packet(now, port, frame);
        }
        let fate = match self.recognise(port, &mut frame) {
            Ok(found) => self.take_cell(now, found, &mut frame),
            Err(reason) => Fate::Dropped(reason),
        };
        match fate {
            Fate::Leaves(port) => self.outputs.push_back(Output::Transmit { port, frame, ready: now }),
            Fate::Kept => {}
            Fate::Dropped(reason) => self.lose(port, frame, reason),
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        while let Some(port) = self.agenda.next(now) {
            match &mut self.ports[port.index()] {
                Port::Cells(found) => {
                    while let Some(frame) = found.output.next(now) {
                        self.outputs.push_back(Output::Transmit { port, frame, ready: now });
                    }
                    self.agenda.set(port, found.output.due());
                }
                Port::Packets(_) => self.send_shaped(now, port),
                Port::None => {}
            }
        }
    }

    fn handle_command(&mut self, now: Time, command: Command) {
        match command {
            Command::PortUp(port) => self.port_changed(now, port, true),
            Command::PortDown(port) => self.port_changed(now, port, false),
            Command::Restart => self.restart(now),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.agenda.first()
    }

    fn show_held(&self, see: &mut dyn FnMut(&Frame)) {
        for port in &self.ports {
            if let Port::Cells(port) = port {
                port.output.show_held(see);
            }
        }
        self.crossings.iter().for_each(|crossing| crossing.show_held(see));
    }
}
