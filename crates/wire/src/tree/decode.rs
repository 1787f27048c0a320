//! From bytes to a [`Tree`].

use super::layers::{Arp, Entry, Ethernet, Icmp, IpOption, Ipv4, Layer, Measurement, Mpls, Tcp, Tree, Udp};
use super::layers6::{Icmpv6, Ipv6};
use super::openflow::OpenFlow;
use crate::checksum::Addresses;
use crate::error::Error;
use crate::ethernet::EtherType;
use crate::ipv4::{Options, OptionsBuilder, Protocol, options};
use crate::ldp::{self, Ldp};
use crate::link::{Cell, Chdlc, Erf, Follows, LinkType, Null, Ppp, Sll, Sll2, SunAtm};
use crate::llc::{Llc, Snap};
use crate::lsp_ping::{self, LspPing};
use crate::ospf::Ospf;
use crate::pim::Pim;
use crate::pseudowire::{Ach, Pseudowire};
use crate::{arp, ethernet, ipv4, llc, measurement, mpls, openflow, rsvp, udp};
use base::Label;
use core::net::IpAddr;

/// Reads a frame, from the Ethernet header on and without frame check sequence. Never fails.
pub fn decode(frame: &[u8]) -> Tree {
    decode_link(LinkType::Ethernet, frame)
}

/// Reads a packet that begins as the link type says. Never fails.
pub fn decode_link(link: LinkType, packet: &[u8]) -> Tree {
    let mut decoder = Decoder { layers: Vec::new() };
    decoder.link(link, packet);
    Tree { layers: decoder.layers }
}

/// The UDP port of label stacks in UDP (RFC 7510).
const MPLS_IN_UDP: u16 = 6635;

/// Puts layers behind one another. `at` is the offset of `data` in the frame.
struct Decoder {
    layers: Vec<Layer>,
}

impl Decoder {
    fn payload(&mut self, data: &[u8]) {
        if !data.is_empty() {
            self.layers.push(Layer::Payload { bytes: data.into() });
        }
    }

    fn padding(&mut self, data: &[u8]) {
        match self.layers.last_mut() {
            _ if data.is_empty() => {}
            // Behind the packet, and behind the LLC frame around it.
            Some(Layer::Padding { bytes }) => bytes.0.extend_from_slice(data),
            _ => self.layers.push(Layer::Padding { bytes: data.into() }),
        }
    }

    fn malformed(&mut self, error: Error, data: &[u8], at: usize) {
        self.malformed_layer(error.layer, at + error.offset, error.reason.to_string(), data);
    }

    fn malformed_layer(&mut self, of: &str, offset: usize, reason: String, data: &[u8]) {
        self.layers.push(Layer::Malformed { of: of.to_owned(), offset, reason });
        self.payload(data);
    }

    fn link(&mut self, link: LinkType, data: &[u8]) {
        match link {
            LinkType::Ethernet => self.ethernet(data),
            LinkType::Ip => self.ip(data, 0),
            LinkType::Mpls => self.mpls(data, 0),
            LinkType::LinuxCooked => {
                let header = Sll::read(data).map(|(header, len, follows)| (Layer::Sll(header), len, follows));
                self.behind(header, data);
            }
            LinkType::LinuxCooked2 => {
                let header =
                    Sll2::read(data).map(|(header, len, follows)| (Layer::Sll2(header), len, follows));
                self.behind(header, data);
            }
            LinkType::Ppp => {
                let header =
                    Ppp::read(data).map(|(header, len, ethertype)| (Layer::Ppp(header), len, ethertype));
                self.behind(header, data);
            }
            LinkType::CiscoHdlc => {
                let header =
                    Chdlc::read(data).map(|(header, len, ethertype)| (Layer::Chdlc(header), len, ethertype));
                self.behind(header, data);
            }
            LinkType::SunAtm => {
                let header =
                    SunAtm::read(data).map(|(header, len, follows)| (Layer::SunAtm(header), len, follows));
                self.behind(header, data);
            }
            LinkType::Erf => self.record(data),
            LinkType::Null | LinkType::Loopback => {
                let header = Null::read(data, link == LinkType::Loopback);
                let header = header.map(|(header, len, ethertype)| (Layer::Null(header), len, ethertype));
                self.behind(header, data);
            }
        }
    }

    /// A link-layer header, and what follows.
    fn behind(&mut self, header: Result<(Layer, usize, impl Into<Follows>), Error>, data: &[u8]) {
        let (layer, len, follows) = match header {
            Ok(header) => header,
            Err(error) => return self.malformed(error, data, 0),
        };
        self.layers.push(layer);
        let rest = &data[len..];
        match follows.into() {
            Follows::Typed(ethertype) => self.typed(ethertype, rest, len),
            Follows::Llc => self.llc(rest.len(), rest, len),
            Follows::Unknown => self.payload(rest),
        }
    }

    /// A record, and the cell in it.
    fn record(&mut self, data: &[u8]) {
        let (record, len, cell) = match Erf::read(data) {
            Ok(read) => read,
            Err(error) => return self.malformed(error, data, 0),
        };
        self.layers.push(Layer::Erf(record));
        let cell_len = cell.as_ref().map_or(0, |_| Cell::LEN);
        self.layers.extend(cell.map(Layer::Cell));
        self.payload(&data[len + cell_len..]);
    }

    /// A packet of either family; its first bits say of which.
    fn ip(&mut self, data: &[u8], at: usize) {
        match data.first().map(|first| first >> 4) {
            Some(6) => self.ipv6(data, at),
            _ => self.ipv4(data, at),
        }
    }

    fn ethernet(&mut self, data: &[u8]) {
        let packet = match ethernet::Packet::new_checked(data) {
            Ok(packet) => packet,
            Err(error) => return self.malformed(error, data, 0),
        };
        let ethertype = packet.ethertype();
        self.layers.push(Layer::Ethernet(Ethernet {
            src: packet.src(),
            dst: packet.dst(),
            tags: (0..packet.tag_count()).filter_map(|depth| packet.tag(depth)).collect(),
            ethertype: Some(ethertype),
        }));
        let (payload, at) = (packet.payload(), packet.header_len());
        if llc::is_length(ethertype) {
            self.llc(usize::from(ethertype.0), payload, at);
        } else {
            self.typed(ethertype, payload, at);
        }
    }

    /// What an EtherType says of it.
    fn typed(&mut self, ethertype: EtherType, payload: &[u8], at: usize) {
        match ethertype {
            EtherType::ARP => self.arp(payload, at),
            EtherType::IPV4 => self.ipv4(payload, at),
            EtherType::IPV6 => self.ipv6(payload, at),
            EtherType::MPLS | EtherType::MPLS_UPSTREAM => self.mpls(payload, at),
            _ => self.payload(payload),
        }
    }

    /// An LLC frame of `length` bytes, and padding.
    fn llc(&mut self, length: usize, data: &[u8], at: usize) {
        let Some((frame, padding)) = data.split_at_checked(length) else {
            return self.malformed(Error::truncated("llc", length, data.len()), data, at);
        };
        match Llc::read(frame) {
            Ok((llc, header, snap)) => {
                self.layers.push(Layer::Llc(llc));
                let (rest, at) = (&frame[header..], at + header);
                if snap { self.snap(rest, at) } else { self.payload(rest) }
            }
            Err(error) => self.malformed(error, frame, at),
        }
        self.padding(padding);
    }

    fn snap(&mut self, data: &[u8], at: usize) {
        let (snap, ethertype) = match Snap::read(data) {
            Ok(read) => read,
            Err(error) => return self.malformed(error, data, at),
        };
        self.layers.push(Layer::Snap(snap));
        let (rest, at) = (&data[llc::SNAP_LEN..], at + llc::SNAP_LEN);
        match ethertype {
            Some(ethertype) => self.typed(ethertype, rest, at),
            None => self.payload(rest),
        }
    }

    fn arp(&mut self, data: &[u8], at: usize) {
        let repr = match arp::Packet::new_checked(data).and_then(|packet| arp::Repr::parse(&packet)) {
            Ok(repr) => repr,
            Err(error) => return self.malformed(error, data, at),
        };
        let arp::Repr { operation, sender_mac, sender_ip, target_mac, target_ip } = repr;
        self.layers.push(Layer::Arp(Arp { operation, sender_mac, sender_ip, target_mac, target_ip }));
        self.padding(&data[arp::LEN..]);
    }

    fn mpls(&mut self, data: &[u8], at: usize) {
        let mut entries = mpls::Stack::new(data);
        let stack: Vec<Entry> = match entries.by_ref().map(|entry| entry.map(Entry::from)).collect() {
            Ok(stack) => stack,
            Err(error) => return self.malformed(error, data, at),
        };
        let bottom = stack.last().map(|entry| entry.label);
        self.layers.push(Layer::Mpls(Mpls { stack }));
        let (rest, at) = (entries.rest(), at + entries.offset());
        // Nothing on the wire says what a label stands for (RFC 3032, 2.2). All IPv4 packets start with a 4 and all
        // IPv6 packets with a 6, and what else is carried avoids them (RFC 4928, 3).
        let version = rest.first().map(|first| first >> 4);
        if version == Some(4) || bottom == Some(Label::EXPLICIT_NULL.value()) {
            self.ipv4(rest, at);
        } else if version == Some(6) || bottom == Some(Label::EXPLICIT_NULL_V6.value()) {
            self.ipv6(rest, at);
        } else {
            self.behind_labels(version, rest);
        }
    }

    /// What no IP packet is behind a label stack: in its place stand the control word of a pseudowire or the header of
    /// an associated channel (RFC 5586, 2.1), or anything else.
    fn behind_labels(&mut self, version: Option<u8>, data: &[u8]) {
        let read = match version {
            Some(0) => Pseudowire::read(data).map(|(word, len)| (Layer::Pseudowire(word), len)),
            Some(1) => Ach::read(data).map(|(header, len)| (Layer::Ach(header), len)),
            _ => return self.payload(data),
        };
        match read {
            Ok((layer, len)) => {
                self.layers.push(layer);
                self.payload(&data[len..]);
            }
            // So few bytes are neither.
            Err(_) => self.payload(data),
        }
    }

    fn ipv4(&mut self, data: &[u8], at: usize) {
        let read = ipv4::Packet::new_checked(data)
            .and_then(|packet| Ok((ipv4::Repr::parse_unverified(&packet)?, packet)));
        let (repr, packet) = match read {
            Ok(read) => read,
            Err(error) => return self.malformed(error, data, at),
        };
        self.layers.push(Layer::Ipv4(Ipv4 {
            src: repr.src,
            dst: repr.dst,
            protocol: Some(repr.protocol),
            ttl: repr.ttl,
            dscp: repr.dscp.value(),
            ecn: repr.ecn,
            ident: repr.ident,
            reserved_flag: packet.reserved_flag(),
            dont_fragment: repr.dont_fragment,
            more_fragments: repr.more_fragments,
            fragment_offset: repr.fragment_offset,
            options: read_options(&repr.options),
            checksum: Some(packet.checksum()),
            correct_checksum: packet.verify_checksum().is_err().then(|| packet.compute_checksum()),
        }));
        let (payload, at) = (packet.payload(), at + packet.header_len());
        match repr.protocol {
            _ if repr.is_fragment() => self.payload(payload),
            Protocol::UDP => self.udp(repr.src, repr.dst, payload, at),
            Protocol::TCP => self.tcp(repr.src.into(), repr.dst.into(), payload, at),
            Protocol::ICMP => self.icmp(payload, at),
            Protocol::RSVP => self.rsvp(payload, at),
            Protocol::OSPF => self.ospf(payload, at),
            Protocol::PIM => self.pim(payload, at),
            _ => self.payload(payload),
        }
        self.padding(&data[repr.total_len()..]);
    }

    fn ipv6(&mut self, data: &[u8], at: usize) {
        let (layer, upper, end) = match Ipv6::read(data) {
            Ok(read) => read,
            Err(error) => return self.malformed(error, data, at),
        };
        let (src, dst) = (layer.src, layer.dst);
        self.layers.push(Layer::Ipv6(layer));
        let payload = &data[upper.offset..end];
        let at = at + upper.offset;
        match upper.protocol {
            _ if upper.is_piece => self.payload(payload),
            Protocol::UDP => self.udp(src, dst, payload, at),
            Protocol::TCP => self.tcp(src.into(), dst.into(), payload, at),
            Protocol::ICMPV6 => match Icmpv6::read(src, dst, payload) {
                Ok(icmp) => self.layers.push(Layer::Icmpv6(icmp)),
                Err(error) => self.malformed(error, payload, at),
            },
            _ => self.payload(payload),
        }
        self.padding(&data[end..]);
    }

    fn udp<A: Addresses>(&mut self, src: A, dst: A, data: &[u8], at: usize) {
        let packet = match udp::Packet::new_checked(data) {
            Ok(packet) => packet,
            Err(error) => return self.malformed(error, data, at),
        };
        let wrong = packet.verify_checksum(src, dst).is_err();
        self.layers.push(Layer::Udp(Udp {
            src_port: packet.src_port(),
            dst_port: packet.dst_port(),
            length: (usize::from(packet.length()) != data.len()).then_some(packet.length()),
            checksum: Some(packet.checksum()),
            correct_checksum: wrong.then(|| packet.compute_checksum(src, dst)),
        }));
        let payload = &data[udp::HEADER_LEN..];
        match measurement::Packet::new_checked(payload).and_then(|packet| measurement::Repr::parse(&packet)) {
            Ok(measurement::Repr { stream, sequence, departure_ps })
                if packet.dst_port() == measurement::PORT =>
            {
                self.layers.push(Layer::Measurement(Measurement {
                    stream: stream.0,
                    sequence,
                    departure_ps,
                }));
                self.payload(&payload[measurement::LEN..]);
            }
            _ if packet.dst_port() == MPLS_IN_UDP => self.mpls(payload, at + udp::HEADER_LEN),
            _ if [packet.src_port(), packet.dst_port()].contains(&lsp_ping::PORT) => {
                match LspPing::read(payload) {
                    Ok(message) => self.layers.push(Layer::LspPing(message)),
                    Err(error) => self.malformed(error, payload, at + udp::HEADER_LEN),
                }
            }
            _ if [packet.src_port(), packet.dst_port()].contains(&ldp::PORT) => {
                self.ldp(payload, at + udp::HEADER_LEN);
            }
            _ => self.payload(payload),
        }
    }

    fn tcp(&mut self, src: IpAddr, dst: IpAddr, data: &[u8], at: usize) {
        match Tcp::read(src, dst, data) {
            Ok((tcp, payload)) => {
                let ports = [tcp.src_port, tcp.dst_port];
                self.layers.push(Layer::Tcp(tcp));
                if ports.iter().any(|port| [openflow::PORT, openflow::OLD_PORT].contains(port)) {
                    self.openflow(payload, at + data.len() - payload.len());
                } else if ports.contains(&ldp::PORT) {
                    self.ldp(payload, at + data.len() - payload.len());
                } else {
                    self.payload(payload);
                }
            }
            Err(error) => self.malformed(error, data, at),
        }
    }

    fn openflow(&mut self, data: &[u8], at: usize) {
        let Some((messages, len, wrong)) = OpenFlow::read(data) else { return self.payload(data) };
        if len > 0 {
            self.layers.push(Layer::OpenFlow(messages));
        }
        self.rest(data, at, len, wrong);
    }

    fn ldp(&mut self, data: &[u8], at: usize) {
        let Some((pdus, len, wrong)) = Ldp::read(data) else { return self.payload(data) };
        if len > 0 {
            self.layers.push(Layer::Ldp(pdus));
        }
        self.rest(data, at, len, wrong);
    }

    /// What is behind so many bytes of messages that were read.
    fn rest(&mut self, data: &[u8], at: usize, len: usize, wrong: Option<Error>) {
        match wrong {
            // The error counts from the beginning of the segment's payload.
            Some(error) => {
                self.malformed(Error { offset: error.offset - len, ..error }, &data[len..], at + len)
            }
            None => self.payload(&data[len..]),
        }
    }

    fn icmp(&mut self, data: &[u8], at: usize) {
        match Icmp::read(data) {
            Ok(icmp) => self.layers.push(Layer::Icmp(icmp)),
            Err(error) => self.malformed(error, data, at),
        }
    }

    fn ospf(&mut self, data: &[u8], at: usize) {
        match Ospf::read(data) {
            Ok((packet, len)) => {
                self.layers.push(Layer::Ospf(packet));
                self.payload(&data[len..]);
            }
            Err(error) => self.malformed(error, data, at),
        }
    }

    fn pim(&mut self, data: &[u8], at: usize) {
        match Pim::read(data) {
            Ok(message) => self.layers.push(Layer::Pim(message)),
            Err(error) => self.malformed(error, data, at),
        }
    }

    fn rsvp(&mut self, data: &[u8], at: usize) {
        let message = match rsvp::RawMessage::decode(data) {
            Ok(message) => message,
            Err(error) => {
                let object =
                    error.object.map_or(String::new(), |(class, _)| match rsvp::class::class_name(class) {
                        Some(name) => format!("{name}: "),
                        None => format!("class {class}: "),
                    });
                let reason = format!("{object}{}", error.reason);
                return self.malformed_layer("rsvp", at + error.offset, reason, data);
            }
        };
        let mut again = Vec::with_capacity(data.len());
        match (message.encode(&mut again), data.strip_prefix(again.as_slice())) {
            (Ok(()), Some(rest)) => {
                self.layers.push(Layer::Rsvp(message));
                self.payload(rest);
            }
            _ => {
                let reason = "its bytes are not those that its objects are written as".to_owned();
                self.malformed_layer("rsvp", at, reason, data);
            }
        }
    }
}

impl From<mpls::Repr> for Entry {
    fn from(entry: mpls::Repr) -> Entry {
        Entry { label: entry.label.value(), tc: entry.tc.value(), ttl: entry.ttl }
    }
}

fn read_options(all: &Options) -> Vec<IpOption> {
    let mut builder = OptionsBuilder::new();
    let mut list = Vec::new();
    for option in all.iter() {
        // What came out of a header goes into one; the comparison below would tell.
        let _ = builder.push(option);
        list.push(match option {
            options::IpOption::EndOfList => IpOption::EndOfList,
            options::IpOption::NoOperation => IpOption::NoOperation,
            options::IpOption::RouterAlert(value) => IpOption::RouterAlert { value },
            options::IpOption::Other { kind, data } => IpOption::Other { kind, data: data.into() },
        });
    }
    if builder.finish() == *all { list } else { vec![IpOption::Raw { bytes: all.as_bytes().into() }] }
}
