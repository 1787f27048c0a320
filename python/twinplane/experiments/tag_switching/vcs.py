"""Part `vcs`: how many VCs tags take, counted in a network of ATM-LSRs that has come to rest."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ...network import Network
from ...network.drawing import topology
from ..base import Outcome
from . import cells
from .build import CORE_AS
from .parameters import STM1_CELLS, TagSwitchingParameters
from .vc_count import Cloud, cloud

SETTLED_S = 60.0
"""By then all requests have an answer: those that came too early were made again after 15 s."""


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """Switches and edge routers; networks outside are known by BGP, or are those of hosts."""
    net = Network(seed)
    drawn = cloud(p)
    said = cells.routing(
        hello_interval="1 s",
        hold_time="4 s",
        prefixes="loopbacks" if p.routing == "hierarchical" else "all",
    )
    said["ospf"] = {"hello_interval": "1 s", "dead_interval": "4 s"}
    for name in drawn.switches:
        net.atm_lsr(name, merge=p.merges, **said)
    for place, name in enumerate(drawn.edges):
        bgp = {"asn": CORE_AS, "mesh": True, "networks": _outside(drawn, place)}
        net.router(
            name, router_id=router_id(place), **said, **({"bgp": bgp} if p.routing == "hierarchical" else {})
        )
    labels = {"encapsulation": cells.LABELS[p.tag_encapsulation]}
    for a, b, cost in drawn.links:
        net.link(a, b, medium="atm", rate=f"{STM1_CELLS} cells/s", delay="1 ms", metric=cost, lc_atm=labels)
    if p.routing == "flat":
        _hosts(net, drawn)
    return net


def router_id(place: int) -> str:
    """The loopback address of an edge router."""
    return f"192.168.{1 + place // 250}.{1 + place % 250}"


def _outside(drawn: Cloud, place: int) -> list[str]:
    """The networks behind an edge router."""
    first = place * drawn.outside
    return [f"172.{16 + number // 256}.{number % 256}.0/24" for number in range(first, first + drawn.outside)]


def _hosts(net: Network, drawn: Cloud) -> None:
    """A host in each network outside: then OSPF knows it."""
    for place, name in enumerate(drawn.edges):
        for number, network in enumerate(_outside(drawn, place)):
            host = f"{name}-host-{number}"
            net.host(host, address=network.replace(".0/24", ".2/24"))
            net.link(host, name, rate="100 Mbit/s", delay="1 us")


def end_s(p: TagSwitchingParameters) -> float:
    """When the network is at rest."""
    return SETTLED_S


def summarise(network: Network, p: TagSwitchingParameters) -> Outcome:
    """Labels that are given, on all links and on the one that has most, and what they lead to."""
    drawn = cloud(p)
    rows = network.table("label_vcs").to_dicts()
    given = [row for row in rows if row["state"] == "given"]
    on_links = Counter((row["node"], row["port"]) for row in given)
    routers = {router_id(place) for place in range(len(drawn.edges))}
    outside = {prefix for place in range(len(drawn.edges)) for prefix in _outside(drawn, place)}
    # What edge routers have asked for themselves: here VCs begin.
    begun = [row["prefix"] for row in given if row["from_id"] in routers]
    found: dict[str, Any] = {
        "vcs": len(given),
        "unanswered": len(rows) - len(given),
        "link_vcs": max(on_links.values(), default=0),
        "to_edges": sum(prefix.removesuffix("/32") in routers for prefix in begun),
        "to_outside": sum(prefix in outside for prefix in begun),
        "edges": len(drawn.edges),
        "switches": len(drawn.switches),
    }
    if p.routing == "hierarchical":
        sessions = network.columns("bgp_neighbors")["state"]
        found["sessions"] = sum(state == "established" for state in sessions)
    return Outcome(found, {}, topology(network))
