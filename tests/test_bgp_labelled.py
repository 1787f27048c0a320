"""BGP with labels: destinations behind a core that knows none of them, of both families (RFC 8277, 4798)."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp

ALL = {"import": "all", "export": "all", "advertisement_interval": "1 s"}
LABELLED = ["ipv4-labelled", "ipv6-labelled"]
CORE = {"ospf": {"hello_interval": "1 s"}, "ldp": {"hello_interval": "1 s", "hold_time": "4 s"}}
#: Destinations behind each customer.
BEHIND = {"x": ("203.0.113.0/24", "2001:db8:a::/48"), "y": ("198.51.100.0/24", "2001:db8:b::/48")}
IDS = {"pe1": "10.250.0.1", "pe2": "10.250.0.2", "asbr": "10.250.0.3"}


def customer(net: tp.Network, name: str, asn: int, edge: str, number: int) -> None:
    """A router of another AS at an edge, which has IPv4 and IPv6 and no label."""
    families = ["ipv4", "ipv6"]
    beside = {"asn": 65000, "families": families, **ALL}
    bgp = {
        "asn": asn,
        "networks": list(BEHIND[name]),
        "redistribute": ["connected"],
        "neighbors": {edge: beside},
    }
    net.router(name, ipv6=f"2001:db8:ff::{number}", bgp=bgp)
    net.link(
        name,
        edge,
        rate="1 Gbit/s",
        delay="1 ms",
        ipv6=(f"2001:db8:{number}::1/64", f"2001:db8:{number}::2/64"),
    )


def core(*between: str, families: list[str] = LABELLED) -> tp.Network:
    """x - pe1 - the core - pe2 - y; no router between the edges speaks BGP."""
    net = tp.Network()
    for number, (name, beyond, asn) in enumerate((("pe1", "x", 65001), ("pe2", "y", 65002)), start=1):
        far = next(IDS[other] for other in ("pe1", "pe2") if other != name)
        within = {"asn": 65000, "families": families, "advertisement_interval": "1 s"}
        outside = {"asn": asn, "families": ["ipv4", "ipv6"], **ALL}
        bgp = {"asn": 65000, "neighbors": {far: within, beyond: outside}}
        net.router(name, router_id=IDS[name], ipv6=f"2001:db8:fe::{number}", **CORE, bgp=bgp)
    for name in between:
        net.router(name, **CORE)
    row = ["pe1", *between, "pe2"]
    for a, b in pairwise(row):
        net.link(a, b, rate="1 Gbit/s", delay="1 ms")
    customer(net, "x", 65001, "pe1", 11)
    customer(net, "y", 65002, "pe2", 12)
    return net


def best(net: tp.Network, node: str, prefix: str) -> dict[str, Any]:
    """The route that a router takes."""
    rows = [
        row for row in net.table("bgp_routes").to_dicts() if (row["node"], row["prefix"]) == (node, prefix)
    ]
    (route,) = [row for row in rows if row["is_best"]]
    return route


@pytest.mark.parametrize("between", [(), ("p",), ("p1", "p2")])
def test_packets_of_both_families_cross_a_core_that_knows_none_of_them(between: tuple[str, ...]) -> None:
    net = core(*between)
    both = [
        net.flow("x", "y", rate="1 Mbit/s", size=500, start="30 s", stop="31 s", name="v4"),
        net.flow("x", "y", rate="1 Mbit/s", size=500, start="30 s", stop="31 s", name="v6", family="ipv6"),
    ]
    net.run(until="35 s")
    v4, v6 = (best(net, "pe1", prefix) for prefix in BEHIND["y"])
    # RFC 4798, 2 and 3: the egress is named by its IPv4 address, and a label says what is below.
    assert (v4["next_hop"], v4["label"]) == (IDS["pe2"], 3)
    assert (v6["next_hop"], v6["label"]) == (f"::ffff:{IDS['pe2']}", 2)
    for flow in both:
        stats = flow.stats().row(0, named=True)
        assert stats["sent"] > 200 and stats["lost"] == 0, stats
    for name in between:
        known = net.table("fib", net.node(name))["prefix"].to_list()
        assert not any(prefix.startswith(("203.0.113", "198.51.100", "2001:")) for prefix in known)


def test_labels_follow_the_lsp_and_go_with_it() -> None:
    net = core("p")
    net.at("40 s").fail("p", "pe2")
    net.run(until="35 s")

    def pushed() -> list[str]:
        rows = net.table("ftn", net.node("pe1")).to_dicts()
        return [row["push"] for row in rows if row["prefix"] == BEHIND["y"][1]]

    assert len(pushed()) == 1
    net.run(until="120 s")
    assert pushed() == [], "without an LSP nobody at its end reads the label"


def test_labels_pass_a_reflector_as_they_are() -> None:
    net = tp.Network()
    ids = {"a": "10.250.0.1", "r": "10.250.0.2", "b": "10.250.0.3"}
    within = {"asn": 65000, "families": LABELLED, "advertisement_interval": "1 s", "client": True}
    for name, router_id in ids.items():
        far = [other for other in ids if other != name] if name == "r" else ["r"]
        neighbors = {ids[other]: {**within, "client": name == "r"} for other in far}
        bgp: dict[str, Any] = {"asn": 65000, "neighbors": neighbors}
        if name == "b":
            bgp["networks"] = list(BEHIND["y"])
        net.router(name, router_id=router_id, ipv6=f"2001:db8:fe::{router_id[-1]}", **CORE, bgp=bgp)
    net.link("a", "r", rate="1 Gbit/s", delay="1 ms")
    net.link("r", "b", rate="1 Gbit/s", delay="1 ms")
    net.run(until="30 s")
    for prefix, label in zip(BEHIND["y"], (3, 2), strict=True):
        route = best(net, "a", prefix)
        assert (route["label"], route["originator"]) == (label, ids["b"]) and ids["b"] in route["next_hop"]


def test_a_reflector_tells_all_paths() -> None:
    net = tp.Network()
    ids = {"a": "10.250.0.1", "r": "10.250.0.2", "b": "10.250.0.3", "c": "10.250.0.4"}
    within = {"asn": 65000, "advertisement_interval": "1 s"}
    for name, router_id in ids.items():
        far = [other for other in ids if other != name] if name == "r" else ["r"]
        neighbors = {
            ids[other]: {**within, "client": name == "r", **({"send_paths": "all"} if name == "r" else {})}
            for other in far
        }
        if name == "a":
            neighbors[ids["r"]]["receive_paths"] = True
        bgp: dict[str, Any] = {"asn": 65000, "neighbors": neighbors}
        if name in "bc":
            bgp["networks"] = ["203.0.113.0/24"]
        net.router(name, router_id=router_id, ospf={"hello_interval": "1 s"}, bgp=bgp)
    for name in "abc":
        net.link(name, "r", rate="1 Gbit/s", delay="1 ms")
    net.at("30 s").fail("b", "r")
    net.run(until="25 s")

    def told() -> list[str]:
        rows = net.table("bgp_routes").to_dicts()
        return sorted(row["originator"] for row in rows if row["node"] == "a" and row["from"] == ids["r"])

    assert told() == [ids["b"], ids["c"]]
    net.run(until="150 s")
    assert told() == [ids["c"]]


@pytest.mark.needs("tshark")
def test_tshark_finds_nothing_malformed(tmp_path: Path) -> None:
    net = core("p")
    net.flow("x", "y", rate="1 Mbit/s", size=500, start="30 s", stop="30.1 s", name="v6", family="ipv6")
    net.at("40 s").fail("x", "pe1")
    tap = net.capture("p", "pe2")
    net.run(until="60 s")
    file = tmp_path / "bgp.pcapng"
    tap.save(file)

    def look(what: str) -> list[str]:
        done = subprocess.run(["tshark", "-r", file, "-Y", what], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    assert look("bgp.mp_reach_nlri_ipv4_prefix") or look("bgp.update.path_attribute.mp_reach_nlri.safi == 4")
    assert look("bgp.update.path_attribute.mp_unreach_nlri.safi == 4")
    assert look("mpls && ipv6")
    of_bgp = "(bgp || mpls && ipv6) && !ldp"
    assert look(f"({of_bgp}) && (_ws.malformed || _ws.expert.severity >= 8388608)") == []
