"""`multicast`: the published matrix of multicast LSPs on PC routers, with link probing, and beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...charts import Chart, Curve
from ...errors import TwinplaneError
from ...network import Network
from ...profiles import resolve
from ...results.points import Point
from .. import scores
from ..base import Column, Experiment, Outcome, Tick, steps
from ..parameters import build as build_parameters
from ..scores import Comparison
from . import build as building
from . import compared
from .parameters import MulticastParameters, fragments

MATRIX = [("ip", 1, False), ("lsp", 1, False)] + [
    ("group", receivers, probing) for probing in (False, True) for receivers in (1, 2, 3)
]
"""The published matrix, for each size: 1.s.1 to 1.s.8."""
SIZES = (8192, 1024)


def _mbps(value: float) -> str:
    return f"{value:.2f} Mbit/s"


class Multicast(Experiment[MulticastParameters]):
    """See the module."""

    name = "multicast"
    title = "Multicast LSPs"
    question = (
        "What does each member of a group get over a label-switched tree, and what do copies and probes cost?"
    )
    parameters = MulticastParameters
    texts = 1

    def build(self, parameters: MulticastParameters, seed: int) -> Network:
        """See `build.build`."""
        return building.build(parameters, seed)

    def end_s(self, parameters: MulticastParameters) -> float:
        """When enough has arrived."""
        return building.window(parameters)[1]

    def run(self, network: Network, parameters: MulticastParameters, tick: Tick | None = None) -> None:
        """Until enough has arrived."""
        steps(network, self.end_s(parameters), tick)

    def summarise(self, network: Network, parameters: MulticastParameters) -> Outcome:
        """Payload that arrived at each receiver in the window."""
        begin, end = building.window(parameters)
        arrived: dict[str, int] = {}
        for row in network.table("series").iter_rows(named=True):
            if begin <= row["start_s"] < end - 1e-9:
                arrived[row["node"]] = arrived.get(row["node"], 0) + row["packets"]
        per_packet = parameters.size * 8 / len(fragments(parameters.size)) / parameters.duration_s / 1e6
        rates = [count * per_packet for name, count in arrived.items() if name != "host2"]
        mean = sum(rates) / len(rates) if rates else 0.0
        account = network.table("flow_accounts").row(0, named=True)
        metrics = {
            "mbps": mean,
            "members": len(rates),
            "spread": (max(rates) - min(rates)) / mean * 100 if mean else 0.0,
            "unknown": account["unknown"],
        }
        return Outcome(metrics, {"flow_accounts": network.columns("flow_accounts")})

    def headline(self, parameters: MulticastParameters) -> str:
        """The circumstances in one line."""
        return f"{compared.called(parameters)}, {parameters.size} bytes, {parameters.profile}"

    def answer(self, points: Sequence[Point]) -> str:
        """What the last point shows, and how many figures are as published or foretold."""
        last = points[-1]
        said = compared.called(MulticastParameters.model_validate(last.parameters))
        each = f"With {said} and {last.parameters['size']} bytes each gets {_mbps(last.metrics['mbps'])}."
        rows = compared.comparisons(points)
        return f"{each} {scores.headline(rows)}." if rows else each

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """The table that a run prints."""

        def predicted(point: Point) -> str:
            low, high = compared.limits(MulticastParameters.model_validate(point.parameters))
            return f"{low:.2f} to {high:.2f}"

        return [
            Column(
                "forwarding",
                lambda point: compared.called(MulticastParameters.model_validate(point.parameters)),
            ),
            Column("size", lambda point: point.parameters["size"]),
            Column("each member", lambda point: point.metrics["mbps"], _mbps, "mbps"),
            Column("between (Mbit/s)", predicted),
        ]

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Throughput over the number of copies."""
        groups = [point for point in points if point.parameters["forwarding"] == "group"]
        curves = []
        for size in dict.fromkeys(point.parameters["size"] for point in groups):
            for probing in (False, True):
                own = [
                    p for p in groups if (p.parameters["size"], p.parameters["probing"]) == (size, probing)
                ]
                own.sort(key=lambda point: point.parameters["receivers"])
                counts = [float(point.parameters["receivers"]) for point in own]
                if counts:
                    name = f"{size} bytes, probing {'on' if probing else 'off'}"
                    curves.append(Curve(name, counts, [point.metrics["mbps"] for point in own]))
        said = "What each member gets, over the number of copies that the core makes."
        return (
            [Chart("copies", "Throughput over copies", said, "copies", ["Mbit/s"], curves)] if curves else []
        )

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared`."""
        return compared.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `compared`."""
        return compared.arithmetic(points)

    def campaign(self, settings: Mapping[str, Sequence[str]]) -> list[MulticastParameters]:
        """The published matrix, both sizes."""
        fixed: dict[str, Any] = {key: values[0] for key, values in settings.items()}
        matrix = [
            {"forwarding": forwarding, "receivers": receivers, "probing": probing, "size": size}
            for size in SIZES
            for forwarding, receivers, probing in MATRIX
        ]
        chosen = [
            row
            for row in matrix
            if all(str(row.get(key, value)).lower() == value for key, value in fixed.items())
        ]
        if not chosen:
            given = " ".join(f"{key}={value}" for key, value in fixed.items())
            raise TwinplaneError(f"{self.name}: no point of the published matrix has {given} (--campaign)")
        return [build_parameters(self.name, MulticastParameters, {**fixed, **row}) for row in chosen]

    def inputs(self, parameters: MulticastParameters) -> list[Any]:
        """The profile."""
        return [resolve(parameters.profile)]

    def check(self, parameters: MulticastParameters) -> None:
        """Refuse several receivers of unicast."""
        super().check(parameters)
        if parameters.forwarding != "group" and parameters.receivers != 1:
            raise TwinplaneError(
                f"{self.name}: receivers={parameters.receivers}: forwarding={parameters.forwarding} has one"
            )

    def fault(self, point: Point) -> str | None:
        """Members without packets, and packets that no table knows of."""
        missing = point.parameters["receivers"] - point.metrics["members"]
        if missing:
            return f"{missing} of {point.parameters['receivers']} members got nothing"
        lost = point.metrics["unknown"]
        return f"{lost} packets are neither received nor lost nor on their way" if lost else None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """How exact throughput is."""
        return ["Arrivals are counted in bins of 10 ms: throughput is known to a packet at each end."]


EXPERIMENT = Multicast()
