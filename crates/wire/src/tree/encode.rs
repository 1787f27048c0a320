//! From a [`Tree`] to bytes.

use super::layers::{Arp, Entry, Ethernet, IpOption, Ipv4, Layer, Measurement, Tree, Udp};
use crate::error::{Error, Reason};
use crate::ethernet::EtherType;
use crate::ipv4::{Options, OptionsBuilder, Protocol, options};
use crate::{arp, ethernet, ipv4, llc, measurement, mpls, udp};
use base::{Dscp, Label, StreamId, TrafficClass};

/// Writes a frame. An error says which field of which layer has a value that its bits can't hold.
///
/// Lengths are always those of what follows; checksums and types that are left out are computed.
pub fn encode(tree: &Tree) -> Result<Vec<u8>, Error> {
    let layers = tree.layers.as_slice();
    let (layers, padding) = match layers.split_last() {
        Some((Layer::Padding { bytes }, rest)) => (rest, bytes.as_ref()),
        _ => (layers, &[][..]),
    };
    // From the inside out: every layer knows what follows it.
    let mut inner = Vec::new();
    for (index, layer) in layers.iter().enumerate().rev() {
        let next = layers.get(index + 1);
        inner = match layer {
            Layer::Ethernet(ethernet) => join(write_ethernet(ethernet, next, inner.len())?, &inner),
            Layer::Sll(sll) => join(sll.write(next.and_then(type_of))?, &inner),
            Layer::Sll2(sll) => join(sll.write(next.and_then(type_of))?, &inner),
            Layer::Ppp(ppp) => join(ppp.write(next.and_then(type_of))?, &inner),
            Layer::Chdlc(hdlc) => join(hdlc.write(next.and_then(type_of))?, &inner),
            Layer::SunAtm(header) => join(header.write()?, &inner),
            Layer::Erf(record) => join(record.write(), &inner),
            Layer::Cell(cell) => join(cell.write()?, &inner),
            Layer::Null(null) => join(null.write(next.and_then(type_of))?, &inner),
            Layer::Llc(llc) => join(llc.write()?, &inner),
            Layer::Snap(snap) => join(snap.write(next.and_then(type_of))?, &inner),
            Layer::Arp(arp) => join(write_arp(arp), &inner),
            Layer::Mpls(mpls) => join(stack(&mpls.stack)?, &inner),
            Layer::Pseudowire(word) => join(word.write()?, &inner),
            Layer::Ach(header) => join(header.write()?, &inner),
            Layer::Ipv4(ipv4) => write_ipv4(ipv4, next, &inner)?,
            Layer::Ipv6(ipv6) => ipv6.write(next, &inner)?,
            Layer::Udp(udp) => {
                let outer = index.checked_sub(1).and_then(|index| layers.get(index));
                write_udp(udp, outer, &inner)?
            }
            Layer::Tcp(tcp) => {
                let addresses = match index.checked_sub(1).and_then(|index| layers.get(index)) {
                    Some(Layer::Ipv4(ipv4)) => Some((ipv4.src.into(), ipv4.dst.into())),
                    Some(Layer::Ipv6(ipv6)) => Some((ipv6.src.into(), ipv6.dst.into())),
                    _ => None,
                };
                tcp.write(addresses, &inner)?
            }
            Layer::Icmp(icmp) => join(icmp.write()?, &inner),
            Layer::Icmpv6(icmp) => {
                let outer = index.checked_sub(1).and_then(|index| layers.get(index));
                join(icmp.write(outer)?, &inner)
            }
            Layer::Rsvp(message) => {
                let mut bytes = Vec::new();
                message.encode(&mut bytes)?;
                join(bytes, &inner)
            }
            Layer::Ospf(packet) => join(packet.write()?, &inner),
            Layer::Pim(message) => join(message.write(), &inner),
            Layer::LspPing(message) => join(message.write()?, &inner),
            Layer::Ldp(pdus) => join(pdus.write()?, &inner),
            Layer::OpenFlow(messages) => join(messages.write()?, &inner),
            Layer::Measurement(measurement) => join(write_measurement(measurement)?, &inner),
            Layer::Payload { bytes } => join(bytes.0.clone(), &inner),
            Layer::Padding { .. } => return Err(Error::invalid("padding", 0, "padding is the last layer")),
            Layer::Malformed { .. } => inner,
        };
    }
    Ok(join(inner, padding))
}

pub(super) fn join(mut bytes: Vec<u8>, inner: &[u8]) -> Vec<u8> {
    bytes.extend(inner);
    bytes
}

pub(super) fn out_of_range(layer: &'static str, field: &'static str, found: u64, max: u64) -> Error {
    Error::new(layer, 0, Reason::OutOfRange { field, found, min: 0, max })
}

/// The EtherType that says that this layer follows.
fn type_of(layer: &Layer) -> Option<EtherType> {
    match layer {
        Layer::Arp(_) => Some(EtherType::ARP),
        Layer::Mpls(_) => Some(EtherType::MPLS),
        Layer::Ipv4(_) => Some(EtherType::IPV4),
        Layer::Ipv6(_) => Some(EtherType::IPV6),
        _ => None,
    }
}

fn write_ethernet(layer: &Ethernet, next: Option<&Layer>, inner: usize) -> Result<Vec<u8>, Error> {
    if layer.tags.len() > ethernet::MAX_TAGS {
        return Err(out_of_range("ethernet", "tags", layer.tags.len() as u64, ethernet::MAX_TAGS as u64));
    }
    let ethertype = match (layer.ethertype, next) {
        (Some(ethertype), _) => ethertype,
        (None, Some(Layer::Llc(_))) => length(inner)?,
        (None, next) => next.and_then(type_of).ok_or(Error::invalid(
            "ethernet",
            12,
            "the next layer does not say the ethertype",
        ))?,
    };
    let tag = |depth| layer.tags.get(depth).copied();
    let repr = ethernet::Repr { dst: layer.dst, src: layer.src, tags: [tag(0), tag(1)], ethertype };
    repr.check()?;
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&mut bytes);
    Ok(bytes)
}

/// The length of an LLC frame, in the place of the EtherType.
fn length(inner: usize) -> Result<EtherType, Error> {
    let reason = Reason::OutOfRange {
        field: "length",
        found: inner as u64,
        min: llc::HEADER_LEN as u64,
        max: llc::LENGTH_MAX.into(),
    };
    let wrong = Error::new("ethernet", 12, reason);
    u16::try_from(inner).ok().filter(|inner| *inner <= llc::LENGTH_MAX).map(EtherType).ok_or(wrong)
}

fn write_arp(layer: &Arp) -> Vec<u8> {
    let &Arp { operation, sender_mac, sender_ip, target_mac, target_ip } = layer;
    let mut bytes = vec![0; arp::LEN];
    arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip }.emit(&mut bytes);
    bytes
}

/// A label stack whose last entry is its bottom.
pub(super) fn stack(entries: &[Entry]) -> Result<Vec<u8>, Error> {
    if entries.is_empty() {
        return Err(Error::invalid("mpls", 0, "a label stack has at least one entry"));
    }
    let mut bytes = Vec::with_capacity(entries.len() * mpls::ENTRY_LEN);
    for (index, &Entry { label, tc, ttl }) in entries.iter().enumerate() {
        let at = |error: Error| error.at(index * mpls::ENTRY_LEN);
        let max = Label::MAX.value().into();
        let label = Label::new(label).ok_or_else(|| at(out_of_range("mpls", "label", label.into(), max)))?;
        let tc =
            TrafficClass::new(tc).ok_or_else(|| at(out_of_range("mpls", "traffic class", tc.into(), 7)))?;
        let bottom = index + 1 == entries.len();
        bytes.extend(mpls::Repr { label, tc, bottom, ttl }.to_word().to_be_bytes());
    }
    Ok(bytes)
}

fn write_options(list: &[IpOption]) -> Result<Options, Error> {
    if let [IpOption::Raw { bytes }] = list {
        return Options::from_bytes(&bytes.0);
    }
    let mut builder = OptionsBuilder::new();
    for option in list {
        builder.push(match option {
            IpOption::EndOfList => options::IpOption::EndOfList,
            IpOption::NoOperation => options::IpOption::NoOperation,
            &IpOption::RouterAlert { value } => options::IpOption::RouterAlert(value),
            IpOption::Other { kind, data } => options::IpOption::Other { kind: *kind, data: &data.0 },
            IpOption::Raw { .. } => return Err(Error::invalid("ipv4", 20, "raw options stand alone")),
        })?;
    }
    Ok(builder.finish())
}

fn write_ipv4(layer: &Ipv4, next: Option<&Layer>, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let protocol = match (layer.protocol, next) {
        (Some(protocol), _) => protocol,
        (None, Some(Layer::Udp(_))) => Protocol::UDP,
        (None, Some(Layer::Tcp(_))) => Protocol::TCP,
        (None, Some(Layer::Icmp(_))) => Protocol::ICMP,
        (None, Some(Layer::Rsvp(_))) => Protocol::RSVP,
        (None, Some(Layer::Ospf(_))) => Protocol::OSPF,
        (None, Some(Layer::Pim(_))) => Protocol::PIM,
        (None, _) => return Err(Error::invalid("ipv4", 9, "the next layer does not say the protocol")),
    };
    let too_long = || out_of_range("ipv4", "payload", payload.len() as u64, ipv4::MAX_TOTAL_LEN as u64 - 20);
    let repr = ipv4::Repr {
        src: layer.src,
        dst: layer.dst,
        protocol,
        ttl: layer.ttl,
        dscp: Dscp::new(layer.dscp).ok_or_else(|| out_of_range("ipv4", "DSCP", layer.dscp.into(), 63))?,
        ecn: layer.ecn,
        ident: layer.ident,
        dont_fragment: layer.dont_fragment,
        more_fragments: layer.more_fragments,
        fragment_offset: layer.fragment_offset,
        payload_len: u16::try_from(payload.len()).map_err(|_| too_long())?,
        options: write_options(&layer.options)?,
    };
    repr.check()?;
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&mut bytes);
    let mut packet = ipv4::Packet::new_unchecked(&mut bytes[..]);
    if layer.reserved_flag {
        packet.set_reserved_flag(true);
        packet.fill_checksum();
    }
    if let Some(checksum) = layer.checksum {
        packet.set_checksum(checksum);
    }
    Ok(join(bytes, payload))
}

fn write_udp(layer: &Udp, outer: Option<&Layer>, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let max = usize::from(u16::MAX) - udp::HEADER_LEN;
    let payload_len = u16::try_from(payload.len()).ok().filter(|&len| usize::from(len) <= max);
    let payload_len =
        payload_len.ok_or_else(|| out_of_range("udp", "payload", payload.len() as u64, max as u64))?;
    let mut bytes = vec![0; udp::HEADER_LEN];
    udp::Repr { src_port: layer.src_port, dst_port: layer.dst_port, payload_len }.emit(&mut bytes);
    let mut bytes = join(bytes, payload);
    let mut packet = udp::Packet::new_unchecked(&mut bytes[..]);
    if let Some(length) = layer.length {
        packet.set_length(length);
    }
    match (layer.checksum, outer) {
        (Some(checksum), _) => packet.set_checksum(checksum),
        (None, Some(Layer::Ipv4(ipv4))) => {
            let (src, dst) = (ipv4.src, ipv4.dst);
            udp::Packet::new_checked(&mut bytes[..])?.fill_checksum(src, dst);
        }
        (None, Some(Layer::Ipv6(ipv6))) => {
            let (src, dst) = (ipv6.src, ipv6.dst);
            udp::Packet::new_checked(&mut bytes[..])?.fill_checksum(src, dst);
        }
        (None, _) => {
            return Err(Error::invalid("udp", 6, "without an IP layer before it the checksum must be given"));
        }
    }
    Ok(bytes)
}

fn write_measurement(layer: &Measurement) -> Result<Vec<u8>, Error> {
    let &Measurement { stream, sequence, departure_ps } = layer;
    let repr = measurement::Repr { stream: StreamId(stream), sequence, departure_ps };
    repr.check()?;
    let mut bytes = vec![0; measurement::LEN];
    repr.emit(&mut bytes);
    Ok(bytes)
}
