"""The graph of a network: what hangs together without some links and nodes, and ways that share little."""

from __future__ import annotations

import heapq
from collections.abc import Collection
from typing import TYPE_CHECKING

from .cases import ENDS

if TYPE_CHECKING:
    from ..network import Network

SHARED_NODE, SHARED_LINK = 10**6, 10**9
"""What a fallback pays beyond the metric for a node or a link of the route that it stands in for."""


class Graph:
    """Nodes and links by their places; packets do not pass through hosts and instruments."""

    def __init__(self, network: Network) -> None:
        self.ends = [(link.a.index, link.b.index) for link in network.links]
        self.metrics = [
            int(network.draft.element("links", link.index).get("metric") or 1) for link in network.links
        ]
        self.is_transit = [node.kind not in ENDS for node in network.nodes]
        self.around: list[list[tuple[int, int]]] = [[] for _ in network.nodes]
        """Of every node its links with the nodes at their other ends."""
        for link, (a, b) in enumerate(self.ends):
            self.around[a].append((link, b))
            self.around[b].append((link, a))

    def parts(self, links: Collection[int] = (), nodes: Collection[int] = ()) -> Parts:
        """What hangs together without these."""
        return Parts(self, set(links), set(nodes))

    def between(self, a: int, b: int) -> list[int]:
        """The links between two nodes."""
        return [link for link, other in self.around[a] if other == b]

    def way(self, a: int, b: int, beside: Collection[int] = ()) -> list[int] | None:
        """The links of a shortest way; of ways that share as few links and nodes with `beside` as can be."""
        used = set(beside)
        passed = {end for link in used for end in self.ends[link]} - {a, b}
        best = {a: 0}
        before: dict[int, tuple[int, int]] = {}
        waiting = [(0, a)]
        while waiting:
            cost, here = heapq.heappop(waiting)
            if here == b:
                break
            if cost > best[here] or (here != a and not self.is_transit[here]):
                continue
            for link, other in self.around[here]:
                more = (
                    cost + self.metrics[link] + SHARED_LINK * (link in used) + SHARED_NODE * (other in passed)
                )
                if other not in best or more < best[other]:
                    best[other] = more
                    before[other] = (link, here)
                    heapq.heappush(waiting, (more, other))
        if b not in before:
            return None
        found = []
        here = b
        while here != a:
            link, here = before[here]
            found.append(link)
        return found[::-1]


class Parts:
    """The parts that a graph falls into without some links and nodes."""

    def __init__(self, graph: Graph, links: set[int], nodes: set[int]) -> None:
        self._graph, self._links, self._nodes = graph, links, nodes
        self._part = [-1] * len(graph.around)
        for start in range(len(self._part)):
            if self._part[start] >= 0 or start in nodes or not graph.is_transit[start]:
                continue
            self._part[start] = start
            waiting = [start]
            while waiting:
                for other in self._alive(waiting.pop()):
                    if self._part[other] < 0 and graph.is_transit[other]:
                        self._part[other] = start
                        waiting.append(other)

    def _alive(self, node: int) -> list[int]:
        around = self._graph.around[node]
        return [other for link, other in around if link not in self._links and other not in self._nodes]

    def _reached(self, node: int) -> set[int]:
        """The parts that a node is in or, of an end, has links to."""
        if node in self._nodes:
            return set()
        if self._graph.is_transit[node]:
            return {self._part[node]}
        return {self._part[other] for other in self._alive(node) if self._part[other] >= 0}

    def joined(self, a: int, b: int) -> bool:
        """Is there a way from one to the other?"""
        if a in self._nodes or b in self._nodes:
            return False
        return a == b or not self._reached(a).isdisjoint(self._reached(b)) or b in self._alive(a)
