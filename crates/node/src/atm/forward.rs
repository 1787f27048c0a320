//! A cell that comes: whose it is, and what becomes of it.

use super::end::Received;
use super::output::Offered;
use super::ways::Way;
use super::{AtmSwitch, Port};
use base::device::DropReason;
use base::{Frame, Output, PortId, Time};
use wire::atm::{CELL_LEN, Cell, Event, HEADER_LEN, Header, Verdict};

/// What becomes of the frame of a cell.
pub(super) enum Fate {
    /// It leaves by this port: the cell, or the packet that it was the last cell of.
    Leaves(PortId),
    /// It waits, or its payload was put to the others of its packet.
    Kept,
    /// Neither: nobody has it, or there is no room for it.
    Dropped(DropReason),
}

impl AtmSwitch {
    /// Whose a cell is, if it can be dealt with without anything being put off, and without anything being sent beside
    /// it. It is counted then.
    pub(super) fn recognise_quick(
        &mut self,
        now: Time,
        port: PortId,
        frame: &Frame,
    ) -> Option<(Way, Header)> {
        let Some(Port::Cells(cells)) = self.ports.get(port.index()) else { return None };
        let cell = Cell::new_checked(frame.header()).ok()?;
        if frame.len() as usize != CELL_LEN || !cell.is_right() {
            return None;
        }
        let header = cell.header(cells.format);
        let way = cells.ways.find(header.vpi, header.vci)?;
        let is_quick = match way {
            Way::Cross(place) => {
                let crossing = &self.crossings[place as usize];
                let to = crossing.config.to.port;
                match crossing.merges() {
                    // All but the last cell of a packet is kept.
                    true => header.pti.is_user() && !header.pti.is_last() && !crossing.is_too_long(),
                    false => {
                        matches!(self.ports.get(to.index()), Some(Port::Cells(to)) if to.output.is_quick(now))
                    }
                }
            }
            Way::Path(place) => {
                let to = self.paths[place as usize].config.to.port;
                matches!(self.ports.get(to.index()), Some(Port::Cells(to)) if to.output.is_quick(now))
            }
            Way::End(_) | Way::Label(_) => !header.pti.is_last(),
        };
        let Some(Port::Cells(cells)) = self.ports.get_mut(port.index()).filter(|_| is_quick) else {
            return None;
        };
        cells.input.cells += 1;
        cells.receiver.note(Event::Right);
        Some((way, header))
    }

    /// Whose a cell is, or why it is dropped. Its header is right afterwards.
    pub(super) fn recognise(&mut self, port: PortId, frame: &mut Frame) -> Result<(Way, Header), DropReason> {
        let Some(Port::Cells(port)) = self.ports.get_mut(port.index()) else {
            return Err(DropReason::UnknownProtocol);
        };
        port.input.cells += 1;
        let is_cell = frame.len() as usize == CELL_LEN;
        let Some(bytes) = frame.header_mut().first_chunk_mut::<HEADER_LEN>().filter(|_| is_cell) else {
            port.input.refused += 1;
            return Err(DropReason::Truncated);
        };
        if port.receiver.receive(bytes) == Verdict::Dropped {
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
    pub(super) fn take_cell(&mut self, now: Time, (way, header): (Way, Header), frame: &mut Frame) -> Fate {
        match way {
            Way::Cross(place) => self.pass(now, place as usize, header, frame),
            Way::Path(place) => self.pass_path(now, place as usize, header, frame),
            Way::End(end) => self.give(now, end, header, frame),
            Way::Label(place) => self.give_labelled(place as usize, header, frame),
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
        // Generic flow control is between the two ends of a link alone.
        let new = Header { gfc: 0, vpi: to.vpi, vci: to.vci, ..header }.emit(out.format);
        if let Some(bytes) = frame.header_mut().first_chunk_mut() {
            *bytes = new;
        }
        if crossing.merges() && header.pti.is_user() {
            return self.merge(now, place, header, frame);
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

    /// Keeps a cell until all of its packet have come, and has them leave together then (VC merge): so cells of packets
    /// that came by different channels and leave by one do not get between each other.
    fn merge(&mut self, now: Time, place: usize, header: Header, frame: &mut Frame) -> Fate {
        let crossing = &mut self.crossings[place];
        let (to, service, from) =
            (crossing.config.to, crossing.config.traffic.service, crossing.config.from.port);
        if crossing.is_too_long() && !header.pti.is_last() {
            let held = crossing.drop_held(DropReason::PduLength);
            crossing.refuse_rest();
            held.into_iter().for_each(|cell| self.lose(from, cell, DropReason::PduLength));
            return Fate::Dropped(self.crossings[place].drop(DropReason::PduLength, header));
        }
        if !header.pti.is_last() {
            crossing.hold(core::mem::replace(frame, Frame::from_bytes(&[])));
            return Fate::Kept;
        }
        let held = crossing.take_held();
        let Some(Port::Cells(out)) = self.ports.get_mut(to.port.index()) else { return Fate::Kept };
        let cells = held.len() + 1;
        let has_room = out.output.has_room(now, service, cells as u64);
        if let Err(reason) = out.output.may_take(has_room) {
            // All or none: a part of a packet is of no use.
            out.output.refuse(reason, cells as u64);
            crossing.left(cells, false);
            held.into_iter().for_each(|cell| self.lose(from, cell, reason));
            return Fate::Dropped(reason);
        }
        crossing.left(cells, true);
        let last = core::mem::replace(frame, Frame::from_bytes(&[]));
        for cell in held.into_iter().chain([last]) {
            let Some(Port::Cells(out)) = self.ports.get_mut(to.port.index()) else { return Fate::Kept };
            match out.output.offer(now, service) {
                Offered::Leaves => {
                    self.outputs.push_back(Output::Transmit { port: to.port, frame: cell, ready: now });
                }
                Offered::Waits => {
                    out.output.hold(cell, service);
                    self.agenda.set(to.port, out.output.due());
                }
                Offered::Dropped(reason) => self.lose(from, cell, reason),
            }
        }
        Fate::Kept
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
}
