//! A filter in canonical form, or why it can take nothing.

use super::Match;
use super::key::{DSCP, FLOW, INPUT, Key, LABEL, MARK, PHB};
use base::Label;
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
    pub(super) fn new(filter: &Match) -> Result<Condition, String> {
        let mut phb = None;
        if let Some(set) = filter.phb {
            let bits = set.iter().fold(0u64, |bits, phb| bits | 1 << phb.code());
            if bits == 0 {
                return Err("'phb' has no value, so that it takes nothing".into());
            }
            // Every packet has one.
            phb = (bits != u64::MAX).then_some(bits);
        }
        let mut dscp = None;
        if let Some(list) = &filter.dscp {
            if list.is_empty() {
                return Err("'dscp' has no code point, so that it takes nothing".into());
            }
            dscp = Some(list.iter().fold(0u64, |bits, dscp| bits | 1 << dscp.value()));
        }
        let tc = filter.tc.as_deref().map(tc_bits).transpose()?;
        if let Some((first, last)) = filter.labels {
            check_labels(first, last)?;
        }
        if filter.labelled == Some(false) {
            for (name, given) in [("tc", tc.is_some()), ("labels", filter.labels.is_some())] {
                if given {
                    return Err(format!(
                        "'labelled' is false and '{name}' asks for a label, so that it takes nothing"
                    ));
                }
            }
        }
        if let Some(flow) = &filter.flow {
            flow.check().map_err(|error| error.to_string())?;
        }
        if let (Some(bits), Some(wanted)) = (dscp, filter.flow.and_then(|flow| flow.dscp)) {
            if bits >> wanted.value() & 1 == 0 {
                let wanted = wanted.value();
                return Err(format!(
                    "'dscp' is without {wanted}, which 'flow' asks for, so that it takes nothing"
                ));
            }
            dscp = None;
        }
        let inputs = filter.inputs.as_ref().map(|ports| {
            let mut ports: Vec<u16> = ports.iter().map(|port| port.0).collect();
            ports.sort_unstable();
            ports.dedup();
            ports
        });
        if inputs.as_ref().is_some_and(Vec::is_empty) {
            return Err("'inputs' has no port, so that it takes nothing".into());
        }
        let some_label = tc == Some(0xff) || filter.labels == Some((0, Label::MAX.value()));
        let tc = tc.filter(|bits| *bits != 0xff);
        let labels = filter.labels.filter(|range| *range != (0, Label::MAX.value()));
        let labelled = if tc.is_some() || labels.is_some() {
            None
        } else {
            filter.labelled.or(some_label.then_some(true))
        };
        Ok(Condition { phb, dscp, tc, labels, labelled, mark: filter.mark, inputs, flow: filter.flow })
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

fn tc_bits(list: &[u8]) -> Result<u8, String> {
    if list.is_empty() {
        return Err("'tc' has no value, so that it takes nothing".into());
    }
    list.iter().try_fold(0u8, |bits, tc| {
        if *tc < 8 { Ok(bits | 1 << tc) } else { Err(format!("TC {tc}: three bits hold at most 7")) }
    })
}

fn check_labels(first: u32, last: u32) -> Result<(), String> {
    if let Some(beyond) = [first, last].into_iter().find(|label| Label::new(*label).is_none()) {
        return Err(format!("label {beyond}: 20 bits hold at most {}", Label::MAX));
    }
    if first > last {
        return Err(format!("labels {first} to {last}: the last is below the first"));
    }
    let null = Label::IMPLICIT_NULL.value();
    if (first, last) == (null, null) {
        // RFC 3032, 2.1.
        return Err("label 3, implicit null, is in no packet, so that it takes nothing".into());
    }
    Ok(())
}
