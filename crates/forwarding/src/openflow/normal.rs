//! The port NORMAL: forwarding as a switch without a controller does it. It learns by which port a station of a VLAN is
//! (IEEE 802.1Q-2018, 8.7), and floods what is for a station that it does not know.

use base::{MacAddr, Span, Time};
use std::collections::BTreeMap;

/// How long a silent station is remembered (IEEE 802.1Q-2018, table 8-6).
const AGEING: Span = Span::from_secs(300);
/// Stations that are remembered at most: others are flooded to.
const STATIONS_MAX: usize = 16_384;

/// Where stations are.
#[derive(Clone, Debug, Default)]
pub(super) struct Stations(BTreeMap<(u16, MacAddr), (u32, Time)>);

/// Where a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    To(u32),
    Everywhere,
    Nowhere,
}

impl Stations {
    /// Learns from the source of a frame, if it came by a port, and says where it goes.
    pub(super) fn way(
        &mut self,
        now: Time,
        vlan: u16,
        from: MacAddr,
        to: MacAddr,
        in_port: Option<u32>,
    ) -> Way {
        if let Some(in_port) = in_port.filter(|_| !from.is_group()) {
            if self.0.len() >= STATIONS_MAX && !self.0.contains_key(&(vlan, from)) {
                self.0.retain(|_, (_, at)| now < *at + AGEING);
            }
            if self.0.len() < STATIONS_MAX || self.0.contains_key(&(vlan, from)) {
                self.0.insert((vlan, from), (in_port, now));
            }
        }
        // Groups of protocols between the ends of a link (IEEE 802.1Q-2018, 8.6.3).
        if matches!(to.0, [0x01, 0x80, 0xc2, 0, 0, 0..=0x0f]) {
            return Way::Nowhere;
        }
        match self.0.get(&(vlan, to)).filter(|(_, at)| now < *at + AGEING) {
            Some((port, _)) if Some(*port) == in_port => Way::Nowhere,
            Some((port, _)) => Way::To(*port),
            None => Way::Everywhere,
        }
    }

    /// Forgets who was beyond a port.
    pub(super) fn forget(&mut self, port: u32) {
        self.0.retain(|_, (at, _)| *at != port);
    }
}
