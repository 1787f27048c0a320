"""`tag-switching`: parts of a published study of tag switching between six countries, on Ethernet or on ATM.

Part `recovery` has a network and a table of its own; `throughput` and `shown` are the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ...charts import Chart
from ...charts.table import Table
from ...network import Network
from ...results.points import Point
from ..base import Column, Experiment, Outcome, Tick, steps
from ..scores import Comparison
from . import compared, figures, measuring, shown, throughput, timers
from .build import build
from .parameters import TagSwitchingParameters

if TYPE_CHECKING:
    from ...results.folder import Results


class TagSwitching(Experiment[TagSwitchingParameters]):
    """See the module."""

    name = "tag-switching"
    title = "Tag switching"
    question = "What do tags do to recovery, round-trip times and throughput, and what does arithmetic say?"
    parameters = TagSwitchingParameters
    texts = 1
    extremes = True

    def __init__(self) -> None:
        self._seeds: WeakKeyDictionary[Network, int] = WeakKeyDictionary()

    def check(self, parameters: TagSwitchingParameters) -> None:
        """See `timers.check`."""
        super().check(parameters)
        if parameters.part == "recovery":
            timers.check(parameters)

    def parts(self, parameters: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
        """A network for each link and each run; of the other parts one with tags, and one without."""
        if parameters.part != "recovery":
            return {one: parameters.model_copy(update={"tags": one}) for one in parameters.settings}
        return {
            f"{link}-{run}": parameters.model_copy(
                update={"link": link, "number": parameters.number + run, "runs": 1}
            )
            for link in parameters.links
            for run in range(parameters.runs)
        }

    def joined(self, parameters: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
        """See `measuring.joined` and `throughput.joined`."""
        if parameters.part != "recovery":
            return throughput.joined(outcomes)
        return measuring.joined(dict(outcomes))

    def build(self, parameters: TagSwitchingParameters, seed: int) -> Network:
        """See `build.build` and `throughput.build`."""
        if parameters.part != "recovery":
            return throughput.build(parameters, seed)
        network = build(parameters, seed)
        self._seeds[network] = seed
        return network

    def end_s(self, parameters: TagSwitchingParameters) -> float:
        """When everything has long been back, or has long arrived."""
        if parameters.part != "recovery":
            return throughput.end_s(parameters)
        return measuring.end_s(parameters)

    def run(self, network: Network, parameters: TagSwitchingParameters, tick: Tick | None = None) -> None:
        """Until everything has long been back."""
        steps(network, self.end_s(parameters), tick)

    def summarise(self, network: Network, parameters: TagSwitchingParameters) -> Outcome:
        """See `measuring.summarise` and `throughput.summarise`."""
        if parameters.part != "recovery":
            return throughput.summarise(network, parameters)
        return measuring.summarise(network, parameters, self._seeds[network])

    def headline(self, parameters: TagSwitchingParameters) -> str:
        """How a failure is seen, and how long it lasts; or what is sent over which path."""
        if parameters.part != "recovery":
            return shown.headline(parameters)
        seen = "failures are silent" if parameters.detection == "hello" else "interfaces go down"
        return f"recovery, {seen}, {parameters.down_s:g} s down, {parameters.runs} runs for each link"

    def answer(self, points: Sequence[Point]) -> str:
        """See `figures` and `shown`."""
        return figures.answer(points) if _recovers(points) else shown.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures` and `shown`."""
        return figures.columns(points) if _recovers(points) else shown.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Of recovery the figure is drawn from a table: see `plots`."""
        return [] if _recovers(points) else shown.charts(points)

    def plots(self, found: Results) -> list[Chart]:
        """Published, predicted and measured over one axis."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """Every run."""
        return figures.tables(found)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared` and `shown`."""
        return compared.comparisons(points) if _recovers(points) else shown.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `compared` and `shown`."""
        return compared.arithmetic(points) if _recovers(points) else shown.arithmetic(points)

    def fault(self, point: Point) -> str | None:
        """What is otherwise than timers or arithmetic say; that published figures are missed is no fault."""
        if point.parameters["part"] != "recovery":
            return shown.fault(point)
        wrong = point.metrics["surprising"]
        return f"{wrong} recoveries are not as timers say" if wrong else None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What flows can tell."""
        if parameters["part"] != "recovery":
            if parameters["medium"] == "atm":
                return ["Channels with tags are circuits by configuration, in which every cell counts."]
            return [
                "Links are those of Ethernet: there are no cells, and a tag takes 4 bytes of every packet."
            ]
        return [
            f"A recovery is known to the time between two packets, {1e3 / parameters['packets_per_s']:g} ms.",
            "Predictions know timers alone: 0.2 s are allowed for flooding, connections and packets.",
        ]


def _recovers(points: Sequence[Point]) -> bool:
    return all(point.parameters["part"] == "recovery" for point in points)


EXPERIMENT = TagSwitching()
