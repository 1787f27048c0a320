//! A packet that comes: it becomes cells, which leave at once or in their turn.

use super::config::Service;
use super::end::Taken;
use super::output::Offered;
use super::{AtmSwitch, Port};
use base::device::DropReason;
use base::{Frame, Output, PortId, Time};
use wire::atm::{CELL_LEN, PAYLOAD_LEN};

impl AtmSwitch {
    /// Takes a frame of the station at an end.
    pub(super) fn take_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        if let Some(sent) = self.take_labelled(now, port, &frame) {
            if let Err(reason) = sent {
                self.lose(port, frame, reason);
            }
            return;
        }
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
    pub(super) fn send_pdu(&mut self, now: Time, port: PortId, pdu: Vec<u8>) -> bool {
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
    pub(super) fn send_shaped(&mut self, now: Time, port: PortId) {
        while let Some(Port::Packets(end)) = self.ports.get_mut(port.index()) {
            let (to, service) = (end.config.channel.port, end.config.traffic.service);
            let Some(cell) = end.next_cell(now) else {
                self.agenda.set(port, end.due());
                return;
            };
            self.send_cell(now, to, service, cell);
        }
    }

    pub(super) fn send_cell(&mut self, now: Time, port: PortId, service: Service, cell: [u8; CELL_LEN]) {
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
}
