"""The network of `protection`: a row of routers, and one beside the link and the router that fail."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from ...network import Network
from ...network.nodes import HeadEnd
from .parameters import BATCH, BATCH_S, CYCLE_S, DOWN_S, SETTLED_S, ProtectionParameters

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
        "refresh_reduction": True,
        "bfd": bfd,
    }
    routers = {name: net.router(name) for name in "abcdmn"}
    for router in routers.values():
        net.draft.change_node(router, {"rsvp": rsvp})
    # Longer than a failure, so that no port shows it. A router that is back sees its ports up as late.
    detection = f"{DOWN_S + 0.5} s" if watched else f"{p.detection_ms} ms"
    for near, far, cost in LINKS:
        net.link(near, far, rate="10 Gbit/s", delay="50 us", metric=cost, detection=detection)
    net.ospf(area=0, te=True)
    head, tail, way = routers["a"], routers["d"], ["b", "c", "d"]
    # The first and the last of all LSPs carry the flows; the others come while the network runs.
    over = [head.lsp("first", tail, way, **asked(p))]
    if p.lsps > 1:
        over.append(head.lsp("last", tail, way, **asked(p)))
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


def asked(p: ProtectionParameters) -> dict[str, Any]:
    """What LSPs ask for; head ends try soon to go back to their only route."""
    protection = {"node": p.fails == "node", **p.asked} if p.protected else None
    return {"protection": protection, "retry_first": "100 ms", "retry_max": "500 ms"}


def fill(net: Network, p: ProtectionParameters) -> Iterator[float]:
    """Signal the other LSPs: no more at once than the queue of a control processor takes.

    Gives the time in seconds to which the network has to be run before the next ones come.
    """
    head, tail = (next(node for node in net.nodes if node.name == name) for name in "ad")
    assert isinstance(head, HeadEnd)
    yield SETTLED_S
    for place, first in enumerate(range(2, p.lsps, BATCH)):
        count = min(BATCH, p.lsps - first)
        head.lsp(f"others{place}", tail, ["b", "c", "d"], count=count, **asked(p))
        yield SETTLED_S + BATCH_S * (place + 1)
