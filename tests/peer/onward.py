"""Where a Path goes next, and what changes in it on the way (RFC 3209, 4.3.4.1 and 4.4.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import codec as c
from .neighbour import Neighbour

if TYPE_CHECKING:
    from .lsr import Lsr


def next_hop(lsr: Lsr, neighbour: Neighbour, message: c.Message) -> tuple[Neighbour, c.Message] | None:
    """Next hop and changed copy of a Path (RFC 3209, 4.3.4.1 and 4.4.3)."""
    hops = list(route.hops) if (route := message.get(c.ExplicitRoute)) else []
    if hops:
        first = hops.pop(0)
        if not isinstance(first, c.Ipv4Hop) or not lsr.owns(first.address):
            lsr.refuse(neighbour, message, 24, 4)
            return None
        while hops and isinstance(hops[0], c.Ipv4Hop) and lsr.owns(hops[0].address):
            hops.pop(0)
    if hops and isinstance(hops[0], c.OtherHop):
        # RFC 3209, 4.3.6: what is not known comes back, with all behind it.
        lsr.refuse(neighbour, message, 24, 1, c.ExplicitRoute(tuple(hops)))
        return None
    target = message.need(c.Session).destination
    if hops and isinstance(hops[0], c.Ipv4Hop):
        target = hops[0].address
        adjacent = {n.ends.peer for n in lsr.neighbours}
        if not hops[0].loose and target not in adjacent:
            lsr.refuse(neighbour, message, 24, 2)
            return None
    out = lsr.routes.get(target)
    if out is None:
        loose = bool(hops) and isinstance(hops[0], c.Ipv4Hop) and hops[0].loose
        lsr.refuse(neighbour, message, 24, 3 if loose else 5)
        return None
    copy = message.swapped(c.RsvpHop(out.ends.address)).without(c.MessageId)
    copy.ttl = message.ttl - 1
    adspec = message.get(c.Adspec)
    if adspec is not None:
        # RFC 2215, 3.1: one more hop that knows Integrated Services.
        copy = copy.swapped(replace(adspec, hops=adspec.hops + 1))
    rest = c.ExplicitRoute(tuple(hops))
    copy = copy.swapped(rest) if hops else copy.without(c.ExplicitRoute)
    record = message.get(c.RecordRoute)
    if record is not None:
        here = c.Ipv4Hop(out.ends.address)
        copy = copy.swapped(c.RecordRoute((here, *record.hops)))
    objects = [o for o in copy.objects if o.number[0] < 0x80 or o.number[0] >= 0xC0]
    return out, replace(copy, objects=objects)
