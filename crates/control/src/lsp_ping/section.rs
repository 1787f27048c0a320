//! What users write of LSP ping at a router.

use super::{Config, LspPing};
use crate::protocol::{Protocol, Setup};
use crate::services::Services;
use base::describe::Section;
use base::plane::IpPrefix;
use std::sync::Arc;

base::record! {
    /// LSP ping (RFC 8029): true, or how requests of others are answered.
    #[derive(Clone, Debug, PartialEq)]
    pub struct LspPingSpec called "LspPing" {
        /// Are requests of others answered?
        pub respond: bool = true;
        /// Check on the way, too, whether a label stands for the FEC of a request. At the end it is checked in any
        /// case, and on the way where the request asks for it, as those of 'lsp_traceroute' do.
        pub validate: bool = false;
        /// Requests each second that are answered, and at once.
        pub rate: u32 = 200, in 1..=1_000_000;
        /// Prefixes, of IPv4 and IPv6, whose requests are answered.
        pub sources: Vec<IpPrefix> = Vec::new(), absent "all";
    }
    read by switch;
}

impl Setup for LspPingSpec {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        Box::new(LspPing::new(Config {
            responds: self.respond,
            validates: self.validate,
            rate: self.rate,
            sources: self.sources.clone(),
        }))
    }
}

impl Section<dyn Setup> for LspPingSpec {
    fn setup(&self) -> Arc<dyn Setup> {
        Arc::new(self.clone())
    }
}
