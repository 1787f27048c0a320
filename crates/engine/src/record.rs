//! Record and replay: the inputs of a device as data, and a device fed with them again. Shared by both clocks.
//!
//! A device is a function of its inputs, so that a fresh one, made as the recorded one was, gives the same outputs at
//! the same times: [`replay`] returns them, and their digest equals the one that the [`Recording`] holds.

use crate::digest::{self, Digest};
use base::frame::{HEADER_CAPACITY, HEADROOM};
use base::{Body, Command, Device, Frame, NodeId, Output, PortId, Time, Verdict};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a device was given, and a digest of what it answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Which device it was.
    pub node: NodeId,
    /// Its inputs in order.
    pub inputs: Vec<(Time, Input)>,
    /// How many outputs it had.
    pub outputs: u64,
    /// Their digest, as 32 hexadecimal digits.
    pub digest: String,
}

/// An input of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// A frame arrived.
    Packet(PortId, RecordedFrame),
    /// Its timeout was due.
    Timeout,
    /// It was given a command.
    Command(Command),
    /// It was only asked for its outputs: at the beginning, or because the user had access to it. What the user
    /// changed is not recorded.
    Poll,
}

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

/// Writes a device's inputs down while it runs, and digests its outputs.
#[derive(Debug, Default)]
pub struct Recorder {
    recording: Recording,
    digest: Digest,
}

impl Recorder {
    /// Nothing yet, of `node`.
    pub fn new(node: NodeId) -> Recorder {
        Recorder { recording: Recording { node, ..Recording::default() }, digest: Digest::default() }
    }
    /// The device is given something.
    pub fn input(&mut self, at: Time, input: Input) {
        self.recording.inputs.push((at, input));
    }
    /// The device sends something.
    pub fn transmit(&mut self, at: Time, port: PortId, ready: Time, frame: &Frame) {
        self.recording.outputs += 1;
        self.digest.fold(at, u64::from(port.0));
        self.digest.fold(ready, digest::content(frame, frame.wire_len()));
    }
    /// The device has an output.
    pub fn output(&mut self, at: Time, output: &Output) {
        match output {
            Output::Transmit { port, frame, ready } => self.transmit(at, *port, *ready, frame),
            Output::Event(event) => {
                self.recording.outputs += 1;
                let text = serde_json::to_vec(event).unwrap_or_default();
                self.digest.fold(at, digest::bytes(&text));
            }
        }
    }
    /// The recording.
    pub fn finish(self) -> Recording {
        Recording { digest: self.digest.finish().to_string(), ..self.recording }
    }
}

/// What a device answered to a recording.
pub struct Replay {
    /// The device as it is afterwards.
    pub device: Box<dyn Device>,
    /// Its outputs with their times.
    pub outputs: Vec<(Time, Output)>,
    /// Their digest.
    pub digest: String,
}

/// Gives a device the inputs of a recording, as a runner would.
pub fn replay(mut device: Box<dyn Device>, recording: &Recording) -> Replay {
    let mut recorder = Recorder::new(recording.node);
    let mut outputs = Vec::new();
    for (at, input) in &recording.inputs {
        let at = *at;
        match input {
            Input::Packet(port, frame) => {
                let mut frame = frame.frame();
                let mut verdict = [Verdict::Punt];
                device.forward_batch(at, *port, core::slice::from_mut(&mut frame), &mut verdict);
                match verdict[0] {
                    Verdict::Transmit { port, ready } => {
                        recorder.transmit(at, port, ready, &frame);
                        outputs.push((at, Output::Transmit { port, frame, ready }));
                        continue;
                    }
                    Verdict::Drop(_) | Verdict::Consume => continue,
                    Verdict::Punt => device.handle_packet(at, *port, frame),
                }
            }
            Input::Timeout => device.handle_timeout(at),
            Input::Command(command) => device.handle_command(at, command.clone()),
            Input::Poll => {}
        }
        while let Some(output) = device.poll_output() {
            recorder.output(at, &output);
            outputs.push((at, output));
        }
        device.poll_timeout();
    }
    Replay { device, outputs, digest: recorder.finish().digest }
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
