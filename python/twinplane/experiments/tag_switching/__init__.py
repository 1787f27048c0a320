"""`tag-switching`: parts of a published study of tag switching between six countries, on Ethernet or on ATM.

Parts `recovery` and `vcs` have networks and tables of their own; the others are `throughput` and `load`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ...charts import Chart
from ...charts.table import Table
from ...errors import TwinplaneError
from ...network import Network
from ...results.points import Point
from ..base import Column, Experiment, Outcome, Tick, steps
from ..scores import Comparison
from . import compared, figures, judged, load, measuring, shown, throughput, timers, vcs, vcs_shown
from .build import build
from .parameters import TagSwitchingParameters

if TYPE_CHECKING:
    from ...results.folder import Results
    from ...results.real import Real


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
        """See `timers.check`; of part `vcs` the count on paper has to be possible."""
        super().check(parameters)
        if parameters.part == "vcs":
            vcs_shown.expected(parameters)
        if parameters.part == "recovery":
            timers.check(parameters)

    def parts(self, parameters: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
        """Of recovery a network for each link and each run; of parts with tags and without one for each."""
        if parameters.part == "vcs":
            return {"": parameters}
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
        if parameters.part == "vcs":
            return super().joined(parameters, outcomes)
        if parameters.part != "recovery":
            return throughput.joined(outcomes)
        return measuring.joined(parameters, outcomes)

    def build(self, parameters: TagSwitchingParameters, seed: int) -> Network:
        """See `build` in the file of each part."""
        if parameters.part != "recovery":
            return _file_of(parameters).build(parameters, seed)
        network = build(parameters, seed)
        self._seeds[network] = seed
        return network

    def end_s(self, parameters: TagSwitchingParameters) -> float:
        """When everything has long been back, or has long arrived, or is at rest."""
        if parameters.part != "recovery":
            return _file_of(parameters).end_s(parameters)
        return measuring.end_s(parameters)

    def run(self, network: Network, parameters: TagSwitchingParameters, tick: Tick | None = None) -> None:
        """Until then."""
        steps(network, self.end_s(parameters), tick)

    def summarise(self, network: Network, parameters: TagSwitchingParameters) -> Outcome:
        """See `summarise` in the file of each part."""
        if parameters.part != "recovery":
            return _file_of(parameters).summarise(network, parameters)
        return measuring.summarise(network, parameters, self._seeds[network])

    def headline(self, parameters: TagSwitchingParameters) -> str:
        """How a failure is seen, and how long it lasts; or what is sent over which path."""
        if parameters.part == "vcs":
            return vcs_shown.headline(parameters)
        if parameters.part != "recovery":
            return shown.headline(parameters)
        seen = "failures are silent" if parameters.detection == "hello" else "interfaces go down"
        where = "ATM with tags by LDP" if parameters.medium == "atm" else "Ethernet"
        runs = f"{parameters.runs} runs for each link"
        return f"recovery on {where}, {seen}, {parameters.down_s:g} s down, {runs}"

    def headline_of(self, points: Sequence[TagSwitchingParameters], real: Real | None = None) -> str:
        """Parts with tables of their own are not put together with others."""
        parts = list(dict.fromkeys(point.part for point in points))
        alone = [part for part in parts if part in ("recovery", "vcs")]
        if alone and len(parts) > 1:
            several = len(alone) > 1
            own = "have tables of their own: run each" if several else "has a table of its own: run it"
            raise TwinplaneError(
                f"tag-switching: part={','.join(parts)}: {' and '.join(alone)} {own} by itself"
            )
        return super().headline_of(points, real)

    def answer(self, points: Sequence[Point]) -> str:
        """See `figures`, `vcs_shown` and `shown`."""
        if _all("recovery", points):
            return figures.answer(points)
        return vcs_shown.answer(points) if _all("vcs", points) else shown.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures`, `vcs_shown` and `shown`."""
        if _all("recovery", points):
            return figures.columns(points)
        return vcs_shown.columns(points) if _all("vcs", points) else shown.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Of recovery the figure is drawn from a table: see `plots`."""
        if _all("recovery", points):
            return []
        return vcs_shown.charts(points) if _all("vcs", points) else shown.charts(points)

    def plots(self, found: Results) -> list[Chart]:
        """Published, predicted and measured over one axis."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """Every run."""
        return figures.tables(found)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared`, `vcs_shown` and `judged`."""
        if _all("recovery", points):
            return compared.comparisons(points)
        return vcs_shown.comparisons(points) if _all("vcs", points) else judged.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `compared`, `vcs_shown` and `judged`."""
        if _all("recovery", points):
            return compared.arithmetic(points)
        return vcs_shown.arithmetic(points) if _all("vcs", points) else judged.arithmetic(points)

    def fault(self, point: Point) -> str | None:
        """What is otherwise than timers or arithmetic say; that published figures are missed is no fault."""
        if point.parameters["part"] == "vcs":
            return vcs_shown.fault(point)
        if point.parameters["part"] != "recovery":
            return judged.fault(point)
        if wrong := point.metrics["surprising"]:
            return f"{wrong} recoveries are not as timers say"
        wrong = point.metrics["odd_stages"]
        return f"{wrong} parts of recoveries are not as timers say" if wrong else None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What flows can tell."""
        if parameters["part"] == "vcs":
            return ["VCs are counted one by one, at the end of the run."]
        if parameters["part"] != "recovery":
            if parameters["medium"] == "atm":
                return ["Every cell counts; what sets up the VCs of tags is said above."]
            return [
                "Links are those of Ethernet: there are no cells, and a tag takes 4 bytes of every packet."
            ]
        return [
            f"A recovery is known to the time between two packets, {1e3 / parameters['packets_per_s']:g} ms.",
            "Predictions know timers alone: 0.2 s are allowed for flooding, connections and packets.",
        ]


def _all(part: str, points: Sequence[Point]) -> bool:
    return all(point.parameters["part"] == part for point in points)


@dataclass(frozen=True)
class _File:
    """Where the network of a part other than recovery is built and looked at."""

    build: Callable[[TagSwitchingParameters, int], Network]
    end_s: Callable[[TagSwitchingParameters], float]
    summarise: Callable[[Network, TagSwitchingParameters], Outcome]


_FILES = {
    "load": _File(load.build, load.end_s, load.summarise),
    "vcs": _File(vcs.build, vcs.end_s, vcs.summarise),
}


def _file_of(parameters: TagSwitchingParameters) -> _File:
    usual = _File(throughput.build, throughput.end_s, throughput.summarise)
    return _FILES.get(parameters.part, usual)


EXPERIMENT = TagSwitching()
