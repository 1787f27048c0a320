//! Packets behind labels that are channels (RFC 3035, 9 and 10): what is on the link, and what the router beside the
//! switch deals with.

use super::config::LabelConfig;
use base::device::DropReason;
use base::plane::ChannelRange;
use base::{Label, TrafficClass};
use std::collections::BTreeMap;
use wire::atm::{Encapsulation, SHIM_LEN};
use wire::ethernet::EtherType;
use wire::{ipv4, mpls};

/// What a port knows of its channels that are labels.
#[derive(Debug)]
pub struct Labelled {
    pub config: LabelConfig,
    /// How many hops LSPs are long that begin with a label here, where that is known.
    pub hops: BTreeMap<Label, u8>,
}

/// What becomes of a packet of the router.
#[derive(Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// It leaves by a channel, as this payload of AAL5.
    By((u16, u16), Vec<u8>),
    /// It leaves without a label, by the channel for such packets.
    Unlabelled(Vec<u8>),
}

impl Labelled {
    pub fn new(config: LabelConfig) -> Labelled {
        Labelled { config, hops: BTreeMap::new() }
    }

    /// What is on the link of a packet that the router has given a label. The router has taken one from its time to
    /// live; the rest of the way through cells, which take none, is taken here.
    pub fn outgoing(&self, packet: &[u8]) -> Result<Outgoing, DropReason> {
        let (word, rest) = packet.split_first_chunk::<SHIM_LEN>().ok_or(DropReason::Truncated)?;
        let top = mpls::Repr::from_word(u32::from_be_bytes(*word));
        // RFC 3035, 10: one at least, and as many as the label's way has hops if that is known.
        let more = self.hops.get(&top.label).map_or(0, |hops| hops.saturating_sub(1));
        if top.ttl <= more {
            // It would end on the way. Without a label it meets a router at each hop, and ends where it has to.
            return match top.bottom {
                true => Ok(Outgoing::Unlabelled(with_ttl(rest, top.ttl)?)),
                false => Err(DropReason::TtlExpired),
            };
        }
        let (channel, ttl) = (ChannelRange::channel(self.config.first, top.label), top.ttl - more);
        Ok(Outgoing::By(channel, self.payload(mpls::Repr { ttl, ..top }, rest)?))
    }

    fn payload(&self, top: mpls::Repr, rest: &[u8]) -> Result<Vec<u8>, DropReason> {
        match self.config.encapsulation {
            Encapsulation::VcMultiplexed if top.bottom => with_ttl(rest, top.ttl),
            // RFC 3035, 9: without a shim there is no room for a second label.
            Encapsulation::VcMultiplexed | Encapsulation::LlcSnap => Err(DropReason::UnknownProtocol),
            // The label itself is the channel.
            Encapsulation::Shim => {
                let shim = mpls::Repr { label: Label::EXPLICIT_NULL, ..top };
                Ok([&shim.to_word().to_be_bytes()[..], rest].concat())
            }
        }
    }

    /// What the router gets of a payload that came by a channel which means `label` to it.
    pub fn incoming(&self, label: Label, payload: &[u8]) -> Result<(EtherType, Vec<u8>), DropReason> {
        let (top, rest) = match self.config.encapsulation {
            Encapsulation::Shim => {
                let (word, rest) = payload.split_first_chunk::<SHIM_LEN>().ok_or(DropReason::Truncated)?;
                // RFC 3035, 9: the label that stands here is ignored.
                (mpls::Repr { label, ..mpls::Repr::from_word(u32::from_be_bytes(*word)) }, rest)
            }
            _ => {
                let packet = ipv4::Packet::new_checked(payload).map_err(|_| DropReason::Malformed)?;
                if label == Label::EXPLICIT_NULL {
                    return Ok((EtherType::IPV4, payload.to_vec()));
                }
                let tc = TrafficClass::truncate(0);
                (mpls::Repr { label, tc, bottom: true, ttl: packet.ttl() }, payload)
            }
        };
        Ok((EtherType::MPLS, [&top.to_word().to_be_bytes()[..], rest].concat()))
    }
}

/// An IPv4 packet with another time to live. A wrong check of the header stays wrong.
fn with_ttl(packet: &[u8], ttl: u8) -> Result<Vec<u8>, DropReason> {
    let mut packet = ipv4::Packet::new_checked(packet.to_vec()).map_err(|_| DropReason::UnknownProtocol)?;
    let is_right = packet.verify_checksum().is_ok();
    packet.set_ttl(ttl);
    if is_right {
        let checksum = packet.compute_checksum();
        packet.set_checksum(checksum);
    }
    Ok(packet.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(encapsulation: Encapsulation) -> Labelled {
        let mut labelled = Labelled::new(LabelConfig { first: 3, encapsulation });
        labelled.hops.insert(Label::truncate(1 << 16 | 40), 4);
        labelled
    }

    /// An IPv4 packet with a time to live of 64.
    fn packet() -> Vec<u8> {
        let mut bytes = vec![0x45, 0, 0, 24, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4];
        let checksum = ipv4::Packet::new_unchecked(&bytes[..]).compute_checksum();
        bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
        bytes
    }

    fn behind(label: u32, bottom: bool, ttl: u8, rest: &[u8]) -> Vec<u8> {
        let tc = TrafficClass::truncate(5);
        let top = mpls::Repr { label: Label::truncate(label), tc, bottom, ttl };
        [&top.to_word().to_be_bytes()[..], rest].concat()
    }

    #[test]
    fn the_label_is_the_channel_and_the_shim_has_the_rest() {
        // RFC 3035, 9 and 10: label 0, the class as it was, and a time to live that is less by all hops.
        let labelled = labelled(Encapsulation::Shim);
        let out = labelled.outgoing(&behind(1 << 16 | 40, true, 63, &packet()));
        assert_eq!(out, Ok(Outgoing::By((4, 40), behind(0, true, 60, &packet()))));
        // Of another label nobody knows how long its way is: the router has taken one.
        let out = labelled.outgoing(&behind(77, true, 63, &packet()));
        assert_eq!(out, Ok(Outgoing::By((3, 77), behind(0, true, 63, &packet()))));
        // Two labels are two entries.
        let inner = behind(99, true, 9, &packet());
        let out = labelled.outgoing(&behind(77, false, 63, &inner));
        assert_eq!(out, Ok(Outgoing::By((3, 77), behind(0, false, 63, &inner))));
        let back = labelled.incoming(Label::truncate(500), &behind(0, false, 63, &inner));
        assert_eq!(back, Ok((EtherType::MPLS, behind(500, false, 63, &inner))));
        // What stands in the shim is ignored.
        let back = labelled.incoming(Label::EXPLICIT_NULL, &behind(1_234, true, 60, &packet()));
        assert_eq!(back, Ok((EtherType::MPLS, behind(0, true, 60, &packet()))));
    }

    #[test]
    fn without_a_shim_the_packet_has_the_time_to_live() {
        let labelled = labelled(Encapsulation::VcMultiplexed);
        let Ok(Outgoing::By(channel, bytes)) = labelled.outgoing(&behind(1 << 16 | 40, true, 63, &packet()))
        else {
            panic!("it has one label");
        };
        let sent = ipv4::Packet::new_checked(&bytes[..]).expect("an IPv4 packet");
        assert_eq!((channel, sent.ttl(), sent.verify_checksum().is_ok()), ((4, 40), 60, true));
        let inner = behind(99, true, 9, &packet());
        assert_eq!(labelled.outgoing(&behind(77, false, 63, &inner)), Err(DropReason::UnknownProtocol));
        assert_eq!(labelled.incoming(Label::EXPLICIT_NULL, &bytes), Ok((EtherType::IPV4, bytes.clone())));
        let Ok((EtherType::MPLS, back)) = labelled.incoming(Label::truncate(500), &bytes) else {
            panic!("the router knows it by a label");
        };
        let top = mpls::Packet::new_unchecked(&back[..]);
        assert_eq!((top.label().value(), top.ttl(), top.bottom()), (500, 60, true));
    }

    #[test]
    fn what_would_end_on_the_way_goes_without_a_label() {
        let labelled = labelled(Encapsulation::Shim);
        let Ok(Outgoing::Unlabelled(bytes)) = labelled.outgoing(&behind(1 << 16 | 40, true, 3, &packet()))
        else {
            panic!("three hops are left, and four to go with what the router took");
        };
        let sent = ipv4::Packet::new_checked(&bytes[..]).expect("an IPv4 packet");
        assert_eq!((sent.ttl(), sent.verify_checksum().is_ok()), (3, true));
        let inner = behind(99, true, 9, &packet());
        let two = behind(1 << 16 | 40, false, 3, &inner);
        assert_eq!(labelled.outgoing(&two), Err(DropReason::TtlExpired));
        assert_eq!(labelled.outgoing(&[1, 2, 3]), Err(DropReason::Truncated));
        assert_eq!(labelled.incoming(Label::EXPLICIT_NULL, &[1, 2]), Err(DropReason::Truncated));
    }
}
