"""What the naive peer says, with bytes changed under right checksums: the router lives and keeps nothing.

The scenarios' own verdicts don't count here: what they wait for may never have been said.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from . import codec as c
from . import harness, referee
from .codec.ip import PROTOCOL_RSVP
from .codec.link import TYPE_IPV4
from .codec.rsvp import with_checksum
from .port import Port
from .scenarios import SCENARIOS

tp: Any = pytest.importorskip("twinplane")

# Not those that are about broken bytes already, nor those that may end without a teardown at their head.
NAMES = sorted(
    name
    for name, s in SCENARIOS.items()
    if not s.originates and name.split(".")[0] not in ("malformed", "transit")
)
ROUNDS = 2
SHARE = 0.3
# States live as long as their refresh period says (RFC 2205, 3.7): longer ones would outlive the test.
PERIOD_MAX_MS = 30_000

sent: list[referee.Frame] = []


def changed(payload: bytes, chance: random.Random) -> bytes:
    """One to four bytes of a message are others."""
    data = bytearray(payload)
    for _ in range(chance.choice((1, 1, 2, 4))):
        place = chance.randrange(len(data))
        flipped = data[place] ^ 1 << chance.randrange(8)
        data[place] = chance.choice((0, 1, 255, flipped, chance.randrange(256)))
    return with_checksum(bytes(data))


def too_long_lived(payload: bytes) -> bool:
    """Whether a message, or one in its Bundle, speaks of a refresh period beyond the test."""
    try:
        message = c.Message.decode(payload)
    except c.CodecError:
        # The router may read what the naive peer can't: better not.
        return True
    times = [times for part in (message, *message.parts) for times in part.all(c.TimeValues)]
    return any(time.refresh_ms > PERIOD_MAX_MS for time in times)


def disturb(port: Port, chance: random.Random) -> None:
    """From now on some of the RSVP messages that are sent here arrive as others."""
    send = port.send

    def disturbed(frame: bytes) -> None:
        ethernet = c.Ethernet.decode(frame) if len(frame) >= 14 else None
        if ethernet is not None and ethernet.ethertype == TYPE_IPV4 and chance.random() < SHARE:
            packet = c.Ipv4.decode(ethernet.payload)
            payload = changed(packet.payload, chance) if len(packet.payload) >= 8 else packet.payload
            if packet.protocol == PROTOCOL_RSVP and not too_long_lived(payload):
                frame = replace(ethernet, payload=replace(packet, payload=payload).encode()).encode()
        send(frame)

    port.send = disturbed  # type: ignore[method-assign]


@pytest.mark.parametrize("name", NAMES)
def test_survives(name: str) -> None:
    """Afterwards nothing is left, and the next LSP comes up."""
    for turn in range(ROUNDS):
        options = SCENARIOS[name].options
        options = replace(options, refresh_reduction=options.refresh_reduction or turn == 1)
        bench = harness.build(tp, options)
        ports = (bench.west_port, bench.east_port)
        before = [port.send for port in ports]
        for side, port in enumerate(ports):
            disturb(port, random.Random(f"{name} {turn} {side}"))
        replace(SCENARIOS[name], options=options).run(bench)
        for port, send in zip(ports, before, strict=True):
            port.send = send
        bench.fall_silent()
        assert bench.leftovers() == []
        for side, port in (("west", ports[0]), ("east", ports[1])):
            sent.extend(referee.Frame(f"{name} {turn}", side, *frame) for frame in port.received)
        bench.failures.clear()
        bench.ingress.refreshes = bench.egress.refreshes = bench.egress.answers = True
        bench.egress.egress_style, bench.egress.egress_label = c.Style.SE, None
        for side in (bench.west, bench.east):
            side.acknowledges = side.answers_hello = True
            for listed in (side.inbox, side.undecodable, side.unauthentic):
                listed.clear()
        if options.key is not None:
            bench.warm_up()
        bench.still_works()
        assert bench.failures == []


@pytest.mark.needs("tshark")
def test_tshark_reads_all_that_the_router_sent(tmp_path: Path) -> None:
    """Nothing malformed, every checksum right, no expert error."""
    messages = [f for f in sent if f.data[12:14] == b"\x08\x00" and f.data[23] == PROTOCOL_RSVP]
    if not messages:
        pytest.skip("nothing ran before")
    path = tmp_path / "router.pcapng"
    path.write_bytes(referee.pcapng(messages))
    assert referee.complaints(path) == []
