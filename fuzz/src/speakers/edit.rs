//! A change of one packet, after which its lengths and checksums are right again.

use core::net::Ipv4Addr;
use wire::checksum;

const ETHERNET: usize = 14;

/// A change of one packet.
#[derive(Debug)]
pub(super) struct Edit {
    /// So many packets pass before it.
    pub(super) skip: u8,
    kind: u8,
    at: usize,
    byte: u8,
}

impl Edit {
    /// Bytes of an input that say one.
    pub(super) const LEN: usize = 5;

    pub(super) fn read(bytes: &[u8]) -> Edit {
        Edit {
            skip: bytes[0] & 15,
            kind: bytes[1],
            at: usize::from(u16::from_be_bytes([bytes[2], bytes[3]])),
            byte: bytes[4],
        }
    }

    /// Changes the packet of IPv4 in a frame, below labels or not; false, and nothing has changed, if there is none.
    pub(super) fn make(&self, frame: &mut Vec<u8>) -> bool {
        let Some(ip) = packet(frame) else { return false };
        let total = usize::from(u16::from_be_bytes([frame[ip + 2], frame[ip + 3]]));
        frame.truncate(ip + total);
        let header = usize::from(frame[ip] & 15) * 4;
        if frame.len() < ip + header.max(20) {
            return false;
        }
        let start = ip + header + inner(frame[ip + 9], &frame[ip + header..]);
        if start >= frame.len() {
            return false;
        }
        let at = start + self.at % (frame.len() - start);
        match self.kind % 8 {
            0 => frame[at] = self.byte,
            1 => frame[at] ^= 1 << (self.byte & 7),
            2 => frame[at] = frame[at].wrapping_add(self.byte),
            3 if at + 1 < frame.len() => frame[at..at + 2].copy_from_slice(&[self.byte, !self.byte]),
            4 => frame.truncate(at.max(start + 1)),
            5 => {
                let end = (at + usize::from(self.byte)).min(frame.len());
                frame.drain(at..end);
            }
            6 => {
                let end = (at + usize::from(self.byte)).min(frame.len());
                let again = frame[at..end].to_vec();
                frame.splice(at..at, again);
            }
            _ => frame.extend(core::iter::repeat_n(self.byte, 4)),
        }
        frame.truncate(ip + 1500);
        right(&mut frame[ip..], header);
        true
    }
}

/// Where the packet of IPv4 begins in a frame, directly or below labels.
pub(super) fn packet(frame: &[u8]) -> Option<usize> {
    let mut at = ETHERNET;
    match frame.get(12..14)? {
        [0x08, 0x00] => {}
        [0x88, 0x47] => {
            // RFC 3032, 2.1: the last entry of the stack has this bit.
            while frame.get(at + 2)? & 1 == 0 {
                at += 4;
            }
            at += 4;
        }
        _ => return None,
    }
    let header = frame.get(at..at + 20)?;
    (header[0] >> 4 == 4).then_some(at)
}

/// Where the message of a protocol begins in the payload of a packet.
fn inner(protocol: u8, payload: &[u8]) -> usize {
    match protocol {
        6 => payload.get(12).map_or(0, |byte| usize::from(byte >> 4) * 4),
        17 => 8,
        _ => 0,
    }
}

/// Gives a packet the lengths and checksums that it should have, those of advertisements of OSPF too.
fn right(packet: &mut [u8], header: usize) {
    let (ip, payload) = packet.split_at_mut(header);
    let total = (header + payload.len()) as u16;
    ip[2..4].copy_from_slice(&total.to_be_bytes());
    ip[10..12].fill(0);
    let sum = !checksum::sum(ip);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
    let pseudo = checksum::pseudo_header(address(12), address(16), ip[9], payload.len() as u32);
    let length = (payload.len() as u16).to_be_bytes();
    let transport = |payload: &mut [u8], at: usize| {
        payload[at..at + 2].fill(0);
        let sum = !checksum::combine(&[pseudo, checksum::sum(payload)]);
        payload[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    };
    match ip[9] {
        6 if payload.len() >= 20 => transport(payload, 16),
        17 if payload.len() >= 8 => {
            payload[4..6].copy_from_slice(&length);
            transport(payload, 6);
        }
        46 => crate::right(payload),
        89 if payload.len() >= 24 => {
            payload[2..4].copy_from_slice(&length);
            if payload[1] == 4 {
                advertisements(&mut payload[24..]);
            }
            payload[12..14].fill(0);
            let sum = !checksum::combine(&[checksum::sum(&payload[..16]), checksum::sum(&payload[24..])]);
            payload[12..14].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {}
    }
}

/// Fletcher's checksum for each advertisement of an update (RFC 2328, 12.1.7).
fn advertisements(body: &mut [u8]) {
    let mut at = 4;
    while let Some(rest) = body.get_mut(at..).filter(|rest| rest.len() >= 20) {
        let length = usize::from(u16::from_be_bytes([rest[18], rest[19]]));
        if length < 20 || length > rest.len() {
            return;
        }
        let lsa = &mut rest[2..length];
        lsa[14..16].fill(0);
        let (mut c0, mut c1) = (0i64, 0i64);
        for byte in lsa.iter() {
            c0 = (c0 + i64::from(*byte)) % 255;
            c1 = (c1 + c0) % 255;
        }
        let x = ((lsa.len() as i64 - 15) * c0 - c1).rem_euclid(255);
        let y = (510 - c0 - x).rem_euclid(255);
        let nonzero = |sum: i64| if sum == 0 { 255 } else { sum as u8 };
        lsa[14..16].copy_from_slice(&[nonzero(x), nonzero(y)]);
        at += length;
    }
}
