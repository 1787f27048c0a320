//! Tunnels as the rest of a network sees them, whatever signals them.

use base::{Event, Label};
use control::rsvp;
use control::rsvp::command::TunnelId;
use core::net::Ipv4Addr;
use node::Router;

/// Identifies a tunnel among those that begin at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TunnelKey(TunnelId);

impl From<TunnelId> for TunnelKey {
    fn from(id: TunnelId) -> TunnelKey {
        TunnelKey(id)
    }
}

/// What a head end told of one of its tunnels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunnelChange {
    /// It has an LSP that carries traffic, and had none before.
    Up,
    /// It has none any more.
    Down,
    /// Its traffic moved to another LSP without being interrupted.
    Moved,
    /// An attempt to set an LSP up failed: nothing changed.
    Refused,
    /// Its standby is there, or not: its traffic is where it was.
    Standby,
}

/// Which tunnel an event is about, and what it says of it; nothing if it is about none.
pub fn change(event: &Event) -> Option<(TunnelKey, TunnelChange)> {
    let (tunnel, change) = match event.of::<rsvp::Event>()? {
        rsvp::Event::LspUp { tunnel, .. } => (tunnel, TunnelChange::Up),
        rsvp::Event::LspDown { tunnel, .. } => (tunnel, TunnelChange::Down),
        rsvp::Event::LspRerouted { tunnel, .. } => (tunnel, TunnelChange::Moved),
        rsvp::Event::LspError { tunnel, .. } | rsvp::Event::LspNoPath { tunnel, .. } => {
            (tunnel, TunnelChange::Refused)
        }
        rsvp::Event::LspStandbyUp { tunnel, .. }
        | rsvp::Event::LspStandbyDown { tunnel, .. }
        | rsvp::Event::LspStandbyNoPath { tunnel, .. } => (tunnel, TunnelChange::Standby),
        // The traffic flows, by another way. Of a tunnel that ends here its head end tells the rest.
        rsvp::Event::LspSelected { .. }
        | rsvp::Event::LspRepaired { .. }
        | rsvp::Event::LspsDiverted { .. }
        | rsvp::Event::LeafUp { .. }
        | rsvp::Event::LeafDown { .. }
        | rsvp::Event::LeafError { .. }
        | rsvp::Event::TreeRerouted { .. }
        | rsvp::Event::TreeStays { .. } => return None,
        rsvp::Event::NeighborUp { .. } | rsvp::Event::NeighborDown { .. } => return None,
    };
    Some((TunnelKey(*tunnel), change))
}

/// Did `tail` give `label`, and has it bound it, for an LSP of this tunnel from the head end with router id `from`?
pub fn has_label(tail: &Router, from: Ipv4Addr, tunnel: TunnelKey, label: Label) -> bool {
    let rsvp = tail.control().protocol::<rsvp::Rsvp>();
    tail.forwarding().is_local(label) && rsvp.is_some_and(|rsvp| rsvp.has_label(from, tunnel.0, label))
}
