//! The list of leaves that a message about a point-to-multipoint LSP carries (RFC 4875, 5.1, 6.1, 7.2.2 and 11.1).
//!
//! The objects of the list are of classes that the typed messages leave to those who ask: they are among
//! [`Common::unknown`], in the order in which they came, and are written where they were.

use super::class;
use super::common::{Common, Unknown};
use super::error::{Error, Fault, Reason};
use super::explicit_route::{self, EroHop, EroSubobject};
use super::p2mp::S2lSubLsp;
use super::record_route::{self, RroSubobject};
use base::Map;
use std::net::IpAddr;

/// One S2L sub-LSP of a message: a leaf, and what the message says of the way to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubLsp {
    /// S2L_SUB_LSP: the address of the leaf.
    pub leaf: IpAddr,
    /// P2MP SECONDARY_EXPLICIT_ROUTE of a Path, from the branch node on; absent for the first leaf, whose way is the
    /// EXPLICIT_ROUTE, and for leaves whose way each router finds by itself.
    pub explicit_route: Option<Vec<EroHop>>,
    /// P2MP_SECONDARY_RECORD_ROUTE of a Resv; absent if no route is recorded.
    pub recorded_route: Option<Vec<RroSubobject>>,
}

impl SubLsp {
    /// A leaf alone, as in a PathTear (RFC 4875, 7.2.2) or a PathErr (RFC 4875, 11.1).
    pub const fn of(leaf: IpAddr) -> SubLsp {
        SubLsp { leaf, explicit_route: None, recorded_route: None }
    }
}

/// C-Type of secondary routes that belong to point-to-multipoint LSPs (RFC 4875, 19.5 and 19.6).
const P2MP: u8 = 2;

impl Common {
    /// The leaves that the message names, in its order; none in a message about an LSP with one end.
    ///
    /// # Errors
    ///
    /// If an object of the list can't be read, or is a route that follows no leaf. The error's offset is within the
    /// object.
    pub fn sub_lsps(&self) -> Result<Vec<SubLsp>, Error> {
        let mut leaves: Vec<SubLsp> = Vec::new();
        for object in &self.unknown {
            let taken = take(&mut leaves, object);
            taken.map_err(|fault| Error {
                offset: 4 + fault.at,
                object: Some((object.class, object.c_type)),
                reason: fault.reason,
            })?;
        }
        Ok(leaves)
    }

    /// Adds leaves at the end of the message. In a Path, PathErr or PathTear that is where the grammar has them; in a
    /// Resv it is the end of its last flow descriptor, so that one of several senders needs a position of its own.
    ///
    /// # Errors
    ///
    /// If a route is too long to be written; then nothing is added.
    pub fn add_sub_lsps(&mut self, leaves: &[SubLsp]) -> Result<(), Error> {
        let before = self.unknown.len();
        let mut leaves = leaves.iter();
        let added = leaves.try_for_each(|said| {
            self.add_sub_lsp(said.leaf, said.explicit_route.as_deref(), said.recorded_route.as_deref())
        });
        if added.is_err() {
            self.unknown.truncate(before);
        }
        added
    }

    /// Adds one leaf at the end of the message, with routes that need not be copied for it.
    ///
    /// # Errors
    ///
    /// If a route is too long to be written; then nothing is added.
    pub fn add_sub_lsp(
        &mut self,
        leaf: IpAddr,
        explicit_route: Option<&[EroHop]>,
        recorded_route: Option<&[RroSubobject]>,
    ) -> Result<(), Error> {
        // Nearly all entries of routes have eight bytes.
        let len = |entries: usize| 4 + 8 * entries;
        let explicit = explicit_route.map(|hops| {
            let emit =
                |out: &mut Vec<u8>| explicit_route::emit(hops, class::SECONDARY_EXPLICIT_ROUTE, P2MP, out);
            Unknown::written(len(hops.len()), emit).ok_or(Error::of_message(0, Reason::TooLong))
        });
        let recorded = recorded_route.map(|entries| {
            let emit =
                |out: &mut Vec<u8>| record_route::emit(entries, class::SECONDARY_RECORD_ROUTE, P2MP, out);
            Unknown::written(len(entries.len()), emit).ok_or(Error::of_message(0, Reason::TooLong))
        });
        let (explicit, recorded) = (explicit.transpose()?, recorded.transpose()?);
        self.unknown.extend(Unknown::written(20, |out| {
            S2lSubLsp(leaf).emit(out);
            Ok(())
        }));
        self.unknown.extend(explicit);
        self.unknown.extend(recorded);
        Ok(())
    }
}

fn take(leaves: &mut Vec<SubLsp>, object: &Unknown) -> Result<(), Fault> {
    let first = leaves.len() == 1;
    let orphan = Fault { at: 0, reason: Reason::Invalid("a secondary route follows no S2L_SUB_LSP") };
    match (object.class, object.c_type) {
        (class::S2L_SUB_LSP, c_type) => leaves.push(SubLsp::of(S2lSubLsp::parse(c_type, &object.data)?.0)),
        (class::SECONDARY_EXPLICIT_ROUTE, P2MP) => {
            let leaf = leaves.last_mut().ok_or(orphan)?;
            let route = explicit_route::parse(&object.data)?;
            // RFC 4875, 5.1: a SERO after the first S2L_SUB_LSP MUST be ignored. Of several the first counts, as of
            // several EXPLICIT_ROUTEs (RFC 3209, 4.3.2).
            if !first {
                leaf.explicit_route.get_or_insert(route);
            }
        }
        (class::SECONDARY_RECORD_ROUTE, P2MP) => {
            let leaf = leaves.last_mut().ok_or(orphan)?;
            let route = record_route::parse(&object.data)?;
            leaf.recorded_route.get_or_insert(route);
        }
        // Other C-Types are those of segment recovery (RFC 4873), which has nothing to do with leaves.
        _ => {}
    }
    Ok(())
}

/// Finds what of each route one Path has to say (RFC 4875, 4.5), route by route.
#[derive(Clone, Debug, Default)]
pub struct Compressor<'a> {
    routes: Vec<&'a [EroHop]>,
    /// Where each hop stands first: the route and the place in it. A reader finds the branch node there, so it has to
    /// be reached as the compressed route would reach it.
    known: Map<&'a EroHop, (usize, usize)>,
    /// Hops at the beginning of the latest route that are reached so. Routes mostly begin as the one before them does,
    /// and as far as they do, what holds for that one holds for them.
    reached: usize,
}

impl<'a> Compressor<'a> {
    /// What of the next route is to be written: all of the first, and of a later one what lies from the last router on
    /// that an earlier one leads to in the same way. `None` if it begins with another hop than the first: it needs a
    /// Path of its own.
    pub fn add(&mut self, route: &'a [EroHop]) -> Option<&'a [EroHop]> {
        let latest = self.routes.last().copied().unwrap_or_default();
        let alike = latest.iter().zip(route).take_while(|(theirs, own)| theirs == own).count();
        let mut branch = self.reached.min(alike);
        if branch == alike {
            let is_reached = |place: usize| {
                let &(earlier, there) = self.known.get(&route.get(place)?)?;
                (self.routes.get(earlier)?.get(..there)? == route.get(..place)?).then_some(())
            };
            while is_reached(branch).is_some() {
                branch += 1;
            }
        }
        let at = self.routes.len();
        let rest = if at == 0 { route } else { route.get(branch.checked_sub(1)?..)? };
        self.reached = branch;
        for (place, hop) in route.iter().enumerate().skip(alike) {
            let first = *self.known.get_or_insert_with(hop, || (at, place));
            // What stands here first is reached by this route. Behind it nothing is that stood elsewhere before.
            if first == (at, place) && place == self.reached {
                self.reached += 1;
            }
        }
        self.routes.push(route);
        Some(rest)
    }
}

/// Writes routes to leaves as one Path does (RFC 4875, 4.5): the EXPLICIT_ROUTE of the first leaf, and the leaves,
/// each later one with its route from the last router on that an earlier route leads to in the same way.
///
/// `None` if there is no leaf, or if the routes do not all begin with the same hop: they need a Path for each hop.
pub fn compress(routes: &[(IpAddr, Vec<EroHop>)]) -> Option<(Vec<EroHop>, Vec<SubLsp>)> {
    let (_, first) = routes.first()?;
    let mut compressor = Compressor::default();
    let mut leaves = Vec::with_capacity(routes.len());
    for (leaf, route) in routes {
        let rest = compressor.add(route)?;
        let explicit_route = (!leaves.is_empty()).then(|| rest.to_vec());
        leaves.push(SubLsp { explicit_route, ..SubLsp::of(*leaf) });
    }
    Some((first.clone(), leaves))
}

/// The whole route to each leaf of a Path, as far as it says one (RFC 4875, 4.5): the reverse of [`compress`]. A leaf
/// behind the first without a secondary route has none, and is routed hop by hop.
///
/// A secondary route begins at a branch node, which stands in another route of the message, wherever that is; or at
/// this router itself, which `is_self` knows. One that begins nowhere is an error, for its leaf alone, and so is one of
/// more than `most` hops in all: a short message could say much longer routes than it is itself.
pub fn expand(
    ero: &[EroHop],
    leaves: &[SubLsp],
    most: usize,
    is_self: impl Fn(&EroHop) -> bool,
) -> Vec<(IpAddr, Result<Vec<EroHop>, Orphan>)> {
    // Where each node stands first: the leaf and the place in its route.
    let mut known: Map<&EroSubobject, (usize, usize)> = Map::new();
    let ero = if ero.len() > most { &[] } else { ero };
    note(&mut known, (0, 0), ero);
    let mut routes: Vec<(IpAddr, Result<Vec<EroHop>, Orphan>)> = Vec::with_capacity(leaves.len());
    let mut waiting: Vec<usize> = Vec::new();
    for (at, leaf) in leaves.iter().enumerate() {
        let route = match &leaf.explicit_route {
            _ if at == 0 => Ok(ero.to_vec()),
            None => Ok(Vec::new()),
            Some(_) => {
                waiting.push(at);
                Err(Orphan)
            }
        };
        routes.push((leaf.leaf, route));
    }
    // RFC 4875, 4.5: their order says nothing, so one may begin in another that comes behind it.
    loop {
        let before = waiting.len();
        waiting.retain(|&at| {
            let Some(rest) = leaves.get(at).and_then(|leaf| leaf.explicit_route.as_ref()) else {
                return false;
            };
            let Some(first) = rest.first() else { return true };
            let way: &[EroHop] = if is_self(first) {
                &[]
            } else {
                let Some(&(earlier, place)) = known.get(&&first.node) else { return true };
                let earlier = routes.get(earlier).and_then(|(_, route)| route.as_ref().ok());
                earlier.and_then(|route| route.get(..place)).unwrap_or_default()
            };
            if way.len() + rest.len() > most {
                return false;
            }
            let route = [way, rest].concat();
            // The nodes on the way there are known from the route that it begins in.
            note(&mut known, (at, way.len()), rest);
            if let Some((_, found)) = routes.get_mut(at) {
                *found = Ok(route);
            }
            false
        });
        if waiting.len() == before {
            return routes;
        }
    }
}

/// Hops of the route of a leaf, from a place on, are known to stand there, if they have not been known before.
fn note<'a>(
    known: &mut Map<&'a EroSubobject, (usize, usize)>,
    (at, from): (usize, usize),
    hops: &'a [EroHop],
) {
    for (place, hop) in hops.iter().enumerate() {
        known.get_or_insert_with(&hop.node, || (at, from + place));
    }
}

/// A secondary route whose first hop no other route of its message leads to, or that is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orphan;
