//! Processes: the devices of which no link can tell that they run ahead of each other, and what each has to do next.
//!
//! Devices joined by links on which a frame may take no time at all are one process: a router and its probe, say. All
//! other links lead from one process to another, and a frame on them takes its time. What a process has to do are the
//! arrivals at its devices and their timeouts; the first arrival of each lane and each timeout has a [`Key`], whose
//! order is the one that the module's documentation states.
//!
//! The keys of a process stand in a tournament: a complete binary tree of which each node is the lesser of the two
//! below it, so that the first thing to do is its root. The roots stand in one more tournament.

use super::keys::{Done, Due, Key, NEVER, Scale};
use super::{Node, NodeState};
use crate::lane::{Lane, LaneEnds};
use crate::queue::{Place, tournament};
use base::Time;
use base::prefetch::prefetch_bytes;

/// A network with so many processes or more does not fit into the caches.
const MANY: usize = 64;

/// The keys of a process that most have no more of.
const KEYS_BYTES: usize = 128;

/// How many keys there are in a cache line.
const KEYS_A_LINE: usize = 8;

/// A lane that leads to a process from another one.
#[derive(Clone, Copy, Debug)]
struct Entrance {
    /// No frame takes less than this, in picoseconds.
    shortest: u64,
    /// Where the turn of the process at its beginning is in the tournament of turns.
    leaf: u32,
}

/// What there is to know of a process, in one cache line.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Process {
    /// The highest key of what it has done at the time of what it did last. What becomes possible at that time comes
    /// after it, whatever its own key.
    latest: Key,
    /// The least time that a frame takes by one of its entrances.
    least: u64,
    /// The least time that a frame takes to a neighbour, and from there to the process.
    reach: u64,
    /// Where its tournament begins: zero, then the root, then what is below that.
    base: u32,
    /// Its entrances.
    entrances: core::ops::Range<u32>,
    /// Lanes with queue disciplines that lead to one of its devices.
    queued: Vec<u32>,
}

/// All processes of a network.
#[derive(Debug, Default)]
pub(super) struct Processes {
    list: Vec<Process>,
    entrances: Vec<Entrance>,
    scale: Scale,
    /// All tournaments, each in cache lines of its own.
    keys: Vec<Key>,
    /// The tournament of their roots, or of what they did last if that has a higher key: their turns.
    firsts: Vec<Key>,
    /// Whose it is what keys say is to be done, by the bits that say it.
    owners: Vec<u32>,
    /// Stands for all processes of other worlds: whatever comes to it is earlier than nothing.
    outside: u32,
}

impl Processes {
    /// Finds the processes of these devices and lanes, and what each has to do. Nothing happens before `epoch`.
    /// `latest` is what the processes of the devices have done last; it may be empty.
    pub(super) fn new(nodes: &mut [Node], lanes: &mut [Lane], epoch: Time, latest: &[Done]) -> Processes {
        let process_of = joined(nodes, lanes);
        let own = process_of.iter().filter(|process| **process != u32::MAX);
        let outside = own.max().map_or(0, |last| last + 1);
        let count = outside as usize;
        let mut leaves = vec![0u32; count];
        let mut take = |process: u32| {
            let Some(leaves) = leaves.get_mut(process as usize) else {
                return Place { process: outside, leaf: 0 };
            };
            *leaves += 1;
            Place { process, leaf: *leaves - 1 }
        };
        for (node, &process) in nodes.iter_mut().zip(&process_of) {
            node.place = take(process);
        }
        for lane in lanes.iter_mut() {
            lane.place = match lane.ends {
                LaneEnds::Both | LaneEnds::Receiver => take(process_of[lane.to_node.index()]),
                LaneEnds::Sender | LaneEnds::Neither => Place { process: outside, leaf: 0 },
            };
        }
        let scale = Scale::new(epoch.0, lanes.len(), nodes.len());
        let mut all = Processes { outside, scale, ..Processes::default() };
        let own = lanes.iter().enumerate().map(|(g, _)| lanes[g ^ 1].place.process);
        all.owners = own.chain(nodes.iter().map(|node| node.place.process)).collect();
        let halves = || leaves.iter().chain([&1]).map(|&leaves| half(leaves));
        let size: usize = halves().map(|half| 2 * half as usize).sum();
        all.keys = Vec::with_capacity(size + KEYS_A_LINE);
        // What follows fits, so that the memory stays where it is.
        let first = all.keys.as_ptr().align_offset(KEYS_A_LINE * size_of::<Key>()).min(KEYS_A_LINE);
        all.keys.resize(first, NEVER);
        for half in halves() {
            let base = all.keys.len() as u32;
            all.keys.resize(all.keys.len() + 2 * half as usize, NEVER);
            // Less than any key: what walks up ends here.
            all.keys[base as usize] = 0;
            let (least, reach) = (u64::MAX, u64::MAX);
            all.list.push(Process { latest: 0, least, reach, base, entrances: 0..0, queued: Vec::new() });
        }
        if let Some(outside) = all.list.last() {
            all.keys[outside.base as usize..].fill(0);
        }
        // Entrances of a process lie together.
        let mut entrances: Vec<(u32, u32)> = Vec::new();
        for (g, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.ends == LaneEnds::Both) {
            let from = process_of[lanes[g ^ 1].to_node.index()];
            let to = &mut all.list[lane.place.process as usize];
            if from != lane.place.process {
                entrances.push((lane.place.process, g as u32));
                to.least = to.least.min(lane.shortest());
            }
            if lane.is_queued() {
                to.queued.push(g as u32);
            }
        }
        entrances.sort_unstable();
        let turns = count.next_power_of_two();
        for (process, g) in entrances {
            let from = process_of[lanes[g as usize ^ 1].to_node.index()];
            let entrance = Entrance { shortest: lanes[g as usize].shortest(), leaf: turns as u32 + from };
            let least = all.list[from as usize].least;
            let at = all.entrances.len() as u32;
            all.entrances.push(entrance);
            let Process { reach, entrances, .. } = &mut all.list[process as usize];
            if entrances.start == entrances.end {
                *entrances = at..at;
            }
            entrances.end = at + 1;
            *reach = (*reach).min(least.saturating_add(entrance.shortest));
        }
        for place in
            nodes.iter_mut().map(|node| &mut node.place).chain(lanes.iter_mut().map(|l| &mut l.place))
        {
            let half = half(leaves.get(place.process as usize).map_or(1, |leaves| *leaves));
            place.leaf += all.list[place.process as usize].base + half;
        }
        for (&latest, &process) in latest.iter().zip(&process_of).filter(|(_, process)| **process != u32::MAX)
        {
            all.did(process, scale.key_of(latest));
        }
        all.firsts = vec![NEVER; 2 * turns];
        all.firsts[0] = 0;
        for (node, number) in nodes.iter().zip(0..) {
            all.set_timeout(node, number);
        }
        for (lane, g) in lanes.iter().zip(0..) {
            all.set_arrival(lane, g);
        }
        all
    }

    /// What the process of each of these devices has done last.
    pub(super) fn latest_of(&self, nodes: &[Node]) -> Vec<Done> {
        let latest = |node: &Node| self.list.get(node.place.process as usize).map_or(0, |own| own.latest);
        nodes.iter().map(|node| self.scale.done(latest(node))).collect()
    }

    /// Nothing happens before that.
    pub(super) fn epoch(&self) -> Time {
        Time(self.scale.epoch)
    }

    /// Those of no devices, for times from `epoch` on.
    pub(super) fn none(epoch: Time) -> Processes {
        Processes { scale: Scale::new(epoch.0, 0, 0), ..Processes::default() }
    }

    /// Which process has its turn, and when: the process of what the key says is to be done. What it does is its
    /// [`Processes::root`].
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        self.firsts.get(1).copied().unwrap_or(NEVER)
    }

    /// Does the time of a key not fit, so that it is to be done some time later? Or never.
    #[inline(always)]
    pub(super) fn is_late(&self, key: Key) -> bool {
        self.time_of(key) >= self.late()
    }

    /// From this time on keys do not tell when something is to be done.
    #[inline(always)]
    pub(super) fn late(&self) -> Time {
        self.scale.late
    }

    /// The time of a key; if [`Processes::is_late`], one before.
    #[inline(always)]
    pub(super) fn time_of(&self, key: Key) -> Time {
        self.scale.time(key)
    }

    /// What a key, which is not [`NEVER`], says is to be done.
    #[inline(always)]
    pub(super) fn due_of(&self, key: Key) -> Due {
        self.scale.due(key)
    }

    /// The key of something that is to be done.
    #[inline(always)]
    pub(super) fn key(&self, at: Time, due: Due) -> Key {
        self.scale.key(at, self.scale.of(due))
    }

    /// The key of a first arrival on lane `g`.
    #[inline(always)]
    pub(super) fn arrival_key(&self, at: Time, g: u32) -> Key {
        self.scale.key(at, g ^ 1)
    }

    /// The same, or [`NEVER`] at the largest time.
    #[inline(always)]
    pub(super) fn arrival_key_or_never(&self, at: Time, g: u32) -> Key {
        if at == Time::MAX { NEVER } else { self.arrival_key(at, g) }
    }

    /// The key of a timeout.
    #[inline(always)]
    pub(super) fn timeout_key(&self, at: Time, number: u32) -> Key {
        self.scale.key(at, self.scale.ports + number)
    }

    /// The same, or [`NEVER`] at the largest time.
    #[inline(always)]
    pub(super) fn timeout_key_or_never(&self, at: Time, number: u32) -> Key {
        if at == Time::MAX { NEVER } else { self.timeout_key(at, number) }
    }

    /// Are there so many that what one needs has left the caches since its last turn?
    #[inline(always)]
    pub(super) fn are_many(&self) -> bool {
        self.firsts.len() >= 2 * MANY
    }

    /// The process of what a key, which is not [`NEVER`], says is to be done.
    #[inline(always)]
    pub(super) fn owner(&self, key: Key) -> u32 {
        self.owners[self.scale.what(key) as usize]
    }

    /// The process that does something.
    #[inline(always)]
    pub(super) fn owner_of(&self, due: Due) -> u32 {
        self.owners[self.scale.of(due) as usize]
    }

    /// Which process has its turn after the first, as far as is known.
    #[inline(always)]
    pub(super) fn second(&self, process: u32) -> Option<Key> {
        let second = tournament::other(&self.firsts, self.leaf(process));
        (second != NEVER).then_some(second)
    }

    /// Hints that what there is to know of a process is needed soon.
    #[inline(always)]
    pub(super) fn prefetch(&self, process: u32) {
        let Process { base, entrances, .. } = &self.list[process as usize];
        prefetch_bytes(&self.keys[*base as usize..], KEYS_BYTES);
        prefetch_bytes(&self.entrances[entrances.start as usize..], 1);
    }

    /// Where the tournament of a process begins.
    #[inline(always)]
    pub(super) fn base(&self, process: u32) -> u32 {
        self.list[process as usize].base
    }

    /// What the process whose tournament begins at `base` has to do first.
    #[inline(always)]
    pub(super) fn root(&self, base: u32) -> Key {
        self.keys[base as usize + 1]
    }

    /// Where the tournament of a process begins; the time up to which it can go on at most, if the first of all that is
    /// done is done by it at `first`; and whether lanes with queue disciplines lead to it.
    ///
    /// At `first` a frame may come to a neighbour, and what that sends after it to the process. In less than a look at
    /// the neighbours, this tells whether that is worth while.
    #[inline(always)]
    pub(super) fn window_of(&self, process: u32, first: Time) -> (u32, Time, bool) {
        let Process { base, reach, queued, .. } = &self.list[process as usize];
        (*base, Time(first.0.saturating_add(*reach)), !queued.is_empty())
    }

    /// Lanes with queue disciplines that lead to a process.
    #[inline]
    pub(super) fn queued(&self, process: u32) -> &[u32] {
        &self.list[process as usize].queued
    }

    /// A time before which nothing comes to a process that is not known by now, up to its reach, if frames that wait in
    /// queues with nothing on the wire arrive at `waiting` or later.
    ///
    /// A neighbour sends when it has something to do. Either that is known, or it comes from yet another process,
    /// which has nothing to do before the first of all: what follows from that comes after the reach. The turn of
    /// another process has the time of what it has to do first, whatever it did last.
    #[inline(always)]
    pub(super) fn horizon(&self, process: u32, waiting: Time) -> Time {
        let Process { least, entrances, .. } = &self.list[process as usize];
        let mut horizon = waiting.0.saturating_add(*least);
        for entrance in &self.entrances[entrances.start as usize..entrances.end as usize] {
            let acts = self.time_of(self.firsts[entrance.leaf as usize]).0;
            horizon = horizon.min(acts.saturating_add(entrance.shortest));
        }
        Time(horizon)
    }

    /// A process has done, or does, what has this key. Returns the highest key of what it did at this time.
    #[inline(always)]
    pub(super) fn did(&mut self, process: u32, key: Key) -> Key {
        let latest = &mut self.list[process as usize].latest;
        *latest = (*latest).max(key);
        *latest
    }

    /// A process does something at `now`. Returns what of all that it did at this time has the highest key.
    pub(super) fn turn(&mut self, process: u32, now: Time, due: Due) -> Done {
        let latest = self.did(process, self.key(now, due));
        self.scale.done(latest)
    }

    /// Where the root of a process is a leaf.
    #[inline(always)]
    fn leaf(&self, process: u32) -> usize {
        self.firsts.len() / 2 + process as usize
    }

    /// Of what a process that is being worked on had to do first, this is the key now. Returns what it has to do first
    /// then. All processes learn of it when that is over.
    #[inline(always)]
    pub(super) fn replace_first(&mut self, base: u32, leaf: u32, key: Key) -> Key {
        tournament::replace_first(&mut self.keys[base as usize..], (leaf - base) as usize, key)
    }

    /// Of what else it has to do, this is the key now, which is no more than before.
    #[inline(always)]
    pub(super) fn lower_here(&mut self, base: u32, leaf: u32, key: Key) {
        tournament::lower(&mut self.keys[base as usize..], (leaf - base) as usize, key);
    }

    /// What a process has to do first but for what is at `leaf`.
    #[inline(always)]
    pub(super) fn other(&self, base: u32, leaf: u32) -> Key {
        tournament::other(&self.keys[base as usize..], (leaf - base) as usize)
    }

    /// The process that was the first of all has been worked on.
    #[inline(always)]
    pub(super) fn settle_first(&mut self, process: u32) {
        let Process { base, latest, .. } = &self.list[process as usize];
        let turn = self.root(*base).max(*latest);
        let leaf = self.leaf(process);
        tournament::replace_first(&mut self.firsts, leaf, turn);
    }

    /// Writes a key wherever it is.
    #[inline]
    fn put(&mut self, place: Place, key: Key) {
        if place.process == self.outside {
            return;
        }
        let Process { base, latest, .. } = self.list[place.process as usize];
        let root = tournament::set(&mut self.keys[base as usize..], (place.leaf - base) as usize, key);
        debug_assert!(
            self.time_of(root) >= self.time_of(latest),
            "something is to be done before what is done already"
        );
        let (leaf, turn) = (self.leaf(place.process), root.max(latest));
        if self.firsts[leaf] != turn {
            tournament::set(&mut self.firsts, leaf, turn);
        }
    }

    /// A lane that was idle has a first arrival, at another process than the one that is first of all, and later than
    /// what that has to do.
    #[inline(always)]
    pub(super) fn begin(&mut self, place: Place, g: u32, arrival: Time) {
        let key = self.arrival_key(arrival, g);
        let base = self.base(place.process);
        if self.root(base) > key {
            let leaf = self.leaf(place.process);
            tournament::lower(&mut self.firsts, leaf, key);
        }
        self.lower_here(base, place.leaf, key);
    }

    /// Takes note of the first arrival of a lane, or that there is none.
    #[inline]
    pub(super) fn set_arrival(&mut self, lane: &Lane, g: u32) {
        let next = lane.ring.next_arrival().unwrap_or(Time::MAX);
        self.put(lane.place, self.arrival_key_or_never(next, g));
    }

    /// Takes note of a device's timeout.
    #[inline]
    pub(super) fn set_timeout(&mut self, node: &Node, number: u32) {
        self.put(node.place, self.timeout_key_or_never(node.timeout, number));
    }

    /// When the first of all that is to be done by these devices is, if keys do not tell; the largest time if nothing
    /// is.
    #[cold]
    pub(super) fn look_late(&self, nodes: &[Node], lanes: &[Lane]) -> Time {
        if self.first() == NEVER {
            return Time::MAX;
        }
        let own = |place: Place| place.process != self.outside;
        let timeouts = nodes.iter().filter(|node| own(node.place)).map(|node| node.timeout);
        let arrivals =
            lanes.iter().filter(|lane| own(lane.place)).filter_map(|lane| lane.ring.next_arrival());
        timeouts.chain(arrivals).min().unwrap_or(Time::MAX)
    }
}

/// How many leaves a tournament has for so many keys, so that it fills whole cache lines.
fn half(leaves: u32) -> u32 {
    leaves.next_power_of_two().max(KEYS_A_LINE as u32 / 2)
}

/// The process of each device, numbered in the order of their first devices: devices joined by lanes on which a frame
/// may take no time. The largest number is that of devices of other worlds.
fn joined(nodes: &[Node], lanes: &[Lane]) -> Vec<u32> {
    let mut sets = Sets::new(nodes.len());
    for (g, lane) in lanes.iter().enumerate() {
        if lane.shortest() == 0 && lane.ends == LaneEnds::Both {
            sets.join(lane.to_node.0, lanes[g ^ 1].to_node.0);
        }
    }
    let (mut numbers, mut count) = (vec![u32::MAX; nodes.len()], 0);
    let number = |(at, node): (u32, &Node)| {
        if node.state == NodeState::Elsewhere {
            return u32::MAX;
        }
        let first = sets.first(at) as usize;
        if numbers[first] == u32::MAX {
            numbers[first] = count;
            count += 1;
        }
        numbers[first]
    };
    (0..).zip(nodes).map(number).collect()
}

/// Numbers in sets, each of which is known by the least of its numbers.
#[derive(Clone)]
pub(super) struct Sets(Vec<u32>);

impl Sets {
    /// Each number below `count` is a set of its own.
    pub(super) fn new(count: usize) -> Sets {
        Sets((0..count as u32).collect())
    }

    /// The least number of the set that a number is in.
    pub(super) fn first(&mut self, mut number: u32) -> u32 {
        let parent = &mut self.0;
        while parent[number as usize] != number {
            parent[number as usize] = parent[parent[number as usize] as usize];
            number = parent[number as usize];
        }
        number
    }

    /// Makes one set of those that two numbers are in.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
