//! Which fault has begun last where: the end of an older one takes nothing of a newer one away.

use crate::fault::{Direction, FaultKind};
use base::LinkId;
use std::collections::BTreeMap;

/// Tells the beginnings of faults from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Given by whoever asked for the fault, and is going to end it.
    Given(u64),
    /// Of a fault that ends by itself.
    Own(u64),
}

/// Where only one fault is at a time: a kind, and the link, node or lane that it acts on.
type Slot = (Kind, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Cut,
    Node,
    Loss,
    Corruption,
    Duplication,
    Reordering,
    Delay,
    Rate,
}

const OF_LANES: [Kind; 6] =
    [Kind::Loss, Kind::Corruption, Kind::Duplication, Kind::Reordering, Kind::Delay, Kind::Rate];

/// The mark of the last beginning in each slot. None where the last fault had no mark, or was taken away since.
#[derive(Debug, Default)]
pub(super) struct Begun {
    marks: BTreeMap<Slot, Mark>,
}

impl Begun {
    /// A fault begins, or something is healed: what began there before is not to be ended any more.
    pub fn begin(&mut self, kind: &FaultKind, mark: Option<Mark>) {
        match *kind {
            FaultKind::HealAll => self.marks.clear(),
            FaultKind::LinkHeal { link } => {
                let lanes = Direction::Both.lanes(link);
                self.marks.retain(|slot, _| !OF_LANES.contains(&slot.0) || !lanes.contains(&slot.1));
            }
            _ => {}
        }
        for slot in slots(kind) {
            match mark {
                Some(mark) => self.marks.insert(slot, mark),
                None => self.marks.remove(&slot),
            };
        }
    }

    /// What is left to be ended of the fault with this mark; nothing once others have begun in its place.
    pub fn left(&self, kind: &FaultKind, mark: Mark) -> Option<FaultKind> {
        let is_own = |slot: &Slot| self.marks.get(slot) == Some(&mark);
        let own: Vec<Slot> = slots(kind).into_iter().filter(is_own).collect();
        let mut left = kind.clone();
        if let Some(direction) = direction(&mut left) {
            *direction = match own.as_slice() {
                [] => return None,
                [(_, g)] if g % 2 == 0 => Direction::Forth,
                [_] => Direction::Back,
                _ => Direction::Both,
            };
        }
        (!own.is_empty()).then_some(left)
    }
}

/// The slots that a fault takes: one for each direction of a link that it disturbs. A device that restarts takes none:
/// it comes up by itself, and what took it down before is not changed by it.
fn slots(kind: &FaultKind) -> Vec<Slot> {
    use FaultKind::*;
    match *kind {
        LinkDown { link } | LinkUp { link } | LinkHeal { link } => vec![(Kind::Cut, link.0)],
        NodeDown { node } | NodeUp { node } => vec![(Kind::Node, node.0)],
        Loss { link, direction, .. } => of(Kind::Loss, link, direction),
        Corruption { link, direction, .. } => of(Kind::Corruption, link, direction),
        Duplication { link, direction, .. } => of(Kind::Duplication, link, direction),
        Reordering { link, direction, .. } => of(Kind::Reordering, link, direction),
        Delay { link, direction, .. } => of(Kind::Delay, link, direction),
        RateLimit { link, direction, .. } => of(Kind::Rate, link, direction),
        NodeRestart { .. } | HealAll => Vec::new(),
    }
}

fn of(kind: Kind, link: LinkId, direction: Direction) -> Vec<Slot> {
    direction.lanes(link).map(|g| (kind, g)).collect()
}

/// The directions of a fault that disturbs them.
fn direction(kind: &mut FaultKind) -> Option<&mut Direction> {
    use FaultKind::*;
    match kind {
        Loss { direction, .. }
        | Corruption { direction, .. }
        | Duplication { direction, .. }
        | Reordering { direction, .. }
        | Delay { direction, .. }
        | RateLimit { direction, .. } => Some(direction),
        LinkDown { .. } | LinkUp { .. } | LinkHeal { .. } => None,
        NodeDown { .. } | NodeUp { .. } | NodeRestart { .. } | HealAll => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::NodeId;

    const LINK: LinkId = LinkId(3);

    fn loss(direction: Direction) -> FaultKind {
        FaultKind::Loss { link: LINK, direction, probability: 0.5 }
    }

    #[test]
    fn an_end_is_left_what_began_with_it() {
        let (mut begun, first, second) = (Begun::default(), Mark::Own(1), Mark::Given(1));
        begun.begin(&loss(Direction::Both), Some(first));
        assert_eq!(begun.left(&loss(Direction::Both), second), None);
        begun.begin(&loss(Direction::Forth), Some(second));
        assert_eq!(begun.left(&loss(Direction::Both), first), Some(loss(Direction::Back)));
        // What has no mark takes the place of what has one, and so does what is healed.
        begun.begin(&loss(Direction::Back), None);
        assert_eq!(begun.left(&loss(Direction::Both), first), None);
        assert_eq!(begun.left(&loss(Direction::Forth), second), Some(loss(Direction::Forth)));
        begun.begin(&FaultKind::LinkHeal { link: LINK }, None);
        assert_eq!(begun.left(&loss(Direction::Forth), second), None);
    }

    #[test]
    fn kinds_do_not_end_each_other() {
        let mut begun = Begun::default();
        let (cut, node) = (FaultKind::LinkDown { link: LINK }, FaultKind::NodeDown { node: NodeId(3) });
        begun.begin(&cut, Some(Mark::Own(1)));
        begun.begin(&node, Some(Mark::Own(2)));
        begun.begin(&loss(Direction::Both), None);
        assert_eq!(begun.left(&cut, Mark::Own(1)), Some(cut.clone()));
        assert_eq!(begun.left(&node, Mark::Own(2)), Some(node.clone()));
        begun.begin(&FaultKind::LinkUp { link: LINK }, None);
        assert_eq!(begun.left(&cut, Mark::Own(1)), None);
        begun.begin(&FaultKind::HealAll, None);
        assert_eq!(begun.left(&node, Mark::Own(2)), None);
    }
}
