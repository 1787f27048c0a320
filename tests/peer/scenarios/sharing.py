"""Bandwidth: styles, make-before-break, admission control and preemption."""

from __future__ import annotations

from .. import codec as c
from ..bench import MBIT, Bench
from ..state import Key
from .registry import scenario

# RFC 2205, appendix B: admission control failure; 2 is bandwidth.
ADMISSION, NO_BANDWIDTH = 1, 2
# What may tell that a reservation was preempted: RFC 2205, B: 2 policy (5 is preemption, RFC 2750),
# 12 service preempted; RFC 3209, 4.7.3 leaves the choice.
PREEMPTED = (ADMISSION, 2, 12)


def _ids(b: Bench, what: str, *keys: Key) -> None:
    """These LSPs have a label each, no two the same, and all forward."""
    labels = [b.ingress.label(key) for key in keys]
    b.equal(len(set(labels) - {None}), len(keys), f"{what}: labels in the west, {labels}")
    for key in keys:
        out = b.forwards(key)
        expected = b.egress.egress_labels.get(key)
        b.equal(out.stack[0].label if out else None, expected, f"{what}: label in the east")


def _is_admission(b: Bench, found: list[tuple[int, int]], what: str) -> None:
    """The refusal is admission control, for lack of bandwidth."""
    # RFC 2205, appendix B: the low 12 bits are the cause, the high ones say how to read them.
    causes = [(code, value & 0x0FFF) for code, value in found[:1]]
    b.equal(causes, [(ADMISSION, NO_BANDWIDTH)], what)


@scenario()
def make_before_break(b: Bench) -> None:
    """Two LSPs of a session share in SE style; the old goes, the new stays (RFC 3209, 2.5, 4.6)."""
    most = 0.8 * b.reservable
    old = b.set_up(b.path(lsp=1, bandwidth=most), "the old LSP")
    new = b.set_up(b.path(lsp=2, bandwidth=most), "the new LSP beside the old one")
    _ids(b, "both LSPs", old, new)
    b.tear_down(old)
    _ids(b, "the new LSP alone", new)
    b.tear_down(new)


@scenario()
def make_before_break_larger(b: Bench) -> None:
    """The new LSP needs more: only the difference is added (RFC 3209, 2.5)."""
    old = b.set_up(b.path(lsp=1, bandwidth=0.5 * b.reservable), "the old LSP")
    new = b.set_up(b.path(lsp=2, bandwidth=0.9 * b.reservable), "the larger LSP")
    _ids(b, "both LSPs", old, new)
    _is_admission(b, b.refused(b.path(9, bandwidth=0.2 * b.reservable)), "a stranger beside them")
    b.tear_down(new)
    # With the larger one gone, the next Resv asks for less, and the rest is free.
    b.egress.reserve(old[0], b.east)
    b.run(0.02)
    _ids(b, "the old LSP alone", old)
    third = b.set_up(b.path(10, bandwidth=0.4 * b.reservable), "a stranger in the room it left")
    b.tear_down(third)
    b.tear_down(old)


@scenario()
def sessions_do_not_share(b: Bench) -> None:
    """SE shares within a session, never between two (RFC 3209, 2.4.4)."""
    first = b.set_up(b.path(1, bandwidth=0.6 * b.reservable))
    _is_admission(b, b.refused(b.path(2, bandwidth=0.6 * b.reservable)), "a second session")
    b.tear_down(first)


@scenario()
def fixed_filter(b: Bench) -> None:
    """In FF style each LSP of a session has its own bandwidth (RFC 3209, 2.4.1)."""
    b.egress.egress_style = c.Style.FF
    one = b.set_up(b.path(lsp=1, bandwidth=0.3 * b.reservable, flags=0), "the first LSP")
    two = b.set_up(b.path(lsp=2, bandwidth=0.3 * b.reservable, flags=0), "the second LSP")
    _ids(b, "both LSPs", one, two)
    styles = {m.need(c.Style).vector for m in b.came(b.west, c.Type.RESV)}
    b.equal(styles, {c.Style.FF}, "styles in the west")
    b.tear_down(one)
    _ids(b, "the second LSP alone", two)
    b.tear_down(two)


@scenario()
def fixed_filter_adds_up(b: Bench) -> None:
    """In FF style two of 60 % don't fit on one link (RFC 3209, 2.4.1; RFC 2205, B, error 1)."""
    b.egress.egress_style = c.Style.FF
    one = b.set_up(b.path(lsp=1, bandwidth=0.6 * b.reservable, flags=0), "the first LSP")
    found = b.refused(b.path(lsp=2, bandwidth=0.6 * b.reservable, flags=0))
    _is_admission(b, found, "the second LSP")
    b.check(b.forwards(one), "the first LSP does not forward after the refusal")
    b.tear_down(one)


@scenario()
def too_much(b: Bench) -> None:
    """More than the link has: admission control failure (RFC 2205, 2.5 and B, error 1)."""
    _is_admission(b, b.refused(b.path(bandwidth=1.5 * b.reservable)), "150 % of the link")
    b.check(b.ingress.label(next(iter(b.ingress.paths))) is None, "a label for 150 % of the link")
    b.still_works()


@scenario()
def refused_takes_nothing(b: Bench) -> None:
    """What a refused LSP asked for stays free for others (RFC 2205, 2.5; RFC 3209, 4.7.3)."""
    first = b.set_up(b.path(1, bandwidth=0.6 * b.reservable))
    for tunnel in range(2, 6):
        path = b.path(tunnel, bandwidth=0.5 * b.reservable)
        _is_admission(b, b.refused(path), f"tunnel {tunnel}")
        b.tear_down((path.need(c.Session), path.need(c.SenderTemplate)))
    last = b.set_up(b.path(7, bandwidth=0.39 * b.reservable), "what fits beside the first")
    _ids(b, "both", first, last)
    b.tear_down(last)
    b.tear_down(first)


@scenario()
def grows_in_place(b: Bench) -> None:
    """A larger SENDER_TSPEC of the same LSP is admitted or refused anew (RFC 2205, 2.3)."""
    key = b.set_up(b.path(bandwidth=100 * MBIT))
    b.forget()
    larger = b.path(bandwidth=0.7 * b.reservable)
    b.ingress.signal(b.west, larger)
    rate = larger.need(c.SenderTspec).traffic.rate

    def grown() -> bool:
        flows = [f for m in b.came(b.west, c.Type.RESV, key) for f in c.flow_descriptors(m)]
        return any(f.flowspec is not None and f.flowspec.traffic.rate == rate for f in flows)

    b.check(b.until(grown), "no Resv with the larger rate in the west")
    _is_admission(b, b.refused(b.path(2, bandwidth=0.5 * b.reservable)), "a second LSP of 50 %")
    b.tear_down(key)


def _lost(b: Bench, key: Key) -> list[tuple[int, int]]:
    """What told of the loss of an LSP; a ResvTear counts as code 12."""
    torn = [(12, 0)] * len(b.came(b.west, c.Type.RESV_TEAR, key))
    west = b.errors(b.west, c.Type.PATH_ERR, key)
    return torn + west + b.errors(b.east, c.Type.RESV_ERR, key)


@scenario()
def preemption(b: Bench) -> None:
    """A better setup priority takes the bandwidth of a worse holding one (RFC 3209, 4.7.3)."""
    most = 0.8 * b.reservable
    weak = b.set_up(b.path(1, bandwidth=most, setup=7, hold=7), "the weak LSP")
    label = b.ingress.label(weak) or 0
    strong = b.set_up(b.path(2, bandwidth=most, setup=3, hold=3), "the strong LSP")
    b.until(lambda: _lost(b, weak))
    codes = [code for code, _ in _lost(b, weak)]
    b.check(codes and codes[0] in PREEMPTED, f"what told of the preemption: {_lost(b, weak)}")
    b.check(not b.passes(label), "the preempted LSP still forwards")
    b.check(b.forwards(strong), "the preempting LSP does not forward")
    b.tear_down(weak)
    b.tear_down(strong)


@scenario()
def preempts_the_weakest(b: Bench) -> None:
    """Of several, those with the worst holding priority go first (RFC 3209, 4.7.3)."""
    part = 0.3 * b.reservable
    keys = [b.set_up(b.path(t, bandwidth=part, setup=t, hold=t), f"tunnel {t}") for t in (5, 6, 7)]
    strong = b.set_up(b.path(1, bandwidth=part, setup=1, hold=1), "the strong LSP")
    b.run(0.1)
    lost = [key[0].tunnel_id for key in keys if _lost(b, key)]
    b.equal(lost, [7], "tunnels that were preempted")
    for key in [*keys, strong]:
        b.tear_down(key)


@scenario()
def equal_priority_holds(b: Bench) -> None:
    """A setup priority equal to the holding one takes nothing (RFC 3209, 4.7.3)."""
    most = 0.8 * b.reservable
    first = b.set_up(b.path(1, bandwidth=most, setup=3, hold=3), "the first LSP")
    for tunnel, priority in ((2, 3), (3, 7)):
        path = b.path(tunnel, bandwidth=most, setup=priority, hold=priority)
        _is_admission(b, b.refused(path), f"an LSP of setup priority {priority}")
        b.ingress.tear((path.need(c.Session), path.need(c.SenderTemplate)))
    b.check(not _lost(b, first), f"the first LSP is told {_lost(b, first)}")
    b.check(b.forwards(first), "the first LSP does not forward")
    b.tear_down(first)


@scenario()
def holding_beats_setup(b: Bench) -> None:
    """What counts against a newcomer is the holding priority (RFC 3209, 4.7.3)."""
    most = 0.8 * b.reservable
    first = b.set_up(b.path(1, bandwidth=most, setup=7, hold=0), "the first LSP")
    found = b.refused(b.path(2, bandwidth=most, setup=1, hold=1))
    _is_admission(b, found, "an LSP of setup priority 1 against holding priority 0")
    b.check(b.forwards(first), "the first LSP does not forward")
    b.tear_down(first)
