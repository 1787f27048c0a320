"""The published rows beside ours, and the rows that are not published beside their intervals."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...results.points import Point
from ..scores import Comparison, Kind, rounding
from . import model
from .parameters import LABEL, MulticastParameters, fragments, wire_bytes

Key = tuple[str, int, bool]
PUBLISHED_SIZE = 8192
SLACK = 0.002
"""A measured figure may differ by so much of the closed form: arrivals are counted in bins of 10 ms."""


@cache
def published() -> dict[str, Any]:
    """The figures of the study."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text())


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """Published rows first, then claims in words, then what nobody has published."""
    found = []
    for size in dict.fromkeys(point.parameters["size"] for point in points):
        own = {_key(point): point for point in points if point.parameters["size"] == size}
        if size == PUBLISHED_SIZE:
            found += [*_rows(own), *_differences(own)]
        found += [*_words(size, own), *_predicted(size, own)]
    return found


def _key(point: Point) -> Key:
    p = point.parameters
    return p["forwarding"], p["receivers"], p["probing"]


def _rows(points: dict[Key, Point]) -> list[Comparison]:
    found = []
    for row in published()["row"]:
        point = points.get((row["forwarding"], row["receivers"], row["probing"]))
        if point is None:
            continue
        p = MulticastParameters.model_validate(point.parameters)
        ours = p.profile == MulticastParameters.model_fields["profile"].default
        found.append(
            Comparison(
                row["what"],
                "Mbit/s",
                Kind.FITTED if ours else Kind.OUTSIDE,
                row["published"],
                point.metrics["mbps"],
                *rounding(row["published"], row["digits"]),
                "rounding of the figure",
                model.throughput(p, model.of_profile(p.profile)),
                reason=row["reason"] if ours else "",
            )
        )
    return found


def _relative(one: float, other: float) -> float:
    return (one / other - 1) * 100


def _differences(points: dict[Key, Point]) -> list[Comparison]:
    found = []
    for row in published()["difference"]:
        one, other = (points.get((key[0], key[1], key[2])) for key in (row["of"], row["to"]))
        if one is None or other is None:
            continue
        both = [MulticastParameters.model_validate(point.parameters) for point in (one, other)]
        predicted = [model.throughput(p, model.of_profile(p.profile)) for p in both]
        found.append(
            Comparison(
                row["what"],
                "%",
                Kind.OUTSIDE,
                row["published"],
                _relative(one.metrics["mbps"], other.metrics["mbps"]),
                *rounding(row["published"], row["digits"]),
                "rounding of the figure",
                _relative(predicted[0], predicted[1]),
            )
        )
    return found


def _words(size: int, points: dict[Key, Point]) -> list[Comparison]:
    """What the study says in words: members see the same, and probing costs 1.3 % at most."""
    found = []
    groups = [(key, point) for key, point in points.items() if key[0] == "group"]
    if groups:
        spread = max(point.metrics["spread"] for _, point in groups)
        what = f"{size} bytes: how much members of a group differ"
        found.append(
            Comparison(
                what, "%", Kind.OUTSIDE, None, spread, 0.0, 0.5, "a figure's last digit", 0.0, "the same"
            )
        )
    losses = [
        -_relative(point.metrics["mbps"], points[off].metrics["mbps"])
        for (name, count, probing), point in groups
        if probing and (off := (name, count, False)) in points
    ]
    if losses:
        what = f"{size} bytes: what probing costs at most"
        found.append(
            Comparison(what, "%", Kind.OUTSIDE, None, max(losses), 0.0, 1.35, "1.3 %", None, "at most 1.3 %")
        )
    return found


def _predicted(size: int, points: dict[Key, Point]) -> list[Comparison]:
    """Every row that has no figure: between what the published ones leave."""
    given = {(row["forwarding"], row["receivers"], row["probing"]) for row in published()["row"]}
    found = []
    for key, point in points.items():
        if size == PUBLISHED_SIZE and key in given:
            continue
        p = MulticastParameters.model_validate(point.parameters)
        low, high = limits(p)
        found.append(
            Comparison(
                f"{size} bytes: {called(p)}",
                "Mbit/s",
                Kind.OURS,
                None,
                point.metrics["mbps"],
                low,
                high,
                "what the published rows leave",
                model.throughput(p, model.of_profile(p.profile)),
            )
        )
    return found


def limits(p: MulticastParameters) -> tuple[float, float]:
    """Between which throughputs a point holds: what the published rows leave, and the error of measuring."""
    low, high = model.interval(p)
    return low * (1 - SLACK), high * (1 + SLACK)


def called(p: MulticastParameters) -> str:
    """A row of the matrix in words."""
    names = {"ip": "IP unicast", "lsp": "unicast LSP", "group": f"{p.receivers} receivers"}
    return f"{names[p.forwarding]}, probing {'on' if p.probing else 'off'}"


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What share of the published difference the label takes on the wire."""
    sizes = dict.fromkeys(point.parameters["size"] for point in points)
    found = []
    for size in sizes:
        count, plain = len(fragments(size)), wire_bytes(size)
        share = count * LABEL / plain * 100
        found.append(
            f"A packet of {size} bytes is {count} frames, {plain} bytes on the wire; a label takes "
            f"{count * LABEL} bytes more: {share:.3f} % of throughput."
        )
    return found
