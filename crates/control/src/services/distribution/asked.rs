//! What is bound to a prefix, as whoever tests LSPs wants to know (RFC 8029, 4.4.1).

use super::{Binding, Distribution};
use crate::inquiry::{FecMapping, GivenBy};
use crate::services::Services;
use base::plane::{LabelStack, Leg, Prefix};

impl Distribution {
    /// What is bound to a prefix, whose labels are given by one or the other protocol; nothing if it has none.
    pub fn mapping(&self, services: &Services, prefix: Prefix) -> Option<FecMapping> {
        let known = self.fecs.get(&prefix)?;
        let given = known.binding.and_then(Binding::told);
        if self.is_egress(services.rib.next_hops(prefix)) {
            return Some(FecMapping::egress(GivenBy::Ldp, given));
        }
        let legs = known.used.iter().map(|&(port, gateway, label)| Leg {
            labels: LabelStack::one(label),
            port,
            gateway: gateway.into(),
        });
        Some(FecMapping::transit(GivenBy::Ldp, given, legs.collect()))
    }
}
