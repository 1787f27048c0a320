//! Filters that can take nothing, since earlier ones take all that they would.
//!
//! A filter is a box in the space of all packets, with a side for each field. From the box of each filter those of
//! all earlier ones are cut off; if nothing is left, it is shadowed. What is left may be many smaller boxes; beyond
//! [`PIECES_MAX`] the filter counts as not shadowed: what is reported is always so, but with contrived filters
//! something may go unreported.

use super::Match;
use super::check::Condition;
use super::region::{PIECES_MAX, Region};

/// A filter that never takes a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadowed {
    /// Its place, from 0.
    pub filter: usize,
    /// The places of those that take what it would.
    pub by: Vec<usize>,
}

/// The filters that can take nothing, since earlier ones take all that they would: for warnings. Filters that are in
/// error themselves are left out.
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
