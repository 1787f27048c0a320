"""BGP in whole networks: who tells whom what, what a failure changes, and what is said of mistakes."""

from __future__ import annotations

import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp

from tests.lab.support import refused

ALL = {"import": "all", "export": "all", "advertisement_interval": "1 s"}

FILE = """\
name: two
nodes:
  a:
    kind: router
    bgp:
      asn: 65001
      networks: [203.0.113.0/24]
      neighbors: {b: {asn: 65002, import: all, export: all}}
  b:
    kind: router
    bgp:
      asn: 65002
      networks: [198.51.100.0/24]
      neighbors: {a: {asn: 65001, import: all, export: all}}
links:
  - [a, b, {rate: 1 Gbit/s, delay: 1 ms}]
"""


def outside(asn: int, **more: Any) -> dict[str, Any]:
    """A neighbour of another AS with which all routes are exchanged."""
    return {"asn": asn, **ALL, **more}


def best(net: tp.Network, node: str, prefix: str) -> dict[str, Any] | None:
    """The route that a router takes."""
    table = net.table("bgp_routes")
    rows = [row for row in table.to_dicts() if row["node"] == node and row["prefix"] == prefix]
    return next((row for row in rows if row["is_best"]), None)


def test_a_file_and_python_mean_the_same(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(FILE)
    net, other = tp.Network(), tp.Network.from_file(path)
    both = {"import": "all", "export": "all"}
    for name, far, asn, prefix in (("a", "b", 65001, "203.0.113.0/24"), ("b", "a", 65002, "198.51.100.0/24")):
        neighbors: dict[str, Any] = {far: {"asn": 130003 - asn, **both}}
        net.router(name, hello="9 s", bgp=tp.Bgp(asn=asn, networks=[prefix], neighbors=neighbors))
    net.link("a", "b", rate="1 Gbit/s", delay="1 ms")
    net.run(until="15 s")
    other.run(until="15 s")
    assert net.digest() == other.digest()
    assert net.table("bgp_neighbors")["state"].to_list() == ["established"] * 2
    route = best(net, "a", "198.51.100.0/24")
    assert route and route["as_path"] == "65002" and route["origin"] == "igp" and route["is_reached"]
    assert best(other, "b", "203.0.113.0/24")


def ring(count: int) -> tp.Network:
    """Autonomous systems in a circle, each of one router with a destination."""
    net = tp.Network()
    for index in range(count):
        far = [(index + 1) % count, (index - 1) % count]
        neighbors = {f"r{other}": outside(65000 + other) for other in far}
        bgp = {
            "asn": 65000 + index,
            "networks": [f"203.0.{index}.0/24"],
            "neighbors": neighbors,
            "hold_time": "9 s",
        }
        net.router(f"r{index}", bgp=bgp)
    for index in range(count):
        net.link(f"r{index}", f"r{(index + 1) % count}", rate="1 Gbit/s", delay="1 ms")
    return net


def steps(net: tp.Network, count: int) -> list[int]:
    """Lengths of the paths that all take to all others."""
    found = []
    for at in range(count):
        for to in range(count):
            if at != to:
                route = best(net, f"r{at}", f"203.0.{to}.0/24")
                assert route, f"r{at} knows a way to r{to}"
                found.append(len(route["as_path"].split()))
    return found


def test_paths_are_the_shortest_and_a_failure_turns_them_round() -> None:
    net = ring(5)
    net.at("40 s").fail("r0", "r1")
    net.at("80 s").heal("r0", "r1")
    net.run(until="39 s")
    distances = [min((at - to) % 5, (to - at) % 5) for at in range(5) for to in range(5) if at != to]
    assert steps(net, 5) == distances
    net.run(until="79 s")
    around = [abs((at - 1) % 5 - (to - 1) % 5) for at in range(5) for to in range(5) if at != to]
    assert steps(net, 5) == around, "in a chain that begins at r1"
    rows = net.table("bgp_neighbors").to_dicts()
    down = [row for row in rows if row["state"] != "established"]
    assert {row["node"] for row in down} == {"r0", "r1"} and all(row["last_end"] for row in down)
    net.run(until="140 s")
    assert steps(net, 5) == distances


def inside(reflector: bool) -> tp.Network:
    """Two ASes beside one of three routers in a row, with OSPF within and either a mesh or a reflector."""
    net = tp.Network()
    ids = {"p": "10.250.0.1", "q": "10.250.0.2", "r": "10.250.0.3"}
    beside = {"p": ("x", 65001), "r": ("y", 65002)}
    for name, router_id in ids.items():
        own = {"asn": 65000, "advertisement_interval": "1 s", "next_hop_self": True}
        far = [other for other in ids if other != name]
        if reflector and name != "q":
            far = ["q"]
        neighbors = {ids[other]: {**own, "client": reflector and name == "q"} for other in far}
        if name in beside:
            neighbor, asn = beside[name]
            neighbors[neighbor] = outside(asn)
        bgp = {"asn": 65000, "neighbors": neighbors}
        net.router(name, router_id=router_id, ospf={"hello_interval": "1 s"}, ldp=True, bgp=bgp)
    for name, (node, asn, prefix) in {
        "p": ("x", 65001, "203.0.113.0/24"),
        "r": ("y", 65002, "198.51.100.0/24"),
    }.items():
        net.router(node, bgp={"asn": asn, "networks": [prefix], "neighbors": {name: outside(65000)}})
        net.link(name, node, rate="1 Gbit/s", delay="1 ms")
    net.link("p", "q", rate="1 Gbit/s", delay="1 ms")
    net.link("q", "r", rate="1 Gbit/s", delay="1 ms")
    return net


@pytest.mark.parametrize("reflector", [False, True])
def test_routes_pass_an_as_by_a_mesh_or_by_a_reflector(reflector: bool) -> None:
    net = inside(reflector)
    net.run(until="100 s")
    rows = net.table("bgp_neighbors").to_dicts()
    assert [row["state"] for row in rows] == ["established"] * len(rows)
    route = best(net, "x", "198.51.100.0/24")
    assert route and route["as_path"] == "65000 65002"
    within = best(net, "p", "198.51.100.0/24")
    assert within and within["next_hop"] == "10.250.0.3" and within["local_pref"] == 100
    assert (within["originator"] == "10.250.0.3") == reflector
    back = best(net, "y", "203.0.113.0/24")
    assert back and back["as_path"] == "65000 65001"


def test_without_a_word_nothing_passes_between_ases() -> None:
    net = tp.Network()
    net.router("a", bgp={"asn": 65001, "networks": ["203.0.113.0/24"], "neighbors": {"b": {"asn": 65002}}})
    net.router("b", bgp={"asn": 65002, "neighbors": {"a": {"asn": 65001, "import": "all"}}})
    net.link("a", "b")
    net.run(until="20 s")
    rows = net.table("bgp_neighbors").to_dicts()
    assert [row["state"] for row in rows] == ["established"] * 2
    assert [row["sent"] for row in rows] == [0, 0] and not rows[0]["exports"]
    assert best(net, "b", "203.0.113.0/24") is None


def test_ases_in_conflict_are_said_before_and_in_the_table() -> None:
    net = tp.Network()
    net.router("a", bgp={"asn": 65001, "neighbors": {"b": outside(65003)}})
    net.router("b", bgp={"asn": 65002, "neighbors": {"a": outside(65001)}})
    net.link("a", "b")
    assert any("65001 and 65003" in warning and "65001 and 65002" in warning for warning in net.warnings)
    net.run(until="20 s")
    rows = net.table("bgp_neighbors").to_dicts()
    assert all(row["state"] != "established" for row in rows)
    assert rows[0]["last_end"] == "the neighbour has AS 65002, not 65003"


def test_routes_of_others_are_told_and_a_next_hop_that_is_not_reached_is_said() -> None:
    net = tp.Network()
    net.router(
        "a", bgp={"asn": 65001, "redistribute": ["static", "connected"], "neighbors": {"b": outside(65002)}}
    )
    inner = {"asn": 65002, "advertisement_interval": "1 s"}
    net.router("b", bgp={"asn": 65002, "neighbors": {"a": outside(65001), "c": inner}})
    net.router("c", bgp={"asn": 65002, "neighbors": {"b": inner}})
    net.link("a", "b")
    net.link("b", "c")
    net.route("a", "192.0.2.0/24", via="b")
    net.run(until="40 s")
    route = best(net, "b", "192.0.2.0/24")
    assert route and route["origin"] == "incomplete"
    rows = [row for row in net.table("bgp_routes").to_dicts() if row["node"] == "c"]
    assert rows and not any(row["is_reached"] or row["is_best"] for row in rows), "nobody leads c to a"


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    for old, new, words in (
        (
            "asn: 65001\n",
            "asn: 65001\n      hold_time: 2 s\n",
            "hold_time=2 s has to be 0 s, or 3 s at least",
        ),
        ("asn: 65001\n", "asn: 0\n", "asn"),
        ("b: {asn: 65002,", "q: {asn: 65002,", "q"),
        ("b: {asn: 65002,", "b: {client: true, asn: 65002,", "clients are in the router's own AS"),
    ):
        path.write_text(FILE.replace(old, new, 1))
        assert words in refused("lab", "check", path)


@pytest.mark.needs("tshark")
def test_tshark_finds_nothing_malformed(tmp_path: Path) -> None:
    net = ring(3)
    tap = net.capture("r0", "r1")
    net.run(until="40 s")
    file = tmp_path / "bgp.pcapng"
    tap.save(file)

    def look(what: str) -> list[str]:
        done = subprocess.run(["tshark", "-r", file, "-Y", what], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    assert len(look("bgp")) > 5 and len(look("bgp.type == 2")) >= 2
    assert look("_ws.malformed || _ws.expert.severity >= 8388608") == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (None, "node 'a': bgp: 'a' expects 'b' and 'b' does not expect 'a': no session comes to be"),
        (tp.Bgp(asn=65002), "node 'a': bgp: 'a' expects 'b' and 'b' does not expect 'a'"),
        (tp.Bgp(asn=65002, neighbors={"a": {"asn": 65001}}), None),
        (tp.Bgp(asn=65002, neighbors={"100.64.0.5": {"asn": 65001}}), None),
        (tp.Bgp(asn=65002, neighbors={"192.0.2.1": {"asn": 65001}}), "'b' does not expect 'a'"),
    ],
)
def test_who_expects_one_that_does_not_expect_it_is_named(other: tp.Bgp | None, said: str | None) -> None:
    net = tp.Network()
    net.router("a", bgp=tp.Bgp(asn=65001, neighbors={"b": {"asn": 65002}}))
    net.router("b", bgp=other)
    net.link("a", "b")
    if said is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            net.run(until="1 ms")
    else:
        with pytest.warns(tp.TwinplaneWarning, match=said):
            net.run(until="1 ms")
