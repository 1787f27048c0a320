//! What users write of TDP at a router.

use super::{Config, Tdp};
use crate::protocol::{Agreement, Protocol, Setup};
use crate::services::distribution::LdpPrefixes;
use crate::services::{Attached, Beyond, Services};
use base::Span;
use base::describe::Section;
use std::sync::Arc;

base::record! {
    /// TDP, the tag-switching dialect that LDP came from: true, or how. It gives labels to the router's routes, as far
    /// as its bytes are known.
    #[derive(Clone, Debug, PartialEq)]
    pub struct TdpSpec called "Tdp" {
        /// From a Hello to the next.
        pub hello_interval: Span = Span::from_secs(5), in 100_000_000_000..=255_000_000_000_000;
        /// Which prefixes get a tag.
        pub prefixes: LdpPrefixes = LdpPrefixes::All;
    }
    read by switch;
}

impl TdpSpec {
    fn is_spoken(attached: &Attached) -> bool {
        // How tags were channels of ATM is not known.
        attached.cells.is_none() && matches!(attached.beyond, Beyond::Router | Beyond::Segment)
    }
}

impl Setup for TdpSpec {
    fn protocol(&self, services: &Services) -> Box<dyn Protocol> {
        let known = &services.interfaces;
        let is_spoken = |port| TdpSpec::is_spoken(&known.attached(port).cloned().unwrap_or_default());
        let config = Config {
            hello: self.hello_interval,
            prefixes: self.prefixes,
            ports: known.ports().map(|(port, _)| port).filter(|port| is_spoken(*port)).collect(),
        };
        Box::new(Tdp::new(known.router_id, config))
    }

    fn gives_labels(&self) -> bool {
        true
    }

    fn lacks_alone(&self) -> Option<&'static str> {
        Some("no tags are exchanged on the link")
    }

    fn agreements(&self, attached: &Attached, _: u32) -> Option<Vec<Agreement>> {
        TdpSpec::is_spoken(attached).then(Vec::new)
    }
}

impl Section<dyn Setup> for TdpSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
