//! Routes of IPv6 that are put into the FIB when they are first used: as in [`crate::unwritten`].

use crate::entry::Kind;
use crate::packet::{IPV6, address6};
use crate::punt::ip_offset;
use crate::tables::Forwarding;
use crate::unwritten::Pending;
use base::Frame;
use base::plane::{NextHop, Nhlfe, Prefix6, Unwritten};
use core::net::Ipv6Addr;
use std::sync::Arc;

impl Forwarding {
    /// The same as [`Forwarding::set_unwritten`] of IPv6.
    pub fn set_unwritten6(&mut self, source: Arc<dyn Unwritten<Prefix6>>) {
        self.pending6 = Some(Box::new(Pending::new(source)));
        let known: Vec<Prefix6> =
            self.fib6.iter().flat_map(|fib| fib.iter()).map(|(prefix, _)| prefix).collect();
        for prefix in known {
            self.use_around6(prefix);
        }
    }

    /// Where routes of IPv6 come from that are put in when they are first used, if there are some.
    pub fn source6(&self) -> Option<&Arc<dyn Unwritten<Prefix6>>> {
        self.pending6.as_ref()?.source()
    }

    /// Puts in the routes to prefixes that have an address in common with this one, of which something is to be known.
    pub(crate) fn use_around6(&mut self, prefix: Prefix6) {
        let Some(source) = self.source6().cloned() else { return };
        for other in source.within(prefix).into_iter().chain(source.around(prefix)) {
            self.use_route6(&*source, other);
        }
    }

    fn use_route6(&mut self, source: &dyn Unwritten<Prefix6>, prefix: Prefix6) {
        if self.has_no_route6(prefix)
            && let Some(next_hop) = source.next_hop(prefix)
        {
            self.put_in6(prefix, next_hop);
        }
    }

    fn has_no_route6(&self, prefix: Prefix6) -> bool {
        let known = self.fib6.as_ref().and_then(|fib| fib.exact(prefix));
        known.is_none_or(|known| known.route.kind == Kind::Empty)
    }

    /// Returns whether there is a route now: next hops that a table cannot have are left out.
    fn put_in6(&mut self, prefix: Prefix6, next_hop: NextHop) -> bool {
        let Some(entry) = self.new_route(next_hop) else { return false };
        let fib = self.fib6.get_or_insert_default();
        fib.recent = None;
        fib.update(prefix, |known| known.route = entry);
        true
    }

    /// Puts in the route that a packet to `to` takes, of which no prefix is known. Was there one?
    #[cold]
    pub(crate) fn use_route_to6(&mut self, to: Ipv6Addr) -> bool {
        let Some(source) = self.source6().cloned() else { return false };
        if self.fib6.as_ref().is_some_and(|fib| fib.find(to).is_some()) {
            return false;
        }
        let Some((prefix, next_hop)) = source.route(Prefix6::host(to)) else { return false };
        if !self.put_in6(prefix, next_hop) {
            return false;
        }
        for inner in source.within(prefix) {
            self.use_route6(&*source, inner);
        }
        true
    }

    /// The same as [`Forwarding::has_unused`] of IPv6.
    pub(crate) fn has_unused6(&mut self, frame: &Frame, labels: u8) -> bool {
        let ip = frame.header().get(ip_offset(labels)..).and_then(|ip| ip.first_chunk::<IPV6>());
        ip.is_some_and(|ip| self.use_route_to6(address6(ip, 24)))
    }

    /// What a packet to `to`, of which no prefix is known, would meet.
    pub(crate) fn unused_route6(&self, to: Ipv6Addr) -> Option<Nhlfe> {
        let (_, next_hop) = self.source6()?.route(Prefix6::host(to))?;
        Some(self.as_compiled(next_hop))
    }

    /// Puts in all routes of IPv6 that are in force: one of them is to be taken out.
    pub(crate) fn use_every_route6(&mut self) {
        let Some(source) = self.pending6.as_mut().and_then(|pending| pending.take()) else { return };
        for (prefix, next_hop) in source.all() {
            if self.has_no_route6(prefix) {
                self.put_in6(prefix, next_hop);
            }
        }
    }
}
