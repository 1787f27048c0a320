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
from . import build as building
from . import compared, figures, private, summary
from .parameters import OpenFlowParameters
from .rows import rows

if TYPE_CHECKING:
    from ...results.folder import Results


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
        """See `compared.arithmetic`."""
        return compared.arithmetic(points)

    def inputs(self, parameters: OpenFlowParameters) -> list[Any]:
        """The profile."""
        return [switches.resolve(parameters.profile)] if parameters.profile is not None else []

    def check(self, parameters: OpenFlowParameters) -> None:
        """Refuse switches that there are not, and rows that there are not."""
        if parameters.sut not in ("twinplane", "ovs") and not parameters.profile:
            raise TwinplaneError(f"{self.name}: sut={parameters.sut}: twinplane, ovs, or profile:NAME")
        if parameters.is_real:
            private.check()
        super().check(parameters)
        found = rows(parameters)
        if not found:
            raise TwinplaneError(f"{self.name}: only={parameters.only}: no row of this test has that name")
        self.build(parameters.model_copy(update={"only": found[0].name}), 1)

    def fault(self, point: Point) -> str | None:
        """Tests that did not come to their end, and errors of the switch. Missed figures are no fault."""
        if unfinished := point.metrics["unfinished"]:
            return f"{unfinished} tests did not come to their end"
        if errors := point.metrics["errors"]:
            return f"the switch has sent {errors} errors"
        if point.parameters["sut"] == "twinplane" and (resets := point.metrics["resets"]):
            return f"the switch has ended {resets} connections"
        return None

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


EXPERIMENT = OpenFlow()
