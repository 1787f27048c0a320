//! Who asks the hosts of a link (RFC 3376, 6.6.2; RFC 2236, 7; RFC 3810, 7.6.2).

crate::machine! {
    /// The router with the lowest address on a link asks; the others listen, and ask again when it has not been heard
    /// for the other querier present interval.
    machine "Querier election on a link";
    /// Who asks.
    pub enum QuerierState {
        /// The link is down, or has no address.
        Down,
        /// This router asks.
        Querier,
        /// Another router asks.
        NonQuerier,
    }
    /// What happens on the link.
    pub enum QuerierEvent {
        /// The link can be used.
        Up,
        /// It can't any more.
        Lost,
        /// A query came from a lower address than the router's own.
        LowerHeard,
        /// The other querier was not heard in time.
        OtherGone,
    }
    begins { Down }
    steps {
        Down: Up => Querier;
        Querier: LowerHeard => NonQuerier, Lost => Down;
        NonQuerier: LowerHeard => NonQuerier, OtherGone => Querier, Lost => Down;
    }
}
