//! Traffic of a tunnel: mapped to its LSP, moved to another in one step, taken off (RFC 3209, 2.5).
//!
//! A tunnel carries prefixes, perhaps only packets of some PHBs to them, and filters. They are mapped to its LSP while
//! it has one; a prefix that several tunnels carry goes by the first of them, by the bindings of the node's services.
//! Filters, and entries of a prefix for some PHBs, are looked at in the order in which their tunnels were declared, and
//! within a tunnel in the order given; a tunnel that is changed keeps its position.

use super::Rsvp;
use super::barred;
use super::command::TunnelSpec;
use super::event::Event;
use super::faults::Fault;
use super::head::Loss;
use super::permanent_bridge::Entries;
use super::record_route;
use super::states::{ResvEvent, TunnelEvent};
use super::tables::Purpose;
use base::Label;
use base::plane::{Fec, IpPrefix, LabelStack, Nhlfe, Prefix, Prefix6, TableOp};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Bits of an order number that count within a tunnel: it can have 2^20 filters, and as many prefixes with classes.
pub(super) const FILTER_BITS: u32 = 20;

/// The packets that the filters of a tunnel take, the one declared as number `sequence`.
pub(super) fn flows(spec: &TunnelSpec, sequence: u64) -> impl Iterator<Item = Fec> {
    let flow = move |(position, &filter)| Fec::Flow { order: sequence << FILTER_BITS | position, filter };
    (0..1u64 << FILTER_BITS).zip(&spec.filters).map(flow)
}

/// What that tunnel carries.
fn fecs(spec: &TunnelSpec, sequence: u64) -> impl Iterator<Item = Fec> {
    let class = move |(position, &(prefix, classes))| Fec::ClassPrefix {
        prefix,
        classes,
        order: sequence << FILTER_BITS | position,
    };
    let classed = (0..1u64 << FILTER_BITS).zip(&spec.classed).map(class);
    let carries6 = spec.carries6.iter().copied().map(Fec::Prefix6);
    spec.carries.iter().copied().map(Fec::Prefix).chain(carries6).chain(classed).chain(flows(spec, sequence))
}

/// The table entries that they are in.
fn entries(spec: Option<&TunnelSpec>, sequence: u64) -> BTreeSet<Entry> {
    let all = spec.into_iter().flat_map(|spec| fecs(spec, sequence));
    all.map(entry).collect()
}

/// Prefix, IPv6 prefix and order of an entry, as far as its kind has them.
pub(super) type Entry = (Option<Prefix>, Option<Prefix6>, Option<u64>);

pub(super) fn entry(fec: Fec) -> Entry {
    match fec {
        Fec::Prefix(prefix) => (Some(prefix), None, None),
        Fec::Prefix6(prefix) => (None, Some(prefix), None),
        Fec::ClassPrefix { prefix, order, .. } => (Some(prefix), None, Some(order)),
        Fec::Flow { order, .. } => (None, None, Some(order)),
    }
}

/// Is it of IPv6?
pub(super) fn is_ipv6(fec: &Fec) -> bool {
    match fec {
        Fec::Prefix6(_) => true,
        Fec::Flow { filter, .. } => filter.is_ipv6(),
        Fec::Prefix(_) | Fec::ClassPrefix { .. } => false,
    }
}

/// The entry for IPv6 of an LSP whose entry for IPv4 is `nhlfe`. IPv6 lies below the label IPv6 explicit null, so that
/// no router on the way takes it for IPv4, the penultimate one included (RFC 4798, 3; RFC 3032, 2.1).
pub(super) fn below_null6(nhlfe: Nhlfe) -> Nhlfe {
    let labels = [&[Label::EXPLICIT_NULL_V6], nhlfe.push.as_slice()].concat();
    Nhlfe { push: LabelStack::new(&labels).unwrap_or(nhlfe.push), ..nhlfe }
}

impl Rsvp {
    /// The reservation of an LSP of a tunnel is there, or its label has changed: writes the FTN.
    pub(super) fn head_install(&mut self, lsp: u32) {
        let Some(index) = self.tunnel_of(lsp) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.is_standby(lsp) {
            self.standby_reserved(index, lsp);
        } else if tunnel.candidate == Some(lsp) {
            // A new label while the entries are on their way: the same entries once more.
            let again = tunnel.offered.clone().filter(|_| tunnel.state.is_mapping());
            let spec = again.unwrap_or_else(|| tunnel.spec.clone());
            tunnel.offered = Some(spec.clone());
            let ops = self.map_to(index, lsp, &spec);
            if ops.is_empty() {
                self.moved(index, lsp, 0, true);
                return;
            }
            let purpose = Purpose::Move {
                tunnel: index,
                tunnel_generation: self.tunnels.generation(index),
                lsp,
                lsp_generation: self.store.generation(lsp),
            };
            // Two writes of one entry must not overtake each other.
            let transaction = self.write(ops, true, purpose);
            if let Some(tunnel) = self.tunnels.get_mut(index) {
                self.counters.faults.step(&mut tunnel.state, TunnelEvent::Mapped);
                tunnel.moving = Some(transaction);
            }
        } else if tunnel.active == Some(lsp) && !tunnel.state.is_mapping() {
            let Some(carried) = tunnel.carried.clone() else {
                return self.counters.faults.note(Fault::Incomplete);
            };
            let ops = self.map_to(index, lsp, &carried);
            self.write_ftn(ops);
            self.bypass_changed(index);
        }
    }

    /// Maps what `spec` carries to an LSP: the writes that this takes.
    fn map_to(&mut self, index: u32, lsp: u32, spec: &TunnelSpec) -> Vec<TableOp> {
        let Some(sequence) = self.tunnels.get(index).map(|tunnel| tunnel.sequence) else {
            self.counters.faults.note(Fault::NoTunnel);
            return Vec::new();
        };
        let bridge = self.bridge(index, lsp, spec);
        let Some(state) = self.store.get(lsp) else {
            self.counters.faults.note(Fault::NoLsp);
            return Vec::new();
        };
        let (lists, entries) = bridge.unwrap_or_else(|| (Vec::new(), Entries::of(self.nhlfe_of(state))));
        let group = self.members_for(state);
        let lead = if spec.autoroute { self.lead(sequence, state) } else { None };
        if let (Some((group, members)), Some(prefix)) = (group, spec.carries.first()) {
            // Whoever follows the bindings sees what is in the group.
            self.services.bindings.set_members(IpPrefix::V4(*prefix), group, Some(members));
        }
        let own = |fec: &Fec| match *fec {
            Fec::Prefix(prefix) => self.bind(IpPrefix::V4(prefix), sequence, entries.ipv4),
            Fec::Prefix6(prefix) => self.bind(IpPrefix::V6(prefix), sequence, entries.ipv6),
            Fec::ClassPrefix { .. } | Fec::Flow { .. } => true,
        };
        let set = |fec| TableOp::FtnSet { nhlfe: entries.get(&fec), fec };
        lists.into_iter().chain(lead).chain(fecs(spec, sequence).filter(own).map(set)).collect()
    }

    /// Maps what `spec` carries to no LSP of its tunnel any more, except for the entries that `kept` carries too, and
    /// those that drop packets now: the writes that this takes.
    fn unmap(&mut self, index: u32, spec: &TunnelSpec, kept: Option<&TunnelSpec>) -> Vec<TableOp> {
        let Some(tunnel) = self.tunnels.get(index) else {
            self.counters.faults.note(Fault::NoTunnel);
            return Vec::new();
        };
        let sequence = tunnel.sequence;
        let mut kept = entries(kept, sequence);
        kept.extend(barred::entries(tunnel.barred.as_deref(), sequence));
        let gone = fecs(spec, sequence).filter(|fec| !kept.contains(&entry(*fec)));
        gone.filter_map(|fec| match fec {
            Fec::Prefix(prefix) => self.unbind(IpPrefix::V4(prefix), sequence),
            Fec::Prefix6(prefix) => self.unbind(IpPrefix::V6(prefix), sequence),
            Fec::ClassPrefix { .. } | Fec::Flow { .. } => Some(TableOp::FtnRemove { fec }),
        })
        .collect()
    }

    pub(super) fn write_ftn(&mut self, ops: Vec<TableOp>) {
        if !ops.is_empty() {
            self.write(ops, true, Purpose::Nothing);
        }
    }

    /// The tables send the tunnel's traffic along its new LSP, or could not be written.
    pub(super) fn moved(&mut self, index: u32, lsp: u32, transaction: u64, success: bool) {
        let linger = self.now + self.config.linger;
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        if tunnel.candidate != Some(lsp) || (transaction != 0 && tunnel.moving != Some(transaction)) {
            return;
        }
        if !success {
            self.lose(lsp, Loss::TablesFull);
            return;
        }
        self.counters.faults.step(&mut tunnel.state, TunnelEvent::Moved);
        tunnel.moving = None;
        tunnel.candidate = None;
        tunnel.give_up_at = base::Time::MAX;
        tunnel.failures = 0;
        tunnel.active_route = tunnel.route;
        tunnel.take_path(self.now);
        let before = tunnel.active.replace(lsp);
        if let Some(before) = before {
            tunnel.retiring.push((linger, before));
        }
        self.watch_lsp(index);
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let id = tunnel.id();
        let offered = tunnel.offered.take();
        let carried = std::mem::replace(&mut tunnel.carried, offered.clone());
        if let Some(carried) = carried {
            let ops = self.unmap(index, &carried, offered.as_deref());
            self.write_ftn(ops);
        }
        if self.tunnels.get(index).is_some_and(|tunnel| !tunnel.is_one_plus_one()) {
            self.bridge_end(index);
        }
        self.bar(index);
        // It may have been changed while the batch was on its way.
        self.carry(index);
        self.autoroute();
        let Some(state) = self.store.get_mut(lsp) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        self.counters.faults.step(&mut state.resv, ResvEvent::Written);
        let (lsp_id, label) = (state.sender.lsp_id, state.out_label);
        let recorded = state.rare.as_ref().and_then(|rare| rare.resv_rro.as_deref());
        let route = recorded.map(record_route::addresses).unwrap_or_default();
        let confirm = state.rare.as_mut().and_then(|rare| rare.confirm.take());
        match before.and_then(|before| self.store.get(before)).map(|before| before.sender.lsp_id) {
            Some(from_lsp) => self.event(Event::LspRerouted { tunnel: id, from_lsp, to_lsp: lsp_id }),
            None => self.event(Event::LspUp { tunnel: id, lsp_id, label, route }),
        }
        if let Some(receiver) = confirm {
            self.confirm(lsp, receiver);
        }
        self.arm_tunnel(index);
        self.bypass_changed(index);
        self.stand_by(index);
    }

    /// What the tunnel carries may have changed.
    pub(super) fn carry(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        // What is on its way to a new LSP is looked at when it is there.
        let Some(active) = tunnel.active.filter(|_| !tunnel.state.is_mapping()) else { return };
        let wanted = tunnel.spec.clone();
        let carried = tunnel.carried.replace(wanted.clone());
        if carried.as_ref().is_some_and(|c| {
            c.carries == wanted.carries
                && c.carries6 == wanted.carries6
                && c.classed == wanted.classed
                && c.filters == wanted.filters
        }) {
            return;
        }
        let mut ops = carried.map(|carried| self.unmap(index, &carried, Some(&wanted))).unwrap_or_default();
        ops.extend(self.map_to(index, active, &wanted));
        self.write_ftn(ops);
    }

    /// Gives the attempt up that is under way.
    pub(super) fn abandon_candidate(&mut self, index: u32) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        let mapping = tunnel.state.is_mapping();
        let candidate = tunnel.candidate.take();
        if candidate.is_some() {
            self.counters.faults.step(&mut tunnel.state, TunnelEvent::Abandoned);
        }
        tunnel.moving = None;
        tunnel.give_up_at = base::Time::MAX;
        let offered = tunnel.offered.take().filter(|_| mapping);
        let (active, carried) = (tunnel.active, tunnel.carried.clone());
        self.bar(index);
        if let Some(offered) = offered {
            // The entries may point to the candidate by now.
            let mut ops = self.unmap(index, &offered, carried.as_deref());
            if let (Some(active), Some(carried)) = (active, carried) {
                ops.extend(self.map_to(index, active, &carried));
            }
            self.write_ftn(ops);
        }
        self.bridge_changed(index);
        if let Some(candidate) = candidate {
            self.tear_down(candidate);
        }
    }

    /// Takes traffic off the active LSP and tears it down.
    pub(super) fn drop_active(&mut self, index: u32, reason: &str) {
        let Some(tunnel) = self.tunnels.get_mut(index) else {
            return self.counters.faults.note(Fault::NoTunnel);
        };
        // No LSP carries its traffic.
        let Some(lsp) = tunnel.active.take() else { return };
        self.counters.faults.step(&mut tunnel.state, TunnelEvent::Dropped);
        let id = tunnel.id();
        // Entries on their way to a new LSP are left to it.
        let offered: Option<Arc<TunnelSpec>> = tunnel.offered.clone().filter(|_| tunnel.state.is_mapping());
        let carried = tunnel.carried.take();
        self.watch_lsp(index);
        self.bar(index);
        if let Some(carried) = carried {
            let ops = self.unmap(index, &carried, offered.as_deref());
            self.write_ftn(ops);
        }
        self.bridge_changed(index);
        self.autoroute();
        let lsp_id = self.store.get(lsp).map_or(0, |lsp| lsp.sender.lsp_id);
        self.event(Event::LspDown { tunnel: id, lsp_id, reason: reason.into() });
        self.bypass_changed(index);
        self.tear_down(lsp);
    }
}
