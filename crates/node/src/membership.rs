//! IGMP, as a host speaks it (RFC 3376, 5; RFC 2236, 3): it says which groups it wants, of its own accord at first, and
//! whenever it is asked.

use base::{PortId, Span, Time};
use core::net::Ipv4Addr;
use std::collections::BTreeMap;
use wire::igmp::{ALL_V3_ROUTERS, Record, RecordKind, Repr};

/// So often a host says at first what it wants, since a message may get lost (RFC 3376, 8.14.1).
const ROBUSTNESS: u8 = 2;
/// Time between the first messages (RFC 3376, 8.11).
const UNSOLICITED: Span = Span::from_secs(1);
/// A router of version 2 is gone that has not asked for so long (RFC 3376, 8.12: twice the query interval, and the
/// response interval).
const OLDER: Span = Span::from_secs(260);

/// A group that a host wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: Ipv4Addr,
    /// The sources that packets may come from; all if there are none.
    pub sources: Vec<Ipv4Addr>,
}

/// What a host wants, and when it says so next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memberships {
    groups: Vec<Membership>,
    /// By port: when the next report is due, and how many follow of its own accord.
    due: BTreeMap<PortId, (Time, u8)>,
    /// By port: until when a router of version 2 asks there.
    older: BTreeMap<PortId, Time>,
}

impl Memberships {
    /// A host with these groups, which says so at each of its ports.
    pub(crate) fn new(groups: Vec<Membership>, ports: usize) -> Memberships {
        let mut all = Memberships { groups, ..Memberships::default() };
        (0..ports).for_each(|port| all.begin(Time::ZERO, PortId(port as u16)));
        all
    }

    /// A port can be used: the host says there what it wants.
    pub(crate) fn begin(&mut self, now: Time, port: PortId) {
        if !self.groups.is_empty() {
            self.due.insert(port, (now, ROBUSTNESS - 1));
        }
    }

    /// Does the host take packets that go to an address from this source?
    pub(crate) fn takes(&self, group: Ipv4Addr, source: Ipv4Addr) -> bool {
        let from = |known: &Membership| known.sources.is_empty() || known.sources.contains(&source);
        self.groups.iter().any(|known| known.group == group && from(known))
    }

    /// The groups of the host.
    pub(crate) fn groups(&self) -> &[Membership] {
        &self.groups
    }

    /// A router asks at a port: the host answers within the time that it is given. Hosts of a link answer at times of
    /// their own, which follow from their addresses: so no host needs a random stream.
    pub(crate) fn hear(&mut self, now: Time, port: PortId, own: Ipv4Addr, query: &Repr) {
        let Repr::Query { max_resp_ds, group, v3 } = query else { return };
        if v3.is_none() {
            self.older.insert(port, now + OLDER);
        }
        if !group.is_unspecified() && !self.groups.iter().any(|known| known.group == *group) {
            return;
        }
        let spread = i64::from(own.to_bits().wrapping_mul(0x9e37_79b9) >> 16);
        let within = i64::from((*max_resp_ds).max(1)) * 100_000_000_000;
        let at = now + Span(within / 65_536 * spread);
        let (due, left) = self.due.get(&port).copied().unwrap_or((Time::MAX, 0));
        if !self.groups.is_empty() {
            self.due.insert(port, (due.min(at), left));
        }
    }

    /// The reports that are due: port, destination, message.
    pub(crate) fn poll(&mut self, now: Time) -> Vec<(PortId, Ipv4Addr, Repr)> {
        let due: Vec<PortId> =
            self.due.iter().filter(|(_, (at, _))| *at <= now).map(|(port, _)| *port).collect();
        let mut reports = Vec::new();
        for port in due {
            match self.due.get(&port) {
                Some((_, left)) if *left > 0 => {
                    let left = left - 1;
                    self.due.insert(port, (now + UNSOLICITED, left));
                }
                _ => drop(self.due.remove(&port)),
            }
            if self.older.get(&port).is_some_and(|until| *until > now) {
                let all = self.groups.iter().map(|known| known.group);
                reports.extend(all.map(|group| (port, group, Repr::ReportV2 { group })));
                continue;
            }
            let record = |known: &Membership| Record {
                kind: if known.sources.is_empty() { RecordKind::IsExclude } else { RecordKind::IsInclude },
                group: known.group,
                sources: known.sources.clone(),
            };
            let records = self.groups.iter().map(record).collect();
            reports.push((port, ALL_V3_ROUTERS, Repr::ReportV3 { records }));
        }
        reports
    }

    /// When the next report is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.due.values().map(|(at, _)| *at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_says_what_it_wants_twice_and_when_it_is_asked() {
        let group = Ipv4Addr::new(232, 1, 1, 1);
        let (own, source) = (Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(10, 9, 0, 1));
        let port = PortId(0);
        let mut all = Memberships::new(vec![Membership { group, sources: vec![source] }], 1);
        let at = |s| Time::ZERO + Span::from_secs(s);
        assert!(all.takes(group, source) && !all.takes(group, own));
        assert_eq!([0, 0, 1, 2].map(|s| all.poll(at(s)).len()), [1, 0, 1, 0]);
        all.hear(at(5), port, own, &Repr::Query { max_resp_ds: 100, group: Ipv4Addr::UNSPECIFIED, v3: None });
        let due = all.next().expect("a report");
        assert!(due >= at(5) && due <= at(15));
        // A router of version 2 is answered in version 2 (RFC 3376, 7.2.1).
        assert_eq!(all.poll(due), [(port, group, Repr::ReportV2 { group })]);
        let other = Repr::Query { max_resp_ds: 10, group: Ipv4Addr::new(239, 1, 1, 1), v3: None };
        all.hear(at(20), port, own, &other);
        assert_eq!(all.next(), None);
    }
}
