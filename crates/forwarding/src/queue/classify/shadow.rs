//! Filters that can take nothing, since earlier ones take all that they would.
//!
//! A filter is a box in the space of all packets, with a side for each field. From the box of each filter those of all earlier ones are
//! cut off; if nothing is left, it is shadowed. What is left may be many smaller boxes; beyond [`PIECES_MAX`] the filter counts as not
//! shadowed: what is reported is always so, but with contrived filters something may go unreported.

use super::Match;
use super::check::Condition;
use base::Label;

/// The most pieces that a filter is cut into.
const PIECES_MAX: usize = 256;

/// A filter that never takes a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its place, from 0.
    pub filter: usize,
    /// The places of those that take what it would.
    pub by: Vec<usize>,
}

/// The filters that can take nothing, since earlier ones take all that they would: for warnings. Filters that are in error themselves are
/// left out.
pub fn shadowed<'a>(filters: impl IntoIterator<Item = &'a Match>) -> Vec<Shadowed> {
    let mut earlier: Vec<(usize, Region)> = Vec::new();
    let mut all = Vec::new();
    for (filter, what) in filters.into_iter().enumerate() {
        let Ok(condition) = Condition::new(what) else { continue };
        let regions = Region::of(&condition);
        if let Some(by) = covered(&regions, &earlier) {
            all.push(Shadowed { filter, by });
        } else {
            earlier.extend(regions.into_iter().map(|region| (filter, region)));
        }
    }
    all
}

/// Which of `earlier` take all of `regions`, if they do.
fn covered(regions: &[Region], earlier: &[(usize, Region)]) -> Option<Vec<usize>> {
    let mut left: Vec<Region> = regions.to_vec();
    let mut by: Vec<usize> = Vec::new();
    for (filter, other) in earlier {
        if !left.iter().any(|region| region.meets(other)) {
            continue;
        }
        let mut rest = Vec::new();
        for region in &left {
            region.without(other, &mut rest);
        }
        if by.last() != Some(filter) {
            by.push(*filter);
        }
        if rest.len() > PIECES_MAX {
            return None;
        }
        left = rest;
        if left.is_empty() {
            return Some(by);
        }
    }
    None
}

/// First and last of a range.
type Range = (u64, u64);

/// A box. "Not an IPv4 packet" is bit 64 of `dscp`, "no label" bit 8 of `exp`; where there is none of it, the other sides do not matter.
#[derive(Clone, Debug)]
struct Region {
    phb: u64,
    dscp: u128,
    exp: u16,
    /// Label, mark, port of arrival, source, destination, protocol, source port, destination port.
    ranges: [Range; 8],
}

/// No port of arrival, no source or destination port.
const NONE: u64 = 1 << 16;

impl Region {
    fn of(c: &Condition) -> Vec<Region> {
        let (mut dscp, mut exp) = ((1u128 << 65) - 1, (1u16 << 9) - 1);
        if let Some(bits) = c.dscp {
            dscp = u128::from(bits);
        }
        if let Some(flow) = c.flow {
            dscp &= flow.dscp.map_or((1 << 64) - 1, |dscp| 1 << dscp.value());
        }
        match (c.exp, c.labels, c.labelled) {
            (Some(bits), _, _) => exp = u16::from(bits),
            (None, Some(_), _) | (None, None, Some(true)) => exp = 0xff,
            (None, None, Some(false)) => exp = 0x100,
            (None, None, None) => {}
        }
        let flow = c.flow.unwrap_or_default();
        let prefix = |prefix: Option<base::plane::Prefix>| {
            prefix.map_or((0, u64::from(u32::MAX)), |p| {
                let first = u64::from(p.address().to_bits());
                (first, first + ((1u64 << (32 - u32::from(p.len()))) - 1))
            })
        };
        let ports =
            |ports: Option<(u16, u16)>| ports.map_or((0, NONE), |(a, b)| (u64::from(a), u64::from(b)));
        let one = |value: Option<u64>, most: u64| value.map_or((0, most), |value| (value, value));
        let label =
            c.labels.map_or((0, u64::from(Label::MAX.value())), |(a, b)| (u64::from(a), u64::from(b)));
        let region = |input: Range| Region {
            phb: c.phb.unwrap_or(u64::MAX),
            dscp,
            exp,
            ranges: [
                label,
                one(c.mark.map(u64::from), u64::from(u32::MAX)),
                input,
                prefix(flow.src),
                prefix(flow.dst),
                one(flow.protocol.map(u64::from), 255),
                ports(flow.src_ports),
                ports(flow.dst_ports),
            ],
        };
        match &c.inputs {
            None => vec![region((0, NONE))],
            Some(ports) => ports.iter().map(|port| region((u64::from(*port), u64::from(*port)))).collect(),
        }
    }

    fn meets(&self, other: &Region) -> bool {
        self.phb & other.phb != 0
            && self.dscp & other.dscp != 0
            && self.exp & other.exp != 0
            && self.ranges.iter().zip(&other.ranges).all(|(a, b)| a.0 <= b.1 && b.0 <= a.1)
    }

    /// Appends what is in this and not in `other`, in pieces.
    fn without(&self, other: &Region, out: &mut Vec<Region>) {
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
        let beyond = Region { exp: rest.exp & !other.exp, ..rest.clone() };
        rest.exp &= other.exp;
        out.extend((beyond.exp != 0).then_some(beyond));
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
