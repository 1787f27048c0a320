"""East is egress: labels of every kind, and reservations that deserve a ResvErr."""

from __future__ import annotations

from .. import codec as c
from ..bench import MBIT, Bench
from ..codec.link import LABEL_EXPLICIT_NULL, LABEL_IMPLICIT_NULL
from ..state import Key
from .registry import scenario


def _waiting_path(b: Bench, tunnel: int = 1, lsp: int = 1) -> Key:
    """A Path that reached the east, which does not answer by itself."""
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path(tunnel, lsp))
    b.check(b.until(lambda: b.came(b.east, c.Type.PATH, key)), "no Path in the east")
    return key


def resv(
    b: Bench,
    key: Key,
    *,
    vector: int = c.Style.SE,
    bandwidth: float = 100 * MBIT,
    label: int = 1500,
    lsp: int | None = None,
    tunnel: int | None = None,
) -> c.Message:
    """A Resv for a Path that came, with one thing or another that is not right."""
    paths = b.came(b.east, c.Type.PATH, key)
    handle = paths[-1].need(c.RsvpHop).handle if paths else 0
    session = key[0]
    if tunnel is not None:
        session = c.Session(session.destination, tunnel, session.extended_tunnel_id)
    return c.Message(
        c.Type.RESV,
        [
            session,
            c.RsvpHop(b.east_ends.address, handle),
            c.TimeValues(30_000),
            c.Style(vector),
            c.Flowspec(c.Traffic.of_bits(bandwidth)),
            c.FilterSpec(key[1].address, key[1].lsp_id if lsp is None else lsp),
            c.Label(label),
        ],
    )


def _answered(b: Bench, message: c.Message, codes: set[int], what: str) -> None:
    """The Resv comes back as a ResvErr with one of these codes, and does not go up."""
    seen = len(b.came(b.east, c.Type.RESV_ERR))
    up = len(b.came(b.west, c.Type.RESV))
    b.east.send(message)
    b.until(lambda: len(b.came(b.east, c.Type.RESV_ERR)) > seen, 0.3)
    new = b.came(b.east, c.Type.RESV_ERR)[seen:]
    if b.check(new, f"{what}: no ResvErr"):
        code = new[0].need(c.ErrorSpec).code
        b.check(code in codes, f"{what}: code {code}, expected one of {sorted(codes)}")
        b.equal(new[0].need(c.Session), message.need(c.Session), f"{what}: SESSION")
    b.equal(len(b.came(b.west, c.Type.RESV)), up, f"{what}: Resvs in the west")


def _good_after_all(b: Bench, key: Key) -> None:
    """After the refusals the same LSP can still come up."""
    b.egress.answers = True
    b.egress.reserve(key[0], b.east)
    b.check(b.until(lambda: b.ingress.label(key) is not None), "a good Resv is not taken any more")
    b.check(b.forwards(key), "the LSP does not forward")
    b.tear_down(key)


@scenario()
def unknown_session(b: Bench) -> None:
    """No path of this session: error 3 (RFC 2205, appendix B)."""
    key = _waiting_path(b)
    _answered(b, resv(b, key, tunnel=4711), {3}, "a Resv for another session")
    _good_after_all(b, key)


@scenario()
def unknown_sender(b: Bench) -> None:
    """The session is known, the sender is not: error 4 (RFC 2205, appendix B)."""
    key = _waiting_path(b)
    _answered(b, resv(b, key, lsp=4711), {4}, "a Resv for another sender")
    _good_after_all(b, key)


@scenario()
def unknown_style(b: Bench) -> None:
    """An option vector that names no style: error 6 (RFC 2205, A.7 and B)."""
    key = _waiting_path(b)
    _answered(b, resv(b, key, vector=0b11111), {6}, "a Resv of style 11111")
    _good_after_all(b, key)


@scenario()
def conflicting_style(b: Bench) -> None:
    """FF after SE in one session: error 5 (RFC 2205, 2.4 and B)."""
    first = b.set_up(b.path(lsp=1))
    second = _waiting_path(b, lsp=2)
    message = resv(b, second, vector=c.Style.FF, label=1600)
    _answered(b, message, {5}, "a Resv of style FF beside one of SE")
    b.check(b.forwards(first), "the first LSP does not forward any more")
    b.tear_down(second)
    b.tear_down(first)


@scenario()
def too_much_reserved(b: Bench) -> None:
    """The receiver asks for more than the link has: error 1 (RFC 2205, 2.5 and B)."""
    key = _waiting_path(b)
    message = resv(b, key, bandwidth=1.5 * b.reservable)
    # The smaller of Tspec and flowspec may be what is reserved (RFC 2210, 2.2): that fits.
    b.east.send(message)
    b.until(lambda: b.came(b.east, c.Type.RESV_ERR) or b.ingress.label(key) is not None, 0.3)
    found = [(code, value & 0x0FFF) for code, value in b.errors(b.east, c.Type.RESV_ERR)]
    if b.ingress.label(key) is None:
        b.equal(found[:1], [(1, 2)], "a Resv for 150 % of the link")
    _good_after_all(b, key)


@scenario()
def label_out_of_range(b: Bench) -> None:
    """A label of more than 20 bits (RFC 3209, 4.1 and 7.3; RFC 3032, 2.1)."""
    key = _waiting_path(b)
    for label in (1 << 20, 0xFFFFFFFF):
        # Routing problem: unacceptable label value or allocation failure (RFC 3209, 7.3).
        _answered(b, resv(b, key, label=label), {24}, f"a Resv with label {label}")
    _good_after_all(b, key)


@scenario()
def no_label(b: Bench) -> None:
    """A Resv without LABEL sets up no LSP (RFC 3209, 3.2 and 4.1)."""
    key = _waiting_path(b)
    b.east.send(resv(b, key).without(c.Label))
    b.run(0.1)
    b.check(b.ingress.label(key) is None, "a Resv without LABEL became one with a label")
    _good_after_all(b, key)


@scenario()
def wrong_hop(b: Bench) -> None:
    """A Resv that names a hop that is not ours does no lasting harm (RFC 2205, 3.1.4: to be ignored)."""
    key = _waiting_path(b)
    message = resv(b, key).swapped(c.RsvpHop("192.0.2.66"))
    b.east.send(message)
    b.run(0.1)
    b.equal(len(b.came(b.west, c.Type.RESV)), 0, "Resvs in the west after one of another hop")
    _good_after_all(b, key)


@scenario()
def implicit_null(b: Bench) -> None:
    """Label 3 from the egress: the router pops (RFC 3032, 2.1; RFC 3031, 3.16)."""
    b.egress.egress_label = LABEL_IMPLICIT_NULL
    key = b.set_up(b.path())
    b.push(b.ingress.label(key) or 0, ttl=64)
    b.check(not b.east.labelled, "a packet with a label where the egress asked for none")
    found = [packet for _, packet in b.east.packets if packet.protocol == 17]
    if b.check(found, "no packet in the east"):
        b.equal(found[0].payload, b.datagram().payload, "payload in the east")
        # RFC 3443, 3.1 to 3.3: in the uniform model the label's TTL comes out; in the pipe the packet's.
        b.check(found[0].ttl in (63, 64), f"TTL {found[0].ttl} in the east after 64 in the west")
    b.tear_down(key)


@scenario()
def explicit_null(b: Bench) -> None:
    """Label 0 from the egress: the router swaps to it (RFC 3032, 2.1)."""
    b.egress.egress_label = LABEL_EXPLICIT_NULL
    key = b.set_up(b.path())
    out = b.forwards(key)
    if b.check(out, "no labelled packet in the east") and out is not None:
        b.equal(out.stack[0].label, LABEL_EXPLICIT_NULL, "label in the east")
    b.tear_down(key)


@scenario()
def changed_label(b: Bench) -> None:
    """A new label in a later Resv is used from then on (RFC 3209, 4.1.1.1; RFC 2205, 2.3)."""
    key = b.set_up(b.path())
    mine = b.ingress.label(key)
    b.egress.egress_labels[key] = 77_777
    b.egress.reserve(key[0], b.east)
    b.run(0.05)
    b.equal(b.ingress.label(key), mine, "the router's own label")
    out = b.forwards(key)
    b.equal(out.stack[0].label if out else None, 77_777, "label in the east")
    b.tear_down(key)


@scenario()
def duplicate_resv(b: Bench) -> None:
    """The same Resv ten times reserves once (RFC 2205, 2.3)."""
    key = b.set_up(b.path(bandwidth=0.6 * b.reservable))
    for _ in range(10):
        b.egress.reserve(key[0], b.east)
        b.run(0.005)
    other = b.set_up(b.path(2, bandwidth=0.39 * b.reservable), "what fits beside it")
    b.check(b.forwards(key) and b.forwards(other), "one of two LSPs does not forward")
    b.tear_down(other)
    b.tear_down(key)
