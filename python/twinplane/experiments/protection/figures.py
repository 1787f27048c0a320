"""Figures of `protection`, drawn from its tables: distributions of gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve, Mark, thinned
from ...charts.table import Table
from ...units import format_time
from .classes import METHODS
from .everywhere import CLASSES, PROTECTED
from .gaps import KINDS

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
    made: list[Chart] = []
    for number, point in enumerate(found.points):
        rows = rows_of(found, point)
        if point.parameters["topology"] != "ladder":
            of_classes = _of_classes(number, rows)
            made += [] if of_classes is None else [of_classes]
            continue
        for kind in KINDS:
            of_kind = [row for row in rows if row["kind"] == kind]
            if of_kind:
                made.append(_of_methods(number, kind, of_kind, point))
    return made


NO_WAY = "no way is left"


def tables(found: Results) -> list[Table]:
    """What of a topology from a file was not protected, and why: a table for each point with such gaps."""
    made = []
    for point in found.points:
        if point.parameters["topology"] == "ladder":
            continue
        lacking: dict[str, list[dict[str, Any]]] = {}
        for row in rows_of(found, point):
            why = row["lacks"] if row["way_left"] else NO_WAY
            if row["class"] == PROTECTED and why is not None:
                lacking.setdefault(why, []).append(row)
        if lacking:
            said = point.parameters["method"] if point.parameters["protected"] else "no protection"
            caption = f"What of {PROTECTED} was not protected, and why ({said})"
            lines = sorted(lacking.items(), key=lambda one: -len(one[1]))
            made.append(
                Table(caption, ["why", "failures", "gaps", "longest"], [_line(*one) for one in lines])
            )
    return made


def _line(why: str, rows: list[dict[str, Any]]) -> list[str]:
    """How often that was so; what has no way stays interrupted."""
    longest = "-" if why == NO_WAY else format_time(max(row["loss_s"] for row in rows))
    return [why, f"{len({row['case'] for row in rows}):,}", f"{len(rows):,}", longest]


def _distribution(values: list[float]) -> tuple[list[Any], list[Any]]:
    ordered = sorted(value * 1e3 for value in values)
    return thinned(ordered, [(rank + 1) / len(ordered) for rank in range(len(ordered))])


def _of_methods(number: int, kind: str, rows: list[dict[str, Any]], point: Point) -> Chart:
    curves, said = [], []
    for style, method in enumerate(METHODS):
        values = [row[f"{method}_s"] for row in rows if row[f"{method}_s"] is not None]
        if values:
            x, y = _distribution(values)
            longest = format_time(max(values))
            curves.append(Curve(f"{method}, at most {longest}", x, y, shape="steps", style=style))
            said.append(f"{method}: {len(values):,} gaps, the longest {longest}")
    p = point.parameters
    count = p["lsps"] if kind == "LSPs" else p["trees"]
    over = f"{count:,} {kind}" if count != 1 else f"1 {kind[:-1]}"
    title = f"Gaps by their length, {p['failures']:,} failures, {over}"
    if p["protected"]:
        title += f", {p['method']}"
    whose = "" if kind == "LSPs" else " of leaves"
    alt = (
        f"Share of gaps{whose} that are no longer, by method of measuring (RFC 6414, 3.6). {'; '.join(said)}."
    )
    predicted_s = point.metrics["predicted_s"]
    marks = [] if predicted_s is None else [Mark(predicted_s * 1e3, "predicted")]
    key = f"gaps-{number}" if kind == "LSPs" else f"gaps-{number}-{kind}"
    return Chart(key, title, alt, "gap (ms)", ["share of gaps"], curves, marks, zero=(0,))


def _of_classes(number: int, rows: list[dict[str, Any]]) -> Chart | None:
    curves, said, every = [], [], []
    for style, kind in enumerate(CLASSES):
        values = [row["loss_s"] for row in rows if row["class"] == kind and row["way_left"]]
        if values:
            x, y = _distribution(values)
            every += values
            longest = format_time(max(values))
            curves.append(Curve(f"{kind}, at most {longest}", x, y, shape="steps", style=style))
            said.append(f"{kind}: {len(values):,} gaps, the longest {longest}")
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
