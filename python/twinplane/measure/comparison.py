"""Two runs side by side: per metric the residual and its bound, per neighbour the order of messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import TwinplaneError
from ..results.folder import Results
from ..results.points import Point
from .alignment import Aligned, align, messages_of, seen_by_both
from .metrics import flat
from .statistics import residuals, spread_of_difference

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
    spread: float | None = None
    """Half of the 95 % interval that chance gives the residual, by repeated runs; none: there is no chance in
    it, or nothing says how much."""
    within: bool | None = None
    """Does the residual lie within bound and spread? None where that would say nothing: see `verdict`."""
    refused: str | None = None
    why: str = "-"
    """What stands in the place of `within` where it is None."""

    @property
    def verdict(self) -> str:
        """For people: yes, no, or why neither can be said."""
        return self.why if self.within is None else "yes" if self.within else "no"

    @property
    def equal(self) -> bool:
        """Are both the same?"""
        return bool(self.first == self.second)


def remarks(rows: Sequence[Row]) -> list[str]:
    """What is to be said of rows whose residuals are no test, or are one of chance."""
    found = []
    if count := sum(row.why == "modelled" for row in rows):
        found.append(
            f"{count} figures are modelled: the same model made both runs by the same seed, so that they are"
            " equal by construction, and say nothing about the machine"
        )
    if any(row.why == "other seed" for row in rows):
        found.append(
            "the two runs have other seeds and neither was repeated, so that nothing says how far chance"
            " takes them apart: run both with --repeat"
        )
    if any(row.spread is not None for row in rows):
        found.append("spread: half of the 95 % interval that the repeated runs give the residual (Welch)")
    return found


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
    chance, same = other_seeds(a, b), both_modelled(a, b)
    for pair in pairs:
        pair.rows = rows_of(pair.name, *pair.points, chance=chance, modelled=same)
    if all("signals" in run.tables() for run in (a, b)):
        _signals(a, b, pairs)
    return pairs


def other_seeds(a: Results, b: Results) -> bool:
    """Are figures of the two runs apart by chance already, since they are of other seeds?"""
    return any(a.manifest[key] != b.manifest[key] for key in ("seed", "repeat"))


def both_modelled(a: Results, b: Results) -> bool:
    """Is one run by the clock on the wall in one process, and the other the same, there or in virtual time?

    The same model made both, so that they are equal whatever the machine did.
    """
    places = [(run.manifest.get("real") or {}).get("place", "virtual") for run in (a, b)]
    return set(places) <= {"virtual", "process"} and "process" in places and not different(a, b)


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


def rows_of(name: str, x: Point, y: Point, chance: bool = False, modelled: bool = False) -> list[Row]:
    """Every metric of two points; with `chance` they are of other seeds, with `modelled` of one model."""
    bounds = {key: x.bounds.get(key, 0.0) + y.bounds.get(key, 0.0) for key in {*x.bounds, *y.bounds}}
    known = residuals(x.metrics, y.metrics, bounds, modelled)
    found = []
    one, two = flat(x.metrics), flat(y.metrics)
    for key in dict.fromkeys([*one, *two]):
        values: dict[str, Any] = dict(known.get(key, {}))
        if values and modelled and values["within"] is None:
            values["why"] = "modelled"
        elif values and chance:
            values |= _with_chance(key, x, y, values)
        reason = x.refused.get(key) or y.refused.get(key)
        found.append(Row(name, key, one.get(key), two.get(key), **values, refused=reason))
    return found


def _with_chance(key: str, x: Point, y: Point, values: Mapping[str, Any]) -> dict[str, Any]:
    """A residual of two seeds lies within the spread of repeated runs, or nothing says whether it should."""
    spread = spread_of_difference(x.intervals.get(key) or {}, y.intervals.get(key) or {})
    if spread is None:
        return {"within": None, "why": "other seed"}
    return {"spread": spread, "within": abs(values["residual"]) <= (values["bound"] or 0.0) + spread}


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
