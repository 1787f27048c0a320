//! Writes a device's inputs down while it runs, and digests its outputs.

use super::file::Stream;
use super::{Input, Recording};
use crate::digest::{self, Digest};
use base::{Frame, NodeId, Output, PortId, Time};
use std::io::{self, Write};

/// Where the inputs of a device are written to as they come, in place of memory.
pub struct RecordTo {
    /// Its name, for errors.
    pub name: String,
    /// Where to. It should be buffered: there are many short writes, and a flush every second.
    pub out: Box<dyn Write + Send>,
    /// What is needed to make the device again; the file begins with it.
    pub subject: serde_json::Value,
}

enum Kept {
    Memory(Vec<(Time, Input)>),
    File(Box<Stream>),
}

/// Writes a device's inputs down while it runs, and digests its outputs.
pub struct Recorder {
    node: NodeId,
    kept: Kept,
    count: Count,
}

/// How far a recording has come: inputs, outputs, and the digest of the outputs.
#[derive(Default)]
pub(super) struct Count {
    pub(super) inputs: u64,
    pub(super) outputs: u64,
    pub(super) digest: Digest,
}

impl Recorder {
    /// Nothing yet, of `node`; kept in memory.
    pub fn new(node: NodeId) -> Recorder {
        Recorder { node, kept: Kept::Memory(Vec::new()), count: Count::default() }
    }
    /// Nothing yet, of `node`; written to a file.
    pub fn to(node: NodeId, to: RecordTo) -> io::Result<Recorder> {
        let stream = Box::new(Stream::begin(node, to)?);
        Ok(Recorder { node, kept: Kept::File(stream), count: Count::default() })
    }
    /// Records an input that the device is given at `at`.
    pub fn input(&mut self, at: Time, input: Input) {
        match &mut self.kept {
            Kept::Memory(inputs) => inputs.push((at, input)),
            Kept::File(stream) => stream.input(at, &input, &self.count),
        }
        self.count.inputs += 1;
    }
    /// Counts a frame that the device sends, and folds it into the digest.
    pub fn transmit(&mut self, at: Time, port: PortId, ready: Time, frame: &Frame) {
        let Count { outputs, digest, .. } = &mut self.count;
        *outputs += 1;
        digest.fold(at, u64::from(port.0));
        digest.fold(ready, digest::content(frame, frame.wire_len()));
    }
    /// Counts an output of the device, and folds it into the digest.
    pub fn output(&mut self, at: Time, output: &Output) {
        match output {
            Output::Transmit { port, frame, ready } => self.transmit(at, *port, *ready, frame),
            Output::Event(event) => {
                self.count.outputs += 1;
                let text = serde_json::to_vec(event).unwrap_or_default();
                self.count.digest.fold(at, digest::bytes(&text));
            }
            // Whose frames ended or were made tells the user something about the run; the device sends nothing by it.
            // Nor does it by asking, whose answer is an input.
            Output::Discard { .. } | Output::Copied { .. } | Output::AskQueue { .. } => {}
        }
    }
    /// How many outputs were counted.
    pub fn outputs(&self) -> u64 {
        self.count.outputs
    }
    /// The digest of all outputs so far, in hexadecimal.
    pub fn digest(&self) -> String {
        self.count.digest.finish().to_string()
    }
    /// Brings what is recorded so far into the file, if it goes to one; the error that ended it otherwise.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.kept {
            Kept::Memory(_) => Ok(()),
            Kept::File(stream) => stream.flush(&self.count),
        }
    }
    /// The recording; of one that went to a file, without the inputs. The file is complete.
    pub fn finish(mut self) -> io::Result<Recording> {
        self.flush()?;
        let inputs = match self.kept {
            Kept::Memory(inputs) => inputs,
            Kept::File(_) => Vec::new(),
        };
        let digest = self.count.digest.finish().to_string();
        Ok(Recording { node: self.node, inputs, outputs: self.count.outputs, digest, digested: None })
    }
}
