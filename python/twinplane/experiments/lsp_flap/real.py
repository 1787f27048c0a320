"""`lsp-flap` in real time: in one process, a process for each router, or round somebody else's system."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from ...lab import interfaces
from ...measure.calibration import THROUGH_S, THROUGH_STEP, Search, Trial, keeps_pace, search
from ...network import Network
from ...network.placing import adopt
from ...results.real import OuterPort, Real
from ..labs import Ground, Here, InLab, Outside, Place, require_namespaces
from ..labs.bench import read_trial
from ..labs.ending import ended, tear_down
from .answered import unanswered
from .build import (
    Way,
    build,
    edges_of,
    empty,
    lsps,
    phases_of,
    programme,
    signalling,
    topology,
    traffic,
    way_of,
)
from .parameters import FlapParameters

if TYPE_CHECKING:
    from ...lab import Lab
    from ...network.handles import Lsp

NAME = "lsp-flap"

TRIAL_RATE = 500.0
"""LSPs signalled per second for trials of rates."""
PATIENCE_S = 10.0
GAP_S = 0.05
DRAIN_S = 0.15

Nodes = Callable[[FlapParameters], tuple[Network, Way]]
"""Makes the network without LSPs, and the way that they take."""


def check(p: FlapParameters, where: Real) -> None:
    """Refuse, before anything is made, what would fail at once: privilege, interfaces, network file."""
    if where.place == "process":
        return
    if where.place == "external":
        for port in (where.ingress, where.egress):
            assert port is not None
            interfaces.check(str(port.interface), port.netns, p.size)
        return
    require_namespaces(NAME)
    from ...lab import Lab

    if where.lab is not None and len(Lab(where.lab).plan.of_kind("edge")) != 2:
        raise TwinplaneError(f"{where.lab}: two nodes of kind edge are needed: the ingress, then the egress")


def ground(p: FlapParameters, seed: int, where: Real) -> Ground:
    """What a point runs on; the tester's edges are always in this process."""

    def published(parameters: FlapParameters) -> tuple[Network, Way]:
        network = topology(parameters, seed)
        return network, way_of(network, parameters)

    if where.place == "process":
        return Flapping(seed, Here(), published)
    if where.place == "external":
        return Flapping(seed, *_outside(seed, where))
    return _in_lab(p, seed, where, published)


def _in_lab(p: FlapParameters, seed: int, where: Real, published: Nodes) -> Ground:
    """The published network, or that of a file: the tester's nodes are its first two of that kind."""

    def made() -> Lab:
        from ...lab import Lab, of_network

        if where.lab is not None:
            return Lab(where.lab)
        return of_network(topology(p, seed), f"{NAME}-{os.getpid()}", where.driver)

    place = InLab(NAME, made, where)
    if where.lab is None:
        return Flapping(seed, place, published)

    def of_file(parameters: FlapParameters) -> tuple[Network, Way]:
        network = empty(parameters, seed)
        adopt(network, place.lab.plan.description)
        return network, Way()

    # What routers of a file signal among themselves is left out of the twin.
    return Flapping(seed, place, of_file, of_file)


def _outside(seed: int, where: Real) -> tuple[Place, Nodes]:
    """Explicit routes begin at the system's port, then are loose: it finds its own way to the egress."""
    first, last = where.ingress, where.egress
    assert first is not None and last is not None

    def nodes(p: FlapParameters) -> tuple[Network, Way]:
        network = empty(p, seed)
        signalling = {"refresh_reduction": p.refresh_reduction}
        ingress = network.edge(
            "ingress",
            setup_timeout=p.setup_timeout_s,
            router_id=first.router_id,
            # There are routers that confuse tunnels of one sender that have the same LSP id.
            distinct_lsp_ids=True,
            **signalling,
        )
        sut = network.external("sut", router_id=where.sut_router_id)
        egress = network.edge("egress", router_id=last.router_id, **signalling)
        access = f"{p.access_delay_us} us"
        for edge, port in ((ingress, first), (egress, last)):
            network.link(edge, sut, delay=access, clock_ppm=(p.clock_ppm, 0.0), addresses=_addresses(port))
        network.positions.update({"ingress": (0.0, 0.0), "sut": (1.5, 0.0), "egress": (3.0, 0.0)})
        return network, Way([network.links[0], egress], loose=True, routers=where.sut_hops)

    return Outside([("ingress", first), ("egress", last)], where), nodes


def _addresses(port: OuterPort) -> tuple[str, str]:
    """Of the tester and of the system under test, with the length of the prefix."""
    length = str(port.address).partition("/")[2]
    return str(port.address), f"{port.neighbor}/{length}"


class Flapping(Ground):
    """The procedure on any nodes; its twin has the published ones unless it gets some of its own."""

    def __init__(self, seed: int, place: Place, nodes: Nodes, twin: Nodes | None = None) -> None:
        def programmed(parameters: FlapParameters) -> Network:
            return self._programmed(parameters, nodes)

        super().__init__(NAME, programmed, place)
        self.seed, self.nodes, self.twin = seed, nodes, twin
        self.searched: tuple[Network, Way, Lsp, Lsp] | None = None
        """The network in which a rate was searched, with its LSPs: the run goes on with it."""

    def _programmed(self, p: FlapParameters, nodes: Nodes) -> Network:
        network, way = nodes(p)
        programme(network, p, self.seed, way)
        return network

    def network(self, parameters: FlapParameters) -> Network:
        """With every signalling message of the nodes here: that in which the rate was searched, if it was.

        To its neighbours the tester is the same all the time: it answers their Hellos, and refreshes.
        """
        if self.searched is None:
            return self._live(self.build(parameters))
        (network, way, stable, flapping), self.searched = self.searched, None
        zero = network.outside.zero_s = network.now + GAP_S
        network.set_phases([zero + phase for phase in phases_of(parameters)])
        for at, action, group, rate in signalling(parameters, stable, flapping):
            network.add_step(edges_of(network)[0], zero + at, action, group, rate)
        traffic(network, parameters, self.seed, stable, way)
        network.forget_lateness()
        return network

    def end(self, network: Network, parameters: FlapParameters) -> dict[str, Any]:
        """See `Ground`."""
        if not isinstance(self.place, Outside):
            return {}
        return ended(network, *edges_of(network), parameters.signalling_rate, self.place.where.sut_hops)

    def virtual(self, parameters: FlapParameters) -> Network:
        """See `Ground`."""
        return build(parameters, self.seed) if self.twin is None else self._programmed(parameters, self.twin)

    def through(self, parameters: FlapParameters, rate_bps: float) -> Search:
        """See `Ground`: the stable LSPs are set up once, and carry one burst after another."""
        network, way = self.nodes(parameters)
        stable = lsps(network, parameters, "stable", parameters.stable, way)
        flapping = lsps(network, parameters, "flapping", parameters.n, way)
        edges_of(network)[0].programme(0, "signal", stable, TRIAL_RATE)
        self._live(network)
        try:
            found = self._search(network, stable, parameters, rate_bps)
            # Trials that were too fast may have cost signalling messages: the run sets up everything anew.
            tear_down(network, *edges_of(network), TRIAL_RATE)
        except BaseException:
            with contextlib.suppress(TwinplaneError):
                self.end(network, parameters)
            network.close()
            raise
        self.searched = network, way, stable, flapping
        return found

    def _search(self, network: Network, stable: Lsp, p: FlapParameters, rate_bps: float) -> Search:
        waited = PATIENCE_S + p.stable / TRIAL_RATE
        while not stable.up and network.now < waited:
            network.run(for_=0.05)
        if not stable.up:
            raise TwinplaneError(unanswered(network, p, waited))
        bench = Through(network, stable, self.place.whole)
        found = search(bench, p.size, rate_bps, keeps_pace, THROUGH_S, THROUGH_STEP)
        if found.rate_bps is None:  # the machine has other work: departures are late at any rate
            found = search(bench, p.size, rate_bps, confirm_s=THROUGH_S, step=THROUGH_STEP)
        return found

    def _live(self, network: Network) -> Network:
        network.log_signals()
        return self.place.live(network)


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
        return read_trial(network, flow.index, rate_bps, size, seconds, self.in_process)
