//! Neighbours that BFD does not hear any more, beside restarts (RFC 5882, 4.3 and 10.2).

use super::labels::V4;
use super::peers::{Beside, END, restarting};
use super::restarting::{graceful, marks_end, restart, two};
use crate::protocol::{Change, Protocol};
use crate::services::sessions::{Closed, SessionEvent};
use crate::services::{COMES_BACK, Verdict, WatchedPath};
use base::{PortId, Span};
use core::net::Ipv4Addr;
use serde_json::json;
use wire::bgp::{Family, Message, Notification, notification::Code};

const OTHER: &str = "198.51.100.0/24";

/// The path to the neighbour at a port.
fn path(n: u8) -> WatchedPath {
    let address = |last| Ipv4Addr::new(10, n, 0, last);
    WatchedPath::hop(PortId(n.into()), address(1), address(2))
}

impl Beside {
    fn is_watched(&self, n: u8) -> bool {
        self.services.liveness.clients(path(n)).count() > 0
    }

    /// The neighbour was heard by BFD, and is not any more. Has BFD gone on at both ends while they restarted?
    fn silence(&mut self, n: u8, is_independent: bool) {
        self.die(n, is_independent);
        while let Some((path, is_alive)) = self.services.liveness.poll_change() {
            let change = Change::Liveness { path, is_alive };
            self.with(|bgp, now, context| bgp.handle_change(now, context, &change));
        }
    }

    /// The same, and nobody is told yet.
    fn die(&mut self, n: u8, is_independent: bool) {
        let liveness = &mut self.services.liveness;
        liveness.set_independent(path(n), is_independent);
        [Verdict::Alive, Verdict::Dead].into_iter().for_each(|verdict| liveness.found(path(n), verdict));
    }

    fn has_ceased(&self, n: u8) -> bool {
        let cease = Message::Notification(Notification::new(Code::Cease));
        self.told.iter().any(|(session, said)| *session == self.sessions[&n] && *said == cease)
    }
}

/// RFC 5882, 4.3.1 and 4.3.2: routes of a neighbour that restarts are kept while BFD hears it, and if BFD may have
/// restarted with it.
#[test]
fn a_neighbour_that_restarts_is_not_waited_for_if_its_packets_stop() {
    for is_independent in [true, false] {
        let mut net = two("ipv4", &json!({}));
        net.open(0, restarting(0x80));
        net.tell(0, &[V4, OTHER]);
        assert!(net.is_watched(0));
        net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
        assert!(net.is_watched(0), "it is watched on");
        net.silence(0, is_independent);
        // RFC 5882, 10.2: as if the restart timer had expired.
        assert_eq!(
            (net.routes().len(), net.is_watched(0)),
            if is_independent { (0, false) } else { (2, true) }
        );
        if is_independent {
            continue;
        }
        // It is back, and has not told everything yet: its BFD begins anew, and the session stays.
        net.wait(Span::from_secs(20));
        net.open(0, restarting(0x80));
        net.tell(0, &[OTHER]);
        net.silence(0, false);
        assert_eq!((net.routes().len(), net.has_ceased(0)), (2, false));
        net.update(0, END());
        assert_eq!(net.routes(), [OTHER]);
        // The restart is over: what happens now is a failure (4.2.1, 4.3.2.2).
        net.silence(0, false);
        assert_eq!((net.routes().len(), net.has_ceased(0), net.is_watched(0)), (0, true, false));
    }
}

/// RFC 5882, 4.3.2: what a restart excuses, it excuses as long as it lasts. BFD of a neighbour that is back has a while
/// to come back, too.
#[test]
fn a_path_that_died_in_a_restart_and_is_dead_after_it_is_a_failure() {
    for is_back in [false, true] {
        let mut net = two("ipv4", &json!({}));
        net.open(0, restarting(0x80));
        net.tell(0, &[V4, OTHER]);
        net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
        net.silence(0, false);
        net.wait(Span::from_secs(20));
        net.open(0, restarting(0x80));
        net.wait(Span::from_secs(20));
        net.tell(0, &[V4, OTHER]);
        net.update(0, END());
        if is_back {
            net.services.liveness.found(path(0), Verdict::Alive);
        }
        net.wait(Span(COMES_BACK.0 - 1));
        assert_eq!((net.routes().len(), net.has_ceased(0), net.is_watched(0)), (2, false, true));
        net.wait(Span(1));
        let expected = if is_back { (2, false, true) } else { (0, true, false) };
        assert_eq!((net.routes().len(), net.has_ceased(0), net.is_watched(0)), expected);
    }
}

#[test]
fn a_neighbour_that_is_back_and_silent_again_is_given_up_where_bfd_is_independent() {
    let mut net = two("ipv4", &json!({}));
    net.open(0, restarting(0x80));
    net.tell(0, &[V4, OTHER]);
    net.event(net.sessions[&0], SessionEvent::Closed(Closed::Reset));
    net.wait(Span::from_secs(20));
    net.open(0, restarting(0x80));
    net.tell(0, &[V4]);
    net.silence(0, true);
    assert_eq!((net.routes().len(), net.has_ceased(0), net.is_watched(0)), (0, true, false));
}

/// A router whose own BGP has restarted waits for its neighbours, except for those whose packets stop.
#[test]
fn a_router_that_restarts_does_not_wait_for_a_neighbour_whose_packets_stop() {
    for is_independent in [true, false] {
        let mut net = two("ipv4", &graceful());
        for n in [0, 1] {
            net.open(n, marks_end(Family::Ipv4, false));
            net.tell(n, [&[V4, OTHER][..], &["192.0.2.128/25"]][usize::from(n)]);
        }
        restart(&mut net);
        assert!(net.is_watched(0) && net.is_watched(1));
        net.open(0, marks_end(Family::Ipv4, false));
        net.tell(0, &[V4]);
        net.update(0, END());
        net.silence(1, is_independent);
        assert_eq!((net.bgp.awaits(1), net.is_watched(1)), (!is_independent, !is_independent));
        assert_eq!(net.routes().len(), if is_independent { 1 } else { 3 });
    }
}

/// Nobody tells BGP of a path that dies while BGP is down for its own restart: it asks when it is back.
#[test]
fn a_path_that_died_while_bgp_was_down_is_found_when_it_is_back() {
    for is_independent in [true, false] {
        let mut net = two("ipv4", &graceful());
        for n in [0, 1] {
            net.open(n, marks_end(Family::Ipv4, false));
            net.tell(n, [&[V4, OTHER][..], &["192.0.2.128/25"]][usize::from(n)]);
        }
        net.die(1, is_independent);
        while net.services.liveness.poll_change().is_some() {}
        restart(&mut net);
        assert_eq!((net.bgp.awaits(1), net.is_watched(1)), (!is_independent, !is_independent));
        net.open(0, marks_end(Family::Ipv4, false));
        net.tell(0, &[V4]);
        net.update(0, END());
        assert_eq!(net.routes().len(), if is_independent { 1 } else { 3 });
        if is_independent {
            continue;
        }
        // The neighbour is back, and its BFD is not.
        net.open(1, marks_end(Family::Ipv4, false));
        net.tell(1, &["192.0.2.128/25"]);
        net.update(1, END());
        assert_eq!((net.routes().len(), net.has_ceased(1)), (2, false));
        net.wait(COMES_BACK);
        assert_eq!((net.routes().len(), net.has_ceased(1)), (1, true));
    }
}
