//! Ways that routes can take through tunnels (RFC 3906, 3): who has tunnels says where they end, and who computes
//! routes says what lies behind these ends.

use base::plane::Prefix;
use core::net::Ipv4Addr;
use std::collections::BTreeMap;

/// Ends of tunnels, and what lies behind them.
#[derive(Debug, Default)]
pub struct Shortcuts {
    /// Addresses at which tunnels end that routes may take, with the number of these tunnels.
    tails: BTreeMap<Ipv4Addr, u32>,
    /// Destinations to which every shortest path leads by the end of a tunnel: the nearest one to them.
    behind: BTreeMap<Prefix, Ipv4Addr>,
    is_changed: bool,
}

impl Shortcuts {
    /// Another tunnel ends at this address.
    pub fn add(&mut self, tail: Ipv4Addr) {
        let count = self.tails.entry(tail).or_default();
        *count += 1;
        self.is_changed |= *count == 1;
    }

    /// A tunnel that ended there is gone.
    pub fn remove(&mut self, tail: Ipv4Addr) {
        let Some(count) = self.tails.get_mut(&tail) else { return };
        *count -= 1;
        if *count == 0 {
            self.tails.remove(&tail);
            self.is_changed = true;
        }
    }

    /// Where tunnels end.
    pub fn tails(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.tails.keys().copied()
    }

    /// Takes in what lies behind the ends of tunnels, by all that is known now.
    pub fn set_behind(&mut self, behind: BTreeMap<Prefix, Ipv4Addr>) {
        self.is_changed |= self.behind != behind;
        self.behind = behind;
    }

    /// Destinations with the end that they lie behind.
    pub fn behind(&self) -> impl Iterator<Item = (Prefix, Ipv4Addr)> {
        self.behind.iter().map(|(prefix, tail)| (*prefix, *tail))
    }

    /// Is anybody to be told of a change?
    #[inline]
    pub(crate) const fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Takes what is to be told.
    pub(crate) fn poll_change(&mut self) -> bool {
        core::mem::take(&mut self.is_changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_is_told() {
        let (mut all, tail) = (Shortcuts::default(), Ipv4Addr::new(10, 0, 0, 1));
        all.add(tail);
        assert!(all.is_changed() && all.poll_change() && !all.poll_change());
        all.add(tail);
        all.remove(tail);
        assert!(!all.poll_change() && all.tails().eq([tail]));
        let behind = BTreeMap::from([(Prefix::host(tail), tail)]);
        all.set_behind(behind.clone());
        assert!(all.poll_change() && all.behind().eq([(Prefix::host(tail), tail)]));
        all.set_behind(behind);
        all.remove(Ipv4Addr::LOCALHOST);
        assert!(!all.poll_change());
        all.remove(tail);
        assert!(all.poll_change() && all.tails().next().is_none());
    }
}
