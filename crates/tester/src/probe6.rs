//! IPv6 of a tester's port beside a router: neighbour discovery, and answers to probes.

use crate::probe::Probe;
use base::{Event, Time};
use node::discovery::{Heard, hear_frame};
use wire::{ethernet, icmpv6, ipv6};

/// Is the frame one of IPv6?
pub(crate) fn is_ipv6(header: &[u8]) -> bool {
    header.get(12..14) == Some(&[0x86, 0xdd])
}

impl Probe {
    /// Asks for the router's Ethernet address (RFC 4861, 7.2.2).
    pub(crate) fn ask6(&mut self, now: Time) {
        let Some((own, (_, gateway))) = self.config().own6().zip(self.config().ipv6) else { return };
        self.send(now, own.ask(gateway, None));
    }

    /// Takes a packet of IPv6 that is no test packet: questions and answers of neighbour discovery, and answers to
    /// probes.
    pub(crate) fn handle_ipv6(&mut self, now: Time, bytes: &[u8]) -> Option<()> {
        let own = self.config().own6()?;
        let (_, gateway) = self.config().ipv6?;
        match hear_frame(&own, bytes) {
            Some(Heard::Asked { target, asker: Some((asker, mac)) }) => {
                let mac = mac?;
                if asker == gateway {
                    self.learn6(now, mac);
                }
                self.send(now, own.answer(target, Some((asker, mac))));
                Some(())
            }
            Some(Heard::Told { neighbor, mac: Some(mac), .. }) if neighbor == gateway => {
                self.learn6(now, mac);
                Some(())
            }
            Some(_) => None,
            None => self.handle_icmpv6(bytes),
        }
    }

    /// ICMPv6 answers to probes become events, of the kinds that they have in IPv4.
    fn handle_icmpv6(&mut self, bytes: &[u8]) -> Option<()> {
        let ip = ipv6::Packet::new_checked(bytes.get(ethernet::HEADER_LEN..)?).ok()?;
        let (own, _) = self.config().ipv6?;
        if ip.next_header() != ipv6::Protocol::ICMPV6 || ip.dst() != own {
            return None;
        }
        let packet = icmpv6::Packet::new_checked(ip.payload()).ok()?;
        let (kind, quote) = match icmpv6::Repr::parse(&packet, ip.src(), ip.dst()).ok()? {
            icmpv6::Repr::EchoReply { .. } => (0, None),
            icmpv6::Repr::DestinationUnreachable { quote, .. } => (3, Some(quote)),
            icmpv6::Repr::TimeExceeded { quote, .. } => (11, Some(quote)),
            _ => return None,
        };
        let stack = quote.and_then(|quote| quote.mpls_stack()).into_iter().flatten();
        let labels = stack.filter_map(Result::ok).map(|entry| entry.label).collect();
        let (from, code) = (ip.src().into(), packet.code());
        self.tell(Event::ProbeReply { from, sequence: 0, kind, code, labels });
        Some(())
    }
}
