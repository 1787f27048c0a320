"""`protection`: how long LSPs are interrupted when a link or a router fails that they are led around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...charts import Chart, Curve
from ...network import Network
from ...results.points import Point
from ...units import format_time
from ..base import Column, Experiment, Outcome, Tick, steps
from .build import build, fill
from .parameters import ProtectionParameters
from .summary import METHODS, summarise


class Protection(Experiment[ProtectionParameters]):
    """See the module."""

    name = "protection"
    title = "Fast reroute"
    question = "How long are LSPs interrupted when a link or a router fails that they are led around?"
    parameters = ProtectionParameters

    def build(self, parameters: ProtectionParameters, seed: int) -> Network:
        """See `build.build`."""
        return build(parameters, seed)

    def end_s(self, parameters: ProtectionParameters) -> float:
        """When the last failure is over."""
        return parameters.end_s

    def run(self, network: Network, parameters: ProtectionParameters, tick: Tick | None = None) -> None:
        """Signalling, and one failure after the other."""
        fill(network, parameters)
        steps(network, parameters.end_s, tick)

    def summarise(self, network: Network, parameters: ProtectionParameters) -> Outcome:
        """See `summary.summarise`."""
        return summarise(network, parameters)

    def headline(self, parameters: ProtectionParameters) -> str:
        """What fails, how it is seen, and how often."""
        p = parameters
        seen = (
            f"BFD {p.bfd_interval_ms:g} ms x {p.bfd_multiplier}"
            if p.detection == "bfd"
            else f"link down after {p.detection_ms:g} ms"
        )
        backup = "facility backup" if p.protected else "no backup"
        return f"{backup}, {p.fails} fails, {p.failures} times, {seen}"

    def answer(self, points: Sequence[Point]) -> str:
        """The longest gap of all, in one sentence."""
        longest = [(point.metrics["loss_max_s"], point) for point in points]
        worst, point = max(longest, key=lambda one: one[0])
        lsps = point.parameters["lsps"]
        return f"The longest gap, with {lsps} LSPs over the link, is {format_time(worst)} by packets lost."

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """Median and maximum of each method, side by side."""
        found = [Column("LSPs", lambda point: point.parameters["lsps"])]
        for method in METHODS:
            for part in ("p50", "max"):
                key = f"{method}_{part}_s"
                found.append(Column(f"{method} {part}", _metric(key), format_time))
        found.append(Column("failures led around", lambda point: point.metrics["diverted"]))
        return found

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """The longest gap over the number of LSPs, by method."""
        lsps = [float(point.parameters["lsps"]) for point in points]
        curves = [
            Curve(method, lsps, [point.metrics[f"{method}_max_s"] * 1e3 for point in points], style=place)
            for place, method in enumerate(METHODS)
        ]
        said = "Longest gap over the number of LSPs that the link carries, by method of measuring."
        return [Chart("gap", "Gap over LSPs", said, "LSPs", ["longest gap (ms)"], curves, zero=(0,))]

    def fault(self, point: Point) -> str | None:
        """A failure that interrupted nothing, or that nobody led LSPs around: not what was to be measured."""
        if missing := point.metrics["missing"]:
            return f"{missing} times a failure did not interrupt a flow"
        failures = point.parameters["failures"]
        left = failures - point.metrics["diverted"] if point.parameters["protected"] else 0
        return f"LSPs were not led around {left} of {failures} failures" if left else None


def _metric(key: str) -> Callable[[Point], Any]:
    return lambda point: point.metrics[key]


EXPERIMENT = Protection()
