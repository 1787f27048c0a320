"""The table and the figures of `network`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...charts import SHADES, Chart, Curve
from ...measure.metrics import inside
from ...results.points import Point
from ...units import format_time
from ..base import Column
from . import tcp
from .tcp import count

if TYPE_CHECKING:
    from ...results.folder import Results

BINS = 200
"""Of the figure over time."""
CURVES_MAX = len(SHADES)


def varying(points: Sequence[Point]) -> list[str]:
    """Parameters that differ between points."""
    return [key for key in points[0].parameters if len({str(p.parameters[key]) for p in points}) > 1]


def lines(points: Sequence[Point]) -> list[Point]:
    """A line for each flow."""
    return [
        replace(
            point,
            parameters={**point.parameters, "flow": flow},
            metrics=figures,
            **{
                key: inside(getattr(point, key), f"flows.{flow}")
                for key in ("bounds", "refused", "intervals")
            },
        )
        for point in points
        for flow, figures in point.metrics["flows"].items()
    ]


def columns(points: Sequence[Point]) -> list[Column]:
    """Counts and delays of a flow; columns of what never happened are left out."""

    def parameter(key: str) -> Column:
        return Column(key, lambda line: line.parameters[key])

    def metric(title: str, key: str, form: Any = format_time) -> Column:
        return Column(title, lambda line: line.metrics.get(key), form, key)

    rare = [
        key
        for key in ("duplicated", "reordered")
        if any(flow.get(key) for point in points for flow in point.metrics["flows"].values())
    ]
    return [
        parameter("flow"),
        *(parameter(key) for key in varying(points)),
        metric("sent", "sent", count),
        metric("received", "received", count),
        metric("dropped", "dropped", count),
        *(metric(key, key, count) for key in rare),
        metric("mean", "mean_s"),
        metric("max", "max_s"),
        metric("min", "min_s"),
        metric("mean IPDV", "ipdv_mean_s"),
        metric("50 %", "p50_s"),
        metric("99 %", "p99_s"),
        metric("99.9 %", "p999_s"),
    ]


def answer(points: Sequence[Point]) -> str:
    """Losses and delays of the first point in one sentence."""
    flows: Mapping[str, Any] = points[0].metrics["flows"]
    sent, lost = (sum(flow[key] for flow in flows.values()) for key in ("sent", "dropped"))
    over_tcp = tcp.answer(points[0].metrics.get("tcp", {}))
    if not sent:
        return f"{over_tcp[:1].upper()}{over_tcp[1:]}." if over_tcp else "Nothing was sent."
    losers = [
        name for name, flow in flows.items() if flow["sent"] and flow["dropped"] >= 0.005 * flow["sent"]
    ]
    share = f"{lost / sent:.2%}" if lost else "none"
    parts = [f"of {count(sent)} packets {share} were lost" + (f" ({listed(losers)})" if losers else "")]
    means = {name: flow["mean_s"] for name, flow in flows.items() if flow["mean_s"] is not None}
    if len(means) == 1:
        parts.append(f"they took {format_time(next(iter(means.values())), 3)} in the mean")
    elif means:
        low, high = min(means, key=lambda name: means[name]), max(means, key=lambda name: means[name])
        parts.append(
            f"{low} took {format_time(means[low], 3)} in the mean, {high} {format_time(means[high], 3)}"
        )
    if points[0].metrics.get("lsps"):
        parts.append(f"{count(points[0].metrics['lsps_up'])} of {points[0].metrics['lsps']:.0f} LSPs are up")
    if over_tcp:
        parts.append(over_tcp)
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def listed(names: Sequence[str], most: int = 6) -> str:
    """Some names, and how many more."""
    return ", ".join([*names[:most], *([f"{len(names) - most} more"] if len(names) > most else [])])


def delays(points: Sequence[Point]) -> Chart:
    """The lead: how the delays of the flows are spread, from least to greatest."""
    point = points[0]
    shares = (
        ("min_s", 0.0),
        ("p50_s", 50.0),
        ("p90_s", 90.0),
        ("p99_s", 99.0),
        ("p999_s", 99.9),
        ("max_s", 100.0),
    )
    flows = {name: flow for name, flow in point.metrics["flows"].items() if flow["mean_s"] is not None}
    slowest = sorted(flows, key=lambda name: -flows[name]["mean_s"])[:CURVES_MAX]
    curves: list[Curve] = []
    told = []
    for name in (name for name in flows if name in slowest):
        known = [(flows[name][key], share) for key, share in shares if flows[name].get(key) is not None]
        x, y = [value * 1e3 for value, _ in known], [share for _, share in known]
        curves.append(Curve(name, x, y, 0, "both", len(curves)))
        told.append(f"{name} {format_time(flows[name]['mean_s'], 3)}")
    return Chart(
        "delays",
        "Delays of the flows",
        f"Share of packets with at most that delay, least to greatest. Means: {', '.join(told)}.",
        "delay (ms)",
        ["share of packets (%)"],
        curves,
        log=(),
    )


def said(found: Results) -> str:
    """The file's name without its ending."""
    return Path(found.points[0].parameters["file"]).stem
