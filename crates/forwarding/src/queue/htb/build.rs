//! From what a user described to the numbers that HTB works with.

use super::super::classify::Classifier;
use super::super::fifo::Fifo;
use super::super::hierarchy::{Declared, Hierarchy, Place};
use super::super::parking::Parking;
use super::super::spec::{HtbClass, HtbSpec, PfifoSpec, QueueSpec};
use super::super::{Facts, Held, Inner, build};
use super::bucket::{Buckets, Mode};
use super::feed::{Feed, Feeds, LEVELS, Rows};
use super::{Htb, Leaf, Node};
use base::describe::ClassName;
use base::diagnostic::{At, Diagnostic};

/// Turns of the clock in a second by which tc computes bursts. (A tc that asks a recent kernel computes with 10^9:
/// then a burst is [`MTU`] alone. The older value leaves room for timers that are late.)
const HZ: u64 = 1000;
/// What tc adds to a burst.
const MTU: u64 = 1600;
/// The longest turn that follows from a rate.
const QUANTUM_MAX: u64 = 200_000;
impl<'a> From<&'a (ClassName, HtbClass)> for Declared<'a> {
    fn from((name, class): &'a (ClassName, HtbClass)) -> Declared<'a> {
        Declared { name, parent: class.parent.as_deref(), queue: class.queue.as_deref() }
    }
}

/// Builds the discipline with the queues in its classes.
pub fn new(spec: &HtbSpec, facts: &Facts) -> Result<Htb, Diagnostic> {
    let (declared, hierarchy) = spec.arranged()?;
    let (places, count) = (&hierarchy.places, hierarchy.leaves);
    let names: Vec<&str> = places.iter().map(|place| declared[place.declared].name).collect();
    let classifier = Classifier::new(&spec.filters, spec.default.as_deref(), &names[..count])?;
    let direct = match spec.default {
        Some(_) => None,
        None => Some(Fifo::packets(&PfifoSpec { limit: spec.direct_qlen })),
    };
    let leaf = |place: &Place| leaf(spec, place, facts);
    let leaves = places[..count].iter().map(leaf).collect::<Result<Vec<_>, Diagnostic>>()?;
    let mut nodes: Vec<Node> = places.iter().map(|place| node(spec, place)).collect();
    let rows = rows(&hierarchy, &mut nodes);
    Ok(Htb {
        classifier,
        names: names.into_iter().map(str::to_string).collect(),
        parking: Parking::new(nodes.len()),
        nodes,
        stalled: Parking::new(count),
        leaves,
        rows,
        direct,
        held: Held::default(),
        inner: Inner::default(),
    })
}

fn node(spec: &HtbSpec, place: &Place) -> Node {
    let class = &spec.classes[place.declared].1;
    let (rate, ceil) = (class.rate, class.ceil.unwrap_or(class.rate));
    let burst = class.burst.map_or(rate.0 / 8 / HZ + MTU, |burst| burst.0);
    let cburst = class.cburst.map_or(ceil.0 / 8 / HZ + MTU, |burst| burst.0);
    // Linux counts levels from the outermost class on.
    let level = if place.level == 0 { 0 } else { (LEVELS as u8 - 1).saturating_sub(place.depth) };
    Node {
        buckets: Buckets::new((rate, burst), (ceil, cburst)),
        parent: place.parent,
        rank: 0,
        level,
        mode: Mode::CanSend,
        activity: 0,
        sent_packets: 0,
        sent_bytes: 0,
        borrowed: 0,
        lent: 0,
    }
}

fn leaf(spec: &HtbSpec, place: &Place, facts: &Facts) -> Result<Leaf, Diagnostic> {
    let (name, class) = &spec.classes[place.declared];
    let by_rate = class.rate.0 / 8 / u64::from(spec.r2q);
    let least = u64::from(facts.longest()).min(QUANTUM_MAX);
    let quantum = class.quantum.map_or(by_rate.clamp(least, QUANTUM_MAX), |quantum| quantum.0);
    let fallback = QueueSpec::default();
    let queue = class.queue.as_deref().unwrap_or(&fallback);
    let queue = build(queue, facts).at("queue").at(&**name).at("classes")?;
    let quantum = i32::try_from(quantum).unwrap_or(i32::MAX);
    Ok(Leaf { queue, deficit: [0; LEVELS], quantum, priority: class.prio, stalled: false })
}

/// Empty rows and feeds; classes get their ranks.
fn rows(hierarchy: &Hierarchy, nodes: &mut [Node]) -> Rows {
    let count = hierarchy.leaves;
    let mut children = vec![Vec::new(); nodes.len() - count];
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_key(|at| hierarchy.places[*at].declared);
    for at in order {
        if let Some(siblings) = nodes[at].parent.map(|parent| &mut children[parent as usize - count]) {
            nodes[at].rank = siblings.len() as u32;
            siblings.push(at as u32);
        }
    }
    let feeds_of = |members: usize| -> Feeds { core::array::from_fn(|_| Feed::new(members)) };
    Rows {
        rows: core::array::from_fn(|level| feeds_of(if level == 0 { count } else { nodes.len() - count })),
        masks: [0; LEVELS],
        feeds: children.iter().map(|members: &Vec<u32>| feeds_of(members.len())).collect(),
        children,
    }
}
