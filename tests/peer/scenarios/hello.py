"""Hello: instances, and what a restart of a neighbour means (RFC 3209, 5)."""

from __future__ import annotations

from .. import codec as c
from ..bench import Bench, Options
from ..neighbour import Neighbour
from ..state import Key
from .registry import scenario

ASKING = Options(hello_interval_s=1.0)


def _acks(b: Bench, side: Neighbour) -> list[c.HelloAck]:
    return [ack for m in b.came(side, c.Type.HELLO) for ack in m.all(c.HelloAck)]


def _ask(b: Bench, side: Neighbour) -> c.HelloAck | None:
    """One HELLO REQUEST and the answer to it."""
    before = len(_acks(b, side))
    side.send_hello()
    b.until(lambda: len(_acks(b, side)) > before, 0.2)
    answers = _acks(b, side)[before:]
    return answers[0] if answers else None


@scenario()
def answers(b: Bench) -> None:
    """A REQUEST gets an ACK with our instance and a steady one of its own (RFC 3209, 5.3)."""
    for name, side in (("west", b.west), ("east", b.east)):
        side.instance = 0x12345678
        first, second = _ask(b, side), _ask(b, side)
        if not b.check(first and second, f"no HELLO ACK in the {name}"):
            continue
        for answer in (first, second):
            if answer is not None:
                b.equal(answer.destination_instance, 0x12345678, f"{name}: Dst_Instance")
                b.check(answer.source_instance, f"{name}: Src_Instance is zero")
        if first is not None and second is not None:
            steady = first.source_instance == second.source_instance
            b.check(steady, f"{name}: Src_Instance changes without a restart")


@scenario()
def follows_our_instance(b: Bench) -> None:
    """After our restart the ACK has our new instance (RFC 3209, 5.3)."""
    _ask(b, b.west)
    b.west.instance += 1
    answer = _ask(b, b.west)
    found = answer.destination_instance if answer else None
    b.equal(found, b.west.instance, "Dst_Instance after our restart")


def _again(b: Bench, key: Key, label: int) -> bool:
    """Whether the router told the west of the loss, or signals to the east anew."""
    told = b.came(b.west, c.Type.PATH_ERR, key) or b.came(b.west, c.Type.RESV_TEAR, key)
    return bool(told or b.came(b.east, c.Type.PATH, key))


@scenario(ASKING)
def downstream_restarts(b: Bench) -> None:
    """The next hop has a new instance: the LSP is torn or signalled anew (RFC 3209, 5.3, 5.4)."""
    b.run(3.0)
    _ask(b, b.east)
    key = b.set_up(b.path())
    label = b.ingress.label(key) or 0
    _ask(b, b.east)
    b.forget()
    # The east forgets everything and comes back.
    b.egress.paths.clear()
    b.east.instance += 1
    b.east.peer_instance = 0
    _ask(b, b.east)
    b.until(lambda: _again(b, key, label), 10.0)
    b.check(_again(b, key, label), "10 s after the restart nobody was told, and no new Path")


@scenario(ASKING)
def downstream_falls_silent(b: Bench) -> None:
    """The next hop answers no more: the neighbour is lost after 3.5 intervals (RFC 3209, 5.3)."""
    b.run(3.0)
    key = b.set_up(b.path())
    b.run(3.0)
    b.check(b.came(b.east, c.Type.HELLO), "no HELLO in the east, though the router should ask")
    b.east.answers_hello = False
    b.forget()
    b.until(lambda: _again(b, key, 0), 10.0)
    told = b.came(b.west, c.Type.PATH_ERR, key) + b.came(b.west, c.Type.RESV_TEAR, key)
    b.check(told, "10 s after the last HELLO the west was not told")


@scenario(ASKING)
def asks(b: Bench) -> None:
    """The router asks every interval with steady instances (RFC 3209, 5.3)."""
    b.run(10.0)
    for name, side in (("west", b.west), ("east", b.east)):
        requests = [r for m in b.came(side, c.Type.HELLO) for r in m.all(c.HelloRequest)]
        b.check(5 <= len(requests) <= 12, f"{name}: {len(requests)} requests in 10 s")
        sources = {r.source_instance for r in requests}
        b.equal(len(sources - {0}), 1, f"{name}: instances {sources}")
        later = {r.destination_instance for r in requests[2:]}
        b.equal(later, {side.instance}, f"{name}: Dst_Instance once we answered")


@scenario()
def instance_of_zero(b: Bench) -> None:
    """Src_Instance must not be zero; such a HELLO must do no harm (RFC 3209, 5.2)."""
    key = b.set_up(b.path())
    _ask(b, b.west)
    for kind in (c.HelloRequest, c.HelloAck):
        b.west.send(c.Message(c.Type.HELLO, [kind(0, 0)], ttl=1))
        b.east.send(c.Message(c.Type.HELLO, [kind(0, 0)], ttl=1))
    b.west.send(c.Message(c.Type.HELLO, [], ttl=1))
    b.run(0.1)
    b.still_works()
    b.tear_down(key)


@scenario()
def unasked_ack(b: Bench) -> None:
    """An ACK that nobody asked for gets no answer (RFC 3209, 5.3)."""
    b.west.send(c.Message(c.Type.HELLO, [c.HelloAck(5, 6)], ttl=1))
    b.run(0.1)
    b.check(not _acks(b, b.west), "an ACK is answered by an ACK")
    b.still_works()
