"""`diffserv` in real time: in one process, or on a lab with a process for each router."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...measure.bounds import by_chance
from ...measure.calibration import Spread
from ...measure.metrics import flat
from ...network import Network
from ...results.real import Real
from .. import benches
from ..live import Ground, OneProcess
from ..urgency import urgent
from .build import HOST, ROUTERS, build, edges, flows, lsps, topology
from .parameters import DiffservParameters

if TYPE_CHECKING:
    from ...frames import Columns
    from ...lab import Lab
    from ...measure.calibration import Search
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
        self.lives = 0

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
        network = _routed(parameters, self.seed)
        flows(network, parameters)
        return self._live(network)

    def _live(self, network: Network) -> Network:
        """By the clock, with the lab's interfaces."""
        from ...lab import tester_placement

        assert self.lab is not None
        placement = {**tester_placement(self.lab), "epoch_ns": None, "busy": self.where.busy}
        placement["incarnation"], self.lives = self.lives, self.lives + 1
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

    def path(self, parameters: DiffservParameters) -> Spread | None:
        """Probes through the routers of this lab, which have nothing else to do."""
        real, virtual = (
            _probed(network, parameters)
            for network in (
                self._live(_routed(parameters, self.seed)),
                _routed(parameters, self.seed),
            )
        )
        beyond = sorted(
            real[number] - delay for number, delay in virtual.items() if real.get(number) is not None
        )
        return Spread.of_values(beyond) if beyond else None

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


PROBE_S, PROBES_PER_S = 3.0, 60.0
"""For how long probes are sent, and how many: so few that no queue builds up."""


def _routed(p: DiffservParameters, seed: int) -> Network:
    """Everything but the flows."""
    network = topology(p, seed)
    lsps(network, p)
    return network


def _probed(network: Network, p: DiffservParameters) -> dict[int, float]:
    """Delays of probes of the class EF, of those that arrived, by their numbers."""
    first, last = edges(network)
    host = network.node(HOST)
    least_bps = min(p.ef_rate_mbps, p.total_mbps) * 1e6
    rate = min(PROBES_PER_S, least_bps / 2 / (8 * p.counted_bytes))
    end = p.begin_s + PROBE_S
    flow = network.flow(
        *(host, host),
        rate=rate * 8 * p.ip_bytes,
        rate_counts="ip",
        size=p.frame_bytes,
        arrivals="constant",
        dscp="EF",
        start=p.begin_s,
        stop=end,
        name="probe",
        from_link=first,
        to_link=last,
        log=True,
    )
    network.run(until=end + p.drain_s)
    rows = flow.packets().select("sequence", "delay_s").rows()
    network.close()
    return {number: delay for number, delay in rows if delay is not None}


def count_bounds(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Of what queues dropped and policers dropped, by flow and together."""
    found = {}
    for name, value in flat(metrics).items():
        lead, _, key = name.rpartition(".")
        if key in ("dropped", "policed"):
            sent = flat(metrics)[f"{lead}.sent"]
            found[name] = by_chance(value, sent)
    return found


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
