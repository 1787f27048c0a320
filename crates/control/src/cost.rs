//! What messages cost the control processor: data, by protocol and kind of message.

use base::{ProtocolId, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind whose cost is that of every kind which has none of its own.
pub const OTHER: &str = "other";

/// How long handling a message takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// Time to handle a message, in us.
    pub us: f64,
    /// As much again for each state that the protocol holds, in ns.
    pub per_state_ns: f64,
}

impl Cost {
    /// The time of one message while the protocol holds so many states; never negative.
    pub fn span(&self, states: usize) -> Span {
        Span::from_secs_f64((self.us / 1e6 + self.per_state_ns / 1e9 * states as f64).max(0.0))
    }
}

/// Costs by protocol, and by the name of the kind of message. What is not there costs nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs(pub BTreeMap<ProtocolId, BTreeMap<String, Cost>>);

impl Costs {
    /// The costs of all kinds of a protocol's messages, by the number of the kind.
    pub(crate) fn of(&self, protocol: ProtocolId, name: impl Fn(u8) -> &'static str) -> Vec<Cost> {
        let known = self.0.get(&protocol);
        let cost = |kind: &str| known.and_then(|known| known.get(kind)).copied();
        let other = cost(OTHER).unwrap_or_default();
        (0..=u8::MAX).map(|kind| cost(name(kind)).unwrap_or(other)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_without_a_cost_of_its_own_costs_what_others_do() {
        const ID: ProtocolId = ProtocolId::new("hello");
        let cost = |us| Cost { us, per_state_ns: 500.0 };
        let kinds = [("ping".to_string(), cost(10.0)), (OTHER.to_string(), cost(1.0))];
        let costs = Costs([(ID, kinds.into())].into());
        let all = costs.of(ID, |kind| if kind == 7 { "ping" } else { "pong" });
        assert_eq!((all.len(), all[7], all[8]), (256, cost(10.0), cost(1.0)));
        assert_eq!(all[7].span(4), Span::from_us(12));
        assert_eq!(costs.of(ProtocolId::new("no-such"), |_| "ping")[7], Cost::default());
    }
}
