"""`openflow`: the tests of a published study of OpenFlow switches, on ours, on profiles, and on real ones."""

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
from . import arithmetic, channel, compared, figures, live, marks, ovs, profile, summary
from . import build as building
from .parameters import BEYOND, OpenFlowParameters
from .rows import rows

if TYPE_CHECKING:
    from ...results.folder import Results
    from ...results.real import Real


SYSTEMS = "twinplane, profile:NAME, twinplane-live, ovs, tcp:ADDRESS or ptcp:PORT"
PORTS = ("ingress_port", "egress_port", "ingress_netns", "egress_netns", "from_port", "to_port")
"""Parameters of the tester's ports, which only a switch of somebody else's needs."""


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

    def is_alone(self, parameters: OpenFlowParameters) -> bool:
        """In real time a run beside it would be in what it measures."""
        return parameters.is_real

    def clock(self, parameters: OpenFlowParameters) -> str:
        """Real switches run in real time."""
        return "real time" if parameters.is_real else super().clock(parameters)

    def headline(self, parameters: OpenFlowParameters) -> str:
        """Which switch, and which tests."""
        what = "all tests" if parameters.part == "all" else parameters.part
        how = "some rows" if parameters.quick else "all rows"
        return f"{parameters.sut}, {what}, {how} of {parameters.device}"

    def answer(self, points: Sequence[Point]) -> str:
        """How many figures hold."""
        return f"{headline(compared.comparisons(points))}."

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
        if not (parameters.is_real or parameters.sut == "twinplane" or parameters.profile):
            raise TwinplaneError(f"{self.name}: sut={parameters.sut}: {SYSTEMS}")
        if parameters.profile:
            marks.check(profile.read(parameters.profile))
        if parameters.part in BEYOND and parameters.profile is not None:
            raise TwinplaneError(
                f"{self.name}: part={parameters.part}: profiles say nothing of what is beyond the study"
            )
        if parameters.real_s and not parameters.is_real:
            raise TwinplaneError(
                f"{self.name}: real_s={parameters.real_s:g}: sut={parameters.sut} runs in virtual time"
            )
        self._check_ports(parameters)
        if parameters.durations != "counts" and parameters.is_real and parameters.sends_s:
            raise TwinplaneError(f"{self.name}: durations={parameters.durations}: real_s says how long")
        super().check(parameters)
        found = rows(parameters)
        if not found:
            raise TwinplaneError(f"{self.name}: only={parameters.only}: no row of this test has that name")
        if parameters.sut == "ovs":
            ovs.check()
        elif parameters.sut == "twinplane-live":
            live.check()
        elif parameters.is_outside:
            channel.check(parameters, max(row.size for row in found))
        if parameters.confirm and not any(row.part.startswith("flow") for row in found):
            raise TwinplaneError(f"{self.name}: confirm=true: none of these tests writes entries")
        if parameters.fill and not any(row.part == "data" for row in found):
            raise TwinplaneError(f"{self.name}: fill=true: none of these tests is of the data path")
        self.build(parameters.model_copy(update={"only": found[0].name}), 1)

    def _check_ports(self, parameters: OpenFlowParameters) -> None:
        """Refuse ports of a switch that has its own."""
        if parameters.is_outside:
            return
        for name in PORTS:
            value, default = getattr(parameters, name), type(parameters).model_fields[name].default
            if value != default:
                raise TwinplaneError(
                    f"{self.name}: {name}={value}: only tcp: and ptcp: are told their ports,"
                    f" and sut={parameters.sut} has its own"
                )

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
        silent = [
            row.name
            for row in compared.ran(point)
            if not row.part.startswith("flow") and not row.in_words and not metrics[f"{row.name}_received"]
        ]
        if count := metrics["unfinished"]:
            found.append(f"{count} {_tests(count)} did not come to {'its' if count == 1 else 'their'} end")
        for names, what in (
            (silent, "no packet came back"),
            (unwritten, "the last entry never worked"),
            (unconfirmed, "entries passed no probe of their own"),
        ):
            if names:
                found.append(f"in {len(names)} {_tests(len(names))} {what}: {_some(names)}")
        if errors := metrics["errors"]:
            found.append(f"the switch has sent {errors} {'error' if errors == 1 else 'errors'}")
        if point.parameters["sut"] in ("twinplane", "twinplane-live") and (resets := metrics["resets"]):
            found.append(f"the switch has ended {resets} {'connection' if resets == 1 else 'connections'}")
        return found

    def error_bounds(self, parameters: Mapping[str, Any]) -> list[str]:
        """How exact delays are."""
        p = self.parameters.model_validate(parameters)
        if p.is_real:
            here = "the kernel's" if p.is_outside else "the tester's own"
            return [
                "Delays are those that the tester sees on this machine, with the wake-ups of both ends:"
                " compare runs on one machine only.",
                f"The channel runs over {here} TCP here.",
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
