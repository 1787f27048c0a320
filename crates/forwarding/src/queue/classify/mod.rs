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
//! filters: see `table`.

mod check;
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

use super::spec::{FilterSpec, SpecError};
use base::Frame;
use base::flow::FlowFilter;
use base::{Dscp, PhbSet, PortId};
use check::Condition;
use key::Key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use table::Table;

/// Which packets a rule takes: those that match every field that is given. Without any field it takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// PHBs: as the node determined it; of a packet of which it has not, that which its outermost header says: the
    /// traffic class of a label by the standard mapping ([`base::diffserv::TcMap::PRECONFIGURED`]), the code point of
    /// an IP header. What has neither (ARP) gets default forwarding.
    pub phb: Option<PhbSet>,
    /// Code points in the IP header, looked up below labels too.
    pub dscp: Option<Vec<Dscp>>,
    /// Traffic-class (TC) bits of the outermost label.
    pub tc: Option<Vec<u8>>,
    /// Outermost label, first and last.
    pub labels: Option<(u32, u32)>,
    /// Is there a label?
    pub labelled: Option<bool>,
    /// Addresses, protocol and ports, looked up below labels too; given but empty, it takes every IPv4 packet.
    pub flow: Option<FlowFilter>,
    /// The mark that a conditioner put on it; zero is none.
    pub mark: Option<u32>,
    /// Ports by which it came.
    pub inputs: Option<Vec<PortId>>,
}

/// Filters compiled: from a packet to the first filter that takes it.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    table: Table,
    /// What of a packet any filter looks at.
    needs: u8,
    /// The first filter of each PHB (or [`NONE`]), if no filter looks at anything else.
    by_phb: Option<Box<[u32; PHBS]>>,
}

/// PHBs, as the codes that they have.
const PHBS: usize = 64;
/// Stands for the place of a filter where there is none.
const NONE: u32 = u32::MAX;

impl Matcher {
    /// Compiles `filters`, each with what it is called in errors, which happen at `path`.
    pub fn new<'a>(
        filters: impl IntoIterator<Item = (String, &'a Match)>,
        path: &str,
    ) -> Result<Matcher, SpecError> {
        let compile = |(name, filter): (String, &Match)| {
            Condition::new(filter).map_err(|text| SpecError::new(path, format!("{name}: {text}")))
        };
        let conditions = filters.into_iter().map(compile).collect::<Result<Vec<_>, _>>()?;
        let needs = conditions.iter().fold(0, |needs, c| needs | c.needs());
        let table = Table::new(conditions);
        let first = |phb: usize| table.find(&Key { phb: phb as u8, ..Key::default() }).unwrap_or(NONE);
        let by_phb = (needs == key::PHB).then(|| Box::new(core::array::from_fn(first)));
        Ok(Matcher { table, needs, by_phb })
    }

    /// The place of the first filter that takes the frame.
    #[inline]
    pub fn find(&self, frame: &Frame) -> Option<u32> {
        if let Some(by_phb) = &self.by_phb {
            let filter = by_phb[usize::from(phb_of(frame).code()) % PHBS];
            return (filter != NONE).then_some(filter);
        }
        if self.table.is_empty() {
            return None;
        }
        self.table.find(&Key::read(frame, self.needs))
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
    /// does. Errors number filters from 1.
    pub fn new(
        filters: &[FilterSpec],
        default: Option<&str>,
        names: &[&str],
        path: &str,
    ) -> Result<Classifier, SpecError> {
        let mut places = BTreeMap::new();
        for (place, name) in names.iter().enumerate() {
            places.entry(*name).or_insert(place as u32);
        }
        let place = |who: &str, name: &str| {
            let unknown = || {
                let known =
                    if names.len() <= 16 { names.join(", ") } else { format!("{} classes", names.len()) };
                SpecError::new(path, format!("{who}: there is no class '{name}' (there are: {known})"))
            };
            places.get(name).copied().ok_or_else(unknown)
        };
        let number = |n: usize| format!("filter {}", n + 1);
        let classes = filters.iter().enumerate().map(|(n, filter)| place(&number(n), &filter.class));
        Ok(Classifier {
            classes: classes.collect::<Result<Vec<_>, _>>()?,
            default: default.map(|name| place("default", name)).transpose()?,
            matcher: Matcher::new(filters.iter().enumerate().map(|(n, f)| (number(n), &f.matches)), path)?,
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
