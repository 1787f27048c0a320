//! Filters that all look at one number of a packet, and at nothing else: each packet finds its filter at once.
//!
//! Most trees classify by PHB, by code point, by label, by mark or by the port of arrival alone.

use super::check::Condition;
use super::key::{DSCP, INPUT, Key, LABEL, MARK, PHB, phb_of};
use super::table::Table;
use base::{Frame, Label};

/// Stands for the place of a filter where there is none.
const NONE: u32 = u32::MAX;
/// Numbers below it have a place in an array of 64 KiB at the most; those above are searched for.
const DENSE_MAX: u32 = 1 << 14;

/// Which number of a packet counts.
#[derive(Clone, Copy, Debug)]
enum Field {
    Phb,
    Dscp,
    Label,
    Mark,
    Input,
}

/// From the number that counts to the first filter that takes it.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    field: Field,
    dense: Box<[u32]>,
    /// From each number on, up to the next: sorted, for numbers beyond the array.
    steps: Box<[(u32, u32)]>,
    /// For packets without such a number.
    absent: u32,
}

impl Direct {
    /// The same as a table says, if one number decides.
    pub(super) fn new(table: &Table, conditions: &[Condition]) -> Option<Direct> {
        let needs = conditions.iter().fold(0, |needs, condition| needs | condition.needs());
        let field = match needs {
            PHB => Field::Phb,
            DSCP => Field::Dscp,
            LABEL if conditions.iter().all(|c| c.tc.is_none() && c.labelled.is_none()) => Field::Label,
            MARK => Field::Mark,
            INPUT => Field::Input,
            _ => return None,
        };
        let find = |number: Option<u32>| table.find(&field.key(number)).unwrap_or(NONE);
        let ranges = conditions.iter().flat_map(|condition| field.ranges(condition));
        let ends = ranges.flat_map(|(first, last)| [Some(first), last.checked_add(1)]);
        let mut edges: Vec<u32> = ends.flatten().filter(|edge| *edge <= field.max()).chain([0]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut steps: Vec<_> = edges.iter().map(|edge| (*edge, find(Some(*edge)))).collect();
        let mut dense = Vec::new();
        for pair in steps.windows(2) {
            dense.resize(pair[1].0.min(DENSE_MAX) as usize, pair[0].1);
        }
        steps.drain(..steps.partition_point(|step| step.0 < dense.len() as u32).saturating_sub(1));
        Some(Direct { field, dense: dense.into(), steps: steps.into(), absent: find(None) })
    }

    /// The place of the first filter that takes the frame.
    #[inline]
    pub(super) fn find(&self, frame: &Frame) -> Option<u32> {
        let found = match self.field.read(frame) {
            None => self.absent,
            Some(number) => match self.dense.get(number as usize) {
                Some(found) => *found,
                None => self.beyond(number),
            },
        };
        (found != NONE).then_some(found)
    }

    fn beyond(&self, number: u32) -> u32 {
        let next = self.steps.partition_point(|(from, _)| *from <= number);
        next.checked_sub(1).and_then(|step| self.steps.get(step)).map_or(NONE, |step| step.1)
    }
}

impl Field {
    #[inline]
    fn read(self, frame: &Frame) -> Option<u32> {
        match self {
            Field::Mark => Some(frame.mark()),
            Field::Phb => Some(u32::from(phb_of(frame).code())),
            Field::Dscp => Key::dscp_of(frame).map(u32::from),
            Field::Label => Key::label_of(frame).map(|(label, _)| label),
            Field::Input => frame.input().map(|port| u32::from(port.0)),
        }
    }

    /// A packet of which no more is known than this number.
    fn key(self, number: Option<u32>) -> Key {
        let mut key = Key::default();
        match self {
            Field::Mark => key.mark = number.unwrap_or_default(),
            Field::Phb => key.phb = number.unwrap_or_default() as u8,
            Field::Dscp => key.dscp = number.map(|dscp| dscp as u8),
            Field::Label => key.label = number.map(|label| (label, 0)),
            Field::Input => key.input = number.map(|port| port as u16),
        }
        key
    }

    /// The greatest number that there is.
    fn max(self) -> u32 {
        match self {
            Field::Phb | Field::Dscp => 63,
            Field::Input => u32::from(u16::MAX),
            Field::Label => Label::MAX.value(),
            Field::Mark => u32::MAX,
        }
    }

    /// The first and the last number of each range that a filter names.
    fn ranges(self, condition: &Condition) -> Vec<(u32, u32)> {
        let one = |number: u32| (number, number);
        let ones = |bits: Option<u64>| {
            (0..64).filter(|n| bits.is_some_and(|bits| bits >> n & 1 == 1)).map(one).collect()
        };
        match self {
            Field::Mark => condition.mark.into_iter().map(one).collect(),
            Field::Phb => ones(condition.phb),
            Field::Dscp => ones(condition.dscp),
            Field::Label => condition.labels.into_iter().collect(),
            Field::Input => condition.inputs.iter().flatten().map(|port| one(u32::from(*port))).collect(),
        }
    }
}
