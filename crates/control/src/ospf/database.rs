//! The link-state database of an area: instances of advertisements as the bytes that came, and how they age.

use base::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::ospf::{LSA_HEADER_LEN, LsaBody, LsaHeader, LsaKey, MAX_AGE, set_age};

/// An instance of an advertisement.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its header as it came; the age is that of then.
    pub header: LsaHeader,
    /// All of its bytes.
    pub bytes: Box<[u8]>,
    /// The same read, so that no computation of routes reads bytes.
    pub body: LsaBody,
    /// When it came, or was made.
    pub installed: Time,
    /// Did a neighbour flood it?
    pub is_flooded: bool,
}

impl Instance {
    /// The instance of these bytes; nothing if they are not as their type says.
    pub(super) fn read(bytes: &[u8], now: Time, is_flooded: bool) -> Option<Instance> {
        let header = LsaHeader::parse(bytes).ok()?;
        let body = LsaBody::parse(header.key.kind, bytes.get(LSA_HEADER_LEN..)?).ok()?;
        Some(Instance { header, bytes: bytes.into(), body, installed: now, is_flooded })
    }

    /// Its age in seconds at a time: at most [`MAX_AGE`].
    pub fn age(&self, now: Time) -> u16 {
        let seconds = (now.0.saturating_sub(self.installed.0)) / base::time::PS_PER_S;
        u64::from(self.header.age).saturating_add(seconds).min(MAX_AGE.into()) as u16
    }

    /// Its header with the age of a time.
    pub fn header_at(&self, now: Time) -> LsaHeader {
        LsaHeader { age: self.age(now), ..self.header }
    }

    /// Its bytes with the age of a time, and so many seconds more.
    pub fn bytes_at(&self, now: Time, more: u16) -> Vec<u8> {
        let mut bytes = self.bytes.to_vec();
        set_age(&mut bytes, self.age(now).saturating_add(more).min(MAX_AGE));
        bytes
    }

    /// The moment at which it is as old as that, in seconds.
    fn when(&self, age: u16) -> Time {
        self.installed + Span::from_secs(age.saturating_sub(self.header.age.min(MAX_AGE)).into())
    }
}

/// The advertisements of an area.
#[derive(Clone, Debug, Default)]
pub struct Database {
    all: BTreeMap<LsaKey, Arc<Instance>>,
    /// When each is too old.
    ages: BTreeSet<(Time, LsaKey)>,
    /// Those that are too old, and stay until everybody knows.
    old: BTreeSet<LsaKey>,
}

impl Database {
    /// The instance that is kept, also one that is too old but not yet acknowledged by all.
    pub fn get(&self, key: &LsaKey) -> Option<&Arc<Instance>> {
        self.all.get(key)
    }

    /// All instances, by type, link state id and router.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Instance>> {
        self.all.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Has the router neither made nor heard an advertisement?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Puts an instance in place of the one that was there.
    pub(super) fn install(&mut self, instance: Instance) -> Arc<Instance> {
        let key = instance.header.key;
        self.remove(&key);
        if instance.header.age >= MAX_AGE {
            self.old.insert(key);
        } else {
            self.ages.insert((instance.when(MAX_AGE), key));
        }
        let instance = Arc::new(instance);
        self.all.insert(key, instance.clone());
        instance
    }

    pub(super) fn remove(&mut self, key: &LsaKey) -> Option<Arc<Instance>> {
        let instance = self.all.remove(key)?;
        self.ages.remove(&(instance.when(MAX_AGE), *key));
        self.old.remove(key);
        Some(instance)
    }

    /// When the next instance is too old.
    pub(super) fn due(&self) -> Option<Time> {
        self.ages.first().map(|(at, _)| *at)
    }

    /// An instance that has just become too old: it is aged, and to be flooded.
    pub(super) fn expire(&mut self, now: Time) -> Option<Arc<Instance>> {
        let &(_, key) = self.ages.first().filter(|(at, _)| *at <= now)?;
        self.aged(&key, now)
    }

    /// Makes an instance too old before its time (RFC 2328, 14.1).
    pub(super) fn aged(&mut self, key: &LsaKey, now: Time) -> Option<Arc<Instance>> {
        let instance = self.all.get(key)?;
        let mut old = Instance { installed: now, ..(**instance).clone() };
        old.header.age = MAX_AGE;
        set_age(&mut old.bytes, MAX_AGE);
        Some(self.install(old))
    }

    /// Those that are too old.
    pub(super) fn old(&self) -> impl Iterator<Item = &LsaKey> {
        self.old.iter()
    }

    /// Routers and networks that count, for the computation of paths.
    pub(super) fn bodies(&self, now: Time) -> impl Iterator<Item = (LsaKey, &LsaBody)> {
        let fresh = self.all.values().filter(move |instance| instance.age(now) < MAX_AGE);
        fresh.map(|instance| (instance.header.key, &instance.body))
    }

    /// The sum of the checksums, as RFC 4750 and other routers show it: equal databases have equal sums.
    pub fn checksum(&self) -> u64 {
        self.all.values().map(|instance| u64::from(instance.header.checksum)).sum()
    }
}
