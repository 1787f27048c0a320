//! A frame as a recording keeps it: its header, and its body as it was held.

use base::frame::{HEADER_CAPACITY, HEADROOM, Offload, Segment};
use base::{Body, Frame, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A frame as it is kept: its header, and its body as it was held.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFrame {
    header: Vec<u8>,
    body: Body,
    notes: Notes,
}

/// What is known of a frame from outside beside its bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Notes {
    /// When the kernel received it, in picoseconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arrived: Option<u64>,
    /// Its [`Offload`]: needs a checksum, start, offset, kind of segment, size, length of header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undone: Option<(bool, u16, u8, u8, u16, u16)>,
}

/// Kinds of segment by their number in a recording.
const SEGMENTS: [Segment; 4] = [Segment::None, Segment::TcpV4, Segment::TcpV6, Segment::UdpL4];

impl Notes {
    fn of(frame: &Frame) -> Notes {
        let undone = frame.offload().map(|o| {
            let kind = SEGMENTS.iter().position(|&kind| kind == o.segment).unwrap_or(0);
            (o.needs_checksum, o.checksum_start, o.checksum_offset, kind as u8, o.segment_size, o.header_len)
        });
        Notes { arrived: frame.arrived().map(|at| at.0), undone }
    }
    fn are_none(&self) -> bool {
        *self == Notes::default()
    }
    fn put_on(self, frame: &mut Frame) {
        if let Some(at) = self.arrived {
            frame.set_arrived(Time(at));
        }
        let undone =
            self.undone.map(|(needs_checksum, start, offset, kind, segment_size, header_len)| Offload {
                needs_checksum,
                checksum_start: start,
                checksum_offset: offset,
                segment: SEGMENTS.get(usize::from(kind)).copied().unwrap_or_default(),
                segment_size,
                header_len,
            });
        if undone.is_some() {
            frame.set_offload(undone);
        }
    }
}

impl RecordedFrame {
    /// Copies the frame with all that was noted on it.
    pub fn new(frame: &Frame) -> RecordedFrame {
        RecordedFrame { header: frame.header().to_vec(), body: frame.body().clone(), notes: Notes::of(frame) }
    }
    /// The frame again, divided into header and body as it was.
    pub fn frame(&self) -> Frame {
        // A header that grew into the headroom grows again.
        let grown = self.header.len().saturating_sub(HEADER_CAPACITY - HEADROOM).min(HEADROOM);
        let mut frame = Frame::new(&self.header[grown..], self.body.clone());
        if frame.grow_front(grown) {
            frame.header_mut()[..grown].copy_from_slice(&self.header[..grown]);
        }
        self.notes.put_on(&mut frame);
        frame
    }
}

/// `["hexadecimal header"]`, `[header, start, len]` with a pattern, `[header, "hexadecimal bytes"]` with bytes; each
/// with an object of notes behind if there are any.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Compact {
    Pattern(String, u32, u32),
    Bytes(String, String),
    Header([String; 1]),
    NotedPattern(String, u32, u32, Notes),
    NotedBytes(String, String, Notes),
    NotedHeader(String, Notes),
}

impl Serialize for RecordedFrame {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let header = to_hex(&self.header);
        let (none, notes) = (self.notes.are_none(), self.notes);
        match &self.body {
            Body::Empty if none => Compact::Header([header]),
            Body::Empty => Compact::NotedHeader(header, notes),
            Body::Pattern { start, len } if none => Compact::Pattern(header, *start, *len),
            Body::Pattern { start, len } => Compact::NotedPattern(header, *start, *len, notes),
            body => {
                let bytes = to_hex(body.as_slice().unwrap_or_default());
                if none { Compact::Bytes(header, bytes) } else { Compact::NotedBytes(header, bytes, notes) }
            }
        }
        .serialize(s)
    }
}

impl<'de> Deserialize<'de> for RecordedFrame {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<RecordedFrame, D::Error> {
        let none = Notes::default();
        let pattern = |start, len| Some(Body::Pattern { start, len });
        let (header, body, notes) = match Compact::deserialize(d)? {
            Compact::Header([header]) => (header, Some(Body::Empty), none),
            Compact::NotedHeader(header, notes) => (header, Some(Body::Empty), notes),
            Compact::Pattern(header, start, len) => (header, pattern(start, len), none),
            Compact::NotedPattern(header, start, len, notes) => (header, pattern(start, len), notes),
            Compact::Bytes(header, bytes) => (header, from_hex(&bytes).map(Body::owned), none),
            Compact::NotedBytes(header, bytes, notes) => (header, from_hex(&bytes).map(Body::owned), notes),
        };
        let header = from_hex(&header).filter(|h| h.len() <= HEADER_CAPACITY);
        match (header, body) {
            (Some(header), Some(body)) => Ok(RecordedFrame { header, body, notes }),
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
        #![proptest_config(testing::cases(256))]
        #[test]
        fn frames_come_back_as_they_were(header in proptest::collection::vec(any::<u8>(), 0..88), body in proptest::collection::vec(any::<u8>(), 0..40), kind in 0u8..3, labels in 0usize..11, arrived in proptest::option::of(0u64..1 << 60), undone in proptest::option::of((any::<bool>(), 0u16..100, any::<u8>(), 0usize..4, any::<u16>(), 0u16..100))) {
            let body = match kind { 0 => Body::Empty, 1 => Body::Pattern { start: 7, len: 9 }, _ => Body::owned(body) };
            let mut frame = Frame::new(&header, body);
            for i in 0..labels {
                if frame.grow_front(4) { frame.header_mut()[..4].fill(i as u8); }
            }
            if let Some(at) = arrived { frame.set_arrived(Time(at)); }
            frame.set_offload(undone.map(|(needs_checksum, checksum_start, checksum_offset, kind, segment_size, header_len)| {
                Offload { needs_checksum, checksum_start, checksum_offset, segment: SEGMENTS[kind], segment_size, header_len }
            }));
            let recorded = RecordedFrame::new(&frame);
            let text = serde_json::to_string(&recorded).unwrap();
            let back: RecordedFrame = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&back, &recorded);
            let back = back.frame();
            prop_assert_eq!(back.header(), frame.header());
            prop_assert_eq!(back.body(), frame.body());
            prop_assert_eq!((back.arrived(), back.offload()), (frame.arrived(), frame.offload()));
        }
    }
}
