"""Figures of flows: what their streams sent and lost, and the delays of all their packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import frames

if TYPE_CHECKING:
    import polars as pl

    from ..frames import Columns

COUNTS = ("sent", "received", "lost", "misdelivered", "duplicated", "reordered")
DELAYS = {
    "delay_mean_s": "mean_s",
    "delay_low_s": "low_s",
    "delay_high_s": "high_s",
    "no_interval": "no_interval",
    "delay_min_s": "min_s",
    "delay_max_s": "max_s",
    "delay_p50_s": "p50_s",
    "delay_p90_s": "p90_s",
    "delay_p99_s": "p99_s",
    "delay_p999_s": "p999_s",
    "ipdv_mean_s": "ipdv_mean_s",
}
"""Figures of a flow and phase, and the columns of the table `delays` that have them."""


def by_phase(streams: Columns, delays: Columns, flow: int) -> pl.DataFrame:
    """One row for each phase of a flow: counts of the table of streams, delays of the table of delays."""
    places: dict[int, list[int]] = {}
    for place, (number, phase) in enumerate(zip(streams["flow"], streams["phase"], strict=True)):
        if number == flow:
            places.setdefault(phase, []).append(place)
    of = zip(delays["flow"], delays["phase"], strict=True)
    delayed = {phase: place for place, (number, phase) in enumerate(of) if number == flow}
    found: list[dict[str, Any]] = []
    for phase, those in sorted(places.items()):
        row: dict[str, Any] = {"phase": phase}
        for key in COUNTS:
            row[key] = sum(streams[key][place] for place in those if streams[key][place] is not None)
        at = delayed.get(phase)
        row |= {key: None if at is None else delays[name][at] for key, name in DELAYS.items()}
        found.append(row)
    return frames.frame({key: [row[key] for row in found] for key in ("phase", *COUNTS, *DELAYS)})
