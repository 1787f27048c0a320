//! A filter in canonical form, or why it can take nothing.

use super::Match;
use super::key::{DSCP, FLOW, INPUT, Key, LABEL, MARK, PHB};
use base::Label;
use base::diagnostic::Diagnostic;
use base::flow::FlowFilter;

/// What a filter asks, in canonical form: fields that ask for nothing beside the others are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Condition {
    /// PHBs, a bit each.
    pub(super) phb: Option<u64>,
    /// Code points, a bit each.
    pub(super) dscp: Option<u64>,
    /// TC values, a bit each. If given, there is a label.
    pub(super) tc: Option<u8>,
    /// First and last label. If given, there is one.
    pub(super) labels: Option<(u32, u32)>,
    /// Only where neither `tc` nor `labels` is given.
    pub(super) labelled: Option<bool>,
    pub(super) mark: Option<u32>,
    /// In order, each once.
    pub(super) inputs: Option<Vec<u16>>,
    pub(super) flow: Option<FlowFilter>,
}

impl Condition {
    /// Of what a user wrote; an error if it can take no packet.
    pub(super) fn new(filter: &Match) -> Result<Condition, Diagnostic> {
        filter.check()?;
        let phb = filter.phb.map(|set| set.iter().fold(0u64, |bits, phb| bits | 1 << phb.code()));
        // Every packet has one.
        let phb = phb.filter(|bits| *bits != u64::MAX);
        let dscp = filter.dscp.as_ref();
        let dscp = dscp.map(|list| list.0.iter().fold(0u64, |bits, dscp| bits | 1 << dscp.value()));
        let tc = filter.tc.as_ref();
        let tc = tc.map(|list| list.0.iter().fold(0u8, |bits, tc| bits | 1 << (tc.value() & 7)));
        let inputs = filter.ports()?.map(|ports| {
            let mut ports: Vec<u16> = ports.iter().map(|port| port.0).collect();
            ports.sort_unstable();
            ports.dedup();
            ports
        });
        let labels = filter.labels.map(|range| (range.first, range.last));
        let some_label = tc == Some(0xff) || labels == Some((0, Label::MAX.value()));
        let tc = tc.filter(|bits| *bits != 0xff);
        let labels = labels.filter(|range| *range != (0, Label::MAX.value()));
        let labelled = if tc.is_some() || labels.is_some() {
            None
        } else {
            filter.labelled.or(some_label.then_some(true))
        };
        Ok(Condition { phb, dscp, tc, labels, labelled, mark: filter.mark, inputs, flow: filter.flow() })
    }

    /// What has to be read of a packet.
    pub(super) fn needs(&self) -> u8 {
        let label = self.tc.is_some() || self.labels.is_some() || self.labelled.is_some();
        let all = [
            (PHB, self.phb.is_some()),
            (DSCP, self.dscp.is_some()),
            (LABEL, label),
            (MARK, self.mark.is_some()),
            (INPUT, self.inputs.is_some()),
            (FLOW, self.flow.is_some()),
        ];
        all.iter().filter(|(_, needed)| *needed).fold(0, |needs, (bit, _)| needs | bit)
    }

    /// Does it take a packet in which this was read?
    pub(super) fn takes(&self, key: &Key) -> bool {
        self.phb.is_none_or(|bits| bits >> key.phb & 1 == 1)
            && self.dscp.is_none_or(|bits| key.dscp.is_some_and(|dscp| bits >> dscp & 1 == 1))
            && self.tc.is_none_or(|bits| key.label.is_some_and(|(_, tc)| bits >> tc & 1 == 1))
            && self.takes_label(key)
            && self.labelled.is_none_or(|labelled| key.label.is_some() == labelled)
            && self.mark.is_none_or(|mark| mark == key.mark)
            && self
                .inputs
                .as_ref()
                .is_none_or(|ports| key.input.is_some_and(|port| ports.binary_search(&port).is_ok()))
            && self.takes_flow(key)
    }

    pub(super) fn takes_label(&self, key: &Key) -> bool {
        self.labels
            .is_none_or(|(first, last)| key.label.is_some_and(|(label, _)| first <= label && label <= last))
    }

    pub(super) fn takes_flow(&self, key: &Key) -> bool {
        self.flow.is_none_or(|filter| key.flow.is_some_and(|flow| filter.takes(&flow)))
    }
}
