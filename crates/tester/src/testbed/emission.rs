//! From what a user says of a flow's packets to when they are due and how long they are.

use super::flow_spec::{ArrivalSpec, FlowSpec, OnOffSpec, PeriodKind, PeriodSpec, RateCounts, SizeSpec};
use crate::arrivals::{Arrivals, OnOff, Period, Poisson, Trace};
use crate::pacer::Pacer;
use crate::problem::TrafficProblem;
use crate::sizes::Sizes;
use base::diagnostic::Diagnostic;
use base::time::PS_PER_S;
use base::{Span, Streams, Time};

/// Ethernet header and frame check sequence: bytes of a frame that are not the IP packet's, but for labels.
const ETHERNET: u128 = 18;
/// Bytes of a label.
const LABEL: u128 = 4;
/// Parts into which a byte is divided where the mean of sizes is not a simple fraction.
const PARTS: u128 = 1 << 20;
/// A packet is due after so many periods of an on-off source at the most, in the mean.
const PERIODS_PER_PACKET: u128 = 10_000;

/// A problem of one field of a flow, which its words name.
fn on<T>(key: &str, problem: TrafficProblem) -> Result<T, Diagnostic> {
    Err(Diagnostic::new(problem).at(key).on_key())
}

/// The mean number of bits of a packet, as a fraction.
struct MeanBits {
    numerator: u128,
    denominator: u128,
}

impl FlowSpec {
    /// Does it draw random numbers?
    pub(super) fn is_random(&self) -> bool {
        let constant = |period: &PeriodSpec| period.kind == PeriodKind::Constant;
        let gaps = match &self.arrivals {
            ArrivalSpec::Constant | ArrivalSpec::Trace(_) => false,
            ArrivalSpec::Poisson => true,
            ArrivalSpec::OnOff(on_off) => !(constant(&on_off.on) && constant(&on_off.off)),
        };
        gaps || self.sizes_random()
    }

    fn sizes_random(&self) -> bool {
        self.listed_sizes().is_none() && !matches!(self.size, None | Some(SizeSpec::Fixed(_)))
    }

    /// The sizes of a trace, if it has any: they go before those of the flow.
    fn listed_sizes(&self) -> Option<&std::sync::Arc<[u32]>> {
        match &self.arrivals {
            ArrivalSpec::Trace(trace) if !trace.sizes.is_empty() => Some(&trace.sizes),
            _ => None,
        }
    }

    /// The shortest and the longest frame.
    pub(super) fn size_range(&self) -> Option<(u32, u32)> {
        if let Some(sizes) = self.listed_sizes() {
            return ends(sizes);
        }
        match self.size.as_ref()? {
            SizeSpec::Fixed(size) => Some((*size, *size)),
            SizeSpec::Uniform(range) => Some((range.min, range.max)),
            SizeSpec::Empirical(some) => ends(&some.sizes),
            SizeSpec::Exponential(bounded) => Some((bounded.min, bounded.max)),
        }
    }

    /// Refuses what no source can do; `labels` are on each packet. Paths begin at the flow.
    pub(super) fn check_emission(&self, labels: u32) -> Result<(), Diagnostic> {
        self.check_sizes()?;
        if let ArrivalSpec::Trace(trace) = &self.arrivals {
            if trace.gaps.is_empty() {
                return on("arrivals", TrafficProblem::EmptyTrace {});
            }
            if !trace.sizes.is_empty() && trace.sizes.len() != trace.gaps.len() {
                let (gaps, sizes) = (trace.gaps.len(), trace.sizes.len());
                return on("arrivals", TrafficProblem::TraceSizes { gaps, sizes });
            }
            if trace.repeat && trace.gaps.iter().all(|gap| *gap == 0) {
                return on("arrivals", TrafficProblem::EndlessTrace {});
            }
            return Ok(());
        }
        if self.rate.0 == 0 {
            return on("rate", TrafficProblem::NoRate {});
        }
        match &self.arrivals {
            ArrivalSpec::OnOff(on_off) => self.check_on_off(on_off, labels),
            _ => Ok(()),
        }
    }

    fn check_sizes(&self) -> Result<(), Diagnostic> {
        match &self.size {
            None if self.listed_sizes().is_none() => on("size", TrafficProblem::NoSize {}),
            Some(SizeSpec::Empirical(some)) => {
                let weights = &some.weights;
                if some.sizes.is_empty() {
                    return on("size", TrafficProblem::NoSizes {});
                }
                if !weights.is_empty() && weights.len() != some.sizes.len() {
                    let (sizes, weights) = (some.sizes.len(), weights.len());
                    return on("size", TrafficProblem::Weights { sizes, weights });
                }
                let usable = weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0);
                if !usable || (!weights.is_empty() && weights.iter().sum::<f64>() <= 0.0) {
                    return on("size", TrafficProblem::BadWeights {});
                }
                Ok(())
            }
            Some(SizeSpec::Exponential(bounded)) if !(bounded.mean > 0.0 && bounded.mean.is_finite()) => {
                on("size", TrafficProblem::NoMeanSize { mean: bounded.mean })
            }
            Some(SizeSpec::Exponential(bounded)) if bounded.min > bounded.max => {
                on("size", TrafficProblem::CrossedBounds { min: bounded.min, max: bounded.max })
            }
            Some(SizeSpec::Exponential(bounded))
                if !(f64::from(bounded.min)..=f64::from(bounded.max)).contains(&bounded.mean) =>
            {
                let (mean, min, max) = (bounded.mean, bounded.min, bounded.max);
                on("size", TrafficProblem::MeanBeyond { mean, min, max })
            }
            _ => match self.size_range() {
                Some((min, max)) if min > max => on("size", TrafficProblem::CrossedBounds { min, max }),
                _ => Ok(()),
            },
        }
    }

    fn check_on_off(&self, on_off: &OnOffSpec, labels: u32) -> Result<(), Diagnostic> {
        for (name, period, least) in [("on", &on_off.on, 1), ("off", &on_off.off, 0)] {
            if period.mean.0 < least {
                return on("arrivals", TrafficProblem::EmptyPeriod { name, mean: period.mean.0 });
            }
            if period.kind == PeriodKind::Pareto && !(period.shape > 1.0 && period.shape.is_finite()) {
                return on("arrivals", TrafficProblem::NoMeanPeriod { name, shape: period.shape });
            }
        }
        // Where the tail is heavy most periods are far shorter than the mean: about as short as the shortest.
        let usual = match period(&on_off.on) {
            Period::Pareto { shortest, .. } => shortest as u128,
            Period::Constant(span) | Period::Exponential(span) => u128::from(span.0.unsigned_abs()),
        };
        let (numerator, denominator) = self.gap(labels);
        if numerator / denominator.max(1) > usual * PERIODS_PER_PACKET {
            let (usual, parts) = (usual.to_string(), PERIODS_PER_PACKET.to_string());
            let sparse = TrafficProblem::SparsePeriod { mean: on_off.on.mean.0, usual, parts };
            return on("arrivals", sparse);
        }
        Ok(())
    }

    /// The mean number of bits of a packet that count.
    fn mean_bits(&self, labels: u32) -> MeanBits {
        let (bytes, denominator) = match &self.size {
            None => (0, 1),
            Some(SizeSpec::Fixed(size)) => (u128::from(*size), 1),
            Some(SizeSpec::Uniform(range)) => (u128::from(range.min) + u128::from(range.max), 2),
            Some(SizeSpec::Empirical(some)) if some.weights.is_empty() => {
                let sum: u64 = some.sizes.iter().map(|size| u64::from(*size)).sum();
                (u128::from(sum), some.sizes.len().max(1) as u128)
            }
            Some(SizeSpec::Empirical(some)) => {
                let total: f64 = some.weights.iter().sum();
                let pairs = some.sizes.iter().zip(&some.weights);
                in_parts(pairs.map(|(size, weight)| f64::from(*size) * weight / total).sum())
            }
            Some(SizeSpec::Exponential(bounded)) => {
                // The mean of what is cut at both bounds: min + integral of exp(-x / mean) from min to max.
                let beyond = |size: u32| libm::exp(-f64::from(size) / bounded.mean);
                let (min, max) = (bounded.min, bounded.max);
                in_parts(f64::from(min) + bounded.mean * (beyond(min) - beyond(max)))
            }
        };
        let less = match self.rate_counts {
            RateCounts::Frame => 0,
            RateCounts::Ip => ETHERNET + LABEL * u128::from(labels),
        };
        MeanBits { numerator: 8 * bytes.saturating_sub(less * denominator), denominator }
    }

    /// Picoseconds from packet to packet while the source is on, as a fraction.
    fn gap(&self, labels: u32) -> (u128, u128) {
        let MeanBits { numerator, denominator } = self.mean_bits(labels);
        let numerator = numerator * u128::from(PS_PER_S);
        let denominator = denominator * u128::from(self.rate.0);
        match &self.arrivals {
            ArrivalSpec::OnOff(spec) if spec.rate_is_mean => {
                // While it is on, it sends what has to be sent for both periods.
                let [on, off] = [spec.on.mean, spec.off.mean].map(|mean| mean.0.unsigned_abs() as f64);
                let share = ((on / (on + off) * PARTS as f64) as u128).max(1);
                (numerator * share, denominator * PARTS)
            }
            _ => (numerator, denominator),
        }
    }

    /// When its packets are due, from `start` on.
    pub(super) fn arrivals(&self, streams: Streams, start: Time, labels: u32) -> Arrivals {
        let random = || streams.stream(&format!("flow/{}/gaps", self.name));
        let (numerator, denominator) = self.gap(labels);
        match &self.arrivals {
            ArrivalSpec::Constant => Arrivals::Constant(Pacer::every(start, numerator, denominator)),
            ArrivalSpec::Poisson => {
                let mean = numerator as f64 / denominator as f64 / PS_PER_S as f64;
                Arrivals::Poisson(Poisson::new(start, Span::from_secs_f64(mean), random()))
            }
            ArrivalSpec::OnOff(spec) => {
                let pacer = Pacer::every(Time::ZERO, numerator, denominator);
                let on_off = OnOff::new(start, pacer, period(&spec.on), period(&spec.off), random());
                Arrivals::OnOff(Box::new(on_off))
            }
            ArrivalSpec::Trace(spec) => Arrivals::Trace(Trace::new(start, spec.gaps.clone(), spec.repeat)),
        }
    }

    /// How long its packets are, if they differ.
    pub(super) fn sizes(&self, streams: Streams) -> Option<Sizes> {
        if let Some(sizes) = self.listed_sizes() {
            return Some(Sizes::Listed { sizes: sizes.clone(), at: 0 });
        }
        let random = || streams.stream(&format!("flow/{}/sizes", self.name));
        match self.size.as_ref()? {
            SizeSpec::Fixed(_) => None,
            SizeSpec::Uniform(range) => {
                Some(Sizes::Uniform { min: range.min, max: range.max, random: Box::new(random()) })
            }
            SizeSpec::Empirical(some) => Some(Sizes::empirical(&some.sizes, &some.weights, random())),
            SizeSpec::Exponential(bounded) => {
                let (mean, min, max) = (bounded.mean, bounded.min, bounded.max);
                Some(Sizes::Exponential { mean, min, max, random: Box::new(random()) })
            }
        }
    }
}

fn ends(sizes: &[u32]) -> Option<(u32, u32)> {
    Some((*sizes.iter().min()?, *sizes.iter().max()?))
}

fn in_parts(bytes: f64) -> (u128, u128) {
    (libm::round(bytes * PARTS as f64) as u128, PARTS)
}

fn period(spec: &PeriodSpec) -> Period {
    match spec.kind {
        PeriodKind::Constant => Period::Constant(spec.mean),
        PeriodKind::Exponential => Period::Exponential(spec.mean),
        PeriodKind::Pareto => Period::pareto(spec.mean, spec.shape),
    }
}
