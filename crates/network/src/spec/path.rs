//! What users ask of the paths that head ends compute.

use super::lsp::lowered_route;
use super::reference::HopSpec;
use crate::description;
use base::Span;
use control::services::te::{Affinities, Metric};

base::record! {
    /// What is asked of the path of an LSP that its head end computes, beside bandwidth and priority.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct PathSpec {
        /// The cost that paths are compared by: `te` (RFC 3630, 2.5.5) or `igp`.
        pub metric: Metric = Metric::Te;
        /// Most links on the path.
        pub hop_limit: Option<u32>, in 1..=255, absent "without limit";
        /// Links of any of these groups are not used, a bit for each as in `te_groups` (RFC 3209, 4.7.4).
        pub exclude_any: u32 = 0;
        /// Only links of at least one of these groups are used.
        pub include_any: u32 = 0;
        /// Only links of all of these groups are used.
        pub include_all: u32 = 0;
        /// Links of these shared risk link groups are not used.
        pub exclude_srlgs: Vec<u32> = Vec::new();
        /// Routers that it does not touch, and NODE:INTERFACE for links that it does not take.
        pub exclude: Vec<HopSpec> = Vec::new();
        /// How often a better path is looked for.
        pub reoptimise: Option<Span>, in 1..=9_000_000_000_000_000_000, absent "by command and after failures only";
        /// Look for a better path a second after something else is known of links, too.
        pub follow: bool = false;
    }
}

impl PathSpec {
    /// The same as it is built; its names lead somewhere.
    pub fn lowered(&self) -> description::PathSpec {
        let &PathSpec { exclude_any, include_any, include_all, .. } = self;
        description::PathSpec {
            metric: self.metric,
            affinities: Affinities { exclude_any, include_any, include_all },
            hop_limit: self.hop_limit,
            exclude_srlgs: self.exclude_srlgs.clone(),
            exclude: lowered_route(&self.exclude),
            reoptimise: self.reoptimise,
            follow: self.follow,
        }
    }
}
