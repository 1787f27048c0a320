//! Channels that are labels: the table is written while cells come (RFC 3035).

use super::config::{Channel, Cross, Service, Traffic};
use super::cross::Crossing;
use super::end::Received;
use super::forward::Fate;
use super::labelled::{Labelled, Outgoing};
use super::receive::Receiver;
use super::ways::Way;
use super::{AtmSwitch, Port};
use base::device::DropReason;
use base::plane::{ChannelRange, CircuitTo, TableOp};
use base::{Frame, Label, PortId, Time};
use wire::atm::aal5::{self, Trailer};
use wire::atm::{Cell, Header, PAYLOAD_LEN};
use wire::ethernet::{self, EtherType};

/// Cells of labels get what is left, and nobody polices them.
const LABELS: Traffic = Traffic { service: Service::Ubr, peak: None, tolerance: None };

impl AtmSwitch {
    /// What a port knows of labels, if channels are labels there.
    fn labelled(&self, port: PortId) -> Option<&Labelled> {
        match self.ports.get(port.index()) {
            Some(Port::Cells(port)) => port.labelled.as_deref(),
            _ => None,
        }
    }

    /// The channel that a label stands for at a port.
    fn channel_of(&self, port: PortId, label: Label) -> Option<Channel> {
        let (vpi, vci) = ChannelRange::channel(self.labelled(port)?.config.first, label);
        Some(Channel { port, vpi, vci })
    }

    /// Carries out what was written of labels. Cells of a packet that has come in part are dropped where they would
    /// leave by another channel than the others.
    pub fn apply(&mut self, op: &TableOp) {
        match *op {
            TableOp::CircuitSet { port, label, to } => {
                let Some(from) = self.channel_of(port, label) else { return };
                self.remove_way(from);
                match to {
                    CircuitTo::Here(label) => self.receive_at(from, label),
                    CircuitTo::Over { port, label, merges } => {
                        if let Some(to) = self.channel_of(port, label) {
                            self.cross(from, to, merges);
                        }
                    }
                }
            }
            TableOp::CircuitRemove { port, label } => {
                if let Some(from) = self.channel_of(port, label) {
                    self.remove_way(from);
                }
            }
            TableOp::CircuitHops { port, label, hops } => {
                if let Some(Port::Cells(port)) = self.ports.get_mut(port.index())
                    && let Some(labelled) = &mut port.labelled
                {
                    match hops.filter(|hops| *hops > 0) {
                        Some(hops) => labelled.hops.insert(label, hops),
                        None => labelled.hops.remove(&label),
                    };
                }
            }
            _ => {}
        }
    }

    /// Forgets all labels: the router beside has restarted.
    pub fn forget_labels(&mut self) {
        let crossings = self.crossings.iter().filter(|one| one.of_label).map(|one| one.config.from);
        let receivers = self.receivers.iter().map(|one| one.from);
        for from in crossings.chain(receivers).collect::<Vec<_>>() {
            self.remove_way(from);
        }
        for port in &mut self.ports {
            if let Port::Cells(port) = port
                && let Some(labelled) = &mut port.labelled
            {
                labelled.hops.clear();
            }
        }
    }

    fn cross(&mut self, from: Channel, to: Channel, merges: bool) {
        let config = Cross { from, to, traffic: LABELS };
        let place = match self.crossings.iter().position(|one| one.of_label && one.config.from == from) {
            // What was counted of the channel goes on.
            Some(place) => {
                self.crossings[place].set(config, merges);
                place
            }
            None => {
                self.crossings.push(Crossing::of_label(config, merges));
                self.crossings.len() - 1
            }
        };
        self.enter(from, Way::Cross(place as u32));
    }

    fn receive_at(&mut self, from: Channel, label: Label) {
        let place = match self.receivers.iter().position(|one| one.from == from) {
            Some(place) => {
                self.receivers[place].set(label);
                place
            }
            None => {
                self.receivers.push(Receiver::new(from, label));
                self.receivers.len() - 1
            }
        };
        self.enter(from, Way::Label(place as u32));
    }

    /// Cells of a channel are nobody's any more.
    fn remove_way(&mut self, from: Channel) {
        let Some(Port::Cells(port)) = self.ports.get_mut(from.port.index()) else { return };
        match port.ways.remove(from) {
            Some(Way::Cross(place)) => {
                let crossing = &mut self.crossings[place as usize];
                crossing.is_used = false;
                let held = crossing.drop_held(DropReason::UnknownVc);
                held.into_iter().for_each(|frame| self.lose(from.port, frame, DropReason::UnknownVc));
            }
            Some(Way::Label(place)) => self.receivers[place as usize].is_used = false,
            Some(Way::Path(_) | Way::End(_)) | None => {}
        }
    }

    /// Gives a cell of a label to the router beside; if it is the last one of a packet, the packet takes its place.
    pub(super) fn give_labelled(&mut self, place: usize, header: Header, frame: &mut Frame) -> Fate {
        let from = self.receivers[place].from.port;
        let beside = self.beside(from);
        let receiver = &mut self.receivers[place];
        let Some(Port::Packets(end)) = self.ports.get_mut(beside.index()) else { return Fate::Kept };
        let Some(cell) = Cell::new_checked(frame.header()).ok().filter(|_| header.pti.is_user()) else {
            return Fate::Dropped(end.lost_cell(DropReason::NoListener));
        };
        let last = header.pti.is_last();
        let payload = match end.receive_labelled(&mut receiver.reassembler, cell.payload(), last) {
            Ok(Some(payload)) => payload,
            Ok(None) => return Fate::Kept,
            Err(reason) => return Fate::Dropped(reason),
        };
        let label = receiver.label;
        let Some(labelled) = self.labelled(from) else { return Fate::Kept };
        let incoming = labelled.incoming(label, &payload);
        let Some(Port::Packets(end)) = self.ports.get_mut(beside.index()) else { return Fate::Kept };
        match end.accept_labelled(incoming) {
            Received::Packet(packet) => {
                *frame = packet;
                Fate::Leaves(beside)
            }
            Received::Dropped(reason) => Fate::Dropped(reason),
            Received::Part | Received::Reply(_) => Fate::Kept,
        }
    }

    /// Takes a frame of the router beside, if it has a label and channels are labels at the port.
    pub(super) fn take_labelled(
        &mut self,
        now: Time,
        beside: PortId,
        frame: &Frame,
    ) -> Option<Result<(), DropReason>> {
        let is_mpls = frame.header().get(12..14) == Some(&EtherType::MPLS.0.to_be_bytes());
        let Some(Port::Packets(end)) = self.ports.get(beside.index()).filter(|_| is_mpls) else {
            return None;
        };
        let labelled = self.labelled(end.config.channel.port)?;
        let bytes = frame.to_vec();
        let outgoing = match bytes.get(ethernet::HEADER_LEN..) {
            Some(packet) => labelled.outgoing(packet),
            None => Err(DropReason::Truncated),
        };
        let sent = outgoing.and_then(|outgoing| self.send_labelled(now, beside, outgoing));
        if let (Err(reason), Some(Port::Packets(end))) = (sent, self.ports.get_mut(beside.index())) {
            end.lost(reason);
        }
        Some(sent)
    }

    fn send_labelled(&mut self, now: Time, beside: PortId, outgoing: Outgoing) -> Result<(), DropReason> {
        let Some(Port::Packets(end)) = self.ports.get(beside.index()) else {
            return Err(DropReason::PortDown);
        };
        let ((vpi, vci), payload) = match outgoing {
            Outgoing::By(channel, payload) => (channel, payload),
            Outgoing::Unlabelled(packet) => {
                let channel = end.config.channel;
                ((channel.vpi, channel.vci), end.unlabelled(&packet)?)
            }
        };
        let (to, service, format) = (end.config.channel.port, end.config.traffic.service, end.format());
        let pdu = aal5::pdu(&payload, Trailer::default()).map_err(|_| DropReason::TooBig)?;
        let Some(Port::Cells(out)) = self.ports.get(to.index()) else { return Err(DropReason::PortDown) };
        if !out.output.has_room(now, service, (pdu.len() / PAYLOAD_LEN) as u64) {
            return Err(DropReason::BufferFull);
        }
        if let Some(Port::Packets(end)) = self.ports.get_mut(beside.index()) {
            end.accepted(&pdu);
        }
        for cell in aal5::cells(&pdu, format, vpi, vci) {
            self.send_cell(now, to, service, cell);
        }
        Ok(())
    }

    /// The port to the router beside that packets of a port of cells go through.
    pub fn beside(&self, port: PortId) -> PortId {
        PortId(port.0 + (self.ports.len() / 2) as u16)
    }
}
