//! The tables of one node, and how they are written.

use crate::adjacency::Adjacencies;
use crate::circuits::Circuits;
use crate::classed::Classed;
use crate::classes::{Context, Contexts};
use crate::conditioner::Conditioners;
use crate::entry::{Entry, Kind, Stacks};
use crate::fib::{Fib, PREFIXES_MAX};
use crate::fib6::{Fib6, PREFIXES6_MAX};
use crate::filter::Filters;
use crate::group::Group;
use crate::hash::Seed;
use crate::ilm::Ilm;
use crate::multicast::Groups;
use crate::port::Ports;
use crate::recent::Recent;
use crate::replicate::Lists;
use crate::selector::Selectors;
use crate::unwritten::{Pending, plain};
use base::device::DropCounters;
use base::flow::FlowFilter;
use base::plane::{
    Encaps, Fec, LabelStack, LspClasses, NextHop, Nhlfe, PortConfig, Prefix, Prefix6, SelectorId, Table,
    TableError, TableOp, TcSource, TtlModel,
};
use base::{DiffServConfig, Label, PhbSet, PortId};

/// What holds for a whole node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The time to live of labels pushed in the pipe models (RFC 3443, 4.4).
    pub pipe_ttl: u8,
    /// How the explicit null label, which no entry describes, treats the time to live when it is popped.
    pub explicit_null_ttl: TtlModel,
    /// What the node knows of RFC 3270; if absent, it doesn't support it: it determines no PHBs, and an entry that
    /// copies classes copies them.
    pub diffserv: Option<DiffServConfig>,
    /// Punt frames with an LLC header; if not, they are dropped as of an unknown protocol.
    pub llc: bool,
    /// The most labels that the ILM takes.
    pub ilm_max: usize,
    /// The most prefixes that FIB and FTN take together.
    pub fib_max: usize,
    /// The most filters that the FTN takes.
    pub filters_max: usize,
    /// The most groups of next hops.
    pub groups_max: usize,
    /// The most replication lists.
    pub lists_max: usize,
    /// The most entries for groups, by key and way of arrival.
    pub multicast_max: usize,
    /// What the hash of flows begins with, by which groups choose members.
    pub seed: Seed,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            pipe_ttl: 255,
            explicit_null_ttl: TtlModel::Uniform,
            diffserv: None,
            llc: false,
            ilm_max: usize::MAX,
            fib_max: usize::MAX,
            filters_max: usize::MAX,
            groups_max: usize::MAX,
            lists_max: usize::MAX,
            multicast_max: usize::MAX,
            seed: Seed::default(),
        }
    }
}

/// The forwarding plane of one node.
///
/// Writing: [`Forwarding::apply`]. Moving packets: [`Forwarding::forward_batch`]; for
/// what it punted, [`Forwarding::classify_punt`], then perhaps [`Forwarding::forward_again`]; for what the node
/// itself sends, [`Forwarding::originate`] and [`Forwarding::transmit_via`]. Reading: [`crate::view`].
///
/// What is looked at for every packet lies in front, here and in the tables, in as few cache lines as can be: in a
/// large network they have left the caches since the last packet.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Forwarding {
    pub(crate) ports: Ports,
    pub(crate) recent: Recent,
    /// Of a node that has IPv6 routes.
    pub(crate) fib6: Option<Box<Fib6>>,
    pub(crate) fib: Fib,
    pub(crate) ilm: Ilm,
    pub(crate) adjacencies: Adjacencies,
    pub(crate) filters: Filters,
    pub(crate) config: Config,
    pub(crate) conditioners: Conditioners,
    pub(crate) groups: Vec<Group>,
    pub(crate) free_groups: Vec<u32>,
    pub(crate) lists: Lists,
    pub(crate) selectors: Selectors,
    /// Of a node that forwards packets to groups.
    pub(crate) multicast: Option<Box<Groups>>,
    pub(crate) stacks: Stacks,
    pub(crate) contexts: Contexts,
    /// That of E-LSPs with the preconfigured mapping, of a node that supports DiffServ.
    pub(crate) preconfigured: Option<Box<Context>>,
    pub(crate) drops: DropCounters,
    /// Routes that are in force and need not stand in the FIB.
    pub(crate) pending: Option<Box<Pending>>,
    /// The same of IPv6.
    pub(crate) pending6: Option<Box<Pending<Prefix6>>>,
    /// Of a node that has ports of cells.
    pub(crate) circuits: Option<Box<Circuits>>,
}

/// What an LSP is at a node when nothing was said of it (RFC 3270, 3.2.1).
fn preconfigured(config: &DiffServConfig) -> LspClasses {
    LspClasses { model: config.model, encaps: Encaps::ELsp(config.tc_map) }
}

impl Forwarding {
    /// Tables without entries and ports.
    pub fn new(config: Config) -> Forwarding {
        let preconfigured = config.diffserv.map(|config| Box::new(Context::new(preconfigured(&config))));
        Forwarding { config, preconfigured, ..Forwarding::default() }
    }

    /// Carries one operation out. One that replaces does so in one step: no packet finds the entry missing.
    pub fn apply(&mut self, op: &TableOp) -> Result<(), TableError> {
        self.forget_what_changes(op);
        match *op {
            TableOp::GroupSet { group, ref members } => self.group_set(group, members),
            TableOp::GroupRemove { group } => self.group_remove(group),
            TableOp::ReplicationSet { list, ref branches } => self.replication_set(list, branches),
            TableOp::ReplicationRemove { list } => self.replication_remove(list),
            TableOp::SelectorSet { selector, label } => {
                self.selectors.set(selector, label);
                Ok(())
            }
            TableOp::SelectorRemove { selector } => self.selectors.remove(selector),
            TableOp::MulticastSet { key, incoming, list } => self.multicast_set(key, incoming, list),
            TableOp::MulticastRemove { key, incoming } => self.multicast_remove(key, incoming),
            TableOp::MulticastThreshold { port, ttl } => self.multicast_threshold(port, ttl),
            TableOp::PortSet { port, config } => {
                // Whether the port is up stands in its record alone.
                if self.ports.set(port, config) {
                    self.recent.forget(&mut self.fib);
                    self.adjacencies.source_changed(port, config.mac);
                }
                self.find_way_in(port);
                Ok(())
            }
            TableOp::PortTrust { port, trusted } => self.ports.trust(port, trusted).ok_or(TableError::NoPort),
            TableOp::IlmSet { label, nhlfe } => self.ilm_set(label, &nhlfe),
            TableOp::IlmRemove { label } => {
                let old = self.ilm.remove(label).ok_or(TableError::NoEntry)?;
                self.release(&old);
                Ok(())
            }
            TableOp::CircuitSet { .. } | TableOp::CircuitRemove { .. } | TableOp::CircuitHops { .. } => {
                self.circuits.get_or_insert_default().apply(op)
            }
            TableOp::FtnSet { fec: Fec::Prefix(prefix), nhlfe } => self.prefix_set(prefix, &nhlfe, true),
            TableOp::FtnRemove { fec: Fec::Prefix(prefix) } => self.prefix_remove(prefix, true),
            TableOp::FtnSet { fec: Fec::Prefix6(prefix), nhlfe } => self.prefix6_set(prefix, &nhlfe, true),
            TableOp::FtnRemove { fec: Fec::Prefix6(prefix) } => self.prefix6_remove(prefix, true),
            TableOp::Route6Set { prefix, next_hop } => self.prefix6_set(prefix, &plain(next_hop), false),
            TableOp::Route6Remove { prefix } => {
                if self.source6().is_some_and(|source| source.next_hop(prefix).is_some()) {
                    self.use_every_route6();
                }
                self.prefix6_remove(prefix, false)
            }
            TableOp::FtnSet { fec: Fec::ClassPrefix { prefix, classes, order }, nhlfe } => {
                self.classed_set(prefix, classes, order, &nhlfe)
            }
            TableOp::FtnRemove { fec: Fec::ClassPrefix { prefix, order, .. } } => {
                let old = self.fib.update_classed(prefix, |list| list.remove(order));
                self.release(&old.ok_or(TableError::NoEntry)?);
                Ok(())
            }
            TableOp::FtnSet { fec: Fec::Flow { order, filter }, nhlfe } => {
                self.filter_set(order, filter, &nhlfe)
            }
            TableOp::FtnRemove { fec: Fec::Flow { order, .. } } => {
                let old = self.filters.remove(order).ok_or(TableError::NoEntry)?;
                self.release(&old);
                Ok(())
            }
            TableOp::RouteSet { prefix, next_hop } => self.prefix_set(prefix, &plain(next_hop), false),
            TableOp::RouteRemove { prefix } => {
                if self.source().is_some_and(|source| source.next_hop(prefix).is_some()) {
                    self.use_every_route();
                }
                self.prefix_remove(prefix, false)
            }
            TableOp::AdjacencySet { port, gateway, mac } => {
                let config = self.port_config(port)?;
                self.adjacencies.resolve(port, gateway, mac, &config);
                Ok(())
            }
            TableOp::AdjacencyRemove { port, gateway } => {
                self.port_config(port)?;
                let known = self.adjacencies.forget(port, gateway);
                if known { Ok(()) } else { Err(TableError::NoEntry) }
            }
        }
    }

    /// Forgets what is remembered of the destinations that an operation may change something for. It changes nothing
    /// where a port goes down: whether the port can be used is asked for with every packet.
    fn forget_what_changes(&mut self, op: &TableOp) {
        if let Some(fib) = &mut self.fib6 {
            fib.recent = None;
        }
        match *op {
            TableOp::RouteSet { prefix, .. }
            | TableOp::RouteRemove { prefix }
            | TableOp::FtnSet { fec: Fec::Prefix(prefix) | Fec::ClassPrefix { prefix, .. }, .. }
            | TableOp::FtnRemove { fec: Fec::Prefix(prefix) | Fec::ClassPrefix { prefix, .. } } => {
                self.recent.forget_within(prefix, &mut self.fib);
            }
            TableOp::GroupSet { .. }
            | TableOp::GroupRemove { .. }
            | TableOp::AdjacencySet { .. }
            | TableOp::AdjacencyRemove { .. } => self.recent.forget(&mut self.fib),
            TableOp::PortSet { .. }
            | TableOp::PortTrust { .. }
            | TableOp::IlmSet { .. }
            | TableOp::IlmRemove { .. }
            | TableOp::FtnSet { fec: Fec::Prefix6(_) | Fec::Flow { .. }, .. }
            | TableOp::FtnRemove { fec: Fec::Prefix6(_) | Fec::Flow { .. } }
            | TableOp::Route6Set { .. }
            | TableOp::Route6Remove { .. }
            | TableOp::ReplicationSet { .. }
            | TableOp::ReplicationRemove { .. }
            | TableOp::SelectorSet { .. }
            | TableOp::SelectorRemove { .. }
            | TableOp::MulticastSet { .. }
            | TableOp::MulticastRemove { .. }
            | TableOp::MulticastThreshold { .. }
            | TableOp::CircuitSet { .. }
            | TableOp::CircuitRemove { .. }
            | TableOp::CircuitHops { .. } => {}
        }
    }

    /// Entries in the table that `op` writes.
    pub fn occupancy(&self, op: &TableOp) -> usize {
        match op.table() {
            Table::Ports => 0,
            Table::Neighbors => self.adjacencies.len(),
            Table::Groups => self.adjacencies.groups(),
            Table::Replications => self.lists.len(),
            Table::Multicast => self.multicast.as_ref().map_or(0, |groups| groups.len()),
            Table::Ilm => self.ilm.len(),
            Table::Filters => self.filters.len(),
            Table::Ftn | Table::Fib => self.prefixes(),
        }
    }

    /// Prefixes of both families, which share one limit.
    fn prefixes(&self) -> usize {
        self.fib.len() + self.fib6.as_ref().map_or(0, |fib| fib.len())
    }

    /// May no other prefix come?
    fn has_all_prefixes(&self) -> bool {
        self.prefixes() >= self.config.fib_max.min(PREFIXES_MAX)
    }

    pub(crate) fn port_config(&self, port: PortId) -> Result<PortConfig, TableError> {
        Ok(self.ports.get(port).ok_or(TableError::NoPort)?.config())
    }

    fn ilm_set(&mut self, label: Label, nhlfe: &Nhlfe) -> Result<(), TableError> {
        if label.is_reserved() {
            return Err(TableError::ReservedLabel);
        }
        let bound = self.ilm.get(label.value()).is_some_and(|e| e.kind != Kind::Empty);
        if !bound && self.ilm.len() >= self.config.ilm_max {
            return Err(TableError::Full);
        }
        let entry = match nhlfe.next_hop {
            NextHop::Selected(id) => self.compile_selected(nhlfe, id)?,
            _ => self.compile(nhlfe)?,
        };
        if let Some(old) = self.ilm.set(label, entry) {
            self.release(&old);
        }
        Ok(())
    }

    fn prefix_set(&mut self, prefix: Prefix, nhlfe: &Nhlfe, ftn: bool) -> Result<(), TableError> {
        let new = self.fib.exact(prefix).is_none();
        if new && self.has_all_prefixes() {
            return Err(TableError::Full);
        }
        self.use_around(prefix);
        let mut entry = self.compile(nhlfe)?;
        let old = self.fib.update(prefix, |known| {
            let slot = if ftn { &mut known.ftn } else { &mut known.route };
            (entry.packets, entry.bytes) = (slot.packets, slot.bytes);
            core::mem::replace(slot, entry)
        });
        self.release(&old);
        Ok(())
    }

    fn prefix_remove(&mut self, prefix: Prefix, ftn: bool) -> Result<(), TableError> {
        let old = self
            .fib
            .update(prefix, |known| core::mem::take(if ftn { &mut known.ftn } else { &mut known.route }));
        if old.kind == Kind::Empty {
            return Err(TableError::NoEntry);
        }
        self.release(&old);
        Ok(())
    }

    fn prefix6_set(&mut self, prefix: Prefix6, nhlfe: &Nhlfe, ftn: bool) -> Result<(), TableError> {
        let new = self.fib6.as_ref().is_none_or(|fib| fib.exact(prefix).is_none());
        let is_full = self.fib6.as_ref().is_some_and(|fib| fib.len() >= PREFIXES6_MAX);
        if new && (is_full || self.has_all_prefixes()) {
            return Err(TableError::Full);
        }
        self.use_around6(prefix);
        let mut entry = self.compile(nhlfe)?;
        let old = self.fib6.get_or_insert_default().update(prefix, |known| {
            let slot = if ftn { &mut known.ftn } else { &mut known.route };
            (entry.packets, entry.bytes) = (slot.packets, slot.bytes);
            core::mem::replace(slot, entry)
        });
        self.release(&old);
        Ok(())
    }

    fn prefix6_remove(&mut self, prefix: Prefix6, ftn: bool) -> Result<(), TableError> {
        let fib = self.fib6.as_mut().ok_or(TableError::NoEntry)?;
        let old =
            fib.update(prefix, |known| core::mem::take(if ftn { &mut known.ftn } else { &mut known.route }));
        if old.kind == Kind::Empty {
            return Err(TableError::NoEntry);
        }
        self.release(&old);
        Ok(())
    }

    fn classed_set(
        &mut self,
        prefix: Prefix,
        classes: PhbSet,
        order: u64,
        nhlfe: &Nhlfe,
    ) -> Result<(), TableError> {
        if classes.is_empty() {
            return Err(TableError::Filter);
        }
        if self.fib.exact(prefix).is_none() && self.has_all_prefixes() {
            return Err(TableError::Full);
        }
        self.use_around(prefix);
        let entry = self.compile(nhlfe)?;
        match self.fib.update_classed(prefix, |list| list.set(Classed { order, classes, entry })) {
            Ok(Some(old)) => self.release(&old),
            Ok(None) => {}
            Err(()) => {
                self.release(&entry);
                return Err(TableError::Full);
            }
        }
        Ok(())
    }

    fn filter_set(&mut self, order: u64, filter: FlowFilter, nhlfe: &Nhlfe) -> Result<(), TableError> {
        if filter.check().is_err() {
            return Err(TableError::Filter);
        }
        if !self.filters.contains(order) && self.filters.len() >= self.config.filters_max {
            return Err(TableError::Full);
        }
        let entry = self.compile(nhlfe)?;
        if let Some(old) = self.filters.set(order, filter, entry) {
            self.release(&old);
        }
        Ok(())
    }

    /// Turns an NHLFE into what the fast path reads, and takes a share in its adjacency.
    pub(crate) fn compile(&mut self, nhlfe: &Nhlfe) -> Result<Entry, TableError> {
        let push = nhlfe.push.as_slice();
        // RFC 3032, 2.1: implicit null "should never appear in the encapsulation".
        if push.contains(&Label::IMPLICIT_NULL) {
            return Err(TableError::ReservedLabel);
        }
        // RFC 3270, 3.2.1: an LSP for which nothing was said is an E-LSP with the preconfigured mapping.
        let tc = match (nhlfe.tc, &self.preconfigured) {
            (TcSource::Copy, Some(context)) => TcSource::DiffServ(context.classes),
            (tc, _) => tc,
        };
        let nhlfe = &Nhlfe { tc, ..*nhlfe };
        let by_phb = self.preconfigured.is_some() || matches!(tc, TcSource::DiffServ(_));
        let kind = match (nhlfe.next_hop, push.len()) {
            (NextHop::Local, _) => Kind::Local,
            (NextHop::Unlabelled, _) => Kind::Unlabelled,
            (NextHop::Discard, _) => Kind::Discard,
            // Only where there is a label to be selected.
            (NextHop::Selected(_), _) => return Err(TableError::NoSelector),
            (NextHop::Replicate(_), 0) => Kind::Replicate,
            // The labels are those of the branches.
            (NextHop::Replicate(_), _) | (NextHop::Standby(_), _) => return Err(TableError::Nested),
            (NextHop::Via { gateway, .. }, 0) if gateway.is_unspecified() => Kind::Connected,
            (NextHop::Via { .. } | NextHop::Group(_), 1) if !by_phb => Kind::One,
            (NextHop::Via { .. } | NextHop::Group(_), _) => Kind::Via,
        };
        let context = match tc {
            TcSource::DiffServ(classes) => self.contexts.acquire(classes).ok_or(TableError::NoContext)?,
            TcSource::Copy | TcSource::Set(_) => 0,
        };
        let mut entry = Entry::new(kind, nhlfe, context);
        match self.take_next_hop(nhlfe.next_hop) {
            Ok(next_hop) => entry.next_hop = next_hop,
            Err(error) => {
                entry.context().iter().for_each(|context| self.contexts.release(*context));
                return Err(error);
            }
        }
        match push {
            [] => {}
            [label] => entry.word = label.value() << 12 | entry.pushed_tc(0),
            labels => entry.word = self.stacks.insert(labels),
        }
        Ok(entry)
    }

    /// The place of a next hop, for one more entry.
    fn take_next_hop(&mut self, next_hop: NextHop) -> Result<u32, TableError> {
        match next_hop {
            NextHop::Via { port, gateway } => {
                let config = self.port_config(port)?;
                Ok(self.adjacencies.acquire(port, gateway, &config))
            }
            NextHop::Group(group) | NextHop::Standby(group) => {
                self.adjacencies.acquire_group(group).ok_or(TableError::NoGroup)
            }
            NextHop::Replicate(list) => self.lists.acquire(list).ok_or(TableError::NoGroup),
            NextHop::Selected(_) => Err(TableError::NoSelector),
            NextHop::Local | NextHop::Unlabelled | NextHop::Discard => Ok(u32::MAX),
        }
    }

    /// The entry of a label whose packets this node takes while a selector takes them.
    fn compile_selected(&mut self, nhlfe: &Nhlfe, id: SelectorId) -> Result<Entry, TableError> {
        if !self.selectors.has(id) {
            return Err(TableError::NoSelector);
        }
        let mut entry = self.compile(&Nhlfe { next_hop: NextHop::Local, ..*nhlfe })?;
        entry.next_hop = self.selectors.acquire(id).ok_or(TableError::NoSelector)?;
        entry.kind = Kind::Selected;
        Ok(entry)
    }

    pub(crate) fn release(&mut self, entry: &Entry) {
        if entry.kind == Kind::Empty {
            return;
        }
        if entry.depth > 1 {
            self.stacks.remove(entry.word);
        }
        if let Some(context) = entry.context() {
            self.contexts.release(context);
        }
        match entry.kind {
            Kind::Replicate => self.lists.release(entry.next_hop),
            Kind::Selected => self.selectors.release(entry.next_hop),
            _ => self.adjacencies.release(entry.next_hop),
        }
    }

    /// The NHLFE that `entry` was compiled from.
    pub(crate) fn nhlfe(&self, entry: &Entry) -> Nhlfe {
        let labels = self.stacks.labels(entry);
        let push = LabelStack::new(&labels[..usize::from(entry.depth).min(LabelStack::MAX)]);
        let next_hop = match entry.kind {
            Kind::Local => NextHop::Local,
            Kind::Unlabelled => NextHop::Unlabelled,
            Kind::Discard | Kind::Empty => NextHop::Discard,
            Kind::Replicate => self.lists.id(entry.next_hop).map_or(NextHop::Discard, NextHop::Replicate),
            Kind::Standby => self.group_at(entry.next_hop).map_or(NextHop::Discard, NextHop::Standby),
            Kind::Selected => self.selectors.id(entry.next_hop).map_or(NextHop::Discard, NextHop::Selected),
            Kind::One | Kind::Via | Kind::Connected => match self.adjacencies.get(entry.next_hop) {
                Some(a) => match self.group_at(entry.next_hop) {
                    Some(group) => NextHop::Group(group),
                    None => NextHop::Via { port: a.port, gateway: self.adjacencies.gateway(entry.next_hop) },
                },
                None => NextHop::Discard,
            },
        };
        Nhlfe {
            push: push.unwrap_or_default(),
            next_hop,
            ttl: entry.ttl(),
            tc: entry.tc_source(&self.contexts),
        }
    }
}
