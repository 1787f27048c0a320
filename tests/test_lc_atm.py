"""Labels that are channels of ATM (RFC 3035): in Python and in network files, and counted against paper."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest
import twinplane as tp
from twinplane.errors import TwinplaneError
from twinplane.experiments.tag_switching.countries import CORE, COUNTRIES

from tests.lab.test_captures import tshark

OSPF = {"hello_interval": "1 s", "dead_interval": "4 s"}
LDP = {"hello_interval": "1 s", "hold_time": "4 s"}


def row(encapsulation: str = "shim", merge: bool = False) -> tuple[tp.Network, list[tp.Link]]:
    """Two edges with a host each, and three ATM-LSRs in a row between them."""
    net = tp.Network(seed=5)
    names = ["italy", "rome", "milan", "bern", "switzerland"]
    for name in names:
        make = net.router if name in (names[0], names[-1]) else net.atm_lsr
        make(name, **({"merge": True} if merge and make == net.atm_lsr else {}), ospf=OSPF, ldp=LDP)
    labels = {"encapsulation": encapsulation}
    links = [
        net.link(a, b, medium="atm", rate="4750 cells/s", delay="1 ms", lc_atm=labels)
        for a, b in pairwise(names)
    ]
    for name, edge in (("left", "italy"), ("right", "switzerland")):
        net.host(name, f"10.{len(name)}.0.2/24")
        net.link(name, edge, "100 Mbit/s", "1 us")
    return net, links


@pytest.mark.parametrize("encapsulation", ["shim", "bare"])
def test_packets_of_hosts_go_as_cells_of_labels(encapsulation: str) -> None:
    net, _ = row(encapsulation)
    flow = net.flow("left", "right", rate="500 kbit/s", size=1482, start="20 s", stop="22 s")
    net.run(until="23 s")
    stats = flow.stats().row(0, named=True)
    assert stats["sent"] == stats["received"] > 80
    cells = -(-(1464 + {"shim": 4, "bare": 0}[encapsulation] + 8) // 48)
    assert net.table("atm_channels")["passed"].sum() == 3 * cells * stats["sent"]


@pytest.mark.parametrize("encapsulation", ["shim", "bare"])
def test_time_to_live_counts_switches(encapsulation: str) -> None:
    """Five routers take five of it, though three of them see no packet."""
    net, _ = row(encapsulation)
    net.run(until="20 s")
    hops = net.node("left").traceroute("right")
    assert hops["hop"].max() == 6
    assert hops.filter(hop=6)["address"].to_list() == ["10.5.0.2"]


def test_tshark_finds_cells_of_the_control_channel(tmp_path: Path) -> None:
    net, links = row()
    taps = [net.capture(link.a, link.b) for link in links]
    net.run(until="12 s")
    taps[1].save(tmp_path / "cells.pcapng")
    read = tshark(tmp_path / "cells.pcapng", "-Y", "atm.vci == 32", "-T", "fields", "-e", "atm.vci")
    assert "32" in "".join(map(str, read)), "cells of the channel of unlabelled packets"


def paper(
    edges: Iterable[str],
    links: Iterable[tuple[str, str, int]],
    owners: Iterable[tuple[str, ...]],
    merge: bool,
) -> int:
    """How many channels are labels: from each edge along the shortest path to each prefix, by its owners.

    Without merge each edge has a channel of its own on each link. With merge each edge has one on its first
    link, and every other link has one for all edges.
    """
    near: dict[str, list[tuple[str, int]]] = {}
    for a, b, cost in links:
        near.setdefault(a, []).append((b, cost))
        near.setdefault(b, []).append((a, cost))
    count = 0
    for own in owners:
        far = dict.fromkeys(own, 0)
        queue = [(0, node) for node in own]
        while queue:
            cost, node = heapq.heappop(queue)
            if cost > far[node]:
                continue
            for other, more in near[node]:
                if cost + more < far.get(other, 1 << 60):
                    far[other] = cost + more
                    heapq.heappush(queue, (cost + more, other))
        shared = set()
        for edge in edges:
            at, first = edge, True
            while at not in own:
                ways = [other for other, cost in near[at] if far[other] + cost == far[at]]
                assert len(ways) == 1, "paper needs one shortest path"
                if first or not merge:
                    count += 1
                else:
                    shared.add((at, ways[0]))
                at, first = ways[0], False
        count += len(shared)
    return count


def cloud(
    switches: Iterable[str],
    edges: dict[str, str],
    core: Iterable[tuple[str, str, int]],
    merge: bool,
    **options: Any,
) -> tuple[tp.Network, list[tuple[str, str, int]]]:
    """ATM-LSRs with links of some cost, and edges at them."""
    net = tp.Network(seed=1)
    ldp = {**LDP, "prefixes": options.pop("prefixes", "loopbacks")}
    for name in switches:
        net.atm_lsr(name, merge=merge, ospf=OSPF, ldp=ldp)
    for name in edges:
        net.router(name, ospf=OSPF, ldp=ldp, **{key: make(name) for key, make in options.items()})
    links = [*core, *((edge, at, 1) for edge, at in edges.items())]
    for a, b, cost in links:
        net.link(a, b, medium="atm", rate="353207 cells/s", delay="1 ms", metric=cost)
    return net, links


def given(net: tp.Network) -> int:
    """Channels that are labels."""
    table = net.table("label_vcs")
    assert set(table["state"].unique()) == {"given"}
    return table.height


def six_countries() -> tuple[list[str], dict[str, str], list[tuple[str, str, int]]]:
    """The network of the study. Costs differ, so that there is one shortest path each."""
    edges = {f"{country}-edge": country for country in COUNTRIES}
    return list(COUNTRIES), edges, [(a, b, 100 + 7 * place) for place, (a, b) in enumerate(CORE)]


@pytest.mark.parametrize("merge", [False, True])
def test_six_countries_have_as_many_channels_as_on_paper(merge: bool) -> None:
    """Hierarchical: networks outside are BGP's, and cost nothing. Flat: each costs channels."""
    switches, edges, core = six_countries()
    outside = {
        edge: [f"172.16.{10 * place + number}.0/24" for number in range(3)]
        for place, edge in enumerate(edges)
    }
    loopbacks = [(name,) for name in (*switches, *edges)]

    def bgp(name: str) -> dict[str, Any]:
        return {"asn": 65000, "networks": outside[name], "neighbors": {}}

    net, links = cloud(switches, edges, core, merge, bgp=bgp)
    hierarchical = paper(edges, links, loopbacks, merge)
    net.run(until="40 s")
    assert given(net) == hierarchical

    net, links = cloud(switches, edges, core, merge, prefixes="all")
    for place, edge in enumerate(edges):
        for number in range(3):
            host = f"h{place}{number}"
            net.host(host, f"172.16.{10 * place + number}.2/24")
            net.link(host, edge, "100 Mbit/s", "1 us")
    # A network of a link belongs to both its ends, that of the port beside a node to the node.
    owners = [
        *loopbacks,
        *((a, b) for a, b, _ in links),
        *((name,) for name in (*switches, *edges)),
        *((edge,) for edge in edges for _ in range(3)),
    ]
    flat = paper(edges, links, owners, merge)
    net.run(until="40 s")
    assert given(net) == flat
    assert flat > 2 * hierarchical


def generated(edges: int, seed: int) -> tuple[list[str], dict[str, str], list[tuple[str, str, int]]]:
    """A tree of switches with some links more, and edges anywhere."""
    chance = random.Random(seed)
    switches = [f"s{number}" for number in range(max(edges // 5, 3))]
    pairs = {(chance.randrange(number), number) for number in range(1, len(switches))}
    others = [pair for pair in combinations(range(len(switches)), 2) if pair not in pairs]
    pairs.update(chance.sample(others, len(switches) // 2))
    # OSPF has 16 bits for a cost.
    costs = iter(chance.sample(range(10_000, 65_000), len(pairs)))
    core = [(switches[a], switches[b], next(costs)) for a, b in sorted(pairs)]
    return switches, {f"e{number}": chance.choice(switches) for number in range(edges)}, core


@pytest.mark.parametrize("merge", [False, True])
def test_a_generated_network_has_as_many_channels_as_on_paper(merge: bool) -> None:
    switches, edges, core = generated(edges=20, seed=4)
    net, links = cloud(switches, edges, core, merge)
    net.run(until="40 s")
    assert given(net) == paper(edges, links, [(name,) for name in (*switches, *edges)], merge)


FILE = """
name: cells
nodes:
  a: {kind: router, ospf: {area: 0}, ldp: true}
  s: {kind: atm-lsr, merge: true, ospf: {area: 0}, ldp: true}
  b: {kind: router, ospf: {area: 0}, ldp: true}
links:
  - [a, s, {medium: atm, rate: 4750 cells/s, lc_atm: {vci: [100, 200]}}]
  - [s, b, {medium: atm, rate: 4750 cells/s, lc_atm: {vpi: [4, 5], vci: [300, 400]}}]
"""


def test_a_file_says_which_channels_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "cells.yaml"
    path.write_text(FILE)
    net = tp.Network.from_file(path)
    net.run(until="60 s")
    ranges = net.table("label_ranges").filter(node="s").sort("port")
    assert ranges["vci_min"].to_list() == [100, 300]
    assert ranges["vpi_max"].to_list() == [0, 5]
    table = net.table("label_vcs").filter(node="b")
    assert table.height > 0
    assert table["vpi"].is_between(4, 5).all()
    assert table["vci"].is_between(300, 400).all()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("vci: [100, 200]", "vci: [10, 200]", "VCI 10: 33 to 65535"),
        ("vci: [100, 200]", "vci: [200, 100]", "the first is the lesser one"),
        ("vci: [100, 200]", "control_vci: 40", "can't be a label too"),
        ("vci: [100, 200]", "encapsulation: bare", "the same on all"),
        ("vpi: [4, 5]", "vpi: [4, 50]", "at most 16 of them"),
        ("rate: 4750 cells/s, lc_atm: {vci: [100, 200]}", "reservable: 1 Mbit/s", "has no 'reservable'"),
        ("medium: atm, rate: 4750 cells/s, lc_atm: {vci: [100", "lc_atm: {vci: [100", "links of medium atm"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FILE
    path = tmp_path / "cells.yaml"
    path.write_text(FILE.replace(old, new))
    with pytest.raises(TwinplaneError, match=said.replace("[", r"\[")):
        tp.Network.from_file(path).run(until="1 s")
