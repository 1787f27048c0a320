//! What users write of greet at a router.

use crate::protocol::Setup;
use base::Span;
use base::describe::Section;
use std::sync::Arc;

base::record! {
    /// Greet, a made-up protocol: an example for developers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GreetSpec {
        /// Time between two Hellos.
        pub interval: Span = Span::from_secs(1), in 1_000_000_000..=10_000_000_000_000;
        /// So many Hellos may be lost before a neighbour is.
        pub missed: u8 = 2, in 0..=5;
    }
}

impl Section<dyn Setup> for GreetSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
