"""The network of `lsp-flap`: tester, routers, LSPs and traffic."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...network import Network
from ...network.nodes import Edge
from .parameters import FlapParameters

if TYPE_CHECKING:
    from ...network.handles import Hop, Lsp

STABLE, FLAPPING = 0, 1
"""Indices of the two groups of LSPs."""

TRAFFIC = "traffic"
"""The flow of the procedure."""

PHASES = ("set-up", "prior", "during", "end", "grace")
"""What happens between the phases' times; `end` is the last stretch of `during`."""


def build(p: FlapParameters, seed: int) -> Network:
    """Ingress edge, one router or a ring of three, egress edge; M stable and N flapping LSPs."""
    network = topology(p, seed)
    programme(network, p, seed, way_of(network, p))
    return network


def phases_of(p: FlapParameters) -> list[float]:
    """When the phases begin, in seconds from the first signalling."""
    zero = p.begin_s
    return [0.0, zero, zero + p.first_event_s, zero + p.end_s - p.end_window_s, zero + p.end_s]


def empty(p: FlapParameters, seed: int) -> Network:
    """A network without nodes that knows the phases of the procedure."""
    return Network(
        seed,
        convention=p.convention,
        phases=phases_of(p),
        series_bin=f"{p.series_bin_ms} ms",
    )


def names_of(p: FlapParameters) -> list[str]:
    """The routers."""
    return ["r1"] if p.scenario == "single" else ["r1", "r2", "r3"]


def on_the_way(p: FlapParameters) -> list[str]:
    """Those that the LSPs pass, in order."""
    return names_of(p) if p.scenario == "single" or p.routers == 3 else ["r1", "r3"]


def way_of(network: Network, p: FlapParameters) -> Way:
    """The explicit route of the published procedure."""
    return Way([*(network.node(name) for name in on_the_way(p)), "egress"], routers=p.hops)


def topology(p: FlapParameters, seed: int) -> Network:
    """Nodes and links."""
    network = empty(p, seed)
    signalling = {"refresh_reduction": p.refresh_reduction}
    ingress = network.edge("ingress", setup_timeout=p.setup_timeout_s, **signalling)
    routers = [network.router(name, p.profile, **signalling) for name in names_of(p)]
    egress = network.edge("egress", **signalling)
    way = [network.node(name) for name in on_the_way(p)]
    access = f"{p.access_delay_us} us"
    network.link(ingress, way[0], delay=access, clock_ppm=(p.clock_ppm, 0.0))
    for here, there in zip(routers, [*routers[1:], routers[0]], strict=True):
        if here is not there:
            network.link(here, there, delay=f"{p.ring_delay_us} us")
    network.link(way[-1], egress, delay=access, clock_ppm=(0.0, p.clock_ppm))
    network.positions.update(_places(p, names_of(p)))
    return network


def edges_of(network: Network) -> tuple[Edge, Edge]:
    """The tester's ingress and egress: the first two edges."""
    found = [node for node in network.nodes if isinstance(node, Edge)]
    return found[0], found[1]


@dataclass(frozen=True)
class Way:
    """How LSPs get to the other edge: hop by hop, by loose hops, or by the shortest path (no hops)."""

    hops: Sequence[Hop] = ()
    loose: bool = False
    routers: int | None = None
    """How many lower the TTL of packets, if that is known."""


def lsps(network: Network, p: FlapParameters, name: str, count: int, way: Way) -> Lsp:
    """A group of LSPs from the ingress edge, to be signalled by a programme."""
    ingress, egress = edges_of(network)
    return ingress.lsp(
        name,
        egress,
        way.hops,
        count=count,
        loose=way.loose,
        retry_first=p.retry_s,
        retry_max=p.retry_max_s,
        signal=False,
        shortest=not way.hops,
    )


def programme(network: Network, p: FlapParameters, seed: int, way: Way) -> None:
    """The LSPs, what happens to them, and the traffic."""
    stable = lsps(network, p, "stable", p.stable, way)
    flapping = lsps(network, p, "flapping", p.n, way)
    ingress = edges_of(network)[0]
    for at, action, group, rate in signalling(p, stable, flapping):
        ingress.programme(at, action, group, rate)
    traffic(network, p, seed, stable, way)


def signalling(p: FlapParameters, stable: Lsp, flapping: Lsp) -> list[tuple[float, str, Lsp, float]]:
    """What is done to which LSPs when, in seconds from the first signalling, and how many a second."""
    return [
        (0, "signal", stable, p.setup_rate),
        (p.stable / p.setup_rate, "signal", flapping, p.setup_rate),
        (p.begin_s + p.first_event_s, "flap", flapping, p.signalling_rate),
        (p.begin_s + p.second_event_s, "flap", flapping, p.signalling_rate),
    ]


def traffic(network: Network, p: FlapParameters, seed: int, stable: Lsp, way: Way) -> None:
    """Over the stable LSPs."""
    zero = network.outside.zero_s + p.begin_s
    network.flow(
        *edges_of(network),
        over=stable,
        rate=f"{p.rate} Mbit/s",
        size=p.size,
        dscp=p.dscp,
        start=f"{round(zero * 1e12) + _offset_ps(p, seed)} ps",
        stop=zero + p.end_s,
        name=TRAFFIC,
        hops=way.routers,
    )


def _offset_ps(p: FlapParameters, seed: int) -> int:
    """Traffic and signalling are not in step: the first packet leaves somewhere in its interval."""
    interval_ps = round(p.size * 8 * 1e6 / p.rate)
    return random.Random(f"twinplane/lsp-flap/offset/{seed}").randrange(interval_ps)


def _places(p: FlapParameters, names: list[str]) -> dict[str, tuple[float, float]]:
    """Where the nodes are drawn."""
    if p.scenario == "single":
        return {"ingress": (0.0, 0.0), "r1": (1.5, 0.0), "egress": (3.0, 0.0)}
    ring = dict(zip(names, ((1.0, 0.0), (2.0, 1.2), (3.0, 0.0)), strict=True))
    return {"ingress": (0.0, 0.0), **ring, "egress": (4.0, 0.0)}
