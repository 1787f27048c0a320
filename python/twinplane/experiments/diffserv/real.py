"""`diffserv` in real time: in one process, or on a lab with a process for each router."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ... import benches
from ...errors import TwinplaneError
from ...live import Ground, OneProcess
from ...network import Network
from ...real import Real
from ...urgency import urgent
from .build import ROUTERS, build, flows, lsps, topology
from .parameters import DiffservParameters

if TYPE_CHECKING:
    from ...calibration import Search
    from ...frames import Columns
    from ...lab import Lab
    from ..base import Experiment


def check(where: Real) -> None:
    """Refuse, before anything is made, what would fail at once."""
    if where.rate_auto:
        raise TwinplaneError("diffserv: --rate auto: the rates of its flows are parameters")
    if where.lab is not None:
        raise TwinplaneError(
            f"diffserv: {where.lab}: its testbed is built in: twinplane run diffserv --lab makes a lab of it"
        )
    if where.place == "lab":
        from ...lab import netns

        if not netns.may_make():
            raise TwinplaneError(
                "diffserv: --lab: making network namespaces needs root"
                " (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo"
            )


@contextmanager
def ground(experiment: Experiment[Any], p: DiffservParameters, seed: int, where: Real) -> Iterator[Ground]:
    """What a scenario needs around it, removed behind it."""
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
    """A process for each router, each in its own network namespace; the host with both interfaces is here."""

    def __init__(self, p: DiffservParameters, seed: int, where: Real) -> None:
        self.p, self.seed, self.where = p, seed, where
        self.lab: Lab | None = None

    def up(self) -> None:
        """The routers signal their LSPs by themselves."""
        from ...lab import of_network

        network = topology(self.p, self.seed)
        lsps(network, self.p)
        lab = of_network(network, f"diffserv-{os.getpid()}", self.where.driver)
        with urgent():  # the routers inherit it
            lab.up()
        self.lab = lab

    def down(self) -> None:
        """Everything that was made is removed."""
        if self.lab is not None:
            self.lab.down()
            self.lab = None

    def network(self, parameters: DiffservParameters) -> Network:
        """The host alone; its flows begin when the network does."""
        from ...lab import tester_placement

        assert self.lab is not None
        network = topology(parameters, self.seed)
        lsps(network, parameters)
        flows(network, parameters)
        placement = {**tester_placement(self.lab), "epoch_ns": None, "busy": self.where.busy}
        for port in placement["ports"]:
            port["driver"] = self.where.driver
        network.go_live({**placement, "fail_on_port_down": True})
        return network

    def gather(self, network: Network) -> None:
        """What queues and policers did, router by router."""
        assert self.lab is not None
        # The routers' clocks began with the lab, this one's with the run.
        ahead_ps = (time.monotonic_ns() - (self.lab.state.epoch_ns or 0)) * 1000 - round(network.now * 1e12)
        for name in ("queues", "queue_series", "conditioners"):
            whole: Columns = {}
            for router in ROUTERS:
                for key, values in self.lab.node(router).columns(name).items():
                    whole.setdefault(key, []).extend(values)
            if "start_ps" in whole:
                whole["start_ps"] = [value - ahead_ps for value in whole["start_ps"]]
            network.gathered[name] = whole

    def virtual(self, parameters: DiffservParameters) -> Network:
        """The same scenario."""
        return build(parameters, self.seed)

    def bench(self) -> AbstractContextManager[benches.LinkBench]:
        """A veth pair like those of the host."""
        return benches.own_pair(self.where.driver, self.where.busy)

    def through(self, parameters: DiffservParameters, rate_bps: float) -> Search:
        """There is no rate to find."""
        raise TwinplaneError("diffserv: --rate auto: the rates of its flows are parameters")

    def intact(self) -> None:
        """A router that ended makes the figures void."""
        assert self.lab is not None
        for name, node in self.lab.state.nodes.items():
            if node.kind == "router" and (node.process is None or not node.process.alive()):
                raise TwinplaneError(f"diffserv: router '{name}' ended during the run: its figures are void")


def check_up(network: Network, p: DiffservParameters) -> None:
    """Traffic would go another way than the scenario says if an LSP were not up when it begins."""
    if network.placement is not None and network.placement["local"] is not None:
        return  # the routers are elsewhere
    down = [lsp.name for lsp in network.lsps if not lsp.up]
    if down:
        raise TwinplaneError(
            f"diffserv: {p.scenario}: LSP '{down[0]}' is not up {p.begin_s:g} s after it was signalled:"
            " begin_s gives it more time"
        )
