//! ICMP of a node: pings and traceroutes that it sends, and what comes back, as events.

use base::Event;
use core::net::Ipv4Addr;
use wire::{icmp, ipv4};

/// The echo identifier of pings.
pub(crate) const IDENT: u16 = 0x7470;
/// What pings carry.
pub(crate) const DATA: &[u8] = b"twinplane";

/// The ICMP echo request (RFC 792) that a probe sends.
pub fn request(sequence: u16) -> icmp::Repr<'static> {
    icmp::Repr::EchoRequest { ident: IDENT, sequence, data: DATA }
}

/// The event for whoever pinged: a message from `from` is an answer, or an error about a ping. Nothing if it is
/// neither.
pub fn answer(from: Ipv4Addr, message: &icmp::Repr<'_>) -> Option<Event> {
    let (sequence, kind, code, labels) = match message {
        icmp::Repr::EchoReply { ident: IDENT, sequence, .. } => (*sequence, 0, 0, Vec::new()),
        icmp::Repr::TimeExceeded { code, quote } => (quoted_sequence(quote), 11, *code, quoted_labels(quote)),
        icmp::Repr::DestinationUnreachable { code, quote, .. } => {
            (quoted_sequence(quote), 3, *code, quoted_labels(quote))
        }
        _ => return None,
    };
    Some(Event::ProbeReply { from: from.into(), sequence, kind, code, labels })
}

/// Is the message an answer to a ping of this kind, or an error about one?
pub fn is_about_ping(message: &icmp::Repr<'_>) -> bool {
    let quote = match message {
        icmp::Repr::EchoReply { ident, .. } => return *ident == IDENT,
        icmp::Repr::TimeExceeded { quote, .. } | icmp::Repr::DestinationUnreachable { quote, .. } => quote,
        _ => return false,
    };
    let header = quote.original.first().map_or(0, |b| usize::from(b & 15) * 4);
    let ident = quote.original.get(header + 4..header + 6);
    quote.original.get(9) == Some(&ipv4::Protocol::ICMP.0) && ident == Some(&IDENT.to_be_bytes()[..])
}

/// The IP packet of an ICMP message.
pub fn packet(src: Ipv4Addr, dst: Ipv4Addr, ttl: u8, ident: u16, message: &icmp::Repr<'_>) -> Vec<u8> {
    let ip = ipv4::Repr {
        src,
        dst,
        protocol: ipv4::Protocol::ICMP,
        ttl,
        dscp: base::Dscp::DEFAULT,
        ecn: 0,
        ident,
        dont_fragment: false,
        more_fragments: false,
        fragment_offset: 0,
        payload_len: message.buffer_len() as u16,
        options: ipv4::Options::NONE,
    };
    let header = ip.buffer_len();
    let mut packet = vec![0; header + message.buffer_len()];
    ip.emit(&mut packet);
    message.emit(&mut packet[header..]);
    packet
}

/// The sequence number of the echo request that an ICMP error quotes.
fn quoted_sequence(quote: &icmp::Quote<'_>) -> u16 {
    let header = quote.original.first().map_or(0, |b| usize::from(b & 15) * 4);
    let sequence = quote.original.get(header + 6..header + 8).and_then(|b| b.first_chunk::<2>());
    sequence.map_or(0, |b| u16::from_be_bytes(*b))
}

/// The labels that an ICMP error quotes (RFC 4950), outermost first.
pub(crate) fn quoted_labels(quote: &icmp::Quote<'_>) -> Vec<base::Label> {
    let stack = quote.mpls_stack().into_iter().flatten();
    stack.filter_map(Result::ok).map(|entry| entry.label).collect()
}
