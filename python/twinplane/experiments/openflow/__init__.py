"""`openflow`: the tests of a published study of OpenFlow switches, on ours and on profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...charts import Chart
from ...charts.table import Table
from ...errors import TwinplaneError
from ...network import Network
from ...profiles import switches
from ...results.points import Point
from ..base import Column, Experiment, Outcome, Tick, steps
from ..scores import Comparison, headline
from . import arithmetic, compared, figures, marks, private, profile, summary
from . import build as building
from .parameters import OpenFlowParameters
from .rows import rows

if TYPE_CHECKING:
    from ...results.folder import Results
    from ...results.real import Real


class OpenFlow(Experiment[OpenFlowParameters]):
    """See the module."""

    name = "openflow"
    title = "OpenFlow switches"
    question = "What do packets to and from the controller, and changes of flow tables, take in a switch?"
    parameters = OpenFlowParameters
    texts = 2
    extremes = True

    def parts(self, parameters: OpenFlowParameters) -> Mapping[str, OpenFlowParameters]:
        """A network for each row of the published tables."""
        return {row.name: parameters.model_copy(update={"only": row.name}) for row in rows(parameters)}

    def joined(self, parameters: OpenFlowParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
        """See `summary.joined`."""
        return summary.joined(outcomes)

    def build(self, parameters: OpenFlowParameters, seed: int) -> Network:
        """See `build.build`."""
        return building.build(parameters, seed)

    def end_s(self, parameters: OpenFlowParameters) -> float:
        """When what was under way has arrived; in real time that is not known before."""
        return building.end_s(parameters)

    def run(self, network: Network, parameters: OpenFlowParameters, tick: Tick | None = None) -> None:
        """To the end of the test."""
        if parameters.is_real:
            building.run_real(network, parameters)
        else:
            steps(network, self.end_s(parameters), tick)

    def summarise(self, network: Network, parameters: OpenFlowParameters) -> Outcome:
        """See `summary.summarise`."""
        return summary.summarise(network, parameters)

    def clock(self, parameters: OpenFlowParameters) -> str:
        """Somebody else's switch runs in real time."""
        return "real time" if parameters.is_real else super().clock(parameters)

    def headline(self, parameters: OpenFlowParameters) -> str:
        """Which switch, and which tests."""
        what = "all tests" if parameters.part == "all" else parameters.part
        how = "some rows" if parameters.quick else "all rows"
        return f"{parameters.sut}, {what}, {how} of {parameters.device}"

    def answer(self, points: Sequence[Point]) -> str:
        """How many figures hold."""
        said = headline(compared.comparisons(points))
        return f"{said}." if said else "Nothing was compared."

    def lines(self, points: Sequence[Point]) -> Sequence[Point]:
        """A line for each test."""
        return figures.lines(points)

    def columns(self, points: Sequence[Point]) -> list[Column]:
        """See `figures.columns`."""
        return figures.columns(points)

    def charts(self, points: Sequence[Point]) -> list[Chart]:
        """See `figures.charts`."""
        return figures.charts(points)

    def tables(self, found: Results) -> list[Table]:
        """See `figures.tables`."""
        return figures.tables(found)

    def comparisons(self, points: Sequence[Point]) -> list[Comparison]:
        """See `compared`."""
        return compared.comparisons(points)

    def arithmetic(self, points: Sequence[Point]) -> list[str]:
        """See `arithmetic`."""
        return arithmetic.arithmetic(points)

    def inputs(self, parameters: OpenFlowParameters) -> list[Any]:
        """The profile."""
        return [switches.resolve(parameters.profile)] if parameters.profile is not None else []

    def check(self, parameters: OpenFlowParameters) -> None:
        """Refuse switches that there are not, rows that there are not, and parameters that mean nothing."""
        if parameters.sut not in ("twinplane", "ovs") and not parameters.profile:
            raise TwinplaneError(f"{self.name}: sut={parameters.sut}: twinplane, ovs, or profile:NAME")
        if parameters.profile:
            marks.check(profile.read(parameters.profile))
        if parameters.is_real:
            private.check()
        elif parameters.real_s:
            raise TwinplaneError(f"{self.name}: real_s={parameters.real_s:g}: only sut=ovs runs in real time")
        if parameters.durations != "counts" and parameters.is_real and parameters.sends_s:
            raise TwinplaneError(f"{self.name}: durations={parameters.durations}: real_s says how long")
        super().check(parameters)
        found = rows(parameters)
        if not found:
            raise TwinplaneError(f"{self.name}: only={parameters.only}: no row of this test has that name")
        if parameters.confirm and not any(row.part.startswith("flow") for row in found):
            raise TwinplaneError(f"{self.name}: confirm=true: none of these tests writes entries")
        if parameters.fill and not any(row.part == "data" for row in found):
            raise TwinplaneError(f"{self.name}: fill=true: none of these tests is of the data path")
        self.build(parameters.model_copy(update={"only": found[0].name}), 1)

    def fault(self, point: Point) -> str | None:
        """The first of `faults`."""
        return next(iter(self.faults(point)), None)

    def faults(self, point: Point, real: Real | None = None) -> list[str]:
        """Tests that did not come to their end, entries that do not work, and errors of the switch.

        Missed figures are no fault.
        """
        metrics, found = point.metrics, []
        flow = [row for row in compared.ran(point) if row.part.startswith("flow")]
        unwritten = [row.name for row in flow if compared.delay(point, row) is None]
        unconfirmed = [
            row.name
            for row in flow
            if (least := metrics[f"{row.name}_confirmed_min"]) is not None and least < row.flows
        ]
        if count := metrics["unfinished"]:
            found.append(f"{count} {_tests(count)} did not come to {'its' if count == 1 else 'their'} end")
        for names, what in (
            (unwritten, "the last entry never worked"),
            (unconfirmed, "entries passed no probe of their own"),
        ):
            if names:
                found.append(f"in {len(names)} {_tests(len(names))} {what}: {_some(names)}")
        if errors := metrics["errors"]:
            found.append(f"the switch has sent {errors} {'error' if errors == 1 else 'errors'}")
        if point.parameters["sut"] == "twinplane" and (resets := metrics["resets"]):
            found.append(f"the switch has ended {resets} {'connection' if resets == 1 else 'connections'}")
        return found

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """How exact delays are."""
        if parameters["sut"] == "ovs":
            return [
                "Delays are those that the tester sees on this machine, with the wake-ups of both ends:"
                " compare runs on one machine only.",
                "The channel runs over TCP of the tester's own, and at the switch over the kernel's.",
            ]
        return [
            "Delays of packets are exact. Those of entries are known to an interval of the stream.",
            "Packets between stamped ones are not sent, unless fill=true.",
        ]


def _tests(count: int) -> str:
    return "test" if count == 1 else "tests"


def _some(names: Sequence[str]) -> str:
    """The first of them by name."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


EXPERIMENT = OpenFlow()
