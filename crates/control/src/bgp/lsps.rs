//! LSPs whose labels BGP has given and that begin here are watched (RFC 5884), if the settings say so. Packets of this
//! router leave one whose end is not heard any more: they take another path if there is one, else they go without its
//! label.

use super::Bgp;
use super::decision::Candidate;
use super::table::Path;
use crate::protocol::Context;
use crate::services::policy::PrefixRange;
use crate::services::{Interfaces, Pace, Services, WatchedLsp, WatchedPath, Way};
use base::plane::IpPrefix;
use std::collections::{BTreeMap, BTreeSet};

/// Which LSPs are watched.
#[derive(Clone, Debug)]
pub struct LspWatch {
    /// How closely.
    pub pace: Pace,
    /// To which destinations; to single addresses if there is no range.
    pub prefixes: Vec<PrefixRange>,
}

impl LspWatch {
    fn is_for(&self, prefix: IpPrefix) -> bool {
        let is_single = match prefix {
            IpPrefix::V4(prefix) => prefix.len() == 32,
            IpPrefix::V6(prefix) => prefix.len() == 128,
        };
        if self.prefixes.is_empty() {
            is_single
        } else {
            self.prefixes.iter().any(|range| range.contains(prefix))
        }
    }
}

/// The LSPs that are watched, and what became of them.
#[derive(Debug, Default)]
pub(super) struct Lsps {
    watched: BTreeSet<IpPrefix>,
    /// Paths by LSPs whose end was heard and is not any more, for as long as neighbours tell them as they did. What
    /// they say is held.
    silent: BTreeMap<IpPrefix, Vec<Path>>,
    /// Is there one to a destination of IPv6, and this router has no IPv6 address to which its end could answer?
    pub lacks_ipv6: bool,
}

/// Do two paths say the same, and has the same neighbour told them?
fn is_same(one: &Path, other: &Path) -> bool {
    (one.key(), one.set, one.label) == (other.key(), other.set, other.label)
}

/// An LSP to a destination as whoever watches knows it; nothing if its end could not answer this router.
fn watched_path(interfaces: &Interfaces, prefix: IpPrefix) -> Option<WatchedPath> {
    let remote = prefix.address();
    let way = Way::Lsp(WatchedLsp::Bgp(prefix));
    Some(WatchedPath { way, local: interfaces.source_to(remote)?, remote })
}

impl Lsps {
    /// Is it known of this path that packets do not get to the end of its LSP?
    pub fn is_silent(&self, prefix: IpPrefix, path: &Path) -> bool {
        self.silent.get(&prefix).is_some_and(|all| all.iter().any(|one| is_same(one, path)))
    }

    /// What is to be watched, for who watches.
    pub fn wanted<'a>(
        &'a self,
        services: &'a Services,
        pace: Pace,
    ) -> impl Iterator<Item = (WatchedPath, Pace)> + 'a {
        let paths = self.watched.iter().filter_map(|prefix| watched_path(&services.interfaces, *prefix));
        paths.map(move |path| (path, pace))
    }
}

impl Bgp {
    /// Has the LSP to a destination watched if the path that was chosen has a label, else no more.
    pub(super) fn watch_lsp(&mut self, services: &Services, prefix: IpPrefix, best: Option<&Path>) {
        let Some(watch) = &self.config.lsp_watch else { return };
        let is_lsp = watch.is_for(prefix) && best.is_some_and(|best| self.beneath(best).is_some());
        let can_answer = watched_path(&services.interfaces, prefix).is_some();
        self.lsps.lacks_ipv6 |= is_lsp && !can_answer;
        self.is_watch_due |= if is_lsp && can_answer {
            self.lsps.watched.insert(prefix)
        } else {
            self.lsps.watched.remove(&prefix)
        };
    }

    /// The end of an LSP is not heard any more, or is again.
    pub(super) fn on_lsp(&mut self, context: &mut Context<'_>, lsp: WatchedLsp, is_alive: bool) {
        let WatchedLsp::Bgp(prefix) = lsp else { return };
        let best = self.prefixes.get(prefix).and_then(|entry| entry.best().copied());
        let Some(best) = best.filter(|_| self.lsps.watched.contains(&prefix)) else { return };
        if self.lsps.is_silent(prefix, &best) != is_alive {
            return;
        }
        if is_alive {
            self.forget_silent(prefix, |one| !is_same(one, &best));
        } else {
            self.sets.hold_path(&best);
            self.lsps.silent.entry(prefix).or_default().push(best);
        }
        self.route_labelled(context.services, prefix, Some(&best));
        self.decide(context, prefix);
    }

    /// Forgets what is known of paths that neighbours have told anew or withdrawn: nothing is known of these.
    pub(super) fn forget_retold(&mut self, prefix: IpPrefix) {
        if !self.lsps.silent.contains_key(&prefix) {
            return;
        }
        let known = self.prefixes.get(prefix).map_or(&[][..], |entry| entry.paths.as_slice()).to_vec();
        self.forget_silent(prefix, |silent| known.iter().any(|path| is_same(path, silent)));
    }

    fn forget_silent(&mut self, prefix: IpPrefix, is_kept: impl Fn(&Path) -> bool) {
        let Some(all) = self.lsps.silent.get_mut(&prefix) else { return };
        for gone in all.extract_if(.., |one| !is_kept(one)) {
            self.sets.release_path(&gone);
        }
        if all.is_empty() {
            self.lsps.silent.remove(&prefix);
        }
    }

    /// Of paths that can be taken those whose LSP is not known to lead nowhere, as long as there are any.
    pub(super) fn heard(&self, prefix: IpPrefix, paths: &[Path], all: Vec<Candidate>) -> Vec<Candidate> {
        if !self.lsps.silent.contains_key(&prefix) {
            return all;
        }
        let is_silent =
            |one: &Candidate| paths.get(one.at).is_some_and(|path| self.lsps.is_silent(prefix, path));
        let (silent, heard): (Vec<_>, Vec<_>) = all.into_iter().partition(is_silent);
        if heard.is_empty() { silent } else { heard }
    }
}
