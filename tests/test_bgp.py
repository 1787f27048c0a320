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
    (said,) = net.warnings
    assert "no route passes between it and 'b'" in said and "'import' and 'export' are missing here" in said
    net.run(until="20 s")
    rows = net.table("bgp_neighbors").to_dicts()
    assert [row["state"] for row in rows] == ["established"] * 2
    assert [row["sent"] for row in rows] == [0, 0] and not rows[0]["exports"]
    assert best(net, "b", "203.0.113.0/24") is None


def test_a_neighbour_with_too_many_prefixes_loses_its_session_and_the_table_says_why() -> None:
    net = tp.Network()
    networks = [f"203.0.{n}.0/24" for n in range(4)]
    net.router("a", bgp={"asn": 65001, "networks": networks, "neighbors": {"b": outside(65002)}})
    net.router("b", bgp={"asn": 65002, "neighbors": {"a": outside(65001, maximum_prefixes=3)}})
    net.link("a", "b")
    net.run(until="20 s")
    rows = {row["node"]: row for row in net.table("bgp_neighbors").to_dicts()}
    assert rows["b"]["last_end"].startswith("this router said: maximum number of prefixes reached")
    assert rows["a"]["last_end"] == "the neighbour said: maximum number of prefixes reached"
    assert best(net, "b", "203.0.0.0/24") is None


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


def test_a_neighbour_by_an_address_that_nobody_has_is_said() -> None:
    net = tp.Network()
    net.router("a", bgp={"asn": 65001, "neighbors": {"10.9.9.9": outside(65003)}})
    net.router("b")
    net.link("a", "b")
    (said,) = [one for one in net.warnings if "10.9.9.9" in one]
    assert "expects a neighbour at 10.9.9.9, and no node has that address: no session comes to be" in said


def test_ases_in_conflict_are_said_of_neighbours_by_address() -> None:
    near, far = "2001:db8:12::1", "2001:db8:12::2"
    for there, here in ((far, near), ("100.64.1.1", "100.64.0.1"), (far, "a")):
        net = tp.Network()
        net.router("a", bgp={"asn": 65001, "neighbors": {there: outside(65003)}})
        net.router("b", bgp={"asn": 65002, "neighbors": {here: outside(65001)}})
        net.link("a", "b", ipv6=(f"{near}/64", f"{far}/64"))
        said = [one for one in net.warnings if "pair of AS numbers" in one]
        assert len(said) == 1
        assert "node 'a'" in said[0]
        assert "65001 and 65003 at 'a' and 65001 and 65002 at 'b'" in said[0]


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
    net.run(until="20 s")
    (said,) = net.warnings
    assert "node 'b': bgp: it tells 'c' routes of 'a' with next hop" in said and "next_hop_self" in said
    route = best(net, "b", "192.0.2.0/24")
    assert route and route["origin"] == "incomplete"
    rows = [row for row in net.table("bgp_routes").to_dicts() if row["node"] == "c"]
    assert rows and not any(row["is_reached"] or row["is_best"] for row in rows), "nobody leads c to a"
    # It is said in words when the sessions have stood for half a minute, once.
    with pytest.warns(
        tp.TwinplaneWarning, match="node 'c': bgp: no route leads to the next hop .* are not used"
    ):
        net.run(until="60 s")
    net.run(until="70 s")
    assert len([one for one in net.warnings if "no route leads to the next hop" in one]) == 1


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    for old, new, words in (
        (
            "asn: 65001\n",
            "asn: 65001\n      hold_time: 2 s\n",
            "hold_time=2 s has to be 0 s, or 3 s at least",
        ),
        ("asn: 65001\n", "asn: 65001\n      selection_deferral: 9 s\n", "is used only with restart_time"),
        ("asn: 65001\n", "asn: 65001\n      restart_time: 1500 ms\n", "BGP counts it in whole seconds"),
        ("asn: 65001\n", "asn: 65001\n      mesh: {password: ''}\n", "the password has 0 bytes"),
        ("b: {asn: 65002,", "b: {hold_time: 1500 ms, asn: 65002,", "hold_time"),
        ("b: {asn: 65002,", "b: {maximum_prefixes: 0, asn: 65002,", "maximum_prefixes"),
        ("asn: 65001\n", "asn: 0\n", "asn"),
        ("b: {asn: 65002,", "q: {asn: 65002,", "q"),
        ("b: {asn: 65002,", "b: {client: true, asn: 65002,", "clients are in the router's own AS"),
        ("b: {asn: 65002,", '"fe80::1": {asn: 65002,', "'fe80::1' is a link-local address: a neighbour is"),
    ):
        path.write_text(FILE.replace(old, new, 1))
        assert words in refused("lab", "check", path)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (None, "node 'a': bgp: 'a' expects 'b' and 'b' does not expect 'a': no session comes to be"),
        (tp.Bgp(asn=65002), "node 'a': bgp: 'a' expects 'b' and 'b' does not expect 'a'"),
        (tp.Bgp(asn=65002, neighbors={"a": outside(65001)}), None),
        (tp.Bgp(asn=65002, neighbors={"100.64.0.5": outside(65001)}), None),
        (tp.Bgp(asn=65002, neighbors={"192.0.2.1": outside(65001)}), "'b' does not expect 'a'"),
    ],
)
def test_who_expects_one_that_does_not_expect_it_is_named(other: tp.Bgp | None, said: str | None) -> None:
    net = tp.Network()
    net.router("a", bgp=tp.Bgp(asn=65001, neighbors={"b": outside(65002)}))
    net.router("b", bgp=other)
    net.link("a", "b")
    if said is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            net.run(until="1 ms")
    else:
        with pytest.warns(tp.TwinplaneWarning, match=said):
            net.run(until="1 ms")


def edges(count: int) -> tp.Network:
    """Two ASes at the edges of one whose core has no BGP: pe1 - p1 - p2 - pe2, and the longer way by p3."""
    net = tp.Network()
    core = {"ospf": {"hello_interval": "1 s"}, "ldp": {"hello_interval": "1 s", "hold_time": "4 s"}}
    for name in ("p1", "p2", "p3"):
        net.router(name, **core)
    ids = {"pe1": "10.250.0.1", "pe2": "10.250.0.2"}
    outer = {
        "pe1": ("x", 65001, ["203.0.113.0/24"]),
        "pe2": ("y", 65002, [f"203.1.{n}.0/24" for n in range(count)]),
    }
    for name, (beyond, asn, prefixes) in outer.items():
        far = next(address for other, address in ids.items() if other != name)
        within = {"asn": 65000, "next_hop_self": True, "advertisement_interval": "1 s"}
        bgp = {"asn": 65000, "neighbors": {far: within, beyond: outside(asn)}}
        net.router(name, router_id=ids[name], **core, bgp=bgp)
        told = {
            "asn": asn,
            "networks": prefixes,
            "redistribute": ["connected"],
            "neighbors": {name: outside(65000)},
        }
        net.router(beyond, bgp=told)
        net.link(name, beyond, rate="1 Gbit/s", delay="1 ms")
    for ends in (("pe1", "p1"), ("p1", "p2"), ("p2", "pe2")):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    for ends in (("pe1", "p3"), ("p3", "pe2")):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms", metric=10)
    return net


def writes(net: tp.Network, node: str) -> dict[str, int]:
    """What was written to the tables of a router so far, by table."""
    rows = net.table("writes").to_dicts()
    assert all(row["result"] == "done" for row in rows), rows
    return {row["table"]: row["count"] for row in rows if row["node"] == node}


@pytest.mark.parametrize("count", [3, 60])
def test_destinations_behind_an_edge_share_an_lsp_and_move_in_one_write(count: int) -> None:
    net = edges(count)
    flow = net.flow("x", "y", rate="1 Mbit/s", size=500, start="50 s", stop="75 s", name="f")
    net.at("60 s").fail("p1", "p2")
    net.run(until="59 s")

    def far(node: str) -> int:
        return sum(
            prefix.startswith("203.1.") for prefix in net.table("fib", net.node(node))["prefix"].to_list()
        )

    assert [far(core) for core in ("p1", "p2", "p3")] == [0, 0, 0], "no BGP here"
    assert far("pe1") == count
    before = writes(net, "pe1")
    net.run(until="80 s")
    after = writes(net, "pe1")
    changed = {
        table: after[table] - before.get(table, 0) for table in after if after[table] != before.get(table, 0)
    }
    assert changed["groups"] <= 4, "the group of the edge follows route and label"
    assert sum(changed.values()) < 40, f"whatever the number of destinations: {changed}"
    stats = flow.stats().row(0, named=True)
    assert stats["sent"] > 5000 and 0 < stats["lost"] < 60, "OSPF finds the other way within 50 ms or so"


def test_policies_choose_and_change_what_passes() -> None:
    taken = [
        {
            "prefixes": ["203.0.113.0/24 le 28"],
            "set_local_preference": 200,
            "add_communities": ["65002:7", "rt:65002:1"],
        },
        {"prefixes": ["192.0.2.0/24"], "add_communities": ["no-export"]},
    ]
    told = [
        {"communities": ["65002:7"], "set_metric": 50, "prepend": 2, "remove_communities": ["65002:7"]},
        {"as_path": "65001 *", "action": "reject"},
        {"prefixes": ["198.51.100.0/24"]},
    ]
    net = tp.Network()
    networks = ["203.0.113.0/24", "203.0.113.16/28", "203.0.113.1/32", "192.0.2.0/24"]
    net.router("a", bgp={"asn": 65001, "networks": networks, "neighbors": {"b": outside(65002)}})
    neighbors = {"a": outside(65001, **{"import": "taken"}), "c": outside(65003, export="told")}
    bgp = {"asn": 65002, "policies": {"taken": taken, "told": told}, "neighbors": neighbors}
    bgp |= {"networks": ["198.51.100.0/24", "100.100.0.0/16"]}
    net.router("b", bgp=bgp)
    net.router("c", bgp={"asn": 65003, "neighbors": {"b": outside(65002)}})
    net.link("a", "b")
    net.link("b", "c")
    net.run(until="20 s")
    rows = [row for row in net.table("bgp_routes").to_dicts() if row["node"] == "b" and row["from"]]
    assert {row["prefix"] for row in rows} == {"203.0.113.0/24", "203.0.113.16/28", "192.0.2.0/24"}
    of = {row["prefix"]: row for row in rows}
    assert of["203.0.113.0/24"]["local_pref"] == 200
    assert of["203.0.113.0/24"]["communities"] == ["65002:7", "rt:65002:1"]
    assert of["192.0.2.0/24"]["communities"] == ["no-export"]
    far = {row["prefix"]: row for row in net.table("bgp_routes").to_dicts() if row["node"] == "c"}
    assert set(far) == {"203.0.113.0/24", "203.0.113.16/28", "198.51.100.0/24"}
    changed = far["203.0.113.0/24"]
    assert (changed["med"], changed["as_path"]) == (50, "65002 65002 65002 65001")
    assert changed["communities"] == ["rt:65002:1"], "a route target goes on"
    refused = [row["refused"] for row in net.table("bgp_neighbors").to_dicts() if row["node"] == "b"]
    assert refused == [1, 0]


def test_routes_go_from_bgp_to_ospf_and_not_back_by_their_tag() -> None:
    net = tp.Network()
    net.router(
        "x",
        bgp={
            "asn": 65001,
            "networks": ["203.0.113.0/24", "192.0.2.0/24"],
            "neighbors": {"p": outside(65000)},
        },
    )
    rules = [{"prefixes": ["203.0.113.0/24"], "set_metric": 30, "set_tag": 9}]
    ospf = {"hello_interval": "1 s", "redistribute": [{"from": "bgp", "rules": rules}]}
    net.router("p", ospf=ospf, bgp={"asn": 65000, "neighbors": {"x": outside(65001)}})
    net.router("q", ospf={"hello_interval": "1 s", "redistribute": [{"from": "static", "tag": 5}]})
    net.route("q", "198.51.100.0/24", via="r")
    back = [{"tag": 9, "action": "reject"}, {"tag": 5, "set_metric": 7, "add_communities": ["65000:5"]}]
    bgp = {
        "asn": 65000,
        "redistribute": [{"from": "ospf", "rules": back}],
        "neighbors": {"y": outside(65002)},
    }
    net.router("r", ospf={"hello_interval": "1 s"}, bgp=bgp)
    net.router("y", bgp={"asn": 65002, "neighbors": {"r": outside(65000)}})
    for ends in ("xp", "pq", "qr", "ry"):
        net.link(*ends, rate="1 Gbit/s", delay="1 ms")
    net.run(until="60 s")
    rib = [
        row for row in net.table("rib").to_dicts() if row["node"] == "r" and row["prefix"] == "203.0.113.0/24"
    ]
    assert [(row["source"], row["metric"], row["tag"]) for row in rib] == [("ospf", 30, 9)]
    assert not any(
        row["prefix"] == "192.0.2.0/24" for row in net.table("rib").to_dicts() if row["node"] == "q"
    )
    told = {row["prefix"]: row for row in net.table("bgp_routes").to_dicts() if row["node"] == "y"}
    assert set(told) == {"198.51.100.0/24"}
    assert (told["198.51.100.0/24"]["med"], told["198.51.100.0/24"]["communities"]) == (7, ["65000:5"])


def test_mistakes_in_policies_are_said_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    policy = "asn: 65001\n      policies: {own: [{%s}]}\n"
    for old, new, words in (
        ("import: all", "import: mine", "'mine' is no policy of this router: 'all', 'none' are"),
        ("asn: 65001\n", policy % "prefixes: [10.0.0.1/8]", "'10.0.0.0/8 le 24'"),
        ("asn: 65001\n", policy % "communities: [gold]", "a community: 65001:7"),
        ("asn: 65001\n", policy % "as_path: 1..2", "? for any one AS"),
        ("asn: 65001\n", policy % "action: reject, prepend: 1", "so prepend has no use"),
        ("asn: 65001\n", policy % "remove_metric: true, set_metric: 1", "has no use beside set_metric"),
        ("asn: 65001\n", policy.replace("own", "all") % "", "'all' has a meaning already"),
        (
            "    kind: router\n",
            "    kind: router\n    ospf: {redistribute: [{from: bgp, rules: [{prepend: 1}]}]}\n",
            "prepend means nothing in OSPF",
        ),
    ):
        path.write_text(FILE.replace(old, new, 1))
        assert words in refused("lab", "check", path)


def six() -> tp.Network:
    """Three ASes in a row that exchange routes of both families."""
    net = tp.Network()
    both = {"families": ["ipv4", "ipv6"]}
    mark = {"mark": [{"add_communities": ["65001:7", "65001:1:2", "ro:65001:9"]}]}
    told = ["2001:db8:a::/48", "203.0.113.0/24"]
    neighbors = {"b": outside(65002, **both, export="mark")}
    net.router(
        "a",
        ipv6="2001:db8:ff::1",
        bgp={"asn": 65001, "policies": mark, "networks": told, "neighbors": neighbors},
    )
    neighbors = {"a": outside(65001, **both), "c": outside(65003, **both)}
    net.router("b", ipv6="2001:db8:ff::2", bgp={"asn": 65002, "neighbors": neighbors})
    net.router("c", ipv6="2001:db8:ff::3", bgp={"asn": 65003, "neighbors": {"b": outside(65002, **both)}})
    net.link("a", "b", ipv6=("2001:db8:12::1/64", "2001:db8:12::2/64"))
    net.link("b", "c", ipv6=("2001:db8:23::2/64", "2001:db8:23::3/64"))
    return net


def test_ipv6_routes_pass_by_the_same_sessions() -> None:
    net = six()
    net.at("30 s").fail("a", "b")
    net.run(until="20 s")
    route = best(net, "c", "2001:db8:a::/48")
    assert route and (route["as_path"], route["next_hop"]) == ("65002 65001", "2001:db8:23::2")
    assert route["communities"] == ["65001:7", "ro:65001:9", "65001:1:2"] and best(net, "c", "203.0.113.0/24")

    def active() -> list[Any]:
        rows = net.table("rib").to_dicts()
        return [row["active"] for row in rows if row["node"] == "c" and row["prefix"] == "2001:db8:a::/48"]

    assert active() == [["b"]]
    net.run(until="40 s")
    assert best(net, "c", "2001:db8:a::/48") is None and active() == []


@pytest.mark.needs("tshark")
@pytest.mark.parametrize(("of", "ends"), [("ring", ("r0", "r1")), ("six", ("a", "b"))])
def test_tshark_finds_nothing_malformed(of: str, ends: tuple[str, str], tmp_path: Path) -> None:
    net = ring(3) if of == "ring" else six()
    tap = net.capture(*ends)
    net.run(until="40 s")
    file = tmp_path / "bgp.pcapng"
    tap.save(file)

    def look(what: str) -> list[str]:
        done = subprocess.run(["tshark", "-r", file, "-Y", what], check=True, capture_output=True, text=True)
        return done.stdout.splitlines()

    assert len(look("bgp")) > 5 and len(look("bgp.type == 2")) >= 2
    if of == "six":
        assert look("bgp.mp_reach_nlri_ipv6_prefix") and look(
            "bgp.update.path_attribute.community_value == 7"
        )
    assert look("_ws.malformed || _ws.expert.severity >= 8388608") == []


def test_a_topology_has_a_full_mesh_by_one_argument(tmp_path: Path) -> None:
    path = tmp_path / "ring.graphml"
    nodes = "".join(f'<node id="{number}"/>' for number in range(4))
    edges = "".join(f'<edge source="{number}" target="{(number + 1) % 4}"/>' for number in range(4))
    path.write_text(f'<graphml><graph edgedefault="undirected">{nodes}{edges}</graph></graphml>')
    mesh = {"asn": 65000, "mesh": True, "redistribute": ["static"]}
    net = tp.Network.from_graphml(path, ospf={"hello_interval": "1 s"}, ldp=True, bgp=mesh)
    other = tp.Network.from_graphml(path, ospf={"hello_interval": "1 s"}, ldp=True)
    other.bgp(asn=65000, mesh=True, redistribute=["static"])
    for one in (net, other):
        one.run(until="30 s")
        table = one.table("bgp_neighbors")
        assert table["state"].to_list() == ["established"] * 12
        assert set(one.table("ldp_sessions")["state"].to_list()) == {"operational"}
    assert net.digest() == other.digest()
