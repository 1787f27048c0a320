"""What an experiment is: parameters, build, run, summarise, and how its answer is drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from ..errors import TwinplaneError
from ..results.points import Point
from ..results.repeats import plus_minus
from . import load as by_name
from .parameters import P
from .scores import Comparison

if TYPE_CHECKING:
    from ..charts import Chart
    from ..charts.table import Table
    from ..frames import Columns
    from ..network import Network
    from ..results.folder import Results
    from ..results.real import Real
    from .labs import Ground

Metrics = dict[str, Any]
Tick = Callable[[float], None]
"""Told how much of a run is done, from 0 to 1."""


@dataclass
class Outcome:
    """What one run gave: figures, tables, and the network as it is drawn."""

    metrics: Metrics
    tables: dict[str, Columns] = field(default_factory=dict)
    topology: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column of the table that a run prints."""

    title: str
    value: Callable[[Point], Any]
    format: Callable[[Any], str] = str
    metric: str | None = None
    """Where the column is a metric: which, so that its bound, half of its interval, or why it is missing,
    stands in the cell."""
    counted: bool = False
    """A count of this run is exact: a bound of it is that of its residual, and does not stand in the cell."""

    def text(self, point: Point) -> str:
        """The cell of a point."""
        found = self.value(point)
        if found is None:
            return point.refused.get(self.metric or "", "-").split(":")[0]
        metric = self.metric or ""
        bound = None if self.counted else point.bounds.get(metric)
        around = [part for part in (bound, point.half(metric)) if part is not None]
        return plus_minus(self.format, found, sum(around)) if around else self.format(found)


class Experiment(ABC, Generic[P]):
    """One question and how it is answered."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    parameters: type[P]
    texts: ClassVar[int] = 0
    """How many columns of the table that a run prints are texts, from the left."""
    extremes: ClassVar[bool] = False
    """Does that table have greatest or least values? Of repeated runs they are means of each run's own."""
    places: ClassVar[frozenset[str]] = frozenset()
    """Where it can run in real time: process, lab, external."""
    inexact: ClassVar[Mapping[str, str]] = {}
    """Metrics that real time blurs, and their kinds (see `twinplane.measure.bounds`)."""
    forks: ClassVar[bool] = False
    """Does a run try many cases in forks of its network? Then its beginning says little of the whole."""
    told: ClassVar[bool] = False
    """Are the tables beside the one of the results shown on the terminal, too?"""
    trees: ClassVar[bool] = False
    """Are all trees of queues shown, on the terminal and on the page?"""

    def __reduce__(self) -> tuple[Callable[[str], Experiment[Any]], tuple[str]]:
        """Another process loads it by its name: what it keeps of networks means nothing there."""
        return by_name, (self.name,)

    def is_forked(self, parameters: P) -> bool:
        """`forks` of a run with these parameters."""
        return self.forks

    def title_of(self, points: Sequence[Point]) -> str:
        """What stands above the page of a run."""
        return self.title

    def called(self, parameters: Mapping[str, Any]) -> str:
        """What a run is called: its results folder begins with that."""
        return self.name

    def keep(self, parameters: P) -> Mapping[str, str]:
        """Files that stand beside the results, by name: what the run was made of."""
        return {}

    def inexact_of(self, metrics: Metrics) -> Mapping[str, str]:
        """`inexact` of a run with these metrics."""
        return self.inexact

    def parts(self, parameters: P) -> Mapping[str, P]:
        """What a point runs one after another, each a network of its own, by name: usually itself alone."""
        return {"": parameters}

    def joined(self, parameters: P, outcomes: Mapping[str, Outcome]) -> Outcome:
        """One outcome of those of the parts."""
        (outcome,) = outcomes.values()
        return outcome

    def is_alone(self, parameters: P) -> bool:
        """Must nothing run beside it, because it goes by the clock on the wall?"""
        return False

    def clock(self, parameters: P) -> str:
        """By which clock it runs where nothing else is asked for."""
        return "virtual time"

    @abstractmethod
    def build(self, parameters: P, seed: int) -> Network:
        """The network with its LSPs and flows."""

    @abstractmethod
    def run(self, network: Network, parameters: P, tick: Tick | None = None) -> None:
        """Run it to the end."""

    def pauses(self, network: Network, parameters: P) -> Iterator[float]:
        """Times in seconds, in their order, at which a run stops to do something more to the network.

        It is done when the next one is asked for. Afterwards `run` runs to the end.
        """
        return iter(())

    def end_s(self, parameters: P) -> float | None:
        """To which time `run` runs, in seconds; None if that is not known before."""
        return None

    @abstractmethod
    def summarise(self, network: Network, parameters: P) -> Outcome:
        """Figures and tables of a run."""

    @abstractmethod
    def headline(self, parameters: P) -> str:
        """The circumstances in one line."""

    def headline_of(self, points: Sequence[P], real: Real | None = None) -> str:
        """The circumstances of several points in one line: what differs, by its values."""
        lines = [self.headline(parameters).split(", ") for parameters in points]
        if len({len(line) for line in lines}) > 1:
            return ", ".join(lines[0])
        found = []
        for parts in zip(*lines, strict=True):
            values = list(dict.fromkeys(parts))
            found.append(" / ".join(values) if len(values) <= 3 else f"{values[0]} ... {values[-1]}")
        return ", ".join(found)

    @abstractmethod
    def answer(self, points: Sequence[Point]) -> str:
        """The answer to the question in one sentence."""

    @abstractmethod
    def columns(self, points: Sequence[Point]) -> list[Column]:
        """The table that a run prints."""

    def lines(self, points: Sequence[Point]) -> Sequence[Point]:
        """The lines of that table: usually one for each point."""
        return points

    @abstractmethod
    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """Figures over all points, the one that shows the answer first."""

    def plots(self, found: Results) -> list[Chart]:
        """Figures of what only tables know."""
        return []

    def tables(self, found: Results) -> list[Table]:
        """More tables beside the one of the results."""
        return []

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """Published figures beside ours, each once: a row for each that these points say something about."""
        return []

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """Sentences with numbers that a reader needs to judge the comparisons."""
        return []

    def campaign(self, settings: Mapping[str, Sequence[str]]) -> list[P]:
        """The points of the published matrix; empty when there is none."""
        return []

    def inputs(self, parameters: P) -> list[Any]:
        """What a run reads besides its parameters (contents of files), so that a change is noticed."""
        return []

    def check(self, parameters: P) -> None:
        """Refuse, before anything is made, what cannot be run with whatever the parameters refer to."""
        self.inputs(parameters)

    def fault(self, point: Point) -> str | None:
        """Why a run that finished gave a bad verdict, or None."""
        return None

    def faults(self, point: Point, real: Real | None = None) -> list[str]:
        """Why a run that finished gave a bad verdict, a sentence each; none if it is good."""
        fault = self.fault(point)
        return [] if fault is None else [fault]

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """How exact the figures are."""
        return []

    def real_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What is to be said of a run in real time beside that."""
        return []

    # -- real time ------------------------------------------------------------------------------------

    def check_real(self, parameters: P, real: Real) -> None:
        """Refuse, before anything is made, what cannot run in real time."""
        if real.place not in self.places:
            able = ", ".join(sorted(self.places)) or "nowhere"
            raise TwinplaneError(
                f"{self.name}: it does not run as '{real.place}' in real time (only: {able})"
            )

    def ground(self, parameters: P, seed: int, where: Real) -> AbstractContextManager[Ground]:
        """What a point in real time needs around it."""
        raise NotImplementedError

    def load(self, parameters: P) -> tuple[int, float, float]:
        """Bytes of a frame at the tester's port, rate of all, and the most that the port's link takes."""
        raise NotImplementedError

    def at_rate(self, parameters: P, rate_bps: float) -> P:
        """The same parameters with another rate."""
        raise NotImplementedError

    def count_bounds(
        self, network: Network, parameters: P, metrics: Metrics, within_s: float
    ) -> dict[str, float]:
        """How far counts may be off, by metric, if times of signalling are known to `within_s`."""
        return {}


def of_part(tick: Tick | None, place: int, count: int) -> Tick | None:
    """What the part at `place` of `count` tells, as a share of the whole."""
    return tick if tick is None or count == 1 else lambda share: tick((place + share) / count)


def steps(network: Network, until_s: float, tick: Tick | None, slices: int = 50) -> None:
    """Run to a time, telling how far it is if anybody wants to know."""
    if tick is None:
        network.run(until=until_s)
        return
    begin = network.now
    for part in range(1, slices + 1):
        network.run(until=until_s if part == slices else begin + (until_s - begin) * part / slices)
        tick(part / slices)
