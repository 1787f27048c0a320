//! Bandwidth of point-to-multipoint LSPs. What leaves by an interface is there once, however many leaves lie beyond it
//! (RFC 4875, 5.2 and 6.4).

use super::{P2mpKey, TreeKey};
use crate::rsvp::Rsvp;
use crate::rsvp::link::{ByPriority, sum};
use crate::rsvp::lsp::SessionKey;
use base::{PortId, Rate};
use core::net::Ipv4Addr;
use wire::rsvp::Style;

impl Rsvp {
    /// What the LSPs of a tunnel hold on a link: in FF style each its own, in SE style the largest of them once.
    pub(super) fn p2mp_share(&self, session: P2mpKey, port: PortId) -> ByPriority {
        self.p2mp_share_of(self.p2mp.session(session), port)
    }

    fn p2mp_share_of(&self, trees: impl Iterator<Item = u32>, port: PortId) -> ByPriority {
        let mut held: ByPriority = [0; 8];
        let mut shared: Option<(u64, usize)> = None;
        for tree in trees.filter_map(|tree| self.p2mp.trees.get(tree)) {
            let on_link = self.p2mp.branches_of(tree);
            let reserved =
                on_link.filter(|branch| branch.to.port == port).filter_map(|branch| branch.reserved.as_ref());
            let most = reserved
                .map(|reserved| (Rate::from_bytes_per_s(reserved.flowspec.rate()).0, reserved.style))
                .max_by_key(|(rate, _)| *rate);
            let Some((rate, style)) = most else { continue };
            let holding = usize::from(tree.attributes.priorities().1);
            if style == Style::SharedExplicit {
                let (most, least) = shared.unwrap_or((0, 7));
                shared = Some((most.max(rate), least.min(holding)));
            } else if let Some(held) = held.get_mut(holding) {
                *held = held.saturating_add(rate);
            }
        }
        if let Some((rate, holding)) = shared
            && let Some(held) = held.get_mut(holding)
        {
            *held = held.saturating_add(rate);
        }
        held
    }

    /// Could a tree have its bandwidth on a link (RFC 3209, 4.7.3)? It may be there already, or, in SE style, other
    /// LSPs of its tunnel.
    pub(super) fn p2mp_is_admissible(
        &self,
        key: &TreeKey,
        port: PortId,
        (rate, style): (Rate, Style),
        setup: u8,
    ) -> bool {
        if rate.0 == 0 {
            return self.links.get(port).is_some();
        }
        let held = match style {
            Style::SharedExplicit => self.p2mp_share(key.session, port),
            Style::FixedFilter | Style::WildcardFilter => {
                self.p2mp_share_of(self.p2mp.tree(key).into_iter(), port)
            }
        };
        let more = rate.0.saturating_sub(sum(&held));
        self.links.get(port).is_some_and(|link| more <= link.available(setup))
    }

    /// Accounts for what a tunnel holds on a link now, after it held `before`.
    pub(super) fn p2mp_account(&mut self, session: P2mpKey, port: PortId, before: &ByPriority) {
        let after = self.p2mp_share(session, port);
        if after != *before {
            if let Some(link) = self.links.get_mut(port) {
                link.exchange_tree(before, &after);
            }
            self.exchange(port, before, &after);
        }
    }

    /// Makes room for what a tunnel wants to hold beyond what it held: point-to-point LSPs of weaker priority give way
    /// (RFC 3209, 4.7.3). Is there room?
    pub(super) fn p2mp_make_room(
        &mut self,
        session: P2mpKey,
        port: PortId,
        setup: u8,
        before: &ByPriority,
    ) -> bool {
        let more = sum(&self.p2mp_share(session, port)).saturating_sub(sum(before));
        let free =
            self.links.get(port).map_or(0, |link| link.interface.reservable.0.saturating_sub(link.total()));
        if more <= free {
            return true;
        }
        // No point-to-point tunnel ends nowhere.
        let nobody = Ipv4Addr::UNSPECIFIED;
        let asking = SessionKey { end_point: nobody, tunnel_id: 0, extended: nobody };
        let Some(victims) = self.victims(&asking, port, setup, more - free) else {
            self.note_refusal(port);
            return false;
        };
        victims.into_iter().for_each(|victim| self.preempt(victim));
        true
    }
}
