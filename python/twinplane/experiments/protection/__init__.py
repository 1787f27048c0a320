"""`protection`: how long LSPs are interrupted when a link or a router fails that they are led around."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ...charts import Chart
from ...errors import TwinplaneError, os_reason
from ...network import Network
from ...network.graphml import read
from ...results.points import Point
from ...units import format_time
from ..base import Column, Experiment, Outcome, Tick, steps
from . import classes, figures, ladder
from .build import build, fill
from .everywhere import Tried, build_everywhere, try_all
from .parameters import ProtectionParameters
from .summary import summarise

if TYPE_CHECKING:
    from ...charts.table import Table
    from ...results.folder import Results


class Protection(Experiment[ProtectionParameters]):
    """See the module."""

    name = "protection"
    title = "Fast reroute"
    question = "How long are LSPs interrupted when a link or a router fails that they are led around?"
    parameters = ProtectionParameters
    told = True

    def __init__(self) -> None:
        self._tried: WeakKeyDictionary[Network, list[Tried]] = WeakKeyDictionary()

    def is_forked(self, parameters: ProtectionParameters) -> bool:
        """On a topology from a file each failure is tried in a fork."""
        return parameters.everywhere

    def build(self, parameters: ProtectionParameters, seed: int) -> Network:
        """See `build.build` and `everywhere.build_everywhere`."""
        return build_everywhere(parameters, seed) if parameters.everywhere else build(parameters, seed)

    def end_s(self, parameters: ProtectionParameters) -> float | None:
        """When the last failure is over; of a topology from a file each ends by itself."""
        return None if parameters.everywhere else parameters.end_s

    def pauses(self, network: Network, parameters: ProtectionParameters) -> Iterator[float]:
        """See `build.fill`."""
        return fill(network, parameters)

    def run(self, network: Network, parameters: ProtectionParameters, tick: Tick | None = None) -> None:
        """Signalling, and one failure after the other; or every one from the same beginning."""
        if parameters.everywhere:
            self._tried[network] = try_all(network, parameters, tick)
            return
        for until_s in self.pauses(network, parameters):
            network.run(until=until_s)
        steps(network, parameters.end_s, tick)

    def summarise(self, network: Network, parameters: ProtectionParameters) -> Outcome:
        """See `summary.summarise` and `classes.outcome`."""
        if parameters.everywhere:
            return classes.outcome(network, parameters, self._tried.pop(network))
        return summarise(network, parameters)

    def inputs(self, parameters: ProtectionParameters) -> list[Any]:
        """The bytes of the topology file."""
        if not parameters.everywhere:
            return []
        try:
            content = Path(parameters.topology).read_bytes()
        except OSError as error:
            raise TwinplaneError(f"{parameters.topology}: cannot be read: {os_reason(error)}") from None
        return [hashlib.sha256(content).hexdigest()]

    def check(self, parameters: ProtectionParameters) -> None:
        """The topology file, whole."""
        super().check(parameters)
        if parameters.everywhere:
            read(Path(parameters.topology), parameters.component or None)

    def headline(self, parameters: ProtectionParameters) -> str:
        """What fails, how it is seen, and how often."""
        p = parameters
        seen = p.seen_by
        backup = "no backup"
        if p.protected:
            backup = f"{p.method} from end to end" if p.end_to_end else f"{p.method} backup"
        if p.everywhere:
            what = "links and routers" if p.only == "all" else "routers" if p.only == "nodes" else "links"
            return f"{Path(p.topology).name}, {backup}, {what} fail in turn, {seen}"
        trees = f", {p.trees:,} trees with {p.leaves} leaves beyond it" if p.trees else ""
        return f"{backup}, {p.fails} fails{trees}, {p.failures} times, {seen}"

    def answer(self, points: Sequence[Point]) -> str:
        """The longest gap of all, in one sentence."""
        if _everywhere(points):
            return classes.answer(points)
        return ladder.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """Median and maximum of each method, side by side; of a topology from a file those of each class."""
        return classes.columns(points) if _everywhere(points) else ladder.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """The longest gap over the number of LSPs, by method."""
        return [] if _everywhere(points) else ladder.charts(points)

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """How exact gaps are."""
        period = format_time(1 / parameters["packets_per_s"])
        return [f"Packets are lost as a whole: gaps are known to a period of the flow, {period}."]

    def plots(self, found: Results) -> list[Chart]:
        """Distributions of gaps: see `figures`."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """What of a topology was not protected, and why."""
        return figures.tables(found)

    def fault(self, point: Point) -> str | None:
        """A failure that interrupted nothing, or that nobody led LSPs around: not what was to be measured."""
        if _everywhere([point]):
            return classes.fault(point)
        return ladder.fault(point)


def _everywhere(points: Sequence[Point]) -> bool:
    """Are these points of a topology from a file? The first one counts."""
    return str(points[0].parameters["topology"]) != "ladder"


EXPERIMENT = Protection()
