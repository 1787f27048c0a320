//! ICMP messages in a [`super::Tree`], both ways.

use super::layers::{Entry, Extension, Icmp, IcmpMessage, Quote};
use crate::error::Error;
use crate::icmp::extension::{self, MPLS_STACK_CLASS, MPLS_STACK_INCOMING, Object};
use crate::icmp::{self, HEADER_LEN, Packet, Repr};
use crate::{Hex, mpls};

impl Icmp {
    /// Reads a message whatever its checksum.
    pub(super) fn read(data: &[u8]) -> Result<Icmp, Error> {
        let packet = Packet::new_checked(data)?;
        let repr = Repr::parse_unverified(&packet)?;
        let checksum = Some(packet.checksum());
        let correct_checksum = packet.verify_checksum().is_err().then(|| packet.compute_checksum());
        let icmp = Icmp { message: (&repr).into(), checksum, correct_checksum };
        if icmp.write().is_ok_and(|again| again == data) {
            return Ok(icmp);
        }
        // Something is set that has no name: show the message as it is.
        let (icmp_type, code, rest) = (packet.icmp_type(), packet.code(), Hex(packet.rest().to_vec()));
        let message = IcmpMessage::Other { icmp_type, code, rest, data: data[HEADER_LEN..].into() };
        Ok(Icmp { message, checksum, correct_checksum })
    }

    /// Writes the message, with the checksum that is given, or else the right one.
    pub(super) fn write(&self) -> Result<Vec<u8>, Error> {
        let objects = self.message.quote().map(write_objects).transpose()?.unwrap_or_default();
        let original = self.message.quote().map_or(&[][..], |quote| &quote.original.0);
        let without_length = self.message.quote().is_some_and(|quote| quote.without_length);
        let quote = icmp::Quote { original, objects: &objects, without_length };
        let repr = match self.message {
            IcmpMessage::EchoRequest { ident, sequence, ref data } => {
                Repr::EchoRequest { ident, sequence, data: &data.0 }
            }
            IcmpMessage::EchoReply { ident, sequence, ref data } => {
                Repr::EchoReply { ident, sequence, data: &data.0 }
            }
            IcmpMessage::DestinationUnreachable { code, next_hop_mtu, .. } => {
                Repr::DestinationUnreachable { code, next_hop_mtu, quote }
            }
            IcmpMessage::TimeExceeded { code, .. } => Repr::TimeExceeded { code, quote },
            IcmpMessage::ParameterProblem { code, pointer, .. } => {
                Repr::ParameterProblem { code, pointer, quote }
            }
            IcmpMessage::Other { icmp_type, code, ref rest, ref data } => {
                let rest = rest.0.as_slice().try_into();
                let rest = rest.map_err(|_| Error::invalid("icmp", 4, "rest has four bytes"))?;
                Repr::Other { icmp_type, code, rest, data: &data.0 }
            }
        };
        let mut bytes = vec![0; repr.buffer_len()];
        repr.emit(&mut bytes);
        if let Some(checksum) = self.checksum {
            Packet::new_unchecked(&mut bytes).set_checksum(checksum);
        }
        Ok(bytes)
    }
}

impl IcmpMessage {
    /// The packet that an error is about.
    pub fn quote(&self) -> Option<&Quote> {
        match self {
            IcmpMessage::DestinationUnreachable { quote, .. }
            | IcmpMessage::TimeExceeded { quote, .. }
            | IcmpMessage::ParameterProblem { quote, .. } => Some(quote),
            _ => None,
        }
    }
}

impl From<&Repr<'_>> for IcmpMessage {
    fn from(repr: &Repr<'_>) -> IcmpMessage {
        match *repr {
            Repr::EchoRequest { ident, sequence, data } => {
                IcmpMessage::EchoRequest { ident, sequence, data: data.into() }
            }
            Repr::EchoReply { ident, sequence, data } => {
                IcmpMessage::EchoReply { ident, sequence, data: data.into() }
            }
            Repr::DestinationUnreachable { code, next_hop_mtu, quote } => {
                IcmpMessage::DestinationUnreachable { code, next_hop_mtu, quote: quote.into() }
            }
            Repr::TimeExceeded { code, quote } => IcmpMessage::TimeExceeded { code, quote: quote.into() },
            Repr::ParameterProblem { code, pointer, quote } => {
                IcmpMessage::ParameterProblem { code, pointer, quote: quote.into() }
            }
            Repr::Other { icmp_type, code, rest, data } => {
                IcmpMessage::Other { icmp_type, code, rest: Hex(rest.to_vec()), data: data.into() }
            }
        }
    }
}

impl From<icmp::Quote<'_>> for Quote {
    fn from(quote: icmp::Quote<'_>) -> Quote {
        let extensions = quote.iter().map(Extension::from).collect();
        Quote { original: quote.original.into(), extensions, without_length: quote.without_length }
    }
}

impl From<Object<'_>> for Extension {
    fn from(object: Object<'_>) -> Extension {
        let Object { class, c_type, data } = object;
        if (class, c_type) == (MPLS_STACK_CLASS, MPLS_STACK_INCOMING) {
            let mut entries = mpls::Stack::new(data);
            let stack: Result<Vec<Entry>, Error> = entries.by_ref().map(|e| e.map(Entry::from)).collect();
            if let (Ok(stack), true) = (stack, entries.rest().is_empty()) {
                return Extension::MplsStack { stack };
            }
        }
        Extension::Other { class, c_type, data: data.into() }
    }
}

pub(super) fn write_objects(quote: &Quote) -> Result<Vec<u8>, Error> {
    let mut objects = Vec::new();
    for extension in &quote.extensions {
        match extension {
            Extension::MplsStack { stack } => {
                objects.extend(extension::mpls_stack_object(&super::encode::stack(stack)?));
            }
            &Extension::Other { class, c_type, ref data } => {
                Object { class, c_type, data: &data.0 }.append_to(&mut objects);
            }
        }
    }
    Ok(objects)
}
