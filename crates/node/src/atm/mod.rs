//! An ATM switch: cells change their channel by a table, and circuits of packets begin and end at it.
//!
//! Ports that carry cells hold frames of 53 bytes, without an Ethernet header. Ports of packets are those of routers
//! and hosts whose circuits end here: their frames become cells at once ([`end`]). A cell that comes is looked up by
//! its port, path and channel: it belongs to an end here, or leaves by another port with another channel.

mod agenda;
mod config;
mod cross;
mod end;
mod gcra;
mod output;
mod shown;
#[cfg(test)]
mod tests;
mod ways;

pub use config::{AtmConfig, Channel, Cross, EndConfig, Map, PortConfig, Service, Station, Traffic};
pub use cross::CrossCounters;
pub use end::EndCounters;
pub use gcra::Gcra;
pub use output::OutputCounters;
pub use shown::Input;
pub use shown::{CrossShown, EndShown, PortShown};

use self::agenda::Agenda;
use self::cross::Crossing;
use self::end::{End, Received, Taken};
use self::output::{Offered, Output as Outgoing};
use self::ways::{Way, Ways};
use base::device::{DropCounters, DropReason};
use base::{Command, Device, Event, Frame, Output, PortId, Time, Verdict};
use std::collections::VecDeque;
use wire::atm::{
    CELL_LEN, Cell, Event as HecEvent, Format, HEADER_LEN, Header, HecReceiver, Mode, PAYLOAD_LEN,
    Verdict as Hec,
};

/// A port that carries cells.
#[derive(Debug)]
struct CellPort {
    format: Format,
    receiver: HecReceiver,
    ways: Ways,
    output: Outgoing,
    input: Input,
}

/// A port, by what its link carries.
#[derive(Debug)]
enum Port {
    Cells(Box<CellPort>),
    Packets(Box<End>),
}

/// An ATM switch: its ports, and the channels that it passes on.
#[derive(Debug)]
pub struct AtmSwitch {
    ports: Vec<Port>,
    crossings: Vec<Crossing>,
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
            PortConfig::Cells { rate, clock_ppb, format, ubr_cells } => {
                let limits = [config.cbr_cells, ubr_cells.unwrap_or(config.ubr_cells)];
                let is_mixed = used[number] == [true, true];
                Port::Cells(Box::new(CellPort {
                    format: *format,
                    receiver: HecReceiver::default(),
                    ways: Ways::default(),
                    output: Outgoing::new(*rate, *clock_ppb, limits, is_mixed),
                    input: Input::default(),
                }))
            }
            PortConfig::Packets(end) => Port::Packets(Box::new(End::new(*end, format(end.channel.port)))),
        };
        let mut switch = AtmSwitch {
            ports: config.ports.iter().enumerate().map(port).collect(),
            crossings: config.crosses.iter().map(|cross| Crossing::new(*cross)).collect(),
            epd_cells: config.epd_cells,
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            agenda: Agenda::new(config.ports.len()),
        };
        for (place, cross) in config.crosses.iter().enumerate() {
            switch.enter(cross.from, Way::Cross(place as u32));
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

    /// Whose a cell is, if it can be dealt with without anything being put off, and without anything being sent beside
    /// it. It is counted then.
    fn recognise_quick(&mut self, now: Time, port: PortId, frame: &Frame) -> Option<(Way, Header)> {
        let Some(Port::Cells(cells)) = self.ports.get(port.index()) else { return None };
        let cell = Cell::new_checked(frame.header()).ok()?;
        if frame.len() as usize != CELL_LEN || !cell.is_right() {
            return None;
        }
        let header = cell.header(cells.format);
        let way = cells.ways.find(header.vpi, header.vci)?;
        let is_quick = match way {
            Way::Cross(place) => {
                let to = self.crossings[place as usize].config.to.port;
                matches!(self.ports.get(to.index()), Some(Port::Cells(to)) if to.output.is_quick(now))
            }
            Way::End(_) => !header.pti.is_last(),
        };
        let Some(Port::Cells(cells)) = self.ports.get_mut(port.index()).filter(|_| is_quick) else {
            return None;
        };
        cells.input.cells += 1;
        cells.receiver.note(HecEvent::Right);
        Some((way, header))
    }

    /// Whose a cell is, or why it is dropped. Its header is right afterwards.
    fn recognise(&mut self, port: PortId, frame: &mut Frame) -> Result<(Way, Header), DropReason> {
        let Some(Port::Cells(port)) = self.ports.get_mut(port.index()) else {
            return Err(DropReason::UnknownProtocol);
        };
        port.input.cells += 1;
        let is_cell = frame.len() as usize == CELL_LEN;
        let Some(bytes) = frame.header_mut().first_chunk_mut::<HEADER_LEN>().filter(|_| is_cell) else {
            port.input.refused += 1;
            return Err(DropReason::Truncated);
        };
        if port.receiver.receive(bytes) == Hec::Dropped {
            return Err(DropReason::HeaderError);
        }
        let [a, b, c, d, _] = *bytes;
        let header = Header::parse(port.format, [a, b, c, d]);
        match port.ways.find(header.vpi, header.vci) {
            Some(way) => Ok((way, header)),
            None => {
                port.input.unknown += 1;
                Err(DropReason::UnknownVc)
            }
        }
    }

    /// Deals with a cell that goes this way.
    fn take_cell(&mut self, now: Time, (way, header): (Way, Header), frame: &mut Frame) -> Fate {
        match way {
            Way::Cross(place) => self.pass(now, place as usize, header, frame),
            Way::End(end) => self.give(now, end, header, frame),
        }
    }

    /// Passes a cell on by its new channel.
    fn pass(&mut self, now: Time, place: usize, header: Header, frame: &mut Frame) -> Fate {
        let crossing = &mut self.crossings[place];
        let (to, service) = (crossing.config.to, crossing.config.traffic.service);
        let Some(Port::Cells(out)) = self.ports.get_mut(to.port.index()) else {
            return Fate::Dropped(crossing.drop(DropReason::UnknownVc, header));
        };
        if let Err(reason) = crossing.admit(now, header, &out.output, self.epd_cells) {
            return Fate::Dropped(reason);
        }
        let new = Header { vpi: to.vpi, vci: to.vci, ..header }.emit(out.format);
        if let Some(bytes) = frame.header_mut().first_chunk_mut() {
            *bytes = new;
        }
        match out.output.offer(now, service) {
            Offered::Leaves => {
                crossing.passed(header);
                Fate::Leaves(to.port)
            }
            Offered::Waits => {
                crossing.passed(header);
                out.output.hold(core::mem::replace(frame, Frame::from_bytes(&[])), service);
                self.agenda.set(to.port, out.output.due());
                Fate::Kept
            }
            Offered::Dropped(reason) => {
                crossing.refused(header);
                Fate::Dropped(reason)
            }
        }
    }

    /// Gives a cell to the end of its circuit; if it is the last one of a packet, the packet takes its place.
    fn give(&mut self, now: Time, port: PortId, header: Header, frame: &mut Frame) -> Fate {
        let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) else { return Fate::Kept };
        let Some(cell) = Cell::new_checked(frame.header()).ok().filter(|_| header.pti.is_user()) else {
            // Cells of operation and maintenance, and of resource management: nobody here takes them.
            return Fate::Dropped(end.lost_cell(DropReason::NoListener));
        };
        match end.receive(now, cell.payload(), header.pti.is_last()) {
            Received::Part => Fate::Kept,
            Received::Packet(packet) => {
                *frame = packet;
                Fate::Leaves(port)
            }
            Received::Dropped(reason) => Fate::Dropped(reason),
            Received::Reply(pdu) => {
                // One that finds no room is asked for again.
                self.send_pdu(now, port, pdu);
                Fate::Kept
            }
        }
    }

    /// Takes a frame of the station at an end.
    fn take_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) else { return };
        if let Some(question) = end.ask_again(now, &frame) {
            self.send_pdu(now, port, question);
        }
        let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) else { return };
        match end.take(now, &frame) {
            Taken::Pdu(pdu) => {
                if !self.send_pdu(now, port, pdu) {
                    self.lose(port, frame, DropReason::BufferFull);
                }
            }
            Taken::Answer(frame) => self.outputs.push_back(Output::Transmit { port, frame, ready: now }),
            Taken::Ignored => {}
            Taken::Dropped(reason) => self.lose(port, frame, reason),
        }
    }

    /// Sends a PDU of an end, if there is room for all its cells.
    fn send_pdu(&mut self, now: Time, port: PortId, pdu: Vec<u8>) -> bool {
        let Some(Port::Packets(end)) = self.ports.get(port.index()) else { return false };
        let (to, service) = (end.config.channel.port, end.config.traffic.service);
        let (waiting, is_shaped) = (end.waiting_cells(), end.is_shaped());
        let cells = (pdu.len() / PAYLOAD_LEN) as u64;
        let Some(Port::Cells(out)) = self.ports.get(to.index()) else { return false };
        let has_room = match is_shaped {
            true => waiting + cells <= out.output.limit(service).max(cells),
            false => out.output.has_room(now, service, cells),
        };
        let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) else { return false };
        if !has_room {
            end.lost(DropReason::BufferFull);
            return false;
        }
        end.accepted(&pdu);
        if is_shaped {
            end.push(now, pdu);
            self.send_shaped(now, port);
            return true;
        }
        for cell in end.cells(&pdu) {
            let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) else { return true };
            match end.conforms(now) {
                true => self.send_cell(now, to, service, cell),
                false => self.lose(port, Frame::from_bytes(&cell), DropReason::Policed),
            }
        }
        true
    }

    /// Sends the cells of a shaped end whose time has come.
    fn send_shaped(&mut self, now: Time, port: PortId) {
        while let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) {
            let (to, service) = (end.config.channel.port, end.config.traffic.service);
            let Some(cell) = end.next_cell(now) else {
                self.agenda.set(port, end.due());
                return;
            };
            self.send_cell(now, to, service, cell);
        }
    }

    fn send_cell(&mut self, now: Time, port: PortId, service: Service, cell: [u8; CELL_LEN]) {
        let Some(Port::Cells(out)) = self.ports.get_mut(port.index()) else { return };
        let frame = Frame::from_bytes(&cell);
        match out.output.offer(now, service) {
            Offered::Leaves => self.outputs.push_back(Output::Transmit { port, frame, ready: now }),
            Offered::Waits => {
                out.output.hold(frame, service);
                self.agenda.set(port, out.output.due());
            }
            Offered::Dropped(reason) => self.lose(port, frame, reason),
        }
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
            }
            self.agenda.set(port, None);
        }
        self.crossings.iter_mut().for_each(Crossing::restart);
    }
}

/// What becomes of the frame of a cell.
enum Fate {
    /// It leaves by this port: the cell, or the packet that it was the last cell of.
    Leaves(PortId),
    /// It waits, or its payload was put to the others of its packet.
    Kept,
    /// Neither: nobody has it, or there is no room for it.
    Dropped(DropReason),
}

/// Which services have channels that leave by each port.
fn used_services(config: &AtmConfig) -> Vec<[bool; 2]> {
    let mut used = vec![[false; 2]; config.ports.len()];
    let ends = config.ports.iter().filter_map(|port| match port {
        PortConfig::Packets(end) => Some((end.channel.port, end.traffic.service)),
        PortConfig::Cells { .. } => None,
    });
    let crosses = config.crosses.iter().map(|cross| (cross.to.port, cross.traffic.service));
    for (port, service) in ends.chain(crosses) {
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
    }
}
