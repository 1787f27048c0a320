"""The page of two runs side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..charts import Chart, Curve
from ..charts.table import Table
from ..experiments import load
from ..files import write_text
from ..measure.alignment import TITLES
from ..measure.comparison import EPHEMERAL, Pair, Row, different, number, remarks
from ..results.manifest import time_of
from .page import Page, Section, render

if TYPE_CHECKING:
    import polars as pl

    from ..results.folder import Results

ROWS_MAX = 400


def write(path: Path, text: str) -> Path:
    """Write a page."""
    return write_text(path, text)


def page(a: Results, b: Results, pairs: list[Pair]) -> str:
    """Residuals, messages, and both runs' delay over time."""
    experiment = load(a.experiment)
    rows = [row for pair in pairs for row in pair.rows if row.metric not in EPHEMERAL]
    sections = [
        Section(
            "The two runs",
            tables=[
                Table(
                    "Where they come from",
                    ["run", "clock", "folder", "command"],
                    [
                        [name, time_of(run.manifest), str(run.folder), run.manifest["command"]]
                        for name, run in (("first", a), ("second", b))
                    ],
                    4,
                ),
                *asked(a, b),
            ],
        ),
        residuals(rows),
        *signals(pairs),
    ]
    lead = over_time(a, b, pairs[0])
    return render(
        Page(
            f"{experiment.title}: two runs",
            "Do the two runs say the same, within what each can tell?",
            answer(rows, pairs),
            sections,
            lead,
            f"{time_of(a.manifest)} against {time_of(b.manifest)}",
        )
    )


def asked(a: Results, b: Results) -> list[Table]:
    """What the two runs were asked for differently."""
    found = [list(row) for row in different(a, b)]
    return [Table("Asked for differently", ["parameter", "first", "second"], found, 3)] if found else []


def answer(rows: list[Row], pairs: list[Pair]) -> str:
    """Counts, delays and messages in one sentence."""
    judged = [row for row in rows if row.within is not None]
    exact = [row for row in judged if row.bound is None and row.spread is None]
    blurred = [row for row in judged if row.bound is not None or row.spread is not None]
    same, within = sum(row.equal for row in exact), sum(bool(row.within) for row in blurred)
    parts = []
    if exact:
        parts.append(f"{same} of {len(exact)} exact figures are the same")
    if blurred:
        parts.append(f"{within} of {len(blurred)} others agree within their bounds")
    if modelled := sum(row.why == "modelled" for row in rows):
        parts.append(f"{modelled} are modelled, and equal by construction")
    if unknown := sum(row.why == "other seed" for row in rows):
        parts.append(f"of {unknown} nobody knows how far other seeds are apart")
    text = ", ".join(parts) or "no figure stands in both runs"
    found = [one for pair in pairs for one in pair.signals or []]
    if found:
        equal = sum(one.equal for one in found)
        text += f"; the order of signalling messages is the same at {equal} of {len(found)} neighbours"
    return f"{text}."


def residuals(rows: list[Row]) -> Section:
    """The table of metrics."""
    cells = [
        [
            row.point,
            row.metric,
            number(row.first, row.refused),
            number(row.second, row.refused),
            "-" if row.residual is None else f"{row.residual:.6g}",
            "-" if row.relative is None else f"{row.relative:+.3%}",
            "exact" if row.bound is None else f"{row.bound:.3g}",
            "-" if row.spread is None else f"{row.spread:.3g}",
            "NO" if row.within is False else row.verdict,
        ]
        for row in rows[:ROWS_MAX]
    ]
    titles = ["point", "metric", "first", "second", "residual", "relative", "bound", "spread", "within"]
    text = "A residual is second less first; the bound is the sum of both runs' bounds. Times are in seconds."
    return Section(
        "Residuals",
        [text, *(f"{said[:1].upper()}{said[1:]}." for said in remarks(rows))],
        tables=[Table("Metrics of both runs", titles, cells, 2)],
    )


def signals(pairs: list[Pair]) -> list[Section]:
    """Messages by neighbour, and by type."""
    found = [(pair.name, one) for pair in pairs for one in pair.signals or []]
    if not found:
        return []
    rows = [[name, f"{one.node} - {one.neighbor}", *one.cells()] for name, one in found]
    titles = ["point", "neighbour", *TITLES]
    types = [
        [name, f"{one.node} - {one.neighbor}", kind, str(x), str(y), f"{y - x:+d}"]
        for name, one in found
        for kind, (x, y) in one.types.items()
    ]
    return [
        Section(
            "Signalling messages",
            [
                "For each session and direction: the order of message types, repetitions (refreshes) folded."
                " Messages of different sessions, and of both directions, may pass each other."
            ],
            tables=[
                Table("Order by neighbour, first / second run", titles, rows, 2),
                Table(
                    "Messages by type", ["point", "neighbour", "type", "first", "second", "more"], types, 3
                ),
            ],
        )
    ]


def over_time(a: Results, b: Results, pair: Pair) -> Chart | None:
    """Mean delay over time in both runs, of the first point."""
    if not all("series" in run.tables() for run in (a, b)):
        return None
    curves = []
    for style, (run, place, name) in enumerate(((a, pair.places[0], "first"), (b, pair.places[1], "second"))):
        table = of_point(run.table("series"), place)
        clock = time_of(run.manifest)
        x, y = table["start_s"].to_list(), [None if v is None else v * 1e6 for v in table["mean_s"].to_list()]
        curves.append(Curve(f"{name}: {clock}", x, y, 0, "line", style))
    return Chart(
        "delay-over-time",
        "Mean delay over time in both runs",
        "Mean delay of the packets that arrived in each bin, in both runs over one time axis.",
        "time (s)",
        ["delay (us)"],
        curves,
    )


def of_point(table: pl.DataFrame, point: int) -> pl.DataFrame:
    """The rows of a point."""
    import polars as pl

    return table.filter(pl.col("point") == point)
