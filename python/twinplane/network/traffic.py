"""Figures of flows, from those of their streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import frames
from ..measure.statistics import interval

if TYPE_CHECKING:
    import polars as pl

    from ..frames import Columns

COUNTS = ("sent", "received", "lost", "duplicated", "reordered")
QUANTILES = ("delay_p50_s", "delay_p90_s", "delay_p99_s", "delay_p999_s")


def by_phase(streams: Columns, flow: int) -> pl.DataFrame:
    """Of the table of streams one row for each phase of a flow; quantiles where it has one stream."""
    rows: dict[int, list[int]] = {}
    for place, (number, phase) in enumerate(zip(streams["flow"], streams["phase"], strict=True)):
        if number == flow:
            rows.setdefault(phase, []).append(place)
    found: list[dict[str, Any]] = [_phase(streams, phase, places) for phase, places in sorted(rows.items())]
    keys = ["phase", *COUNTS, "delay_mean_s", "delay_low_s", "delay_high_s", "delay_min_s", "delay_max_s"]
    keys += [*QUANTILES, "jitter_s"]
    return frames.frame({key: [row[key] for row in found] for key in keys})


def _phase(streams: Columns, phase: int, places: list[int]) -> dict[str, Any]:
    def of(key: str) -> list[Any]:
        return [streams[key][place] for place in places if streams[key][place] is not None]

    row: dict[str, Any] = {"phase": phase, **{key: sum(of(key)) for key in COUNTS}}
    received = [place for place in places if streams["received"][place]]
    means = [streams["delay_mean_s"][place] for place in received]
    weights = [streams["received"][place] for place in received]
    spread = interval(means) if means else {"low": None, "high": None}
    total = sum(weights)
    row["delay_mean_s"] = (
        sum(mean * weight for mean, weight in zip(means, weights, strict=True)) / total if total else None
    )
    row["delay_low_s"], row["delay_high_s"] = spread["low"], spread["high"]
    row["delay_min_s"] = min(of("delay_min_s"), default=None)
    row["delay_max_s"] = max(of("delay_max_s"), default=None)
    for key in QUANTILES:
        row[key] = streams[key][received[0]] if len(received) == 1 else None
    row["jitter_s"] = max(of("jitter_s"), default=None)
    return row
