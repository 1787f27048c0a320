//! The timer of a part of a tree.

use crate::rsvp::Timer;
use base::{Time, TimerId, Wheel};

/// A timer that goes off in time or early. One that goes off early is set again then, so that a refresh, which only
/// moves lifetimes away, costs nothing.
#[derive(Debug, Default)]
pub(super) struct Alarm(Option<(Time, TimerId)>);

impl Alarm {
    /// Makes sure that it goes off by a time; [`Time::MAX`] is never.
    pub(super) fn set(&mut self, wheel: &mut Wheel<Timer>, by: Time, timer: Timer) {
        if by < self.0.map_or(Time::MAX, |(at, _)| at) {
            self.cancel(wheel);
            self.0 = Some((by, wheel.schedule(by, timer)));
        }
    }

    /// It does not go off any more.
    pub(super) fn cancel(&mut self, wheel: &mut Wheel<Timer>) {
        if let Some((_, timer)) = self.0.take() {
            wheel.cancel(timer);
        }
    }
}
