//! Processes: the devices of which no link can tell that they run ahead of each other, and what each has to do next.
//!
//! Devices joined by links on which a frame may take no time at all are one process: a router and its probe, say. All
//! other links lead from one process to another, and a frame on them takes its time. What a process has to do are the
//! arrivals at its devices and their timeouts; the first arrival of each lane and each timeout has a [`Key`], whose
//! order is the one that the module's documentation states.
//!
//! The keys of a process stand in a tournament: a complete binary tree of which each node is the lesser of the two
//! below it, so that the first thing to do is its root. The roots stand in one more tournament.

use super::{Node, NodeState};
use crate::lane::{Lane, LaneEnds};
use crate::queue::{Place, tournament};
use base::Time;
use base::prefetch::prefetch_bytes;

/// When something is to be done, then what it is, then whose it is: of a lower key is done first.
///
/// ```text
/// 127            64 63       62                                   31 30          0
/// | time           | timeout? | receiving port, or number of node   | process     |
/// ```
pub(super) type Key = u128;

/// Nothing is to be done.
pub(super) const NEVER: Key = u128::MAX;

const TIMEOUT: u64 = 1 << 63;
const PROCESS_BITS: u32 = 31;
const PROCESS: u64 = (1 << PROCESS_BITS) - 1;

/// What is to be done first somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The first frame of this lane arrives.
    Arrival(u32),
    /// The device with this number asked to be called.
    Timeout(u32),
}

/// The time of a key.
#[inline(always)]
pub(super) fn time_of(key: Key) -> Time {
    Time((key >> 64) as u64)
}

/// The same to be done at another time.
#[inline(always)]
pub(super) fn at_time(key: Key, at: Time) -> Key {
    u128::from(at.0) << 64 | u128::from(key as u64)
}

/// What a key says is to be done, whatever the time and the process.
#[inline]
pub(super) fn what_of(key: Key) -> u64 {
    key as u64 >> PROCESS_BITS
}

/// What a key, which is not [`NEVER`], says is to be done.
#[inline(always)]
pub(super) fn due_of(key: Key) -> Due {
    let what = key as u64;
    let number = (what >> PROCESS_BITS) as u32;
    if what & TIMEOUT == 0 { Due::Arrival(number ^ 1) } else { Due::Timeout(number) }
}

/// The key of a first arrival on lane `g`, which leads to `process`.
#[inline(always)]
pub(super) fn arrival_key(at: Time, g: u32, process: u32) -> Key {
    u128::from(at.0) << 64 | u128::from(u64::from(g ^ 1) << PROCESS_BITS | u64::from(process))
}

/// The same, or [`NEVER`] at the largest time.
#[inline(always)]
pub(super) fn arrival_key_or_never(at: Time, g: u32, process: u32) -> Key {
    if at == Time::MAX { NEVER } else { arrival_key(at, g, process) }
}

#[inline(always)]
pub(super) fn timeout_key(at: Time, node: u32, process: u32) -> Key {
    let what = TIMEOUT | u64::from(node) << PROCESS_BITS | u64::from(process);
    u128::from(at.0) << 64 | u128::from(what)
}

/// A network with so many processes or more does not fit into the caches.
const MANY: usize = 64;

/// The keys of a process that most have no more of.
const KEYS_BYTES: usize = 128;

/// A lane that leads to a process from another one.
#[derive(Clone, Copy, Debug)]
struct Entrance {
    /// No frame takes less than this, in picoseconds.
    shortest: u64,
    /// The tournament of the process at its beginning.
    base: u32,
}

#[derive(Clone, Debug)]
struct Process {
    /// Where its tournament begins: two times that are not a key, then the root, then what is below it.
    base: u32,
    /// Its entrances.
    entrances: core::ops::Range<u32>,
    /// Lanes with queue disciplines that lead to one of its devices.
    queued: Vec<u32>,
    /// The highest key of what it has done at the time of what it did last. What becomes possible at that time comes
    /// after it, whatever its own key.
    latest: Key,
}

/// All processes of a network.
#[derive(Debug, Default)]
pub(super) struct Processes {
    list: Vec<Process>,
    entrances: Vec<Entrance>,
    /// All tournaments. In front of each stand the reach of the process, above, and the least time that a frame takes
    /// by one of its entrances, below.
    keys: Vec<Key>,
    /// The tournament of their roots, or of what they did last if that has a higher key: their turns.
    firsts: Vec<Key>,
    /// Stands for all processes of other worlds: whatever comes to it is earlier than nothing.
    outside: u32,
}

impl Processes {
    /// Finds the processes of these devices and lanes, and what each has to do. `latest` is what the processes of the
    /// devices have done last; it may be empty.
    pub(super) fn new(nodes: &mut [Node], lanes: &mut [Lane], latest: &[Key]) -> Processes {
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
        let mut all = Processes { outside, ..Processes::default() };
        for &leaves in leaves.iter().chain([&1]) {
            let half = leaves.next_power_of_two();
            let base = all.keys.len() as u32;
            all.keys.resize(all.keys.len() + 2 * half as usize, NEVER);
            all.list.push(Process { base, entrances: 0..0, queued: Vec::new(), latest: 0 });
        }
        if let Some(root) = all.keys.last_mut() {
            *root = 0;
        }
        // Entrances of a process lie together.
        let mut entrances: Vec<(u32, u32)> = Vec::new();
        for (g, lane) in lanes.iter().enumerate().filter(|(_, lane)| lane.ends == LaneEnds::Both) {
            let from = process_of[lanes[g ^ 1].to_node.index()];
            if from != lane.place.process {
                entrances.push((lane.place.process, g as u32));
            }
            if lane.is_queued() {
                all.list[lane.place.process as usize].queued.push(g as u32);
            }
        }
        entrances.sort_unstable();
        for (process, g) in entrances {
            let from = process_of[lanes[g as usize ^ 1].to_node.index()];
            let shortest = lanes[g as usize].shortest();
            let at = all.entrances.len() as u32;
            all.entrances.push(Entrance { shortest, base: all.list[from as usize].base });
            let Process { base, entrances, .. } = &mut all.list[process as usize];
            if entrances.start == entrances.end {
                *entrances = at..at;
            }
            entrances.end = at + 1;
            let least = &mut all.keys[*base as usize];
            *least = NEVER << 64 | u128::from((*least as u64).min(shortest));
        }
        for process in &all.list[..count] {
            let reach = all.entrances[process.entrances.start as usize..process.entrances.end as usize]
                .iter()
                .map(|entrance| all.least(entrance.base).saturating_add(entrance.shortest));
            let reach = reach.min().unwrap_or(u64::MAX);
            all.keys[process.base as usize] = u128::from(reach) << 64 | u128::from(all.least(process.base));
        }
        for place in
            nodes.iter_mut().map(|node| &mut node.place).chain(lanes.iter_mut().map(|l| &mut l.place))
        {
            let half = leaves.get(place.process as usize).map_or(1, |leaves| leaves.next_power_of_two());
            place.leaf += all.list[place.process as usize].base + half;
        }
        for (&latest, &process) in latest.iter().zip(&process_of).filter(|(_, process)| **process != u32::MAX)
        {
            all.did(latest & !Key::from(PROCESS) | Key::from(process));
        }
        all.firsts = vec![NEVER; 2 * count.next_power_of_two()];
        for (node, number) in nodes.iter().zip(0..) {
            all.set_timeout(node, number, node.timeout);
        }
        for (lane, g) in lanes.iter().zip(0..) {
            all.set_arrival(lane, g);
        }
        all
    }

    /// What the process of each of these devices has done last.
    pub(super) fn latest_of(&self, nodes: &[Node]) -> Vec<Key> {
        nodes
            .iter()
            .map(|node| self.list.get(node.place.process as usize).map_or(0, |own| own.latest))
            .collect()
    }

    /// Which process has its turn, and when. What it does is its [`Processes::root`].
    #[inline(always)]
    pub(super) fn first(&self) -> Key {
        self.firsts.get(1).copied().unwrap_or(NEVER)
    }

    /// Which process has its turn after the first, as far as is known.
    #[inline]
    fn second(&self, first: Key) -> Key {
        let (mut at, mut least) = (self.leaf(Processes::of(first)), NEVER);
        while at > 1 {
            least = least.min(self.firsts[at ^ 1]);
            at >>= 1;
        }
        least
    }

    /// The process that is going to have its turn after the first, if there are so many that what it needs has left
    /// the caches since its last turn. Hints that its tournament is needed soon.
    #[inline(always)]
    pub(super) fn prefetch_second(&self, first: Key) -> Option<Due> {
        if self.firsts.len() < 2 * MANY {
            return None;
        }
        let second = self.second(first);
        if second == NEVER {
            return None;
        }
        let keys = &self.keys[self.base(Processes::of(second)) as usize..];
        prefetch_bytes(keys, KEYS_BYTES);
        Some(due_of(second))
    }

    /// What the process that has its turn does first.
    #[inline(always)]
    pub(super) fn root_of(&self, first: Key) -> Key {
        self.root(self.base(Processes::of(first)))
    }

    /// The process of a key.
    #[inline(always)]
    pub(super) fn of(key: Key) -> u32 {
        (key as u64 & PROCESS) as u32
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

    /// The least time that a frame takes by an entrance of a process.
    #[inline(always)]
    fn least(&self, base: u32) -> u64 {
        self.keys[base as usize] as u64
    }

    /// A time up to which a process can go on at most, if the first of all that is done is done by it at `first`: a
    /// frame may come to a neighbour then, and what that sends after it to the process. In less than a look at the
    /// neighbours, this tells whether that is worth while.
    #[inline(always)]
    pub(super) fn reach(&self, base: u32, first: Time) -> Time {
        Time(first.0.saturating_add((self.keys[base as usize] >> 64) as u64))
    }

    /// Lanes with queue disciplines that lead to a process.
    #[inline]
    pub(super) fn queued(&self, process: u32) -> &[u32] {
        &self.list[process as usize].queued
    }

    /// A time before which nothing comes to a process that is not known by now, if nothing happens anywhere before
    /// `first`, and frames that wait in queues with nothing on the wire arrive at `waiting` or later.
    ///
    /// A neighbour sends when it has something to do. Either that is known, or it comes from yet another process,
    /// which has nothing to do before `first`.
    #[inline]
    pub(super) fn horizon(&self, process: u32, first: Time, waiting: Time) -> Time {
        let Process { base, entrances, .. } = &self.list[process as usize];
        let mut horizon = waiting.0.saturating_add(self.least(*base));
        for entrance in &self.entrances[entrances.start as usize..entrances.end as usize] {
            let heard = first.0.saturating_add(self.least(entrance.base));
            let acts = time_of(self.root(entrance.base)).0.min(heard);
            horizon = horizon.min(acts.saturating_add(entrance.shortest));
        }
        Time(horizon)
    }

    /// A process has done, or does, what has this key. Returns the highest key of what it did at this time.
    #[inline(always)]
    pub(super) fn did(&mut self, key: Key) -> Key {
        let latest = &mut self.list[Processes::of(key) as usize].latest;
        *latest = (*latest).max(key);
        *latest
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

    /// What a process has to do first but for what is at `leaf`, if that comes before with this key.
    #[inline(always)]
    pub(super) fn next_other(&self, base: u32, leaf: u32, key: Key) -> Option<Key> {
        tournament::next_other(&self.keys[base as usize..], (leaf - base) as usize, key)
    }

    /// The process that was the first of all has been worked on.
    #[inline]
    pub(super) fn settle_first(&mut self, process: u32, base: u32) {
        let turn = self.root(base).max(self.list[process as usize].latest);
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
            time_of(root) >= time_of(latest),
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
        let key = arrival_key(arrival, g, place.process);
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
        let key = arrival_key_or_never(next, g, lane.place.process);
        self.put(lane.place, key);
    }

    /// Takes note of a device's timeout; the largest time if it has none.
    #[inline]
    pub(super) fn set_timeout(&mut self, node: &Node, number: u32, timeout: Time) {
        self.put(node.place, timeout_key_or_never(timeout, number, node.place.process));
    }

    /// The key of a device's timeout.
    #[inline(always)]
    pub(super) fn timeout(node: &Node, number: u32) -> Key {
        timeout_key_or_never(node.timeout, number, node.place.process)
    }
}

#[inline(always)]
fn timeout_key_or_never(timeout: Time, number: u32, process: u32) -> Key {
    if timeout == Time::MAX { NEVER } else { timeout_key(timeout, number, process) }
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
