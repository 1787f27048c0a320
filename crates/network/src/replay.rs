//! Recording what a router is given, and giving it to a fresh one.

use super::error::NetworkError;
use super::kind::NodeKind;
use super::problem::RunProblem;
use super::spec::ReadNetwork;
use super::{Build, Network, Placement};
use base::describe::Value;
use base::diagnostic::Diagnostic;
use base::{NodeId, Output, Time};
use core::any::Any;
use engine::{EventRecord, Recording, Replay};
use node::Router;
use serde::Deserialize;
use std::io::BufRead;

/// What a router answered to a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplaySummary {
    /// The router, by its place among the nodes.
    pub node: usize,
    /// What it was given.
    pub inputs: u64,
    /// Frames and events.
    pub outputs: u64,
    /// Of all outputs with their times.
    pub digest: String,
    /// Are they those of the recorded router, as far as that wrote down what they were?
    pub same: bool,
    /// Did the recorded process end its recording itself? Of one that was killed, the last second has no digest.
    pub whole: bool,
}

/// What the file of a recording says beside the inputs: what is needed to make the router again.
#[derive(Deserialize)]
struct Subject {
    description: Value,
    placement: Option<Placement>,
}

/// The file of a recording, read: a network with a router in it, and what the router was given.
#[derive(Debug)]
pub struct Recorded {
    /// The network, as users write it, with the facts of nodes of kinds that the recorded process did not have.
    pub description: Value,
    /// Where it ran.
    pub placement: Option<Placement>,
    /// What the router was given.
    pub recording: Recording,
}

impl Recorded {
    /// Reads the file of a recording.
    pub fn read(file: impl BufRead) -> Result<Recorded, NetworkError> {
        let (subject, recording) = match engine::record::read(file) {
            Ok(read) => read,
            Err(error) => {
                let found = RunProblem::RecordingFile { error: error.to_string() };
                return Err(Diagnostic::new(found).into());
            }
        };
        match Subject::deserialize(subject) {
            Ok(Subject { description, placement }) => Ok(Recorded { description, placement, recording }),
            Err(error) => {
                Err(Diagnostic::new(RunProblem::RecordingNetwork { error: error.to_string() }).into())
            }
        }
    }
}

impl Network {
    /// Begins to record the inputs of a router. The network must not have run yet: a replay begins at the beginning.
    pub fn record(&mut self, node: usize) -> Result<(), NetworkError> {
        self.check_recorded(node)?;
        if self.world.now() > Time::ZERO {
            return Err(Diagnostic::new(RunProblem::RecordingLate {}).into());
        }
        Ok(self.world.record(NodeId(node as u32))?)
    }

    /// Ends the recording of a router and returns it.
    pub fn take_recording(&mut self, node: usize) -> Result<Recording, NetworkError> {
        self.check_recorded(node)?;
        match self.world.take_recording(NodeId(node as u32))? {
            Some(recording) => Ok(recording),
            None => {
                Err(Diagnostic::new(RunProblem::NotRecorded { node: self.node_name(node).into() }).into())
            }
        }
    }

    /// Gives a router, as it was built, what the recorded one was given.
    pub fn replay(&self, recording: &Recording) -> Result<Replay, NetworkError> {
        let node = recording.node.index();
        self.check_recorded(node)?;
        Ok(engine::replay(Box::new(self.fresh_router(node)), recording))
    }

    /// The network of a recording's file, with the router in the state that it had at the end, whose tables can be
    /// looked at. It has no interfaces, and nothing runs.
    pub fn replayed(
        file: impl BufRead,
        kinds: &[NodeKind],
    ) -> Result<(Network, ReplaySummary), NetworkError> {
        let Recorded { description, placement, recording } = Recorded::read(file)?;
        let build = Build { placement: placement.as_ref(), ..Build::default() };
        let read = ReadNetwork::read_part(&description, kinds)?;
        let mut network = Network::build(&read, kinds, build)?;
        let summary = network.bring_up(&recording)?;
        Ok((network, summary))
    }

    /// Brings a router of a network that has not run to the state that the recorded one had at the end.
    pub fn bring_up(&mut self, recording: &Recording) -> Result<ReplaySummary, NetworkError> {
        let Replay { device, outputs, digest, same } = self.replay(recording)?;
        let node = recording.node.index();
        let summary = ReplaySummary {
            node,
            inputs: recording.inputs.len() as u64,
            outputs: outputs.len() as u64,
            digest,
            same,
            whole: recording.digested.is_none(),
        };
        let device: Box<dyn Any> = device;
        if let (Ok(router), Some(place)) =
            (device.downcast::<Router>(), self.world.device_mut::<Router>(recording.node))
        {
            *place = *router;
        }
        let events = outputs.into_iter().filter_map(|(at, output)| match output {
            Output::Event(event) => Some(EventRecord { at, node: recording.node, event }),
            Output::Transmit { .. }
            | Output::Discard { .. }
            | Output::Copied { .. }
            | Output::AskQueue { .. } => None,
        });
        self.events = events.collect();
        Ok(summary)
    }

    fn check_recorded(&self, node: usize) -> Result<(), Diagnostic> {
        match self.description.nodes.get(node) {
            Some(spec) if spec.facts().is_own_transit() => Ok(()),
            Some(spec) => Err(RunProblem::NoRecording { node: spec.name.clone() }.into()),
            None => Err(RunProblem::NoNode { node, count: self.description.nodes.len() }.into()),
        }
    }
}
