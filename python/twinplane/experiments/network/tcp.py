"""What flows over TCP got: their figures, table and figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...charts import SHADES, Chart, Curve
from ...charts.table import Table
from ...frames import readable
from ...measure.metrics import inside
from ...results.points import Point
from ...units import format_rate, format_time
from ..base import Column

if TYPE_CHECKING:
    from ...frames import Columns
    from ...network import Network
    from ...results.folder import Results

FIGURES = (
    *("bytes", "wrong", "goodput_bps", "completion_s", "segments", "retransmitted"),
    *("rtt_min_s", "rtt_mean_s", "rtt_max_s", "transactions", "response_mean_s"),
)
"""Columns of table `tcp_flows` that are figures of a connection in one direction."""
CURVES_MAX = len(SHADES)
ROWS_MAX = 60


def names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The rows of table `tcp_flows`, connections in one direction, named as shortly as their flows allow."""
    several = {row["flow"] for row in rows if row["connection"] > 0}
    return [
        str(row["name"])
        + (f"/{row['connection']}" if row["flow"] in several else "")
        + (" back" if row["direction"] != "forward" else "")
        for row in rows
    ]


def figures(network: Network) -> dict[str, dict[str, Any]]:
    """Those of all connections, by name and direction."""
    rows = network.table("tcp_flows").to_dicts()
    return {
        name: {"state": row["state"], **{key: row[key] for key in FIGURES if row[key] is not None}}
        for name, row in zip(names(rows), rows, strict=True)
    }


def series(network: Network) -> Columns:
    """Table `tcp_series` with names of connections."""
    rows = network.table("tcp_flows").to_dicts()
    called = {
        (row["flow"], row["connection"], row["direction"]): name
        for name, row in zip(names(rows), rows, strict=True)
    }
    table = readable(network.columns("tcp_series"))
    keys = zip(table["flow"], table["connection"], table["direction"], strict=True)
    kept = ("start_s", "segments", "retransmitted", "acknowledged", "window", "in_flight", "rtt_s")
    return {"connection": [called[key] for key in keys], **{name: table[name] for name in kept}}


def answer(found: Mapping[str, Mapping[str, Any]]) -> str:
    """What went over TCP, in half a sentence; nothing if nothing did."""
    moved = {name: one for name, one in found.items() if one.get("bytes")}
    if not moved:
        return "nothing arrived over TCP" if found else ""
    bulk = {name: one for name, one in moved.items() if not one.get("transactions")}
    rates = {name: one["goodput_bps"] for name, one in bulk.items() if one.get("goodput_bps") is not None}
    text = f"{sum(one['bytes'] for one in moved.values()):,.0f} bytes arrived over TCP"
    if len(rates) == 1:
        text += f", at {format_rate(next(iter(rates.values())))}"
    elif rates:
        low, high = min(rates, key=lambda name: rates[name]), max(rates, key=lambda name: rates[name])
        text += f", from {format_rate(rates[low])} ({low}) to {format_rate(rates[high])} ({high})"
    again = sum(one.get("retransmitted") or 0 for one in found.values())
    sent = "1 segment was" if again == 1 else f"{again:g} segments were"
    return f"{text}; {sent} sent again" if again else text


def lines(points: Sequence[Point]) -> list[Point]:
    """A line for each connection and direction."""
    return [
        replace(
            point,
            parameters={**point.parameters, "connection": name},
            metrics=dict(found),
            **{key: inside(getattr(point, key), f"tcp.{name}") for key in ("bounds", "refused", "intervals")},
        )
        for point in points
        for name, found in point.metrics.get("tcp", {}).items()
    ]


def tables(points: Sequence[Point], varying: Sequence[str]) -> list[Table]:
    """A row for each connection and direction, with the parameters in which points differ."""
    found = lines(points)
    if not found:
        return []

    def parameter(key: str) -> Column:
        return Column(key, lambda line: line.parameters[key])

    def metric(title: str, key: str, form: Callable[[Any], str]) -> Column:
        return Column(title, lambda line: line.metrics.get(key), form, key)

    columns = [
        parameter("connection"),
        *(parameter(key) for key in varying),
        Column("state", lambda line: line.metrics.get("state")),
        metric("bytes", "bytes", count),
        metric("goodput", "goodput_bps", format_rate),
        metric("took", "completion_s", format_time),
        metric("segments", "segments", count),
        metric("sent again", "retransmitted", count),
        metric("least RTT", "rtt_min_s", format_time),
        metric("mean RTT", "rtt_mean_s", format_time),
        metric("greatest RTT", "rtt_max_s", format_time),
    ]
    if any(line.metrics.get("transactions") for line in found):
        columns += [
            metric("transactions", "transactions", count),
            metric("mean response", "response_mean_s", format_time),
        ]
    rows = [[column.text(line) for column in columns] for line in found[:ROWS_MAX]]
    left = len(found) - ROWS_MAX
    note = f"{left} more are in table tcp_flows." if left > 0 else ""
    titles = [column.title for column in columns]
    return [Table("Flows over TCP", titles, rows, left=2 + len(varying), note=note)]


def count(value: float) -> str:
    """Whole numbers: of repeated runs a mean."""
    return f"{value:.1f}" if isinstance(value, float) and value != int(value) else f"{value:.0f}"


def plots(found: Results) -> list[Chart]:
    """Bytes in flight and round-trip times of the first point over time, in the order of the flows."""
    if "tcp_series" not in found.tables():
        return []
    import polars as pl

    table = found.table("tcp_series")
    if not table.height:
        return []
    table = table.filter(pl.col("point") == table["point"].min())
    flight: list[Curve] = []
    rtt: list[Curve] = []
    for name in table["connection"].unique(maintain_order=True).to_list()[:CURVES_MAX]:
        own = table.filter(pl.col("connection") == name)
        x, style = own["start_s"].to_list(), len(flight)
        flight.append(Curve(name, x, [value / 1e3 for value in own["in_flight"]], 0, "line", style))
        known = own.filter(pl.col("rtt_s").is_not_null())
        rtt.append(
            Curve(name, known["start_s"].to_list(), [1e3 * one for one in known["rtt_s"]], 1, "line", style)
        )
    alt = "The most that was in flight, and the smoothed round-trip time, of each connection over time."
    titles = ["in flight (kB)", "round trip (ms)"]
    return [Chart("tcp", "Flows over TCP", alt, "time (s)", titles, [*flight, *rtt], zero=(0, 1))]
