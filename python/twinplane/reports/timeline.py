"""The two planes over one time axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..charts import Chart, Curve, Mark
from .flows import Course, between, delays, scale_of

if TYPE_CHECKING:
    import polars as pl

BIN_S = 0.01


def timeline(
    key: str,
    title: str,
    *,
    messages: pl.DataFrame | None,
    up: pl.DataFrame | None,
    series: pl.DataFrame | None,
    loss: Sequence[tuple[float, float, int]] = (),
    marks: Sequence[Mark] = (),
    flows: Sequence[Course] = (),
) -> Chart | None:
    """Signalling messages per 10 ms, LSPs up, delay, and packets lost.

    `loss` are stretches of time with the packets lost of those sent in them. Delay is that of `flows`, or
    without them quantiles of all packets together.
    """
    titles: list[str] = []
    curves: list[Curve] = []
    words: list[str] = []
    if messages is not None and messages.height:
        words.append(_messages(messages, curves, len(titles)))
        titles.append("messages per 10 ms")
    if up is not None and up.height:
        x, y = up["time_s"].to_list(), up["up"].to_list()
        curves.append(Curve("LSPs up", x, y, len(titles), "steps", 0))
        words.append(f"between {min(y)} and {max(y)} LSPs are up")
        titles.append("LSPs up")
    log: list[int] = []
    if flows:
        words.append(delays(flows, titles, curves, log))
    elif series is not None and series.height:
        scale, unit = _unit(series)
        words.append(_delays(series, curves, len(titles), scale, unit))
        titles.append(f"delay ({unit})")
    if loss:
        total = sum(count for _, _, count in loss)
        words.append("no packet is lost" if total == 0 else f"{total} packets are lost")
        if total:
            x = [value for begin, end, _ in loss for value in (begin, end)]
            counts = [count for _, _, count in loss for _ in range(2)]
            curves.append(Curve("packets lost", x, counts, len(titles), "line", 0))
            titles.append("packets lost")
    if not titles:
        return None
    said = "; ".join(words)
    return Chart(key, title, f"{said[:1].upper()}{said[1:]}.", "time (s)", titles, curves, marks, log)


def _messages(messages: pl.DataFrame, curves: list[Curve], panel: int) -> str:
    """Messages that were sent, by all nodes together, of the types that matter most."""
    import polars as pl

    sent = messages.filter(pl.col("direction") == "tx")
    totals = sent.group_by("type").agg(pl.col("count").sum()).sort("count", "type", descending=[True, False])
    kinds = totals["type"].to_list()[:5]
    for style, kind in enumerate(kinds):
        bins = (
            sent.filter(pl.col("type") == kind).group_by("start_s").agg(pl.col("count").sum()).sort("start_s")
        )
        x, y = filled(bins["start_s"].to_list(), bins["count"].to_list())
        curves.append(Curve(str(kind), x, y, panel, "line", style))
    listed = ", ".join(f"{count} {kind}" for kind, count in totals.head(5).iter_rows())
    names = sorted(set(sent["node"].to_list())) if "node" in sent.columns else []
    return f"messages sent by {', '.join(map(str, names)) if 0 < len(names) <= 4 else 'all nodes'}: {listed}"


def filled(x: Sequence[float], y: Sequence[Any]) -> tuple[list[float], list[Any]]:
    """Bins with the zeros around them, so that a line does not bridge silence."""
    times: list[float] = []
    values: list[Any] = []
    before: float | None = None
    for at, value in zip(x, y, strict=True):
        if before is None or at - before > 1.5 * BIN_S:
            if before is not None:
                times.append(round(before + BIN_S, 9))
                values.append(0)
            times.append(round(at - BIN_S, 9))
            values.append(0)
        times.append(at)
        values.append(value)
        before = at
    if before is not None:
        times.append(round(before + BIN_S, 9))
        values.append(0)
    return times, values


SINKS_MAX = 3


def _unit(series: pl.DataFrame) -> tuple[float, str]:
    """How many of a unit of time are in a second: one in which the greatest delay is no long figure."""
    high = series["max_s"].max()
    return scale_of(high if isinstance(high, float) else 0.0)


def _delays(series: pl.DataFrame, curves: list[Curve], panel: int, scale: float, unit: str) -> str:
    """Quantiles at each of a few sinks; of many sinks the mean, the least and the most over all of them."""
    import polars as pl

    busy = series.filter(pl.col("packets") > 0).sort("start_s")
    nodes = busy["node"].unique(maintain_order=True).to_list()
    low, high = busy["min_s"].min(), busy["max_s"].max()
    columns = (("p50_s", "median"), ("p99_s", "99 %"), ("max_s", "maximum"))
    parts = [(f"{node}, ", busy.filter(pl.col("node") == node)) for node in nodes]
    if len(nodes) > SINKS_MAX:
        weighted = (pl.col("mean_s") * pl.col("packets")).sum() / pl.col("packets").sum()
        merged = busy.group_by("start_s").agg(
            weighted.alias("mean_s"), pl.col("min_s").min(), pl.col("max_s").max()
        )
        columns = (("mean_s", "mean"), ("min_s", "minimum"), ("max_s", "maximum"))
        parts = [("", merged.sort("start_s"))]
    for place, (lead, part) in enumerate(parts):
        x = part["start_s"].to_list()
        for style, (column, name) in enumerate(columns):
            y = [None if value is None else value * scale for value in part[column].to_list()]
            label = name if len(parts) == 1 else f"{lead}{name}"
            curves.append(Curve(f"delay, {label}", x, y, panel, "line", 3 * place + style))
    if not isinstance(low, float) or not isinstance(high, float):
        return "no packet arrives"
    return f"delay {between(low, high, scale)} {unit}"
