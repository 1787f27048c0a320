//! Metrics by which routers settle who forwards onto a link (RFC 7761, 4.6.3).

use core::net::Ipv4Addr;
use wire::pim::Assert;

/// What an Assert brings: what is compared first stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Metric {
    /// Is it about a tree for all senders?
    pub rpt: bool,
    /// The preference of the route to the sender.
    pub preference: u32,
    /// What the route costs.
    pub metric: u32,
    /// The router that says so.
    pub address: Ipv4Addr,
}

impl Metric {
    /// Of a router that does not forward.
    pub(super) const INFINITE: Metric = Metric {
        rpt: true,
        preference: Assert::WORST_PREFERENCE,
        metric: u32::MAX,
        address: Ipv4Addr::UNSPECIFIED,
    };

    /// What an Assert from an address says.
    pub(super) fn of(assert: &Assert, address: Ipv4Addr) -> Metric {
        let Assert { rpt, preference, metric, .. } = *assert;
        Metric { rpt, preference, metric, address }
    }

    /// Does its router not forward?
    pub(super) fn is_infinite(&self) -> bool {
        (self.rpt, self.preference, self.metric)
            == (true, Metric::INFINITE.preference, Metric::INFINITE.metric)
    }

    /// The least wins, and of equal ones the greatest address.
    pub(super) fn is_better(&self, other: &Metric) -> bool {
        let rank = |of: &Metric| (of.rpt, of.preference, of.metric);
        (rank(self), other.address) < (rank(other), self.address)
    }
}
