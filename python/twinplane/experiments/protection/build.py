"""The network of `protection`: a row of routers, and one beside the link and the router that fail."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from ...network import Network
from ...network.nodes import HeadEnd
from . import trees
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

BESIDE = (("a", "x", 20), ("x", "y", 20), ("y", "d", 20))
"""From end to end LSPs need a second way that has no link in common with the row. It has as many links as the
row and the way by n, so that packets take equally long by whatever LSP they come."""

OF_A_PAIR = 60_000
"""Tunnels between one pair of routers: their numbers have 16 bits (RFC 3209, 4.6.1.1)."""

SIZE = 512


def times(p: ProtectionParameters, seed: int) -> list[float]:
    """When something fails, in seconds: at any phase of what is periodic."""
    draw = random.Random(seed)
    return [p.begin_s + 1 + CYCLE_S * place + draw.random() for place in range(p.failures)]


def heads(p: ProtectionParameters) -> list[str]:
    """Where LSPs begin: at more routers than a if there are more of them than a pair of routers can have."""
    return ["a", *(f"a{place + 1}" for place in range(1, -(-p.lsps // OF_A_PAIR)))]


def build(p: ProtectionParameters, seed: int) -> Network:
    """Routers, LSPs, trees, flows, and the failures."""
    # Each failure has a phase: what is sent from half a second before it can come.
    phases = [f"{p.begin_s + 0.5 + CYCLE_S * place} s" for place in range(p.failures)]
    net = Network(seed=seed, phases=phases)
    rsvp: dict[str, Any] = {
        "protection": "facility" if p.protected and not p.end_to_end else "declared",
        "reversion": "500 ms",
        "refresh_reduction": True,
        "bfd": p.bfd,
    }
    more = [(head, "b", 1) for head in heads(p)[1:]]
    links = [*LINKS, *more, *(BESIDE if p.end_to_end else ()), *trees.links(p)]
    names = [*"abcdmn", *(near for near, _, _ in more), *("xy" if p.end_to_end else ""), *trees.routers(p)]
    routers = {name: net.router(name) for name in names}
    for router in routers.values():
        net.draft.change_node(router, {"rsvp": rsvp, **p.watches})
    # Longer than a failure, so that no port shows it. A router that is back sees its ports up as late.
    detection = f"{DOWN_S + 0.5} s" if p.silent else f"{p.detection_ms} ms"
    for near, far, cost in links:
        net.link(near, far, rate="10 Gbit/s", delay=f"{p.delay_us} us", metric=cost, detection=detection)
    # Only from end to end does traffic come back by what OSPF says, which has to be before the next failure.
    pace = {"hello_interval": "1 s", "dead_interval": "4 s", "bfd": p.bfd} if p.end_to_end else {}
    net.ospf(area=0, te=True, **pace)
    head, tail = routers["a"], routers["d"]
    # The first and the last of all LSPs carry the flows; the others come while the network runs.
    over = [head.lsp("first", tail, **asked(p))]
    if p.lsps > 1:
        over.append(head.lsp("last", tail, **asked(p)))
    rate = f"{p.packets_per_s * SIZE * 8} bit/s"
    stop = f"{p.end_s - 0.5} s"
    for lsp in over:
        name = f"over-{lsp.name}"
        net.flow(head, tail, name=name, over=lsp, rate=rate, size=SIZE, start=f"{p.begin_s} s", stop=stop)
    trees.add_measured(net, p, rate=rate, size=SIZE, start=f"{p.begin_s} s", stop=stop)
    for at in times(p, seed):
        moment = net.at(f"{round(at * 1e9)} ns")
        if p.fails == "node":
            moment.fail("c", for_=f"{DOWN_S} s")
        else:
            moment.fail("b", "c", for_=f"{DOWN_S} s")
    return net


def asked(p: ProtectionParameters) -> dict[str, Any]:
    """What LSPs ask for; head ends try soon to go back to their only route.

    From end to end there are two, which the head end computes.
    """
    route = () if p.end_to_end else ("b", "c", "d")
    protection = p.asked(node=p.fails == "node")
    return {"route": route, "protection": protection, "retry_first": "100 ms", "retry_max": "500 ms"}


def fill(net: Network, p: ProtectionParameters) -> Iterator[float]:
    """Signal the other LSPs and trees: no more at once than the queue of a control processor takes.

    Gives the time in seconds to which the network has to be run before the next ones come.
    """
    nodes = {node.name: node for node in net.nodes}
    begin_s = SETTLED_S
    yield begin_s
    for place, first in enumerate(range(2, p.lsps, BATCH)):
        head = nodes[heads(p)[first // OF_A_PAIR]]
        assert isinstance(head, HeadEnd)
        count = min(BATCH, p.lsps - first)
        head.lsp(f"others{place}", nodes["d"], count=count, **asked(p))
        begin_s += BATCH_S
        yield begin_s
    for batch in trees.others(p):
        for name in batch:
            trees.add(net, p, name)
        begin_s += BATCH_S
        yield begin_s
