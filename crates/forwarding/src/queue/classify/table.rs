//! Filters compiled: which is the first that takes a packet, of many, without looking at each.
//!
//! Filters that give the same fields are a group. What a group's filters say of PHB, code point, TC, "is there a
//! label", port of arrival, mark and a single label is a key with one value for each field given: an index if it has
//! 12 bits at the most, else the key of a hash table. A filter that gives several values for a field is entered under
//! each. In the cell of a key there is the first filter; or, where the group's filters give ranges of labels, a table
//! of those ([`super::labels`]); or, where they give flows, the tuple-space search of [`crate::filter`].
//!
//! Compared one after another are: filters with so many combinations of values that it is not worth while to enter each
//! ([`EXPANSION_MAX`]), and those within a cell that give both a range of labels and a flow.

use super::check::Condition;
use super::key::Key;
use super::labels::Labels;
use crate::entry::Entry;
use crate::filter::Filters;
use base::Map;

/// The most combinations of values that a filter is entered under.
const EXPANSION_MAX: u64 = 1024;
/// The same where each entry is a table of its own.
const EXPANSION_DEEP: u64 = 64;
/// The most bits of an index.
const INDEX_BITS: u32 = 12;

/// Which fields of a key count, and how cells are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    phb: bool,
    dscp: bool,
    tc: bool,
    labelled: bool,
    mark: bool,
    input: bool,
    /// A single label is part of the key.
    label: bool,
    /// Ranges of labels are looked at in the cell.
    range: bool,
    flow: bool,
}

/// What counts of a packet: all fields but the label in the first number.
type Place = (u64, u32);

impl Shape {
    fn of(c: &Condition) -> Shape {
        let single = c.labels.is_some_and(|(first, last)| first == last);
        Shape {
            phb: c.phb.is_some(),
            dscp: c.dscp.is_some(),
            tc: c.tc.is_some(),
            labelled: c.labelled.is_some(),
            mark: c.mark.is_some(),
            input: c.inputs.is_some(),
            label: single,
            range: c.labels.is_some() && !single,
            flow: c.flow.is_some(),
        }
    }

    /// Bits of an index, if one will do.
    fn index_bits(&self) -> Option<u32> {
        if self.mark || self.input || self.label {
            return None;
        }
        let widths = [(self.phb, 6), (self.dscp, 6), (self.tc, 3), (self.labelled, 1)];
        let bits = widths.iter().filter(|(given, _)| *given).map(|(_, width)| width).sum();
        (bits <= INDEX_BITS).then_some(bits)
    }

    /// A key's place, packed so that the fields of an index are next to each other.
    #[inline]
    fn pack(&self, phb: u8, dscp: u8, tc: u8, labelled: bool) -> u64 {
        let mut place = 0;
        if self.phb {
            place = u64::from(phb);
        }
        if self.dscp {
            place = place << 6 | u64::from(dscp);
        }
        if self.tc {
            place = place << 3 | u64::from(tc);
        }
        if self.labelled {
            place = place << 1 | u64::from(labelled);
        }
        place
    }

    #[inline]
    fn rest(&self, place: u64, input: u16, mark: u32) -> u64 {
        let input = if self.input { u64::from(input) << 16 } else { 0 };
        let mark = if self.mark { u64::from(mark) << 32 } else { 0 };
        place | input | mark
    }

    /// The place of a packet; none if it lacks a field that counts.
    #[inline]
    fn place(&self, key: &Key) -> Option<Place> {
        let dscp = if self.dscp { key.dscp? } else { 0 };
        let input = if self.input { key.input? } else { 0 };
        let (label, tc) = match key.label {
            Some(label) => label,
            None if self.tc || self.label || self.range => return None,
            None => (0, 0),
        };
        let place = self.pack(key.phb, dscp, tc, key.label.is_some());
        Some((self.rest(place, input, key.mark), if self.label { label } else { 0 }))
    }

    /// How many places a filter has.
    fn count(&self, c: &Condition) -> u64 {
        let ones = |bits: Option<u64>| bits.map_or(1, |bits| u64::from(bits.count_ones()));
        let inputs = c.inputs.as_ref().map_or(1, |ports| ports.len() as u64);
        ones(c.phb) * ones(c.dscp) * ones(c.tc.map(u64::from)) * inputs
    }

    /// All places of a filter.
    fn places(&self, c: &Condition) -> Vec<Place> {
        let values = |bits: Option<u64>| -> Vec<u8> {
            bits.map_or_else(|| vec![0], |bits| (0..64).filter(|value| bits >> value & 1 == 1).collect())
        };
        let (dscps, tcs) = (values(c.dscp), values(c.tc.map(u64::from)));
        let inputs = c.inputs.clone().unwrap_or_else(|| vec![0]);
        let label = if self.label { c.labels.map_or(0, |(label, _)| label) } else { 0 };
        let mut places = Vec::new();
        for phb in values(c.phb) {
            for dscp in &dscps {
                for tc in &tcs {
                    let place = self.pack(phb, *dscp, *tc, c.labelled == Some(true));
                    let all = inputs.iter().map(|input| self.rest(place, *input, c.mark.unwrap_or(0)));
                    places.extend(all.map(|place| (place, label)));
                }
            }
        }
        places
    }
}

/// The filters of one place.
#[derive(Clone, Debug, Default)]
enum Cell {
    #[default]
    Empty,
    /// The first of them that the user wrote; the others look at nothing more and so can't win.
    First(u32),
    /// Filters that only look at a range of labels besides.
    Labels(Box<Labels>),
    /// Filters that only look at addresses, protocol and ports besides, in the order of the user.
    Flows(Box<Flows>),
    /// Those with a range of labels and a flow, in order.
    Both(Vec<u32>),
}

impl Cell {
    #[inline]
    fn find(&self, key: &Key, conditions: &[Condition]) -> Option<u32> {
        match self {
            Cell::Empty => None,
            Cell::First(first) => Some(*first),
            Cell::Labels(labels) => labels.find(key.label?.0),
            Cell::Flows(flows) => {
                let place = flows.filters.find(key.flow.as_ref()?)?;
                flows.orders.get(place as usize).copied()
            }
            Cell::Both(list) => list.iter().copied().find(|n| {
                conditions.get(*n as usize).is_some_and(|c| c.takes_label(key) && c.takes_flow(key))
            }),
        }
    }

    /// Enters filter `n`, which comes after all that are in it.
    fn enter(&mut self, shape: &Shape, n: u32, c: &Condition) {
        if let Cell::Empty = self {
            *self = match (shape.range, shape.flow) {
                (true, true) => Cell::Both(Vec::new()),
                (true, false) => Cell::Labels(Box::default()),
                (false, true) => Cell::Flows(Box::default()),
                (false, false) => Cell::First(n),
            };
        }
        match self {
            Cell::Empty | Cell::First(_) => {}
            Cell::Both(list) => list.push(n),
            Cell::Flows(flows) => {
                flows.filters.set(u64::from(n), c.flow.unwrap_or_default(), Entry::default());
                flows.orders.push(n);
            }
            Cell::Labels(labels) => labels.enter(c.labels.unwrap_or_default(), n),
        }
    }
}

/// Flows of one place.
#[derive(Clone, Debug, Default)]
struct Flows {
    filters: Filters,
    /// The filters, by where they are in that table.
    orders: Vec<u32>,
}

/// The cells of a group.
#[derive(Clone, Debug)]
enum Cells {
    Index(Vec<Cell>),
    Hash(Map<Place, Cell>),
}

/// The filters of one shape.
#[derive(Clone, Debug)]
struct Group {
    shape: Shape,
    /// The first of them.
    first: u32,
    cells: Cells,
}

impl Group {
    fn new(shape: Shape, first: u32) -> Group {
        let cells = match shape.index_bits() {
            Some(bits) => Cells::Index(vec![Cell::Empty; 1 << bits]),
            None => Cells::Hash(Map::new()),
        };
        Group { shape, first, cells }
    }

    #[inline]
    fn find(&self, key: &Key, conditions: &[Condition]) -> Option<u32> {
        let place = self.shape.place(key)?;
        let cell = match &self.cells {
            Cells::Index(cells) => cells.get(place.0 as usize)?,
            Cells::Hash(cells) => cells.get(&place)?,
        };
        cell.find(key, conditions)
    }

    /// After all filters are entered.
    fn finish(&mut self) {
        if let (Cells::Index(cells), true) = (&mut self.cells, self.shape.range) {
            for cell in cells {
                if let Cell::Labels(labels) = cell {
                    labels.finish();
                }
            }
        }
    }

    fn enter(&mut self, n: u32, c: &Condition) {
        let shape = self.shape;
        for place in shape.places(c) {
            match &mut self.cells {
                Cells::Index(cells) => {
                    if let Some(cell) = cells.get_mut(place.0 as usize) {
                        cell.enter(&shape, n, c);
                    }
                }
                Cells::Hash(cells) => cells.get_or_insert_with(place, Cell::default).enter(&shape, n, c),
            }
        }
    }
}

/// All filters of a tree's node, compiled.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// In order of their first filters.
    groups: Vec<Group>,
    /// Filters that are compared one after another, in order.
    wide: Vec<u32>,
    conditions: Vec<Condition>,
}

impl Table {
    pub(super) fn new(conditions: Vec<Condition>) -> Table {
        let mut table = Table::default();
        for (n, c) in conditions.iter().enumerate() {
            let (n, shape) = (n as u32, Shape::of(c));
            let plain = !shape.flow && !shape.range;
            let most = match (plain, shape.index_bits()) {
                (true, Some(_)) => u64::MAX,
                (true, None) => EXPANSION_MAX,
                (false, _) => EXPANSION_DEEP,
            };
            if shape.count(c) > most {
                table.wide.push(n);
                continue;
            }
            let at = table.groups.iter().position(|g| g.shape == shape).unwrap_or_else(|| {
                table.groups.push(Group::new(shape, n));
                table.groups.len() - 1
            });
            table.groups[at].enter(n, c);
        }
        table.conditions = conditions;
        table.groups.iter_mut().for_each(Group::finish);
        table
    }

    pub(super) fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The filters, in the order of the user.
    pub(super) fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// The first filter that takes the packet.
    #[inline(always)]
    pub(super) fn find(&self, key: &Key) -> Option<u32> {
        let mut best = u32::MAX;
        for group in &self.groups {
            if best < group.first {
                break;
            }
            if let Some(found) = group.find(key, &self.conditions) {
                best = best.min(found);
            }
        }
        for n in &self.wide {
            if best < *n {
                break;
            }
            if self.conditions.get(*n as usize).is_some_and(|c| c.takes(key)) {
                best = *n;
                break;
            }
        }
        (best != u32::MAX).then_some(best)
    }
}

#[cfg(test)]
impl Table {
    /// Filters that a look-up may have to look at one after another.
    pub(super) fn compared_one_by_one(&self) -> usize {
        let in_cell = |cell: &Cell| if let Cell::Both(list) = cell { list.len() } else { 0 };
        let indexed = self.groups.iter().map(|group| match &group.cells {
            Cells::Index(cells) => cells.iter().map(in_cell).sum(),
            Cells::Hash(_) => 0,
        });
        self.wide.len() + indexed.sum::<usize>()
    }
}
