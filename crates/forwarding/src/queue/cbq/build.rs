//! From what a user described to the numbers that CBQ works with.

use super::super::classify::Classifier;
use super::super::hierarchy::{Declared, Hierarchy, Place};
use super::super::spec::{CbqClass, CbqSpec, QueueSpec};
use super::super::{Discipline, Facts, Held, Inner, build};
use super::estimator::{Estimator, Limits};
use super::leaves::Leaves;
use super::{Cbq, Leaf, NO_CUTOFF, Node};
use crate::queue::cost::Cost;
use crate::queue::parking::Parking;
use crate::queue::problem::QueueProblem;
use base::Rate;
use base::describe::{ClassName, Size};
use base::diagnostic::{At, Diagnostic};

/// 1/65536 byte: quanta of small weights must not round to nothing.
pub const BYTE: i64 = 1 << 16;
/// Number of priorities: users say 1 to 8, tables count from 0.
pub const BANDS: usize = 8;

impl<'a> From<&'a (ClassName, CbqClass)> for Declared<'a> {
    fn from((name, class): &'a (ClassName, CbqClass)) -> Declared<'a> {
        Declared { name, parent: class.parent.as_deref(), queue: class.queue.as_deref() }
    }
}

fn bandwidth(spec: &CbqSpec, facts: &Facts) -> Result<Rate, Diagnostic> {
    match spec.bandwidth {
        Some(rate) => Ok(rate),
        None if facts.rate.0 == 0 => Err(QueueProblem::NoBandwidth {}.into()),
        None => Ok(facts.rate),
    }
}

/// A size as the estimators take it; what users describe fits.
fn short(size: Size) -> u32 {
    u32::try_from(size.0).unwrap_or(u32::MAX)
}

/// Builds the discipline with the queues in its classes.
pub fn new(spec: &CbqSpec, facts: &Facts) -> Result<Cbq, Diagnostic> {
    let (declared, hierarchy) = spec.arranged()?;
    let link = bandwidth(spec, facts)?;
    let count = hierarchy.leaves;
    let names: Vec<&str> =
        hierarchy.places[..count].iter().map(|place| declared[place.declared].name).collect();
    let classifier = Classifier::new(&spec.filters, spec.default.as_deref(), &names)?;
    let mut nodes: Vec<Node> =
        hierarchy.places.iter().map(|place| node(spec, &hierarchy, place, link)).collect();
    nodes.push(root(spec, &nodes, link));
    let leaves = leaves(spec, &hierarchy, facts)?;
    let (sets, reaches) = (Leaves::new(count, &nodes), Leaves::reaches(count, &nodes));
    let (parking, stalled) = (Parking::new(nodes.len()), Parking::new(count));
    Ok(Cbq {
        classifier,
        nodes,
        leaves,
        reaches,
        names: hierarchy.places.iter().map(|place| declared[place.declared].name.to_string()).collect(),
        parents: hierarchy.places.iter().map(|place| place.parent).collect(),
        sets,
        parking,
        stalled,
        toplevel: NO_CUTOFF,
        transmitting: None,
        link: Cost::new(link),
        mpu: short(spec.mpu),
        held: Held::default(),
        inner: Inner::default(),
    })
}

fn node(spec: &CbqSpec, hierarchy: &Hierarchy, place: &Place, link: Rate) -> Node {
    let class = &spec.classes[place.declared].1;
    let ewma_log = class.ewma.unwrap_or(spec.ewma);
    let bursts = (class.maxburst, class.minburst);
    let avpkt = short(class.avpkt.unwrap_or(spec.avpkt));
    let limits = Limits::new((link, class.rate), avpkt, ewma_log, bursts, class.minidle);
    let parent = place.parent.unwrap_or(hierarchy.places.len() as u32);
    Node {
        estimator: Estimator::new(class.rate, ewma_log, limits),
        share: Some(parent).filter(|_| !class.isolated),
        borrow: Some(parent).filter(|_| !class.bounded),
        level: place.level,
        open: false,
        sent_packets: 0,
        sent_bytes: 0,
        borrowed: 0,
        overlimits: 0,
    }
}

/// The class that is the link itself. tc gives it no burst: its average is at most the time of a packet.
fn root(spec: &CbqSpec, nodes: &[Node], link: Rate) -> Node {
    let limits = Limits::new((link, link), short(spec.avpkt), spec.ewma, (0, 0), None);
    Node {
        estimator: Estimator::new(link, spec.ewma, limits),
        share: None,
        borrow: None,
        level: nodes.iter().map(|node| node.level).max().unwrap_or(0) + 1,
        open: false,
        sent_packets: 0,
        sent_bytes: 0,
        borrowed: 0,
        overlimits: 0,
    }
}

fn leaves(spec: &CbqSpec, hierarchy: &Hierarchy, facts: &Facts) -> Result<Vec<Leaf>, Diagnostic> {
    let places = &hierarchy.places[..hierarchy.leaves];
    let weight = |class: &CbqClass| u128::from(class.weight.unwrap_or(class.rate).0);
    let (mut weights, mut counts) = ([0u128; BANDS], [0u128; BANDS]);
    let band = |class: &CbqClass| usize::from(class.prio.clamp(1, BANDS as u8) - 1);
    for class in places.iter().map(|place| &spec.classes[place.declared].1) {
        weights[band(class)] += weight(class);
        counts[band(class)] += 1;
    }
    let leaf = |place: &Place| {
        let (name, class) = &spec.classes[place.declared];
        let band = band(class);
        let allot = u128::from(class.allot.unwrap_or(spec.allot).0) * BYTE as u128;
        let quantum = weight(class).saturating_mul(allot * counts[band]) / weights[band].max(1);
        let quantum = i64::try_from(quantum).unwrap_or(i64::MAX).clamp(1, i64::MAX / 1024);
        let fallback = QueueSpec::default();
        let queue: &QueueSpec = class.queue.as_deref().unwrap_or(&fallback);
        let queue: Box<dyn Discipline> = build(queue, facts).at("queue").at(&**name).at("classes")?;
        Ok(Leaf { queue, waits: 0, deficit: 0, quantum, band: band as u8 })
    };
    places.iter().map(leaf).collect()
}
