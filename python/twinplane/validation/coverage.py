"""How often the 95 % interval of a flow's mean delay holds the truth: one queue, many seeds."""

from __future__ import annotations

import math
import multiprocessing
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from .. import traffic
from ..network import Network
from . import theory
from .bed import DELAY_S, GAP_BYTES, RATE_BPS, queues
from .theory import Service

SIZE = 1000
LABEL_BYTES = 4
SOURCES = ("Poisson", "ten Poisson LSPs", "on-off", "sawtooth")
LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
SECONDS = 20.0
WARM_S = 0.5
"""What is due before this does not count: the queue begins empty."""
ON_S = 0.8e-3
"""Mean length of a burst, at twice the rate of the link: twenty packets."""
RISE_S = 0.04
"""How long a sawtooth takes to double its rate, before it is halved."""


@dataclass(frozen=True)
class Case:
    """A queue under a load."""

    source: str
    load: float
    seconds: float = SECONDS


@dataclass(frozen=True)
class Tried:
    """What one seed gave: the mean delay, and its interval if it has one. Seconds."""

    mean_s: float
    low_s: float | None
    high_s: float | None


@dataclass(frozen=True)
class Covered:
    """A row of the page."""

    case: Case
    seeds: int
    given: int
    """Seeds whose mean has an interval."""
    holds: int
    """Those of them whose interval has the expected mean in it."""
    width: float
    """Mean half width of the intervals, as a share of the expected mean."""
    expected_s: float
    exact: bool
    """Is the expected mean that of theory? If not, it is the mean of all seeds."""


def service_s(source: str) -> float:
    """How long a packet takes the bottleneck."""
    labels = LABEL_BYTES if source == "ten Poisson LSPs" else 0
    return (SIZE + labels + GAP_BYTES) * 8 / RATE_BPS


def attempt(case: Case, seed: int) -> Tried:
    """Send through the bottleneck with one seed."""
    net = Network(seed=seed, phases=[WARM_S])
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate=RATE_BPS, delay=DELAY_S, queue={"a": queues.Pfifo(limit=1_000_000)})
    packets_s = case.load / service_s(case.source)
    rate, stop = packets_s * SIZE * 8, WARM_S + case.seconds
    if case.source == "ten Poisson LSPs":
        lsps = a.lsp("l", to=b, count=10)
        net.run(until=WARM_S / 2)
        flow = net.flow(a, b, over=lsps, rate=rate, size=SIZE, arrivals="poisson", stop=stop)
    else:
        flow = net.flow(a, b, rate=rate, size=SIZE, arrivals=_arrivals(case, packets_s, seed), stop=stop)
    net.run(until=stop)
    row = flow.stats().row(-1, named=True)
    return Tried(row["delay_mean_s"], row["delay_low_s"], row["delay_high_s"])


def _arrivals(case: Case, packets_s: float, seed: int) -> str | traffic.OnOff | traffic.Trace:
    if case.source == "Poisson":
        return "poisson"
    if case.source == "on-off":
        peak = 2 / service_s(case.source)
        return traffic.OnOff(ON_S, ON_S * (peak / packets_s - 1), rate_is_mean=True)
    return traffic.Trace(list(sawtooth(packets_s, WARM_S + case.seconds, random.Random(seed))))


def sawtooth(packets_s: float, seconds: float, draw: random.Random) -> Iterator[float]:
    """Gaps of Poisson packets whose rate grows and is halved, again and again, as that of a TCP connection.

    It grows steadily from two thirds of its mean to four thirds.
    """
    now, pace = 0.0, packets_s * draw.uniform(2 / 3, 4 / 3)
    while now < seconds:
        gap = draw.expovariate(pace)
        now += gap
        pace += packets_s * 2 / 3 * gap / RISE_S
        if pace >= packets_s * 4 / 3:
            pace /= 2
        yield gap


def expected(case: Case) -> float | None:
    """The mean delay by Pollaczek and Khinchine, where arrivals are Poisson; else it is not known exactly."""
    if "Poisson" not in case.source:
        return None
    service = service_s(case.source)
    wait = theory.mg1_wait(case.load / service, Service(service, service**2))
    return wait + service - GAP_BYTES * 8 / RATE_BPS + DELAY_S


def covered(case: Case, tried: Sequence[Tried]) -> Covered:
    """One row out of what all seeds gave."""
    truth = expected(case)
    mean = math.fsum(one.mean_s for one in tried) / len(tried)
    value = mean if truth is None else truth
    given = [(one.low_s, one.high_s) for one in tried if one.low_s is not None and one.high_s is not None]
    holds = sum(low <= value <= high for low, high in given)
    width = math.fsum(high - low for low, high in given) / (2 * value * max(len(given), 1))
    return Covered(case, len(tried), len(given), holds, width, value, truth is not None)


def cases(seconds: float = SECONDS) -> list[Case]:
    """Every source under every load."""
    return [Case(source, load, seconds) for source in SOURCES for load in LOADS]


def measure(
    found: Sequence[Case], seeds: int, tick: Callable[[], None] | None = None, workers: int | None = None
) -> Iterator[Covered]:
    """A row for each case, over seeds from 0, with a process for each processor."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers or os.cpu_count(), mp_context=fresh) as pool:
        for case in found:
            tried = []
            for one in pool.map(partial(attempt, case), range(seeds), chunksize=max(1, seeds // 64)):
                tried.append(one)
                if tick is not None:
                    tick()
            yield covered(case, tried)
