//! The table of a speaker: of each prefix what neighbours have told (Adj-RIB-In), which of it is taken (Loc-RIB), and
//! what neighbours were told (Adj-RIB-Out) (RFC 4271, 3.2). There may be a million prefixes: most have one path and are
//! told one neighbour, and need no memory of their own for it.
//!
//! Routes with labels and without are of one table, and compared with each other (RFC 8277, 5).

use super::Sets;
use base::plane::{IpPrefix, Prefix, Prefix6};
use base::{Dense, Interned, Label};
use wire::bgp::Family;

/// A route to a prefix that a neighbour has told or was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// What is said of it.
    pub set: Interned,
    /// Which of several paths (RFC 7911, 3); zero where there are no numbers.
    pub id: u32,
    /// Its label, or a greater number, by which [`super::several::Sequences`] knows several; [`Path::UNLABELLED`]
    /// without one.
    pub label: u32,
    /// The neighbour, by its place; [`Path::OWN`] if the route is this router's own.
    pub peer: u16,
    /// Was it told before the neighbour restarted, and not since (RFC 4724)?
    pub is_stale: bool,
}

impl Path {
    /// Stands for this router where others have a place.
    pub const OWN: u16 = u16::MAX;
    /// Stands for a label where there is none.
    pub const UNLABELLED: u32 = u32::MAX;

    /// The neighbour's place; nothing if it is the router's own.
    pub fn place(&self) -> Option<usize> {
        (self.peer != Path::OWN).then_some(usize::from(self.peer))
    }

    pub fn is_labelled(&self) -> bool {
        self.label != Path::UNLABELLED
    }

    /// Its label, if it is one alone.
    pub fn label(&self) -> Option<Label> {
        Label::new(self.label)
    }

    /// What tells it from others to the same prefix: one of its kind replaces it.
    pub fn key(&self) -> (u16, bool, u32) {
        (self.peer, self.is_labelled(), self.id)
    }
}

/// Paths to a prefix in the order of their keys: mostly one.
#[derive(Clone, Debug, Default)]
pub(super) enum Paths {
    #[default]
    None,
    One(Path),
    #[expect(
        clippy::box_collection,
        reason = "a list itself would make each prefix with one path larger by half"
    )]
    Many(Box<Vec<Path>>),
}

const _: () = assert!(size_of::<Paths>() == 16);

impl Paths {
    pub fn as_slice(&self) -> &[Path] {
        match self {
            Paths::None => &[],
            Paths::One(one) => core::slice::from_ref(one),
            Paths::Many(all) => all,
        }
    }

    pub fn as_mut_slice(&mut self) -> &mut [Path] {
        match self {
            Paths::None => &mut [],
            Paths::One(one) => core::slice::from_mut(one),
            Paths::Many(all) => all,
        }
    }

    /// Where a key stands, or where it would.
    pub fn search(&self, key: (u16, bool, u32)) -> Result<usize, usize> {
        self.as_slice().binary_search_by_key(&key, Path::key)
    }

    /// Puts a path in, in place of the one with its key, which is returned with where it stands.
    pub fn put(&mut self, path: Path) -> (usize, Option<Path>) {
        let at = match self.search(path.key()) {
            Ok(at) => {
                return (at, Some(core::mem::replace(&mut self.as_mut_slice()[at], path)));
            }
            Err(at) => at,
        };
        match self {
            Paths::None => *self = Paths::One(path),
            Paths::One(one) => {
                let mut all = vec![*one];
                all.insert(at, path);
                *self = Paths::Many(Box::new(all));
            }
            Paths::Many(all) => all.insert(at, path),
        }
        (at, None)
    }

    /// Takes out the path that stands there.
    pub fn remove(&mut self, at: usize) -> Path {
        let old = self.as_slice()[at];
        match self {
            Paths::None => {}
            Paths::One(_) => *self = Paths::None,
            Paths::Many(all) => {
                all.remove(at);
                if let [last] = all[..] {
                    *self = Paths::One(last);
                }
            }
        }
        old
    }
}

/// What is known of a prefix.
#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// What neighbours have told, and what the router has itself.
    pub paths: Paths,
    /// What neighbours were told.
    pub told: Paths,
    /// Which of the paths is taken, from one; zero if none is.
    chosen: u16,
    /// Is the path that was taken another than when it was?
    pub is_other: bool,
}

impl Entry {
    /// So many paths to a prefix a neighbour may tell, with labels and without (RFC 7911).
    pub const PATHS_OF_ONE: usize = 256;
    /// So many all neighbours may tell: beside one of this router's own each has a number in `chosen`.
    const PATHS_OF_ALL: usize = u16::MAX as usize - 1;

    /// May a neighbour's path be put in, since it replaces another or there are not too many?
    pub fn has_room(&self, path: &Path) -> bool {
        let all = self.paths.as_slice();
        if all.len() < Entry::PATHS_OF_ONE || self.paths.search(path.key()).is_ok() {
            return true;
        }
        let before = all.partition_point(|one| one.peer < path.peer);
        let its = all[before..].partition_point(|one| one.peer == path.peer);
        its < Entry::PATHS_OF_ONE && all.len() < Entry::PATHS_OF_ALL
    }

    /// Where the path that is taken stands.
    pub fn best_at(&self) -> Option<usize> {
        usize::from(self.chosen).checked_sub(1)
    }

    /// The path that is taken.
    pub fn best(&self) -> Option<&Path> {
        self.paths.as_slice().get(self.best_at()?)
    }

    /// Was a path taken when this was decided on last?
    pub fn was_taken(&self) -> bool {
        self.chosen > 0 || self.is_other
    }

    /// This path is taken from now on.
    pub fn choose(&mut self, at: Option<usize>) {
        (self.chosen, self.is_other) = (at.map_or(0, |at| at as u16 + 1), false);
    }

    /// Puts a path in. Is it another than before?
    pub fn put(&mut self, path: Path, sets: &mut Sets) -> Put {
        let (at, old) = self.paths.put(path);
        match old {
            Some(old) => {
                sets.release_path(&old);
                if (old.set, old.label) == (path.set, path.label) {
                    return Put::Same { was_stale: old.is_stale };
                }
                self.is_other |= self.best_at() == Some(at);
                Put::Other { was_stale: old.is_stale }
            }
            None => {
                if self.best_at().is_some_and(|best| at <= best) {
                    self.chosen += 1;
                }
                Put::New
            }
        }
    }

    /// Takes a path out.
    pub fn remove(&mut self, at: usize, sets: &mut Sets) -> Path {
        let old = self.paths.remove(at);
        sets.release_path(&old);
        match self.best_at() {
            Some(best) if best == at => (self.chosen, self.is_other) = (0, true),
            Some(best) if best > at => self.chosen -= 1,
            _ => {}
        }
        old
    }

    /// Is there nothing to know?
    pub fn is_empty(&self) -> bool {
        matches!((&self.paths, &self.told), (Paths::None, Paths::None))
    }
}

/// What a path that was put in is to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// There was none.
    New,
    /// It says the same.
    Same { was_stale: bool },
    /// It says something else.
    Other { was_stale: bool },
}

/// All prefixes, those of IPv4 before those of IPv6.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    v4: Dense<Prefix, Entry>,
    v6: Dense<Prefix6, Entry>,
}

impl Prefixes {
    /// Hints that a prefix is about to be asked for.
    pub fn prefetch(&self, prefix: IpPrefix) {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.prefetch(&prefix),
            IpPrefix::V6(prefix) => self.v6.prefetch(&prefix),
        }
    }

    pub fn get(&self, prefix: IpPrefix) -> Option<&Entry> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.get(&prefix),
            IpPrefix::V6(prefix) => self.v6.get(&prefix),
        }
    }

    pub fn get_mut(&mut self, prefix: IpPrefix) -> Option<&mut Entry> {
        match prefix {
            IpPrefix::V4(prefix) => self.v4.get_mut(&prefix),
            IpPrefix::V6(prefix) => self.v6.get_mut(&prefix),
        }
    }

    /// What is known of a prefix, or will be.
    pub fn get_or_new(&mut self, prefix: IpPrefix) -> &mut Entry {
        match prefix {
            IpPrefix::V4(prefix) => {
                let place = self.v4.place_or_insert_with(prefix, Entry::default);
                self.v4.at_mut(place)
            }
            IpPrefix::V6(prefix) => {
                let place = self.v6.place_or_insert_with(prefix, Entry::default);
                self.v6.at_mut(place)
            }
        }
    }

    /// Forgets a prefix of which nothing is known any more.
    pub fn tidy(&mut self, prefix: IpPrefix) {
        if self.get(prefix).is_some_and(Entry::is_empty) {
            match prefix {
                IpPrefix::V4(prefix) => drop(self.v4.remove(&prefix)),
                IpPrefix::V6(prefix) => drop(self.v6.remove(&prefix)),
            }
        }
    }

    /// Prefixes of which what is known is meant, in their order.
    pub fn keys_where(&self, is_meant: impl Fn(&Entry) -> bool) -> Vec<IpPrefix> {
        let v4 = self.v4.keys_where(&is_meant).into_iter().map(IpPrefix::V4);
        v4.chain(self.v6.keys_where(&is_meant).into_iter().map(IpPrefix::V6)).collect()
    }

    /// All prefixes with what is known of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (IpPrefix, &Entry)> {
        let v4 = self.v4.iter().map(|(prefix, entry)| (IpPrefix::V4(prefix), entry));
        v4.chain(self.v6.iter().map(|(prefix, entry)| (IpPrefix::V6(prefix), entry)))
    }
}

/// Has a family the addresses of a prefix?
pub(super) fn is_of(family: Family, prefix: IpPrefix) -> bool {
    match prefix {
        IpPrefix::V4(_) => matches!(family, Family::Ipv4 | Family::Ipv4Labelled),
        IpPrefix::V6(_) => matches!(family, Family::Ipv6 | Family::Ipv6Labelled),
    }
}

/// Is what is told of a family told with labels?
pub(super) fn is_labelled(family: Family) -> bool {
    matches!(family, Family::Ipv4Labelled | Family::Ipv6Labelled)
}
