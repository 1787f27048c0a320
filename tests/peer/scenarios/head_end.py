"""The router itself is ingress: east is the end of what it signals, and misbehaves."""

from __future__ import annotations

from .. import codec as c
from ..bench import MBIT, Bench, HeadEnd
from ..codec.link import LABEL_EXPLICIT_NULL, LABEL_IMPLICIT_NULL
from ..state import Key, key_of
from .registry import scenario


def _originate(b: Bench, name: str = "naive", bandwidth: float = 100 * MBIT) -> HeadEnd:
    if b.originate is None:
        raise AssertionError("this bench has a router that originates nothing")
    return b.originate(name, bandwidth)


def _first_path(b: Bench) -> c.Message | None:
    b.until(lambda: b.came(b.east, c.Type.PATH), 2.0)
    paths = b.came(b.east, c.Type.PATH)
    b.check(paths, "the router signals no Path to the east")
    return paths[0] if paths else None


def _up(b: Bench, head: HeadEnd, what: str) -> bool:
    b.until(head.up, 1.0)
    return b.check(head.up(), f"{what}: the router does not hold the LSP to be up")


def _labels_up(b: Bench, label: int | None, what: str) -> None:
    b.egress.egress_label = label
    head = _originate(b)
    path = _first_path(b)
    if path is None:
        return
    _up(b, head, what)
    head.tear()
    b.until(lambda: b.came(b.east, c.Type.PATH_TEAR, key_of(path)))
    b.check(b.came(b.east, c.Type.PATH_TEAR, key_of(path)), f"{what}: no PathTear in the east")


@scenario(originates=True)
def signals(b: Bench) -> None:
    """The Path has all that one needs, and says the truth (RFC 2205, 3.1.3; RFC 3209, 3.1)."""
    head = _originate(b)
    path = _first_path(b)
    if path is None:
        return
    session, template = key_of(path)
    b.equal(session.destination, b.east_ends.router_id, "destination of the SESSION")
    own = (b.dut, b.east_ends.peer)
    b.check(template.address in own, f"SENDER_TEMPLATE with {template.address}")
    # RFC 3209, 4.6.1.1: all zeros, or the ingress's address to narrow the session.
    extended = session.extended_tunnel_id
    b.check(extended in ("0.0.0.0", *own), f"Extended Tunnel ID {extended}")
    b.equal(path.need(c.LabelRequest).l3pid, 0x0800, "L3PID")
    rate = path.need(c.SenderTspec).traffic.rate
    b.equal(rate, 100 * MBIT / 8, "rate in SENDER_TSPEC, bytes per second")
    route = path.get(c.ExplicitRoute)
    if route is not None:
        first = route.hops[0]
        # RFC 3209, 4.3.4.1: the first subobject must be ours.
        ours = (b.east_ends.address, b.east_ends.router_id)
        b.check(isinstance(first, c.Ipv4Hop) and first.address in ours, f"first hop {first}")
    attribute = path.get(c.SessionAttribute)
    if attribute is not None:
        worse = attribute.setup_priority >= attribute.holding_priority
        b.check(worse, "setup priority better than holding priority (RFC 3209, 4.7.3)")
    b.check(path.ttl > 1, f"Send_TTL {path.ttl}")
    _up(b, head, "an LSP with a label from the east")
    head.tear()
    b.until(lambda: b.came(b.east, c.Type.PATH_TEAR))
    b.check(b.came(b.east, c.Type.PATH_TEAR, (session, template)), "no PathTear in the east")
    b.check(not head.up(), "a torn LSP is still up")


@scenario(originates=True)
def implicit_null(b: Bench) -> None:
    """Label 3 is fine (RFC 3032, 2.1)."""
    _labels_up(b, LABEL_IMPLICIT_NULL, "label 3")


@scenario(originates=True)
def explicit_null(b: Bench) -> None:
    """Label 0 is fine (RFC 3032, 2.1)."""
    _labels_up(b, LABEL_EXPLICIT_NULL, "label 0")


@scenario(originates=True)
def highest_label(b: Bench) -> None:
    """The highest label of 20 bits is fine (RFC 3032, 2.1)."""
    _labels_up(b, 0xFFFFF, "label 1048575")


@scenario(originates=True)
def stays_down_without_resv(b: Bench) -> None:
    """No Resv, no LSP; the Path is repeated (RFC 2205, 3.7)."""
    b.egress.answers = False
    head = _originate(b)
    path = _first_path(b)
    if path is None:
        return
    b.run(100.0, 0.05)
    b.check(not head.up(), "an LSP is up that nobody reserved")
    b.check(len(b.came(b.east, c.Type.PATH)) >= 2, "one Path in 100 s")
    head.tear()
    b.run(0.1)


@scenario(originates=True)
def reacts_to_path_err(b: Bench) -> None:
    """After a PathErr the head-end comes again (RFC 2205, 3.1.7; RFC 3209, 3.3)."""
    b.egress.answers = False
    head = _originate(b)
    path = _first_path(b)
    if path is None:
        return
    b.egress.refuse(b.east, path, 24, 5)
    b.run(0.5)
    b.check(not head.up(), "an LSP is up that was refused")
    b.forget()
    b.egress.answers = True
    b.egress.paths.clear()
    came = b.until(head.up, 120.0)
    b.check(came, "120 s after a PathErr the head-end has not come up")
    head.tear()
    b.run(0.1)


@scenario(originates=True)
def reacts_to_resv_tear(b: Bench) -> None:
    """ResvTear takes the LSP down; a new Resv, or a new LSP, brings it up (RFC 2205, 3.1.6)."""
    head = _originate(b)
    path = _first_path(b)
    if path is None or not _up(b, head, "an LSP"):
        return
    key: Key = key_of(path)
    b.egress.answers = False
    b.egress.resv_tear(key, b.east, c.Style(b.egress.egress_style))
    b.until(lambda: not head.up(), 1.0)
    b.check(not head.up(), "the LSP is up after a ResvTear")
    b.egress.answers = True
    b.egress.reserve(key[0], b.east)
    b.check(b.until(head.up, 120.0), "120 s after a ResvTear the head-end has not come up")
    head.tear()
    b.run(0.1)


@scenario(originates=True)
def reservation_expires(b: Bench) -> None:
    """Resvs stop: the head-end notices within their lifetime (RFC 2205, 3.7)."""
    b.egress.refresh_ms = 1000
    head = _originate(b)
    if _first_path(b) is None or not _up(b, head, "an LSP"):
        return
    b.egress.refreshes = b.egress.answers = False
    b.run(20.0)
    b.check(not head.up(), "the LSP is up 20 s after the last Resv of a period of 1 s")
    head.tear()
    b.run(0.1)


@scenario(originates=True)
def loose_ends(b: Bench) -> None:
    """Resvs for senders that the head-end doesn't know (RFC 2205, B, errors 3 and 4)."""
    head = _originate(b)
    path = _first_path(b)
    if path is None:
        return
    session, template = key_of(path)
    handle = path.need(c.RsvpHop).handle
    stranger = c.Session(session.destination, session.tunnel_id ^ 0x5555, "192.0.2.9")
    for to, sender, code in (
        (stranger, template, 3),
        (session, c.SenderTemplate(template.address, template.lsp_id ^ 0x5555), 4),
    ):
        b.east.send(
            c.Message(
                c.Type.RESV,
                [
                    to,
                    c.RsvpHop(b.east_ends.address, handle),
                    c.TimeValues(30_000),
                    c.Style(b.egress.egress_style),
                    c.Flowspec(path.need(c.SenderTspec).traffic),
                    c.FilterSpec(sender.address, sender.lsp_id),
                    c.Label(1700),
                ],
            )
        )
        b.until(lambda: b.came(b.east, c.Type.RESV_ERR), 0.3)
        codes = [found for found, _ in b.errors(b.east, c.Type.RESV_ERR)]
        b.equal(codes[:1], [code], "code of the ResvErr")
        b.forget()
    _up(b, head, "the real LSP")
    head.tear()
    b.run(0.1)
