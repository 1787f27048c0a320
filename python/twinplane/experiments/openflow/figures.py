"""Tables and charts of `openflow`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart, Curve
from ...charts.table import Table
from ...results.points import Point
from ...units import format_time
from ..base import Column
from .compared import comparisons, delay, parameters_of, share
from .rows import Row, rows

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
}
"""The tests, as the study calls them."""


def _tested(point: Point, part: str) -> list[Row]:
    return [
        row for row in rows(parameters_of(point)) if row.part == part and f"{row.name}_sent" in point.metrics
    ]


def lines(points: Sequence[Point]) -> list[Point]:
    """A line for each test of each point."""
    found = []
    for point in points:
        for part in PARTS:
            own = _tested(point, part)
            if not own:
                continue
            delays = [value for row in own if (value := delay(point, row)) is not None]
            shares = [value for row in own if (value := share(point, row)) is not None]
            verdicts = [row for row in comparisons([point]) if row.what.startswith((f"{part},", f"{part}:"))]
            metrics = {
                "part": PARTS[part],
                "rows": len(own),
                "least_s": min(delays, default=None),
                "greatest_s": max(delays, default=None),
                "share": None if part.startswith("flow") else min(shares, default=None),
                "resets": sum(point.metrics[f"{row.name}_resets"] for row in own),
                "held": sum(row.holds for row in verdicts),
                "missed": sum(not row.holds for row in verdicts),
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
        Column("figures held", metric("held")),
        Column("missed", metric("missed")),
    ]


def tables(found: Results) -> list[Table]:
    """A table for each test, as the study has it."""
    made = []
    for point in found.points:
        verdicts = comparisons([point])
        for part, name in PARTS.items():
            own = _tested(point, part)
            if own:
                made.append(_table(point, part, name, own, verdicts))
    return made


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value * 1e6:,.0f}"


def _table(point: Point, part: str, name: str, own: list[Row], verdicts: Sequence[Any]) -> Table:
    is_flow = part.startswith("flow")
    cells = []
    for row in own:
        of = f"{part}, {row.flows} entr" if is_flow else f"{part}, {row.rate:g} Mbit/s, {row.size} bytes"
        mine = [one for one in verdicts if one.what.startswith(of) or one.what.split(":")[0] == part]
        said, metrics = row.published, point.metrics
        verdict = "-" if not mine else "holds" if all(one.holds for one in mine) else "MISSED"
        kinds = ", ".join(dict.fromkeys("not given" if row.held else str(one.kind) for one in mine))
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
        line += [f"{metrics[f'{row.name}_resets']}", kinds, verdict]
        cells.append(line)
    first = ["entries", "interval (ms)"] if is_flow else ["rate (Mbit/s)", "size (bytes)"]
    times = [f"{what}, {whose}" for what in ("mean", "median", "sd") for whose in ("published", "measured")]
    counts = ["received / sent, published", "measured", "packets, published", "measured"]
    titles = [*first, *times, *(["rounds"] if is_flow else counts), "resets", "kind", "verdict"]
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
        figure = row.published
        value = None if figure is None else figure.median if figure.median is not None else figure.mean
        if value is not None:
            said.append((x(row), value * 1e6))
    if said:
        device = "" if whose.profile else f" ({whose.device})"
        name = f"{lead}{what}, published{device}" if what else f"{lead}published{device}"
        found.append(Curve(name, [a for a, _ in said], [b for _, b in said], 0, "points", style))
    return found
