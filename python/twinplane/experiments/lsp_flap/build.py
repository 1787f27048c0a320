"""The network of `lsp-flap`: tester, routers, LSPs and traffic."""

from __future__ import annotations

import random

from ...network import Network
from .parameters import FlapParameters

STABLE, FLAPPING = 0, 1
"""Indices of the two groups of LSPs."""

PHASES = ("set-up", "prior", "during", "end", "grace")
"""What happens between the phases' times; `end` is the last stretch of `during`."""


def build(p: FlapParameters, seed: int) -> Network:
    """Ingress edge, one router or a ring of three, egress edge; M stable and N flapping LSPs."""
    zero = p.begin_s
    network = Network(
        seed,
        convention=p.convention,
        phases=[
            0,
            zero,
            zero + p.first_event_s,
            zero + p.end_s - p.end_window_s,
            zero + p.end_s,
        ],
        series_bin=f"{p.series_bin_ms} ms",
    )
    signalling = {"refresh_reduction": p.refresh_reduction}
    ingress = network.edge("ingress", setup_timeout=p.setup_timeout_s, **signalling)
    names = ["r1"] if p.scenario == "single" else ["r1", "r2", "r3"]
    routers = [network.router(name, p.profile, **signalling) for name in names]
    egress = network.edge("egress", **signalling)
    way = routers if p.scenario == "single" or p.routers == 3 else [routers[0], routers[2]]
    access = f"{p.access_delay_us} us"
    network.link(ingress, way[0], delay=access, clock_ppm=(p.clock_ppm, 0.0))
    for here, there in zip(routers, [*routers[1:], routers[0]], strict=True):
        if here is not there:
            network.link(here, there, delay=f"{p.ring_delay_us} us")
    network.link(way[-1], egress, delay=access, clock_ppm=(0.0, p.clock_ppm))
    common = {"retry_first": p.retry_s, "retry_max": p.retry_max_s, "signal": False}
    route = [*way, egress]
    stable = ingress.lsp("stable", egress, route, count=p.stable, **common)  # type: ignore[arg-type]
    flapping = ingress.lsp("flapping", egress, route, count=p.n, **common)  # type: ignore[arg-type]
    ingress.programme(0, "signal", stable, p.setup_rate)
    ingress.programme(p.stable / p.setup_rate, "signal", flapping, p.setup_rate)
    ingress.programme(zero + p.first_event_s, "flap", flapping, p.signalling_rate)
    ingress.programme(zero + p.second_event_s, "flap", flapping, p.signalling_rate)
    network.flow(
        ingress,
        egress,
        over=stable,
        rate=f"{p.rate} Mbit/s",
        size=p.size,
        start=f"{round(zero * 1e12) + _offset_ps(p, seed)} ps",
        stop=zero + p.end_s,
        name="traffic",
    )
    network.positions.update(_places(p, names))
    return network


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
