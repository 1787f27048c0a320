"""Two runs side by side: per metric the residual and its bound, per neighbour the order of messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import TwinplaneError
from ..results.folder import Results
from ..results.points import Point
from .alignment import Aligned, align, messages_of, seen_by_both
from .metrics import flat
from .statistics import residuals

EPHEMERAL = ("digest", "run_s")
"""Metrics that say nothing about the network."""


def number(value: Any, refused: str | None = None) -> str:
    """A figure, or why there is none."""
    if value is None:
        return "-" if refused is None else refused.split(":")[0]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Row:
    """A metric of a point in both runs."""

    point: str
    metric: str
    first: Any
    second: Any
    residual: float | None = None
    relative: float | None = None
    bound: float | None = None
    """The sum of both runs' bounds; none: both are exact."""
    within: bool | None = None
    """Does the residual lie within the bound?"""
    refused: str | None = None

    @property
    def equal(self) -> bool:
        """Are both the same?"""
        return bool(self.first == self.second)


@dataclass
class Pair:
    """A point that both runs have."""

    name: str
    places: tuple[int, int]
    points: tuple[Point, Point]
    rows: list[Row] = field(default_factory=list)
    signals: list[Aligned] | None = None


def compare(a: Results, b: Results) -> list[Pair]:
    """Everything that two runs have in common."""
    if a.experiment != b.experiment:
        raise TwinplaneError(
            f"{a.folder} holds '{a.experiment}', {b.folder} '{b.experiment}': they cannot be compared"
        )
    pairs = paired(a, b)
    for pair in pairs:
        pair.rows = rows_of(pair.name, *pair.points)
    if all("signals" in run.tables() for run in (a, b)):
        _signals(a, b, pairs)
    return pairs


def different(a: Results, b: Results) -> list[tuple[str, str, str]]:
    """What the two runs were asked for differently: parameters, seed, repetitions, each with both values."""
    found = [
        (key, str(a.manifest[key]), str(b.manifest[key]))
        for key in ("seed", "repeat")
        if a.manifest[key] != b.manifest[key]
    ]
    for key in dict.fromkeys(key for run in (a, b) for point in run.points for key in point.parameters):
        x, y = (_values(run, key) for run in (a, b))
        if x != y:
            found.append((key, x, y))
    return found


def _values(run: Results, key: str) -> str:
    """What a parameter was in a run, each value once."""
    values = dict.fromkeys(str(point.parameters.get(key, "-")) for point in run.points)
    texts = ["none" if value == "None" else value for value in values]
    return ", ".join(texts) if len(texts) <= 6 else f"{', '.join(texts[:3])} ... {texts[-1]}"


def paired(a: Results, b: Results) -> list[Pair]:
    """Points of two runs that belong together: by what varies within either run."""
    if len(a.points) == len(b.points) == 1:
        return [Pair("", (0, 0), (a.points[0], b.points[0]))]
    inner = [
        key
        for key in a.points[0].parameters
        if any(len({str(p.parameters.get(key)) for p in run.points}) > 1 for run in (a, b))
    ]
    places = {_name(point.parameters, inner): place for place, point in enumerate(b.points)}
    found = [
        Pair(name, (place, places[name]), (point, b.points[places[name]]))
        for place, point in enumerate(a.points)
        if (name := _name(point.parameters, inner)) in places
    ]
    if not found:
        raise TwinplaneError(f"{a.folder} and {b.folder}: they have no point in common")
    return found


def _name(parameters: Mapping[str, Any], keys: list[str]) -> str:
    return " ".join(f"{key}={parameters.get(key)}" for key in keys)


def rows_of(name: str, x: Point, y: Point) -> list[Row]:
    """Every metric of two points."""
    bounds = {key: x.bounds.get(key, 0.0) + y.bounds.get(key, 0.0) for key in {*x.bounds, *y.bounds}}
    known = residuals(x.metrics, y.metrics, bounds)
    found = []
    one, two = flat(x.metrics), flat(y.metrics)
    for key in dict.fromkeys([*one, *two]):
        values: dict[str, Any] = dict(known.get(key, {}))
        reason = x.refused.get(key) or y.refused.get(key)
        found.append(Row(name, key, one.get(key), two.get(key), **values, refused=reason))
    return found


def _signals(a: Results, b: Results, pairs: list[Pair]) -> None:
    import polars as pl

    tables = [run.table("signals") for run in (a, b)]
    for pair in pairs:
        parts = [
            table.filter(pl.col("point") == place).to_dict(as_series=False)
            for table, place in zip(tables, pair.places, strict=True)
        ]
        if all(part["point"] for part in parts):
            pair.signals = align(*seen_by_both(*(messages_of(part) for part in parts)))
