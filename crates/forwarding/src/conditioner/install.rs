//! Conditioners at ingress ports.
//!
//! A frame that arrives is admitted (is it for this node, on Ethernet's level?), conditioned, and then decided on: so
//! filters of the FTN see what a rule wrote, and a frame that is punted went through its rule like any other. A
//! punted frame is otherwise as it came; when it is forwarded after all it is not conditioned again.

use super::Conditioner;
use crate::tables::Forwarding;
use base::device::DropReason;
use base::{Frame, PortId, Time};

/// Conditioners by port of arrival.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditioners {
    at: Vec<Option<Box<Conditioner>>>,
    note_inputs: bool,
    note_encaps: bool,
}

impl Conditioners {
    fn get(&self, port: PortId) -> Option<&Conditioner> {
        self.at.get(port.index())?.as_deref()
    }

    fn get_mut(&mut self, port: PortId) -> Option<&mut Conditioner> {
        self.at.get_mut(port.index())?.as_deref_mut()
    }

    /// Are frames told what their outermost label means?
    #[inline]
    pub(crate) fn notes_encaps(&self) -> bool {
        self.note_encaps
    }

    /// Is there nothing to be done with frames that arrive by `port`?
    pub(crate) fn idle_at(&self, port: PortId) -> bool {
        !self.note_inputs && self.get(port).is_none()
    }
}

impl Forwarding {
    /// Puts a conditioner on all that arrives by `port`, in place of the one that was there, or takes that away. It
    /// remarks by this node's mappings of code points and TC values.
    pub fn set_conditioner(&mut self, port: PortId, mut conditioner: Option<Conditioner>) {
        if let (Some(conditioner), Some(config)) = (&mut conditioner, &self.config.diffserv) {
            conditioner.set_diffserv(config);
        }
        let at = &mut self.conditioners.at;
        if at.len() <= port.index() {
            at.resize_with(port.index() + 1, || None);
        }
        at[port.index()] = conditioner.map(Box::new);
        self.find_way_in(port);
    }

    /// The conditioner on what arrives by `port`.
    pub fn conditioner(&self, port: PortId) -> Option<&Conditioner> {
        self.conditioners.get(port)
    }

    /// Whether frames are told by which port they came ([`Frame::input`]), for classifiers of egress queues that ask.
    pub fn note_inputs(&mut self, on: bool) {
        self.conditioners.note_inputs = on;
        let ports: Vec<PortId> = self.ports.iter().map(|(port, _)| port).collect();
        ports.into_iter().for_each(|port| self.find_way_in(port));
    }

    /// Whether frames that leave with a label of an LSP are told what its TC bits mean ([`Frame::encaps`]), for
    /// conditioners of egress queues that write these.
    pub fn note_encaps(&mut self, on: bool) {
        self.conditioners.note_encaps = on;
    }

    /// Finds out whether frames that arrive by `port` may take the short way.
    pub(crate) fn find_way_in(&mut self, port: PortId) {
        let short = self.conditioners.idle_at(port);
        if let Some(port) = self.ports.record(port) {
            port.set_short(short);
        }
    }

    /// Conditions an admitted frame.
    #[inline]
    pub(crate) fn condition(&mut self, now: Time, port: PortId, frame: &mut Frame) -> Result<(), DropReason> {
        if self.conditioners.note_inputs {
            frame.set_input(port);
        }
        if self.conditioners.get(port).is_none() {
            return Ok(());
        }
        // RFC 3270, 2.1: the incoming PHB is determined before traffic conditioning.
        if frame.phb().is_none() {
            frame.set_phb(self.incoming_phb(frame));
        }
        let Some(conditioner) = self.conditioners.get_mut(port) else { return Ok(()) };
        if conditioner.asks_input() {
            frame.set_input(port);
        }
        conditioner.condition(now, frame)
    }
}
