"""How many VCs tags take, on paper: counted on shortest paths of the graph alone, before anything signals."""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ...errors import TwinplaneError
from .countries import CORE, COUNTRIES, edge
from .parameters import TagSwitchingParameters

Link = tuple[str, str, int]
"""Both ends, and the cost."""


@dataclass(frozen=True)
class Cloud:
    """Switches, edge routers at them, and links. Costs are such that there is one shortest path each."""

    switches: Sequence[str]
    edges: Mapping[str, str]
    """Each edge router, and the switch that it is at."""
    core: Sequence[Link]
    outside: int
    """Networks outside behind each edge router."""

    @property
    def links(self) -> list[Link]:
        """All links, those of edge routers too."""
        return [*self.core, *((name, at, 1) for name, at in self.edges.items())]

    def owners(self, routing: str) -> list[tuple[str, ...]]:
        """Of each prefix with labels the routers that it is right beside.

        Hierarchical: loopback addresses alone. Flat: networks outside, too, and those of links, which belong
        to both ends; each router has one more, of a port beside it.
        """
        routers: list[tuple[str, ...]] = [(name,) for name in (*self.switches, *self.edges)]
        if routing == "hierarchical":
            return routers
        outside = [(name,) for name in self.edges for _ in range(self.outside)]
        return [*routers, *((a, b) for a, b, _ in self.links), *routers, *outside]


def cloud(p: TagSwitchingParameters) -> Cloud:
    """The network that is asked for."""
    if p.network == "generated":
        return generated(p.edges, p.graph, p.outside)
    return countries(p.outside)


def countries(outside: int) -> Cloud:
    """The six countries of the study."""
    edges = {edge(country): country for country in COUNTRIES}
    core = [(a, b, 100 + 7 * place) for place, (a, b) in enumerate(CORE)]
    return Cloud(list(COUNTRIES), edges, core, outside)


def generated(edges: int, graph: int, outside: int) -> Cloud:
    """A tree of switches, a fifth as many as edges, with some links more, and edges anywhere."""
    chance = random.Random(graph)
    switches = [f"s{number}" for number in range(max(edges // 5, 3))]
    pairs = {(chance.randrange(number), number) for number in range(1, len(switches))}
    others = [pair for pair in combinations(range(len(switches)), 2) if pair not in pairs]
    pairs.update(chance.sample(others, min(len(switches) // 2, len(others))))
    # OSPF has 16 bits for a cost.
    costs = iter(chance.sample(range(10_000, 65_000), len(pairs)))
    core = [(switches[a], switches[b], next(costs)) for a, b in sorted(pairs)]
    return Cloud(switches, {f"e{number}": chance.choice(switches) for number in range(edges)}, core, outside)


def channels(
    edges: Iterable[str], links: Iterable[Link], owners: Iterable[tuple[str, ...]], merge: bool
) -> Counter[tuple[str, str]]:
    """How many channels are labels, by link and direction: from each edge the shortest path to each prefix.

    Without merge each edge has a channel of its own on each link. With merge each edge has one on its first
    link, and every other link has one for all edges.
    """
    near: dict[str, list[tuple[str, int]]] = {}
    for a, b, cost in links:
        near.setdefault(a, []).append((b, cost))
        near.setdefault(b, []).append((a, cost))
    edges = list(edges)
    ways: dict[tuple[str, ...], dict[str, str]] = {}
    found: Counter[tuple[str, str]] = Counter()
    for own in owners:
        if own not in ways:
            ways[own] = _ways(near, own)
        shared: set[tuple[str, str]] = set()
        for at in edges:
            is_first = True
            while at not in own:
                hop = (at, ways[own][at])
                if is_first or not merge:
                    found[hop] += 1
                else:
                    shared.add(hop)
                at, is_first = hop[1], False
        found.update(shared)
    return found


def _ways(near: Mapping[str, list[tuple[str, int]]], own: tuple[str, ...]) -> dict[str, str]:
    """The next hop of each router towards the nearest of these."""
    far = dict.fromkeys(own, 0)
    queue = [(0, node) for node in own]
    while queue:
        cost, node = heapq.heappop(queue)
        if cost > far[node]:
            continue
        for other, more in near[node]:
            if cost + more < far.get(other, 1 << 60):
                far[other] = cost + more
                heapq.heappush(queue, (cost + more, other))
    found = {}
    for node, others in near.items():
        ways = [other for other, cost in others if far[other] + cost == far[node]]
        if node not in own and len(ways) != 1:
            raise TwinplaneError(
                f"tag-switching: '{node}' has {len(ways)} shortest paths to '{own[0]}', and paper needs one:"
                " another graph has other costs"
            )
        if ways:
            found[node] = ways[0]
    return found
