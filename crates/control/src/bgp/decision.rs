//! Which of several routes to a destination is taken (RFC 4271, 9.1.2.2; RFC 4456, 9).

use core::net::{IpAddr, Ipv4Addr};
use wire::bgp::Origin;

/// A route, as far as it is compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its place among all.
    pub at: usize,
    /// Has this router it itself?
    pub is_own: bool,
    /// LOCAL_PREF, or what stands for it.
    pub local_pref: u32,
    /// Length of the AS path.
    pub steps: usize,
    /// How it came into BGP.
    pub origin: Origin,
    /// The AS that the discriminator is of.
    pub neighbor_as: Option<u32>,
    /// MULTI_EXIT_DISC; zero where it is absent.
    pub med: u32,
    /// Has a neighbour of another AS told it?
    pub is_external: bool,
    /// What it costs to get to its next hop.
    pub metric: u32,
    /// Identifier of the router that told it, or told it first within the AS.
    pub id: Ipv4Addr,
    /// Reflectors that it has passed.
    pub clusters: usize,
    /// The neighbour's address.
    pub address: IpAddr,
    /// Which of several paths of the neighbour (RFC 7911, 3).
    pub path_id: u32,
}

impl Candidate {
    /// One of which nothing is known.
    pub const NONE: Candidate = Candidate {
        at: 0,
        is_own: false,
        local_pref: 0,
        steps: 0,
        origin: Origin::Incomplete,
        neighbor_as: None,
        med: 0,
        is_external: false,
        metric: 0,
        id: Ipv4Addr::UNSPECIFIED,
        clusters: 0,
        address: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        path_id: 0,
    };
}

fn keep_least<T: Ord>(all: &mut Vec<Candidate>, of: impl Fn(&Candidate) -> T) {
    if let Some(least) = all.iter().map(&of).min() {
        all.retain(|one| of(one) == least);
    }
}

/// The best of all, if there is any. What this router has itself comes first.
pub fn choose(mut all: Vec<Candidate>) -> Option<Candidate> {
    keep_least(&mut all, |one| !one.is_own);
    keep_least(&mut all, |one| core::cmp::Reverse(one.local_pref));
    keep_least(&mut all, |one| one.steps);
    keep_least(&mut all, |one| one.origin);
    // Discriminators are compared among routes by the same AS only (9.1.2.2 c).
    let known = all.clone();
    all.retain(|one| !known.iter().any(|other| other.neighbor_as == one.neighbor_as && other.med < one.med));
    keep_least(&mut all, |one| !one.is_external);
    keep_least(&mut all, |one| one.metric);
    keep_least(&mut all, |one| one.id);
    keep_least(&mut all, |one| one.clusters);
    keep_least(&mut all, |one| one.address);
    keep_least(&mut all, |one| one.path_id);
    all.into_iter().next()
}
