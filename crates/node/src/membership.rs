//! IGMP and MLD, as a host speaks them (RFC 3376, 5; RFC 2236, 3; RFC 3810, 6): it says which groups it wants, of its
//! own accord at first, and whenever it is asked.

use base::{PortId, Span, Time};
use core::net::IpAddr;
use std::collections::BTreeMap;
use wire::membership::{Address, Record, RecordKind};

/// So often a host says at first what it wants, since a message may get lost (RFC 3376, 8.14.1; RFC 3810, 9.1).
const ROBUSTNESS: u8 = 2;
/// Time between the first messages (RFC 3376, 8.11; RFC 3810, 9.11).
const UNSOLICITED: Span = Span::from_secs(1);
/// A router of an older version is gone that has not asked for so long (RFC 3376, 8.12, and RFC 3810, 9.12: twice the
/// query interval, and the response interval).
const OLDER: Span = Span::from_secs(260);

/// A group that a host wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The group.
    pub group: IpAddr,
    /// The sources that packets may come from, of the same family; all if there are none.
    pub sources: Vec<IpAddr>,
}

/// What a router asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Question<A> {
    /// The group that it asks about; all if absent.
    pub group: Option<A>,
    /// Time in which hosts are to answer.
    pub within: Span,
    /// Does it speak a version that has no sources?
    pub is_older: bool,
}

/// What a host reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report<A> {
    /// A group, to a router of an older version.
    Older(A),
    /// All groups with their sources.
    Records(Vec<Record<A>>),
}

/// What a host wants of a family, and when it says so next.
#[derive(Clone, Debug)]
pub(crate) struct Memberships<A> {
    /// Groups, each with the sources that packets may come from.
    groups: Vec<(A, Vec<A>)>,
    /// By port: when the next report is due, and how many follow of its own accord.
    due: BTreeMap<PortId, (Time, u8)>,
    /// By port: until when a router of an older version asks there.
    older: BTreeMap<PortId, Time>,
}

impl<A: Address> Memberships<A> {
    /// A host that wants those of these groups that are of the family; `of` gives an address if it is.
    pub(crate) fn new(groups: &[Membership], of: impl Fn(IpAddr) -> Option<A>) -> Memberships<A> {
        let sources = |known: &Membership| known.sources.iter().filter_map(|source| of(*source)).collect();
        let groups = groups.iter().filter_map(|known| Some((of(known.group)?, sources(known)))).collect();
        Memberships { groups, due: BTreeMap::new(), older: BTreeMap::new() }
    }

    /// A port can be used: the host says there what it wants.
    pub(crate) fn begin(&mut self, now: Time, port: PortId) {
        if !self.groups.is_empty() {
            self.due.insert(port, (now, ROBUSTNESS - 1));
        }
    }

    /// Does the host want a group, of whatever source?
    pub(crate) fn wants(&self, group: A) -> bool {
        self.groups.iter().any(|(known, _)| *known == group)
    }

    /// Does the host take packets that go to an address from this source?
    pub(crate) fn takes(&self, group: A, source: A) -> bool {
        let from = |sources: &Vec<A>| sources.is_empty() || sources.contains(&source);
        self.groups.iter().any(|(known, sources)| *known == group && from(sources))
    }

    /// A router asks at a port: the host answers within the time that it is given. Hosts of a link answer at times of
    /// their own, which follow from their addresses: so no host needs a random stream. `own` are the last 32 bits.
    pub(crate) fn hear(&mut self, now: Time, port: PortId, own: u32, question: &Question<A>) {
        if question.is_older {
            let before = self.older.insert(port, now + OLDER);
            if before.is_none_or(|until| until <= now) {
                // RFC 3376, 7.2.1; RFC 3810, 8.2.1: what was to be said in another version is not.
                self.due.remove(&port);
            }
        }
        if question.group.is_some_and(|group| !self.wants(group)) {
            return;
        }
        let spread = i64::from(own.wrapping_mul(0x9e37_79b9) >> 16);
        let at = now + Span(question.within.0 / 65_536 * spread);
        let (due, left) = self.due.get(&port).copied().unwrap_or((Time::MAX, 0));
        if !self.groups.is_empty() {
            self.due.insert(port, (due.min(at), left));
        }
    }

    /// The reports that are due, and by which port.
    pub(crate) fn poll(&mut self, now: Time) -> Vec<(PortId, Report<A>)> {
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
                reports.extend(self.groups.iter().map(|(group, _)| (port, Report::Older(*group))));
                continue;
            }
            let record = |(group, sources): &(A, Vec<A>)| Record {
                kind: if sources.is_empty() { RecordKind::IsExclude } else { RecordKind::IsInclude },
                group: *group,
                sources: sources.clone(),
            };
            reports.push((port, Report::Records(self.groups.iter().map(record).collect())));
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
    use core::net::Ipv4Addr;

    #[test]
    fn a_host_says_what_it_wants_twice_and_when_it_is_asked() {
        let group = Ipv4Addr::new(232, 1, 1, 1);
        let (own, source) = (Ipv4Addr::new(10, 0, 0, 9), Ipv4Addr::new(10, 9, 0, 1));
        let port = PortId(0);
        let of = |address| match address {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        };
        let six = Membership { group: IpAddr::V6("ff3e::1".parse().expect("a group")), sources: Vec::new() };
        let wanted = Membership { group: group.into(), sources: vec![source.into()] };
        let mut all = Memberships::new(&[wanted, six], of);
        all.begin(Time::ZERO, port);
        let at = |s| Time::ZERO + Span::from_secs(s);
        assert!(all.takes(group, source) && !all.takes(group, own) && all.wants(group));
        assert_eq!([0, 0, 1, 2].map(|s| all.poll(at(s)).len()), [1, 0, 1, 0]);
        let within = Span::from_secs(10);
        all.hear(at(5), port, own.to_bits(), &Question { group: None, within, is_older: true });
        let due = all.next().expect("a report");
        assert!(due >= at(5) && due <= at(15));
        // A router of version 2 is answered in version 2 (RFC 3376, 7.2.1).
        assert_eq!(all.poll(due), [(port, Report::Older(group))]);
        let other = Some(Ipv4Addr::new(239, 1, 1, 1));
        all.hear(at(20), port, own.to_bits(), &Question { group: other, within, is_older: true });
        assert_eq!(all.next(), None);
    }

    #[test]
    fn a_question_of_an_older_version_takes_back_what_was_to_be_said() {
        let group = Ipv4Addr::new(239, 1, 1, 1);
        let wanted = Membership { group: group.into(), sources: Vec::new() };
        let of = |address| if let IpAddr::V4(address) = address { Some(address) } else { None };
        let mut all = Memberships::new(&[wanted], of);
        all.begin(Time::ZERO, PortId(0));
        let question = Question { group: None, within: Span::from_secs(10), is_older: true };
        all.hear(Time::ZERO, PortId(0), 1, &question);
        let due = all.next().expect("an answer");
        assert_eq!((all.poll(due), all.next()), (vec![(PortId(0), Report::Older(group))], None));
    }
}
