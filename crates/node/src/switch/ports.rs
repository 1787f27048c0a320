//! What controllers see of ports.

use super::{Switch, SwitchPort};
use base::{Frame, MacAddr, Time};
use forwarding::openflow::{PortSetting, port_config};
use forwarding::queue::spec::MarkedClass;
use wire::openflow::{Code, Name, PortReason, v1_0, v1_3};

/// The bit of a port's state that says that its link is down: OFPPS_LINK_DOWN, in both versions.
const LINK_DOWN: u32 = 1 << 0;
/// The bit that says that a fast failover group may use it: OFPPS_LIVE, in 1.3.
const LIVE: u32 = 1 << 2;
/// Features of OFPPF that both versions have at the same place: rates, full duplex.
const RATES: [(u64, u32); 4] = [(10, 1 << 1), (100, 1 << 3), (1_000, 1 << 5), (10_000, 1 << 6)];
/// OFPPF_COPPER: of 1.0 and of 1.3.
const COPPER: [u32; 2] = [1 << 7, 1 << 11];
/// Greater rates, in 1.3, and the bit for those that have none.
const LATER_RATES: [(u64, u32); 3] = [(40_000, 1 << 7), (100_000, 1 << 8), (1_000_000, 1 << 9)];
const OTHER_RATE: u32 = 1 << 10;

/// What has passed a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) rx_packets: u64,
    pub(super) rx_bytes: u64,
    pub(super) rx_dropped: u64,
    pub(super) tx_packets: u64,
    pub(super) tx_bytes: u64,
}

/// A port.
#[derive(Clone, Debug)]
pub(super) struct Port {
    name: String,
    pub(super) address: MacAddr,
    /// Its rate, in bit/s.
    pub(super) rate: u64,
    pub(super) queues: Vec<MarkedClass>,
    pub(super) created: Time,
    pub(super) counters: Counters,
}

impl Port {
    pub(super) fn new(port: &SwitchPort, created: Time) -> Port {
        let SwitchPort { name, address, rate, queues } = port.clone();
        let (rate, counters) = (rate.map_or(0, |rate| rate.0), Counters::default());
        Port { name, address, rate, queues, created, counters }
    }

    /// The queue with a number.
    pub(super) fn queue(&self, number: u32) -> Option<&MarkedClass> {
        self.queues.iter().find(|queue| queue.mark == number)
    }

    pub(super) fn count_received(&mut self, frame: &Frame) {
        self.counters.rx_packets += 1;
        self.counters.rx_bytes += u64::from(frame.len());
    }

    pub(super) fn count_sent(&mut self, frame: &Frame) {
        self.counters.tx_packets += 1;
        self.counters.tx_bytes += u64::from(frame.len());
    }

    pub(super) fn of_1_0(&self, number: u32, setting: PortSetting) -> v1_0::Port {
        let rate = RATES.iter().find(|(rate, _)| rate * 1_000_000 == self.rate).map_or(0, |(_, bit)| *bit);
        let current = rate | COPPER[0];
        v1_0::Port {
            number: number as u16,
            address: self.address,
            name: Name::new(&self.name),
            config: setting.config,
            state: if setting.is_live() { 0 } else { LINK_DOWN },
            current,
            advertised: 0,
            supported: 0,
            peer: 0,
        }
    }

    pub(super) fn of_1_3(&self, number: u32, setting: PortSetting) -> v1_3::Port {
        let known = RATES.iter().chain(&LATER_RATES).find(|(rate, _)| rate * 1_000_000 == self.rate);
        let current = known.map_or(OTHER_RATE, |(_, bit)| *bit) | COPPER[1];
        let speed = u32::try_from(self.rate / 1_000).unwrap_or(u32::MAX);
        v1_3::Port {
            number,
            address: self.address,
            name: Name::new(&self.name),
            config: setting.config & port_config::V1_3,
            state: if setting.is_live() { LIVE } else { LINK_DOWN },
            current,
            advertised: 0,
            supported: 0,
            peer: 0,
            current_speed: speed,
            max_speed: speed,
        }
    }
}

impl Switch {
    /// Ports with their numbers and settings.
    pub(super) fn all_ports(&self) -> impl Iterator<Item = (u32, &Port, PortSetting)> {
        self.ports.iter().zip(1..).map(|(port, number)| {
            (number, port, self.datapath.ports().get(&number).copied().unwrap_or_default())
        })
    }

    /// Tells all controllers but one of a port.
    pub(super) fn tell_port(&mut self, number: u32, reason: PortReason, but: Option<u32>) {
        let Some((_, port, setting)) = self.all_ports().find(|port| port.0 == number) else { return };
        let (of_1_0, of_1_3) = (port.of_1_0(number, setting), port.of_1_3(number, setting));
        self.agent.port_status(reason, &of_1_0, &of_1_3, but);
    }

    /// Changes a port. Who asks is not told what has come of it.
    pub(super) fn modify_port(
        &mut self,
        from: u32,
        number: u32,
        address: MacAddr,
        config: u32,
        mask: u32,
        faults: [Code; 2],
    ) -> Result<(), Code> {
        let Some((_, port, setting)) = self.all_ports().find(|port| port.0 == number) else {
            return Err(faults[0]);
        };
        if port.address != address {
            return Err(faults[1]);
        }
        let changed = PortSetting { config: setting.config & !mask | config & mask, ..setting };
        if changed != setting {
            self.datapath.set_port(number, changed);
            self.tell_port(number, PortReason::Modify, Some(from));
        }
        Ok(())
    }
}
