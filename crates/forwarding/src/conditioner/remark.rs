//! Writing another behaviour into a packet.

use super::Codes;
use crate::behaviour::exp_bits;
use crate::entry::CLASS;
use crate::flow::ipv4_at;
use crate::packet::{ETHERNET, ETHERTYPE_MPLS, LABEL, set_ipv4_dscp, u16_at, u32_at};
use base::{Frame, Phb, TrafficClass};

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
        let encaps = frame.encaps();
        let header = frame.header_mut();
        let labelled = u16_at(header, 12) == Some(ETHERTYPE_MPLS);
        if labelled {
            let exp = match encaps {
                _ if self.exp.is_some() => self.exp.map(TrafficClass::truncate),
                // RFC 3270, 3.5 and 4.5: by the mapping of the LSP; in an L-LSP the bits are the drop precedence.
                Some(encaps) => encaps.exp(self.phb),
                None => codes.exp.exp(self.phb),
            };
            if let (Some(exp), Some(word)) = (exp, u32_at(header, ETHERNET)) {
                let word = word & !CLASS | exp_bits(exp);
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
