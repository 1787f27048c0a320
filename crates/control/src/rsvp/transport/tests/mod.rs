//! Two transports with a channel between them that loses, doubles and delays.

mod hello;
mod integrity;
mod plain;
mod property;
mod reduction;

use super::*;
use crate::protocol::{IpArrival, Over};
use base::{PortId, Span, Streams, Time};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use wire::rsvp::{
    Common, ErrorSpec, LabelRequest, Message, Path, PathErr, PathTear, RsvpHop, SenderDescriptor,
    SenderTemplate, SenderTspec, Session, TimeValues, TokenBucket,
};

pub(crate) const PORT: PortId = PortId(1);

pub(crate) fn address(side: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, side as u8 + 1)
}

/// The neighbour of `side`.
pub(crate) fn neighbor(side: usize) -> Neighbor {
    Neighbor { port: PORT, address: address(1 - side) }
}

pub(crate) fn session(tunnel_id: u16) -> Session {
    Session::LspTunnelIpv4 {
        end_point: Ipv4Addr::new(10, 9, 9, 9),
        tunnel_id,
        extended_tunnel_id: Ipv4Addr::new(10, 8, 8, 8),
    }
}

pub(crate) fn sender() -> SenderTemplate {
    SenderTemplate::LspTunnelIpv4 { sender: Ipv4Addr::new(10, 8, 8, 8), lsp_id: 1 }
}

/// A Path from `side`; `version` is what it says.
pub(crate) fn path(side: usize, tunnel_id: u16, version: u32) -> Message {
    Message::Path(Path {
        common: Common::default(),
        session: session(tunnel_id),
        hop: RsvpHop { address: address(side).into(), lih: 1 },
        time_values: TimeValues { refresh_ms: version },
        ero: None,
        label_request: Some(LabelRequest::ipv4()),
        session_attribute: None,
        diffserv: None,
        policy_data: Vec::new(),
        sender_template: sender(),
        sender_tspec: SenderTspec(TokenBucket::constant(1e6, 1500)),
        adspec: None,
        rro: None,
    })
}

pub(crate) fn path_tear(side: usize, tunnel_id: u16) -> Message {
    Message::PathTear(PathTear {
        common: Common::default(),
        session: session(tunnel_id),
        hop: RsvpHop { address: address(side).into(), lih: 1 },
        sender: Some(SenderDescriptor::of(sender())),
    })
}

/// A PathErr of `side` about tunnel 5.
pub(crate) fn path_err(side: usize, code: u8, value: u16) -> Message {
    Message::PathErr(PathErr {
        common: Common::default(),
        session: session(5),
        error_spec: ErrorSpec { node: address(side).into(), flags: 0, code, value },
        policy_data: Vec::new(),
        sender: Some(SenderDescriptor::of(sender())),
        ero: None,
    })
}

/// End to end, as Path and PathTear are addressed.
pub(crate) fn end_to_end() -> Envelope {
    Envelope { src: Ipv4Addr::new(10, 8, 8, 8), dst: Ipv4Addr::new(10, 9, 9, 9), ttl: 63, router_alert: true }
}

/// How a message with this IP header arrives.
pub(crate) fn arrived(envelope: Envelope) -> IpArrival {
    let Envelope { src, dst, ttl, router_alert } = envelope;
    IpArrival { port: PORT, src, dst, ttl, router_alert, over: Over::Ip(46) }
}

/// From `side` to its neighbour.
pub(crate) fn hop_by_hop(side: usize) -> Envelope {
    Envelope { src: address(side), dst: address(1 - side), ttl: 255, router_alert: false }
}

pub(crate) fn config(side: usize, seed: u64) -> Config {
    Config {
        interfaces: vec![Interface { port: PORT, address: address(side) }],
        ..Config::plain(address(side), Streams::new(seed).stream(&format!("side {side}")))
    }
}

/// Both sides as `change` makes them, refresh reduction on and known to each other.
pub(crate) fn reduced(change: impl Fn(usize, &mut Config)) -> [Transport; 2] {
    [0, 1].map(|side| {
        let mut config = config(side, 7);
        config.refresh_reduction = Some(RefreshReduction {
            assume_capable: true,
            bundle_delay: None,
            ..RefreshReduction::default()
        });
        change(side, &mut config);
        Transport::new(config)
    })
}

/// What becomes of a datagram: for each copy that arrives, how long it takes.
pub(crate) type Fate<'a> = dyn FnMut(usize, &Datagram) -> Vec<Span> + 'a;

/// One millisecond, for everything.
pub(crate) fn perfect(_: usize, _: &Datagram) -> Vec<Span> {
    vec![Span::from_ms(1)]
}

/// The state that one side advertises and the other holds, as an LSP layer would see it.
#[derive(Default)]
pub(crate) struct Layer {
    /// What was received, by tunnel id: the version, and how often it was set.
    pub(crate) held: BTreeMap<u16, (u32, u32)>,
    pub(crate) tears: u32,
    pub(crate) refreshed: BTreeMap<u32, u32>,
    pub(crate) events: Vec<(Time, Incoming)>,
}

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) sides: [Transport; 2],
    pub(crate) layers: [Layer; 2],
    flight: BTreeMap<(Time, u64), (usize, Datagram)>,
    order: u64,
    /// All that was sent, with the time and the side that sent it.
    pub(crate) sent: Vec<(Time, usize, Datagram)>,
}

impl Pair {
    pub(crate) fn new(sides: [Transport; 2]) -> Pair {
        Pair {
            now: Time::ZERO,
            sides,
            layers: Default::default(),
            flight: BTreeMap::new(),
            order: 0,
            sent: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, side: usize, message: &mut Message, delivery: Delivery) {
        let envelope = match message {
            Message::Path(_) | Message::PathTear(_) => end_to_end(),
            _ => hop_by_hop(side),
        };
        self.sides[side].send(self.now, neighbor(side), envelope, message, delivery);
    }

    pub(crate) fn trigger(&mut self, side: usize, tunnel_id: u16, version: u32) {
        let delivery = Delivery::Trigger(Handle(tunnel_id.into()));
        self.send(side, &mut path(side, tunnel_id, version), delivery);
    }

    pub(crate) fn tear(&mut self, side: usize, tunnel_id: u16) {
        self.send(side, &mut path_tear(side, tunnel_id), Delivery::Reliable);
        self.sides[side].forget(Handle(tunnel_id.into()));
    }

    /// Refreshes as an LSP layer does: in full, if a summary can't.
    pub(crate) fn refresh(&mut self, side: usize, tunnel_id: u16, version: u32) -> bool {
        let handle = Handle(tunnel_id.into());
        let covered = self.sides[side].refresh(self.now, neighbor(side), handle);
        if !covered {
            self.send(side, &mut path(side, tunnel_id, version), Delivery::Refresh(handle));
        }
        covered
    }

    /// Lets time pass until `until`, or until nothing is left to do.
    pub(crate) fn run(&mut self, until: Time, fate: &mut Fate<'_>) {
        loop {
            for side in 0..2 {
                while let Some(datagram) = self.sides[side].poll_output() {
                    for delay in fate(side, &datagram) {
                        self.order += 1;
                        self.flight.insert((self.now + delay, self.order), (1 - side, datagram.clone()));
                    }
                    self.sent.push((self.now, side, datagram));
                }
            }
            let arrival = self.flight.keys().next().map(|key| key.0);
            let timers = self.sides.iter().filter_map(Transport::poll_timeout);
            let Some(next) = timers.chain(arrival).min().filter(|next| *next <= until) else { break };
            self.now = self.now.max(next);
            let mut out = [Vec::new(), Vec::new()];
            if arrival == Some(next) {
                if let Some((_, (side, datagram))) = self.flight.pop_first() {
                    self.sides[side].receive(
                        self.now,
                        &arrived(datagram.envelope),
                        &datagram.bytes,
                        &mut out[side],
                    );
                }
            } else {
                for (side, out) in self.sides.iter_mut().zip(&mut out) {
                    side.handle_timeout(self.now, out);
                }
            }
            for (side, out) in out.into_iter().enumerate() {
                for incoming in out {
                    self.take(side, incoming);
                }
            }
        }
        self.now = self.now.max(until);
    }

    fn take(&mut self, side: usize, incoming: Incoming) {
        let (transport, layer) = (&mut self.sides[side], &mut self.layers[side]);
        layer.events.push((self.now, incoming.clone()));
        match incoming {
            Incoming::Message(Arrival { id, .. }, message) => match *message {
                Message::Path(Path {
                    session: Session::LspTunnelIpv4 { tunnel_id, .. },
                    time_values,
                    ..
                }) => {
                    let handle = Handle(tunnel_id.into());
                    if id.is_some_and(|id| transport.out_of_order(id, handle)) {
                        return;
                    }
                    let state = layer.held.entry(tunnel_id).or_default();
                    *state = (time_values.refresh_ms, state.1 + 1);
                    if let Some(id) = id {
                        transport.bind(id, handle);
                    }
                }
                Message::PathTear(PathTear { session: Session::LspTunnelIpv4 { tunnel_id, .. }, .. }) => {
                    let handle = Handle(tunnel_id.into());
                    if id.is_some_and(|id| transport.out_of_order(id, handle)) {
                        return;
                    }
                    layer.tears += 1;
                    layer.held.remove(&tunnel_id);
                    transport.retire(handle);
                }
                _ => {}
            },
            Incoming::Refreshed(handle) => *layer.refreshed.entry(handle.0).or_default() += 1,
            _ => {}
        }
    }

    /// Events of `side` that `select` picks, with their times.
    pub(crate) fn events<T>(&self, side: usize, select: impl Fn(&Incoming) -> Option<T>) -> Vec<(Time, T)> {
        self.layers[side].events.iter().filter_map(|(at, event)| select(event).map(|e| (*at, e))).collect()
    }
}

pub(crate) const fn ms(ms: u64) -> Time {
    Time(ms * 1_000_000_000)
}
