//! Several LSPs for one prefix, chosen by PHB (RFC 3270, 2.4).

use crate::decide::By;
use crate::entry::{Entry, Kind};
use crate::fib::Fib;
use crate::tables::Forwarding;
use base::plane::Prefix;
use base::{Phb, PhbSet};
use core::net::Ipv4Addr;

/// An LSP for some PHBs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classed {
    pub(crate) order: u64,
    pub(crate) classes: PhbSet,
    pub(crate) entry: Entry,
}

/// The LSPs of a prefix, in order, and for each PHB the first that takes it.
#[derive(Clone, Debug)]
pub(crate) struct ClassList {
    entries: Vec<Classed>,
    first: [u8; 64],
}

/// No entry takes the PHB.
const NOBODY: u8 = u8::MAX;

impl Default for ClassList {
    fn default() -> ClassList {
        ClassList { entries: Vec::new(), first: [NOBODY; 64] }
    }
}

impl ClassList {
    /// As many as the places that [`ClassList::first`] can name.
    const MAX: usize = NOBODY as usize;

    /// Puts an entry in, in place of the one called `order`, which it returns. If there is no room, nothing changes.
    pub(crate) fn set(&mut self, mut new: Classed) -> Result<Option<Entry>, ()> {
        let at = self.entries.partition_point(|e| e.order < new.order);
        let room = self.entries.len() < ClassList::MAX;
        let old = match self.entries.get_mut(at).filter(|e| e.order == new.order) {
            Some(old) => {
                (new.entry.packets, new.entry.bytes) = (old.entry.packets, old.entry.bytes);
                Some(core::mem::replace(old, new).entry)
            }
            None if !room => return Err(()),
            None => {
                self.entries.insert(at, new);
                None
            }
        };
        self.index();
        Ok(old)
    }

    pub(crate) fn remove(&mut self, order: u64) -> Option<Entry> {
        let at = self.entries.iter().position(|e| e.order == order)?;
        let old = self.entries.remove(at);
        self.index();
        Some(old.entry)
    }

    fn index(&mut self) {
        self.first = [NOBODY; 64];
        for (place, entry) in self.entries.iter().enumerate().rev() {
            for phb in entry.classes.iter() {
                self.first[usize::from(phb.code() & 63)] = place as u8;
            }
        }
    }

    /// The place of the entry that takes `phb`.
    #[inline]
    fn find(&self, phb: Phb) -> Option<(u8, &Entry)> {
        let place = self.first[usize::from(phb.code() & 63)];
        Some((place, &self.entries.get(usize::from(place))?.entry))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Classed> {
        self.entries.iter()
    }
    pub(crate) fn get_mut(&mut self, place: u8) -> Option<&mut Entry> {
        self.entries.get_mut(usize::from(place)).map(|e| &mut e.entry)
    }
}

impl Fib {
    /// Changes the LSPs of exactly `prefix`; forgets the prefix if nothing is left of it.
    pub(crate) fn update_classed<T>(
        &mut self,
        prefix: Prefix,
        change: impl FnOnce(&mut ClassList) -> T,
    ) -> T {
        let place = self.exact(prefix).map_or(0, |known| known.classed);
        let mut list = match place.checked_sub(1) {
            Some(at) => core::mem::take(&mut self.lists[at as usize]),
            None => ClassList::default(),
        };
        let result = change(&mut list);
        let now = match (list.is_empty(), place) {
            (true, 0) => return result,
            (true, place) => {
                self.free_lists.push(place);
                0
            }
            (false, 0) => self.free_lists.pop().unwrap_or_else(|| {
                self.lists.push(ClassList::default());
                self.lists.len() as u32
            }),
            (false, place) => place,
        };
        if let Some(at) = now.checked_sub(1) {
            self.lists[at as usize] = list;
        }
        self.update(prefix, |known| known.classed = now);
        result
    }

    /// The LSPs of a prefix, by what is known of it.
    #[inline]
    pub(crate) fn class_list(&self, classed: u32) -> Option<&ClassList> {
        self.lists.get(classed.checked_sub(1)? as usize)
    }
    pub(crate) fn class_list_mut(&mut self, classed: u32) -> Option<&mut ClassList> {
        self.lists.get_mut(classed.checked_sub(1)? as usize)
    }

    /// The longest prefix of `to` that has a route or an LSP for all PHBs, given the longest of all.
    #[inline]
    pub(crate) fn plain(&self, longest: Option<u32>, to: Ipv4Addr) -> Option<u32> {
        let place = longest?;
        let known = self.get(place)?;
        if known.active().kind != Kind::Empty { longest } else { self.plain_cover(to, Fib::len_at(place)) }
    }

    #[cold]
    fn plain_cover(&self, to: Ipv4Addr, len: u8) -> Option<u32> {
        self.plain(self.cover(to, len), to)
    }
}

impl Forwarding {
    /// What takes a packet to `to` of PHB `phb`, for which what is known at `place` is the longest prefix: its LSP
    /// for that PHB, its LSP for all, or its route. A prefix that has only LSPs for other PHBs leaves it to the next
    /// shorter one.
    #[inline]
    pub(crate) fn choose(&self, place: u32, to: Ipv4Addr, phb: Phb) -> Option<(By, &Entry)> {
        let known = self.fib.get(place)?;
        if known.classed == 0 {
            return Some((By::Prefix(place, to), known.active()));
        }
        self.choose_classed(place, to, phb)
    }

    fn choose_classed(&self, mut place: u32, to: Ipv4Addr, phb: Phb) -> Option<(By, &Entry)> {
        loop {
            let known = self.fib.get(place)?;
            if let Some((at, entry)) = self.fib.class_list(known.classed).and_then(|list| list.find(phb)) {
                return Some((By::Class(place, at), entry));
            }
            if known.active().kind != Kind::Empty {
                return Some((By::Prefix(place, to), known.active()));
            }
            place = self.fib.cover(to, Fib::len_at(place))?;
        }
    }
}
