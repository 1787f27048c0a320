//! Routes that are put into the FIB when they are first used ([`Unwritten`]).
//!
//! What must hold so that nobody can tell the difference: where the FIB knows anything of a prefix, it has all routes
//! of the source to prefixes within it, so that the longest prefix that it finds is the longest that there is. An
//! address of which it knows nothing at all comes here before a packet to it has no route.

use crate::entry::{Entry, Kind};
use crate::packet::IPV4;
use crate::punt::ip_offset;
use crate::tables::Forwarding;
use base::Frame;
use base::plane::{LabelStack, NextHop, Nhlfe, Prefix, TcSource, TtlModel, Unwritten};
use core::net::Ipv4Addr;
use std::borrow::Cow;
use std::sync::Arc;

/// Routes that are in force whether they stand in the FIB or not.
#[derive(Clone, Debug)]
pub(crate) struct Pending<P = Prefix> {
    /// Where they come from; nothing once all of them stand in the FIB.
    source: Option<Arc<dyn Unwritten<P>>>,
    /// How many of them nobody has written: all, since each would have been written by itself.
    count: u64,
}

impl<P> Pending<P> {
    pub(crate) fn new(source: Arc<dyn Unwritten<P>>) -> Pending<P> {
        Pending { source: Some(source), count: 0 }
    }

    pub(crate) fn source(&self) -> Option<&Arc<dyn Unwritten<P>>> {
        self.source.as_ref()
    }

    /// The source, which nobody asks again: all of its routes stand in the FIB from now on.
    pub(crate) fn take(&mut self) -> Option<Arc<dyn Unwritten<P>>> {
        let source = self.source.take()?;
        self.count = source.count();
        Some(source)
    }

    /// How many routes have been in force without being written.
    pub(crate) fn count(&self) -> u64 {
        self.source.as_ref().map_or(self.count, |source| source.count())
    }
}

/// The NHLFE of a plain route.
pub(crate) fn plain(next_hop: NextHop) -> Nhlfe {
    Nhlfe { push: LabelStack::EMPTY, next_hop, ttl: TtlModel::Uniform, tc: TcSource::Copy }
}

impl Forwarding {
    /// Has routes of a source in force from now on. The tables have no limit, and what they have is no route to a
    /// prefix of the source.
    pub fn set_unwritten(&mut self, source: Arc<dyn Unwritten>) {
        self.pending = Some(Box::new(Pending::new(source)));
        for prefix in self.fib.iter().map(|(prefix, _)| prefix).collect::<Vec<_>>() {
            self.use_around(prefix);
        }
    }

    /// Where the routes come from that are put in when they are first used, if there are some.
    pub fn source(&self) -> Option<&Arc<dyn Unwritten>> {
        self.pending.as_ref()?.source()
    }

    /// Puts in the routes to prefixes that have an address in common with this one, of which something is to be known.
    #[inline]
    pub(crate) fn use_around(&mut self, prefix: Prefix) {
        if self.pending.is_some() {
            self.use_all_around(prefix);
        }
    }

    #[cold]
    fn use_all_around(&mut self, prefix: Prefix) {
        let Some(source) = self.source().cloned() else { return };
        for other in source.within(prefix).into_iter().chain(source.around(prefix)) {
            self.use_route(&*source, other);
        }
    }

    fn use_route(&mut self, source: &dyn Unwritten, prefix: Prefix) {
        if self.fib.exact(prefix).is_none_or(|known| known.route.kind == Kind::Empty)
            && let Some(next_hop) = source.next_hop(prefix)
        {
            self.put_in(prefix, next_hop);
        }
    }

    pub(crate) fn new_route(&mut self, next_hop: NextHop) -> Option<Entry> {
        let entry = self.compile(&plain(next_hop));
        debug_assert!(entry.is_ok(), "a route leads to a port that is not there");
        entry.ok()
    }

    fn put_in(&mut self, prefix: Prefix, next_hop: NextHop) {
        if let Some(entry) = self.new_route(next_hop) {
            self.recent.forget_within(prefix, &mut self.fib);
            self.fib.update(prefix, |known| known.route = entry);
        }
    }

    /// Puts in the route that a packet to `to` takes, of which no prefix is known. Was there one?
    #[cold]
    pub(crate) fn use_route_to(&mut self, to: Ipv4Addr) -> bool {
        let Some(source) = self.source().cloned() else { return false };
        if self.fib.find(to).is_some() {
            return false;
        }
        let Some((prefix, next_hop)) = source.route(Prefix::host(to)) else { return false };
        let Some(route) = self.new_route(next_hop) else { return false };
        // Nothing is known of the prefix, or the address would have been found.
        self.recent.forget_within(prefix, &mut self.fib);
        self.fib.enter_own(prefix, route);
        for inner in source.within(prefix) {
            self.use_route(&*source, inner);
        }
        true
    }

    /// Is there a route after all for a packet behind so many labels, for which there was none? It stands in the FIB
    /// then.
    #[cold]
    pub(crate) fn has_unused(&mut self, frame: &Frame, labels: u8) -> bool {
        let ip = frame.header().get(ip_offset(labels)..).and_then(|ip| ip.first_chunk::<IPV4>());
        ip.is_some_and(|ip| match ip[0] >> 4 {
            4 => self.use_route_to(Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19])),
            6 => self.has_unused6(frame, labels),
            _ => false,
        })
    }

    /// What a packet to `to`, of which no prefix is known, would meet.
    pub(crate) fn unused_route(&self, to: Ipv4Addr) -> Option<Nhlfe> {
        let (_, next_hop) = self.source()?.route(Prefix::host(to))?;
        Some(self.as_compiled(next_hop))
    }

    /// The NHLFE of a plain route, as it would be read from the FIB.
    pub(crate) fn as_compiled(&self, next_hop: NextHop) -> Nhlfe {
        let classes = self.preconfigured.as_ref().map(|context| TcSource::DiffServ(context.classes));
        Nhlfe { tc: classes.unwrap_or(TcSource::Copy), ..plain(next_hop) }
    }

    /// Puts in all routes that are in force: one of them is to be taken out.
    pub(crate) fn use_every_route(&mut self) {
        let Some(source) = self.pending.as_mut().and_then(|pending| pending.take()) else { return };
        for (prefix, next_hop) in source.all() {
            if self.fib.exact(prefix).is_none_or(|known| known.route.kind == Kind::Empty) {
                self.put_in(prefix, next_hop);
            }
        }
    }

    /// The tables with all routes that are in force, for people to look at.
    pub fn complete(&self) -> Cow<'_, Forwarding> {
        if self.source().is_none() && self.source6().is_none() {
            return Cow::Borrowed(self);
        }
        let mut whole = self.clone();
        whole.use_every_route();
        whole.use_every_route6();
        Cow::Owned(whole)
    }

    /// How many routes have been in force without being written.
    pub fn unwritten(&self) -> u64 {
        let of_ipv4 = self.pending.as_ref().map_or(0, |pending| pending.count());
        of_ipv4 + self.pending6.as_ref().map_or(0, |pending| pending.count())
    }
}
