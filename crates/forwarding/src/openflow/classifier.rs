//! Which of many patterns a packet has: tuple-space search (decision 0052). Patterns with the same mask are a tuple,
//! whose values are found by a hash. Tuples are searched by their highest priority, so that the search ends when no
//! better one can come. Where there are many tuples, lanes say which of them are worth a search.

use super::fields::WORDS;
use super::lanes::{self, Lanes};
use super::{Fields, Pattern};
use crate::hash::{Seed, mix};
use base::Map;
use core::num::NonZeroU32;
use std::collections::BTreeMap;

/// From so many tuples on there are lanes, which go when there are fewer than half as many.
const MANY: usize = 8;
/// So many tuples, at the most, are searched in any order: to look for them in order takes longer.
const SOME: u32 = 16;

/// Patterns by the identifiers that their owner gives them: small numbers, each at most once.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    seed: Seed,
    rules: Vec<Option<Rule>>,
    tuples: Vec<Option<Tuple>>,
    free: Vec<u32>,
    places: Map<Fields, u32>,
    /// Places of tuples with their highest priorities, the highest first.
    order: Vec<(u16, u32)>,
    /// Which tuples a packet can have a pattern of, if there are many.
    lanes: Option<Box<Lanes>>,
}

/// The best pattern that a search has found: its priority, sequence and identifier.
type Best = Option<(u16, u64, u32)>;

#[derive(Clone, Debug)]
struct Rule {
    tuple: u32,
    /// One more than the next pattern of the tuple with the same hash, of a lower priority or younger.
    next: Option<NonZeroU32>,
    priority: u16,
    /// Patterns of one priority are searched in this order.
    sequence: u64,
    hash: u32,
    /// The words of the value where the tuple's mask has ones.
    words: Box<[u64]>,
}

#[derive(Clone, Debug)]
struct Tuple {
    mask: Fields,
    /// Words in which the mask has ones.
    words: Box<[u8]>,
    /// The first pattern with a hash. Half of the bits are enough: a million entries keep them twice.
    heads: Map<u32, u32>,
    /// How many patterns have a priority.
    priorities: BTreeMap<u16, u32>,
    /// The highest of them; nothing before the first pattern.
    highest: Option<u16>,
}

/// What a table has of a hash.
const fn folded(hash: u64) -> u32 {
    (hash ^ hash >> 32) as u32
}

impl Rule {
    fn next(&self) -> Option<u32> {
        self.next.map(|next| next.get() - 1)
    }

    fn set_next(&mut self, next: Option<u32>) {
        self.next = next.and_then(|next| NonZeroU32::new(next + 1));
    }
}

impl Tuple {
    fn new(mask: Fields) -> Tuple {
        let words: Box<[u8]> = (0..WORDS as u8).filter(|word| mask.0[usize::from(*word)] != 0).collect();
        let (heads, priorities) = Default::default();
        Tuple { mask, words, heads, priorities, highest: None }
    }

    /// The value of one of its patterns.
    fn value(&self, rule: &Rule) -> Fields {
        let mut value = Fields::NONE;
        for (word, own) in self.words.iter().zip(&rule.words) {
            value.0[usize::from(*word)] = *own;
        }
        value
    }

    /// The hash of a value's words.
    #[inline]
    fn hash(&self, seed: Seed, value: &Fields) -> u32 {
        folded(self.words.iter().fold(seed.0, |hash, word| {
            let word = usize::from(*word);
            mix(hash ^ value.0[word] & self.mask.0[word], seed.1 | 1).wrapping_add(hash.rotate_left(23))
        }))
    }

    #[inline]
    fn is_of(&self, words: &[u64], value: &Fields) -> bool {
        let mut pairs = self.words.iter().zip(words);
        pairs.all(|(word, own)| {
            let word = usize::from(*word);
            value.0[word] & self.mask.0[word] == *own
        })
    }
}

impl Classifier {
    /// A classifier without patterns, whose hashes begin with `seed`: who does not know it can't make many patterns
    /// have the same hash.
    pub fn new(seed: Seed) -> Classifier {
        Classifier { seed, ..Classifier::default() }
    }

    /// The pattern of highest priority that a packet has; of several the one with the lowest `sequence`.
    pub fn lookup(&self, packet: &Fields) -> Option<u32> {
        let mut best = None;
        let Some(lanes) = &self.lanes else {
            self.search(packet, &mut best, |_| true);
            return best.map(|(_, _, id)| id);
        };
        let possible = lanes.narrow(packet);
        if lanes::count(&possible) > SOME {
            self.search(packet, &mut best, |place| lanes::has(&possible, place));
        } else {
            for tuple in lanes::places(&possible).filter_map(|place| self.tuples[place as usize].as_ref()) {
                if best.is_none_or(|(priority, ..)| Some(priority) <= tuple.highest) {
                    self.search_tuple(tuple, packet, &mut best);
                }
            }
        }
        best.map(|(_, _, id)| id)
    }

    /// Searches tuples by their highest priority, as long as a better pattern can come. `is_possible`: can the packet
    /// have a pattern of the tuple at a place?
    #[inline]
    fn search(&self, packet: &Fields, best: &mut Best, is_possible: impl Fn(u32) -> bool) {
        for (highest, place) in &self.order {
            if best.is_some_and(|(priority, ..)| priority > *highest) {
                break;
            }
            if let Some(tuple) = self.tuples[*place as usize].as_ref().filter(|_| is_possible(*place)) {
                self.search_tuple(tuple, packet, best);
            }
        }
    }

    /// The first pattern of a tuple that a packet has is the best of that tuple.
    #[inline]
    fn search_tuple(&self, tuple: &Tuple, packet: &Fields, best: &mut Best) {
        let hash = tuple.hash(self.seed, packet);
        let mut next = tuple.heads.get(&hash).copied();
        while let Some((id, rule)) = next.and_then(|id| Some((id, self.rules[id as usize].as_ref()?))) {
            if tuple.is_of(&rule.words, packet) {
                let is_better = best.is_none_or(|(priority, sequence, _)| {
                    rule.priority > priority || rule.priority == priority && rule.sequence < sequence
                });
                if is_better {
                    *best = Some((rule.priority, rule.sequence, id));
                }
                return;
            }
            next = rule.next();
        }
    }

    /// The pattern that is the same, with the same priority.
    pub fn find(&self, pattern: &Pattern, priority: u16) -> Option<u32> {
        let tuple = self.tuples[*self.places.get(&pattern.mask)? as usize].as_ref()?;
        let hash = tuple.hash(self.seed, &pattern.value);
        let mut next = tuple.heads.get(&hash).copied();
        while let Some((id, rule)) = next.and_then(|id| Some((id, self.rules[id as usize].as_ref()?))) {
            if rule.priority == priority && tuple.is_of(&rule.words, &pattern.value) {
                return Some(id);
            }
            next = rule.next();
        }
        None
    }

    /// Is there a pattern of this priority with a mask that `is_possible` is true of? A scan of all patterns is only
    /// worth it then.
    pub(super) fn has_tuple(&self, priority: Option<u16>, is_possible: impl Fn(&Fields) -> bool) -> bool {
        self.tuples.iter().flatten().any(|tuple| {
            priority.is_none_or(|priority| tuple.priorities.contains_key(&priority))
                && is_possible(&tuple.mask)
        })
    }

    /// Has every packet this pattern, and does every other come before it?
    pub fn is_last_resort(&self, id: u32) -> bool {
        let rule = self.rules.get(id as usize).and_then(Option::as_ref);
        rule.is_some_and(|rule| rule.priority == 0 && rule.words.is_empty())
    }

    /// The pattern and priority of an identifier.
    pub fn get(&self, id: u32) -> Option<(Pattern, u16)> {
        let rule = self.rules.get(id as usize)?.as_ref()?;
        let tuple = self.tuples[rule.tuple as usize].as_ref()?;
        Some((Pattern { value: tuple.value(rule), mask: tuple.mask }, rule.priority))
    }

    /// Adds a pattern under an identifier that is free.
    pub fn insert(&mut self, id: u32, pattern: &Pattern, priority: u16, sequence: u64) {
        let place = match self.places.get(&pattern.mask) {
            Some(place) => *place,
            None => self.add_tuple(pattern.mask),
        };
        let Some(tuple) = &mut self.tuples[place as usize] else { return };
        let hash = tuple.hash(self.seed, &pattern.value);
        *tuple.priorities.entry(priority).or_default() += 1;
        let words = tuple.words.iter().map(|word| pattern.value.0[usize::from(*word)]).collect();
        // Behind all of the chain that come before it.
        let (mut before, mut next) = (None, tuple.heads.get(&hash).copied());
        while let Some(other) = next.and_then(|id| self.rules[id as usize].as_ref()) {
            if (core::cmp::Reverse(other.priority), other.sequence) > (core::cmp::Reverse(priority), sequence)
            {
                break;
            }
            (before, next) = (next, other.next());
        }
        match before.and_then(|id: u32| self.rules[id as usize].as_mut()) {
            Some(other) => other.set_next(Some(id)),
            None => drop(tuple.heads.insert(hash, id)),
        }
        if self.rules.len() <= id as usize {
            self.rules.resize(id as usize + 1, None);
        }
        let mut rule = Rule { tuple: place, next: None, priority, sequence, hash, words };
        rule.set_next(next);
        self.rules[id as usize] = Some(rule);
        let is_new = tuple.highest.is_none();
        self.reorder(place);
        let must_be_made = match &mut self.lanes {
            Some(lanes) if lanes.has_place(place) => {
                if is_new {
                    lanes.add_tuple(place, &pattern.mask);
                }
                lanes.insert(place, &pattern.mask, &pattern.value)
            }
            Some(_) => true,
            None => is_new && self.order.len() >= MANY,
        };
        if must_be_made {
            self.make_lanes();
        }
    }

    /// Makes lanes of all patterns.
    fn make_lanes(&mut self) {
        let tuples = self.tuples.iter().enumerate().filter_map(|(place, tuple)| {
            let tuple = tuple.as_ref()?;
            Some((place as u32, &tuple.mask, tuple.priorities.values().sum::<u32>() as usize))
        });
        let mut lanes = Lanes::new(self.seed, self.tuples.len(), tuples);
        if let Some(lanes) = &mut lanes {
            for rule in self.rules.iter().flatten() {
                let Some(tuple) = &self.tuples[rule.tuple as usize] else { continue };
                lanes.insert(rule.tuple, &tuple.mask, &tuple.value(rule));
            }
        }
        self.lanes = lanes.map(Box::new);
    }

    /// Takes a pattern out.
    pub fn remove(&mut self, id: u32) {
        let Some((pattern, priority)) = self.get(id) else { return };
        let Some(rule) = self.rules[id as usize].take() else { return };
        let Some(tuple) = &mut self.tuples[rule.tuple as usize] else { return };
        if let Some(count) = tuple.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                tuple.priorities.remove(&priority);
            }
        }
        match (tuple.heads.get(&rule.hash).copied(), rule.next()) {
            (Some(head), Some(next)) if head == id => drop(tuple.heads.insert(rule.hash, next)),
            (Some(head), None) if head == id => drop(tuple.heads.remove(&rule.hash)),
            (mut at, next) => {
                while let Some(other) = at.and_then(|at| self.rules[at as usize].as_mut()) {
                    if other.next() == Some(id) {
                        other.set_next(next);
                        break;
                    }
                    at = other.next();
                }
            }
        }
        self.reorder(rule.tuple);
        let Some(lanes) = &mut self.lanes else { return };
        let must_be_made = lanes.remove(&pattern.mask);
        if self.tuples.get(rule.tuple as usize).is_none_or(Option::is_none) {
            lanes.remove_tuple(rule.tuple);
        }
        if self.order.len() < MANY / 2 {
            self.lanes = None;
        } else if must_be_made {
            self.make_lanes();
        }
    }

    fn add_tuple(&mut self, mask: Fields) -> u32 {
        let place = self.free.pop().unwrap_or(self.tuples.len() as u32);
        if self.tuples.len() == place as usize {
            self.tuples.push(None);
        }
        self.tuples[place as usize] = Some(Tuple::new(mask));
        self.places.insert(mask, place);
        place
    }

    /// Puts a tuple where its highest priority belongs, or takes it away if it is empty.
    fn reorder(&mut self, place: u32) {
        let Some(tuple) = &mut self.tuples[place as usize] else { return };
        let highest = tuple.priorities.last_key_value().map(|(priority, _)| *priority);
        if core::mem::replace(&mut tuple.highest, highest) == highest {
            return;
        }
        let now = self.order.iter().position(|(_, other)| *other == place);
        if let Some(now) = now {
            self.order.remove(now);
        }
        match highest {
            Some(highest) => {
                let at = self.order.partition_point(|(other, _)| *other >= highest);
                self.order.insert(at, (highest, place));
            }
            None => {
                self.places.remove(&tuple.mask);
                self.tuples[place as usize] = None;
                self.free.push(place);
                if self.order.is_empty() {
                    // However many there were, those to come begin with the first places.
                    self.tuples.clear();
                    self.free.clear();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::openflow::v1_3::OxmField;

    fn to(address: u32) -> Pattern {
        let mut pattern = Pattern::ANY;
        pattern.set(OxmField::Ipv4Dst, address.into(), u128::from(u32::MAX));
        pattern
    }

    /// As many as these have some hashes of 32 bits twice.
    #[test]
    fn patterns_with_the_same_hash_are_told_apart() {
        const COUNT: u32 = 200_000;
        let mut classifier = Classifier::new(Seed::default());
        for id in 0..COUNT {
            classifier.insert(id, &to(id), 1, id.into());
        }
        let tuple = classifier.tuples[0].as_ref().expect("one mask");
        assert!(tuple.heads.len() < COUNT as usize, "no hash is there twice");
        assert!((0..COUNT).all(|id| classifier.lookup(&to(id).value) == Some(id)));
        for id in (0..COUNT).step_by(2) {
            classifier.remove(id);
        }
        assert!((0..COUNT).all(|id| classifier.lookup(&to(id).value) == Some(id).filter(|id| id % 2 == 1)));
    }

    /// As many masks as are asked for: prefixes of both addresses, then with a port.
    fn of_mask(mask: u32, entry: u32) -> Pattern {
        let ones = |len: u32| u128::from(u32::MAX << (32 - len));
        let (source, to) = (1 + mask % 32, 1 + mask / 32 % 32);
        let mut pattern = Pattern::ANY;
        pattern.set(OxmField::EthType, 0x0800, u128::MAX);
        pattern.set(OxmField::Ipv4Src, u128::from(entry.wrapping_mul(0x9e37_79b9)), ones(source));
        pattern.set(OxmField::Ipv4Dst, u128::from(entry.wrapping_mul(0x85eb_ca6b)), ones(to));
        if mask >= 1024 {
            pattern.set(OxmField::TcpDst, u128::from(entry % 7), u128::from(mask / 1024));
        }
        pattern
    }

    /// Finds what a scan finds, of some packets that have patterns and of some that may not.
    fn assert_finds_all(classifier: &Classifier, entries: u32) {
        let known: Vec<_> = (0..classifier.rules.len() as u32)
            .filter_map(|id| classifier.get(id).map(|(pattern, priority)| (priority, id, pattern)))
            .collect();
        for entry in 0..entries + 5 {
            let mut packet = of_mask(31 + 31 * 32, entry).value;
            packet.set(OxmField::TcpDst, u128::from(entry % 11));
            let matching = known.iter().filter(|(.., pattern)| pattern.matches(&packet));
            let best = matching.min_by_key(|(priority, id, _)| (core::cmp::Reverse(*priority), *id));
            assert_eq!(classifier.lookup(&packet), best.map(|(_, id, _)| *id), "of {} patterns", known.len());
        }
    }

    #[test]
    fn lanes_lead_to_all_tuples_that_have_a_pattern_of_a_packet_however_many_there_are() {
        const ENTRIES: u32 = 3;
        let mut classifier = Classifier::new(Seed::default());
        // Whether there are lanes, after so many masks: not of too few, and not of too many.
        let wanted = [
            (MANY as u32 - 1, false),
            (MANY as u32, true),
            (64, true),
            (65, true),
            (300, true),
            (1024, true),
        ];
        let wanted = [&wanted[..], &[(1025, false), (1200, false)]].concat();
        let mut masks = 0;
        for (count, has_lanes) in wanted {
            for mask in masks..count {
                for entry in 0..ENTRIES {
                    let id = mask * ENTRIES + entry;
                    classifier.insert(id, &of_mask(mask, entry), (mask % 5) as u16, id.into());
                }
            }
            masks = count;
            assert_eq!(classifier.lanes.is_some(), has_lanes, "with {count} masks");
            assert_finds_all(&classifier, ENTRIES);
        }
        for left in [1000, 500, 60, 4, 3, 0] {
            for mask in left..masks {
                (0..ENTRIES).for_each(|entry| classifier.remove(mask * ENTRIES + entry));
            }
            masks = left;
            assert_finds_all(&classifier, ENTRIES);
        }
        assert!(classifier.lanes.is_none() && classifier.tuples.is_empty());
    }

    #[test]
    fn lanes_of_a_table_that_changes_all_the_time_keep_their_size_and_their_worth() {
        const MASKS: u32 = 20;
        let mut classifier = Classifier::new(Seed::default());
        let sizes = |classifier: &Classifier| classifier.lanes.as_ref().map(|lanes| lanes.size());
        let mut first = None;
        for entry in 0..2_000 {
            for mask in 0..MASKS {
                let id = entry % 50 * MASKS + mask;
                if entry >= 50 {
                    classifier.remove(id);
                }
                classifier.insert(id, &of_mask(992 + mask, entry), 1, (entry * MASKS + mask).into());
            }
            if entry == 200 {
                first = sizes(&classifier);
            }
        }
        assert!(first.is_some() && sizes(&classifier) == first, "{first:?} and {:?}", sizes(&classifier));
        let lanes = classifier.lanes.as_ref().expect("lanes");
        let possible: u32 =
            (0..100).map(|entry| lanes::count(&lanes.narrow(&of_mask(5, entry + 5_000).value))).sum();
        assert!(possible < 100 * MASKS / 4, "{possible} of {}", 100 * MASKS);
        // Another entry of few masks begins as that of many did.
        assert_finds_all(&classifier, 10);
    }
}
