"""`lsp-flap` in real time: in one process, a process for each router, or round somebody else's system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...lab import interfaces
from ...measure.calibration import THROUGH_S, THROUGH_STEP, Search, Trial, keeps_pace, search
from ...network import Network
from ...network.placing import adopt
from ...results.real import OuterPort, Real
from ...units import format_time
from .. import benches
from ..live import Ground
from ..urgency import urgent
from .build import Way, build, edges_of, empty, lsps, programme, topology, way_of
from .parameters import FlapParameters

if TYPE_CHECKING:
    from ...lab import Lab
    from ...network.handles import Lsp

TRIAL_RATE = 500.0
"""LSPs signalled per second for trials of rates."""
PATIENCE_S = 10.0
GAP_S = 0.05
DRAIN_S = 0.15


def check(p: FlapParameters, where: Real) -> None:
    """Refuse, before anything is made, what would fail at once: privilege, interfaces, lab file."""
    if where.place == "process":
        return
    from ...lab import Lab, netns

    if where.place == "external":
        for port in (where.ingress, where.egress):
            assert port is not None
            interfaces.check(str(port.interface), port.netns, p.size)
        return
    if not netns.may_make():
        raise TwinplaneError(
            "lsp-flap: --lab: making network namespaces needs root"
            " (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo"
        )
    if where.lab is not None and len(Lab(where.lab).plan.of_kind("tester")) != 2:
        raise TwinplaneError(
            f"{where.lab}: two nodes of kind tester are needed: the ingress, then the egress"
        )


@contextmanager
def ground(p: FlapParameters, seed: int, where: Real) -> Iterator[Ground]:
    """What a point needs around it, removed behind it."""
    with ExitStack() as stack:
        if where.place == "process":
            yield InProcess(seed, where)
        elif where.place == "external":
            yield Outside(seed, where)
        else:
            yield InLab(p, seed, where, stack)


class Flapping(Ground):
    """What all of them have in common."""

    def __init__(self, seed: int, where: Real) -> None:
        self.seed, self.where = seed, where
        self.lives = 0

    def nodes(self, p: FlapParameters) -> tuple[Network, Way]:
        """The whole network without LSPs, and the way that they take."""
        network = topology(p, self.seed)
        return network, way_of(network, p)

    def placement(self) -> dict[str, Any]:
        """Which nodes are here, and by which interfaces they reach the others."""
        return {}

    def begin_again(self) -> None:
        """Nothing of a trial is to be left when the next network begins."""

    def network(self, parameters: FlapParameters) -> Network:
        """See `twinplane.experiments.live.Ground`."""
        network, way = self.nodes(parameters)
        programme(network, parameters, self.seed, way)
        self._go_live(network)
        return network

    def virtual(self, parameters: FlapParameters) -> Network:
        """See `twinplane.experiments.live.Ground`."""
        return build(parameters, self.seed)

    def bench(self) -> AbstractContextManager[benches.LinkBench]:
        """See `twinplane.experiments.live.Ground`."""
        return benches.own_pair(self.where.driver, self.where.busy)

    def through(self, parameters: FlapParameters, rate_bps: float) -> Search:
        """See `Ground`: the stable LSPs are set up once, and carry one burst after another."""
        network, way = self.nodes(parameters)
        stable = lsps(network, parameters, "stable", parameters.stable, way)
        edges_of(network)[0].programme(0, "signal", stable, TRIAL_RATE)
        self._go_live(network)
        try:
            found = self._search(network, stable, parameters, rate_bps)
        finally:
            network.close()
        self.begin_again()
        return found

    def _search(self, network: Network, stable: Lsp, p: FlapParameters, rate_bps: float) -> Search:
        waited = PATIENCE_S + p.stable / TRIAL_RATE
        while not stable.up and network.now < waited:
            network.run(for_=0.05)
        if not stable.up:
            raise TwinplaneError(unanswered(network, p, waited))
        bench = Through(network, stable, self.where.place == "process")
        found = search(bench, p.size, rate_bps, keeps_pace, THROUGH_S, THROUGH_STEP)
        if found.rate_bps is None:  # the machine has other work: departures are late at any rate
            found = search(bench, p.size, rate_bps, confirm_s=THROUGH_S, step=THROUGH_STEP)
        stable.teardown()
        network.run(for_=0.5)
        return found

    def _go_live(self, network: Network) -> None:
        network.log_signals()
        network.go_live({**self.placement(), "incarnation": self.lives})
        self.lives += 1


class Through:
    """A bench with a system under test in it: bursts over LSPs that are up."""

    def __init__(self, network: Network, lsp: Lsp, in_process: bool) -> None:
        self.network, self.lsp, self.in_process = network, lsp, in_process

    def describe(self) -> dict[str, Any]:
        """See `twinplane.measure.calibration.Bench`."""
        return {"kind": "through"}

    def trial(self, rate_bps: float, size: int, seconds: float) -> Trial:
        """See `twinplane.measure.calibration.Bench`."""
        network = self.network
        network.forget_lateness()
        begin = network.now + GAP_S
        flow = network.flow(
            *edges_of(network),
            over=self.lsp,
            rate=rate_bps,
            size=size,
            start=begin,
            stop=begin + seconds,
        )
        network.run(until=begin + seconds + DRAIN_S)
        return benches.read_trial(network, flow.index, rate_bps, size, seconds, self.in_process)


class InProcess(Flapping):
    """Everything in this process, by the clock."""

    def begin_again(self) -> None:
        """A trial has left nothing: the run is the first life, as its twin is."""
        self.lives = 0

    def bench(self) -> AbstractContextManager[benches.LinkBench]:
        """There is no port to calibrate: the engine itself is."""
        return benches.in_process()


class InLab(Flapping):
    """A process for each router, each in its own network namespace; the tester's edges are here."""

    def __init__(self, p: FlapParameters, seed: int, where: Real, stack: ExitStack) -> None:
        super().__init__(seed, where)
        self.p = p
        self.lab: Lab | None = None
        stack.callback(self._down)
        self._up()

    def nodes(self, p: FlapParameters) -> tuple[Network, Way]:
        """The published network, or that of a file: the tester's nodes are its first two of that kind."""
        if self.where.lab is None:
            return super().nodes(p)
        assert self.lab is not None
        network = empty(p, self.seed)
        adopt(network, self.lab.plan.description)
        return network, Way()

    def virtual(self, parameters: FlapParameters) -> Network:
        """The same nodes; what routers of a file signal among themselves is left out."""
        if self.where.lab is None:
            return super().virtual(parameters)
        network, way = self.nodes(parameters)
        programme(network, parameters, self.seed, way)
        return network

    def _up(self) -> None:
        from ...lab import Lab, of_network

        if self.where.lab is None:
            lab = of_network(topology(self.p, self.seed), f"lsp-flap-{os.getpid()}", self.where.driver)
        else:
            lab = Lab(self.where.lab)
        with urgent():  # the routers inherit it
            lab.up()
        self.lab = lab

    def _down(self) -> None:
        if self.lab is not None:
            self.lab.down()
            self.lab = None

    def begin_again(self) -> None:
        """Routers forget everything."""
        self._down()
        self._up()
        self.lives = 0

    def intact(self) -> None:
        """See `twinplane.experiments.live.Ground`."""
        assert self.lab is not None
        for name, node in self.lab.state.nodes.items():
            if node.kind == "router" and (node.process is None or not node.process.alive()):
                raise TwinplaneError(f"lsp-flap: router '{name}' ended during the run: its figures are void")

    def placement(self) -> dict[str, Any]:
        """The tester's namespaces are the lab's."""
        from ...lab import tester_placement

        assert self.lab is not None
        found = {**tester_placement(self.lab), "epoch_ns": None, "busy": self.where.busy}
        if self.where.driver != "packet":
            for port in found["ports"]:
                port["driver"] = self.where.driver
        return {**found, "fail_on_port_down": True}


class Outside(Flapping):
    """The tester alone: the system under test stands between two interfaces."""

    def nodes(self, p: FlapParameters) -> tuple[Network, Way]:
        """Explicit routes begin at the system's port, then are loose: it finds its own way to the egress."""
        where = self.where
        assert where.ingress is not None and where.egress is not None
        network = empty(p, self.seed)
        signalling = {"refresh_reduction": p.refresh_reduction}
        ingress = network.edge(
            "ingress", setup_timeout=p.setup_timeout_s, router_id=where.ingress.router_id, **signalling
        )
        sut = network.external("sut", router_id=where.sut_router_id)
        egress = network.edge("egress", router_id=where.egress.router_id, **signalling)
        access = f"{p.access_delay_us} us"
        for edge, port in ((ingress, where.ingress), (egress, where.egress)):
            network.link(edge, sut, delay=access, clock_ppm=(p.clock_ppm, 0.0), addresses=_addresses(port))
        network.positions.update({"ingress": (0.0, 0.0), "sut": (1.5, 0.0), "egress": (3.0, 0.0)})
        return network, Way([network.links[0], egress], loose=True)

    def placement(self) -> dict[str, Any]:
        """Both interfaces, in whatever namespaces they are."""
        ports = [
            {
                "node": node,
                "link": link,
                "interface": port.interface,
                "netns": benches.netns_path(port.netns),
                "driver": self.where.driver,
                "offload": False,
            }
            for link, (node, port) in enumerate(
                (("ingress", self.where.ingress), ("egress", self.where.egress))
            )
            if port is not None
        ]
        local = ["ingress", "egress"]
        return {"local": local, "ports": ports, "busy": self.where.busy, "fail_on_port_down": True}


def _addresses(port: OuterPort) -> tuple[str, str]:
    """Of the tester and of the system under test, with the length of the prefix."""
    length = str(port.address).partition("/")[2]
    return str(port.address), f"{port.neighbor}/{length}"


def check_answered(network: Network, p: FlapParameters) -> None:
    """A run in which no LSP is up when traffic begins measures nothing."""
    if not any(lsp.up_count for lsp in network.lsps):
        raise TwinplaneError(unanswered(network, p, p.begin_s))


def unanswered(network: Network, p: FlapParameters, waited_s: float) -> str:
    """What was tried, for how long, and how far it came."""
    table = network.columns("messages")

    def count(node: str, direction: str, kind: str) -> int:
        rows = zip(table["node"], table["direction"], table["type"], table["count"], strict=True)
        return sum(number for n, d, k, number in rows if (n, d, str(k).lower()) == (node, direction, kind))

    first, last = edges_of(network)
    sent, back = count(first.name, "tx", "path"), count(first.name, "rx", "resv")
    errors, through = count(first.name, "rx", "patherr"), count(last.name, "rx", "path")
    neighbors = network.columns("neighbors", first)
    lead = f"lsp-flap: {format_time(waited_s)} after the first LSP was signalled"
    foreign = any(node.kind == "external" for node in network.nodes)
    # What waits for an answer to ARP counts as sent.
    if (foreign or sent == 0) and not any(neighbors.get("mac", [])):
        return f"{lead} nobody has answered ARP at the tester's ingress port: is the neighbor there, and up?"
    if through == 0:
        more = f" ({errors} PathErr came back)" if errors else ""
        return (
            f"{lead} none is up: {sent} Path were sent, none has arrived at the tester's egress port{more}:"
            " does the system under test signal RSVP-TE on both interfaces, and has it a route to the egress?"
        )
    if back == 0:
        return (
            f"{lead} none is up: {sent} Path were sent, {through} arrived at the egress port, no Resv came"
            " back to the ingress port: is RSVP-TE on at the system's egress interface?"
        )
    return f"{lead} none of {p.stable + p.n} is up, though {back} Resv came back"
