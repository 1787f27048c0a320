//! Paths that died while an end of them restarted, so that nothing followed from it (RFC 5882, 4.3.2).

use base::{Span, Time};
use std::collections::BTreeMap;

/// How long a path may be dead after the restart is over. BFD that has restarted, too, sends once a second at most
/// until its session is up (RFC 5880, 6.8.3), and needs a few packets for that.
pub const COMES_BACK: Span = Span::from_secs(10);

/// Paths that are dead and excused, as a protocol names them: whoever does not come back after the restart is gone.
/// Nobody is told of such a path once more, since it was dead before.
#[derive(Clone, Debug)]
pub struct Excused<K> {
    /// The excuse holds until then; as long as the restart lasts, if absent.
    until: BTreeMap<K, Option<Time>>,
}

impl<K> Default for Excused<K> {
    fn default() -> Excused<K> {
        Excused { until: BTreeMap::new() }
    }
}

impl<K: Copy + Ord> Excused<K> {
    /// A path has died in a restart.
    pub fn insert(&mut self, key: K) {
        self.until.insert(key, None);
    }

    /// Is there any?
    pub fn is_empty(&self) -> bool {
        self.until.is_empty()
    }

    /// The paths that are excused no more, and still dead. They are forgotten, and so are those that are not dead.
    pub fn due(
        &mut self,
        now: Time,
        is_dead: impl Fn(K) -> bool,
        is_restarting: impl Fn(K) -> bool,
    ) -> Vec<K> {
        self.until.retain(|key, _| is_dead(*key));
        for (key, until) in &mut self.until {
            *until = if is_restarting(*key) { None } else { until.or(Some(now + COMES_BACK)) };
        }
        let is_over = |_: &K, until: &mut Option<Time>| until.is_some_and(|until| until <= now);
        self.until.extract_if(.., is_over).map(|(key, _)| key).collect()
    }

    /// When the next excuse ends.
    pub fn timeout(&self) -> Option<Time> {
        self.until.values().flatten().min().copied()
    }
}
