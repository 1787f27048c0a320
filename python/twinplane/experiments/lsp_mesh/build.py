"""The network of `lsp-mesh`: routers from a file, an LSP and probes for every pair."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from ... import units
from ...network import Network
from .parameters import MeshParameters
from .routes import neighbours, pairs, path, shortest


def build(p: MeshParameters, seed: int) -> Network:
    """Explicit routes are given hop by hop, over a certain link where there are parallel ones."""
    network = Network.from_graphml(
        Path(p.topology),
        seed,
        profile=p.profile,
        component=p.component or None,
        default_rate=f"{p.default_rate_mbps} Mbit/s",
        rsvp={"refresh_reduction": p.refresh_reduction},
        phases=(0,),
    )
    links = [
        (link.a.index, link.b.index, units.span_ps(said["delay"]))
        for link, said in zip(network.links, network.described()["links"], strict=True)
    ]
    parallel = Counter((min(a, b), max(a, b)) for a, b, _ in links)
    around = neighbours(len(network.nodes), links)
    interval_s = p.probe_interval_ms / 1e3
    rate = p.size * 8 / interval_s
    root, before = -1, []
    for a, b in pairs(len(network.nodes), p.pairs_max, seed):
        if a != root:
            root, before = a, shortest(around, a)
        route: list[Any] = []
        here = a
        for link, node in path(before, b):
            alone = parallel[min(here, node), max(here, node)] == 1
            route.append(network.nodes[node] if alone else network.links[link])
            here = node
        head, tail = network.nodes[a], network.nodes[b]
        lsp = head.lsp(f"{head.name} > {tail.name}", tail, route, record_route=False)  # type: ignore[attr-defined]
        network.flow(
            head,
            tail,
            over=lsp,
            rate=rate,
            size=p.size,
            start=p.setup_s,
            stop=p.setup_s + p.probes * interval_s - interval_s / 2,
            trace=True,
        )
    return network
