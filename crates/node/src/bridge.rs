//! A bridge between links: a shared segment, made of point-to-point links (IEEE 802.1D-2004, clause 7).
//!
//! It learns from the source of each frame by which port a station is (7.8), keeps that for a while (7.9.2), and sends
//! a frame for a station by that port alone, and every other frame by all ports but the one it came by (7.7). There is
//! no spanning tree: bridges are not to be connected in a ring. The table is bounded; a station that finds no room in
//! it gets its frames by flooding.

use base::device::{DropCounters, DropReason};
use base::{Command, Device, Event, Frame, MacAddr, Output, PortId, Span, Time, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// How long a bridge remembers a station that is silent, if nobody says otherwise (IEEE 802.1D-2004, table 7-5).
pub const AGEING: Span = Span::from_secs(300);
/// Stations that a bridge remembers at most.
const STATIONS_MAX: usize = 16_384;

/// How a bridge is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeConfig {
    /// How many ports it has.
    pub ports: u16,
    /// How long it remembers a station that is silent.
    pub ageing: Span,
}

/// By which port a station was heard last, and when.
#[derive(Clone, Copy, Debug)]
struct Heard {
    port: PortId,
    at: Time,
}

/// A bridge.
#[derive(Debug)]
pub struct Bridge {
    config: BridgeConfig,
    stations: BTreeMap<MacAddr, Heard>,
    up: Vec<bool>,
    outputs: VecDeque<Output>,
    drops: DropCounters,
    flooded: u64,
}

/// What becomes of a frame.
enum Way {
    To(PortId),
    Everywhere,
    Nowhere(DropReason),
}

impl Bridge {
    /// A bridge that has heard nobody, and whose ports are up.
    pub fn new(config: BridgeConfig) -> Bridge {
        Bridge {
            stations: BTreeMap::new(),
            up: vec![true; usize::from(config.ports)],
            outputs: VecDeque::new(),
            drops: DropCounters::default(),
            flooded: 0,
            config,
        }
    }

    /// How it was set up.
    pub fn config(&self) -> BridgeConfig {
        self.config
    }

    /// Stations that were heard lately, in the order of their addresses: by which port, and when last.
    pub fn stations(&self, now: Time) -> impl Iterator<Item = (MacAddr, PortId, Time)> {
        let all = self.stations.iter().filter(move |(_, heard)| self.is_fresh(heard, now));
        all.map(|(&address, heard)| (address, heard.port, heard.at))
    }

    /// Frames discarded, by reason.
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// Frames that were sent by all ports but one.
    pub fn flooded(&self) -> u64 {
        self.flooded
    }

    fn is_fresh(&self, heard: &Heard, now: Time) -> bool {
        now < heard.at + self.config.ageing
    }

    /// Notes by which port a station is. What stands for a group is no station (7.8).
    fn learn(&mut self, now: Time, port: PortId, source: MacAddr) {
        if source.is_group() {
            return;
        }
        if self.stations.len() >= STATIONS_MAX && !self.stations.contains_key(&source) {
            let ageing = self.config.ageing;
            self.stations.retain(|_, heard| now < heard.at + ageing);
            if self.stations.len() >= STATIONS_MAX {
                return;
            }
        }
        self.stations.insert(source, Heard { port, at: now });
    }

    fn way(&self, now: Time, port: PortId, destination: MacAddr) -> Way {
        if is_reserved(destination) {
            return Way::Nowhere(DropReason::Filtered);
        }
        match self.stations.get(&destination).filter(|heard| self.is_fresh(heard, now)) {
            Some(heard) if heard.port == port => Way::Nowhere(DropReason::Filtered),
            Some(heard) if self.is_up(heard.port) => Way::To(heard.port),
            _ => Way::Everywhere,
        }
    }

    fn is_up(&self, port: PortId) -> bool {
        self.up.get(port.index()) == Some(&true)
    }

    fn port_changed(&mut self, port: PortId, up: bool) {
        let Some(state) = self.up.get_mut(port.index()) else { return };
        if core::mem::replace(state, up) == up {
            return;
        }
        // Whoever was beyond it may be somewhere else now.
        self.stations.retain(|_, heard| heard.port != port);
        let port = port.0;
        self.outputs.push_back(Output::Event(if up {
            Event::PortUp { port }
        } else {
            Event::PortDown { port }
        }));
    }
}

/// Is it one of the addresses of protocols between the two ends of a link, which no bridge passes on (7.12.6)?
fn is_reserved(destination: MacAddr) -> bool {
    matches!(destination.0, [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f])
}

/// Destination and source of a frame.
fn addresses(frame: &Frame) -> Option<(MacAddr, MacAddr)> {
    let (destination, rest) = frame.header().split_first_chunk()?;
    Some((MacAddr(*destination), MacAddr(*rest.first_chunk()?)))
}

impl Device for Bridge {
    fn forward_batch(&mut self, now: Time, port: PortId, frames: &mut [Frame], verdicts: &mut [Verdict]) {
        for (frame, verdict) in frames.iter().zip(verdicts) {
            let way = match addresses(frame) {
                Some((destination, source)) => {
                    self.learn(now, port, source);
                    self.way(now, port, destination)
                }
                None => Way::Nowhere(DropReason::Truncated),
            };
            *verdict = match way {
                Way::To(port) => Verdict::Transmit { port, ready: now },
                Way::Everywhere => Verdict::Replicate,
                Way::Nowhere(reason) => {
                    self.drops.count(reason);
                    Verdict::Drop(reason)
                }
            };
        }
    }

    fn handle_packet(&mut self, now: Time, port: PortId, frame: Frame) {
        self.flooded += 1;
        let others = (0..self.config.ports).map(PortId).filter(|&other| other != port && self.is_up(other));
        let copies: Vec<Output> =
            others.map(|port| Output::Transmit { port, frame: frame.clone(), ready: now }).collect();
        let count = copies.len() as u32;
        self.outputs.extend(copies);
        match count {
            0 => {
                let reason = DropReason::PortDown;
                self.outputs.push_back(Output::Discard { port, frame, reason });
            }
            1 => {}
            more => self.outputs.push_back(Output::Copied { port, frame, copies: more - 1 }),
        }
    }

    fn handle_timeout(&mut self, _: Time) {}

    fn handle_command(&mut self, _: Time, command: Command) {
        match command {
            Command::PortUp(port) => self.port_changed(port, true),
            Command::PortDown(port) => self.port_changed(port, false),
            Command::Restart => self.stations.clear(),
            _ => {}
        }
    }

    fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: MacAddr = MacAddr([2, 0, 0, 0, 0, 0xa]);
    const B: MacAddr = MacAddr([2, 0, 0, 0, 0, 0xb]);
    const GROUP: MacAddr = MacAddr([0x01, 0x00, 0x5e, 0, 0, 5]);

    fn frame(to: MacAddr, from: MacAddr) -> Frame {
        Frame::from_bytes(&[&to.0[..], &from.0, &[0x88, 0xb5], &[7; 46]].concat())
    }

    /// By which ports a frame leaves.
    fn give(bridge: &mut Bridge, at: Time, port: u16, to: MacAddr, from: MacAddr) -> Vec<u16> {
        let (mut frame, mut verdict) = (frame(to, from), [Verdict::Punt]);
        bridge.forward_batch(at, PortId(port), core::slice::from_mut(&mut frame), &mut verdict);
        match verdict[0] {
            Verdict::Transmit { port, .. } => return vec![port.0],
            Verdict::Replicate => bridge.handle_packet(at, PortId(port), frame),
            _ => {}
        }
        let sent = core::iter::from_fn(|| bridge.poll_output());
        sent.filter_map(|output| match output {
            Output::Transmit { port, .. } => Some(port.0),
            _ => None,
        })
        .collect()
    }

    fn bridge() -> Bridge {
        Bridge::new(BridgeConfig { ports: 3, ageing: AGEING })
    }

    #[test]
    fn it_floods_until_it_has_heard_a_station() {
        let mut bridge = bridge();
        assert_eq!(give(&mut bridge, Time(0), 0, B, A), [1, 2]);
        assert_eq!(give(&mut bridge, Time(1), 2, A, B), [0]);
        assert_eq!(give(&mut bridge, Time(2), 0, B, A), [2]);
        assert_eq!(give(&mut bridge, Time(3), 0, MacAddr::BROADCAST, A), [1, 2]);
        assert_eq!(give(&mut bridge, Time(4), 0, GROUP, A), [1, 2]);
        assert_eq!(bridge.flooded(), 3);
        let known: Vec<_> = bridge.stations(Time(5)).map(|(address, port, _)| (address, port.0)).collect();
        assert_eq!(known, [(A, 0), (B, 2)]);
    }

    #[test]
    fn it_keeps_frames_on_the_link_where_their_destination_is() {
        let mut bridge = bridge();
        give(&mut bridge, Time(0), 1, B, A);
        assert!(give(&mut bridge, Time(1), 1, A, B).is_empty());
        let bpdu = MacAddr([0x01, 0x80, 0xc2, 0, 0, 0]);
        assert!(give(&mut bridge, Time(2), 1, bpdu, A).is_empty());
        assert_eq!(bridge.drops().get(DropReason::Filtered), 2);
        // 01-80-C2-00-00-14 is of IS-IS: a group like any other.
        assert_eq!(give(&mut bridge, Time(2), 1, MacAddr([0x01, 0x80, 0xc2, 0, 0, 0x14]), A), [0, 2]);
    }

    #[test]
    fn a_station_that_is_silent_or_moves_is_looked_for_again() {
        let mut bridge = bridge();
        give(&mut bridge, Time(0), 0, B, A);
        let old = Time(0) + AGEING;
        assert_eq!(give(&mut bridge, Time(old.0 - 1), 1, A, B), [0]);
        assert_eq!(give(&mut bridge, old, 1, A, B), [0, 2]);
        give(&mut bridge, old, 2, B, A);
        assert_eq!(give(&mut bridge, old, 1, A, B), [2], "it is somewhere else now");
        bridge.handle_command(old, Command::PortDown(PortId(2)));
        assert_eq!(give(&mut bridge, old, 1, A, B), [0], "what was beyond a port that is down is forgotten");
    }

    #[test]
    fn the_table_is_bounded() {
        let mut bridge = bridge();
        let address = |n: u32| MacAddr([2, 1, (n >> 16) as u8, (n >> 8) as u8, n as u8, 0]);
        for n in 0..STATIONS_MAX as u32 + 10 {
            give(&mut bridge, Time(u64::from(n)), 0, B, address(n));
        }
        assert_eq!(bridge.stations(Time(STATIONS_MAX as u64)).count(), STATIONS_MAX);
        let later = Time(0) + AGEING + AGEING;
        give(&mut bridge, later, 0, B, A);
        assert_eq!(bridge.stations(later).count(), 1, "those that are old make room");
    }
}
