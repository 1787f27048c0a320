//! What an end knows of the station at the other one, and how it asks (RFC 2390, and RFC 2225, 8).

use super::config::Map;
use super::end::{End, Received, Taken};
use crate::neighbors::arp_frame;
use base::device::DropReason;
use base::{Frame, Span, Time};
use core::net::Ipv4Addr;
use wire::arp;
use wire::atm::aal5::{self, Trailer};
use wire::atm::{inatmarp, llc_snap};
use wire::ethernet::EtherType;

/// So long what InATMARP told is believed (RFC 2225, 8.5.1).
const BELIEVED: Span = Span::from_secs(15 * 60);
/// A packet that comes so long before the end of that has the other end asked again.
const EARLY: Span = Span::from_secs(60);
/// An answer that stays away for so long is asked for again, if there are packets.
const PATIENCE: Span = Span::from_secs(1);

/// The station at the other end, as far as it is known.
#[derive(Debug, Default)]
pub struct Peer {
    /// Its address as InATMARP told it, and until when that is believed.
    pub learned: Option<(Ipv4Addr, Time)>,
    /// For whom the station at this end asked and was not answered.
    asked: Option<Ipv4Addr>,
    /// When the other end was asked again; absent once it has answered.
    asked_again: Option<Time>,
}

impl End {
    /// The PDU by which the other end is asked again who it is, before a packet goes there: what it told ends soon, or
    /// has ended (RFC 2225, 8.5.1).
    pub(super) fn ask_again(&mut self, now: Time, frame: &Frame) -> Option<Vec<u8>> {
        let (_, until) = self.peer.learned?;
        // A question for an address asks the other end itself.
        if frame.header().get(12..14) == Some(&EtherType::ARP.0.to_be_bytes()) {
            return None;
        }
        let is_patient = self.peer.asked_again.is_some_and(|asked| now < asked + PATIENCE);
        if now + EARLY < until || is_patient {
            return None;
        }
        self.peer.asked_again = Some(now);
        self.inverse(&inatmarp::Repr::request(self.config.own.address))
    }

    /// What the station is told that asks for an address.
    pub(super) fn answer(&mut self, now: Time, packet: &[u8]) -> Taken {
        let Ok(asked) = arp::Packet::new_checked(packet) else { return Taken::Ignored };
        if asked.operation() != arp::Operation::REQUEST {
            return Taken::Ignored;
        }
        let known = match self.config.map {
            Map::Static => Some(self.config.peer.address),
            Map::Learned => self.peer.learned.filter(|(_, until)| now < *until).map(|(address, _)| address),
        };
        match known {
            Some(address) if address == asked.target_ip() => Taken::Answer(self.arp_answer(address)),
            Some(_) => Taken::Ignored,
            None => {
                self.peer.asked = Some(asked.target_ip());
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
    pub(super) fn inverse_received(&mut self, now: Time, packet: &[u8]) -> Received {
        let Ok(repr) = inatmarp::Repr::parse(packet) else {
            return Received::Dropped(self.lost(DropReason::Malformed));
        };
        // RFC 2225, 8.7.1: others, such as the refusal of a server (10), tell nothing of who is there.
        if ![inatmarp::Operation::REQUEST, inatmarp::Operation::REPLY].contains(&repr.operation) {
            return Received::Dropped(self.lost(DropReason::UnknownProtocol));
        }
        if let Some(address) = repr.source_ip {
            self.peer.asked_again = None;
            self.peer.learned = Some((address, now + BELIEVED));
        }
        if repr.operation == inatmarp::Operation::REQUEST {
            return self
                .inverse(&repr.reply(self.config.own.address))
                .map_or(Received::Part, Received::Reply);
        }
        match self.peer.learned {
            Some((address, _)) if self.peer.asked == Some(address) => {
                self.peer.asked = None;
                Received::Packet(self.arp_answer(address))
            }
            _ => Received::Part,
        }
    }
}
