//! What users write of the driver at a router.

use super::super::{Config, Driver, Setup, Timing};
use super::Staged;
use base::Span;
use base::describe::{Describe, DescribeProblem, Section};
use base::diagnostic::{At, Diagnostic};
use std::sync::Arc;

base::record! {
    /// Staged, a made-up driver: an example for developers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StagedSpec {
        /// Time between two commits.
        pub interval: Span = Span::from_ms(10), in 1_000_000..=10_000_000_000_000;
        /// Operations that can wait for a commit; it comes at once when there are so many.
        pub room: u32 = 1_000, in 1..=1_000_000;
        /// The most entries of each table, ports and neighbours apart.
        pub entries: Option<u32>, absent "as the device profile says";
        /// Share of the commits that fail, 0 to 1.
        pub failures: f64 = 0.0;
        /// So often a commit is tried; if the last one fails, too, what it was to put into tables is refused.
        pub tries: u8 = 3, in 1..=100;
    }
    check StagedSpec::check;
}

impl StagedSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if (0.0..=1.0).contains(&self.failures) {
            return Ok(());
        }
        let (value, least, most) = (self.failures.write().shown(), "0".into(), "1".into());
        Err(DescribeProblem::OutOfRange { value, least, most }.into()).at("failures")
    }
}

impl Section<dyn Setup> for StagedSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for StagedSpec {
    fn config(&self, config: Config) -> Config {
        let most = self.entries.map_or(usize::MAX, |entries| entries as usize);
        Config {
            ilm_max: config.ilm_max.min(most),
            fib_max: config.fib_max.min(most),
            filters_max: config.filters_max.min(most),
            groups_max: config.groups_max.min(most),
            lists_max: config.lists_max.min(most),
            multicast_max: config.multicast_max.min(most),
            ..config
        }
    }

    fn driver(&self, timing: Timing) -> Box<dyn Driver> {
        Box::new(Staged::new(self.clone(), timing))
    }
}
