"""`tag-switching`: parts of a published study of tag switching between six countries, on Ethernet for now."""

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
from . import compared, figures, measuring
from .build import build
from .parameters import TagSwitchingParameters

if TYPE_CHECKING:
    from ...results.folder import Results


class TagSwitching(Experiment[TagSwitchingParameters]):
    """See the module."""

    name = "tag-switching"
    title = "Tag switching: recovery after a failure"
    question = "How long does a tag-switching network take to recover, and what do timers alone say?"
    parameters = TagSwitchingParameters
    texts = 1
    extremes = True

    def __init__(self) -> None:
        self._seeds: WeakKeyDictionary[Network, int] = WeakKeyDictionary()

    def parts(self, parameters: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
        """A network for each link and each run."""
        return {
            f"{link}-{run}": parameters.model_copy(
                update={"link": link, "number": parameters.number + run, "runs": 1}
            )
            for link in parameters.links
            for run in range(parameters.runs)
        }

    def joined(self, parameters: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
        """See `measuring.joined`."""
        return measuring.joined(dict(outcomes))

    def build(self, parameters: TagSwitchingParameters, seed: int) -> Network:
        """See `build.build`."""
        network = build(parameters, seed)
        self._seeds[network] = seed
        return network

    def end_s(self, parameters: TagSwitchingParameters) -> float:
        """When everything has long been back."""
        return measuring.end_s(parameters)

    def run(self, network: Network, parameters: TagSwitchingParameters, tick: Tick | None = None) -> None:
        """Until everything has long been back."""
        steps(network, self.end_s(parameters), tick)

    def summarise(self, network: Network, parameters: TagSwitchingParameters) -> Outcome:
        """See `measuring.summarise`."""
        return measuring.summarise(network, parameters, self._seeds.pop(network))

    def headline(self, parameters: TagSwitchingParameters) -> str:
        """How a failure is seen, and how long it lasts."""
        seen = "failures are silent" if parameters.detection == "hello" else "interfaces go down"
        return f"recovery, {seen}, {parameters.down_s:g} s down, {parameters.runs} runs for each link"

    def answer(self, points: Sequence[Point]) -> str:
        """See `figures`."""
        return figures.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures`."""
        return figures.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """The figure is drawn from a table: see `plots`."""
        return []

    def plots(self, found: Results) -> list[Chart]:
        """Published, predicted and measured over one axis."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """Every run."""
        return figures.tables(found)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared`."""
        return compared.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `compared`."""
        return compared.arithmetic(points)

    def fault(self, point: Point) -> str | None:
        """Recoveries that came otherwise than timers say; that published figures are missed is no fault."""
        wrong = point.metrics["surprising"]
        return f"{wrong} recoveries are not as timers say" if wrong else None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What flows can tell."""
        return [
            f"A recovery is known to the time between two packets, {1e3 / parameters['packets_per_s']:g} ms.",
            "Predictions know timers alone: 0.2 s are allowed for flooding, connections and packets.",
        ]


EXPERIMENT = TagSwitching()
