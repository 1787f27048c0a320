//! What filters look at in a frame, read once.

use crate::flow::{class_at, flow_at, ip_at};
use crate::packet::{ETHERNET, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_MPLS, u16_at, u32_at};
use base::diffserv::TcMap;
use base::flow::FlowKey;
use base::{Dscp, Frame, Phb, TrafficClass};

/// Bits that say what is read.
pub(super) const PHB: u8 = 1;
pub(super) const DSCP: u8 = 2;
pub(super) const LABEL: u8 = 4;
pub(super) const MARK: u8 = 8;
pub(super) const INPUT: u8 = 16;
pub(super) const FLOW: u8 = 32;

/// What filters look at. What was not asked for is as if it were not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) phb: u8,
    pub(super) dscp: Option<u8>,
    /// Outermost label and its traffic-class bits.
    pub(super) label: Option<(u32, u8)>,
    pub(super) mark: u32,
    pub(super) input: Option<u16>,
    pub(super) flow: Option<FlowKey>,
}

impl Key {
    #[inline]
    pub(super) fn read(frame: &Frame, needs: u8) -> Key {
        let mut key = Key::default();
        if needs & PHB != 0 {
            key.phb = phb_of(frame).code();
        }
        if needs & LABEL != 0 {
            key.label = Key::label_of(frame);
        }
        if needs & FLOW != 0 {
            key.flow = ip_at(frame.header()).and_then(|at| flow_at(frame, at));
            key.dscp = key.flow.map(|flow| flow.dscp.value());
        } else if needs & DSCP != 0 {
            key.dscp = Key::dscp_of(frame);
        }
        if needs & MARK != 0 {
            key.mark = frame.mark();
        }
        if needs & INPUT != 0 {
            key.input = frame.input().map(|port| port.0);
        }
        key
    }

    /// Outermost label and its traffic-class bits.
    #[inline]
    pub(super) fn label_of(frame: &Frame) -> Option<(u32, u8)> {
        outermost(frame.header()).map(|word| (word >> 12, (word >> 9) as u8 & 7))
    }

    /// Code point of the IP header, below labels too.
    #[inline]
    pub(super) fn dscp_of(frame: &Frame) -> Option<u8> {
        let header = frame.header();
        ip_at(header).and_then(|at| class_at(header, at)).map(|class| class >> 2)
    }
}

/// The outermost label stack entry.
#[inline]
fn outermost(header: &[u8]) -> Option<u32> {
    if u16_at(header, 12) == Some(ETHERTYPE_MPLS) { u32_at(header, ETHERNET) } else { None }
}

/// The PHB that a frame gets: the one that the node determined, else the one that its outermost header says, by the
/// standard mappings (see [`super::Match::phb`]).
#[inline]
pub fn phb_of(frame: &Frame) -> Phb {
    frame.phb().unwrap_or_else(|| said_by(frame.header()))
}

fn said_by(header: &[u8]) -> Phb {
    match u16_at(header, 12) {
        Some(ETHERTYPE_MPLS) => {
            let tc = u32_at(header, ETHERNET).map_or(0, |word| (word >> 9) as u8);
            TcMap::PRECONFIGURED.phb(TrafficClass::truncate(tc))
        }
        Some(ETHERTYPE_IPV4 | ETHERTYPE_IPV6) => {
            let class = class_at(header, ETHERNET);
            class.map_or(Phb::DEFAULT, |tos| Phb::of_dscp(Dscp::of_tos(tos)))
        }
        _ => Phb::DEFAULT,
    }
}
