"""Parts `tcp`, `duplex`, `rtt` and `udp`: hosts in two countries, and switches with tags or without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_interface
from itertools import pairwise
from typing import Any

from ...frames import Columns
from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from . import cells, processors
from .countries import COUNTRIES, PATHS, edge, host, switch
from .links import BUFFER_PACKETS, CELL_BYTES, HEADERS
from .parameters import SETTLED_S, WARM, TagSwitchingParameters
from .predicted import link_mbps, window_of

DRAINED_S = 30.0
"""At least so long after the last byte was written a run goes on."""
TRANSACTIONS = 100
"""Requests and answers of part `rtt`."""


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """Switches in a row, with an edge router, and a host, at either end."""
    net = Network(seed)
    path = PATHS[p.path]
    if p.medium != "atm":
        chain(net, p, path)
    elif p.tags == "with" and p.has_label_vcs:
        labelled(net, p, path)
    else:
        circuit(net, p, path)
    for country in (path[0], path[-1]):
        net.host(host(country), address=address(country), profile=p.profile)
        net.link(host(country), edge(country), rate="100 Mbit/s", delay="1 us")
    traffic(net, p, host(path[0]), host(path[-1]))
    return net


def address(country: str) -> str:
    """That of the host there."""
    return f"192.168.{COUNTRIES[country]}3.2/24"


def chain(net: Network, p: TagSwitchingParameters, path: Sequence[str]) -> None:
    """Routers as switches, and links of Ethernet."""
    routes: dict[str, Any] = {"ospf": {"area": 0}, "ldp": True} if p.tags == "with" else {}
    for country in path:
        net.router(switch(country), **routes)
    for a, b in pairwise(path):
        net.link(
            switch(a),
            switch(b),
            rate=f"{p.rate_mbps} Mbit/s",
            delay=_delay(p, path),
            buffer=f"{BUFFER_PACKETS * 1518} B",
        )
    for country in (path[0], path[-1]):
        net.router(edge(country), **routes, **processors.profile(p))
        net.link(edge(country), switch(country), rate="100 Mbit/s", delay="1 us")


def labelled(net: Network, p: TagSwitchingParameters, path: Sequence[str]) -> None:
    """ATM-LSRs, and edge routers that ask for labels: each is a VC, and carries what goes to one prefix."""
    said = cells.routing()
    for country in path:
        cells.lsr(net, p, country, **said)
    for a, b in pairwise(path):
        cells.label_link(net, p, switch(a), switch(b), **cells.core(p), delay=_delay(p, path))
    for country in (path[0], path[-1]):
        net.router(edge(country), **said, **processors.profile(p))
        cells.label_link(net, p, edge(country), switch(country), **cells.NEAR)


def circuit(net: Network, p: TagSwitchingParameters, path: Sequence[str]) -> None:
    """ATM switches, and a circuit between the edge routers."""
    for country in path:
        cells.plain_switch(net, switch(country))
    for a, b in pairwise(path):
        net.link(switch(a), switch(b), medium="atm", **cells.core(p), delay=_delay(p, path))
    cells.access(net, (path[0], path[-1]), **processors.profile(p))
    cells.pvc(net, p, path, pcr=cells.core(p)["rate"])


def _delay(p: TagSwitchingParameters, path: Sequence[str]) -> str:
    return f"{p.rtt_ms / 2 / (len(path) - 1)} ms"


def traffic(net: Network, p: TagSwitchingParameters, sender: str, receiver: str) -> None:
    """What goes between the two hosts."""
    start, stop = f"{SETTLED_S} s", f"{SETTLED_S + p.duration_s} s"
    if p.part == "udp":
        rate = f"{p.udp_mbps} Mbit/s"
        net.flow(sender, receiver, rate=rate, rate_counts="ip", size=p.packet + 18, start=start, stop=stop)
    elif p.part == "rtt":
        net.tcp(sender, receiver, application="request-response", transactions=TRANSACTIONS, start=start)
    else:
        by_two = p.part == "duplex" and p.both_ways == "two"
        for a, b in ((sender, receiver), (receiver, sender)) if by_two else ((sender, receiver),):
            net.tcp(
                a,
                b,
                duplex="full" if p.part == "duplex" and not by_two else "half",
                buffer=f"{p.buffer_kb * 1000:.0f} B",
                message=p.message,
                mss=p.packet - HEADERS,
                connections=p.flows,
                start=start,
                stop=stop,
            )


def end_s(p: TagSwitchingParameters) -> float:
    """All that was written has arrived by then, or is lost: what waits in buffers has gone by the link."""
    waiting_s = p.flows * window_of(p) * 8 / 1e6 / link_mbps(p, True) if p.part in ("tcp", "duplex") else 0.0
    return SETTLED_S + p.duration_s + max(DRAINED_S, 4 * waiting_s)


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """Figures of one network; `joined` puts those with tags beside those without."""
    found: dict[str, Any] = {}
    tables: dict[str, Columns] = {}
    if p.part == "udp":
        row = network.flows[0].stats().row(0, named=True)
        found["lost"] = (row["sent"] - row["received"]) / row["sent"]
        carried = row["received"] * p.packet
    else:
        found |= _of_tcp(network, p)
        tables = {"tcp_flows": network.columns("tcp_flows")}
        carried = sum(row["bytes"] for flow in network.tcp_flows for row in flow.stats().to_dicts())
    if p.tags == "with" and p.has_label_vcs:
        found |= _of_tags(network, p, carried)
    tables["processors"] = processors.series(network, p)
    found |= processors.peaks(tables["processors"])
    return Outcome(found, tables, topology(network))


def _of_tcp(network: Network, p: TagSwitchingParameters) -> dict[str, Any]:
    flow, *others = network.tcp_flows
    rows = [row for one in (flow, *others) for row in one.stats().to_dicts()]
    found: dict[str, Any] = {
        "wrong": sum(row["wrong"] for row in rows),
        "undone": sum(row["state"] != "done" for row in rows if row["direction"] == "forward"),
    }
    if p.part == "rtt":
        forward = next(row for row in rows if row["direction"] == "forward")
        return {**found, "rtt_s": forward["response_min_s"]}
    begin, end = SETTLED_S + WARM * p.duration_s, SETTLED_S + p.duration_s
    back = others[0] if others else flow
    for one, direction, key in (
        (flow, "forward", "mbps"),
        (back, "forward" if others else "back", "back_mbps"),
    ):
        series = one.series().to_dicts()
        bins = [row for row in series if row["direction"] == direction and begin <= row["start_s"] < end]
        if bins:
            found[key] = sum(row["acknowledged"] for row in bins) * 8 / (end - begin) / 1e6
    found["rtt_mean_s"] = rows[0]["rtt_mean_s"]
    found["retransmitted"] = sum(row["retransmitted"] for row in rows)
    # Rows are of who sends data: acknowledgements of the other end are all else that hosts have sent.
    data, ports = sum(row["data_segments"] for row in rows), network.columns("ports")
    hosts = {host(country) for country in PATHS[p.path]}
    frames = sum(
        sent for node, sent in zip(ports["from"], ports["sent_frames"], strict=True) if node in hosts
    )
    found["acks_each"] = (frames - data) / data if data else None
    return found


def _of_tags(network: Network, p: TagSwitchingParameters, carried: int) -> dict[str, int]:
    """VCs between the networks of the two hosts, cells that each switch passed on by labels, and how few
    these may be if all of so many bytes went so.
    """
    path = PATHS[p.path]
    ends = {str(ip_interface(address(country)).network) for country in (path[0], path[-1])}
    vcs = network.table("label_vcs").to_dicts()
    passed = sum(network.columns("atm_channels")["passed"])
    return {
        "tag_vcs": sum(row["prefix"] in ends and row["state"] == "given" for row in vcs),
        "tag_cells": passed // len(path),
        "least_cells": max(carried // CELL_BYTES, 2 * TRANSACTIONS if p.part == "rtt" else 0),
    }


def settings(p: TagSwitchingParameters) -> Mapping[str, TagSwitchingParameters]:
    """A network with tags, and one without."""
    return {one: p.model_copy(update={"tags": one}) for one in p.settings}


def joined(_: TagSwitchingParameters, outcomes: Mapping[str, Outcome]) -> Outcome:
    """Metrics of each network by its name, and the tables under one another, with a column for it."""
    metrics = {f"{name}_{key}": value for name, one in outcomes.items() for key, value in one.metrics.items()}
    tables: dict[str, Columns] = {}
    for kind in ("tcp_flows", "processors"):
        table: dict[str, list[Any]] = {}
        for name, one in outcomes.items():
            columns = one.tables.get(kind, {})
            rows = len(next(iter(columns.values()), []))
            if rows:
                table.setdefault("tags", []).extend([name] * rows)
            for key, values in columns.items():
                table.setdefault(key, []).extend(values)
        if table:
            tables["tcp" if kind == "tcp_flows" else kind] = table
    return Outcome(metrics, tables, next(iter(outcomes.values())).topology)
