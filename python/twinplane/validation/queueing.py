"""Waiting times and losses of single queues: M/D/1, M/M/1, M/M/1/K, priority."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import traffic
from . import theory
from .bed import DELAY_S, GAP_BYTES, RATE_BPS, Stream, queues, run
from .theory import Service
from .verdict import Measured

REPETITIONS = 16
PACKETS = 60_000
SIZE = 1000
MEAN, LEAST, MOST = 4000, 64, 60_000
"""Exponential sizes; the ends are so far away that they change the moments by less than one in a thousand."""
PK = "Pollaczek and Khinchine, with the moments of the sizes on the wire"


def _wire_s(size: float) -> float:
    return size * 8 / RATE_BPS


def _seeds(seed: int) -> Iterator[int]:
    return iter(range(1000 * seed, 1000 * seed + REPETITIONS))


def _deep(packets: int = 1_000_000) -> Any:
    return queues.Pfifo(limit=packets)


def md1(seed: int, load: float) -> list[Measured]:
    """Constant sizes, Poisson arrivals, a queue without limit."""
    service = _wire_s(SIZE + GAP_BYTES)
    arrivals = load / service
    seconds = PACKETS / arrivals
    waits = []
    for one in _seeds(seed):
        seen = run(one, _deep(), [Stream("f", arrivals * SIZE * 8, SIZE)], seconds)
        waits.append(seen.flows["f"]["delay_mean_s"] - _wire_s(SIZE) - DELAY_S)
    expected = theory.mg1_wait(arrivals, Service(service, service**2))
    return [Measured(f"M/D/1, load {load}", "mean wait (s)", tuple(waits), expected, source=PK)]


def mm1(seed: int, load: float) -> list[Measured]:
    """Exponential sizes."""
    weights = theory.clipped_exponential(MEAN, LEAST, MOST)
    service = Service.of_sizes(weights, GAP_BYTES, RATE_BPS)
    mean = theory.mean_size(weights)
    arrivals = load / service.mean
    seconds = PACKETS / arrivals
    size = traffic.Exponential(mean=MEAN, min=LEAST, max=MOST)
    waits = []
    for one in _seeds(seed):
        seen = run(one, _deep(), [Stream("f", arrivals * mean * 8, size)], seconds, mtu=65_535)
        waits.append(seen.queues["root"]["mean_wait_s"])
    expected = theory.mg1_wait(arrivals, service)
    return [Measured(f"M/M/1, load {load}", "mean wait (s)", tuple(waits), expected, source=PK)]


def mm1k(seed: int, load: float, places: int) -> list[Measured]:
    """A queue with room for `places` packets, one of them on the wire."""
    weights = theory.clipped_exponential(MEAN, LEAST, MOST)
    service = Service.of_sizes(weights, GAP_BYTES, RATE_BPS)
    arrivals = load / service.mean
    seconds = PACKETS / arrivals
    size = traffic.Exponential(mean=MEAN, min=LEAST, max=MOST)
    rate = arrivals * theory.mean_size(weights) * 8
    losses = []
    for one in _seeds(seed):
        seen = run(one, _deep(places - 1), [Stream("f", rate, size)], seconds, mtu=65_535, drain=True)
        flow = seen.flows["f"]
        losses.append(flow["lost"] / flow["sent"])
    name = f"M/M/1/{places}, load {load}"
    expected = theory.mm1k_loss(load, places)
    return [
        Measured(name, "share lost", tuple(losses), expected, source="birth and death (Kleinrock I, 3.6)")
    ]


def md1k(seed: int, load: float, places: int) -> list[Measured]:
    """The same with constant sizes."""
    service = _wire_s(SIZE + GAP_BYTES)
    arrivals = load / service
    seconds = PACKETS / arrivals
    losses = []
    for one in _seeds(seed):
        stream = Stream("f", arrivals * SIZE * 8, SIZE)
        flow = run(one, _deep(places - 1), [stream], seconds, drain=True).flows["f"]
        losses.append(flow["lost"] / flow["sent"])
    expected = theory.md1k_loss(load, places)
    source = "chain embedded at departures (Gross and Harris, 5.1.8)"
    return [Measured(f"M/D/1/{places}, load {load}", "share lost", tuple(losses), expected, source=source)]


PRIORITIES = (("high", "EF", 200, 0.25), ("middle", "AF21", 600, 0.3), ("low", "BE", 1400, 0.3))
"""Name, behaviour, size, load."""


def priority(seed: int) -> list[Measured]:
    """Three classes by strict priority; a packet on the wire is not taken back."""
    tree = queues.Prio(
        classes={name: queues.PrioClass(queue=_deep()) for name, _, _, _ in PRIORITIES},
        filters=[{"phb": behaviour, "class": name} for name, behaviour, _, _ in PRIORITIES[:-1]],
        default="low",
    )
    classes = []
    for _, _, size, load in PRIORITIES:
        service = _wire_s(size + GAP_BYTES)
        classes.append((load / service, Service(service, service**2)))
    streams = [
        Stream(name, rate * size * 8, size, behaviour)
        for (name, behaviour, size, _), (rate, _) in zip(PRIORITIES, classes, strict=True)
    ]
    seconds = PACKETS / sum(rate for rate, _ in classes)
    waits: dict[str, list[float]] = {name: [] for name, *_ in PRIORITIES}
    for one in _seeds(seed):
        seen = run(one, tree, streams, seconds)
        for name, _, size, _ in PRIORITIES:
            waits[name].append(seen.flows[name]["delay_mean_s"] - _wire_s(size) - DELAY_S)
    expected = theory.cobham_waits(classes)
    return [
        Measured(
            f"priority, {name} of three", "mean wait (s)", tuple(waits[name]), value, source="Cobham 1954"
        )
        for (name, *_), value in zip(PRIORITIES, expected, strict=True)
    ]
