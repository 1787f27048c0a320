//! Writing another PHB into a packet.

use super::Codes;
use crate::entry::TC;
use crate::flow::ip_at;
use crate::packet::{ETHERNET, ETHERTYPE_MPLS, LABEL, set_ipv4_dscp, set_ipv6_dscp, u16_at, u32_at};
use crate::phb::tc_bits;
use base::{Frame, Phb, TrafficClass};

/// What a `remark` action writes: see [`ActionSpec::Remark`](super::ActionSpec::Remark).
#[derive(Clone, Copy, Debug)]
pub(super) struct Remark {
    pub(super) phb: Phb,
    pub(super) below_labels: bool,
    pub(super) tc: Option<u8>,
}

impl Remark {
    /// Gives the packet its new PHB, at this node and in its header.
    pub(super) fn apply(&self, frame: &mut Frame, codes: &Codes) {
        frame.set_phb(Some(self.phb));
        let encaps = frame.encaps();
        let header = frame.header_mut();
        let labelled = u16_at(header, 12) == Some(ETHERTYPE_MPLS);
        if labelled {
            let tc = match encaps {
                _ if self.tc.is_some() => self.tc.map(TrafficClass::truncate),
                // RFC 3270, 3.5 and 4.5: by the mapping of the LSP; in an L-LSP the bits are the drop precedence.
                Some(encaps) => encaps.tc(self.phb),
                None => codes.tc.tc(self.phb),
            };
            if let (Some(tc), Some(word)) = (tc, u32_at(header, ETHERNET)) {
                let word = word & !TC | tc_bits(tc);
                header[ETHERNET..ETHERNET + LABEL].copy_from_slice(&word.to_be_bytes());
            }
        }
        if labelled && !self.below_labels {
            return;
        }
        if let Some(ip) = ip_at(header).and_then(|at| header.get_mut(at..)) {
            let set = if ip[0] >> 4 == 6 { set_ipv6_dscp } else { set_ipv4_dscp };
            set(ip, codes.dscp.dscp(self.phb));
        }
    }
}
