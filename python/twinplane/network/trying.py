"""The beginning of a run, looked at: what it took so far, and what the whole of it will take.

A trial is made on a network of its own, or in a process of its own: nothing of a run that follows is changed.
"""

from __future__ import annotations

import time
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..measure.growth import Load, Offered, Range, exactly, grown, held
from ..units import span_ps
from .distances import Journey, journey
from .offered import mean_size, offered

if TYPE_CHECKING:
    from .network import Network

EVENTS_A_LOOK = 20_000
"""Events between two looks at the clock: some milliseconds."""
EVENTS_A_STEP = 100_000
"""Events, about, between two moments that all nodes come to."""
PARTS = 8
"""Looks, at least, between two moments at which flows start or stop."""
LOOKS = 64
"""Of a run that is watched to its end, at most so many looks are kept."""
LONGER = 1.2
"""So many times what a trial was given it may take to come to a moment that can be looked at."""
RECENT = 0.25
"""The last part of the events, which says how long those take that follow."""
ASKING = 3.0
"""After so many times the delay of a link the first packets have come over it: before, the router asks for
the address of its neighbour."""
UNSEEN = 0.25
"""How far off a figure may be where the trial is over before packets are known to arrive."""
STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Look:
    """What a run had taken at a moment of virtual time."""

    at_s: float
    events: int
    processor_s: float
    resident: int
    """Bytes of memory of the process."""


def resident(which: str = "VmRSS") -> int:
    """Memory of this process in bytes, now or (``VmHWM``) the most that it was; 0 where nothing says it."""
    try:
        lines = STATUS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{which}:")), 0)


class Traffic:
    """What flows and demands of a network offer, by their descriptions, and when it passes the network."""

    def __init__(self, network: Network) -> None:
        described = network.described()
        flows = [*map(_source, described.get("flows") or ())]
        demands = [*_demanded(network, described.get("demands") or {})]
        self.load = Load([*flows, *demands])
        rates = [rate for _, _, rate in flows]
        self.journey: Journey = journey(
            network.draft, described.get("links") or (), rates, sum(rate for _, _, rate in demands)
        )
        self.events: Offered = self.load.behind(self.journey.events)
        """About so many events have come of all packets by a time."""
        self.arrived: Offered = self.load.behind(self.journey.arrives)
        """So many packets have arrived by a time."""


def _source(flow: Mapping[str, Any]) -> tuple[float, float, float]:
    bits, size = offered(flow)
    return (*_span(flow), bits * _share(flow["arrivals"]) / 8 / size)


def _span(said: Mapping[str, Any]) -> tuple[float, float]:
    """Start and stop in seconds; what does not stop goes on for ever."""
    stop = said.get("stop")
    return span_ps(said["start"]) / 1e12, float("inf") if stop is None else span_ps(stop) / 1e12


def _share(arrivals: Any) -> float:
    """The part of the time in which a flow sends at its rate."""
    if not isinstance(arrivals, dict) or arrivals["kind"] != "on-off" or arrivals.get("rate_is_mean"):
        return 1.0
    on, off = (span_ps(arrivals[half]["mean"]) for half in ("on", "off"))
    return on / (on + off) if on + off else 1.0


def _demanded(network: Network, said: Mapping[str, Any]) -> Iterator[tuple[float, float, float]]:
    """Of each class one source: all demands of a class start and stop together."""
    if not said:
        return
    sizes = {name: mean_size(one["size"]) for name, one in (said.get("classes") or {}).items()}
    usual = mean_size(512) if not sizes else next(iter(sizes.values()))
    table = network.columns("demand_classes")
    for label, bits in zip(table["class"], table["rate_bps"], strict=True):
        yield (*_span(said), bits / 8 / sizes.get(label or "", usual))


class Trial:
    """A network that is run, little by little, towards the end of a run."""

    def __init__(self, network: Network, end_s: float, pauses: Iterable[float] = ()) -> None:
        """Builds the network: what that takes is `build_s`.

        `pauses` are times in seconds at which something more is done to the network: when the next is
        asked for.
        """
        before, begun = resident(), time.process_time()
        self.network = network
        self.core = network.engine.start()
        self.build_s = time.process_time() - begun
        self.built = max(resident() - before, 0)
        """Bytes that the network took when it was built."""
        self.end_s, self.traffic = end_s, Traffic(network)
        self.looks = [Look(0.0, self.core.events_done(), 0.0, resident())]
        self._apart = 0
        self._stops, self._pauses = self._planned(), iter(pauses)
        self._pause = self._next_pause()

    def _planned(self) -> list[int]:
        """Moments in picoseconds at which it is looked at, whatever happens: the last is the end."""
        edges = [0.0, *(edge for edge in self.traffic.load.edges if 0.0 < edge < self.end_s), self.end_s]
        most = max(len(edges) // 200, 1)  # where thousands of flows start one after another, some of them do
        edges = [*edges[:-1:most], self.end_s]
        found = {
            round((a + (b - a) * part / PARTS) * 1e12)
            for a, b in pairwise(edges)
            for part in range(1, PARTS + 1)
        }
        return sorted(found)

    def _next_pause(self) -> int | None:
        """The next one in picoseconds, which is looked at; before that what is to be done now is done."""
        if (at_s := next(self._pauses, None)) is None:
            return None
        at = round(at_s * 1e12)
        if at not in self._stops and at < self._stops[-1]:
            insort(self._stops, at)
        return at

    @property
    def done(self) -> bool:
        """Is the end of the run reached?"""
        return not self._stops

    @property
    def mean_bytes(self) -> float:
        """Bytes of a mean frame of what is offered."""
        described = self.network.described().get("flows") or ()
        found = [(_source(flow)[2], offered(flow)[1]) for flow in described]
        whole = sum(rate for rate, _ in found)
        return sum(rate * size for rate, size in found) / whole if whole else float(mean_size(512))

    @property
    def now(self) -> Look:
        """The latest look."""
        return self.looks[-1]

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is done meanwhile, such as asking for tables, is no part of the run: nor is its memory."""
        before = resident()
        yield
        self._apart += max(resident() - before, 0)

    def go(self, seconds: float, events: int | None = None) -> bool:
        """Go on for so many seconds of the processor, or so many events; is the end reached then?"""
        begun, before = time.process_time(), self.now
        chunk = EVENTS_A_LOOK if events is None else min(EVENTS_A_LOOK, max(events // PARTS, 1))
        step = EVENTS_A_STEP if events is None else chunk
        target = self._step(step)
        while self._stops:
            reached = self.core.run_some(target, chunk)
            if reached and target == self._stops[0] and self._stops.pop(0) == self._pause:
                self._pause = self._next_pause()
            passed, count = time.process_time() - begun, self.core.events_done()
            spent = passed / seconds if events is None else (count - before.events) / max(events, 1)
            if reached or spent >= LONGER:
                at_s, held_now = self.core.now_ps() / 1e12, resident() - self._apart
                self.looks.append(Look(at_s, count, before.processor_s + passed, held_now))
                target = self._step(step)
                if spent >= 1.0:
                    break
        return self.done

    def _step(self, events: int) -> int:
        """The moment of the next look: after about so many events, and not later than the next stop.

        On the way to a moment some nodes are ahead of others, by as much as links are long: how many events
        there were up to a time is known, about, where all have come to it.
        """
        if not self._stops:
            return 0
        at, stop = self.core.now_ps(), self._stops[0]
        ahead = self.traffic.events(stop / 1e12) - self.traffic.events(at / 1e12)
        return min(at + max(round((stop - at) * events / ahead), 1), stop) if ahead > events else stop

    def events(self) -> Range:
        """Events of the whole run."""
        looks = [(look.at_s, float(look.events)) for look in self.looks]
        found = grown(looks, self.end_s, self.traffic.events, 1.0)
        begun_s = next(iter(self.traffic.load.edges), self.end_s)
        passed_s, journey = self.now.at_s - begun_s, self.traffic.journey
        if self.done or not 0.0 < passed_s < max(journey.longest_s, ASKING * journey.link_s):
            return found
        if passed_s < ASKING * journey.link_s:
            ahead = self.traffic.events(self.end_s) - self.traffic.events(self.now.at_s)
            by_links = self.now.events + max(ahead, 0.0)
            found = Range(min(found.low, by_links), by_links, max(found.high, by_links))
        return found.within(UNSEEN)

    def processor_s(self) -> Range:
        """Seconds of the processor that the run takes, without building: what its events take."""
        done, whole = self.now, self.events()
        if self.done:
            return exactly(done.processor_s)
        # The first events take longer than all others: nothing is in the caches yet.
        recent = next(look for look in reversed(self.looks) if look.events <= done.events * (1 - RECENT))
        each = (done.processor_s - recent.processor_s) / max(done.events - recent.events, 1)
        return Range(
            *(done.processor_s + max(count - done.events, 0.0) * each for count in vars(whole).values())
        ).within(0.1)

    def added(self) -> Range:
        """Bytes of memory by which the process grows from now to the end of the run."""
        looks = [(look.at_s, float(look.resident)) for look in self.looks]
        whole = held(looks, self.end_s, self.traffic.load.packets, self.traffic.arrived)
        return Range(*(max(most - self.now.resident, 0.0) for most in vars(whole).values()))

    def rows(self, seen: list[tuple[float, float]]) -> Range:
        """Rows of a table at the end of the run, of what it had at some moments (seconds, rows)."""
        return grown(seen, self.end_s, self.traffic.load.busy)


class Work:
    """How much of the work of a run is done: its events so far, of those that its beginning foretells."""

    def __init__(self, network: Network, end_s: float) -> None:
        self.network, self.end_s = network, end_s
        self.traffic: Traffic | None = None
        self.looks = [(0.0, 0.0)]
        self._apart_s = 0.0
        self.most = 0.0

    def share(self) -> float:
        """From 0 to 1, and never less than before. It costs as much at the end of a run as at its start."""
        if self.traffic is None:
            self.traffic = Traffic(self.network)
        now = (self.network.now, float(self.network.events_done))
        if now[0] > self.looks[-1][0]:
            if len(self.looks) > 1 and now[0] - self.looks[-2][0] < self._apart_s:
                self.looks.pop()
            self.looks.append(now)
            if len(self.looks) > LOOKS:  # farther apart, and still spread over all of the run so far
                self.looks, self._apart_s = [*self.looks[:-1:2], now], 2 * now[0] / LOOKS
        whole = grown(self.looks, self.end_s, self.traffic.events, 1.0).value
        if now[0] >= self.end_s:
            self.most = 1.0
        elif whole > 0.0:
            self.most = max(self.most, min(now[1] / whole, 1.0))
        return self.most
