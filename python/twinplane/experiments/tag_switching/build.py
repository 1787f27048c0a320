"""The network of the study, on Ethernet or on ATM: tag switches, edge routers, and networks outside."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from ...network import Network
from . import cells
from .countries import CORE, COUNTRIES, LINKS, OUTSIDE, edge, exterior, host, switch
from .parameters import TagSwitchingParameters

CORE_AS = 65000


def failure_s(p: TagSwitchingParameters, seed: int) -> float:
    """When the link fails: anywhere between two Hellos."""
    return p.fail_after_s + random.Random(f"failure {seed} {p.link} {p.number}").uniform(0, p.hello_s)


def seed_of(network: Network, p: TagSwitchingParameters) -> int:
    """What `build` was given: each run has random streams of its own."""
    return network.seed - 1000 * p.number


def build(p: TagSwitchingParameters, seed: int) -> Network:
    """One link fails and is repaired, while flows cross it in the core and from outside."""
    net = Network(seed + 1000 * p.number)
    near: dict[str, Any] = {"rate": "100 Mbit/s", "delay": "10 us"}
    if p.medium == "atm":
        _on_atm(net, p)
    else:
        _on_ethernet(net, p, near)
    for country in OUTSIDE:
        digit = COUNTRIES[country]
        own = f"172.16.{digit}.0/24"
        peer = {
            "asn": CORE_AS,
            "import": "all",
            "export": "all",
            "advertisement_interval": f"{p.advertise_s} s",
        }
        net.router(
            exterior(country),
            bgp={
                "asn": 100 + 10 * digit,
                "networks": [own],
                **_bgp_times(p),
                "neighbors": {edge(country): peer},
            },
        )
        net.host(host(country), address=f"172.16.{digit}.2/24")
        net.link(edge(country), exterior(country), **near)
        net.link(host(country), exterior(country), **near)
    a, b = LINKS[p.link]
    rate = f"{p.packets_per_s * 64 * 8} bit/s"
    start = f"{p.fail_after_s - 5} s"
    net.flow(edge(a), edge(b), name="core", rate=rate, size=64, start=start, log=True)
    net.flow(host(a), host(b), name="outside", rate=rate, size=64, start=start, log=True)
    net.flow(host(b), host(a), name="answers", rate=rate, size=64, start=start, log=True)
    _phases(net, p, seed)
    at = net.at(f"{failure_s(p, seed):.6f} s")
    ends = switch(a), switch(b)
    if p.detection == "hello":
        at.loss(*ends, share=1.0, for_=f"{p.down_s} s")
    else:
        at.fail(*ends, for_=f"{p.down_s} s")
    return net


def _on_ethernet(net: Network, p: TagSwitchingParameters, near: Mapping[str, Any]) -> None:
    for country, digit in COUNTRIES.items():
        tdp = {"hello_interval": f"{p.tdp_hello_s} s"}
        net.router(switch(country), router_id=f"192.168.{digit}0.1", ospf=_ospf(p), tdp=tdp)
        net.router(edge(country), **_of_edge(p, country), tdp=tdp)
        net.link(edge(country), switch(country), **near)
    for a, b in CORE:
        net.link(switch(a), switch(b), rate=f"{p.rate_mbps} Mbit/s", delay=f"{p.delay_ms} ms")


def _on_atm(net: Network, p: TagSwitchingParameters) -> None:
    """TDP gives no channels here: LDP stands in for it, with its Hellos as often."""
    ldp = cells.routing(hello_interval=f"{p.tdp_hello_s} s")["ldp"]
    for country, digit in COUNTRIES.items():
        cells.lsr(net, p, country, router_id=f"192.168.{digit}0.1", ospf=_ospf(p), ldp=ldp)
        net.router(edge(country), **_of_edge(p, country), ldp=ldp)
        cells.label_link(net, p, edge(country), switch(country), **cells.NEAR)
    for a, b in CORE:
        cells.label_link(net, p, switch(a), switch(b), **cells.core(p), delay=f"{p.delay_ms} ms")


def _of_edge(p: TagSwitchingParameters, country: str) -> dict[str, Any]:
    outside = exterior(country) if country in OUTSIDE else None
    return {
        "router_id": f"192.168.{COUNTRIES[country]}1.1",
        "ospf": _ospf(p, outside),
        "bgp": _edge_bgp(p, country),
    }


def _phases(net: Network, p: TagSwitchingParameters, seed: int) -> None:
    """Routers restart early, each at a time of its own: else Hellos of all would leave together."""
    drawn = random.Random(f"phases {seed} {p.link} {p.number}")
    for country in COUNTRIES:
        for name in (switch(country), edge(country)):
            net.at(f"{drawn.uniform(1, 1 + p.hello_s):.6f} s").restart(name, down="1 s")


def _ospf(p: TagSwitchingParameters, towards: str | None = None) -> Mapping[str, Any]:
    # RFC 8405, 3: quiet begins later than what belongs to one failure ends.
    delay, quiet = f"{p.spf_s} s", f"{max(10.0, p.spf_s + 1):g} s"
    said: dict[str, Any] = {
        "area": 0,
        "hello_interval": f"{p.hello_s} s",
        "dead_interval": f"{p.dead_s} s",
        "spf": {"initial": delay, "short": delay, "long": delay, "learn": delay, "hold_down": quiet},
    }
    if towards is not None:
        said["interfaces"] = {towards: {"passive": True}}
    return said


def _edge_bgp(p: TagSwitchingParameters, country: str) -> Mapping[str, Any]:
    own: dict[str, Any] = {"asn": CORE_AS, "next_hop_self": True}
    neighbors = {f"192.168.{digit}1.1": own for other, digit in COUNTRIES.items() if other != country}
    if country in OUTSIDE:
        neighbors[exterior(country)] = {
            "asn": 100 + 10 * COUNTRIES[country],
            "import": "all",
            "export": "all",
            "advertisement_interval": f"{p.advertise_s} s",
        }
    return {"asn": CORE_AS, **_bgp_times(p), "neighbors": neighbors}


def _bgp_times(p: TagSwitchingParameters) -> Mapping[str, Any]:
    """That sessions come up soon matters to the beginning alone: they outlast the failure.

    Times with which they would not are refused by `timers.check`.
    """
    return {"hold_time": f"{p.hold_s} s", "connect_retry": "5 s"}
