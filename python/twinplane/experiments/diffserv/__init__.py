"""`diffserv`: four ways to share a bottleneck, beside what a published study measured of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from ...charts import Chart
from ...errors import TwinplaneError
from ...measure.bounds import LEAST, MEAN, MOST, TIME
from ...network import Network
from ...profiles import resolve
from ...results.points import Point
from ..base import Column, Experiment, Metrics, Outcome, Tick, steps
from ..scores import Comparison
from . import compared, critique, figures, real
from .build import build
from .parameters import FLOWS, SCENARIOS, DiffservParameters
from .summary import joined, summarise

if TYPE_CHECKING:
    from ...charts.table import Table
    from ...results.folder import Results
    from ...results.real import Real
    from ..labs import Ground

KINDS = {
    "mean_s": MEAN,
    **{key: LEAST for key in ("min_s", "p50_s", "p90_s", "p99_s")},
    **{key: MOST for key in ("p999_s", "max_s", "delay_range_s")},
    **{key: TIME for key in ("ipdv_mean_s", "jitter_rfc3550_s")},
}
"""Figures of a flow that real time blurs."""

POINTS_MAX = 3
"""Published figures stand beside so many points, from the first."""


class Diffserv(Experiment[DiffservParameters]):
    """See the module."""

    name = "diffserv"
    title = "DiffServ, MPLS, and DiffServ over MPLS"
    question = (
        "Who waits and who loses at a bottleneck: with best effort, with DiffServ, with MPLS,"
        " and with DiffServ over MPLS?"
    )
    parameters = DiffservParameters
    texts = 2
    extremes = True
    places = frozenset({"process", "lab"})
    inexact: ClassVar[Mapping[str, str]] = {
        f"{scenario}.{flow}.{key}": kind
        for scenario in SCENARIOS
        for flow in FLOWS
        for key, kind in KINDS.items()
    }

    def parts(self, parameters: DiffservParameters) -> Mapping[str, DiffservParameters]:
        """A network for each scenario."""
        if parameters.scenario != "all":
            return {"": parameters}
        return {
            scenario: parameters.model_copy(update={"scenario": scenario})
            for scenario in parameters.scenarios
        }

    def joined(self, parameters: DiffservParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
        """See `summary.joined`."""
        return joined(outcomes)

    def build(self, parameters: DiffservParameters, seed: int) -> Network:
        """See `build.build`."""
        return build(parameters, seed)

    def end_s(self, parameters: DiffservParameters) -> float:
        """When queues have drained."""
        return parameters.end_s + parameters.drain_s

    def run(self, network: Network, parameters: DiffservParameters, tick: Tick | None = None) -> None:
        """Signalling, traffic, and the time that the queues take to drain."""
        p = parameters
        network.run(until=p.begin_s)
        real.check_up(network, p)
        steps(network, self.end_s(p), tick)

    def summarise(self, network: Network, parameters: DiffservParameters) -> Outcome:
        """See `summary.summarise`."""
        return summarise(network, parameters)

    def headline(self, parameters: DiffservParameters) -> str:
        """Scenarios, rates, and what the paper leaves open."""
        p = parameters
        which = "four scenarios" if p.scenario == "all" else p.scenario
        return (
            f"{which}, {p.duration_s:g} s, {p.total_mbps:g} Mbit/s, {p.counted_bytes} B a packet,"
            f" queue of {p.queue_packets}, AF1 {p.af1_rate_mbps:g} Mbit/s"
        )

    def answer(self, points: Sequence[Point]) -> str:
        """Delays and losses with and without classes, in one sentence."""
        return figures.answer(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures.columns`."""
        return figures.columns(points)

    def lines(self, points: Sequence[Point]) -> Sequence[Point]:
        """See `figures.lines`."""
        return figures.lines(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """All figures are drawn from tables: see `plots`."""
        return []

    def plots(self, found: Results) -> list[Chart]:
        """See `figures.plots`."""
        return figures.plots(found)

    def tables(self, found: Results) -> list[Table]:
        """See `figures.tables`."""
        return figures.tables(found)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared.comparisons`, of the first points."""
        first = points[:POINTS_MAX]
        return [row for point in first for row in compared.comparisons(point, figures.said(points, point))]

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `critique`."""
        return critique.critique(points[0])

    def inputs(self, parameters: DiffservParameters) -> list[Any]:
        """The profile."""
        return [resolve(parameters.profile)]

    def check(self, parameters: DiffservParameters) -> None:
        """Refuse what no network can be made of; networks say themselves what is surprising about them."""
        self.inputs(parameters)
        for part in self.parts(parameters).values():
            build(part, 1).running()

    def fault(self, point: Point) -> str | None:
        """Flows that sent nothing, or received more than was sent, make a run worthless."""
        for scenario in figures.scenarios_of(point.metrics):
            for flow, found in point.metrics[scenario].items():
                if found["sent"] and found["dropped"] == found["sent"]:
                    return f"{scenario}: nothing of {flow} arrived"
        return None

    def check_real(self, parameters: DiffservParameters, where: Real) -> None:
        """See `real.check`."""
        super().check_real(parameters, where)
        real.check(where)

    def ground(
        self, parameters: DiffservParameters, seed: int, where: Real
    ) -> AbstractContextManager[Ground]:
        """See `real`."""
        return real.ground(parameters, seed, where)

    def load(self, parameters: DiffservParameters) -> tuple[int, float, float]:
        """All of the traffic passes the host's port."""
        p = parameters
        rate = sum(p.packets_per_s(flow) for flow in FLOWS) * 8 * p.frame_bytes
        return p.frame_bytes, rate, int(p.link_mbps * p.frame_bytes / (p.frame_bytes + 20) * 10) * 1e5

    def at_rate(self, parameters: DiffservParameters, rate_bps: float) -> DiffservParameters:
        """Its rates are the question."""
        raise TwinplaneError("diffserv: --rate auto: the rates of its flows are parameters")

    def count_bounds(
        self, network: Network, parameters: DiffservParameters, metrics: Metrics, within_s: float
    ) -> dict[str, float]:
        """What is lost is decided by queues and meters, and may be others the next time."""
        return real.count_bounds(metrics)

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """Virtual time is exact."""
        return [
            "Virtual time is counted in picoseconds and every packet is kept: counts, delays and"
            " quantiles are exact"
            " for the stated parameters and seed.",
            "Delay is measured from the first bit sent to the first bit received (RFC 1242), by one clock.",
            "One run of 30 s is one realisation of the traffic: --repeat 20 gives the spread over seeds,"
            " with the same"
            " realisation in every scenario.",
            f"Backlogs over time are means over {parameters['series_bin_ms']:g} ms.",
        ]

    def real_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """A queue that is full amplifies microseconds."""
        return [
            "What was lost in this run is counted exactly, but need not be lost in another one: a packet that"
            " comes microseconds later may find room in a queue that was full, and every decision of RED"
            " depends on those before. So dropped and policed are bounded by what chance does to a count of"
            " which each packet is drawn anew (99 %). That is not proved, since packets are not lost"
            " independently of each other; a queue that is kept full shares losses out more evenly. What goes"
            " beyond it is no chance: a stall, for instance.",
            "Delays behind such a decision differ by more than the bound of a single delay: that one holds"
            " what tester and idle routers add, and nothing of what another packet in front of it does. Mean"
            " and greatest delays beyond their bounds are therefore to be expected.",
            "In a lab each router is a process that a packet has to wake at every hop, which calibration back"
            " to back does not see. After each scenario probes are sent through its very routers while they"
            " are idle; what they take beyond virtual time bounds a delay, where it is more than back to"
            " back.",
            "Every output drains as fast as the one before it: when the machine stalls a router for some"
            " milliseconds,"
            " what piles up then stays as a standing queue at the next one until the load falls. Such a"
            " stall shows in"
            " the greatest lateness of the calibration, and in mean delays that are higher by about as much.",
        ]


EXPERIMENT = Diffserv()
