"""What timers alone say: when routers notice a failure, hear of it, and have computed their paths anew."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...failing.cases import Case
from ...failing.graph import Graph
from ...units import rate_bps, span_ps
from .backoff import Interval, Spf

LEAST_BYTES, MOST_BYTES = 64, 1500
"""A packet of flooding has so many bytes here at least, and at most: what a hop takes besides propagation."""
MIN_LS_INTERVAL = 5 * 10**12
"""A router says something new of itself so often at most, in ps (RFC 2328, B)."""


@dataclass(frozen=True)
class Expected:
    """Between which times after a failure something should be, in ps; None if it should not be at all."""

    low: int | None
    high: int | None

    def __contains__(self, at: int) -> bool:
        """Is a time among them?"""
        return self.low is not None and self.high is not None and self.low <= at <= self.high


NEVER = Expected(None, None)


@dataclass(frozen=True)
class Prediction:
    """What is expected of a case."""

    detected: Expected
    """When the last router beside the failure knows of it."""
    control: Expected
    """When the last router has its last new route."""
    data: Expected
    """When packets of the last destination with a way left are lost no more."""
    at_once: int
    """From when on a router beside the failure may send by another path as good, without computing any."""


class Told(NamedTuple):
    """What a router beside the failure tells of it."""

    router: int
    at: Interval
    """Between which times it floods that."""


@dataclass(frozen=True)
class Timers:
    """A network's timers and delays."""

    graph: Graph
    spf: Spf
    hello: int
    dead: int
    silent: bool
    """Are failures noticed by Hellos that stay away?"""
    delays: Sequence[tuple[int, int]]
    """Of flooding over each link, in ps: at least and at most, since its packets have some bytes."""
    detection: Sequence[int]
    """Of each link, until its ends notice."""
    bfd: tuple[int, int] | None = None
    """Of BFD, if it watches neighbours: the time between two packets, and how many may be missing."""
    away: dict[int, dict[int, int]] = field(default_factory=dict)
    """What it costs from each router to a destination before anything fails, as far as it was asked for."""

    @classmethod
    def of(
        cls,
        graph: Graph,
        links: Sequence[Mapping[str, Any]],
        ospf: Mapping[str, Any],
        silent: bool,
        pace: Mapping[str, Any] | None = None,
    ) -> Timers:
        """From the description of links, and the settings of OSPF of all routers."""
        delays = []
        for said in links:
            rate = 0 if said["rate"] == "none" else rate_bps(said["rate"])
            low, high = (size * 8 * 10**12 // rate if rate else 0 for size in (LEAST_BYTES, MOST_BYTES))
            delays.append((span_ps(said["delay"]) + low, span_ps(said["delay"]) + high))
        return cls(
            graph,
            Spf.of(ospf["spf"]),
            span_ps(ospf["hello_interval"]),
            span_ps(ospf["dead_interval"]),
            silent,
            delays,
            [span_ps(said["detection"]) for said in links],
            None if pace is None else (span_ps(pace["interval"]), pace["multiplier"]),
        )

    def predict(self, case: Case) -> Prediction:
        """Detection, then flooding over what is left, then the delay of the computation at every router."""
        dead = set(case.dead_links(self.graph.ends))
        told = self._told(case, dead)
        if not told:
            return Prediction(NEVER, NEVER, NEVER, 0)
        noticed: dict[int, Interval] = {}
        for one in told:
            noticed.setdefault(one.router, one.at)
        at_once = min(low for low, _ in noticed.values())
        heard = self._heard(told, dead, case)
        first = {router: self.spf.first(times) for router, times in heard.items()}
        last = {router: self.spf.last(times) for router, times in heard.items()}
        control = Expected(*_latest(last.values()))
        enough = control.high
        if len(case.links) == 1 and not case.nodes:
            sure, users = self._users(case.links[0], case)
            # RFC 2328, 16.1, step 2b: a link that one end does not name any more is used by nobody, so that
            # the first end that tells of it is enough. Beside another link between both ends, each counts.
            is_lone = len(self.graph.between(*self.graph.ends[case.links[0]])) == 1
            enough = max(((first if is_lone else last)[router][1] for router in users), default=at_once)
            if self.silent:
                # RFC 2328, 12.4.1.1: interfaces that are up have their network announced on, so that no
                # router has other routes but those that used the link.
                lows = [first[router][0] for router in sure]
                control = Expected(max(lows), enough) if lows else NEVER
        detected = Expected(*_latest(noticed.values()))
        return Prediction(detected, control, Expected(at_once + self.spf.initial, enough), at_once)

    def _users(self, link: int, case: Case) -> tuple[set[int], set[int]]:
        """Routers that have other routes without a link: those that surely have, and those that may have.

        Who uses it is farther from one end than from the other by just its metric. The ends of a link that is
        used lose a next hop, and other routers the only way if one of the ends is farther without it. Else
        they have another way as good, which may begin with the same next hop.
        """
        a, b = self.graph.ends[link]
        before = [self._metrics_to(end) for end in (a, b)]
        after = [self._distances(end, {link}, case, self.graph.metrics) for end in (a, b)]
        both = [router for router in before[0] if router in before[1]]
        users = {
            router
            for router in both
            if abs(before[0][router] - before[1][router]) == self.graph.metrics[link]
        }
        sure = {
            router
            for router in users
            if router in (a, b)
            or any(then[router] != now.get(router) for then, now in zip(before, after, strict=True))
        }
        return sure, users

    def _metrics_to(self, sink: int) -> dict[int, int]:
        """What it costs from each router to another one before anything fails."""
        if sink not in self.away:
            self.away[sink] = self._distances(sink, set(), Case("", ""), self.graph.metrics)
        return self.away[sink]

    def diverts(self, case: Case, sink: int) -> bool:
        """Have all routers beside the failure another path as good to a destination, to take at once?"""
        cost = self._metrics_to(sink)
        dead = case.dead_links(self.graph.ends)
        for end in {end for link in dead for end in self.graph.ends[link]} - set(case.nodes):
            best = [
                link
                for link, other in self.graph.around[end]
                if other in cost and cost[other] + self.graph.metrics[link] == cost.get(end)
            ]
            if best and set(best) <= set(dead):
                return False
        return True

    def _told(self, case: Case, dead: set[int]) -> list[Told]:
        """What routers beside the failure tell: each of them that it has lost its links."""
        times: dict[int, list[Interval]] = {}
        for link in sorted(dead):
            for end in self.graph.ends[link]:
                if end not in case.nodes:
                    at = self.detection[link]
                    times.setdefault(end, []).append(self._silence(link) if self.silent else (at, at))
        told = []
        for end, found in times.items():
            begin = min(low for low, _ in found), min(high for _, high in found)
            told.append(Told(end, begin))
            if any(low != high or (low, high) != begin for low, high in found[1:]):
                # Each link is missed at a time of its own, and what was told a moment ago is not told anew.
                low, high = _latest(found)
                told.append(Told(end, (low, high + MIN_LS_INTERVAL)))
        return told

    def _silence(self, link: int) -> Interval:
        """Between which times after a failure a neighbour beyond a link that loses everything is given up.

        Both count from the last packet that came, a Hello or an interval of BFD before the failure at most,
        since packets that are under way are lost, too. One may have waited behind another packet.
        """
        early, late = self.delays[link]
        low, high = self.dead - self.hello, self.dead
        if self.bfd is not None:
            # RFC 5880, 6.8.4. The dead interval goes on beside BFD: whichever is over first counts.
            interval, multiplier = self.bfd
            low, high = min(low, (multiplier - 1) * interval), min(high, multiplier * interval)
        return max(low - (late - early), 0), high

    def _heard(self, told: Sequence[Told], dead: set[int], case: Case) -> dict[int, list[Interval]]:
        """When each router that is left hears of the failure from each router beside it that can tell it."""
        heard: dict[int, list[Interval]] = {}
        for router, at in told:
            soon, late = (
                self._distances(router, dead, case, [delay[end] for delay in self.delays]) for end in (0, 1)
            )
            for other in soon:
                heard.setdefault(other, []).append((at[0] + soon[other], at[1] + late[other]))
        return heard

    def _distances(self, root: int, dead: set[int], case: Case, delays: Sequence[int]) -> dict[int, int]:
        """How long flooding takes from a router to each other, by the links that are left."""
        best = {root: 0}
        waiting = [(0, root)]
        while waiting:
            cost, here = heapq.heappop(waiting)
            if cost > best[here]:
                continue
            for link, other in self.graph.around[here]:
                if link in dead or other in case.nodes:
                    continue
                more = cost + delays[link]
                if more < best.get(other, more + 1):
                    best[other] = more
                    heapq.heappush(waiting, (more, other))
        return best

    def watch_ps(self, predicted: Iterable[Prediction]) -> int:
        """As long as a case may take, of those that are predicted, and a second."""
        begin = max(self.detection, default=0)
        if self.silent:
            begin = max((self._silence(link)[1] for link in range(len(self.delays))), default=0)
        least = begin + self.spf.initial + self.spf.short + (self.spf.long if self.silent else 0)
        return max(least, *(one.control.high or 0 for one in predicted)) + 10**12


def _latest(times: Iterable[Interval]) -> Interval:
    """When the last one of some is."""
    lows, highs = zip(*times, strict=True)
    return max(lows), max(highs)
