//! Tables of what a network holds and what happened in it: which there are, and how they are asked for.

mod atm;
pub(crate) mod controllers;
mod counted;
mod next_hops;
mod rib;
mod router;
mod tcp;
mod whole;

pub(crate) use router::hop;

use crate::deciding::PathRow;
use crate::error::NetworkError;
use crate::problem::RunProblem;
use crate::te_paths::TePathRow;
use crate::{Network, actions, conditioners, live, queues, rerouting, signals};
use base::diagnostic::Diagnostic;
use base::table::{Row, Table, TableDecl, View};
use base::{EventName, NodeId, ProtocolId, Time};
use control::Protocol;
use core::any::Any;
use node::Router;

base::table! {
    /// The last lines that the process of a router said on standard error.
    pub struct LogRow<'a> in "log" key [] {
        /// When it was said.
        time_s: Time = "s",
        /// The line, without the name of the node.
        text: &'a str,
    }
}

/// Of what a table can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of one router, which has to be named.
    Router,
    /// Of one router or host.
    Device,
    /// Of the whole network, or of one router or host.
    Either,
    /// Of the whole network; a router, host or switch that is named changes nothing.
    Network,
    /// Of a router that runs as a process of its own, by which it is made.
    Process,
    /// Of a packet that is described.
    Packet,
}

/// How a table is made: of one node where it is asked of one.
pub type Make<T> = fn(&mut T, Option<usize>) -> Result<Table, NetworkError>;

/// A table of a `T`: what is declared of it, and how it is made.
pub struct TableEntry<T> {
    /// What users are told of its columns.
    pub decl: &'static TableDecl,
    /// Of what it can be asked for.
    pub scope: Scope,
    /// How it is made.
    pub make: Make<T>,
}

/// Which rows of a table are asked for, so that the others need not be made.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Those of one group of LSPs or of one flow, by its place; of all if absent.
    pub of: Option<usize>,
    /// What happened at this time or later; from the beginning if absent.
    pub from: Option<Time>,
    /// What happened before this time; to the end if absent.
    pub until: Option<Time>,
    /// What this node told, by its place; what all told if absent.
    pub node: Option<usize>,
    /// What was told by this name; by any if absent.
    pub event: Option<EventName>,
}

impl<T> TableEntry<T> {
    /// A table whose rows are `R`s.
    pub const fn new<R: Row>(scope: Scope, make: Make<T>) -> TableEntry<T> {
        TableEntry { decl: R::DECL, scope, make }
    }

    fn takes(&self, node: Option<usize>) -> bool {
        match self.scope {
            Scope::Process | Scope::Packet => false,
            Scope::Router | Scope::Device => node.is_some(),
            Scope::Either | Scope::Network => true,
        }
    }
}

const fn entry<R: Row>(scope: Scope, make: Make<Network>) -> TableEntry<Network> {
    TableEntry::new::<R>(scope, make)
}

/// How a table is made that is of one node or of all, and never refused.
macro_rules! made {
    ($make:expr) => {
        |network, only| Ok($make(network, only))
    };
}

/// Every table, a line for each. Where two have one name, the first that takes what is asked for is meant.
pub static TABLES: &[TableEntry<Network>] = &[
    entry::<router::LspRow>(Scope::Router, made!(router::lsps)),
    entry::<whole::LspGroupRow>(Scope::Network, |network, _| Ok(network.lsp_groups(None))),
    entry::<router::TunnelRow>(Scope::Router, made!(router::tunnels)),
    entry::<router::IlmRow>(Scope::Router, made!(router::ilm)),
    entry::<router::FtnRow>(Scope::Router, made!(router::ftn)),
    entry::<router::FibRow>(Scope::Router, made!(router::fib)),
    entry::<next_hops::NextHopRow>(Scope::Router, made!(next_hops::next_hops)),
    entry::<next_hops::ReplicationRow>(Scope::Router, made!(next_hops::replications)),
    entry::<rib::RibRow>(Scope::Either, made!(rib::rib)),
    entry::<router::NeighborRow>(Scope::Device, made!(router::neighbors)),
    entry::<router::CounterRow>(Scope::Router, made!(router::counters)),
    entry::<router::BandwidthRow>(Scope::Router, made!(router::bandwidth)),
    entry::<router::DropRow>(Scope::Either, made!(router::drops)),
    entry::<counted::BalanceRow>(Scope::Network, made!(counted::balance)),
    entry::<counted::WriteRow>(Scope::Network, made!(counted::writes)),
    entry::<counted::UnheardRow>(Scope::Network, made!(counted::unheard)),
    entry::<atm::AtmPortRow>(Scope::Network, made!(atm::ports)),
    entry::<atm::AtmChannelRow>(Scope::Network, made!(atm::channels)),
    entry::<atm::AtmPathRow>(Scope::Network, made!(atm::paths)),
    entry::<atm::AtmEndRow>(Scope::Network, made!(atm::ends)),
    entry::<tcp::TcpRow>(Scope::Either, made!(tcp::connections)),
    entry::<controllers::ControllerRow>(Scope::Either, made!(controllers::controllers)),
    entry::<queues::QueueTableRow>(Scope::Either, |network, only| network.queues(only)),
    entry::<queues::QueueSeriesRow>(Scope::Either, |network, only| network.queue_series(only)),
    entry::<counted::TreeRow>(Scope::Either, made!(counted::trees)),
    entry::<conditioners::ConditionerTableRow>(Scope::Either, made!(Network::conditioners)),
    entry::<whole::PortTableRow>(Scope::Network, |network, _| network.port_table()),
    entry::<counted::DirectionRow>(Scope::Network, |network, _| counted::directions(network)),
    entry::<live::InterfaceRow>(Scope::Network, |network, _| Ok(network.interfaces())),
    entry::<live::LatenessRow>(Scope::Network, |network, _| Ok(network.lateness())),
    entry::<whole::ProcessorRow>(Scope::Network, |network, _| Ok(network.processors())),
    entry::<whole::StateRow>(Scope::Network, |network, _| Ok(network.state())),
    entry::<whole::MessageRow>(Scope::Network, |network, _| Ok(network.messages())),
    entry::<signals::SignalRow>(Scope::Network, made!(signals::table)),
    entry::<whole::EventRow>(Scope::Network, |network, _| Ok(network.event_table(&Part::default()))),
    entry::<actions::ActionRow>(Scope::Network, |network, _| Ok(network.action_table())),
    entry::<rerouting::ComputedRow>(Scope::Network, |network, _| Ok(network.computed_routes())),
    entry::<PathRow>(Scope::Packet, |_, _| Ok(Table::empty(PathRow::DECL))),
    entry::<TePathRow>(Scope::Packet, |_, _| Ok(Table::empty(TePathRow::DECL))),
    entry::<LogRow>(Scope::Process, |_, _| Ok(Table::empty(LogRow::DECL))),
];

/// What is declared of every table of a network, and of what it can be asked for; those of protocols and drivers come
/// last.
pub fn declared() -> impl Iterator<Item = (Scope, &'static TableDecl)> {
    let own = TABLES.iter().map(|entry| (entry.scope, entry.decl));
    own.chain(views().map(|(_, view)| (Scope::Either, view.decl)))
        .chain(driver_views().map(|view| (Scope::Either, view.decl)))
}

/// The tables of protocols, each with its protocol.
fn views() -> impl Iterator<Item = (ProtocolId, &'static View)> {
    control::PROTOCOLS.iter().flat_map(|known| known.views.iter().map(|view| (known.id, view)))
}

/// The tables of drivers.
fn driver_views() -> impl Iterator<Item = &'static View> {
    forwarding::driver::DRIVERS.iter().flat_map(|known| known.views)
}

impl Network {
    /// A table by name: of one node where it needs one, else of all.
    pub fn table(&mut self, name: &str, node: Option<usize>) -> Result<Table, NetworkError> {
        if let Some((protocol, view)) = views().find(|(_, view)| view.decl.name == name) {
            return self.view(view, node, |router| Some(router.control().speaker(protocol)?));
        }
        if let Some(view) = driver_views().find(|view| view.decl.name == name) {
            return self.view(view, node, |router| Some(router.driver()));
        }
        let mut named = TABLES.iter().filter(|entry| entry.decl.name == name);
        let found = named.clone().find(|entry| entry.takes(node));
        if let Some(node) = node {
            let takes_hosts = |scope| matches!(scope, Scope::Device | Scope::Either | Scope::Network);
            let hosts_have = found.is_some_and(|entry| takes_hosts(entry.scope));
            self.check_table(name, node, hosts_have)?;
        }
        let table = name.to_string();
        let problem = match found {
            Some(entry) => return (entry.make)(self, node),
            None if named.clone().any(|entry| entry.scope == Scope::Process) => {
                RunProblem::TableOfProcess { table }
            }
            None if named.clone().any(|entry| entry.scope == Scope::Packet) => {
                RunProblem::TableOfPacket { table }
            }
            None if named.next().is_some() => RunProblem::TableOfWhich { table },
            None => RunProblem::NoTable { table },
        };
        Err(Diagnostic::new(problem).into())
    }

    /// Those rows of a table that are asked for; all of a table that has no such parts.
    pub fn part(&mut self, name: &str, part: &Part) -> Result<Table, NetworkError> {
        match name {
            _ if name == whole::LspGroupRow::DECL.name => Ok(self.lsp_groups(part.of)),
            _ if name == whole::EventRow::DECL.name => Ok(self.event_table(part)),
            _ => self.table(name, None),
        }
    }

    /// A table of what the routers that have it have, such as a protocol: `of` says what that is.
    fn view(
        &self,
        view: &View,
        only: Option<usize>,
        of: impl Fn(&Router) -> Option<&dyn Any>,
    ) -> Result<Table, NetworkError> {
        if let Some(node) = only {
            self.check_table(view.decl.name, node, false)?;
        }
        let mut table = Table::empty(view.decl);
        for (_, node, router) in self.routers(only) {
            if let Some(of) = of(router) {
                view.append(of, node, &mut table);
            }
        }
        Ok(table)
    }

    /// Refuses a table of a node that has none such: of a router, or of a host or switch if `hosts_have` it.
    pub fn check_table(&self, name: &str, node: usize, hosts_have: bool) -> Result<(), NetworkError> {
        self.check_local(node)?;
        let has_it = hosts_have && (self.host(node).is_some() || self.switch(node).is_some());
        if self.router(node).is_none() && !has_it {
            let (table, node) = (name.to_string(), self.node_name(node).to_string());
            return Err(Diagnostic::new(RunProblem::TableOfNone { table, node }).into());
        }
        Ok(())
    }

    /// The same as the control socket gives it: an object of columns, times in picoseconds.
    pub fn table_json(&mut self, name: &str, node: Option<usize>) -> Result<serde_json::Value, NetworkError> {
        json(&self.table(name, node)?)
    }

    /// The node that a table is asked of, or all.
    fn asked(&self, only: Option<usize>) -> impl Iterator<Item = usize> + use<> {
        (0..self.description.nodes.len()).filter(move |node| only.is_none_or(|one| one == *node))
    }

    /// The routers of this process, or the one that a table is asked of: its node, its name, and the router.
    pub(crate) fn routers(&self, only: Option<usize>) -> impl Iterator<Item = (usize, &str, &Router)> {
        self.asked(only).filter_map(|node| Some((node, self.node_name(node), self.router(node)?)))
    }

    /// The same of those that speak a protocol, with the protocol.
    fn speakers<P: Protocol>(&self, only: Option<usize>) -> impl Iterator<Item = (&str, &P)> {
        self.asked(only).filter_map(|node| Some((self.node_name(node), self.protocol(node)?)))
    }

    /// All nodes, as devices of the engine.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.description.nodes.len() as u32).map(NodeId)
    }
}

/// A table as the control socket gives it: an object of columns, times in picoseconds.
pub fn json(table: &Table) -> Result<serde_json::Value, NetworkError> {
    serde_json::to_value(table).map_err(|error| {
        let table = table.decl().name.to_string();
        Diagnostic::new(RunProblem::TableFailed { table, error: error.to_string() }).into()
    })
}
