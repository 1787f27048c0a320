//! Connections of switches to their controllers.

use crate::Network;
use crate::kind::switch::ControllerSpec;
use base::table::{Rows, Table};
use control::openflow::ChannelState;
use node::Switch;
use node::switch::{ConnectionView, FIRST_INCOMING, Role};
use wire::openflow::Version;

base::table! {
    /// Connections of each switch to its controllers, also those that it tries in vain to set up.
    pub struct ControllerRow<'a> in "controllers" key ["node", "controller"]
    of (node: &'a str, switch: &Switch) from view: ConnectionView {
        /// The switch.
        node: &'a str => node,
        /// The controller that it connects to, such as `tcp:10.9.0.2:6633`; `incoming-1` and so on are those that came.
        controller: String => name(switch, view.connection),
        /// `waiting` (for the next attempt), `connecting`, `greeting` (both ends say their versions), `up`, or
        /// `probing` (it is silent, and was asked whether it is there). Where somebody was turned away, such as
        /// `pssl:6653`, it is `listening`.
        state: &'static str => match view.state {
            ChannelState::Waiting => "waiting",
            ChannelState::Connecting => "connecting",
            ChannelState::Greeting => "greeting",
            ChannelState::Up => "up",
            ChannelState::Probing => "probing",
        },
        /// The version that both speak; absent before that is known.
        version: Option<&'static str> => view.version.map(Version::name),
        /// `equal`, `master` or `slave`.
        role: &'static str => match view.role {
            Role::Master => "master",
            Role::Slave => "slave",
            Role::Equal | Role::NoChange => "equal",
        },
        /// Attempts to connect since it was there for the last time; at a place that listens, how many were turned
        /// away.
        attempts: u32 => view.attempts,
        /// Why the last attempt failed, or the connection ended; absent if there is one, or nobody knows. At a place
        /// that listens, who was turned away last, and why.
        why: Option<String> => view.why,
    }
}

/// What people call the other end of a connection.
pub fn name(switch: &Switch, connection: u32) -> String {
    match connection.checked_sub(FIRST_INCOMING) {
        Some(place) => format!("incoming-{}", place + 1),
        None => {
            let known = switch.config().controllers.get(connection as usize);
            known.map_or_else(String::new, |known| ControllerSpec(*known).to_string())
        }
    }
}

pub fn controllers(network: &Network, only: Option<usize>) -> Table {
    let mut table = Rows::new();
    for node in 0..network.description().nodes.len() {
        let Some(switch) = network.switch(node).filter(|_| only.is_none_or(|only| only == node)) else {
            continue;
        };
        for view in switch.connections() {
            table.push(ControllerRow::of(network.node_name(node), switch, view));
        }
        for (listener, refused) in switch.refused_connections() {
            let (from, why) = &refused.last;
            table.push(ControllerRow {
                node: network.node_name(node),
                controller: name(switch, listener),
                state: "listening",
                version: None,
                role: "equal",
                attempts: u32::try_from(refused.count).unwrap_or(u32::MAX),
                why: Some(format!("{from}: {why}")),
            });
        }
    }
    table.finish()
}
