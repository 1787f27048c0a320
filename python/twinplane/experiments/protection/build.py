"""The network of `protection`: a row of routers, and one beside the link and the router that fail."""

from __future__ import annotations

import random
from typing import Any

from ...network import Network
from .parameters import CYCLE_S, DOWN_S, ProtectionParameters

LINKS = (
    ("a", "b", 1),
    ("b", "c", 1),
    ("c", "d", 1),
    ("b", "m", 10),
    ("m", "c", 10),
    ("b", "n", 10),
    ("n", "d", 10),
)
"""Ends and cost of each link. LSPs go from a to d; the link from b to c fails, or router c."""

SIZE = 512


def times(p: ProtectionParameters, seed: int) -> list[float]:
    """When something fails, in seconds: at any phase of what is periodic."""
    draw = random.Random(seed)
    return [p.begin_s + 1 + CYCLE_S * place + draw.random() for place in range(p.failures)]


def build(p: ProtectionParameters, seed: int) -> Network:
    """Routers, LSPs, two flows, and the failures."""
    net = Network(seed=seed)
    watched = p.detection == "bfd"
    bfd = {"interval": f"{p.bfd_interval_ms} ms", "multiplier": p.bfd_multiplier} if watched else False
    rsvp: dict[str, Any] = {
        "protection": "facility" if p.protected else "declared",
        "reversion": "500 ms",
        "bfd": bfd,
    }
    routers = {name: net.router(name) for name in "abcdmn"}
    for router in routers.values():
        net.draft.change_node(router, {"rsvp": rsvp})
    # Longer than a failure: nobody sees it by a port.
    detection = f"{10 * DOWN_S} s" if watched else f"{p.detection_ms} ms"
    for near, far, cost in LINKS:
        net.link(near, far, rate="10 Gbit/s", delay="50 us", metric=cost, detection=detection)
    net.ospf(area=0, te=True)
    head, tail, way = routers["a"], routers["d"], ["b", "c", "d"]
    asked = {"node": p.fails == "node"} if p.protected else None
    retry: dict[str, Any] = {"retry_first": "100 ms", "retry_max": "500 ms"}
    # The first and the last of all LSPs carry the flows.
    first = head.lsp("first", tail, way, protection=asked, **retry)
    if p.lsps > 2:
        head.lsp("others", tail, way, count=p.lsps - 2, protection=asked, **retry)
    over = [first]
    if p.lsps > 1:
        over.append(head.lsp("last", tail, way, protection=asked, **retry))
    rate = f"{p.packets_per_s * SIZE * 8} bit/s"
    stop = f"{p.end_s - 0.5} s"
    for lsp in over:
        name = f"over-{lsp.name}"
        net.flow(head, tail, name=name, over=lsp, rate=rate, size=SIZE, start=f"{p.begin_s} s", stop=stop)
    for at in times(p, seed):
        moment = net.at(f"{round(at * 1e9)} ns")
        if p.fails == "node":
            moment.fail("c", for_=f"{DOWN_S} s")
        else:
            moment.fail("b", "c", for_=f"{DOWN_S} s")
    return net
