"""The tables and the figure of `tag-switching`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column
from .compared import WORDS, expected, published
from .parameters import LINK_OF, PLANES, TagSwitchingParameters

if TYPE_CHECKING:
    from ...results.folder import Results

KINDS = [(plane, event) for event in LINK_OF for plane in PLANES]


def headline(p: TagSwitchingParameters) -> str:
    """How a failure is seen, and how long it lasts."""
    seen = "failures are silent" if p.detection == "hello" else "interfaces go down"
    where = "ATM with tags by LDP" if p.medium == "atm" else "Ethernet"
    return f"recovery on {where}, {seen}, {p.down_s:g} s down, {p.runs} runs for each link"


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point: the least and the greatest time of each kind."""

    def metric(title: str, key: str) -> Column:
        return Column(title, lambda point: point.metrics.get(key), lambda value: format_time(value, 3), key)

    found = [
        Column("seen by", lambda point: point.parameters["detection"]),
        Column("runs", lambda point: point.metrics.get("runs")),
    ]
    for plane, event in KINDS:
        name = f"{plane}, {event}"
        found += [metric(f"{name}: from", f"{plane}_{event}_min_s"), metric("to", f"{plane}_{event}_max_s")]
    found.append(Column("unexpected", lambda point: point.metrics.get("surprising")))
    return found


def answer(points: Sequence[Point]) -> str:
    """Core and outside, in one sentence for each way to see a failure; answers where they may be later."""
    said = []
    for point in points:
        m = point.metrics
        parts = []
        for plane, event in KINDS:
            low, high = m.get(f"{plane}_{event}_min_s"), m.get(f"{plane}_{event}_max_s")
            if low is None or high is None or (plane, event) == ("answers", "failure"):
                continue
            ends = dict.fromkeys(f"{end:.1f}" for end in (low, high))
            parts.append(f"{' to '.join(ends)} s {WORDS[plane]} {WORDS[event]}")
        if parts:
            said.append(f"seen by {point.parameters['detection']}, packets are back {', '.join(parts)}")
    text = "; ".join(said) or "no packet came back"
    return f"{text[0].upper()}{text[1:]}."


def plots(found: Results) -> list[Chart]:
    """Every run as a point, between the stretches that timers say and those that are published."""
    if "recoveries" not in found.tables():
        return []
    rows = list(found.table("recoveries").iter_rows(named=True))
    ticks: list[str] = []
    x: dict[str, list[float | None]] = {"published": [], "predicted": [], "measured": []}
    y: dict[str, list[float | None]] = {"published": [], "predicted": [], "measured": []}
    said = {(row["plane"], row["event"]): row for row in published()["recovery"]}
    for place, point in enumerate(found.points):
        p = TagSwitchingParameters.model_validate(point.parameters)
        for plane, event in KINDS:
            timers = expected(p, event, plane)
            if timers is None:
                continue
            at = float(-len(ticks))
            name = f"{WORDS[plane]} {WORDS[event]}"
            ticks.append(f"{name}, by {p.detection}" if len(found.points) > 1 else name)
            given = said.get((plane, event))
            if given is not None:
                x["published"] += [given["least_s"], given["greatest_s"], None]
                y["published"] += [at + 0.2, at + 0.2, None]
            # A stretch of no length is drawn as a short one.
            x["predicted"] += [timers.low_s, max(timers.high_s, timers.low_s + 0.15), None]
            y["predicted"] += [at, at, None]
            this = (place, LINK_OF[event], plane, event)
            keys = ("point", "link", "plane", "event")
            mine = [row for row in rows if tuple(row[key] for key in keys) == this]
            own = [row["back_s"] for row in mine if row["back_s"] is not None]
            x["measured"] += own
            y["measured"] += [at - 0.2] * len(own)
    shapes = {"published": "gap", "predicted": "strip", "measured": "points"}
    curves = [
        Curve(name, x[name], y[name], 0, shapes[name], style) for style, name in enumerate(shapes) if x[name]
    ]
    if not ticks:
        return []
    alt = (
        "Seconds until packets arrive again: what is published, what timers alone say, and each run as a"
        f" point. {answer(found.points)}"
    )
    return [
        Chart(
            "recovery",
            "Until packets arrive again",
            alt,
            "seconds after the failure, or after the repair",
            [""],
            curves,
            ticks={0: ticks},
            x_range=(0.0, 60.0),
        )
    ]


def tables(found: Results) -> list[Table]:
    """Every run, those first that came otherwise."""
    if "recoveries" not in found.tables():
        return []
    rows: list[dict[str, Any]] = list(found.table("recoveries").iter_rows(named=True))
    rows = [row for row in rows if row["low_s"] is not None or row["back_s"] is not None]
    rows.sort(
        key=lambda row: (
            row["verdict"] == "as predicted",
            row["point"],
            row["event"],
            row["plane"],
            row["run"],
        )
    )

    def time(value: float | None) -> str:
        return "-" if value is None else f"{value:.2f}"

    cells = [
        [
            str(found.points[row["point"]].parameters["detection"]),
            row["link"],
            str(row["run"]),
            f"{WORDS[row['plane']]} {WORDS[row['event']]}",
            row["verdict"],
            time(row["low_s"]),
            time(row["high_s"]),
            time(row["back_s"]),
            f"{row['lost']:,}",
        ]
        for row in rows
    ]
    titles = ("seen by", "link", "run", "what", "verdict", "from (s)", "to (s)", "measured (s)", "lost")
    return [Table("Every run beside what timers say", titles, cells, 5)]
