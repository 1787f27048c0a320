//! Static routes of a router as users write them.

use super::reference::HopSpec;
use base::describe::Several;
use base::plane::Prefix;
use control::services::WatchSpec;

base::record! {
    /// A static route of a router, beside those that lead to every node by the shortest path. It takes the place of one
    /// of these if that has the same prefix.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RouteSpec {
        /// Destinations; of several prefixes the longest that fits counts.
        pub prefix: Prefix;
        /// The neighbour that they are sent to, or several that share the flows equally; NODE:INTERFACE if links are
        /// parallel.
        pub via: Several<HopSpec>;
        /// Have the neighbour watched by BFD (RFC 5882): true, or how closely. The route is in force as long as it
        /// answers. Only with one neighbour.
        pub bfd: WatchSpec, absent "false";
    }
}
