"""`network`: what the flows of a user's own network experience. ``twinplane run FILE.yaml`` runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...charts import Chart
from ...errors import TwinplaneError
from ...measure.bounds import LEAST, MEAN, MOST, TIME, by_chance
from ...network import Network
from ...network.sampling import routes_change
from ...results.points import Point
from ..base import Column, Experiment, Metrics, Outcome, Tick, steps
from ..checks import sentences
from . import build as building
from . import figures, real, tcp
from .parameters import NetworkParameters
from .summary import summarise

if TYPE_CHECKING:
    from ...charts.table import Table
    from ...results.folder import Results
    from ...results.real import Real
    from ..labs import Ground

LOOKS = 40
"""So often a run is looked at in which routes change: how large databases are, and which way packets take."""

KINDS = {
    "mean_s": MEAN,
    **{key: LEAST for key in ("min_s", "p50_s", "p90_s", "p99_s")},
    **{key: MOST for key in ("p999_s", "max_s")},
    "ipdv_mean_s": TIME,
}
"""Figures of a flow that real time blurs."""


class OwnNetwork(Experiment[NetworkParameters]):
    """See the module."""

    name = "network"
    title = "A network of your own"
    question = "What do the flows of this network experience, and what do its queues do?"
    parameters = NetworkParameters
    texts = 1
    extremes = True
    trees = True
    told = True
    places = frozenset({"process", "lab"})

    def title_of(self, points: Sequence[Point]) -> str:
        """The file's name."""
        return f"Network {self.called(points[0].parameters)}"

    def called(self, parameters: Mapping[str, Any]) -> str:
        """The file's name without its ending."""
        return Path(parameters["file"]).stem

    def build(self, parameters: NetworkParameters, seed: int) -> Network:
        """See `build.build`."""
        return building.build(parameters, seed)

    def end_s(self, parameters: NetworkParameters) -> float:
        """When queues have drained."""
        return parameters.end_s

    def run(self, network: Network, parameters: NetworkParameters, tick: Tick | None = None) -> None:
        """Traffic, and the time that the queues take to drain."""
        if network.clock == "virtual" and routes_change(network):
            network.sample(parameters.end_s / LOOKS)
        steps(network, parameters.end_s, tick)

    def summarise(self, network: Network, parameters: NetworkParameters) -> Outcome:
        """See `summary.summarise`."""
        return summarise(network, parameters)

    def headline(self, parameters: NetworkParameters) -> str:
        """File and duration."""
        return f"{Path(parameters.file).name}, {parameters.duration_s:g} s"

    def answer(self, points: Sequence[Point]) -> str:
        """Losses and delays in one sentence."""
        return figures.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures.columns`."""
        return figures.columns(points)

    def lines(self, points: Sequence[Point]) -> Sequence[Point]:
        """See `figures.lines`."""
        return figures.lines(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """See `figures.delays`; of a network without flows there is none."""
        return [figures.delays(points)] if points[0].metrics["flows"] else []

    def plots(self, found: Results) -> list[Chart]:
        """See `tcp.plots`."""
        return tcp.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """See `tcp.tables`."""
        return tcp.tables(found.points, figures.varying(found.points))

    def inputs(self, parameters: NetworkParameters) -> list[Any]:
        """All that the file says, and what it refers to."""
        network = building.build(parameters, 1)
        return [network.described()]

    def check(self, parameters: NetworkParameters) -> None:
        """The whole network is made once; it says itself what is surprising about it."""
        building.build(parameters, 1).running()

    def keep(self, parameters: NetworkParameters) -> Mapping[str, str]:
        """The file, beside its results."""
        return {Path(parameters.file).name: Path(parameters.file).read_text(encoding="utf-8")}

    def check_real(self, parameters: NetworkParameters, where: Real) -> None:
        """See `real.check`."""
        super().check_real(parameters, where)
        real.check(parameters, where)

    def ground(self, parameters: NetworkParameters, seed: int, where: Real) -> AbstractContextManager[Ground]:
        """See `real`."""
        return real.ground(parameters, seed, where)

    def load(self, parameters: NetworkParameters) -> tuple[int, float, float]:
        """See `build.load`."""
        return building.load(building.build(parameters, 1))

    def at_rate(self, parameters: NetworkParameters, rate_bps: float) -> NetworkParameters:
        """The rates are the user's."""
        raise TwinplaneError(f"{parameters.file}: {real.NO_RATE}")

    def count_bounds(
        self, network: Network, parameters: NetworkParameters, metrics: Metrics, within_s: float
    ) -> dict[str, float]:
        """What queues and meters drop may be others the next time."""
        found: dict[str, float] = {}
        for name, flow in metrics["flows"].items():
            bound = by_chance(flow["dropped"], flow["sent"])
            found |= {f"flows.{name}.{key}": bound for key in ("received", "dropped")}
        return found

    def inexact_of(self, metrics: Metrics) -> Mapping[str, str]:
        """Delays of every flow."""
        return {f"flows.{flow}.{key}": kind for flow in metrics["flows"] for key, kind in KINDS.items()}

    def fault(self, point: Point) -> str | None:
        """Packets that are not what was sent make a verdict bad."""
        for name, flow in point.metrics["flows"].items():
            if found := sentences(flow):
                return f"flow '{name}': {found[0]}"
        for name, flow in point.metrics.get("tcp", {}).items():
            if wrong := flow.get("wrong"):
                return f"tcp flow '{name}': {wrong:g} bytes did not arrive as they were sent"
        return None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """Virtual time is exact."""
        return [
            "Virtual time is counted in picoseconds: counts, and mean, least and greatest delays are exact"
            " for the stated parameters and seed; quantiles come from histograms and are within 1 %.",
            "Delay is measured from the first bit sent to the first bit received (RFC 1242); mean IPDV is the"
            " mean difference in delay of consecutive packets that both arrived (RFC 3393).",
            "Dropped is what was sent and has not arrived"
            f" {parameters['drain_s']:g} s after the flows ended.",
        ]

    def real_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What real time adds."""
        return [
            "What was lost in this run is counted exactly, but need not be lost in another one: a packet that"
            " comes microseconds later may find room in a queue that was full. So received and dropped are"
            " bounded by what chance does to a count of which each packet is drawn anew (99 %).",
            "Delays behind such a decision differ by more than the bound of a single delay, which holds what"
            " tester and idle routers add: on a lab, probes are sent through its routers after the run, and"
            " what they take beyond virtual time bounds a delay where it is more than back to back.",
        ]


EXPERIMENT = OwnNetwork()
