"""Figures of `protection`, drawn from its tables: distributions of gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve, thinned
from ...units import format_time
from .classes import METHODS
from .everywhere import CLASSES

if TYPE_CHECKING:
    from ...results.folder import Results
    from ...results.points import Point


def rows_of(found: Results, point: Point) -> list[dict[str, Any]]:
    """All gaps of a point; none if the table was not kept."""
    if "gaps" not in found.tables():
        return []
    place = found.points.index(point)
    return [row for row in found.table("gaps").iter_rows(named=True) if row["point"] == place]


def plots(found: Results) -> list[Chart]:
    """The share of gaps by their length: of each point by the three methods, or by class."""
    made = []
    for number, point in enumerate(found.points):
        rows = rows_of(found, point)
        by_class = point.parameters["topology"] != "ladder"
        chart = _of_classes(number, rows) if by_class else _of_methods(number, rows, point)
        if chart is not None:
            made.append(chart)
    return made


def _distribution(values: list[float]) -> tuple[list[Any], list[Any]]:
    ordered = sorted(value * 1e3 for value in values)
    return thinned(ordered, [(rank + 1) / len(ordered) for rank in range(len(ordered))])


def _of_methods(number: int, rows: list[dict[str, Any]], point: Point) -> Chart | None:
    curves, said = [], []
    for style, method in enumerate(METHODS):
        values = [row[f"{method}_s"] for row in rows]
        if values:
            x, y = _distribution(values)
            curves.append(Curve(method, x, y, shape="steps", style=style))
            said.append(f"{method}: {len(values):,} gaps, the longest {format_time(max(values))}")
    if not curves:
        return None
    lsps = point.parameters["lsps"]
    title = f"Gaps by their length, {lsps:,} LSPs"
    alt = f"Share of gaps that are no longer, by method of measuring (RFC 6414, 3.6). {'; '.join(said)}."
    return Chart(f"gaps-{number}", title, alt, "gap (ms)", ["share of gaps"], curves, zero=(0,))


def _of_classes(number: int, rows: list[dict[str, Any]]) -> Chart | None:
    curves, said, every = [], [], []
    for style, kind in enumerate(CLASSES):
        values = [row["loss_s"] for row in rows if row["class"] == kind and row["way_left"]]
        if values:
            x, y = _distribution(values)
            every += values
            curves.append(Curve(kind, x, y, shape="steps", style=style))
            said.append(f"{kind}: {len(values):,} gaps, the longest {format_time(max(values))}")
    if not curves:
        return None
    alt = (
        "Share of gaps that are no longer, by class, over all failures that leave a way, by packets lost."
        f" {'; '.join(said)}."
    )
    return Chart(
        f"gaps-{number}",
        "Gaps by their length",
        alt,
        "gap (ms)",
        ["share of gaps"],
        curves,
        log_x=max(every) > 20 * min(every),
        zero=(0,),
    )
