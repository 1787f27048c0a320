//! Addresses as messages have them: with a family, and an encoding that says what else is there (RFC 7761, 4.9.1).

use super::LAYER;
use crate::error::{Error, Reason, need};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Address families of IANA.
const IPV4: u8 = 1;
const IPV6: u8 = 2;

/// Reads the family and the encoding, which is the native one; returns bits of an address.
fn family(bytes: &[u8], at: &mut usize) -> Result<u8, Error> {
    need(LAYER, *at + 2, bytes.len())?;
    let bits = match bytes[*at] {
        IPV4 => 32,
        IPV6 => 128,
        other => {
            let found = other.into();
            let reason = Reason::OutOfRange { field: "Addr Family", found, min: 1, max: 2 };
            return Err(Error::new(LAYER, *at, reason));
        }
    };
    if bytes[*at + 1] != 0 {
        let found = bytes[*at + 1].into();
        let reason = Reason::Unexpected { field: "Encoding Type", found, expected: 0 };
        return Err(Error::new(LAYER, *at + 1, reason));
    }
    *at += 2;
    Ok(bits)
}

fn address(bytes: &[u8], at: &mut usize, bits: u8) -> Result<IpAddr, Error> {
    need(LAYER, *at + usize::from(bits / 8), bytes.len())?;
    let rest = &bytes[*at..];
    let v4 = rest.first_chunk::<4>().filter(|_| bits == 32).map(|octets| Ipv4Addr::from(*octets).into());
    let v6 = || rest.first_chunk::<16>().map(|octets| IpAddr::from(Ipv6Addr::from(*octets)));
    let found = v4.or_else(v6).ok_or(Error::truncated(LAYER, *at + usize::from(bits / 8), bytes.len()))?;
    *at += usize::from(bits / 8);
    Ok(found)
}

/// The mask of an address is all of it.
fn whole(at: usize, found: u8, bits: u8) -> Result<(), Error> {
    if found == bits {
        return Ok(());
    }
    let (found, expected) = (found.into(), bits.into());
    Err(Error::new(LAYER, at, Reason::Unexpected { field: "Mask Len", found, expected }))
}

/// An encoded unicast address; `at` moves behind it.
pub(super) fn unicast(bytes: &[u8], at: &mut usize) -> Result<IpAddr, Error> {
    let bits = family(bytes, at)?;
    address(bytes, at, bits)
}

/// An encoded group address of a single group (RFC 7761, 4.9.5.1). Its flags are of other uses of the format.
pub(super) fn group(bytes: &[u8], at: &mut usize) -> Result<IpAddr, Error> {
    let start = *at;
    let bits = family(bytes, at)?;
    need(LAYER, *at + 2, bytes.len())?;
    whole(*at + 1, bytes[*at + 1], bits)?;
    *at += 2;
    let group = address(bytes, at, bits)?;
    if !group.is_multicast() {
        return Err(Error::invalid(LAYER, start, "the address is no group"));
    }
    Ok(group)
}

/// An encoded source address, with its flags: sparse, wildcard, rendezvous point tree.
pub(super) fn source(bytes: &[u8], at: &mut usize) -> Result<(IpAddr, [bool; 3]), Error> {
    let bits = family(bytes, at)?;
    need(LAYER, *at + 2, bytes.len())?;
    let flags = [4, 2, 1].map(|bit| bytes[*at] & bit != 0);
    if flags[1] && !flags[2] {
        return Err(Error::invalid(LAYER, *at, "the WC bit is set and the RPT bit is not"));
    }
    whole(*at + 1, bytes[*at + 1], bits)?;
    *at += 2;
    Ok((address(bytes, at, bits)?, flags))
}

fn put_family(of: IpAddr, out: &mut Vec<u8>) {
    out.extend([if of.is_ipv4() { IPV4 } else { IPV6 }, 0]);
}

fn put_address(address: IpAddr, out: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => out.extend(address.octets()),
        IpAddr::V6(address) => out.extend(address.octets()),
    }
}

fn put_masked(address: IpAddr, flags: u8, out: &mut Vec<u8>) {
    put_family(address, out);
    out.extend([flags, if address.is_ipv4() { 32 } else { 128 }]);
    put_address(address, out);
}

pub(super) fn put_unicast(address: IpAddr, out: &mut Vec<u8>) {
    put_family(address, out);
    put_address(address, out);
}

pub(super) fn put_group(group: IpAddr, out: &mut Vec<u8>) {
    put_masked(group, 0, out);
}

pub(super) fn put_source(source: IpAddr, [sparse, wildcard, rpt]: [bool; 3], out: &mut Vec<u8>) {
    let flags = u8::from(sparse) << 2 | u8::from(wildcard) << 1 | u8::from(rpt);
    put_masked(source, flags, out);
}
