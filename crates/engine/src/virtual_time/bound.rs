//! How far a device may run ahead of the others.

use super::Node;
use crate::lane::Lane;
use base::{NodeId, Time};

/// Devices with more ports forward frame by frame.
const RUN_PORTS_MAX: usize = 8;

/// Up to when (exclusive) device `id` can't be interfered with when it forwards arrivals of lane `g`, or sends of its
/// own accord, if `first` is the earliest event of all; zero if that is not beyond `next`.
///
/// Only inputs of the same device matter. Its own timeout (which its departures heed by themselves) and what was
/// asked for are known, and so are the first arrivals of its other lanes (if a frame waits in a queue, a time before
/// which there is none). A frame that is yet to be sent into one of those is sent at `first` or later, or when its
/// sender has a reason to ([`idle_until`]), and arrives no sooner than the lane's shortest delay after that; the
/// caller looks after answers to what the device itself sends meanwhile. So devices run ahead of each other by about
/// a link's delay, and no device can tell.
#[inline]
pub(super) fn run_bound(
    nodes: &[Node],
    lanes: &[Lane],
    id: NodeId,
    g: Option<u32>,
    times: [Time; 3],
) -> Time {
    let [first, next, next_task] = times;
    let node = &nodes[id.index()];
    let mut bound = if g.is_some() { next_task.min(node.timeout) } else { next_task };
    if node.ports.len() > RUN_PORTS_MAX {
        return Time::ZERO;
    }
    for &out in &node.ports {
        if Some(out ^ 1) == g {
            continue;
        }
        let lane = &lanes[out as usize ^ 1];
        let mut sent = first.0.saturating_add(lane.shortest());
        if sent <= next.0 {
            sent = idle_until(nodes, lanes, lanes[out as usize].to_node, id, first).0;
            sent = sent.saturating_add(lane.shortest());
        }
        bound = bound.min(Time(sent)).min(lane.next_arrival());
        if bound <= next {
            return Time::ZERO;
        }
    }
    bound
}

/// When an answer may come, at the earliest, to what arrives at the end of lane `out` at `arrival`.
#[inline]
pub(super) fn answered(lanes: &[Lane], out: u32, arrival: Time) -> Time {
    Time(arrival.0.saturating_add(lanes[out as usize ^ 1].shortest()))
}

/// When a device has a reason to send something, at the earliest, unless it gets something from `neighbor`.
fn idle_until(nodes: &[Node], lanes: &[Lane], id: NodeId, neighbor: NodeId, first: Time) -> Time {
    let node = &nodes[id.index()];
    if node.ports.len() > RUN_PORTS_MAX {
        return first;
    }
    let mut until = node.timeout;
    for &out in &node.ports {
        let lane = &lanes[out as usize ^ 1];
        until = until.min(lane.next_arrival());
        if lanes[out as usize].to_node != neighbor {
            until = until.min(Time(first.0.saturating_add(lane.shortest())));
        }
    }
    until
}
