//! From what a user described to the numbers that CBQ works with.

use super::super::classify::Classifier;
use super::super::hierarchy::{Declared, Hierarchy, Place};
use super::super::spec::{CbqClass, CbqSpec, QueueSpec, SpecError};
use super::super::{Discipline, Facts, Held, Inner, build, check};
use super::estimator::{Estimator, Limits};
use super::leaves::Leaves;
use super::{Cbq, Leaf, NO_CUTOFF, Node};
use crate::queue::cost::Cost;
use crate::queue::parking::Parking;
use base::{Rate, Span};

/// 1/65536 byte: quanta of small weights must not round to nothing.
pub const BYTE: i64 = 1 << 16;
/// Number of priorities: users say 1 to 8, tables count from 0.
pub const BANDS: usize = 8;

impl<'a> From<&'a CbqClass> for Declared<'a> {
    fn from(class: &'a CbqClass) -> Declared<'a> {
        Declared { name: &class.name, parent: class.parent.as_deref(), queue: class.queue.as_deref() }
    }
}

fn check_class(class: &CbqClass, path: &str) -> Result<(), SpecError> {
    check::rate(class.rate_bps, "rate_bps", path)?;
    if !(1..=BANDS as u8).contains(&class.priority) {
        let text = format!("priority={}: it is from 1 (asked first) to {BANDS}", class.priority);
        return Err(SpecError::new(path, text));
    }
    if class.weight == Some(0) {
        return Err(SpecError::new(
            path,
            "weight=0: its turn would never come; leave it out to have its rate as weight",
        ));
    }
    check::positive(u64::from(class.allot_bytes.unwrap_or(1)), "allot_bytes", path)?;
    check::positive(u64::from(class.avpkt_bytes.unwrap_or(1)), "avpkt_bytes", path)?;
    check_ewma(class.ewma_log.unwrap_or(5), path)?;
    if class.minidle.is_some_and(|span| span < Span::ZERO) {
        return Err(SpecError::new(path, "minidle: it says how far below zero, as a positive time"));
    }
    Ok(())
}

fn check_ewma(ewma_log: u8, path: &str) -> Result<(), SpecError> {
    if !(1..=31).contains(&ewma_log) {
        return Err(SpecError::new(path, format!("ewma_log={ewma_log}: it is from 1 to 31; 5 is usual")));
    }
    Ok(())
}

fn bandwidth(spec: &CbqSpec, facts: &Facts, path: &str) -> Result<Rate, SpecError> {
    match spec.bandwidth_bps {
        Some(rate) => check::rate(rate, "bandwidth_bps", path),
        None if facts.rate.0 == 0 => {
            Err(SpecError::new(path, "bandwidth_bps is needed at a port that is infinitely fast"))
        }
        None => Ok(facts.rate),
    }
}

/// Builds the discipline with the queues in its classes.
pub fn new(spec: &CbqSpec, facts: &Facts, path: &str) -> Result<Cbq, SpecError> {
    let declared: Vec<Declared<'_>> = spec.classes.iter().map(Declared::from).collect();
    let hierarchy = Hierarchy::new(&declared, &spec.filters, spec.default.as_deref(), path)?;
    let link = bandwidth(spec, facts, path)?;
    check::positive(u64::from(spec.avpkt_bytes), "avpkt_bytes", path)?;
    check::positive(u64::from(spec.allot_bytes), "allot_bytes", path)?;
    check_ewma(spec.ewma_log, path)?;
    for class in &spec.classes {
        check_class(class, &format!("{path}/{}", class.name))?;
    }
    let count = hierarchy.leaves;
    let names: Vec<&str> =
        hierarchy.places[..count].iter().map(|place| declared[place.declared].name).collect();
    let classifier = Classifier::new(&spec.filters, spec.default.as_deref(), &names, path)?;
    let mut nodes: Vec<Node> =
        hierarchy.places.iter().map(|place| node(spec, &hierarchy, place, link)).collect();
    nodes.push(root(spec, &nodes, link));
    let leaves = leaves(spec, &hierarchy, facts, path)?;
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
        mpu: spec.mpu_bytes,
        held: Held::default(),
        inner: Inner::default(),
    })
}

fn node(spec: &CbqSpec, hierarchy: &Hierarchy, place: &Place, link: Rate) -> Node {
    let class = &spec.classes[place.declared];
    let ewma_log = class.ewma_log.unwrap_or(spec.ewma_log);
    let bursts = (class.maxburst_packets, class.minburst_packets);
    let avpkt = class.avpkt_bytes.unwrap_or(spec.avpkt_bytes);
    let limits = Limits::new((link, class.rate_bps), avpkt, ewma_log, bursts, class.minidle);
    let parent = place.parent.unwrap_or(hierarchy.places.len() as u32);
    Node {
        estimator: Estimator::new(class.rate_bps, ewma_log, limits),
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
    let limits = Limits::new((link, link), spec.avpkt_bytes, spec.ewma_log, (0, 0), None);
    Node {
        estimator: Estimator::new(link, spec.ewma_log, limits),
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

fn leaves(spec: &CbqSpec, hierarchy: &Hierarchy, facts: &Facts, path: &str) -> Result<Vec<Leaf>, SpecError> {
    let places = &hierarchy.places[..hierarchy.leaves];
    let weight = |class: &CbqClass| u128::from(class.weight.unwrap_or(class.rate_bps.0));
    let (mut weights, mut counts) = ([0u128; BANDS], [0u128; BANDS]);
    let band = |class: &CbqClass| usize::from(class.priority.clamp(1, BANDS as u8) - 1);
    for class in places.iter().map(|place| &spec.classes[place.declared]) {
        weights[band(class)] += weight(class);
        counts[band(class)] += 1;
    }
    let leaf = |place: &Place| {
        let class = &spec.classes[place.declared];
        let band = band(class);
        let allot = u128::from(class.allot_bytes.unwrap_or(spec.allot_bytes)) * BYTE as u128;
        let quantum = weight(class).saturating_mul(allot * counts[band]) / weights[band].max(1);
        let quantum = i64::try_from(quantum).unwrap_or(i64::MAX).clamp(1, i64::MAX / 1024);
        let fallback = QueueSpec::default();
        let queue: &QueueSpec = class.queue.as_deref().unwrap_or(&fallback);
        let queue: Box<dyn Discipline> = build(queue, facts, &format!("{path}/{}", class.name))?;
        Ok(Leaf { queue, waits: 0, deficit: 0, quantum, band: band as u8 })
    };
    places.iter().map(leaf).collect()
}
