"""Authentication: INTEGRITY with HMAC-MD5 on both links (RFC 2747)."""

from __future__ import annotations

from .. import codec as c
from ..bench import MBIT, Bench, Options
from ..state import key_of
from .registry import scenario

KEYED = Options(key=b"0123456789abcdef", key_id=0x0102)


def _signed(b: Bench, message: c.Message, key: bytes, key_id: int, sequence: int) -> bytes:
    """A message authenticated by whatever the scenario wants."""
    integrity = c.Integrity(key_id, sequence, flags=c.Integrity.HANDSHAKE)
    objects = [integrity, *message.objects]
    return c.sign(c.Message(message.kind, objects, message.ttl).encode(), key)


def _dropped(b: Bench, path: c.Message, payload: bytes, what: str) -> None:
    """These bytes get no answer (but maybe a challenge), and go no further."""
    b.west.send_bytes(b.west.envelope(path), payload)
    b.run(0.1)
    quiet = (c.Type.HELLO, c.Type.INTEGRITY_CHALLENGE)
    answers = [i.message.kind for i in b.west.inbox if i.message.kind not in quiet]
    b.check(not answers, f"{what}: answered by messages of types {answers}")
    b.check(not b.came(b.east, c.Type.PATH, key_of(path)), f"{what}: the Path goes on")
    b.forget()


@scenario(KEYED)
def right_key(b: Bench) -> None:
    """With the right key everything works, and the router signs all it sends (RFC 2747, 4.1)."""
    key = b.set_up(b.path())
    b.check(b.forwards(key), "an authenticated LSP does not forward")
    for name, side in (("west", b.west), ("east", b.east)):
        # A digest that is wrong or missing, or a repeated sequence number, would stand here.
        b.equal(side.unauthentic, [], f"what the {name} cannot accept")
        ids = {o.key_id for i in side.inbox for o in i.message.all(c.Integrity)}
        b.equal(ids, {b.options.key_id}, f"key identifiers in the {name}")
    b.tear_down(key)


@scenario(KEYED)
def no_integrity(b: Bench) -> None:
    """A message without INTEGRITY is dropped (RFC 2747, 4.2)."""
    path = b.path()
    _dropped(b, path, path.encode(), "a Path without INTEGRITY")
    b.still_works()


@scenario(KEYED)
def wrong_key(b: Bench) -> None:
    """A digest of another key, or an unknown key, is dropped (RFC 2747, 4.2)."""
    path = b.path()
    right, key_id = b.options.key or b"", b.options.key_id
    b.tear_down(b.set_up(b.path(50)))
    b.forget()
    ahead = b.west.sequence + 1000
    wrong = _signed(b, path, b"another key.....", key_id, ahead)
    _dropped(b, path, wrong, "a Path with a digest of another key")
    unknown = _signed(b, path, right, key_id + 1, ahead + 1)
    _dropped(b, path, unknown, "a Path with an unknown key identifier")
    flipped = bytearray(_signed(b, path, right, key_id, ahead + 2))
    flipped[-1] ^= 1
    _dropped(b, path, bytes(flipped), "a Path that was changed under its digest")
    # None of the three moved the sequence number on.
    b.still_works()


@scenario(KEYED)
def replay(b: Bench) -> None:
    """A sequence number that was there before is dropped (RFC 2747, 4.2)."""
    path = b.path()
    recorded = b.west.encode(path)
    envelope = b.west.envelope(path)
    key = key_of(path)
    b.west.send_bytes(envelope, recorded)
    b.check(b.until(lambda: b.came(b.east, c.Type.PATH, key)), "the original does not go on")
    b.ingress.signal(b.west, path)
    b.run(0.05)
    b.tear_down(key)
    b.forget()
    _dropped(b, path, recorded, "a Path that was recorded before its PathTear")
    _dropped(b, path, recorded, "the same once more")
    b.still_works()


@scenario(KEYED)
def jumps_ahead(b: Bench) -> None:
    """Sequence numbers may jump, up to the top of 64 bits (RFC 2747, 3 and 4.2)."""
    b.tear_down(b.set_up(b.path(1, bandwidth=1 * MBIT)))
    for tunnel, sequence in enumerate((1 << 31, 1 << 32, 1 << 40, (1 << 63) + 5), 2):
        b.west.sequence = sequence
        b.tear_down(b.set_up(b.path(tunnel, bandwidth=1 * MBIT), f"sequence {sequence:#x}"))


@scenario(KEYED)
def answers_challenge(b: Bench) -> None:
    """A challenge comes back in an authenticated response (RFC 2747, 4.3; types: RFC 3097)."""
    b.tear_down(b.set_up(b.path()))
    for cookie in (b"\x00\x00\x00\x01", b"wxyz"):
        b.forget()
        challenge = c.Challenge(b.options.key_id, cookie)
        b.west.send(c.Message(c.Type.INTEGRITY_CHALLENGE, [challenge]))
        b.until(lambda: b.came(b.west, c.Type.INTEGRITY_RESPONSE), 0.5)
        found = b.came(b.west, c.Type.INTEGRITY_RESPONSE)
        if b.check(found, f"no response to the challenge {cookie!r}"):
            b.equal(found[0].get(c.Challenge), challenge, "CHALLENGE in the response")
            b.check(found[0].get(c.Integrity), "the response lacks INTEGRITY")


@scenario(KEYED)
def survives_restart(b: Bench) -> None:
    """After our restart with low numbers nothing counts until we answered a challenge (4.3).

    RFC 2747, 4.3: a receiver that sees an old sequence number may challenge its sender; a router
    that does not must at least drop what looks like a replay.
    """
    b.west.sequence = 1_000_000
    b.tear_down(b.set_up(b.path(1, bandwidth=1 * MBIT)))
    b.forget()
    b.west.sequence = 1
    path = b.path(2, bandwidth=1 * MBIT)
    b.west.send(path)
    b.run(0.5)
    challenged = b.came(b.west, c.Type.INTEGRITY_CHALLENGE)
    if challenged:
        # `Neighbour` answered already: from here on the low numbers count.
        b.tear_down(b.set_up(path, "an LSP after the answered challenge"))
    else:
        b.check(not b.came(b.east, c.Type.PATH), "a low sequence number counts without challenge")
    b.west.sequence = 2_000_000
    b.still_works()


@scenario(KEYED)
def signed_bundle(b: Bench) -> None:
    """A Bundle counts if it is signed as a whole, or if each of its messages is (RFC 2747, 4.1).

    RFC 2961, 3 does not say which; a router has to take one of them, and never an unsigned one.
    """
    paths = [b.path(tunnel, bandwidth=1 * MBIT) for tunnel in (1, 2, 3)]
    keys = [key_of(path) for path in paths]
    bare = c.Message(c.Type.BUNDLE, ttl=paths[2].ttl, parts=[paths[2]])
    b.west.send_bytes(b.west.envelope(bare), bare.encode())
    b.west.send(c.Message(c.Type.BUNDLE, ttl=paths[0].ttl, parts=[paths[0]]))
    number = c.Integrity(b.options.key_id, b.west.sequence)
    b.west.sequence += 1
    whole = c.Message(c.Type.BUNDLE, [number], paths[1].ttl, parts=[paths[1]])
    b.west.send_bytes(b.west.envelope(bare), c.sign(whole.encode(), b.options.key or b""))
    b.run(0.1)
    came = [bool(b.came(b.east, c.Type.PATH, key)) for key in keys]
    b.check(came[0] or came[1], "neither a Bundle of signed messages nor a signed one counts")
    b.check(not came[2], "a Bundle without INTEGRITY counts")
