"""Rows of the validation page, and when one holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..measure.statistics import chi_square_quantile, t_quantile

FAMILY = 0.99
"""With this probability every row of every seed holds if all theories do."""

Kind = Literal["interval", "chi-square", "bound", "exact"]
"""The first two are statistical, and judged together."""
STATISTICAL = ("interval", "chi-square")
RATE_WITHIN = 0.01
"""Of a comparison with the kernel: by which share of the kernel's rate ours may be off."""
LOSSES_WITHIN, LOSSES_APART = 0.05, 3
"""By which share of the kernel's losses ours may be off; or by so many packets, if that is more."""
LATE_S, STALLED = 1e-3, RATE_WITHIN / 2
"""Beyond either, other work on the machine has decided what the kernel did: see `Compared.disturbed`."""
ATTEMPTS = 5
"""So often both are compared until they agree: other work on the machine delays the kernel, not our model."""


@dataclass(frozen=True)
class Measured:
    """What one seed gave for one row."""

    row: str
    """What is measured, such as `M/D/1, load 0.8`."""
    quantity: str
    """Its name and unit, such as `mean wait (ms)`."""
    values: tuple[float, ...]
    """One value of each independent repetition; of an exact row and of a goodness of fit, one."""
    expected: float
    """Of a goodness of fit (Pearson's chi-square) the degrees of freedom, which are its mean."""
    kind: Kind = "interval"
    tolerance: float = 0.0
    """Of a row with a bound: how far the value may be off, and why is said in `source`."""
    source: str = ""
    group: str = ""


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    group: str
    row: str
    quantity: str
    seed: int
    n: int
    measured: float
    expected: float
    low: float
    high: float
    kind: Kind
    holds: bool
    source: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Compared:
    """What both did with the same packets."""

    case: str
    packets: int
    kernel_lost: int
    ours_lost: int
    same_fate: float
    """Share of packets that both sent or both dropped."""
    kernel_bps: float
    ours_bps: float
    p50_s: float
    p99_s: float
    """By how much departures differ at most: of half of the packets, and of 99 in 100."""
    attempts: int = 1
    """How often both were compared; these are the figures of the last time."""
    late_s: float = 0.0
    """By how much 99 of 100 packets at most went into the kernel later than planned."""
    stalled: float = 0.0
    """Share of the time in which the kernel sent nothing, though packets waited and the rate allowed it."""

    @property
    def rate_residual(self) -> float:
        """Ours less the kernel's, as a share of the kernel's."""
        return self.ours_bps / self.kernel_bps - 1

    @property
    def holds(self) -> bool:
        """Rates and losses within what is said above: which packet is lost hangs on microseconds."""
        lost = abs(self.ours_lost - self.kernel_lost)
        near = max(LOSSES_WITHIN * self.kernel_lost, LOSSES_APART)
        return abs(self.rate_residual) <= RATE_WITHIN and lost <= near

    @property
    def disturbed(self) -> bool:
        """The machine kept the sender or the kernel from its work: differences say nothing of ours."""
        return self.late_s > LATE_S or self.stalled > STALLED

    @property
    def word(self) -> str:
        """The verdict, as the page prints it."""
        if self.holds:
            return "holds"
        return "MACHINE TOO BUSY" if self.disturbed else "DOES NOT HOLD"


def judge(found: Sequence[tuple[int, Measured]]) -> list[Row]:
    """Rows of all seeds, their intervals wide enough for the whole family of rows (Bonferroni)."""
    count = sum(measured.kind in STATISTICAL for _, measured in found)
    confidence = 1 - (1 - FAMILY) / max(count, 1)
    return [_row(seed, measured, confidence) for seed, measured in found]


def _row(seed: int, measured: Measured, confidence: float) -> Row:
    values, n = measured.values, len(measured.values)
    mean = math.fsum(values) / n
    expected = measured.expected
    if measured.kind == "interval":
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
        half = t_quantile(n - 1, confidence) * spread / math.sqrt(n)
        low, high = mean - half, mean + half
        holds = low <= expected <= high
    elif measured.kind == "chi-square":
        low, high = 0.0, chi_square_quantile(round(expected), confidence)
        holds = mean <= high
    else:
        low, high = expected - measured.tolerance, expected + measured.tolerance
        holds = all(low <= value <= high for value in values)
    return Row(
        measured.group,
        measured.row,
        measured.quantity,
        seed,
        n,
        mean,
        expected,
        low,
        high,
        measured.kind,
        holds,
        measured.source,
    )
