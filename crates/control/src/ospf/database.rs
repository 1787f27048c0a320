//! Link-state databases, one for each area and one for what all areas share: instances of advertisements as the bytes
//! that came, and how they age.

use super::LS_REFRESH_TIME;
use base::{Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wire::ospf::{LSA_HEADER_LEN, LsaBody, LsaHeader, LsaKey, LsaKind, MAX_AGE, set_age};

/// How far an advertisement is flooded (RFC 2328, 13.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// In one area.
    Area(Ipv4Addr),
    /// In all areas that take routes from outside.
    As,
}

impl Scope {
    /// That of advertisements of a type which are flooded in an area.
    pub const fn of(kind: LsaKind, area: Ipv4Addr) -> Scope {
        match kind {
            LsaKind::EXTERNAL | LsaKind::OPAQUE_AS => Scope::As,
            _ => Scope::Area(area),
        }
    }

    /// Its area, if it is one.
    pub const fn area(self) -> Option<Ipv4Addr> {
        match self {
            Scope::Area(area) => Some(area),
            Scope::As => None,
        }
    }
}

/// An advertisement: how far it is flooded, and which one it is there.
pub(super) type Place = (Scope, LsaKey);

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

/// The advertisements of an area, or those that all areas share.
#[derive(Clone, Debug, Default)]
pub struct Database {
    all: BTreeMap<LsaKey, Arc<Instance>>,
    /// When each is too old.
    ages: BTreeSet<(Time, LsaKey)>,
    /// When each that was made here is to be made again.
    refreshes: BTreeSet<(Time, LsaKey)>,
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
            if !instance.is_flooded {
                self.refreshes.insert((instance.when(LS_REFRESH_TIME), key));
            }
        }
        let instance = Arc::new(instance);
        self.all.insert(key, instance.clone());
        instance
    }

    pub(super) fn remove(&mut self, key: &LsaKey) -> Option<Arc<Instance>> {
        let instance = self.all.remove(key)?;
        self.ages.remove(&(instance.when(MAX_AGE), *key));
        self.refreshes.remove(&(instance.when(LS_REFRESH_TIME), *key));
        self.old.remove(key);
        Some(instance)
    }

    /// When the next instance is too old, or to be made again.
    pub(super) fn due(&self) -> Option<Time> {
        let first = |all: &BTreeSet<(Time, LsaKey)>| all.first().map(|(at, _)| *at);
        Time::earliest([first(&self.ages), first(&self.refreshes)])
    }

    /// An own instance that has become so old that it is to be made again.
    pub(super) fn refresh(&mut self, now: Time) -> Option<LsaKey> {
        let &first = self.refreshes.first().filter(|(at, _)| *at <= now)?;
        self.refreshes.remove(&first);
        Some(first.1)
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

    /// What counts of a type whose link state id is in a range, by link state id and router.
    pub(super) fn among(
        &self,
        now: Time,
        kind: LsaKind,
        (first, last): (Ipv4Addr, Ipv4Addr),
    ) -> impl Iterator<Item = (LsaKey, &LsaBody)> {
        let end = |id, router| LsaKey { kind, id, router };
        let all = self.all.range(end(first, Ipv4Addr::UNSPECIFIED)..=end(last, Ipv4Addr::BROADCAST));
        let fresh = all.filter(move |(_, instance)| instance.age(now) < MAX_AGE);
        fresh.map(|(key, instance)| (*key, &instance.body))
    }

    /// The sum of the checksums, as RFC 4750 and other routers show it: equal databases have equal sums.
    pub fn checksum(&self) -> u64 {
        self.all.values().map(|instance| u64::from(instance.header.checksum)).sum()
    }
}

/// All databases of a router.
#[derive(Clone, Debug, Default)]
pub struct Databases {
    all: BTreeMap<Scope, Database>,
}

impl Databases {
    /// The database of an area, or that of all areas; nothing if the router has never been there.
    pub fn of(&self, scope: Scope) -> Option<&Database> {
        self.all.get(&scope)
    }

    /// An instance by how far it is flooded and which one it is there.
    pub fn get(&self, scope: Scope, key: &LsaKey) -> Option<&Arc<Instance>> {
        self.of(scope)?.get(key)
    }

    /// All instances: area by area, and those of all areas last.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, &Arc<Instance>)> {
        self.all.iter().flat_map(|(scope, database)| database.iter().map(|instance| (*scope, instance)))
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.all.values().map(Database::len).sum()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those that there are.
    pub(super) fn scopes(&self) -> Vec<Scope> {
        self.all.keys().copied().collect()
    }

    pub(super) fn of_mut(&mut self, scope: Scope) -> &mut Database {
        self.all.entry(scope).or_default()
    }

    /// When something is due in one of them.
    pub(super) fn due(&self) -> Option<Time> {
        self.all.values().filter_map(Database::due).min()
    }
}
