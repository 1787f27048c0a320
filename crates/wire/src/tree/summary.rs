//! One line for a frame, in the manner of tcpdump.

use super::layers::{Arp, Ethernet, Extension, Icmp, IcmpMessage, Ipv4, Layer, Quote, Tcp, Tree};
use crate::{arp, icmp, rsvp};
use base::time::PS_PER_S;
use core::fmt::{self, Write};

/// One line without its end: who to whom, what, and what is wrong with it.
pub fn summary(tree: &Tree) -> String {
    let mut line = String::new();
    // Writing to a String does not fail.
    let _ = write(&mut line, tree);
    line
}

fn write(line: &mut String, tree: &Tree) -> fmt::Result {
    let mut previous = None;
    for (index, layer) in tree.layers.iter().enumerate() {
        let before = line.len();
        write_layer(line, layer, previous, &tree.layers[index + 1..])?;
        if line.len() > before {
            line.push(' ');
        }
        previous = Some(layer);
    }
    line.truncate(line.trim_end_matches([' ', ',']).len());
    Ok(())
}

fn write_layer(out: &mut String, layer: &Layer, previous: Option<&Layer>, rest: &[Layer]) -> fmt::Result {
    let next = rest.first();
    match layer {
        Layer::Ethernet(ethernet) => write_ethernet(out, ethernet, rest),
        Layer::Sll(sll) => sll.summarise(out, next.is_some_and(has_name)),
        Layer::Sll2(sll) => sll.summarise(out, next.is_some_and(has_name)),
        Layer::Ppp(ppp) => ppp.summarise(out, next.is_some_and(has_name)),
        Layer::Chdlc(hdlc) => hdlc.summarise(out, next.is_some_and(has_name)),
        Layer::SunAtm(header) => header.summarise(out),
        Layer::Erf(record) => record.summarise(out, matches!(next, Some(Layer::Cell(_)))),
        Layer::Cell(cell) => cell.summarise(out),
        Layer::Null(null) => null.summarise(out, next.is_some_and(has_name)),
        Layer::Llc(_) if matches!(next, Some(Layer::Snap(_))) => Ok(()),
        Layer::Llc(llc) => llc.summarise(out),
        Layer::Snap(snap) => snap.summarise(out, next.is_some_and(has_name)),
        Layer::Arp(arp) => write_arp(out, arp),
        Layer::Mpls(mpls) => {
            out.push_str("MPLS");
            for entry in &mpls.stack {
                write!(out, " {}", entry.label)?;
                if entry.tc != 0 {
                    write!(out, " tc {}", entry.tc)?;
                }
                write!(out, " ttl {},", entry.ttl)?;
            }
            Ok(())
        }
        Layer::Pseudowire(word) => word.summarise(out),
        Layer::Ach(header) => header.summarise(out),
        Layer::Ipv4(ipv4) => write_ipv4(out, ipv4, next),
        Layer::Ipv6(ipv6) => ipv6.summarise(out, next),
        Layer::Udp(udp) => {
            write!(out, "UDP {} > {}", udp.src_port, udp.dst_port)?;
            wrong_checksum(out, udp.checksum, udp.correct_checksum)
        }
        Layer::Tcp(tcp) => write_tcp(out, tcp),
        Layer::Icmp(icmp) => write_icmp(out, icmp),
        Layer::Icmpv6(icmp) => icmp.summarise(out),
        Layer::Rsvp(message) => write_rsvp(out, message),
        Layer::Ospf(packet) => {
            packet.summarise(out)?;
            wrong_checksum(out, packet.checksum, packet.correct_checksum)
        }
        Layer::Pim(message) => {
            message.summarise(out)?;
            wrong_checksum(out, message.checksum, message.correct_checksum)
        }
        Layer::LspPing(message) => message.summarise(out),
        Layer::Ldp(pdus) => pdus.summarise(out),
        Layer::OpenFlow(messages) => messages.summarise(out),
        Layer::Measurement(m) => {
            let (seconds, rest) = (m.departure_ps / PS_PER_S, m.departure_ps % PS_PER_S);
            write!(out, "test stream {} sequence {} departure {seconds}.{rest:012}", m.stream, m.sequence)
        }
        Layer::Payload { bytes } => match previous {
            // Filler, or the bytes that were just complained about.
            Some(Layer::Measurement(_) | Layer::Malformed { .. }) => Ok(()),
            _ => write!(out, "length {}", bytes.0.len()),
        },
        Layer::Padding { .. } => Ok(()),
        Layer::Malformed { of, offset, reason } => {
            write!(out, "[malformed {of}: {reason} (at byte {offset})]")
        }
    }
}

fn write_ethernet(out: &mut String, ethernet: &Ethernet, rest: &[Layer]) -> fmt::Result {
    let mut tags = ethernet.tags.iter().map(|tag| tag.vlan);
    if let Some(outer) = tags.next() {
        write!(out, "vlan {outer}")?;
        tags.try_for_each(|inner| write!(out, " {inner}"))?;
        out.push(',');
    }
    let mut above = rest.iter().skip_while(|layer| matches!(layer, Layer::Llc(_) | Layer::Snap(_)));
    if above.next().is_some_and(has_name) {
        return Ok(());
    }
    let space = if ethernet.tags.is_empty() { "" } else { " " };
    write!(out, "{space}{} > {}", ethernet.src, ethernet.dst)?;
    // The length of an LLC frame says nothing that the line does not say.
    let ethertype = ethernet.ethertype.filter(|ethertype| !crate::llc::is_length(*ethertype));
    ethertype.map_or(Ok(()), |ethertype| write!(out, " ethertype {ethertype}"))
}

/// Does the line say who speaks to whom when it comes to this layer?
fn has_name(layer: &Layer) -> bool {
    matches!(layer, Layer::Arp(_) | Layer::Mpls(_) | Layer::Ipv4(_) | Layer::Ipv6(_))
}

fn write_arp(out: &mut String, arp: &Arp) -> fmt::Result {
    match arp.operation {
        arp::Operation::REQUEST => write!(out, "ARP who has {} tell {}", arp.target_ip, arp.sender_ip),
        arp::Operation::REPLY => write!(out, "ARP {} is at {}", arp.sender_ip, arp.sender_mac),
        arp::Operation(number) => write!(out, "ARP operation {number}"),
    }
}

fn write_ipv4(out: &mut String, ipv4: &Ipv4, next: Option<&Layer>) -> fmt::Result {
    write!(out, "{} > {}", ipv4.src, ipv4.dst)?;
    let named = matches!(next, Some(Layer::Udp(_) | Layer::Tcp(_) | Layer::Icmp(_) | Layer::Rsvp(_)));
    if let (false, Some(protocol)) = (named, ipv4.protocol) {
        write!(out, " {protocol}")?;
    }
    if ipv4.more_fragments || ipv4.fragment_offset != 0 {
        let (at, more) = (u32::from(ipv4.fragment_offset) * 8, if ipv4.more_fragments { "+" } else { "" });
        write!(out, " fragment {} at {at}{more}", ipv4.ident)?;
    }
    wrong_checksum(out, ipv4.checksum, ipv4.correct_checksum)
}

fn write_tcp(out: &mut String, tcp: &Tcp) -> fmt::Result {
    let Tcp { src_port, dst_port, sequence, acknowledgment, window, .. } = tcp;
    write!(out, "TCP {src_port} > {dst_port} {} sequence {sequence}", tcp.flags.join("+"))?;
    if tcp.flags.iter().any(|flag| flag == "ACK") {
        write!(out, " acknowledges {acknowledgment}")?;
    }
    write!(out, " window {window}")?;
    wrong_checksum(out, tcp.checksum, tcp.correct_checksum)
}

fn write_icmp(out: &mut String, icmp: &Icmp) -> fmt::Result {
    out.push_str("ICMP ");
    match &icmp.message {
        IcmpMessage::EchoRequest { ident, sequence, .. } => {
            write!(out, "echo request, id {ident}, sequence {sequence}")
        }
        IcmpMessage::EchoReply { ident, sequence, .. } => {
            write!(out, "echo reply, id {ident}, sequence {sequence}")
        }
        IcmpMessage::DestinationUnreachable { code, next_hop_mtu, .. } => match *code {
            icmp::unreachable::NET => out.write_str("network unreachable"),
            icmp::unreachable::HOST => out.write_str("host unreachable"),
            icmp::unreachable::PROTOCOL => out.write_str("protocol unreachable"),
            icmp::unreachable::PORT => out.write_str("port unreachable"),
            icmp::unreachable::FRAGMENTATION_NEEDED => {
                write!(out, "fragmentation needed, MTU {next_hop_mtu}")
            }
            code => write!(out, "destination unreachable, code {code}"),
        },
        IcmpMessage::TimeExceeded { code: icmp::time_exceeded::TTL, .. } => {
            out.write_str("time exceeded in transit")
        }
        IcmpMessage::TimeExceeded { .. } => out.write_str("time exceeded in reassembly"),
        IcmpMessage::ParameterProblem { pointer, .. } => write!(out, "parameter problem at byte {pointer}"),
        IcmpMessage::Other { icmp_type, code, .. } => write!(out, "type {} code {code}", icmp_type.0),
    }?;
    write_quoted_labels(out, icmp.message.quote())?;
    wrong_checksum(out, icmp.checksum, icmp.correct_checksum)
}

/// The labels that a packet came with which an error quotes.
pub(super) fn write_quoted_labels(out: &mut String, quote: Option<&Quote>) -> fmt::Result {
    for extension in quote.map_or(&[][..], |quote| &quote.extensions) {
        if let Extension::MplsStack { stack } = extension {
            out.push_str(", labels");
            stack.iter().try_for_each(|entry| write!(out, " {}", entry.label))?;
        }
    }
    Ok(())
}

fn write_rsvp(out: &mut String, message: &rsvp::RawMessage) -> fmt::Result {
    out.push_str("RSVP ");
    let mut bytes = Vec::new();
    match message.encode(&mut bytes).and_then(|()| rsvp::Packet::parse(&bytes)) {
        Ok(packet) => out.write_str(&packet.summary()),
        Err(error) => match message.message_type {
            rsvp::RawType::Known(known) => write!(out, "{} [{error}]", known.name()),
            rsvp::RawType::Other(number) => write!(out, "type {number} [{error}]"),
        },
    }
}

pub(super) fn wrong_checksum(out: &mut String, found: Option<u16>, correct: Option<u16>) -> fmt::Result {
    match (found, correct) {
        (Some(found), Some(correct)) => write!(out, " [wrong checksum {found:#06x}, not {correct:#06x}]"),
        _ => Ok(()),
    }
}
