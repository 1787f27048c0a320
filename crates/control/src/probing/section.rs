//! What users write of link probing at a router.

use super::Probing;
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use base::describe::Section;
use base::{Rate, Span};
use std::sync::Arc;

/// Ethernet, IPv4 and UDP around a probe, with frame check sequence, preamble and gap, in bytes.
const AROUND: i64 = 14 + 20 + 8 + 4 + 20;
/// The shortest frame with preamble and gap.
const LEAST: i64 = 84;

base::record! {
    /// Probes on the links to other routers, by which failures and repairs are noticed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ProbingSpec called "Probing" {
        /// Time between two probes.
        pub period: Span = Span::from_ms(10), in 10_000_000..=60_000_000_000_000;
        /// So many probes in a row are missed before the link is taken to be down.
        pub misses: u8 = 3, in 1..=100;
        /// Bytes of a probe behind its UDP header.
        pub size: u16 = 18, in 12..=1472;
    }
    read by switch;
}

impl ProbingSpec {
    /// What the probes take of a link in one direction, in bits a second.
    pub fn load(&self) -> Rate {
        let bits = (i64::from(self.size) + AROUND).max(LEAST) * 8;
        Rate((bits as f64 / self.period.as_secs_f64()) as u64)
    }
}

impl Section<dyn Setup> for ProbingSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for ProbingSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        Box::new(Probing::new(self.clone(), services))
    }

    fn load(&self) -> Option<Rate> {
        Some(ProbingSpec::load(self))
    }
}
