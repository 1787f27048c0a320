"""The arithmetic of the paired bench: ratios of speed, the interval of their median, the verdict."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from rows import Row

FLOOR = 0.97  # of the old revision's speed; below it the new one counts as slower
CONFIDENCE = 0.95


class Verdict(Enum):
    """What a row's ratios say of the new revision."""

    HOLDS = "holds"
    BELOW = "BELOW"
    UNDECIDED = "undecided"
    HOLDS_UNSURE = "holds, unsure"
    BELOW_UNSURE = "BELOW, unsure"

    @property
    def is_below(self) -> bool:
        """Whether the bench as a whole fails because of this row."""
        return self in (Verdict.BELOW, Verdict.BELOW_UNSURE)


@dataclass(frozen=True)
class Interval:
    """Where the true median lies, with a probability of `confidence` (0 to 1) at least."""

    low: float
    high: float
    confidence: float

    def spans(self, value: float) -> bool:
        """Whether the interval leaves open on which side of the value the median is."""
        return self.low < value <= self.high


@dataclass(frozen=True)
class Finding:
    """A row's ratios of speed, new to old, one of each pair; above 1 the new revision is faster."""

    ratios: tuple[float, ...]
    median: float
    interval: Interval
    verdict: Verdict


def speed_ratio(row: Row, old: float, new: float) -> float | None:
    """How fast the new revision is, as a multiple of the old one; None if a figure is not above zero.

    Where less is better (nanoseconds, bytes) it is the old figure divided by the new one.
    """
    if not (old > 0 and new > 0 and math.isfinite(old) and math.isfinite(new)):
        return None
    return old / new if row.at_most else new / old


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The narrowest pair of order statistics that holds the median with this confidence.

    It is the sign test turned round and assumes nothing of the distribution: the median lies outside the
    k-th smallest and the k-th greatest of n values if fewer than k of n fair coins show one side. Of
    fewer than six values not even the extremes reach 95 %; they are given with what they do reach.
    """
    ordered, count = sorted(values), len(values)
    if not count:
        raise ValueError("an interval needs at least one value")

    def covers(rank: int) -> float:
        return 1 - 2 * sum(math.comb(count, heads) for heads in range(rank)) / (1 << count)

    ranks = [rank for rank in range(1, (count + 1) // 2 + 1) if covers(rank) >= confidence]
    rank = max(ranks, default=1)
    return Interval(ordered[rank - 1], ordered[-rank], max(covers(rank), 0.0))


def judge(ratios: Sequence[float], *, final: bool, floor: float = FLOOR) -> Finding:
    """The verdict on a row: undecided while the interval spans the floor or there are too few pairs for it.

    The last word on a row that stays undecided is its median's, and says that it is unsure.
    """
    found, median = interval(ratios), statistics.median(ratios)
    if found.confidence >= CONFIDENCE and not found.spans(floor):
        verdict = Verdict.HOLDS if found.low >= floor else Verdict.BELOW
    elif not final:
        verdict = Verdict.UNDECIDED
    else:
        verdict = Verdict.HOLDS_UNSURE if median >= floor else Verdict.BELOW_UNSURE
    return Finding(tuple(ratios), median, found, verdict)
