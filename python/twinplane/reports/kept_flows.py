"""Flows over time from the tables of a results folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..frames import Columns
from .flows import Course, courses_of

if TYPE_CHECKING:
    from ..results.folder import Results


def courses(found: Results, point: int) -> list[Course]:
    """Those of a point; none where they were not kept."""
    kept = (found.summary.get("topology") or {}).get("flows")
    if not kept or "flow_series" not in found.tables():
        return []

    def series() -> Columns:
        import polars as pl

        table = found.table("flow_series").filter(pl.col("point") == point)
        columns: Columns = table.to_dict(as_series=False)
        places = {one["name"]: place for place, one in enumerate(kept)}
        columns["flow"] = [places[name] for name in columns["flow"]]
        columns["start_ps"] = [round(at * 1e12) for at in columns["start_s"]]
        return columns

    return courses_of([one["name"] for one in kept], [one["dscp"] for one in kept], series)
