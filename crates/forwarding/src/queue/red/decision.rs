//! What is done with a packet that meets an average.

use super::average::{Average, Curve, spaced, weight_log};
use crate::queue::spec::{RedSpec, SpecError};
use crate::queue::{Context, Facts, check, ecn};
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
    /// Checks what a user described.
    pub fn new(spec: &RedSpec, facts: &Facts, path: &str) -> Result<Parameters, SpecError> {
        let error = |text: String| Err(SpecError::new(path, text));
        let (min, max, burst) = (spec.min_bytes, spec.max_bytes, spec.burst_packets);
        let limit = check::positive(spec.limit_bytes, "limit_bytes", path)?;
        let avpkt = check::positive(u64::from(spec.avpkt_bytes), "avpkt_bytes", path)?;
        if min >= max {
            return error(format!(
                "min_bytes={min}, max_bytes={max}: thresholds are out of order; min must be below max, best at most half of it"
            ));
        }
        if min < avpkt {
            return error(format!(
                "min_bytes={min} is less than one packet: give at least avpkt_bytes={avpkt}"
            ));
        }
        if !(spec.probability > 0.0 && spec.probability <= 1.0) {
            return error(format!("probability={}: it must be above 0 and at most 1", spec.probability));
        }
        let rate = match spec.bandwidth_bps {
            Some(rate) => check::rate(rate, "bandwidth_bps", path)?,
            None => facts.rate,
        };
        let Some(weight_log) = weight_log(min, spec.avpkt_bytes, burst) else {
            let least = min.div_ceil(avpkt);
            return error(if u64::from(burst) < least {
                format!(
                    "burst_packets={burst} is too small for min_bytes={min} and avpkt_bytes={avpkt}: give at least {least}, best {}",
                    (2 * u128::from(min) + u128::from(max)).div_ceil(3 * u128::from(avpkt))
                )
            } else {
                format!("burst_packets={burst} is too large for min_bytes={min}: no average is slow enough")
            });
        };
        let bits = 8.0 * avpkt as f64;
        Ok(Parameters {
            curve: Curve { min: min as f64, max: max as f64, probability: spec.probability },
            weight_log,
            packet_ps: if rate.0 == 0 { 0.0 } else { bits * PS_PER_S as f64 / rate.0 as f64 },
            limit,
            ecn: spec.ecn,
            hard_drop: spec.hard_drop,
        })
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
