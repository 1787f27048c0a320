"""Refresh overhead reduction (RFC 2961), with the router set up to use it."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .. import codec as c
from ..bench import MBIT, Bench, Options
from ..neighbour import Neighbour
from ..state import Key, key_of
from .registry import scenario

REDUCING = Options(refresh_reduction=True)

# Beyond the lifetime of states refreshed every second (RFC 2205, 3.7).
EXPIRED = 20.0


def _every_second(b: Bench, seconds: float, act: Callable[[], None]) -> None:
    """Do something every second for a while."""
    for _ in range(int(seconds)):
        act()
        b.run(1.0, 0.02)


def _ids(side: Neighbour) -> list[tuple[int, int]]:
    return [(ack.epoch, ack.identifier) for ack in side.acked]


def _identified_set_up(b: Bench, refresh_ms: int = 30_000) -> tuple[Key, int]:
    """An LSP whose Path had an identifier."""
    path = b.west.identified(b.path(refresh_ms=refresh_ms))
    identifier = path.need(c.MessageId).identifier
    b.ingress.refreshes = False
    return b.set_up(path), identifier


@scenario(REDUCING)
def acknowledges(b: Bench) -> None:
    """ACK_Desired gets a MESSAGE_ID_ACK, alone or on another message (RFC 2961, 4.3 and 4.6)."""
    key, identifier = _identified_set_up(b)
    b.until(lambda: b.west.acked)
    b.check((b.west.epoch, identifier) in _ids(b.west), f"no ACK of {identifier} for a Path")
    resv = b.east.send_reliably(_plain_resv(b, key))
    b.until(lambda: (b.east.epoch, resv) in _ids(b.east))
    b.check((b.east.epoch, resv) in _ids(b.east), f"no ACK of {resv} for a Resv")
    tear = b.west.send_reliably(
        c.Message(c.Type.PATH_TEAR, [key[0], c.RsvpHop(b.west_ends.address, 0x77), key[1]])
    )
    b.until(lambda: (b.west.epoch, tear) in _ids(b.west))
    b.check((b.west.epoch, tear) in _ids(b.west), f"no ACK of {tear} for a PathTear")
    b.still_works()


def _plain_resv(b: Bench, key: Key) -> c.Message:
    """The Resv that the egress sends for this LSP, to be sent with an identifier."""
    paths = b.came(b.east, c.Type.PATH, key)
    handle = paths[-1].need(c.RsvpHop).handle if paths else 0
    return c.Message(
        c.Type.RESV,
        [
            key[0],
            c.RsvpHop(b.east_ends.address, handle),
            c.TimeValues(30_000),
            c.Style(c.Style.SE),
            c.Flowspec(c.Traffic.of_bits(100 * MBIT)),
            c.FilterSpec(key[1].address, key[1].lsp_id),
            c.Label(b.egress.egress_labels.get(key, 1500)),
        ],
    )


@scenario(REDUCING)
def acknowledges_only_wishes(b: Bench) -> None:
    """Without ACK_Desired no acknowledgement is due (RFC 2961, 4.3)."""
    path = b.west.identified(b.path(), ack=False)
    b.set_up(path)
    b.run(0.5)
    unwished = path.need(c.MessageId).identifier
    b.check((b.west.epoch, unwished) not in _ids(b.west), "an ACK that nobody asked for")
    b.tear_down(key_of(path))


@scenario(REDUCING)
def acknowledges_again(b: Bench) -> None:
    """A retransmission is acknowledged again, but is no news (RFC 2961, 4.6 and 6)."""
    key, identifier = _identified_set_up(b)
    b.until(lambda: b.west.acked)
    b.forget()
    before = len(b.west.acked)
    b.west.send(b.west.sent[identifier])
    b.until(lambda: len(b.west.acked) > before)
    b.check(len(b.west.acked) > before, "a retransmission is not acknowledged")
    b.check(not b.came(b.east, c.Type.PATH, key), "a retransmission triggers a Path in the east")
    b.tear_down(key)


@scenario(REDUCING)
def retransmits(b: Bench) -> None:
    """No ACK: again after Rf, then after Rf (1 + Delta), up to Rl times (RFC 2961, 6.1 to 6.3)."""
    b.tear_down(b.set_up(b.path(50, bandwidth=1 * MBIT), "an LSP that shows what the east can"))
    b.forget()
    b.east.acknowledges = False
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.run(10.0, 0.01)
    found = [i for i in b.arrivals(b.east, c.Type.PATH, key) if i.message.get(c.MessageId)]
    if not b.check(found, "no Path with MESSAGE_ID in the east"):
        return
    identifier = found[0].message.need(c.MessageId)
    b.check(identifier.ack_desired, "the first Path doesn't ask for an ACK")
    same = [i.time for i in found if i.message.need(c.MessageId) == identifier]
    # Suggested: Rf = 500 ms, Rl = 3, Delta = 1.
    b.equal(len(same), 3, f"transmissions, at {same}")
    gaps = [late - early for early, late in itertools.pairwise(same)]
    for gap, expected in zip(gaps, (0.5, 1.0), strict=False):
        b.check(abs(gap - expected) <= 0.1 * expected, f"gaps {gaps}, expected 0.5 and 1.0 s")
    b.east.acknowledges = True
    b.tear_down(key)


@scenario(REDUCING)
def stops_on_ack(b: Bench) -> None:
    """An ACK ends the retransmissions (RFC 2961, 6.3)."""
    b.tear_down(b.set_up(b.path(50, bandwidth=1 * MBIT)))
    b.forget()
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.run(5.0, 0.01)
    found = [i.time for i in b.arrivals(b.east, c.Type.PATH, key)]
    b.equal(len(found), 1, f"transmissions of a Path that was acknowledged, at {found}")
    b.tear_down(key)


@scenario(REDUCING)
def srefresh_keeps(b: Bench) -> None:
    """Srefresh alone keeps path and reservation (RFC 2961, 5)."""
    key, identifier = _identified_set_up(b, refresh_ms=1000)
    b.egress.refreshes = False
    resv = _plain_resv(b, key).swapped(c.TimeValues(1000))
    resv_id = b.east.send_reliably(resv)
    b.run(0.05)

    def refresh() -> None:
        b.west.send_srefresh(identifier)
        b.east.send_srefresh(resv_id)

    _every_second(b, EXPIRED, refresh)
    b.check(b.forwards(key), "an LSP that Srefresh refreshed does not forward")
    b.check(not b.west.nacked and not b.east.nacked, "a NACK for an identifier that is known")
    b.run(EXPIRED)
    b.check(not b.passes(b.ingress.label(key) or 0), "it still forwards without any refresh")
    b.ingress.refreshes = True


@scenario(REDUCING)
def srefresh_lists_many(b: Bench) -> None:
    """One Srefresh refreshes many states; the others expire (RFC 2961, 5.1 and 5.3)."""
    b.ingress.refreshes = False
    paths = [b.west.identified(b.path(t, bandwidth=1 * MBIT, refresh_ms=1000)) for t in range(1, 9)]
    keys = [b.set_up(path) for path in paths]
    listed = [path.need(c.MessageId).identifier for path in paths[:4]]
    _every_second(b, EXPIRED, lambda: b.west.send_srefresh(*listed))
    for key in keys[:4]:
        b.check(b.forwards(key), f"tunnel {key[0].tunnel_id} was refreshed and does not forward")
    gone = {m.need(c.Session) for m in b.came(b.east, c.Type.PATH_TEAR)}
    for key in keys[4:]:
        label = b.ingress.label(key)
        alive = label is not None and b.passes(label)
        what = f"tunnel {key[0].tunnel_id} was not refreshed and still forwards"
        b.check(key[0] in gone or not alive, what)
    b.ingress.refreshes = True


@scenario(REDUCING)
def srefresh_unknown(b: Bench) -> None:
    """An unknown identifier gets a NACK, then the whole message counts (RFC 2961, 5.3, 5.4)."""
    path = b.west.identified(b.path())
    identifier = path.need(c.MessageId).identifier
    key = b.ingress.signal(b.west, c.Message(path.kind, path.objects, path.ttl))
    b.run(0.05)
    b.tear_down(key)
    b.forget()
    # The state is gone, but its sender doesn't know that yet.
    b.west.send_srefresh(identifier, identifier + 1000)
    b.until(lambda: len(b.west.nacked) >= 2)
    found = {(nack.epoch, nack.identifier) for nack in b.west.nacked}
    expected = {(b.west.epoch, identifier), (b.west.epoch, identifier + 1000)}
    b.equal(found, expected, "NACKs")
    # `Neighbour` answers a NACK with the message that it sent before.
    came = b.until(lambda: b.came(b.east, c.Type.PATH, key))
    b.check(came, "no Path in the east after the NACKed one was sent again")
    b.still_works()


@scenario(REDUCING)
def router_summarises(b: Bench) -> None:
    """The router refreshes by Srefresh too, and a NACK gets the whole Path (RFC 2961, 5.4)."""
    key = b.set_up(b.path())
    # The first Path can't know yet what the east is capable of (RFC 2961, 2). The first refresh, after at
    # most 1.5 R (RFC 2205, 3.7), gives the state its identifier, and the second may be a summary.
    b.until(lambda: b.came(b.east, c.Type.SREFRESH), 100.0)
    lists = [i for m in b.came(b.east, c.Type.SREFRESH) for i in m.all(c.MessageIdList)]
    paths = b.came(b.east, c.Type.PATH, key)
    known = [m.need(c.MessageId) for m in paths if m.get(c.MessageId)]
    if not b.check(lists and known, "no Srefresh in the east within 100 s, or no MESSAGE_ID"):
        return
    b.check(known[-1].identifier in lists[0].identifiers, "the Srefresh does not list the Path")
    b.equal(lists[0].epoch, known[-1].epoch, "epoch of the Srefresh")
    b.forget()
    nack = c.MessageIdNack(known[-1].epoch, known[-1].identifier)
    b.east.send(c.Message(c.Type.ACK, [nack]))
    came = b.until(lambda: b.came(b.east, c.Type.PATH, key))
    b.check(came, "no whole Path in the east after a NACK")
    b.tear_down(key)


@scenario(REDUCING)
def bundle(b: Bench) -> None:
    """Messages in a Bundle count like those alone (RFC 2961, 3.3)."""
    paths = [b.path(tunnel, bandwidth=1 * MBIT) for tunnel in (1, 2, 3)]
    b.west.send(c.Message(c.Type.BUNDLE, ttl=paths[0].ttl, parts=paths))
    keys = [key_of(path) for path in paths]
    b.until(lambda: all(b.came(b.east, c.Type.PATH, key) for key in keys))
    for key in keys:
        b.check(b.came(b.east, c.Type.PATH, key), f"tunnel {key[0].tunnel_id} of the Bundle")
    b.until(lambda: all(b.came(b.west, c.Type.RESV, key) for key in keys))
    for key in keys:
        b.check(b.came(b.west, c.Type.RESV, key), f"no Resv for tunnel {key[0].tunnel_id}")
    for path in paths:
        b.ingress.signal(b.west, path)
    for key in keys:
        b.tear_down(key)


@scenario(REDUCING)
def bundle_with_a_bad_one(b: Bench) -> None:
    """A bad message in a Bundle harms nobody but itself, at most its Bundle (RFC 2961, 3.4)."""
    good, bad = b.path(1, bandwidth=1 * MBIT), b.path(2, bandwidth=1 * MBIT).encode()
    broken = bad[:2] + bytes([bad[2] ^ 0xFF]) + bad[3:]
    shell = c.Message(c.Type.BUNDLE, ttl=good.ttl).encode(checksum=False)
    whole = shell + good.encode() + broken
    whole = whole[:6] + len(whole).to_bytes(2, "big") + whole[8:]
    b.west.send_bytes(b.west.envelope(c.Message(c.Type.BUNDLE, ttl=good.ttl)), whole)
    b.run(0.1)
    sessions = [m.need(c.Session).tunnel_id for m in b.came(b.east, c.Type.PATH)]
    b.check(2 not in sessions, "a Path with a wrong checksum in a Bundle goes on")
    empty = c.Message(c.Type.BUNDLE)
    b.west.send(empty)
    b.west.send(c.Message(c.Type.BUNDLE, parts=[c.Message(c.Type.BUNDLE, parts=[good])]))
    b.run(0.1)
    b.still_works()


@scenario(REDUCING)
def new_epoch(b: Bench) -> None:
    """A new epoch starts the identifiers afresh (RFC 2961, 4.2 and 4.5)."""
    b.west.next_id = 100
    old, _ = _identified_set_up(b)
    b.west.epoch, b.west.next_id = 0x0D0E0F, 1
    b.west.sent.clear()
    path = b.west.identified(b.path(2))
    new = b.set_up(path, "an LSP of the new epoch, with a lower identifier")
    b.run(0.1)
    b.check((b.west.epoch, 1) in _ids(b.west), "no ACK in the new epoch")
    # What the old epoch named must not be kept alive by its number in the new one.
    b.west.send_srefresh(100)
    b.until(lambda: b.west.nacked)
    b.check(b.west.nacked, "no NACK for an identifier of the old epoch")
    b.ingress.refreshes = True
    b.tear_down(new)
    b.tear_down(old)


@scenario(REDUCING)
def out_of_order(b: Bench) -> None:
    """A message that is older than the state's is not taken (RFC 2961, 4.5)."""
    older = b.west.identified(b.path(bandwidth=100 * MBIT))
    newer = b.west.identified(b.path(bandwidth=200 * MBIT))
    key = b.set_up(newer)
    b.forget()
    b.west.send(older)
    b.run(0.1)
    rates = [m.need(c.SenderTspec).traffic.rate for m in b.came(b.east, c.Type.PATH, key)]
    b.check(100 * MBIT / 8 not in rates, "an older Path replaced a newer one")
    b.tear_down(key)


@scenario()
def plain_neighbour(b: Bench) -> None:
    """A neighbour that never sets the capable bit gets no Bundle and no Srefresh (RFC 2961, 2)."""
    key = b.set_up(b.path())
    b.run(100.0, 0.05)
    kinds = {i.message.kind for i in b.east.inbox + b.west.inbox}
    b.check(not kinds & {c.Type.BUNDLE, c.Type.SREFRESH}, f"messages of types {sorted(kinds)}")
    b.check(b.forwards(key), "the LSP does not forward")
    b.tear_down(key)
