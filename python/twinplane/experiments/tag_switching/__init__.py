"""`tag-switching`: parts of a published study of tag switching between six countries, on Ethernet or on ATM.

What there is of each part, and in which file, says `parts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart
from ...charts.table import Table
from ...errors import TwinplaneError
from ...network import Network
from ...results.points import Point
from ..base import Column, Experiment, Outcome, Tick, steps
from ..scores import Comparison
from . import duplex, figures, processor_paper, te_shown
from .parameters import TagSwitchingParameters
from .parts import PARTS, Networks, Shown, check

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

    def check(self, parameters: TagSwitchingParameters) -> None:
        """What is predicted has to be possible, and what is set has to mean something."""
        super().check(parameters)
        check(parameters)

    def parts(self, parameters: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
        """Of recovery a network for each link and each run; of parts with tags and without one for each."""
        return _networks(parameters).all(parameters)

    def joined(self, parameters: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
        """See `joined` in the file of each part."""
        return _networks(parameters).joined(parameters, outcomes)

    def build(self, parameters: TagSwitchingParameters, seed: int) -> Network:
        """See `build` in the file of each part."""
        return _networks(parameters).build(parameters, seed)

    def end_s(self, parameters: TagSwitchingParameters) -> float:
        """When everything has long been back, or has long arrived, or is at rest."""
        return _networks(parameters).end_s(parameters)

    def pauses(self, network: Network, parameters: TagSwitchingParameters) -> Iterator[float]:
        """See `pauses` in the file of each part."""
        return _networks(parameters).pauses(network, parameters)

    def run(self, network: Network, parameters: TagSwitchingParameters, tick: Tick | None = None) -> None:
        """Until then."""
        end_s = self.end_s(parameters)
        for until_s in self.pauses(network, parameters):
            network.run(until=until_s)
            if tick is not None:
                tick(until_s / end_s)
        steps(network, end_s, tick)

    def summarise(self, network: Network, parameters: TagSwitchingParameters) -> Outcome:
        """See `summarise` in the file of each part."""
        return _networks(parameters).summarise(network, parameters)

    def headline(self, parameters: TagSwitchingParameters) -> str:
        """What is looked at, and in what network."""
        return PARTS[parameters.part].shown.headline(parameters)

    def headline_of(self, points: Sequence[TagSwitchingParameters], real: Real | None = None) -> str:
        """Parts with tables of their own are not put together with others."""
        parts = list(dict.fromkeys(point.part for point in points))
        alone = [part for part in parts if PARTS[part].is_alone]
        if alone and len(parts) > 1:
            several = len(alone) > 1
            own = "have tables of their own: run each" if several else "has a table of its own: run it"
            raise TwinplaneError(
                f"tag-switching: part={','.join(parts)}: {' and '.join(alone)} {own} by itself"
            )
        return super().headline_of(points, real)

    def answer(self, points: Sequence[Point]) -> str:
        """In a sentence."""
        return _shown(points).answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """A line for each point."""
        return _shown(points).columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Of what points differ in."""
        return _shown(points).charts(points)

    def plots(self, found: Results) -> list[Chart]:
        """What only tables know: see `figures`, `te_shown` and `processor_paper`."""
        return [*figures.plots(found), *te_shown.plots(found), *processor_paper.plots(found)]

    def tables(self, found: Results) -> list[Table]:
        """Of recovery every run, of an LSP every phase, of both ways at once what acknowledgements cost."""
        return [*figures.tables(found), *te_shown.tables(found), *duplex.tables(found)]

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """What is published, then what arithmetic says."""
        return _shown(points).comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """What a reader needs to judge that."""
        return _shown(points).arithmetic(points)

    def fault(self, point: Point) -> str | None:
        """What is otherwise than timers or arithmetic say; that published figures are missed is no fault."""
        return _shown([point]).fault(point)

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What flows can tell."""
        return PARTS[parameters["part"]].shown.bounds(parameters)


def _networks(parameters: TagSwitchingParameters) -> Networks:
    return PARTS[parameters.part].networks


def _shown(points: Sequence[Point]) -> Shown:
    """All points are of one part, or of parts that are shown alike."""
    return PARTS[points[0].parameters["part"]].shown


EXPERIMENT = TagSwitching()
