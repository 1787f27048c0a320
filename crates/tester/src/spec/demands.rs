//! Demands: a matrix of rates between nodes, by classes, as users write it. Each demand of each class is a flow.

use super::arrivals::ArrivalsSpec;
use super::problem::DemandProblem;
use super::sizes::{FrameSize, SizesSpec};
use base::describe::{Describe, Name, Named, Record, Schema, Schemas, Value, malformed, near};
use base::diagnostic::{At, Diagnostic};
use base::{Dscp, Rate, Time};
use network::spec::ReadNetwork;
use network::spec::reference::{Names, NodeRef};
use std::collections::{BTreeMap, BTreeSet};

/// What all demands are called together.
pub const ALL: &str = "demands";

/// The two names that a name such as `a-b` may be made of. Names may have dashes of their own.
fn pairs(name: &str) -> impl Iterator<Item = (&str, &str)> {
    name.match_indices('-').map(|(place, _)| (&name[..place], &name[place + 1..]))
}

base::record! {
    /// A class of demands.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ClassSpec called "DemandClassSpec" {
        /// Code point of its packets, by name or number.
        pub dscp: Dscp = Dscp::DEFAULT;
        /// Which part of each rate that names no class is of this class, 0 to 1.
        pub share: Option<f64>, absent "what the shares of others leave, in equal parts";
        /// Frame with header and frame check sequence, in bytes: bytes, imix, or a mapping of kind uniform, empirical
        /// or exponential.
        pub size: SizesSpec = SizesSpec::Fixed(FrameSize(512));
        /// When packets are due: poisson, constant, or a mapping of kind on-off.
        pub arrivals: ArrivalsSpec = ArrivalsSpec::Poisson;
    }
}

impl ClassSpec {
    /// The class of demands where nobody names one.
    fn only() -> ClassSpec {
        let (size, arrivals) = (SizesSpec::Fixed(FrameSize(512)), ArrivalsSpec::Poisson);
        ClassSpec { dscp: Dscp::DEFAULT, share: None, size, arrivals }
    }
}

base::record! {
    /// A demand: how much goes from a node to another. In short `[FROM, TO, RATE]` or `[FROM, TO, RATE, CLASS]`.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DemandSpec {
        /// Where it begins.
        pub from: NodeRef;
        /// Where it ends.
        pub to: NodeRef;
        /// How much, in frames with their frame check sequence.
        pub rate: Rate, in 1..=9_223_372_036_854_775_807;
        /// Of which class all of it is.
        pub class: Option<Name>, absent "each class has its share";
    }
    read by hand;
}

impl Describe for DemandSpec {
    fn read(value: &Value) -> Result<DemandSpec, Diagnostic> {
        let Value::List(elements) = value else { return DemandSpec::read_record(value, "") };
        if !(3..=4).contains(&elements.len()) {
            return Err(malformed(value, "a demand: [FROM, TO, RATE] or [FROM, TO, RATE, CLASS]"));
        }
        let keys = ["from", "to", "rate", "class"].into_iter().zip(elements);
        let whole = keys.map(|(key, element)| (key.to_string(), element.clone())).collect();
        DemandSpec::read_record(&Value::Map(whole), "")
    }
    fn write(&self) -> Value {
        let mut elements = vec![self.from.write(), self.to.write(), self.rate.write()];
        elements.extend(self.class.as_ref().map(Describe::write));
        Value::List(elements)
    }
    fn schema(known: &mut Schemas) -> Schema {
        known.named("DemandSpec", |known| {
            let mut record = DemandSpec::record_schema(known);
            let parts = vec![NodeRef::schema(known), NodeRef::schema(known), Rate::schema(known)];
            let with_class = [parts.clone(), vec![Name::schema(known)]].concat();
            record.short = vec![Schema::Tuple(parts), Schema::Tuple(with_class)];
            Named::Record(record)
        })
    }
}

base::record! {
    /// Rates by the gravity model: between two nodes as much as the product of their weights says.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GravitySpec {
        /// All rates together.
        pub total: Rate, in 1..=9_223_372_036_854_775_807;
        /// Weights of nodes by name; a node without one has none. If nothing is said, every router has the same.
        pub weights: Vec<(Name, f64)> = Vec::new();
    }
}

base::record! {
    /// Demands between nodes, each of which is a flow: a traffic matrix, listed, in a file or by the gravity model.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DemandsSpec {
        /// Matrix beside this file: CSV with the columns from, to, rate and perhaps class, or SNDlib's XML or native
        /// text.
        pub file: Option<String>;
        /// What a number of the file without a unit counts.
        pub unit: Option<Rate>, in 1..=9_223_372_036_854_775_807, absent "1 bit/s of CSV, 1 Mbit/s of SNDlib";
        /// The demands one by one.
        pub matrix: Vec<DemandSpec> = Vec::new();
        /// Rates by weights of nodes, between pairs that the matrix does not list.
        pub gravity: Option<GravitySpec>;
        /// All rates are multiplied by it.
        pub scale: f64 = 1.0;
        /// Classes by name.
        pub classes: Vec<(Name, ClassSpec)> = Vec::new(), absent "one without a name";
        /// When they start.
        pub start: Time = Time::ZERO;
        /// When they stop.
        pub stop: Option<Time>, in 1..=9_223_372_036_854_775_807, absent "with the run";
    }
    check DemandsSpec::check;
}

/// A demand of a class, as it is built.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Its place in the matrix; nothing by the gravity model.
    pub place: Option<usize>,
    /// The class, by its place.
    pub class: usize,
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: usize,
    /// All of its class.
    pub rate: Rate,
    /// The rate of all classes together.
    pub whole: Rate,
}

impl DemandsSpec {
    fn check(&self) -> Result<(), Diagnostic> {
        if self.matrix.is_empty() && self.file.is_some() {
            return Err(DemandProblem::NotRead {}.into()).at("file");
        }
        if self.gravity.is_none() && self.matrix.is_empty() {
            return Err(DemandProblem::Nothing {}.into());
        }
        if self.scale.is_nan() || self.scale <= 0.0 {
            return Err(DemandProblem::Scale { scale: self.scale }.into()).at("scale");
        }
        if let Some(stop) = self.stop.filter(|stop| *stop <= self.start) {
            let [stop, start] =
                [stop, self.start].map(|time| time.write().as_text().unwrap_or("0 s").to_string());
            return Err(super::problem::FlowProblem::StopsBeforeStart { stop, start }.into()).at("stop");
        }
        for (name, class) in &self.classes {
            let place = |error: Diagnostic| Err(error.at(&**name).at("classes"));
            if let Some(share) = class.share.filter(|share| !(0.0..=1.0).contains(share)) {
                return place(Diagnostic::new(DemandProblem::Share { share }).at("share"));
            }
            if matches!(class.arrivals, ArrivalsSpec::Pattern(super::arrivals::Pattern::Trace(_))) {
                return place(Diagnostic::new(DemandProblem::Trace {}).at("arrivals"));
            }
        }
        self.shares().at("classes")?;
        self.check_gravity().at("gravity")
    }

    fn check_gravity(&self) -> Result<(), Diagnostic> {
        let Some(gravity) = &self.gravity else { return Ok(()) };
        if let Some((name, weight)) =
            gravity.weights.iter().find(|(_, weight)| weight.is_nan() || *weight < 0.0)
        {
            return Err(DemandProblem::Weight { weight: *weight }.into()).at(&**name).at("weights");
        }
        Ok(())
    }

    /// The classes; one if none is named.
    pub fn classes(&self) -> Vec<(Option<Name>, ClassSpec)> {
        if self.classes.is_empty() {
            return vec![(None, ClassSpec::only())];
        }
        self.classes.iter().map(|(name, class)| (Some(name.clone()), class.clone())).collect()
    }

    /// How many flows the demands are in a network of so many routers, without making them.
    pub fn flow_count(&self, routers: usize) -> u64 {
        let (listed, classes) = (self.matrix.len() as u64, self.classes().len() as u64);
        let of_one_class = self.matrix.iter().filter(|demand| demand.class.is_some()).count() as u64;
        let weighed = self.gravity.as_ref().map_or(0, |gravity| {
            let some = gravity.weights.iter().filter(|(_, weight)| *weight > 0.0).count();
            if gravity.weights.is_empty() { routers as u64 } else { some as u64 }
        });
        of_one_class + (listed - of_one_class + weighed * weighed.saturating_sub(1)) * classes
    }

    /// Are some of the demands called so: [`ALL`], a class, or a pair of nodes such as `a-b`?
    pub fn has(&self, name: &str, nodes: &Names) -> bool {
        name == ALL
            || self.classes.iter().any(|(class, _)| **class == *name)
            || pairs(name).any(|(from, to)| nodes.has(from) && nodes.has(to))
    }

    /// Which part of a rate that names no class each class has.
    fn shares(&self) -> Result<Vec<f64>, Diagnostic> {
        let classes = self.classes();
        let said: f64 = classes.iter().filter_map(|(_, class)| class.share).sum();
        let silent = classes.iter().filter(|(_, class)| class.share.is_none()).count();
        let left = 1.0 - said;
        // Shares are decimals: tenths add up to one but for the last digits.
        if left < -1e-9 || (silent > 0 && left < 1e-9) {
            return Err(DemandProblem::Shares { sum: (said * 1e9).round() / 1e9 }.into());
        }
        let rest = left / silent.max(1) as f64;
        Ok(classes.iter().map(|(_, class)| class.share.unwrap_or(rest)).collect())
    }

    /// Finds the nodes and classes that demands name, and sees that none is given twice.
    pub fn resolve(&mut self, names: &Names) -> Result<(), Diagnostic> {
        let mut seen = BTreeMap::new();
        for (index, demand) in self.matrix.iter_mut().enumerate() {
            let place = |error: Diagnostic| error.at(index).at("matrix");
            demand.from.resolve(names).at("from").map_err(place)?;
            demand.to.resolve(names).at("to").map_err(place)?;
            let ends = (demand.from.index(), demand.to.index());
            let called = || [&demand.from, &demand.to].map(|end| end.name.to_string());
            if ends.0 == ends.1 {
                let [node, _] = called();
                return Err(place(DemandProblem::ToItself { node }.into()));
            }
            if let Some(class) = demand.class.as_ref()
                && !self.classes.iter().any(|(name, _)| name == class)
            {
                let hint = near(class, self.classes.iter().map(|(name, _)| &**name));
                let unknown = DemandProblem::UnknownClass { class: class.to_string(), hint };
                return Err(place(Diagnostic::new(unknown).at("class")));
            }
            // One that names no class is of each.
            let before: &mut Vec<(Option<Name>, usize)> = seen.entry(ends).or_default();
            let is_again =
                |class: &Option<Name>| class.is_none() || demand.class.is_none() || *class == demand.class;
            if let Some((_, first)) = before.iter().find(|(class, _)| is_again(class)) {
                let [from, to] = called();
                return Err(place(DemandProblem::GivenTwice { from, to, first: first + 1 }.into()));
            }
            before.push((demand.class.clone(), index));
        }
        let weights = self.gravity.iter().flat_map(|gravity| &gravity.weights);
        for (name, _) in weights {
            names.find(name).at(&**name).at("weights").at("gravity")?;
        }
        Ok(())
    }

    /// Every demand of every class, in the order of the matrix.
    pub fn demands(&self, network: &ReadNetwork) -> Result<Vec<Demand>, Diagnostic> {
        let (shares, classes) = (self.shares().at("classes")?, self.classes());
        let mut found = Vec::new();
        let rate = |bps: f64| Rate((bps * self.scale).round().clamp(1.0, 9e18) as u64);
        let mut add = |place: Option<usize>, from, to, whole: f64, only: Option<usize>| {
            for (class, share) in shares.iter().enumerate() {
                let share = match only {
                    Some(one) => f64::from(u8::from(one == class)),
                    None => *share,
                };
                if share > 0.0 {
                    found.push(Demand {
                        place,
                        class,
                        from,
                        to,
                        rate: rate(whole * share),
                        whole: rate(whole),
                    });
                }
            }
        };
        for (index, demand) in self.matrix.iter().enumerate() {
            let only = demand.class.as_ref();
            let only =
                only.and_then(|class| classes.iter().position(|(name, _)| name.as_ref() == Some(class)));
            add(Some(index), demand.from.index(), demand.to.index(), demand.rate.0 as f64, only);
        }
        if let Some(gravity) = &self.gravity {
            let weights = self.weights(gravity, network)?;
            let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
            let own: f64 = weights.iter().map(|(_, weight)| weight * weight).sum();
            let listed: BTreeSet<(usize, usize)> =
                self.matrix.iter().map(|demand| (demand.from.index(), demand.to.index())).collect();
            for &(from, a) in &weights {
                let other = |to: usize| to != from && !listed.contains(&(from, to));
                for &(to, b) in weights.iter().filter(|(to, _)| other(*to)) {
                    add(None, from, to, gravity.total.0 as f64 * a * b / (sum * sum - own), None);
                }
            }
        }
        Ok(found)
    }

    /// Nodes with a weight, in the order of the network.
    fn weights(&self, gravity: &GravitySpec, network: &ReadNetwork) -> Result<Vec<(usize, f64)>, Diagnostic> {
        let said: BTreeMap<&Name, f64> =
            gravity.weights.iter().map(|(name, weight)| (name, *weight)).collect();
        let of = |(place, (name, node)): (usize, &(Name, network::spec::NodeWritten))| {
            let weight = if said.is_empty() {
                if &*node.kind == "router" { 1.0 } else { 0.0 }
            } else {
                said.get(name).copied().unwrap_or(0.0)
            };
            (weight > 0.0).then_some((place, weight))
        };
        let found: Vec<(usize, f64)> = network.nodes.iter().enumerate().filter_map(of).collect();
        if found.len() < 2 {
            return Err(DemandProblem::NoPair {}.into()).at("weights").at("gravity");
        }
        Ok(found)
    }
}
