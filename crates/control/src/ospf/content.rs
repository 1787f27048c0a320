//! What advertisements say, kept once for all routers of a process: in a network of ten thousand routers each has the
//! same ten thousand advertisements. What is shared is found by comparing bytes that came over the wire, whoever sent
//! them; a router that is told something else has something else.

use core::hash::Hasher;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use wire::ospf::{LSA_HEADER_LEN, LsaBody, LsaHeader, LsaKey, set_age};

/// Threads that look for different advertisements seldom wait for each other.
const SHELVES: usize = 16;
/// So many slots are looked at. An advertisement for which there is none then is not shared: nobody makes a search
/// long by bytes that are chosen for it.
const PROBES: usize = 32;
/// The age is not compared: it stands in the first bytes.
const AGE_LEN: usize = 2;

/// An advertisement without its age, as bytes and read.
#[derive(Debug)]
pub struct Content {
    /// With an age of zero.
    header: LsaHeader,
    /// All of them, the age as zero.
    bytes: Box<[u8]>,
    body: LsaBody,
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        core::ptr::eq(self, other) || self.bytes == other.bytes
    }
}

impl Content {
    /// What these bytes say, whose checksum is right; nothing if they are not as their type says.
    pub(super) fn read(bytes: &[u8]) -> Option<Arc<Content>> {
        Some(match Content::known(bytes) {
            Some(known) => known,
            None => {
                let content = Arc::new(Content::parse(bytes)?);
                shelf(hash_of(&content.bytes)).put(&content);
                content
            }
        })
    }

    /// The same, if somebody has read these bytes before and still has them.
    pub(super) fn known(bytes: &[u8]) -> Option<Arc<Content>> {
        shelf(hash_of(bytes)).find(bytes)
    }

    fn parse(bytes: &[u8]) -> Option<Content> {
        let header = LsaHeader { age: 0, ..LsaHeader::parse(bytes).ok()? };
        let body = LsaBody::parse(header.key.kind, bytes.get(LSA_HEADER_LEN..)?).ok()?;
        let mut bytes: Box<[u8]> = bytes.into();
        set_age(&mut bytes, 0);
        Some(Content { header, bytes, body })
    }

    /// Are these the same bytes, whatever their age?
    pub(super) fn is_of(&self, bytes: &[u8]) -> bool {
        self.bytes.get(AGE_LEN..) == bytes.get(AGE_LEN..)
    }

    /// The header, with an age of zero.
    pub fn header(&self) -> &LsaHeader {
        &self.header
    }

    /// Which advertisement it is.
    pub fn key(&self) -> LsaKey {
        self.header.key
    }

    /// All bytes, with an age of zero.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What follows the header.
    pub fn body(&self) -> &LsaBody {
        &self.body
    }
}

/// A part of what there is, by hash: open addressing, linear probing.
#[derive(Default)]
struct Shelf {
    slots: Vec<(u64, Weak<Content>)>,
    /// Slots in which something was put since they were made.
    used: usize,
}

static SHARED: [Mutex<Shelf>; SHELVES] =
    [const { Mutex::new(Shelf { slots: Vec::new(), used: 0 }) }; SHELVES];

fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = base::FixedHasher::default();
    hasher.write(bytes.get(AGE_LEN..).unwrap_or(&[]));
    // Zero marks a free slot.
    hasher.finish().max(1)
}

/// The shelf of a hash, and the hash.
fn shelf(hash: u64) -> Found {
    let shelf = &SHARED[(hash >> 60) as usize % SHELVES];
    // A change that a panic left half done loses no more than what would be shared.
    Found { shelf: shelf.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), hash }
}

struct Found {
    shelf: MutexGuard<'static, Shelf>,
    hash: u64,
}

impl Found {
    fn find(&self, bytes: &[u8]) -> Option<Arc<Content>> {
        let slots = &self.shelf.slots;
        for probe in 0..PROBES.min(slots.len()) {
            let (hash, content) = &slots[(self.hash as usize).wrapping_add(probe) & (slots.len() - 1)];
            if *hash == self.hash {
                match content.upgrade() {
                    Some(content) if content.is_of(bytes) => return Some(content),
                    _ => continue,
                }
            }
            if *hash == 0 {
                return None;
            }
        }
        None
    }

    /// Puts in what is not there.
    fn put(mut self, content: &Arc<Content>) {
        if self.shelf.used * 2 >= self.shelf.slots.len() {
            self.shelf.grow();
        }
        self.shelf.put(self.hash, Arc::downgrade(content));
    }
}

impl Shelf {
    /// Leaves out what nobody has any more, and makes room.
    fn grow(&mut self) {
        let old = core::mem::take(&mut self.slots);
        let alive: Vec<_> = old.into_iter().filter(|(_, content)| content.strong_count() > 0).collect();
        let slots = ((alive.len() + 1) * 4).next_power_of_two().max(PROBES);
        (self.slots, self.used) = (Vec::new(), 0);
        self.slots.resize_with(slots, || (0, Weak::new()));
        alive.into_iter().for_each(|(hash, content)| self.put(hash, content));
    }

    fn put(&mut self, hash: u64, content: Weak<Content>) {
        let mask = self.slots.len() - 1;
        for probe in 0..PROBES {
            let slot = &mut self.slots[(hash as usize).wrapping_add(probe) & mask];
            if slot.1.strong_count() == 0 {
                self.used += usize::from(slot.0 == 0);
                *slot = (hash, content);
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;
    use wire::ospf::{INITIAL_SEQUENCE, Lsa, LsaKind, Router};

    fn bytes(router: u32, age: u16) -> Vec<u8> {
        let id = Ipv4Addr::from_bits(router);
        let key = LsaKey { kind: LsaKind::ROUTER, id, router: id };
        let body = LsaBody::Router(Router::default());
        let (sequence, checksum, correct_checksum) = (INITIAL_SEQUENCE, None, None);
        Lsa { age, options: 0, key, sequence, checksum, correct_checksum, body }.write().expect("bytes")
    }

    #[test]
    fn equal_bytes_are_kept_once_and_go_with_the_last_who_has_them() {
        let read = |router, age| Content::read(&bytes(router, age)).expect("an advertisement");
        let (one, again, other) = (read(0xf000_0001, 7), read(0xf000_0001, 900), read(0xf000_0002, 7));
        assert!(Arc::ptr_eq(&one, &again), "ages are not compared");
        assert!(one != other && one.bytes()[..2] == [0, 0] && one.header().age == 0);
        drop((one, again));
        assert!(Content::known(&bytes(0xf000_0001, 7)).is_none());
        assert!(Content::known(&bytes(0xf000_0002, 9)).is_some_and(|known| known == other));
    }

    #[test]
    fn many_are_found_again() {
        let all: Vec<_> =
            (0..5_000).map(|n| Content::read(&bytes(0xe000_0000 + n, 0)).expect("one")).collect();
        for (n, one) in (0..).zip(&all) {
            let found = Content::read(&bytes(0xe000_0000 + n, 1)).expect("one");
            assert!(found == *one && found.key().id == Ipv4Addr::from_bits(0xe000_0000 + n));
        }
        assert!(Content::read(&bytes(1, 0)[..19]).is_none());
    }
}
