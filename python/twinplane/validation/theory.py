"""Closed forms that queues are held against. Times in seconds, rates per second."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Service:
    """The first two moments of a service time."""

    mean: float
    square: float

    @staticmethod
    def of_sizes(weights: Sequence[tuple[float, int]], overhead_bytes: int, rate_bps: float) -> Service:
        """Of packets with `(share, bytes)`, each with `overhead_bytes` more on the wire."""
        total = math.fsum(share for share, _ in weights)
        times = [(share / total, (size + overhead_bytes) * 8 / rate_bps) for share, size in weights]
        return Service(math.fsum(p * s for p, s in times), math.fsum(p * s * s for p, s in times))

    def mixed(self, share: float, other: Service) -> Service:
        """A share of this one, the rest of another."""
        rest = 1 - share
        return Service(share * self.mean + rest * other.mean, share * self.square + rest * other.square)


def clipped_exponential(mean: float, least: int, most: int) -> list[tuple[float, int]]:
    """Shares of sizes: an exponential variable rounded to whole bytes, then brought into least to most."""

    def beyond(size: float) -> float:
        return math.exp(-max(size, 0.0) / mean)

    shares = [(1 - beyond(least + 0.5), least)]
    shares += [(beyond(size - 0.5) - beyond(size + 0.5), size) for size in range(least + 1, most)]
    shares.append((beyond(most - 0.5), most))
    return shares


def mean_size(weights: Sequence[tuple[float, int]]) -> float:
    """Mean of `(share, bytes)`."""
    return math.fsum(share * size for share, size in weights) / math.fsum(share for share, _ in weights)


def mg1_wait(arrivals: float, service: Service) -> float:
    """Mean wait of an M/G/1 queue (Pollaczek 1930, Khinchine 1932; Kleinrock I, 5.6)."""
    load = arrivals * service.mean
    return arrivals * service.square / (2 * (1 - load))


def mm1k_loss(load: float, places: int) -> float:
    """Share of packets lost by an M/M/1 queue with `places`, one of them being served (Kleinrock I, 3.6)."""
    if load == 1:
        return 1 / (places + 1)
    return (1 - load) * load**places / (1 - load ** (places + 1))


def md1k_loss(load: float, places: int) -> float:
    """The same of M/D/1/K, from the chain embedded at departures (Gross and Harris, 5.1.8)."""
    arrivals = [math.exp(-load) * load**k / math.factorial(k) for k in range(places + 1)]
    weights = [1.0]
    for state in range(places - 1):
        flow = weights[state] - weights[0] * arrivals[state]
        flow -= math.fsum(weights[j] * arrivals[state - j + 1] for j in range(1, state + 1))
        weights.append(flow / arrivals[0])
    idle = weights[0] / math.fsum(weights)
    return 1 - 1 / (idle + load)


def cobham_waits(classes: Sequence[tuple[float, Service]]) -> list[float]:
    """Mean waits under priority without preemption, the most urgent first (Cobham 1954).

    `classes` are arrivals per second and service time.
    """
    residual = math.fsum(rate * service.square for rate, service in classes) / 2
    waits, before = [], 0.0
    for rate, service in classes:
        after = before + rate * service.mean
        waits.append(residual / ((1 - before) * (1 - after)))
        before = after
    return waits


def red_spacing(probability: float) -> float:
    """Mean number of packets from one drop of RED to the next at a constant average.

    Floyd and Jacobson 1993, 7, method 2: with n the whole part of 1/p each of 1 to n has probability p, and
    n + 1 what is left.
    """
    whole = math.floor(1 / probability)
    return probability * whole * (whole + 1) / 2 + (whole + 1) * (1 - whole * probability)


def red_weight(low: int, size: int, burst: int) -> float:
    """Of the average: the greatest power of two by which `burst` packets at once stay below `low` (eq. 3)."""
    for log in range(1, 32):
        weight = 2.0**-log
        if burst + 1 - low / size <= (1 - (1 - weight) ** burst) / weight:
            return weight
    raise ValueError(f"no weight for a burst of {burst}")


@dataclass(frozen=True)
class Met:
    """What packets met at a RED queue."""

    probabilities: list[float]
    """The paper's p_a, of each packet."""
    gaps: list[tuple[float, float]]
    """Of each gap between drops: the chance of one as long or longer, and of one just as long."""
    most: int
    """Packets that waited, at most."""


def red_replay(
    fates: Sequence[bool],
    gap_s: float,
    served_s: float,
    size: int,
    thresholds: tuple[int, int, float],
    burst: int,
) -> Met:
    """What packets at constant distances met, given which were dropped (True), from an empty queue on.

    They wait for a link that takes `served_s` for each. Floyd and Jacobson 1993, figure 2 and section 7.
    """
    low, high, greatest = thresholds
    weight = red_weight(low, size, burst)
    average, waiting, count, free_s = 0.0, 0, 0, 0.0
    survived, alive, most = 1.0, False, 0
    probabilities, gaps = [], []
    for place, gone in enumerate(fates):
        now = place * gap_s
        while waiting and free_s <= now:
            waiting -= 1
            free_s += served_s
        if place:
            average += weight * (waiting * size - average)
        base = greatest * (average - low) / (high - low) if average >= low else 0.0
        if average >= high:
            base = 1.0
        rest = 1 - count * base
        probability = 0.0 if base == 0 else 1.0 if rest <= base else base / rest
        probabilities.append(probability)
        if alive and gone:
            gaps.append((survived, survived * probability))
        if average < low:
            count, survived, alive = 0, 1.0, False
        elif gone:
            count, survived, alive = 0, 1.0, True
        else:
            count, survived = count + 1, survived * (1 - probability)
        if not gone:
            if waiting or free_s > now:
                waiting += 1
            else:
                free_s = now + served_s
            most = max(most, waiting)
    return Met(probabilities, gaps, most)
