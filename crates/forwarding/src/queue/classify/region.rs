//! Sets of packets, as boxes in the space of all that filters look at.

use super::check::Condition;
use base::Label;
use base::flow::FlowFilter;
use base::plane::IpPrefix;

/// The most pieces that a set is cut into.
pub(super) const PIECES_MAX: usize = 256;

/// First and last of a range.
type Range = (u128, u128);

/// A box. "Not an IP packet" is bit 64 of `dscp`, "no label" bit 8 of `tc`; where there is none of it, the other
/// sides do not matter.
#[derive(Clone, Debug)]
pub(super) struct Region {
    pub(super) phb: u64,
    pub(super) dscp: u128,
    pub(super) tc: u16,
    /// Bits of the families that its packets are of: [`IPV4`], [`IPV6`].
    pub(super) families: u8,
    /// Label, mark, port of arrival, source, destination, protocol, source port, destination port.
    pub(super) ranges: [Range; 8],
}

/// No port of arrival, no source or destination port.
pub(super) const NONE: u128 = 1 << 16;
/// Packets of IPv4, of IPv6.
pub(super) const IPV4: u8 = 1;
pub(super) const IPV6: u8 = 2;

/// Place of the mark in [`Region::ranges`]; those of other fields follow.
pub(super) const MARK: usize = 1;
pub(super) const INPUT: usize = 2;
pub(super) const PROTOCOL: usize = 5;

/// The families that the packets of a flow are of.
fn families_of(flow: &FlowFilter) -> u8 {
    match flow.src.or(flow.dst) {
        None => IPV4 | IPV6,
        Some(_) if flow.is_ipv6() => IPV6,
        Some(_) => IPV4,
    }
}

/// The addresses of a prefix. Those of both families begin at zero ([`Region::families`] tells them apart), and the
/// last of IPv4 stands for all numbers above it, so that prefixes which cover all of IPv4 leave nothing over.
fn addresses(prefix: Option<IpPrefix>) -> Range {
    let (first, bits) = match prefix {
        None => return (0, u128::MAX),
        Some(IpPrefix::V4(p)) => (u128::from(p.address().to_bits()), 32 - u32::from(p.len())),
        Some(IpPrefix::V6(p)) => (p.address().to_bits(), 128 - u32::from(p.len())),
    };
    let last = first | 1u128.checked_shl(bits).map_or(u128::MAX, |size| size - 1);
    let is_last_of_ipv4 = matches!(prefix, Some(IpPrefix::V4(_))) && last == u128::from(u32::MAX);
    (first, if is_last_of_ipv4 { u128::MAX } else { last })
}

impl Region {
    /// Of a filter: one for each port of arrival that it names.
    pub(super) fn of(c: &Condition) -> Vec<Region> {
        let (mut dscp, mut tc) = ((1u128 << 65) - 1, (1u16 << 9) - 1);
        if let Some(bits) = c.dscp {
            dscp = u128::from(bits);
        }
        if let Some(flow) = c.flow {
            dscp &= flow.dscp.map_or((1 << 64) - 1, |dscp| 1 << dscp.value());
        }
        match (c.tc, c.labels, c.labelled) {
            (Some(bits), _, _) => tc = u16::from(bits),
            (None, Some(_), _) | (None, None, Some(true)) => tc = 0xff,
            (None, None, Some(false)) => tc = 0x100,
            (None, None, None) => {}
        }
        let flow = c.flow.unwrap_or_default();
        let ports =
            |ports: Option<(u16, u16)>| ports.map_or((0, NONE), |(a, b)| (u128::from(a), u128::from(b)));
        let one = |value: Option<u128>, most: u128| value.map_or((0, most), |value| (value, value));
        let label =
            c.labels.map_or((0, u128::from(Label::MAX.value())), |(a, b)| (u128::from(a), u128::from(b)));
        let region = |input: Range| Region {
            phb: c.phb.unwrap_or(u64::MAX),
            dscp,
            tc,
            families: families_of(&flow),
            ranges: [
                label,
                one(c.mark.map(u128::from), u128::from(u32::MAX)),
                input,
                addresses(flow.src),
                addresses(flow.dst),
                one(flow.protocol.map(u128::from), 255),
                ports(flow.src_ports),
                ports(flow.dst_ports),
            ],
        };
        match &c.inputs {
            None => vec![region((0, NONE))],
            Some(ports) => ports.iter().map(|port| region((u128::from(*port), u128::from(*port)))).collect(),
        }
    }

    /// Is there anything in both?
    pub(super) fn meets(&self, other: &Region) -> bool {
        self.phb & other.phb != 0
            && self.dscp & other.dscp != 0
            && self.tc & other.tc != 0
            && self.families & other.families != 0
            && self.ranges.iter().zip(&other.ranges).all(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
    }

    /// What is in both.
    pub(super) fn and(&self, other: &Region) -> Option<Region> {
        let mut both = self.clone();
        both.phb &= other.phb;
        both.dscp &= other.dscp;
        both.tc &= other.tc;
        both.families &= other.families;
        for (a, b) in both.ranges.iter_mut().zip(&other.ranges) {
            *a = (a.0.max(b.0), a.1.min(b.1));
        }
        self.meets(other).then_some(both)
    }

    /// Appends what is in this and not in `other`, in pieces.
    pub(super) fn without(&self, other: &Region, out: &mut Vec<Region>) {
        if !self.meets(other) {
            out.push(self.clone());
            return;
        }
        let mut rest = self.clone();
        let beyond = Region { phb: rest.phb & !other.phb, ..rest.clone() };
        rest.phb &= other.phb;
        out.extend((beyond.phb != 0).then_some(beyond));
        let beyond = Region { dscp: rest.dscp & !other.dscp, ..rest.clone() };
        rest.dscp &= other.dscp;
        out.extend((beyond.dscp != 0).then_some(beyond));
        let beyond = Region { tc: rest.tc & !other.tc, ..rest.clone() };
        rest.tc &= other.tc;
        out.extend((beyond.tc != 0).then_some(beyond));
        let beyond = Region { families: rest.families & !other.families, ..rest.clone() };
        rest.families &= other.families;
        out.extend((beyond.families != 0).then_some(beyond));
        for side in 0..rest.ranges.len() {
            let (mine, cut) = (rest.ranges[side], other.ranges[side]);
            if mine.0 < cut.0 {
                let mut below = rest.clone();
                below.ranges[side].1 = cut.0 - 1;
                out.push(below);
            }
            if mine.1 > cut.1 {
                let mut above = rest.clone();
                above.ranges[side].0 = cut.1 + 1;
                out.push(above);
            }
            rest.ranges[side] = (mine.0.max(cut.0), mine.1.min(cut.1));
        }
    }
}
