//! Who carries the packets of an FEC: several protocols, and several tunnels of one, may; one of them has the entry.
//!
//! Among the bindings of a prefix the one with the least preference wins; then the protocol that comes first by name;
//! then the one with the least rank, by which a protocol orders its own. When that one is withdrawn, the next takes
//! over
//! in the same batch of writes, whoever writes it.

use base::ProtocolId;
use base::plane::{IpPrefix, Nhlfe};
use std::collections::BTreeMap;

/// Whose a binding is, and how good. In their order bindings win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Binder {
    /// The least wins, as among routes.
    pub preference: u8,
    /// The protocol.
    pub owner: ProtocolId,
    /// Of several bindings of one protocol the least wins.
    pub rank: u64,
}

/// What a binding that was made changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// There was none of this binder.
    pub new: bool,
    /// It is the one in force: the binder writes its entry.
    pub in_force: bool,
}

/// What is left of a prefix after a binding was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// There was none of this binder.
    Absent,
    /// Another was in force, and still is.
    Same,
    /// The next takes over by this entry.
    Next(Nhlfe),
    /// There is none any more.
    Nothing,
}

/// The bindings of a node, each with its entry.
#[derive(Clone, Debug, Default)]
pub struct Bindings(BTreeMap<(IpPrefix, Binder), Nhlfe>);

impl Bindings {
    fn first(&self, prefix: IpPrefix) -> Option<(Binder, Nhlfe)> {
        let least = Binder { preference: 0, owner: ProtocolId::LEAST, rank: 0 };
        let ((found, binder), nhlfe) = self.0.range((prefix, least)..).next()?;
        (*found == prefix).then_some((*binder, *nhlfe))
    }

    /// Binds a prefix to an entry, or to another than before.
    pub fn bind(&mut self, prefix: IpPrefix, binder: Binder, nhlfe: Nhlfe) -> Bound {
        let new = self.0.insert((prefix, binder), nhlfe).is_none();
        Bound { new, in_force: self.first(prefix).is_some_and(|(first, _)| first == binder) }
    }

    /// Withdraws a binding.
    pub fn withdraw(&mut self, prefix: IpPrefix, binder: Binder) -> After {
        let first = self.first(prefix).is_some_and(|(first, _)| first == binder);
        match (self.0.remove(&(prefix, binder)), self.first(prefix)) {
            (None, _) => After::Absent,
            (Some(_), _) if !first => After::Same,
            (Some(_), Some((_, nhlfe))) => After::Next(nhlfe),
            (Some(_), None) => After::Nothing,
        }
    }

    /// All bindings, those of one prefix together, the one in force first.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, Binder, &Nhlfe)> {
        self.0.iter().map(|((prefix, binder), nhlfe)| (*prefix, *binder, nhlfe))
    }

    /// There are none after a restart.
    pub(crate) fn restart(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::plane::{LabelStack, NextHop, Prefix, TcSource, TtlModel};
    use base::{Label, PortId};
    use core::net::Ipv4Addr;

    fn entry(label: u32) -> Nhlfe {
        Nhlfe {
            push: LabelStack::one(Label::truncate(label)),
            next_hop: NextHop::Via { port: PortId(0), gateway: Ipv4Addr::LOCALHOST.into() },
            ttl: TtlModel::Uniform,
            tc: TcSource::Copy,
        }
    }

    #[test]
    fn the_best_carries_and_the_next_takes_over() {
        let (mut bindings, prefix) = (Bindings::default(), IpPrefix::V4(Prefix::host([10, 0, 0, 1].into())));
        let of = |name, preference, rank| Binder { preference, owner: ProtocolId::new(name), rank };
        // From the worst to the best: preference before name before rank.
        let order = [of("a", 9, 0), of("c", 7, 9), of("b", 7, 8), of("b", 7, 3), of("z", 5, 99)];
        for (label, binder) in (16..).zip(order) {
            assert_eq!(bindings.bind(prefix, binder, entry(label)), Bound { new: true, in_force: true });
        }
        bindings.bind(IpPrefix::V4(Prefix::host([10, 0, 0, 2].into())), of("a", 0, 0), entry(99));
        // One further down gets another label, which nobody writes until its turn comes.
        assert_eq!(bindings.bind(prefix, order[3], entry(100)), Bound { new: false, in_force: false });
        assert_eq!(bindings.withdraw(prefix, order[2]), After::Same);
        assert_eq!(bindings.withdraw(prefix, order[2]), After::Absent, "twice");
        assert_eq!(bindings.withdraw(prefix, order[4]), After::Next(entry(100)));
        assert_eq!(bindings.withdraw(prefix, order[3]), After::Next(entry(17)));
        assert_eq!(bindings.withdraw(prefix, order[1]), After::Next(entry(16)));
        assert_eq!(bindings.withdraw(prefix, order[0]), After::Nothing);
        assert_eq!(bindings.iter().count(), 1);
        bindings.restart();
        assert_eq!(bindings.iter().count(), 0);
    }
}
