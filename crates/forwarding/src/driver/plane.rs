//! The forwarding plane of a node: its tables, and the driver that writes them.

use super::{Capabilities, Counters, Driver, Notice, Remote, Setup, Soft, Timing};
use crate::punt::Exception;
use crate::tables::{Config, Forwarding};
use base::plane::{Ack, Batch, TableOp};
use base::{Frame, PortId, Time};
use core::net::IpAddr;

/// The tables of a node and the driver that writes them.
///
/// The tables are at hand by their type, so that packets reach them without a dynamic call; writes pass the driver.
///
/// Drain: after [`ForwardingPlane::submit`] and whenever [`ForwardingPlane::poll_timeout`] is due, call
/// [`ForwardingPlane::poll_ack`] and then [`ForwardingPlane::poll_notice`] until they return nothing.
#[derive(Debug)]
#[repr(C)]
pub struct ForwardingPlane {
    soft: Soft,
    driver: Box<dyn Driver>,
    /// When the driver has something to do.
    due: Option<Time>,
    /// Are frames and tables elsewhere?
    is_remote: bool,
}

impl ForwardingPlane {
    /// Empty tables, and a driver in its initial state.
    pub fn new(setup: &dyn Setup, config: Config, timing: Timing) -> ForwardingPlane {
        let mut driver = setup.driver(timing);
        let is_remote = driver.remote().is_some();
        ForwardingPlane { soft: Soft::new(setup.config(config)), driver, due: None, is_remote }
    }

    /// Does the node's driver write tables that are elsewhere, where frames come and go, too?
    #[inline]
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// The driver of a forwarding plane that is elsewhere, and the tables here.
    pub fn remote(&mut self) -> Option<(&mut dyn Remote, &mut Soft)> {
        Some((self.driver.remote()?, &mut self.soft))
    }

    /// The driver, to be looked at.
    pub fn driver(&self) -> &dyn Driver {
        self.driver.as_ref()
    }

    /// The tables and what was written to them; writes that wait are not in them.
    pub fn soft(&self) -> &Soft {
        &self.soft
    }

    /// The tables in force; writes that wait are not in them.
    pub fn forwarding(&self) -> &Forwarding {
        self.soft.forwarding()
    }

    /// The tables, to move packets through them.
    #[inline]
    pub fn forwarding_mut(&mut self) -> &mut Forwarding {
        self.soft.forwarding_mut()
    }

    /// As [`Soft::punt`].
    pub fn punt(&mut self, port: PortId, frame: Frame) -> Option<Frame> {
        self.soft.punt(port, frame)
    }

    /// Tells a driver whose forwarding plane is elsewhere what has happened to its connection.
    pub fn tell_remote(&mut self, news: impl FnOnce(&mut dyn Remote, &mut Soft)) {
        if let Some(remote) = self.driver.remote() {
            news(remote, &mut self.soft);
        }
        self.due = self.driver.poll_timeout();
    }

    fn advance(&mut self, now: Time) {
        if self.due.is_some_and(|due| due <= now) {
            self.driver.advance(now, &mut self.soft);
            self.due = self.driver.poll_timeout();
        }
    }

    /// As [`Driver::submit`].
    pub fn submit(&mut self, now: Time, batch: Batch) {
        self.advance(now);
        self.driver.submit(now, &mut self.soft, batch);
        self.due = self.driver.poll_timeout();
    }

    /// Does what is due at `now` and returns the next acknowledgement, or nothing.
    pub fn poll_ack(&mut self, now: Time) -> Option<Ack> {
        self.advance(now);
        self.soft.next_ack()
    }

    /// When the next operation is due.
    pub fn poll_timeout(&self) -> Option<Time> {
        self.due
    }

    /// What the forwarding plane has to tell by itself, or nothing.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.soft.poll_notice()
    }

    /// As [`Driver::backlog`].
    pub fn backlog(&self) -> usize {
        self.driver.backlog()
    }

    /// As [`Driver::packet_out`].
    pub fn packet_out(
        &mut self,
        frame: &mut Frame,
        via: Option<(PortId, IpAddr)>,
    ) -> Result<PortId, Exception> {
        self.driver.packet_out(&mut self.soft, frame, via)
    }

    /// As [`Driver::capabilities`].
    pub fn capabilities(&self) -> Capabilities {
        self.driver.capabilities(&self.soft)
    }

    /// As [`Driver::port_state`].
    pub fn port_state(&self, port: PortId) -> Option<bool> {
        self.driver.port_state(&self.soft, port)
    }

    /// As [`Driver::counters`].
    pub fn counters(&self) -> Counters {
        self.driver.counters(&self.soft)
    }

    /// As [`Driver::resync`].
    pub fn resync(&self) -> Vec<TableOp> {
        self.driver.resync(&self.soft)
    }
}
