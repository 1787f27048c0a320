//! Soft state: one timer for each LSP, refreshes and lifetimes (RFC 2205, 3.7).

use super::faults::Fault;
use super::head::Loss;
use super::lsp::{Lsp, Role};
use super::outbox::Sending;
use super::resv::resv_handle;
use super::states::{PathEvent, PathState};
use super::transport::Handle;
use super::{Rsvp, Timer};
use base::{Span, Time};
use rand_chacha::rand_core::Rng;

impl Rsvp {
    /// A factor from `low` to `low + 1`, times a span.
    pub(super) fn jittered(&mut self, span: Span, low: f64) -> Span {
        let draw = f64::from(self.random.next_u32()) / f64::from(u32::MAX);
        span.mul_f64(low + draw)
    }

    /// When to refresh next: R, drawn anew each time from 0.5 R to 1.5 R (RFC 2205, 3.7).
    pub(super) fn next_refresh(&mut self) -> Time {
        let period = self.config.refresh_period;
        let interval = if self.config.jitter { self.jittered(period, 0.5) } else { period };
        self.now + Span(interval.0.max(1))
    }

    /// How long state lives without a refresh: (K + 0.5) 1.5 R, with the R of the neighbour (RFC 2205, 3.7).
    pub(super) fn lifetime(&self, refresh_ms: u32) -> Span {
        let longest = self.config.limits.refresh_period_max;
        let period =
            Span::from_ms(i64::from(refresh_ms)).0.clamp(1_000_000_000, longest.0.max(1_000_000_000));
        let k = f64::from(self.config.lifetime_multiplier);
        Span(period).mul_f64((k + 0.5) * 1.5)
    }

    /// Makes sure that the timer of an LSP goes off in time. One that goes off early is set again then, so that
    /// a refresh, which only moves lifetimes away, costs nothing here.
    pub(super) fn arm(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        let deadline = lsp.deadline();
        if deadline < lsp.timer_at {
            if let Some(timer) = lsp.timer.take() {
                self.wheel.cancel(timer);
            }
            lsp.timer_at = deadline;
            lsp.timer = Some(self.wheel.schedule(deadline, Timer::Lsp(index)));
        }
    }

    /// The timer of an LSP went off.
    pub(super) fn lsp_timeout(&mut self, index: u32) {
        let Some(lsp) = self.store.get_mut(index) else {
            return self.counters.faults.note(Fault::NoLsp);
        };
        lsp.timer = None;
        lsp.timer_at = Time::MAX;
        let now = self.now;
        let expired = lsp.path_expires <= now;
        if expired && self.goes_on_merged(index) {
            return;
        }
        let Some(lsp) = self.store.get_mut(index) else { return };
        if expired {
            // Path state that nobody refreshes goes, as if torn down (RFC 2205, 2.3).
            self.counters.expired += 1;
            self.send_path_tear(index);
            self.remove_lsp(index, PathEvent::Expired);
            return;
        }
        if lsp.resv_expires <= now {
            lsp.resv_expires = Time::MAX;
            self.counters.expired += 1;
            self.reservation_lost(index, Loss::TimedOut);
        }
        if self.store.get(index).is_some_and(|lsp| lsp.path_refresh_at <= now) {
            // A Path that says less than before is no repetition.
            let says_less = self.has_silent_detours(index);
            self.send_path(index, if says_less { Sending::Trigger } else { Sending::Refresh });
        }
        let due = |lsp: &Lsp| lsp.resv_refresh_at <= now && lsp.role() != Role::Head;
        if self.store.get(index).is_some_and(due) {
            self.send_resv(index, Sending::Refresh);
        }
        self.arm(index);
    }

    /// The neighbour says that the path state still stands: as if the Path had come in full (RFC 2961, 5.3).
    pub(super) fn path_refreshed(&mut self, index: u32) {
        // A message of the same Bundle may have torn it down.
        let Some(lsp) = self.store.get(index) else { return };
        let (period, stranded) = (lsp.path_period_ms, lsp.path == PathState::Stranded);
        // A Path finds another way, or is refused and keeps nothing.
        if stranded && !self.resume(index) {
            return;
        }
        let expires = self.now + self.lifetime(period);
        if let Some(lsp) = self.store.get_mut(index).filter(|lsp| lsp.role() != Role::Head) {
            lsp.path_expires = expires;
        }
    }

    /// The neighbour says that a reservation still stands, and with it all that the same Resv set (RFC 2961, 5.3).
    pub(super) fn resv_refreshed(&mut self, index: u32) {
        let first = Handle(resv_handle(index));
        let mut handle = first;
        loop {
            let member = handle.0 >> 1;
            // A message of the same Bundle may have torn it down.
            if let Some(period) = self.store.get(member).map(|lsp| lsp.resv_period_ms) {
                let expires = self.now + self.lifetime(period);
                if let Some(lsp) = self.store.get_mut(member).filter(|lsp| lsp.is_reserved()) {
                    lsp.resv_expires = expires;
                }
            }
            handle = self.transport.beside(handle);
            if handle == first {
                break;
            }
        }
    }
}
