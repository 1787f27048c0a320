"""Parts `tcp`, `duplex`, `rtt` and `udp`: hosts in two countries, and switches with tags or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from .countries import COUNTRIES, edge, host, switch
from .links import BUFFER_PACKETS, HEADERS, MTU, cells_of, encapsulation_of
from .parameters import STM1_CELLS, TagSwitchingParameters

PATHS = {"switzerland": ("italy", "switzerland"), "france": ("italy", "switzerland", "germany", "france")}
"""Countries whose switches a path crosses: links of the core lie between them."""
SETTLED_S = 60.0
"""By then routers with tags have them all."""
WARM = 0.25
"""Of the time in which data is sent, so much is left out: slow start is in it."""


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
