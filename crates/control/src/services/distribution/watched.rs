//! LSPs whose end is not heard any more (RFC 5884): packets of this router go without their label. Labels that others
//! were given stand for the same as before.

use super::Distribution;
use crate::services::Services;
use base::Label;
use base::plane::Prefix;

impl Distribution {
    /// The LSPs to single addresses that begin here: where the next router takes the label off at once, there is none.
    pub fn lsps(&self) -> impl Iterator<Item = Prefix> {
        let is_lsp = |used: &[super::fecs::Used]| {
            used.first().is_some_and(|(.., label)| *label != Label::IMPLICIT_NULL)
        };
        let of_hosts = self.fecs().filter(|(prefix, _)| prefix.len() == 32);
        of_hosts.filter(move |(_, known)| is_lsp(&known.used)).map(|(prefix, _)| prefix)
    }

    /// Do packets leave by other neighbours or labels than at the last call?
    pub fn take_moved(&mut self) -> bool {
        core::mem::take(&mut self.is_moved)
    }

    /// The end of an LSP is not heard any more, or is again.
    pub fn set_dead(&mut self, services: &mut Services, prefix: Prefix, is_dead: bool) {
        let is_new = if is_dead { self.dead.insert(prefix) } else { self.dead.remove(&prefix) };
        if is_new {
            self.write(services, prefix);
        }
    }

    /// Of LSPs that are not among these nothing is known any more.
    pub fn dead_only(&mut self, services: &mut Services, is_known: impl Fn(Prefix) -> bool) {
        let forgotten = self.dead.iter().filter(|prefix| !is_known(**prefix));
        for prefix in forgotten.copied().collect::<Vec<_>>() {
            self.set_dead(services, prefix, false);
        }
    }
}
