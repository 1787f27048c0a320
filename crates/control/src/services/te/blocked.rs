//! Why there is no path, in words.

use super::constraints::{REASONS, Reason};
use super::search::Query;
use base::Rate;
use base::describe::Describe;
use core::fmt;
use core::net::Ipv4Addr;
use std::collections::VecDeque;

/// Why there is no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// Nothing has been said of this address.
    Unknown(Ipv4Addr),
    /// A path that does otherwise has too many links.
    TooLong {
        /// How many the shortest of them has.
        links: u32,
        /// How many it may have.
        limit: u32,
    },
    /// Each of the best paths was refused, or has failed, since they were looked for.
    Tried {
        /// How many they were.
        count: usize,
    },
    /// What can be reached from the beginning ends before the end.
    Blocked {
        /// How many links lead on from there, by why they are not used.
        refused: [u32; REASONS],
        /// What was asked for, in words.
        asked: String,
    },
}

impl NoPath {
    /// What was asked for, in words: this bandwidth at a setup priority; none without bandwidth.
    pub fn asked(bandwidth: Rate, priority: u8) -> String {
        if bandwidth.0 == 0 {
            return String::new();
        }
        let rate = bandwidth.write();
        format!(" with {} at priority {priority}", rate.as_text().unwrap_or_default())
    }
}

/// A rate that was rounded to a float of bytes a second (RFC 3209, 4.6.2), as somebody may have written it: of all
/// numbers that are rounded to it the one with the fewest digits.
fn as_written(rounded: Rate) -> Rate {
    let shortest = rounded.as_bytes_per_s().to_string().parse::<u64>();
    let rate = shortest.ok().and_then(|bytes| bytes.checked_mul(8)).map(Rate);
    rate.filter(|rate| Rate::from_bytes_per_s(rate.as_bytes_per_s()) == rounded).unwrap_or(rounded)
}

impl Query<'_> {
    /// Which links are in the way: those that lead from a router that can be reached to one that can't. If the end can
    /// be reached, it is too far.
    pub(super) fn why_none(&self, from: u32, to: u32) -> NoPath {
        const FAR: u32 = u32::MAX;
        let mut links = vec![FAR; self.graph.len()];
        let mut next = VecDeque::from([from]);
        links[from as usize] = 0;
        while let Some(router) = next.pop_front() {
            let more = links[router as usize] + 1;
            for edge in self.graph.edges_from(router) {
                if links[edge.to as usize] == FAR && self.weigh(edge).is_ok() {
                    links[edge.to as usize] = more;
                    next.push_back(edge.to);
                }
            }
        }
        if let (Some(limit), links) = (self.constraints.hop_limit, links[to as usize])
            && links != FAR
        {
            return NoPath::TooLong { links, limit };
        }
        let mut refused = [0; REASONS];
        for edge in self.graph.edges().iter().filter(|edge| links[edge.from as usize] != FAR) {
            if let (FAR, Err(reason)) = (links[edge.to as usize], self.weigh(edge)) {
                refused[reason as usize] += 1;
            }
        }
        let asked = NoPath::asked(as_written(self.constraints.bandwidth), self.constraints.priority);
        NoPath::Blocked { refused, asked }
    }
}

const WORDS: [(Reason, [&str; 2]); REASONS] = [
    (Reason::Bandwidth, ["lacks bandwidth", "lack bandwidth"]),
    (Reason::Affinity, ["is excluded by affinity", "are excluded by affinity"]),
    (Reason::Srlg, ["shares an excluded risk", "share an excluded risk"]),
    (Reason::Excluded, ["is excluded by address", "are excluded by address"]),
    (Reason::Distrusted, ["has refused or failed LSPs lately", "have refused or failed LSPs lately"]),
    (Reason::Metric, ["has no metric", "have no metric"]),
    (Reason::Common, ["is not disjoint from the other path", "are not disjoint from the other path"]),
];

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPath::Unknown(address) => {
                write!(f, "no path: traffic engineering has not heard of {address}")
            }
            NoPath::TooLong { links, limit } => {
                write!(f, "no path of {limit} links or fewer: the shortest has {links}")
            }
            NoPath::Tried { count: 1 } => write!(f, "no other path: the only one was refused or failed"),
            NoPath::Tried { count } => {
                write!(f, "no other path: each of the best {count} was refused or failed")
            }
            NoPath::Blocked { refused, asked } => {
                write!(f, "no path{asked}: ")?;
                let mut is_first = true;
                for (reason, [one, several]) in WORDS {
                    let count = refused[reason as usize];
                    if count == 0 {
                        continue;
                    }
                    let words = if count == 1 { one } else { several };
                    let links = match (is_first, count) {
                        (true, 1) => " link",
                        (true, _) => " links",
                        _ => "",
                    };
                    let comma = if is_first { "" } else { ", " };
                    write!(f, "{comma}{count}{links} {words}")?;
                    is_first = false;
                }
                if is_first { write!(f, "no link leads there") } else { Ok(()) }
            }
        }
    }
}
