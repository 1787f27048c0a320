"""How what a run takes grows with virtual time, and what it comes to at the end: arithmetic alone.

A run has looks, moments at which it was seen how much there was of something (events, bytes, rows). What is
added between two looks is explained by what was offered meanwhile (packets, or seconds in which packets are
sent) and by the time that passed; what the latest looks say of both holds for the rest of the run.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise

LATEST = 0.5
"""The last part of what was offered so far, from which the rest is foretold."""
GUESS = 2.0
"""What was never seen and is only guessed may be so many times as much, or as little."""
BINS = 64
"""Delays are told apart in so many steps up to the longest."""
MOMENTS = 200
"""The most that is under way at a time is looked for at so many moments."""
SETTLED = 0.1
"""Where the packets under way became more by less than this part of those that were sent, as many arrive."""
SOON = 1e-9
"""What begins within so many seconds begins now."""

Lags = Sequence[tuple[float, float]]
"""What follows from a packet: seconds after it was sent, and how much comes then."""


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

    def behind(self, lags: Lags) -> Offered:
        """What has come of the packets that have been offered by then: of each what its lags say."""

        @lru_cache(maxsize=8 * MOMENTS)
        def come(until_s: float) -> float:
            return sum(each * self.packets(until_s - lag) for lag, each in lags)

        return come


Offered = Callable[[float], float]
"""What has been offered by a time in seconds: packets of a `Load`, its seconds, or what comes of packets."""
Looks = Sequence[tuple[float, float]]
"""Times in seconds, and how much there was of something."""


def binned(lags: Iterable[tuple[float, float]]) -> Lags:
    """The same in a few steps, none of which lies before all of what it stands for."""
    found: dict[float, tuple[float, float]] = {}
    given = list(lags)
    longest = max((lag for lag, _ in given), default=0.0)
    for lag, each in given:
        place = math.ceil(lag / longest * BINS) if longest else 0
        moment, whole = found.get(place, (0.0, 0.0))
        found[place] = (moment + lag * each, whole + each)
    return [(moment / whole, whole) for _, (moment, whole) in sorted(found.items()) if whole > 0.0]


@dataclass(frozen=True)
class _Window:
    """What came between two looks."""

    span_s: float
    offered: float
    more: float
    quiet: bool
    """Was nothing offered meanwhile, and is nothing from then on?"""


def grown(looks: Looks, end_s: float, offered: Offered, guess: float | None = None) -> Range:
    """How much there will be at the end of what there was so much of at these times in seconds.

    `guess` is what comes of each unit of what is offered, if nothing has been offered yet.
    """
    at_s, now = looks[-1]
    left_s, ahead = max(end_s - at_s, 0.0), max(offered(end_s) - offered(at_s), 0.0)
    if left_s == 0.0:
        return exactly(now)
    windows = list(_windows(looks, offered))
    busy, idle = _latest(windows), _idle(windows)
    if busy and sum(one.more - idle * one.span_s for one in busy) < 0.0:
        # Less comes while something is offered than before: then that is not what comes by itself.
        idle = sum(one.more for one in busy) / sum(one.span_s for one in busy)
    found = Range(*(now + rate * left_s for rate in (min(idle, 0.0), idle, idle)))
    if ahead == 0.0:
        return found.within(0.05)
    if busy:
        return found + _rates(busy, idle).times(ahead)
    guessed = (guess or 0.0) * ahead
    return found + Range(guessed / GUESS, guessed, guessed * GUESS)


def held(looks: Looks, end_s: float, sent: Offered, arrived: Offered) -> Range:
    """The same of what is held for packets while they are under way, beside what is kept of each for good.

    As long as more and more are under way, nobody can tell the two apart. Then the figure is that of the
    first, and the range reaches to the second.
    """
    peaks = list(accumulate((sent(at) - arrived(at) for at, _ in looks), max))
    steps = [
        (sent(b_s) - sent(a_s), b - a, after - before)
        for ((a_s, a), (b_s, b)), (before, after) in zip(pairwise(looks), pairwise(peaks), strict=True)
    ]
    filling = [one for one in steps if one[2] > SETTLED * one[0]]
    settled = [one for one in steps if one[0] > 0.0 and one[2] <= SETTLED * one[0]]
    kept = each = 0.0
    if settled:
        kept = sum(more for _, more, _ in settled) / sum(packets for packets, _, _ in settled)
    if filling:
        each = max(sum(more - kept * packets for packets, more, _ in filling), 0.0)
        each /= sum(rise for _, _, rise in filling)
    at_s, now = looks[-1]
    ahead = [at_s + (end_s - at_s) * part / MOMENTS for part in range(MOMENTS + 1)]
    rise = max(0.0, max(sent(at) - arrived(at) for at in ahead) - peaks[-1])
    if filling and not settled:
        value, other = now + each * rise, grown(looks, end_s, sent)
        return Range(min(value, other.low), value, max(value, other.high))
    rest = [(at, amount - each * peak) for (at, amount), peak in zip(looks, peaks, strict=True)]
    return grown(rest, end_s, sent) + exactly(each * (peaks[-1] + rise))


def _windows(looks: Looks, offered: Offered) -> Iterator[_Window]:
    """Between each two looks, but for those at which something just begins.

    These may have seen it already, or a part of it: what came before cannot be told from what came after.
    """
    begun_s, before = looks[0]
    for at_s, amount in looks[1:]:
        packets = offered(at_s) - offered(begun_s)
        quiet = offered(at_s + SOON) == offered(begun_s)
        if at_s > begun_s and (packets > 0.0 or quiet):
            yield _Window(at_s - begun_s, packets, amount - before, quiet)
            begun_s, before = at_s, amount


def _idle(windows: Sequence[_Window]) -> float:
    """What comes in a second without anything offered: as the latest such stretch says, never the first."""
    quiet = [one for one in windows[1:] if one.quiet]
    kept = quiet[len(quiet) // 2 :]
    total = sum(one.span_s for one in kept)
    return sum(one.more for one in kept) / total if total > 0 else 0.0


def _latest(windows: Sequence[_Window]) -> list[_Window]:
    """The last windows in which something was offered: of all of that the last part."""
    used = [one for one in windows if not one.quiet]
    whole, kept, taken = sum(one.offered for one in used), list[_Window](), 0.0
    for one in reversed(used):
        kept.append(one)
        taken += one.offered
        if taken >= LATEST * whole:
            break
    return kept


def _rates(busy: Sequence[_Window], idle: float) -> Range:
    """What comes of each unit that is offered, as these windows say."""

    def rate(windows: Sequence[_Window]) -> float:
        more = sum(one.more - idle * one.span_s for one in windows)
        return max(more, 0.0) / sum(one.offered for one in windows)

    halves = filter(None, (busy[: len(busy) // 2], busy[len(busy) // 2 :]))
    each = [rate(busy), *map(rate, halves)]
    return Range(min(each), each[0], max(each)).within(0.05)
