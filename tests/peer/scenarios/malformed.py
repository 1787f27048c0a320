"""Bytes that break the rules: dropped or refused, and the router lives on."""

from __future__ import annotations

from collections.abc import Callable

from .. import codec as c
from ..bench import Bench
from ..codec.rsvp import with_checksum
from ..state import key_of
from .registry import scenario
from .reservations import resv


def _dropped(b: Bench, path: c.Message, payload: bytes, what: str) -> None:
    """These bytes in a Path's envelope get no answer and go no further."""
    b.west.send_bytes(b.west.envelope(path), payload)
    b.run(0.03)
    answers = [i.message.kind for i in b.west.inbox if i.message.kind != c.Type.HELLO]
    onward = [i.message.kind for i in b.east.inbox if i.message.kind != c.Type.HELLO]
    b.check(not answers, f"{what}: answered by messages of types {answers}")
    b.check(not onward, f"{what}: passed on as messages of types {onward}")
    b.forget()


def _patched(data: bytes, offset: int, new: bytes) -> bytes:
    return with_checksum(data[:offset] + new + data[offset + len(new) :])


@scenario()
def wrong_checksum(b: Bench) -> None:
    """A wrong checksum means that the message is dropped (RFC 2205, 3.1.1)."""
    path = b.path()
    good = path.encode()
    for bit in (0x0001, 0x8000):
        found = int.from_bytes(good[2:4], "big") ^ bit
        bad = good[:2] + found.to_bytes(2, "big") + good[4:]
        _dropped(b, path, bad, f"checksum off by {bit:#x}")
    changed = good[:-1] + bytes([good[-1] ^ 0xFF])
    _dropped(b, path, changed, "last byte changed under the checksum")
    b.still_works()


@scenario()
def no_checksum(b: Bench) -> None:
    """A checksum of zero means that none was sent; the message counts (RFC 2205, 3.1.1)."""
    path = b.path()
    b.west.send_bytes(b.west.envelope(path), path.encode(checksum=False))
    came = b.until(lambda: b.came(b.east, c.Type.PATH, key_of(path)))
    b.check(came, "a Path without checksum does not go on")
    b.tear_down(b.set_up(path))


@scenario()
def wrong_header(b: Bench) -> None:
    """Version, lengths and types that don't exist (RFC 2205, 3.1.1)."""
    path = b.path()
    good = path.encode()
    size = len(good)
    for offset, new, what in (
        (0, b"\x20", "version 2"),
        (0, b"\x00", "version 0"),
        (1, b"\x00", "message type 0"),
        (1, b"\x63", "message type 99"),
        (6, b"\x00\x00", "length 0"),
        (6, b"\x00\x04", "length 4"),
        (6, b"\x00\x08", "length 8: a Path without objects"),
        (6, (size + 4).to_bytes(2, "big"), "length beyond the packet"),
        (6, (size - 2).to_bytes(2, "big"), "length that is no multiple of 4"),
        (6, b"\xff\xff", "length 65535"),
    ):
        _dropped(b, path, _patched(good, offset, new), what)
    for cut in (0, 1, 4, 7):
        _dropped(b, path, good[:cut], f"only {cut} bytes")
    b.still_works()


@scenario()
def wrong_object_lengths(b: Bench) -> None:
    """Objects of no length, odd length, or beyond the message (RFC 2205, 3.1.2)."""
    path = b.path()
    good = path.encode()
    offsets, at = [], 8
    for item in path.objects:
        offsets.append((type(item).__name__, at))
        at += len(item.encode())
    for name, offset in offsets:
        for length in (0, 1, 3, 4, 6, 0xFFFC):
            if name == "ExplicitRoute" and length == 4:
                continue
            bad = _patched(good, offset, length.to_bytes(2, "big"))
            _dropped(b, path, bad, f"{name} of length {length}")
    b.still_works()


@scenario()
def cut_anywhere(b: Bench) -> None:
    """A Path cut after any word, its length made to fit: no crash (RFC 2205, 3.1.2)."""
    path = b.path()
    good = path.encode()
    for cut in range(8, len(good), 4):
        short = _patched(good[:cut], 6, cut.to_bytes(2, "big"))
        b.west.send_bytes(b.west.envelope(path), short)
        b.run(0.004)
    b.run(0.05)
    # Between objects a cut leaves a Path that lacks some; it may be refused, but never go on.
    b.check(not b.came(b.east, c.Type.PATH), "a Path that was cut goes on")
    b.still_works()


@scenario()
def missing_objects(b: Bench) -> None:
    """A Path without a mandatory object (RFC 2205, 3.1.3; RFC 3209, 3.1)."""
    path = b.path()
    for kind in (c.Session, c.RsvpHop, c.TimeValues, c.SenderTemplate, c.SenderTspec):
        payload = path.without(kind).encode()
        _dropped(b, path, payload, f"a Path without {kind.__name__}")
    b.still_works()


@scenario()
def broken_route_subobjects(b: Bench) -> None:
    """Subobjects of EXPLICIT_ROUTE with lengths that don't fit (RFC 3209, 4.3.3)."""
    path = b.path()
    own = c.ExplicitRoute.strict(b.west_ends.peer).body()
    for body, what in (
        (own + b"\x01\x00\x00\x00", "length 0"),
        (own + b"\x01\x02\x00\x00", "length 2"),
        (own + b"\x01\x04\x00\x00", "IPv4 of length 4"),
        (own + b"\x01\xfc\x00\x00", "length beyond the object"),
        (own + b"\x7e\x04\x00\x00", "type 126"),
    ):
        objects: list[c.Obj] = [
            c.Unknown(20, 1, body) if isinstance(item, c.ExplicitRoute) else item for item in path.objects
        ]
        bad = c.Message(c.Type.PATH, objects, path.ttl)
        b.west.send(bad)
        b.run(0.03)
        b.check(not b.came(b.east, c.Type.PATH), f"EXPLICIT_ROUTE with {what} goes on")
        found = b.errors(b.west, c.Type.PATH_ERR)
        # Dropped, or refused as a bad route (RFC 3209, 7.3: values 1 and 2, or 4).
        b.check(set(found) <= {(24, 1), (24, 2), (24, 4)}, f"{what}: errors {found}")
        if what == "type 126":
            # What is not known comes back (RFC 3209, 4.3.6).
            errors = [error.get(c.ExplicitRoute) for error in b.came(b.west, c.Type.PATH_ERR)]
            b.equal(
                [error and error.body() for error in errors], [b"\x7e\x04\x00\x00"], "the route in PathErr"
            )
        b.forget()
    b.still_works()


@scenario()
def broken_reservations(b: Bench) -> None:
    """A Resv that is cut or lacks objects takes no hold, and no LSP dies (RFC 2205, 3.1.4)."""
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.until(lambda: b.came(b.east, c.Type.PATH, key))
    good = resv(b, key)
    envelope = b.east.envelope(good)
    data = good.encode()
    for cut in range(8, len(data), 4):
        b.east.send_bytes(envelope, _patched(data[:cut], 6, cut.to_bytes(2, "big")))
        b.run(0.004)
    kinds = (c.Session, c.RsvpHop, c.TimeValues, c.Style, c.Flowspec, c.FilterSpec)
    for kind in kinds:
        b.east.send_bytes(envelope, good.without(kind).encode())
        b.run(0.004)
    b.run(0.05)
    b.check(not b.came(b.west, c.Type.RESV, key), "a broken Resv goes on")
    b.egress.answers = True
    b.egress.reserve(key[0], b.east)
    b.check(b.until(lambda: b.ingress.label(key) is not None), "a good Resv is not taken any more")
    b.tear_down(key)


@scenario()
def unknown_class_rejected(b: Bench) -> None:
    """Class 0bbbbbbb: the Path is refused with error 13 (RFC 2205, 3.10 and B)."""
    path = b.path().adding(c.Unknown(111, 5, b"abcd"))
    found = b.refused(path)
    b.equal(found[:1], [(13, 111 << 8 | 5)], "an unknown class 111, type 5")
    b.check(not b.came(b.east, c.Type.PATH), "a refused Path goes on")
    b.still_works()


@scenario()
def unknown_class_ignored(b: Bench) -> None:
    """Class 10bbbbbb: the object is dropped, the Path goes on (RFC 2205, 3.10)."""
    key = b.set_up(b.path().adding(c.Unknown(0x9F, 5, b"abcd")))
    for message in b.came(b.east, c.Type.PATH, key):
        b.check(not message.all(c.Unknown), "an ignored object goes on")
    b.check(not b.errors(b.west, c.Type.PATH_ERR), "an ignored object is answered by an error")
    b.tear_down(key)


@scenario()
def unknown_class_forwarded(b: Bench) -> None:
    """Class 11bbbbbb: the object goes on as it is, both ways (RFC 2205, 3.10)."""
    extra = c.Unknown(0xF1, 5, b"abcdefgh")
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path().adding(extra))
    b.until(lambda: b.came(b.east, c.Type.PATH, key))
    paths = b.came(b.east, c.Type.PATH, key)
    b.equal([m.all(c.Unknown) for m in paths[:1]], [[extra]], "unknown objects in the east")
    message = resv(b, key)
    at = next(i for i, item in enumerate(message.objects) if isinstance(item, c.Style))
    message.objects.insert(at, extra)
    b.east.send(message)
    b.until(lambda: b.came(b.west, c.Type.RESV, key))
    resvs = b.came(b.west, c.Type.RESV, key)
    b.equal([m.all(c.Unknown) for m in resvs[:1]], [[extra]], "unknown objects in the west")
    b.check(b.forwards(key), "the LSP does not forward")
    b.tear_down(key)
    b.egress.answers = True


@scenario()
def unknown_c_type(b: Bench) -> None:
    """A C-Type that nobody knows, of a class that all know: error 14 (RFC 2205, 3.10 and B)."""
    plain = b.path()
    objects: list[c.Obj] = [
        c.Unknown(19, 99, b"\x00\x00\x08\x00") if isinstance(item, c.LabelRequest) else item
        for item in plain.objects
    ]
    found = b.refused(c.Message(c.Type.PATH, objects, plain.ttl))
    b.equal(found[:1], [(14, 19 << 8 | 99)], "LABEL_REQUEST of C-Type 99")
    b.check(not b.came(b.east, c.Type.PATH), "a refused Path goes on")
    b.still_works()


@scenario()
def unknown_class_in_resv(b: Bench) -> None:
    """Class 0bbbbbbb in a Resv: refused with ResvErr 13 (RFC 2205, 3.10 and B)."""
    b.egress.answers = False
    key = b.ingress.signal(b.west, b.path())
    b.until(lambda: b.came(b.east, c.Type.PATH, key))
    message = resv(b, key)
    message.objects.insert(3, c.Unknown(111, 5, b"abcd"))
    b.east.send(message)
    b.until(lambda: b.came(b.east, c.Type.RESV_ERR))
    b.equal(b.errors(b.east, c.Type.RESV_ERR)[:1], [(13, 111 << 8 | 5)], "error in the east")
    b.check(not b.came(b.west, c.Type.RESV, key), "a refused Resv goes on")
    b.tear_down(key)
    b.egress.answers = True


@scenario()
def any_order(b: Bench) -> None:
    """Objects may come in any order and must be taken all the same (RFC 2205, 3.1.3)."""
    path = b.path()
    head, rest = path.objects[0], path.objects[1:]
    orders: list[Callable[[], list[c.Obj]]] = [
        lambda: [*rest[:-2], head, *rest[-2:]],
        lambda: [head, rest[1], rest[0], *rest[2:]],
    ]
    for tunnel, order in enumerate(orders, 1):
        session = c.Session(b.east_ends.router_id, tunnel, b.west_ends.router_id)
        shuffled = c.Message(c.Type.PATH, order(), path.ttl).swapped(session)
        b.tear_down(b.set_up(shuffled, f"order {tunnel}"))
