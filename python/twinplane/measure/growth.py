"""How what a run takes grows with virtual time, and what it comes to at the end: arithmetic alone.

A run has looks, moments at which it was seen how much there was of something (events, bytes, rows). What is
added between two looks is explained by what was offered meanwhile (packets, or seconds in which packets are
sent) and by the time that passed; what the latest looks say of both holds for the rest of the run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

LATEST = 0.5
"""The last part of what was offered so far, from which the rest is foretold."""
GUESS = 2.0
"""What was never seen and is only guessed may be so many times as much, or as little."""


@dataclass(frozen=True)
class Range:
    """A figure, and what it lies between."""

    low: float
    value: float
    high: float

    def __add__(self, other: Range) -> Range:
        """Both together."""
        return Range(self.low + other.low, self.value + other.value, self.high + other.high)

    def times(self, factor: float) -> Range:
        """So many of it."""
        return Range(self.low * factor, self.value * factor, self.high * factor)

    def within(self, share: float) -> Range:
        """At least so wide to both sides, as a share of the figure."""
        return Range(
            min(self.low, self.value * (1 - share)), self.value, max(self.high, self.value * (1 + share))
        )


def exactly(value: float) -> Range:
    """A figure that is known."""
    return Range(value, value, value)


class Load:
    """What is offered over time: by sources, each with its packets per second from a time to another."""

    def __init__(self, sources: Iterable[tuple[float, float, float]]) -> None:
        """Start and stop in seconds, packets per second."""
        steps: dict[float, tuple[float, int]] = {}
        for start_s, stop_s, rate in sources:
            if rate > 0 and stop_s > start_s:
                for at, change, count in ((start_s, rate, 1), (stop_s, -rate, -1)):
                    before = steps.get(at, (0.0, 0))
                    steps[at] = (before[0] + change, before[1] + count)
        self.edges = sorted(steps)
        """When a source starts or stops."""
        counts = list(accumulate(steps[at][1] for at in self.edges))
        rates = list(accumulate(steps[at][0] for at in self.edges))
        # Nobody sends at rates that are left over from rounding.
        self._rates = [rate if count else 0.0 for rate, count in zip(rates, counts, strict=True)]
        spans = [(b - a, rate) for (a, b), rate in zip(pairwise(self.edges), self._rates, strict=False)]
        self._packets = list(accumulate((span * rate for span, rate in spans), initial=0.0))
        self._busy = list(accumulate((span if rate else 0.0 for span, rate in spans), initial=0.0))

    def _place(self, until_s: float) -> tuple[int, float]:
        place = bisect_right(self.edges, until_s) - 1
        return place, until_s - self.edges[place] if place >= 0 else 0.0

    def packets(self, until_s: float) -> float:
        """Packets that have been offered by then."""
        place, past = self._place(until_s)
        return 0.0 if place < 0 else self._packets[place] + past * self._rates[place]

    def busy(self, until_s: float) -> float:
        """Seconds, up to then, in which anything was offered."""
        place, past = self._place(until_s)
        return 0.0 if place < 0 else self._busy[place] + (past if self._rates[place] else 0.0)


Offered = Callable[[float], float]
"""What has been offered by a time in seconds: of a `Load`, its packets or its seconds."""


def grown(
    looks: Sequence[tuple[float, float]], end_s: float, offered: Offered, guess: float | None = None
) -> Range:
    """How much there will be at the end of what there was so much of at these times in seconds.

    `guess` is what comes of each unit of what is offered, if nothing has been offered yet.
    """
    at_s, now = looks[-1]
    left_s, ahead = max(end_s - at_s, 0.0), max(offered(end_s) - offered(at_s), 0.0)
    if left_s == 0.0:
        return exactly(now)
    windows = [
        (b_s - a_s, offered(b_s) - offered(a_s), b - a) for (a_s, a), (b_s, b) in pairwise(looks) if b_s > a_s
    ]
    idle = _idle(windows)
    found = Range(*(now + rate * left_s for rate in (min(idle, 0.0), idle, idle)))
    if ahead == 0.0:
        return found.within(0.05)
    rates = _rates(windows, idle)
    if rates is not None:
        return found + rates.times(ahead)
    guessed = (guess or 0.0) * ahead
    return found + Range(guessed / GUESS, guessed, guessed * GUESS)


def _idle(windows: Sequence[tuple[float, float, float]]) -> float:
    """What comes in a second without anything offered: as the latest such stretch says, never the first."""
    quiet = [(span, more) for span, packets, more in windows[1:] if packets == 0.0]
    kept = quiet[len(quiet) // 2 :]
    total = sum(span for span, _ in kept)
    return sum(more for _, more in kept) / total if total > 0 else 0.0


def _rates(windows: Sequence[tuple[float, float, float]], idle: float) -> Range | None:
    """What comes of each unit that is offered, as the latest windows say; None if there was nothing."""
    used = [(packets, more - idle * span) for span, packets, more in windows if packets > 0.0]
    if not used:
        return None
    whole, kept, taken = sum(packets for packets, _ in used), [], 0.0
    for packets, more in reversed(used):
        kept.append((packets, more))
        taken += packets
        if taken >= LATEST * whole:
            break
    mean = max(sum(more for _, more in kept) / taken, 0.0)
    halves = filter(None, (kept[: len(kept) // 2], kept[len(kept) // 2 :]))
    each = [max(sum(more for _, more in half) / sum(units for units, _ in half), 0.0) for half in halves]
    return Range(min([mean, *each]), mean, max([mean, *each])).within(0.05)
