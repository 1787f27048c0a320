//! TDP: what is read of a PDU or a Hello is written again, and read again it says the same.

use core::net::Ipv4Addr;
use wire::tdp::{Binding, Element, Hello, form, message_len, parse, pdu};

/// Version and length are made right.
pub fn tdp_pdu(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    let Some(field) = whole.get_mut(..4) else { return };
    let len = u16::try_from(bytes.len() - 4).unwrap_or(u16::MAX);
    field[..2].copy_from_slice(&form::VERSION.to_be_bytes());
    field[2..].copy_from_slice(&len.to_be_bytes());
    let _ = (message_len(bytes), message_len(&whole));
    if let Ok(hello) = Hello::parse(&whole) {
        assert_eq!(Hello::parse(&hello.emit()), Ok(hello));
    }
    let Ok((id, all)) = parse(&whole) else { return };
    let once = pdu(id, &all);
    if once.len() <= usize::from(u16::MAX) {
        assert_eq!(parse(&once), Ok((id, all)));
    }
}

/// A Hello, and a PDU of each element.
pub fn seeds() -> impl Iterator<Item = Vec<u8>> {
    let router = Ipv4Addr::new(192, 0, 2, 1);
    let binding = Binding { label: base::Label::FIRST_UNRESERVED, prefix: base::plane::Prefix::host(router) };
    let elements = [
        Element::Open { hold_s: 180 },
        Element::Bind { request: 0, bindings: vec![binding, binding] },
        Element::Withdraw { bindings: vec![binding] },
        Element::KeepAlive,
        Element::Release { bindings: vec![binding] },
        Element::Address(vec![router, router]),
        Element::Unknown { kind: 77, value: vec![1, 2, 3] },
    ];
    let hello = Hello { id: (router, 0), number: 1, hold_s: 15, transport: router };
    let whole = pdu((router, 0), &elements);
    let each = elements.into_iter().map(move |element| pdu((router, 0), &[element]));
    each.chain([hello.emit(), whole])
}
