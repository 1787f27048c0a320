"""`convergence`: how long both planes take after each link and each node of a topology has failed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ... import units
from ...charts import Chart
from ...charts.table import Table
from ...errors import TwinplaneError, os_reason
from ...failing import Probes, Trial, routes_ps
from ...failing.cases import Case, some_cases
from ...failing.graph import Graph
from ...network import Network, memory, processors
from ...network.forks import forked
from ...network.graphml import read
from ...profiles import resolve
from ...results.points import Point
from ..base import Column, Experiment, Outcome, Tick
from . import figures, summary
from .build import build
from .judging import Ground, Tried, judge
from .parameters import TIMERS, ConvergenceParameters
from .timers import Timers
from .trying import measure

if TYPE_CHECKING:
    from ...results.folder import Results


class Convergence(Experiment[ConvergenceParameters]):
    """See the module."""

    name = "convergence"
    title = "Convergence of routing"
    question = "How long do control plane and forwarding take after each failure, and what do timers say?"
    parameters = ConvergenceParameters
    texts = 3
    forks = True

    def __init__(self) -> None:
        self._tried: WeakKeyDictionary[Network, list[Tried]] = WeakKeyDictionary()

    def build(self, parameters: ConvergenceParameters, seed: int) -> Network:
        """See `build.build`."""
        return build(parameters, seed)

    def run(self, network: Network, parameters: ConvergenceParameters, tick: Tick | None = None) -> None:
        """Warm the network up, then try every case in a fork of this process."""
        self._tried[network] = try_all(network, parameters, tick)

    def summarise(self, network: Network, parameters: ConvergenceParameters) -> Outcome:
        """See `summary`."""
        return summary.outcome(network, self._tried.pop(network))

    def headline(self, parameters: ConvergenceParameters) -> str:
        """Topology, timers, how failures are seen."""
        where = (
            f"ring of {parameters.routers}"
            if parameters.topology == "ring"
            else Path(parameters.topology).name
        )
        seen = "interfaces go down" if parameters.detection == "interface" else "failures are silent"
        if parameters.bfd:
            seen += f" but for BFD ({parameters.bfd_multiplier} packets of {parameters.bfd_interval_ms:g} ms)"
        return f"{where}, {parameters.timers} timers, {seen}"

    def answer(self, points: Sequence[Point]) -> str:
        """See `summary`."""
        return summary.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures`."""
        return figures.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """All figures are drawn from tables: see `plots`."""
        return []

    def plots(self, found: Results) -> list[Chart]:
        """Distributions over all destinations, the control plane over time, and where it is slow."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """Every case: predicted beside measured."""
        return figures.tables(found)

    def inputs(self, parameters: ConvergenceParameters) -> list[Any]:
        """The profile, the timers and the bytes of the topology file."""
        found: list[Any] = [resolve(parameters.profile), TIMERS[parameters.timers]]
        if parameters.topology != "ring":
            try:
                content = Path(parameters.topology).read_bytes()
            except OSError as error:
                raise TwinplaneError(f"{parameters.topology}: cannot be read: {os_reason(error)}") from None
            found.append(hashlib.sha256(content).hexdigest())
        return found

    def check(self, parameters: ConvergenceParameters) -> None:
        """The topology file, whole; and what routers do not speak."""
        super().check(parameters)
        if parameters.bfd and parameters.detection == "interface":
            raise TwinplaneError(
                "convergence: bfd=true: interfaces tell of a failure before BFD does: say detection=hello"
            )
        if parameters.topology != "ring":
            read(Path(parameters.topology), parameters.component or None)

    def fault(self, point: Point) -> str | None:
        """Cases that came otherwise than timers say."""
        wrong, count = point.metrics["surprising"], point.metrics["cases"]
        return f"{wrong} of {count} cases are not as their timers say" if wrong else None

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """What a probe can tell."""
        return [
            "Virtual time is exact to 1 ps. The last loss is known to the time between two packets of a probe"
            " (RFC 6412, 3.7.4); the control plane is looked at itself, not by probes.",
            "Predictions know settings and delays of links, not the databases or the state of timers: of a"
            " silent failure they say between which times a neighbour is given up.",
        ]


def try_all(network: Network, p: ConvergenceParameters, tick: Tick | None) -> list[Tried]:
    """Every case, in the order of the network."""
    start = routes_ps(network)
    probes = Probes(p.probes or None, p.packets_per_s or None, False, f"{start} ps", traced=True)
    trial = Trial(network, probes, None, "1 s", p.topology)
    cases = some_cases(network, p.only, p.cases)
    described = network.described()
    silent = p.detection == "hello"
    timers = Timers.of(Graph(network), described["links"], TIMERS[p.timers], silent, p.pace)
    predicted = {case.key: timers.predict(case) for case in cases}
    trial.watch_ps = round(p.watch_s * 1e12) or timers.watch_ps(predicted.values())
    world = trial.warm()
    names = [node.name for node in network.nodes]
    ground = ground_of(network, names, timers, described)

    def work(case: Case) -> bytes:
        return json.dumps(measure(world, names, case, silent)).encode()

    found: dict[str, Any] = {}
    for case, answer in forked(cases, work, memory.forks(network.draft, processors.count())):
        found[case.key] = json.loads(answer)
        if tick is not None:
            tick(len(found) / len(cases))
    return [judge(world, ground, timers, case, predicted[case.key], found[case.key]) for case in cases]


def ground_of(network: Network, names: Sequence[str], timers: Timers, described: Mapping[str, Any]) -> Ground:
    """Gaps of probes, and how long a packet may be under way."""
    gaps = [8 * flow["size"] / units.rate_bps(flow["rate"]) for flow in described["flows"]]
    hops = [most / 1e12 for _, most in timers.delays]
    # No way without a loop is longer than all routers, by their slowest links.
    slowest = sorted(hops, reverse=True)[: len(names) - 1]
    return Ground(names, gaps, sum(slowest), max(hops, default=0.0))


EXPERIMENT = Convergence()
