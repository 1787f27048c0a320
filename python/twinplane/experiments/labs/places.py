"""Where a run in real time happens: in this process, on a lab, or around somebody else's system."""

from __future__ import annotations

import functools
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ...errors import TwinplaneError
from . import bench
from .gathering import gather
from .telling import Telling
from .urgency import urgent

if TYPE_CHECKING:
    from ...lab import Lab
    from ...network import Network
    from ...results.real import OuterPort, Real


def require_namespaces(what: str) -> None:
    """Refuse a lab, before anything is made, where this user may not make network namespaces."""
    from ...lab import netns

    if not netns.may_make():
        raise TwinplaneError(
            f"{what}: --lab: making network namespaces needs root"
            " (CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN): sudo"
        )


class Place(ABC):
    """Where networks run by the clock, one after another."""

    whole = False
    """Are all nodes in this process?"""

    def __init__(self) -> None:
        self.lives = 0
        """How many networks have run here: a neighbour that has seen an earlier one sees a restart."""

    def up(self) -> None:
        """Bring up what the place needs."""
        return

    def down(self) -> None:
        """Remove everything that was made."""
        return

    @abstractmethod
    def placement(self) -> dict[str, Any]:
        """Which nodes are in this process, and by which interfaces they reach the others."""

    @abstractmethod
    def bench(self) -> AbstractContextManager[bench.LinkBench]:
        """Ports like those of the run, back to back, to calibrate on."""

    def live(self, network: Network) -> Network:
        """Let a network that has not run yet run here, by the clock."""
        network.go_live({**self.placement(), "incarnation": self.lives})
        self.lives += 1
        return network

    def schedule(self, network: Network, end_s: float | None) -> None:
        """Let nodes in other processes do what events ask of them; the run is about to begin."""
        return

    def intact(self) -> None:
        """Refuse the figures of a run in which something that it needs ended."""
        return

    def gather(self, network: Network) -> None:
        """Take what only nodes in other processes know, before they end."""
        return


class Here(Place):
    """This process, with all nodes and without interfaces."""

    whole = True

    def placement(self) -> dict[str, Any]:
        """Everything is here."""
        return {}

    def bench(self) -> AbstractContextManager[bench.LinkBench]:
        """There is no port to calibrate: the engine itself is."""
        return bench.in_process()


class Wired(Place):
    """Interfaces lead from this process to the others."""

    def __init__(self, where: Real) -> None:
        super().__init__()
        self.where = where

    def bench(self) -> AbstractContextManager[bench.LinkBench]:
        """A veth pair of its own, with the run's driver: the run's own interfaces lead to routers."""
        return bench.own_pair(self.where.driver, self.where.busy)


class InLab(Wired):
    """A process for each router, each in its own network namespace; what measures is in this process."""

    def __init__(self, name: str, make: Callable[[], Lab], where: Real) -> None:
        super().__init__(where)
        self.name, self.make = name, make
        self._lab: Lab | None = None
        self._telling: Telling | None = None

    @property
    def lab(self) -> Lab:
        """The lab, while it is up."""
        assert self._lab is not None, "the lab is not up"
        return self._lab

    def up(self) -> None:
        """The routers signal their LSPs by themselves as soon as they are up."""
        lab = self.make()
        with urgent():  # the routers inherit it
            lab.up()
        self._lab = lab

    def down(self) -> None:
        """Everything that was made is removed."""
        if self._lab is not None:
            self._lab.down()
            self._lab = None

    def placement(self) -> dict[str, Any]:
        """The interfaces of the lab's tester; a driver other than the usual one replaces the lab's."""
        from ...lab import tester_placement

        found = {**tester_placement(self.lab), "epoch_ns": None, "busy": self.where.busy}
        if self.where.driver != "packet":
            for port in found["ports"]:
                port["driver"] = self.where.driver
        return {**found, "fail_on_port_down": True}

    def schedule(self, network: Network, end_s: float | None) -> None:
        """Routers are told of all that is to come at the beginning, each with its time."""
        if network.draft.core.event_count:
            self._telling = Telling(self.lab, network, end_s)

    def intact(self) -> None:
        """A router that ended makes the figures void."""
        if self._telling is not None:
            self._telling.finish()
            self._telling = None
        for name, node in self.lab.state.nodes.items():
            if node.kind == "router" and (node.process is None or not node.process.alive()):
                raise TwinplaneError(
                    f"{self.name}: router '{name}' ended during the run: its figures are void"
                )

    def gather(self, network: Network) -> None:
        """What queues and conditioners did, router by router."""
        gather(self.lab, network)


TUNNELS_MAX = 65_535
"""Tunnel ids have 16 bits (RFC 3209, 4.6.1.1)."""
SPREAD = 16_384
USED: dict[str, int] = {}
"""The last tunnel id that was used, by the interfaces that lead to the system under test."""


@functools.cache
def first_tunnel() -> int:
    """Where this process begins: earlier ones began elsewhere, so that what they left is told apart."""
    return time.time_ns() // 1_000_000_000 * 257 % SPREAD


class Outside(Wired):
    """The tester alone: each of its nodes has a link, in the order of `ports`, to the system under test."""

    def __init__(self, ports: Sequence[tuple[str, OuterPort]], where: Real) -> None:
        super().__init__(where)
        self.ports = ports
        self.tunnels_from = 0

    def live(self, network: Network) -> Network:
        """Nobody makes the system forget: tunnels have ids that none had before in this process."""
        name = "/".join(f"{port.netns}:{port.interface}" for _, port in self.ports)
        used = USED.setdefault(name, first_tunnel())
        USED[name] = used + sum(lsp.count for lsp in network.lsps)
        if USED[name] > TUNNELS_MAX:
            raise TwinplaneError(
                f"--sut external: its runs need more than {TUNNELS_MAX - first_tunnel():,} tunnel ids, of"
                " which each is used once: run the remaining points with the same command and --out"
            )
        self.tunnels_from = used
        return super().live(network)

    def placement(self) -> dict[str, Any]:
        """The interfaces, in whatever namespaces they are."""
        ports = [
            {
                "node": node,
                "link": link,
                "interface": port.interface,
                "netns": bench.netns_path(port.netns),
                "driver": self.where.driver,
                "offload": False,
            }
            for link, (node, port) in enumerate(self.ports)
        ]
        local = [node for node, _ in self.ports]
        return {
            "local": local,
            "ports": ports,
            "busy": self.where.busy,
            "fail_on_port_down": True,
            "tunnels_from": self.tunnels_from,
        }
