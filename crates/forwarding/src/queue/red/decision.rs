//! What is done with a packet that meets an average.

use super::average::{Average, Curve, spaced, weight_log};
use crate::queue::spec::Early;
use crate::queue::{Context, Facts, ecn};
use base::Frame;
use base::device::DropReason;
use base::time::PS_PER_S;

/// The parameters of a RED queue, checked.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// Drop probability by average queue length.
    pub curve: Curve,
    /// The weight of the average is two to the minus this.
    pub weight_log: u8,
    /// Picoseconds that a packet of usual size takes when the queue drains.
    pub packet_ps: f64,
    /// Bytes that may wait.
    pub limit: u64,
    ecn: bool,
    hard_drop: bool,
}

impl Parameters {
    /// Of what a user described.
    pub fn new(spec: &Early, facts: &Facts) -> Parameters {
        let (min, max, avpkt) = (spec.min, spec.max, u64::from(spec.avpkt));
        let rate = spec.bandwidth.unwrap_or(facts.rate);
        // `EarlySpec::early` has refused what there is no weight for.
        let weight_log = weight_log(min, spec.avpkt, spec.burst).unwrap_or_default();
        let bits = 8.0 * avpkt as f64;
        Parameters {
            curve: Curve { min: min as f64, max: max as f64, probability: spec.probability },
            weight_log,
            packet_ps: if rate.0 == 0 { 0.0 } else { bits * PS_PER_S as f64 / rate.0 as f64 },
            limit: spec.limit,
            ecn: spec.ecn,
            hard_drop: spec.harddrop,
        }
    }

    /// The average that goes with them.
    pub fn average(&self) -> Average {
        Average::new(self.weight_log, self.packet_ps)
    }
}

/// What is done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The average is below the thresholds, or chance spared the packet: it is queued.
    Pass,
    /// It is queued if it can be marked. If not, or if it must not be, it is dropped for the reason.
    Congested {
        /// Between the thresholds [`DropReason::EarlyDrop`], beyond them [`DropReason::AverageQueue`].
        reason: DropReason,
        /// May it be marked instead?
        may_mark: bool,
    },
}

impl Verdict {
    /// Marks the frame if that is what keeps it from being dropped. Returns whether it did, or why the frame is to be
    /// dropped.
    #[inline]
    pub fn apply(self, frame: &mut Frame) -> Result<bool, DropReason> {
        match self {
            Verdict::Pass => Ok(false),
            Verdict::Congested { may_mark: true, .. } if ecn::mark(frame) => Ok(true),
            Verdict::Congested { reason, .. } => Err(reason),
        }
    }
}

/// Decides by the average which packets are dropped or marked.
#[derive(Clone, Debug)]
pub struct Decider {
    parameters: Parameters,
    /// Packets since the last that was chosen, while the average is between the thresholds.
    count: u64,
}

impl Decider {
    /// A decider that has not seen a packet yet.
    pub fn new(parameters: Parameters) -> Decider {
        Decider { parameters, count: 0 }
    }

    /// What it was made with.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Decides about a packet that meets this average.
    #[inline]
    pub fn decide(&mut self, average: f64, cx: &mut Context<'_>) -> Verdict {
        let Parameters { curve, ecn, hard_drop, .. } = &self.parameters;
        if average < curve.min {
            self.count = 0;
            return Verdict::Pass;
        }
        if average >= curve.max {
            self.count = 0;
            // RFC 3168, 7, would have it dropped; tc-red leaves it to `harddrop`.
            return Verdict::Congested { reason: DropReason::AverageQueue, may_mark: *ecn && !hard_drop };
        }
        if cx.uniform() < spaced(curve.probability(average), self.count) {
            self.count = 0;
            return Verdict::Congested { reason: DropReason::EarlyDrop, may_mark: *ecn };
        }
        self.count += 1;
        Verdict::Pass
    }
}
