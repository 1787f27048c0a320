//! Which class takes a packet: filters in order, the first that takes it wins.
//!
//! - [`Match`]: what a filter asks of a packet
//! - [`Matcher`]: filters compiled: from a packet to the first that takes it
//! - [`Classifier`]: filters compiled: from a packet to the place of its class
//! - [`phb_of`]: the PHB of a packet
//! - [`shadowed`]: filters that can take nothing, since earlier ones take it all
//! - [`Packets`]: what filters take, and what they leave over
//!
//! What a look-up costs depends on how many kinds of filters there are (which fields they give), not on how many
//! filters: see `table`. Where one number of a packet decides, it is one look into an array: see `direct`.

mod check;
mod direct;
mod key;
mod labels;
mod region;
mod remain;
mod shadow;
mod table;
#[cfg(test)]
mod tests;

pub use key::phb_of;
pub use remain::{Kind, Packets};
pub use shadow::{Shadowed, shadowed};

use super::inputs::Input;
use super::problem::QueueProblem;
use super::spec::ClassFilter;
use base::Frame;
use base::describe::{Dscps, LabelRange, PortRange, Protocol, Several};
use base::diagnostic::{At, Diagnostic};
use base::flow::FlowFilter;
use base::plane::IpPrefix;
use base::{Label, PhbSet, TrafficClass};
use check::Condition;
use direct::Direct;
use key::Key;
use std::collections::BTreeMap;
use table::Table;

base::record! {
    /// Packets that match every field that is given; a match with no field takes every packet.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Match {
        /// Per-hop behaviours, one or several: as the node determined them; of a packet of which it has not, what its
        /// outermost header says: the TC of a label by the standard map, the code point of an IP header. What has
        /// neither (ARP) gets default forwarding.
        pub phb: Option<PhbSet>;
        /// Code points in the IP header, one or several, looked up below labels too; of IPv6 in its traffic class.
        pub dscp: Option<Dscps>;
        /// TC bits of the outermost label, 0 to 7, one or several.
        pub tc: Option<Several<TrafficClass>>, was "exp";
        /// The outermost label, or first-last.
        pub labels: Option<LabelRange>;
        /// Is there a label?
        pub labelled: Option<bool>;
        /// Source addresses, as a prefix of IPv4 or IPv6; looked up below labels too, as the four below.
        pub src: Option<IpPrefix>;
        /// Destination addresses, as a prefix of the same family.
        pub dst: Option<IpPrefix>;
        /// IP protocol: tcp, udp, icmp and so on, or its number.
        pub protocol: Option<Protocol>;
        /// Source port, or first-last.
        pub src_ports: Option<PortRange>;
        /// Destination port, or first-last.
        pub dst_ports: Option<PortRange>;
        /// The mark that a conditioner put on it; zero is none.
        pub mark: Option<u32>;
        /// Where it came from, one or several: neighbours or interfaces by name, or numbers of ports.
        pub inputs: Option<Several<Input>>;
    }
    check Match::check;
}

base::described!(Match);

impl Match {
    /// Refuses fields that contradict each other, so that no packet has them all.
    fn check(&self) -> Result<(), Diagnostic> {
        let null = Label::IMPLICIT_NULL.value();
        if self.labels == Some(LabelRange { first: null, last: null }) {
            return Err(Diagnostic::new(QueueProblem::ImplicitNull {}).at("labels"));
        }
        for (field, is_given) in [("tc", self.tc.is_some()), ("labels", self.labels.is_some())] {
            if is_given && self.labelled == Some(false) {
                return Err(Diagnostic::new(QueueProblem::NoLabel { field }).at(field));
            }
        }
        if base::flow::of_two_families(self.src, self.dst) {
            return Err(QueueProblem::TwoFamilies {}.into());
        }
        if self.src_ports.is_none() && self.dst_ports.is_none() {
            return Ok(());
        }
        match self.protocol {
            None => Err(QueueProblem::PortsWithoutProtocol {}.into()),
            Some(protocol) if !FlowFilter::WITH_PORTS.contains(&protocol.0) => {
                let protocol = super::check::shown(&protocol).trim_matches('\'').to_string();
                Err(Diagnostic::new(QueueProblem::NoPorts { protocol }).at("protocol"))
            }
            Some(_) => Ok(()),
        }
    }

    /// Addresses, protocol and ports, if any of them is asked for.
    pub(super) fn flow(&self) -> Option<FlowFilter> {
        let Match { src, dst, protocol, src_ports, dst_ports, .. } = *self;
        let ports = |range: Option<PortRange>| range.map(|range| (range.first, range.last));
        let filter = FlowFilter {
            src,
            dst,
            protocol: protocol.map(|protocol| protocol.0),
            src_ports: ports(src_ports),
            dst_ports: ports(dst_ports),
            dscp: None,
        };
        (filter != FlowFilter::default()).then_some(filter)
    }
}

/// Filters compiled: from a packet to the first filter that takes it.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    table: Table,
    /// What of a packet any filter looks at.
    needs: u8,
    /// The table as an array, if one number of a packet decides.
    direct: Option<Direct>,
}

impl Matcher {
    /// Compiles `filters`; errors begin with the index of a filter.
    pub fn new<'a>(filters: impl IntoIterator<Item = &'a Match>) -> Result<Matcher, Diagnostic> {
        let compile = |(index, filter): (usize, &Match)| Condition::new(filter).at(index);
        let conditions = filters.into_iter().enumerate().map(compile).collect::<Result<Vec<_>, _>>()?;
        let needs = conditions.iter().fold(0, |needs, c| needs | c.needs());
        let table = Table::new(conditions);
        let direct = Direct::new(&table, table.conditions());
        Ok(Matcher { table, needs, direct })
    }

    /// The place of the first filter that takes the frame.
    #[inline]
    pub fn find(&self, frame: &Frame) -> Option<u32> {
        match &self.direct {
            Some(direct) => direct.find(frame),
            None if self.table.is_empty() => None,
            None => self.table.find(&Key::read(frame, self.needs)),
        }
    }

    /// Does any filter ask for the port by which a packet came?
    pub fn asks_input(&self) -> bool {
        self.needs & key::INPUT != 0
    }
}

/// Filters compiled: from a packet to the place of a class.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    matcher: Matcher,
    classes: Vec<u32>,
    default: Option<u32>,
}

impl Classifier {
    /// Compiles `filters` over classes called `names`; the first that takes a packet wins, `default` takes what none
    /// does.
    pub fn new(
        filters: &[ClassFilter],
        default: Option<&str>,
        names: &[&str],
    ) -> Result<Classifier, Diagnostic> {
        let mut places = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(*name).or_insert(place as u32);
        }
        let place = |name: &str| match places.get(name) {
            Some(place) => Ok(*place),
            None => {
                super::check::known(name, names.iter().copied(), "class")?;
                Ok(0)
            }
        };
        let classes = filters.iter().enumerate();
        let classes = classes.map(|(n, filter)| place(&filter.class).at("class").at(n).at("filters"));
        Ok(Classifier {
            classes: classes.collect::<Result<Vec<_>, _>>()?,
            default: default.map(|name| place(name).at("default")).transpose()?,
            matcher: Matcher::new(filters.iter().map(|filter| &filter.matches)).at("filters")?,
        })
    }

    /// The class that takes the frame, if any does.
    #[inline]
    pub fn find(&self, frame: &Frame) -> Option<u32> {
        match self.matcher.find(frame) {
            Some(filter) => self.classes.get(filter as usize).copied(),
            None => self.default,
        }
    }

    /// Does any filter ask for the port by which a packet came?
    pub fn asks_input(&self) -> bool {
        self.matcher.asks_input()
    }
}
