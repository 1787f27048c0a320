"""Explicit routes, recorded routes and label recording (RFC 3209, 4.3 and 4.4)."""

from __future__ import annotations

from .. import codec as c
from ..bench import Bench
from ..state import key_of
from .registry import scenario

NOWHERE = "192.0.2.77"

# RFC 3209, 7.3: routing problem.
ROUTING = 24


def _refused_with(b: Bench, path: c.Message, value: int, what: str) -> None:
    """The Path comes back as a routing problem of this value, and goes no further."""
    key = key_of(path)
    found = b.refused(path)
    b.equal(found[:1], [(ROUTING, value)], what)
    b.check(not b.came(b.east, c.Type.PATH, key), f"{what}: the Path goes on to the east")
    errors = b.came(b.west, c.Type.PATH_ERR, key)
    if errors:
        # RFC 2205, 3.1.7: session, error and sender descriptor; the node is where it happened.
        node = errors[0].need(c.ErrorSpec).node
        own = (b.west_ends.peer, b.east_ends.peer, b.dut)
        b.check(node in own, f"{what}: error node {node} is none of the router's addresses")
        sender = errors[0].get(c.SenderTemplate)
        b.equal(sender, path.get(c.SenderTemplate), f"{what}: SENDER_TEMPLATE")
        b.equal(errors[0].get(c.SenderTspec), path.get(c.SenderTspec), f"{what}: SENDER_TSPEC")
    b.ingress.tear(key)
    b.run(0.02)


@scenario()
def wrong_first_hop(b: Bench) -> None:
    """First subobject is not this router: bad initial subobject (RFC 3209, 4.3.4.1; 7.3)."""
    route = (c.Ipv4Hop(NOWHERE), c.Ipv4Hop(b.east_ends.address))
    _refused_with(b, b.path(route=route), 4, "ERO with a wrong first hop")
    b.still_works()


@scenario()
def strict_hop_not_adjacent(b: Bench) -> None:
    """Second subobject is strict and no neighbour: bad strict node (RFC 3209, 4.3.4.1; 7.3)."""
    route = (c.Ipv4Hop(b.west_ends.peer), c.Ipv4Hop(NOWHERE), c.Ipv4Hop(b.east_ends.address))
    _refused_with(b, b.path(route=route), 2, "ERO with a strict hop that is not adjacent")
    b.still_works()


@scenario()
def loose_hop_unreachable(b: Bench) -> None:
    """Second subobject is loose and has no route: bad loose node (RFC 3209, 4.3.4.1; 7.3)."""
    route = (c.Ipv4Hop(b.west_ends.peer), c.Ipv4Hop(NOWHERE, loose=True))
    _refused_with(b, b.path(route=route), 3, "ERO with a loose hop that has no route")
    b.still_works()


@scenario()
def no_route(b: Bench) -> None:
    """No route toward the destination (RFC 3209, 7.3)."""
    _refused_with(b, b.path(to=NOWHERE, route=None), 5, "Path to a destination without route")
    b.still_works()


@scenario()
def loose_hop(b: Bench) -> None:
    """A loose hop is found by routing (RFC 3209, 4.3.4.1)."""
    away = c.Ipv4Hop(b.east_ends.router_id, loose=True)
    key = b.set_up(b.path(route=(c.Ipv4Hop(b.west_ends.peer), away)))
    b.check(b.forwards(key), "an LSP over a loose hop does not forward")
    paths = b.came(b.east, c.Type.PATH, key)
    route = paths[0].get(c.ExplicitRoute) if paths else None
    if route is not None:
        # The router may have put itself in front, or the next hop, but must keep what is left.
        last = route.hops[-1]
        same = isinstance(last, c.Ipv4Hop) and last.address == away.address
        b.check(same, f"EXPLICIT_ROUTE in the east: {route.hops}")
    b.tear_down(key)


@scenario()
def no_explicit_route(b: Bench) -> None:
    """Without EXPLICIT_ROUTE the destination decides (RFC 3209, 4.3)."""
    key = b.set_up(b.path(route=None))
    b.check(b.forwards(key), "an LSP without explicit route does not forward")
    b.tear_down(key)


@scenario()
def two_hops_of_one_router(b: Bench) -> None:
    """Every leading subobject that is the router itself is removed (RFC 3209, 4.3.4.1, 2 and 3)."""
    own = (c.Ipv4Hop(b.west_ends.peer), c.Ipv4Hop(b.dut), c.Ipv4Hop(b.east_ends.peer))
    key = b.set_up(b.path(route=(*own, c.Ipv4Hop(b.east_ends.address))))
    paths = b.came(b.east, c.Type.PATH, key)
    if b.check(paths, "no Path in the east"):
        left = c.ExplicitRoute.strict(b.east_ends.address)
        b.equal(paths[0].get(c.ExplicitRoute), left, "EXPLICIT_ROUTE in the east")
    b.tear_down(key)


@scenario()
def records_route(b: Bench) -> None:
    """Both routes are recorded, newest first; no labels unless asked (RFC 3209, 4.4.3)."""
    key = b.set_up(b.path(record=True))
    paths = b.came(b.east, c.Type.PATH, key)
    record = paths[0].get(c.RecordRoute) if paths else None
    if b.check(record, "no RECORD_ROUTE in the east") and record is not None:
        found = [h.address for h in record.hops if isinstance(h, c.Ipv4Hop)]
        b.equal(found[1:], [b.west_ends.address], "what was recorded before")
        own = (b.west_ends.peer, b.east_ends.peer, b.dut)
        b.check(found and found[0] in own, f"newest hop in the east: {found}")
        labels = [h for h in record.hops if isinstance(h, c.LabelHop)]
        b.check(not labels, f"labels {labels} in the RECORD_ROUTE of a Path")
    b.tear_down(key)


@scenario()
def records_labels(b: Bench) -> None:
    """With label recording each hop adds its address above its label (RFC 3209, 4.4.1.3, 4.4.3)."""
    flags = c.SessionAttribute.LABEL_RECORDING | c.SessionAttribute.SE_STYLE
    key = b.set_up(b.path(record=True, flags=flags))
    resvs = b.came(b.west, c.Type.RESV, key)
    record = c.flow_descriptors(resvs[0])[0].record if resvs else None
    if b.check(record, "no RECORD_ROUTE in the Resv in the west") and record is not None:
        kinds = [type(hop) for hop in record.hops]
        b.equal(kinds, [c.Ipv4Hop, c.LabelHop] * 2, "subobjects in the west")
        labels = [hop.label for hop in record.hops if isinstance(hop, c.LabelHop)]
        expected = [b.ingress.label(key), b.egress.egress_labels.get(key)]
        b.equal(labels, expected, "recorded labels in the west")
        hops = [hop.address for hop in record.hops if isinstance(hop, c.Ipv4Hop)]
        b.equal(hops[-1:], [b.east_ends.address], "oldest address in the west")
    b.tear_down(key)


@scenario()
def record_turned_on_later(b: Bench) -> None:
    """RECORD_ROUTE that appears in a later Path is passed on at once (RFC 3209, 4.4.3; 2.4.3)."""
    key = b.set_up(b.path())
    b.forget()
    b.ingress.signal(b.west, b.path(record=True))
    came = b.until(lambda: any(m.get(c.RecordRoute) for m in b.came(b.east, c.Type.PATH, key)))
    b.check(came, "no changed Path in the east within a second")
    b.tear_down(key)


@scenario()
def recorded_loop(b: Bench) -> None:
    """The router finds itself in RECORD_ROUTE: routing loop (RFC 3209, 4.4.4; 7.3)."""
    for tunnel, own in enumerate((b.west_ends.peer, b.east_ends.peer), 1):
        path = b.path(tunnel, record=True)
        hops = (c.Ipv4Hop(b.west_ends.address), c.Ipv4Hop(own), c.Ipv4Hop("192.0.2.1"))
        looped = path.swapped(c.RecordRoute(hops))
        _refused_with(b, looped, 7, f"RECORD_ROUTE with the router's own {own}")
    b.still_works()


@scenario()
def changed_explicit_route(b: Bench) -> None:
    """A changed EXPLICIT_ROUTE of the same LSP goes on at once (RFC 2205, 2.3; RFC 3209, 4.3)."""
    key = b.set_up(b.path())
    b.forget()
    away = c.Ipv4Hop(b.east_ends.address, loose=True)
    b.ingress.signal(b.west, b.path(route=(c.Ipv4Hop(b.west_ends.peer), away)))
    came = b.until(lambda: b.came(b.east, c.Type.PATH, key))
    if b.check(came, "no changed Path in the east within a second"):
        route = b.came(b.east, c.Type.PATH, key)[0].get(c.ExplicitRoute)
        found = [hop.address for hop in route.hops if isinstance(hop, c.Ipv4Hop)] if route else []
        b.equal(found, [away.address], "EXPLICIT_ROUTE in the east")
    b.check(b.forwards(key), "the LSP does not forward any more")
    b.tear_down(key)


@scenario()
def unsupported_l3pid(b: Bench) -> None:
    """A payload protocol that nobody knows (RFC 3209, 4.2.4; 7.3)."""
    path = b.path(to=b.dut, l3pid=0x9999)
    _refused_with(b, path, 10, "LABEL_REQUEST for protocol 0x9999 at the egress")
    b.still_works()
