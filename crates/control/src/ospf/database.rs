//! Link-state databases, one for each area and one for what all areas share: which instances of
//! advertisements there are, and how they age.

use super::LS_REFRESH_TIME;
use super::content::Content;
use base::{Dense, Span, Time};
use core::net::Ipv4Addr;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use wire::ospf::{LsaBody, LsaHeader, LsaKey, LsaKind, MAX_AGE};

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
    /// What it says, which all have in common who have heard it.
    content: Arc<Content>,
    /// When it came, or was made.
    pub installed: Time,
    /// Its age then, in seconds.
    age: u16,
    /// Did a neighbour flood it?
    pub is_flooded: bool,
    /// The neighbours that were sent it and have not acknowledged it, by their numbers ([`Unacknowledged`]).
    ///
    /// [`Unacknowledged`]: super::unacknowledged::Unacknowledged
    pub(super) waiting: u32,
}

impl Instance {
    /// The instance of these bytes; nothing if they are not as their type says.
    pub(super) fn read(bytes: &[u8], now: Time, is_flooded: bool) -> Option<Instance> {
        let age = LsaHeader::parse(bytes).ok()?.age;
        Some(Instance::new(Content::read(bytes)?, age, now, is_flooded))
    }

    /// An instance that came, or was made, at this age.
    pub(super) fn new(content: Arc<Content>, age: u16, now: Time, is_flooded: bool) -> Instance {
        Instance { content, installed: now, age, is_flooded, waiting: 0 }
    }

    /// What it says.
    pub fn content(&self) -> &Arc<Content> {
        &self.content
    }

    /// Which advertisement it is of.
    pub fn key(&self) -> LsaKey {
        self.content.key()
    }

    /// Its header as it came; the age is that of then.
    pub fn header(&self) -> LsaHeader {
        LsaHeader { age: self.age, ..*self.content.header() }
    }

    /// Its body as a value, so that no computation of routes reads bytes.
    pub fn body(&self) -> &LsaBody {
        self.content.body()
    }

    /// How many bytes it has.
    pub fn byte_len(&self) -> usize {
        self.content.bytes().len()
    }

    /// Did it count no more when it came?
    pub fn is_old(&self) -> bool {
        self.age >= MAX_AGE
    }

    /// Its age in seconds at a time: at most [`MAX_AGE`].
    pub fn age(&self, now: Time) -> u16 {
        let seconds = (now.0.saturating_sub(self.installed.0)) / base::time::PS_PER_S;
        u64::from(self.age).saturating_add(seconds).min(MAX_AGE.into()) as u16
    }

    /// Its header with the age of a time.
    pub fn header_at(&self, now: Time) -> LsaHeader {
        LsaHeader { age: self.age(now), ..*self.content.header() }
    }

    /// Its age at a time and so many seconds later, as it is sent.
    pub fn age_sent(&self, now: Time, more: u16) -> u16 {
        self.age(now).saturating_add(more).min(MAX_AGE)
    }

    /// The moment at which it is as old as that, in seconds.
    fn when(&self, age: u16) -> Time {
        self.installed + Span::from_secs(age.saturating_sub(self.age.min(MAX_AGE)).into())
    }
}

/// The advertisements of an area, or those that all areas share.
///
/// Nearly all are those of routers, of which there may be ten thousand at each of ten thousand routers: they are found
/// by hash, and take no memory beside their instances. The others are ordered, since prefixes are looked for in them.
#[derive(Clone, Debug)]
pub struct Database {
    /// Those of routers, by router id.
    routers: Dense<Ipv4Addr, Instance>,
    others: BTreeMap<LsaKey, Instance>,
    /// No instance is too old before this moment.
    old_from: Time,
    /// Those that have become too old by the last look at all of them, and are still to be told of.
    ageing: VecDeque<LsaKey>,
    /// When each that was made here is to be made again.
    refreshes: BTreeSet<(Time, LsaKey)>,
    /// Those that are too old, and stay until everybody knows.
    old: BTreeSet<LsaKey>,
}

impl Default for Database {
    fn default() -> Database {
        Database {
            routers: Dense::default(),
            others: BTreeMap::new(),
            old_from: Time::MAX,
            ageing: VecDeque::new(),
            refreshes: BTreeSet::new(),
            old: BTreeSet::new(),
        }
    }
}

/// Is it the advertisement of a router, named as it should be?
fn is_of_router(key: &LsaKey) -> bool {
    key.kind == LsaKind::ROUTER && key.id == key.router
}

impl Database {
    /// The instance that is kept, also one that is too old but not yet acknowledged by all.
    pub fn get(&self, key: &LsaKey) -> Option<&Instance> {
        if is_of_router(key) { self.routers.get(&key.router) } else { self.others.get(key) }
    }

    pub(super) fn get_mut(&mut self, key: &LsaKey) -> Option<&mut Instance> {
        if is_of_router(key) { self.routers.get_mut(&key.router) } else { self.others.get_mut(key) }
    }

    /// All instances, by type, link state id and router.
    pub fn iter(&self) -> impl Iterator<Item = &Instance> {
        let first =
            LsaKey { kind: LsaKind::NETWORK, id: Ipv4Addr::UNSPECIFIED, router: Ipv4Addr::UNSPECIFIED };
        // Of advertisements of routers some are named as they should not be.
        let mut strange = self.others.range(..first).peekable();
        let behind = self.others.range(first..).map(|(_, instance)| instance);
        let mut routers = self.routers.iter().map(|(_, instance)| instance).peekable();
        let merged = core::iter::from_fn(move || match (routers.peek(), strange.peek()) {
            (Some(one), Some((key, _))) if one.key() > **key => strange.next().map(|(_, instance)| instance),
            (None, _) => strange.next().map(|(_, instance)| instance),
            _ => routers.next(),
        });
        merged.chain(behind)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.routers.len() + self.others.len()
    }

    /// Has the router neither made nor heard an advertisement?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts an instance in place of the one that was there, and returns that.
    pub(super) fn install(&mut self, instance: Instance) -> Option<Instance> {
        let key = instance.key();
        let (is_old, is_flooded) = (instance.is_old(), instance.is_flooded);
        let (old_from, refresh) = (instance.when(MAX_AGE), instance.when(LS_REFRESH_TIME));
        let before = if is_of_router(&key) {
            match self.routers.place(&key.router) {
                Some(place) => Some(core::mem::replace(self.routers.at_mut(place), instance)),
                None => {
                    self.routers.place_or_insert_with(key.router, || instance);
                    None
                }
            }
        } else {
            self.others.insert(key, instance)
        };
        if let Some(before) = &before {
            self.forget(&key, before);
        }
        if is_old {
            self.old.insert(key);
        } else {
            self.old_from = self.old_from.min(old_from);
            if !is_flooded {
                self.refreshes.insert((refresh, key));
            }
        }
        before
    }

    /// Forgets what is kept of an instance beside itself.
    fn forget(&mut self, key: &LsaKey, instance: &Instance) {
        if !instance.is_flooded {
            self.refreshes.remove(&(instance.when(LS_REFRESH_TIME), *key));
        }
        if !self.old.is_empty() {
            self.old.remove(key);
        }
    }

    pub(super) fn remove(&mut self, key: &LsaKey) -> Option<Instance> {
        let instance =
            if is_of_router(key) { self.routers.remove(&key.router) } else { self.others.remove(key) }?;
        self.forget(key, &instance);
        Some(instance)
    }

    /// When the next instance may be too old, or is to be made again.
    pub(super) fn due(&self) -> Option<Time> {
        let old = Some(self.old_from).filter(|at| *at != Time::MAX);
        let ageing = (!self.ageing.is_empty()).then_some(Time::ZERO);
        Time::earliest([old, ageing, self.refreshes.first().map(|(at, _)| *at)])
    }

    /// An own instance that has become so old that it is to be made again.
    pub(super) fn refresh(&mut self, now: Time) -> Option<LsaKey> {
        let &first = self.refreshes.first().filter(|(at, _)| *at <= now)?;
        self.refreshes.remove(&first);
        Some(first.1)
    }

    /// An instance that has just become too old: it is aged, and to be flooded.
    pub(super) fn expire(&mut self, now: Time) -> Option<Instance> {
        if self.old_from <= now {
            self.find_ageing(now);
        }
        while let Some(key) = self.ageing.pop_front() {
            // Another instance may have come in between.
            if self.get(&key).is_some_and(|known| !known.is_old() && known.age(now) >= MAX_AGE) {
                return self.aged(&key, now);
            }
        }
        None
    }

    /// Looks through all instances for those that are too old, the first to become so first. Instances are replaced
    /// long before they are: no order of their ages is kept.
    fn find_ageing(&mut self, now: Time) {
        let mut all: Vec<(Time, LsaKey)> = Vec::new();
        let mut next = Time::MAX;
        for instance in self.iter().filter(|one| !one.is_old()) {
            let at = instance.when(MAX_AGE);
            if at <= now {
                all.push((at, instance.key()));
            } else {
                next = next.min(at);
            }
        }
        all.sort_unstable();
        self.old_from = next;
        self.ageing = all.into_iter().map(|(_, key)| key).collect();
    }

    /// Makes an instance too old before its time (RFC 2328, 14.1).
    pub(super) fn aged(&mut self, key: &LsaKey, now: Time) -> Option<Instance> {
        let old = Instance { installed: now, age: MAX_AGE, ..self.get(key)?.clone() };
        self.install(old.clone());
        Some(old)
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
        debug_assert_ne!(kind, LsaKind::ROUTER, "those of routers are asked for one by one");
        let end = |id, router| LsaKey { kind, id, router };
        let all = self.others.range(end(first, Ipv4Addr::UNSPECIFIED)..=end(last, Ipv4Addr::BROADCAST));
        let fresh = all.filter(move |(_, instance)| instance.age(now) < MAX_AGE);
        fresh.map(|(key, instance)| (*key, instance.body()))
    }

    /// What counts of the advertisement of a router.
    pub(super) fn router(&self, now: Time, id: Ipv4Addr) -> Option<&LsaBody> {
        self.routers.get(&id).filter(|instance| instance.age(now) < MAX_AGE).map(Instance::body)
    }

    /// Each instance, to be changed, in no order.
    pub(super) fn each(&mut self, mut what: impl FnMut(&mut Instance)) {
        self.routers.each(&mut what);
        self.others.values_mut().for_each(what);
    }

    /// The sum of the checksums, as RFC 4750 and other routers show it: equal databases have equal sums.
    pub fn checksum(&self) -> u64 {
        self.iter().map(|instance| u64::from(instance.content.header().checksum)).sum()
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
    pub fn get(&self, scope: Scope, key: &LsaKey) -> Option<&Instance> {
        self.of(scope)?.get(key)
    }

    /// The same, to be changed; nothing if the router has never been there.
    pub(super) fn known_mut(&mut self, scope: Scope, key: &LsaKey) -> Option<&mut Instance> {
        self.all.get_mut(&scope)?.get_mut(key)
    }

    /// All instances: area by area, and those of all areas last.
    pub fn iter(&self) -> impl Iterator<Item = (Scope, &Instance)> {
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

    /// Is there an instance that is too old, in any of them?
    pub(super) fn has_old(&self) -> bool {
        self.all.values().any(|database| !database.old.is_empty())
    }

    /// Each instance of all of them, to be changed, in no order.
    pub(super) fn each(&mut self, mut what: impl FnMut(&mut Instance)) {
        self.all.values_mut().for_each(|database| database.each(&mut what));
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
