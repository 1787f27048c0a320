"""Meters against a brute-force reference: every packet's colour, exactly."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from typing import Any

from .. import core, traffic, units
from ..network import Network
from .bed import queues
from .verdict import Measured

PACKETS = 20_000
RATE = 8_000_000
"""Bits per second, which is one byte in each microsecond."""


def _arrivals(seed: int) -> tuple[list[int], list[int]]:
    """Gaps in picoseconds and sizes in bytes, as bursty as can be."""
    draw = random.Random(seed)
    gaps = [draw.choice([1_000_000, 50_000_000, draw.randrange(2_000_000_000)]) for _ in range(PACKETS)]
    return gaps, [draw.randrange(64, 1519) for _ in range(PACKETS)]


class Bucket:
    """Tokens in bytes, as a fraction, brought up to date for each packet."""

    def __init__(self, rate_bps: int, depth: int) -> None:
        self.rate, self.depth = Fraction(rate_bps, 8 * 10**12), depth
        self.tokens, self.at = Fraction(depth), 0

    def fill(self, now: int) -> None:
        """Add what came since; what does not fit is lost."""
        self.tokens = min(Fraction(self.depth), self.tokens + self.rate * (now - self.at))
        self.at = now


def token_bucket(times: list[int], sizes: list[int], rate: int, depth: int) -> list[str]:
    """Green as long as there are tokens."""
    bucket, colours = Bucket(rate, depth), []
    for now, size in zip(times, sizes, strict=True):
        bucket.fill(now)
        fits = bucket.tokens >= size
        bucket.tokens -= size if fits else 0
        colours.append("green" if fits else "red")
    return colours


def single_rate(times: list[int], sizes: list[int], cir: int, cbs: int, ebs: int) -> list[str]:
    """RFC 2697, 3, colour-blind: what overflows the first bucket fills the second."""
    committed, excess = Fraction(cbs), Fraction(ebs)
    rate, at, colours = Fraction(cir, 8 * 10**12), 0, []
    for now, size in zip(times, sizes, strict=True):
        new = rate * (now - at)
        at = now
        room = cbs - committed
        committed += min(new, room)
        excess = min(Fraction(ebs), excess + max(new - room, Fraction(0)))
        if committed >= size:
            committed -= size
            colours.append("green")
        elif excess >= size:
            excess -= size
            colours.append("yellow")
        else:
            colours.append("red")
    return colours


def two_rate(
    times: list[int], sizes: list[int], rates: tuple[int, int], depths: tuple[int, int]
) -> list[str]:
    """RFC 2698, 3, colour-blind; `rates` and `depths` are committed, then peak."""
    committed, peak, colours = Bucket(rates[0], depths[0]), Bucket(rates[1], depths[1]), []
    for now, size in zip(times, sizes, strict=True):
        committed.fill(now)
        peak.fill(now)
        if peak.tokens < size:
            colours.append("red")
            continue
        peak.tokens -= size
        if committed.tokens < size:
            colours.append("yellow")
            continue
        committed.tokens -= size
        colours.append("green")
    return colours


METERS: dict[str, tuple[Any, Callable[[list[int], list[int]], list[str]], str]] = {
    "token bucket": (
        queues.TokenBucket(rate=RATE, burst=6000),
        lambda times, sizes: token_bucket(times, sizes, RATE, 6000),
        "tokens as fractions, brute force",
    ),
    "single-rate meter": (
        queues.SingleRate(cir=RATE, cbs=4000, ebs=9000),
        lambda times, sizes: single_rate(times, sizes, RATE, 4000, 9000),
        "RFC 2697, 3, by fractions",
    ),
    "two-rate meter": (
        queues.TwoRate(cir=RATE, cbs=4000, pir=2 * RATE, pbs=3000),
        lambda times, sizes: two_rate(times, sizes, (RATE, 2 * RATE), (4000, 3000)),
        "RFC 2698, 3, by fractions",
    ),
}
MARKS = {"green": "AF11", "yellow": "AF12", "red": "AF13"}
START_PS, PS_PER_BYTE = 10_000_000_000, 80
"""When the first gap begins, and serialisation at 100 Gbit/s."""


def meters(seed: int) -> list[Measured]:
    """Each meter sees the same packets; the code points that they leave with are compared one by one."""
    gaps, sizes = _arrivals(seed)
    departures = list(accumulate(gaps, initial=START_PS))[1:]
    # A meter sees a packet when its last bit has come in.
    times = [at + size * PS_PER_BYTE for at, size in zip(departures, sizes, strict=True)]
    rows = []
    for name, (meter, reference, source) in METERS.items():
        found, wanted = _metered(seed, meter, gaps, sizes), reference(times, sizes)
        same = sum(one == other for one, other in zip(found, wanted, strict=False))
        rows.append(
            Measured(
                f"{name}, {PACKETS} packets",
                "packets of the same colour",
                (same,),
                PACKETS,
                "exact",
                source=source,
            )
        )
    return rows


def _metered(seed: int, meter: Any, gaps: list[int], sizes: list[int]) -> list[str]:
    """The colours of the packets, in order."""
    colours = ("green", "red") if isinstance(meter, queues.TokenBucket) else tuple(MARKS)
    actions = {name: f"remark {MARKS[name]}" for name in colours}
    rule = queues.Rule(name="all", meter=meter, **actions)
    policed = queues.Conditioner(rules=[rule], accounting=queues.Accounting(layer="frame"))
    net = Network(seed=seed)
    a, b, c = (net.router(name) for name in "abc")
    net.link(a, b, rate="100 Gbit/s", delay=0, ingress={"b": policed})
    out = net.link(b, c, rate="100 Gbit/s", delay=0)
    trace = traffic.Trace(gaps=[gap / 1e12 for gap in gaps], sizes=sizes)
    net.flow(a, c, arrivals=trace, name="trace", start=START_PS / 1e12)
    tap = net.capture(out)
    net.run(until=(START_PS + sum(gaps)) / 1e12 + 0.01)
    names = {units.dscp(code): name for name, code in MARKS.items()}
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
        tap.save(file.name)
        packets = [bytes(frame) for *_, frame in core.load().CaptureFile(file.name)]
    return [names.get(frame[15] >> 2, "none") for frame in packets if frame[12:14] == b"\x08\0"]
