//! Recording what a router is given, and giving it to a fresh one.

use super::Network;
use super::description::NodeKind;
use super::error::{NetworkError, input};
use base::{NodeId, Time};
use engine::{Recording, Replay};

impl Network {
    /// Begins to record the inputs of a router. The network must not have run yet: a replay begins at the beginning.
    pub fn record(&mut self, node: usize) -> Result<(), NetworkError> {
        self.check_recorded(node)?;
        if self.world.now() > Time::ZERO {
            return input("a recording begins before the network first runs");
        }
        Ok(self.world.record(NodeId(node as u32))?)
    }

    /// Ends the recording of a router and returns it.
    pub fn take_recording(&mut self, node: usize) -> Result<Recording, NetworkError> {
        self.check_recorded(node)?;
        match self.world.take_recording(NodeId(node as u32))? {
            Some(recording) => Ok(recording),
            None => input(format!("router '{}' is not being recorded", self.description.nodes[node].name)),
        }
    }

    /// Gives a router, as it was built, what the recorded one was given.
    pub fn replay(&self, recording: &Recording) -> Result<Replay, NetworkError> {
        let node = recording.node.index();
        self.check_recorded(node)?;
        Ok(engine::replay(Box::new(self.fresh_router(node)), recording))
    }

    fn check_recorded(&self, node: usize) -> Result<(), NetworkError> {
        match self.description.nodes.get(node) {
            Some(spec) if spec.kind == NodeKind::Router => Ok(()),
            Some(spec) => input(format!("'{}' is no router: only routers are recorded", spec.name)),
            None => input(format!("node {node}: there are {}", self.description.nodes.len())),
        }
    }
}
