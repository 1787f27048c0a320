//! How long the frames of a flow are, as users write it.

use super::problem::FlowProblem;
use crate::testbed;
use base::describe::{Choice, Describe, Named, Schema, Schemas, Size, Value, malformed};
use base::diagnostic::{At, Diagnostic};

/// Bytes of an Ethernet frame with its frame check sequence: the shortest, and the longest that a source makes.
const FRAME: core::ops::RangeInclusive<u64> = 64..=65_553;

/// Bytes of a frame, with header and frame check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSize(pub u32);

impl Describe for FrameSize {
    fn read(value: &Value) -> Result<FrameSize, Diagnostic> {
        let Size(bytes) = Size::read(value)?;
        if FRAME.contains(&bytes) {
            Ok(FrameSize(bytes as u32))
        } else {
            Err(FlowProblem::NoFrame { bytes }.into())
        }
    }
    fn write(&self) -> Value {
        self.0.into()
    }
    fn schema(known: &mut Schemas) -> Schema {
        Size::schema(known)
    }
    fn example() -> Option<&'static str> {
        Some("512")
    }
}

base::record! {
    /// Sizes between two bounds, each equally often.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct UniformSizes {
        /// The least.
        pub min: FrameSize;
        /// The greatest.
        pub max: FrameSize;
    }
    check UniformSizes::check;
}

impl UniformSizes {
    fn check(&self) -> Result<(), Diagnostic> {
        crossed(self.min, self.max)
    }
}

fn crossed(min: FrameSize, max: FrameSize) -> Result<(), Diagnostic> {
    if min.0 <= max.0 {
        return Ok(());
    }
    Err(FlowProblem::Crossed { min: min.0.into(), max: max.0.into() }.into())
}

base::record! {
    /// Some sizes, each as often as its weight says.
    #[derive(Clone, Debug, PartialEq)]
    pub struct EmpiricalSizes {
        /// The sizes.
        pub sizes: Vec<FrameSize>;
        /// Their weights, in any unit.
        pub weights: Vec<f64> = Vec::new(), absent "all the same";
    }
    check EmpiricalSizes::check;
}

impl EmpiricalSizes {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.sizes.is_empty() {
            return Err(Diagnostic::new(FlowProblem::None {}).at("sizes"));
        }
        if self.weights.is_empty() {
            return Ok(());
        }
        if self.weights.len() != self.sizes.len() {
            let [first, second] = [self.sizes.len(), self.weights.len()];
            let unequal =
                FlowProblem::Unequal { first, what: "sizes".into(), second, other: "weights".into() };
            return Err(Diagnostic::new(unequal).at("weights"));
        }
        let usable =
            self.weights.iter().all(|weight| *weight >= 0.0) && self.weights.iter().sum::<f64>() > 0.0;
        if usable { Ok(()) } else { Err(Diagnostic::new(FlowProblem::NoWeight {}).at("weights")) }
    }
}

base::record! {
    /// Exponential sizes, cut at both ends.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ExponentialSizes {
        /// Mean before the cut.
        pub mean: Size, in 1..=65_553;
        /// What is shorter becomes that.
        pub min: FrameSize = FrameSize(64);
        /// What is longer becomes that.
        pub max: FrameSize = FrameSize(9_018);
    }
    check ExponentialSizes::check;
}

impl ExponentialSizes {
    fn check(&self) -> Result<(), Diagnostic> {
        crossed(self.min, self.max)?;
        let (mean, min, max) = (self.mean.0, u64::from(self.min.0), u64::from(self.max.0));
        if (min..=max).contains(&mean) {
            Ok(())
        } else {
            Err(FlowProblem::MeanOutside { mean, min, max }.into())
        }
    }
}

base::choice! {
    /// Sizes that differ.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Distribution by "kind" {
        /// From `min` to `max`, each equally often.
        Uniform(UniformSizes) = "uniform",
        /// Some sizes, each as often as its weight says.
        Empirical(EmpiricalSizes) = "empirical",
        /// Exponential, cut at both ends.
        Exponential(ExponentialSizes) = "exponential",
    }
    read by hand;
}

/// How long the frames of a flow are.
#[derive(Clone, Debug, PartialEq)]
pub enum SizesSpec {
    /// All alike.
    Fixed(FrameSize),
    /// The usual mix of the Internet: 7 frames of 64 bytes, 4 of 594 and 1 of 1518 (simple IMIX; RFC 6985).
    Imix,
    /// By a distribution.
    Random(Distribution),
}

impl SizesSpec {
    /// The sizes as they are drawn.
    pub fn lowered(&self) -> testbed::SizeSpec {
        let bytes = |sizes: &[FrameSize]| sizes.iter().map(|size| size.0).collect();
        match self {
            SizesSpec::Fixed(size) => testbed::SizeSpec::Fixed(size.0),
            SizesSpec::Imix => testbed::SizeSpec::Empirical(testbed::EmpiricalSpec {
                sizes: vec![64, 594, 1_518],
                weights: vec![7.0, 4.0, 1.0],
            }),
            SizesSpec::Random(Distribution::Uniform(range)) => {
                testbed::SizeSpec::Uniform(testbed::UniformSpec { min: range.min.0, max: range.max.0 })
            }
            SizesSpec::Random(Distribution::Empirical(some)) => {
                let weights = some.weights.clone();
                testbed::SizeSpec::Empirical(testbed::EmpiricalSpec { sizes: bytes(&some.sizes), weights })
            }
            SizesSpec::Random(Distribution::Exponential(bounded)) => {
                testbed::SizeSpec::Exponential(testbed::ExponentialSpec {
                    mean: bounded.mean.0 as f64,
                    min: bounded.min.0,
                    max: bounded.max.0,
                })
            }
        }
    }
}

const FORM: &str = "a size: bytes, imix, or a mapping of kind uniform, empirical or exponential";

impl Describe for SizesSpec {
    fn read(value: &Value) -> Result<SizesSpec, Diagnostic> {
        match value {
            Value::Map(_) => Distribution::read_choice(value).map(SizesSpec::Random),
            Value::Text(word) if word == "imix" => Ok(SizesSpec::Imix),
            Value::Text(text)
                if !text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) =>
            {
                Err(malformed(value, FORM))
            }
            Value::List(_) | Value::Null | Value::Bool(_) => Err(malformed(value, FORM)),
            other => FrameSize::read(other).map(SizesSpec::Fixed),
        }
    }
    fn write(&self) -> Value {
        match self {
            SizesSpec::Fixed(size) => size.write(),
            SizesSpec::Imix => "imix".into(),
            SizesSpec::Random(made) => made.write_choice(),
        }
    }
    fn schema(known: &mut Schemas) -> Schema {
        let short = vec![Size::schema(known), Schema::Text { form: "imix", pattern: Some("^imix$") }];
        known
            .named("SizesSpec", |known| Named::Choice(Choice { short, ..Distribution::choice_schema(known) }))
    }
}

/// Sizes of a list; empty is as good as absent.
pub fn check_lengths(sizes: &[FrameSize], gaps: usize) -> Result<(), Diagnostic> {
    if sizes.is_empty() || sizes.len() == gaps {
        return Ok(());
    }
    let unequal =
        FlowProblem::Unequal { first: gaps, what: "gaps".into(), second: sizes.len(), other: "sizes".into() };
    Err(Diagnostic::new(unequal)).at("sizes")
}
