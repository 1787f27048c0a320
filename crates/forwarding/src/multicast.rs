//! Packets to groups: entries for (S,G) and (*,G), each with the ways in which packets have to arrive.

use crate::decide::By;
use crate::entry::{Entry, Kind};
use crate::packet::{ETHERNET, IPV4, IPV6, address6};
use crate::tables::Forwarding;
use crate::unwritten::plain;
use base::device::DropReason;
use base::plane::{GroupKey, Incoming, NextHop, ReplicationId, TableError};
use base::{Frame, PortId};
use core::net::IpAddr;
use std::collections::BTreeMap;

/// A way for packets of a group to arrive, and what is done with them.
#[derive(Clone, Debug)]
struct Way {
    incoming: Incoming,
    /// Replicates; counts what arrived.
    entry: Entry,
}

/// What a key takes.
#[derive(Clone, Debug, Default)]
struct Known {
    ways: Vec<Way>,
}

/// The entries for groups of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    by_key: BTreeMap<GroupKey, u32>,
    slots: Vec<Known>,
    free: Vec<u32>,
    ways: usize,
    /// By port.
    thresholds: Vec<u8>,
}

impl Groups {
    /// Ways of all keys.
    pub(crate) fn len(&self) -> usize {
        self.ways
    }

    fn find(&self, source: IpAddr, group: IpAddr) -> Option<(GroupKey, u32)> {
        // The more exact entry decides, also where it has no way for the packet (RFC 7761, 4.2).
        let keys = [Some(source), None].map(|source| GroupKey { group, source });
        keys.into_iter().find_map(|key| Some((key, *self.by_key.get(&key)?)))
    }

    fn threshold(&self, port: PortId) -> u8 {
        self.thresholds.get(port.index()).copied().unwrap_or(0)
    }

    pub(crate) fn entry_mut(&mut self, place: u32, way: u16) -> Option<&mut Entry> {
        Some(&mut self.slots.get_mut(place as usize)?.ways.get_mut(usize::from(way))?.entry)
    }

    /// Keys with their ways, in order of the keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupKey, Incoming, &Entry)> {
        self.by_key.iter().flat_map(|(key, place)| {
            let known = &self.slots[*place as usize];
            known.ways.iter().map(move |way| (*key, way.incoming, &way.entry))
        })
    }

    /// Ports with a threshold.
    pub(crate) fn thresholds(&self) -> impl Iterator<Item = (PortId, u8)> {
        let all = self.thresholds.iter().enumerate().filter(|(_, ttl)| **ttl > 0);
        all.map(|(port, ttl)| (PortId(port as u16), *ttl))
    }
}

/// What an entry for a group says of a packet.
pub(crate) enum Grouped<'a> {
    /// There is none: it is for whoever listens here.
    Unknown,
    /// It came by a wrong way; the entry is that of this key.
    Wrong(GroupKey),
    /// It is replicated.
    Known(By, &'a Entry),
}

impl Forwarding {
    /// What is known of a packet from `source` to `group` that arrived in this way.
    pub(crate) fn grouped(&self, source: IpAddr, group: IpAddr, incoming: Incoming) -> Grouped<'_> {
        let Some(groups) = &self.multicast else { return Grouped::Unknown };
        let Some((key, place)) = groups.find(source, group) else { return Grouped::Unknown };
        let ways = &groups.slots[place as usize].ways;
        match ways.iter().enumerate().find(|(_, way)| way.incoming == incoming) {
            Some((way, known)) => Grouped::Known(By::Group(place, way as u16), &known.entry),
            None => Grouped::Wrong(key),
        }
    }

    /// Do packets of a key leave by a port, in whatever way they have arrived?
    pub(crate) fn sends_to(&self, key: GroupKey, port: PortId) -> bool {
        let Some(groups) = &self.multicast else { return false };
        let ways = groups.by_key.get(&key).map_or(&[][..], |place| &groups.slots[*place as usize].ways);
        ways.iter().any(|way| self.branches_to(&way.entry, port))
    }

    /// May a packet to a group that arrived with this time to live leave by a port?
    pub(crate) fn is_above_threshold(&self, port: PortId, ttl: u8) -> Result<(), DropReason> {
        let threshold = self.multicast.as_ref().map_or(0, |groups| groups.threshold(port));
        if ttl > threshold { Ok(()) } else { Err(DropReason::TtlExpired) }
    }

    /// Counts a packet that is replicated at its entry, if that is a group's: the IP header begins at `at`.
    #[cold]
    pub(crate) fn count_grouped(&mut self, port: PortId, frame: &Frame, at: usize) {
        if self.multicast.is_none() {
            return;
        }
        let (from, group): (IpAddr, IpAddr) = match frame.header().get(at..).unwrap_or_default() {
            ip if ip.first().is_some_and(|first| first >> 4 == 6) => match ip.first_chunk::<IPV6>() {
                Some(ip) => (address6(ip, 8).into(), address6(ip, 24).into()),
                None => return,
            },
            ip => match ip.first_chunk::<IPV4>() {
                Some([.., a, b, c, d, e, f, g, h]) => ([*a, *b, *c, *d].into(), [*e, *f, *g, *h].into()),
                None => return,
            },
        };
        let incoming = if at > ETHERNET { Incoming::Label } else { Incoming::Port(port) };
        if let Grouped::Known(By::Group(place, way), _) = self.grouped(from, group, incoming)
            && let Some(entry) = self.multicast.as_mut().and_then(|groups| groups.entry_mut(place, way))
        {
            entry.count(frame.wire_len());
        }
    }

    pub(crate) fn multicast_set(
        &mut self,
        key: GroupKey,
        incoming: Incoming,
        list: ReplicationId,
    ) -> Result<(), TableError> {
        let same_family = key.source.is_none_or(|source| source.is_ipv4() == key.group.is_ipv4());
        if !key.group.is_multicast() || !same_family || key.source.is_some_and(|s| s.is_multicast()) {
            return Err(TableError::NotAGroup);
        }
        let known = self.multicast.as_ref().and_then(|groups| groups.by_key.get(&key).copied());
        let way = known.and_then(|place| {
            let ways = &self.multicast.as_ref()?.slots[place as usize].ways;
            ways.iter().position(|way| way.incoming == incoming)
        });
        let full = self.multicast.as_ref().map_or(0, |groups| groups.len()) >= self.config.multicast_max;
        if way.is_none() && full {
            return Err(TableError::Full);
        }
        let mut entry = self.compile(&plain(NextHop::Replicate(list)))?;
        debug_assert!(entry.kind == Kind::Replicate, "a list replicates");
        let groups = self.multicast.get_or_insert_default();
        let place = known.unwrap_or_else(|| {
            let place = groups.free.pop().unwrap_or_else(|| {
                groups.slots.push(Known::default());
                (groups.slots.len() - 1) as u32
            });
            groups.by_key.insert(key, place);
            place
        });
        let ways = &mut groups.slots[place as usize].ways;
        let old = match way {
            Some(way) => {
                let old = ways[way].entry;
                (entry.packets, entry.bytes) = (old.packets, old.bytes);
                ways[way].entry = entry;
                Some(old)
            }
            None => {
                ways.push(Way { incoming, entry });
                groups.ways += 1;
                None
            }
        };
        if let Some(old) = old {
            self.release(&old);
        }
        Ok(())
    }

    pub(crate) fn multicast_remove(&mut self, key: GroupKey, incoming: Incoming) -> Result<(), TableError> {
        let groups = self.multicast.as_mut().ok_or(TableError::NoEntry)?;
        let place = *groups.by_key.get(&key).ok_or(TableError::NoEntry)?;
        let ways = &mut groups.slots[place as usize].ways;
        let way = ways.iter().position(|way| way.incoming == incoming).ok_or(TableError::NoEntry)?;
        let old = ways.remove(way).entry;
        groups.ways -= 1;
        if ways.is_empty() {
            groups.slots[place as usize] = Known::default();
            groups.by_key.remove(&key);
            groups.free.push(place);
        }
        self.release(&old);
        Ok(())
    }

    pub(crate) fn multicast_threshold(&mut self, port: PortId, ttl: u8) -> Result<(), TableError> {
        self.port_config(port)?;
        let thresholds = &mut self.multicast.get_or_insert_default().thresholds;
        if thresholds.len() <= port.index() {
            thresholds.resize(port.index() + 1, 0);
        }
        thresholds[port.index()] = ttl;
        Ok(())
    }
}
