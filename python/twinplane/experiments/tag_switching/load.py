"""Part `load`: packets between all six countries at once, over a network with tags and over one without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, permutations
from typing import Any

from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from . import cells
from .countries import CORE, COUNTRIES, edge, host, switch
from .links import BUFFER_PACKETS, MTU, Links, frame_s, links
from .parameters import SETTLED_S, TagSwitchingParameters
from .predicted import Prediction, held_packets
from .throughput import address

NEAR_S = 1e-6
"""Propagation of a link beside the core."""
DRAINED_S = 5.0
"""So long after the last packet left all have arrived."""


@cache
def ways() -> dict[tuple[str, str], tuple[str, ...]]:
    """The countries that packets cross from each to each other one: there is one shortest path."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for first in COUNTRIES:
        heads: list[tuple[str, ...]] = [(first,)]
        while heads:
            way = heads.pop(0)
            for a, b in (*CORE, *((b, a) for a, b in CORE)):
                if a == way[-1] and b != first and (first, b) not in found:
                    found[first, b] = (*way, b)
                    heads.append((*way, b))
    return found


@cache
def shares() -> Counter[tuple[str, str]]:
    """How many pairs of countries send over each link of the core, each way."""
    return Counter(link for way in ways().values() for link in pairwise(way))


def offered_mbps(p: TagSwitchingParameters) -> float:
    """What each country sends to each other one, of IP."""
    return p.load * links(p, 1, False).ip_mbps(p.packet) / max(shares().values())


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """A switch, an edge router and a host in each country."""
    net = Network(seed)
    if p.medium != "atm":
        _on_ethernet(net, p)
    elif p.tags == "with":
        _labelled(net, p)
    else:
        _circuits(net, p)
    for country in COUNTRIES:
        net.host(host(country), address=address(country))
        net.link(host(country), edge(country), rate="100 Mbit/s", delay="1 us")
    for a, b in permutations(COUNTRIES, 2):
        net.flow(
            host(a),
            host(b),
            name=f"{a}-{b}",
            arrivals="poisson",
            rate=f"{offered_mbps(p) * 1e6:.0f} bit/s",
            rate_counts="ip",
            size=p.packet + 18,
            start=f"{SETTLED_S} s",
            stop=f"{SETTLED_S + p.duration_s} s",
        )
    return net


def _on_ethernet(net: Network, p: TagSwitchingParameters) -> None:
    said: dict[str, Any] = {"ospf": {"area": 0}, "ldp": True} if p.tags == "with" else {}
    for country in COUNTRIES:
        net.router(switch(country), **said)
        net.router(edge(country), **said)
        net.link(edge(country), switch(country), rate="100 Mbit/s", delay="1 us")
    buffer = f"{BUFFER_PACKETS * (MTU + 18)} B"
    for a, b in CORE:
        rate, delay = f"{p.rate_mbps} Mbit/s", f"{p.delay_ms} ms"
        net.link(switch(a), switch(b), rate=rate, delay=delay, buffer=buffer)


def _labelled(net: Network, p: TagSwitchingParameters) -> None:
    said = cells.routing()
    for country in COUNTRIES:
        cells.lsr(net, p, country, **said)
        net.router(edge(country), **said)
        cells.label_link(net, p, edge(country), switch(country), **cells.NEAR)
    for a, b in CORE:
        cells.label_link(net, p, switch(a), switch(b), **cells.core(p), delay=f"{p.delay_ms} ms")


def _circuits(net: Network, p: TagSwitchingParameters) -> None:
    """Between each two edge routers a circuit of its own: classical IP."""
    for country in COUNTRIES:
        cells.lossy_switch(net, switch(country))
    cells.access(net, COUNTRIES)
    for a, b in CORE:
        net.link(switch(a), switch(b), medium="atm", **cells.core(p), delay=f"{p.delay_ms} ms")
    for (a, b), way in ways().items():
        if a < b:
            cells.pvc(net, p, way)


def end_s(p: TagSwitchingParameters) -> float:
    """All packets have arrived by then, or are lost."""
    return SETTLED_S + p.duration_s + DRAINED_S


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """What was lost of all packets, and how long those took on average that arrived."""
    rows = [flow.stats().row(0, named=True) for flow in network.flows]
    sent, received = (sum(row[key] for row in rows) for key in ("sent", "received"))
    delays = sum(row["delay_mean_s"] * row["received"] for row in rows if row["received"])
    found = {
        "sent": sent,
        "lost": (sent - received) / sent,
        "delay_s": delays / received if received else None,
    }
    return Outcome(found, {}, topology(network))


def _each(p: TagSwitchingParameters, tagged: bool) -> Iterator[tuple[tuple[str, ...], Links]]:
    for way in ways().values():
        yield way, links(p, len(way) - 1, tagged)


def lost(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """What the busiest links, one each way, do not carry and no buffer holds."""
    most = max(shares().values())
    busiest = sum(1 for count in shares().values() if count == most)
    carried = links(p, 1, tagged).ip_mbps(p.packet) * p.duration_s * 1e6 / 8
    sent = most * offered_mbps(p) * p.duration_s * 1e6 / 8
    held = held_packets(p, tagged) * p.packet
    value = busiest * most * max(0.0, 1 - (carried + held) / sent) / len(ways())
    return Prediction(
        value, max(0.0, value - 0.015), value + 0.015, "rate of the busiest links, less headers, and buffers"
    )


def alone_s(p: TagSwitchingParameters, way: Links, hops: int) -> float:
    """How long a packet takes that waits for no other one: from first bit to first bit."""
    return way.one_way_s(p.packet) - frame_s(p.packet) + hops * p.delay_ms / 1e3 + 4 * NEAR_S


def unloaded_s(p: TagSwitchingParameters, tagged: bool) -> float:
    """The mean delay over all pairs of countries, if nothing waited: from first bit to first bit."""
    found = [alone_s(p, way, len(path) - 1) for path, way in _each(p, tagged)]
    return sum(found) / len(found)


def waiting_s(p: TagSwitchingParameters, tagged: bool) -> float:
    """The mean wait over all pairs of countries, if packets came to each link by chance (M/D/1).

    That is more than there is: what comes by another link does not come at once.
    """
    one = links(p, 1, tagged)
    service = one.packet_s(p.packet)
    found = 0.0
    for count in shares().values():
        used = count * offered_mbps(p) / one.ip_mbps(p.packet)
        most = held_packets(p, tagged) * service
        wait = min(used / (2 * (1 - used)) * service, most) if used < 1 else most
        found += count * wait / len(ways())
    return found


def delay(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """From no wait at all to half as much again as if all came by chance."""
    least, wait = unloaded_s(p, tagged), waiting_s(p, tagged)
    why = "propagation and transmission, and waits of at most M/D/1 at each link, by chance half more"
    return Prediction(least + wait, least * 0.999, least + 1.5 * wait, why)


def difference(p: TagSwitchingParameters) -> Prediction:
    """What tags add to the mean delay: longer packets, or VC merge, and what waits for these.

    What merge adds to a packet that waits for nobody is the most that it adds: while cells wait for the last
    one of their packet, the link sends those of others, for which they would have had to wait anyway.
    """
    still = unloaded_s(p, True) - unloaded_s(p, False)
    waits = waiting_s(p, True) - waiting_s(p, False)
    around = 0.02 * (unloaded_s(p, False) + waiting_s(p, False))
    low, high = min(0.0, 1.5 * waits) - around, max(0.0, 1.5 * waits) + around
    least = min(0.0, still) if p.merges else still
    return Prediction(still + waits, least + low, still + high, "the same packets at the same times")


PREDICT = {"lost": lost, "delay_s": delay}
