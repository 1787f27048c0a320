"""Table and figure of the parts with tags and without: `tcp`, `duplex`, `rtt`, `udp` and `load`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...charts import Chart, Curve
from ...results.points import Point
from ...units import format_time
from ..base import Column
from . import load, processor_paper
from .links import MTU
from .parameters import TagSwitchingParameters
from .predicted import PREDICT, Prediction

FIGURES = {
    "tcp": ("mbps",),
    "duplex": ("mbps", "back_mbps"),
    "rtt": ("rtt_s",),
    "udp": ("lost",),
    "load": ("lost", "delay_s"),
}
"""What is measured in each part, beside what is predicted."""
WORDS = {
    "mbps": "Mbit/s",
    "back_mbps": "Mbit/s back",
    "rtt_s": "round-trip time",
    "lost": "lost",
    "delay_s": "mean delay",
}


def parameters_of(point: Point) -> TagSwitchingParameters:
    """Those that it was run with."""
    return TagSwitchingParameters.model_validate(point.parameters)


def predicted(p: TagSwitchingParameters, setting: str, key: str) -> Prediction:
    """What arithmetic says of a figure, `with` tags or `without`."""
    predict = load.PREDICT[key] if p.part == "load" else PREDICT[p.part]
    return predict(p, setting == "with")


def text_of(key: str, value: float) -> str:
    """A figure with its unit, or in that of its column."""
    if key.endswith("_s"):
        return format_time(value, 4)
    return f"{value:.2%}" if key == "lost" else f"{value:.3f}"


def headline(p: TagSwitchingParameters) -> str:
    """What is sent over which path."""
    rate = f"Ethernet of {p.rate_mbps:g} Mbit/s"
    if p.medium == "atm":
        by = "a circuit" if not p.has_label_vcs else "LDP with merge" if p.merges else "LDP"
        rate = f"ATM of {p.cells_per_s:g} cells/s, VCs of tags by {by}"
    where = f"Italy to {p.path.title()}, {rate}, {p.rtt_ms:g} ms there and back"
    sockets = f"buffers of {p.buffer_kb:g} kB, messages of {p.message} B, {_several(p.flows)}"
    by_connections = "two connections" if p.both_ways == "two" else "one connection"
    what = {
        "rtt": "round-trip times",
        "udp": f"UDP at {p.udp_mbps:g} Mbit/s",
        "tcp": f"TCP, {sockets}",
        "duplex": f"TCP both ways by {by_connections}, {sockets}",
        "load": f"packets of {p.packet} bytes between all countries, {p.load:.0%} of the busiest link",
    }[p.part]
    if p.part == "load":
        return f"{what}, {rate}"
    return f"{what}, {where}"


def _several(flows: int) -> str:
    return "one flow" if flows == 1 else f"{flows} flows"


def titled(name: str) -> str:
    """Above a column."""
    return "with tags" if name == "with" else "without"


def columns(points: Sequence[Point]) -> list[Column]:
    """A line for each point: predicted and measured, with tags and without."""

    def measured(setting: str, key: str) -> Column:
        name = f"{setting}_{key}"
        return Column(
            f"{titled(setting)}: {WORDS[key]}",
            lambda point: point.metrics.get(name),
            lambda value: text_of(key, value),
            name,
        )

    def said(setting: str, key: str) -> Column:
        def value(point: Point) -> float | None:
            p = parameters_of(point)
            return predicted(p, setting, key).value if key in FIGURES[p.part] else None

        return Column("predicted", value, lambda value: text_of(key, value))

    found = [Column("part", lambda point: point.parameters["part"])]
    if any(point.parameters["packet"] != MTU for point in points):
        found.append(Column("packet (B)", lambda point: point.parameters["packet"]))
    parts = {point.parameters["part"] for point in points}
    if parts & {"tcp", "duplex"}:
        found.append(Column("buffer (kB)", lambda point: f"{point.parameters['buffer_kb']:g}"))
        found.append(Column("message (B)", lambda point: point.parameters["message"]))
        found.append(Column("flows", lambda point: point.parameters["flows"]))
    if "udp" in parts:
        found.append(Column("sent (Mbit/s)", lambda point: f"{point.parameters['udp_mbps']:g}"))
    if "load" in parts:
        found.append(Column("load", lambda point: f"{point.parameters['load']:.0%}"))
    for title, key in (("VC merge", "vc_merge"), ("tags in", "tag_encapsulation"), ("VCs by", "tag_vcs")):
        if len({point.parameters[key] for point in points}) > 1:
            found.append(_set(title, key))
    found += [
        _set(key.replace("_", " "), key)
        for key in points[0].parameters
        if key not in TITLED and len({str(point.parameters[key]) for point in points}) > 1
    ]
    settings = [
        one for one in ("with", "without") if any(one in parameters_of(point).settings for point in points)
    ]
    for setting in settings:
        for key in dict.fromkeys(key for part in FIGURES if part in parts for key in FIGURES[part]):
            found += [measured(setting, key), said(setting, key)]
    for title, key in processor_paper.columns(points):
        found.append(_share(title, key))
    return found


def _share(title: str, key: str) -> Column:
    return Column(title, lambda point: point.metrics.get(key), lambda value: f"{value:.1%}", key)


def _set(title: str, key: str) -> Column:
    return Column(title, lambda point: point.parameters[key])


def answer(points: Sequence[Point]) -> str:
    """The last point in a sentence."""
    point = points[-1]
    p = parameters_of(point)
    parts = []
    for setting in p.settings:
        for key in FIGURES[p.part]:
            value = point.metrics.get(f"{setting}_{key}")
            if value is not None:
                unit = "" if key == "rtt_s" else f" {WORDS[key]}"
                parts.append(
                    f"{text_of(key, value)}{unit} {titled(setting) if setting == 'with' else 'without tags'}"
                )
    return f"{headline(p)}: {', '.join(parts)}."


TITLED = (
    "part",
    "packet",
    "buffer_kb",
    "message",
    "flows",
    "udp_mbps",
    "load",
    "vc_merge",
    "tag_encapsulation",
    "tag_vcs",
)
"""Parameters whose columns have titles of their own; others have a column where points differ."""
SWEPT = {
    "buffer_kb": "buffer (kB)",
    "message": "message (B)",
    "flows": "flows",
    "packet": "packet (B)",
    "udp_mbps": "sent (Mbit/s)",
    "rtt_ms": "propagation there and back (ms)",
    "load": "share of the busiest link",
}
"""Parameters that a figure may be drawn over, the first of those that differ."""
DRAWN = {
    "tcp": ("mbps", 1.0, "Mbit/s", "Throughput"),
    "duplex": ("mbps", 1.0, "Mbit/s each way", "Throughput of both ways at once"),
    "rtt": ("rtt_s", 1e3, "ms", "Round-trip time"),
    "udp": ("lost", 100.0, "% lost", "Losses"),
    "load": ("delay_s", 1e3, "ms", "Mean delay"),
}
"""Of each part a metric, its unit in that of the axis, what the axis says, and the title."""


def charts(points: Sequence[Point]) -> list[Chart]:
    """For each part a figure over what its points differ in."""
    found = []
    for part, (key, unit, axis, title) in DRAWN.items():
        own = [point for point in points if point.parameters["part"] == part]
        over = next((name for name in SWEPT if len({point.parameters[name] for point in own}) > 1), None)
        if over is None:
            continue
        curves = [
            curve
            for words, some in _alike(own, over).items()
            for curve in _curves(some, over, key, unit, words)
        ]
        # More could not be told apart.
        curves = [replace(curve, style=place // 2) for place, curve in enumerate(curves[:12])]
        by = SWEPT[over].partition(" (")[0]
        alt = f"{title} over {by}. {answer(own)}"
        found.append(Chart(part, f"{title} over {by}", alt, SWEPT[over], [axis], curves))
    return found


def _alike(points: Sequence[Point], over: str) -> dict[str, list[Point]]:
    """Points that differ in one parameter alone, by the others that are not the same for all."""
    others = [
        name
        for name in points[0].parameters
        if name != over and len({str(point.parameters[name]) for point in points}) > 1
    ]
    found: dict[str, list[Point]] = {}
    for point in points:
        words = "".join(f", {name} {point.parameters[name]}" for name in others)
        found.setdefault(words, []).append(point)
    return found


def _curves(points: Sequence[Point], over: str, key: str, unit: float, words: str) -> list[Curve]:
    """Predicted as lines, measured as points, with tags and without."""
    curves: list[Curve] = []
    points = sorted(points, key=lambda point: float(point.parameters[over]))
    x = [float(point.parameters[over]) for point in points]
    for setting in ("with", "without"):
        if any(setting not in parameters_of(point).settings for point in points):
            continue
        found = [point.metrics.get(f"{setting}_{key}") for point in points]
        measured: list[Any] = [None if value is None else value * unit for value in found]
        said = [predicted(parameters_of(point), setting, key).value * unit for point in points]
        curves.append(Curve(f"measured, {titled(setting)}{words}", x, measured, 0, "points"))
        curves.append(Curve(f"predicted, {titled(setting)}{words}", x, said, 0, "line"))
    return curves
