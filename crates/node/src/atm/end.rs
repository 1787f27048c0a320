//! An end of a circuit: packets become cells, and cells become packets again.
//!
//! Inside a node packets have Ethernet headers. They are taken off here, and put on again at the other end with the
//! addresses of the two stations. Who asks by ARP for the station at the other end is answered here, from
//! configuration or from what InATMARP has told (classical IP over permanent circuits, RFC 2225, 8.2): no ARP goes over
//! a circuit.

use super::config::{EndConfig, Map};
use super::gcra::Gcra;
use crate::neighbors::arp_frame;
use base::device::{DropCounters, DropReason};
use base::plane::{group_mac, group_mac6};
use base::{Frame, Label, MacAddr, Serialiser, Span, Time};
use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::VecDeque;
use wire::arp;
use wire::atm::aal5::{self, Fault, Reassembler, Trailer};
use wire::atm::inatmarp;
use wire::atm::{CELL_LEN, Encapsulation, Format, LLC_SNAP_LEN, PAYLOAD_LEN, SHIM_LEN, llc_snap, null_label};
use wire::ethernet::{self, EtherType};
use wire::llc::{HEADER_LEN as LLC_LEN, OUI_ETHERTYPE, SAP_SNAP, SnapRepr, UI};
use wire::mpls;

/// So long what InATMARP told is believed (RFC 2225, 8.5.1).
const BELIEVED: Span = Span::from_secs(15 * 60);
/// A packet that comes so long before the end of that has the other end asked again.
const EARLY: Span = Span::from_secs(60);
/// An answer that stays away for so long is asked for again, if there are packets.
const PATIENCE: Span = Span::from_secs(1);

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
    /// The address of the other station, and until when that is believed.
    learned: Option<(Ipv4Addr, Time)>,
    /// For whom the station asked and was not answered.
    asked: Option<Ipv4Addr>,
    /// When the other end was asked again.
    asked_again: Option<Time>,
    pub counters: EndCounters,
}

/// What became of packets and cells at an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndCounters {
    /// Packets that became cells.
    pub packets_sent: u64,
    /// Cells made of them.
    pub cells_sent: u64,
    /// Cells that came for it, whatever became of them.
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
            learned: None,
            asked: None,
            asked_again: None,
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
        (self.learned, self.asked, self.asked_again) = (None, None, None);
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

    /// The PDU by which the other end is asked again who it is, before a packet goes there: what it told ends soon, or
    /// has ended (RFC 2225, 8.5.1).
    pub fn ask_again(&mut self, now: Time, frame: &Frame) -> Option<Vec<u8>> {
        let (_, until) = self.learned?;
        // A question for an address asks the other end itself.
        if frame.header().get(12..14) == Some(&EtherType::ARP.0.to_be_bytes()) {
            return None;
        }
        let is_patient = self.asked_again.is_some_and(|asked| now < asked + PATIENCE);
        if now + EARLY < until || is_patient {
            return None;
        }
        self.asked_again = Some(now);
        self.inverse(&inatmarp::Repr::request(self.config.own.address))
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
        if self.learned.is_some_and(|(_, until)| now >= until) {
            return self.refuse(DropReason::NoAdjacency);
        }
        let payload = match (self.config.encapsulation, ethertype) {
            (Encapsulation::LlcSnap, EtherType(0x600..)) => [&llc_snap(ethertype)[..], packet].concat(),
            (Encapsulation::VcMultiplexed, EtherType::IPV4) => packet.to_vec(),
            (Encapsulation::Shim, EtherType::MPLS) => packet.to_vec(),
            (Encapsulation::Shim, EtherType::IPV4) => match null_label(packet) {
                Some(label) => [&label[..], packet].concat(),
                None => return self.refuse(DropReason::Truncated),
            },
            _ => return self.refuse(DropReason::UnknownProtocol),
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

    /// What the station is told that asks for an address.
    fn answer(&mut self, now: Time, packet: &[u8]) -> Taken {
        let Ok(asked) = arp::Packet::new_checked(packet) else { return Taken::Ignored };
        if asked.operation() != arp::Operation::REQUEST {
            return Taken::Ignored;
        }
        let known = match self.config.map {
            Map::Static => Some(self.config.peer.address),
            Map::Learned => self.learned.filter(|(_, until)| now < *until).map(|(address, _)| address),
        };
        match known {
            Some(address) if address == asked.target_ip() => Taken::Answer(self.arp_answer(address)),
            Some(_) => Taken::Ignored,
            None => {
                self.asked = Some(asked.target_ip());
                self.inverse(&inatmarp::Repr::request(self.config.own.address))
                    .map_or(Taken::Ignored, Taken::Pdu)
            }
        }
    }

    /// The station at the other end has this address.
    fn arp_answer(&self, address: Ipv4Addr) -> Frame {
        let (own, peer) = (self.config.own, self.config.peer);
        arp_frame(&arp::Repr {
            operation: arp::Operation::REPLY,
            sender_mac: peer.mac,
            sender_ip: address,
            target_mac: own.mac,
            target_ip: own.address,
        })
    }

    /// The PDU of an InATMARP packet (RFC 2225, 8.2: on circuits with LLC and SNAP).
    fn inverse(&self, repr: &inatmarp::Repr) -> Option<Vec<u8>> {
        let packet = repr.emit().ok()?;
        aal5::pdu(&[&llc_snap(EtherType::ARP)[..], &packet].concat(), Trailer::default()).ok()
    }

    /// Takes an InATMARP packet: who sent it is at the other end, whether that asks or answers (RFC 2390, 7).
    fn inverse_received(&mut self, now: Time, packet: &[u8]) -> Received {
        let Ok(repr) = inatmarp::Repr::parse(packet) else {
            return Received::Dropped(self.lost(DropReason::Malformed));
        };
        // RFC 2225, 8.7.1: others, such as the refusal of a server (10), tell nothing of who is there.
        if ![inatmarp::Operation::REQUEST, inatmarp::Operation::REPLY].contains(&repr.operation) {
            return Received::Dropped(self.lost(DropReason::UnknownProtocol));
        }
        if let Some(address) = repr.source_ip {
            self.asked_again = None;
            self.learned = Some((address, now + BELIEVED));
        }
        if repr.operation == inatmarp::Operation::REQUEST {
            return self
                .inverse(&repr.reply(self.config.own.address))
                .map_or(Received::Part, Received::Reply);
        }
        match self.learned {
            Some((address, _)) if self.asked == Some(address) => {
                self.asked = None;
                Received::Packet(self.arp_answer(address))
            }
            _ => Received::Part,
        }
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

/// What a payload carries.
fn packet_of(encapsulation: Encapsulation, payload: &[u8]) -> Option<(EtherType, &[u8])> {
    match encapsulation {
        Encapsulation::VcMultiplexed => Some((EtherType::IPV4, payload)),
        Encapsulation::LlcSnap => {
            let (header, packet) = payload.split_first_chunk::<LLC_SNAP_LEN>()?;
            let (llc, snap) = header.split_at(LLC_LEN);
            // RFC 2684, 5.1: LLC says that SNAP follows, and the OUI that an EtherType does.
            let snap = SnapRepr::parse(snap).ok()?;
            let is_routed = llc == [SAP_SNAP, SAP_SNAP, UI] && snap.oui == OUI_ETHERTYPE;
            is_routed.then_some((EtherType(snap.protocol), packet))
        }
        Encapsulation::Shim => {
            let (entry, packet) = payload.split_first_chunk::<SHIM_LEN>()?;
            // RFC 3032, 2.1: label 0, at the bottom, says that an IPv4 packet follows.
            let entry = mpls::Repr::from_word(u32::from_be_bytes(*entry));
            let is_null = entry.label == Label::EXPLICIT_NULL && entry.bottom;
            Some(if is_null { (EtherType::IPV4, packet) } else { (EtherType::MPLS, payload) })
        }
    }
}

/// The Ethernet address of the group that a packet is for (RFC 1112, 6.4, and RFC 2464, 7), if it is for one.
fn group_of(ethertype: EtherType, packet: &[u8]) -> Option<MacAddr> {
    match ethertype {
        EtherType::IPV4 => match Ipv4Addr::from(*packet.get(16..)?.first_chunk::<4>()?) {
            Ipv4Addr::BROADCAST => Some(MacAddr::BROADCAST),
            to => to.is_multicast().then(|| group_mac(to)),
        },
        EtherType::IPV6 => {
            let to = Ipv6Addr::from(*packet.get(24..)?.first_chunk::<16>()?);
            to.is_multicast().then(|| group_mac6(to))
        }
        _ => None,
    }
}
