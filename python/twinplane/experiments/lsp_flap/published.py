"""The published figures of `lsp-flap`, the delay in closed form, and what is to be said of line rate."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...profiles import resolve
from ...results.points import Point
from .parameters import LINK_MBPS, FlapParameters


@cache
def published() -> dict[str, Any]:
    """The figures of the paper."""
    return tomllib.loads((Path(__file__).parent / "published.toml").read_text())


def threshold(family: int) -> int:
    """Up to which N the paper has K = N."""
    return int(next(row["n"] for row in published()["threshold"] if family in row["families"]))


def delay(parameters: Mapping[str, Any]) -> float | None:
    """The published mean delay, the same prior and during, if the paper gives one."""
    found = [row for row in delay_rows(parameters) if "phase" not in row]
    return float(found[0]["mean_s"]) if found else None


def delays_apart(parameters: Mapping[str, Any]) -> tuple[float, float] | None:
    """The published mean delays prior and during, where the paper gives them apart."""
    found = {row["phase"]: float(row["mean_s"]) for row in delay_rows(parameters) if "phase" in row}
    return (found["prior"], found["during"]) if found else None


def delay_rows(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The published delays of a point, if its traffic is the published one."""
    if parameters.get("rate_mbps") is not None or parameters.get("m") is not None:
        return []
    return [
        row
        for row in published()["delay"]
        if all(row[key] == parameters[key] for key in ("scenario", "size"))
        and parameters["family"] in row["families"]
    ]


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


def arithmetic(points: Sequence[Point]) -> list[str]:
    """What would have to be true for the published line-rate figures."""
    found: list[str] = []
    full = [point for point in points if is_line_rate(FlapParameters.model_validate(point.parameters))]
    if not full:
        return found
    said = published()
    apart = delays_apart({"scenario": "ring", "size": 64, "family": 3})
    assert apart is not None
    prior, during = apart
    p = FlapParameters.model_validate(full[0].parameters)
    allowed = said["ethernet"]["clock_difference_max"]
    end, middle = during, (p.first_event_s + p.end_s) / 2
    found += [
        f"To be {end * 1e3:.0f} ms behind after {p.end_s:g} s a router has to be {end / p.end_s:.2%} too"
        f" slow; IEEE 802.3 lets two clocks differ by at most {allowed:.2%}, which makes"
        f" {allowed * p.end_s * 1e3:.1f} ms in {p.end_s:g} s.",
        f"A queue that grows steadily from empty has its mean delay of the first {p.first_event_s:g} s at"
        f" {p.first_event_s / 2:g} s, and of the rest at {middle:g} s: a ratio of"
        f" {2 * middle / p.first_event_s:.1f} between during and prior, not the published"
        f" {during / prior:.2f}. Both published figures can only be taken near the"
        f" same time, or after the queue had stopped growing at a full buffer.",
    ]
    ends = [point.metrics["delay_end_s"] for point in full if point.metrics.get("delay_end_s") is not None]
    if ends:
        found.append(
            f"Measured here over the last {p.end_window_s:g} s of traffic: {min(ends) * 1e3:.3f} to"
            f" {max(ends) * 1e3:.3f} ms in {len(ends)} runs."
        )
    return found
