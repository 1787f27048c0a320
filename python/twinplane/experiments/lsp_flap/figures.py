"""The table and the figures of `lsp-flap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...charts import Chart, Curve
from ...results.points import Point
from ...units import format_time
from ..base import Column
from .parameters import FlapParameters
from .published import closed_form, delay, delays_apart, is_line_rate, threshold


def varying(points: Sequence[Point]) -> list[str]:
    """Parameters that differ between points, N always."""
    keys = [key for key in points[0].parameters if len({str(point.parameters[key]) for point in points}) > 1]
    return keys if "n" in keys else ["n", *keys]


def _parameter(key: str) -> Column:
    return Column("N" if key == "n" else key, lambda point: point.parameters[key])


def _metric(title: str, key: str, form: Any = str) -> Column:
    return Column(title, lambda point: point.metrics.get(key), form, key)


def _count(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def columns(points: Sequence[Point]) -> list[Column]:
    """What is printed after a run."""
    first = FlapParameters.model_validate(points[0].parameters)

    def lost(point: Point) -> Any:
        return point.metrics["lost_prior"] + point.metrics["lost_during"]

    def known(point: Point) -> str:
        full = delays_apart(point.parameters)
        if full is not None:
            return " / ".join(format_time(value) for value in full)
        value = delay(point.parameters)
        return "(not given)" if value is None else format_time(value)

    return [
        *(_parameter(key) for key in varying(points)),
        _metric("K", "k", _count),
        _metric(f"up after {first.first_period_s:g} s", "k_up", _count),
        _metric("failed", "failed", _count),
        Column("lost", lost, _count),
        _metric("delay prior", "delay_prior_s", format_time),
        _metric("delay during", "delay_during_s", format_time),
        _metric("delay at end", "delay_end_s", format_time),
        Column("published delay", known),
    ]


def _series(points: Sequence[Point]) -> dict[tuple[Any, ...], list[Point]]:
    """Points that differ in N alone (and in M with it), by what they share, the less usual in words."""
    usual = ("scenario", "family", "size", "profile")
    others = [name for name in varying(points) if name not in (*usual, "n")]
    found: dict[tuple[Any, ...], list[Point]] = {}
    for point in points:
        more = "".join(f", {name} {point.parameters[name]}" for name in others)
        key = (*(point.parameters[name] for name in usual), more)
        found.setdefault(key, []).append(point)
    for group in found.values():
        group.sort(key=lambda point: point.parameters["n"])
    return found


def charts(points: Sequence[Point]) -> list[Chart]:
    """K over N, delay over N."""
    groups = _series(points)
    found = []
    places = sorted({key[:2] for key in groups}, key=str)
    for scenario, family in places:
        same = {key: group for key, group in groups.items() if key[:2] == (scenario, family)}
        found.append(_k_chart(scenario, family, same, sole=len(places) == 1))
    for scenario in sorted({key[0] for key in groups}, reverse=True):
        found += _delay_charts(scenario, {key: group for key, group in groups.items() if key[0] == scenario})
    return found


def _k_chart(scenario: str, family: int, groups: dict[tuple[Any, ...], list[Point]], *, sole: bool) -> Chart:
    curves = []
    for style, ((_, _, size, profile, more), group) in enumerate(groups.items()):
        name = (f"{size} B" if len({key[3] for key in groups}) == 1 else f"{size} B, {profile}") + more
        n = [point.parameters["n"] for point in group]
        curves.append(Curve(f"K, {name}", n, [p.metrics["k"] for p in group], 0, "both", style + 1))
    every = sorted({point.parameters["n"] for group in groups.values() for point in group})
    limit = threshold(family)
    curves.append(Curve("K = N", [every[0], every[-1]], [every[0], every[-1]], 0, "line", 0))
    below = [n for n in every if n <= limit]
    curves.append(Curve("published: K = N up to here", below, below, 0, "points", 5))
    place = "one router" if scenario == "single" else "ring"
    short = [
        n
        for n in every
        if any(p.metrics["k"] < n for g in groups.values() for p in g if p.parameters["n"] == n)
    ]
    said = f"K is below N at N = {', '.join(map(str, short))}" if short else "K equals N throughout"
    return Chart(
        "k-over-n" if sole else f"k-{scenario}-family-{family}",
        f"LSPs re-established before the second event: {place}, family {family}",
        f"K over N for {place}, family {family}: {said}."
        f" The paper has K = N up to N = {limit}, and less above.",
        "N, LSPs that flap",
        ["K, LSPs re-established"],
        curves,
    )


def _delay_charts(scenario: str, groups: dict[tuple[Any, ...], list[Point]]) -> list[Chart]:
    """One for loads below line rate, one (logarithmic) for line rate, where there are such points."""
    found = []
    for full in (False, True):
        curves: list[Curve] = []
        spread: list[float] = []
        style = 0
        for (_, family, size, profile, more), group in groups.items():
            chosen = [p for p in group if is_line_rate(FlapParameters.model_validate(p.parameters)) is full]
            if not chosen:
                continue
            n = [point.parameters["n"] for point in chosen]
            label = f"family {family}, {size} B" + ("" if profile == "juniper-m10" else f", {profile}") + more
            for phase, shape in (("prior", "line"), ("during", "points")):
                y = [_us(point.metrics.get(f"delay_{phase}_s")) for point in chosen]
                errors = [_us(point.bounds.get(f"delay_{phase}_s")) for point in chosen]
                curves.append(Curve(f"{label}, {phase}", n, y, 0, shape, style, errors))
                spread += [value for value in y if value is not None]
            known = delay(chosen[0].parameters)
            if known is not None and len({key[1] for key in groups}) == 1:
                curves.append(Curve(f"{size} B, published", n, [known * 1e6] * len(n), 0, "line", style + 2))
            if not full and len(groups) == 1:
                lone = closed_form(FlapParameters.model_validate(chosen[0].parameters)) * 1e6
                curves.append(Curve(f"{size} B, closed form", n, [lone] * len(n), 0, "line", style + 3))
            style += 1
        if not curves:
            continue
        place = "one router" if scenario == "single" else "ring"
        kind = "at line rate" if full else "below line rate"
        reach = f", lies between {min(spread):.4g} and {max(spread):.4g} us" if spread else ""
        if spread and f"{min(spread):.4g}" == f"{max(spread):.4g}":
            reach = f", is {min(spread):.4g} us throughout"
        found.append(
            Chart(
                f"delay-{scenario}{'-line-rate' if full else ''}",
                f"Mean end-to-end delay {kind}: {place}",
                f"Mean delay over N {kind} for {place}, before and during flapping{reach}.",
                "N, LSPs that flap",
                ["delay (us)"],
                curves,
                log=(0,) if full and spread and min(spread) > 0 else (),
            )
        )
    return found


def _us(value: float | None) -> float | None:
    return None if value is None else value * 1e6
