//! ICMPv6 messages in a [`super::Tree`], both ways.

use super::icmp::write_objects;
use super::layers::{Layer, Quote};
use super::layers6::{Discovery, Icmpv6, Icmpv6Message, LinkPrefix, NeighborOption};
use crate::Hex;
use crate::error::Error;
use crate::icmpv6::{self, HEADER_LEN, Packet, Repr};
use crate::mld;
use crate::nd::{self, NdOption, Options, PrefixInformation};
use core::net::Ipv6Addr;

impl Icmpv6 {
    /// Reads a message between these addresses whatever its checksum.
    pub(super) fn read(src: Ipv6Addr, dst: Ipv6Addr, data: &[u8]) -> Result<Icmpv6, Error> {
        let packet = Packet::new_checked(data)?;
        let repr = Repr::parse_unverified(&packet)?;
        let checksum = Some(packet.checksum());
        let wrong = packet.verify_checksum(src, dst).is_err();
        let correct_checksum = wrong.then(|| packet.compute_checksum(src, dst));
        let listener = packet.icmp_type().is_listener().then(|| mld::Repr::parse_unverified(data));
        let message = match listener {
            Some(said) => Icmpv6Message::MulticastListener { said: said? },
            None => (&repr).into(),
        };
        let icmp = Icmpv6 { message, checksum, correct_checksum };
        if icmp.write(None).is_ok_and(|again| again == data) {
            return Ok(icmp);
        }
        // Something is set that has no name: show the message as it is.
        let (icmp_type, code, rest) = (packet.icmp_type(), packet.code(), Hex(packet.rest().to_vec()));
        let message = Icmpv6Message::Other { icmp_type, code, rest, data: data[HEADER_LEN..].into() };
        Ok(Icmpv6 { message, checksum, correct_checksum })
    }

    /// Writes the message, with the checksum that is given, or else the right one for the addresses of `outer`.
    pub(super) fn write(&self, outer: Option<&Layer>) -> Result<Vec<u8>, Error> {
        let addresses = match (self.checksum, outer) {
            (_, Some(Layer::Ipv6(ipv6))) => (ipv6.src, ipv6.dst),
            (Some(_), _) => (Ipv6Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED),
            (None, _) => {
                let clause = "without an ipv6 layer before it the checksum must be given";
                return Err(Error::invalid("icmpv6", 2, clause));
            }
        };
        let objects = self.message.quote().map(write_objects).transpose()?.unwrap_or_default();
        let original = self.message.quote().map_or(&[][..], |quote| &quote.original.0);
        let quote = icmpv6::Quote { original, objects: &objects, without_length: false };
        let mut options = Vec::new();
        let repr = match &self.message {
            &Icmpv6Message::DestinationUnreachable { code, .. } => {
                Repr::DestinationUnreachable { code, quote }
            }
            &Icmpv6Message::TimeExceeded { code, .. } => Repr::TimeExceeded { code, quote },
            Icmpv6Message::PacketTooBig { .. } | Icmpv6Message::ParameterProblem { .. }
                if !objects.is_empty() =>
            {
                return Err(Error::invalid("icmpv6", 4, "such an error has no extensions"));
            }
            &Icmpv6Message::PacketTooBig { mtu, .. } => Repr::PacketTooBig { mtu, quote: original },
            &Icmpv6Message::ParameterProblem { code, pointer, .. } => {
                Repr::ParameterProblem { code, pointer, quote: original }
            }
            &Icmpv6Message::EchoRequest { ident, sequence, ref data } => {
                Repr::EchoRequest { ident, sequence, data: &data.0 }
            }
            &Icmpv6Message::EchoReply { ident, sequence, ref data } => {
                Repr::EchoReply { ident, sequence, data: &data.0 }
            }
            Icmpv6Message::NeighborDiscovery { said, options: list } => {
                list.iter().for_each(|option| option.append_to(&mut options));
                Repr::Discovery(said.repr(Options::of(&options)?))
            }
            Icmpv6Message::MulticastListener { said } => {
                return Ok(self.with_checksum(said.emit(addresses.0, addresses.1)));
            }
            &Icmpv6Message::Other { icmp_type, code, ref rest, ref data } => {
                let rest = rest.0.as_slice().try_into();
                let rest = rest.map_err(|_| Error::invalid("icmpv6", 4, "rest has four bytes"))?;
                Repr::Other { icmp_type, code, rest, data: &data.0 }
            }
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(addresses.0, addresses.1, &mut bytes);
        Ok(self.with_checksum(bytes))
    }

    /// The message with the checksum that is given, if one is.
    fn with_checksum(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if let Some(checksum) = self.checksum {
            Packet::new_unchecked(&mut bytes).set_checksum(checksum);
        }
        bytes
    }
}

impl Icmpv6Message {
    /// The packet that an error is about.
    pub fn quote(&self) -> Option<&Quote> {
        match self {
            Icmpv6Message::DestinationUnreachable { quote, .. }
            | Icmpv6Message::PacketTooBig { quote, .. }
            | Icmpv6Message::TimeExceeded { quote, .. }
            | Icmpv6Message::ParameterProblem { quote, .. } => Some(quote),
            _ => None,
        }
    }
}

impl From<&Repr<'_>> for Icmpv6Message {
    fn from(repr: &Repr<'_>) -> Icmpv6Message {
        let plain = |original: &[u8]| Quote {
            original: original.into(),
            extensions: Vec::new(),
            without_length: false,
        };
        match *repr {
            Repr::DestinationUnreachable { code, quote } => {
                Icmpv6Message::DestinationUnreachable { code, quote: quote.into() }
            }
            Repr::PacketTooBig { mtu, quote } => Icmpv6Message::PacketTooBig { mtu, quote: plain(quote) },
            Repr::TimeExceeded { code, quote } => Icmpv6Message::TimeExceeded { code, quote: quote.into() },
            Repr::ParameterProblem { code, pointer, quote } => {
                Icmpv6Message::ParameterProblem { code, pointer, quote: plain(quote) }
            }
            Repr::EchoRequest { ident, sequence, data } => {
                Icmpv6Message::EchoRequest { ident, sequence, data: data.into() }
            }
            Repr::EchoReply { ident, sequence, data } => {
                Icmpv6Message::EchoReply { ident, sequence, data: data.into() }
            }
            Repr::Discovery(ref message) => Icmpv6Message::NeighborDiscovery {
                said: message.into(),
                options: message.options().iter().map(NeighborOption::from).collect(),
            },
            Repr::Other { icmp_type, code, rest, data } => {
                Icmpv6Message::Other { icmp_type, code, rest: Hex(rest.to_vec()), data: data.into() }
            }
        }
    }
}

impl Discovery {
    fn repr<'a>(&self, options: Options<'a>) -> nd::Repr<'a> {
        match *self {
            Discovery::RouterSolicitation => nd::Repr::RouterSolicitation { options },
            Discovery::RouterAdvertisement {
                hop_limit,
                managed,
                other,
                lifetime_s,
                reachable_ms,
                retransmit_ms,
            } => nd::Repr::RouterAdvertisement {
                hop_limit,
                managed,
                other,
                lifetime_s,
                reachable_ms,
                retransmit_ms,
                options,
            },
            Discovery::NeighborSolicitation { target } => nd::Repr::NeighborSolicitation { target, options },
            Discovery::NeighborAdvertisement { router, solicited, replaces, target } => {
                nd::Repr::NeighborAdvertisement { router, solicited, replaces, target, options }
            }
            Discovery::Redirect { target, destination } => {
                nd::Repr::Redirect { target, destination, options }
            }
        }
    }
}

impl From<&nd::Repr<'_>> for Discovery {
    fn from(repr: &nd::Repr<'_>) -> Discovery {
        match *repr {
            nd::Repr::RouterSolicitation { .. } => Discovery::RouterSolicitation,
            nd::Repr::RouterAdvertisement {
                hop_limit,
                managed,
                other,
                lifetime_s,
                reachable_ms,
                retransmit_ms,
                ..
            } => Discovery::RouterAdvertisement {
                hop_limit,
                managed,
                other,
                lifetime_s,
                reachable_ms,
                retransmit_ms,
            },
            nd::Repr::NeighborSolicitation { target, .. } => Discovery::NeighborSolicitation { target },
            nd::Repr::NeighborAdvertisement { router, solicited, replaces, target, .. } => {
                Discovery::NeighborAdvertisement { router, solicited, replaces, target }
            }
            nd::Repr::Redirect { target, destination, .. } => Discovery::Redirect { target, destination },
        }
    }
}

impl NeighborOption {
    fn append_to(&self, options: &mut Vec<u8>) {
        let option = match self {
            &NeighborOption::SourceLinkLayer { mac } => NdOption::SourceLinkLayer(mac),
            &NeighborOption::TargetLinkLayer { mac } => NdOption::TargetLinkLayer(mac),
            NeighborOption::Prefix(prefix) => NdOption::Prefix(PrefixInformation {
                len: prefix.len,
                on_link: prefix.on_link,
                autonomous: prefix.autonomous,
                valid_s: prefix.valid_s,
                preferred_s: prefix.preferred_s,
                prefix: prefix.prefix,
            }),
            &NeighborOption::Mtu { mtu } => NdOption::Mtu(mtu),
            NeighborOption::Other { kind, data } => NdOption::Other { kind: *kind, data: &data.0 },
        };
        option.append_to(options);
    }
}

impl From<NdOption<'_>> for NeighborOption {
    fn from(option: NdOption<'_>) -> NeighborOption {
        match option {
            NdOption::SourceLinkLayer(mac) => NeighborOption::SourceLinkLayer { mac },
            NdOption::TargetLinkLayer(mac) => NeighborOption::TargetLinkLayer { mac },
            NdOption::Prefix(prefix) => NeighborOption::Prefix(LinkPrefix {
                prefix: prefix.prefix,
                len: prefix.len,
                on_link: prefix.on_link,
                autonomous: prefix.autonomous,
                valid_s: prefix.valid_s,
                preferred_s: prefix.preferred_s,
            }),
            NdOption::Mtu(mtu) => NeighborOption::Mtu { mtu },
            NdOption::Other { kind, data } => NeighborOption::Other { kind, data: data.into() },
        }
    }
}
