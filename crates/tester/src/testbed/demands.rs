//! Demands as flows, and their tables by pair of nodes and by class.

use super::{FlowSpec, RateCounts, Testbed};
use crate::delay::DelayStats;
use crate::generator::Generator;
use crate::spec::demands::{ALL, Demand, DemandsSpec};
use crate::spec::problem::DemandProblem;
use crate::testbed::Family;
use base::diagnostic::{At, Diagnostic};
use base::table::{Rows, Table};
use base::{Dscp, Phb, Rate, StreamId};
use network::NetworkError;
use network::spec::ReadNetwork;

/// The demands of a network, as they were built.
#[derive(Debug, Default)]
pub(super) struct Demands {
    /// Names of classes, nothing if there is but one without a name; and their code points.
    classes: Vec<(Option<String>, Dscp)>,
    /// The flow of the first.
    first: usize,
    /// The class of each.
    of: Vec<u32>,
}

impl Demands {
    /// Is a flow one of them?
    pub(super) fn has(&self, flow: usize) -> bool {
        self.class_of(flow).is_some()
    }

    /// The class of a flow that is one of them, by its place.
    pub(super) fn class_of(&self, flow: usize) -> Option<u32> {
        self.of.get(flow.checked_sub(self.first)?).copied()
    }

    /// The names that demands have in events, pairs of nodes left out.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let all = Some(ALL).filter(|_| !self.of.is_empty());
        all.into_iter().chain(self.classes.iter().filter_map(|(name, _)| name.as_deref()))
    }

    /// The name of a class, if it has one, and its code point.
    pub(super) fn class(&self, place: u32) -> Option<(Option<&str>, Dscp)> {
        self.classes.get(place as usize).map(|(name, dscp)| (name.as_deref(), *dscp))
    }
}

base::table! {
    /// Demands: what was sent between each pair of nodes, and what of it arrived, in each class.
    pub struct DemandRow<'a> in "demands" key ["flow"]
    of (flow: usize, class: Option<&'a str>, from: &'a str, to: &'a str, rate: Rate) from sums: &Sums {
        /// The flow that it is, by its place among all flows.
        flow: usize => flow,
        /// Its class; absent if there is but one.
        class: Option<&'a str> => class,
        /// The node that sends.
        from: &'a str => from,
        /// The node that receives.
        to: &'a str => to,
        /// What was asked for.
        rate_bps: u64 = "bit/s" => rate.0,
        /// Packets sent.
        sent: u64 = "packets" => sums.sent,
        /// Packets received, duplicates left out.
        received: u64 = "packets" => sums.received,
        /// Packets sent that did not arrive, those on their way included.
        lost: u64 = "packets" => sums.lost,
        /// Packets that arrived after later ones (RFC 4737).
        reordered: u64 = "packets" => sums.reordered,
        /// Mean delay; absent, like all that follow, if nothing arrived.
        delay_mean_s: Option<f64> = "s" => sums.delay.mean_s(),
        /// Least delay.
        delay_min_s: Option<f64> = "s" => sums.delay.min_s(),
        /// Greatest delay.
        delay_max_s: Option<f64> = "s" => sums.delay.max_s(),
    }
}

base::table! {
    /// Demands of each class, all pairs of nodes together.
    pub struct DemandClassRow<'a> in "demand_classes" key ["class"]
    of (class: Option<&'a str>, phb: String, demands: usize, rate: u64) from sums: &Sums {
        /// The class; absent if there is but one.
        class: Option<&'a str> => class,
        /// The PHB that its packets ask for, by the recommended code points.
        phb: String => phb,
        /// How many demands it has.
        demands: usize = "demands" => demands,
        /// What was asked for, of all of them together.
        rate_bps: u64 = "bit/s" => rate,
        /// Packets sent.
        sent: u64 = "packets" => sums.sent,
        /// Packets received, duplicates left out.
        received: u64 = "packets" => sums.received,
        /// Packets sent that did not arrive, those on their way included.
        lost: u64 = "packets" => sums.lost,
        /// Packets that arrived after later ones of their demand (RFC 4737).
        reordered: u64 = "packets" => sums.reordered,
        /// Mean delay; absent, like all that follow, if nothing arrived.
        delay_mean_s: Option<f64> = "s" => sums.delay.mean_s(),
        /// Standard deviation of the delay; absent of fewer than two packets.
        delay_sd_s: Option<f64> = "s" => sums.delay.sd_s(),
        /// Least delay.
        delay_min_s: Option<f64> = "s" => sums.delay.min_s(),
        /// Delay that half of the packets do not exceed; absent of fewer than 6 packets.
        delay_p50_s: Option<f64> = "s" => sums.delay.bounded_quantile_s(0.5),
        /// Delay that 90 % of the packets do not exceed; absent of fewer than 36 packets.
        delay_p90_s: Option<f64> = "s" => sums.delay.bounded_quantile_s(0.9),
        /// Delay that 99 % of the packets do not exceed; absent of fewer than 368 packets.
        delay_p99_s: Option<f64> = "s" => sums.delay.bounded_quantile_s(0.99),
        /// Greatest delay.
        delay_max_s: Option<f64> = "s" => sums.delay.max_s(),
    }
}

/// What became of packets.
#[derive(Default)]
struct Sums {
    sent: u64,
    received: u64,
    lost: u64,
    reordered: u64,
    delay: DelayStats,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.sent += other.sent;
        self.received += other.received;
        self.lost += other.lost;
        self.reordered += other.reordered;
        self.delay.merge(&other.delay);
    }
}

impl Testbed {
    /// Adds a flow for each demand of each class, behind those that there are.
    pub(super) fn add_demands(
        &mut self,
        spec: &DemandsSpec,
        network: &ReadNetwork,
    ) -> Result<(), NetworkError> {
        let demands = spec.demands(network).at("demands")?;
        self.check_rates(&demands).at("demands")?;
        let classes = spec.classes();
        let lowered = classes.iter().map(|(name, class)| {
            let arrivals = class.arrivals.lowered().at("arrivals");
            let placed = |error: Diagnostic| match name {
                Some(name) => error.at(&**name).at("classes").at("demands"),
                None => error.at("demands"),
            };
            arrivals.map(|arrivals| (class.size.lowered(), arrivals)).map_err(placed)
        });
        let lowered = lowered.collect::<Result<Vec<_>, _>>()?;
        let first = self.flows.len();
        self.demands = Demands {
            classes: classes
                .iter()
                .map(|(name, class)| (name.as_ref().map(ToString::to_string), class.dscp))
                .collect(),
            first,
            of: demands.iter().map(|demand| demand.class as u32).collect(),
        };
        for demand in demands {
            let (name, class) = &classes[demand.class];
            let (size, arrivals) = lowered[demand.class].clone();
            let ends = [demand.from, demand.to].map(|end| self.node_name(end));
            let pair = format!("{}-{}", ends[0], ends[1]);
            let flow = FlowSpec {
                group: None,
                also_to: Vec::new(),
                name: name.as_ref().map_or_else(|| format!("demand {pair}"), |name| format!("{name} {pair}")),
                from: demand.from,
                to: demand.to,
                from_link: None,
                to_link: None,
                family: Family::Ipv4,
                over: None,
                rate: demand.rate,
                rate_counts: RateCounts::Frame,
                size: Some(size),
                arrivals,
                dscp: class.dscp.value(),
                src_port: None,
                dst_port: None,
                start: spec.start,
                stop: spec.stop,
                trace: false,
                log: false,
                hops: None,
            };
            self.add_flow(flow).map_err(|error| match error {
                NetworkError::Problem(found) => of_demand(found, &demand).into(),
                other => other,
            })?;
        }
        Ok(())
    }

    /// Refuses a demand that no link carries.
    fn check_rates(&self, demands: &[Demand]) -> Result<(), Diagnostic> {
        let rates = || self.links().iter().map(|link| link.spec.rate);
        // A link without a rate carries anything.
        let fastest = rates().max().filter(|_| rates().all(|rate| rate.0 > 0));
        let Some((demand, fastest)) = fastest
            .and_then(|fastest| Some((demands.iter().find(|demand| demand.whole > fastest)?, fastest)))
        else {
            return Ok(());
        };
        let [from, to] = [demand.from, demand.to].map(|end| self.node_name(end).to_string());
        let [rate, fastest] = [demand.whole, fastest].map(shown);
        let above = Diagnostic::new(DemandProblem::AboveLinks { from, to, rate, fastest });
        Err(match demand.place {
            Some(place) => above.at("rate").on_key().at(place).at("matrix"),
            None => above.at("total").on_key().at("gravity"),
        })
    }

    /// What became of the packets of each demand.
    fn of_demands(&self) -> Vec<Sums> {
        let (first, count) = (self.demands.first, self.demands.of.len());
        let mut found: Vec<Sums> = Vec::new();
        found.resize_with(count, Sums::default);
        if count == 0 {
            return found;
        }
        for node in self.ids() {
            let sources = self.generator(node.index()).into_iter().flat_map(Generator::sources);
            for (stream, marks) in sources.flat_map(|source| source.sent()) {
                let flow = self.streams.get(stream.index()).map_or(0, |flow| *flow as usize);
                if let Some(sums) = flow.checked_sub(first).and_then(|place| found.get_mut(place)) {
                    let sent = marks.last().copied().unwrap_or(0);
                    let sink = self.flows.get(flow).and_then(|flow| self.sink(flow.spec.to)?.stream(stream));
                    sums.sent += sent;
                    sums.lost += sink.map_or(0, |sink| sink.sequence.missing(0, sent));
                }
            }
        }
        for (flow, sums) in self.flows[first..].iter().zip(&mut found) {
            let Some(sink) = self.sink(flow.spec.to) else { continue };
            for phase in sink.stream(StreamId(flow.first_stream)).into_iter().flat_map(|one| &one.phases) {
                sums.received += phase.received();
                sums.reordered += phase.reordered;
                if phase.delay.count() > 0 {
                    sums.delay.merge(&phase.delay);
                }
            }
        }
        found
    }
}

fn shown(rate: Rate) -> String {
    use base::describe::Describe;
    let value = rate.write();
    value.as_text().map_or_else(|| value.shown(), String::from)
}

/// The place of a demand whose flow can't be: that of its end, of its rate, or of itself.
fn of_demand(found: Diagnostic, demand: &Demand) -> Diagnostic {
    let bare = found.moved(Vec::new());
    match demand.place {
        Some(place) => bare.at(place).at("matrix").at("demands"),
        None => bare.at("gravity").at("demands"),
    }
}

/// Demand by demand.
pub(super) fn demands(testbed: &Testbed) -> Table {
    let known = &testbed.demands;
    let mut table = Rows::new();
    for (place, (sums, class)) in testbed.of_demands().iter().zip(&known.of).enumerate() {
        let spec = &testbed.flows[known.first + place].spec;
        let class = known.classes[*class as usize].0.as_deref();
        let (from, to) = (testbed.node_name(spec.from), testbed.node_name(spec.to));
        table.push(DemandRow::of(known.first + place, class, from, to, spec.rate, sums));
    }
    table.finish()
}

/// Class by class.
pub(super) fn classes(testbed: &Testbed) -> Table {
    let known = &testbed.demands;
    let mut all: Vec<(usize, u64, Sums)> = Vec::new();
    all.resize_with(known.classes.len(), Default::default);
    for (place, (sums, class)) in testbed.of_demands().iter().zip(&known.of).enumerate() {
        let (count, rate, whole) = &mut all[*class as usize];
        *count += 1;
        *rate = rate.saturating_add(testbed.flows[known.first + place].spec.rate.0);
        whole.add(sums);
    }
    let rows = known.classes.iter().zip(&all);
    rows.map(|((class, dscp), (count, rate, sums))| {
        DemandClassRow::of(class.as_deref(), Phb::of_dscp(*dscp).to_string(), *count, *rate, sums)
    })
    .collect()
}
