"""Table and figure of the parts with tags and without: `tcp`, `duplex`, `rtt`, `udp` and `load`."""

from __future__ import annotations

from collections.abc import Sequence
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
    what = {
        "rtt": "round-trip times",
        "udp": f"UDP at {p.udp_mbps:g} Mbit/s",
        "tcp": f"TCP, {sockets}",
        "duplex": f"TCP both ways, {sockets}",
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


def charts(points: Sequence[Point]) -> list[Chart]:
    """Throughput over the socket buffer, or delay over load, predicted and measured."""
    loaded = [point for point in points if point.parameters["part"] == "load"]
    if len(loaded) > 1 and len(loaded) == len(points):
        curves = _curves(loaded, "load", "delay_s", 1e3)
        alt = f"Mean delay over the load of the busiest link. {answer(points)}"
        return [Chart("load", "Mean delay over load", alt, "share of the busiest link", ["ms"], curves)]
    own = [point for point in points if point.parameters["part"] in ("tcp", "duplex")]
    if len(own) < 2:
        return []
    curves = _curves(own, "buffer_kb", "mbps", 1.0)
    alt = f"Throughput over the socket buffer. {answer(points)}"
    return [Chart("throughput", "Throughput over the socket buffer", alt, "buffer (kB)", ["Mbit/s"], curves)]


def _curves(points: Sequence[Point], over: str, key: str, unit: float) -> list[Curve]:
    """Predicted as lines, measured as points, with tags and without."""
    curves: list[Curve] = []
    x = [float(point.parameters[over]) for point in points]
    for setting in ("with", "without"):
        if any(setting not in parameters_of(point).settings for point in points):
            continue
        found = [point.metrics.get(f"{setting}_{key}") for point in points]
        measured: list[Any] = [None if value is None else value * unit for value in found]
        said = [predicted(parameters_of(point), setting, key).value * unit for point in points]
        curves.append(Curve(f"measured, {titled(setting)}", x, measured, 0, "points", len(curves)))
        curves.append(Curve(f"predicted, {titled(setting)}", x, said, 0, "line", len(curves)))
    return curves
