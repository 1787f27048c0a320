//! Flows of test packets as the user describes them: how fast, how long the packets are, and when they are due.

use base::{Rate, Span, Time};
use core::fmt;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::sync::Arc;

/// A flow of test packets; over a group of LSPs, one stream for each, which share the rate evenly.
///
/// What is random in it is drawn from streams that have the flow's name: the same seed gives the same packets at the same times, whatever
/// else is in the network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name.
    #[serde(default)]
    pub name: String,
    /// Node at which it begins.
    pub from: usize,
    /// Node at which it ends; the one at which it begins if that is a host with several links.
    pub to: usize,
    /// Link by which it leaves a host; the first on the shortest path if absent.
    #[serde(default)]
    pub from_link: Option<usize>,
    /// Link of a host whose address it goes to; the last on the shortest path if absent.
    #[serde(default)]
    pub to_link: Option<usize>,
    /// Group of LSPs that it takes; the routing table decides if absent.
    #[serde(default)]
    pub over: Option<usize>,
    /// Mean rate of all its streams together (of an on-off source the rate while it is on, unless it says otherwise). A trace needs none.
    #[serde(default, rename = "rate_bps")]
    pub rate: Rate,
    /// Which bytes the rate counts.
    #[serde(default)]
    pub rate_counts: RateCounts,
    /// Bytes of a frame, with frame check sequence, as the source sends it. A trace with sizes needs none.
    #[serde(default)]
    pub size: Option<SizeSpec>,
    /// When packets are due.
    #[serde(default)]
    pub arrivals: ArrivalSpec,
    /// Code point.
    #[serde(default)]
    pub dscp: u8,
    /// UDP source port; one that no flow from the same node has so far, if absent.
    #[serde(default)]
    pub src_port: Option<u32>,
    /// UDP destination port; that of test packets if absent.
    #[serde(default)]
    pub dst_port: Option<u32>,
    /// When it starts.
    #[serde(default, rename = "start_ps")]
    pub start: Time,
    /// When it stops; never if absent.
    #[serde(default, rename = "stop_ps")]
    pub stop: Option<Time>,
    /// Do packets write down the links that they cross?
    #[serde(default)]
    pub trace: bool,
    /// Keep every packet, for table `packets`.
    #[serde(default)]
    pub log: bool,
}

/// Which bytes of a packet a rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateCounts {
    /// Those of the Ethernet frame with its frame check sequence.
    #[default]
    Frame,
    /// Those of the IP packet.
    Ip,
}

/// When packets are due. In JSON a word, or an object with the word as `kind`.
///
/// Gaps do not depend on sizes: at a constant rate packets of different sizes are evenly spaced, by the time that the mean size takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ArrivalSpec {
    /// Evenly spaced.
    #[default]
    Constant,
    /// A Poisson process.
    Poisson,
    /// Constant while on, nothing while off.
    OnOff(OnOffSpec),
    /// As listed.
    Trace(TraceSpec),
}

/// A source that is on and off in turn, on at first.
///
/// Its clock runs while it is on: packets are evenly spaced by that clock, so that periods of any length give the same mean rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// For how long it is on.
    pub on: PeriodSpec,
    /// For how long it is off.
    pub off: PeriodSpec,
    /// The flow's rate is the mean over both, not that while it is on.
    #[serde(default)]
    pub rate_is_mean: bool,
}

/// How long a period lasts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodSpec {
    /// Distribution.
    pub kind: PeriodKind,
    /// Mean.
    #[serde(rename = "mean_ps")]
    pub mean: Span,
    /// Shape of a Pareto distribution, more than 1: the tail falls as the length to minus this power.
    #[serde(default = "shape")]
    pub shape: f64,
}

fn shape() -> f64 {
    1.5
}

/// Distribution of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeriodKind {
    /// Always the mean.
    Constant,
    /// Exponential.
    Exponential,
    /// Pareto.
    Pareto,
}

/// Packets one by one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Time from the packet before (of the first: from the start of the flow) to each, in picoseconds.
    #[serde(rename = "gaps_ps", deserialize_with = "shared")]
    pub gaps: Arc<[u64]>,
    /// Size of each; that of the flow if empty.
    #[serde(default, deserialize_with = "shared")]
    pub sizes: Arc<[u32]>,
    /// Begin again after the last.
    #[serde(default)]
    pub repeat: bool,
}

fn shared<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Arc<[T]>, D::Error> {
    Ok(Vec::deserialize(from)?.into())
}

/// How long frames are, in bytes with frame check sequence. In JSON a number, or an object with a `kind`.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeSpec {
    /// All alike.
    Fixed(u32),
    /// Each size in a range equally often.
    Uniform(UniformSpec),
    /// Some sizes, each as often as its weight says.
    Empirical(EmpiricalSpec),
    /// Exponential; what is shorter or longer than the bounds is as long as they are.
    Exponential(ExponentialSpec),
}

/// Sizes in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UniformSpec {
    /// The shortest.
    pub min: u32,
    /// The longest.
    pub max: u32,
}

/// Sizes by weight.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmpiricalSpec {
    /// The sizes.
    pub sizes: Vec<u32>,
    /// How often each occurs, in any unit; all alike if empty.
    #[serde(default)]
    pub weights: Vec<f64>,
}

/// Exponential sizes between bounds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExponentialSpec {
    /// Mean of the distribution without the bounds.
    pub mean: f64,
    /// The shortest.
    #[serde(default = "shortest")]
    pub min: u32,
    /// The longest.
    #[serde(default = "longest")]
    pub max: u32,
}

fn shortest() -> u32 {
    64
}
fn longest() -> u32 {
    9_018
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum ArrivalObject {
    Constant,
    Poisson,
    OnOff(OnOffSpec),
    Trace(TraceSpec),
}

impl<'de> Deserialize<'de> for ArrivalSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<ArrivalSpec, D::Error> {
        let object = match Value::deserialize(from)? {
            Value::String(kind) => serde_json::json!({"kind": kind}),
            other => other,
        };
        Ok(match ArrivalObject::deserialize(object).map_err(|error| of("arrivals", &error))? {
            ArrivalObject::Constant => ArrivalSpec::Constant,
            ArrivalObject::Poisson => ArrivalSpec::Poisson,
            ArrivalObject::OnOff(spec) => ArrivalSpec::OnOff(spec),
            ArrivalObject::Trace(spec) => ArrivalSpec::Trace(spec),
        })
    }
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum SizeObject {
    Uniform(UniformSpec),
    Empirical(EmpiricalSpec),
    Exponential(ExponentialSpec),
}

impl<'de> Deserialize<'de> for SizeSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<SizeSpec, D::Error> {
        let object = match Value::deserialize(from)? {
            number @ Value::Number(_) => {
                let size = u32::deserialize(number).map_err(|error| of("size", &error))?;
                return Ok(SizeSpec::Fixed(size));
            }
            other => other,
        };
        Ok(match SizeObject::deserialize(object).map_err(|error| of("size", &error))? {
            SizeObject::Uniform(spec) => SizeSpec::Uniform(spec),
            SizeObject::Empirical(spec) => SizeSpec::Empirical(spec),
            SizeObject::Exponential(spec) => SizeSpec::Exponential(spec),
        })
    }
}

fn of<E: serde::de::Error>(what: &str, error: &impl fmt::Display) -> E {
    E::custom(format_args!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_users_write_is_read() {
        let arrivals = |value: Value| ArrivalSpec::deserialize(value);
        assert_eq!(arrivals(json!("poisson")).ok(), Some(ArrivalSpec::Poisson));
        assert_eq!(arrivals(json!({"kind": "constant"})).ok(), Some(ArrivalSpec::Constant));
        let period = |kind, mean| PeriodSpec { kind, mean: Span(mean), shape: 1.5 };
        let on_off = json!({"kind": "on-off", "on": {"kind": "pareto", "mean_ps": 7}, "off": {"kind": "constant", "mean_ps": 9}});
        let expected = OnOffSpec {
            on: period(PeriodKind::Pareto, 7),
            off: period(PeriodKind::Constant, 9),
            rate_is_mean: false,
        };
        assert_eq!(arrivals(on_off).ok(), Some(ArrivalSpec::OnOff(expected)));
        let trace = arrivals(json!({"kind": "trace", "gaps_ps": [1, 2], "sizes": [64, 65], "repeat": true}));
        let expected = TraceSpec { gaps: [1, 2].into(), sizes: [64, 65].into(), repeat: true };
        assert_eq!(trace.ok(), Some(ArrivalSpec::Trace(expected)));
        let size = |value: Value| SizeSpec::deserialize(value);
        assert_eq!(size(json!(512)).ok(), Some(SizeSpec::Fixed(512)));
        let expected = ExponentialSpec { mean: 500.0, min: 64, max: 9_018 };
        let exponential = size(json!({"kind": "exponential", "mean": 500}));
        assert_eq!(exponential.ok(), Some(SizeSpec::Exponential(expected)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let arrivals = |value: Value| ArrivalSpec::deserialize(value).expect_err("an error").to_string();
        assert!(arrivals(json!("bursty")).starts_with("arrivals: unknown variant `bursty`"));
        assert!(arrivals(json!({"kind": "trace"})).contains("missing field `gaps_ps`"));
        let size = |value: Value| SizeSpec::deserialize(value).expect_err("an error").to_string();
        assert!(size(json!(-3)).starts_with("size: "), "{}", size(json!(-3)));
        assert!(
            size(json!({"kind": "uniform", "min": 1, "max": 2, "mode": 3})).contains("unknown field `mode`")
        );
    }
}
