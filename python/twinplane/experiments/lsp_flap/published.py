"""Published, predicted and measured figures of `lsp-flap` side by side."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...profiles import resolve
from ...results.points import Point
from ..base import Comparison
from .parameters import LINK_MBPS, FlapParameters

CURVES_FROM = 32
"""With more points than this a K curve is one row, its threshold."""

FITTED = (
    "The profile juniper-m10 is fitted to the published delays below line rate (ring: 64 and 1500 bytes; one"
    " router: 64 bytes) and to the thresholds of K through the ring: where those hold, the fit holds. The"
    " other figures are predictions."
)


@cache
def published() -> dict[str, Any]:
    """The figures of the paper."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text())


def threshold(family: int) -> int:
    """Up to which N the paper has K = N."""
    return int(next(row["n"] for row in published()["threshold"] if family in row["families"]))


def delay(parameters: Mapping[str, Any]) -> float | None:
    """The published mean delay below line rate, if the paper gives it."""
    row = _delay_row(parameters)
    return None if row is None else float(row["mean_s"])


def _delay_row(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    if parameters.get("rate_mbps") is not None or parameters.get("m") is not None:
        return None
    for row in published()["delay"]:
        same = all(row[key] == parameters[key] for key in ("scenario", "size"))
        if same and parameters["family"] in row["families"]:
            return dict(row)
    return None


def _line_rate_row(parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    if parameters.get("rate_mbps") is not None or parameters.get("m") is not None:
        return None
    for row in published()["line_rate"]:
        if all(row[key] == parameters[key] for key in ("scenario", "size", "family")):
            return dict(row)
    return None


def line_rate_delays(parameters: Mapping[str, Any]) -> tuple[float, float] | None:
    """The published mean delays at line rate, prior and during, if the paper gives them."""
    row = _line_rate_row(parameters)
    return None if row is None else (float(row["prior_s"]), float(row["during_s"]))


def closed_form(p: FlapParameters) -> float:
    """The delay of a lone packet: serialisation, forwarding latency and propagation, in seconds."""
    profile = resolve(p.profile)["forwarding"]
    serial = p.size * 8 / (LINK_MBPS * 1e6)
    router = serial + (profile["latency_ns"] + profile["latency_ns_per_byte"] * p.size) * 1e-9
    way = 2 * p.access_delay_us * 1e-6 + (p.hops - 1) * p.ring_delay_us * 1e-6
    ends = {"first-to-last": serial, "last-to-first": -serial}.get(p.convention, 0.0)
    return float(p.hops * router + way + ends)


def is_line_rate(p: FlapParameters) -> bool:
    """Is the port of the tester full, so that a queue may build up behind it?"""
    from .parameters import line_rate_mbps

    return p.rate >= line_rate_mbps(p.size) - 0.11


def comparisons(points: Sequence[Point]) -> list[Comparison]:
    """One row for every figure that the paper gives for these points."""
    found: list[Comparison] = []
    seen: set[tuple[Any, ...]] = set()
    for point in points:
        p = FlapParameters.model_validate(point.parameters)
        group = (p.profile, p.scenario, p.family, p.size, p.routers)
        where = f"{_scenario(p)}, family {p.family}, {p.size} bytes"
        if group not in seen:
            seen.add(group)
            same = [other for other in points if _group(other) == group]
            found += _delays(where, p, same)
            if len(points) > CURVES_FROM:
                found.append(_curve(where, p, same))
        if len(points) <= CURVES_FROM:
            found.append(_k(where, p, point))
    found += _never(points)
    return found


def _group(point: Point) -> tuple[Any, ...]:
    keys = ("profile", "scenario", "family", "size", "routers")
    return tuple(point.parameters[key] for key in keys)


def _scenario(p: FlapParameters) -> str:
    return "one router" if p.scenario == "single" else f"ring, {p.routers} routers"


def _mean(points: Sequence[Point], key: str) -> float | None:
    values = [point.metrics[key] for point in points if point.metrics.get(key) is not None]
    return sum(values) / len(values) if values else None


def _delays(where: str, p: FlapParameters, points: Sequence[Point]) -> list[Comparison]:
    parameters = p.model_dump()
    line = _line_rate_row(parameters)
    predicted = None if is_line_rate(p) else closed_form(p)
    rows = []
    for phase in ("prior", "during"):
        measured = _mean(points, f"delay_{phase}_s")
        what = f"{where}: mean delay {phase}"
        if line is not None:
            claim = "given for line rate, about the end of the test"
            rows.append(Comparison(what, "s", line[f"{phase}_s"], predicted, measured, claim))
            continue
        row = _delay_row(parameters)
        if row is None:
            claim = "not published: a prediction"
            rows.append(Comparison(what, "s", None, predicted, measured, claim))
            continue
        mean, digits = float(row["mean_s"]), float(row["digits"])
        holds = None
        if measured is not None:
            holds = abs(measured - mean) <= max(0.05 * mean, digits / 2)
        claim = "within 5 % or the rounding"
        rows.append(Comparison(what, "s", mean, predicted, measured, claim, holds))
    if line is not None:
        what = f"{where}: mean delay in the last stretch"
        measured = _mean(points, "delay_end_s")
        rows.append(
            Comparison(what, "s", line["during_s"], predicted, measured, "as the paper says: at the end")
        )
    return rows


def _k(where: str, p: FlapParameters, point: Point) -> Comparison:
    known = threshold(p.family)
    what, k = f"{where}: K at N = {p.n}", point.metrics.get("k")
    matrix = p.m is None and p.rate_mbps is None
    if not matrix:
        return Comparison(what, "LSPs", None, None, k, "outside the published matrix")
    if p.n <= known:
        return Comparison(what, "LSPs", p.n, None, k, "K = N", None if k is None else k == p.n)
    return Comparison(
        what, "LSPs", None, None, k, "K < N (the curve is not given)", None if k is None else k < p.n
    )


def _curve(where: str, p: FlapParameters, points: Sequence[Point]) -> Comparison:
    """A whole K curve by its threshold: the N up to which K = N, and whether K < N above it."""
    known = threshold(p.family)
    ordered = sorted((point.parameters["n"], point.metrics["k"]) for point in points)
    reached = 0
    for n, k in ordered:
        if k != n:
            break
        reached = n
    above = all(k < n for n, k in ordered if n > known)
    tested = max((n for n, _ in ordered if n <= known), default=0)
    what = f"{where}: K = N up to N ="
    return Comparison(
        what, "LSPs", known, None, reached, "K = N up to it, K < N above", above and reached == tested
    )


def _never(points: Sequence[Point]) -> list[Comparison]:
    lost = sum(point.metrics.get("lost_prior", 0) + point.metrics.get("lost_during", 0) for point in points)
    failed = sum(point.metrics.get("failed", 0) for point in points)
    down = max((point.metrics.get("down_at_end_of_traffic", 0) for point in points), default=0)
    rows = (
        ("packets lost in all runs", "packets", lost, "none lost"),
        ("LSPs not up at the end of all runs, grace included", "LSPs", failed, "none failed"),
        ("LSPs not up when traffic ends, the most in a run", "LSPs", down, "the others came up too"),
    )
    if any(
        point.parameters.get("m") is None and point.parameters.get("rate_mbps") is None for point in points
    ):
        return [
            Comparison(what, unit, 0, None, count, claim, count == 0) for what, unit, count, claim in rows
        ]
    outside = "outside the published matrix"
    return [Comparison(what, unit, None, None, count, outside) for what, unit, count, _ in rows]


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What was fitted, and what would have to be true for the published line-rate figures."""
    found = [FITTED] if any(point.parameters["profile"] == "juniper-m10" for point in points) else []
    full = [point for point in points if is_line_rate(FlapParameters.model_validate(point.parameters))]
    if not full:
        return found
    said = published()
    line = said["line_rate"][0]
    p = FlapParameters.model_validate(full[0].parameters)
    allowed = said["ethernet"]["clock_difference_max"]
    end, middle = line["during_s"], (p.first_event_s + p.end_s) / 2
    found += [
        f"To be {end * 1e3:.0f} ms behind after {p.end_s:g} s a router has to be {end / p.end_s:.2%} too"
        f" slow; IEEE 802.3 lets two clocks differ by at most {allowed:.2%}, which makes"
        f" {allowed * p.end_s * 1e3:.1f} ms in {p.end_s:g} s.",
        f"A queue that grows steadily from empty has its mean delay of the first {p.first_event_s:g} s at"
        f" {p.first_event_s / 2:g} s, and of the rest at {middle:g} s: a ratio of"
        f" {2 * middle / p.first_event_s:.1f} between during and prior, not the published"
        f" {line['during_s'] / line['prior_s']:.2f}. Both published figures can only be taken near the"
        f" same time, or after the queue had stopped growing at a full buffer.",
    ]
    ends = [point.metrics["delay_end_s"] for point in full if point.metrics.get("delay_end_s") is not None]
    if ends:
        found.append(
            f"Measured here over the last {p.end_window_s:g} s of traffic: {min(ends) * 1e3:.3f} to"
            f" {max(ends) * 1e3:.3f} ms in {len(ends)} runs."
        )
    return found
