//! The network driven by the wall clock, and what its interfaces count.

use crate::arguments::Arguments;
use crate::config::Config;
use base::Time;
use serde_json::{Value, json};
use std::os::fd::RawFd;
use std::time::{SystemTime, UNIX_EPOCH};
use tester::network::{Network, NetworkError};

/// What drives the network.
pub struct Drive {
    wake: RawFd,
    epoch_ns: u64,
    calendar_ns: u64,
}

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Drive {
    /// Builds the network that is described.
    pub fn build(config: &Config, _arguments: &Arguments) -> Result<(Network, ()), String> {
        let network = Network::new(config.description()?).map_err(|error| error.to_string())?;
        Ok((network, ()))
    }

    /// A clock that starts now. The loop comes back when `wake` is readable.
    pub fn new(_placement: (), wake: RawFd) -> Result<Drive, String> {
        let epoch_ns = monotonic_ns();
        let calendar = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Ok(Drive { wake, epoch_ns, calendar_ns: calendar as u64 })
    }

    /// The time since the epoch.
    pub fn now(&self) -> Time {
        Time((monotonic_ns() - self.epoch_ns) * 1_000)
    }

    /// The calendar time at time zero, in nanoseconds since 1970.
    pub fn calendar_ns(&self) -> u64 {
        self.calendar_ns
    }

    /// Runs the network up to a time, or until somebody wants something.
    pub fn run(&mut self, network: &mut Network, until: Time) -> Result<(), NetworkError> {
        loop {
            let now = self.now();
            network.world_mut().run_until(now)?;
            if now >= until {
                return Ok(());
            }
            let mut fd = libc::pollfd { fd: self.wake, events: libc::POLLIN, revents: 0 };
            let time = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000.min((until.0 - now.0) / 1000) as i64 };
            // SAFETY: both structures live through the call.
            if unsafe { libc::ppoll(&mut fd, 1, &time, core::ptr::null()) } > 0 {
                return Ok(());
            }
        }
    }

    /// How late events were.
    pub fn lateness(&self) -> Value {
        json!({})
    }

    /// What the ports are and count.
    pub fn ports(&self, _network: &Network) -> Value {
        json!([])
    }
}
