"""Flows over time from the tables of a results folder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..frames import Columns
from .flows import Course, courses_of, of_classes

if TYPE_CHECKING:
    from ..results.folder import Results


def courses(found: Results, point: int, groups: Sequence[str] = ()) -> list[Course]:
    """Those of a point; none where they were not kept. `groups` are the classes of the page, in order."""
    if groups and "class_series" in found.tables():
        return of_classes(groups, _columns(found, "class_series", point))
    kept = (found.summary.get("topology") or {}).get("flows")
    if not kept or "flow_series" not in found.tables():
        return []

    def series() -> Columns:
        columns = _columns(found, "flow_series", point)
        places = {one["name"]: place for place, one in enumerate(kept)}
        columns["flow"] = [places[name] for name in columns["flow"]]
        return columns

    return courses_of([one["name"] for one in kept], [one["dscp"] for one in kept], series)


def _columns(found: Results, name: str, point: int) -> Columns:
    """A table of a point, with the start of bins in picoseconds."""
    import polars as pl

    columns: Columns = found.table(name).filter(pl.col("point") == point).to_dict(as_series=False)
    return {**columns, "start_ps": [round(at * 1e12) for at in columns["start_s"]]}
