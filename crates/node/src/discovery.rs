//! Neighbour discovery (RFC 4861) and ICMPv6 (RFC 4443) as routers and hosts share them: frames that ask and answer,
//! and what is learnt from those of others. What is kept of neighbours is in [`crate::neighbors`], beside those of ARP.

use crate::echo;
use base::{Event, Frame, MacAddr};
use core::net::Ipv6Addr;
use wire::{ethernet, icmpv6, ipv6, nd};

/// Hop limit of what a node answers and asks for itself.
pub(crate) const HOP_LIMIT: u8 = 64;

/// The addresses of an interface: one that was given, and the link-local one that it makes of its Ethernet address
/// (RFC 4862, 5.3).
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Its Ethernet address.
    pub mac: MacAddr,
    /// The one that was given.
    pub address: Ipv6Addr,
    /// Is it a router's?
    pub router: bool,
}

impl Own {
    pub(crate) fn link_local(&self) -> Ipv6Addr {
        nd::link_local(self.mac)
    }

    pub(crate) fn has(&self, address: Ipv6Addr) -> bool {
        address == self.address || address == self.link_local()
    }

    /// Is the interface in the group: all nodes, all routers, or those of its addresses (RFC 4291, 2.8)?
    pub(crate) fn is_in(&self, group: Ipv6Addr) -> bool {
        group == nd::ALL_NODES
            || (self.router && group == nd::ALL_ROUTERS)
            || group == nd::solicited_node(self.address)
            || group == nd::solicited_node(self.link_local())
    }

    /// The address from which a neighbour is spoken to: of as far a reach as the neighbour's own.
    pub(crate) fn towards(&self, neighbor: Ipv6Addr) -> Ipv6Addr {
        if neighbor.is_unicast_link_local() { self.link_local() } else { self.address }
    }

    /// Asks who has `target`: everybody whose address ends alike, or only who was known to have it (RFC 4861, 7.2.2 and
    /// 7.3.3).
    pub fn ask(&self, target: Ipv6Addr, known: Option<MacAddr>) -> Frame {
        let mut options = Vec::new();
        nd::NdOption::SourceLinkLayer(self.mac).append_to(&mut options);
        let options = nd::Options::of(&options).unwrap_or_default();
        let message = nd::Repr::NeighborSolicitation { target, options };
        let group = nd::solicited_node(target);
        let (dst, mac) = known.map_or((group, nd::group_mac(group)), |mac| (target, mac));
        self.frame(mac, self.towards(target), dst, message)
    }

    /// Says that this interface has `target`, to who asked; to everybody if that one has no address yet (RFC 4861,
    /// 7.2.4).
    pub fn answer(&self, target: Ipv6Addr, asker: Option<(Ipv6Addr, MacAddr)>) -> Frame {
        let mut options = Vec::new();
        nd::NdOption::TargetLinkLayer(self.mac).append_to(&mut options);
        let message = nd::Repr::NeighborAdvertisement {
            router: self.router,
            solicited: asker.is_some(),
            replaces: true,
            target,
            options: nd::Options::of(&options).unwrap_or_default(),
        };
        let (dst, mac) = asker.unwrap_or((nd::ALL_NODES, nd::group_mac(nd::ALL_NODES)));
        self.frame(mac, target, dst, message)
    }

    /// Asks whether anybody has `target`, as who has no address yet (RFC 4862, 5.4.2).
    pub(crate) fn probe(&self, target: Ipv6Addr) -> Frame {
        let message = nd::Repr::NeighborSolicitation { target, options: nd::Options::default() };
        let group = nd::solicited_node(target);
        self.frame(nd::group_mac(group), Ipv6Addr::UNSPECIFIED, group, message)
    }

    pub(crate) fn frame(&self, mac: MacAddr, src: Ipv6Addr, dst: Ipv6Addr, message: nd::Repr<'_>) -> Frame {
        let mut bytes = vec![0; ethernet::HEADER_LEN];
        ethernet::Repr::untagged(mac, self.mac, ethernet::EtherType::IPV6).emit(&mut bytes);
        bytes.extend(packet(src, dst, nd::HOP_LIMIT, &icmpv6::Repr::Discovery(message)));
        Frame::from_bytes(&bytes)
    }
}

/// What a message of neighbour discovery comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Somebody asks for an address of this interface: it is to be answered, and who asks is worth knowing.
    Asked {
        /// The address of this interface.
        target: Ipv6Addr,
        /// Who asks, and its Ethernet address if it says it; absent if it has no address yet.
        asker: Option<(Ipv6Addr, Option<MacAddr>)>,
    },
    /// A neighbour says which Ethernet address it has. If it does not replace one that is known, it only confirms it.
    Told {
        /// The neighbour.
        neighbor: Ipv6Addr,
        /// Its Ethernet address; absent if it only says that it is there.
        mac: Option<MacAddr>,
        /// Does it take the place of one that is known?
        replaces: bool,
    },
    /// Somebody asks what routers there are; who, and its Ethernet address, if it has an address and says it.
    Solicited {
        /// Who asks.
        asker: Option<(Ipv6Addr, MacAddr)>,
    },
    /// Not for this interface, or of no use to it.
    Nothing,
}

/// What a message to `own` comes to. An error if it can't be believed (RFC 4861, 7.1).
pub(crate) fn hear(own: &Own, ip: &ipv6::Repr, message: &nd::Repr<'_>) -> Result<Heard, wire::Error> {
    message.check(ip)?;
    Ok(match *message {
        nd::Repr::NeighborSolicitation { target, options } if own.has(target) => {
            let mac = options.source().filter(|mac| !mac.is_group());
            Heard::Asked { target, asker: (!ip.src.is_unspecified()).then_some((ip.src, mac)) }
        }
        nd::Repr::NeighborAdvertisement { replaces, target, options, .. } => {
            Heard::Told { neighbor: target, mac: options.target().filter(|mac| !mac.is_group()), replaces }
        }
        nd::Repr::RouterSolicitation { options } if own.router => {
            let mac = options.source().filter(|mac| !mac.is_group());
            Heard::Solicited { asker: mac.filter(|_| !ip.src.is_unspecified()).map(|mac| (ip.src, mac)) }
        }
        _ => Heard::Nothing,
    })
}

/// What a frame comes to that was received by `own`: nothing if it holds no message of neighbour discovery that can be
/// believed.
pub fn hear_frame(own: &Own, bytes: &[u8]) -> Option<Heard> {
    let packet = ipv6::Packet::new_checked(bytes.get(ethernet::HEADER_LEN..)?).ok()?;
    let ip = ipv6::Repr::parse(&packet).ok()?;
    if ip.next_header != ipv6::Protocol::ICMPV6 || !(own.has(ip.dst) || own.is_in(ip.dst)) {
        return None;
    }
    let message = icmpv6::Packet::new_checked(packet.payload()).ok()?;
    match icmpv6::Repr::parse(&message, ip.src, ip.dst).ok()? {
        icmpv6::Repr::Discovery(message) => hear(own, &ip, &message).ok(),
        _ => None,
    }
}

/// The IPv6 packet of an ICMPv6 message.
pub(crate) fn packet(src: Ipv6Addr, dst: Ipv6Addr, hop_limit: u8, message: &icmpv6::Repr<'_>) -> Vec<u8> {
    let len = message.buffer_len() as u16;
    let ip = ipv6::Repr { hop_limit, ..ipv6::Repr::new(src, dst, ipv6::Protocol::ICMPV6, len) };
    let mut bytes = vec![0; ip.total_len()];
    let (head, rest) = bytes.split_at_mut(ip.buffer_len());
    ip.emit(head);
    message.emit(src, dst, rest);
    bytes
}

/// The ICMPv6 echo request that a probe sends.
pub(crate) fn request(sequence: u16) -> icmpv6::Repr<'static> {
    icmpv6::Repr::EchoRequest { ident: echo::IDENT, sequence, data: echo::DATA }
}

/// The event for whoever pinged: a message from `from` is an answer, or an error about a ping. Its kind is that of the
/// same message of IPv4; its code is that of ICMPv6. Nothing if it is neither.
pub(crate) fn answer(from: Ipv6Addr, message: &icmpv6::Repr<'_>) -> Option<Event> {
    let (kind, code) = match *message {
        icmpv6::Repr::EchoReply { ident: echo::IDENT, sequence, .. } => {
            return Some(Event::ProbeReply {
                from: from.into(),
                sequence,
                kind: 0,
                code: 0,
                labels: Vec::new(),
            });
        }
        icmpv6::Repr::TimeExceeded { code, .. } => (11, code),
        icmpv6::Repr::DestinationUnreachable { code, .. } => (3, code),
        _ => return None,
    };
    let quote = message.quote()?;
    let original = ipv6::Packet::new_header_checked(quote.original).ok()?;
    let payload = quote.original.get(ipv6::HEADER_LEN..)?;
    let upper = ipv6::upper(original.next_header(), payload).ok()?;
    let asked = icmpv6::Packet::new_checked(payload.get(upper.offset..)?).ok()?;
    let [a, b, c, d] = asked.rest();
    let is_ping = upper.protocol == ipv6::Protocol::ICMPV6 && asked.icmp_type() == icmpv6::Type::ECHO_REQUEST;
    (is_ping && u16::from_be_bytes([a, b]) == echo::IDENT).then(|| Event::ProbeReply {
        from: from.into(),
        sequence: u16::from_be_bytes([c, d]),
        kind,
        code,
        labels: echo::quoted_labels(&quote),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Own = Own {
        mac: MacAddr([2, 0, 0, 0, 0, 1]),
        address: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
        router: true,
    };
    const OTHER: Own = Own {
        mac: MacAddr([2, 0, 0, 0, 0, 2]),
        address: Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
        router: false,
    };

    fn heard(own: &Own, frame: &Frame) -> Heard {
        let bytes = frame.to_vec();
        let packet = ipv6::Packet::new_checked(&bytes[14..]).expect("a packet");
        let ip = ipv6::Repr::parse(&packet).expect("a header");
        let message = icmpv6::Packet::new_checked(packet.payload()).expect("a message");
        let icmpv6::Repr::Discovery(message) = icmpv6::Repr::parse(&message, ip.src, ip.dst).expect("right")
        else {
            panic!("discovery")
        };
        hear(own, &ip, &message).expect("believable")
    }

    #[test]
    fn a_question_is_heard_and_answered() {
        let ask = OTHER.ask(OWN.address, None);
        assert_eq!(ask.header()[..6], [0x33, 0x33, 0xff, 0, 0, 1]);
        let asker = Some((OTHER.address, Some(OTHER.mac)));
        assert_eq!(heard(&OWN, &ask), Heard::Asked { target: OWN.address, asker });
        let answer = OWN.answer(OWN.address, Some((OTHER.address, OTHER.mac)));
        assert_eq!(answer.header()[..6], OTHER.mac.0);
        let told = Heard::Told { neighbor: OWN.address, mac: Some(OWN.mac), replaces: true };
        assert_eq!(heard(&OTHER, &answer), told);
        // A probe goes to who is known, and a link-local address is asked for from one.
        let probe = OTHER.ask(OWN.link_local(), Some(OWN.mac));
        assert_eq!(probe.header()[..6], OWN.mac.0);
        let asker = Some((OTHER.link_local(), Some(OTHER.mac)));
        assert_eq!(heard(&OWN, &probe), Heard::Asked { target: OWN.link_local(), asker });
        assert_eq!(heard(&OTHER, &OTHER.ask(OWN.address, None)), Heard::Nothing);
    }

    #[test]
    fn who_has_no_address_yet_is_answered_in_front_of_all() {
        let target = OWN.address;
        let probe = OTHER.probe(target);
        assert_eq!(heard(&OWN, &probe), Heard::Asked { target, asker: None });
        assert_eq!(OWN.answer(target, None).header()[..6], [0x33, 0x33, 0, 0, 0, 1]);
    }

    #[test]
    fn groups_are_those_of_the_addresses() {
        let group = |text: &str| text.parse::<Ipv6Addr>().expect("an address");
        for own in ["ff02::1", "ff02::2", "ff02::1:ff00:1"] {
            assert!(OWN.is_in(group(own)), "{own}");
        }
        assert!(!OWN.is_in(group("ff02::5")) && !OTHER.is_in(group("ff02::2")));
    }

    #[test]
    fn an_error_about_a_ping_is_an_event() {
        let ping = packet(OWN.address, OTHER.address, 1, &request(7));
        let quote = icmpv6::Quote { original: &ping, objects: &[], without_length: false };
        let error = icmpv6::Repr::TimeExceeded { code: 0, quote };
        let Some(Event::ProbeReply { sequence: 7, kind: 11, .. }) = answer(OTHER.address, &error) else {
            panic!("an event")
        };
        let cut = icmpv6::Quote { original: &ping[..44], objects: &[], without_length: false };
        assert_eq!(answer(OTHER.address, &icmpv6::Repr::TimeExceeded { code: 0, quote: cut }), None);
    }
}
