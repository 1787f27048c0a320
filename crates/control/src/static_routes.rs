//! Static routes that are in force only while their next hop answers: a client of the liveness service that speaks
//! nothing itself (RFC 5882, 4.4 has several of them share a session).

use crate::protocol::{Arrival, Change, Context, Output, Protocol, Setup, Topic, UNKNOWN_KIND};
use crate::services::{Interface, Pace, Services, WatchedPath};
use base::plane::{Ack, Prefix};
use base::{PortId, ProtocolId, ProtocolValue, Time};
use core::net::Ipv4Addr;

/// A static route whose next hop is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedRoute {
    /// Destinations.
    pub prefix: Prefix,
    /// The port that the next hop is behind.
    pub port: PortId,
    /// Its address.
    pub gateway: Ipv4Addr,
    /// How closely it is watched.
    pub pace: Pace,
}

/// The static routes of a node whose next hops are watched.
#[derive(Clone, Debug, Default)]
pub struct StaticRoutes {
    routes: Vec<WatchedRoute>,
    has_begun: bool,
}

impl StaticRoutes {
    /// By this name it asks for paths to be watched.
    pub const ID: ProtocolId = ProtocolId::new("static");

    /// Those of these routes.
    pub fn new(routes: Vec<WatchedRoute>) -> StaticRoutes {
        StaticRoutes { routes, has_begun: false }
    }
}

impl WatchedRoute {
    fn path(&self, services: &Services) -> Option<WatchedPath> {
        let (local, _) = services.interfaces.of_port(self.port).and_then(Interface::ipv4)?;
        Some(WatchedPath::hop(self.port, local, self.gateway))
    }
}

impl Setup for StaticRoutes {
    fn protocol(&self, _: &Services) -> Box<dyn Protocol> {
        Box::new(StaticRoutes::new(self.routes.clone()))
    }

    fn watches(&self) -> bool {
        !self.routes.is_empty()
    }
}

impl Protocol for StaticRoutes {
    fn id(&self) -> ProtocolId {
        StaticRoutes::ID
    }

    fn listens(&self) -> Vec<crate::protocol::Listen> {
        Vec::new()
    }

    fn subscribes(&self) -> Vec<Topic> {
        vec![Topic::Liveness]
    }

    fn speaks_on(&self, _: PortId) -> bool {
        false
    }

    fn kind_of(&self, _: &[u8]) -> u8 {
        0
    }

    fn kind_name(&self, _: u8) -> &'static str {
        UNKNOWN_KIND
    }

    fn state_count(&self) -> usize {
        self.routes.len()
    }

    fn handle_message(&mut self, _: Time, _: &mut Context<'_>, _: &Arrival, _: &[u8]) {}

    fn handle_timeout(&mut self, _: Time, context: &mut Context<'_>) {
        if core::mem::replace(&mut self.has_begun, true) {
            return;
        }
        for route in &self.routes {
            if let Some(path) = route.path(context.services) {
                context.services.liveness.watch(StaticRoutes::ID, path, route.pace);
            }
        }
    }

    fn handle_command(&mut self, _: Time, _: &mut Context<'_>, _: &ProtocolValue) -> bool {
        false
    }

    fn handle_ack(&mut self, _: Time, _: &mut Context<'_>, _: &Ack) {}

    fn handle_change(&mut self, _: Time, context: &mut Context<'_>, change: &Change) {
        match *change {
            Change::Liveness { path, is_alive } => {
                let own = self.routes.iter().filter(|route| route.path(context.services) == Some(path));
                for route in own.collect::<Vec<_>>() {
                    context.services.rib.suspend(route.prefix, !is_alive);
                }
            }
            Change::Restart => {
                self.has_begun = false;
                self.routes.iter().for_each(|route| context.services.rib.suspend(route.prefix, false));
            }
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        (!self.has_begun).then_some(Time::ZERO)
    }
}
