"""Published figures beside ours: of what kind a row is, its verdict, and all of them in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import inf, ulp
from typing import Any

from ..charts.table import Table
from ..units import format_time

ABOVE_ZERO = ulp(0.0)
"""The least end of a row that has to be above zero."""


class Kind(StrEnum):
    """What a row says about the model, by what is known of it beforehand."""

    FITTED = "fitted"
    """A published figure that a parameter of the model, or a choice among readings of the paper, follows."""
    INSIDE = "predicted inside the fit's range"
    """A published figure that nothing follows from, at circumstances between those that were fitted."""
    OUTSIDE = "predicted outside the fit's range"
    """A published figure at circumstances beyond those that were fitted, or where nothing was fitted."""
    CONTRADICTORY = "contradictory by itself"
    """A published figure that contradicts other published ones, or physics."""
    OURS = "ours"
    """Nothing is published: one figure of ours beside another one of ours."""


@dataclass(frozen=True)
class Comparison:
    """One figure as published, as predicted in closed form, and as measured here."""

    what: str
    unit: str
    """``s``, or what is counted."""
    kind: Kind
    published: float | None
    """None: the paper says it in words, or not at all."""
    measured: float | None
    low: float
    """From here to `high` a measured figure agrees, both included."""
    high: float
    source: str
    """Where `low` and `high` come from."""
    predicted: float | None = None
    claim: str = ""
    """What is said in words, and of how many runs `measured` is the farthest off."""
    reason: str = ""
    """Of a contradictory figure: what it contradicts. Of a fitted one: what follows from it."""

    @property
    def holds(self) -> bool:
        """Does the measured figure agree? Where nothing could be measured it does not."""
        return self.measured is not None and self.low <= self.measured <= self.high

    @property
    def residual(self) -> float | None:
        """Measured less published."""
        if self.published is None or self.measured is None:
            return None
        return self.measured - self.published

    @property
    def relative(self) -> float | None:
        """The residual as a share of the published figure."""
        residual = self.residual
        return None if residual is None or not self.published else residual / self.published


def as_dict(row: Comparison) -> dict[str, Any]:
    """For JSON, the verdict with it; an end that is not there is None."""
    found = {**asdict(row), "holds": row.holds, "residual": row.residual, "relative": row.relative}
    return {key: None if value in (inf, -inf) else value for key, value in found.items()}


def rounding(published: float, digits: float) -> tuple[float, float]:
    """Between which values a figure lies that is printed so, if `digits` is the unit of its last digit."""
    return published - digits / 2, published + digits / 2


def farthest(values: Sequence[float | None], published: float) -> float | None:
    """Of several values for one published figure: the farthest off. None if there is none."""
    known = [value for value in values if value is not None]
    return max(known, key=lambda value: abs(value - published), default=None)


def headline(rows: Sequence[Comparison]) -> str:
    """How many published figures there are, by kind, and how many of each hold and are missed."""
    figures = [row for row in rows if row.published is not None]
    words = [row for row in rows if row.published is None and row.kind != Kind.OURS]
    ours = [row for row in rows if row.kind == Kind.OURS]
    parts = []
    if figures:
        own = [(kind, [row for row in figures if row.kind == kind]) for kind in Kind]
        kinds = ", ".join(_held(some, kind) for kind, some in own if some)
        parts.append(f"{_held(figures, _plural(figures, 'published figure'))}: {kinds}")
    if words:
        parts.append(_held(words, f"{_plural(words, 'claim')} in words"))
    if ours:
        parts.append(_held(ours, "of ours beside ours"))
    return "; ".join(parts) or "Nothing is published for these runs"


def _plural(rows: Sequence[Comparison], what: str) -> str:
    return what if len(rows) == 1 else f"{what}s"


def _held(rows: Sequence[Comparison], what: str) -> str:
    held = sum(row.holds for row in rows)
    parts = [
        f"{count} {verdict}" for count, verdict in ((held, "hold"), (len(rows) - held, "missed")) if count
    ]
    return f"{len(rows)} {what} ({', '.join(parts)})"


TITLES = (
    "figure",
    "kind",
    "claim",
    "published",
    "agrees from",
    "to",
    "because of",
    "predicted",
    "measured",
    "residual",
    "relative",
    "verdict",
)


def cells(row: Comparison) -> list[str]:
    """Of a row, below `TITLES`."""
    relative = "-" if row.relative is None else f"{row.relative:+.2%}"
    return [
        row.what,
        row.kind,
        row.claim,
        _text(row, row.published),
        _text(row, row.low),
        _text(row, row.high),
        row.source,
        _text(row, row.predicted),
        _text(row, row.measured),
        _text(row, row.residual),
        relative,
        "holds" if row.holds else "MISSED",
    ]


def _text(row: Comparison, value: float | None) -> str:
    if value is None:
        return "-"
    if value in (inf, -inf):
        return "any"
    if value in (ABOVE_ZERO, -ABOVE_ZERO):
        return "above 0" if value > 0 else "below 0"
    return format_time(value, 5) if row.unit == "s" else f"{value:.5g}"


def table(rows: Sequence[Comparison]) -> Table:
    """All rows."""
    return Table(
        "Published, predicted in closed form, and measured here",
        TITLES,
        [cells(row) for row in rows],
        3,
    )


def reasons(rows: Sequence[Comparison]) -> list[str]:
    """Why figures are contradictory, and what was fitted to figures: each reason once."""
    found: dict[tuple[Kind, str], list[str]] = {}
    for row in rows:
        if row.reason:
            found.setdefault((row.kind, row.reason), []).append(row.what)
    words = {Kind.CONTRADICTORY: "Contradictory", Kind.FITTED: "Fitted"}
    return [
        f"{words.get(kind, kind.capitalize())}: {'; '.join(whats)}. {reason}"
        for (kind, reason), whats in found.items()
    ]
