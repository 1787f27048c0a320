"""The table and the figures of `convergence`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve, thinned
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column

if TYPE_CHECKING:
    from ...results.folder import Results


def of_point(found: Results, name: str, point: Point) -> list[dict[str, Any]]:
    """The rows of a table that belong to a point; none if it was not kept."""
    if name not in found.tables():
        return []
    table = found.table(name)
    place = found.points.index(point)
    return [row for row in table.iter_rows(named=True) if row["point"] == place]


ROWS_MAX = 200
"""Of the table of cases on a page; the others are in its file."""


def counted(value: float) -> str:
    """A count; of repeated runs a mean."""
    return f"{value:,.0f}"


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point."""

    def metric(title: str, key: str, form: Any = None) -> Column:
        return Column(
            title, lambda point: point.metrics.get(key), form or (lambda value: f"{value:,.0f}"), key
        )

    def parameter(title: str, key: str) -> Column:
        return Column(title, lambda point: Path(str(point.parameters[key])).stem)

    return [
        parameter("topology", "topology"),
        parameter("timers", "timers"),
        Column("seen by", lambda point: seen_by(point.parameters)),
        metric("cases", "cases"),
        metric("last route", "control_max_s", format_time),
        metric("last loss", "full_max_s", format_time),
        metric("lost", "lost"),
        metric("TTL expired", "expired"),
        metric("looped", "looped"),
        metric("unexpected", "surprising"),
    ]


def seen_by(parameters: Any) -> str:
    """What tells routers of a failure, in one word."""
    return "BFD" if parameters.get("bfd") else str(parameters["detection"])


def _called(parameters: Any) -> str:
    return f"{parameters['timers']} timers, seen by {seen_by(parameters)}"


def plots(found: Results) -> list[Chart]:
    """From the tables of each point."""
    made = [_distribution(found), *_timelines(found)]
    return [chart for chart in made if chart is not None]


def _distribution(found: Results) -> Chart | None:
    """Share of destinations that lose no packet any more, over time."""
    curves, said = [], []
    for style, point in enumerate(found.points):
        rows = of_point(found, "prefixes", point)
        back = [
            (row["connectivity_s"], row["last_s"])
            for row in rows
            if row["back"] and row["last_s"] is not None
        ]
        if not back:
            continue
        name = _called(point.parameters)
        for panel, place in ((0, 1), (1, 0)):
            values = sorted(one[place] * 1e3 for one in back)
            shares = [(rank + 1) / len(values) for rank in range(len(values))]
            x, y = thinned(values, shares)
            curves.append(Curve(name, x, y, panel, "steps", style))
        last = max(one[1] for one in back)
        said.append(f"{name}: {len(back):,} destinations of all cases, the last after {format_time(last)}")
    if not curves:
        return None
    return Chart(
        "distribution",
        "Destinations by when their packets arrive again",
        "Share of destinations, over all cases, by their last loss after the failure (above) and by"
        f" their loss of connectivity period (below, RFC 6412, 3.6.5). {'; '.join(said)}.",
        "ms",
        ["share, by last loss", "share, by period"],
        curves,
    )


def _timelines(found: Results) -> list[Chart]:
    """When the routers have their last new route, in the slowest case of each kind, one above the other."""
    charts = []
    for number, point in enumerate(found.points):
        rows = of_point(found, "routers", point)
        if not rows:
            continue
        curves = []
        names = list(dict.fromkeys((row["case"], row["kind"]) for row in rows))
        for style, (case, kind) in enumerate(names):
            changed = _times(rows, case, "changed_s")
            noticed = _times(rows, case, "noticed_s")
            steps = [(rank + 1) / max(len(changed), 1) for rank in range(len(changed))]
            x, y = thinned(changed, steps)
            curves.append(Curve(f"{kind} {case}: routes are new", x, y, 0, "steps", style))
            curves.append(Curve(f"{kind} {case}: noticed", noticed, [0.0] * len(noticed), 0, "ticks", style))
        named = " and ".join(f"{kind} {case}" for case, kind in names)
        charts.append(
            Chart(
                f"control-plane-{number}",
                f"Control plane of the slowest cases, {_called(point.parameters)}",
                f"Share of the routers left that have their last new route, over time since {named} failed;"
                " short lines are routers beside the failure that notice it by themselves.",
                "time after the failure (ms)",
                ["share of routers"],
                curves,
            )
        )
    return charts


def _times(rows: Sequence[dict[str, Any]], case: str, key: str) -> list[float]:
    return sorted(row[key] * 1e3 for row in rows if row["case"] == case and row[key] is not None)


def tables(found: Results) -> list[Table]:
    """Every case: predicted beside measured, those first that came otherwise."""
    made = []
    for point in found.points:
        rows = of_point(found, "cases", point)
        rows.sort(key=lambda row: (row["verdict"] == "as predicted", -(row["full_s"] or 0.0)))
        shown = [
            [
                f"{row['kind']} {row['case']}",
                row["verdict"],
                *(text for key in ("detected", "control", "full") for text in _pair(row, key)),
                *(f"{row[key]:,}" for key in ("lost", "cut_off", "expired", "looped")),
            ]
            for row in rows
        ]
        titles = ["case", "verdict"]
        for what in ("detection", "control plane", "forwarding"):
            titles += [f"{what} predicted", "measured"]
        titles += ["lost", "cut off", "TTL expired", "looped, arrived"]
        note = "" if len(shown) <= ROWS_MAX else f"{len(shown) - ROWS_MAX:,} more are in table 'cases'"
        caption = f"Cases, {_called(point.parameters)}: times after the failure"
        made.append(Table(caption, titles, shown[:ROWS_MAX], 2, note=note))
    return made


def _pair(row: dict[str, Any], key: str) -> tuple[str, str]:
    low, high, measured = (row[f"{key}{end}"] for end in ("_low_s", "_high_s", "_s"))
    if low is None:
        expected = "-"
    elif format_time(low) == format_time(high):
        expected = format_time(low)
    else:
        expected = f"{format_time(low)} to {format_time(high)}"
    return expected, "-" if measured is None else format_time(measured)
