//! Links that are to be avoided, for one of two reasons: they work, but somebody else has to be ready before packets go
//! by them, such as the protocol that distributes labels (RFC 5443); or nobody is heard there any more. Who finds
//! routes makes them cost as much as can be.

use base::{PortId, ProtocolId};
use std::collections::{BTreeMap, VecDeque};

/// Why a link is to be avoided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Avoidance {
    /// Packets get through, and somebody else is not ready for them.
    Unready,
    /// Nobody is heard there any more: packets are lost.
    Silent,
}

/// The ports of links that are to be avoided. Each protocol has a claim of its own: a link is to be avoided as long as
/// one of them claims it.
#[derive(Clone, Debug, Default)]
pub struct Avoided {
    claims: BTreeMap<PortId, BTreeMap<ProtocolId, Avoidance>>,
    /// Those that have become so, or are so no more; nobody has been told yet.
    changed: VecDeque<PortId>,
}

impl Avoided {
    /// Is the link of a port to be avoided?
    pub fn is(&self, port: PortId) -> bool {
        self.claims.contains_key(&port)
    }

    /// Does somebody say that packets get lost on the link of a port?
    pub fn is_silent(&self, port: PortId) -> bool {
        self.claims.get(&port).is_some_and(|claims| claims.values().any(|why| *why == Avoidance::Silent))
    }

    /// Notes whether `owner` wants the link of a port to be avoided, and why. Others are told when that is so for the
    /// first of those who want it, and when it is so no more for the last; and in the same way of links that are
    /// silent.
    pub fn set(&mut self, owner: ProtocolId, port: PortId, why: Option<Avoidance>) {
        let before = (self.is(port), self.is_silent(port));
        if let Some(why) = why {
            self.claims.entry(port).or_default().insert(owner, why);
        } else if let Some(owners) = self.claims.get_mut(&port) {
            owners.remove(&owner);
            if owners.is_empty() {
                self.claims.remove(&port);
            }
        }
        if (self.is(port), self.is_silent(port)) != before {
            self.changed.push_back(port);
        }
    }

    /// Nothing is known after a restart.
    pub(crate) fn restart(&mut self) {
        *self = Avoided::default();
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// A port that changed, in the order of the changes.
    pub(crate) fn poll_change(&mut self) -> Option<PortId> {
        self.changed.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LDP: ProtocolId = ProtocolId::new("ldp");
    const PROBING: ProtocolId = ProtocolId::new("probing");
    const PORT: PortId = PortId(1);

    /// What a protocol takes back is its own claim alone, whichever comes first.
    #[test]
    fn a_link_is_avoided_as_long_as_somebody_claims_it() {
        for [first, second] in [[LDP, PROBING], [PROBING, LDP]] {
            let mut avoided = Avoided::default();
            let mut set = |owner, is_avoided: bool| {
                avoided.set(owner, PORT, is_avoided.then_some(Avoidance::Unready));
                (avoided.is(PORT), core::iter::from_fn(|| avoided.poll_change()).count())
            };
            assert_eq!(set(first, false), (false, 0), "there was no claim");
            assert_eq!(set(first, true), (true, 1));
            assert_eq!(set(first, true), (true, 0), "a claim is made once");
            assert_eq!(set(second, true), (true, 0), "nothing is new for others");
            assert_eq!(set(first, false), (true, 0), "the other still claims it");
            assert_eq!(set(first, false), (true, 0));
            assert_eq!(set(second, false), (false, 1));
            assert!(!avoided.is(PortId(2)));
        }
    }

    /// Others hear of a link that becomes silent though it was avoided before.
    #[test]
    fn a_link_is_silent_as_long_as_somebody_says_so() {
        let mut avoided = Avoided::default();
        let mut set = |owner, why| {
            avoided.set(owner, PORT, why);
            let told = core::iter::from_fn(|| avoided.poll_change()).count();
            (avoided.is(PORT), avoided.is_silent(PORT), told)
        };
        assert_eq!(set(LDP, Some(Avoidance::Unready)), (true, false, 1));
        assert_eq!(set(PROBING, Some(Avoidance::Silent)), (true, true, 1));
        assert_eq!(set(LDP, None), (true, true, 0));
        assert_eq!(set(PROBING, None), (false, false, 1));
    }
}
