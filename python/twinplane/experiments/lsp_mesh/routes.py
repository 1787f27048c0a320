"""Shortest paths and the choice of pairs for `lsp-mesh`, computed apart from the core's own."""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence

Step = tuple[int, int]
"""A link and the node beyond it."""


def neighbours(nodes: int, links: Sequence[tuple[int, int, int]]) -> list[list[tuple[int, int, int]]]:
    """For every node (link, node beyond, delay) of each of its links."""
    around: list[list[tuple[int, int, int]]] = [[] for _ in range(nodes)]
    for link, (a, b, delay_ps) in enumerate(links):
        around[a].append((link, b, delay_ps))
        around[b].append((link, a, delay_ps))
    return around


def shortest(around: list[list[tuple[int, int, int]]], root: int) -> list[tuple[int, int] | None]:
    """For every node how it is reached from the root: (link, node before); ties by hops, then numbers."""
    best: list[tuple[int, int] | None] = [None] * len(around)
    before: list[tuple[int, int] | None] = [None] * len(around)
    best[root] = (0, 0)
    heap = [(0, 0, root)]
    while heap:
        delay, hops, node = heapq.heappop(heap)
        if best[node] != (delay, hops):
            continue
        for link, beyond, cost in around[node]:
            total, known = (delay + cost, hops + 1), best[beyond]
            if known is None or total < known:
                best[beyond] = total
                before[beyond] = (link, node)
                heapq.heappush(heap, (*total, beyond))
    return before


def path(before: list[tuple[int, int] | None], to: int) -> list[Step]:
    """The links and nodes from the root to a node."""
    steps: list[Step] = []
    here = to
    while (entry := before[here]) is not None:
        link, previous = entry
        steps.append((link, here))
        here = previous
    steps.reverse()
    return steps


def pairs(nodes: int, most: int, seed: int) -> list[tuple[int, int]]:
    """All ordered pairs, or a sample of them drawn with the seed, in order."""
    total = nodes * (nodes - 1)
    chosen: Sequence[int] = range(total)
    if total > most:
        chosen = sorted(random.Random(f"twinplane/lsp-mesh/pairs/{seed}").sample(range(total), most))
    found = []
    for number in chosen:
        a, b = divmod(number, nodes - 1)
        found.append((a, b + (b >= a)))
    return found
