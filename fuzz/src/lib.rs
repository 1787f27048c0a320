//! What each fuzz target checks. Every function takes any bytes; a panic is a finding.

mod formats;
mod ipv6;
mod live;
mod speakers;
mod switch;
mod tdp;

use engine::CaptureReader;
use wire::checksum;
use wire::rsvp::Packet;
use wire::tree;

pub use formats::{COUNT as FORMATS, formats, openflow_messages, seeds};
pub use ipv6::ipv6;
pub use live::{router, wrap};
pub use speakers::speakers;
pub use switch::switch;

/// A frame to a tree and back: the same bytes, whatever they were.
pub fn tree(frame: &[u8]) {
    let decoded = tree::decode(frame);
    let _ = tree::summary(&decoded);
    match tree::encode(&decoded) {
        Ok(bytes) => assert!(bytes == frame, "{decoded:?}"),
        Err(error) => panic!("{error}: {decoded:?}"),
    }
    // Through JSON, as users have it.
    let text = serde_json::to_string(&decoded).expect("a tree is JSON");
    let again: tree::Tree = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(tree::encode(&again).is_ok_and(|bytes| bytes == frame), "{text}");
}

/// RSVP messages: what is read is written, and read again it says the same. The checksum is made right first.
pub fn rsvp(message: &[u8]) {
    let mut bytes = message.to_vec();
    right(&mut bytes);
    let Ok(packet) = Packet::parse(&bytes) else { return };
    let mut once = Vec::new();
    if packet.emit(&mut once).is_err() {
        return;
    }
    let again = Packet::parse(&once).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
    let mut twice = Vec::new();
    again.emit(&mut twice).unwrap_or_else(|error| panic!("{error}: {again:?}"));
    assert!(once == twice, "{packet:?} became {again:?}");
}

/// Capture files: packets up to the first thing that can't be read, and no more bytes than there are.
pub fn capture(file: &[u8]) {
    let Ok(reader) = CaptureReader::new(file) else { return };
    let mut bytes = 0;
    for packet in reader.map_while(Result::ok) {
        bytes += packet.bytes.len();
    }
    assert!(bytes <= file.len());
}

/// Gives an RSVP message the length that it has and the checksum that it should have.
fn right(message: &mut [u8]) {
    if message.len() < 8 {
        return;
    }
    let length = message.len().min(usize::from(u16::MAX)) as u16;
    message[6..8].copy_from_slice(&length.to_be_bytes());
    message[2..4].fill(0);
    let sum = !checksum::sum(&message[..usize::from(length)]);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
}
