//! A lane of which two worlds have an end each.
//!
//! The world of the sender has the lane itself: its port, its queues and what has not begun to leave. What has begun
//! to leave is handed on to the world of the receiver, which has a lane that is nothing but a wire.

use super::{Lane, LaneEnds};
use crate::link::PortSpec;
use crate::ring::Flight;
use base::{LinkId, NodeId, PortId, Rate, Span, Time};

impl Lane {
    /// A place holder for a lane that this world has nothing to do with.
    pub fn absent() -> Lane {
        let spec = PortSpec { rate: Rate(0), ..PortSpec::default() };
        let mut lane = Lane::new(LinkId(0), spec, Span::ZERO, NodeId(0), PortId(0));
        lane.ends = LaneEnds::Neither;
        lane
    }

    /// Makes this the sender's end of a lane, and returns the receiver's end. What begins to leave up to `begun` is on
    /// its way there.
    pub fn part(&mut self, begun: Time) -> Lane {
        debug_assert!(self.ends == LaneEnds::Both && !self.attend_arrivals && self.medium.is_none());
        let mut far = Lane::new(self.link, self.spec.clone(), self.delay(), self.to_node, self.to_port);
        self.ends = LaneEnds::Sender;
        far.ends = LaneEnds::Receiver;
        far.punted = core::mem::take(&mut self.punted);
        far.ring.begin_at(self.ring.head());
        while let Some(flight) = self.take_begun(begun) {
            far.ring.push_flight(flight);
        }
        debug_assert!(!far.punted || !far.ring.is_empty(), "what was punted has begun to leave");
        far
    }

    /// The next frame to be handed to the receiver's end, if its first bit leaves at `begun` or before.
    #[inline]
    pub fn take_begun(&mut self, begun: Time) -> Option<Flight> {
        if self.ring.first()?.start > begun { None } else { self.ring.pop_flight() }
    }

    /// Makes it a whole lane again.
    pub fn join(&mut self, mut far: Lane) {
        debug_assert!(self.ends == LaneEnds::Sender && far.ends == LaneEnds::Receiver);
        debug_assert!(far.ring.tail() == self.ring.head(), "frames have been lost between two worlds");
        self.ends = LaneEnds::Both;
        self.punted = far.punted;
        self.ring.put_in_front(&mut far.ring);
    }

    /// When the sender's end does something next by itself: a frame begins to leave, or something is due at the port.
    #[inline]
    pub fn next_departure(&self) -> Time {
        let begins = self.ring.first().map_or(Time::MAX, |flight| flight.start);
        begins.min(self.due())
    }
}
