//! TDP, the tag-switching dialect that LDP came from: Hellos, PDUs and their elements, as far as their bytes are known.
//! [`form`] says what is known, and how.

pub mod form;
#[cfg(test)]
mod tests;

use crate::error::Error;
use base::Label;
use base::plane::Prefix;
use core::net::Ipv4Addr;
use form::{ELEMENTS, PREAMBLE};

/// The protocol's name in errors.
const LAYER: &str = "tdp";

/// Names a tag space of a router: its address, and the number of the space.
pub type TdpId = (Ipv4Addr, u16);

/// A Hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its sender.
    pub id: TdpId,
    /// Two bytes that differ from router to router: a number of the sender's, perhaps of its configuration.
    pub number: u16,
    /// Seconds without a Hello until the sender is gone.
    pub hold_s: u8,
    /// The sender's end of a session.
    pub transport: Ipv4Addr,
}

/// A tag for a prefix; [`Label::IMPLICIT_NULL`] stands for [`form::IMPLICIT_NULL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The tag that packets are to come with.
    pub label: Label,
    /// Whose packets.
    pub prefix: Prefix,
}

/// An element of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// How the session is to be.
    Open {
        /// Seconds without a word until it ends.
        hold_s: u16,
    },
    /// Tags.
    Bind {
        /// The request that they answer; zero if nobody has asked.
        request: u32,
        /// The tags.
        bindings: Vec<Binding>,
    },
    /// Tags that mean nothing any more.
    Withdraw {
        /// The tags.
        bindings: Vec<Binding>,
    },
    /// The session goes on; answers an Open.
    KeepAlive,
    /// Tags that are not needed.
    Release {
        /// The tags.
        bindings: Vec<Binding>,
    },
    /// Addresses of the sender.
    Address(Vec<Ipv4Addr>),
    /// One whose value is not known, or whose type is not.
    Unknown {
        /// Its type.
        kind: u16,
        /// Its value.
        value: Vec<u8>,
    },
}

fn error(offset: usize, clause: &'static str) -> Error {
    Error::invalid(LAYER, offset, clause)
}

fn id_of(bytes: [u8; form::IDENTIFIER]) -> TdpId {
    let [a, b, c, d, e, f] = bytes;
    (Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([e, f]))
}

fn emit_head(id: TdpId, len: u16, to: &mut Vec<u8>) {
    to.extend(form::VERSION.to_be_bytes());
    to.extend(len.to_be_bytes());
    to.extend(id.0.octets());
    to.extend(id.1.to_be_bytes());
}

/// The identifier, and what is behind it.
fn read_head(bytes: &[u8]) -> Result<(TdpId, &[u8]), Error> {
    let Some((&[v, w, l, m], rest)) = bytes.split_first_chunk::<PREAMBLE>() else {
        return Err(error(bytes.len(), "no version and length"));
    };
    if u16::from_be_bytes([v, w]) != form::VERSION {
        return Err(error(0, "the version is not 1"));
    }
    let Some(rest) = rest.get(..usize::from(u16::from_be_bytes([l, m]))) else {
        return Err(error(2, "a PDU that ends before its end"));
    };
    let Some((id, rest)) = rest.split_first_chunk() else {
        return Err(error(PREAMBLE, "a PDU without an identifier"));
    };
    Ok((id_of(*id), rest))
}

impl Hello {
    /// Its bytes.
    pub fn emit(&self) -> Vec<u8> {
        let mut to = Vec::new();
        emit_head(self.id, form::HELLO_LEN, &mut to);
        to.extend(self.number.to_be_bytes());
        to.push(self.hold_s);
        to.push(form::TRANSPORT.0);
        to.extend(form::TRANSPORT.1.to_be_bytes());
        to.extend(self.transport.octets());
        to
    }

    /// Reads one.
    pub fn parse(bytes: &[u8]) -> Result<Hello, Error> {
        let (id, rest) = read_head(bytes)?;
        let &[n, o, hold_s, kind, l, m, a, b, c, d] = rest else {
            return Err(error(2, "a Hello whose length is not 16"));
        };
        if (kind, u16::from_be_bytes([l, m])) != form::TRANSPORT {
            return Err(error(13, "a Hello without the sender's end of a session"));
        }
        let (number, transport) = (u16::from_be_bytes([n, o]), Ipv4Addr::new(a, b, c, d));
        Ok(Hello { id, number, hold_s, transport })
    }
}

impl Binding {
    fn emit(&self, to: &mut Vec<u8>) {
        let is_null = self.label == Label::IMPLICIT_NULL;
        let tag = if is_null { form::IMPLICIT_NULL } else { self.label.value() };
        to.extend(tag.to_be_bytes());
        to.push(self.prefix.len());
        to.extend(self.prefix.address().octets());
    }

    fn read(bytes: [u8; form::BINDING_LEN]) -> Result<Binding, Error> {
        let [t, a, g, h, len, p, q, r, s] = bytes;
        let tag = u32::from_be_bytes([t, a, g, h]);
        let label = match tag {
            form::IMPLICIT_NULL => Some(Label::IMPLICIT_NULL),
            tag => Label::new(tag).filter(|label| *label != Label::IMPLICIT_NULL),
        };
        let label = label.ok_or_else(|| error(0, "a tag that no packet can carry"))?;
        if len > 32 {
            return Err(error(4, "a prefix that is longer than an address"));
        }
        Ok(Binding { label, prefix: Prefix::new(Ipv4Addr::new(p, q, r, s), len) })
    }
}

fn emit_bindings(request: u32, bindings: &[Binding], to: &mut Vec<u8>) {
    to.extend(request.to_be_bytes());
    to.extend(form::IPV4.to_be_bytes());
    to.extend(form::BINDINGS.to_be_bytes());
    to.extend(((bindings.len() * form::BINDING_LEN) as u16).to_be_bytes());
    bindings.iter().for_each(|one| one.emit(to));
}

fn read_list(value: &[u8], kind: u16) -> Result<&[u8], Error> {
    let Some((&[f, g, k, i, l, m], list)) = value.split_first_chunk::<6>() else {
        return Err(error(0, "a list that ends before its length"));
    };
    if u16::from_be_bytes([f, g]) != form::IPV4 {
        return Err(error(0, "a family that is not IPv4"));
    }
    if u16::from_be_bytes([k, i]) != kind || usize::from(u16::from_be_bytes([l, m])) != list.len() {
        return Err(error(2, "a list of another kind or length"));
    }
    Ok(list)
}

fn read_bindings(value: &[u8]) -> Result<(u32, Vec<Binding>), Error> {
    let Some((request, rest)) = value.split_first_chunk::<4>() else {
        return Err(error(0, "a Bind that ends before its list"));
    };
    let (all, rest) = read_list(rest, form::BINDINGS)?.as_chunks::<{ form::BINDING_LEN }>();
    if !rest.is_empty() {
        return Err(error(10, "a list that ends within a tag"));
    }
    let bindings = all.iter().map(|one| Binding::read(*one)).collect::<Result<_, _>>()?;
    Ok((u32::from_be_bytes(*request), bindings))
}

fn read_addresses(value: &[u8]) -> Result<Vec<Ipv4Addr>, Error> {
    let (all, rest) = read_list(value, form::ADDRESSES)?.as_chunks::<{ form::ADDRESS_LEN }>();
    if !rest.is_empty() || all.iter().any(|[len, ..]| *len != 32) {
        return Err(error(6, "addresses that are none"));
    }
    Ok(all.iter().map(|&[_, a, b, c, d]| Ipv4Addr::new(a, b, c, d)).collect())
}

impl Element {
    /// Its type.
    pub const fn kind(&self) -> u16 {
        match self {
            Element::Open { .. } => ELEMENTS[form::OPEN_AT].kind,
            Element::Bind { .. } => ELEMENTS[form::BIND_AT].kind,
            Element::Withdraw { .. } => ELEMENTS[form::WITHDRAW_AT].kind,
            Element::KeepAlive => ELEMENTS[form::KEEP_ALIVE_AT].kind,
            Element::Release { .. } => ELEMENTS[form::RELEASE_AT].kind,
            Element::Address(_) => ELEMENTS[form::ADDRESS_AT].kind,
            Element::Unknown { kind, .. } => *kind,
        }
    }

    fn emit(&self, to: &mut Vec<u8>) {
        to.extend(self.kind().to_be_bytes());
        let at = to.len();
        to.extend([0, 0]);
        match self {
            Element::Open { hold_s } => {
                to.extend(form::OPEN);
                to.extend(hold_s.to_be_bytes());
            }
            Element::Bind { request, bindings } => emit_bindings(*request, bindings, to),
            Element::Withdraw { bindings } | Element::Release { bindings } => emit_bindings(0, bindings, to),
            Element::KeepAlive => {}
            Element::Address(all) => {
                to.extend(form::IPV4.to_be_bytes());
                to.extend(form::ADDRESSES.to_be_bytes());
                to.extend(((all.len() * form::ADDRESS_LEN) as u16).to_be_bytes());
                for address in all {
                    to.push(32);
                    to.extend(address.octets());
                }
            }
            Element::Unknown { value, .. } => to.extend(value),
        }
        let len = u16::try_from(to.len() - at - 2).unwrap_or(u16::MAX);
        to[at..at + 2].copy_from_slice(&len.to_be_bytes());
    }

    fn read(kind: u16, value: &[u8]) -> Result<Element, Error> {
        let place = ELEMENTS.iter().position(|known| known.kind == kind);
        Ok(match place {
            Some(form::OPEN_AT) => match value {
                // The first two bytes are not fully understood: whatever they are, the time counts.
                &[_, _, h, i] => Element::Open { hold_s: u16::from_be_bytes([h, i]) },
                _ => return Err(error(0, "an Open that has not four bytes")),
            },
            Some(form::BIND_AT) => {
                let (request, bindings) = read_bindings(value)?;
                Element::Bind { request, bindings }
            }
            Some(form::WITHDRAW_AT) => Element::Withdraw { bindings: read_bindings(value)?.1 },
            Some(form::RELEASE_AT) => Element::Release { bindings: read_bindings(value)?.1 },
            Some(form::KEEP_ALIVE_AT) => Element::KeepAlive,
            Some(form::ADDRESS_AT) => Element::Address(read_addresses(value)?),
            _ => Element::Unknown { kind, value: value.to_vec() },
        })
    }
}

/// Puts elements into one PDU.
pub fn pdu(id: TdpId, all: &[Element]) -> Vec<u8> {
    let mut to = Vec::new();
    emit_head(id, 0, &mut to);
    to.extend([0; form::RESERVED]);
    all.iter().for_each(|element| element.emit(&mut to));
    let len = u16::try_from(to.len() - PREAMBLE).unwrap_or(u16::MAX);
    to[2..4].copy_from_slice(&len.to_be_bytes());
    to
}

/// Bytes of the first PDU of a stream, if they are all there. One whose version is wrong ends where the stream does, so
/// that it is found to be wrong.
pub fn message_len(stream: &[u8]) -> Option<usize> {
    let &[v, w, l, m] = stream.first_chunk::<PREAMBLE>()?;
    let whole = PREAMBLE + usize::from(u16::from_be_bytes([l, m]));
    match u16::from_be_bytes([v, w]) == form::VERSION {
        true => (stream.len() >= whole).then_some(whole),
        false => Some(stream.len()),
    }
}

/// Reads a PDU of a session: its sender, and its elements.
pub fn parse(bytes: &[u8]) -> Result<(TdpId, Vec<Element>), Error> {
    let (id, rest) = read_head(bytes)?;
    let Some(mut rest) = rest.get(form::RESERVED..) else {
        return Err(error(10, "a PDU without room for an element"));
    };
    let mut all = Vec::new();
    while !rest.is_empty() {
        let offset = bytes.len() - rest.len();
        let Some((&[k, i, l, m], behind)) = rest.split_first_chunk::<4>() else {
            return Err(error(offset, "an element that ends before its length"));
        };
        let len = usize::from(u16::from_be_bytes([l, m]));
        let Some((value, behind)) = behind.split_at_checked(len) else {
            return Err(error(offset, "an element beyond its PDU"));
        };
        all.push(Element::read(u16::from_be_bytes([k, i]), value).map_err(|error| error.at(offset + 4))?);
        rest = behind;
    }
    Ok((id, all))
}
