//! Which of many patterns a packet has: tuple-space search (decision 0052). Patterns with the same mask are a tuple,
//! whose values are found by a hash. Tuples are searched by their highest priority, so that the search ends when no
//! better one can come. A tuple is left early when no pattern of it begins as the packet does.

use super::fields::{STAGES, WORDS};
use super::{Fields, Pattern};
use crate::hash::{Seed, mix};
use base::Map;
use core::num::NonZeroU32;
use std::collections::BTreeMap;

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
}

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
    /// How many of them belong to stages up to each.
    ends: [u8; STAGES.len()],
    /// The first pattern with a hash. Half of the bits are enough: a million entries keep them twice.
    heads: Map<u32, u32>,
    /// How many patterns have a hash of the words up to a stage; nothing where a stage adds no word, or is the last.
    stages: [Map<u32, u32>; STAGES.len() - 1],
    /// How many patterns have a priority.
    priorities: BTreeMap<u16, u32>,
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
        let ends = STAGES.map(|end| words.iter().filter(|word| usize::from(**word) < end).count() as u8);
        let (heads, stages, priorities) = Default::default();
        Tuple { mask, words, ends, heads, stages, priorities }
    }

    /// Does a search stop after this stage if nothing begins as the packet does?
    fn is_checked(&self, stage: usize) -> bool {
        let before = if stage == 0 { 0 } else { self.ends[stage - 1] };
        self.ends[stage] > before && self.ends[stage] < self.ends[STAGES.len() - 1]
    }

    /// The hash of a value's words, if `go_on` says of the hash of each checked stage that it can be.
    #[inline]
    fn hash(&self, seed: Seed, value: &Fields, mut go_on: impl FnMut(usize, u32) -> bool) -> Option<u32> {
        let (mut hash, mut at) = (seed.0, 0);
        for (stage, end) in self.ends.iter().enumerate() {
            for word in &self.words[at..usize::from(*end)] {
                let word = usize::from(*word);
                hash = mix(hash ^ value.0[word] & self.mask.0[word], seed.1 | 1)
                    .wrapping_add(hash.rotate_left(23));
            }
            at = usize::from(*end);
            if self.is_checked(stage) && !go_on(stage, folded(hash)) {
                return None;
            }
        }
        Some(folded(hash))
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
        let mut best: Option<(u16, u64, u32)> = None;
        for (highest, place) in &self.order {
            if best.is_some_and(|(priority, ..)| priority > *highest) {
                break;
            }
            let Some(tuple) = &self.tuples[*place as usize] else { continue };
            let begins = |stage: usize, hash: u32| tuple.stages[stage].contains_key(&hash);
            let Some(hash) = tuple.hash(self.seed, packet, begins) else { continue };
            let mut next = tuple.heads.get(&hash).copied();
            while let Some((id, rule)) = next.and_then(|id| Some((id, self.rules[id as usize].as_ref()?))) {
                if tuple.is_of(&rule.words, packet) {
                    let is_better = best.is_none_or(|(priority, sequence, _)| {
                        rule.priority > priority || rule.priority == priority && rule.sequence < sequence
                    });
                    if is_better {
                        best = Some((rule.priority, rule.sequence, id));
                    }
                    break;
                }
                next = rule.next();
            }
        }
        best.map(|(_, _, id)| id)
    }

    /// The pattern that is the same, with the same priority.
    pub fn find(&self, pattern: &Pattern, priority: u16) -> Option<u32> {
        let tuple = self.tuples[*self.places.get(&pattern.mask)? as usize].as_ref()?;
        let hash = tuple.hash(self.seed, &pattern.value, |_, _| true)?;
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
        let mut value = Fields::NONE;
        for (word, own) in tuple.words.iter().zip(&rule.words) {
            value.0[usize::from(*word)] = *own;
        }
        Some((Pattern { value, mask: tuple.mask }, rule.priority))
    }

    /// Adds a pattern under an identifier that is free.
    pub fn insert(&mut self, id: u32, pattern: &Pattern, priority: u16, sequence: u64) {
        let place = match self.places.get(&pattern.mask) {
            Some(place) => *place,
            None => self.add_tuple(pattern.mask),
        };
        let Some(tuple) = &mut self.tuples[place as usize] else { return };
        let mut hashes = [None; STAGES.len() - 1];
        let hash = tuple.hash(self.seed, &pattern.value, |stage, hash| {
            hashes[stage] = Some(hash);
            true
        });
        let Some(hash) = hash else { return };
        for (stage, hash) in hashes.iter().enumerate().filter_map(|(stage, hash)| Some((stage, (*hash)?))) {
            *tuple.stages[stage].get_or_insert_with(hash, || 0) += 1;
        }
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
        self.reorder(place);
    }

    /// Takes a pattern out.
    pub fn remove(&mut self, id: u32) {
        let Some((pattern, priority)) = self.get(id) else { return };
        let Some(rule) = self.rules[id as usize].take() else { return };
        let Some(tuple) = &mut self.tuples[rule.tuple as usize] else { return };
        let mut hashes = [None; STAGES.len() - 1];
        let _ = tuple.hash(self.seed, &pattern.value, |stage, hash| {
            hashes[stage] = Some(hash);
            true
        });
        for (stage, hash) in hashes.iter().enumerate().filter_map(|(stage, hash)| Some((stage, (*hash)?))) {
            let left = tuple.stages[stage].get_mut(&hash).map_or(0, |count| {
                *count -= 1;
                *count
            });
            if left == 0 {
                tuple.stages[stage].remove(&hash);
            }
        }
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
        let Some(tuple) = &self.tuples[place as usize] else { return };
        let highest = tuple.priorities.last_key_value().map(|(priority, _)| *priority);
        let now = self.order.iter().position(|(_, other)| *other == place);
        if now.map(|now| self.order[now].0) == highest {
            return;
        }
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
}
