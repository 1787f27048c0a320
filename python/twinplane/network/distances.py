"""How far the packets of a network go, before it is built: by the ways with the fewest links.

Of a large network only the ways to some of its destinations are looked at, which stand for all. Routes by
metrics, and LSPs with routes of their own, may be longer than that.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..measure.growth import Lags, binned
from ..units import span_ps

if TYPE_CHECKING:
    from .draft import Draft

SAMPLE, VISITS = 400, 100_000
"""The ways to so many destinations are looked at, or fewer where so many nodes have been visited: in a tenth
of a second."""
TTL = 255
"""Routers that a packet of a flow passes at most."""
BACK = 64
"""Routers that a message passes at most which tells the sender that a packet came so far: by routes, too."""
SINKS, SOURCES = 16, 64
"""Of demands, the ways from so many routers to so many others."""
AT_ENDS = (2.0, 1.0)
"""Events of a packet beside that of each link: where it is sent, and where it arrives."""
HOPS = 5.0
"""Events of a packet, if nothing says how far it goes."""

Onward = dict[int, tuple[int, int]]
"""Of nodes the next one on the way to a sink, and the link that leads there, by places."""


@dataclass(frozen=True)
class Journey:
    """What becomes of a mean packet after it was sent: pairs of seconds, and how much of it there is then."""

    events: Lags
    """Events that it brings."""
    arrives: Lags
    """The part of all packets that has arrived: all parts together are one."""
    link_s: float = 0.0
    """How long the longest of the links is."""

    @property
    def longest_s(self) -> float:
        """How long the last packet is under way."""
        return max(lag for lag, _ in self.arrives)


class Map:
    """Which nodes are next to which."""

    def __init__(self, draft: Draft) -> None:
        self.near: list[list[tuple[int, int]]] = [[] for _ in draft.nodes]
        for place, link in enumerate(draft.links):
            self.near[link.a.index].append((link.b.index, place))
            self.near[link.b.index].append((link.a.index, place))
        self.routes = [node.kind == "router" for node in draft.nodes]
        self._ends = [node.kind == "host" for node in draft.nodes]

    def toward(self, sink: int, sources: set[int]) -> Onward:
        """Ways to a sink, of the nodes that are nearer than the farthest of the sources, and of that."""
        found: Onward = {sink: (sink, -1)}
        missing, front = sources - {sink}, [sink]
        while front and missing:
            further = []
            for node in front:
                for other, link in self.near[node]:
                    if other not in found:
                        found[other] = (node, link)
                        missing.discard(other)
                        if not self._ends[other]:
                            further.append(other)
            front = further
        return found


def routes(draft: Draft) -> float:
    """How many pairs there are of a router and a destination of flows whose packets come through it.

    Flows over LSPs go by labels, and those to groups by trees: they are left out.
    """
    sinks = _sinks(flow.ends for flow in draft.flows if flow.routed)
    if not sinks:
        return 0.0
    graph = Map(draft)
    counted = looked_at = 0
    for sink, sources, onward in _sampled(graph, sinks):
        through: set[int] = set()
        for place in sources:
            left = TTL
            for node, _ in _way(onward, sink, place):
                if node in through:
                    break
                through.add(node)
                left -= 1
            counted += 0 if left else BACK
        counted += sum(graph.routes[node] for node in through)
        looked_at += 1
    return counted * len(sinks) / looked_at


def mean(draft: Draft) -> float:
    """Links from a router to another one, in the mean of a sample."""
    graph = Map(draft)
    lengths = [
        sum(1 for _ in _way(onward, sink, place))
        for sink, sources, onward in _sampled(graph, _between_routers(graph))
        for place in sources
        if place in onward
    ]
    return sum(lengths) / len(lengths) if lengths else 0.0


def journey(
    draft: Draft, links: Sequence[Mapping[str, Any]], rates: Sequence[float], demanded: float
) -> Journey:
    """Of a mean packet, with the links as they are described.

    `rates` are the packets per second of each flow, and `demanded` those of all demands together.
    """
    graph = Map(draft)
    events: list[tuple[float, float]] = []
    arrives: list[tuple[float, float]] = []
    delays = [0.0]

    def note(ways: Mapping[int, list[int]], weight: Mapping[tuple[int, int], float]) -> None:
        for sink, sources, onward in _sampled(graph, ways):
            for place in dict.fromkeys(sources):
                if place in onward:
                    share, lag = weight[place, sink], 0.0
                    events.append((0.0, AT_ENDS[0] * share))
                    for _, link in _way(onward, sink, place):
                        delays.append(_delay_s(links[link]))
                        lag += delays[-1]
                        events.append((lag, share))
                    events.append((lag, AT_ENDS[1] * share))
                    arrives.append((lag, share))

    offered: dict[tuple[int, int], float] = defaultdict(float)
    for flow, rate in zip(draft.flows, rates, strict=True):
        offered[flow.ends] += rate
    note(_sinks(offered), offered)
    if demanded:
        ways = _between_routers(graph)
        each = demanded / max(sum(map(len, ways.values())), 1)
        note(ways, defaultdict(lambda: each))
    whole = sum(share for _, share in arrives)
    if whole == 0.0:
        return Journey([(0.0, HOPS)], [(0.0, 1.0)])
    means = [binned((lag, share / whole) for lag, share in found) for found in (events, arrives)]
    return Journey(means[0], means[1], max(delays))


def _delay_s(link: Mapping[str, Any]) -> float:
    return span_ps(link["delay"]) / 1e12


def _sinks(ends: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """Where packets go, and from where."""
    found: dict[int, list[int]] = defaultdict(list)
    for source, sink in ends:
        found[sink].append(source)
    return found


def _between_routers(graph: Map) -> dict[int, list[int]]:
    """Some routers, and some that send to each."""
    chosen = random.Random(0)
    routers = [place for place, is_router in enumerate(graph.routes) if is_router]
    sinks = chosen.sample(routers, min(SINKS, len(routers)))
    return {
        sink: [one for one in chosen.sample(routers, min(SOURCES, len(routers))) if one != sink]
        for sink in sinks
    }


def _sampled(graph: Map, sinks: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, Sequence[int], Onward]]:
    """Some of the sinks, at random but always the same, with what sends there and the ways that it takes."""
    visits = 0
    for sink in random.Random(0).sample(list(sinks), min(len(sinks), SAMPLE)):
        onward = graph.toward(sink, set(sinks[sink]))
        yield sink, sinks[sink], onward
        visits += len(onward) + len(sinks[sink])
        if visits >= VISITS:
            return


def _way(onward: Onward, sink: int, source: int) -> Iterator[tuple[int, int]]:
    """Nodes from a source on, each with the link by which it sends on, as far as packets live."""
    node = source
    for _ in range(TTL):
        if node == sink or node not in onward:
            return
        following, link = onward[node]
        yield node, link
        node = following
