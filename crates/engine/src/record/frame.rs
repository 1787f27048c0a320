//! A frame as a recording keeps it: its header, and its body as it was held.

use base::frame::{HEADER_CAPACITY, HEADROOM};
use base::{Body, Frame};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A frame as it is kept: its header, and its body as it was held.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFrame {
    header: Vec<u8>,
    body: Body,
}

impl RecordedFrame {
    /// Keeps a frame.
    pub fn new(frame: &Frame) -> RecordedFrame {
        RecordedFrame { header: frame.header().to_vec(), body: frame.body().clone() }
    }
    /// The frame again, divided into header and body as it was.
    pub fn frame(&self) -> Frame {
        // A header that grew into the headroom grows again.
        let grown = self.header.len().saturating_sub(HEADER_CAPACITY - HEADROOM).min(HEADROOM);
        let mut frame = Frame::new(&self.header[grown..], self.body.clone());
        if frame.grow_front(grown) {
            frame.header_mut()[..grown].copy_from_slice(&self.header[..grown]);
        }
        frame
    }
}

/// `["hexadecimal header"]`, `[header, start, len]` with a pattern, `[header, "hexadecimal bytes"]` with bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Compact {
    Pattern(String, u32, u32),
    Bytes(String, String),
    Header([String; 1]),
}

impl Serialize for RecordedFrame {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let header = to_hex(&self.header);
        match &self.body {
            Body::Empty => Compact::Header([header]),
            Body::Pattern { start, len } => Compact::Pattern(header, *start, *len),
            body => Compact::Bytes(header, to_hex(body.as_slice().unwrap_or_default())),
        }
        .serialize(s)
    }
}

impl<'de> Deserialize<'de> for RecordedFrame {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RecordedFrame, D::Error> {
        let (header, body) = match Compact::deserialize(d)? {
            Compact::Header([header]) => (header, Some(Body::Empty)),
            Compact::Pattern(header, start, len) => (header, Some(Body::Pattern { start, len })),
            Compact::Bytes(header, bytes) => (header, from_hex(&bytes).map(Body::owned)),
        };
        let header = from_hex(&header).filter(|h| h.len() <= HEADER_CAPACITY);
        match (header, body) {
            (Some(header), Some(body)) => Ok(RecordedFrame { header, body }),
            _ => Err(serde::de::Error::custom(
                "a recorded frame is not in hexadecimal digits, or its header too long",
            )),
        }
    }
}

fn to_hex(bytes: &[u8]) -> String {
    let digit = |d: u8| char::from(b"0123456789abcdef"[usize::from(d)]);
    bytes.iter().flat_map(|&b| [digit(b >> 4), digit(b & 15)]).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |d: u8| char::from(d).to_digit(16);
    let bytes = pairs.iter().map(|&[a, b]| Some((digit(a)? << 4 | digit(b)?) as u8));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_come_back_as_they_were(header in proptest::collection::vec(any::<u8>(), 0..88), body in proptest::collection::vec(any::<u8>(), 0..40), kind in 0u8..3, labels in 0usize..11) {
            let body = match kind { 0 => Body::Empty, 1 => Body::Pattern { start: 7, len: 9 }, _ => Body::owned(body) };
            let mut frame = Frame::new(&header, body);
            for i in 0..labels {
                if frame.grow_front(4) { frame.header_mut()[..4].fill(i as u8); }
            }
            let recorded = RecordedFrame::new(&frame);
            let text = serde_json::to_string(&recorded).unwrap();
            let back: RecordedFrame = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &recorded);
            let back = back.frame();
            prop_assert_eq!(back.header(), frame.header());
            prop_assert_eq!(back.body(), frame.body());
        }
    }
}
