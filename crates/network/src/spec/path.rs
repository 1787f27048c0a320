//! What users ask of the paths that head ends compute.

use super::lsp::lowered_route;
use super::reference::HopSpec;
use crate::description;
use base::Span;
use control::services::te::{Affinities, Disjoint, Metric};

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
        /// How many paths the head end looks for at once, the best first: when one is refused, fails, or gets no
        /// answer, the next of them is tried. With 1 it looks for the best path again after each failure whose place is
        /// known.
        pub k: u32 = 1, in 1..=64;
        /// Keep an LSP set up beside the other, along a path that has no `link`, no `node` (a router between the ends)
        /// or no `srlg` (shared risk) in common with it, and no link in any case. It takes over when the other fails.
        pub standby: Option<Disjoint>, absent "none stands by";
    }
}

impl PathSpec {
    /// The fields, if said, that mean something where the head end computes the whole path of one LSP.
    pub fn of_several(&self) -> Option<&'static str> {
        let several = (self.k > 1).then_some("k");
        several.or(self.standby.map(|_| "standby"))
    }

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
            k: self.k,
            standby: self.standby,
            one_plus_one: None,
            revert_after: None,
        }
    }
}
