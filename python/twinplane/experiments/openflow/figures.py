"""Tables and charts of `openflow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column
from . import model
from .build import LEAD_S, duration_s
from .claims import Verdict
from .compared import called, delay, median, parameters_of, ran, share, verdicts
from .rows import Row

if TYPE_CHECKING:
    from ...results.folder import Results

WIDE = 20
"""Values that differ by more than this factor stand on a logarithmic axis."""
PARTS = {
    "packet-in": "packet_in",
    "packet-in-action": "packet_in by action",
    "packet-out": "packet_out",
    "control": "path delay, control",
    "data": "path delay, data",
    "flow-add": "flow_add",
    "flow-mod": "flow_mod (no results published)",
    "flow-maximum": "flow maximum",
    "flow-expiry": "entries that go by themselves: how late",
    "statistics": "what entries have counted: answers",
}
"""The tests, as the study calls them."""
BEYOND = {
    "flow-expiry": ("passed_late_s", "the last packet, late by"),
    "statistics": ("behind", "packets not counted at most"),
}
"""What else tests beyond the study have found, and what it is called."""


def _tested(point: Point, part: str) -> list[Row]:
    return [row for row in ran(point) if row.part == part]


def lines(points: Sequence[Point]) -> list[Point]:
    """A line for each test of each point."""
    found = []
    for point in points:
        said = verdicts(point)
        for part in PARTS:
            own = _tested(point, part)
            if not own:
                continue
            delays = [value for row in own if (value := delay(point, row)) is not None]
            shares = [value for row in own if (value := share(point, row)) is not None]
            mine = [verdict.comparison.holds for verdict in said if verdict.part == part]
            metrics = {
                "part": PARTS[part],
                "rows": len(own),
                "least_s": min(delays, default=None),
                "greatest_s": max(delays, default=None),
                "share": None if part.startswith("flow") else min(shares, default=None),
                "resets": sum(point.metrics[f"{row.name}_resets"] for row in own),
                "held": sum(mine),
                "missed": len(mine) - sum(mine),
            }
            found.append(Point(point.parameters, metrics))
    return found


def columns(points: Sequence[Point]) -> list[Column]:
    """Test by test."""

    def metric(key: str) -> Any:
        return lambda point: point.metrics.get(key)

    return [
        Column("switch", lambda point: point.parameters["sut"]),
        Column("test", metric("part")),
        Column("rows", metric("rows")),
        Column("median from", metric("least_s"), format_time),
        Column("to", metric("greatest_s"), format_time),
        Column("received at least", metric("share"), lambda value: f"{value:.1%}"),
        Column("resets", metric("resets")),
        Column("hold", metric("held")),
        Column("missed", metric("missed")),
    ]


def tables(found: Results) -> list[Table]:
    """A table for each test, as the study has it."""
    made = _beside(found.points) if len(found.points) > 1 else []
    for point in found.points:
        said = verdicts(point)
        for part, name in PARTS.items():
            own = _tested(point, part)
            if own:
                made.append(_table(point, part, name, own, said))
        made += _predictions(point)
    return made


def _beside(points: Sequence[Point]) -> list[Table]:
    """Switches side by side, a table for each test: what they took, and what they lost."""
    made = []
    for part, name in PARTS.items():
        is_flow = part.startswith("flow")
        every = {row.name: row for point in points for row in _tested(point, part)}
        cells = []
        for row in every.values():
            first = [f"{row.flows}"] if is_flow else [f"{row.rate:g}", f"{row.size}"]
            cells.append([*first, *(_us(delay(point, row)) for point in points)])
            if not is_flow:
                shares = [share(point, row) for point in points]
                cells[-1] += ["-" if ratio is None else f"{ratio:.4f}" for ratio in shares]
        suts = [parameters_of(point).sut for point in points]
        titles = ["entries"] if is_flow else ["rate (Mbit/s)", "size (bytes)"]
        titles += [f"median, {sut}" for sut in suts]
        titles += [] if is_flow else [f"received / sent, {sut}" for sut in suts]
        if cells:
            made.append(Table(f"{name}, side by side: times in microseconds", titles, cells, 0))
    return made


def _predictions(point: Point) -> list[Table]:
    """Rows of which nothing is given: whoever has the figures can compare them."""
    p = parameters_of(point)
    if p.profile is None or not p.is_judged:
        return []
    cells = []
    for row in ran(point):
        if row.published is not None or row.in_words:
            continue
        found = model.interval(row, p.profile, duration_s(p, row), LEAD_S)
        ratio = share(point, row)
        ends = ["-", "-"] if found.share is None else [f"{end:.4f}" for end in found.share]
        cells.append(
            [
                called(row),
                found.because,
                *(_us(end) for end in found.delay_s),
                _us(delay(point, row)),
                *ends,
                "-" if ratio is None or found.share is None else f"{ratio:.4f}",
            ]
        )
    titles = ["row", "because", "delay from", "to", "in the run", "received / sent from", "to", "in the run"]
    note = "No verdict: a run of the profile says nothing of what was measured."
    caption = f"Predicted, {p.sut}, of rows of which nothing is given: median delays in microseconds"
    return [Table(caption, titles, cells, 2, note=note)] if cells else []


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e6:,.0f}"


def _kinds(row: Row, of_figures: Sequence[str]) -> str:
    if row.in_words:
        return "in words: reset"
    return "kept back" if row.held else ", ".join(dict.fromkeys(of_figures))


def _table(point: Point, part: str, name: str, own: list[Row], verdicts: Sequence[Verdict]) -> Table:
    is_flow = part.startswith("flow")
    cells = []
    for row in own:
        mine = [one.comparison for one in verdicts if one.row == row.name]
        said, metrics = row.published, point.metrics
        verdict = "-" if not mine else "holds" if all(one.holds for one in mine) else "MISSED"
        kinds = _kinds(row, [str(one.kind) for one in mine])
        line = [
            f"{row.flows}" if is_flow else f"{row.rate:g}",
            f"{row.interval_s * 1e3:.2f}" if is_flow else f"{row.size}",
            _us(None if said is None else said.mean),
            _us(metrics[f"{row.name}_delay_mean_s"]),
            _us(None if said is None else said.median),
            _us(metrics[f"{row.name}_delay_median_s"]),
            _us(None if said is None else said.sd),
            _us(metrics[f"{row.name}_delay_sd_s"]),
        ]
        if not is_flow:
            ratio = share(point, row)
            line += [
                "-" if said is None or said.share is None else f"{said.share:.4f}",
                "-" if ratio is None else f"{ratio:.4f}",
                "-" if said is None or said.packets is None else f"{said.packets:,}",
                f"{metrics[f'{row.name}_received']:,}",
            ]
        else:
            line.append(f"{metrics[f'{row.name}_rounds']}")
        if part in BEYOND:
            value = metrics[f"{row.name}_{BEYOND[part][0]}"]
            line.append("-" if value is None else _us(value) if is_flow else f"{value:,}")
        line += [f"{metrics[f'{row.name}_resets']}", kinds, verdict]
        cells.append(line)
    first = ["entries", "interval (ms)"] if is_flow else ["rate (Mbit/s)", "size (bytes)"]
    times = [f"{what}, {whose}" for what in ("mean", "median", "sd") for whose in ("published", "measured")]
    counts = ["received / sent, published", "measured", "packets, published", "measured"]
    beyond = [BEYOND[part][1]] if part in BEYOND else []
    titles = [*first, *times, *(["rounds"] if is_flow else counts), *beyond, "resets", "kind", "verdict"]
    whose = parameters_of(point)
    return Table(f"{name}, {whose.sut}: times in microseconds", titles, cells, 0)


def charts(points: Sequence[Point]) -> list[Chart]:
    """Delay over size and rate, and over the number of entries, published beside ours."""
    found = []
    for part, title in PARTS.items():
        if part in ("control", "packet-in-action"):
            continue
        curves: list[Curve] = []
        is_flow = part.startswith("flow")
        for point in points:
            own = _tested(point, part)
            rates = [None] if is_flow else sorted({row.rate for row in own})
            for rate in rates:
                curves += _curves(
                    point, [row for row in own if rate is None or row.rate == rate], rate, points, curves
                )
        if not curves:
            continue
        x_title = "entries" if is_flow else "size (bytes)"
        alt = f"Median delay of {title} over {x_title}; published medians are bare points."
        found.append(Chart(part, title, alt, x_title, ["median delay (us)"], curves, log=_log(curves)))
    return found


def _log(curves: Sequence[Curve]) -> list[int]:
    """A logarithmic axis where values differ that much."""
    values = [value for curve in curves for value in curve.y if value]
    return [0] if max(values) > WIDE * min(values) else []


def _curves(
    point: Point, own: list[Row], rate: float | None, points: Sequence[Point], before: list[Curve]
) -> list[Curve]:
    own = sorted(own, key=lambda row: (row.flows, row.size))
    whose = parameters_of(point)
    lead = f"{whose.sut}, " if len(points) > 1 else ""
    what = "" if rate is None else f"{rate:g} Mbit/s"
    style = sum(curve.shape == "line" for curve in before)

    def x(row: Row) -> float:
        return float(row.flows if rate is None else row.size)

    ours = [(x(row), value * 1e6) for row in own if (value := delay(point, row))]
    found = []
    if ours:
        name = f"{lead}{what}" if what else f"{lead}measured"
        found.append(Curve(name, [a for a, _ in ours], [b for _, b in ours], 0, "line", style))
    said = []
    for row in own:
        if (value := median(row)) is not None:
            said.append((x(row), value * 1e6))
    if said:
        device = "" if whose.is_judged else f" ({whose.device})"
        name = f"{lead}{what}, published{device}" if what else f"{lead}published{device}"
        found.append(Curve(name, [a for a, _ in said], [b for _, b in said], 0, "points", style))
    return found
