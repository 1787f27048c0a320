//! UPDATEs for many destinations that have the same attributes: as few messages as there can be.

use super::attributes::attribute::{EXTENDED_LENGTH, MP_REACH_NLRI, MP_UNREACH_NLRI, OPTIONAL};
use super::{Family, HEADER_LEN, MAX_LEN, NextHop, Nlri, kind};

/// Bytes of an attribute of another family in front of its next hop or destinations: flags, type, a length of two
/// bytes, the family.
const MP_LEN: usize = 4 + 3;
/// Bytes of lengths and of a next hop, at most.
const AROUND: usize = 4 + MP_LEN + 34;

/// UPDATEs that destinations can be reached. `attributes` are as [`super::Attributes::pack`] writes them, or as the
/// neighbour reads them; destinations that don't stand beside NEXT_HOP have their own next hop. There are none if there
/// is no room for a single destination.
pub fn reached<T: AsRef<Nlri>>(
    family: Family,
    next_hop: Option<NextHop>,
    attributes: &[u8],
    all: &[T],
) -> impl Iterator<Item = Vec<u8>> {
    let mut left = all;
    core::iter::from_fn(move || {
        let mut to = header(attributes.len() + left.len() * left.first()?.as_ref().buffer_len(family));
        // No destination is withdrawn.
        to.extend([0, 0]);
        match next_hop {
            None => {
                to.extend(u16::try_from(attributes.len()).unwrap_or(u16::MAX).to_be_bytes());
                to.extend(attributes);
                left = fill(&mut to, left, family, 0);
            }
            Some(next_hop) => {
                to.extend([0, 0]);
                let begin = to.len();
                open(&mut to, MP_REACH_NLRI, family);
                next_hop.emit(&mut to);
                to.push(0);
                left = fill(&mut to, left, family, attributes.len());
                close(&mut to, begin);
                to.extend(attributes);
                let len = (to.len() - begin) as u16;
                to[begin - 2..begin].copy_from_slice(&len.to_be_bytes());
            }
        }
        // If one destination alone has no room there is no way to tell it, nor those behind it.
        finished(to)
    })
}

/// UPDATEs that destinations can't be reached any more; without any it is the end of all routes (RFC 4724, 2).
pub fn withdrawn(family: Family, all: &[Nlri]) -> Vec<Vec<u8>> {
    let mut updates = Vec::new();
    let mut left = all;
    loop {
        let mut to = header(left.len() * left.first().map_or(0, |first| first.buffer_len(family)));
        to.extend([0, 0]);
        let begin = to.len();
        if family == Family::Ipv4 {
            left = fill(&mut to, left, family, 2);
            let len = (to.len() - begin) as u16;
            to[begin - 2..begin].copy_from_slice(&len.to_be_bytes());
            to.extend([0, 0]);
        } else {
            to.extend([0, 0]);
            let begin = to.len();
            open(&mut to, MP_UNREACH_NLRI, family);
            left = fill(&mut to, left, family, 0);
            close(&mut to, begin);
            let len = (to.len() - begin) as u16;
            to[begin - 2..begin].copy_from_slice(&len.to_be_bytes());
        }
        updates.extend(finished(to));
        if left.is_empty() {
            return updates;
        }
    }
}

/// The first bytes of an UPDATE, with memory for about so many of attributes and destinations behind them.
fn header(more: usize) -> Vec<u8> {
    let mut to = Vec::with_capacity((HEADER_LEN + AROUND + more).min(MAX_LEN));
    to.extend([0xff; 16]);
    to.extend([0, 0, kind::UPDATE]);
    to
}

/// The message with its length; nothing if it is too long.
fn finished(mut to: Vec<u8>) -> Option<Vec<u8>> {
    let len = u16::try_from(to.len()).ok().filter(|len| usize::from(*len) <= MAX_LEN)?;
    to[16..18].copy_from_slice(&len.to_be_bytes());
    Some(to)
}

/// The first bytes of an attribute of a family, with room for a length of two bytes.
fn open(to: &mut Vec<u8>, kind: u8, family: Family) {
    let (afi, safi) = family.numbers();
    let [a, b] = afi.to_be_bytes();
    to.extend([OPTIONAL | EXTENDED_LENGTH, kind, 0, 0, a, b, safi]);
}

/// Writes the length of the attribute that began there; a short one has one byte.
fn close(to: &mut Vec<u8>, begin: usize) {
    let len = to.len() - begin - 4;
    debug_assert!(len + 4 >= MP_LEN);
    match u8::try_from(len) {
        Ok(len) => {
            to[begin] = OPTIONAL;
            to[begin + 2] = len;
            to.remove(begin + 3);
        }
        Err(_) => to[begin + 2..begin + 4].copy_from_slice(&(len as u16).to_be_bytes()),
    }
}

/// Writes as many destinations as there is room for if so many bytes follow, but at least one.
fn fill<'a, T: AsRef<Nlri>>(to: &mut Vec<u8>, all: &'a [T], family: Family, behind: usize) -> &'a [T] {
    let mut left = all;
    while let Some((first, rest)) = left.split_first() {
        let nlri = first.as_ref();
        let is_first = left.len() == all.len();
        if !is_first && to.len() + nlri.buffer_len(family) + behind > MAX_LEN {
            break;
        }
        nlri.emit(to, family);
        left = rest;
    }
    left
}
