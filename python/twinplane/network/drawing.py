"""What of a network is drawn: nodes with places, links, and the routes of its LSPs."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .. import units

if TYPE_CHECKING:
    from .network import Network

ROUTES_MAX = 12
"""More routes than this are drawn as the weight of links only."""


def topology(network: Network) -> dict[str, Any]:
    """A network as plain values for a results folder."""
    places = _places(network)
    use = [0] * len(network.links)
    routes: list[dict[str, Any]] = []
    described = network.described()["links"]
    for lsp in network.lsps:
        spec = lsp.spec
        for order, hops in enumerate([route for key in ("route", "fallback") if (route := spec[key])][:1]):
            here = network.node(spec["from"])
            names = [here.name]
            for hop in hops:
                if isinstance(hop, dict):
                    link = network.links[hop["link"]]
                    there = link.other(here)
                    use[link.index] += lsp.count
                else:
                    there = network.node(hop)
                    between = network.draft.between(here, there)
                    if between:
                        use[between[0].index] += lsp.count
                here = there
                names.append(here.name)
            if order == 0 and len(routes) < ROUTES_MAX:
                routes.append({"name": lsp.name, "count": lsp.count, "nodes": names})
    if len(network.lsps) > ROUTES_MAX:
        routes = []
    names = link_names(network)
    return {
        **({"link_names": names} if len(set(_pairs(network))) < len(names) else {}),
        "nodes": [
            {"name": node.name, "kind": node.kind, "x": places[node.name][0], "y": places[node.name][1]}
            for node in network.nodes
        ],
        "links": [
            {
                "a": link.a.name,
                "b": link.b.name,
                "rate_bps": units.limit_bps(spec["rate"]),
                "delay_s": units.span_ps(spec["delay"]) / 1e12,
                "lsps": count,
            }
            for link, spec, count in zip(network.links, described, use, strict=True)
        ],
        "routes": routes,
        "lsps": sum(lsp.count for lsp in network.lsps),
    }


def _pairs(network: Network) -> list[frozenset[str]]:
    return [frozenset((link.a.name, link.b.name)) for link in network.links]


def link_names(network: Network) -> list[str]:
    """Links as table `actions` names them: with interfaces, where there are several between two nodes."""
    pairs, described = _pairs(network), network.described()["links"]
    found = []
    for link, pair in zip(network.links, pairs, strict=True):
        if pairs.count(pair) == 1:
            found.append(f"{link.a.name}-{link.b.name}")
            continue
        found.append("-".join(described[link.index]["endpoints"]))
    return found


def _places(network: Network) -> dict[str, tuple[float, float]]:
    """Given places, the middle of the neighbours for nodes without; with none given, a row or a circle."""
    known = dict(network.positions)
    around: dict[str, list[str]] = {node.name: [] for node in network.nodes}
    for link in network.links:
        around[link.a.name].append(link.b.name)
        around[link.b.name].append(link.a.name)
    if not known:
        return _arranged(around)
    missing = [node.name for node in network.nodes if node.name not in known]
    centre = _middle(list(known.values()))
    for _ in range(len(missing)):
        waiting = [name for name in missing if name not in known]
        for name in waiting:
            near = [known[other] for other in around[name] if other in known]
            if near:
                turn = 2.399963 * missing.index(name)
                x, y = _middle(near)
                known[name] = (x + 0.3 * math.cos(turn), y + 0.3 * math.sin(turn))
        if not waiting:
            break
    return {node.name: known.get(node.name, centre) for node in network.nodes}


def _arranged(around: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    """Neighbours beside each other: a row if the nodes are one, else a circle."""
    order: list[str] = []
    seen: set[str] = set()
    for first in sorted(around, key=lambda name: len(set(around[name]))):
        waiting = [first]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                order.append(name)
                waiting += [other for other in reversed(around[name]) if other not in seen]
    pairs = {frozenset((name, other)) for name, near in around.items() for other in near}
    if pairs == {frozenset(pair) for pair in pairwise(order)}:
        return {name: (float(place), 0.0) for place, name in enumerate(order)}
    turn = 2 * math.pi / len(order)
    return {name: (math.sin(turn * place), math.cos(turn * place)) for place, name in enumerate(order)}


def _middle(places: list[tuple[float, float]]) -> tuple[float, float]:
    return sum(x for x, _ in places) / len(places), sum(y for _, y in places) / len(places)
