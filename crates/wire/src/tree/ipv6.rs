//! IPv6 headers in a [`super::Tree`], both ways.

use super::encode::out_of_range;
use super::layers::Layer;
use super::layers6::{ExtensionHeader, Ipv6, Ipv6Option};
use crate::Hex;
use crate::error::Error;
use crate::ipv6::extension::{Header, HeaderOption, Headers, ROUTER_ALERT, UNIT};
use crate::ipv6::fragment::Fragment;
use crate::ipv6::{HEADER_LEN, MAX_PAYLOAD_LEN, Packet, Protocol, Repr};
use base::Dscp;

/// What follows a header.
pub(super) struct Inside {
    pub(super) protocol: Protocol,
    /// Where it begins, in bytes from the start of the IPv6 header.
    pub(super) offset: usize,
    /// Is it a piece of a larger payload?
    pub(super) is_piece: bool,
}

impl Ipv6 {
    /// Reads header and extension headers; returns what follows, and where the packet ends.
    pub(super) fn read(data: &[u8]) -> Result<(Ipv6, Inside, usize), Error> {
        let packet = Packet::new_checked(data)?;
        let repr = Repr::parse(&packet)?;
        let mut walk = Headers::new(repr.next_header, packet.payload());
        let (mut headers, mut is_piece) = (Vec::new(), false);
        for header in walk.by_ref() {
            let header = header?;
            is_piece |= header.fragment().is_some_and(|fragment| fragment.more || fragment.offset != 0);
            headers.push(ExtensionHeader::read(&header));
        }
        let inside = Inside { protocol: walk.next_header(), offset: HEADER_LEN + walk.offset(), is_piece };
        let layer = Ipv6 {
            src: repr.src,
            dst: repr.dst,
            protocol: Some(inside.protocol),
            hop_limit: repr.hop_limit,
            dscp: repr.dscp.value(),
            ecn: repr.ecn,
            flow_label: repr.flow_label,
            headers,
        };
        Ok((layer, inside, repr.total_len()))
    }

    /// Writes header, extension headers and `payload`, which begins with the layer `next`.
    pub(super) fn write(&self, next: Option<&Layer>, payload: &[u8]) -> Result<Vec<u8>, Error> {
        let mut next_header = match (self.protocol, next) {
            (Some(protocol), _) => protocol,
            (None, Some(Layer::Udp(_))) => Protocol::UDP,
            (None, Some(Layer::Tcp(_))) => Protocol::TCP,
            (None, Some(Layer::Icmpv6(_))) => Protocol::ICMPV6,
            (None, Some(Layer::Rsvp(_))) => Protocol::RSVP,
            (None, None) => Protocol::NO_NEXT_HEADER,
            (None, _) => return Err(Error::invalid("ipv6", 6, "the next layer does not say the protocol")),
        };
        let mut inner = Vec::new();
        for header in self.headers.iter().rev() {
            let mut bytes = header.write(next_header)?;
            bytes.extend(&inner);
            inner = bytes;
            next_header = header.kind();
        }
        inner.extend(payload);
        let too_long = || out_of_range("ipv6", "payload", inner.len() as u64, MAX_PAYLOAD_LEN as u64);
        let repr = Repr {
            src: self.src,
            dst: self.dst,
            next_header,
            hop_limit: self.hop_limit,
            dscp: Dscp::new(self.dscp).ok_or_else(|| out_of_range("ipv6", "DSCP", self.dscp.into(), 63))?,
            ecn: self.ecn,
            flow_label: self.flow_label,
            payload_len: u16::try_from(inner.len()).map_err(|_| too_long())?,
        };
        repr.check()?;
        let mut bytes = vec![0; HEADER_LEN];
        repr.emit(&mut bytes);
        bytes.extend(inner);
        Ok(bytes)
    }
}

impl ExtensionHeader {
    fn read(header: &Header<'_>) -> ExtensionHeader {
        let named = match (header.kind, header.fragment()) {
            (_, Some(Fragment { offset, more, ident })) => {
                Some(ExtensionHeader::Fragment { ident, offset, more })
            }
            (Protocol::HOP_BY_HOP, _) => {
                read_options(header).map(|options| ExtensionHeader::HopByHop { options })
            }
            (Protocol::DESTINATION_OPTIONS, _) => {
                read_options(header).map(|options| ExtensionHeader::DestinationOptions { options })
            }
            _ => None,
        };
        let next = header.next_header();
        match named {
            Some(named) if named.write(next).is_ok_and(|again| again == header.bytes) => named,
            // Something is set that has no name: show the header as it is.
            _ => ExtensionHeader::Other { kind: header.kind.0, data: header.bytes[1..].into() },
        }
    }

    fn kind(&self) -> Protocol {
        match self {
            ExtensionHeader::HopByHop { .. } => Protocol::HOP_BY_HOP,
            ExtensionHeader::DestinationOptions { .. } => Protocol::DESTINATION_OPTIONS,
            ExtensionHeader::Fragment { .. } => Protocol::FRAGMENT,
            ExtensionHeader::Other { kind, .. } => Protocol(*kind),
        }
    }

    fn write(&self, next_header: Protocol) -> Result<Vec<u8>, Error> {
        match self {
            ExtensionHeader::HopByHop { options } | ExtensionHeader::DestinationOptions { options } => {
                let mut bytes = vec![next_header.0, 0];
                options.iter().try_for_each(|option| option.write(&mut bytes))?;
                let units = bytes.len() / UNIT;
                if !bytes.len().is_multiple_of(UNIT) || units > 256 {
                    let clause = "options fill up to 256 units of eight bytes, with the two of their header";
                    return Err(Error::invalid("ipv6", HEADER_LEN, clause));
                }
                bytes[1] = (units - 1) as u8;
                Ok(bytes)
            }
            &ExtensionHeader::Fragment { ident, offset, more } => {
                if offset > 0x1fff {
                    return Err(out_of_range("ipv6", "fragment offset", offset.into(), 0x1fff));
                }
                Ok(Fragment { offset, more, ident }.to_bytes(next_header).to_vec())
            }
            ExtensionHeader::Other { kind, data } => {
                let bytes = [&[next_header.0], &data.0[..]].concat();
                let mut walk = Headers::new(Protocol(*kind), &bytes);
                match walk.next() {
                    Some(Ok(header)) if header.bytes.len() == bytes.len() => Ok(bytes),
                    _ => {
                        Err(Error::invalid("ipv6", HEADER_LEN, "the header has another length than it says"))
                    }
                }
            }
        }
    }
}

fn read_options(header: &Header<'_>) -> Option<Vec<Ipv6Option>> {
    header.options().map(|option| Some(Ipv6Option::read(&option.ok()?.1))).collect()
}

impl Ipv6Option {
    fn read(option: &HeaderOption<'_>) -> Ipv6Option {
        match (option.kind, option.data) {
            (0, _) => Ipv6Option::Pad1,
            (1, zeros) if zeros.iter().all(|byte| *byte == 0) => Ipv6Option::PadN { len: zeros.len() as u8 },
            (ROUTER_ALERT, &[high, low]) => {
                Ipv6Option::RouterAlert { value: u16::from_be_bytes([high, low]) }
            }
            (kind, data) => Ipv6Option::Other { kind, data: data.into() },
        }
    }

    fn write(&self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Ipv6Option::Pad1 => bytes.push(0),
            Ipv6Option::PadN { len } => {
                bytes.extend([1, *len]);
                bytes.resize(bytes.len() + usize::from(*len), 0);
            }
            Ipv6Option::RouterAlert { value } => {
                bytes.extend([ROUTER_ALERT, 2]);
                bytes.extend(value.to_be_bytes());
            }
            Ipv6Option::Other { kind, data: Hex(data) } => {
                let len = u8::try_from(data.len())
                    .map_err(|_| out_of_range("ipv6", "option length", data.len() as u64, 255))?;
                bytes.extend([*kind, len]);
                bytes.extend(data);
            }
        }
        Ok(())
    }
}
