//! An end of a circuit: packets become cells, and cells become packets again.
//!
//! Inside a node packets have Ethernet headers. They are taken off here, and put on again at the other end with the
//! addresses of the two stations. Who asks by ARP for the station at the other end is answered here, from
//! configuration or from what InATMARP has told (classical IP over permanent circuits, RFC 2225, 8.2): no ARP goes over
//! a circuit.

use super::config::EndConfig;
use super::gcra::Gcra;
use super::payload::{group_of, packet_of, payload_of};
use super::peer::Peer;
use base::device::{DropCounters, DropReason};
use base::{Frame, Serialiser, Span, Time};
use std::collections::VecDeque;
use wire::atm::aal5::{self, Fault, Reassembler, Trailer};
use wire::atm::{CELL_LEN, Format, PAYLOAD_LEN};
use wire::ethernet::{self, EtherType};

/// An end of a circuit.
#[derive(Debug)]
pub struct End {
    pub config: EndConfig,
    format: Format,
    reassembler: Reassembler,
    /// The time of a cell at the peak rate, if its cells leave at that.
    pace: Option<Serialiser>,
    /// What its cells are measured by, if they leave as they come.
    policer: Option<Gcra>,
    /// When the next cell may leave.
    next: Time,
    /// PDUs of which cells wait, and how many cells of the first have left.
    pdus: VecDeque<Vec<u8>>,
    gone: usize,
    waiting_cells: u64,
    pub peer: Peer,
    pub counters: EndCounters,
}

/// What became of packets and cells at an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Packets that became cells.
    pub packets_sent: u64,
    /// Cells made of them.
    pub cells_sent: u64,
    /// Cells of user data that came for it.
    pub cells_received: u64,
    /// Packets that they became.
    pub packets_received: u64,
    /// Packets, and PDUs, that were dropped.
    pub dropped: DropCounters,
    /// Cells that were dropped before they came to a port, or that no PDU has: early ones, those that waited when the
    /// switch began anew, and those of operation and maintenance.
    pub cells_dropped: DropCounters,
}

/// What an end does about a packet of its station.
#[derive(Debug)]
pub enum Taken {
    /// It became a PDU.
    Pdu(Vec<u8>),
    /// It was a question, which is answered.
    Answer(Frame),
    /// It was for nobody, and is none that anybody misses.
    Ignored,
    /// It is dropped, and counted.
    Dropped(DropReason),
}

/// What an end does about a cell.
#[derive(Debug)]
pub enum Received {
    /// It keeps it, or what it was the last cell of.
    Part,
    /// It was the last cell: this goes to the station.
    Packet(Frame),
    /// This PDU goes back.
    Reply(Vec<u8>),
    /// It was the last cell, and what it completes is dropped.
    Dropped(DropReason),
}

impl End {
    pub fn new(config: EndConfig, format: Format) -> End {
        let traffic = config.traffic;
        let serialiser = traffic.peak.map(|peak| Serialiser::new(peak, 0));
        let limit = traffic.tolerance.filter(|_| !config.shaped);
        let policer =
            serialiser.as_ref().zip(limit).map(|(pace, limit)| Gcra::new(pace.span(CELL_LEN as u32), limit));
        End {
            config,
            format,
            reassembler: reassembler(&config),
            pace: serialiser.filter(|_| config.shaped),
            policer,
            next: Time::ZERO,
            pdus: VecDeque::new(),
            gone: 0,
            waiting_cells: 0,
            peer: Peer::default(),
            counters: EndCounters::default(),
        }
    }

    /// Forgets what waits and what has come in part.
    pub fn clear(&mut self) {
        self.counters.cells_dropped.add(DropReason::NodeDown, self.waiting_cells);
        self.counters.dropped.add(DropReason::NodeDown, self.pdus.len() as u64);
        self.pdus.clear();
        self.gone = 0;
        self.reassembler = reassembler(&self.config);
        self.waiting_cells = 0;
        self.peer = Peer::default();
        if let Some(policer) = &mut self.policer {
            policer.restart();
        }
    }

    /// May a cell that leaves as it comes go to the port? One that may not is counted.
    pub fn conforms(&mut self, now: Time) -> bool {
        let conforms = self.policer.as_mut().is_none_or(|policer| policer.conforms(now));
        if !conforms {
            self.counters.cells_dropped.count(DropReason::Policed);
        }
        conforms
    }

    /// Makes a PDU of a frame of the station.
    pub fn take(&mut self, now: Time, frame: &Frame) -> Taken {
        let bytes = frame.to_vec();
        let Some((header, packet)) = bytes.split_first_chunk::<{ ethernet::HEADER_LEN }>() else {
            return self.refuse(DropReason::Truncated);
        };
        let ethertype = EtherType(u16::from_be_bytes([header[12], header[13]]));
        if ethertype == EtherType::ARP {
            return self.answer(now, packet);
        }
        if packet.len() > usize::from(self.config.mtu) {
            return self.refuse(DropReason::TooBig);
        }
        // RFC 2225, 8.5.1: what has aged is asked for again before any other traffic goes there.
        if self.peer.learned.is_some_and(|(_, until)| now >= until) {
            return self.refuse(DropReason::NoAdjacency);
        }
        let payload = match payload_of(self.config.encapsulation, ethertype, packet) {
            Ok(payload) => payload,
            Err(reason) => return self.refuse(reason),
        };
        match aal5::pdu(&payload, Trailer::default()) {
            Ok(pdu) => Taken::Pdu(pdu),
            Err(_) => self.refuse(DropReason::TooBig),
        }
    }

    fn refuse(&mut self, reason: DropReason) -> Taken {
        self.counters.dropped.count(reason);
        Taken::Dropped(reason)
    }

    /// The PDU is on its way, or waits for its turn.
    pub fn accepted(&mut self, pdu: &[u8]) {
        self.counters.packets_sent += 1;
        self.counters.cells_sent += (pdu.len() / PAYLOAD_LEN) as u64;
    }

    /// The cells of a PDU.
    pub fn cells(&self, pdu: &[u8]) -> Vec<[u8; CELL_LEN]> {
        let channel = self.config.channel;
        aal5::cells(pdu, self.format, channel.vpi, channel.vci).collect()
    }

    /// Is it shaped: do its cells leave at its peak rate at most?
    pub fn is_shaped(&self) -> bool {
        self.pace.is_some()
    }

    /// Cells that wait for their turn.
    pub fn waiting_cells(&self) -> u64 {
        self.waiting_cells
    }

    /// A PDU waits for its turn.
    pub fn push(&mut self, now: Time, pdu: Vec<u8>) {
        if self.pdus.is_empty() && self.next < now {
            self.next = now;
            if let Some(pace) = &mut self.pace {
                pace.restart();
            }
        }
        self.waiting_cells += (pdu.len() / PAYLOAD_LEN) as u64;
        self.pdus.push_back(pdu);
    }

    /// When the next cell leaves.
    pub fn due(&self) -> Option<Time> {
        (!self.pdus.is_empty()).then_some(self.next)
    }

    /// The next cell, if it is its time.
    pub fn next_cell(&mut self, now: Time) -> Option<[u8; CELL_LEN]> {
        if self.due().is_none_or(|due| due > now) {
            return None;
        }
        let pdu = self.pdus.front()?;
        let channel = self.config.channel;
        let cell = aal5::cell(pdu, self.gone, self.format, channel.vpi, channel.vci)?;
        self.gone += 1;
        if self.gone * PAYLOAD_LEN == pdu.len() {
            self.pdus.pop_front();
            self.gone = 0;
        }
        self.waiting_cells -= 1;
        let time = self.pace.as_mut().map_or(Span::ZERO, |pace| pace.advance(CELL_LEN as u32));
        self.next += time;
        Some(cell)
    }

    /// Takes the payload of a cell.
    pub fn receive(&mut self, now: Time, payload: &[u8; PAYLOAD_LEN], last: bool) -> Received {
        self.counters.cells_received += 1;
        let payload = match self.reassembler.receive(payload, last) {
            None => return Received::Part,
            Some(Ok((payload, _))) => payload,
            Some(Err(fault)) => return Received::Dropped(self.lost(reason_of(fault))),
        };
        let Some((ethertype, packet)) = packet_of(self.config.encapsulation, &payload) else {
            return Received::Dropped(self.lost(DropReason::UnknownProtocol));
        };
        self.counters.packets_received += 1;
        match ethertype {
            EtherType::ARP => self.inverse_received(now, packet),
            _ => Received::Packet(self.frame(ethertype, packet)),
        }
    }

    /// The headers of its cells.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The payload of a packet without a label.
    pub fn unlabelled(&self, packet: &[u8]) -> Result<Vec<u8>, DropReason> {
        payload_of(self.config.encapsulation, EtherType::IPV4, packet)
    }

    /// Takes the payload of a cell of a label; of the last one comes the payload of the packet.
    pub fn receive_labelled(
        &mut self,
        reassembler: &mut Reassembler,
        payload: &[u8; PAYLOAD_LEN],
        last: bool,
    ) -> Result<Option<Vec<u8>>, DropReason> {
        self.counters.cells_received += 1;
        match reassembler.receive(payload, last) {
            None => Ok(None),
            Some(Ok((payload, _))) => Ok(Some(payload)),
            Some(Err(fault)) => Err(self.lost(reason_of(fault))),
        }
    }

    /// What the station gets of a packet that came by a label.
    pub fn accept_labelled(&mut self, incoming: Result<(EtherType, Vec<u8>), DropReason>) -> Received {
        match incoming {
            Ok((ethertype, packet)) => {
                self.counters.packets_received += 1;
                Received::Packet(self.frame(ethertype, &packet))
            }
            Err(reason) => Received::Dropped(self.lost(reason)),
        }
    }

    /// Counts a cell that no PDU has.
    pub fn lost_cell(&mut self, reason: DropReason) -> DropReason {
        self.counters.cells_dropped.count(reason);
        reason
    }

    /// Counts what is dropped.
    pub fn lost(&mut self, reason: DropReason) -> DropReason {
        self.counters.dropped.count(reason);
        reason
    }

    /// A packet with the Ethernet header that the station expects.
    fn frame(&self, ethertype: EtherType, packet: &[u8]) -> Frame {
        let mut bytes = vec![0; ethernet::HEADER_LEN + packet.len()];
        let to = group_of(ethertype, packet).unwrap_or(self.config.own.mac);
        ethernet::Repr::untagged(to, self.config.peer.mac, ethertype).emit(&mut bytes);
        bytes[ethernet::HEADER_LEN..].copy_from_slice(packet);
        Frame::from_bytes(&bytes)
    }
}

/// A receiver of the longest packets that an end takes.
fn reassembler(config: &EndConfig) -> Reassembler {
    Reassembler::new(usize::from(config.mtu) + config.encapsulation.header_len())
}

fn reason_of(fault: Fault) -> DropReason {
    match fault {
        Fault::Crc => DropReason::PduCrc,
        Fault::Length | Fault::Aborted | Fault::TooLong => DropReason::PduLength,
    }
}
