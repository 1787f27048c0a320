//! Tables of what a network holds and what happened in it: which there are, and how they are asked for.

use super::counter_tables as counted;
use super::error::{NetworkError, input};
use super::network_tables as whole;
use super::router_tables as router;
use super::{Network, conditioners, live, queues, signals};
use base::table::{Row, Table, TableDecl};
use base::{NodeId, Time};

base::table! {
    /// The last lines that the process of a router said on standard error.
    pub struct LogRow<'a> in "log" key [] {
        /// When.
        time_s: Time = "s",
        /// What it said.
        text: &'a str,
    }
}

/// Of what a table can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Of one router.
    Router,
    /// Of one router or host.
    Device,
    /// Of the whole network, or of one router or host.
    Either,
    /// Of the whole network; a router that is named changes nothing.
    Network,
    /// Of a router that runs as a process of its own, by which it is made.
    Process,
}

/// How a table is made: of one node where it is asked of one.
pub type Make<T> = fn(&mut T, Option<usize>) -> Result<Table, NetworkError>;

/// A table of a `T`: what is declared of it, and how it is made.
pub struct TableEntry<T> {
    /// The declaration.
    pub decl: &'static TableDecl,
    /// Of what it can be asked for.
    pub scope: Scope,
    /// How it is made.
    pub make: Make<T>,
}

impl<T> TableEntry<T> {
    /// A table whose rows are `R`s.
    pub const fn new<R: Row>(scope: Scope, make: Make<T>) -> TableEntry<T> {
        TableEntry { decl: R::DECL, scope, make }
    }

    fn takes(&self, node: Option<usize>) -> bool {
        match self.scope {
            Scope::Process => false,
            Scope::Router | Scope::Device => node.is_some(),
            Scope::Either | Scope::Network => true,
        }
    }
}

const fn of_router<R: Row>(make: Make<Network>) -> TableEntry<Network> {
    TableEntry::new::<R>(Scope::Router, make)
}

const fn entry<R: Row>(scope: Scope, make: Make<Network>) -> TableEntry<Network> {
    TableEntry::new::<R>(scope, make)
}

/// Makes a table of one router; without one there is nothing to make.
macro_rules! one {
    ($method:ident) => {
        |network, node| Ok(network.$method(node.unwrap_or_default()))
    };
}

/// Every table. Where two have one name, the first that takes what is asked for is meant.
pub static TABLES: &[TableEntry<Network>] = &[
    of_router::<router::LspRow>(one!(lsp_states)),
    entry::<whole::LspGroupRow>(Scope::Network, |network, _| Ok(network.lsp_groups())),
    of_router::<router::TunnelRow>(one!(tunnels)),
    of_router::<router::IlmRow>(one!(ilm)),
    of_router::<router::FtnRow>(one!(ftn)),
    of_router::<router::FibRow>(one!(fib)),
    entry::<router::NeighborRow>(Scope::Device, one!(neighbors)),
    of_router::<router::CounterRow>(one!(counters)),
    of_router::<router::BandwidthRow>(one!(bandwidth)),
    entry::<router::DropRow>(Scope::Either, |network, node| Ok(network.drops(node))),
    entry::<counted::BalanceRow>(Scope::Network, |network, node| Ok(counted::balance(network, node))),
    entry::<counted::RsvpRow>(Scope::Network, |network, node| Ok(counted::rsvp(network, node))),
    entry::<counted::RsvpErrorRow>(Scope::Network, |network, node| Ok(counted::rsvp_errors(network, node))),
    entry::<counted::TransportRow>(Scope::Network, |network, node| Ok(counted::transport(network, node))),
    entry::<counted::RsvpStateRow>(Scope::Network, |network, node| Ok(counted::rsvp_state(network, node))),
    entry::<queues::QueueTableRow>(Scope::Either, |network, node| network.queues(node)),
    entry::<queues::QueueSeriesRow>(Scope::Either, |network, node| network.queue_series(node)),
    entry::<counted::TreeRow>(Scope::Either, |network, node| Ok(counted::trees(network, node))),
    entry::<conditioners::ConditionerTableRow>(Scope::Either, |network, node| Ok(network.conditioners(node))),
    entry::<whole::PortTableRow>(Scope::Network, |network, _| network.ports()),
    entry::<counted::DirectionRow>(Scope::Network, |network, _| counted::directions(network)),
    entry::<live::InterfaceRow>(Scope::Network, |network, _| Ok(network.interfaces())),
    entry::<live::LatenessRow>(Scope::Network, |network, _| Ok(network.lateness())),
    entry::<whole::ProcessorRow>(Scope::Network, |network, _| Ok(network.processors())),
    entry::<whole::StateRow>(Scope::Network, |network, _| Ok(network.state())),
    entry::<whole::MessageRow>(Scope::Network, |network, _| Ok(network.messages())),
    entry::<signals::SignalRow>(Scope::Network, |network, node| Ok(signals::table(network, node))),
    entry::<whole::EventRow>(Scope::Network, |network, _| Ok(network.event_table())),
    entry::<LogRow>(Scope::Process, |_, _| Ok(Table::empty(LogRow::DECL))),
];

impl Network {
    /// A table by name: of one node where it needs one, else of all.
    pub fn table(&mut self, name: &str, node: Option<usize>) -> Result<Table, NetworkError> {
        let mut named = TABLES.iter().filter(|entry| entry.decl.name == name);
        let found = named.clone().find(|entry| entry.takes(node));
        if let Some(node) = node {
            let hosts_have = found.is_some_and(|entry| matches!(entry.scope, Scope::Device | Scope::Either));
            self.check_table(name, node, hosts_have)?;
        }
        match found {
            Some(entry) => (entry.make)(self, node),
            None if named.clone().any(|entry| entry.scope == Scope::Process) => {
                input(format!("table '{name}': only a router that runs as a process of its own has it"))
            }
            None if named.next().is_some() => input(format!("table '{name}': of which node?")),
            None => input(format!("table '{name}': there is none of that name")),
        }
    }

    /// Refuses a table of a node that has none such: of a router, or of a host if `hosts_have` it.
    pub fn check_table(&self, name: &str, node: usize, hosts_have: bool) -> Result<(), NetworkError> {
        self.check_local(node, &format!("table '{name}'"))?;
        if self.router(node).is_none() && !(hosts_have && self.host(node).is_some()) {
            return input(format!("table '{name}': '{}' is no router and has none", self.node_name(node)));
        }
        Ok(())
    }

    /// The same as the control socket gives it: an object of columns, times in picoseconds.
    pub fn table_json(&mut self, name: &str, node: Option<usize>) -> Result<serde_json::Value, NetworkError> {
        json(&self.table(name, node)?)
    }

    /// All nodes, as devices of the engine.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.description.nodes.len() as u32).map(NodeId)
    }
}

/// A table as the control socket gives it: an object of columns, times in picoseconds.
pub fn json(table: &Table) -> Result<serde_json::Value, NetworkError> {
    let name = table.decl().name;
    serde_json::to_value(table).map_err(|error| NetworkError::Run(format!("table '{name}': {error}")))
}
