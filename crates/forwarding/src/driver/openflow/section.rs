//! What users write of the driver at a router.

use super::super::{Driver, Setup, Timing};
use super::OpenFlow;
use base::Span;
use base::describe::Section;
use std::sync::Arc;

base::record! {
    /// The forwarding plane of a router is an OpenFlow 1.3 switch elsewhere. Its port 1 is the router's first link, and
    /// so on. What it can do is that of Open vSwitch unless it is said.
    #[derive(Clone, Debug, PartialEq)]
    pub struct OpenFlowSpec {
        /// The TCP port at which the router waits for the switch, in its own namespace.
        pub listen: u16 = 6653, in 1..=65_535;
        /// The most labels of a stack that it makes.
        pub labels: u8 = 3, in 1..=4;
        /// Can it copy a time to live from one header to another? Without, uniform LSPs end at no router before the
        /// last.
        pub copies_ttl: bool = false;
        /// Packets a second that it hands to the router for want of an entry, at most.
        pub punts: u32 = 1_000, in 1..=1_000_000;
        /// The same of ARP and of packets that protocols and the router's own addresses get.
        pub protocols: u32 = 10_000, in 1..=1_000_000;
        /// After how long it asks a silent switch whether it is there; the connection is closed after as long again.
        /// Zero for never.
        pub probe: Span = Span::from_secs(5), in 0..=0x7fff_ffff_ffff_ffff;
    }
}

impl Section<dyn Setup> for OpenFlowSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}

impl Setup for OpenFlowSpec {
    fn driver(&self, _: Timing) -> Box<dyn Driver> {
        Box::new(OpenFlow::new(self.clone()))
    }

    fn listens(&self) -> Option<u16> {
        Some(self.listen)
    }
}
