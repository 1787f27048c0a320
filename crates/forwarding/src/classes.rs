//! What labels of this node mean for PHBs: DiffServ contexts (RFC 3270, 2.4), as tables that are looked up by TC bits
//! and by PHB. LSPs with the same context share one.

use base::plane::{Encaps, LspClasses, TunnelModel};
use base::{Phb, TrafficClass};

/// A DiffServ context as tables, so that a look-up takes no search.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) classes: LspClasses,
    uses: u32,
    /// PHB by TC of the label that a packet comes with; nothing where the LSP gives that TC no meaning.
    incoming: [Option<Phb>; 8],
    /// TC to write by [`Phb::code`], and the PHB that it stands for; nothing where the LSP has no place for the PHB.
    outgoing: [Option<(TrafficClass, Phb)>; 64],
}

impl Context {
    pub(crate) fn new(classes: LspClasses) -> Context {
        let tc = |value: usize| TrafficClass::truncate(value as u8);
        let phb = |code: usize| Phb::new(code as u8).unwrap_or_default();
        Context {
            classes,
            uses: 0,
            incoming: core::array::from_fn(|value| classes.encaps.phb(tc(value))),
            outgoing: core::array::from_fn(|code| place(&classes.encaps, phb(code))),
        }
    }

    /// The PHB of a packet that comes with `tc`; none if the LSP gives it no meaning (RFC 3270, 3.3 and 4.3).
    #[inline]
    pub(crate) fn phb(&self, tc: TrafficClass) -> Option<Phb> {
        self.incoming[usize::from(tc.value() & 7)]
    }

    /// The TC bits with which a packet of PHB `phb` leaves (RFC 3270, 3.5 and 4.5), and the PHB that they stand for.
    #[inline]
    pub(crate) fn tc(&self, phb: Phb) -> Option<(TrafficClass, Phb)> {
        self.outgoing[usize::from(phb.code() & 63)]
    }

    #[inline]
    pub(crate) fn model(&self) -> TunnelModel {
        self.classes.model
    }
}

/// A PHB that an E-LSP has no TC bits for goes as default forwarding if the LSP has a place for that, as packets with
/// a code point that a node doesn't know do (RFC 2474, 3). An L-LSP has one scheduling class: other packets can't
/// take it.
fn place(encaps: &Encaps, phb: Phb) -> Option<(TrafficClass, Phb)> {
    let other = match encaps {
        Encaps::ELsp(map) => map.tc(Phb::DEFAULT).map(|tc| (tc, Phb::DEFAULT)),
        Encaps::LLsp(_) => None,
    };
    encaps.tc(phb).map(|tc| (tc, phb)).or(other)
}

/// The contexts of a node's entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contexts {
    slots: Vec<Context>,
}

impl Contexts {
    /// As many as fit in the byte of an entry that holds TC or the place of a context.
    pub(crate) const MAX: usize = 240;

    /// The place of `classes`, of which there is one more use now; nothing if there is no room.
    pub(crate) fn acquire(&mut self, classes: LspClasses) -> Option<u8> {
        let found = self.slots.iter().position(|c| c.uses > 0 && c.classes == classes);
        let free = || self.slots.iter().position(|c| c.uses == 0);
        let place = match found.or_else(free) {
            Some(place) => place,
            None if self.slots.len() < Contexts::MAX => self.slots.len(),
            None => return None,
        };
        if found.is_none() {
            let new = Context::new(classes);
            match self.slots.get_mut(place) {
                Some(slot) => *slot = new,
                None => self.slots.push(new),
            }
        }
        self.slots[place].uses += 1;
        Some(place as u8)
    }

    /// An entry no longer uses the context; without uses its place is free for another.
    pub(crate) fn release(&mut self, place: u8) {
        if let Some(slot) = self.slots.get_mut(usize::from(place)) {
            slot.uses = slot.uses.saturating_sub(1);
        }
    }

    #[inline]
    pub(crate) fn get(&self, place: u8) -> Option<&Context> {
        self.slots.get(usize::from(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::plane::TcMap;

    fn lsp(encaps: Encaps) -> LspClasses {
        LspClasses { model: TunnelModel::Pipe, encaps }
    }
    fn phb(name: &str) -> Phb {
        name.parse().expect(name)
    }

    #[test]
    fn what_has_no_tc_bits_goes_as_default_or_not_at_all() {
        let context = Context::new(lsp(Encaps::ELsp(TcMap::PRECONFIGURED)));
        assert_eq!(context.tc(phb("AF12")), Some((TrafficClass::truncate(2), phb("AF12"))));
        assert_eq!(context.tc(phb("AF43")), Some((TrafficClass::truncate(0), Phb::DEFAULT)));
        let only = Context::new(lsp(Encaps::ELsp(TcMap::new([Phb::EF; 8]))));
        assert_eq!((only.tc(Phb::DEFAULT), only.phb(TrafficClass::truncate(7))), (None, Some(Phb::EF)));
        let af1 = Context::new(lsp(Encaps::LLsp(phb("AF11").scheduling_class())));
        assert_eq!(af1.tc(phb("AF13")), Some((TrafficClass::truncate(3), phb("AF13"))));
        assert_eq!((af1.tc(phb("AF21")), af1.tc(Phb::DEFAULT)), (None, None));
        assert_eq!(af1.phb(TrafficClass::truncate(0)), None);
    }

    #[test]
    fn lsps_with_the_same_context_share_one() {
        let mut contexts = Contexts::default();
        let all: Vec<LspClasses> =
            (0..64).filter_map(Phb::new).map(|p| lsp(Encaps::ELsp(TcMap::new([p; 8])))).collect();
        let places: Vec<_> = all.iter().map(|c| contexts.acquire(*c)).collect();
        assert_eq!((places[0], contexts.acquire(all[0])), (Some(0), Some(0)));
        contexts.release(0);
        contexts.release(63);
        let new = lsp(Encaps::LLsp(Phb::EF.scheduling_class()));
        // A place with a use left stays; one without is taken again.
        assert_eq!(contexts.acquire(new), Some(63));
        assert_eq!(contexts.get(0).map(|c| c.classes), Some(all[0]));
        let models = [TunnelModel::Uniform, TunnelModel::ShortPipe];
        let more = all.iter().flat_map(|c| models.map(|model| LspClasses { model, ..*c }));
        let more: Vec<_> = more.chain(all.iter().copied()).collect();
        assert!(more.iter().all(|c| contexts.acquire(*c).is_some()), "64 + 128 fit");
        let rest = (1..64).filter_map(Phb::new).map(|p| {
            let mut map = [Phb::DEFAULT; 8];
            map[3] = p;
            lsp(Encaps::ELsp(TcMap::new(map)))
        });
        assert!(
            rest.map(|c| contexts.acquire(c)).any(|place| place.is_none()),
            "no more than {}",
            Contexts::MAX
        );
    }
}
