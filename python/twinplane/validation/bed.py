"""The bed of most rows: two routers, and between them one bottleneck with the queue in question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import queues as typed
from ..network import Network

queues: Any = typed
"""What is given to disciplines is checked when it is given, and may be short forms."""

RATE_BPS = 100_000_000
"""Of the bottleneck."""
DELAY_S = 10e-6
GAP_BYTES = 20
"""Preamble, start delimiter and gap, which a frame takes on the wire beyond its own bytes."""


@dataclass(frozen=True)
class Stream:
    """A Poisson flow, or one with other arrivals."""

    name: str
    rate_bps: float
    size: Any
    dscp: str | int = 0
    arrivals: Any = "poisson"
    log: bool = False


@dataclass
class Seen:
    """What a run gave: streams by name, and the queues of the bottleneck by path."""

    flows: Mapping[str, Mapping[str, Any]]
    queues: Mapping[str, Mapping[str, Any]]
    steady: dict[str, float]
    """Mean number of packets in a queue after the warm-up."""
    packets: dict[str, list[bool]]
    """Of flows with a log: did each packet arrive?"""
    end_s: float


def run(
    seed: int,
    queue: Any,
    streams: Sequence[Stream],
    seconds: float,
    *,
    warm: float = 0.1,
    rate_bps: float = RATE_BPS,
    mtu: int | None = None,
    drain: bool = False,
) -> Seen:
    """Send for so long through a bottleneck; what was due in the first `warm` share of the time is left out.

    With `drain` the run goes on until the queue is empty.
    """
    begin = seconds * warm
    net = Network(seed=seed, phases=[begin] if begin else [0])
    a, b = net.router("a"), net.router("b")
    net.link(a, b, rate=rate_bps, delay=DELAY_S, queue={"a": queue}, mtu=mtu)
    flows = [
        net.flow(
            *(a, b),
            rate=s.rate_bps,
            size=s.size,
            arrivals=s.arrivals,
            dscp=s.dscp,
            name=s.name,
            stop=seconds,
            log=s.log,
        )
        for s in streams
    ]
    if begin:
        net.run(until=begin)
    before, at = _queues(net), net.now
    net.run(until=seconds)
    if drain:
        net.run(for_=seconds)
    table = net.columns("streams")
    found = {}
    for stream, flow in zip(streams, flows, strict=True):
        last = max(place for place, index in enumerate(table["flow"]) if index == flow.index)
        found[stream.name] = {name: column[last] for name, column in table.items()}
    after, end = _queues(net), net.now
    steady = {
        path: (row["mean_packets"] * end - (before[path]["mean_packets"] * at if before else 0)) / (end - at)
        for path, row in after.items()
    }
    logs = {
        stream.name: [at is not None for at in flow.packets()["arrival_s"].to_list()]
        for stream, flow in zip(streams, flows, strict=True)
        if stream.log
    }
    return Seen(found, after, steady, logs, end)


def _queues(net: Network) -> dict[str, dict[str, Any]]:
    """The queues of the bottleneck, by path."""
    table = net.columns("queues")
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    return {row["path"]: row for row in rows}
