//! Captures and recordings of a network in virtual time.

use super::{PortState, World};
use crate::capture::form::{Form, Pdus};
use crate::capture::pcapng::{ETHERNET, Way};
use crate::capture::tap::Tap;
use crate::capture::{CaptureError, CaptureId, CaptureSpec, CaptureSummary, CaptureTarget};
use crate::error::EngineError;
use crate::lane::Lane;
use crate::record::{RecordTo, Recorder, Recording};
use base::{Frame, LinkId, NodeId, Time};

impl World {
    /// Begins a capture. It does not change the run, but slows it down. If it fails in mid-run, the run returns the
    /// error once and can go on without it.
    pub fn capture(&mut self, spec: CaptureSpec) -> Result<CaptureId, EngineError> {
        let (ports, both_ways) = match spec.target {
            CaptureTarget::Port(node, port) => {
                let g = self.lane_of(node, port)?;
                (g..g + 1, true)
            }
            CaptureTarget::Link(link) => {
                self.check_link(link)?;
                (2 * link.0..2 * link.0 + 2, false)
            }
            CaptureTarget::Everything => (0..self.lanes.len() as u32, false),
        };
        let described = |g| (g, self.port_name(g), self.port_rate(g), self.link_type(g), self.form(g));
        let described: Vec<_> = ports.clone().map(described).collect();
        let tap = Tap::new(spec, &described)?;
        let id = self.taps.len() as u32;
        self.taps.push(Some(tap));
        for g in ports {
            self.ports[g as usize].out_taps.push(id);
            if both_ways {
                self.ports[g as usize ^ 1].in_taps.push(id);
            }
        }
        self.attend_all();
        Ok(CaptureId(id))
    }

    /// Ends a capture: what passed until now is written, and the file is complete.
    pub fn finish_capture(&mut self, id: CaptureId) -> Result<CaptureSummary, EngineError> {
        let tap = self.taps.get_mut(id.0 as usize).and_then(Option::take);
        let tap = tap.ok_or(CaptureError::Unknown(id.0))?;
        self.detach(id.0);
        Ok(tap.finish(self.ahead)?)
    }

    /// How many packets a capture has, and whether it has all that it was to have; nothing if there is no such capture.
    pub fn capture_progress(&self, id: CaptureId) -> Option<(u64, bool)> {
        let tap = self.taps.get(id.0 as usize)?.as_ref()?;
        Some((tap.packets(), tap.is_over()))
    }

    /// Brings what was captured so far into the files. A capture that fails ends; the run can go on without it.
    pub fn flush_captures(&mut self) -> Result<(), EngineError> {
        for tap in self.taps.iter_mut().flatten() {
            tap.flush(self.ahead);
            self.tap_over |= tap.is_over();
        }
        if self.tap_over { self.retire_taps() } else { Ok(()) }
    }

    /// Begins to record the inputs of a device. For a replay from its beginning, ask before the network first runs.
    pub fn record(&mut self, node: NodeId) -> Result<(), EngineError> {
        let index = self.check_node(node)?;
        self.nodes[index].recorder = Some(Box::new(Recorder::new(node)));
        self.attend_all();
        Ok(())
    }

    /// The same, to a file as the inputs come.
    pub fn record_to(&mut self, node: NodeId, to: RecordTo) -> Result<(), EngineError> {
        let index = self.check_node(node)?;
        let recorder = Recorder::to(node, to).map_err(EngineError::Recording)?;
        self.nodes[index].recorder = Some(Box::new(recorder));
        self.attend_all();
        Ok(())
    }

    /// Brings what is recorded so far into the files. A recording that fails ends; the run can go on without it.
    pub fn flush_recordings(&mut self) -> Result<(), EngineError> {
        let mut result = Ok(());
        for index in 0..self.nodes.len() {
            let Some(recorder) = &mut self.nodes[index].recorder else { continue };
            if let Err(error) = recorder.flush() {
                self.nodes[index].recorder = None;
                result = Err(EngineError::Recording(error));
            }
        }
        if result.is_err() {
            self.attend_all();
        }
        result
    }

    /// Ends the recording of a device and returns it, if there is one; of one that went to a file, without the inputs.
    pub fn take_recording(&mut self, node: NodeId) -> Result<Option<Recording>, EngineError> {
        let Some(recorder) = self.nodes.get_mut(node.index()).and_then(|node| node.recorder.take()) else {
            return Ok(None);
        };
        self.attend_all();
        recorder.finish().map(Some).map_err(EngineError::Recording)
    }

    /// Gives a device a name, which captures mention.
    pub fn name_node(&mut self, node: NodeId, name: &str) -> Result<(), EngineError> {
        let index = self.check_node(node)?;
        self.nodes[index].name = name.to_string();
        Ok(())
    }

    /// The device's name: `n0`, `n1` and so on unless it was given one.
    pub fn node_name(&self, node: NodeId) -> Result<String, EngineError> {
        let name = &self.nodes[self.check_node(node)?].name;
        Ok(if name.is_empty() { format!("n{}", node.0) } else { name.clone() })
    }

    fn port_name(&self, g: u32) -> String {
        let far = &self.lanes[g as usize ^ 1];
        let node = self.node_name(far.to_node).unwrap_or_default();
        format!("{node}:{}", far.to_port.0)
    }

    fn port_rate(&self, g: u32) -> u64 {
        self.lanes[g as usize].spec().rate.0
    }

    fn link_type(&self, g: u32) -> u16 {
        self.lanes[g as usize].medium().map_or(ETHERNET, |medium| medium.link_type)
    }

    /// Says that a link is where a circuit begins, at its first end, so that captures show its packets as PDUs.
    pub fn show_pdus(&mut self, link: LinkId, pdus: Pdus) -> Result<(), EngineError> {
        self.check_link(link)?;
        for g in [2 * link.0, 2 * link.0 + 1] {
            self.ports[g as usize].form = Form::Pdus(pdus);
        }
        Ok(())
    }

    fn form(&self, g: u32) -> Form {
        match self.ports[g as usize].form {
            Form::Bytes => Form::of(self.lanes[g as usize].medium()),
            said => said,
        }
    }

    /// A frame that arrives at the end of lane `g` is captured there.
    pub(super) fn tap_arrival(&mut self, g: u32, frame: &Frame) {
        for &id in &self.ports[g as usize].in_taps {
            if let Some(Some(tap)) = self.taps.get_mut(id as usize) {
                tap.pass(self.now, g ^ 1, Way::Inbound, self.now, self.now, frame);
                self.tap_over |= tap.is_over();
            }
        }
    }

    /// What lane `g` has not sent by `at` is taken back from captures; all of it, or what has not begun to leave.
    pub(super) fn tap_cut(&mut self, g: u32, at: Time, waiting_only: bool) {
        for &id in &self.ports[g as usize].out_taps {
            if let Some(Some(tap)) = self.taps.get_mut(id as usize) {
                if waiting_only { tap.cut_waiting(g, at) } else { tap.cut(g, at) }
            }
        }
    }

    /// Captures that have all they were to have trouble the run no more; one that failed is reported.
    pub(super) fn retire_taps(&mut self) -> Result<(), EngineError> {
        self.tap_over = false;
        let mut failed = Ok(());
        for id in 0..self.taps.len() {
            if let Some(tap) = self.taps[id].as_mut().filter(|tap| tap.is_over()) {
                if let Some(error) = tap.take_error() {
                    self.taps[id] = None;
                    failed = Err(error.into());
                }
                self.detach(id as u32);
            }
        }
        failed
    }

    fn detach(&mut self, id: u32) {
        for port in &mut self.ports {
            port.out_taps.retain(|&tap| tap != id);
            port.in_taps.retain(|&tap| tap != id);
        }
        self.attend_all();
    }

    fn attend_all(&mut self) {
        (0..self.lanes.len() as u32).for_each(|g| self.attend(g));
        self.expect_all();
        self.in_step = self.ports.iter().any(|port| !port.out_taps.is_empty() || !port.in_taps.is_empty());
    }
}

/// The frames that lane `g` took, from `number` on, are captured. Returns whether a capture is over.
#[cold]
pub(super) fn tap_departures(
    taps: &mut [Option<Tap>],
    port: &PortState,
    lane: &Lane,
    now: Time,
    g: u32,
    number: u64,
) -> bool {
    let mut over = false;
    for number in number..lane.ring.tail() {
        let flight = lane.ring.at(number);
        let Some(frame) = flight.frame() else { continue };
        let last_bit = flight.arrival - lane.delay();
        for &id in &port.out_taps {
            if let Some(Some(tap)) = taps.get_mut(id as usize) {
                tap.pass(now, g, Way::Outbound, flight.start, last_bit, frame);
                over |= tap.is_over();
            }
        }
    }
    over
}
