"""What timers alone say: when routers notice a failure, hear of it, and have computed their paths anew."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...failing.cases import Case
from ...failing.graph import Graph
from ...units import rate_bps, span_ps

LSU_BYTES = 1500
"""A packet of flooding has at most so many bytes here: what a hop may take besides propagation."""


@dataclass(frozen=True)
class Spf:
    """The delays of RFC 8405, in ps."""

    initial: int
    short: int
    long: int
    learn: int
    hold_down: int

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Spf:
        """From settings of OSPF."""
        keys = ("initial", "short", "long", "learn", "hold_down")
        return cls(*(span_ps(said[key]) for key in keys))

    def computations(self, heard: Iterable[int]) -> list[int]:
        """When paths are computed if all was quiet and changes are heard at these times (RFC 8405, 5.1)."""
        found: list[int] = []
        state, learnt, calm, due = "quiet", 0, 0, -1
        for at in sorted(heard):
            if 0 <= due <= at:
                found.append(due)
                due = -1
            if state != "quiet" and calm <= at:
                state = "quiet"
            if state == "short" and learnt <= at:
                state = "long"
            wait = {"quiet": self.initial, "short": self.short, "long": self.long}[state]
            if state == "quiet":
                state, learnt = "short", at + self.learn
            calm = at + self.hold_down
            if due < 0:
                due = at + wait
        return [*found, due] if due >= 0 else found


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


@dataclass(frozen=True)
class Timers:
    """A network's timers and delays."""

    graph: Graph
    spf: Spf
    hello: int
    dead: int
    silent: bool
    """Are failures noticed by Hellos that stay away?"""
    delays: Sequence[int]
    """Of each link, in ps."""
    hops: Sequence[int]
    """What a packet of flooding takes more for its bytes, of each link at most."""
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
        bits = LSU_BYTES * 8 * 10**12
        hops = [0 if said["rate"] == "none" else bits // rate_bps(said["rate"]) for said in links]
        return cls(
            graph,
            Spf.of(ospf["spf"]),
            span_ps(ospf["hello_interval"]),
            span_ps(ospf["dead_interval"]),
            silent,
            [span_ps(said["delay"]) for said in links],
            hops,
            [span_ps(said["detection"]) for said in links],
            None if pace is None else (span_ps(pace["interval"]), pace["multiplier"]),
        )

    def predict(self, case: Case) -> Prediction:
        """Detection, then flooding over what is left, then the delay of the computation at every router."""
        dead = set(case.dead_links(self.graph.ends))
        noticed = self._noticed(case, dead)
        if not noticed:
            return Prediction(NEVER, NEVER, NEVER, 0)
        low = self._heard(noticed, dead, case, [at for at, _ in noticed.values()], self.delays)
        slow = [delay + hop for delay, hop in zip(self.delays, self.hops, strict=True)]
        high = self._heard(noticed, dead, case, [at for _, at in noticed.values()], slow)
        detected = Expected(max(at for at, _ in noticed.values()), max(at for _, at in noticed.values()))
        # RFC 2328, 16.1, step 2b: a link that one end does not name any more is used by nobody. Of a link the
        # first end that tells of it is enough; of a node all of its neighbours have to.
        one = bool(case.links) and not case.nodes
        begin = [self.spf.computations(heard) for heard in low]
        last = [self.spf.computations(heard) for heard in high]
        first = min(at for at, _ in noticed.values()) + self.spf.initial
        every_low, every_high = max(one_[-1] for one_ in begin), max(one_[-1] for one_ in last)
        enough = max((one_[0] if one else one_[-1]) for one_ in last)
        if self.silent and len(noticed) > 1:
            # Each end gives the other up by its own clock: so far apart that routers may wait longer.
            every_high = max(max(heard) for heard in high) + self.spf.long
            enough = enough if one else every_high
        at_once = min(at for at, _ in noticed.values())
        return Prediction(detected, Expected(every_low, every_high), Expected(first, enough), at_once)

    def diverts(self, case: Case, sink: int) -> bool:
        """Have all routers beside the failure another path as good to a destination, to take at once?"""
        if sink not in self.away:
            self.away[sink] = self._distances(sink, set(), Case("", ""), self.graph.metrics)
        cost = self.away[sink]
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

    def _noticed(self, case: Case, dead: set[int]) -> dict[int, tuple[int, int]]:
        """Between which times each router beside the failure knows of it."""
        found: dict[int, tuple[int, int]] = {}
        for link in dead:
            for end in self.graph.ends[link]:
                if end in case.nodes:
                    continue
                at = self.detection[link]
                low, high = self._silence(link) if self.silent else (at, at)
                before = found.get(end, (low, high))
                found[end] = (max(low, before[0]), max(high, before[1]))
        return found

    def _silence(self, link: int) -> tuple[int, int]:
        """Between which times after a failure a neighbour beyond a link that loses everything is given up."""
        low, high = self.dead - self.hello, self.dead
        if self.bfd is None:
            return low, high
        # RFC 5880, 6.8.4: the detection time begins with the last packet that came; one may have been under
        # way.
        interval, multiplier = self.bfd
        first, last = (multiplier - 1) * interval, multiplier * interval + self.delays[link]
        # The dead interval goes on beside BFD: whichever is over first counts.
        return min(low, first), min(high, last)

    def _heard(
        self, noticed: Mapping[int, Any], dead: set[int], case: Case, at: Sequence[int], delays: Sequence[int]
    ) -> list[list[int]]:
        """When each router that is left hears of the failure from each router beside it that can tell it."""
        heard: dict[int, list[int]] = {}
        for node, begin in zip(noticed, at, strict=True):
            for other, away in self._distances(node, dead, case, delays).items():
                heard.setdefault(other, []).append(begin + away)
        return list(heard.values())

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

    def watch_ps(self) -> int:
        """As long as a case may take, and a second."""
        begin = max(self.detection, default=0)
        if self.silent:
            begin = max((self._silence(link)[1] for link in range(len(self.delays))), default=0)
        return begin + self.spf.initial + self.spf.short + (self.spf.long if self.silent else 0) + 10**12
