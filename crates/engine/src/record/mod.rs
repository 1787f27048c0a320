//! Record and replay: the inputs of a device as data, and a device fed with them again. Shared by both clocks.
//!
//! A device is a function of its inputs, so that a fresh one, made as the recorded one was, gives the same outputs at
//! the same times: [`replay`] returns them, and says whether their digest is the one that the [`Recording`] holds.
//!
//! - [`frame`]: a frame as it is kept
//! - [`recorder`]: writes inputs down while a device runs, in memory or to a file
//! - [`mod@file`]: that file, line by line, read back even where the process that wrote it was killed

pub mod file;
pub mod frame;
pub mod recorder;

pub use file::{RecordingError, read};
pub use frame::RecordedFrame;
pub use recorder::{RecordTo, Recorder};

use base::{Command, Device, NodeId, Output, PortId, Time, Verdict};
use serde::{Deserialize, Serialize};

/// What a device was given, and a digest of what it answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Number of the device in the run that was recorded.
    pub node: NodeId,
    /// Its inputs with their times, in the order in which it got them.
    pub inputs: Vec<(Time, Input)>,
    /// How many outputs it had; they are kept as a digest only.
    pub outputs: u64,
    /// Their digest, as 32 hexadecimal digits.
    pub digest: String,
    /// After how many inputs that was, if not after all of them: the recorded process was killed in mid-run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digested: Option<u64>,
}

/// An input of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Input {
    /// A frame arrived at this port.
    Packet(PortId, RecordedFrame),
    /// Its timeout was due.
    Timeout,
    /// It was given a command.
    Command(Command),
    /// It was only asked for its outputs: at the beginning, or because the user had access to it. What the user
    /// changed is not recorded.
    Poll,
}

/// What a device answered to a recording.
pub struct Replay {
    /// The device as it is afterwards.
    pub device: Box<dyn Device>,
    /// Its outputs with their times, in order.
    pub outputs: Vec<(Time, Output)>,
    /// Digest of the outputs, as 32 hexadecimal digits.
    pub digest: String,
    /// Are outputs and digest the recorded ones, as far as those go?
    pub same: bool,
}

/// Gives a device the inputs of a recording, as a runner would.
pub fn replay(mut device: Box<dyn Device>, recording: &Recording) -> Replay {
    let mut recorder = Recorder::new(recording.node);
    let mut outputs = Vec::new();
    let mut same = None;
    let is_same = |recorder: &Recorder| {
        recorder.outputs() == recording.outputs && recorder.digest() == recording.digest
    };
    for (index, (at, input)) in recording.inputs.iter().enumerate() {
        if recording.digested == Some(index as u64) {
            same = Some(is_same(&recorder));
        }
        give(&mut *device, *at, input, &mut recorder, &mut outputs);
    }
    let same = same.unwrap_or_else(|| is_same(&recorder));
    Replay { device, outputs, digest: recorder.digest(), same }
}

fn give(
    device: &mut dyn Device,
    at: Time,
    input: &Input,
    recorder: &mut Recorder,
    outputs: &mut Vec<(Time, Output)>,
) {
    match input {
        Input::Packet(port, frame) => {
            let mut frame = frame.frame();
            let mut verdict = [Verdict::Punt];
            device.forward_batch(at, *port, core::slice::from_mut(&mut frame), &mut verdict);
            match verdict[0] {
                Verdict::Transmit { port, ready } => {
                    recorder.transmit(at, port, ready, &frame);
                    outputs.push((at, Output::Transmit { port, frame, ready }));
                    return;
                }
                Verdict::Drop(_) | Verdict::Consume => return,
                Verdict::Punt | Verdict::Replicate => device.handle_packet(at, *port, frame),
            }
        }
        Input::Timeout => device.handle_timeout(at),
        Input::Command(command) => device.handle_command(at, command.clone()),
        Input::Poll => {}
    }
    while let Some(output) = device.poll_output() {
        recorder.output(at, &output);
        if matches!(output, Output::Transmit { .. } | Output::Event(_)) {
            outputs.push((at, output));
        }
    }
    device.poll_timeout();
}
