"""When paths are computed after changes that come at known times, or within known bounds (RFC 8405)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...units import span_ps

Interval = tuple[int, int]
"""The earliest and the latest time of something, in ps."""


@dataclass(frozen=True)
class Spf:
    """The delays of RFC 8405, in ps: of the three that it waits `initial` is the least, `long` the most."""

    initial: int
    short: int
    long: int
    learn: int
    hold_down: int

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Spf:
        """From settings of OSPF."""
        keys = ("initial", "short", "long", "learn", "hold_down")
        return cls(*(span_ps(said[key]) for key in keys))

    def computations(self, heard: Iterable[int]) -> list[int]:
        """When paths are computed if all was quiet and changes are heard at these times (RFC 8405, 5.4)."""
        found: list[int] = []
        state, learnt, calm, due = "quiet", 0, 0, -1
        for at in sorted(heard):
            if 0 <= due <= at:
                found.append(due)
                due = -1
            if state != "quiet" and calm <= at:
                state = "quiet"
            if state == "short" and learnt <= at:
                state = "long"
            wait = {"quiet": self.initial, "short": self.short, "long": self.long}[state]
            if state == "quiet":
                state, learnt = "short", at + self.learn
            calm = at + self.hold_down
            if due < 0:
                due = at + wait
        return [*found, due] if due >= 0 else found

    def first(self, heard: Sequence[Interval]) -> Interval:
        """When paths are computed first if each change is heard at any time of its interval."""
        return min(low for low, _ in heard) + self.initial, min(high for _, high in heard) + self.initial

    def last(self, heard: Sequence[Interval]) -> Interval:
        """When they are computed last.

        A later change does not always mean a later end: one that comes just in time for a computation waits
        for no other. So the ends of the intervals do not tell it. If it is clear which changes share a
        computation, the times of the last one are exact, and else they are bounds.
        """
        return self._in_turn(heard) or self._bounds(heard)

    def _in_turn(self, heard: Sequence[Interval]) -> Interval | None:
        """One computation after the other; None if it is not clear which changes one of them has."""
        left = sorted(heard)
        begun = calm = due = (0, 0)
        is_quiet = True
        while left:
            at = left[0][0], min(high for _, high in left)
            if not is_quiet:
                is_quiet = calm[1] + self.hold_down <= at[0]
                if not is_quiet and calm[0] + self.hold_down <= at[1]:
                    return None
            if is_quiet:
                begun, is_quiet, wait = at, False, self.initial
            elif at[1] < begun[0] + self.learn:
                wait = self.short
            elif begun[1] + self.learn <= at[0]:
                wait = self.long
            else:
                return None
            due = at[0] + wait, at[1] + wait
            # The change that begins it is in it, if it is clear which one that is.
            has_begun = all(left[0][1] <= low for low, _ in left[1:])
            places = {place for place, (_, high) in enumerate(left) if high < due[0]} | (
                {0} if has_begun else set()
            )
            inside = [left[place] for place in sorted(places)]
            left = [one for place, one in enumerate(left) if place not in places]
            if any(low <= due[1] for low, _ in left):
                return None
            calm = max(low for low, _ in inside), max(high for _, high in inside)
        return due

    def _bounds(self, heard: Sequence[Interval]) -> Interval:
        """Bounds of the last computation over all times within the intervals.

        `begin` is when the first change is heard, and `end` when the last one is. All may share one
        computation if they can come within INITIAL_SPF_DELAY of each other; it is then the later one of
        begin + INITIAL_SPF_DELAY and the first time at which the last change can have come. Otherwise another
        computation has been before, so that the last one is asked for by the second change at the earliest,
        after that computation, and waits for SHORT_SPF_DELAY at least, or, if HOLDDOWN_INTERVAL had gone by,
        for INITIAL_SPF_DELAY. At the latest the last change asks for it, and waits for LONG_SPF_DELAY if
        TIME_TO_LEARN_INTERVAL can have gone by since the first one.
        """
        lows, highs = sorted(low for low, _ in heard), sorted(high for _, high in heard)
        span = highs[-1] - lows[0]
        if span < self.initial:
            return self.first(heard)
        ways = [max(lows[-1], max(lows[1], lows[0] + self.initial) + self.short)]
        if lows[-1] - self.initial <= highs[0]:
            ways.append(max(lows[-1], lows[0] + self.initial))
        if span >= self.hold_down:
            ways.append(max(lows[-1], max(lows[1], lows[0] + self.hold_down) + self.initial))
        return min(ways), highs[-1] + (self.long if span >= self.learn else self.short)
