//! What a node notes on a frame that does not travel on a wire, and the trace of a frame.

use super::{Extras, Frame, NEVER, NO_PHB, flag};
use crate::diffserv::Encaps;
use crate::ids::{LinkId, PortId};
use crate::phb::Phb;
use crate::time::Time;

impl Frame {
    /// The PHB that the node which holds the frame has determined, if it has.
    #[inline]
    pub fn phb(&self) -> Option<Phb> {
        Phb::new(self.0.phb)
    }

    /// Notes the PHB that the frame is to get here, or that it has not been determined.
    #[inline]
    pub fn set_phb(&mut self, phb: Option<Phb>) {
        self.0.phb = phb.map_or(NO_PHB, Phb::code);
    }

    /// The mark that a conditioner of the node which holds the frame has put on it; zero if none.
    #[inline]
    pub fn mark(&self) -> u32 {
        self.tags().map_or(0, |extras| extras.mark)
    }

    /// The port by which the frame came to the node which holds it, if the node takes note of that.
    #[inline]
    pub fn input(&self) -> Option<PortId> {
        self.tags().and_then(|extras| extras.input)
    }

    /// What the outermost label says about PHBs to the next router, if the node takes note of that.
    #[inline]
    pub fn encaps(&self) -> Option<Encaps> {
        self.tags().and_then(|extras| extras.encaps)
    }

    #[inline]
    fn tags(&self) -> Option<&Extras> {
        if self.0.flags & flag::TAGGED == 0 { None } else { self.0.extras.as_deref() }
    }

    /// Puts a mark on the frame.
    pub fn set_mark(&mut self, mark: u32) {
        self.tag().mark = mark;
    }

    /// Notes by which port the frame came.
    pub fn set_input(&mut self, port: PortId) {
        self.tag().input = Some(port);
    }

    /// Notes what the outermost label says about PHBs, or that nobody knows.
    pub fn set_encaps(&mut self, encaps: Option<Encaps>) {
        if encaps.is_some() || self.encaps().is_some() {
            self.tag().encaps = encaps;
        }
    }

    /// Takes over PHB, mark, port of arrival and what the label means from `other`.
    pub fn copy_tags(&mut self, other: &Frame) {
        self.set_phb(other.phb());
        if let Some(Extras { mark, input, encaps, .. }) = other.tags() {
            let own = self.tag();
            (own.mark, own.input, own.encaps) = (*mark, *input, *encaps);
        }
    }

    fn tag(&mut self) -> &mut Extras {
        let data = &mut **self.0;
        let extras = data.extras.get_or_insert_default();
        if data.flags & flag::TAGGED == 0 {
            data.flags |= flag::TAGGED;
            (extras.mark, extras.input, extras.encaps) = (0, None, None);
        }
        extras
    }

    /// Forgets PHB, mark and port of arrival: they are a node's own, and go no further than its egress port.
    #[inline]
    pub fn clear_tags(&mut self) {
        self.0.phb = NO_PHB;
        self.0.flags &= !flag::TAGGED;
    }

    /// Leaves a node by a link: [`Frame::clear_tags`] and [`Frame::note_link`] in one look at most frames.
    #[inline(always)]
    pub fn leave_by(&mut self, link: LinkId) {
        self.0.phb = NO_PHB;
        if self.0.flags & (flag::TAGGED | flag::TRACED) != 0 {
            self.leave_tagged_by(link);
        }
    }

    #[cold]
    fn leave_tagged_by(&mut self, link: LinkId) {
        self.clear_tags();
        self.note_link(link);
    }

    /// When the kernel received the frame, if it came from an interface that says so.
    #[inline]
    pub fn arrived(&self) -> Option<Time> {
        (self.0.arrived != NEVER).then_some(self.0.arrived)
    }

    /// Notes when the kernel received the frame.
    #[inline]
    pub fn set_arrived(&mut self, at: Time) {
        self.0.arrived = at;
    }

    /// Asks the links that the frame crosses to write themselves down.
    pub fn start_trace(&mut self) {
        self.0.flags |= flag::TRACED;
        self.0.extras.get_or_insert_default().trace.clear();
    }

    /// Writes a crossed link down if the source asked for it.
    #[inline]
    pub fn note_link(&mut self, link: LinkId) {
        if self.0.flags & flag::TRACED != 0
            && let Some(extras) = &mut self.0.extras
        {
            extras.trace.push(link);
        }
    }

    /// The links crossed so far, if the source asked for them.
    pub fn trace(&self) -> Option<&[LinkId]> {
        if self.0.flags & flag::TRACED == 0 {
            return None;
        }
        self.0.extras.as_ref().map(|extras| extras.trace.as_slice())
    }
}
