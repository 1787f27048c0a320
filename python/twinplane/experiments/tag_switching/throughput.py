"""Parts `tcp`, `duplex`, `rtt` and `udp`: hosts in two countries, and switches with tags or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ... import units
from ...network import Network
from ...network.drawing import topology
from ...profiles import hosts as profiles
from ..base import Outcome
from .build import COUNTRIES, edge, host, switch
from .links import HEADERS, MTU, TAG, Links, cells_of, encapsulation_of, links
from .parameters import STM1_CELLS, TagSwitchingParameters

PATHS = {"switzerland": ("italy", "switzerland"), "france": ("italy", "switzerland", "germany", "france")}
"""Countries whose switches a path crosses: links of the core lie between them."""
SETTLED_S = 60.0
"""By then routers with tags have them all."""
WARM = 0.25
"""Of the time in which data is sent, so much is left out: slow start is in it."""
BUFFER_PACKETS = 100
"""Packets that wait at most in front of the link between two switches."""


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """Switches in a row, with an edge router, and a host, at either end."""
    net = Network(seed)
    path = PATHS[p.path]
    if p.medium == "atm":
        circuit(net, p, path)
    else:
        chain(net, p, path)
    for country in (path[0], path[-1]):
        net.host(host(country), address=f"192.168.{COUNTRIES[country]}3.2/24", profile=p.profile)
        net.link(host(country), edge(country), rate="100 Mbit/s", delay="1 us")
    traffic(net, p, host(path[0]), host(path[-1]))
    return net


def chain(net: Network, p: TagSwitchingParameters, path: Sequence[str]) -> None:
    """Routers as switches, and links of Ethernet."""
    routes: dict[str, Any] = {"ospf": {"area": 0}, "ldp": True} if p.tags == "with" else {}
    delay = f"{p.rtt_ms / 2 / (len(path) - 1)} ms"
    for country in path:
        net.router(switch(country), **routes)
    for a, b in pairwise(path):
        net.link(
            switch(a),
            switch(b),
            rate=f"{p.rate_mbps} Mbit/s",
            delay=delay,
            buffer=f"{BUFFER_PACKETS * 1518} B",
        )
    for country in (path[0], path[-1]):
        net.router(edge(country), **routes)
        net.link(edge(country), switch(country), rate="100 Mbit/s", delay="1 us")


def circuit(net: Network, p: TagSwitchingParameters, path: Sequence[str]) -> None:
    """ATM switches, and a circuit between the edge routers: with tags in the place of the channel that these
    set up.
    """
    for country in path:
        net.atm_switch(switch(country), ubr_cells=BUFFER_PACKETS * cells_of(MTU, "llc-snap"))
    core = f"{p.cells_per_s:g} cells/s"
    delay = f"{p.rtt_ms / 2 / (len(path) - 1)} ms"
    for a, b in pairwise(path):
        net.link(switch(a), switch(b), medium="atm", rate=core, delay=delay)
    for country in (path[0], path[-1]):
        net.router(edge(country))
        net.atm_switch(interface(country), ubr_cells=BUFFER_PACKETS * cells_of(MTU, "llc-snap"))
        net.link(
            interface(country), switch(country), medium="atm", rate=f"{STM1_CELLS} cells/s", delay="1 us"
        )
    ends = path[0], path[-1]
    net.pvc(
        edge(ends[0]),
        edge(ends[1]),
        through=[interface(ends[0]), *(switch(country) for country in path), interface(ends[1])],
        encapsulation=encapsulation_of(p, p.tags == "with"),
        peak=core,
    )


def interface(country: str) -> str:
    """The ATM interface of its edge router, which makes cells of packets."""
    return f"{country}-interface"


def traffic(net: Network, p: TagSwitchingParameters, sender: str, receiver: str) -> None:
    """What goes between the two hosts."""
    start, stop = f"{SETTLED_S} s", f"{SETTLED_S + p.duration_s} s"
    if p.part == "udp":
        rate = f"{p.udp_mbps} Mbit/s"
        net.flow(sender, receiver, rate=rate, rate_counts="ip", size=p.packet + 18, start=start, stop=stop)
    elif p.part == "rtt":
        net.tcp(sender, receiver, application="request-response", transactions=100, start=start)
    else:
        net.tcp(
            sender,
            receiver,
            duplex="full" if p.part == "duplex" else "half",
            buffer=f"{p.buffer_kb * 1000:.0f} B",
            message=p.message,
            mss=p.packet - HEADERS,
            connections=p.flows,
            start=start,
            stop=stop,
        )


def end_s(p: TagSwitchingParameters) -> float:
    """All that was written has arrived by then, or is lost."""
    return SETTLED_S + p.duration_s + 30


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """Figures of one network; `joined` puts those with tags beside those without."""
    drawn = topology(network)
    if p.part == "udp":
        row = network.flows[0].stats().row(0, named=True)
        lost = (row["sent"] - row["received"]) / row["sent"]
        return Outcome({"lost": lost}, {}, drawn)
    flow = network.tcp_flows[0]
    rows = flow.stats().to_dicts()
    table = {"tcp_flows": network.columns("tcp_flows")}
    told = {
        "wrong": sum(row["wrong"] for row in rows),
        "undone": sum(row["state"] != "done" for row in rows if row["direction"] == "forward"),
    }
    if p.part == "rtt":
        forward = next(row for row in rows if row["direction"] == "forward")
        return Outcome({**told, "rtt_s": forward["response_min_s"]}, table, drawn)
    begin, end = SETTLED_S + WARM * p.duration_s, SETTLED_S + p.duration_s
    series = flow.series().to_dicts()
    found: dict[str, Any] = dict(told)
    for direction, key in (("forward", "mbps"), ("back", "back_mbps")):
        bins = [row for row in series if row["direction"] == direction and begin <= row["start_s"] < end]
        if bins:
            found[key] = sum(row["acknowledged"] for row in bins) * 8 / (end - begin) / 1e6
    found["rtt_mean_s"] = rows[0]["rtt_mean_s"]
    found["retransmitted"] = sum(row["retransmitted"] for row in rows)
    found["pure_acks"] = sum(row["pure_acks"] for row in rows)
    return Outcome(found, table, drawn)


def joined(outcomes: Mapping[str, Outcome]) -> Outcome:
    """Metrics of each network by its name, and the tables under one another, with a column for it."""
    metrics = {f"{name}_{key}": value for name, one in outcomes.items() for key, value in one.metrics.items()}
    table: dict[str, list[Any]] = {}
    for name, one in outcomes.items():
        columns = one.tables.get("tcp_flows", {})
        rows = len(next(iter(columns.values()), []))
        if rows:
            table.setdefault("tags", []).extend([name] * rows)
        for key, values in columns.items():
            table.setdefault(key, []).extend(values)
    tables = {"tcp": table} if table else {}
    return Outcome(metrics, tables, next(iter(outcomes.values())).topology)


@dataclass(frozen=True)
class Prediction:
    """A figure in closed form, and between which values one that is measured agrees."""

    value: float
    low: float
    high: float
    why: str


def links_of(p: TagSwitchingParameters, tagged: bool) -> Links:
    """The links of the path, with tags or without."""
    return links(p, len(PATHS[p.path]) - 1, tagged)


def smallest_rtt_s(p: TagSwitchingParameters, tagged: bool, data: int) -> float:
    """There and back: so many bytes of data, and an acknowledgement."""
    way = links_of(p, tagged)
    return p.rtt_ms / 1e3 + way.one_way_s(HEADERS + data) + way.one_way_s(HEADERS) + 8e-6


def link_mbps(p: TagSwitchingParameters, tagged: bool, acks: float = 0.0) -> float:
    """What a link of the core carries of data, beside so many acknowledgements for each segment."""
    return links_of(p, tagged).data_mbps(p.packet, acks)


def tcp(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """The lesser of what a window in each round trip gives, and of what the link carries."""
    mss = p.packet - HEADERS
    host = profiles.resolve(p.profile).get("tcp", {})
    window = p.buffer_kb * 1000
    if not host.get("window_scaling", True):
        window = min(window, 65_535)
    if window > mss:
        # Nagle's algorithm: no short segment goes while others are not acknowledged.
        window = window // mss * mss
    rtt = smallest_rtt_s(p, tagged, int(min(window, mss)))
    by_window, by_link = p.flows * window * 8 / rtt / 1e6, link_mbps(p, tagged)
    # At worst all of a window is acknowledged together, and late: then this is the time between two windows.
    segment = links_of(p, tagged).packet_s(p.packet)
    late = units.span_ps(host.get("ack_delay", "40 ms")) / 1e12
    slowest = rtt + max(0.0, window / mss - 1) * segment + late
    together = p.flows * window * 8 / slowest / 1e6
    if by_window > by_link:
        # Where windows hardly fill the link, it rests while they wait for acknowledgements.
        low = by_link * 0.99 if by_window > 2 * by_link else min(by_link * 0.99, together)
        return Prediction(by_link, low, by_link * 1.01, "rate of the link, less headers")
    if window < 2 * mss:
        # A full segment and a short one take turns, each of which waits for an acknowledgement.
        together /= 2
    # In windows of several segments acknowledgements come with every second one, and few of them are late.
    low = together if window < 5 * mss else by_window * 0.9
    return Prediction(by_window, low, by_window * 1.02, "buffer over round-trip time")


def duplex(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """Each way: as half duplex, beside no acknowledgement (all go with data) up to one for two segments."""
    half = tcp(p, tagged)
    if half.why.startswith("buffer"):
        return Prediction(
            half.value, half.low * 0.5, half.high, "buffer over a round trip that has queues in it"
        )
    why = "rate, less headers, less up to one acknowledgement for two"
    low = min(half.low, link_mbps(p, tagged, 0.5) * 0.97)
    if p.flows * p.buffer_kb * 1000 > BUFFER_PACKETS * (p.packet - HEADERS):
        # Windows that the buffer in front of the link does not hold lose packets in both directions.
        return Prediction(
            half.value, low / 2, half.high, f"{why}; how soon TCP goes on after losses is left open"
        )
    return Prediction(half.value, low, half.high, why)


def rtt(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """A request and an answer of a byte each: the shortest frames there are."""
    value = p.rtt_ms / 1e3 + 2 * links_of(p, tagged).one_way_s(HEADERS + 1) + 8e-6
    unit = "cell" if p.medium == "atm" else "frame"
    return Prediction(value, value * 0.99, value * 1.01, f"propagation, and each {unit} stored and forwarded")


def held_packets(p: TagSwitchingParameters, tagged: bool) -> int:
    """Packets that wait in front of the core: as many as bytes, or cells, of the longest."""
    if p.medium == "atm":
        return BUFFER_PACKETS * cells_of(MTU, "llc-snap") // cells_of(p.packet, encapsulation_of(p, tagged))
    return BUFFER_PACKETS * (MTU + 18) // (p.packet + 18 + (TAG if tagged else 0))


def udp(p: TagSwitchingParameters, tagged: bool) -> Prediction:
    """Nothing is lost up to the rate of the link; beyond it what it does not carry and no buffer holds."""
    carried = links_of(p, tagged).ip_mbps(p.packet)
    sent = p.udp_mbps * p.duration_s * 1e6 / 8
    held = held_packets(p, tagged) * p.packet
    value = max(0.0, 1 - (carried * p.duration_s * 1e6 / 8 + held) / sent)
    return Prediction(
        value, max(0.0, value - 0.01), value + 0.01, "rate of the link, less headers, and its buffer"
    )


PREDICT = {"tcp": tcp, "duplex": duplex, "rtt": rtt, "udp": udp}
