"""`lsp-flap`: what flapping LSPs do to the two planes, beside what a published study measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ...charts import Chart
from ...errors import TwinplaneError
from ...measure.bounds import LEAST, MEAN, MOST, TIME
from ...measure.calibration import round_down
from ...network import Network
from ...profiles import resolve
from ...results.points import Point
from ...units import format_time
from ..base import Column, Experiment, Metrics, Outcome, Tick, steps
from ..checks import sentences
from ..parameters import build as build_parameters
from ..scores import Comparison
from . import compared, figures, judged, real
from . import published as paper
from .answered import check_answered
from .build import build
from .parameters import FlapParameters, line_rate_mbps
from .summary import summarise

if TYPE_CHECKING:
    from ...results.real import Real
    from ..labs import Ground

SAME = 1e-4
"""Delays that differ by less than this share are called the same."""

MATRIX_SIZES = (64, 512, 1500)
MATRIX_N = {1: range(100, 901, 100), 2: range(100, 501, 50)}


class LspFlap(Experiment[FlapParameters]):
    """See the module."""

    name = "lsp-flap"
    title = "LSP flapping"
    question = (
        "Does tearing down and setting up LSPs disturb forwarding, and does traffic disturb signalling?"
    )
    parameters = FlapParameters
    places = frozenset({"process", "lab", "external"})
    inexact: ClassVar[Mapping[str, str]] = {
        **{f"delay_{phase}_s": MEAN for phase in ("prior", "during", "end")},
        "delay_min_s": LEAST,
        "delay_max_s": MOST,
        **{f"re_establish_{share}_s": TIME for share in ("p50", "p90", "p99", "max")},
    }

    def build(self, parameters: FlapParameters, seed: int) -> Network:
        """See `build.build`."""
        return build(parameters, seed)

    def end_s(self, parameters: FlapParameters) -> float:
        """The end of the grace time."""
        return parameters.begin_s + parameters.end_s + parameters.grace_s

    def run(self, network: Network, parameters: FlapParameters, tick: Tick | None = None) -> None:
        """Set up, traffic, two flapping events, and the grace time."""
        length_s = self.end_s(parameters)
        if network.clock == "virtual":
            steps(network, length_s, tick)
            return
        first_s = network.outside.zero_s
        share = parameters.begin_s / length_s
        steps(network, first_s + parameters.begin_s, tick and (lambda done: tick(share * done)))
        check_answered(network, parameters)
        steps(network, first_s + length_s, tick and (lambda done: tick(share + (1 - share) * done)))

    def summarise(self, network: Network, parameters: FlapParameters) -> Outcome:
        """See `summary.summarise`."""
        return summarise(network, parameters)

    def headline(self, parameters: FlapParameters) -> str:
        """Scenario, profile and load."""
        p = parameters
        place = "one router" if p.scenario == "single" else "ring of 3"
        stable = "N" if p.m is None and p.family in (2, 4) else str(p.stable)
        return f"{place}, {p.profile}, M={stable}, {p.size} B, {p.rate:g} Mbit/s"

    def headline_of(self, points: Sequence[FlapParameters], real: Real | None = None) -> str:
        """Around somebody else's system, or in a lab from a file, scenario and profile say nothing."""
        text = super().headline_of(points)
        if real is None or (real.place != "external" and real.lab is None):
            return text
        place = "an external system" if real.lab is None else Path(real.lab).name
        return ", ".join([place, *text.split(", ")[2:]])

    def answer(self, points: Sequence[Point]) -> str:
        """Loss, failures, delay and K in one sentence."""
        lost = sum(point.metrics["lost_prior"] + point.metrics["lost_during"] for point in points)
        failed = sum(point.metrics["failed"] for point in points)
        full = [point.parameters["n"] for point in points if _all_back(point)]
        short = [point.parameters["n"] for point in points if not _all_back(point)]
        planes = "no packet was lost" if lost == 0 else f"{lost:.0f} packets were lost"
        ended = "every LSP was up at the end" if failed == 0 else f"{failed:.0f} LSPs were not up at the end"
        delay = _delay_change(points)
        if not short:
            signalling = "all flapped LSPs were back by the second event"
        elif not full:
            signalling = "not all flapped LSPs were back by the second event"
        else:
            signalling = (
                f"all flapped LSPs were back by the second event in {len(full)} of {len(points)} runs"
            )
            if max(full) < min(short):
                signalling = (
                    f"up to N = {max(full)} all flapped LSPs were back by the second event, above it not all"
                )
        runs = "1 run" if len(points) == 1 else f"{len(points)} runs"
        wrong = [text for point in points for text in sentences(point.metrics)]
        more = f" {'; '.join(wrong)}." if wrong else ""
        return f"In {runs} {planes}{delay}; {signalling}, and {ended}.{more}"

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """Varying parameters, K, failures, loss and delays."""
        return figures.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """K and delay over N."""
        return figures.charts(points)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared.comparisons`."""
        return compared.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `published.arithmetic`."""
        return paper.arithmetic(points)

    def campaign(self, settings: Mapping[str, Sequence[str]]) -> list[FlapParameters]:
        """2 scenarios x 4 families x 3 sizes x 9 points, or those of them that have the given values."""
        fixed: dict[str, Any] = {key: values[0] for key, values in settings.items()}
        matrix = [
            {"scenario": scenario, "family": family, "size": size, "n": n}
            for scenario in ("ring", "single")
            for family in (1, 2, 3, 4)
            for size in MATRIX_SIZES
            for n in MATRIX_N[1 if family in (1, 3) else 2]
        ]
        chosen = [
            point
            for point in matrix
            if all(str(point.get(key, value)) == value for key, value in fixed.items())
        ]
        if not chosen:
            given = ", ".join(f"{key}={value}" for key, value in fixed.items() if key in matrix[0])
            raise TwinplaneError(f"{self.name}: no point of the published matrix has {given} (--campaign)")
        return [build_parameters(self.name, FlapParameters, {**fixed, **point}) for point in chosen]

    def inputs(self, parameters: FlapParameters) -> list[Any]:
        """The profile."""
        return [resolve(parameters.profile)]

    def fault(self, point: Point) -> str | None:
        """Packets that are neither received nor counted as lost make a run worthless."""
        m = point.metrics
        lost = m["lost_prior"] + m["lost_during"]
        if m["sent"] - lost != m["received"] - m["duplicated"]:
            return f"{m['sent']} packets sent, {m['received']} received and {lost} lost do not add up"
        return None

    def faults(self, point: Point, real: Real | None = None) -> list[str]:
        """Packets that are not what was sent; of somebody else's system also what it failed to do."""
        found = [*super().faults(point, real), *sentences(point.metrics)]
        if real is not None and real.place == "external":
            found += judged.of_system(point)
        n = point.parameters["n"]
        return [f"n={n}: {text}" for text in found]

    def check_real(self, parameters: FlapParameters, where: Real) -> None:
        """See `real.check`."""
        super().check_real(parameters, where)
        real.check(parameters, where)

    def ground(self, parameters: FlapParameters, seed: int, where: Real) -> AbstractContextManager[Ground]:
        """See `real`."""
        return real.ground(parameters, seed, where)

    def load(self, parameters: FlapParameters) -> tuple[int, float, float]:
        """All of the traffic passes one port."""
        return parameters.size, parameters.rate * 1e6, int(line_rate_mbps(parameters.size) * 10) * 1e5

    def at_rate(self, parameters: FlapParameters, rate_bps: float) -> FlapParameters:
        """Rounded down, so that the rate is no higher."""
        rate = float(round_down(rate_bps))
        return parameters.model_copy(update={"rate_mbps": min(rate, line_rate_mbps(parameters.size))})

    def count_bounds(
        self, network: Network, parameters: FlapParameters, metrics: Metrics, within_s: float
    ) -> dict[str, float]:
        """LSPs that changed around the time at which they were counted."""
        zero = network.outside.zero_s + parameters.begin_s
        looks = {
            "k_up": zero + parameters.second_event_s,
            "down_at_end_of_traffic": zero + parameters.end_s,
        }
        log = network.columns("lsp_log")
        # The tester tears LSPs down when it is due; when they are up again comes from outside.
        times = [at / 1e12 for at, up in zip(log["time_ps"], log["up"], strict=True) if up]
        found = {key: sum(abs(time - at) <= within_s for time in times) for key, at in looks.items()}
        return {key: float(count) for key, count in found.items() if count}

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """Virtual time is exact."""
        return [
            "Virtual time is counted in picoseconds and no event is dropped: counts are exact, and a delay is"
            " exact to 1 ps for the stated profile and convention.",
            f"Delay is measured {parameters['convention']} bit (RFC 1242).",
            "Quantiles of delay come from histograms and are within 1 %; means, minima and maxima are exact.",
            f"Curves over time have bins of {parameters['series_bin_ms']:g} ms, messages of 10 ms.",
            "What the model leaves out of a real router is not in these bounds: see the profile's page.",
        ]


def _all_back(point: Point) -> bool:
    """Were all LSPs that flap up again when the second event began, and seen to be torn down then?"""
    n = point.parameters["n"]
    return bool(point.metrics["k"] >= n and point.metrics["k_up"] >= n)


def _delay_change(points: Sequence[Point]) -> str:
    """How mean delay changed while LSPs flapped, where it changed most."""
    pairs = [(point.metrics.get("delay_prior_s"), point.metrics.get("delay_during_s")) for point in points]
    known = [(prior, during) for prior, during in pairs if prior and during is not None]
    if not known:
        return ""
    prior, during = max(known, key=lambda pair: abs(pair[1] - pair[0]) / pair[0])
    if abs(during - prior) < SAME * prior:
        return f", mean delay was the same before and while LSPs flapped (to {SAME:.2%})"
    return f", mean delay went from {format_time(prior)} to {format_time(during)} where it changed most"


EXPERIMENT = LspFlap()
