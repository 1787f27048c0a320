"""`network` in real time: in one process, or on a lab with a process for each router."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...measure.calibration import Spread
from ...network import Network
from ...results.real import Real
from .. import benches
from ..gathered import gather
from ..live import Ground, OneProcess
from ..urgency import urgent
from .build import build, offered
from .parameters import NetworkParameters

if TYPE_CHECKING:
    from ...lab import Lab
    from ...lab.plan import Plan
    from ...measure.calibration import Search
    from ..base import Experiment

NO_RATE = "--rate auto: the rates of flows are in the file"


def check(p: NetworkParameters, where: Real) -> None:
    """Refuse, before anything is made, what would fail at once."""
    if where.rate_auto:
        raise TwinplaneError(f"{p.file}: {NO_RATE}")
    if where.place == "lab":
        from ...lab import netns

        if not netns.may_make():
            raise TwinplaneError(
                f"{p.file}: --lab: making network namespaces needs root"
                " (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo"
            )
        planned(p)


def planned(p: NetworkParameters) -> Plan:
    """The lab: hosts at which flows begin or end are in the measuring process."""
    from ...lab.plan import plan
    from ...network import lowering

    lowered = lowering.lower(Path(p.file))
    network = lowered.network
    ends = {
        network.nodes[flow[key]].name: flow["name"]
        for flow in network.description.flows
        for key in ("from", "to")
    }
    for name, flow in ends.items():
        kind = network.node(name).kind
        if kind not in ("host", "edge"):
            raise TwinplaneError(
                network.explain(
                    f"flow '{flow}': '{name}' is of kind {kind}: on a lab flows begin and end at hosts,"
                    " stations and testers"
                )
            )
    named = f"{lowered.name[:20]}-{os.getpid()}"
    return plan(lowered, name=named, measured=frozenset(ends))


PROBED_MAX = 8
"""Of more flows than this the first are probed."""
PROBES_PER_S, PROBE_BEGIN_S, PROBE_END_S, PROBE_DRAIN_S = 60.0, 0.5, 3.0, 0.5


def _probed(network: Network) -> dict[tuple[int, int], float]:
    """Delays of probes in the place of the flows, so few that no queue builds up, by flow and number."""
    flows = network.description.flows
    del flows[PROBED_MAX:], network.flows[PROBED_MAX:]
    for place, flow in enumerate(flows):
        size = round(offered(flow)[1])
        flow |= {
            "arrivals": "constant",
            "size": size,
            "rate_bps": max(1, round(PROBES_PER_S / len(flows) * 8 * size)),
            "rate_counts": "frame",
            "log": True,
            "start_ps": round((PROBE_BEGIN_S + place / PROBES_PER_S) * 1e12),
            "stop_ps": round(PROBE_END_S * 1e12),
        }
    network.run(until=PROBE_END_S + PROBE_DRAIN_S)
    found = network.columns("packets")
    network.close()
    rows = zip(*(found[key] for key in ("flow", "sequence", "delay_ps")), strict=True)
    return {(flow, number): delay / 1e12 for flow, number, delay in rows if delay is not None}


@contextmanager
def ground(experiment: Experiment[Any], p: NetworkParameters, seed: int, where: Real) -> Iterator[Ground]:
    """What a run needs around it, removed behind it."""
    if where.place == "process":
        yield OneProcess(experiment, seed)
        return
    made = InLab(p, seed, where)
    made.up()
    try:
        yield made
    finally:
        made.down()


class InLab(Ground):
    """A process for each router, each in its own network namespace; what measures is in this one."""

    def __init__(self, p: NetworkParameters, seed: int, where: Real) -> None:
        self.p, self.seed, self.where = p, seed, where
        self.lab: Lab | None = None
        self.lives = 0

    def up(self) -> None:
        """The routers signal their LSPs by themselves."""
        from ...lab import Lab

        lab = Lab(planned(self.p))
        with urgent():  # the routers inherit it
            lab.up()
        self.lab = lab

    def down(self) -> None:
        """Everything that was made is removed."""
        if self.lab is not None:
            self.lab.down()
            self.lab = None

    def network(self, parameters: NetworkParameters) -> Network:
        """Hosts and testers alone; flows begin when the network does."""
        return self._live(build(parameters, self.seed))

    def _live(self, network: Network) -> Network:
        """By the clock, with the lab's interfaces."""
        from ...lab import tester_placement

        assert self.lab is not None
        placement = {**tester_placement(self.lab), "epoch_ns": None, "busy": self.where.busy}
        placement["incarnation"], self.lives = self.lives, self.lives + 1
        if self.where.driver != "packet":
            for port in placement["ports"]:
                port["driver"] = self.where.driver
        network.go_live({**placement, "fail_on_port_down": True})
        return network

    def gather(self, network: Network) -> None:
        """What queues and conditioners did, router by router."""
        assert self.lab is not None
        network.gathered_s = gather(self.lab, network)

    def virtual(self, parameters: NetworkParameters) -> Network:
        """The same network."""
        return build(parameters, self.seed)

    def path(self, parameters: NetworkParameters) -> Spread | None:
        """Probes through the routers of this lab, which have nothing else to do, where the flows go."""
        real, virtual = (
            _probed(network)
            for network in (self._live(build(parameters, self.seed)), build(parameters, self.seed))
        )
        beyond = sorted(real[probe] - delay for probe, delay in virtual.items() if probe in real)
        return Spread.of_values(beyond) if beyond else None

    def bench(self) -> AbstractContextManager[benches.LinkBench]:
        """A veth pair like those of the hosts."""
        return benches.own_pair(self.where.driver, self.where.busy)

    def through(self, parameters: NetworkParameters, rate_bps: float) -> Search:
        """There is no rate to find."""
        raise TwinplaneError(f"{parameters.file}: {NO_RATE}")

    def intact(self) -> None:
        """A router that ended makes the figures void."""
        assert self.lab is not None
        for name, node in self.lab.state.nodes.items():
            if node.kind == "router" and (node.process is None or not node.process.alive()):
                raise TwinplaneError(
                    f"{self.p.file}: router '{name}' ended during the run: its figures are void"
                )
