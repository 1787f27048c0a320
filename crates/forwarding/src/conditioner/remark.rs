//! Writing another behaviour into a packet.

use super::Codes;
use crate::entry::CLASS;
use crate::flow::ipv4_at;
use crate::packet::{ETHERNET, ETHERTYPE_MPLS, LABEL, set_ipv4_dscp, u16_at, u32_at};
use base::{Frame, Phb};

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remark {
    pub(super) phb: Phb,
    pub(super) below_labels: bool,
    pub(super) exp: Option<u8>,
}

impl Remark {
    /// Gives the packet its new behaviour, at this node and in its header.
    pub(super) fn apply(&self, frame: &mut Frame, codes: &Codes) {
        frame.set_behaviour(Some(self.phb));
        let header = frame.header_mut();
        let labelled = u16_at(header, 12) == Some(ETHERTYPE_MPLS);
        if labelled {
            let exp = self.exp.or_else(|| codes.exp.exp(self.phb).map(|exp| exp.value()));
            if let (Some(exp), Some(word)) = (exp, u32_at(header, ETHERNET)) {
                let word = word & !CLASS | u32::from(exp & 7) << 9;
                header[ETHERNET..ETHERNET + LABEL].copy_from_slice(&word.to_be_bytes());
            }
        }
        if labelled && !self.below_labels {
            return;
        }
        if let Some(ip) = ipv4_at(header).and_then(|at| header.get_mut(at..)) {
            set_ipv4_dscp(ip, codes.dscp.dscp(self.phb));
        }
    }
}
