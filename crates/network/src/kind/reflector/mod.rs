//! Reflector, a made-up kind of node: an example for developers of what a new kind takes.

mod device;

pub use device::Reflector;

use super::{Facts, Node, NodeKind};
use crate::Network;
use crate::spec::labels::Labels;
use base::describe::{Describe, Value};
use base::device::DropCounters;
use base::{Device, NodeId, Span};
use engine::World;

/// A plug at the end of one link.
pub const REFLECTOR: NodeKind = NodeKind::of::<ReflectorSpec>(
    "reflector",
    "A made-up plug that sends frames back to where they come from: an example for developers.",
);

base::record! {
    /// A plug at the end of one link: every frame to one station goes back, with its Ethernet addresses exchanged.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ReflectorSpec {
        /// How long it keeps a frame.
        pub hold: Span = Span::ZERO, in 0..=1_000_000_000_000;
        /// For people and other tools; not used.
        pub labels: Labels = Labels::default();
    }
}

impl Node for ReflectorSpec {
    fn described(&self) -> Value {
        self.write()
    }

    fn facts(&self) -> Facts {
        Facts { links_min: 1, links_max: Some(1), ..Facts::of("a reflector") }
    }

    fn device(&self, _: &Network, _: usize) -> Box<dyn Device> {
        Box::new(Reflector::new(self.hold))
    }

    fn drops(&self, world: &World, id: NodeId) -> Option<DropCounters> {
        world.device::<Reflector>(id).map(|reflector| reflector.drops().clone())
    }
}
