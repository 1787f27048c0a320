//! Several labels of one destination (RFC 8277, 2.1 and 2.3): how many this end takes and a neighbour does, and how
//! those of a path are kept.

use super::Bgp;
use super::table::{Path, is_labelled, is_of};
use base::plane::{IpPrefix, LabelStack};
use base::{Interned, Interner, Label};
use std::collections::BTreeMap;
use wire::bgp::{Capability, Family, Labels, Nlri, Open, pack};

/// So many labels of a destination are taken of neighbours: those that one entry of the forwarding tables can push.
pub(super) const TAKEN: u8 = LabelStack::MAX as u8;

/// What a neighbour is told of how many labels this router takes; nothing where no family has labels.
pub(super) fn capability(families: &[Family]) -> Option<Capability> {
    let labelled = families.iter().filter(|family| is_labelled(**family));
    let all: Vec<(u16, u8, u8)> =
        labelled.map(|family| (family.numbers().0, family.numbers().1, TAKEN)).collect();
    (!all.is_empty()).then_some(Capability::MultipleLabels(all))
}

/// How many labels of a family a neighbour takes, if it takes several.
pub(super) fn taken_by(open: &Open, family: Family) -> Option<u8> {
    let (afi, safi) = family.numbers();
    // RFC 8277, 2.1: of several capabilities the first one counts, and of several counts of a family, too; one that
    // says less than two is ignored.
    let mut all = open.capabilities.iter().filter_map(|capability| match capability {
        Capability::MultipleLabels(all) => Some(all),
        _ => None,
    });
    let is_meant = |one: &&(u16, u8, u8)| (one.0, one.1) == (afi, safi) && one.2 > 1;
    all.next()?.iter().find(is_meant).map(|(.., count)| *count)
}

/// Labels of paths, as [`Path::label`] names them: a label alone by itself, and several by a number behind all labels.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences(Interner<Labels>);

impl Sequences {
    /// The first number that is no label: labels have 20 bits.
    pub const FIRST: u32 = Label::MAX.value() + 1;

    fn interned(name: u32) -> Option<Interned> {
        (name != Path::UNLABELLED)
            .then(|| name.checked_sub(Sequences::FIRST))
            .flatten()
            .map(Interned::of_number)
    }

    /// The name of labels, which is held once more.
    #[inline]
    pub fn intern(&mut self, labels: &Labels) -> u32 {
        match (labels.first(), labels.len()) {
            (None, _) => Path::UNLABELLED,
            (Some(label), 1) => label.value(),
            _ => Sequences::FIRST + self.0.intern(labels, || *labels).number(),
        }
    }

    /// The labels with a name.
    pub fn get(&self, name: u32) -> Labels {
        match Sequences::interned(name) {
            Some(id) => *self.0.get(id),
            None if name == Path::UNLABELLED => Labels::NONE,
            None => Labels::one(Label::truncate(name)),
        }
    }

    /// Somebody else has the labels, too.
    pub fn hold(&mut self, name: u32) {
        if let Some(id) = Sequences::interned(name) {
            self.0.hold(id);
        }
    }

    /// Somebody has the labels no more.
    pub fn release(&mut self, name: u32) {
        if let Some(id) = Sequences::interned(name) {
            self.0.release(id);
        }
    }

    /// How many sequences of several labels there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Labels as they are pushed. Implicit null stands for none (RFC 3032, 2.1).
pub(super) fn pushed(labels: &Labels) -> LabelStack {
    let inward: Vec<Label> = labels.iter().rev().filter(|label| *label != Label::IMPLICIT_NULL).collect();
    // There are never more than one entry can push.
    LabelStack::new(&inward).unwrap_or(LabelStack::EMPTY)
}

/// What a neighbour was told with several labels in sessions that have failed: destination and number of the path, with
/// how many labels.
pub type ToldSeveral = BTreeMap<(IpPrefix, u32), u8>;

impl Bgp {
    /// How many labels of a family a neighbour may be told.
    pub(super) fn labels_for(&self, place: usize, family: Family) -> usize {
        let connection = self.peers[place].established();
        connection.map_or(1, |one| usize::from(one.labels_told[family.place()].max(1)))
    }

    /// A neighbour with which the session has failed may have kept what it was told with several labels.
    pub(super) fn note_several(&mut self, place: usize, prefix: IpPrefix, path: &Path) {
        let count = self.sets.sequences.get(path.label).len() as u8;
        if count > 1 {
            self.peers[place].told_several.insert((prefix, path.id), count);
        }
    }

    /// Withdraws what a neighbour was told before it restarted with more labels than it takes now (RFC 8277, 2.1).
    pub(super) fn withdraw_several(&mut self, place: usize) -> Vec<Vec<u8>> {
        let mut updates = Vec::new();
        let families = self.peers[place].established().map_or_else(Vec::new, |one| one.families.clone());
        let all = core::mem::take(&mut self.peers[place].told_several);
        for family in families.into_iter().filter(|family| is_labelled(*family)) {
            let most = self.labels_for(place, family);
            let is_many = self.peers[place].established().is_some_and(|one| one.many.contains(&family));
            let is_meant = |prefix, count| is_of(family, prefix) && usize::from(count) > most;
            let meant = all.iter().filter(|&(&(prefix, _), &count)| is_meant(prefix, count));
            let nlri =
                meant.map(|(&(prefix, id), _)| Nlri { path_id: is_many.then_some(id), ..Nlri::new(prefix) });
            let nlri: Vec<Nlri> = nlri.collect();
            if !nlri.is_empty() {
                updates.extend(pack::withdrawn(family, &nlri));
            }
        }
        updates
    }
}
