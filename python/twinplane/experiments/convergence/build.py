"""The network of `convergence`: routers that speak OSPF, in a ring or from a file."""

from __future__ import annotations

from pathlib import Path

from ...network import Network
from .parameters import TIMERS, ConvergenceParameters


def build(p: ConvergenceParameters, seed: int) -> Network:
    """Routers and links; probes come when it is tried."""
    if p.topology == "ring":
        network = Network(seed)
        routers = [network.router(f"r{place}", profile=p.profile) for place in range(p.routers)]
        for a, b in zip(routers, routers[1:] + routers[:1], strict=True):
            network.link(a, b, rate=f"{p.rate_mbps} Mbit/s", delay=f"{p.delay_ms} ms")
    else:
        network = Network.from_graphml(
            Path(p.topology),
            seed,
            profile=p.profile,
            component=p.component or None,
            default_rate=f"{p.rate_mbps} Mbit/s",
        )
    for link in network.links:
        network.draft.change_link(link, {"detection": f"{p.interface_down_ms} ms"})
    watched = {} if p.pace is None else {"bfd": p.pace}
    network.ospf(area=0, **TIMERS[p.timers], **watched)
    return network
